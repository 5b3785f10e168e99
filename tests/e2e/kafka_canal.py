#!/usr/bin/env python3
"""Topics of Canal on a real broker, with one partition and with several, where statements stand in the first one only.

usage: kafka_canal.py --driftless BIN [--only TEST[,TEST]] [--seed N] [--bootstrap HOST:PORT]

- Recorded streams come out as the truth, with one partition and with six, divided as Canal divides them: rows by their
  keys, statements into the first partition. As they were recorded, many in the same millisecond, and one after the other.
- A row that is there before its statement waits for it, statements without rows behind them are carried out, restarts of
  Driftless and of Canal (which counts from 1 again and repeats what it had sent), what cannot be ordered is told.
Exit status: 77 where Kafka is not installed. The seed is printed.
"""
import gzip
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import canal_setup  # noqa: E402
import kafka_peer  # noqa: E402
import replay  # noqa: E402
from kafka_source import (broker, check_equals_truth, compact, named, options, pipeline_of,  # noqa: E402
                          stop, wait_for_rows)
from pipelines import check, eventually  # noqa: E402


def java_hash(text):
    units = text.encode("utf-16-be")
    value = 0
    for i in range(0, len(units), 2):
        value = (31 * value + units[i] * 256 + units[i + 1]) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


# Their rows get other keys: Canal sends such an update into the new key's partition, where nothing orders it to rows of
# the old one.
BY_TABLE = {"parent"}


def divided(message, partitions):
    """[(partition, message)]: MQMessageUtils.messagePartition with canal.mq.partitionHash=shop.parent,.*\\..*:$pk$"""
    if message["isDdl"] or not message["data"]:
        return [(0, message)]
    if message["table"] in BY_TABLE:
        return [(abs(java_hash(message["table"])) % partitions, message)]
    parts = {}
    for i, row in enumerate(message["data"]):
        value = 0
        for name in message["pkNames"] or []:
            value ^= java_hash(row[name] or "")
        part = parts.setdefault(abs(value) % partitions,
                                {**message, "data": [], "old": [] if message["old"] else None})
        part["data"].append(row)
        if message["old"]:
            part["old"].append(message["old"][i])
    return sorted(parts.items())


def recorded(case, folder, number):
    """The messages of a recording, behind those that make the tables as Canal found them."""
    setup = os.path.join(folder, f"setup{number}.jsonl")
    canal_setup.write(os.path.join(replay.TOP, "tests/data/truth", case["setup"]), setup)
    with open(setup, encoding="utf-8") as f:
        yield from map(json.loads, f)
    with gzip.open(os.path.join(replay.TOP, "tests/data", case["recording"]), "rt", encoding="utf-8") as f:
        yield from map(json.loads, f)


def stream(folder, number, name, partitions, one_by_one):
    case = replay.case_named(name)
    topic = f"{named('canal')}-{partitions}-{number}"
    producer = kafka_peer.Producer(broker.bootstrap)
    producer.create(**{topic: partitions})
    for i, message in enumerate(recorded(case, folder, number)):
        if one_by_one:
            message["ts"] = 1795990000000 + i
        for partition, part in divided(message, partitions):
            producer.send(topic, None, compact(part), partition)
    producer.flush()
    pipeline = pipeline_of(folder, f"canal{number}", {
        "topic": topic, "value.format": "canal-json", "canal-json.time-zone": "UTC",
        "canal-json.mysql.treat-tinyint1-as-boolean.enabled": False, "tables": case["source"]["tables"]}, case=case)
    pipeline.run()
    check_equals_truth(case, pipeline)


def recorded_streams(_, folder):
    for number, name in enumerate(("canal-1.1.7/a_ddl.flat", "canal-1.1.7/c_osc.flat")):
        stream(folder, number, name, 1, one_by_one=False)


def recorded_streams_in_six_partitions(_, folder):
    stream(folder, 0, "canal-1.1.7/a_ddl.flat", 6, one_by_one=True)
    stream(folder, 1, "canal-1.1.7/c_osc.flat", 6, one_by_one=False)
    stream(folder, 2, "canal-1.1.7/a_shards.flat", 6, one_by_one=False)


class Canal:
    """Writes as Canal does, a batch for each message, into a topic of two partitions."""

    def __init__(self, topic):
        self.topic = topic
        self.producer = kafka_peer.Producer(broker.bootstrap)
        self.producer.create(**{topic: 2})
        self.batch = 0
        self.built_ms = 1700000000000
        self.event_ms = 1700000000000
        self.types = {"id": ("int", 4), "n": ("int", 4)}

    def place(self):
        self.batch += 1
        self.built_ms += 10
        self.event_ms += 1000
        return {"id": self.batch, "ts": self.built_ms, "es": self.event_ms}

    def message(self, place, **members):
        return {"data": None, "database": "shop", "gtid": "", "isDdl": False, "mysqlType": None, "old": None,
                "pkNames": None, "sql": "", "sqlType": None, "table": "t", **place, **members}

    def send(self, message, partition):
        self.producer.send(self.topic, None, compact(message), partition)
        self.producer.flush()

    def ddl(self, text, kind="ALTER", place=None):
        message = self.message(place or self.place(), isDdl=True, sql=text, type=kind)
        self.send(message, 0)
        return message

    def row(self, partition, place=None, **values):
        types = {name: self.types[name] for name in values}
        message = self.message(place or self.place(), type="INSERT", pkNames=["id"],
                               data=[{name: str(value) for name, value in values.items()}],
                               mysqlType={n: t for n, (t, _) in types.items()},
                               sqlType={n: c for n, (_, c) in types.items()})
        self.send(message, partition)
        return message


def live(folder, name, **more):
    canal = Canal(named(name))
    canal.ddl("CREATE TABLE t (id INT PRIMARY KEY, n INT)", "CREATE")
    canal.row(0, id=1, n=1)
    canal.row(1, id=2, n=2)
    pipeline = pipeline_of(folder, name, {"topic": canal.topic, "value.format": "canal-json", **more}, bounded=False)
    process = pipeline.start()
    wait_for_rows(pipeline, "shop.t", 2, process)
    return canal, pipeline, process


def log_of(pipeline):
    with open(pipeline.log, encoding="utf-8") as f:
        return f.read()


def a_statement_that_is_late(_, folder):
    """Of a row in the other partition; then one without any row behind it; then restarts of both programs."""
    canal, pipeline, process = live(folder, "late")
    statement = canal.place()
    canal.types["x"] = ("varchar(7)", 12)
    canal.row(1, id=3, n=3, x="new")
    time.sleep(1.5)
    check(len(pipeline.rows("shop.t")) == 2, "a row was written before its statement")
    altered = canal.ddl("ALTER TABLE t ADD x VARCHAR(7)", place=statement)
    wait_for_rows(pipeline, "shop.t", 3, process)
    canal.ddl("ALTER TABLE t ADD y VARCHAR(9)")
    eventually(lambda: pipeline.columns("shop.t") == ["id", "n", "x", "y"], "the column y", process)
    stop(process)
    # Canal begins anew in front of the first statement.
    canal.batch = 0
    canal.built_ms += 10000
    place = canal.place()
    canal.ddl(altered["sql"], place={**place, "es": altered["es"]})
    canal.types["y"] = ("varchar(9)", 12)
    canal.row(1, id=4, n=4, x="a", y="b")
    process = pipeline.start()
    wait_for_rows(pipeline, "shop.t", 4, process)
    rows = {row["id"]: row for row in pipeline.rows("shop.t")}
    check(rows[3]["x"] == "new" and rows[4]["x"] == "a", f"the values of x: {rows}")
    canal.ddl("ALTER TABLE t DROP COLUMN x")
    canal.row(1, id=5, n=5, y="c")
    canal.row(0, id=6, n=6, y="d")
    wait_for_rows(pipeline, "shop.t", 6, process)
    stop(process)
    rows = {row["id"]: row for row in pipeline.rows("shop.t")}
    check(rows[5]["y"] == "c" and rows[6]["y"] == "d", f"the values of y: {rows}")
    check(not [a for a in pipeline.audit() if a.get("inferred")], "something was inferred")
    shape = pipeline.command("peek", pipeline.file, "--table", "shop.t", "--sink", "lake", "--schema")
    check("VARCHAR(9)" in shape, f"not the statement's type: {shape}")


def what_cannot_be_ordered(_, folder):
    """A column that is dropped and made again, and a row of the other partition, in the same millisecond."""
    canal, pipeline, process = live(folder, "tie")
    place = canal.place()
    canal.row(1, place=place, id=3, n=3)
    canal.ddl("ALTER TABLE t DROP COLUMN n, ADD COLUMN n INT", place=place)
    canal.row(1, id=4, n=4)
    wait_for_rows(pipeline, "shop.t", 4, process)
    stop(process)
    check("in the same millisecond as this statement" in log_of(pipeline), log_of(pipeline)[-3000:])
    rows = {row["id"]: row for row in pipeline.rows("shop.t")}
    check(rows[4]["n"] == 4, f"the row behind it: {rows}")


def a_row_that_gets_another_key(_, folder):
    canal, pipeline, process = live(folder, "key")
    message = canal.row(1, id=3, n=3)
    canal.send({**message, **canal.place(), "type": "UPDATE", "old": [{"id": "1"}]}, 1)
    eventually(lambda: "gets another key" in log_of(pipeline), "the warning", process)
    stop(process)


def a_statement_in_another_partition(_, folder):
    canal, pipeline, process = live(folder, "elsewhere")
    canal.send(canal.message(canal.place(), isDdl=True, sql="ALTER TABLE t ADD x INT", type="ALTER"), 1)
    check(process.wait(timeout=300) == 1, "it went on")
    check("stands in partition 1" in log_of(pipeline), log_of(pipeline)[-3000:])


TESTS = (recorded_streams, recorded_streams_in_six_partitions, a_statement_that_is_late, what_cannot_be_ordered,
         a_row_that_gets_another_key, a_statement_in_another_partition)


if __name__ == "__main__":
    sys.exit(kafka_peer.main(broker, options, TESTS))
