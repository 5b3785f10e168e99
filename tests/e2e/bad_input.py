#!/usr/bin/env python3
"""Bad input and bad surroundings: a clear error, and nothing lost once the cause is gone.

usage: bad_input.py --driftless BIN
"""
import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys

from pipelines import Failed, Pipeline, Records, check, eventually, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
  SOURCE
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
pipeline:
  name: bad
  http.address: off
  PIPELINE
"""
COLUMNS = [("id", "INT", True), ("n", "INT", False), ("a", "VARCHAR(200)", False)]
CREATE = "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, n INT, a VARCHAR(200))"
NOBODY = 65534


def text(source="", pipeline=""):
    return TEXT.replace("  SOURCE\n", f"  {source}\n" if source else "") \
               .replace("  PIPELINE\n", f"  {pipeline}\n" if pipeline else "")


def good(i):
    return {"id": i, "n": i, "a": f"row {i}"}


def begin(folder, rows=5):
    stream = Records(os.path.join(folder, "records.jsonl"))
    stream.ddl("orders", CREATE, COLUMNS)
    for i in range(rows):
        stream.row("orders", good(i))
    return stream


def bad_record(driftless, folder, spoil, *words):
    """Good rows, one bad line, good rows: `fail` stops in front of it, `dead-letter` keeps it and goes on."""
    stream = begin(folder)
    good_line = json.dumps({"topic": "shop.shop.orders", "key": {"id": 99}, "value": {
        "before": None, "after": {"id": 99, "n": 1, "a": "spoiled"}, "op": "c", "ts_ms": 1,
        "source": {"connector": "mysql", "db": "shop", "table": "orders", "ts_ms": 1700000000000,
                   "file": "binlog.000001", "pos": 5000, "row": 0, "snapshot": "false"}}})
    spoilt = spoil(good_line.encode())
    stream.file.close()
    with open(stream.path, "ab") as f:
        f.write(spoilt + b"\n")
    stream.file = open(stream.path, "a", encoding="utf-8")
    for i in range(5, 10):
        stream.row("orders", good(i))
    stream.close()
    pipeline = Pipeline(driftless, folder, text())
    log = pipeline.run(expected=1)
    for word in ("records.jsonl:7", *words):
        check(word in log, f"the error does not say {word!r}:\n{log[-1500:]}")
    check(pipeline.rows("shop.orders") == [good(i) for i in range(5)], "rows in front of it are not committed")
    # Again: still in front of it.
    pipeline.run(expected=1)
    Pipeline(driftless, folder, text("on-bad-record: dead-letter"))
    pipeline.run()
    check(pipeline.rows("shop.orders") == [good(i) for i in range(10)], f"{pipeline.rows('shop.orders')}")
    with open(os.path.join(pipeline.state, "dead-letters.jsonl"), "rb") as f:
        letters = [json.loads(line.decode("utf-8", "strict")) for line in f]
    check(len(letters) == 1 and "records.jsonl:7" in letters[0]["position"], f"{letters}")
    check("spoiled" in json.dumps(letters[0]["record"]) or "base64" in json.dumps(letters[0]), f"{letters}")


def truncated_json(driftless, folder):
    bad_record(driftless, folder, lambda line: line[:-40])


def a_wrong_type(driftless, folder):
    bad_record(driftless, folder, lambda line: line.replace(b'"n": 1', b'"n": "many"'), '"n"', "INT")


def an_unknown_column(driftless, folder):
    bad_record(driftless, folder, lambda line: line.replace(b'"n": 1', b'"n": 1, "surprise": 1'), "surprise")


def a_number_beyond_its_type(driftless, folder):
    bad_record(driftless, folder, lambda line: line.replace(b'"n": 1', b'"n": 99999999999'), '"n"', "99999999999")


def invalid_utf8(driftless, folder):
    bad_record(driftless, folder, lambda line: line.replace(b"spoiled", b"spoiled\xff\xfe"), "UTF-8")


def no_json_at_all(driftless, folder):
    bad_record(driftless, folder, lambda line: b"spoiled \x00\x01 not a record")


def a_statement_that_does_not_parse(driftless, folder):
    stream = begin(folder)
    stream.ddl("orders", "ALTER TABLE orders FROBNICATE")
    stream.row("orders", good(5))
    stream.close()
    # The pipeline's choice, which holds where the source has none of its own.
    for choice in (text(pipeline="on-unparsed-ddl: fail"), text("on-unparsed-ddl: fail", "on-unparsed-ddl: ignore")):
        pipeline = Pipeline(driftless, folder, choice)
        log = pipeline.run(expected=1)
        check("FROBNICATE" in log and "records.jsonl:7" in log, log[-1500:])
        check(pipeline.rows("shop.orders") == [good(i) for i in range(5)], "rows in front of it are not committed")


def a_full_disk(driftless, folder):
    """No file may grow beyond a limit: what a full disk does to the data files and the state."""
    rows = 20_000
    begin(folder, rows).close()
    pipeline = Pipeline(driftless, folder, text())

    def limited(bytes_max):
        def apply():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, bytes_max))
        return apply

    for bytes_max in (16 << 10, 48 << 10):
        log = pipeline.run(expected=1, preexec_fn=limited(bytes_max))
        check("error: " in log and ("File too large" in log or "full" in log or "disk I/O" in log), log[-1500:])
    pipeline.run()
    check(pipeline.rows("shop.orders") == [good(i) for i in range(rows)], "rows are lost, or there twice")


def a_disk_without_room(driftless, folder):
    """A file system of its own that is too small, for the warehouse and then for the state; it grows while
    nothing runs. In a namespace of its own, where that is allowed."""
    inside = [sys.executable, os.path.abspath(__file__), "--driftless", driftless, "--small-disk", folder]
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        print("        not allowed here: only the limit on files is tried", flush=True)
        return
    done = subprocess.run(["unshare", "-rm", *inside], capture_output=True, text=True)
    check(done.returncode == 0, done.stdout + done.stderr)


def on_a_small_disk(driftless, folder):
    rows = 20_000
    for which in ("warehouse", "state"):
        work = os.path.join(folder, which)
        disk = os.path.join(work, which)
        os.makedirs(disk)
        begin(work, rows).close()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
        pipeline = Pipeline(driftless, work, text(pipeline="checkpoint.interval: 100 ms"))
        for _ in range(2):  # again: still in front of it
            log = pipeline.run(expected=1)
            check("error: " in log and ("No space left" in log or "is full" in log), log[-1500:])
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        pipeline.run()
        check(pipeline.rows("shop.orders") == [good(i) for i in range(rows)], f"{which}: rows are lost, or there twice")
        leftovers = pipeline.command("audit", "--state", pipeline.state)
        check("create.table" in leftovers or "create table" in leftovers, leftovers)


def a_read_only_warehouse(driftless, folder):
    begin(folder).close()
    warehouse = os.path.join(folder, "warehouse")
    os.makedirs(warehouse)
    options = {}
    if os.geteuid() == 0:  # nothing is read-only for root
        driftless = shutil.copy(driftless, folder)
        for base, _, files in os.walk(folder):
            for path in [base] + [os.path.join(base, name) for name in files]:
                os.chown(path, NOBODY, NOBODY)
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    os.chmod(warehouse, 0o555)
    pipeline = Pipeline(driftless, folder, text())
    log = pipeline.run(expected=1, **options)
    check("Permission denied" in log and "warehouse" in log, log[-1500:])
    os.chmod(warehouse, 0o755)
    pipeline.run(**options)
    check(pipeline.rows("shop.orders") == [good(i) for i in range(5)], "rows are lost")


def a_second_process(driftless, folder):
    begin(folder).close()
    pipeline = Pipeline(driftless, folder, text("follow: true"))
    first = pipeline.start()
    try:
        eventually(lambda: os.path.exists(os.path.join(pipeline.state, "state.db")), "the first one runs", first)
        log = pipeline.run(expected=1)
        check(str(first.pid) in log, f"the error does not name the holder:\n{log[-1500:]}")
        check(first.poll() is None, "the first one has ended")
        eventually(lambda: pipeline.rows_or_none("shop.orders") != [], "the first one goes on", first)
        first.send_signal(signal.SIGTERM)
        check(first.wait(timeout=180) == 0, "no clean stop")
    finally:
        first.kill()
        first.wait()
    check(pipeline.rows("shop.orders") == [good(i) for i in range(5)], "rows are lost")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--small-disk", metavar="FOLDER")  # of a_disk_without_room
    args = ap.parse_args()
    if args.small_disk:
        try:
            sys.exit(on_a_small_disk(args.driftless, args.small_disk))
        except Failed as failure:
            sys.exit(str(failure))
    sys.exit(run_all([truncated_json, a_wrong_type, an_unknown_column, a_number_beyond_its_type, invalid_utf8,
                      no_json_at_all, a_statement_that_does_not_parse, a_full_disk, a_disk_without_room,
                      a_read_only_warehouse, a_second_process], args.driftless))
