#!/usr/bin/env python3
"""Tables that join a pipeline which has run before, while they are written to and altered and the pipeline is killed.

usage: mysql_newly_added.py --driftless BIN --peer mysql|mariadb [--seed N] [--keep DIR]

`tables` grows: without scan.newly-added-table.enabled the start refuses; with it the newcomers are read by a snapshot,
and each of their changes comes once, also into a table without key. A table that leaves and comes back is read again.
The first start comes in the midst of an online schema change. Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import os
import random
import shutil
import sys
import threading
import time

import mysql_live as live

SETUP = """create database live; use live;
create table marks (id int primary key); create table early (id int primary key, v varchar(20)) charset utf8mb4;
create table tool (id int primary key, v int, w int); insert into tool values (1, 10, 11), (2, 20, 21);
create table _tool_gho like tool; alter table _tool_gho add column x int after id, drop column w;
create table second (id int primary key auto_increment, v int, t varchar(30)) charset utf8mb4;
create table journal (v int, s varchar(40)) charset utf8mb4;
insert into second (v, t) with recursive q (n) as (select 1 union all select n + 1 from q where n < 900) select n, concat('t', n) from q;
insert into second (v, t) select v + 900, t from second; insert into second (v, t) select v + 1800, t from second;
insert into second (v, t) select v + 3600, t from second;
insert into journal select v % 700, concat('j', v % 50) from second;
insert into early values (1, 'one'), (2, 'two');
"""
SHADOW = """use live; insert into _tool_gho (id, v) select id, v from tool;
rename table tool to _tool_del, _tool_gho to tool; update tool set x = 7 where id = 2; drop table _tool_del;
"""
# While nobody captures them: the statements are in the log.
UNSEEN = """use live; alter table second add column a int; update second set a = id where id % 10 = 0;
create table logged (id int primary key, v int); insert into logged values (1, 1), (2, 2); delete from logged where id = 2;
insert into journal values (1, 'unseen'), (1, 'unseen'); delete from journal where v = 5;
"""


def changes(rng, k):
    i = rng.randrange(1, 7000)
    return rng.choice([
        f"update second set v = v + 1, t = 'u{k}' where id between {i} and {i + 9};",
        f"update ignore second set id = id + {rng.choice([-2000, 2000])} where id = {i}; delete from second where id = {i + 3};",
        f"insert into second (v, t) values ({k}, 'n{k}');",
        f"insert into journal values ({k % 700}, 'n{k}'), ({k % 700}, 'n{k}'); delete from journal where v = {i % 700} limit 3;",
        f"update journal set s = 'u{k}' where v = {i % 700} limit 4;",
        f"begin; insert into journal values ({k % 700}, 'gone'); delete from second; rollback;",
        f"begin; insert into logged values ({k}, {k}); insert into journal values ({k % 700}, 'tx{k}'); commit;",
        f"replace into logged values ({k % 50}, {k}); delete from logged where id = {i % 50};",
        f"insert into early values ({k}, 'f') on duplicate key update v = 'again';",
    ])


class Writer:
    def __init__(self, server, seed):
        self.server, self.rng, self.over = server, random.Random(seed), threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        k = 10000
        while not self.over.is_set():
            text = "use live;\n"
            for _ in range(30):
                k += 1
                text += changes(self.rng, k) + "\n"
            self.server.call("client", "-f", "-N", "-B", "--default-character-set=utf8mb4", stdin=text, check=False)

    def stop(self):
        self.over.set()
        self.thread.join()


class Pipeline(live.Pipeline):
    def wait_for_join(self, number):
        """The log brings marks while chunks are still read."""
        def is_read():
            text = self.said()
            return text.count("newly added tables join") >= number and text.rfind("newly added tables join") < text.rfind("snapshot done")
        self.wait_for(is_read, "the snapshot of the newcomers")

    def configure(self, tables, more=""):
        self.rewrite(tables=tables, source=f"scan.incremental.snapshot.chunk.size: 20\n{more}", sink="",
                     options="checkpoint.interval: 300ms\nschema.change.behavior: evolve")


def check(condition, text):
    if not condition:
        sys.exit(text)


def play(server, pipeline, seed):
    server.sql(SETUP)
    pipeline.configure("live.marks, live.early, live.\\.*tool\\.*")
    pipeline.start()
    pipeline.wait_for_mark(server, 1)
    server.sql(SHADOW + UNSEEN)
    pipeline.wait_for_mark(server, 2)
    tools = sorted(pipeline.rows("live.tool"), key=lambda r: r["id"])
    check(tools == [{"id": 1, "x": None, "v": 10}, {"id": 2, "x": 7, "v": 20}], f"tool: {tools}\n{pipeline.tail()}")
    pipeline.stop()

    pipeline.configure("live.\\.*")
    pipeline.start()
    code = pipeline.process.wait(60)
    check(code not in (0, -9) and "scan.newly-added-table.enabled" in pipeline.tail() and "live.second" in pipeline.tail(),
          f"tables that were not captured before: {code}\n{pipeline.tail()}")

    added = "scan.newly-added-table.enabled: true"
    pipeline.configure("live.\\.*", added)
    server.sql("use live; create table made_down (id int primary key, v int); insert into made_down values (1, 1), (2, 2); "
               "delete from made_down where id = 2; alter table made_down add column w int first;")
    writer = Writer(server, seed)
    try:
        for number in range(5):
            pipeline.start()
            time.sleep(pipeline.rng.uniform(0.2, 1.5))
            if number == 2:
                server.sql("use live; alter table second add column b int first; update second set b = 1 where id % 9 = 0;")
            if number == 3:
                server.sql("use live; alter table journal add column w int; insert into journal values (1, 'w', 1);")
            pipeline.kill()
        pipeline.start()
        time.sleep(1)
    finally:
        writer.stop()
    pipeline.wait_for_join(1)
    pipeline.wait_for_mark(server, 3)
    pipeline.stop()
    found, tables, report = live.differences(server, pipeline, ["live"])
    check(not found, f"after the join: {sorted(found)} (seed {seed})\n{report}\n{pipeline.tail()}")

    pipeline.configure("live.\\.*", "tables.exclude: live.early\n" + added)
    pipeline.start()
    server.sql("insert into live.early values (3, 'away'); update live.early set v = 'away' where id = 1;")
    pipeline.wait_for_mark(server, 4)
    check(not [r for r in pipeline.rows("live.early") if r["id"] == 3], "a row of a table that left")
    pipeline.kill()
    pipeline.configure("live.\\.*", added)
    pipeline.start()
    pipeline.wait_for_join(2)
    pipeline.wait_for_mark(server, 5)
    check("live.early was captured once before" in pipeline.tail(), pipeline.tail())
    pipeline.stop()
    shutil.rmtree(os.path.join(pipeline.folder, "sink"))
    found, tables, report = live.differences(server, pipeline, ["live"])
    check(not found, f"after it came back: {sorted(found)} (seed {seed})\n{report}\n{pipeline.tail()}")
    check(not [n for n in os.listdir(os.path.join(pipeline.folder, "warehouse", "live.db")) if n.startswith("_")],
          "a shadow is at the sink")
    return tables


def main():
    options = live.arguments(seed=3).parse_args()
    with live.scene(options) as (server, folder):
        pipeline = Pipeline(options.driftless, folder, server.port, random.Random(options.seed))
        pipeline.port = server.port
        server.call("start")
        tables = play(server, pipeline, options.seed)
        print(f"{options.peer}: {tables} tables equal after {pipeline.kills} kills, seed {options.seed}")


if __name__ == "__main__":
    main()
