#!/usr/bin/env python3
"""A random workload on a live MySQL or MariaDB into Paimon; at the end every table equals the server's.

usage: mysql_workload.py --driftless BIN --peer mysql|mariadb [--seconds 45] [--seed N] [--server OPTIONS] [--keep DIR]

Several connections change rows (inserts, updates, deletes, key updates, transactions over tables, rollbacks,
savepoints, XA) while others run DDL of more than thirty kinds, and pt-online-schema-change's and gh-ost's steps. The
pipeline is killed with -9, and the server is killed or restarted, at moments that the seed gives. What the workload
does depends on the threads' order, so a seed narrows a failure down but does not repeat it exactly; `--keep` leaves
the statements (statements.sql), the log, the state and the warehouse.

Under EVOLVE the pipeline ends at what Paimon cannot follow, so each DDL here is one that it can; rows that a server
fills in without row events (a default for old rows) are touched by an update behind it.
Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import os
import queue
import random
import subprocess
import sys
import threading
import time

import mysql_live as live

DB = "work"
KEYED = ["orders", "names", "pairs", "latin", "events"]
SETUP = f"""
create database {DB}; use {DB};
create table marks (id int primary key);
create table a_journal (n int, note varchar(40), at datetime(3)) charset utf8mb4;
create table orders (id bigint primary key auto_increment, n int not null, note varchar(40), total decimal(12,3),
  at datetime(3), stamp timestamp(6) null, doc json, fresh bigint unsigned) charset utf8mb4;
create table names (code varchar(20) primary key, n int, note varchar(40)) charset utf8mb4 collate utf8mb4_bin;
create table pairs (a int, b varchar(12), n int, note varchar(40), raw varbinary(20), primary key (a, b)) charset utf8mb4;
create table latin (id int primary key, n int, note varchar(40), kind enum('a', 'b', 'c'), many set('x', 'y'))
  charset latin1;
create table events (id binary(4) primary key, n int, note varchar(40), big text, f double, g float, y year, d date,
  t time(2), bits bit(11)) charset utf8mb4;
create table parts (id int primary key, n int, note varchar(40)) charset utf8mb4;
insert into orders (n, note, total, at, stamp, doc)
  with recursive q (n) as (select 1 union all select n + 1 from q where n < 800)
  select n, concat('é', n), n / 7, '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789012', json_object('k', n) from q;
insert into a_journal select n, note, at from orders where n <= 400;
insert into names select concat(char(65 + n % 26), '-', n), n, note from orders;
insert into pairs select n % 17, concat('k', n), n, note, unhex(hex(n)) from orders;
insert into latin select n, n, 'café', 1 + n % 3, n % 4 from orders where n <= 300;
insert into events select unhex(lpad(hex(n), 8, '0')), n, note, repeat(note, n), n / 3, n / 3, 1990 + n % 50,
  '2024-02-29', '12:34:56.78', n from orders where n <= 300;
insert into parts select n, n, note from orders where n <= 300;
"""


AWAY = (1053, 1927, 2002, 2003, 2006, 2013, 2055, 4031)  # numbers of a connection that broke


class Stopped(Exception):
    """The server is away."""


class Session:
    """One connection: statements whose refusal does not matter, since what the server holds counts."""
    numbers = iter(range(1, 1 << 40))

    def __init__(self, server, log, database=DB):
        self.server, self.log, self.number, self.database = server, log, next(Session.numbers), database
        self.process = None

    def open(self):
        self.process = subprocess.Popen(
            [os.path.join(live.TESTS, "peers", self.server.peer), "client", "-N", "-B", "-n", "--force", "--skip-reconnect",
             "--default-character-set=utf8mb4"], env=self.server.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8")
        if self.database is None:
            return
        self.run([f"use {self.database}", "set innodb_lock_wait_timeout = 2, lock_wait_timeout = 20, autocommit = 1"])

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                try:
                    pipe.close()
                except OSError:
                    pass
            self.process = None

    def run(self, statements):
        """The answers' lines. Raises Stopped where the connection breaks."""
        if self.process is None:
            self.open()
        self.log(self.number, statements)
        end = f"end {next(Session.numbers)}"
        lines = []
        try:
            self.process.stdin.write("".join(s + ";\n" for s in statements) + f"select '{end}';\n")
            self.process.stdin.flush()
            while True:
                line = self.process.stdout.readline()
                if not line:
                    raise Stopped()
                if line.rstrip("\n") == end:
                    return lines
                if any(line.startswith(f"ERROR {number} ") for number in AWAY):
                    raise Stopped()
                if not line.startswith(("ERROR ", "--------")):
                    lines.append(line.rstrip("\n"))
        except (OSError, ValueError) as error:
            raise Stopped() from error

    def ensure(self, statements, is_done, until):
        """Again until `is_done`, across restarts of the server."""
        while not until():
            try:
                self.run(statements)
                if is_done(self):
                    return True
            except Stopped:
                self.close()
            time.sleep(0.2)
        return False


def columns_of(session, table):
    """[(name, type, nullable, extra)] as the server has them now."""
    rows = session.run([f"select column_name, column_type, is_nullable, ifnull(extra, '') from "
                        f"information_schema.columns where table_schema = '{DB}' and table_name = '{table}' "
                        "order by ordinal_position"])
    return [tuple((row.split("\t") + [""])[:4]) for row in rows]


class Rows:
    """Statements that change rows. Columns that DDL makes are filled by it; these are always there."""

    def __init__(self, rng):
        self.rng = rng
        self.xa = 0

    def key(self, table):
        r = self.rng
        return {"orders": lambda: f"id = {r.randrange(1, 1200)}", "names": lambda: f"n = {r.randrange(1, 900)}",
                "pairs": lambda: f"a = {r.randrange(17)} and n % 7 = {r.randrange(7)}",
                "latin": lambda: f"id = {r.randrange(1, 400)}", "parts": lambda: f"id between {(k := r.randrange(400))} and {k + 3}",
                "events": lambda: f"id = unhex('{r.randrange(1, 400):08x}')"}[table]()

    def one(self):
        r = self.rng
        n = r.randrange(1, 100000)
        table = r.choice(KEYED + ["parts"])
        key = self.key(table)
        return r.choice([
            lambda: f"insert into orders (n, note, total, at, stamp, doc) values ({n}, 'new {n}', {n} / 3, "
                    f"'2025-01-01 00:00:00.{n % 1000:03}', '2025-06-01 01:02:03.{n:06}', json_array({n}, null, 'ü'))",
            lambda: f"update {table} set n = n + 1, note = concat('u', {n}) where {key}",
            lambda: f"update {table} set note = null where {key}",
            lambda: f"delete from {table} where {key}",
            lambda: f"update orders set id = id + {r.randrange(1, 50)}00000 where id = {r.randrange(1, 1200)}",
            lambda: f"update names set code = concat(code, '{r.choice('!?ß')}') where n = {r.randrange(900)}",
            lambda: f"update pairs set b = concat('x', n), a = a + {r.randrange(2)} where a = {r.randrange(17)} and n % 31 = 0",
            lambda: f"replace into names (code, n, note) values ('R-{n % 40}', {n}, 'r')",
            lambda: f"insert into pairs (a, b, n) values ({n % 17}, 'd{n % 50}', 1) on duplicate key update n = n + 1, "
                    f"raw = unhex('{n:06x}')",
            lambda: f"insert ignore into latin (id, n, note, kind, many) values ({n % 500}, {n}, 'ÿ é ß', {n % 3 + 1}, {n % 4})",
            lambda: f"replace into events (id, n, note, big, f, g, y, d, t, bits) values (unhex('{n % 500:08x}'), {n}, '日本', "
                    f"repeat('é', {n % 3000}), {n} / 7, {n} / 7, 1990, '1999-12-31', '23:59:59.99', {n % 2048})",
            lambda: f"update orders set doc = json_object('a', {n}, 'b', json_array(1.5, true)), fresh = 18446744073709551615 - {n} "
                    f"where id = {r.randrange(1, 1200)}",
            lambda: f"update orders set doc = json_set(doc, '$.k', {n}, '$[1]', 'ä{n}') where id % 40 = {n % 40}",
            lambda: f"insert into a_journal (n, note, at) values ({n}, 'j', now(3)), ({n}, 'j', now(3))",
            lambda: f"update a_journal set note = 'w' where n = {r.randrange(400)}",
            lambda: f"delete from a_journal where n = {r.randrange(400)}",
            lambda: f"insert ignore into parts (id, n, note) values ({n % 500}, {n}, 'p')",
            lambda: f"update orders set n = n + 1 where id % {r.randrange(20, 200)} = 0",
        ])()

    def unit(self):
        """One statement, or a transaction of one of the forms."""
        r = self.rng
        kind = r.random()
        some = [self.one() for _ in range(r.randrange(1, 9))]
        if kind < 0.5:
            return some
        if kind < 0.65:
            return ["begin", *some, "commit"]
        if kind < 0.75:
            return ["begin", *some, "delete from orders", "delete from a_journal", "rollback"]
        if kind < 0.88:
            return ["begin", self.one(), "savepoint s", *some, "rollback to s", self.one(), "savepoint s", self.one(), "commit"]
        self.xa += 1
        name = f"'w{self.xa}-{r.randrange(1 << 30)}','b'"
        body = [f"xa start {name}", *some, f"xa end {name}"]
        if kind < 0.92:
            return [*body, f"xa commit {name} one phase"]
        # A session that deadlocks within XA must roll back; both ends are tried, so that it goes on.
        return [*body, f"xa prepare {name}", f"xa {r.choice(['commit', 'commit', 'rollback'])} {name}", f"xa rollback {name}"]


class Ddl:
    """One of many kinds of statements at a time; a lock per table keeps the steps of one together."""

    def __init__(self, rng, peer, done):
        self.rng, self.peer, self.done = rng, peer, done
        self.made = 0
        self.counts = {}

    fresh_names = iter(range(1, 1 << 40))

    def fresh(self):
        return f"c{next(Ddl.fresh_names)}"

    def kinds(self):
        return [getattr(self, name) for name in sorted(dir(self)) if name.startswith("do_")]

    def ours(self, session, table):
        """Columns that DDL may do anything with."""
        return [c for c in columns_of(session, table) if c[0][0] == "c" and c[0][1:].isdigit()]

    def alter(self, session, table, change, name=None, gone=None):
        """Runs it until it is there: a statement cut off by a kill of the server may have run or not."""
        def is_done(s):
            names = [c[0] for c in columns_of(s, table)]
            return (name is None or name in names) and (gone is None or gone not in names)
        return session.ensure([f"alter table {table} {change}"], is_done, self.done)

    def plain(self, session, *statements):
        try:
            session.run(statements)
        except Stopped:
            session.close()

    def fill(self, session, table, assignment):
        """Gives every row a new value, so that each stands in the log with all its columns."""
        mark = self.rng.randrange(1 << 30)
        session.ensure([f"update {table} set {assignment}, n = {mark}"],
                       lambda s: s.run([f"select count(*) from {table} where n = {mark} or 0 = (select count(*) from {table})"]) != ["0"],
                       self.done)

    # ---- columns ----
    def do_add_last(self, s, t):
        c = self.fresh()
        if self.alter(s, t, f"add column {c} int null", name=c):
            self.plain(s, f"update {t} set {c} = n where n % 3 = 0")

    def do_add_first(self, s, t):
        c = self.fresh()
        if self.alter(s, t, f"add column {c} varchar(20) null first", name=c):
            self.plain(s, f"update {t} set {c} = 'erste' where n % 3 = 1")

    def do_add_after(self, s, t):
        c = self.fresh()
        if self.alter(s, t, f"add {c} decimal(9,2) after note", name=c):
            self.plain(s, f"update {t} set {c} = n % 1000 / 8 where n % 2 = 0")

    def do_add_two(self, s, t):
        c, d = self.fresh(), self.fresh()
        if self.alter(s, t, f"add column ({c} date, {d} bigint unsigned)", name=d):
            self.plain(s, f"update {t} set {c} = '2024-02-29', {d} = 18446744073709551615 where n % 5 = 0")

    def do_add_default(self, s, t):
        c = self.fresh()
        if self.alter(s, t, f"add column {c} int default 5", name=c):
            self.fill(s, t, f"{c} = n % 100")

    def do_add_generated(self, s, t):
        c = self.fresh()
        if self.alter(s, t, f"add column {c} bigint generated always as (n + 1) {self.rng.choice(['virtual', 'stored'])}", name=c):
            self.fill(s, t, "note = 'generated'")

    def do_add_invisible(self, s, t):
        c = self.fresh()
        if self.alter(s, t, f"add column {c} int invisible", name=c):
            self.plain(s, f"update {t} set {c} = 7 where n % 2 = 0")

    def do_add_versioned_comment(self, s, t):
        c = self.fresh()
        if self.alter(s, t, f"/*!50001 add column {c} tinyint unsigned */ /* , drop column note */", name=c):
            self.plain(s, f"update {t} set {c} = 200")

    def do_drop(self, s, t):
        own = self.ours(s, t)
        if len(own) > 2:
            gone = self.rng.choice(own)[0]
            self.alter(s, t, f"drop column {gone}", gone=gone)

    def do_drop_and_add(self, s, t):
        own = self.ours(s, t)
        if len(own) > 2:
            gone, c = self.rng.choice(own)[0], self.fresh()
            self.alter(s, t, f"drop column {gone}, add column {c} double, algorithm=copy", name=c)

    def do_drop_then_same_name(self, s, t):
        own = self.ours(s, t)
        if len(own) > 2:
            c = self.rng.choice(own)[0]
            if self.alter(s, t, f"drop column {c}", gone=c) and self.alter(s, t, f"add column {c} varchar(30)", name=c):
                self.plain(s, f"update {t} set {c} = 'again' where n % 4 = 0")

    def do_rename(self, s, t):
        own = self.ours(s, t)
        if own:
            a, b = self.rng.choice(own)[0], self.fresh()
            if self.alter(s, t, f"rename column {a} to {b}", name=b):
                self.plain(s, f"update {t} set {b} = null where n % 11 = 0")

    def do_change(self, s, t):
        own = [c for c in self.ours(s, t) if "GENERATED" not in c[3].upper() and "INVISIBLE" not in c[3].upper()]
        if own:
            a, kind = self.rng.choice(own)[:2]
            b = self.fresh()
            self.alter(s, t, f"change column {a} {b} {kind} null", name=b)

    def do_change_wider(self, s, t):
        own = [c for c in self.ours(s, t) if c[1].startswith("int") and "GENERATED" not in c[3].upper()]
        if own:
            a, b = self.rng.choice(own)[0], self.fresh()
            if self.alter(s, t, f"change {a} {b} bigint null first", name=b):
                self.plain(s, f"update {t} set {b} = 9000000000 + n where n % 3 = 0")

    def do_modify_wider(self, s, t):
        own = [c for c in self.ours(s, t) if c[1].startswith(("int", "varchar(20)")) and "GENERATED" not in c[3].upper()]
        if own:
            a, kind = self.rng.choice(own)[:2]
            self.plain(s, f"alter table {t} modify column {a} {'bigint' if kind.startswith('int') else 'varchar(300)'} null",
                       f"update {t} set {a} = {'9000000001' if kind.startswith('int') else chr(39) + 'w' * 200 + chr(39)} where n % 3 = 1")

    def do_move(self, s, t):
        own = [c for c in self.ours(s, t) if "GENERATED" not in c[3].upper() and "INVISIBLE" not in c[3].upper()]
        if own:
            a, kind = self.rng.choice(own)[:2]
            self.plain(s, f"alter table {t} modify {a} {kind} null {self.rng.choice(['first', 'after n', 'after note'])}",
                       f"update {t} set note = 'moved' where n % 9 = 0")

    def do_swap_names(self, s, t):
        own = [c[0] for c in self.ours(s, t) if "GENERATED" not in c[3].upper()]
        if len(own) > 1:
            a, b = self.rng.sample(own, 2)
            self.plain(s, f"alter table {t} rename column {a} to {b}, rename column {b} to {a}",
                       f"update {t} set {a} = null where n % 13 = 0")

    def do_relax(self, s, t):
        for c in self.ours(s, t):
            if c[2] == "NO" and "GENERATED" not in c[3].upper():
                return self.plain(s, f"alter table {t} modify column {c[0]} {c[1]} null")
        return self.do_move(s, t)

    def do_enum_label(self, s, t):
        self.plain(s, "alter table latin modify kind enum('a', 'b', 'c', 'd', 'e')", "update latin set kind = 'e' where n % 6 = 0")

    # ---- what changes no column ----
    def do_index(self, s, t):
        name = f"i{next(Ddl.fresh_names)}"
        self.plain(s, f"alter table {t} add index {name} (n)", f"alter table {t} rename index {name} to {name}x",
                   f"drop index {name}x on {t}", f"create index {name} on {t} (n, note)", f"alter table {t} drop key {name}")

    def do_defaults(self, s, t):
        self.plain(s, f"alter table {t} alter column note set default 'd'", f"alter table {t} alter note drop default")

    def do_comments(self, s, t):
        self.plain(s, f"alter table {t} comment = 'drop column note; it''s'", f"alter table {t} modify n int comment 'add column x' "
                   if t != "orders" else "alter table orders comment 'c'")

    def do_collation(self, s, t):
        if t != "latin" and t != "names":
            self.plain(s, f"alter table {t} convert to character set utf8mb4 collate {self.rng.choice(['utf8mb4_bin', 'utf8mb4_general_ci'])}")

    def do_charset(self, s, t):
        self.plain(s, "alter table latin convert to character set utf8mb4", "insert ignore into latin (id, n, note) values (9999, 1, '日本')")

    def do_rebuild(self, s, t):
        self.plain(s, f"alter table {t} engine = InnoDB", f"optimize table {t}", f"analyze table {t}", f"alter table {t} force, auto_increment = 100")

    def do_check(self, s, t):
        name = f"k{next(Ddl.fresh_names)}"
        self.plain(s, f"alter table {t} add constraint {name} check (n > -1000)", f"alter table {t} drop constraint {name}")

    def do_partition(self, s, t):
        self.plain(s, "alter table parts partition by hash (id) partitions 4", "insert ignore into parts (id, n) values (7001, 7)",
                   "alter table parts add partition partitions 2", "alter table parts coalesce partition 1",
                   "update parts set note = 'partitioned' where id % 4 = 1", "alter table parts remove partitioning")

    def do_other_objects(self, s, t):
        name = f"o{next(Ddl.fresh_names)}"
        self.plain(s, f"create view {name} as select * from {t}", f"drop view {name}",
                   f"create trigger {name} before insert on marks for each row set new.id = new.id", f"drop trigger {name}",
                   f"create procedure {name}() alter table {t} drop column note", f"drop procedure {name}",
                   f"create user {name} identified by 'secret-{name}'", f"drop user {name}",
                   f"alter database {DB} character set utf8mb4", "flush tables")

    def do_temporary(self, s, t):
        self.plain(s, f"create temporary table {t} (z int)", f"insert into {t} values (1)", f"alter table {t} add column zz int",
                   f"drop temporary table {t}")

    # ---- tables ----
    def do_create(self, s, t):
        name = f"made{next(Ddl.fresh_names)}"
        self.plain(s, f"create table if not exists {name} (id int primary key, v varchar(9) default 'x', w int as (id + 1)) charset utf8mb4",
                   f"insert into {name} (id) values (1), (2), (3)", f"delete from {name} where id = 2",
                   f"alter table {name} add column later int", f"insert into {name} (id, later) values (4, 44)")

    def do_create_like(self, s, t):
        name = f"like{next(Ddl.fresh_names)}"
        self.plain(s, f"create table {name} like {t}", f"insert ignore into {name} (n, note) values (3, 'like')")

    def do_create_select(self, s, t):
        name = f"picked{next(Ddl.fresh_names)}"
        self.plain(s, f"create table {name} (primary key (id)) as select id, n from orders where n % 10 = 0",
                   f"update {name} set n = -1 where n % 20 = 0")

    def do_empty(self, s, t):
        """A truncate that takes no row away that the sink cannot take away."""
        self.plain(s, "lock tables parts write", "delete from parts", "truncate table parts", "insert into parts (id, n) values (1, 1)",
                   "unlock tables")

    def do_make_anew(self, s, t):
        name = "anew"
        self.plain(s, f"lock tables {name} write", f"delete from {name}", f"drop table if exists {name}", "unlock tables", f"create table {name} (id int primary key, v int, w varchar(20)) charset utf8mb4",
                   f"insert into {name} (id, w) values (1, 'é'), ({self.rng.randrange(2, 99)}, 'b')")

    def do_rename_and_back(self, s, t):
        self.plain(s, f"rename table {t} to {t}_x, {t}_x to {t}", f"update {t} set note = 'back' where n % 8 = 0")

    # ---- online tools, step by step ----
    def online(self, s, t, new, old, with_triggers):
        """Both tools' ways: a shadow table is altered, filled, and takes the name over."""
        columns = [c[0] for c in columns_of(s, t) if "GENERATED" not in c[3].upper()]
        key = {"orders": ["id"], "names": ["code"], "pairs": ["a", "b"], "latin": ["id"], "events": ["id"]}[t]
        c = self.fresh()
        names = ", ".join(columns)
        values = ", ".join("new." + x for x in columns)
        same = " and ".join(f"{new}.{k} <=> old.{k}" for k in key)
        moved = " or ".join(f"not (old.{k} <=> new.{k})" for k in key)
        before = [f"drop table if exists {new}", f"drop table if exists {old}", f"create table {new} like {t}",
                  f"alter table {new} add column {c} int, add index (n)"]
        copy = f"insert ignore into {new} ({names}) select {names} from {t} lock in share mode"
        triggers = [f"tr_{t}_{x}" for x in ("d", "u", "i")]
        drops = [f"drop trigger if exists {x}" for x in triggers]
        try:
            if with_triggers:
                s.run([*drops, *before,
                       f"create trigger {triggers[0]} after delete on {t} for each row delete ignore from {new} where {same}",
                       f"create trigger {triggers[2]} after insert on {t} for each row replace into {new} ({names}) values ({values})",
                       "delimiter //\ncreate trigger " + triggers[1] + f" after update on {t} for each row begin delete ignore from {new} "
                       f"where ({moved}) and {same}; replace into {new} ({names}) values ({values}); end//\ndelimiter ",
                       copy, f"rename table {t} to {old}, {new} to {t}", *drops, f"drop table if exists {old}"])
            else:
                s.run([*before, f"lock tables {t} write, {new} write", f"insert ignore into {new} ({names}) select {names} from {t}",
                       f"rename table {t} to {old}, {new} to {t}", "unlock tables", f"drop table {old}"])
        except Stopped:
            s.close()
        # What was left half-way is no obstacle to the rows: triggers into a shadow that is gone are.
        s.ensure(drops + [f"drop table if exists {new}"], lambda s: True, self.done)
        self.plain(s, f"update {t} set {c} = 1 where n % 2 = 0")

    def do_pt_osc(self, s, t):
        self.online(s, t, f"_{t}_new", f"_{t}_old", True)

    def do_gh_ost(self, s, t):
        self.online(s, t, f"_{t}_gho", f"_{t}_del", False)


class Pipeline(live.Pipeline):
    def __init__(self, binary, folder, port, rng):
        super().__init__(binary, folder, port, rng)
        self.write(port, f"{DB}.\\.*", source="scan.incremental.snapshot.chunk.size: 50",
                   sink="exclude.schema.changes: [truncate.table, drop.table]",
                   options="checkpoint.interval: 500ms\nstop.timeout: 20min\nschema.change.behavior: evolve")

    def wait_for_mark(self, server, number):
        server.sql(f"insert into {DB}.marks values ({number});")
        self.wait_for(lambda: any(row["id"] == number for row in self.rows(f"{DB}.marks")), f"mark {number}")


class Workload:
    def __init__(self, server, pipeline, options):
        self.server, self.pipeline, self.options = server, pipeline, options
        self.rng = random.Random(options.seed)
        self.over = threading.Event()
        self.locks = {t: threading.Lock() for t in KEYED}
        self.common = threading.Lock()
        self.failures = queue.Queue()
        self.statements = 0
        self.ddl = {}
        self.text = open(os.path.join(pipeline.folder, "statements.sql"), "w", encoding="utf-8")

    def log(self, number, statements):
        with self.common:
            self.statements += len(statements)
            for statement in statements:
                self.text.write(f"-- {time.time():.3f} {number}\n{statement};\n")
            self.text.flush()

    def guarded(self, work, rng):
        session = Session(self.server, self.log)
        try:
            while not self.over.is_set():
                try:
                    work(session, rng)
                except Stopped:
                    session.close()
                    time.sleep(0.3)
                time.sleep(rng.uniform(0, 0.06))
        except Exception as error:  # a bug of the test is a failure, not silence
            self.failures.put(repr(error))
            raise
        finally:
            session.close()

    def change_rows(self, rows):
        return lambda session, rng: session.run(rows.unit())

    def change_tables(self, ddl):
        order = []

        def work(session, rng):
            if not order:
                order.extend(rng.sample(ddl.kinds(), len(ddl.kinds())))
            kind = order.pop()
            table = rng.choice(KEYED)
            with self.locks[table]:
                kind(session, table)
            with self.common:
                self.ddl[kind.__name__] = self.ddl.get(kind.__name__, 0) + 1
            time.sleep(rng.uniform(0, 1))
        return work

    def start(self):
        self.threads = []
        for i in range(3):
            rng = random.Random(self.rng.random())
            self.threads.append(threading.Thread(target=self.guarded, args=(self.change_rows(Rows(rng)), rng)))
        for i in range(2):
            rng = random.Random(self.rng.random())
            ddl = Ddl(rng, self.server.peer, self.over.is_set)
            self.threads.append(threading.Thread(target=self.guarded, args=(self.change_tables(ddl), rng)))
        for thread in self.threads:
            thread.start()

    def disturb(self):
        """Kills and restarts until the time is over."""
        end = time.monotonic() + self.options.seconds
        next_server = time.monotonic() + self.rng.uniform(8, 20)
        restarts = 0
        while time.monotonic() < end:
            time.sleep(self.rng.uniform(0.5, 6))
            self.pipeline.kill()
            if time.monotonic() > next_server or (restarts == 0 and time.monotonic() > end - 10):
                verb = self.rng.choice(["kill", "kill", "stop"])
                if self.rng.random() < 0.5:
                    self.pipeline.start()
                self.server.call(verb)
                time.sleep(self.rng.uniform(0, 1))
                self.server.call("start", *self.server.options)
                restarts += 1
                next_server = time.monotonic() + self.rng.uniform(15, 40)
            if self.pipeline.process.poll() is not None:
                self.pipeline.start()
            if not self.failures.empty():
                sys.exit(f"the workload failed: {self.failures.get()}")
        return restarts

    def finish(self):
        self.over.set()
        for thread in self.threads:
            thread.join(120)
            if thread.is_alive():
                sys.exit("a connection of the workload does not end")
        self.text.close()
        # Prepared transactions that nobody ended.
        for line in self.server.sql("xa recover;").splitlines():
            _, global_length, _, data = line.split("\t")
            cut = int(global_length)
            self.server.sql(f"xa {self.rng.choice(['commit', 'rollback'])} '{data[:cut]}','{data[cut:]}';")


def main():
    parser = live.arguments()
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--server", default="", help="more options of the server, in one word")
    parser.add_argument("--encrypted", action="store_true", help="MariaDB with an encrypted binary log")
    options = parser.parse_args()
    with live.scene(options) as (server, folder):
        pipeline = Pipeline(options.driftless, folder, server.port, random.Random(options.seed))
        # What the kills held up is caught up with at the end.
        pipeline.patience_s = live.PATIENCE_S + 2 * options.seconds
        server.options = options.server.split()
        if options.encrypted:
            keys = os.path.join(folder, "keys.txt")
            with open(keys, "w", encoding="utf-8") as out:
                out.write(f"1;{'0123456789abcdef' * 2}\n")
            server.options += ["--plugin-load-add=file_key_management", f"--file-key-management-filename={keys}",
                               "--encrypt-binlog=ON"]
        server.call("start", *server.options)
        server.sql(SETUP)
        workload = Workload(server, pipeline, options)
        try:
            pipeline.start()
            workload.start()
            # A kill within the snapshot of a table without key may write rows twice; it is the first.
            pipeline.wait_for(lambda: pipeline.rows(f"{DB}.events"), "the snapshot's first tables")
            restarts = workload.disturb()
            workload.finish()
        finally:
            workload.over.set()
        pipeline.wait_for_mark(server, 1)
        pipeline.wait_for_snapshot()
        # Behind the mark may stand hundreds of schema changes of other tables that were read before it.
        pipeline.stop(patience_s=1200)
        found, tables, report = live.differences(server, pipeline, [DB])
        if found:
            sys.exit(f"differences (seed {options.seed}): {sorted(found)}\n{report}\n{pipeline.tail()}")
        print(f"{options.peer}: {tables} tables equal after {workload.statements} statements, "
              f"{sum(workload.ddl.values())} DDL steps of {len(workload.ddl)} kinds, {pipeline.kills} kills, "
              f"{restarts} restarts of the server; seed {options.seed} {options.server}")


if __name__ == "__main__":
    main()
