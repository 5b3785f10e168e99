#!/usr/bin/env python3
"""The snapshot of a MySQL or MariaDB that is written to all the time, killed again and again: nothing comes twice.

usage: mysql_snapshot.py --driftless BIN --peer mysql|mariadb [--seed N] [--keep DIR]

Several connections read tables with keys of every kind (texts whose order only the server knows, composite, unsigned,
dates, a key that cannot be split) and tables without any, whole and by a column, while other sessions insert, update
keys across chunks, delete, alter and empty them, and the pipeline is killed within the snapshot. At the end every
table equals the server's; a row that came twice or not at all shows in the tables without key.
Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import random
import sys
import threading
import time

import mysql_live as live

ROWS = 12000
SETUP = f"""
create database snap; use snap;
create table a_plain (id int primary key auto_increment, v int, t varchar(30)) charset utf8mb4;
create table b_journal (v int, s varchar(40)) charset utf8mb4;
create table c_split (n bigint unsigned, s varchar(40), key (n)) charset utf8mb4;
create table d_names (code varchar(40) primary key, v int) charset utf8mb4;
create table e_pairs (a smallint, b varchar(20), c int, v int, primary key (a, b, c)) charset latin1;
create table f_big (id bigint unsigned primary key, v int);
create table g_days (day date, n int, v int, primary key (day, n));
create table h_kinds (kind enum('z','m','a'), n int, v int, primary key (kind, n));
create table i_bytes (id binary(8) primary key, v int);
create table j_altered (id int primary key, v int);
create table k_emptied (id int primary key, v int);
create table marks (id int primary key);
"""
DEPTH = {"mysql": "set session cte_max_recursion_depth = 100000;\n",
         "mariadb": "set session max_recursive_iterations = 100000;\n"}
NUMBERS = "with recursive q (n) as (select 1 union all select n + 1 from q where n < {rows}) "
FILL = {
    "a_plain (v, t)": "n, concat('t', n)",
    "b_journal (v, s)": "n % 700, concat('j', n % 50)",
    "c_split (n, s)": "if(n % 40 = 0, null, n % 900), concat('s', n % 50)",
    "d_names (code, v)": "concat(char(if(n % 2, 65, 97) + n % 26), '-', n), n",
    "e_pairs (a, b, c, v)": "n % 11, concat(if(n % 2, 'K', 'é'), n % 300), n, n",
    "f_big (id, v)": "18446744073709551615 - n * 7, n",
    "g_days (day, n, v)": "date_add('1969-11-01', interval n % 400 day), n, n",
    "h_kinds (kind, n, v)": "elt(1 + n % 3, 'a', 'm', 'z'), n, n",
    "i_bytes (id, v)": "unhex(lpad(hex(n * 911), 16, '0')), n",
    "j_altered (id, v)": "n, n",
    "k_emptied (id, v)": "n, n",
}


def changes(rng, k):
    """Rows in every way of changing, in transactions over several tables."""
    i = rng.randrange(1, ROWS)
    return rng.choice([
        f"insert into a_plain (v, t) values ({k}, 'new'); update a_plain set v = v + 1 where id between {i} and {i + 9};",
        f"update ignore a_plain set id = id + {rng.choice([-3000, 3000, 50000])} where id = {i};",
        f"insert into b_journal values ({k % 700}, 'n{k}'), ({k % 700}, 'n{k}'); delete from b_journal where v = {i % 700} limit 3;",
        f"update b_journal set s = 'u{k}' where v = {i % 700} limit 4;",
        f"insert into c_split values ({i % 900}, 'n{k}'), (null, 'n{k}'); update c_split set n = {k % 900} where n = {i % 900} limit 3;",
        f"delete from c_split where n = {i % 900} limit 2; update c_split set n = null where n = {k % 900} limit 1;",
        f"replace into d_names values ('{rng.choice('abcxyzKLM')}-{i}', {k}); update ignore d_names set code = concat('{rng.choice('aZ')}', code) where v = {i};",
        f"delete from d_names where v = {i}; update d_names set v = {k} where code like '{rng.choice('abCD')}-{i % 90}%';",
        f"update ignore e_pairs set a = {k % 11}, b = '{rng.choice('kKéE')}{i % 300}' where c = {i}; delete from e_pairs where c = {i + 1};",
        f"update f_big set v = {k} where v between {i} and {i + 5}; insert ignore into f_big values ({i * 1000}, {k});",
        f"update ignore g_days set day = date_add(day, interval {rng.choice([-99, 99])} day) where n = {i}; delete from g_days where n = {i + 3};",
        f"update h_kinds set v = {k} where n = {i}; update ignore h_kinds set kind = 'm' where n = {i + 1};",
        f"update i_bytes set v = {k} where v = {i}; delete from i_bytes where v = {i + 1};",
        f"update j_altered set v = {k} where id between {i} and {i + 9}; insert ignore into j_altered (id, v) values ({ROWS + i}, {k});",
        f"insert ignore into k_emptied values ({ROWS + i}, {k}); delete from k_emptied where id = {i};",
        f"begin; insert into b_journal values ({k % 700}, 'gone'); delete from c_split; rollback;",
        f"begin; insert into b_journal values ({k % 700}, 'tx{k}'); insert into c_split values ({k % 900}, 'tx{k}'); "
        f"update a_plain set v = {k} where id = {i}; commit;",
    ])


class Writers:
    """Sessions that change rows until they are told to stop."""

    def __init__(self, server, seed, count):
        self.server, self.stopping, self.failed = server, threading.Event(), []
        self.threads = [threading.Thread(target=self.work, args=(seed * 100 + n,)) for n in range(count)]
        for thread in self.threads:
            thread.start()

    def work(self, seed):
        rng = random.Random(seed)
        k = seed * 10000
        while not self.stopping.is_set():
            text = "use snap;\n"
            for _ in range(30):
                k += 1
                text += changes(rng, k) + "\n"
            # A session that loses a deadlock, or meets an ALTER, has changed what it has changed.
            self.server.call("client", "-f", "-N", "-B", "--default-character-set=utf8mb4", stdin=text, check=False)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


def play(server, pipeline, seed):
    fill = "".join(f"insert into {table} {NUMBERS.format(rows=ROWS)}select {row} from q;\n" for table, row in FILL.items())
    server.sql(SETUP + DEPTH[server.peer] + fill)
    writers = Writers(server, seed, 2)
    try:
        pipeline.start()
        for round_number in range(7):
            time.sleep(pipeline.rng.uniform(0, 2))
            pipeline.kill()
            if round_number == 1:
                server.sql("use snap; alter table j_altered add column w int; update j_altered set w = 1 where id % 9 = 0;")
            if round_number == 2:
                server.sql("use snap; delete from k_emptied where id > 40; truncate table k_emptied; insert into k_emptied values (1, 1);")
            pipeline.start()
        time.sleep(1)
        server.sql("use snap; alter table j_altered add column x varchar(9) first; update j_altered set x = 'x' where id % 7 = 0;")
        time.sleep(1)
    finally:
        writers.stop()
    server.sql("insert into snap.marks values (1);")
    pipeline.wait_for(lambda: any(row["id"] == 1 for row in pipeline.rows("snap.marks")), "the mark")
    pipeline.wait_for_snapshot()
    pipeline.stop()


def main():
    options = live.arguments(seed=7).parse_args()
    with live.scene(options) as (server, folder):
        pipeline = live.Pipeline(options.driftless, folder, server.port, random.Random(options.seed))
        pipeline.rewrite(tables="snap.\\.*", source="scan.incremental.snapshot.chunk.size: 9\n"
                         "scan.incremental.snapshot.chunk.key-column: snap.c_split:n\nconnection.pool.size: 3")
        server.call("start")
        play(server, pipeline, options.seed)
        found, tables, report = live.differences(server, pipeline, ["snap"])
        if found:
            sys.exit(f"not equal (seed {options.seed})\n{report}\n{pipeline.tail()}")
        if pipeline.kills_in_snapshot == 0:
            sys.exit(f"no kill came within the snapshot (seed {options.seed})")
        print(f"{options.peer}: {tables} tables equal after {pipeline.kills} kills ({pipeline.kills_in_snapshot} within the "
              f"snapshot), seed {options.seed}")


if __name__ == "__main__":
    main()
