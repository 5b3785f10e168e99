#!/usr/bin/env python3
"""Paimon tables that the reference implementation wrote, with schema changes of its own: read by peek at every
snapshot, continued by `run` through more schema changes, and read again by the reference implementation, at every
snapshot too.

usage: paimon_samples.py --driftless BIN
Exit status: 77 where the reference implementation is not installed.
"""
import argparse
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
sys.path.insert(0, HERE)
import replay  # noqa: E402
from pipelines import Pipeline, Records, check, run_all  # noqa: E402

SAMPLES = os.path.join(replay.TOP, "tests/data/paimon/java-1.4.2")
TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
route:
  - source-table: shop.\\.*
    sink-table: sample.<>
    replace-symbol: <>
pipeline:
  name: samples
  http.address: off
"""
# The columns that the source knows; the table's others stay as they are.
COLUMNS = [("id", "BIGINT"), ("region", "VARCHAR(10)"), ("name", "VARCHAR(50)"), ("quantity", "BIGINT"),
           ("note", "INT")]


class Sample:
    def __init__(self, driftless, folder, table, keys):
        self.pipeline = Pipeline(driftless, folder, TEXT.replace("sample.<>", f"sample.{table}"))
        self.table, self.keys = table, keys
        self.columns = [list(c) for c in COLUMNS]
        shutil.copytree(os.path.join(SAMPLES, "sample.db"), os.path.join(self.pipeline.warehouse, "sample.db"))
        self.records = Records(os.path.join(folder, "records.jsonl"))
        key = f", PRIMARY KEY ({', '.join(keys)})" if keys else ""
        body = ", ".join(f"{n} {t}{' NOT NULL' if n in ('id', 'region') else ''}" for n, t in self.columns)
        self.ddl(f"CREATE TABLE {table} ({body}{key})")

    def ddl(self, text):
        self.records.ddl(self.table, text, [(n, t, n in self.keys) for n, t in self.columns])

    def row(self, after, op="c", before=None):
        self.records.row(self.table, after, op, before, key=self.keys)

    def known(self, row):
        return {name: row[name] for name, _ in self.columns}

    def snapshots(self):
        folder = os.path.join(self.pipeline.warehouse, "sample.db", self.table, "snapshot")
        return sorted(int(m[1]) for m in (re.fullmatch(r"snapshot-(\d+)", n) for n in os.listdir(folder)) if m)

    def sorted(self, rows):
        return sorted(rows, key=lambda r: json.dumps([r["id"], r], sort_keys=True))

    def ours(self, snapshot=None):
        words = ["peek", self.pipeline.file, "--table", f"sample.{self.table}", "--output", "json"]
        words += ["--snapshot", str(snapshot)] if snapshot else []
        return self.sorted(json.loads(line) for line in self.pipeline.command(*words).splitlines())

    def theirs(self, snapshots):
        """The newest rows, and those of each snapshot, after the reference implementation's own check; one JVM."""
        where = [self.pipeline.warehouse, "sample", self.table]
        asked = [["check", *where], ["rows", *where]] + [["rows", *where, "--snapshot", str(s)] for s in snapshots]
        done = replay.run([os.path.join(replay.TOP, "tests/peers/oracle"), "paimon", "batch"],
                          input="".join("\t".join(words) + "\n" for words in asked),
                          env={**os.environ, "PEERS_DIR": replay.PEERS})
        got = re.findall(r"(.*?)^#end (\d)(.*?)$\n?", done.stdout, re.S | re.M)
        check(len(got) == len(asked), f"the reference reader ended early: {done.stderr[-2000:]}")
        for words, (text, failed, error) in zip(asked, got):
            check(failed == "0", f"{' '.join(words)}: {error} {text[-1000:]}")
        tables = [self.sorted(json.loads(line) for line in text.splitlines()) for text, _, _ in got[1:]]
        return tables[0], dict(zip(snapshots, tables[1:]))

    def agree(self):
        """Both readers say the same at every snapshot; returns the newest rows."""
        snapshots = self.snapshots()
        newest, each = self.theirs(snapshots)
        ours = self.ours()
        check(ours == newest, f"{self.table}: peek reads {ours}\nthe reference implementation {newest}")
        for snapshot, rows in each.items():
            check(self.ours(snapshot) == rows, f"{self.table}, snapshot {snapshot}: peek reads {self.ours(snapshot)}\n"
                                               f"the reference implementation {rows}")
        return newest


def continued(driftless, folder, table, keys):
    sample = Sample(driftless, folder, table, keys)
    rows = sample.agree()
    with open(os.path.join(SAMPLES, f"{table}.all.jsonl"), encoding="utf-8") as f:
        golden = [json.loads(line) for line in f]
    check(rows == sample.sorted(d["row"] for d in golden if "row" in d), f"{table}: not the sample's rows: {rows}")
    before = len(sample.snapshots())
    # Rows that are there already change and go, others come.
    if keys:
        first, second = rows[0], rows[1]
        sample.row({**sample.known(first), "name": "changed", "quantity": -1}, "u", sample.known(first))
        sample.row(None, "d", sample.known(second))
        rows = [{**({n: None for n in first} if r is first else r),
                 **({**sample.known(first), "name": "changed", "quantity": -1} if r is first else {})}
                for r in rows if r is not second]
    fresh = {"id": 99, "region": "eu", "name": "\u65b0", "quantity": 1 << 40, "note": None}
    sample.row(fresh)
    rows.append({**{n: None for n in rows[0]}, **fresh})
    sample.pipeline.run()
    got = sample.agree()
    check(got == sample.sorted(rows), f"{table}: the table holds {got}\nnot {sample.sorted(rows)}")
    check(len(sample.snapshots()) > before, "nothing was committed")

    def evolved(text, change, added):
        """One statement, one row behind it; `change` does to a row what the statement does."""
        nonlocal rows
        sample.ddl(f"ALTER TABLE {table} {text}")
        sample.row(added)
        for row in rows:
            change(row)
        rows = rows + [{**{n: None for n in rows[0]}, **added}]
        sample.pipeline.run()
        got = sample.agree()
        check(got == sample.sorted(rows), f"{table}, {text}: the table holds {got}\nnot {sample.sorted(rows)}")

    sample.columns.insert(0, ["extra", "INT"])
    evolved("ADD COLUMN extra INT FIRST", lambda r: r.update(extra=None),
            {"extra": 5, "id": 100, "region": "us", "name": "a", "quantity": 1, "note": 1})
    sample.columns[3][0] = "title"
    evolved("RENAME COLUMN name TO title", lambda r: r.update(title=r.pop("name")),
            {"extra": 6, "id": 101, "region": "us", "title": "b", "quantity": 1, "note": 1})
    sample.columns[5][1] = "BIGINT"
    evolved("MODIFY COLUMN note BIGINT", lambda r: None,
            {"extra": 7, "id": 102, "region": "ap", "title": "c", "quantity": 1, "note": 1 << 40})
    sample.columns.pop(4)
    evolved("DROP COLUMN quantity", lambda r: r.pop("quantity"),
            {"extra": 8, "id": 103, "region": "eu", "title": "d", "note": 2})
    sample.columns.append(["quantity", "VARCHAR(10)"])
    evolved("ADD COLUMN quantity VARCHAR(10)", lambda r: r.update(quantity=None),
            {"extra": 9, "id": 104, "region": "eu", "title": "e", "note": 3, "quantity": "many"})


def primary_key_table(driftless, folder):
    continued(driftless, folder, "pk", ["id"])


def partitioned_table(driftless, folder):
    continued(driftless, folder, "part", ["region", "id"])


def append_table(driftless, folder):
    continued(driftless, folder, "app", [])


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    args = ap.parse_args()
    if not os.path.isdir(os.path.join(replay.PEERS, "dist/oracle/paimon")):
        print("skipped: the reference implementation is not installed")
        sys.exit(replay.SKIPPED)
    sys.exit(run_all([primary_key_table, partitioned_table, append_table], args.driftless))
