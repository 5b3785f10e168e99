#!/usr/bin/env python3
"""The recorded scenarios once more, on a live server: into Paimon and print, and where it can follow all, Iceberg.

usage: mysql_scenarios.py --driftless BIN --peer mysql|mariadb [--only NAME] [--seed N] [--keep DIR]

The statements are those of the recordings (tests/data/live/scenarios): a hundred kinds of DDL, shards, transactions of
every kind, online schema changes. The pipeline is killed between them. Paimon's tables equal the server's, but for
exactly what differs in a replay of the recording (tests/interop/expected, with reasons); Iceberg gets the last mark too.
Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import argparse
import collections
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import mysql_live as live
from mysql_workload import Session

sys.path.insert(0, os.path.join(live.TESTS, "interop"))
import replay  # noqa: E402

DATABASES = {"a_ddl": ["shop"], "a_shards": ["app_01", "app_02", "app_03"], "b_txn": ["txn"], "c_osc": ["osc"]}
VERSIONS = {"mysql": "mysql-9.7", "mariadb": "mariadb-10.11"}


def statements(peer, scenario, part):
    """(connection, statement) in their order."""
    folder = os.path.join(live.TESTS, "data", "live", "scenarios")
    path = os.path.join(folder, f"{scenario}.{part}.{peer}.sql.gz")
    if not os.path.exists(path):
        path = os.path.join(folder, f"{scenario}.{part}.sql.gz")
    connection = 1
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("-- @conn "):
                connection = int(line[9:])
            elif line and not line.startswith("--"):
                if peer == "mariadb":
                    line = line.replace("ENGINE=MyISAM", "ENGINE=Aria")
                yield connection, line.rstrip(";")


class Pipeline(live.Pipeline):
    def configure(self, port, tables, with_iceberg):
        self.lakes = ("lake", "ice") if with_iceberg else ("lake",)
        ice = f"  - type: iceberg\n    name: ice\n    catalog.properties.warehouse: {self.folder}/ice\n" if with_iceberg else ""
        with open(self.file, "w", encoding="utf-8") as out:
            out.write(f"""source:
  type: mysql
  hostname: 127.0.0.1
  port: {port}
  username: driftless
  password: driftless
  tables: {tables}, scen.marks
sinks:
  - type: paimon
    name: lake
    catalog.properties.warehouse: {self.folder}/warehouse
{ice}  - type: print
    name: eyes
pipeline:
  name: scenario
  checkpoint.interval: 500ms
  http.address: off
""")

    def peek(self, table, *more, sink="lake"):
        return super().peek(table, "--sink", sink, *more)

    def wait_for_mark(self, server, number):
        server.sql(f"insert into scen.marks values ({number});")
        for sink in self.lakes:
            self.wait_for(lambda: f'"id":{number}}}' in self.peek("scen.marks", sink=sink).stdout.replace(" ", ""), f"mark {number} in {sink}")


def differences(server, pipeline, databases):
    truth = os.path.join(pipeline.folder, "truth")
    server.write_truth(truth, databases)
    sink = os.path.join(pipeline.folder, "sink")
    pipeline.write_sink(sink)
    details = os.path.join(pipeline.folder, "details.json")
    compared = subprocess.run(
        [sys.executable, os.path.join(live.TESTS, "interop", "compare_table.py"), "--schema", truth + ".schema.jsonl.gz",
         "--rows", truth + ".rows.jsonl.gz", "--sink-dir", sink, "--json", details], capture_output=True, text=True, encoding="utf-8")
    if compared.returncode not in (0, 1):
        sys.exit(compared.stdout + compared.stderr)
    with open(details, encoding="utf-8") as file:
        tables = json.load(file)["tables"]
    return replay.summary(tables), len(tables), compared.stdout


def play(options, server, folder, scenario):
    os.makedirs(folder)
    rng = random.Random(options.seed)
    case = replay.case_named(f"{VERSIONS[options.peer]}/{scenario}.plain")
    pipeline = Pipeline(options.driftless, folder, server.port, rng)
    # The others have changes that Iceberg cannot take: they stop there (policy).
    pipeline.configure(server.port, case["source"]["tables"], scenario in ("a_shards", "b_txn"))
    sessions = {}

    def say(connection, statement):
        if connection not in sessions:
            sessions[connection] = Session(server, lambda number, texts: None, database=None)
        sessions[connection].run([statement])
    try:
        server.sql("drop database if exists scen; create database scen; create table scen.marks (id int primary key);")
        for connection, statement in statements(options.peer, scenario, "setup"):
            say(connection, statement)
        pipeline.start()
        pipeline.wait_for_mark(server, 1)
        stream = list(statements(options.peer, scenario, "stream"))
        kills = sorted(rng.sample(range(len(stream)), 3))
        for number, (connection, statement) in enumerate(stream):
            if number in kills:
                pipeline.kill()
                pipeline.start()
            say(connection, statement)
        pipeline.wait_for_mark(server, 2)
        pipeline.stop()
        got, tables, report = differences(server, pipeline, DATABASES[scenario])
        expected = replay.expected_of(case["name"])
        if options.show:
            print(report, json.dumps(got, indent=1, ensure_ascii=False))
        if got != expected:
            found, known = set(replay.items_of(got)), set(replay.items_of(expected))
            sys.exit(f"{scenario}: not the expected differences (seed {options.seed}); new: {sorted(found - known)}, gone: "
                     f"{sorted(known - found)}\n{report}\n{pipeline.tail()[-6000:]}")
        printed = collections.Counter(line.split()[0] for line in pipeline.tail().splitlines() if line.strip())
        if sum(printed.values()) < 10:
            sys.exit(f"print: {pipeline.tail()}")
        print(f"{options.peer}: {scenario}: {tables} tables, {len(got)} with known differences, {pipeline.kills} kills", flush=True)
    finally:
        for session in sessions.values():
            session.close()
        if pipeline.process is not None and pipeline.process.poll() is None:
            pipeline.process.kill()
            pipeline.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driftless", required=True)
    parser.add_argument("--peer", choices=["mysql", "mariadb"], required=True)
    parser.add_argument("--only", help="one scenario")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="print what differs")
    parser.add_argument("--keep", help="work in this folder and leave it")
    options = parser.parse_args()
    if not live.is_installed(options.peer):
        print(f"skipped: {options.peer} is not installed")
        sys.exit(77)
    folder = options.keep or tempfile.mkdtemp(prefix="driftless-scenarios-")
    server = live.Server(options.peer)
    try:
        server.call("start")
        for scenario in DATABASES:
            if options.only in (None, scenario):
                play(options, server, os.path.join(folder, scenario), scenario)
    finally:
        server.call("wipe", check=False)
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
