#!/usr/bin/env python3
"""Figures of the live MySQL and MariaDB source, on a server that the script starts itself.

usage: mysql_path.py --driftless BIN [--peer mariadb|mysql] [--rows 1000000] [--big 5000000] [--tables 1000] [--only NAME]
  log       binlog to blackhole and to a Paimon table with a key: row images per CPU-second of ours, beside what
            `mariadb-binlog -v` needs to print the same log
  snapshot  a snapshot to blackhole and to a Paimon table with a key: rows per CPU-second of ours; the server's beside it
  alter     from ALTER TABLE at the server to the first row under the new schema in Paimon, checkpoints each second
  tables    peak memory with many tables, snapshot and log
  big       peak memory with one transaction of many rows
CPU time is the child's own (user and system), so that other work on the machine does not count; wall time does.
"""
import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import mysql_live as live  # noqa: E402
from whole_path import machine  # noqa: E402

PATIENCE_S = 1800


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Run:
    """One pipeline, measured. `sink`: blackhole, paimon, or the lines of its block."""

    def __init__(self, binary, server, tables, sink, folder, source=""):
        self.binary, self.folder = binary, folder
        os.makedirs(folder)
        self.http = free_port()
        self.file = os.path.join(folder, "bench.yaml")
        sink = {"blackhole": "  type: blackhole\n", "paimon": f"  type: paimon\n  catalog.properties.warehouse: {folder}/warehouse\n"
                "  table.properties.bucket: 2\n"}.get(sink, sink)
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(f"source:\n  type: mysql\n  hostname: 127.0.0.1\n  port: {server.port}\n  username: driftless\n"
                    f"  password: driftless\n  tables: {tables}\n{source}sink:\n  name: out\n{sink}pipeline:\n  name: bench\n"
                    f"  checkpoint.interval: 1s\n  http.address: 127.0.0.1:{self.http}\n")
        self.log = os.path.join(folder, "run.log")
        self.started = time.monotonic()
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen([binary, "run", self.file, "--state", os.path.join(folder, "state")],
                                          stdout=log, stderr=log)

    def changes(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=10) as answer:
                text = answer.read().decode()
        except OSError:
            return 0
        return sum(float(v) for v in re.findall(r"^driftless_changes_total\{[^}]*\} (\S+)", text, re.M))

    def wait_for(self, is_there, pause_s=0.1):
        deadline = time.monotonic() + PATIENCE_S
        while not is_there():
            if self.child.poll() is not None or time.monotonic() > deadline:
                with open(self.log, encoding="utf-8", errors="replace") as log:
                    sys.exit(f"the pipeline ended or does not arrive:\n{log.read()[-3000:]}")
            time.sleep(pause_s)

    def peek(self, table):
        return subprocess.run([self.binary, "peek", self.file, "--table", table], capture_output=True, text=True).stdout

    def stop(self):
        """(wall s, cpu s, peak MiB), everything committed."""
        self.child.send_signal(signal.SIGTERM)
        _, status, usage = os.wait4(self.child.pid, 0)
        if status:
            sys.exit(f"it ended with {status}: {open(self.log, encoding='utf-8').read()[-3000:]}")
        return time.monotonic() - self.started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def place(server):
    for text in ("show binary log status;", "show master status;"):
        line = server.call("client", "-N", "-B", "-e", text, check=False).split("\t")
        if len(line) > 1:
            return line[0], line[1]
    sys.exit("the server tells no place")


def numbers(rows):
    """A query of 1 to rows, in a form that both servers have."""
    return ("(with recursive d (n) as (select 0 union all select n + 1 from d where n < 9) select 1 + a.n + 10 * b.n + 100 * c.n + "
            "1000 * e.n + 10000 * f.n + 100000 * g.n + 1000000 * h.n as n from d a, d b, d c, d e, d f, d g, d h "
            f"where 1 + a.n + 10 * b.n + 100 * c.n + 1000 * e.n + 10000 * f.n + 100000 * g.n + 1000000 * h.n <= {rows}) q")


def fill_log(server, rows):
    """A table bench.log of `rows` rows: (the source's lines that read its log from the beginning, the log's file)."""
    server.sql("create table bench.log (id bigint primary key, n int, note varchar(40), total decimal(12,2), at datetime(3)) charset utf8mb4; "
               "create table bench.one_to (n int primary key); insert into bench.one_to select n from " + numbers(100000) + "; flush logs;")
    file, offset = place(server)
    for i in range(0, rows, 100000):
        server.sql(f"insert into bench.log select n + {i}, n, concat('note ', n), n / 7, '2024-02-29 12:34:56.789' from bench.one_to "
                   f"where n <= {min(100000, rows - i)};")
    source = ("  scan.startup.mode: specific-offset\n"
              f"  scan.startup.specific-offset.file: {file}\n  scan.startup.specific-offset.pos: {offset}\n")
    return source, os.path.join(server.sql("select @@datadir;").strip(), file)


def bench_log(a, server, folder):
    source, path = fill_log(server, a.rows)
    started = os.times()
    subprocess.run(["mariadb-binlog", "-v", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    ended = os.times()
    yardstick = ended.children_user + ended.children_system - started.children_user - started.children_system
    print(f"log: {a.rows} rows of 5 columns, {os.path.getsize(path) / a.rows:.0f} bytes each; mariadb-binlog -v: "
          f"{yardstick:.2f} CPU-s ({a.rows / yardstick:,.0f} rows per CPU-s)")
    for sink in ("blackhole", "paimon"):
        run = Run(a.driftless, server, "bench.log", sink, os.path.join(folder, "log-" + sink), source)
        run.wait_for(lambda: run.changes() >= a.rows)
        wall, cpu, peak = run.stop()
        print(f"log to {sink}: {a.rows / cpu:,.0f} row images per CPU-s, {cpu:.2f} CPU-s, {wall:.1f} s, peak {peak:.0f} MiB, "
              f"{yardstick / cpu:.2f} times mariadb-binlog -v", flush=True)


def cpu_of_server(server):
    """Seconds, user and system, of the server's process."""
    with open(server.sql("select @@pid_file;").strip(), encoding="utf-8") as file:
        pid = file.read().strip()
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bench_snapshot(a, server, folder):
    server.sql("create table bench.snap (id bigint primary key, n int, note varchar(40), total decimal(12,2), at datetime(3)) charset utf8mb4; "
               f"insert into bench.snap select n, n, concat('note ', n), n / 7, '2024-02-29 12:34:56.789' from {numbers(a.rows)};")
    for sink in ("blackhole", "paimon"):
        before = cpu_of_server(server)
        run = Run(a.driftless, server, "bench.snap", sink, os.path.join(folder, "snapshot-" + sink))
        run.wait_for(lambda: run.changes() >= a.rows)
        wall, cpu, peak = run.stop()
        print(f"snapshot to {sink}: {a.rows / cpu:,.0f} rows per CPU-s, {cpu:.2f} CPU-s, {wall:.1f} s, peak {peak:.0f} MiB; the server's own: "
              f"{cpu_of_server(server) - before:.2f} CPU-s", flush=True)


def bench_alter(a, server, folder):
    server.sql("create table bench.altered (id int primary key, v int); insert into bench.altered values (0, 0);")
    run = Run(a.driftless, server, "bench.altered", "paimon", os.path.join(folder, "alter"))
    run.wait_for(lambda: '"id":0' in run.peek("bench.altered").replace(" ", ""))
    seconds = []
    for i in range(1, 11):
        started = time.monotonic()
        server.sql(f"alter table bench.altered add column c{i} int; insert into bench.altered (id, c{i}) values ({i}, {i});")
        altered = time.monotonic()
        run.wait_for(lambda: f'"c{i}":{i}' in run.peek("bench.altered").replace(" ", ""), 0.02)
        seconds.append((time.monotonic() - started, altered - started))
    run.stop()
    total = sorted(s for s, _ in seconds)
    print(f"alter: to the first row under the new schema: median {total[len(total) // 2]:.2f} s, longest {total[-1]:.2f} s of {len(total)} "
          f"(the server's own part: {sorted(s for _, s in seconds)[len(seconds) // 2]:.2f} s); checkpoints each second", flush=True)


def bench_tables(a, server, folder):
    server.sql("create database many; use many;" + "".join(
        f"create table t{i} (id int primary key, v varchar(100), at datetime(6)); insert into t{i} values (1, repeat('x', 100), now(6)), (2, 'y', null);"
        for i in range(a.tables)))
    run = Run(a.driftless, server, "many.\\.*", "paimon", os.path.join(folder, "tables"))
    run.wait_for(lambda: run.changes() >= 2 * a.tables, 1)
    server.sql("use many;" + "".join(f"insert into t{i} values (3, 'z', null); alter table t{i} add column c int; update t{i} set c = 7;"
                                     for i in range(a.tables)))
    run.wait_for(lambda: run.changes() >= 6 * a.tables, 1)
    wall, cpu, peak = run.stop()
    print(f"tables: {a.tables} tables, snapshot, rows and an ALTER each, to Paimon: peak {peak:.0f} MiB, {cpu:.1f} CPU-s, {wall:.0f} s", flush=True)


def bench_big(a, server, folder):
    server.sql("create table bench.big (id bigint primary key, n int, note varchar(40)) charset utf8mb4;")
    file, offset = place(server)
    server.sql(f"insert into bench.big select n, n, concat('note ', n) from {numbers(a.big)};")
    source = ("  scan.startup.mode: specific-offset\n"
              f"  scan.startup.specific-offset.file: {file}\n  scan.startup.specific-offset.pos: {offset}\n")
    for sink in ("blackhole", "paimon"):
        run = Run(a.driftless, server, "bench.big", sink, os.path.join(folder, "big-" + sink), source)
        run.wait_for(lambda: run.changes() >= a.big, 0.5)
        wall, cpu, peak = run.stop()
        print(f"big: one transaction of {a.big} rows to {sink}: peak {peak:.0f} MiB, {a.big / cpu:,.0f} rows per CPU-s, {wall:.0f} s", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--peer", choices=["mysql", "mariadb"], default="mariadb")
    ap.add_argument("--rows", type=int, default=1000000)
    ap.add_argument("--big", type=int, default=5000000)
    ap.add_argument("--tables", type=int, default=1000)
    ap.add_argument("--only", choices=["log", "snapshot", "alter", "tables", "big"])
    a = ap.parse_args()
    if not live.is_installed(a.peer):
        sys.exit(f"{a.peer} is not installed")
    print(f"machine: {machine()}; {a.peer}")
    folder = tempfile.mkdtemp(prefix="driftless-bench-")
    server = live.Server(a.peer)
    try:
        server.call("start")
        server.sql("create database bench;")
        for name, bench in (("log", bench_log), ("snapshot", bench_snapshot), ("alter", bench_alter), ("tables", bench_tables), ("big", bench_big)):
            if a.only in (None, name):
                bench(a, server, folder)
    finally:
        server.call("wipe", check=False)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
