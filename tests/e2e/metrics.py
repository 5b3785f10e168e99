#!/usr/bin/env python3
"""What /metrics says of a running pipeline: every figure that is promised is there, and right.

usage: metrics.py --driftless BIN
"""
import argparse
import functools
import json
import os
import re
import signal
import socket
import sys
import urllib.request

from pipelines import Pipeline, Records, check, eventually, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
  follow: true
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
  exclude.schema.changes: [drop.column]
transform:
  - source-table: shop.people
    projection: id
pipeline:
  name: metrics
  http.address: @HTTP@
  checkpoint.interval: 200 ms
  schema.change.rules:
    - {table: shop.users, event: add.column, verdict: skip}
"""
OLD = [("id", "INT", True), ("n", "INT", False)]
NEW = [("id", "INT", True), ("m", "INT", False)]


def sample(http, name, **labels):
    """The sum of all samples that have these labels; None: there is none."""
    try:
        text = urllib.request.urlopen(f"http://{http}/metrics", timeout=30).read().decode()
    except OSError:
        return None
    found = [float(m[2]) for m in re.finditer(rf"^driftless_{name}(?:{{(.*)}})? (\S+)$", text, re.M)
             if all(f'{k}="{v}"' in (m[1] or "") for k, v in labels.items())]
    return sum(found) if found else None


def everything_is_counted(driftless, folder):
    stream = Records(os.path.join(folder, "records.jsonl"))
    for table in ("orders", "users"):
        stream.ddl(table, f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, n INT)", OLD)
    for i in range(20):
        stream.row("orders", {"id": i, "n": i})
    stream.row("users", {"id": 1, "n": 1})
    stream.ddl("orders", "ALTER TABLE orders DROP COLUMN n, ADD COLUMN m INT", NEW)
    stream.row("orders", {"id": 20, "m": 20})
    # One value that the sink has no column for, and a column that no transform lets through.
    stream.ddl("users", "ALTER TABLE users ADD COLUMN x INT", OLD + [("x", "INT", False)])
    stream.row("users", {"id": 2, "n": 2, "x": 2})
    stream.row("users", {"id": 3, "n": 3, "x": None})
    stream.ddl("people", "CREATE TABLE people (id INT NOT NULL PRIMARY KEY, n INT)", OLD)
    stream.ddl("people", "ALTER TABLE people DROP COLUMN n, ADD COLUMN m INT", NEW)
    stream.row("people", {"id": 1, "m": 1})
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        http = f"127.0.0.1:{s.getsockname()[1]}"
    pipeline = Pipeline(driftless, folder, TEXT.replace("@HTTP@", http))
    process = pipeline.start()
    metric = functools.partial(sample, http)

    try:
        eventually(lambda: pipeline.rows_or_none("shop.orders")[-1:] == [{"id": 20, "n": None, "m": 20}],
                   "the last row", process)
        eventually(lambda: metric("divergences", sink="lake", table="shop.orders") == 1, "divergences", process)
        eventually(lambda: (metric("sink_lag_seconds", sink="lake") or 0) > 1e6, "the sink's lag", process)
        check((metric("lag_seconds", stream="files") or 0) > 1e6, "the stream's lag")
        check(metric("changes_total", sink="lake", table="shop.orders") == 21, "changes of orders")
        eventually(lambda: metric("changes_total", sink="lake", table="shop.people") == 1, "people", process)
        check(metric("changes_total", sink="lake", table="shop.users") == 3, "changes of users")
        check(metric("lost_values_total", sink="lake", table="shop.users", column="x", kind="skipped") == 1,
              "values of the skipped column")
        check(metric("transform_unseen_schema_changes_total") == 1, "schema changes that no output shows")
        check(metric("bytes_total", sink="lake", table="shop.orders") > 21 * 8, "bytes of orders")
        for table, event, verdict, result in (("orders", "create.table", "apply", "done"),
                                              ("users", "create.table", "apply", "done"),
                                              ("orders", "drop.column", "skip", "skipped"),
                                              ("orders", "add.column", "apply", "done")):
            check(metric("schema_changes_total", sink="lake", table=f"shop.{table}", event=event, verdict=verdict,
                         result=result) == 1, f"{table} {event} {verdict} {result}")
        for phase in ("planned", "flushed", "applied", "released"):
            check((metric("schema_change_seconds_count", sink="lake", phase=phase) or 0) >= 3, phase)
            check(metric("schema_change_seconds_bucket", sink="lake", phase=phase, le="+Inf")
                  == metric("schema_change_seconds_count", sink="lake", phase=phase), f"histogram of {phase}")
        check(metric("checkpoint_seconds_count", sink="lake") > 0 and metric("checkpoint_seconds_sum", sink="lake") > 0,
              "the time of checkpoints")
        check(metric("checkpoints_total", sink="lake", result="committed") > 0, "checkpoints")
        for queue in ("inlet", "writers"):
            check(metric("queue_bytes", sink="lake", queue=queue) is not None, f"queue of the {queue}")
        check(metric("memory_bytes", kind="limit") > metric("memory_bytes", kind="used"), "memory")
        for name in ("parking_disk_bytes", "holds", "dead_letters_total"):
            check(metric(name) is not None, name)
        check(metric("sink_stopped", sink="lake") == 0, "the sink runs")
        # A name that comes free ends the divergence, and the figure goes with it.
        stream.ddl("orders", "ALTER TABLE orders ADD COLUMN n INT", NEW + [("n", "INT", False)])
        stream.row("orders", {"id": 21, "m": 21, "n": 21})
        eventually(lambda: metric("schema_changes_total", event="add.column", table="shop.orders") == 2,
                   "the second add", process)
        open_now = len([line for line in pipeline.decide("divergences", "--output", "json").splitlines()
                        if json.loads(line)["sink_table"] == "shop.orders"])
        eventually(lambda: metric("divergences", sink="lake", table="shop.orders") == open_now, "divergences", process)
        process.send_signal(signal.SIGTERM)
        check(process.wait(timeout=180) == 0, "no clean stop")
        process = None
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    args = ap.parse_args()
    sys.exit(run_all([everything_is_counted], args.driftless))
