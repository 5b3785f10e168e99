#!/usr/bin/env python3
"""How long a table waits for a schema change: from reading the statement to releasing its rows.

usage: schema_changes.py --driftless BIN [--changes 200] [--rows 20]

A file that is followed grows by a group of rows and an ALTER TABLE ... ADD COLUMN each time that the one before is
released, into blackhole and into Paimon on local disk. The column is dropped again by
the next statement, so that the table stays as it is. The times are Driftless' own: the histogram
`driftless_schema_change_seconds` of /metrics. `released_without_flush` is what the schema change itself costs; the
flush is the commit of the rows before it.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from whole_path import machine

PORT = 19464
PHASES = ("planned", "flushed", "applied", "released", "released_without_flush")
SINKS = {
    "blackhole": "  type: blackhole\n",
    "paimon, key, 1 bucket": "  type: paimon\n  catalog.properties.warehouse: {work}/warehouse\n"
                             "  table.properties.bucket: 1\n",
}
SOURCE = {"version": "3.6.1.Final", "connector": "mysql", "name": "b", "ts_ms": 0, "snapshot": "false", "db": "shop",
          "table": "orders", "server_id": 1, "file": "binlog.000001", "pos": 4, "row": 0}


class Stream:
    """The records of one table that gets a column more each time."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")
        self.columns, self.key = ["id"] + [f"c{n}" for n in range(1, 10)], 0
        others = ", ".join(f"`{c}` int" for c in self.columns[1:])
        self.ddl(f"CREATE TABLE `orders` (`id` bigint NOT NULL, {others}, PRIMARY KEY (`id`))", "CREATE")

    def write(self, record):
        self.file.write(json.dumps(record, separators=(",", ":")) + "\n")

    def ddl(self, sql, kind):
        columns = [{"name": c, "typeName": "BIGINT" if c == "id" else "INT", "optional": c != "id"} for c in self.columns]
        self.write({"source": dict(SOURCE, pos=100 * self.key + 50), "ts_ms": 1, "databaseName": "shop", "schemaName": None,
                    "ddl": sql, "tableChanges": [{"type": kind, "id": '"shop"."orders"', "table": {
                        "primaryKeyColumnNames": ["id"], "columns": columns}}]})
        self.file.flush()

    def change(self, rows):
        for _ in range(rows):
            self.key += 1
            self.write({"before": None, "after": {c: self.key for c in self.columns},
                        "source": dict(SOURCE, pos=100 * self.key), "op": "c", "ts_ms": self.key, "transaction": None})
        if self.columns[-1] == "extra":
            self.columns.pop()
            self.ddl("ALTER TABLE `orders` DROP COLUMN `extra`", "ALTER")
        else:
            self.columns.append("extra")
            self.ddl("ALTER TABLE `orders` ADD COLUMN `extra` int", "ALTER")


def histograms(text):
    """{phase: (bounds, cumulative counts)} of the schema-change histogram."""
    found = {}
    for line in text.splitlines():
        match = re.match(r'driftless_schema_change_seconds_bucket\{(.*)\} (\d+)', line)
        if not match:
            continue
        labels = dict(re.findall(r'(\w+)="([^"]*)"', match.group(1)))
        bounds, counts = found.setdefault(labels["phase"], ([], []))
        bounds.append(float(labels["le"].replace("+Inf", "inf")))
        counts.append(int(match.group(2)))
    return found


def quantile(histogram, q):
    """Upper bound in ms of the bucket in which the quantile lies."""
    bounds, counts = histogram
    for bound, count in zip(bounds, counts):
        if count >= q * counts[-1]:
            return bound * 1000
    return float("inf")


def wait_for(url, released):
    for _ in range(12000):
        try:
            text = urllib.request.urlopen(url, timeout=5).read().decode()
            found = histograms(text)
            if found.get("released", ([], [0]))[1][-1] >= released:
                return found
        except OSError:
            pass
        time.sleep(0.01)
    sys.exit("the pipeline did not release all schema changes within 120 s")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--changes", type=int, default=200)
    ap.add_argument("--rows", type=int, default=20)
    a = ap.parse_args()
    work = tempfile.mkdtemp(prefix="driftless-bench-")
    print(f"machine: {machine()}")
    print(f"{a.changes} ADD and DROP COLUMN on a table of 10 columns, each behind {a.rows} rows; upper bounds in ms")
    print(f"{'sink':24} {'phase':22} {'p50':>8} {'p99':>8}")
    try:
        for name, sink in SINKS.items():
            here = os.path.join(work, name.split(",")[0])
            os.makedirs(here)
            pipeline = os.path.join(here, "pipeline.yaml")
            records = os.path.join(here, "stream.jsonl")
            stream = Stream(records)
            with open(pipeline, "w", encoding="utf-8") as f:
                f.write(f"source:\n  type: file\n  path: {records}\n  follow: true\nsink:\n  name: out\n" + sink.format(work=here)
                        + f"pipeline:\n  name: bench\n  http.address: 127.0.0.1:{PORT}\n")
            with open(os.path.join(here, "log"), "w", encoding="utf-8") as log:
                child = subprocess.Popen([a.driftless, "run", pipeline, "--state", os.path.join(here, "state")],
                                         stdout=log, stderr=log)
                try:
                    url = f"http://127.0.0.1:{PORT}/metrics"
                    for n in range(a.changes):
                        wait_for(url, n + 1)
                        stream.change(a.rows)
                    found = wait_for(url, a.changes + 1)
                finally:
                    child.terminate()
                    child.wait()
            for phase in PHASES:
                if phase in found:
                    print(f"{name:24} {phase:22} {quantile(found[phase], 0.5):8.1f} {quantile(found[phase], 0.99):8.1f}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
