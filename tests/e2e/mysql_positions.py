#!/usr/bin/env python3
"""Where a live source begins and goes on: times, places, another server, logs that are gone, quiet tables, clashing ids.

usage: mysql_positions.py --driftless BIN --peer mysql|mariadb
Exit status: 0 as expected, 1 not, 77 the server is not installed.
"""
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time

import mysql_live as live

SETUP = """create database live; use live; create table marks (id int primary key);
create table quiet (id int primary key, v int); create table t (id int primary key, v varchar(20)) charset utf8mb4;
create database other; create table other.busy (id int primary key auto_increment, v longtext);
"""


def check(condition, text):
    if not condition:
        sys.exit(text)


NUMBERS = "with recursive q (n) as (select 1 union all select n + 1 from q where n < 1000) "
OWN_SNAPSHOT = "get the tables by a snapshot of their own"


class Pipeline(live.Pipeline):
    def __init__(self, binary, folder, port, source="", tables="live.\\.*"):
        os.makedirs(folder)
        super().__init__(binary, folder, port, random.Random(1))
        self.write(port, tables, source=source)

    def ids(self, table):
        return sorted(row["id"] for row in self.rows(table))

    def fails(self):
        """Runs until it ends with an error; what it said."""
        self.start()
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"it did not end:\n{self.tail()}")
        check(code not in (0, -9), f"it ended with {code}:\n{self.tail()}")
        return self.tail()


class Test:
    def __init__(self, binary, folder, server):
        self.binary, self.folder, self.server = binary, folder, server
        self.pipelines = []
        self.mark = 0

    def pipeline(self, name, *more, port=None, **options):
        made = Pipeline(self.binary, os.path.join(self.folder, name), port or self.server.port, *more, **options)
        self.pipelines.append(made)
        return made

    def follow(self, pipeline, server=None):
        self.mark += 1
        pipeline.wait_for_mark(server or self.server, self.mark)

    def close(self):
        for pipeline in self.pipelines:
            pipeline.end()

    def place(self):
        """(file, offset) of the log's end."""
        for text in ("show binary log status;", "show master status;"):
            line = self.server.call("client", "-N", "-B", "-e", text, check=False).split("\t")
            if len(line) > 1:
                return line[0], int(line[1])
        sys.exit("the server tells no place")

    def starts(self):
        """scan.startup.mode timestamp and specific-offset, over several files, and over a lost connection."""
        at = {}
        for i in range(1, 9):
            if i == 5:
                time.sleep(1.5)  # the servers' times are whole seconds in places
                at["ms"] = int(time.time() * 1000)
                at["file"], at["pos"] = self.place()
                time.sleep(1.5)
            self.server.sql(f"begin; insert into live.t values ({i}, 'v{i}'); insert into live.quiet values ({i}, {i}); commit;")
            if i % 3 == 0:
                self.server.sql("flush logs;")
        modes = {
            "timestamp": (f"scan.startup.mode: timestamp\nscan.startup.timestamp-millis: {at['ms']}", 5),
            "future": (f"scan.startup.mode: timestamp\nscan.startup.timestamp-millis: {at['ms'] + 3600000}", 9),
            "past": ("scan.startup.mode: timestamp\nscan.startup.timestamp-millis: 1000", 1),
            "offset": ("scan.startup.mode: specific-offset\nscan.startup.specific-offset.file: "
                       f"{at['file']}\nscan.startup.specific-offset.pos: {at['pos']}", 5),
        }
        running = {name: self.pipeline(name, mode) for name, (mode, _) in modes.items() if name != "past"}
        for pipeline in running.values():
            pipeline.start()
            pipeline.wait_for(lambda: " tables, from " in pipeline.tail(), "a beginning")
        for pipeline in running.values():
            self.follow(pipeline)
        # A connection that breaks goes on where it was: the GTIDs of all before are known.
        dumps = self.server.sql("select id from information_schema.processlist where command like 'Binlog Dump%';").split()
        check(len(dumps) >= len(running), f"dumps: {dumps}")
        self.server.sql("".join(f"kill {d};\n" for d in dumps))
        self.server.sql("insert into live.t values (9, 'v9'); insert into live.quiet values (9, 9); delete from live.quiet where id = 9;")
        for name, pipeline in running.items():
            self.follow(pipeline)
            first = modes[name][1]
            check(pipeline.ids("live.t") == list(range(first, 10)), f"{name}: {pipeline.ids('live.t')}\n{pipeline.tail()}")
            check(pipeline.ids("live.quiet") == list(range(first, 9)), f"{name}: {pipeline.ids('live.quiet')}")
            pipeline.stop()
        wrong = self.pipeline("within", modes["offset"][0].replace(f"pos: {at['pos']}", f"pos: {at['pos'] + 7}"))
        said = wrong.fails()
        check("no transaction begins at" in said or "could not find" in said.lower() or "no event at" in said, said)

    def replanned(self):
        """A start that was killed before its first commit, and an ALTER: the next one begins anew, and knows of both."""
        self.server.sql("create table live.early (id int primary key, v varchar(20), t text) charset utf8mb4; "
                        "insert into live.early values (1, 'one', 'long'), (2, 'two', null);")
        begun = added = 0
        for attempt in range(5):
            pipeline = self.pipeline(f"replanned{attempt}", tables="live.early, live.marks")
            for _ in range(3):
                pipeline.start()
                started = len(pipeline.tail())
                while " live.early:" not in pipeline.tail()[started:]:
                    pipeline.check_alive()
                pipeline.process.kill()
                pipeline.process.wait()
                self.server.sql(f"alter table live.early add column x{added} int first, modify t {('mediumtext', 'longtext')[added % 2]}; "
                                f"update live.early set x{added} = {added} where id = 1; insert into live.early (id, v) values ({added + 10}, 'more');")
                added += 1
            pipeline.start()
            self.follow(pipeline)
            pipeline.wait_for_snapshot()
            pipeline.stop()
            names = [f"x{k}" for k in range(added)] + ["id", "v", "t"]
            wanted = sorted(self.server.values("from live.early", names), key=str)
            found = sorted(([None if row.get(n) is None else str(row[n]) for n in names] for row in pipeline.rows("live.early")), key=str)
            check(found == wanted, f"{found} instead of {wanted}\n{pipeline.tail()}")
            begun = max(begun, pipeline.tail().count(" tables, from "))
            if begun > 2:
                break
        # On a slow machine a commit may come first; what is compared holds all the same.
        print(f"{begun} starts of one pipeline began anew")
        self.server.sql("drop table live.early;")

    def divergences(self, pipeline):
        done = subprocess.run([self.binary, "divergences", "--state", os.path.join(pipeline.folder, "state")],
                              capture_output=True, text=True, encoding="utf-8", check=True)
        return done.stdout

    def holds(self, pipeline, sink, table, names):
        """Whether the sink's table has exactly the server's rows, each once."""
        wanted = sorted(self.server.values(f"from {table}", names), key=str)
        lines = pipeline.peek(table, "--sink", sink).stdout.splitlines()
        rows = [json.loads(line) for line in lines if line.startswith("{")]
        found = sorted(([None if row.get(n) is None else str(row[n]) for n in names] for row in rows), key=str)
        return found == wanted

    @staticmethod
    def lake(pipeline, name):
        return f"type: paimon\nname: {name}\ncatalog.properties.warehouse: {pipeline.folder}/{name}"

    def wait_for_all(self, pipeline, sinks, tables):
        for sink in sinks:
            for table, names in tables.items():
                pipeline.wait_for(lambda: self.holds(pipeline, sink, table, names), f"the rows of {table} at {sink}")

    def joined(self):
        """Sinks that are added, and killed before their first commit: each sink has each row once, with no gap."""
        self.server.sql("use live; create table joined (id int primary key, v varchar(20)) charset utf8mb4; "
                        f"insert into joined {NUMBERS} select n, concat('v', n) from q; "
                        "create table loose (n int, v varchar(20)) charset utf8mb4; "
                        f"insert into loose {NUMBERS} select n % 50, 'loose' from q;")
        pipeline = self.pipeline("joined", "scan.startup.mode: initial\nscan.incremental.snapshot.chunk.size: 40",
                                 tables="live.joined, live.loose, live.marks")
        sinks = ["lake"]
        pipeline.rewrite(sinks=[self.lake(pipeline, name) for name in sinks])
        pipeline.start()
        self.wait_for_all(pipeline, sinks, {"live.joined": ("id", "v"), "live.loose": ("n", "v")})
        pipeline.stop()
        self.server.sql("use live; delete from joined where id % 7 = 0; update joined set v = 'new' where id % 5 = 0; "
                        "alter table joined add column w int; insert into joined values (2000, 'd', 4); "
                        "delete from loose where n = 3; insert into loose values (3, 'again'), (3, 'again'); "
                        "alter table loose add column w int;")
        tables = {"live.joined": ("id", "v", "w"), "live.loose": ("n", "v", "w")}
        sinks.append("later")
        pipeline.rewrite(sinks=[self.lake(pipeline, name) for name in sinks])
        # Killed anywhere within its beginning, and its tables changed meanwhile.
        for number in range(6):
            pipeline.start()
            self.server.sql(f"use live; update joined set w = {number} where id % 11 = {number}; delete from joined where id = {number + 20}; "
                            f"insert into joined (id, v) values ({3000 + number}, 'more'); insert into loose values (100, 'more', {number}); "
                            f"delete from loose where n = {number + 10} limit 3;")
            pipeline.kill(0.5 if number < 4 else 1.2)
            if number == 1:
                self.server.sql("alter table live.joined add column x int first; update live.joined set x = id where id % 3 = 0;")
                tables["live.joined"] += ("x",)
        pipeline.start()
        self.wait_for_all(pipeline, sinks, tables)
        sinks.append("third")
        pipeline.stop()
        self.server.sql("delete from live.joined where id = 30; insert into live.loose values (200, 'last', null);")
        pipeline.rewrite(sinks=[self.lake(pipeline, name) for name in sinks])
        pipeline.start()
        self.follow_all(pipeline, sinks)
        self.wait_for_all(pipeline, sinks, tables)
        check("a new beginning" not in self.divergences(pipeline), f"{self.divergences(pipeline)}\n{pipeline.tail()}")
        check(f"{OWN_SNAPSHOT}: third" in pipeline.said(), pipeline.tail())
        print(f"{pipeline.said().count(OWN_SNAPSHOT)} starts for sinks without a position")
        pipeline.stop()
        self.too_late(pipeline, sinks, tables["live.joined"])
        self.server.sql("drop table live.joined; drop table live.loose;")

    def beside(self):
        """Two sinks from the first start on, killed before the first commit of one of them, or of both: nothing comes twice."""
        self.server.sql("use live; create table beside (id int primary key, v varchar(20)) charset utf8mb4; "
                        f"insert into beside {NUMBERS} select n, 'v' from q; create table loose (n int, v varchar(20)) charset utf8mb4; "
                        f"insert into loose {NUMBERS} select n % 50, 'loose' from q;")
        pipeline = self.pipeline("beside", "scan.startup.mode: initial\nscan.incremental.snapshot.chunk.size: 40",
                                 tables="live.beside, live.loose, live.marks")
        pipeline.rewrite(sinks=[self.lake(pipeline, name) for name in ("lake", "other")])
        names = ("id", "v")
        for number in range(5):
            pipeline.start()
            pipeline.kill(0.7)
            self.server.sql(f"use live; delete from beside where id = {number + 20}; delete from loose where n = {number + 10} limit 3; "
                            f"insert into loose (n, v) values (100, 'more'); alter table beside add column x{number} int; "
                            f"update beside set x{number} = id where id % 11 = {number};")
            names += (f"x{number}",)
        pipeline.start()
        self.wait_for_all(pipeline, ("lake", "other"), {"live.beside": names, "live.loose": ("n", "v")})
        check("a new beginning" not in self.divergences(pipeline), f"{self.divergences(pipeline)}\n{pipeline.tail()}")
        print(f"{pipeline.said().count(' tables, from ')} starts from the beginning, {pipeline.said().count(OWN_SNAPSHOT)} beside others")
        pipeline.stop()
        self.server.sql("drop table live.beside; drop table live.loose;")

    def follow_all(self, pipeline, sinks):
        """A mark that has arrived at each sink."""
        self.mark += 1
        self.server.sql(f"insert into live.marks values ({self.mark});")
        for sink in sinks:
            pipeline.wait_for(lambda: self.holds(pipeline, sink, "live.marks", ("id",)), f"the marks at {sink}")

    def too_late(self, pipeline, sinks, names):
        """The log is gone where the others are: all begin anew, and their divergences tell what they may lack."""
        self.server.sql("delete from live.joined where id = 31; update live.joined set v = 'late' where id = 32; flush logs; "
                        "insert into live.joined (id) values (4000); flush logs;")
        self.purge()
        sinks.append("fourth")
        pipeline.rewrite(sinks=[self.lake(pipeline, name) for name in sinks])
        pipeline.start()
        pipeline.wait_for(lambda: self.holds(pipeline, "fourth", "live.joined", names), "the rows of the sink that was added")
        wanted = self.server.values("from live.joined", names)

        def rows():
            lines = pipeline.peek("live.joined", "--sink", "lake").stdout.splitlines()
            return [[None if row.get(n) is None else str(row[n]) for n in names] for row in map(json.loads, lines) if "id" in row]
        def are_there():
            found = rows()
            return all(row in found for row in wanted)
        pipeline.wait_for(are_there, "the rows of the other sinks")
        ghosts = [row[0] for row in rows() if row not in wanted]
        check(ghosts == ["31"], f"{ghosts} remain")
        check("fourth" not in self.divergences(pipeline), self.divergences(pipeline))
        said = " ".join(self.divergences(pipeline).split())
        check("a new beginning for a sink without a position" in said and "come again" in said, said)
        pipeline.stop()

    def purge(self):
        """All logs but the newest; one that the server still sends to a connection of before is not purged."""
        newest = self.place()[0]
        for _ in range(300):
            self.server.sql(f"purge binary logs to '{newest}';")
            if self.server.sql("show binary logs;").split("\t")[0] == newest:
                return
            time.sleep(0.1)
        sys.exit(f"the logs before {newest} stay")

    def quiet(self):
        """Captured tables stand still; the position does not, so that logs may go."""
        pipeline = self.pipeline("quiet", "scan.startup.mode: initial", tables="live.quiet, live.marks")
        pipeline.start()
        self.follow(pipeline)
        for _ in range(3):
            self.server.sql("insert into other.busy (v) values (repeat('x', 100000)); flush logs;")
        time.sleep(3)
        pipeline.kill()
        last = self.place()[0]
        self.server.sql(f"purge binary logs to '{last}';")
        pipeline.start()
        self.follow(pipeline)
        pipeline.stop()

    def purged(self):
        """A log that is gone is told, with what to do."""
        pipeline = self.pipeline("purged", "scan.startup.mode: initial")
        pipeline.start()
        self.follow(pipeline)
        pipeline.stop()
        self.server.sql("insert into live.t values (100, 'lost'); flush logs; insert into live.t values (101, 'x'); flush logs;")
        self.purge()
        said = pipeline.fails()
        check("binlog_expire_logs_seconds" in said and "new state folder" in said, said)

    def online(self):
        """A restart between every two steps of pt-online-schema-change and gh-ost, also where the drop comes first."""
        pipeline = self.pipeline("online", "scan.startup.mode: initial")
        self.server.sql("use live; create table tool (id int primary key, v int); insert into tool values (1, 1), (2, 2);")
        pipeline.start()
        self.follow(pipeline)
        for column, new, rest in (
                ("c1", "_tool_new", ["rename table tool to _tool_old, _tool_new to tool", "drop table _tool_old"]),
                ("c2", "_tool_gho", ["rename table tool to _tool_del, _tool_gho to tool", "drop table _tool_del"]),
                ("c3", "_tool_new", ["drop table tool", "rename table _tool_new to tool"])):
            for step in (f"create table {new} like tool", f"alter table {new} add column {column} int",
                         f"insert into {new} select *, null from tool", *rest):
                self.server.sql(f"use live; {step};")
                self.follow(pipeline)
                pipeline.kill()
                pipeline.start()
            self.server.sql(f"update live.tool set {column} = id * 10 where id = 1;")
        self.follow(pipeline)
        rows = sorted(pipeline.rows("live.tool"), key=lambda r: r["id"])
        check(rows == [{"id": 1, "v": 1, "c1": 10, "c2": 10, "c3": 10}, {"id": 2, "v": 2, "c1": None, "c2": None, "c3": None}],
              f"{rows}\n{pipeline.tail()}")
        check(not [n for n in os.listdir(os.path.join(pipeline.folder, "warehouse", "live.db")) if n.startswith("_")],
              "a table of a tool is at the sink")
        check("wait for a decision" not in pipeline.tail() and "waits at" not in pipeline.tail(), pipeline.tail())
        pipeline.stop()

    def clash(self):
        """Two readers with one server id: it is said."""
        first = self.pipeline("clash1", "server-id: 7777")
        second = self.pipeline("clash2", "server-id: 7777")
        first.start()
        self.follow(first)
        second.start()
        first.wait_for(lambda: "server-id" in first.tail() + second.tail(), "a clash of server ids is told")
        first.kill()
        self.follow(second)
        second.stop()


class Switch:
    """An address behind which the server may change."""

    def __init__(self, port):
        self.target, self.open = port, []
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen()
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for a, b in ((client, server), (server, client)):
                self.open.append(a)
                threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    @staticmethod
    def copy(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def to(self, port):
        self.target = port
        for s in self.open:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def failover(binary, folder, peer):
    """The server dies, a replica takes its place: by GTID nothing is lost and nothing comes twice."""
    first, second = live.Server(peer), live.Server(peer)
    second.env["PEERS_INSTANCE"] += "-replica"
    second.env[f"{peer.upper()}_SERVER_ID"] = "31"
    test = Test(binary, folder, first)
    try:
        first.call("start", "--log-slave-updates=ON" if peer == "mariadb" else "--log-replica-updates=ON")
        # More files than the replica will have: its places are before those of the first.
        first.sql(SETUP + "insert into live.t values (1, 'first');" + "flush logs;" * 4)
        second.call("start", "--log-slave-updates=ON" if peer == "mariadb" else "--log-replica-updates=ON")
        if peer == "mariadb":
            second.sql(f"reset master; set global gtid_slave_pos = '0-2-1'; set global gtid_slave_pos = ''; change master to "
                       f"master_host = '127.0.0.1', master_port = {first.port}, master_user = 'driftless', "
                       "master_password = 'driftless', master_use_gtid = slave_pos; start slave;")
        else:
            second.sql(f"reset binary logs and gtids; change replication source to source_host = '127.0.0.1', source_port = {first.port}, "
                       "source_user = 'driftless', source_password = 'driftless', source_auto_position = 1, "
                       "get_source_public_key = 1; start replica;")
        switch = Switch(first.port)
        pipeline = test.pipeline("failover", port=switch.port)
        pipeline.start()
        first.sql("insert into live.t values (2, 'two'); alter table live.t add column n int; update live.t set n = id;")
        test.follow(pipeline)
        deadline = time.monotonic() + 60
        while second.sql("select count(*) from live.marks;").strip() != "1":
            check(time.monotonic() < deadline, "the replica does not follow")
            time.sleep(0.3)
        first.call("kill")
        second.sql("stop slave;" if peer == "mariadb" else "stop replica;")
        second.sql("insert into live.t values (3, 'three', 33); delete from live.t where id = 1; "
                   "alter table live.t add column z varchar(9) first; update live.t set z = 'new', n = n + 1 where id = 2;")
        switch.to(second.port)
        test.follow(pipeline, second)
        want = [(2, "two", 3, "new"), (3, "three", 33, None)]

        def rows():
            return [(r["id"], r["v"], r.get("n"), r.get("z")) for r in sorted(pipeline.rows("live.t"), key=lambda r: r["id"])]
        check(rows() == want, f"after the failover: {rows()}\n{pipeline.tail()}")
        pipeline.kill()
        second.sql("insert into live.t (id, v) values (4, 'four');")
        pipeline.start()
        test.follow(pipeline, second)
        check(rows() == want + [(4, "four", None, None)], f"after a restart: {rows()}\n{pipeline.tail()}")
        check("has taken the place of another server" in pipeline.tail(), pipeline.tail())
        pipeline.stop()
    finally:
        test.close()
        first.call("wipe", check=False)
        second.call("wipe", check=False)


def main():
    parser = live.arguments()
    parser.add_argument("--only", help="one case")
    options = parser.parse_args()
    cases = [c for c in ("starts", "replanned", "joined", "beside", "quiet", "purged", "online", "clash") if options.only in (None, c)]
    with live.scene(options) as (server, folder):
        test = Test(options.driftless, folder, server)
        if cases:
            server.call("start")
            server.sql(SETUP)
        for case in cases:
            getattr(test, case)()
            print(f"{options.peer}: {case}: as expected", flush=True)
        if options.only in (None, "failover"):
            test.close()
            server.call("wipe", check=False)
            failover(options.driftless, os.path.join(folder, "failover"), options.peer)
            print(f"{options.peer}: failover: as expected")


if __name__ == "__main__":
    main()
