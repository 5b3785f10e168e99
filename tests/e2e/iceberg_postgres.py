#!/usr/bin/env python3
"""Iceberg tables of a jdbc catalog in a real PostgreSQL: two pipelines in the same tables, a server that is killed, and
pipelines that are.

usage: iceberg_postgres.py --driftless BIN [--kills N] [--seed N]

Read back by peek, by the reference implementation, and by pyiceberg through the same catalog where they are installed.
Exit status: 77 where PostgreSQL is not installed. The seed is printed.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import iceberg_rest as shared
from iceberg_rest import canonical, commits_arrive, running, seen, Shop
import replay
from pipelines import Pipeline, check, default_seed, eventually, run_all

PEER = os.path.join(replay.TOP, "tests/peers")
TEXT = """source:
  type: file
  path: "@FOLDER@/records/*.jsonl"
  follow: true
sink:
  type: iceberg
  name: lake
  catalog.properties.uri: jdbc:postgresql://@HOST@/@DB@
  catalog.properties.jdbc.user: @USER@
  catalog.properties.jdbc.password: @PASSWORD@
  catalog.properties.warehouse: @WAREHOUSE@
  catalog.properties.catalog-name: lakes
  sink.compaction.enabled: true
pipeline:
  name: @NAME@
  http.address: off
  checkpoint.interval: 100 ms
"""
PYICEBERG = """
import json, sys
from pyiceberg.catalog.sql import SqlCatalog
catalog = SqlCatalog("lakes", uri=sys.argv[1], warehouse=sys.argv[2], init_catalog_tables="false")
print(json.dumps(sorted(".".join(t) for t in catalog.list_tables("shop"))))
for row in catalog.load_table("shop.log").scan().to_arrow().to_pylist():
    print(json.dumps(row, sort_keys=True))
"""


class Server:
    def __init__(self):
        self.env = {**os.environ, "PEERS_DIR": replay.PEERS}
        # It runs as a user who need not be able to read the checkout.
        self.folder = tempfile.mkdtemp(prefix="driftless-postgres-")
        os.chmod(self.folder, 0o755)

    def call(self, verb):
        return subprocess.run([os.path.join(PEER, "postgres"), verb], env={**os.environ, "PEERS_DIR": self.folder},
                              capture_output=True, text=True)

    def start(self):
        for _ in range(3):  # a busy machine may need more than the peer waits
            started = self.call("start")
            if started.returncode == 0:
                self.is_at = dict(line.split("=", 1) for line in started.stdout.splitlines() if "=" in line)
                return
        sys.exit("postgres does not start:\n" + started.stdout[-1000:] + started.stderr[-3000:])

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.call("wipe")
        shutil.rmtree(self.folder, ignore_errors=True)

    def pipeline(self, driftless, folder, warehouse, name):
        text = TEXT.replace("@WAREHOUSE@", warehouse).replace("@NAME@", name)
        for key, value in (("HOST", f"{self.is_at['POSTGRES_HOST']}:{self.is_at['POSTGRES_PORT']}"), ("DB", self.is_at["POSTGRES_DB"]),
                           ("USER", self.is_at["POSTGRES_USER"]), ("PASSWORD", self.is_at["POSTGRES_PASSWORD"])):
            text = text.replace(f"@{key}@", value)
        return Pipeline(driftless, folder, text)


def as_others_read(server, warehouse, wanted):
    readers = os.path.join(PEER, "readers")
    if os.path.exists(os.path.join(replay.PEERS, "dist/oracle/.stamp")):
        for table, rows in wanted.items():
            for verb in ("check", "rows"):
                read = subprocess.run([os.path.join(PEER, "oracle"), "iceberg", verb, "--metadata", os.path.join(warehouse, "shop", table)],
                                      env=server.env, capture_output=True, text=True, encoding="utf-8")
                check(read.returncode == 0, f"the reference implementation, {verb} {table}: {read.stdout[-1000:]}{read.stderr[-2000:]}")
            check(sorted(canonical(json.loads(x) for x in read.stdout.splitlines())) == rows, f"{table} as the reference implementation reads it")
    if os.path.exists(os.path.join(replay.PEERS, "dist/readers/.stamp")):
        url = server.is_at["POSTGRES_URL"].replace("postgresql://", "postgresql+psycopg2://")
        read = subprocess.run([readers, "py", "-c", PYICEBERG, url, "file://" + warehouse], env=server.env, capture_output=True, text=True)
        check(read.returncode == 0, f"pyiceberg: {read.stderr[-3000:]}")
        tables, *rows = read.stdout.splitlines()
        check(json.loads(tables) == ["shop.log", "shop.orders"], tables)
        check(sorted(rows) == wanted["log"], "log as pyiceberg reads it")


def two_pipelines_share_the_tables(driftless, folder):
    with Server() as server:
        warehouse = os.path.join(folder, "warehouse")
        shops, pipelines = [], []
        for i in range(2):
            part = os.path.join(folder, str(i))
            shops.append(Shop(os.path.join(part, "records"), random.Random(options.seed + i), first_id=1_000_000 * i))
            pipelines.append(server.pipeline(driftless, part, warehouse, f"pipe{i}"))
        with running(pipelines[0]) as process:
            commits_arrive(pipelines[0], shops[0], process, "the first rows")

        def both():
            return {t: sorted(shops[0].truth()[t] + shops[1].truth()[t]) for t in ("orders", "log")}
        with running(pipelines[0]) as a, running(pipelines[1]) as b:
            for turn in range(16):
                for shop in shops:
                    shop.change(20)
                if turn in (5, 10):
                    server.call("kill")
                    time.sleep(0.5)
                    server.start()
                time.sleep(0.1)
            wanted = both()
            eventually(lambda: seen(pipelines[0]) == wanted, "the rows of both", a)
            check(b.poll() is None, "the second pipeline has ended")
        as_others_read(server, warehouse, both())


def kills_lose_nothing(driftless, folder):
    with Server() as server:
        warehouse = os.path.join(folder, "warehouse")
        rng = random.Random(options.seed + 3)
        shop = Shop(os.path.join(folder, "records"), rng)
        pipeline = server.pipeline(driftless, folder, warehouse, "pipe")
        done = False

        def write():
            while not done:
                shop.change(10)
                time.sleep(0.05)
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for kill in range(options.kills):
                process = pipeline.start()
                time.sleep(rng.uniform(0.05, 1.2))
                check(process.poll() is None, "the run ended by itself:\n" +
                      open(pipeline.log, encoding="utf-8", errors="replace").read()[-3000:])
                if kill % 5 == 4:
                    server.call("kill")
                process.kill()
                process.wait()
                if kill % 5 == 4:
                    server.start()
        finally:
            done = True
            writer.join()
        with running(pipeline) as process:
            commits_arrive(pipeline, shop, process, f"all rows after {options.kills} kills")
        as_others_read(server, warehouse, shop.truth())


def main():
    global options
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--kills", type=int, default=10)
    ap.add_argument("--seed", type=int, default=default_seed())
    options = shared.options = ap.parse_args()
    if not os.path.exists("/usr/lib/postgresql/15/bin/postgres"):
        print("skipped: PostgreSQL is not installed")
        sys.exit(77)
    print(f"seed {options.seed}", flush=True)
    sys.exit(run_all([two_pipelines_share_the_tables, kills_lose_nothing], options.driftless))


if __name__ == "__main__":
    main()
