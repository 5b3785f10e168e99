#!/usr/bin/env python3
"""Memory and first commit: what a pipeline costs before and besides its rows.

usage: footprint.py --driftless BIN [--tables 1000] [--rows 100]

idle        resident memory of a pipeline that follows an empty file into a Paimon warehouse
first row   from the start of the process to the first snapshot of a Paimon table, file followed, defaults throughout
tables      peak resident memory while rows of many tables arrive interleaved, into one Paimon warehouse
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from whole_path import machine

SOURCE = {"version": "3.6.1.Final", "connector": "mysql", "name": "b", "ts_ms": 0, "snapshot": "false", "db": "shop",
          "server_id": 1, "file": "binlog.000001", "pos": 4, "row": 0}
COLUMNS = [("id", "BIGINT"), ("customer", "BIGINT"), ("sku", "VARCHAR"), ("status", "VARCHAR"), ("quantity", "INT"),
           ("weight", "DOUBLE"), ("note", "VARCHAR")]


def write(file, record):
    file.write(json.dumps(record, separators=(",", ":")) + "\n")


def create(file, table):
    columns = ", ".join(f"`{n}` {'varchar(40)' if t == 'VARCHAR' else t.lower()}{' NOT NULL' if n == 'id' else ''}"
                        for n, t in COLUMNS)
    write(file, {"source": dict(SOURCE, table=table), "ts_ms": 1, "databaseName": "shop", "schemaName": None,
                 "ddl": f"CREATE TABLE `{table}` ({columns}, PRIMARY KEY (`id`))", "tableChanges": []})


def row(file, table, key):
    write(file, {"before": None, "after": {"id": key, "customer": key % 977, "sku": f"SKU-{key:09d}", "status": "shipped",
                                           "quantity": key % 90, "weight": key * 0.25, "note": f"leave at door {key}"},
                 "source": dict(SOURCE, table=table, pos=key), "op": "c", "ts_ms": key, "transaction": None})


def pipeline(folder, follow, extra=""):
    path = os.path.join(folder, "pipeline.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"source:\n  type: file\n  path: {folder}/stream.jsonl\n" + ("  follow: true\n" if follow else "")
                + f"sink:\n  type: paimon\n  name: lake\n  catalog.properties.warehouse: {folder}/warehouse\n"
                  f"  table.properties.bucket: 1\npipeline:\n  name: bench\n  http.address: off\n{extra}")
    return path


def status_mib(pid, field):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(x.split()[1]) for x in f if x.startswith(field + ":")) / 1024


def start(driftless, folder, path, *flags):
    log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
    return subprocess.Popen([driftless, "run", path, "--state", os.path.join(folder, "state"), *flags], stdout=log, stderr=log)


def idle(driftless, folder):
    open(os.path.join(folder, "stream.jsonl"), "w", encoding="utf-8").close()
    child = start(driftless, folder, pipeline(folder, follow=True))
    time.sleep(5)
    resident = status_mib(child.pid, "VmRSS"), status_mib(child.pid, "RssAnon")
    child.terminate()
    child.wait()
    print(f"idle: {resident[0]:.0f} MiB resident, {resident[1]:.0f} MiB of it not mapped from files")


def first_row(driftless, folder):
    with open(os.path.join(folder, "stream.jsonl"), "w", encoding="utf-8") as f:
        create(f, "orders")
        for key in range(1, 101):
            row(f, "orders", key)
    path = pipeline(folder, follow=True)
    began = time.monotonic()
    child = start(driftless, folder, path)
    while not glob.glob(f"{folder}/warehouse/*/orders/snapshot/snapshot-1"):
        if time.monotonic() - began > 60 or child.poll() is not None:
            sys.exit("no snapshot within a minute: " + open(os.path.join(folder, "log"), encoding="utf-8").read()[-2000:])
        time.sleep(0.005)
    took = time.monotonic() - began
    child.terminate()
    child.wait()
    print(f"first row: committed {took:.2f} s after the start of the process")


def many_tables(driftless, folder, tables, rows):
    with open(os.path.join(folder, "stream.jsonl"), "w", encoding="utf-8") as f:
        for table in range(tables):
            create(f, f"t{table}")
        for key in range(1, rows + 1):
            for table in range(tables):
                row(f, f"t{table}", key)
    began = time.monotonic()
    child = start(driftless, folder, pipeline(folder, follow=False), "--until-end")
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("failed: " + open(os.path.join(folder, "log"), encoding="utf-8").read()[-3000:])
    cpu = usage.ru_utime + usage.ru_stime
    print(f"tables: {tables} tables, {tables * rows} rows: {usage.ru_maxrss / 1024:.0f} MiB at most, {cpu:.1f} s of CPU, "
          f"{time.monotonic() - began:.1f} s")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--tables", type=int, default=1000)
    ap.add_argument("--rows", type=int, default=100)
    a = ap.parse_args()
    print(f"machine: {machine()}")
    for measure in (lambda f: idle(a.driftless, f), lambda f: first_row(a.driftless, f),
                    lambda f: many_tables(a.driftless, f, a.tables, a.rows)):
        folder = tempfile.mkdtemp(prefix="driftless-bench-")
        try:
            measure(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
