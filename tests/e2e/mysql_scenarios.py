#!/usr/bin/env python3
"""The recorded scenarios once more, on a live server: into Paimon and print, and where it can follow all, Iceberg.

usage: mysql_scenarios.py --driftless BIN --peer mysql|mariadb [--only NAME] [--seed N] [--keep DIR]

The statements are those of the recordings (tests/data/live/scenarios): a hundred kinds of DDL, shards, transactions of
every kind, online schema changes. The pipeline is killed between them. Paimon's tables equal the server's, but for
exactly what differs in a replay of the recording (tests/interop/expected, with reasons); Iceberg gets the last mark too.
Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import gzip
import json
import os
import random
import subprocess
import sys

import mysql_live as live
from mysql_workload import Session

sys.path.insert(0, os.path.join(live.TESTS, "interop"))
import replay  # noqa: E402

DATABASES = {"a_ddl": ["shop"], "a_shards": ["app_01", "app_02", "app_03"], "b_txn": ["txn"], "c_osc": ["osc"]}
# Less differs than in a replay of the recordings (in them, Debezium writes a column's default for a NULL, a float and JSON
# in words of its own and one text of gbk wrongly, keeps rows of an XA transaction that was rolled back, and two tables are
# left out). None: nothing differs. The rows of mtypes from before ADD COLUMN u2 ... DEFAULT read NULL (policy, section 10).
LIVE = {
    "a_ddl": {
        "shop.customers": {"rows": {"different": 387}, "columns": {"middle_name": 387, "tenant_id": 379}},
        "shop.orders": {"rows": {"different": 1006}, "columns": {"seen_at": 1006, "meta": 1006, "half": 1006, "gift": 400,
                                                                 "gift_note": 400, "channel": 395}},
        "shop.retype": {"columns": {"we ird`col": 45, "中文列": 45, "tm": 40, "bit1": 27, "dec2int": 10}},
        "shop.reviews_v2": {"rows": {"missing": 15}, "columns": {}},
        "shop.legacy_gbk": None,
    },
    "b_txn": {"txn.kv": {"rows": {"different": 48}, "columns": {"extra": 48}}, "txn.seq20k": None},
}
ONLY_MARIADB = {"a_ddl": {"shop.mtypes": {"rows": {"different": 3}, "columns": {"u2": 3}}}}
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
        sinks = [f"type: paimon\nname: lake\ncatalog.properties.warehouse: {self.folder}/warehouse",
                 f"type: print\nname: eyes\nfile: {self.folder}/printed.txt"]
        if with_iceberg:
            sinks.append(f"type: iceberg\nname: ice\ncatalog.properties.warehouse: {self.folder}/ice")
        self.write(port, f"{tables}, scen.marks", sinks=sinks, options="checkpoint.interval: 500ms")

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


def expected_of(peer, scenario, case):
    expected = replay.expected_of(case)
    better = dict(LIVE.get(scenario, {}), **(ONLY_MARIADB.get(scenario, {}) if peer == "mariadb" else {}))
    for table, what in better.items():
        expected[table] = None if what is None else dict(expected.get(table) or {}, **what)
    return expected


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
        # As recorded: everything before the stream's first statement is in the snapshot, and nothing behind it.
        pipeline.wait_for_snapshot()
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
        expected = expected_of(options.peer, scenario, case["name"])
        other = {t: got.get(t) for t in got.keys() | expected.keys() if got.get(t) != expected.get(t)}
        if options.show:
            print(report)
        if other:
            sys.exit(f"{scenario}: not the expected differences (seed {options.seed}): {json.dumps(other)}\n{pipeline.tail()[-3000:]}")
        with open(os.path.join(folder, "printed.txt"), encoding="utf-8") as file:
            printed = file.read()
        # Every change of the source's statements is there to be read, up to the last mark.
        unseen = [name for name in DATABASES[scenario] + ["scen.marks"] if name not in printed]
        if unseen:
            sys.exit(f"print: nothing of {unseen}: {printed[-3000:]}")
        print(f"{options.peer}: {scenario}: {tables} tables, {len(got)} with known differences, {pipeline.kills} kills", flush=True)
    finally:
        for session in sessions.values():
            session.close()
        pipeline.end()


def main():
    parser = live.arguments(seed=5)
    parser.add_argument("--only", help="one scenario")
    parser.add_argument("--show", action="store_true", help="print what differs")
    options = parser.parse_args()
    with live.scene(options) as (server, folder):
        # As the recorded servers were.
        server.call("start", "--character-set-server=utf8mb4", "--default-time-zone=+00:00")
        for scenario in DATABASES:
            if options.only in (None, scenario):
                play(options, server, os.path.join(folder, scenario), scenario)


if __name__ == "__main__":
    main()
