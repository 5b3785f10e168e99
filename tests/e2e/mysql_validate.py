#!/usr/bin/env python3
"""`driftless validate --live` on a real server: what is wrong is told, each with what to do about it.

usage: mysql_validate.py --driftless BIN --peer mysql|mariadb
Exit status: 0 as expected, 1 not, 77 the server is not installed.
"""
import json
import os
import subprocess
import sys

import mysql_live as live

SETUP = """create database live; use live;
create table keyed (id int primary key, v int); create table keyless (v int);
insert into keyed values (1, 1); insert into keyless values (1);
create user poor@'%' identified by 'poor'; grant select on live.keyed to poor@'%';
"""


class Validator(live.Pipeline):
    def __init__(self, binary, folder, port):
        super().__init__(binary, folder, port, None)
        self.port = port

    def configure(self, user="driftless", tables="live.\\.*", more=""):
        self.write(self.port, tables, source=more, options="", user=user)

    def call(self, verb, *more):
        done = subprocess.run([self.binary, verb, self.file, *more], capture_output=True, text=True, encoding="utf-8",
                              timeout=120)
        return done.returncode, done.stdout, done.stderr

    def files(self):
        return sorted(os.path.join(at, name) for at, folders, files in os.walk(self.folder) for name in folders + files)

    def expect(self, code, *texts, **config):
        self.configure(**config)
        os.makedirs(os.path.join(self.folder, "warehouse"), exist_ok=True)  # a local store makes its folder to see that it can
        before = self.files()
        got, out, err = self.call("validate", "--live")
        told = " ".join((out + err).split())
        for text in texts:
            if text not in told:
                sys.exit(f"not told: {text}\n{out}{err}")
        if got != code:
            sys.exit(f"exit code {got}, not {code}\n{out}{err}")
        if self.files() != before:
            sys.exit(f"validate --live left something behind: {self.files()}")
        return told


def play(server, check):
    is_mariadb = server.peer == "mariadb"
    server.sql(SETUP)
    told = check.expect(0, "live: 0 errors, 1 warning", "2 tables",
                        "live.keyless has no primary key", "remedy: ALTER TABLE ... ADD PRIMARY KEY")
    if "live.keyed" in told:
        sys.exit(f"live.keyed is in order: {told}")
    check.expect(0, "live: 0 errors, 0 warnings", tables="live.keyed")
    check.expect(1, "no table of the server matches", tables="live.nothing")
    check.expect(1, "lacks REPLICATION SLAVE", "GRANT REPLICATION SLAVE ON *.* TO 'poor'@'%';", "lacks REPLICATION CLIENT",
                 "GRANT REPLICATION CLIENT ON *.* TO 'poor'@'%';", user="poor", tables="live.keyed")
    server.sql("grant replication slave, replication client on *.* to poor@'%';")
    check.expect(0, "live: 0 errors, 0 warnings", user="poor", tables="live.keyed")
    check.expect(1, "is also that of the server itself", more=f"server-id: {2 if is_mariadb else 1}")
    check.expect(0, "is also that of the server itself", more="server-id: 1-9")
    check.expect(0, "server-time-zone Asia/Tokyo is 32400 s from UTC", more="server-time-zone: Asia/Tokyo")
    metadata = "NO_LOG" if is_mariadb else "MINIMAL"
    server.sql("set global binlog_format = 'STATEMENT'; set global binlog_row_image = 'MINIMAL'; "
               f"set global binlog_row_metadata = '{metadata}'; set global binlog_expire_logs_seconds = 3600;")
    check.expect(1, "binlog_format is STATEMENT", "SET GLOBAL binlog_format = 'ROW'", "binlog_row_image is MINIMAL",
                 "SET GLOBAL binlog_row_image = 'FULL'", f"binlog_row_metadata is {metadata}",
                 "the binary log is kept for 3600 s")
    server.sql("set global binlog_format = 'ROW'; set global binlog_row_image = 'FULL'; "
               "set global binlog_row_metadata = 'FULL'; set global binlog_expire_logs_seconds = 2592000;")
    # A sink's table that is there already and does not fit.
    check.configure(tables="live.keyed", more="scan.startup.mode: snapshot")
    code, out, err = check.call("run", "--state", os.path.join(check.folder, "state"), "--until-end")
    if code != 0:
        sys.exit(f"run: {out}{err}")
    check.expect(0, "live: 0 errors, 0 warnings", tables="live.keyed")
    server.sql("alter table live.keyed modify v varchar(20);")
    check.expect(1, "sink lake: live.keyed: table live.keyed is there already, but column v is INT at the sink",
                 tables="live.keyed")
    plan_on_live_tables(server, check)
    server.call("stop")
    check.expect(1, "source mysql", "live: 1 error")
    code, out, err = check.call("plan", "--live", "--ddl", "DROP TABLE live.keyed")
    if code != 1 or "source mysql" not in err:
        sys.exit(f"plan --live without its source: {code}\n{out}{err}")


def plan_on_live_tables(server, check):
    """Without schema file or state: the server's table, and the sink's as they are."""
    check.configure(tables="live.keyed")
    before = check.files()
    ddl = "ALTER TABLE live.keyed ADD COLUMN w INT NOT NULL, DROP COLUMN v"
    code, out, err = check.call("plan", "--ddl", ddl)
    if code != 1 or "--live" not in err:
        sys.exit(f"plan without a schema: {code}\n{out}{err}")
    # The server's v is a VARCHAR, the sink's an INT: the table that `run` made does not fit any more.
    server.sql("alter table live.keyed modify v int;")
    for dialect in ("", "flink"):
        words = ddl if not dialect else "ALTER TABLE live.keyed DROP v"
        code, out, err = check.call("plan", "--live", "--output", "json", "--ddl", words,
                                    *(["--dialect", dialect] if dialect else []))
        if code != 0:
            sys.exit(f"plan --live: {code}\n{out}{err}")
        verdicts = {change["event"]: change["sinks"][0] for change in json.loads(out)["changes"]}
        if verdicts["drop.column"]["verdict"] != "apply" or not verdicts["drop.column"]["actions"]:
            sys.exit(f"plan --live: {out}")
        if not dialect and verdicts["add.column"]["verdict"] != "rewrite":
            sys.exit(f"plan --live: {out}")
    if check.files() != before:
        sys.exit("plan --live left something behind")


def main():
    options = live.arguments().parse_args()
    with live.scene(options) as (server, folder):
        server.call("start")
        play(server, Validator(options.driftless, folder, server.port))
        print(f"{options.peer}: all told")


if __name__ == "__main__":
    main()
