#!/usr/bin/env python3
"""What a live log may hold: XA transactions across lost connections, values of many packets, statements with secrets.

usage: mysql_forms.py --driftless BIN --peer mysql|mariadb [--only CASE]
Exit status: 0 as expected, 1 not, 77 the server is not installed.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile

import mysql_live as live
from mysql_positions import SETUP, Test, check


class Forms(Test):
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

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driftless", required=True)
    parser.add_argument("--peer", choices=["mysql", "mariadb"], required=True)
    parser.add_argument("--only", help="one case")
    options = parser.parse_args()
    if not live.is_installed(options.peer):
        print(f"skipped: {options.peer} is not installed")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="driftless-forms-")
    server = live.Server(options.peer)
    test = Forms(options.driftless, folder, server)
    try:
        server.call("start")
        server.sql(SETUP)
        for case in ("xa", "large", "secrets"):
            if options.only in (None, case):
                getattr(test, case)()
                print(f"{options.peer}: {case}: as expected", flush=True)
    finally:
        test.close()
        server.call("wipe", check=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
