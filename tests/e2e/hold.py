#!/usr/bin/env python3
"""A statement that waits for approval while 100,000 rows come behind it, and a kill -9 in the middle.

usage: hold.py --driftless BIN [--rows N]

Other tables go on, memory stays within its bound, and the parked rows arrive once it is approved. A Paimon table is
never dropped (the capability matrix), so there the statement changes a column's type; a DROP TABLE, with the CREATE
TABLE behind it, waits at a StarRocks sink.
"""
import argparse
import os
import random
import signal
import sys

import olap_cluster
from pipelines import Pipeline, Records, check, eventually, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
pipeline:
  name: hold
  http.address: off
  checkpoint.interval: 500 ms
  schema.change.approval: [alter.column.type]
  memory.budget: 32 mb
  parking.memory-bytes-max: 8 mb
"""
USERS = [("id", "INT", True), ("a", "VARCHAR(20)", False)]
OLD = [("id", "INT", True), ("n", "INT", False), ("payload", "VARCHAR(2000)", False)]
NEW = [("id", "INT", True), ("n", "BIGINT", False), ("payload", "VARCHAR(2000)", False)]
BIG = 1 << 40  # fits the new type only
PAYLOAD = 1200
OLD_ROWS = [{"id": -i - 1, "n": i, "payload": "old"} for i in reversed(range(10))]
MIB = 1 << 20
rows_max = 100_000


def write_records(folder):
    stream = Records(os.path.join(folder, "records.jsonl"))
    stream.ddl("users", "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, a VARCHAR(20))", USERS)
    stream.ddl("orders", "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, n INT, payload VARCHAR(2000))", OLD)
    for i in range(10):
        stream.row("users", {"id": i, "a": f"old {i}"})
        stream.row("orders", {"id": -i - 1, "n": i, "payload": "old"})
    stream.ddl("orders", "ALTER TABLE orders MODIFY n BIGINT", NEW)
    rng = random.Random(7)
    noise = rng.randbytes(1 << 20).hex()
    for i in range(rows_max):
        at = rng.randrange(len(noise) - PAYLOAD)
        stream.row("orders", {"id": i, "n": BIG + i, "payload": noise[at:at + PAYLOAD]})
        if i % 100 == 0:
            stream.row("users", {"id": 10 + i // 100, "a": f"new {i}"})
    stream.close()


def peak_bytes(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
        for line in f:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    return 0


def parked_bytes(pipeline):
    return sum(entry.stat().st_size for entry in os.scandir(pipeline.state) if entry.name.endswith(".seg")) \
        if os.path.isdir(pipeline.state) else 0


def a_hold_outlives_a_kill(driftless, folder):
    write_records(folder)
    size = os.path.getsize(os.path.join(folder, "records.jsonl"))
    pipeline = Pipeline(driftless, folder, TEXT)
    process = pipeline.start()
    try:
        eventually(lambda: parked_bytes(pipeline) > size // 5, "rows are parked", process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        check(parked_bytes(pipeline) < size * 0.9, "killed too late to be in the middle")
        # The first checkpoint may be behind the kill.
        check(pipeline.rows_or_none("shop.orders") in ([], OLD_ROWS), "the held statement was carried out")
        process = pipeline.start()
        users = 10 + rows_max // 100
        eventually(lambda: len(pipeline.rows_or_none("shop.users")) == users, "the other table goes on", process)
        # Tables commit side by side.
        eventually(lambda: pipeline.rows_or_none("shop.orders") != [], "the rows in front of it", process)
        check(pipeline.rows("shop.orders") == OLD_ROWS, "the held statement was carried out")
        held = [r for r in pipeline.audit() if r["event"] == "alter.column.type"]
        check(len({r["id"] for r in held}) == 1 and held[-1]["result"] == "held", f"{held}")
        peak = peak_bytes(process)
        # The rows alone are several times as much.
        check(peak < 110 * MIB, f"{peak // MIB} MiB of memory for a budget of 32 MiB; the rows are {size // MIB} MiB")
        print(f"        peak while held: {peak // MIB} MiB; records: {size // MIB} MiB", flush=True)
        pipeline.decide("approve", str(held[-1]["id"]))
        process.send_signal(signal.SIGTERM)
        check(process.wait(timeout=180) == 0, "no clean stop")
        process = None
    finally:
        if process is not None:
            process.kill()
            process.wait()
    rows = pipeline.rows("shop.orders")
    new = [(r["id"], r["n"], len(r["payload"])) for r in rows[10:]]
    check(rows[:10] == OLD_ROWS and new == [(i, BIG + i, PAYLOAD) for i in range(rows_max)],
          f"{len(rows)} rows arrived, the first: {str(rows[:1])[:200]}")
    users = pipeline.rows("shop.users")
    check([r["id"] for r in users] == list(range(10 + rows_max // 100)), f"{len(users)} users")
    check(parked_bytes(pipeline) == 0, "segments are left")


def write_drop(folder):
    stream = Records(os.path.join(folder, "records.jsonl"))
    stream.ddl("users", "CREATE TABLE users (id INT NOT NULL PRIMARY KEY, a VARCHAR(20))", USERS)
    stream.ddl("orders", "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, n INT, payload VARCHAR(2000))", OLD)
    for i in range(10):
        stream.row("users", {"id": i, "a": f"old {i}"})
        stream.row("orders", {"id": -i - 1, "n": i, "payload": "old"})
    stream.ddl("orders", "DROP TABLE orders", drop=True)
    stream.ddl("orders", "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, n BIGINT)", NEW[:2])
    for i in range(rows_max):
        stream.row("orders", {"id": i, "n": BIG + i})
        if i % 100 == 0:
            stream.row("users", {"id": 10 + i // 100, "a": f"new {i}"})
    stream.close()


def by_id(rows):
    return sorted(rows, key=lambda row: row["id"])


def a_held_drop_table_outlives_a_kill(driftless, folder):
    write_drop(folder)
    users = 10 + rows_max // 100
    with olap_cluster.Cluster("starrocks") as cluster:
        pipeline = olap_cluster.make_pipeline(
            driftless, folder, cluster,
            pipeline="  schema.change.approval: [drop.table]\n  parking.memory-bytes-max: 256 kb\n")
        process = pipeline.start()
        try:
            eventually(lambda: parked_bytes(pipeline) > 1 << 19, "rows are parked", process, 150)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process = pipeline.start()
            eventually(lambda: len(cluster.rows_or_none("users")) == users, "the other table goes on", process, 150)
            eventually(lambda: len(cluster.rows_or_none("orders")) == len(OLD_ROWS), "the rows in front of it", process, 150)
            check(by_id(cluster.rows("orders")) == OLD_ROWS, f"the rows in front of it are {cluster.rows('orders')}")
            held = [r for r in pipeline.audit() if r["event"] == "drop.table"]
            check(len({r["id"] for r in held}) == 1 and held[-1]["result"] == "held", f"{held}")
            pipeline.decide("approve", str(held[-1]["id"]))
            process.send_signal(signal.SIGTERM)
            with open(pipeline.log, encoding="utf-8", errors="replace") as log:
                check(process.wait(timeout=250) == 0, f"no clean stop:\n{log.read()[-3000:]}")
            process = None
        finally:
            if process is not None:
                process.kill()
                process.wait()
        rows = by_id(cluster.rows("orders"))
        check(rows == [{"id": i, "n": BIG + i} for i in range(rows_max)],
              f"{len(rows)} rows arrived, the first: {str(rows[:1])[:200]}")
        check(parked_bytes(pipeline) == 0, "segments are left")
        events = [(r["event"], r["result"]) for r in pipeline.audit()
                  if r["table"] == "shop.orders" and r["phase"] == "outcome"]
        check([e for e in events if e[1] == "done"] == [("create.table", "done"), ("drop.table", "done"),
                                                        ("create.table", "done")], f"{events}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--rows", type=int, default=rows_max)
    args = ap.parse_args()
    rows_max = args.rows
    sys.exit(run_all([a_hold_outlives_a_kill, a_held_drop_table_outlives_a_kill], args.driftless))
