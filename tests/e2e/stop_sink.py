#!/usr/bin/env python3
"""A sink that does not answer is taken out (`on-unavailable: stop-sink`); the other one goes on; a restart catches up.

usage: stop_sink.py --driftless BIN

The tables have no key, so a row that came twice would show, and one of them gets a new column while the sink is gone.
"""
import argparse
import os
import signal
import socket
import sys
import urllib.request

from object_server import ObjectServer
from pipelines import Pipeline, Records, check, eventually, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
  follow: @FOLLOW@
sinks:
  - type: paimon
    name: lake
    catalog.properties.warehouse: @FOLDER@/warehouse
  - type: paimon
    name: remote
    on-unavailable: stop-sink
    catalog.properties.warehouse: s3://bucket/warehouse
    catalog.properties.s3.endpoint: @ENDPOINT@
    catalog.properties.s3.access-key: key
    catalog.properties.s3.secret-key: secret
    catalog.properties.s3.path.style.access: true
pipeline:
  name: stop-sink
  http.address: @HTTP@
  checkpoint.interval: 200 ms
"""


class Stream:
    """Two tables; `more` adds rows to both, `widen` a column to one."""

    def __init__(self, folder):
        self.records = Records(os.path.join(folder, "records.jsonl"))
        self.columns = {"log": ["v"], "notes": ["v"]}
        self.truth = {"shop.log": [], "shop.notes": []}
        for table in self.columns:
            self.records.ddl(table, f"CREATE TABLE {table} (v INT)", [("v", "INT", False)])
        self.next = 0

    def more(self, count):
        for _ in range(count):
            for table, columns in self.columns.items():
                row = {column: self.next for column in columns}
                self.records.row(table, row, key=None)
                self.truth[f"shop.{table}"].append(row)
            self.next += 1

    def widen(self):
        self.columns["log"].append("w")
        for row in self.truth["shop.log"]:
            row["w"] = None
        self.records.ddl("log", "ALTER TABLE log ADD COLUMN w INT", [("v", "INT", False), ("w", "INT", False)])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def make(driftless, folder, server, follow, http="off"):
    text = TEXT.replace("@ENDPOINT@", server.endpoint).replace("@FOLLOW@", follow).replace("@HTTP@", http)
    return Pipeline(driftless, folder, text)


def same(pipeline, stream, sink):
    """Whether the sink has every row once. Rows of a table without a key have no order of their own."""
    for table, truth in stream.truth.items():
        rows = pipeline.rows_or_none(table, sink)
        if sorted(rows, key=lambda row: row["v"]) != truth:
            return False
    return True


def gone_from_the_start(driftless, folder):
    server = ObjectServer()
    try:
        stream = Stream(folder)
        stream.more(20)
        stream.widen()
        stream.more(20)
        pipeline = make(driftless, folder, server, "false")
        server.up = False
        log = pipeline.run(expected=1)
        check("sink remote did not answer and was taken out" in log, log)
        check(server.refused > 0, "nobody asked the sink")
        check(same(pipeline, stream, "lake"), "the other sink has not everything")
        server.up = True
        pipeline.run()
        check(same(pipeline, stream, "remote"), f"the sink did not catch up: {pipeline.rows_or_none('shop.log', 'remote')}")
        check(same(pipeline, stream, "lake"), "the other sink got rows again")
    finally:
        server.close()


def gone_in_the_middle(driftless, folder):
    server = ObjectServer()
    http = f"127.0.0.1:{free_port()}"
    stream = Stream(folder)
    pipeline = make(driftless, folder, server, "true", http)
    process = pipeline.start()

    def served(path):
        try:
            return urllib.request.urlopen(f"http://{http}{path}", timeout=30).read().decode()
        except OSError:
            return ""

    try:
        stream.more(50)
        eventually(lambda: same(pipeline, stream, "remote"), "rows before", process)
        server.up = False
        stream.more(50)
        stream.widen()
        stream.more(50)
        eventually(lambda: same(pipeline, stream, "lake"), "the other sink goes on", process)
        eventually(lambda: 'driftless_sink_stopped{sink="remote"} 1' in served("/metrics"), "taken out", process, 120)
        check("without sink remote" in served("/healthz"), served("/healthz"))
        stream.more(50)
        eventually(lambda: same(pipeline, stream, "lake"), "the other sink goes on after that", process)
        process.send_signal(signal.SIGTERM)
        check(process.wait(timeout=180) == 0, "no clean stop")
        server.up = True
        stream.more(10)
        process = pipeline.start()
        eventually(lambda: same(pipeline, stream, "remote"), "it catches up", process)
        eventually(lambda: same(pipeline, stream, "lake"), "the other sink gets nothing twice", process)
        check('driftless_sink_stopped{sink="remote"} 0' in served("/metrics"), "still out")
        process.send_signal(signal.SIGTERM)
        check(process.wait(timeout=180) == 0, "no clean stop")
        process = None
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
        server.close()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    args = ap.parse_args()
    sys.exit(run_all([gone_from_the_start, gone_in_the_middle], args.driftless))
