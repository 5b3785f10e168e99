#!/usr/bin/env python3
"""How long tables wait for a schema change: from reading the statement to releasing its rows, by Driftless' own histogram.

usage: schema_changes.py --driftless BIN [--changes 200] [--rows 20]

A stream of one table with ALTER TABLE ... ADD COLUMN between groups of rows, replayed with --until-end into blackhole
and into Paimon on local disk; the histogram `driftless_schema_change_seconds` is read from /metrics while the
pipeline waits behind its last row. "released" less "flushed" is what the schema change itself costs; the flush is the
commit of the rows before it.
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
SINKS = {
    "blackhole": "  type: blackhole\n",
    "paimon, key, 1 bucket": "  type: paimon\n  catalog.properties.warehouse: {work}/warehouse\n"
                             "  table.properties.bucket: 1\n",
}
SOURCE = {"version": "3.6.1.Final", "connector": "mysql", "name": "b", "ts_ms": 0, "snapshot": "false", "db": "shop",
          "table": "orders", "server_id": 1, "file": "binlog.000001", "pos": 4, "row": 0}


def write_stream(path, changes, rows):
    dump = json.JSONEncoder(separators=(",", ":")).encode
    columns = ["id", "a"]

    def ddl(sql, position, kind):
        return dump({"source": dict(SOURCE, pos=position), "ts_ms": 1, "databaseName": "shop", "schemaName": None,
                     "ddl": sql, "tableChanges": [
                         {"type": kind, "id": '"shop"."orders"', "table": {
                             "primaryKeyColumnNames": ["id"],
                             "columns": [{"name": c, "typeName": "BIGINT" if c == "id" else "INT", "optional": c != "id"}
                                         for c in columns]}}]}) + "\n"

    with open(path, "w", encoding="utf-8") as f:
        f.write(ddl("CREATE TABLE `orders` (`id` bigint NOT NULL, `a` int, PRIMARY KEY (`id`))", 4, "CREATE"))
        key = 0
        for n in range(changes):
            for _ in range(rows):
                key += 1
                f.write(dump({"before": None, "after": {c: key for c in columns}, "source": dict(SOURCE, pos=100 * key),
                              "op": "c", "ts_ms": key, "transaction": None}) + "\n")
            columns.append(f"c{n}")
            f.write(ddl(f"ALTER TABLE `orders` ADD COLUMN `c{n}` int", 100 * key + 50, "ALTER"))


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
    for _ in range(1200):
        try:
            text = urllib.request.urlopen(url, timeout=5).read().decode()
            found = histograms(text)
            if found.get("released", ([], [0]))[1][-1] >= released:
                return found
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit("the pipeline did not release all schema changes within 120 s")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--changes", type=int, default=200)
    ap.add_argument("--rows", type=int, default=20)
    a = ap.parse_args()
    work = tempfile.mkdtemp(prefix="driftless-bench-")
    print(f"machine: {machine()}")
    print(f"{a.changes} ADD COLUMN between groups of {a.rows} rows; upper bounds in ms")
    print(f"{'sink':24} {'phase':9} {'p50':>8} {'p99':>8}")
    try:
        stream = os.path.join(work, "stream.jsonl")
        write_stream(stream, a.changes, a.rows)
        for name, sink in SINKS.items():
            here = os.path.join(work, name.split(",")[0])
            os.makedirs(here)
            pipeline = os.path.join(here, "pipeline.yaml")
            with open(pipeline, "w", encoding="utf-8") as f:
                f.write(f"source:\n  type: file\n  path: {stream}\nsink:\n  name: out\n" + sink.format(work=here)
                        + f"pipeline:\n  name: bench\n  http.address: 127.0.0.1:{PORT}\n")
            with open(os.path.join(here, "log"), "w", encoding="utf-8") as log:
                child = subprocess.Popen([a.driftless, "run", pipeline, "--state", os.path.join(here, "state")],
                                         stdout=log, stderr=log)
                try:
                    found = wait_for(f"http://127.0.0.1:{PORT}/metrics", a.changes + 1)
                finally:
                    child.terminate()
                    child.wait()
            for phase in ("planned", "flushed", "applied", "released"):
                if phase in found:
                    print(f"{name:24} {phase:9} {quantile(found[phase], 0.5):8.1f} {quantile(found[phase], 0.99):8.1f}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
