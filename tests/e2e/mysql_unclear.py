#!/usr/bin/env python3
"""A live server whose log does not tell all: tables park, others go on, and `driftless decide` lets them go on.

usage: mysql_unclear.py --driftless BIN --peer mysql|mariadb
Statements under sql_log_bin = 0 are what no reader of a log can know of: a statement behind them does not fit the
tracked table, or the rows do not. Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import json
import os
import random
import subprocess
import sys

import mysql_live as live

SETUP = """create database live; use live;
create table marks (id int primary key); create table orders (id int primary key, a varchar(20));
create table users (id int primary key, a varchar(20)); create table items (id int primary key, a varchar(20));
create table calm (id int primary key, a varchar(20));
insert into orders values (1, 'before'); insert into users values (1, 'before'); insert into items values (1, 'before');
insert into calm values (1, 'before');
create database apart; create table apart.x (id int primary key, o int);
"""
STATEMENTS = """use live;
alter table apart.x add column calm int, add constraint f foreign key (o) references live.calm (id);
create index calm on apart.x (calm);
set sql_log_bin = 0; alter table orders change a b varchar(20); set sql_log_bin = 1;
alter table orders add column c int comment 'not read' after b; insert into orders values (2, 'behind', 7);
set sql_log_bin = 0; alter table users add column n int; set sql_log_bin = 1;
alter table users drop column n; insert into users values (2, 'behind');
set sql_log_bin = 0; alter table items add column late int; set sql_log_bin = 1;
insert into items values (2, 'row', 5);
alter table orders add column d int; insert into orders values (3, 'later', 8, 9);
create table orders_like like orders; insert into orders_like values (1, 'like', 1, 1);
insert into calm values (2, 'behind'); alter table calm add column n int comment 'not read'; insert into calm values (3, 'x', 5);
"""


class Pipeline(live.Pipeline):
    def audit(self):
        out = subprocess.run([self.binary, "audit", "--state", os.path.join(self.folder, "state"), "--output", "json"],
                             capture_output=True, text=True, encoding="utf-8", check=True).stdout
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def held(self):
        """{table: (decision, statement, why)} of what waits for a person."""
        found = {}
        for record in self.audit():
            if record["event"] == "unclear.statement":
                found[record["table"]] = record
        return {t: r for t, r in found.items() if r["result"] == "held"}

    def decide(self, *words):
        done = subprocess.run([self.binary, "decide", *words, "--state", os.path.join(self.folder, "state")],
                              capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            sys.exit(f"decide {words}: {done.stdout}{done.stderr}")


def check(condition, text):
    if not condition:
        sys.exit(text)


def play(server, pipeline):
    server.sql(SETUP)
    pipeline.start()
    pipeline.wait_for_mark(server, 1)
    pipeline.wait_for_snapshot()
    server.sql(STATEMENTS)
    pipeline.wait_for_mark(server, 2)
    pipeline.wait_for(lambda: len(pipeline.held()) == 3, "three tables that wait")
    rows = {t: len(pipeline.rows("live." + t)) for t in ("orders", "users", "items", "calm", "orders_like")}
    check(rows == {"orders": 1, "users": 1, "items": 1, "calm": 3, "orders_like": 0}, f"while parked: {rows}")
    held = pipeline.held()
    numbers = {t: r["id"] for t, r in held.items()}
    check("add column c int" in held["live.orders"]["statement"], str(held["live.orders"]))
    check("late" in json.dumps(held["live.items"]) or "columns" in json.dumps(held["live.items"]), str(held["live.items"]))
    # A restart asks for nothing new.
    pipeline.stop()
    pipeline.start()
    pipeline.wait_for_mark(server, 3)
    check({t: r["id"] for t, r in pipeline.held().items()} == numbers, "other decisions after a restart")
    schemas = {"orders": "create table orders (id int primary key, b varchar(20), c int)",
               "items": "create table items (id int primary key, a varchar(20), late int)"}
    pipeline.decide(str(numbers["live.users"]), "skip")
    pipeline.wait_for(lambda: len(pipeline.rows("live.users")) == 2, "users go on")
    for table, text in schemas.items():
        path = os.path.join(pipeline.folder, table + ".sql")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        pipeline.decide(str(numbers["live." + table]), "schema", path)
        if table == "orders":
            pipeline.wait_for(lambda: len(pipeline.rows("live.orders")) == 3, "orders go on")
    pipeline.wait_for(lambda: len(pipeline.rows("live.items")) == 2, "items go on")
    pipeline.wait_for_mark(server, 4)
    check(not pipeline.held(), str(pipeline.held()))
    shape = json.loads(pipeline.peek("live.calm", "--schema").stdout)
    check("not read" not in json.dumps(shape), f"a comment although include-comments.enabled is false: {shape}")
    pipeline.stop()


# The old row's `a` went to a new name where no log told of it, so a new column has no value for it.
KNOWN = {"live.orders column b"}


def main():
    options = live.arguments().parse_args()
    with live.scene(options) as (server, folder):
        pipeline = Pipeline(options.driftless, folder, server.port, random.Random(options.seed))
        server.call("start")
        play(server, pipeline)
        found, tables, report = live.differences(server, pipeline, ["live"])
        check(found == KNOWN, f"{sorted(found)}\n{report}\n{pipeline.tail()}")
        print(f"{options.peer}: {tables} tables as expected")


if __name__ == "__main__":
    main()
