#!/usr/bin/env python3
"""kill -9 at random moments of a stream into tables without a key, with schema changes between two checkpoints.

usage: kill_append.py --driftless BIN [--sink paimon|iceberg] [--kills N] [--seed N]

A row that were written twice or lost would show: nothing overwrites it. Into Iceberg rows leave, too, and files are
compacted after every commit. The seed is printed.
"""
import argparse
import json
import os
import sys

from pipelines import Kills, Pipeline, Records, check, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
sink:
  type: @SINK@
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
pipeline:
  name: append
  http.address: off
  checkpoint.interval: 100 ms
"""
ROWS = 12_000
EVERY = 600  # rows between two statements on the same table
COMPACTION = "  sink.compaction.enabled: true\n  sink.compaction.commit.interval: 1\n"
options = argparse.Namespace(kills=60, seed=0, sink="paimon")


def write_records(folder):
    """Two keyless tables; one gains columns all the time, the other loses and renames them, too."""
    stream = Records(os.path.join(folder, "records.jsonl"))
    truth = {"log": [], "notes": []}
    columns = {"log": ["v"], "notes": ["v", "w"]}

    def described(table):
        return [(name, "INT", False) for name in columns[table]]

    for table in truth:
        body = ", ".join(f"{name} INT" for name in columns[table])
        stream.ddl(table, f"CREATE TABLE {table} ({body})", described(table))
    for i in range(ROWS):
        table = "log" if i % 2 == 0 else "notes"
        row = {name: i for name in columns[table]}
        stream.row(table, row, key=None)
        truth[table].append(row)
        if options.sink == "iceberg" and i % 40 == 39:
            left = truth[table].pop(len(truth[table]) * (i // 40 % 10) // 10)
            stream.row(table, None, "d", left, key=None)
        if i % EVERY != EVERY - 1:
            continue
        for table in truth:
            step = i // EVERY
            if table == "log" or step % 3 == 0:
                columns[table].append(f"c{step}")
                text = f"ADD COLUMN c{step} INT"
                for row in truth[table]:
                    row[f"c{step}"] = None
            elif step % 3 == 1:
                old = columns[table][-1]
                columns[table][-1] = f"r{step}"
                text = f"RENAME COLUMN {old} TO r{step}"
                for row in truth[table]:
                    row[f"r{step}"] = row.pop(old)
            else:
                text = "MODIFY v BIGINT FIRST" if step % 2 == 0 else "MODIFY v BIGINT"
            stream.ddl(table, f"ALTER TABLE {table} {text}", described(table))
    stream.close()
    return truth


def canonical(rows):
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def rows_come_exactly_once(driftless, folder):
    kills = Kills(options.kills, options.seed)
    while not kills.over():
        work = os.path.join(folder, str(kills.replays))
        os.makedirs(work)
        truth = write_records(work)
        text = TEXT.replace("@SINK@", options.sink)
        if options.sink == "iceberg":
            text = text.replace("pipeline:\n", COMPACTION + "pipeline:\n")
        pipeline = Pipeline(driftless, work, text)
        kills.replay(pipeline)
        for table, expected in truth.items():
            rows = pipeline.rows(f"shop.{table}")
            check(len(rows) == len(expected), f"after {kills.done} kills: {len(rows)} rows of {table}, not {len(expected)}")
            check(canonical(rows) == canonical(expected), f"after {kills.done} kills: other rows in {table}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--sink", choices=["paimon", "iceberg"], default="paimon")
    ap.add_argument("--kills", type=int, default=60)
    ap.add_argument("--seed", type=int, default=0)
    options = ap.parse_args()
    sys.exit(run_all([rows_come_exactly_once], options.driftless))
