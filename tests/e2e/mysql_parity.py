#!/usr/bin/env python3
"""Snapshot and log give the same bytes for every type: each table is read both ways and printed by `driftless peek`.

usage: mysql_parity.py --driftless BIN --peer mysql|mariadb
The tables: all column types with their edge values (tests/data/live), and every character set of the server with each
byte of its one-byte sets and each eleventh two-byte code of the others. The server's time zone is not UTC.
Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import os
import random
import subprocess
import sys

import mysql_live as live

# What a client cannot even name, or what is bytes.
NO_TABLES = ("binary", "filename")
SETUP = """create database edges; create database live; create database streamed;
create table live.marks (id int primary key); create table edges.codes (b varbinary(2) primary key);
create table edges.labels (id int primary key, g enum('α', 'ώ', 'a') charset greek, k set('ж', 'я') charset cp866,
  s enum('\\\\', '~', 'ｱ') charset sjis, j enum('ž') charset keybcs2) charset utf8mb4;
insert into edges.labels values (1, 'α', 'ж,я', '\\\\', 'ž'), (2, 'ώ', '', '~', null), (3, 'a', 'я', 'ｱ', 'ž');
"""


class Pipeline(live.Pipeline):
    def __init__(self, binary, folder, port, mode):
        super().__init__(binary, folder, port, random.Random(1))
        self.write(port, "streamed.\\.*, live.marks", source=f"scan.startup.mode: {mode}",
                   options='checkpoint.interval: 1s\non-null-violation: default-value\non-cast-failure: "null"')

    def contents(self, table):
        shape, rows = self.peek(table, "--schema"), self.peek(table)
        if shape.returncode or rows.returncode:
            sys.exit(f"peek of {table}: {shape.stderr}{rows.stderr}\n{self.tail()}")
        return shape.stdout, sorted(rows.stdout.splitlines())


def fill_edges(server):
    codes = [f"x'{c:02x}'" for c in range(256)] + [f"x'{c:04x}'" for c in range(0x8140, 0x10000, 11)]
    text = SETUP + f"insert into edges.codes values ({'), ('.join(codes)});"
    sets = server.sql("select character_set_name from information_schema.character_sets order by 1;").split()
    for charset in (s for s in sets if s not in NO_TABLES):
        # What is no character of a set does not get into a column of it but as '?', or not at all.
        text += f"""create table edges.{charset} (b varbinary(2) primary key, t varchar(4)) charset {charset};
insert ignore into edges.{charset} select b, convert(b using {charset}) from edges.codes
  where length(b) = 1 or 1 < (select max(maxlen) from information_schema.character_sets
  where character_set_name = '{charset}');\n"""
    server.sql("set sql_mode = '';\n" + text)
    return sets


def play(server, folder, binary):
    server.sql(live.recorded(server.peer, "setup"))
    sets = fill_edges(server)
    tables = [tuple(row) for row in server.values("from information_schema.tables where table_type = 'BASE TABLE' and "
                                                  "table_schema in ('typesdb', 'edges') order by 1, 2",
                                                  ["table_schema", "table_name"])]
    server.sql("set sql_mode = '';" + "".join(f"create table streamed.{live.quoted(t)} like {db}.{live.quoted(t)};\n" for db, t in tables))
    folders = [os.path.join(folder, name) for name in ("stream", "snapshot")]
    for path in folders:
        os.mkdir(path)
    stream = Pipeline(binary, folders[0], server.port, "latest-offset")
    try:
        stream.start()
        stream.wait_for(lambda: " tables, from " in stream.tail(), "a beginning")
        stream.wait_for_mark(server, 1)
        for db, table in tables:
            columns = [live.quoted(row[0]) for row in server.values(
                f"from information_schema.columns where table_schema = '{db}' and table_name = '{table}' and "
                "ifnull(generation_expression, '') = '' order by ordinal_position", ["column_name"])]
            names = ", ".join(columns)
            server.sql(f"set sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; insert into streamed.{live.quoted(table)} ({names}) "
                       f"select {names} from {db}.{live.quoted(table)};")
        stream.wait_for_mark(server, 2)
        stream.stop()
    finally:
        if stream.process.poll() is None:
            stream.process.kill()
            stream.process.wait()
    snapshot = Pipeline(binary, folders[1], server.port, "snapshot")
    with open(os.path.join(folders[1], "run.log"), "wb") as log:
        done = subprocess.run([binary, "run", snapshot.file, "--state", os.path.join(folders[1], "state"), "--until-end"],
                              stdout=log, stderr=log, timeout=240)
    if done.returncode != 0:
        sys.exit(f"the snapshot ended with {done.returncode}:\n{snapshot.tail()}")
    different, rows = [], 0
    for _, table in tables:
        want, got = snapshot.contents("streamed." + table), stream.contents("streamed." + table)
        rows += len(want[1])
        if want == got:
            continue
        pairs = [(a, b) for a, b in zip(want[1], got[1]) if a != b]
        different.append(f"{table}: {len(want[1])} rows by snapshot, {len(got[1])} by log; shapes "
                         f"{'equal' if want[0] == got[0] else (want[0], got[0])}; {len(pairs)} lines differ: {pairs[:4]}")
    if different or rows < 5000:
        sys.exit("\n".join(different) or f"only {rows} rows")
    print(f"{server.peer}: {len(tables)} tables, {rows} rows, {len(sets) - len(NO_TABLES)} character sets: equal")


def main():
    options = live.arguments().parse_args()
    with live.scene(options) as (server, folder):
        server.call("start", "--default-time-zone=+05:30")
        play(server, folder, options.driftless)


if __name__ == "__main__":
    main()
