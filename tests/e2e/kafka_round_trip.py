#!/usr/bin/env python3
"""Through a real Kafka broker: recorded streams to topics and back into Paimon, and kill -9 on both sides.

usage: kafka_round_trip.py --driftless BIN [--only TEST[,TEST]] [--kills N] [--seed N]

- Recordings go file -> Kafka -> Paimon, with 1 and with 6 partitions; the tables must equal the source's truth.
- With exactly-once, the pipeline to Kafka is killed at random moments; a consumer that reads committed records
  only must see every change exactly once, in the order of the source for each key. The same when the broker is
  killed and comes back.
- In upsert mode the last message of each key is the row, or a tombstone.
- The pipeline from Kafka is killed while it writes to Paimon; the tables must equal the truth.
The broker is a new one each time. Exit status: 77 where Kafka is not installed. The seed is printed.
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import kafka_peer  # noqa: E402
import replay  # noqa: E402
from pipelines import Failed, Pipeline, Records, check, default_seed, run_all  # noqa: E402

options = argparse.Namespace()


broker = kafka_peer.Broker("round-trip", with_users=True)


def to_kafka(source, case, name, **sink):
    """A pipeline of files to Kafka, with the case's own options for the pipeline; `source` are its lines."""
    lines = ["source:", *("  " + line for line in source), "sink:", "  type: kafka", "  name: out",
             f"  properties.bootstrap.servers: {broker.bootstrap}"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in sink.items()]
    lines += ["pipeline:", f"  name: {name}-out", "  http.address: off", "  checkpoint.interval: 100 ms"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in case.get("pipeline", {}).items()]
    return "\n".join(lines) + "\n"


def to_paimon(topics, case, name, **source):
    """A pipeline of topics to Paimon, with the case's own options for the pipeline."""
    lines = ["source:", "  type: kafka", f"  properties.bootstrap.servers: {broker.bootstrap}",
             f"  topic-pattern: {json.dumps(topics)}", "  scan.startup.mode: earliest-offset",
             "  scan.bounded.mode: latest-offset",
             *(f"  {key}: {json.dumps(value)}" for key, value in source.items()),
             "sink:", "  type: paimon", "  name: lake", "  catalog.properties.warehouse: @FOLDER@/warehouse",
             "pipeline:", f"  name: {name}-in", "  http.address: off", "  checkpoint.interval: 100 ms"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in case.get("pipeline", {}).items()]
    return "\n".join(lines) + "\n"


def folder_of(folder, name):
    path = os.path.join(folder, name)
    os.makedirs(path)
    return path


def fill_topics(driftless, folder, case, **sink):
    """The whole recording of a case into topics."""
    source = ["type: file", "path: " + os.path.join(replay.TOP, "tests/data", case["recording"])]
    source += [f"{k}: {json.dumps(v)}" for k, v in case.get("source", {}).items()]
    Pipeline(driftless, folder_of(folder, "out"), to_kafka(source, case, os.path.basename(folder), **sink)).run()


def check_equals_truth(driftless, case, pipeline):
    args = argparse.Namespace(driftless=driftless)
    try:
        got, report = replay.compare(args, "peek", case, pipeline.file, pipeline.warehouse, pipeline.folder)
    except SystemExit as error:  # a table cannot be read
        raise Failed(str(error)) from error
    check(got == replay.expected_of(case["name"]), f"{case['name']}: not as the truth says:\n{report[-6000:]}")
    check(replay.tables_of(pipeline.warehouse), "no tables")
    shutil.rmtree(os.path.join(pipeline.folder, "peek"))


def round_trip(driftless, folder, name, topic, source=None, **sink):
    case = replay.case_named(name)
    work = folder_of(folder, topic)
    fill_topics(driftless, work, case, topic=topic, **sink)
    back = Pipeline(driftless, folder_of(work, "in"), to_paimon(topic, case, topic, **(source or {})))
    back.run()
    check_equals_truth(driftless, case, back)
    return case, back


CASES = ("mysql-9.7/a_ddl.plain", "mysql-9.7/a_shards.plain", "mysql-9.7/a_types.plain")


def one_partition(driftless, folder):
    for number, name in enumerate(CASES):
        round_trip(driftless, folder, name, f"one{options.seed}-{number}", **{"topic.partitions": 1})


def six_partitions(driftless, folder):
    for number, (name, keys) in enumerate(zip(CASES, ("json", "csv", "json"))):
        round_trip(driftless, folder, name, f"six{options.seed}-{number}", {"key.format": keys},
                   **{"topic.partitions": 6, "partition.strategy": "hash-by-key", "key.format": keys})


def other_formats(driftless, folder):
    """What we write as Canal and Maxwell do is read back, statements included."""
    for number, name in enumerate(("mysql-9.7/a_ddl.plain", "mysql-9.7/a_shards.plain")):
        round_trip(driftless, folder, name, f"canal{options.seed}-{number}",
                   {"value.format": "canal-json", "canal-json.time-zone": "UTC",
                    "canal-json.mysql.treat-tinyint1-as-boolean.enabled": False},
                   **{"value.format": "canal-json", "topic.partitions": 3, "partition.strategy": "hash-by-key"})
    round_trip(driftless, folder, "mysql-9.7/a_shards.plain", f"maxwell{options.seed}", {"value.format": "maxwell-json"},
               **{"value.format": "maxwell-json", "schema.change.events": "inline", "topic.partitions": 1})


def progress(pipeline):
    """What a killed pipeline left in its state: the positions up to which all is committed, and the number of
    tokens of cuts that were about to be committed."""
    if not os.path.isdir(pipeline.state):
        return [], 0
    copy = os.path.join(pipeline.folder, "state-copy")
    shutil.copytree(pipeline.state, copy)
    try:
        database = os.path.join(copy, "state.db")
        if not os.path.exists(database):
            return [], 0
        with contextlib.closing(sqlite3.connect(database)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tokens'").fetchall():
                return [], 0
            return (db.execute("SELECT position FROM sinks UNION ALL SELECT position FROM table_positions "
                               "ORDER BY position").fetchall(),
                    db.execute("SELECT COUNT(*) FROM tokens").fetchone()[0])
    finally:
        shutil.rmtree(copy)


class Moments:
    """Random moments for kills, spread over the time that a run takes here and now: later while kills come before
    anything new was committed, earlier when the run ends first."""

    def __init__(self, rng):
        self.rng = rng
        self.longest_s = 1.0

    def run(self, process):
        """Waits for the end, and returns the exit status, or kills: None."""
        started = time.monotonic()
        try:
            code = process.wait(timeout=self.rng.uniform(0.3, 1) * self.longest_s)
            self.longest_s = max(0.1, 0.9 * (time.monotonic() - started))
            return code
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    def too_early(self):
        self.longest_s *= 1.3


TABLES = ("a", "b", "c")
COLUMNS = [("id", "INT", True), ("n", "INT", False)]


class Changes:
    """Writes changes of three tables; remembers them by table and key, in their order."""

    def __init__(self, folder, rng):
        self.stream = Records(os.path.join(folder, "records.jsonl"))
        self.rng = rng
        self.now = {}
        self.expected = {}
        self.number = 0
        self.columns = {table: list(COLUMNS) for table in TABLES}
        for table in TABLES:
            self.stream.ddl(table, f"CREATE TABLE {table} (id INT PRIMARY KEY, n INT)", COLUMNS)

    def write(self, count):
        for _ in range(count):
            self.number += 1
            table = self.rng.choice(TABLES)
            key = (table, self.rng.randrange(200))
            before = self.now.get(key)
            if before is not None and self.rng.random() < 0.1:
                self.stream.row(table, None, "d", before)
                del self.now[key]
                self.expected.setdefault(key, []).append(("d", before["n"]))
                continue
            after = {"id": key[1], "n": self.number}
            self.stream.row(table, after, "u" if before else "c", before)
            self.now[key] = after
            self.expected.setdefault(key, []).append(("u" if before else "c", self.number))
        table = self.rng.choice(TABLES)
        name = f"x{self.number}"
        self.columns[table].append((name, "INT", False))
        self.stream.ddl(table, f"ALTER TABLE {table} ADD COLUMN {name} INT", self.columns[table])
        for key, row in self.now.items():
            if key[0] == table:
                row[name] = None


def by_key(records):
    """What the consumer saw: changes by table and key, and how often each statement stands in each partition."""
    seen, partitions, statements = {}, {}, {}
    for partition, _, message in records:
        if "ddl" in message:
            statement = (partition, message["ddl"])
            statements[statement] = statements.get(statement, 0) + 1
            continue
        row = message["after"] or message["before"]
        name = (message["source"]["table"], row["id"])
        seen.setdefault(name, []).append((message["op"], row["n"]))
        partitions.setdefault(name, set()).add(partition)
    check(all(len(p) == 1 for p in partitions.values()), "a key stands in several partitions")
    return seen, statements


def check_each_once(changes, topics, after):
    """A consumer of committed records saw each change exactly once, in order, and each ALTER once per partition."""
    changes.stream.close()
    seen, statements = by_key(broker.committed_records(topics))
    for key in sorted({*changes.expected, *seen}):
        wanted, got = changes.expected.get(key, []), seen.get(key, [])
        check(wanted == got, f"{key} after {after}: {len(got)} changes instead of {len(wanted)}:\n"
                             f"wanted {wanted[:40]}\ngot    {got[:40]}")
    for (partition, ddl), times in statements.items():
        if not ddl.startswith("CREATE"):
            check(times == 1, f"{ddl} stands {times} times in partition {partition}")
    altered = sum(len(columns) - len(COLUMNS) for columns in changes.columns.values())
    got = sum(1 for _, ddl in statements if ddl.startswith("ALTER"))
    check(got == 3 * altered, f"{got} ALTERs in 3 partitions, not 3 * {altered}")


def once_pipeline(driftless, folder, name, source=()):
    source = ["type: file", "path: @FOLDER@/records.jsonl", *source]
    return Pipeline(driftless, folder, to_kafka(source, {}, name, **{
        "sink.tableId-to-topic.mapping": ";".join(f"shop.{t}:{name}-{t}" for t in TABLES),
        "topic.partitions": 3, "partition.strategy": "hash-by-key", "sink.delivery-guarantee": "exactly-once"}))


def exactly_once(driftless, folder):
    rng = random.Random(options.seed)
    pipeline = once_pipeline(driftless, folder, f"once{options.seed}")
    changes = Changes(folder, rng)
    changes.write(2000)
    moments = Moments(rng)
    kills = ends = moved = in_commit = 0
    last = []
    while kills < options.kills:
        code = moments.run(pipeline.start("--until-end"))
        if code is None:
            kills += 1
            committed, tokens = progress(pipeline)
            if committed == last:
                moments.too_early()
            moved += committed != last
            in_commit += tokens > 0
            last = committed
            changes.write(500)
            continue
        if code:
            with open(pipeline.log, encoding="utf-8", errors="replace") as f:
                raise Failed(f"run ended with {code} after {kills} kills:\n{f.read()[-4000:]}")
        ends += 1
        changes.write(2000)
        check(ends < 3 * options.kills, "the pipeline ends before it can be killed")
    pipeline.run()
    check_each_once(changes, f"once{options.seed}-.*", f"{kills} kills")
    print(f"        {changes.number} changes, {kills} kills: {moved} after new commits, {in_commit} while cuts were in "
          f"flight; {ends} ends before a kill", flush=True)
    check(moved >= 2, f"only {moved} of {kills} kills came after new commits: they show nothing")


def broker_killed(driftless, folder):
    """The broker is killed and started again while a transactional pipeline writes. Whether the pipeline waits for it
    or ends: every change stands there once."""
    rng = random.Random(options.seed)
    name = f"down{options.seed}"
    pipeline = once_pipeline(driftless, folder, name, ["follow: true"])
    changes = Changes(folder, rng)
    changes.write(500)
    process = pipeline.start()
    ends = 0
    for _ in range(options.broker_kills):
        for _ in range(rng.randrange(1, 6)):
            changes.write(300)
            time.sleep(rng.uniform(0.1, 0.5))
        broker.kill()
        for _ in range(rng.randrange(1, 6)):
            changes.write(300)
            time.sleep(rng.uniform(0.1, 0.5))
        broker.start()
        if process.poll() is not None:
            ends += 1
            process = pipeline.start()
    process.terminate()
    process.wait(timeout=120)
    once_pipeline(driftless, folder, name).run()
    check_each_once(changes, name + "-.*", f"{options.broker_kills} kills of the broker")
    print(f"        {changes.number} changes, {options.broker_kills} kills of the broker, {ends} ends of the pipeline",
          flush=True)


def users(driftless, folder):
    """Who may not come in, or may do nothing, is told so; who may writes and reads."""
    if options.bootstrap:
        return  # its users are not known
    case = {}
    records = Records(os.path.join(folder, "records.jsonl"))
    records.ddl("a", "CREATE TABLE a (id INT PRIMARY KEY, n INT)", COLUMNS)
    records.row("a", {"id": 1, "n": 2})
    records.close()

    def as_user(text, user, password, protocol="SASL_PLAINTEXT"):
        return text.replace(f"properties.bootstrap.servers: {broker.bootstrap}",
                            f"properties.bootstrap.servers: {broker.sasl_bootstrap}\n"
                            f"  properties.security.protocol: {protocol}\n"
                            "  properties.sasl.mechanism: PLAIN\n"
                            f"  properties.sasl.username: {user}\n"
                            f"  properties.sasl.password: {password}")

    name = f"users{options.seed}"
    source = ["type: file", f"path: {folder}/records.jsonl"]
    sides = {"out": to_kafka(source, case, name, topic=name, **{"topic.partitions": 2}), "in": to_paimon(name, case, name)}

    def run(side, *user, expected=0):
        work = folder_of(folder, "-".join([side, *user]))
        return Pipeline(driftless, work, as_user(sides[side], *user)).run(expected)

    run("out", "admin", "admin")
    run("in", "admin", "admin")
    for side in sides:
        for user, words in ((("admin", "wrong"), ("uthentication", "properties.sasl")),
                            (("stranger", "stranger"), ("the user's rights",)),
                            (("admin", "admin", "SASL_SSL"), ("SSL", "properties.security.protocol"))):
            text = run(side, *user, expected=1)
            for word in words:
                check(word in text, f"{side} as {user}: nothing of {word!r}:\n{text[-2000:]}")


def repeated(driftless, folder):
    """At least once: what a killed writer repeats, statements too, is read back as it should be. A row from before a
    statement that stands there already lacks its column (sinks/kafka/README.md, limits) and comes again behind it."""
    rng = random.Random(options.seed)
    name = f"again{options.seed}"
    source = ["type: file", "path: @FOLDER@/records.jsonl"]
    pipeline = Pipeline(driftless, folder_of(folder, "out"), to_kafka(source, {}, name, topic=name, **{
        "topic.partitions": 3, "partition.strategy": "hash-by-key"}))
    changes = Changes(pipeline.folder, rng)
    changes.write(500)
    moments = Moments(rng)
    enough = min(options.kills, 10)
    kills = 0
    while kills < enough:
        changes.write(500)
        kills += moments.run(pipeline.start("--until-end")) is None
    pipeline.run()
    changes.stream.close()
    back = Pipeline(driftless, folder_of(folder, "in"), to_paimon(name, {"pipeline": {"on-absent": "null"}}, name))
    text = back.run()
    for table in TABLES:
        wanted = {key[1]: {k: v for k, v in row.items() if v is not None}
                  for key, row in changes.now.items() if key[0] == table}
        rows = {row["id"]: {k: v for k, v in row.items() if v is not None} for row in back.rows(f"shop.{table}")}
        check(rows == wanted, f"{table}: " + str([(wanted.get(k), rows.get(k)) for k in sorted({*wanted, *rows})
                                                  if wanted.get(k) != rows.get(k)][:5]))
    print(f"        {kills} kills, {text.count('stands here again')} repeated statements", flush=True)


def upserts(driftless, folder):
    """The last message of each key is the row; a tombstone where it was deleted."""
    source = ["type: file", "path: @FOLDER@/records.jsonl"]
    pipeline = Pipeline(driftless, folder, to_kafka(source, {}, f"upsert{options.seed}", **{
        "sink.tableId-to-topic.mapping": ";".join(f"shop.{t}:upsert{options.seed}-{t}" for t in TABLES),
        "topic.partitions": 3, "partition.strategy": "hash-by-key", "value.format": "json",
        "encode.ignore-null-fields": True}))
    changes = Changes(folder, random.Random(options.seed))
    changes.write(2000)
    changes.stream.close()
    pipeline.run()
    for table in TABLES[:1]:  # a consumer takes long to see that nothing more comes
        last = {}
        for _, key, row in broker.committed_records(f"upsert{options.seed}-{table}"):
            last[json.loads(key)["id"]] = row
        now = {key[1]: row for key, row in changes.now.items() if key[0] == table}
        deleted = {key[1] for key in changes.expected if key[0] == table} - set(now)
        check(set(last) == set(now) | deleted, f"{table}: other keys than in the source")
        for key, row in last.items():
            wanted = {k: v for k, v in now[key].items() if v is not None} if key in now else None
            check(row == wanted, f"{table} {key}: {row}, not {wanted}")


def source_killed(driftless, folder):
    rng = random.Random(options.seed)
    case = replay.case_named("mysql-9.7/a_ddl.plain")
    work = folder_of(folder, "killed")
    fill_topics(driftless, work, case, topic=f"killed{options.seed}",
                **{"topic.partitions": 6, "partition.strategy": "hash-by-key"})
    moments = Moments(rng)
    enough = min(options.kills, 10)
    kills = moved = 0
    for attempt in range(1, 20):
        pipeline = Pipeline(driftless, folder_of(work, f"in{attempt}"),
                            to_paimon(f"killed{options.seed}", case, f"killed{attempt}"))
        last = []
        while kills < enough:
            code = moments.run(pipeline.start("--until-end"))
            if code is None:
                kills += 1
                committed, _ = progress(pipeline)
                if committed == last:
                    moments.too_early()
                moved += committed != last
                last = committed
                continue
            with open(pipeline.log, encoding="utf-8", errors="replace") as f:
                check(code == 0, f"run ended with {code} after {kills} kills:\n{f.read()[-4000:]}")
            break
        else:
            pipeline.run()
        check_equals_truth(driftless, case, pipeline)
        if kills >= enough:
            print(f"        {kills} kills over {attempt} replays, {moved} after new commits", flush=True)
            check(moved >= 2, "kills came before any commit")
            return
    raise Failed("replays end before they can be killed")


TESTS = (one_partition, six_partitions, other_formats, exactly_once, upserts, source_killed, repeated, users)
if os.environ.get("DRIFTLESS_LONG_TESTS"):
    TESTS += (broker_killed,)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--only", type=lambda text: text.split(","))
    ap.add_argument("--kills", type=int, default=20)
    ap.add_argument("--broker-kills", type=int, default=2)
    ap.add_argument("--seed", type=int, default=default_seed())
    ap.add_argument("--bootstrap", help="a broker that runs already, not yet used with this seed")
    ap.parse_args(namespace=options)
    if not kafka_peer.is_installed():
        sys.exit(replay.SKIPPED)
    print(f"seed {options.seed}", flush=True)
    broker.bootstrap = options.bootstrap
    try:
        if not options.bootstrap:
            broker.start()
        return run_all([t for t in TESTS if not options.only or t.__name__ in options.only], options.driftless)
    finally:
        if not options.bootstrap:
            broker.stop()


if __name__ == "__main__":
    sys.exit(main())
