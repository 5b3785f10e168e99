#!/usr/bin/env python3
"""A statement that is not understood parks its table; others go on; `driftless decide` lets it go on.

usage: unclear_ddl.py --driftless BIN
"""
import argparse
import os
import signal
import sys

from pipelines import Pipeline, Records, check, eventually, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
  follow: FOLLOW
  poll-interval: 10 ms
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
pipeline:
  name: unclear
  http.address: off
  checkpoint.interval: 200 ms
"""
ID_A = [("id", "INT", True), ("a", "VARCHAR(20)", False)]
# No server has this statement; its name stands for whatever a future one may bring.
UNCLEAR = "ALTER TABLE orders FROBNICATE COLUMN a INTO b"


def records(folder):
    stream = Records(os.path.join(folder, "records.jsonl"))
    for table in ("orders", "users"):
        stream.ddl(table, f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, a VARCHAR(20))", ID_A)
        stream.row(table, {"id": 1, "a": "before"})
    stream.ddl("orders", UNCLEAR)
    stream.row("orders", {"id": 2, "b": 7})
    # Later statements on the parked table wait, too, and draw in what they concern besides.
    stream.ddl("orders", "ALTER TABLE orders ADD COLUMN c INT",
               [("id", "INT", True), ("b", "INT", False), ("c", "INT", False)])
    stream.row("orders", {"id": 3, "b": 8, "c": 9})
    stream.row("users", {"id": 2, "a": "behind"})
    stream.ddl("users", "ALTER TABLE users ADD COLUMN n INT", ID_A + [("n", "INT", False)])
    stream.row("users", {"id": 3, "a": "x", "n": 5})
    return stream


ORDERS = [{"id": 1, "b": None, "c": None}, {"id": 2, "b": 7, "c": None}, {"id": 3, "b": 8, "c": 9}]
USERS = [{"id": 1, "a": "before", "n": None}, {"id": 2, "a": "behind", "n": None}, {"id": 3, "a": "x", "n": 5}]


def only(rows, names):
    return [{name: row.get(name) for name in names} for row in rows]


def expect_parked(pipeline):
    check(pipeline.rows("shop.users") == USERS, f"users: {pipeline.rows('shop.users')}")
    check(pipeline.rows("shop.orders") == [{"id": 1, "a": "before"}], f"orders: {pipeline.rows('shop.orders')}")
    held = [r for r in pipeline.audit() if r["event"] == "unclear.statement"]
    check(len(held) == 1 and held[0]["result"] == "held" and held[0]["table"] == "shop.orders", f"audit: {held}")
    check(held[0]["statement"] == UNCLEAR, held[0]["statement"])
    return str(held[0]["id"])


def a_schema_lets_it_go_on(driftless, folder):
    records(folder).close()
    pipeline = Pipeline(driftless, folder, TEXT.replace("FOLLOW", "false"))
    log = pipeline.run()
    check("FROBNICATE" in log and "decide" in log, log)
    decision = expect_parked(pipeline)
    # A restart changes nothing, and asks under the same number.
    pipeline.run()
    check(expect_parked(pipeline) == decision, "another number")
    schema = os.path.join(folder, "orders.sql")
    with open(schema, "w", encoding="utf-8") as f:
        f.write("CREATE TABLE order (id INT);")  # wrong: it is told, and nothing is lost
    pipeline.decide("decide", decision, "schema", schema)
    log = pipeline.run()
    check("the schema that was given cannot be used" in log, log)
    with open(schema, "w", encoding="utf-8") as f:
        f.write("-- as it is now\nCREATE TABLE orders (id INT NOT NULL PRIMARY KEY, b INT);")
    pipeline.decide("decide", decision, "schema", schema)
    pipeline.run()
    check(only(pipeline.rows("shop.orders"), ("id", "b", "c")) == ORDERS, f"{pipeline.rows('shop.orders')}")
    check(pipeline.rows("shop.users") == USERS, f"{pipeline.rows('shop.users')}")
    results = [r["result"] for r in pipeline.audit() if r["event"] == "unclear.statement"]
    check(results[-1] == "done", f"{results}")


def a_running_pipeline_takes_it_up(driftless, folder):
    stream = records(folder)
    pipeline = Pipeline(driftless, folder, TEXT.replace("FOLLOW", "true"))
    process = pipeline.start()
    try:
        eventually(lambda: os.path.isdir(pipeline.state) and len(pipeline.rows_or_none("shop.users")) == 3,
                   "the other table", process)
        decision = expect_parked(pipeline)
        schema = os.path.join(folder, "orders.sql")
        with open(schema, "w", encoding="utf-8") as f:
            f.write("CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, b INT)")
        pipeline.decide("decide", decision, "schema", schema)
        eventually(lambda: len(pipeline.rows_or_none("shop.orders")) == 3, "the parked table", process)
        stream.row("orders", {"id": 4, "b": 1, "c": 1})
        eventually(lambda: len(pipeline.rows_or_none("shop.orders")) == 4, "rows that come later", process)
        process.send_signal(signal.SIGTERM)
        check(process.wait(timeout=180) == 0, "no clean stop")
    finally:
        process.kill()
        process.wait()
    check(only(pipeline.rows("shop.orders"), ("id", "b", "c")) == ORDERS + [{"id": 4, "b": 1, "c": 1}],
          f"{pipeline.rows('shop.orders')}")
    check(pipeline.rows("shop.users") == USERS, f"{pipeline.rows('shop.users')}")


def a_skip_goes_on_as_before(driftless, folder):
    stream = Records(os.path.join(folder, "records.jsonl"))
    stream.ddl("orders", "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, a VARCHAR(20))", ID_A)
    stream.row("orders", {"id": 1, "a": "x"})
    stream.ddl("orders", "ALTER TABLE orders FROBNICATE")
    stream.row("orders", {"id": 2, "a": "y"})
    stream.close()
    pipeline = Pipeline(driftless, folder, TEXT.replace("FOLLOW", "false"))
    pipeline.run()
    check(len(pipeline.rows("shop.orders")) == 1, "it went on without a decision")
    decision = [r for r in pipeline.audit() if r["event"] == "unclear.statement"][0]["id"]
    pipeline.decide("decide", str(decision), "skip")
    pipeline.run()
    pipeline.run()
    check(pipeline.rows("shop.orders") == [{"id": 1, "a": "x"}, {"id": 2, "a": "y"}], f"{pipeline.rows('shop.orders')}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    sys.exit(run_all([a_schema_lets_it_go_on, a_running_pipeline_takes_it_up, a_skip_goes_on_as_before],
                     ap.parse_args().driftless))
