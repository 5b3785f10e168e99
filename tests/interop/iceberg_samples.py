#!/usr/bin/env python3
"""Iceberg tables that the reference implementation wrote: read by peek, continued by us, read again by it.

usage: iceberg_samples.py --driftless BIN

The samples have every type, nested ones too, five schemas, and updates and deletes: format version 2 with equality and
position deletes, version 3 with deletion vectors and a column with a default; with partitions and without. Version 1 is
read, and not written: who still reads it would have to know.
Exit status: 77 where the reference implementation is not installed.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
sys.path.insert(0, HERE)
import replay  # noqa: E402
from pipelines import Pipeline, Records, check, run_all  # noqa: E402

ORACLE = os.path.join(replay.TOP, "tests/peers/oracle")
TEXT = """source:
  type: file
  path: "@FOLDER@/records.jsonl"
sink:
  type: iceberg
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
pipeline:
  name: samples
  http.address: off
"""
# The columns that the source knows; the table's others stay as they are.
COLUMNS = [("id", "BIGINT", True), ("region", "VARCHAR(10)", False), ("name", "VARCHAR(50)", False),
           ("quantity", "BIGINT", False), ("note", "INT", False)]


def oracle(*words):
    done = subprocess.run([ORACLE, "iceberg", *words], env={**os.environ, "PEERS_DIR": replay.PEERS},
                          capture_output=True, text=True, encoding="utf-8")
    check(done.returncode == 0, f"{' '.join(words)}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout


def by_id(rows):
    return {row["id"]: row for row in rows}


def sample(driftless, folder, version, partition):
    pipeline = Pipeline(driftless, folder, TEXT)
    table = ["--hadoop", pipeline.warehouse, "shop.sample"]
    oracle("write-sample", *table, "--format-version", str(version), *(["--partition"] if partition else []))

    def theirs():
        oracle("check", *table)
        return by_id(json.loads(line) for line in oracle("rows", *table).splitlines())
    truth = theirs()
    ours = by_id(pipeline.rows("shop.sample"))
    check(len(truth) > 3, "the sample has no rows")
    check(ours == truth, f"peek reads {ours}\nnot {truth}")
    records = Records(os.path.join(folder, "records.jsonl"))
    body = ", ".join(f"{n} {t}{' NOT NULL' if n in ('id', 'region') else ''}" for n, t, _ in COLUMNS)
    records.ddl("sample", f"CREATE TABLE sample ({body}, PRIMARY KEY (id))", COLUMNS)
    first, second = sorted(truth)[:2]
    known = [n for n, _, _ in COLUMNS]
    old = {n: truth[first][n] for n in known}
    new = {**old, "name": "changed", "quantity": -1}
    records.row("sample", new, "u", old)
    records.row("sample", None, "d", {n: truth[second][n] for n in known})
    added = {"id": 99, "region": "eu", "name": "新", "quantity": 1 << 40, "note": None}
    records.row("sample", added)
    records.close()
    if partition:
        # A delete by key would have to know the row's partition.
        text = pipeline.run(expected=1)
        check("region" in text and "key" in text, text[-1500:])
        check(theirs() == truth, "the table was changed all the same")
        return
    pipeline.run()
    # Columns that the source does not know are null in its rows, also where the table has a default for them.
    nothing = {n: None for n in truth[first] if n not in known}
    wanted = {k: v for k, v in truth.items() if k != second}
    for row in (new, added):
        wanted[row["id"]] = {**nothing, **row}
    got, ours = theirs(), by_id(pipeline.rows("shop.sample"))
    check(ours == got, f"peek reads {ours}\nthe reference implementation {got}")
    check(got == wanted, f"the table holds {got}\nnot {wanted}")


def version_1(driftless, folder):
    pipeline = Pipeline(driftless, folder, TEXT)
    table = ["--hadoop", pipeline.warehouse, "shop.sample"]
    oracle("write-sample", *table, "--format-version", "1")

    def theirs():
        rows = [json.loads(line) for line in oracle("rows", *table).splitlines()]
        for row in rows:  # a UUID is 16 bytes to us
            row["uid"] = row["uid"] and "0x" + row["uid"].replace("-", "")
        return sorted(json.dumps(row, sort_keys=True) for row in rows)
    truth = theirs()
    check(len(truth) > 3, "the sample has no rows")
    ours = sorted(json.dumps(row, sort_keys=True) for row in pipeline.rows("shop.sample"))
    check(ours == truth, f"peek reads {ours}\nnot {truth}")
    records = Records(os.path.join(folder, "records.jsonl"))
    body = ", ".join(f"{n} {t}{' NOT NULL' if n in ('id', 'region') else ''}" for n, t, _ in COLUMNS)
    records.ddl("sample", f"CREATE TABLE sample ({body}, PRIMARY KEY (id))", COLUMNS)
    records.row("sample", {"id": 99, "region": "eu", "name": "x", "quantity": 1, "note": None})
    records.close()
    text = pipeline.run(expected=1)
    check("format version 1" in text and "upgrade it first" in text, text[-1500:])
    check(theirs() == truth and '"formatVersion":1' in oracle("table", *table), "the table was changed all the same")


def version_2(driftless, folder):
    sample(driftless, folder, 2, False)


def version_2_partitioned(driftless, folder):
    sample(driftless, folder, 2, True)


def version_3(driftless, folder):
    sample(driftless, folder, 3, False)


def version_3_partitioned(driftless, folder):
    sample(driftless, folder, 3, True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    args = ap.parse_args()
    if not os.path.isdir(os.path.join(replay.PEERS, "dist/oracle/iceberg")):
        print("skipped: the reference implementation is not installed")
        sys.exit(77)
    sys.exit(run_all([version_1, version_2, version_2_partitioned, version_3, version_3_partitioned], args.driftless))
