#!/usr/bin/env python3
"""A live MySQL or MariaDB into Paimon; at the end every table equals the server's, column by column.

usage: mysql_live.py --driftless BIN --peer mysql|mariadb [--seed N] [--keep DIR]

A snapshot while rows change, transactions, DDL between rows, kills (-9) at moments that the seed gives, DDL while
the pipeline is down, restarts of the server, every column type with its edge values in the snapshot and in the
stream (tests/data/live). What may differ stands in KNOWN with its cause: the test asserts exactly that.
Exit status: 0 equal, 1 not, 77 the server is not installed.
"""
import argparse
import binascii
import contextlib
import gzip
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
PEERS = os.environ.get("PEERS_DIR") or os.path.join(os.path.dirname(TESTS), ".deps", "peers")
PATIENCE_S = 300
BYTES = ("bit", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector", "point", "linestring",
         "polygon", "multi", "geom")

# What differs from the server, and why.
NO_TIME_OF_DAY = "below zero or beyond 24 hours is no Paimon TIME (on-cast-failure: null)"
BOOLEAN = "TINYINT(1) is BOOLEAN, so 2 and -1 are true (treat-tinyint1-as-boolean.enabled)"
KNOWN = {
    "typesdb.t_int column b1": BOOLEAN,
    "typesdb.t_int column bo": BOOLEAN,
    "typesdb.t_notnull column dd": "a zero date of a NOT NULL column is the epoch (on-null-violation: default-value)",
    "typesdb.t_notnull column t": NO_TIME_OF_DAY,
    "typesdb.t_time column t": NO_TIME_OF_DAY,
    "typesdb.t_time column t1": NO_TIME_OF_DAY,
    "typesdb.t_time column t3": NO_TIME_OF_DAY,
    "typesdb.t_time column t6": NO_TIME_OF_DAY,
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def own_lines(text):
    """Lines of YAML without their margin."""
    return "".join(line.strip() + "\n" for line in text.splitlines())


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


class Server:
    """The peer, always on the same port, as a server that is restarted stays where it is."""

    def __init__(self, peer):
        self.peer = peer
        self.port = free_port()
        self.env = dict(os.environ, PEERS_INSTANCE=f"live-{os.getpid()}", PEERS_DIR=PEERS)
        self.env[f"PEER_{peer.upper()}_PORT"] = str(self.port)

    def call(self, *verb, stdin=None, check=True):
        done = subprocess.run([os.path.join(TESTS, "peers", self.peer), *verb], env=self.env, input=stdin,
                              capture_output=True, text=True, encoding="utf-8")
        if check and done.returncode != 0:
            sys.exit(f"{self.peer} {' '.join(verb)}: {done.stderr[-2000:]}")
        return done.stdout

    def sql(self, text):
        return self.call("client", "-N", "-B", "--default-character-set=utf8mb4", stdin=text)

    def values(self, select, columns):
        """Rows of texts or None; each value travels in hexadecimal, so that none can be mistaken."""
        hexed = [f"ifnull(hex(cast({c} as char character set utf8mb4)), '-')" for c in columns]
        out = self.sql(f"set time_zone = '+00:00'; select {', '.join(hexed)} {select};")
        return [[None if v == "-" else binascii.unhexlify(v).decode("utf-8") for v in line.split("\t")]
                for line in out.split("\n")[:-1]]

    def write_truth(self, prefix, databases):
        """What the server holds, in the form of compare_table.py."""
        among = ", ".join(f"'{d}'" for d in databases)
        with gzip.open(prefix + ".schema.jsonl.gz", "wt", encoding="utf-8") as shapes, \
                gzip.open(prefix + ".rows.jsonl.gz", "wt", encoding="utf-8") as rows:
            for db, table in self.values("from information_schema.tables where table_type = 'BASE TABLE' and "
                                         f"table_schema in ({among}) order by 1, 2", ["table_schema", "table_name"]):
                here = f"where table_schema = '{db}' and table_name = '{table}'"
                names = ("name", "type", "nullable", "default", "charset", "extra", "comment")
                columns = [dict(zip(names, row)) for row in self.values(
                    f"from information_schema.columns {here} order by ordinal_position",
                    ["column_name", "column_type", "is_nullable", "column_default", "character_set_name", "extra",
                     "column_comment"])]
                key = [row[0] for row in self.values(
                    f"from information_schema.key_column_usage {here} and constraint_name = 'PRIMARY' "
                    "order by ordinal_position", ["column_name"])]
                shown = []
                for column in columns:
                    text = quoted(column["name"])
                    if column["type"].lower().startswith("float"):
                        text = f"cast({text} as double)"
                    elif column["type"].lower().startswith(BYTES):
                        text = f"concat('0x', hex({text}))"
                    shown.append(text)
                found = self.values(f"from {quoted(db)}.{quoted(table)}", shown)
                shapes.write(json.dumps({"table": f"{db}.{table}", "columns": columns, "primary_key": key,
                                         "rows": len(found)}) + "\n")
                for row in found:
                    named = dict(zip((c["name"] for c in columns), row))
                    rows.write(json.dumps({"table": f"{db}.{table}", "row": named}) + "\n")


class Pipeline:
    patience_s = PATIENCE_S
    made = []

    def __init__(self, binary, folder, port, rng):
        self.binary, self.folder, self.rng = binary, folder, rng
        self.file = os.path.join(folder, "live.yaml")
        self.kills = self.kills_in_snapshot = 0
        self.write(port, "live.\\.*, typesdb.\\.*", source="scan.incremental.snapshot.chunk.size: 3",
                   sink="exclude.schema.changes: [truncate.table, drop.table]",
                   options='''checkpoint.interval: 500ms
schema.change.behavior: evolve
on-null-violation: default-value
on-cast-failure: "null"''')
        self.process = None
        Pipeline.made.append(self)

    def write(self, port, tables, source="", sink="", sinks=None, options="checkpoint.interval: 300ms", http="off",
              user="driftless"):
        """The pipeline's file. `source`, `sink` and `options` are more lines of these parts; `sinks` stands in for the
        one of Paimon."""
        self.written = {k: v for k, v in locals().items() if k != "self"}
        if sinks is None:
            sinks = [f"type: paimon\nname: lake\ncatalog.properties.warehouse: {self.folder}/warehouse\n{sink}"]

        def lines(text, margin="  "):
            return "".join(margin + line + "\n" for line in text.splitlines())
        with open(self.file, "w", encoding="utf-8") as out:
            out.write("source:\n" + lines(f"type: mysql\nhostname: 127.0.0.1\nport: {port}\nusername: {user}\n"
                                          f"password: {user}\ntables: {tables}\n{source}"))
            out.write("sinks:\n" + "".join("  - " + lines(each, "    ").lstrip() for each in sinks))
            out.write("pipeline:\n" + lines(f"name: live\nhttp.address: {http}\n{options}"))

    def rewrite(self, **changes):
        self.write(**{**self.written, **changes})

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def start(self):
        with open(os.path.join(self.folder, "run.log"), "ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "run", self.file, "--state", os.path.join(self.folder, "state")], stdout=log, stderr=log)

    def check_alive(self):
        if self.process.poll() is not None:
            sys.exit(f"the pipeline ended with {self.process.returncode}:\n{self.tail()}")

    def kill(self, within_s=1.2):
        """-9 at a moment that the seed gives."""
        time.sleep(self.rng.uniform(0, within_s))
        self.check_alive()
        self.process.kill()
        self.process.wait()
        self.kills += 1
        self.kills_in_snapshot += "snapshot done" not in self.tail()

    def stop(self, patience_s=PATIENCE_S):
        """As an operator stops it; it ends well, and in time."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"no end after SIGTERM:\n{self.tail()}")
        if code != 0:
            sys.exit(f"SIGTERM ended the pipeline with {code}:\n{self.tail()}")

    def said(self):
        with open(os.path.join(self.folder, "run.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def tail(self):
        return self.said()[-20000:]

    def peek(self, table, *more):
        return subprocess.run([self.binary, "peek", self.file, "--table", table, "--output", "json", *more],
                              capture_output=True, text=True, encoding="utf-8")

    def rows(self, table):
        """None yet is no rows."""
        return [json.loads(line) for line in self.peek(table).stdout.splitlines() if line.startswith("{")]

    def wait_for(self, is_there, what):
        deadline = time.monotonic() + self.patience_s
        while not is_there():
            self.check_alive()
            if time.monotonic() > deadline:
                sys.exit(f"{what}: not there in {self.patience_s} s:\n{self.tail()}")
            time.sleep(0.5)

    def wait_for_snapshot(self):
        """Marks may come while other tables are still being read."""
        self.wait_for(lambda: "snapshot done" in self.said(), "the end of the snapshot")

    def wait_for_mark(self, server, number):
        """Marks go through the log like all else, so what stands before one has arrived with it."""
        server.sql(f"insert into live.marks values ({number});")
        self.wait_for(lambda: any(row["id"] == number for row in self.rows("live.marks")), f"mark {number}")

    def write_sink(self, out):
        """What the tables hold, in the form of compare_table.py."""
        os.makedirs(out)
        warehouse = os.path.join(self.folder, "warehouse")
        for db in sorted(d for d in os.listdir(warehouse) if d.endswith(".db")):
            for name in sorted(os.listdir(os.path.join(warehouse, db))):
                table = f"{db[:-3]}.{name}"
                shape, rows = self.peek(table, "--schema"), self.peek(table)
                if shape.returncode or rows.returncode:
                    sys.exit(f"peek of {table}: {shape.stderr}{rows.stderr}")
                schema = json.loads(shape.stdout)
                with open(os.path.join(out, table + ".jsonl"), "w", encoding="utf-8") as f:
                    fields = [{"name": c["name"], "type": c["type"]} for c in schema["columns"]]
                    f.write(json.dumps({"schema": {"fields": fields, "primaryKeys": schema["primary_key"]}}) + "\n")
                    for line in rows.stdout.split("\n"):
                        if line:
                            f.write(json.dumps({"row": json.loads(line)}) + "\n")


SETUP = """
create database live; use live;
create table marks (id int primary key);
create table orders (id bigint primary key auto_increment, n int, note varchar(60), total decimal(12,3),
  at datetime(3)) charset utf8mb4;
create table names (code varchar(20) primary key, v int) charset utf8mb4;
create table pairs (a int, b varchar(12), v int, primary key (a, b)) charset utf8mb4;
create table latin (id int primary key, t varchar(30)) charset latin1;
create table a_journal (v int, s varchar(20)) charset utf8mb4;
create table swap_a (id int primary key, v varchar(20)); create table swap_b like swap_a;
create table emptied (id int primary key, v int); create table gone (id int primary key);
insert into orders (n, note, total, at) with recursive q (n) as (select 1 union all select n + 1 from q where n < 900)
  select n, concat('é', n), n / 7, '2024-02-29 12:34:56.789' from q;
insert into orders (n, note, total, at) select n + 900, note, total, at from orders;
insert into orders (n, note, total, at) select n + 1800, note, total, at from orders;
insert into orders (n, note, total, at) select n + 3600, note, total, at from orders;
insert into orders (n, note, total, at) select n + 7200, note, total, at from orders;
insert into names select concat(char(65 + n % 26), '-', n), n from orders where n <= 2000;
insert into pairs select n % 37, concat('k', n), n from orders where n <= 2000;
insert into latin select n, concat('café ', n) from orders where n <= 50;
insert into a_journal select n, concat('j', n % 10) from orders where n <= 600;
insert into swap_a select n, 'same' from orders where n <= 20; insert into swap_b select * from swap_a;
insert into emptied select n, n from orders where n <= 700; insert into gone values (1), (2);
"""


def rows_of(k, note="note", v="v"):
    """Rows in every way of changing; `k` keeps the rounds apart, the rest are names of columns that DDL renames."""
    return f"""use live;
insert into orders (n, {note}, total, at) values ({k}, 'new {k}', {k} / 3, '2025-01-01 00:00:00.5');
update orders set n = n + 1, {note} = concat('u', n) where id between {k * 20} and {k * 20 + 30};
delete from orders where id % 997 = {k};
update orders set id = id + {k}000000 where id % 499 = {k};
replace into names (code, v) values ('R-{k % 3}', {k}); update names set code = concat(code, '!') where v % 401 = {k};
delete from names where v % 307 = {k};
insert into pairs values ({k}, 'dup', 1) on duplicate key update {v} = {v} + 1;
update pairs set b = concat('x', {v}) where a = {k} and {v} % 5 = 0; delete from pairs where a = {k} and {v} % 7 = 0;
insert into a_journal (v, s) values ({k}, 'new'), ({k}, 'new'), (null, null); delete from a_journal where v % 101 = {k};
update a_journal set s = 'changed' where v % 97 = {k};
insert into latin values ({k} + 1000, 'ÿ é ß');
begin; insert into a_journal (v, s) values ({k}, 'tx'); update orders set n = 0 where id = {k} + 40; savepoint s;
delete from orders where id < 300; rollback to s; insert into pairs values ({k}, 'tx', 5); commit;
begin; delete from orders; delete from names; rollback;
"""


DDL = [
    "alter table orders add column c1 int null;", "update orders set c1 = id % 100 where id % 3 = 0;",
    "alter table orders add column c2 varchar(20) first, add column c3 date after n;",
    "update orders set c2 = 'ü', c3 = '2024-02-29' where id % 5 = 0;",
    "alter table orders modify column c1 bigint null;", "update orders set c1 = 9000000000 where id % 11 = 0;",
    "alter table orders rename column c2 to d2;", "update orders set d2 = 'renamed' where id % 13 = 0;",
    "alter table orders drop column c3, add column c4 decimal(5,2), add index (n);",
    "update orders set c4 = 1.25 where id % 17 = 0;",
    "alter table orders change column note remark varchar(200) after id;",
    "update orders set remark = repeat('r', 150) where id = 50;",
    # What a swap brings has no row events, so both hold the same; a sink that cannot empty a table keeps its rows.
    "insert into swap_a values (100, 'before'); insert into swap_b values (100, 'before');",
    "rename table swap_a to swap_t, swap_b to swap_a, swap_t to swap_b;",
    "insert into swap_a values (101, 'after'); delete from swap_b where id = 3;",
    "delete from emptied; truncate table emptied; insert into emptied values (5, 50);",
    "create table made like pairs; insert into made values (1, 'm', 2), (2, 'n', null);",
    "create table picked (primary key (id)) as select id, n from orders where id < 30; delete from picked where id = 4;",
    "alter table names add column extra int after code, modify column v bigint; update names set extra = 3;",
    "alter table latin convert to character set utf8mb4; insert into latin values (2000, '日本');",
    "alter table a_journal add column w int; insert into a_journal values (7, 'seven', 7); delete from a_journal where v = 11;",
    "delete from gone; drop table gone; create table gone (id int primary key, other varchar(9)); insert into gone values (9, 'again');",
]

DOWN = """use live;
alter table orders add column while_down int; update orders set while_down = id where id % 4 = 0;
alter table orders drop column c1; insert into orders (n, while_down) values (-1, -1);
alter table pairs rename column v to w; update pairs set w = 77 where a = 3;
create table down_made (id int primary key, t text); insert into down_made values (1, 'one');
delete from swap_b; truncate table swap_b; insert into swap_b values (1, 'only');
alter table names modify column extra bigint; update names set extra = 5000000000 where v % 2 = 0;
"""


def recorded(peer, part):
    """Without what EVOLVE stops at for Paimon: NOT NULL columns added to tables with rows."""
    with gzip.open(os.path.join(TESTS, "data", "live", f"{peer}.a_types.{part}.sql.gz"), "rt", encoding="utf-8") as f:
        lines = f.read().splitlines()
    cut = next((i for i, line in enumerate(lines) if line.startswith("ALTER TABLE t_notnull")), len(lines))
    return "\n".join(lines[:cut] + [line for line in lines[cut:] if "t_notnull" not in line]) + "\n"


def play(server, pipeline):
    server.sql(SETUP + recorded(server.peer, "setup"))
    pipeline.start()
    server.sql(rows_of(1))
    pipeline.kill()  # anywhere: in the snapshot of the table without key, too
    server.sql(rows_of(2))
    pipeline.start()
    pipeline.kill()
    pipeline.start()
    time.sleep(pipeline.rng.uniform(0, 0.5))
    server.call("kill")  # while the snapshot is read, or where it is not there yet when the pipeline begins
    server.call("start")
    server.sql(rows_of(3))
    pipeline.wait_for_mark(server, 1)
    for number, statement in enumerate(DDL):
        server.sql("use live;\n" + statement)
        if number % 5 == 2:
            server.sql(rows_of(4 + number // 5, note="remark" if number > 10 else "note"))
        if number % 7 == 3:
            pipeline.kill()
            pipeline.start()
    pipeline.kill()
    server.sql(DOWN)
    pipeline.start()
    pipeline.wait_for_mark(server, 2)
    server.call("stop")
    server.call("start")
    server.sql(rows_of(10, note="remark", v="w"))
    pipeline.wait_for_mark(server, 3)
    server.sql(recorded(server.peer, "stream"))
    server.call("kill")
    pipeline.kill()
    server.call("start")
    pipeline.start()
    pipeline.wait_for_mark(server, 4)
    pipeline.wait_for_snapshot()
    pipeline.stop()


def is_installed(peer):
    if peer == "mariadb":
        return shutil.which("mariadbd") is not None
    return os.path.exists(os.path.join(PEERS, "dist", "mysql", ".stamp"))


def differences(server, pipeline, databases):
    """What differs, as "live.orders column n" and the like, the number of tables, and the report."""
    truth = os.path.join(pipeline.folder, "truth")
    server.write_truth(truth, databases)
    sink = os.path.join(pipeline.folder, "sink")
    pipeline.write_sink(sink)
    details = os.path.join(pipeline.folder, "details.json")
    compared = subprocess.run(
        # Paimon does not move columns.
        [sys.executable, os.path.join(TESTS, "interop", "compare_table.py"), "--schema", truth + ".schema.jsonl.gz",
         "--rows", truth + ".rows.jsonl.gz", "--sink-dir", sink, "--json", details, "--extra-tables", "error", "--ignore-order"],
        capture_output=True, text=True, encoding="utf-8")
    if compared.returncode not in (0, 1):
        sys.exit(compared.stdout + compared.stderr)
    with open(details, encoding="utf-8") as f:
        tables = json.load(f)["tables"]
    found = set()
    for table in (t for t in tables if not t["equal"]):
        name = table["table"]
        found |= {f"{name} {k}" for k in ("missing_table", "unreadable", "extra_table") if table.get(k)}
        found |= {f"{name} schema {kind}" for kind in table.get("schema_counts") or {}}
        found |= {f"{name} rows {kind}" for kind in table.get("rows") or {} if kind != "different"}
        found |= {f"{name} column {column}" for column in table.get("columns_that_differ") or {}}
    return found, len(tables), compared.stdout


def arguments(seed=1):
    parser = argparse.ArgumentParser()
    parser.add_argument("--driftless", required=True)
    parser.add_argument("--peer", choices=["mysql", "mariadb"], required=True)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--keep", help="work in this folder and leave it")
    return parser


@contextlib.contextmanager
def scene(options):
    """A server that is not started yet, and a folder. Behind it all pipelines are ended, and both are gone."""
    if not is_installed(options.peer):
        print(f"skipped: {options.peer} is not installed")
        sys.exit(77)
    folder = options.keep or tempfile.mkdtemp(prefix="driftless-live-")
    os.makedirs(folder, exist_ok=True)
    server = Server(options.peer)
    server.call("wipe")  # what a run that was killed may have left under the same number
    try:
        yield server, folder
    finally:
        for pipeline in Pipeline.made:
            pipeline.end()
        server.call("wipe", check=False)
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    options = arguments(seed=7).parse_args()
    with scene(options) as (server, folder):
        pipeline = Pipeline(options.driftless, folder, server.port, random.Random(options.seed))
        server.call("start")
        play(server, pipeline)
        found, tables, report = differences(server, pipeline, ["live", "typesdb"])
        if found != set(KNOWN):
            sys.exit(f"not the known differences (seed {options.seed})\nnew: {sorted(found - set(KNOWN))}\n"
                     f"no more: {sorted(set(KNOWN) - found)}\n{report}\n{pipeline.tail()}")
        print(f"{options.peer}: {tables} tables equal after {pipeline.kills} kills "
              f"({pipeline.kills_in_snapshot} within the snapshot), seed {options.seed}; "
              f"{len(found)} known differences")


if __name__ == "__main__":
    main()
