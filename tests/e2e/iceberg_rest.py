#!/usr/bin/env python3
"""Iceberg tables of a real REST catalog (the reference implementation's test server), with what goes wrong on its way.

usage: iceberg_rest.py --driftless BIN [--only TEST[,TEST]] [--kills N] [--seed N]

Changes of a table with a key and of one without go through several commits; the catalog answers 409, 500 and 503, breaks
connections before and after it has done its work, lets tokens expire and is slow. Read back by peek, and by the
reference implementation through the catalog. Exit status: 77 where the catalog is not installed. The seed is printed.
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import replay  # noqa: E402
from pipelines import Failed, Pipeline, Records, check, default_seed, eventually, run_all  # noqa: E402

PEER = os.path.join(replay.TOP, "tests/peers")
options = argparse.Namespace()

TEXT = """source:
  type: file
  path: "@FOLDER@/records/*.jsonl"
  follow: true
sink:
  type: iceberg
  name: lake
  sort.key: "shop.orders:id desc nulls last"
  catalog.properties.uri: @URI@
  @CREDENTIAL@
pipeline:
  name: @NAME@
  http.address: off
  checkpoint.interval: 100 ms
"""


class Peers:
    """The catalog and, where it is asked for, an S3 server; of their own for one test."""

    def __init__(self, *flags, s3=False):
        self.env = {**os.environ, "PEERS_DIR": replay.PEERS, "PEERS_INSTANCE": f"iceberg-rest-{os.getpid()}"}
        self.flags, self.with_s3 = flags, s3

    def _start(self, name, *flags):
        for _ in range(3):  # the peer waits for a minute; a busy machine may need more
            started = subprocess.run([os.path.join(PEER, name), "start", *flags], env=self.env, capture_output=True, text=True)
            if started.returncode == 0:
                return dict(line.split("=", 1) for line in started.stdout.splitlines() if "=" in line)
        sys.exit(f"{name} does not start:\n" + started.stdout[-1000:] + started.stderr[-3000:])

    def __enter__(self):
        if self.with_s3:
            self.env["S3_SERVER"] = "moto"
            self.s3 = self._start("s3")
            self.env.update(self.s3)
            self.env["PEER_ICEBERG_REST_WAREHOUSE"] = f"s3://{self.s3['S3_BUCKET']}/warehouse"
        self.uri = self._start("iceberg-rest", *self.flags)["ICEBERG_REST_URI"]
        return self

    def __exit__(self, *_):
        for name in ["iceberg-rest"] + (["s3"] if self.with_s3 else []):
            subprocess.run([os.path.join(PEER, name), "wipe"], env=self.env, capture_output=True)
        shutil.rmtree(os.path.join(replay.PEERS, "inst", self.env["PEERS_INSTANCE"]), ignore_errors=True)

    def ask(self, to, verb="GET", **query):
        request = urllib.request.Request(f"{self.uri}{to}?{urllib.parse.urlencode(query)}", method=verb)
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    def fault(self, **query):
        self.ask("/__fault", "POST", **query)

    def log(self):
        return self.ask("/__log").splitlines()

    def oracle_table(self, table):
        command = [os.path.join(PEER, "oracle"), "iceberg", "table", "--rest", self.uri, table]
        read = subprocess.run(command, env=self.env, capture_output=True, text=True, encoding="utf-8")
        check(read.returncode == 0, f"the reference implementation cannot read {table}: {read.stderr[-2000:]}")
        return json.loads(read.stdout)

    def oracle_rows(self, table, *flags):
        command = [os.path.join(PEER, "oracle"), "iceberg", "rows", "--rest", self.uri, table, *flags]
        read = subprocess.run(command, env=self.env, capture_output=True, text=True, encoding="utf-8")
        check(read.returncode == 0, f"the reference implementation cannot read {table}: {read.stderr[-2000:]}")
        checked = subprocess.run(command[:2] + ["check"] + command[3:], env=self.env, capture_output=True, text=True)
        check(checked.returncode == 0, f"{table}: {checked.stdout}{checked.stderr[-2000:]}")
        return [json.loads(line) for line in read.stdout.splitlines()]


class Shop:
    """Rows as they must be: `orders` has a key, `log` has none."""

    COLUMNS = [("id", "INT", True), ("v", "INT", False)]

    def __init__(self, folder, rng, first_id=0, create=True):
        self.folder, self.rng, self.next_id, self.files = folder, rng, first_id, 0
        self.columns = {t: [(n, k, key and t == "orders") for n, k, key in self.COLUMNS] for t in ("orders", "log")}
        self.rows = {"orders": {}, "log": []}
        os.makedirs(folder, exist_ok=True)
        self.stream = Records(os.path.join(folder, "000000.jsonl"))
        if create:
            for table in self.rows:
                primary = ", PRIMARY KEY (id)" if table == "orders" else ""
                self.stream.ddl(table, f"CREATE TABLE {table} (id INT NOT NULL, v INT{primary})", self.columns[table])

    def change(self, count):
        for _ in range(count):
            kind, orders = self.rng.random(), self.rows["orders"]
            if kind < 0.3:
                self.next_id += 1
                row = {"id": self.next_id, "v": self.next_id % 7, **{n: None for n, _, _ in self.columns["log"][2:]}}
                self.rows["log"].append(row)
                self.stream.row("log", row, key=None)
            elif kind < 0.6 or not orders:
                self.next_id += 1
                row = {"id": self.next_id, "v": 0, **{n: None for n, _, _ in self.columns["orders"][2:]}}
                orders[self.next_id] = row
                self.stream.row("orders", row)
            elif kind < 0.85:
                old = self.rng.choice(list(orders.values()))
                new = {**old, "v": self.rng.randrange(1000)}
                orders[old["id"]] = new
                self.stream.row("orders", new, "u", old)
            else:
                old = orders.pop(self.rng.choice(list(orders)))
                self.stream.row("orders", None, "d", old)
        self.stream.file.flush()

    def add_column(self, name):
        for table, columns in self.columns.items():
            columns.append((name, "INT", False))
            for row in (self.rows[table].values() if table == "orders" else self.rows[table]):
                row[name] = None
            self.stream.ddl(table, f"ALTER TABLE {table} ADD COLUMN {name} INT", columns)

    def truth(self):
        return {"orders": canonical(self.rows["orders"].values()), "log": canonical(self.rows["log"])}


def canonical(rows):
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def pipeline_of(driftless, folder, peers, credential="", name="rest", catalog="rest"):
    text = TEXT.replace("@URI@", peers.uri).replace("@NAME@", name)
    if catalog == "jdbc":
        data = os.path.join(replay.PEERS, "inst", peers.env["PEERS_INSTANCE"], "iceberg-rest/data")
        text = text.replace(peers.uri, f"jdbc:sqlite:{data}/catalog.db\n  catalog.properties.warehouse: {data}/warehouse"
                            "\n  catalog.properties.catalog-name: rest_backend")
    return Pipeline(driftless, folder, text.replace("@CREDENTIAL@", credential or "table.properties.gc.enabled: true"))


def seen(pipeline):
    return {t: canonical(pipeline.rows_or_none("shop." + t)) for t in ("orders", "log")}


def compare(pipeline, shop, what):
    got, wanted = seen(pipeline), shop.truth()
    for table in wanted:
        check(got[table] == wanted[table], f"{what}: shop.{table} has {len(got[table])} rows, not the "
              f"{len(wanted[table])} of the truth; {next((p for p in zip(got[table], wanted[table]) if p[0] != p[1]), None)}")


@contextlib.contextmanager
def running(pipeline):
    process = pipeline.start()
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        check(process.wait(timeout=60) == 0, "the run ended with " + str(process.returncode) + ":\n" +
              open(pipeline.log, encoding="utf-8", errors="replace").read()[-4000:])
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def commits_arrive(pipeline, shop, process, what):
    """Waits for what was written so far: each change of the catalog's behaviour meets a commit of its own."""
    shop.change(20)
    wanted = shop.truth()
    try:
        eventually(lambda: seen(pipeline) == wanted, what, process)
    except Failed as error:
        with open(pipeline.log, encoding="utf-8", errors="replace") as log:
            raise Failed(f"{error}\n{log.read()[-3000:]}") from error


def tables_are_followed(driftless, folder):
    with Peers() as peers:
        shop = Shop(os.path.join(folder, "records"), random.Random(options.seed))
        pipeline = pipeline_of(driftless, folder, peers)
        with running(pipeline) as process:
            commits_arrive(pipeline, shop, process, "the first rows")
            shop.add_column("w")
            commits_arrive(pipeline, shop, process, "rows after ADD COLUMN")
        # A cut of both tables is one transaction of the catalog.
        check(any("transactions/commit 20" in line for line in peers.log()), f"no transaction over tables: {peers.log()}")
        for table, rows in shop.truth().items():
            check(canonical(peers.oracle_rows("shop." + table)) == rows, f"{table} as the reference implementation reads it")
        # The catalog gives out field ids anew, and the order follows them.
        orders = [f for o in peers.oracle_table("shop.orders")["sortOrders"] for f in o["fields"]]
        check(orders == [{"transform": "identity", "source-id": 1, "direction": "desc", "null-order": "nulls-last"}], orders)


def faults_are_survived(driftless, folder):
    with Peers("oauth=me:secret") as peers:
        shop = Shop(os.path.join(folder, "records"), random.Random(options.seed + 1))
        pipeline = pipeline_of(driftless, folder, peers, "catalog.properties.credential: me:secret")
        commit = "tables/|transactions/commit"
        with running(pipeline) as process:
            commits_arrive(pipeline, shop, process, "the first rows")
            for fault in [dict(status=500, when="after"), dict(status=-1, when="after"), dict(status=-1, when="before"),
                          dict(status=503, when="before", times=3), dict(status=502, when="after", times=2),
                          dict(status=409, when="before"), dict(status=409, when="after"), dict(status=429, when="before"),
                          dict(status=0, delay=1500), dict(status=504, when="after", delay=500)]:
                for method, path in [("POST", commit), ("GET", "tables/")]:
                    if method == "GET" and fault["status"] == 409:
                        continue  # nothing that is read is ever in conflict
                    peers.ask("/__log", "DELETE")
                    peers.fault(method=method, path=path, **fault)
                    commits_arrive(pipeline, shop, process, f"rows after {method} with {fault}")
                    status = "broken" if fault["status"] < 0 else str(fault["status"])
                    check(fault["status"] == 0 or any(line.startswith(method) and line.endswith(status)
                                                      for line in peers.log()), f"{method} with {fault} has met no request: {peers.log()}")
                    peers.ask("/__fault", "DELETE")
            for _ in range(3):
                peers.ask("/__expire", "POST")
                commits_arrive(pipeline, shop, process, "rows after the token expired")
            # The answer to a schema change is lost, too.
            peers.fault(method="POST", path="tables/", status=500, when="after", times=2)
            shop.add_column("w")
            commits_arrive(pipeline, shop, process, "rows after ADD COLUMN")
        peers.ask("/__fault", "DELETE")
        compare(pipeline, shop, "after all faults")
        token = "token=" + json.loads(urllib.request.urlopen(
            peers.uri + "/v1/oauth/tokens", b"grant_type=client_credentials&client_id=me&client_secret=secret").read())["access_token"]
        for table, rows in shop.truth().items():
            check(canonical(peers.oracle_rows("shop." + table, "--catalog", token)) == rows,
                  f"{table} as the reference implementation reads it")


def a_wrong_credential_is_said(driftless, folder):
    with Peers("oauth=me:secret") as peers:
        shop = Shop(os.path.join(folder, "records"), random.Random(1))
        shop.change(5)
        pipeline = pipeline_of(driftless, folder, peers, "catalog.properties.credential: me:wrong")
        process = pipeline.start("--until-end")
        check(process.wait(timeout=60) != 0, "the run must not end well")
        log = open(pipeline.log, encoding="utf-8").read()
        check("invalid_client" in log and "credential" in log, log[-2000:])
        check("wrong" not in log.replace("wrong credential", ""), "the secret stands in the log")


def keys_are_vended(driftless, folder):
    if not os.path.isdir(os.path.join(replay.PEERS, "dist/s3")):
        print("        skipped: the peer s3 is not installed", flush=True)
        return
    with Peers("include-credentials=true", s3=True) as peers:
        shop = Shop(os.path.join(folder, "records"), random.Random(options.seed + 2))
        # No keys: the catalog vends them.
        pipeline = pipeline_of(driftless, folder, peers, f"catalog.properties.s3.endpoint: {peers.s3['S3_ENDPOINT']}")
        for name in [n for n in os.environ if n.startswith("AWS_")]:
            del os.environ[name]
        with running(pipeline) as process:
            commits_arrive(pipeline, shop, process, "the first rows")
            commits_arrive(pipeline, shop, process, "the next rows")
        s3 = [f"s3.endpoint={peers.s3['S3_ENDPOINT']}", "s3.path-style-access=true", "client.region=us-east-1",
              "s3.access-key-id=driftless", "s3.secret-access-key=driftless-secret",
              "io-impl=org.apache.iceberg.aws.s3.S3FileIO"]
        if any("aws" in jar for jar in os.listdir(os.path.join(replay.PEERS, "dist/oracle/iceberg"))):
            for table, rows in shop.truth().items():
                read = peers.oracle_rows("shop." + table, *[word for pair in s3 for word in ("--catalog", pair)])
                check(canonical(read) == rows, f"{table} as the reference implementation reads it")


def share(driftless, folder, catalogs):
    with Peers() as peers:
        shops, pipelines = [], []
        for i, catalog in enumerate(catalogs):
            part = os.path.join(folder, str(i))
            shop = Shop(os.path.join(part, "records"), random.Random(options.seed + 10 + i), first_id=1_000_000 * i)
            shops.append(shop)
            pipelines.append(pipeline_of(driftless, part, peers, name=f"{catalog}{i}", catalog=catalog))
        # One creates the tables; the other finds them.
        with running(pipelines[0]) as process:
            commits_arrive(pipelines[0], shops[0], process, "the first rows")

        def both():
            return {t: sorted(shops[0].truth()[t] + shops[1].truth()[t]) for t in ("orders", "log")}
        def have_met():
            # The catalog behind jdbc has no log of its own.
            return "jdbc" in catalogs or any(line.startswith("POST") and line.endswith(" 409") for line in peers.log())
        with running(pipelines[0]) as a, running(pipelines[1]) as b:
            for turn in range(200):
                for shop in shops:
                    shop.change(30)
                    time.sleep(0.05)
                if turn >= 7 and have_met():
                    break
            wanted = both()
            eventually(lambda: seen(pipelines[0]) == wanted, "the rows of both", a)
            check(b.poll() is None, "the second pipeline has ended")
        for table, rows in both().items():
            check(canonical(peers.oracle_rows("shop." + table)) == rows, f"{table} as the reference implementation reads it")
        check(have_met(), "the two have never met: the test shows nothing")


def two_pipelines_share_a_table(driftless, folder):
    share(driftless, folder, ["rest", "rest"])


def the_database_of_the_reference_is_shared(driftless, folder):
    """The server keeps a JdbcCatalog in SQLite: one pipeline works on that database, the other through the server."""
    share(driftless, folder, ["jdbc", "rest"])


def kills_lose_nothing(driftless, folder):
    with Peers() as peers:
        rng = random.Random(options.seed + 3)
        shop = Shop(os.path.join(folder, "records"), rng)
        pipeline = pipeline_of(driftless, folder, peers)
        done = False

        def write():
            while not done:
                shop.change(10)
                time.sleep(0.05)
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for kill in range(options.kills):
                if kill % 5 == 4:
                    peers.fault(method="POST", path="tables/|transactions/commit", when=rng.choice(["before", "after"]),
                                status=rng.choice([500, -1]))
                process = pipeline.start()
                time.sleep(rng.uniform(0.05, 1.2))
                check(process.poll() is None, "the run ended by itself:\n" +
                      open(pipeline.log, encoding="utf-8", errors="replace").read()[-3000:])
                process.kill()
                process.wait()
        finally:
            done = True
            writer.join()
        peers.ask("/__fault", "DELETE")
        with running(pipeline) as process:
            commits_arrive(pipeline, shop, process, f"all rows after {options.kills} kills")
        for table, rows in shop.truth().items():
            check(canonical(peers.oracle_rows("shop." + table)) == rows, f"{table} as the reference implementation reads it")


TESTS = [tables_are_followed, faults_are_survived, a_wrong_credential_is_said, keys_are_vended,
         two_pipelines_share_a_table, the_database_of_the_reference_is_shared, kills_lose_nothing]


def main():
    global options
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--only", default="")
    ap.add_argument("--kills", type=int, default=20)
    ap.add_argument("--seed", type=int, default=default_seed())
    options = ap.parse_args()
    if not os.path.isdir(os.path.join(replay.PEERS, "dist/iceberg-rest")):
        print("skipped: the peer iceberg-rest is not installed")
        sys.exit(77)
    print(f"seed {options.seed}", flush=True)
    chosen = [t for t in TESTS if not options.only or t.__name__ in options.only.split(",")]
    sys.exit(run_all(chosen, options.driftless))


if __name__ == "__main__":
    main()
