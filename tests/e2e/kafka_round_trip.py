#!/usr/bin/env python3
"""Through a real Kafka broker: recorded streams to topics and back into Paimon, and kill -9 on both sides.

usage: kafka_round_trip.py --driftless BIN [--only TEST[,TEST]] [--kills N] [--seed N]

- Recordings go file -> Kafka -> Paimon, with 1 and with 6 partitions; the tables must equal the source's truth.
- With exactly-once, the pipeline to Kafka is killed at random moments; a consumer that reads committed records
  only must see every change exactly once, in the order of the source for each key. The same when the broker is
  killed and comes back.
- In upsert mode the last message of each key is the row, or a tombstone.
- The pipeline from Kafka is killed while it writes to Paimon; the tables must equal the truth.
The broker is a new one each time. Exit status: 77 where Kafka is not installed. The seed is printed.
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import kafka_peer  # noqa: E402
import replay  # noqa: E402
from pipelines import Failed, Pipeline, Records, check, eventually  # noqa: E402

options = argparse.Namespace()


broker = kafka_peer.Broker("round-trip", with_users=True)


def to_kafka(source, case, name, **sink):
    """A pipeline of files to Kafka, with the case's own options for the pipeline; `source` are its lines."""
    lines = ["source:", *("  " + line for line in source), "sink:", "  type: kafka", "  name: out",
             f"  properties.bootstrap.servers: {broker.bootstrap}"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in sink.items()]
    lines += ["pipeline:", f"  name: {name}-out", "  http.address: off"]
    more = {"checkpoint.interval": "100 ms", **case.get("pipeline", {})}
    lines += [f"  {key}: {json.dumps(value)}" for key, value in more.items()]
    return "\n".join(lines) + "\n"


def to_paimon(topics, case, name, **source):
    """A pipeline of topics to Paimon, with the case's own options for the pipeline."""
    lines = ["source:", "  type: kafka", f"  properties.bootstrap.servers: {broker.bootstrap}",
             f"  topic-pattern: {json.dumps(topics)}", "  scan.startup.mode: earliest-offset",
             "  scan.bounded.mode: latest-offset",
             *(f"  {key}: {json.dumps(value)}" for key, value in source.items()),
             "sink:", "  type: paimon", "  name: lake", "  catalog.properties.warehouse: @FOLDER@/warehouse",
             "pipeline:", f"  name: {name}-in", "  http.address: off", "  checkpoint.interval: 100 ms"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in case.get("pipeline", {}).items()]
    return "\n".join(lines) + "\n"


def folder_of(folder, name):
    path = os.path.join(folder, name)
    os.makedirs(path)
    return path


def fill_topics(driftless, folder, case, **sink):
    """The whole recording of a case into topics."""
    source = ["type: file", "path: " + os.path.join(replay.TOP, "tests/data", case["recording"])]
    source += [f"{k}: {json.dumps(v)}" for k, v in case.get("source", {}).items()]
    Pipeline(driftless, folder_of(folder, "out"), to_kafka(source, case, os.path.basename(folder), **sink)).run()


def check_equals_truth(driftless, case, pipeline):
    args = argparse.Namespace(driftless=driftless)
    try:
        got, report = replay.compare(args, "peek", case, pipeline.file, pipeline.warehouse, pipeline.folder)
    except SystemExit as error:  # a table cannot be read
        raise Failed(str(error)) from error
    check(got == replay.expected_of(case["name"]), f"{case['name']}: not as the truth says:\n{report[-6000:]}")
    check(replay.tables_of(pipeline.warehouse), "no tables")
    shutil.rmtree(os.path.join(pipeline.folder, "peek"))


def round_trip(driftless, folder, name, topic, source=None, **sink):
    case = replay.case_named(name)
    work = folder_of(folder, topic)
    fill_topics(driftless, work, case, topic=topic, **sink)
    back = Pipeline(driftless, folder_of(work, "in"), to_paimon(topic, case, topic, **(source or {})))
    back.run()
    check_equals_truth(driftless, case, back)
    return case, back


CASES = ("mysql-9.7/a_ddl.plain", "mysql-9.7/a_shards.plain", "mysql-9.7/a_types.plain")


def one_partition(driftless, folder):
    for number, name in enumerate(CASES):
        round_trip(driftless, folder, name, f"one{options.seed}-{number}", **{"topic.partitions": 1})


def six_partitions(driftless, folder):
    for number, (name, keys) in enumerate(zip((*CASES, "mariadb-10.11/a_ddl.plain"), ("json", "csv", "json", "json"))):
        round_trip(driftless, folder, name, f"six{options.seed}-{number}", {"key.format": keys},
                   **{"topic.partitions": 6, "partition.strategy": "hash-by-key", "key.format": keys})


def other_formats(driftless, folder):
    """What we write as Canal and Maxwell do is read back, statements included."""
    for number, name in enumerate(("mysql-9.7/a_ddl.plain", "mysql-9.7/a_shards.plain")):
        round_trip(driftless, folder, name, f"canal{options.seed}-{number}",
                   {"value.format": "canal-json", "canal-json.time-zone": "UTC",
                    "canal-json.mysql.treat-tinyint1-as-boolean.enabled": False},
                   **{"value.format": "canal-json", "topic.partitions": 3, "partition.strategy": "hash-by-key"})
    round_trip(driftless, folder, "mysql-9.7/a_shards.plain", f"maxwell{options.seed}", {"value.format": "maxwell-json"},
               **{"value.format": "maxwell-json", "schema.change.events": "inline", "topic.partitions": 1})


def progress(pipeline):
    """What a killed pipeline left in its state: the positions up to which all is committed, and the number of
    tokens of cuts that were about to be committed."""
    if not os.path.isdir(pipeline.state):
        return [], 0
    copy = os.path.join(pipeline.folder, "state-copy")
    shutil.copytree(pipeline.state, copy)
    try:
        database = os.path.join(copy, "state.db")
        if not os.path.exists(database):
            return [], 0
        with contextlib.closing(sqlite3.connect(database)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tokens'").fetchall():
                return [], 0
            return (db.execute("SELECT position FROM sinks UNION ALL SELECT position FROM table_positions "
                               "ORDER BY position").fetchall(),
                    db.execute("SELECT COUNT(*) FROM tokens").fetchone()[0])
    finally:
        shutil.rmtree(copy)


class Moments:
    """Random moments for kills, spread over the time that a run takes here and now: later while kills come before
    anything new was committed, earlier when the run ends first."""

    def __init__(self, rng):
        self.rng = rng
        self.longest_s = 1.0

    def run(self, process):
        """Waits for the end, and returns the exit status, or kills: None."""
        started = time.monotonic()
        try:
            code = process.wait(timeout=self.rng.uniform(0.3, 1) * self.longest_s)
            self.longest_s = max(0.1, 0.9 * (time.monotonic() - started))
            return code
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    def too_early(self):
        self.longest_s *= 1.3


TABLES = ("a", "b", "c")
COLUMNS = [("id", "INT", True), ("n", "INT", False)]


class Changes:
    """Writes changes of three tables; remembers them by table and key, in their order."""

    def __init__(self, folder, rng):
        self.stream = Records(os.path.join(folder, "records.jsonl"))
        self.rng = rng
        self.now = {}
        self.expected = {}
        self.number = 0
        self.columns = {table: list(COLUMNS) for table in TABLES}
        for table in TABLES:
            self.stream.ddl(table, f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT)", COLUMNS)

    def rows(self, count, tables=TABLES):
        for _ in range(count):
            self.number += 1
            table = self.rng.choice(tables)
            key = (table, self.rng.randrange(200))
            before = self.now.get(key)
            if before is not None and self.rng.random() < 0.1:
                self.stream.row(table, None, "d", before)
                del self.now[key]
                self.expected.setdefault(key, []).append(("d", before["n"]))
                continue
            after = {**{name: None for name, _, _ in self.columns[table]}, "id": key[1], "n": self.number}
            self.stream.row(table, after, "u" if before else "c", before)
            self.now[key] = after
            self.expected.setdefault(key, []).append(("u" if before else "c", self.number))

    def write(self, count):
        self.rows(count)
        self.alter(self.rng.choice(TABLES))

    def alter(self, table):
        name = f"x{self.number}"
        self.columns[table].append((name, "INT", False))
        self.stream.ddl(table, f"ALTER TABLE {table} ADD COLUMN {name} INT", self.columns[table])
        for key, row in self.now.items():
            if key[0] == table:
                row[name] = None
        return name


def by_key(records):
    """What the consumer saw: changes by table and key, and how often each statement stands in each partition."""
    seen, partitions, statements = {}, {}, {}
    for partition, _, message in records:
        if "ddl" in message:
            statement = (partition, message["ddl"])
            statements[statement] = statements.get(statement, 0) + 1
            continue
        row = message["after"] or message["before"]
        name = (message["source"]["table"], row["id"])
        seen.setdefault(name, []).append((message["op"], row["n"]))
        partitions.setdefault(name, set()).add(partition)
    check(all(len(p) == 1 for p in partitions.values()), "a key stands in several partitions")
    return seen, statements


def check_each_once(changes, topics, after):
    """A consumer of committed records saw each change exactly once, in order, and each statement once per
    partition."""
    changes.stream.close()
    altered = sum(len(columns) - len(COLUMNS) for columns in changes.columns.values())
    expected = sum(map(len, changes.expected.values())) + 3 * (len(TABLES) + altered)
    seen, statements = by_key(broker.committed_records(topics, expected))
    for key in sorted({*changes.expected, *seen}):
        wanted, got = changes.expected.get(key, []), seen.get(key, [])
        check(wanted == got, f"{key} after {after}: {len(got)} changes instead of {len(wanted)}:\n"
                             f"wanted {wanted[:40]}\ngot    {got[:40]}")
    for (partition, ddl), times in statements.items():
        check(times == 1, f"{ddl} stands {times} times in partition {partition}")
    got = sum(1 for _, ddl in statements if ddl.startswith("ALTER"))
    check(got == 3 * altered, f"{got} ALTERs in 3 partitions, not 3 * {altered}")


def once_pipeline(driftless, folder, name, source=(), **pipeline):
    source = ["type: file", "path: @FOLDER@/records.jsonl", *source]
    return Pipeline(driftless, folder, to_kafka(source, {"pipeline": pipeline}, name, **{
        "sink.tableId-to-topic.mapping": ";".join(f"shop.{t}:{name}-{t}" for t in TABLES),
        "topic.partitions": 3, "partition.strategy": "hash-by-key", "sink.delivery-guarantee": "exactly-once"}))


def exactly_once(driftless, folder):
    rng = random.Random(options.seed)
    pipeline = once_pipeline(driftless, folder, f"once{options.seed}")
    changes = Changes(folder, rng)
    changes.write(2000)
    moments = Moments(rng)
    kills = ends = moved = in_commit = 0
    last = []
    while kills < options.kills:
        code = moments.run(pipeline.start("--until-end"))
        if code is None:
            kills += 1
            committed, tokens = progress(pipeline)
            if committed == last:
                moments.too_early()
            moved += committed != last
            in_commit += tokens > 0
            last = committed
            changes.write(500)
            continue
        if code:
            with open(pipeline.log, encoding="utf-8", errors="replace") as f:
                raise Failed(f"run ended with {code} after {kills} kills:\n{f.read()[-4000:]}")
        ends += 1
        changes.write(2000)
        check(ends < 3 * options.kills, "the pipeline ends before it can be killed")
    pipeline.run()
    check_each_once(changes, f"once{options.seed}-.*", f"{kills} kills")
    print(f"        {changes.number} changes, {kills} kills: {moved} after new commits, {in_commit} while cuts were in "
          f"flight; {ends} ends before a kill", flush=True)
    check(moved >= 2, f"only {moved} of {kills} kills came after new commits: they show nothing")


def logged(pipeline, words):
    with open(pipeline.log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    return all(word in text for word in words)


def broker_dies_in_mid_transaction(driftless, folder):
    """Nothing is committed but by schema changes here, so that transactions are open when the broker dies; the second
    time a transaction is to be committed while it is dead."""
    name = f"dies{options.seed}"
    pipeline = once_pipeline(driftless, folder, name, ["follow: true"], **{"checkpoint.interval": "1 h"})
    changes = Changes(folder, random.Random(options.seed))
    process = pipeline.start()

    def written():
        time.sleep(0.5)
        return kafka_peer.written(broker.bootstrap, [f"{name}-{table}" for table in TABLES], 3)

    def carried_out(columns):
        return logged(pipeline, [f"shop.{table}: add column {column} " for table, column in zip(TABLES, columns)])

    def wait(condition, what):
        nonlocal process
        while True:
            try:
                return eventually(condition, what, process, seconds=600)
            except Failed:
                if process.poll() is None:
                    raise
                process = pipeline.start()  # it may end, and is to go on then

    changes.rows(300)
    # Who asks for a topic that is not there yet makes it.
    wait(lambda: logged(pipeline, [f"create table shop.{table}" for table in TABLES]), "the topics")
    wait(lambda: written() >= 300, "rows in open transactions")
    broker.kill()
    changes.rows(300)
    broker.start()
    altered = [changes.alter(table) for table in TABLES]
    wait(lambda: carried_out(altered), "the first statements")
    before = written()
    changes.rows(300)
    wait(lambda: written() >= before + 300, "more rows in open transactions")
    broker.kill()
    altered = [changes.alter(table) for table in TABLES]
    changes.rows(300)
    broker.start()
    wait(lambda: carried_out(altered), "the second statements")
    process.terminate()
    process.wait(timeout=600)
    once_pipeline(driftless, folder, name).run()
    check_each_once(changes, name + "-.*", "two deaths of the broker")


def broker_killed(driftless, folder):
    """The broker is killed and started again while a transactional pipeline writes. Whether the pipeline waits for it
    or ends: every change stands there once."""
    rng = random.Random(options.seed)
    name = f"down{options.seed}"
    pipeline = once_pipeline(driftless, folder, name, ["follow: true"])
    changes = Changes(folder, rng)
    changes.write(500)
    process = pipeline.start()
    ends = 0
    for _ in range(options.broker_kills):
        for _ in range(rng.randrange(1, 6)):
            changes.write(300)
            time.sleep(rng.uniform(0.1, 0.5))
        broker.kill()
        for _ in range(rng.randrange(1, 6)):
            changes.write(300)
            time.sleep(rng.uniform(0.1, 0.5))
        broker.start()
        if process.poll() is not None:
            ends += 1
            process = pipeline.start()
    process.terminate()
    process.wait(timeout=600)
    once_pipeline(driftless, folder, name).run()
    check_each_once(changes, name + "-.*", f"{options.broker_kills} kills of the broker")
    print(f"        {changes.number} changes, {options.broker_kills} kills of the broker, {ends} ends of the pipeline",
          flush=True)


def users(driftless, folder):
    """Who may not come in, or may do nothing, is told so; who may writes and reads."""
    if options.bootstrap:
        return  # its users are not known
    case = {}
    records = Records(os.path.join(folder, "records.jsonl"))
    records.ddl("a", "CREATE TABLE a (id INT PRIMARY KEY, n INT)", COLUMNS)
    records.row("a", {"id": 1, "n": 2})
    records.close()

    def by_tls(text, authority):
        return text.replace(f"properties.bootstrap.servers: {broker.bootstrap}",
                            f"properties.bootstrap.servers: {broker.tls_bootstrap}\n"
                            "  properties.security.protocol: SSL" + authority)

    def as_user(text, user, password, protocol="SASL_PLAINTEXT"):
        return text.replace(f"properties.bootstrap.servers: {broker.bootstrap}",
                            f"properties.bootstrap.servers: {broker.sasl_bootstrap}\n"
                            f"  properties.security.protocol: {protocol}\n"
                            "  properties.sasl.mechanism: PLAIN\n"
                            f"  properties.sasl.username: {user}\n"
                            f"  properties.sasl.password: {password}")

    name = f"users{options.seed}"
    source = ["type: file", f"path: {folder}/records.jsonl"]
    sides = {"out": to_kafka(source, case, name, topic=name, **{"topic.partitions": 2}), "in": to_paimon(name, case, name)}

    def run(side, *user, expected=0):
        work = folder_of(folder, "-".join([side, *user]))
        return Pipeline(driftless, work, as_user(sides[side], *user)).run(expected)

    run("out", "admin", "admin")
    run("in", "admin", "admin")
    # TLS: by the broker's certificate, which is its own authority; without it nobody is trusted.
    trusted = f"\n  properties.ssl.ca.location: {broker.certificate}"
    for side in sides:
        Pipeline(driftless, folder_of(folder, side + "-tls"), by_tls(sides[side], trusted)).run()
        text = Pipeline(driftless, folder_of(folder, side + "-untrusted"), by_tls(sides[side], "")).run(1)
        check("certificate" in text and "properties." in text, f"{side}: not said why:\n{text[-2000:]}")
    for side in sides:
        for user, words in ((("admin", "wrong"), ("uthentication", "properties.sasl")),
                            (("stranger", "stranger"), ("the user's rights",)),
                            (("admin", "admin", "SASL_SSL"), ("SSL", "properties.security.protocol"))):
            text = run(side, *user, expected=1)
            for word in words:
                check(word in text, f"{side} as {user}: nothing of {word!r}:\n{text[-2000:]}")


def statements_after_a_kill(driftless, folder):
    """At least once: what stood in front of a statement never comes again behind it, so that a TRUNCATE stays one. The
    interval of checkpoints is an hour: nothing but statements is committed before the kill."""
    name = f"kept{options.seed}"
    source = ["type: file", "path: @FOLDER@/records.jsonl"]
    case = {"pipeline": {"checkpoint.interval": "1 h"}}
    out = folder_of(folder, "out")
    stream = Records(os.path.join(out, "records.jsonl"))
    stream.ddl("a", "CREATE TABLE a (id INT PRIMARY KEY, n INT)", COLUMNS)
    for i in range(20):
        stream.row("a", {"id": i, "n": 1})
    stream.ddl("a", "TRUNCATE TABLE a")
    for i in range(10, 30):
        stream.row("a", {"id": i, "n": 2})
    text = to_kafka(source, case, name, topic=name, **{"topic.partitions": 3, "partition.strategy": "hash-by-key"})
    pipeline = Pipeline(driftless, out, text.replace("path:", "follow: true\n  path:", 1))
    process = pipeline.start()
    # Who asks for a topic that is not there yet makes it.
    eventually(lambda: logged(pipeline, ["create table shop.a"]), "the topic", process, seconds=600)
    eventually(lambda: kafka_peer.written(broker.bootstrap, [name], 3) >= 3 + 20 + 3 + 20, "all rows", process,
               seconds=600)
    process.kill()
    process.wait()
    stream.close()
    Pipeline(driftless, out, text).run()
    before, again = {}, 0
    for partition, _, message in broker.committed_records(name, 3 + 20 + 3 + 20 + 20):
        if "ddl" in message:
            again += before.get(partition) == message["ddl"]
            before[partition] = message["ddl"]
        else:
            number = 2 if before[partition].startswith("TRUNCATE") else 1
            check(message["after"]["n"] == number, f"{message['after']} behind {before[partition]}")
    check(not again, f"{again} statements came again")


def routed_statements(driftless, folder):
    """Statements are about the tables of the topics: a routed one under its own name, one that several tables feed when
    it changes itself. The two ways to Paimon, through Kafka and without, give the same tables."""
    name = f"routed{options.seed}"
    stream = Records(os.path.join(folder, "records.jsonl"))
    wide = [*COLUMNS, ("x", "VARCHAR(9)", False)]
    for table in TABLES:
        stream.ddl(table, f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT)", COLUMNS)
        stream.row(table, {"id": ord(table), "n": 1})
    for table in TABLES:
        stream.ddl(table, f"ALTER TABLE {table} ADD COLUMN x VARCHAR(9)", wide)
        stream.row(table, {"id": ord(table) + 10, "n": 2, "x": table})
    stream.ddl("b", "TRUNCATE TABLE b")  # c feeds the table too
    stream.ddl("a", "TRUNCATE TABLE a")
    stream.row("a", {"id": 1, "n": 3, "x": "last"})
    stream.close()
    routes = "route:\n" + "".join(f"  - source-table: shop.{source}\n    sink-table: ods.{sink}\n"
                                  for source, sink in (("a", "one"), ("b", "both"), ("c", "both")))
    source = ["type: file", f"path: {folder}/records.jsonl"]
    sink = {"topic": name, "topic.partitions": 3, "partition.strategy": "hash-by-key"}
    Pipeline(driftless, folder_of(folder, "out"), to_kafka(source, {}, name, **sink) + routes).run()
    back = Pipeline(driftless, folder_of(folder, "in"), to_paimon(name, {}, name))
    back.run()
    straight = to_paimon(name, {}, name + "-straight")
    straight = "source:\n  type: file\n" + f"  path: {folder}/records.jsonl\n" + straight[straight.index("sink:"):]
    straight = Pipeline(driftless, folder_of(folder, "straight"), straight + routes)
    straight.run()
    for table in ("ods.one", "ods.both"):
        got, wanted = (sorted(map(json.dumps, p.rows(table))) for p in (back, straight))
        check(got == wanted, f"{table}: {got}, not {wanted}")
        check(back.columns(table) == straight.columns(table), f"{table}: {back.columns(table)}")
    ddl = sorted(message["ddl"] for partition, _, message in broker.committed_records(name)
                 if partition == 0 and "ddl" in message)
    check(ddl == [*(f"ALTER TABLE `ods`.`{table}` ADD COLUMN `x` varchar(9) CHARACTER SET utf8mb4 NULL AFTER `n`"
                    for table in ("both", "one")),
                  *(f"CREATE TABLE `ods`.`{table}` (`id` int NOT NULL, `n` int NULL, PRIMARY KEY (`id`)) "
                    "DEFAULT CHARSET=utf8mb4" for table in ("both", "one")),
                  "TRUNCATE TABLE `ods`.`one`"], "\n".join(ddl))


def repeated(driftless, folder):
    """At least once: what a killed writer repeats, statements too, is read back as it should be."""
    rng = random.Random(options.seed)
    name = f"again{options.seed}"
    source = ["type: file", "path: @FOLDER@/records.jsonl"]
    pipeline = Pipeline(driftless, folder_of(folder, "out"), to_kafka(source, {}, name, topic=name, **{
        "topic.partitions": 3, "partition.strategy": "hash-by-key"}))
    changes = Changes(pipeline.folder, rng)
    changes.write(500)
    moments = Moments(rng)
    enough = min(options.kills, 10)
    kills = 0
    while kills < enough:
        changes.write(500)
        kills += moments.run(pipeline.start("--until-end")) is None
    pipeline.run()
    changes.stream.close()
    back = Pipeline(driftless, folder_of(folder, "in"), to_paimon(name, {}, name))
    text = back.run()
    for table in TABLES:
        wanted = {key[1]: {k: v for k, v in row.items() if v is not None}
                  for key, row in changes.now.items() if key[0] == table}
        rows = {row["id"]: {k: v for k, v in row.items() if v is not None} for row in back.rows(f"shop.{table}")}
        check(rows == wanted, f"{table}: " + str([(wanted.get(k), rows.get(k)) for k in sorted({*wanted, *rows})
                                                  if wanted.get(k) != rows.get(k)][:5]))
    print(f"        {kills} kills, {text.count('stands here again')} repeated statements", flush=True)


def upserts(driftless, folder):
    """The last message of each key is the row; a tombstone where it was deleted."""
    source = ["type: file", "path: @FOLDER@/records.jsonl"]
    pipeline = Pipeline(driftless, folder, to_kafka(source, {}, f"upsert{options.seed}", **{
        "sink.tableId-to-topic.mapping": ";".join(f"shop.{t}:upsert{options.seed}-{t}" for t in TABLES),
        "topic.partitions": 3, "partition.strategy": "hash-by-key", "value.format": "json",
        "encode.ignore-null-fields": True}))
    changes = Changes(folder, random.Random(options.seed))
    changes.write(2000)
    changes.stream.close()
    pipeline.run()
    for table in TABLES[:1]:  # a consumer takes long to see that nothing more comes
        last = {}
        for _, key, row in broker.committed_records(f"upsert{options.seed}-{table}"):
            last[json.loads(key)["id"]] = row
        now = {key[1]: row for key, row in changes.now.items() if key[0] == table}
        deleted = {key[1] for key in changes.expected if key[0] == table} - set(now)
        check(set(last) == set(now) | deleted, f"{table}: other keys than in the source")
        for key, row in last.items():
            wanted = {k: v for k, v in now[key].items() if v is not None} if key in now else None
            check(row == wanted, f"{table} {key}: {row}, not {wanted}")


def source_killed(driftless, folder):
    rng = random.Random(options.seed)
    case = replay.case_named("mysql-9.7/a_ddl.plain")
    work = folder_of(folder, "killed")
    fill_topics(driftless, work, case, topic=f"killed{options.seed}",
                **{"topic.partitions": 6, "partition.strategy": "hash-by-key"})
    moments = Moments(rng)
    enough = min(options.kills, 10)
    kills = moved = 0
    for attempt in range(1, 20):
        pipeline = Pipeline(driftless, folder_of(work, f"in{attempt}"),
                            to_paimon(f"killed{options.seed}", case, f"killed{attempt}"))
        last = []
        while kills < enough:
            code = moments.run(pipeline.start("--until-end"))
            if code is None:
                kills += 1
                committed, _ = progress(pipeline)
                if committed == last:
                    moments.too_early()
                moved += committed != last
                last = committed
                continue
            with open(pipeline.log, encoding="utf-8", errors="replace") as f:
                check(code == 0, f"run ended with {code} after {kills} kills:\n{f.read()[-4000:]}")
            break
        else:
            pipeline.run()
        check_equals_truth(driftless, case, pipeline)
        if kills >= enough:
            print(f"        {kills} kills over {attempt} replays, {moved} after new commits", flush=True)
            check(moved >= 2, "kills came before any commit")
            return
    raise Failed("replays end before they can be killed")


TESTS = (one_partition, six_partitions, other_formats, exactly_once, upserts, source_killed, repeated, users,
         broker_dies_in_mid_transaction, statements_after_a_kill, routed_statements)
if os.environ.get("DRIFTLESS_LONG_TESTS"):
    TESTS += (broker_killed,)


def arguments(parser):
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--broker-kills", type=int, default=2)


if __name__ == "__main__":
    sys.exit(kafka_peer.main(broker, options, TESTS, arguments))
