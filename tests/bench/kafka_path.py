#!/usr/bin/env python3
"""Runs whole pipelines to and from Kafka and prints changes per CPU-second, and the latency at a steady rate.

usage: kafka_path.py --driftless BIN [--changes 1000000] [--repeat 3] [--rate 10000] [--seconds 20]
                     [--only files,log,source,latency]

CPU time is that of driftless alone, the threads of librdkafka in it included. The paths into Kafka go to librdkafka's
mock cluster in this process, with one broker; those out of Kafka and the latency need the peer `kafka` (tests/peers),
that from a live binary log the peer `mariadb`, and are left out, by name, where it is not installed. Latency: from the moment when a row is given to a producer for one
topic until the broker has appended what driftless made of it to another.
"""
import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import kafka_peer  # noqa: E402
import mysql_path  # noqa: E402
from whole_path import machine, measured  # noqa: E402


class MockCluster:
    def __init__(self):
        self.producer = kafka_peer.Producer("127.0.0.1:1")
        lib = self.producer.lib
        lib.rd_kafka_mock_cluster_new.restype = ctypes.c_void_p
        lib.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        cluster = ctypes.c_void_p(lib.rd_kafka_mock_cluster_new(self.producer.handle, 1))
        self.bootstrap = lib.rd_kafka_mock_cluster_bootstraps(cluster).decode()


class Message(ctypes.Structure):
    """rd_kafka_message_t"""
    _fields_ = [("err", ctypes.c_int), ("topic", ctypes.c_void_p), ("partition", ctypes.c_int32),
                ("payload", ctypes.POINTER(ctypes.c_char)), ("len", ctypes.c_size_t), ("key", ctypes.c_void_p),
                ("key_len", ctypes.c_size_t), ("offset", ctypes.c_int64), ("private", ctypes.c_void_p)]


def pipeline_file(folder, source, sink, name="bench"):
    path = os.path.join(folder, "pipeline.yaml")
    lines = ["source:", *(f"  {k}: {json.dumps(v)}" for k, v in source.items()), "sink:", "  name: out",
             *(f"  {k}: {json.dumps(v)}" for k, v in sink.items()), "pipeline:", f"  name: {name}",
             "  http.address: off"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return path


def to_kafka(bootstrap, **more):
    return {"type": "kafka", "properties.bootstrap.servers": bootstrap, **more}


def from_kafka(bootstrap, topic, **more):
    return {"type": "kafka", "properties.bootstrap.servers": bootstrap, "topic": topic,
            "scan.startup.mode": "earliest-offset", **more}


def row_of_path(args, work, name, source, sink):
    runs = []
    for i in range(args.repeat):
        here = os.path.join(work, f"run{i}")
        os.makedirs(here)
        pipeline = pipeline_file(here, source, sink, f"bench{i}")
        runs.append(measured([args.driftless, "run", pipeline, "--state", os.path.join(here, "state"), "--until-end"]))
        shutil.rmtree(here)
    print_median(args, name, runs)


def print_median(args, name, runs):
    wall, cpu, peak = sorted(runs, key=lambda r: r[1])[len(runs) // 2]
    print(f"{name:28} {args.changes / cpu:14,.0f} {cpu / args.changes * 1e6:14.2f} {wall:8.2f} {cpu / wall:6.2f} "
          f"{peak:9.0f}", flush=True)


def log_path(args, work, bootstrap):
    """From the binary log of a MariaDB of its own, rows of five columns."""
    server = mysql_path.live.Server("mariadb")
    try:
        server.call("start")
        server.sql("create database bench;")
        source, _ = mysql_path.fill_log(server, args.changes)
        runs = []
        for i in range(args.repeat):
            sink = (f"  type: kafka\n  properties.bootstrap.servers: {bootstrap}\n  topic: log{i}\n"
                    "  value.format: debezium-json\n  topic.create: false\n")
            run = mysql_path.Run(args.driftless, server, "bench.log", sink, os.path.join(work, f"log{i}"), source)
            run.wait_for(lambda: run.changes() >= args.changes)  # noqa: B023: called at once
            runs.append(run.stop())
        print_median(args, "binlog to debezium-json", runs)
    finally:
        server.call("wipe", check=False)


def timestamps(bootstrap, topic):
    """(sent us, appended ms) of every message of a topic with one partition."""
    producer = kafka_peer.Producer(bootstrap)
    lib = producer.lib
    text = ctypes.create_string_buffer(512)
    conf = ctypes.c_void_p(lib.rd_kafka_conf_new())
    for key, value in {"bootstrap.servers": bootstrap, "enable.partition.eof": "true", "log_level": "0"}.items():
        lib.rd_kafka_conf_set(conf, key.encode(), value.encode(), text, 512)
    consumer = ctypes.c_void_p(lib.rd_kafka_new(1, conf, text, 512))
    handle = ctypes.c_void_p(lib.rd_kafka_topic_new(consumer, topic.encode(), None))
    lib.rd_kafka_consume.restype = ctypes.POINTER(Message)
    lib.rd_kafka_message_timestamp.restype = ctypes.c_int64
    lib.rd_kafka_consume_start(handle, 0, ctypes.c_int64(-2))
    found = []
    while True:
        message = lib.rd_kafka_consume(handle, 0, 10000)
        if not message or message.contents.err:
            return found
        value = json.loads(message.contents.payload[:message.contents.len])
        kind = ctypes.c_int()
        at = lib.rd_kafka_message_timestamp(message, ctypes.byref(kind))
        if value.get("after"):
            found.append((value["after"]["sent"], at))
        lib.rd_kafka_message_destroy(message)


def source_path(args, work, bootstrap, stream):
    here = os.path.join(work, "fill")
    os.makedirs(here)
    fill = pipeline_file(here, {"type": "file", "path": stream}, to_kafka(bootstrap, topic="filled"))
    measured([args.driftless, "run", fill, "--state", os.path.join(here, "state"), "--until-end"])
    row_of_path(args, work, "debezium-json to blackhole",
                from_kafka(bootstrap, "filled", **{"scan.bounded.mode": "latest-offset"}), {"type": "blackhole"})


def latency(args, work, bootstrap):
    here = os.path.join(work, "latency")
    os.makedirs(here)
    pipeline = pipeline_file(
        here, from_kafka(bootstrap, "steady"),
        to_kafka(bootstrap, topic="steady-out", **{"topic.config.message.timestamp.type": "LogAppendTime"}))
    producer = kafka_peer.Producer(bootstrap)
    producer.create(steady=1)
    row = '{"before":null,"after":{"id":%d,"sent":%d,"name":"a name of some length"},' \
          '"source":{"connector":"","db":"shop","table":"t","ts_ms":1},"op":"c"}'
    producer.send("steady", '{"id":0}', row % (0, 0))
    producer.flush()
    process = subprocess.Popen([args.driftless, "run", pipeline, "--state", os.path.join(here, "state")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(5)
    step = args.rate // 100
    started = time.monotonic()
    for tick in range(args.seconds * 100):
        for i in range(step):
            number = tick * step + i + 1
            producer.send("steady", '{"id":%d}' % number, row % (number, time.time_ns() // 1000))
        producer.lib.rd_kafka_poll(producer.handle, 0)
        time.sleep(max(0, started + (tick + 1) / 100 - time.monotonic()))
    producer.flush()
    time.sleep(2)
    process.terminate()
    process.wait()
    # The first second warms up.
    waits = sorted(at - sent / 1000 for sent, at in timestamps(bootstrap, "steady-out")[args.rate:])
    if not waits:
        sys.exit("nothing came through")
    print(f"latency at {args.rate} changes/s: p50 {waits[len(waits) // 2]:.0f} ms, "
          f"p99 {waits[len(waits) * 99 // 100]:.0f} ms, of {len(waits)} changes")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--changes", type=int, default=1000000)
    ap.add_argument("--repeat", type=int, default=3)
    ap.add_argument("--rate", type=int, default=10000)
    ap.add_argument("--seconds", type=int, default=20)
    ap.add_argument("--only", default="files,log,source,latency", help="which paths, separated by commas")
    args = ap.parse_args()
    only = set(args.only.split(","))
    work = tempfile.mkdtemp(prefix="driftless-bench-")
    broker = None
    try:
        stream = os.path.join(work, "changes.jsonl")
        subprocess.run([sys.executable, os.path.join(HERE, "generate_changes.py"), stream, "--changes",
                        str(args.changes)], check=True)
        print(f"machine: {machine()}")
        print(f"{'path':28} {'changes/CPU-s':>14} {'us CPU/change':>14} {'wall s':>8} {'cores':>6} {'peak MiB':>9}")
        mock = MockCluster()
        for value_format in ("debezium-json", "canal-json", "maxwell-json", "json") if "files" in only else ():
            row_of_path(args, work, f"file to {value_format}", {"type": "file", "path": stream},
                        to_kafka(mock.bootstrap, topic=value_format,
                                 **{"value.format": value_format, "topic.create": False}))
        if "log" in only and not mysql_path.live.is_installed("mariadb"):
            print("not measured, because the peer mariadb is not installed: binlog to debezium-json")
        elif "log" in only:
            log_path(args, work, mock.bootstrap)
        if only.isdisjoint({"source", "latency"}):
            return
        if not kafka_peer.is_installed():
            print("not measured, because the peer kafka is not installed: Kafka to blackhole, latency")
            return
        broker = kafka_peer.Broker("bench")
        broker.start()
        if "source" in only:
            source_path(args, work, broker.bootstrap, stream)
        if "latency" in only:
            latency(args, work, broker.bootstrap)
    finally:
        if broker:
            broker.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
