#!/usr/bin/env python3
"""rows-without-events: resync on a live server: tables whose rows changed without row events are read again, in order.

usage: mysql_resync.py --driftless BIN --peer mysql|mariadb [--seed N] [--keep DIR]

Partitions are dropped, emptied and exchanged and a table is swapped for another one while two sessions change rows,
the first time undisturbed, then with a kill (-9) behind each statement. A sink that can empty its table (the double of
Doris) is equal to the server at the end. Paimon, which the policy does not let empty a table, has every row of the
server, and beyond that only rows that such statements took away: its divergences say so. A table without a primary key
is not read again. Exit status: 0 as expected, 1 not, 77 the server is not installed.
"""
import json
import os
import random
import subprocess
import sys
import threading
import time
import urllib.error

import mysql_live as live
import olap_cluster

KEYED = ("parts", "twin", "swapped")
RANGES = "partition by range (id) (partition p0 values less than (1000), partition p1 values less than (2000), " \
         "partition p2 values less than (3000), partition p3 values less than (4000), partition p4 values less than (1000000))"
NUMBERS = "with recursive q (n) as (select 0 union all select n + 1 from q where n < 999) "
SETUP = f"""create database live; use live; create table marks (id int primary key);
create table parts (id int primary key, v int, t varchar(20)) charset utf8mb4 {RANGES};
create table twin (id int primary key, v int, t varchar(20)) charset utf8mb4;
create table swapped (id int primary key, v int, t varchar(20)) charset utf8mb4;
create table loose (id int, v int) {RANGES};
insert into parts {NUMBERS} select n, n, concat('t', n) from q;
insert into parts select id + 1000, v, t from parts; insert into parts select id + 2000, v, t from parts;
insert into parts select id + 4000, v, t from parts where id < 1000;
insert into twin select id, -1, 'twin' from parts where id between 2000 and 2999 and id % 3 = 0;
insert into swapped select id, v, t from parts where id < 700;
insert into loose select id, v from parts where id % 100 = 0;
"""
STATEMENTS = [
    "alter table parts truncate partition p1;",
    "alter table loose truncate partition p1;",
    "alter table parts exchange partition p2 with table twin;",
    "create table standby like swapped; insert into standby select id + 300, 7, 'standby' from swapped where id < 600; "
    "rename table swapped to retired, standby to swapped;",
    "alter table parts drop partition p0, p1; alter table parts add column c int, algorithm = copy; alter table twin add column c int, algorithm = copy; "
    "update parts set c = id where id % 5 = 0;",
    "alter table parts exchange partition p2 with table twin;",
    "alter table parts reorganize partition p3 into (partition p3a values less than (3500), partition p3b values less than (4000));",
    "alter table parts truncate partition p3a; insert into parts (id, v) values (3001, 5); alter table parts truncate partition p3b;",
]
SILENT = {"parts": lambda i: i < 4000, "twin": lambda i: True, "swapped": lambda i: True}


def changes(rng, k):
    low, high = rng.randrange(0, 5000), rng.randrange(2000, 3000)
    return rng.choice([
        f"update parts set v = {k} where id between {low} and {low + 9};",
        f"delete from parts where id in ({low}, {low + 40}, {rng.randrange(4000, 5000)});",
        f"replace into parts (id, v, t) values ({rng.randrange(4000, 6000)}, {k}, 'r{k}'), ({high}, {k}, 'h');",
        f"update ignore parts set id = id + 1 where id = {rng.randrange(4000, 5000)};",
        f"replace into twin (id, v, t) values ({high}, {k}, 'w{k}'); delete from twin where id = {high + 1};",
        f"update twin set v = {k} where id between {high} and {high + 20};",
        f"begin; update swapped set v = {k} where id % 50 = {k % 50}; delete from swapped where id = {k % 900}; commit;",
        f"insert ignore into swapped (id, v, t) values ({k % 1500}, {k}, 's'); begin; delete from swapped; rollback;",
    ])


class Writers:
    def __init__(self, server, seed, count):
        self.server, self.over = server, threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(seed * 10 + n,)) for n in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, seed):
        rng = random.Random(seed)
        k = 10000
        while not self.over.is_set():
            text = "use live;\n"
            for _ in range(20):
                k += 1
                text += changes(rng, k) + "\n"
            # Sessions that meet an ALTER have changed what they have changed.
            self.server.call("client", "-f", "-N", "-B", "--default-character-set=utf8mb4", stdin=text, check=False)
            time.sleep(0.05)

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def olap_sink(cluster):
    password = olap_cluster.PASSWORD.replace("'", "''")
    return live.own_lines(cluster.sink()) + f"username: root\npassword: '{password}'\ntable.create.properties.replication_num: 1"


class Pipeline(live.Pipeline):
    def configure(self, port, cluster):
        sinks = [f"type: paimon\nname: lake\ncatalog.properties.warehouse: {self.folder}/warehouse",
                 olap_sink(cluster)]
        self.write(port, "live.marks, live.parts, live.twin, live.swapped, live.loose",
                   source="scan.incremental.snapshot.chunk.size: 40", sinks=sinks,
                   options="checkpoint.interval: 300ms\nschema.change.behavior: LENIENT\nrows-without-events: resync")

    def peek(self, table, *more):
        return super().peek(table, "--sink", "lake", *more)

    def ask(self, *words):
        done = subprocess.run([self.binary, *words, "--state", os.path.join(self.folder, "state"), "--output", "json"],
                              capture_output=True, text=True, encoding="utf-8", check=True)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def check(condition, text):
    if not condition:
        sys.exit(text)


def truth_of(server, table):
    names = [row[0] for row in server.values("from information_schema.columns where table_schema = 'live' and "
                                             f"table_name = '{table}' order by ordinal_position", ["column_name"])]
    rows = [dict(zip(names, row)) for row in server.values(f"from live.{table}", names)]
    return {int(row["id"]): texts(row) for row in rows}


def texts(row):
    return {name: None if value is None else str(value) for name, value in row.items()}


def by_id(rows):
    return {row["id"]: texts(row) for row in rows}


def in_olap(cluster, table):
    try:
        return by_id(cluster.ask("rows", db="live", table=table))
    except urllib.error.HTTPError:
        return {}


def difference(found, wanted):
    ids = [i for i in found.keys() | wanted.keys() if found.get(i) != wanted.get(i)]
    return [(i, found.get(i), wanted.get(i)) for i in sorted(ids)]


def play(server, pipeline, cluster, seed):
    server.sql(SETUP)
    pipeline.start()
    pipeline.wait_for_mark(server, 1)
    pipeline.wait_for_snapshot()
    writers = Writers(server, seed, 2)
    try:
        server.sql("use live; " + STATEMENTS[0])
        pipeline.wait_for(lambda: pipeline.tail().count("snapshot done") == 2, "partition p1 read again")
        for statement in STATEMENTS[1:]:
            server.sql("use live; " + statement)
            pipeline.kill()
            pipeline.start()
    finally:
        writers.stop()
    pipeline.wait_for_mark(server, 2)
    wanted = {table: truth_of(server, table) for table in KEYED}
    found = {}

    def is_equal():
        for table in KEYED:
            found[table] = difference(in_olap(cluster, table), wanted[table])
        return not any(found.values())
    try:
        pipeline.wait_for(is_equal, "what is read again")
    finally:
        print({table: (len(rows), rows[:5]) for table, rows in found.items()}, flush=True)
    pipeline.stop()
    check(is_equal(), f"{found}")
    for table in KEYED:
        lake = by_id(pipeline.rows("live." + table))
        lost = [i for i, row in wanted[table].items() if lake.get(i) != row]
        check(not lost, f"lake: {table}: {[(i, lake.get(i), wanted[table][i]) for i in lost[:5]]}")
        ghosts = [i for i in lake if i not in wanted[table]]
        check(all(SILENT[table](i) for i in ghosts), f"lake: {table} has rows that a row event deleted: {ghosts}")
        print(f"{table}: {len(wanted[table])} rows equal; the lake keeps {len(ghosts)} more")


def look_at_decisions(pipeline):
    def is_of_statement(record):
        """A kill before the first commit of one sink makes the source begin anew, which the other one's tables are told."""
        return "a new beginning" not in json.dumps(record)

    audit = pipeline.ask("audit")
    unseen = [r for r in audit if r["event"] == "rows.without.events" and is_of_statement(r)]
    for record in unseen:
        wanted = "warn" if record["table"] == "live.loose" else "resync"
        check(wanted in json.dumps(record), f"{record}")
    check({r["table"] for r in unseen} == {"live.parts", "live.twin", "live.swapped", "live.loose"}, f"{unseen}")
    outcomes = [r for r in audit if r["event"] == "truncate.table" and r["phase"] == "outcome"]
    verdicts = {(r["sink"], r["verdict"]) for r in outcomes}
    check(verdicts == {("lake", "skip"), ("olap", "apply")}, f"{verdicts}: {outcomes[:3]}")
    open_ones = {(d["sink"], d["sink_table"]) for d in pipeline.ask("divergences") if is_of_statement(d)}
    wanted = {("lake", f"live.{t}") for t in (*KEYED, "loose")} | {("olap", "live.loose")}
    check(open_ones == wanted, f"divergences: {open_ones}")


def main():
    options = live.arguments(seed=11).parse_args()
    with live.scene(options) as (server, folder), olap_cluster.Cluster("doris") as cluster:
        pipeline = Pipeline(options.driftless, folder, server.port, random.Random(options.seed))
        server.call("start")
        pipeline.configure(server.port, cluster)
        play(server, pipeline, cluster, options.seed)
        look_at_decisions(pipeline)
        print(f"{options.peer}: as expected after {pipeline.kills} kills, seed {options.seed}")


if __name__ == "__main__":
    main()
