#!/usr/bin/env python3
"""What a live log may hold: row images with holes, XA, statements with secrets; and what /metrics tells of it.

usage: mysql_forms.py --driftless BIN --peer mysql|mariadb [--only CASE]
Exit status: 0 as expected, 1 not, 77 the server is not installed.
"""
import functools
import os
import random
import re
import subprocess

import metrics
import mysql_live as live
import mysql_resync as resync
import olap_cluster
from mysql_positions import SETUP, Test, check
from mysql_validate import Validator


class Forms(Test):
    def images(self):
        """Values that an update's image lacks are absent, never NULL; a sink of whole rows stops in front of it, aloud."""
        self.server.sql("use live; create table wide (id int primary key, a int, b varchar(20), c longtext) charset utf8mb4; "
                        "insert into wide values (1, 1, 'one', 'text'), (2, 2, 'two', null), (3, 3, 'three', 'text');")
        eyes = self.pipeline("eyes", tables="live.wide, live.marks")
        eyes.rewrite(sinks=["name: lake\ntype: print"])
        lake = self.pipeline("lake", tables="live.wide, live.marks")
        lake.start()
        self.follow(lake)
        eyes.start()
        eyes.wait_for_snapshot()
        self.server.sql("set session binlog_row_image = 'NOBLOB'; update live.wide set a = 10 where id = 1;\n"
                        "set session binlog_row_image = 'MINIMAL'; update live.wide set b = null where id = 2; "
                        "update live.wide set c = 'new' where id = 3; delete from live.wide where id = 1;")
        eyes.wait_for(lambda: len(self.printed(eyes, "live.wide")) >= 10, "four changes")
        rows = self.printed(eyes, "live.wide")
        check(rows == ['+I [id: 1, a: 1, b: "one", c: "text"]', '+I [id: 2, a: 2, b: "two", c: null]', '+I [id: 3, a: 3, b: "three", c: "text"]',
                       '-U [id: 1, a: 1, b: "one"]', '+U [id: 1, a: 10, b: "one"]', "-U [id: 2]", "+U [id: 2, b: null]",
                       "-U [id: 3]", '+U [id: 3, c: "new"]', "-D [id: 1]"], "\n".join(rows))
        eyes.kill()
        said = lake.process.wait(live.PATIENCE_S)
        check(said not in (0, -9) and "on-absent" in lake.tail(), f"{said}: {lake.tail()}")
        check(lake.ids("live.wide") == [1, 2, 3], str(lake.rows("live.wide")))
        self.server.sql("drop table live.wide;")

    def partial(self):
        """Row images with holes into a sink that leaves what is not sent as it is (the double of StarRocks): equal."""
        rng = random.Random(5)
        self.server.sql("use live; create table holes (id int primary key, a int, b varchar(20), c longtext, d text) charset utf8mb4; "
                        "insert into holes with recursive q (n) as (select 1 union all select n + 1 from q where n < 200) "
                        "select n, n, concat('b', n), concat('c', n), if(n % 3, null, 'd') from q;")
        with olap_cluster.Cluster("starrocks") as cluster:
            pipeline = self.pipeline("partial", tables="live.holes, live.marks")
            pipeline.rewrite(sinks=[resync.olap_sink(cluster)])
            pipeline.start()
            pipeline.wait_for(lambda: len(resync.in_olap(cluster, "holes")) == 200, "the snapshot")
            for number in range(12):
                text = f"set session binlog_row_image = '{('MINIMAL', 'NOBLOB', 'FULL')[number % 3]}'; use live;\n"
                for k in range(40):
                    i, n = rng.randrange(1, 220), number * 100 + k
                    text += rng.choice([
                        f"update holes set a = {n} where id between {i} and {i + 5};", f"update holes set b = null, d = 'd{n}' where id = {i};",
                        f"update holes set c = concat(c, 'x') where id = {i};", f"update holes set c = null, a = a + 1 where id % 40 = {i % 40};",
                        f"delete from holes where id = {i};", f"replace into holes (id, a, b, c, d) values ({i}, {n}, 'r', 'c{n}', null);",
                        f"begin; update holes set b = '{n}' where id = {i}; delete from holes where id = {i + 1}; rollback;"]) + "\n"
                self.server.sql(text)
                if number % 4 == 1:
                    pipeline.kill()
                    pipeline.start()
            wanted = resync.truth_of(self.server, "holes")
            pipeline.wait_for(lambda: resync.in_olap(cluster, "holes") == wanted, "the same rows")
            pipeline.stop()
            check(resync.in_olap(cluster, "holes") == wanted, "it does not stay so")
        self.server.sql("drop table live.holes;")

    @staticmethod
    def printed(pipeline, table):
        lines = pipeline.tail().splitlines()
        return [line.replace(f" {table}", "", 1) for line in lines if line[:3] in ("+I ", "-U ", "+U ", "-D ") and f" {table} " in line]

    def xa(self):
        """Rows of a prepared transaction come with its commit, once, across kills; those of a rollback never."""
        self.server.sql("use live; create table keyless (n int, v varchar(20)) charset utf8mb4;")
        pipeline = self.pipeline("xa", tables="live.keyless, live.marks")
        pipeline.start()
        self.follow(pipeline)

        def prepare(name, *statements):
            self.server.sql(f"use live; xa start '{name}'; {'; '.join(statements)}; xa end '{name}'; xa prepare '{name}';")
        prepare("gone", "insert into keyless values (1, 'gone')")
        prepare("kept", "insert into keyless values (2, 'kept')", "insert into keyless values (3, 'kept')")
        self.server.sql("insert into live.keyless values (4, 'between');")
        self.follow(pipeline)
        pipeline.kill()
        self.server.sql("xa rollback 'gone'; insert into live.keyless values (5, 'down');")
        pipeline.start()
        self.follow(pipeline)
        check(sorted(r["n"] for r in pipeline.rows("live.keyless")) == [4, 5], f"{pipeline.rows('live.keyless')}\n{pipeline.tail()}")
        self.server.call("stop")  # the next connection goes on behind what is prepared
        self.server.call("start")
        self.server.sql("xa commit 'kept';")
        self.follow(pipeline)
        prepare("one", "insert into keyless values (6, 'six')")
        self.server.sql("xa rollback 'one'; use live; xa start 'two'; insert into keyless values (7, 'seven'); xa end 'two'; xa commit 'two' one phase;")
        self.follow(pipeline)
        pipeline.kill()
        pipeline.start()
        self.follow(pipeline)
        found = sorted((r["n"], r["v"]) for r in pipeline.rows("live.keyless"))
        check(found == [(2, "kept"), (3, "kept"), (4, "between"), (5, "down"), (7, "seven")], f"{found}\n{pipeline.tail()}")
        pipeline.stop()

    def large(self):
        """A value beyond 16 MiB, which comes in several packets, by the snapshot and by the log."""
        self.server.sql("set global max_allowed_packet = 67108864;")
        self.server.sql("use live; create table large (id int primary key, v longtext) charset utf8mb4; "
                        "insert into large values (1, concat(repeat('é', 9000000), 'end'));")
        pipeline = self.pipeline("large", tables="live.large, live.marks")
        pipeline.start()
        self.follow(pipeline)
        self.server.sql("insert into live.large values (2, concat(repeat('é', 10000000), 'end')), (3, 'small');")
        self.follow(pipeline)
        found = {r["id"]: (len(r["v"]), r["v"].strip("é")) for r in pipeline.rows("live.large")}
        check(found == {1: (9000003, "end"), 2: (10000003, "end"), 3: (5, "small")}, f"{found}\n{pipeline.tail()}")
        pipeline.stop()

    def secrets(self):
        """The bodies of statements that do not concern the tables are nowhere: no log, no audit, no state."""
        pipeline = self.pipeline("secrets", "on-unparsed-ddl: park", tables="live.t, live.marks")
        pipeline.start()
        self.follow(pipeline)
        self.server.sql("""create user sec1@'%' identified by 'hunter2-secret'; alter user sec1@'%' identified by 'hunter2-secret-2';
grant select on live.t to sec1@'%'; set password for sec1@'%' = '""" + ("hunter2-secret-3" if self.server.peer == "mysql" else
                                                                         "*0123456789ABCDEF0123456789ABCDEF01234567") + """';
create server srv foreign data wrapper mysql options (user 'u', password 'hunter2-secret-4', host '127.0.0.1', database 'd');
create definer = root@localhost procedure live.p() select 'hunter2-secret-5' from live.t;
create definer = root@localhost event live.e on schedule every 1 day do update live.t set v = 'hunter2-secret-6';
create definer = root@localhost trigger live.tr before insert on live.quiet for each row set new.v = length('hunter2-secret-7');
create table other.unread (id int primary key, v varchar(40)); insert into other.unread values (1, 'hunter2-secret-8');
drop user sec1@'%'; drop server srv; drop procedure live.p; drop event live.e; drop trigger live.tr; drop table other.unread;
insert into live.t values (500, 'seen');
""")
        self.follow(pipeline)
        check(500 in pipeline.ids("live.t"), pipeline.tail())
        pipeline.stop()
        wrong = re.compile(rb"hunter2-secret|\$A\$005\$|\*[0-9A-F]{40}|IDENTIFIED", re.I)
        looked = 0
        for at, _, files in os.walk(pipeline.folder):
            for name in files:
                looked += 1
                with open(os.path.join(at, name), "rb") as file:
                    text = file.read()
                found = wrong.search(text)
                check(found is None, f"{os.path.join(at, name)} has {text[max(found.start() - 200, 0):found.end() + 100] if found else ''}")
        check(looked > 5, "no files were looked at")

    def metrics(self):
        """Lag, bytes behind, events by type, the position, the snapshot's progress."""
        http = f"127.0.0.1:{live.free_port()}"
        self.server.sql("use live; create table many (id int primary key auto_increment, v int); insert into many (v) values (1), (2), (3), (4);"
                        + "insert into many (v) select v from many;" * 10 + "analyze table many;")
        pipeline = self.pipeline("metrics", "scan.incremental.snapshot.chunk.size: 100", tables="live.many, live.marks")
        pipeline.rewrite(http=http)
        pipeline.start()
        metric = functools.partial(metrics.sample, http)
        rows = int(self.server.sql("select (select count(*) from live.many) + (select count(*) from live.marks);"))
        pipeline.wait_for(lambda: metric("source", what="snapshot_rows") == rows, "the snapshot's rows")
        pipeline.wait_for(lambda: (metric("source", what="snapshot_chunks") or 0) > rows / 100, "chunks")
        pipeline.wait_for(lambda: metric("source", what="snapshot_tables_left") == 0, "tables left")
        pipeline.wait_for(lambda: metric("source", what="snapshot_rows_left") == 0, "rows left")
        self.server.sql("update live.many set v = 5 where id < 4;")
        self.follow(pipeline)
        pipeline.wait_for(lambda: (metric("source_events_total", type="UPDATE_ROWS") or metric("source_events_total", stream="binlog")), "events by type")
        file, offset = self.place()
        pipeline.wait_for(lambda: metric("source", what="log_offset") == offset, "the place in the log")
        pipeline.wait_for(lambda: metric("source", what="log_file") == int(file.split(".")[-1]), "the file of the log")
        pipeline.wait_for(lambda: metric("source", what="lag_bytes") == 0, "bytes behind")
        pipeline.wait_for(lambda: metric("lag_seconds", stream="binlog") is not None, "seconds behind")
        pipeline.stop()


def certificates(folder):
    """Two authorities, and a server's certificate for 127.0.0.1 of the first."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    os.makedirs(folder)
    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN=authority {name}",
                "-keyout", f"{name}.key", "-out", f"{name}.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr")
    with open(os.path.join(folder, "san.txt"), "w", encoding="utf-8") as out:
        out.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "san.txt", "-out", "server.pem")


def tls(binary, folder, peer):
    """tls.mode on a user who must come with TLS, and who is let in only so."""
    certificates(folder)
    server = live.Server(peer)
    try:
        server.call("start", *(f"--ssl-{what}={folder}/{file}" for what, file in (("ca", "ca.pem"), ("cert", "server.pem"), ("key", "server.key"))))
        server.sql("create database live; create table live.t (id int primary key); create user tls@'%' identified by 'tls' require ssl; "
                   "grant all on *.* to tls@'%';")
        validator = Validator(binary, folder, server.port)
        for code, mode, *said in (
                (1, "disabled", "Access denied"), (0, "preferred"), (0, "required"),
                (0, f"verify-identity\ntls.ca: {folder}/ca.pem"),
                (1, f"verify-identity\ntls.ca: {folder}/other.pem", "ertificate")):
            validator.expect(code, *said, user="tls", tables="live.t", more=f"tls.mode: {mode}")
    finally:
        server.call("wipe", check=False)


def main():
    parser = live.arguments()
    parser.add_argument("--only", help="one case")
    options = parser.parse_args()
    cases = [c for c in ("xa", "large", "secrets", "images", "partial", "metrics") if options.only in (None, c)]
    with live.scene(options) as (server, folder):
        test = Forms(options.driftless, folder, server)
        if cases:
            server.call("start")
            server.sql(SETUP)
        for case in cases:
            getattr(test, case)()
            print(f"{options.peer}: {case}: as expected", flush=True)
        if options.only in (None, "tls"):
            test.close()
            server.call("wipe", check=False)
            tls(options.driftless, os.path.join(folder, "tls"), options.peer)
            print(f"{options.peer}: tls: as expected")


if __name__ == "__main__":
    main()
