#!/usr/bin/env python3
"""StarRocks and SelectDB sinks against a strict double of their servers (tests/doubles/olap_server).

usage: olap_sinks.py --driftless BIN [--kills N] [--seed N] [--only NAME] [--product starrocks|doris]

DRIFTLESS_LONG_TESTS=1 kills 200 times each, which takes half an hour, else 12 times; --kills 0 leaves that test out.
"""
import argparse
import datetime
import os
import random
import re
import sys

from olap_cluster import CERTIFICATES, ORDERS, PRODUCTS, Cluster, each_case, each_product, make_pipeline, records_of
from pipelines import Kills, check, default_seed, eventually, run_all

LONG = os.environ.get("DRIFTLESS_LONG_TESTS") == "1"
options = argparse.Namespace(kills=200 if LONG else 12, seed=0, only=None, product=None)


def all_tests(tests):
    """Those that were asked for, as functions of binary and folder."""
    for test in tests:
        if options.only not in (None, test.__name__) or (test is kills_change_nothing and options.kills == 0):
            continue
        if not hasattr(test, "cases"):
            yield test
            continue
        for product in options.product or PRODUCTS:
            for name, arguments in test.cases(product).items():
                def run(driftless, folder, test=test, product=product, arguments=arguments):
                    test(driftless, folder, product, *arguments)
                run.__name__ = f"{test.__name__} ({name})"
                yield run


@each_product
def tables_follow_the_source(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a\"b\\c\n", "amount": 12.5})
    stream.row("orders", {"id": 2, "name": None, "amount": 99999999.99})
    stream.row("orders", {"id": 1, "name": "x", "amount": 1}, op="u", before={"id": 1, "name": "a", "amount": 12.5})
    stream.ddl("orders", "ALTER TABLE orders ADD COLUMN note VARCHAR(10) DEFAULT 'n\"o'",
               ORDERS + [("note", "VARCHAR(10)", False)])
    stream.row("orders", {"id": 3, "name": "y", "amount": 3, "note": "\u00e9"})
    stream.row("orders", None, op="d", before={"id": 2, "name": None, "amount": 99999999.99, "note": "n\"o"})
    stream.ddl("orders", "ALTER TABLE orders DROP COLUMN amount",
               [c for c in ORDERS if c[0] != "amount"] + [("note", "VARCHAR(10)", False)])
    stream.row("orders", {"id": 4, "name": "z", "note": None})
    stream.ddl("gone", "CREATE TABLE gone (id INT PRIMARY KEY)", [("id", "INT", True)])
    stream.row("gone", {"id": 1})
    stream.ddl("gone", "DROP TABLE gone", drop=True)
    stream.close()
    with Cluster(product, "--job-ms", "150", "--gap-ms", "100") as cluster:
        # Files of Flink CDC say this, and a request that has both layouts is refused.
        pipeline = make_pipeline(driftless, folder, cluster, more="  sink.properties.format: json\n"
                                 "  sink.properties.read_json_by_line: true\n  sink.properties.strip_outer_array: true\n")
        pipeline.run()
        wanted = [{"id": 1, "name": "x", "note": "n\"o"}, {"id": 3, "name": "y", "note": "\u00e9"},
                  {"id": 4, "name": "z", "note": None}]
        check(cluster.rows("orders") == wanted, f"rows are {cluster.rows('orders')}")
        # LENIENT never drops a table by itself.
        check(cluster.ask("open") == [], "a transaction is open")
        verdicts = {(r["event"], r["verdict"]) for r in pipeline.audit() if r["phase"] == "outcome"}
        check(("add.column", "apply") in verdicts and ("drop.column", "apply") in verdicts, f"{verdicts}")


@each_product
def renames_and_types_follow_the_matrix(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a", "amount": 1})
    renamed = [ORDERS[0], ("title", "VARCHAR(20)", False), ORDERS[2]]
    stream.ddl("orders", "ALTER TABLE orders RENAME COLUMN name TO title", renamed)
    stream.row("orders", {"id": 2, "title": "b", "amount": 2})
    widened = [ORDERS[0], ("title", "VARCHAR(40)", False), ORDERS[2]]
    stream.ddl("orders", "ALTER TABLE orders MODIFY title VARCHAR(40)", widened)
    stream.row("orders", {"id": 3, "title": "c" * 40, "amount": 3})
    stream.close()
    with Cluster(product) as cluster:
        pipeline = make_pipeline(driftless, folder, cluster)
        if product == "doris":
            pipeline.run()
            check([row["title"] for row in cluster.rows("orders")] == ["a", "b", "c" * 40], "rows differ")
            check(["title", "VARCHAR", 160, None, True, False] in cluster.columns("orders"), f"{cluster.columns('orders')}")
        else:
            # The old column stays, and the values go on into it (policy: rename skipped).
            pipeline.run()
            check("name" in [c[0] for c in cluster.columns("orders")], f"{cluster.columns('orders')}")
            check([row["id"] for row in cluster.rows("orders")] == [1, 2, 3], f"{cluster.rows('orders')}")
    if product == "starrocks":
        more = "  capability.extensions: [rename.column, alter.column.type]\n"
        with Cluster(product, "--version", "3.3.5") as cluster:
            pipeline = make_pipeline(driftless, os.path.join(folder, "new"), cluster, more=more)
            os.link(os.path.join(folder, "records.jsonl"), os.path.join(folder, "new", "records.jsonl"))
            pipeline.run()
            check([row["title"] for row in cluster.rows("orders")] == ["a", "b", "c" * 40], f"{cluster.rows('orders')}")


@each_product
def values_that_do_not_fit_are_found_before_the_load(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "ok", "amount": 1})
    stream.row("orders", {"id": 2, "name": "\U0001f600" * 21, "amount": 1})  # columns take 60 and 80 bytes
    stream.close()
    with Cluster(product) as cluster:
        log = make_pipeline(driftless, folder, cluster, pipeline="  on-cast-failure: fail\n").run(expected=1)
        check("84 bytes, and the column takes" in log and "column name" in log, log[-1500:])
        # Nothing of the cut is visible, and nothing is lost once the policy is another one.
        check(cluster.rows_or_none("orders") in ([], [{"id": 1, "name": "ok", "amount": "1.00"}]), "rows")
        pipeline = make_pipeline(driftless, folder, cluster, pipeline="  on-cast-failure: null\n")
        pipeline.run()
        check([row["name"] for row in cluster.rows("orders")] == ["ok", None], f"{cluster.rows('orders')}")


@each_product
def an_existing_table_is_taken_and_its_differences_reported(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY)", [("id", "INT", True)])
    stream.row("orders", {"id": 1})
    stream.close()
    with Cluster(product) as cluster:
        make_pipeline(driftless, folder, cluster).run()
        again = os.path.join(folder, "again")
        other = records_of(again)
        other.ddl("orders", "CREATE TABLE orders (id BIGINT PRIMARY KEY, x INT)",
                  [("id", "BIGINT", True), ("x", "INT", False)])
        other.row("orders", {"id": 1, "x": 2})
        other.close()
        log = make_pipeline(driftless, again, cluster).run()
        check("column id is INT at the sink, which does not hold every BIGINT" in log, log[-1500:])
        check([c[0] for c in cluster.columns("orders")] == ["id", "x"], f"{cluster.columns('orders')}")
        check(cluster.rows("orders") == [{"id": 1, "x": 2}], f"{cluster.rows('orders')}")


@each_product
def rows_that_the_server_refuses_are_shown(driftless, folder, product):
    """For a reason that nobody could know before; the page of refused rows is fetched from a back end."""
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a", "amount": 1})
    stream.row("orders", {"id": 2, "name": "say \"b\"", "amount": 2})
    stream.close()
    with Cluster(product) as cluster:
        pipeline = make_pipeline(driftless, folder, cluster, interval="1 h")
        cluster.ask("fault", name="no_partition", count=1)
        log = pipeline.run(expected=1)
        wanted = ("the server refused rows for shop.orders: too many filtered rows; the first rows: Error: no partition for "
                  "this tuple. Row: {\"id\": 2, \"name\": \"say \\\"b\\\"\", ")
        check(wanted in log, log[-1500:])
        check(cluster.rows("orders") == [] and cluster.ask("open") == [], f"{cluster.rows('orders')} {cluster.ask('open')}")
        pipeline.run()
        check([row["id"] for row in cluster.rows("orders")] == [1, 2], f"{cluster.rows('orders')}")


@each_product
def a_job_that_is_cancelled_or_too_slow_is_reported(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a", "amount": 1})
    stream.ddl("orders", "ALTER TABLE orders ADD COLUMN x INT", ORDERS + [("x", "INT", False)])
    stream.row("orders", {"id": 2, "name": "b", "amount": 2, "x": 5})
    stream.close()
    with Cluster(product) as cluster:
        cluster.ask("job", fault="cancel:no space left on backend 10001")
        pipeline = make_pipeline(driftless, folder, cluster)
        process = pipeline.start("--until-end")
        process.wait(timeout=300)
        with open(pipeline.log, encoding="utf-8") as f:
            log = f.read()
        check("no space left on backend 10001" in log, log[-1500:])
        stopped = [r for r in pipeline.audit() if r.get("result", "").startswith("refused")]
        check(stopped, "the audit log does not say that it was refused")
        # The same state, once the server is well again.
        pipeline.decide("decide", str(stopped[-1]["id"]), "retry")
        pipeline.run()
        check([row["x"] for row in cluster.rows("orders")] == [None, 5], f"{cluster.rows('orders')}")
    with Cluster(product) as cluster:
        cluster.ask("job", fault="stuck")
        key = "table.schema-change.timeout" if product == "starrocks" else "schema.evolution.timeout"
        slow = os.path.join(folder, "slow")
        pipeline = make_pipeline(driftless, slow, cluster, more=f"  {key}: 5 s\n")
        os.link(os.path.join(folder, "records.jsonl"), os.path.join(slow, "records.jsonl"))
        process = pipeline.start("--until-end")
        process.wait(timeout=300)
        with open(pipeline.log, encoding="utf-8") as f:
            log = f.read()
        check("is RUNNING, 40%" in log and "schema.evolution.timeout" in log, log[-1500:])
        check([row["id"] for row in cluster.rows("orders")] == [1], "a row of the new schema was released")
        cluster.ask("job", free=1)
        stopped = [r for r in pipeline.audit() if r.get("result", "").startswith("refused")]
        pipeline.decide("decide", str(stopped[-1]["id"]), "retry")
        pipeline.run()
        check([row["x"] for row in cluster.rows("orders")] == [None, 5], f"{cluster.rows('orders')}")


@each_product
def a_change_that_fails_half_way_goes_on_where_it_was(driftless, folder, product):
    """Two columns in one ALTER are two jobs; the second ends in the middle of its work."""
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a", "amount": 1})
    stream.ddl("orders", "ALTER TABLE orders ADD COLUMN x INT, ADD COLUMN y INT",
               ORDERS + [("x", "INT", False), ("y", "INT", False)])
    stream.row("orders", {"id": 2, "name": "b", "amount": 2, "x": 5, "y": 6})
    stream.close()
    with Cluster(product, "--job-ms", "300") as cluster:
        cluster.ask("job", fault="none")  # the first job goes well
        cluster.ask("job", fault="cancel:backend 10002 is not alive")
        pipeline = make_pipeline(driftless, folder, cluster)
        log = pipeline.run(expected=1)
        check("the server cancelled the schema change: backend 10002 is not alive" in log, log[-1500:])
        check([c[0] for c in cluster.columns("orders")] == ["id", "name", "amount", "x"], f"{cluster.columns('orders')}")
        check([row["id"] for row in cluster.rows("orders")] == [1], "a row of the new schema was released")
        stopped = [r for r in pipeline.audit() if r.get("result", "").startswith("refused")]
        pipeline.decide("decide", str(stopped[-1]["id"]), "retry")
        pipeline.run()
        wanted = [{"id": 1, "name": "a", "amount": "1.00", "x": None, "y": None},
                  {"id": 2, "name": "b", "amount": "2.00", "x": 5, "y": 6}]
        check(cluster.rows("orders") == wanted, f"{cluster.rows('orders')}")
        # Nothing was sent twice that had taken effect.
        adds = [sql for sql in cluster.ask("statements") if "ADD COLUMN `x`" in sql]
        check(len(adds) == 1, f"{adds}")


@each_product
def a_job_of_somebody_else_is_waited_for(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a", "amount": 1})
    stream.close()
    with Cluster(product) as cluster:
        pipeline = make_pipeline(driftless, folder, cluster)
        pipeline.run()
        with open(stream.path, "a", encoding="utf-8") as stream.file:
            stream.ddl("orders", "ALTER TABLE orders ADD COLUMN x INT", ORDERS + [("x", "INT", False)])
            stream.row("orders", {"id": 2, "name": "b", "amount": 2, "x": 5})
        cluster.ask("job", fault="stuck")
        cluster.ask("execute", sql="ALTER TABLE `shop`.`orders` ADD COLUMN `theirs` INT")
        process = pipeline.start("--until-end")

        def says_so():
            with open(pipeline.log, encoding="utf-8") as f:
                return "is RUNNING, 40%" in f.read()
        eventually(says_so, "the job of somebody else is named", process)
        check(not [sql for sql in cluster.ask("statements") if "ADD COLUMN `x`" in sql], "it was not waited for")
        cluster.ask("job", free=1)
        check(process.wait(timeout=300) == 0, "the run failed")
        check([row["x"] for row in cluster.rows("orders")] == [None, 5], f"{cluster.rows('orders')}")


def is_load(line):
    """Whether a back end was asked for rows."""
    return line.startswith("BE PUT") and "_stream_load_2pc" not in line


def most_loads_of_a_cut(cluster):
    """Everything of a cut lies at the server before anything of it becomes visible."""
    cuts = {}
    for what, label in cluster.ask("history"):
        cuts.setdefault(re.sub(r"-\d+$", "", label), []).append(what)
    for cut, steps in cuts.items():
        check(steps == sorted(steps), f"{cut}: {steps}")  # "loaded" before "visible"
    return max(steps.count("loaded") for steps in cuts.values())


@each_product
def values_that_were_not_sent_stay_as_they_are(driftless, folder, product):
    """As PostgreSQL's connector says that a long value is unchanged; before images do not come."""
    absent = "__debezium_unavailable_value"
    kinds = [("id", "INT", True), ("name", "VARCHAR(20)", False), ("note", "VARCHAR(20)", False)]
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), note VARCHAR(20))", kinds)
    truth = {}

    def send(op, key, **values):
        row = {"id": key, **values}
        stream.row("orders", row, op=op)
        truth[key] = {**truth.get(key, {}), **{k: v for k, v in row.items() if v != absent}}

    for key in range(40):
        send("c", key, name=f"n{key}", note=f"o{key}")
    rng = random.Random(7)
    for i in range(600):  # full, partial and deleted rows of the same keys, in every order
        key = rng.randrange(40)
        if key not in truth:
            send("c", key, name=f"again{i}", note=None)
        elif i % 9 == 0:
            stream.row("orders", None, op="d", before={"id": key, "name": None, "note": None})
            truth.pop(key)
        else:
            name, note = rng.choice([(f"n{i}", absent), (absent, f"o{i}"), (absent, absent), (f"n{i}", f"o{i}"), (None, absent)])
            send("u", key, name=name, note=note)
    stream.close()
    wanted = [truth[key] for key in sorted(truth)]
    with Cluster(product) as cluster:
        make_pipeline(driftless, folder, cluster).run()
        check(cluster.rows("orders") == wanted, f"{cluster.rows('orders')}\nnot\n{wanted}")
    one = os.path.join(folder, "one checkpoint")
    with Cluster(product) as cluster:
        pipeline = make_pipeline(driftless, one, cluster, interval="1 h")
        os.link(stream.path, os.path.join(one, "records.jsonl"))
        pipeline.run()
        check(cluster.rows("orders") == wanted, f"{cluster.rows('orders')}\nnot\n{wanted}")
        check(most_loads_of_a_cut(cluster) > 1, f"{cluster.ask('history')}")
        loads = [line for line in cluster.ask("requests") if is_load(line)]
        # Rows with the same columns travel together, as far as their keys allow.
        check(len(loads) < 100, f"{len(loads)} loads for 640 rows")
        asked = "partial_update: true" if product == "starrocks" else "partial_columns: true"
        check([line for line in loads if asked in line and "columns: `id`,`name`" in line], f"{loads[:5]}")
    # A new row has nothing to keep: no half of a row is written.
    new = os.path.join(folder, "new")
    stream = records_of(new)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), note VARCHAR(20))", kinds)
    stream.row("orders", {"id": 1, "name": absent, "note": "x"})
    stream.close()
    with Cluster(product) as cluster:
        log = make_pipeline(driftless, new, cluster).run(expected=1)
        check("column name: the source did not send the value, and the row is a new one" in log, log[-1500:])


@each_product
def a_cut_of_many_loads_becomes_visible_at_its_commit(driftless, folder, product):
    """By rows and by bytes; a commit whose answer is lost in the middle of them is gone on with."""
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    for i in range(30000):
        stream.row("orders", {"id": i % 9000, "name": f"name {i}", "amount": i}, op="c" if i < 9000 else "u")
    stream.close()
    for name, bound in (("rows", "load.max-rows: 1000"), ("bytes", "load.max-bytes: 64 KiB")):
        work = os.path.join(folder, name)
        with Cluster(product) as cluster:
            pipeline = make_pipeline(driftless, work, cluster, more=f"  {bound}\n", interval="1 h")
            os.link(stream.path, os.path.join(work, "records.jsonl"))
            if product == "doris":
                cluster.ask("fault", name="commit_gone_after", count=1, skip=1)
            pipeline.run()
            rows = cluster.rows("orders")
            check([row["name"] for row in rows] == [f"name {i + 18000 + (9000 if i < 3000 else 0)}" for i in range(9000)], f"{rows[:3]}")
            check(most_loads_of_a_cut(cluster) > 1, f"{cluster.ask('history')}")
            check(cluster.ask("faults") == {} and cluster.ask("open") == [], "the commits were not gone on with")


@each_product
def deletes_of_tables_with_not_null_columns(driftless, folder, product):
    """Servers refuse a row without a value for a NOT NULL column, also one that deletes; a source may send no more than the key."""
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(3) NOT NULL, amount DECIMAL(10,2) NOT NULL, "
                         "at DATETIME(3) NOT NULL, day DATE NOT NULL, flag TINYINT(1) NOT NULL, note VARCHAR(9))")
    rows = [{"id": key, "name": "n\"", "amount": 1.5, "at": 1700000000123, "day": 19800, "flag": 1, "note": None} for key in range(4)]
    for row in rows:
        stream.row("orders", row)
    stream.row("orders", None, op="d", before=rows[1])
    stream.row("orders", None, op="d", before={"id": 2})
    stream.close()
    with Cluster(product) as cluster:
        make_pipeline(driftless, folder, cluster).run()
        check([row["id"] for row in cluster.rows("orders")] == [0, 3], f"{cluster.rows('orders')}")


def ways_of_statements(product):
    return {"one": (False,)} if product == "starrocks" else {"jdbc-url": (False,), "over HTTP": (True,)}


@each_case(ways_of_statements)
def connections_are_protected_by_tls(driftless, folder, product, case):
    over_http, = case
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a", "amount": 1})
    stream.close()

    def pipeline(name, cluster, more=""):
        work = os.path.join(folder, name)
        made = make_pipeline(driftless, work, cluster, more=more, over_http=over_http, interval="1 h")
        os.link(stream.path, os.path.join(work, "records.jsonl"))
        return made

    def trusted(authority):
        return f"  tls.ca: {CERTIFICATES}/{authority}.pem\n"

    with Cluster(product, certificate="server") as cluster:
        for name, more in (("other authority", trusted("other-ca")), ("system's authorities", "")):
            log = pipeline(name, cluster, more).run(expected=1)
            check("ertificate" in log, f"{name}: {log[-1500:]}")
        check(cluster.ask("statements") == [] and cluster.ask("requests") == [], "something was sent")
        cluster.ask("fault", name="no_partition", count=1)
        good = pipeline("good", cluster, trusted("ca"))
        check("Error: no partition for this tuple" in good.run(expected=1), "the page of refused rows was not read")
        good.run()
        check([row["id"] for row in cluster.rows("orders")] == [1], f"{cluster.rows('orders')}")
        check([row["id"] for row in good.rows("shop.orders", sink="olap")] == [1], "peek shows others")
    with Cluster(product, certificate="elsewhere") as cluster:
        log = pipeline("another host", cluster, trusted("ca")).run(expected=1)
        check(cluster.ask("statements") == [] and cluster.ask("requests") == [], f"something was sent: {log[-1500:]}")
    with Cluster(product, "--plain-back-ends", certificate="server") as cluster:
        plain = pipeline("plain back ends", cluster, trusted("ca"))
        check("sends the request on to http://127.0.0.1" in plain.run(expected=1), "rows leave TLS unasked")
        check(not [line for line in cluster.ask("requests") if line.startswith("BE")], f"{cluster.ask('requests')}")
        allowed = pipeline("allowed", cluster, trusted("ca") + "  tls.plain-back-ends: true\n")
        allowed.run()
        check([row["id"] for row in cluster.rows("orders")] == [1], f"{cluster.rows('orders')}")
    if not over_http:
        with Cluster(product) as cluster:
            made = pipeline("no TLS", cluster)
            with open(made.file, encoding="utf-8") as f:
                text = f.read()
            with open(made.file, "w", encoding="utf-8") as f:
                f.write(re.sub(r"(jdbc:mysql://\S+)", r"\1?useSSL=true", text))
            log = made.run(expected=1)
            check("not support" in log and cluster.ask("queries") == [], log[-1500:])


def packings_of(product):
    return ("gzip", "lz4_frame") if product == "starrocks" else ("gz", "lz4")


def packing_header(product):
    return "compression" if product == "starrocks" else "compress_type"


@each_product
def bodies_are_packed_where_the_server_takes_that(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    for i in range(2000):
        stream.row("orders", {"id": i, "name": f"name {i % 7}", "amount": i})
    stream.close()
    words, key = packings_of(product), packing_header(product)
    version = "3.2.7" if product == "starrocks" else "3.0.5"
    for word in words:
        work = os.path.join(folder, word)
        with Cluster(product, "--version", version) as cluster:
            pipeline = make_pipeline(driftless, work, cluster, more=f"  sink.properties.{key}: {word}\n")
            os.link(stream.path, os.path.join(work, "records.jsonl"))
            pipeline.run()
            check([row["id"] for row in cluster.rows("orders")] == list(range(2000)), "rows differ")
            check([line for line in cluster.ask("requests") if f"{key}: {word}" in line], "nothing was packed")
    with Cluster(product, "--version", "3.0.4") as cluster:
        old = os.path.join(folder, "old")
        pipeline = make_pipeline(driftless, old, cluster, more=f"  sink.properties.{key}: {words[0]}\n")
        os.link(stream.path, os.path.join(old, "records.jsonl"))
        check(f"takes compressed JSON from {version} on, and the server is 3.0.4" in pipeline.run(expected=1), "it starts")


def formats_of(cluster):
    """{table: the formats that its rows came in}"""
    found = {}
    for line in cluster.ask("requests"):
        if is_load(line):
            table, form = re.search(r"/api/shop/([^/]+)/.*\| format: (\w+)", line).groups()
            found.setdefault(table, set()).add(form)
    return found


def arrow_stream(folder):
    stream = records_of(folder)
    stream.ddl("log", "CREATE TABLE log (id INT NOT NULL, name VARCHAR(20), amount DECIMAL(10,2), day DATE, flag TINYINT(1), real8 DOUBLE)",
               [("id", "INT", False), ("name", "VARCHAR(20)", False), ("amount", "DECIMAL(10, 2)", False), ("day", "DATE", False),
                ("flag", "TINYINT(1)", False), ("real8", "DOUBLE", False)])
    for i in range(500):
        stream.row("log", {"id": i, "name": f"n{i}\u00e9" if i % 3 else None, "amount": i / 4, "day": 19800 - i * 80,
                           "flag": i % 2, "real8": i / 8 if i % 5 else None}, key=None)
    stream.close()
    wanted = [{"id": i, "name": f"n{i}\u00e9" if i % 3 else None, "amount": f"{i / 4:.2f}",
               "day": str(datetime.date(1970, 1, 1) + datetime.timedelta(days=19800 - i * 80)), "flag": i % 2,
               "real8": i / 8 if i % 5 else None} for i in range(500)]
    return stream, wanted


def rows_travel_as_arrow_where_doris_reads_them_rightly(driftless, folder):
    stream, wanted = arrow_stream(folder)
    with open(stream.path, "a", encoding="utf-8") as stream.file:
        stream.ddl("moments", "CREATE TABLE moments (id INT, at DATETIME(3))", [("id", "INT", False), ("at", "DATETIME(3)", False)])
        stream.row("moments", {"id": 1, "at": 1700000000123}, key=None)
        stream.ddl("capitals", "CREATE TABLE capitals (id INT, eV INT)", [("id", "INT", False), ("eV", "INT", False)])
        stream.row("capitals", {"id": 1, "eV": 2}, key=None)
        stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
        stream.row("orders", {"id": 1, "name": "a", "amount": 1})
        stream.row("orders", {"id": 2, "name": "b", "amount": 2})
        stream.row("orders", {"id": 2, "name": "__debezium_unavailable_value", "amount": 3}, op="u")
        stream.row("orders", None, op="d", before={"id": 1, "name": "a", "amount": 1})
    arrow = "  sink.properties.format: arrow\n  sink.properties.compress_type: gz\n"
    with Cluster("doris", "--version", "3.0.5") as cluster:
        log = make_pipeline(driftless, folder, cluster, more=arrow).run()
        check(cluster.rows("log") == wanted, f"{cluster.rows('log')[:3]}, {len(cluster.rows('log'))} rows")
        check(cluster.rows("moments") == [{"id": 1, "at": "2023-11-14 22:13:20.123"}], f"{cluster.rows('moments')}")
        check(cluster.rows("capitals") == [{"id": 1, "eV": 2}], f"{cluster.rows('capitals')}")
        check(cluster.rows("orders") == [{"id": 2, "name": "b", "amount": "3.00"}], f"{cluster.rows('orders')}")
        formats = formats_of(cluster)
        check(formats == {"log": {"arrow"}, "moments": {"json"}, "capitals": {"json"}, "orders": {"json"}}, f"{formats}")
        for table in ("moments", "capitals", "orders"):
            check(f"rows of table shop.{table} travel as JSON, not as Arrow" in log, log[-1500:])
    kept = os.path.join(folder, "deletes are left out")
    with Cluster("doris", "--version", "3.0.5") as cluster:
        pipeline = make_pipeline(driftless, kept, cluster, more=arrow + "  sink.enable-delete: false\n", interval="1 h")
        os.link(stream.path, os.path.join(kept, "records.jsonl"))
        pipeline.run()
        check(cluster.rows("orders") == [{"id": 1, "name": "a", "amount": "1.00"}, {"id": 2, "name": "b", "amount": "3.00"}],
              f"{cluster.rows('orders')}")
        check(cluster.rows("log") == wanted, f"{cluster.rows('log')[:3]}")
        check("arrow" in formats_of(cluster)["log"], f"{formats_of(cluster)}")
    with Cluster("doris", "--version", "2.0.15") as cluster:
        old = os.path.join(folder, "old")
        pipeline = make_pipeline(driftless, old, cluster, more="  sink.properties.format: arrow\n")
        os.link(stream.path, os.path.join(old, "records.jsonl"))
        check("takes Arrow from 2.1.0 on, and the server is 2.0.15" in pipeline.run(expected=1), "it starts")


@each_product
def extensions_are_held_against_the_server_s_version(driftless, folder, product):
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY)", [("id", "INT", True)])
    stream.close()
    event, old = ("rename.column", "3.3.1") if product == "starrocks" else ("relax.nullability", "1.1.5")
    with Cluster(product, "--version", old) as cluster:
        pipeline = make_pipeline(driftless, folder, cluster, more=f"  capability.extensions: [{event}]\n")
        log = pipeline.run(expected=1)
        check(f"capability.extensions: {event} needs" in log and f"the server is {old}" in log, log[-1500:])
        check(cluster.ask("statements") == [], "something was sent")


AUTO_PARTITIONS = "  table.create.auto-partition.properties."
RANGES = (f"{AUTO_PARTITIONS}include: shop.ord\\.*\n{AUTO_PARTITIONS}default-partition-key: day\n"
          f"{AUTO_PARTITIONS}default-partition-unit: month\n")
LISTS = "transform:\n  - source-table: shop.orders\n    partition-keys: day, id\n"


def partitions_of(product):
    if product == "doris":
        return {"ranges": (RANGES, "AUTO PARTITION BY RANGE (date_trunc(`day`, 'month')) ()"),
                "lists": (LISTS, "AUTO PARTITION BY LIST (`day`, `id`) ()")}
    return {"lists": (LISTS, "PARTITION BY (`day`, `id`)")}


def partitioned_stream(folder):
    kinds = [("id", "INT", True), ("day", "DATE", True), ("v", "INT", False)]
    stream = records_of(folder)
    stream.ddl("orders", "CREATE TABLE orders (id INT, day DATE, v INT, PRIMARY KEY (id, day))", kinds)
    stream.row("orders", {"id": 1, "day": 19800, "v": 1}, key=("id", "day"))
    stream.close()


@each_case(partitions_of)
def tables_are_partitioned(driftless, folder, product, case):
    more, clause = case
    partitioned_stream(folder)
    with Cluster(product, "--version", "3.3.5") as cluster:
        pipeline = make_pipeline(driftless, folder, cluster, more=more)
        pipeline.run()
        create = [sql for sql in cluster.ask("statements") if sql.startswith("CREATE TABLE")]
        check(len(create) == 1 and clause in create[0], f"{create}")
        check(cluster.rows("orders") == [{"id": 1, "day": "2024-03-18", "v": 1}], f"{cluster.rows('orders')}")


def statements_go_over_http_where_no_other_port_is_named(driftless, folder):
    stream = records_of(folder)
    named = ORDERS[:1] + [("name \u00fc\u4f60", "VARCHAR(20)", False)] + ORDERS[2:]
    stream.ddl("orders", "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), amount DECIMAL(10,2))", ORDERS)
    stream.row("orders", {"id": 1, "name": "a", "amount": 1})
    stream.ddl("orders", "ALTER TABLE orders RENAME COLUMN name TO `name \u00fc\u4f60`", named)
    stream.row("orders", {"id": 2, "name \u00fc\u4f60": "\U0001f600", "amount": 2})
    stream.ddl("orders", "ALTER TABLE orders MODIFY amount DECIMAL(12,2)",
               named[:2] + [("amount", "DECIMAL(12, 2)", False)])
    stream.row("orders", {"id": 3, "name \u00fc\u4f60": "c", "amount": 3})
    stream.close()
    with Cluster("doris", "--job-ms", "200", "--gap-ms", "100") as cluster:
        pipeline = make_pipeline(driftless, folder, cluster, dead_address=True, over_http=True)
        cluster.ask("fault", name="sql_gone_after", count=1, skip=2)
        pipeline.run()
        check([list(row.values()) for row in cluster.rows("orders")] ==
              [[1, "a", "1.00"], [2, "\U0001f600", "2.00"], [3, "c", "3.00"]], f"{cluster.rows('orders')}")
        check([c[0] for c in cluster.columns("orders")] == ["id", "name \u00fc\u4f60", "amount"], f"{cluster.columns('orders')}")
        rows = pipeline.rows("shop.orders", sink="olap")
        check([row["id"] for row in rows] == [1, 2, 3], f"peek shows {rows}")


@each_product
def everything_that_is_sent_is_as_reviewed(driftless, folder, product):
    """Statements and headers stand in tests/golden/olap, to be compared with the documentation by eye."""
    stream = records_of(folder)
    kinds = [("id", "INT", True), ("day", "DATE", True), ("flag", "TINYINT(1)", False), ("big", "BIGINT", False),
             ("real8", "DOUBLE", False), ("name", "VARCHAR(20)", False), ("code", "CHAR(3)", False),
             ("notes", "TEXT", False), ("amount", "DECIMAL(10, 2)", False), ("at", "DATETIME(6)", False),
             ("clock", "TIME", False), ("raw", "VARBINARY(8)", False)]
    more = {"name": " DEFAULT 'say \"x\"\\\\' COMMENT 'it''s'", "amount": " DEFAULT 1.5", "at": " DEFAULT '2024-01-31 10:00:00.5'"}
    body = ", ".join(f"`{name}` {kind}{more.get(name, '')}" for name, kind, _ in kinds)
    stream.ddl("t-1", f"CREATE TABLE `t-1` ({body}, PRIMARY KEY (`day`, `id`)) COMMENT 'it''s'", kinds)
    stream.ddl("t-1", "ALTER TABLE `t-1` ADD COLUMN x INT NOT NULL DEFAULT 7 COMMENT 'say \"x\"' AFTER flag")
    stream.ddl("t-1", "ALTER TABLE `t-1` ADD COLUMN y DATETIME DEFAULT CURRENT_TIMESTAMP, DROP COLUMN raw")
    stream.ddl("t-1", "ALTER TABLE `t-1` RENAME COLUMN name TO title")
    stream.ddl("t-1", "ALTER TABLE `t-1` MODIFY COLUMN big VARCHAR(30)")
    stream.ddl("t-1", "ALTER TABLE `t-1` MODIFY COLUMN x INT NULL DEFAULT 7")
    stream.ddl("t-1", "ALTER TABLE `t-1` MODIFY COLUMN real8 DOUBLE COMMENT 'new'")
    stream.ddl("t-1", "ALTER TABLE `t-1` COMMENT = 'newer'")
    stream.ddl("t-1", "TRUNCATE TABLE `t-1`")
    stream.ddl("u", "CREATE TABLE u (id INT PRIMARY KEY)", [("id", "INT", True)])
    stream.row("u", {"id": 1})
    stream.row("u", None, op="d", before={"id": 1})
    stream.ddl("u", "DROP TABLE u", drop=True)
    stream.close()
    events = {"starrocks": "rename.column, alter.column.type, alter.table.comment",
              "doris": "relax.nullability, alter.column.comment, alter.table.comment"}
    version = {"starrocks": "3.3.5", "doris": "3.0.5"}[product]
    with Cluster(product, "--version", version) as cluster:
        make_pipeline(driftless, folder, cluster, more=f"  capability.extensions: [{events[product]}]\n").run()
        # Two tables are changed side by side: table by table.
        table_of = lambda sql: (any(word in sql for word in ("`t-1`", '"t-1"'))) + 2 * any(w in sql for w in ("`u`", '"u"'))
        sent = ["# statements", *sorted(dict.fromkeys(cluster.ask("statements")), key=table_of),
                "# questions", *sorted(dict.fromkeys(cluster.ask("queries")), key=table_of),
                "# whole rows", *requests_of(cluster)]
    sent += rows_that_lack_values(driftless, os.path.join(folder, "partial"), product, version)
    sent += partitions_and_packings(driftless, os.path.join(folder, "partitioned"), product, version)
    if product == "doris":
        sent += statements_over_http(driftless, os.path.join(folder, "http"), version)
        sent += rows_as_arrow(driftless, os.path.join(folder, "arrow"), version)
    sent = "\n".join(sent) + "\n"
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "olap", product + ".txt")
    if os.environ.get("DRIFTLESS_UPDATE_GOLDEN") == "1":
        os.makedirs(os.path.dirname(golden), exist_ok=True)
        with open(golden, "w", encoding="utf-8") as f:
            f.write(sent)
    with open(golden, encoding="utf-8") as f:
        check(sent == f.read(), f"what is sent has changed (DRIFTLESS_UPDATE_GOLDEN=1 writes it):\n{sent}")


def requests_of(cluster):
    plain = [re.sub(r"-\d+-\d+-\d+(?=$| )", "-CUT-ATTEMPT-N", line) for line in cluster.ask("requests")]
    return list(dict.fromkeys(re.sub(r"txn_id: \d+", "txn_id: N", line) for line in plain))


def rows_that_lack_values(driftless, folder, product, version):
    """The requests of packed loads of which the second one fails at first, and the first is given up with it."""
    stream = records_of(folder)
    stream.ddl("p", "CREATE TABLE p (id INT PRIMARY KEY, v VARCHAR(9), w INT)",
               [("id", "INT", True), ("v", "VARCHAR(9)", False), ("w", "INT", False)])
    stream.row("p", {"id": 1, "v": "a", "w": 1})
    stream.row("p", {"id": 1, "v": "__debezium_unavailable_value", "w": 2}, op="u")
    stream.close()
    packing = {"starrocks": "compression: lz4_frame", "doris": "compress_type: gz"}[product]
    with Cluster(product, "--version", version) as cluster:
        pipeline = make_pipeline(driftless, folder, cluster, more=f"  sink.properties.{packing}\n", interval="1 h")
        cluster.ask("fault", name="be_full", count=4, skip=1)  # all tries of the second load
        pipeline.run()
        check(cluster.rows("p") == [{"id": 1, "v": "a", "w": 2}], f"{cluster.rows('p')}")
        return ["# packed rows that lack a value; what is begun is given up once", *requests_of(cluster)]


def partitions_and_packings(driftless, folder, product, version):
    """CREATE TABLE of every kind of partitions, and the requests of loads that are packed either way."""
    sent = ["# partitions, and buckets and properties that the user names"]
    buckets = "" if product == "doris" else "  table.create.num-buckets: 4\n"
    for name, (more, _) in partitions_of(product).items():
        partitioned_stream(os.path.join(folder, name))
        with Cluster(product, "--version", version) as cluster:
            more = f"{buckets}  table.create.properties.compression: zstd\n{more}"
            make_pipeline(driftless, os.path.join(folder, name), cluster, more=more).run()
            sent += [sql for sql in cluster.ask("statements") if sql.startswith("CREATE TABLE")]
    sent.append("# packed loads, and headers that the user names")
    for word in packings_of(product):
        work = os.path.join(folder, word)
        partitioned_stream(work)
        with Cluster(product, "--version", version) as cluster:
            more = f"  sink.properties.{packing_header(product)}: {word}\n  sink.properties.timeout: 900\n"
            make_pipeline(driftless, work, cluster, more=more).run()
            sent += [line for line in requests_of(cluster) if " PUT " in line and "load" in line and "2pc" not in line]
    return sent


def statements_over_http(driftless, folder, version):
    stream = records_of(folder)
    stream.ddl("h", "CREATE TABLE h (id INT PRIMARY KEY) COMMENT '\u00e9'", [("id", "INT", True)])
    stream.close()
    with Cluster("doris", "--version", version) as cluster:
        make_pipeline(driftless, folder, cluster, over_http=True).run()
        return ["# statements without jdbc-url", *requests_of(cluster)]


def rows_as_arrow(driftless, folder, version):
    arrow_stream(folder)
    with Cluster("doris", "--version", version) as cluster:
        make_pipeline(driftless, folder, cluster, more="  sink.properties.format: arrow\n").run()
        return ["# rows as Arrow", *[line for line in requests_of(cluster) if " PUT " in line and "2pc" not in line]]


def changing_stream(folder, rng, rows):
    """Inserts, updates and deletes of two tables with columns that come and go; returns what must be there at last.

    Some updates lack the text, so that a cut has several loads.
    """
    stream = records_of(folder)
    truth = {"a": {}, "b": {}}
    columns = {"a": ["v"], "b": ["v"]}

    def described(table):
        return [("id", "INT", True), ("t", "VARCHAR(20)", False)] + [(name, "INT", False) for name in columns[table]]

    for table in truth:
        stream.ddl(table, f"CREATE TABLE {table} (id INT PRIMARY KEY, t VARCHAR(20), v INT)", described(table))
    for i in range(rows):
        table = rng.choice("ab")
        kept = truth[table]
        what = rng.random()
        if kept and what < 0.2:
            key = rng.choice(list(kept))
            stream.row(table, None, op="d", before=kept.pop(key))
        elif kept and what < 0.5:
            key = rng.choice(list(kept))
            after = {"id": key, "t": f"t{i}", **{name: i for name in columns[table]}}
            if rng.random() < 0.2:
                stream.row(table, {**after, "t": "__debezium_unavailable_value"}, op="u")
                after["t"] = kept[key]["t"]
            else:
                stream.row(table, after, op="u", before=kept[key])
            kept[key] = after
        else:
            row = {"id": i, "t": f"t{i}", **{name: i for name in columns[table]}}
            stream.row(table, row)
            kept[i] = row
        if i % (rows // 12) != rows // 12 - 1:
            continue
        if len(columns[table]) > 2:
            name = columns[table].pop(1)
            stream.ddl(table, f"ALTER TABLE {table} DROP COLUMN {name}", described(table))
            for row in kept.values():
                row.pop(name)
        elif i > rows // 2 and len(columns[table]) == 2:
            stream.ddl(table, f"TRUNCATE TABLE {table}")
            kept.clear()
            columns[table].append(f"c{i}")
            stream.ddl(table, f"ALTER TABLE {table} ADD COLUMN c{i} INT", described(table))
        else:
            columns[table].append(f"c{i}")
            stream.ddl(table, f"ALTER TABLE {table} ADD COLUMN c{i} INT", described(table))
            for row in kept.values():
                row[f"c{i}"] = None
    stream.close()
    return {table: [kept[key] for key in sorted(kept)] for table, kept in truth.items()}


def check_tables(cluster, truth, when):
    for table, expected in truth.items():
        rows = cluster.rows(table)
        check(rows == expected, f"{when}: {table} has {len(rows)} rows, {len(expected)} are right; "
                                f"first other ones {[(a, b) for a, b in zip(rows, expected) if a != b][:2]}")
    check(cluster.ask("open") == [], f"{when}: transactions are left open: {cluster.ask('open')}")
    check(cluster.ask("waited") == [], f"{when}: open across an ALTER of their table: {cluster.ask('waited')}")


def faults_of(product):
    """name: (fault, its time, options of the sink); each strikes twice, and a few calls of its kind go well before."""
    if product == "starrocks":
        faults = [f"{op}_gone_{when}" for op in ("begin", "load", "prepare", "commit") for when in ("before", "after")]
        faults.append("publish_timeout")
    else:
        faults = [f"{op}_gone_{when}" for op in ("load", "commit") for when in ("before", "after")]
        faults.append("load_runs_on")
    faults += ["sql_gone_before", "sql_gone_after", "fe_503", "dead_be", "be_busy", "be_full", "answer_cut"]
    cases = {fault: (fault, 0, "") for fault in faults}
    for fault in ("fe_slow", "sql_slow"):
        cases[f"{fault}, and is waited for"] = (fault, 1000, "")
        if product == "starrocks":  # an hour: who does not give up, where the user says how long an answer may take, never ends
            cases[f"{fault}, and is given up"] = (fault, 3_600_000, "  sink.socket.timeout-ms: 3000\n")
    return cases


@each_case(faults_of)
def lost_answers_change_nothing(driftless, folder, product, case):
    fault, ms, more = case
    seed = options.seed or default_seed()
    rng = random.Random(f"{seed} {product} {fault}")
    truth = changing_stream(folder, rng, 900)
    with Cluster(product, "--job-ms", "20") as cluster:
        pipeline = make_pipeline(driftless, folder, cluster, dead_address=True, more=more)
        cluster.ask("fault", name=fault, count=2, skip=rng.randrange(3, 7), ms=ms)
        pipeline.run()
        check_tables(cluster, truth, f"seed {seed}")
        check(cluster.ask("faults") == {}, f"it did not strike: {cluster.ask('faults')}")


def leftovers_of(product):
    """name: (options of the sink, {fault: (how often, how many calls go well before)})."""
    if product == "starrocks":
        return {"no rollback": ("", {"begin_gone_before": (1, 0), "load_gone_after": (1, 0), "rollback_gone_before": (8, 1)})}
    return {"no abort": ("", {"be_full": (4, 1), "abort_gone_before": (4, 0)}),
            "a load that runs on": ("  sink.max-retries: 0\n", {"load_runs_on": (1, 1)}),
            "a load in one phase that runs on": ("  sink.max-retries: 0\n  sink.enable-2pc: false\n", {"load_runs_on": (1, 1)})}


@each_case(leftovers_of)
def what_an_attempt_left_is_ended(driftless, folder, product, case):
    """A load that an attempt could not give up holds up the job of an ALTER, and must not become visible behind newer rows."""
    more, faults = case
    absent = "__debezium_unavailable_value"
    kinds = [("id", "INT", True), ("v", "VARCHAR(9)", False), ("w", "INT", False)]
    stream = records_of(folder)
    stream.ddl("p", "CREATE TABLE p (id INT PRIMARY KEY, v VARCHAR(9), w INT)", kinds)
    stream.row("p", {"id": 1, "v": "a", "w": 1})
    stream.row("p", {"id": 1, "v": absent, "w": 2}, op="u")  # a load of its own
    stream.ddl("p", "ALTER TABLE p ADD COLUMN x INT", kinds + [("x", "INT", False)])
    stream.row("p", {"id": 1, "v": "b", "w": 3, "x": 4}, op="u")
    stream.close()
    with Cluster(product) as cluster:
        pipeline = make_pipeline(driftless, folder, cluster, more=more, interval="1 h")
        for name, (count, skip) in faults.items():
            cluster.ask("fault", name=name, count=count, skip=skip)
        pipeline.run()
        check_tables(cluster, {"p": [{"id": 1, "v": "b", "w": 3, "x": 4}]}, "at the end")
        check(cluster.ask("faults") == {}, f"it did not strike: {cluster.ask('faults')}")


@each_product
def kills_change_nothing(driftless, folder, product):
    kills = Kills(options.kills, options.seed)
    while not kills.over():
        work = os.path.join(folder, str(kills.replays))
        truth = changing_stream(work, kills.rng, 1500)
        with Cluster(product, "--job-ms", "20") as cluster:
            # Every other replay has many loads in a cut.
            bounds = "  load.max-rows: 20\n" if kills.replays % 2 else ""
            kills.replay(make_pipeline(driftless, work, cluster, more=bounds, interval="1 s" if bounds else "100 ms"))
            check_tables(cluster, truth, f"after {kills.done} kills")
            most_loads_of_a_cut(cluster)
        if LONG:
            print(f"        {product}: {kills.done} kills, and the tables are right", flush=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--kills", type=int, default=options.kills)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--only")
    ap.add_argument("--product", choices=PRODUCTS, action="append")
    options = ap.parse_args()
    tests = [kills_change_nothing, lost_answers_change_nothing, tables_follow_the_source, renames_and_types_follow_the_matrix,
             values_that_do_not_fit_are_found_before_the_load, an_existing_table_is_taken_and_its_differences_reported,
             rows_that_the_server_refuses_are_shown, a_job_that_is_cancelled_or_too_slow_is_reported, a_change_that_fails_half_way_goes_on_where_it_was,
             a_job_of_somebody_else_is_waited_for, values_that_were_not_sent_stay_as_they_are,
             a_cut_of_many_loads_becomes_visible_at_its_commit, deletes_of_tables_with_not_null_columns, connections_are_protected_by_tls,
             bodies_are_packed_where_the_server_takes_that, extensions_are_held_against_the_server_s_version,
             tables_are_partitioned, rows_travel_as_arrow_where_doris_reads_them_rightly, statements_go_over_http_where_no_other_port_is_named, everything_that_is_sent_is_as_reviewed,
             what_an_attempt_left_is_ended]
    # They wait for pauses of the sink and jobs of the double most of the time.
    sys.exit(run_all(list(all_tests(tests)), options.driftless, side_by_side=6))
