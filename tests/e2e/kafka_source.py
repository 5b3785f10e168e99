#!/usr/bin/env python3
"""The Kafka source on a real broker, with topics that another program filled (librdkafka by Python's ctypes).

usage: kafka_source.py --driftless BIN [--only TEST[,TEST]] [--seed N] [--bootstrap HOST:PORT]

- Recorded Debezium streams in the connector's own topics, statements in a topic of their own, with 1 and 6 partitions,
  come out as the truth in Paimon and Iceberg.
- A row that is there before its statement waits for it; when it does not come in time, the change is inferred.
- Every start mode, patterns, topics and partitions that appear, tombstones, bad records, aborted transactions.
Exit status: 77 where Kafka is not installed. The seed is printed.
"""
import argparse
import glob
import gzip
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import kafka_peer  # noqa: E402
import replay  # noqa: E402
from pipelines import Failed, Pipeline, check, eventually  # noqa: E402

broker = kafka_peer.Broker("source")
options = argparse.Namespace()


def named(name):
    return f"{name}-{options.seed}"


def compact(value):
    """As Connect's converter prints it."""
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pipeline_of(folder, name, source, sink="paimon", case=None, bounded=True, **pipeline):
    """A pipeline of the source's options into a lake."""
    work = os.path.join(folder, name)
    os.makedirs(work)
    source = {"scan.startup.mode": "earliest-offset", **source}
    if bounded:
        source["scan.bounded.mode"] = "latest-offset"
    lines = ["source:", "  type: kafka", f"  properties.bootstrap.servers: {broker.bootstrap}"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in source.items()]
    lines += ["sink:", f"  type: {sink}", "  name: lake", "  catalog.properties.warehouse: @FOLDER@/warehouse"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in (case or {}).get("sink", {}).items()]
    lines += ["pipeline:", f"  name: {name}", "  http.address: off", "  checkpoint.interval: 100 ms"]
    lines += [f"  {key}: {json.dumps(value)}" for key, value in {**(case or {}).get("pipeline", {}), **pipeline}.items()]
    return Pipeline(options.driftless, work, "\n".join(lines) + "\n")


def check_equals_truth(case, pipeline, sink="paimon"):
    args = argparse.Namespace(driftless=options.driftless, sink=sink)
    try:
        got, report = replay.compare(args, "peek", case, pipeline.file, pipeline.warehouse, pipeline.folder)
    except SystemExit as error:  # a table cannot be read
        raise Failed(str(error)) from error
    check(replay.tables_of(pipeline.warehouse), "no tables")
    expected = replay.expected_of(case["name"])
    others = {table: (got.get(table), expected.get(table)) for table in {*got, *expected}
              if got.get(table) != expected.get(table)}
    check(not others, f"{case['name']}: not as the truth says: {json.dumps(others)[:3000]}\n{report[-6000:]}")


def fill_debezium(case, prefix, partitions):
    """A recording into the topics that it names, behind a prefix; statements have one partition."""
    with gzip.open(os.path.join(replay.TOP, "tests/data", case["recording"]), "rt", encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    producer = kafka_peer.Producer(broker.bootstrap)
    producer.create(**{prefix + topic: partitions if topic.count(".") else 1
                       for topic in sorted({r["topic"] for r in records})})
    for record in records:
        producer.send(prefix + record["topic"], compact(record["key"]), compact(record["value"]))
    producer.flush()


def schema_topic(folder, partitions, sink, *names):
    for number, name in enumerate(names):
        case = replay.case_named(name)
        prefix = f"{named('st')}-{partitions}-{number}-{sink}-"
        fill_debezium(case, prefix, partitions)
        source = {"topic-pattern": prefix + ".*", **{k: v for k, v in case.get("source", {}).items() if k == "tables"}}
        pipeline = pipeline_of(folder, f"{sink}{partitions}-{number}", source, sink, case)
        log = pipeline.run()
        check("is read for schema changes" in log, "the topic of statements was not recognised\n" + log[-2000:])
        check_equals_truth(case, pipeline, sink)


def statements_in_a_topic_of_their_own(_, folder):
    schema_topic(folder, 1, "paimon", "mysql-9.7/a_ddl.plain")
    schema_topic(folder, 1, "iceberg", "mysql-9.7/a_shards.plain")


def statements_and_six_partitions(_, folder):
    schema_topic(folder, 6, "paimon", "mysql-9.7/c_osc.plain", "mysql-9.7/a_shards.plain")
    schema_topic(folder, 6, "iceberg", "mysql-9.7/a_shards.plain")


class Connector:
    """Writes as Debezium's MySQL connector does, into topics behind a prefix."""

    def __init__(self, prefix, **partitions):
        self.prefix = prefix
        self.producer = kafka_peer.Producer(broker.bootstrap)
        self.producer.create(**{prefix: 1}, **{f"{prefix}.shop.{t}": n for t, n in partitions.items()})
        self.position = 1000

    def source(self, table):
        self.position += 10
        return {"version": "3.6.1.Final", "connector": "mysql", "name": self.prefix, "ts_ms": 1700000000000,
                "snapshot": "false", "db": "shop", "table": table, "server_id": 1, "file": "binlog.000001",
                "pos": self.position, "row": 0}

    def ddl(self, table, text, columns, source=None):
        table_changes = [{"type": "ALTER", "id": f'"shop"."{table}"', "table": {
            "primaryKeyColumnNames": ["id"],
            "columns": [{"name": n, "typeName": k, "optional": n != "id"} for n, k in columns]}}]
        self.producer.send(self.prefix, compact({"databaseName": "shop"}), compact(
            {"source": source or self.source(table), "databaseName": "shop", "ddl": text, "tableChanges": table_changes}))
        self.producer.flush()

    def row(self, table, after, op="c", before=None):
        self.producer.send(f"{self.prefix}.shop.{table}", compact({"id": (after or before)["id"]}), compact(
            {"before": before, "after": after, "source": self.source(table), "op": op, "ts_ms": 1}))
        self.producer.flush()


T0, T1 = [("id", "INT"), ("n", "INT")], [("id", "INT"), ("n", "INT"), ("x", "VARCHAR")]


def wait_for_rows(pipeline, table, count, process):
    eventually(lambda: len(pipeline.rows_or_none(table)) == count, f"{count} rows of {table}", process)


def stop(process):
    process.terminate()
    check(process.wait(timeout=60) == 0, "the pipeline did not stop well")


def a_statement_that_is_late(_, folder):
    """In a partition that has rows, one that has none, and another topic; then a restart."""
    prefix = named("late")
    db = Connector(prefix, t=2, u=1)
    db.ddl("t", "CREATE TABLE t (id INT PRIMARY KEY, n INT)", T0)
    db.ddl("u", "CREATE TABLE u (id INT PRIMARY KEY, n INT)", T0)
    db.row("t", {"id": 1, "n": 1})
    db.row("u", {"id": 1, "n": 1})
    pipeline = pipeline_of(folder, "late", {"topic-pattern": prefix + ".*"}, bounded=False)
    process = pipeline.start()
    wait_for_rows(pipeline, "shop.t", 1, process)
    statement = db.source("t")
    db.row("t", {"id": 2, "n": 2, "x": "new"})
    time.sleep(1.5)
    check(len(pipeline.rows("shop.t")) == 1, "a row was written before its statement")
    db.ddl("t", "ALTER TABLE t ADD x VARCHAR(7)", T1, statement)
    wait_for_rows(pipeline, "shop.t", 2, process)
    db.row("u", {"id": 2, "n": 2})
    wait_for_rows(pipeline, "shop.u", 2, process)
    # Without any row behind it.
    db.ddl("u", "ALTER TABLE u ADD x VARCHAR(9)", T1)
    eventually(lambda: pipeline.columns("shop.u") == ["id", "n", "x"], "the column of u", process)
    stop(process)
    process = pipeline.start()
    db.row("u", {"id": 3, "n": 3, "x": "y"})
    db.row("t", {"id": 3, "n": 3, "x": "z"})
    wait_for_rows(pipeline, "shop.u", 3, process)
    wait_for_rows(pipeline, "shop.t", 3, process)
    stop(process)
    check(pipeline.rows("shop.t")[1]["x"] == "new", "the value of x is lost")
    check(not [a for a in pipeline.audit() if a.get("inferred")], "something was inferred")
    shape = pipeline.command("peek", pipeline.file, "--table", "shop.t", "--sink", "lake", "--schema")
    check("VARCHAR(7)" in shape, f"not the statement's type: {shape}")


def a_statement_that_never_comes(_, folder):
    prefix = named("never")
    db = Connector(prefix, t=1)
    db.ddl("t", "CREATE TABLE t (id INT PRIMARY KEY, n INT)", T0)
    db.row("t", {"id": 1, "n": 1})
    db.row("t", {"id": 2, "n": 2, "x": "new"})
    pipeline = pipeline_of(folder, "never", {"topic-pattern": prefix + ".*", "schema-topic.max-wait": "300 ms"})
    log = pipeline.run()
    check("it is inferred" in log, "nobody was told\n" + log[-2000:])
    check([r.get("x") for r in pipeline.rows("shop.t")] == [None, "new"], "the row's value is lost")


def flat(id_, **fields):
    return compact({"before": None, "after": {"id": id_, **fields},
                    "source": {"connector": "", "db": "d", "table": "t", "ts_ms": 1}, "op": "c"})


def key(id_):
    return compact({"id": id_})


def start_modes(_, folder):
    topic, producer = named("start"), kafka_peer.Producer(broker.bootstrap)
    producer.create(**{topic: 2})
    for i in range(10):
        producer.send(topic, key(i), flat(i), i % 2)
    producer.flush()
    time.sleep(0.05)
    between_ms = int(time.time() * 1000)
    time.sleep(0.05)
    for i in range(10, 20):
        producer.send(topic, key(i), flat(i), i % 2)
    producer.flush()

    def ids(name, **source):
        pipeline = pipeline_of(folder, name, {"topic": topic, "properties.group.id": named("g"), **source})
        pipeline.run()
        return sorted(r["id"] for r in pipeline.rows_or_none("d.t"))

    every = list(range(20))
    # Nothing is committed yet, so that nothing is skipped; then the group is where that run ended.
    got = ids("group-first", **{"scan.startup.mode": "group-offsets"})
    check(got == every, f"group-offsets without any: {got}")
    check(ids("group-again", **{"scan.startup.mode": "group-offsets"}) == [], "group-offsets")
    check(ids("earliest", **{"scan.startup.mode": "earliest-offset"}) == every, "earliest-offset")
    check(ids("latest", **{"scan.startup.mode": "latest-offset"}) == [], "latest-offset")
    got = ids("timestamp", **{"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": between_ms})
    check(got == every[10:], f"timestamp: {got}")
    got = ids("specific", **{"scan.startup.mode": "specific-offsets",
                             "scan.startup.specific-offsets": "partition:0,offset:7;partition:1,offset:9"})
    check(got == [14, 16, 18, 19], f"specific-offsets: {got}")
    # A position of ours wins over the mode.
    pipeline = pipeline_of(folder, "ours", {"topic": topic})
    pipeline.run()
    producer.send(topic, key(20), flat(20), 0)
    producer.flush()
    log = pipeline.run()
    check(sorted(r["id"] for r in pipeline.rows("d.t")) == list(range(21)), "the second run's row")
    check("1 records, 1 changes" in log, "read again:\n" + log[-2000:])


def what_appears(_, folder):
    """Topics that the pattern finds later, and partitions that a topic gets."""
    producer = kafka_peer.Producer(broker.bootstrap)
    prefix = named("grow")
    producer.create(**{f"{prefix}-a": 1, f"other-{prefix}": 1})
    producer.send(f"{prefix}-a", key(1), flat(1), 0)
    producer.send(f"other-{prefix}", key(99), flat(99), 0)
    producer.flush()
    pipeline = pipeline_of(folder, "grow", {"topic-pattern": prefix + "-.*",
                                            "scan.topic-partition-discovery.interval": "300 ms"}, bounded=False)
    process = pipeline.start()
    wait_for_rows(pipeline, "d.t", 1, process)
    producer.create(**{f"{prefix}-b": 1})
    producer.send(f"{prefix}-b", compact({"id": 2}),
                  compact({"before": None, "after": {"id": 2}, "op": "c",
                           "source": {"connector": "", "db": "d", "table": "b", "ts_ms": 1}}), 0)
    producer.flush()
    wait_for_rows(pipeline, "d.b", 1, process)
    producer.grow(f"{prefix}-a", 2)
    producer = kafka_peer.Producer(broker.bootstrap)  # which knows of the new partition
    producer.send(f"{prefix}-a", key(3), flat(3), 1)
    producer.flush()
    wait_for_rows(pipeline, "d.t", 2, process)
    stop(process)
    check(sorted(r["id"] for r in pipeline.rows("d.t")) == [1, 3], "other rows than the pattern's")


def odd_records(_, folder):
    """Tombstones and empty keys are passed over; a bad record stops in front of it, or is put aside with its place."""
    topic, producer = named("odd"), kafka_peer.Producer(broker.bootstrap)
    producer.create(**{topic: 1})
    producer.send(topic, key(1), flat(1), 0)
    producer.send(topic, key(1), None, 0)
    producer.send(topic, key(2), '{"before":null,"after":{"id":2', 0)
    producer.send(topic, None, None, 0)
    producer.send(topic, key(3), flat(3), 0)
    producer.flush()
    pipeline = pipeline_of(folder, "fails", {"topic": topic})
    log = pipeline.run(expected=1)
    check(f"{topic}/0:2" in log, "the place is not named:\n" + log[-2000:])
    check([r["id"] for r in pipeline.rows("d.t")] == [1], "what stands before the bad record is lost")
    pipeline = pipeline_of(folder, "aside", {"topic": topic, "on-bad-record": "dead-letter"})
    log = pipeline.run()
    check("2 tombstones, 1 dead letters" in log, log[-2000:])
    check(sorted(r["id"] for r in pipeline.rows("d.t")) == [1, 3], "the good rows")
    letters = [json.loads(line) for path in glob.glob(pipeline.state + "/**/*dead*", recursive=True)
               for line in open(path, encoding="utf-8")]
    check(len(letters) == 1 and f"{topic}/0:2" in json.dumps(letters[0]), f"dead letters: {letters}")


def topics_that_contradict_each_other(_, folder):
    """Two topics that show the same table with different columns: no row is read by the other's columns."""
    prefix, producer = named("contradict"), kafka_peer.Producer(broker.bootstrap)
    producer.create(**{f"{prefix}-a": 1, f"{prefix}-b": 1})
    for i in range(20):
        producer.send(f"{prefix}-a", key(i), flat(i, n=i), 0)
        producer.send(f"{prefix}-b", key(100 + i), flat(100 + i, m="text", n=i), 0)
    producer.flush()
    log = pipeline_of(folder, "contradict", {"topic-pattern": prefix + "-.*"}).run(expected=1)
    check("another stream shows table d.t with other columns" in log, log[-2000:])


def aborted_transactions(_, folder):
    topic = named("txn")
    producer = kafka_peer.Producer(broker.bootstrap, transactional=named("id"))
    producer.create(**{topic: 1})
    for number, commits in enumerate((True, False, True, False)):
        producer.begin()
        for i in range(5):
            producer.send(topic, key(number * 5 + i), flat(number * 5 + i), 0)
        producer.flush()
        (producer.commit if commits else producer.abort)()
    pipeline = pipeline_of(folder, "txn", {"topic": topic})
    pipeline.run()
    got = sorted(r["id"] for r in pipeline.rows("d.t"))
    check(got == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14], f"{got}")


TESTS = (statements_in_a_topic_of_their_own, statements_and_six_partitions, a_statement_that_is_late,
         a_statement_that_never_comes, start_modes, what_appears, odd_records, aborted_transactions,
         topics_that_contradict_each_other)


if __name__ == "__main__":
    sys.exit(kafka_peer.main(broker, options, TESTS))
