#!/usr/bin/env python3
"""Rows that a sink's table cannot take go to the dead-letter file, the others go on.

usage: dead_letters.py --driftless BIN
"""
import argparse
import json
import os
import sys

from pipelines import Pipeline, Records, check, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
  exclude.schema.changes: [alter.column.type]
pipeline:
  name: dead-letters
  http.address: off
  on-cast-failure: @CAST@
"""
OLD = [("id", "INT", True), ("n", "INT", False)]
NEW = [("id", "INT", True), ("n", "BIGINT", False)]
BIG = 1 << 40  # fits the source's new type, not the sink's


def write_records(folder):
    """Returns the rows of the source."""
    stream = Records(os.path.join(folder, "records.jsonl"))
    stream.ddl("orders", "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, n INT)", OLD)
    rows = [{"id": 0, "n": 0}]
    stream.row("orders", rows[0])
    stream.ddl("orders", "ALTER TABLE orders MODIFY n BIGINT", NEW)
    for i in range(1, 10):
        rows.append({"id": i, "n": BIG + i if i in (3, 7) else i})
        stream.row("orders", rows[-1])
    stream.close()
    return rows


def letters(pipeline):
    with open(os.path.join(pipeline.state, "dead-letters.jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def a_misfit_goes_to_the_file(driftless, folder):
    rows = write_records(folder)
    pipeline = Pipeline(driftless, folder, TEXT.replace("@CAST@", "dead-letter"))
    pipeline.run()
    check(pipeline.rows("shop.orders") == [r for r in rows if r["n"] < BIG], f"{pipeline.rows('shop.orders')}")
    found = letters(pipeline)
    check([json.loads(l["record"])["after"] for l in found] == [rows[3], rows[7]], f"{found}")
    check(all(json.loads(l["record"])["table"] == "shop.orders" and json.loads(l["record"])["op"] == "insert"
              and l["stream"] == "sink lake" and "column n" in l["error"] and l["point"] for l in found), f"{found}")
    # The position is behind them: a second run adds nothing.
    pipeline.run()
    check(len(letters(pipeline)) == 2, "the letters came again")


def null_and_fail_are_other_answers(driftless, folder):
    rows = write_records(folder)
    pipeline = Pipeline(driftless, folder, TEXT.replace("@CAST@", "fail"))
    log = pipeline.run(expected=1)
    check(str(BIG + 3) in log and "column n" in log, log)
    check(not os.path.exists(os.path.join(pipeline.state, "dead-letters.jsonl")), "a dead letter of a row that stops")
    pipeline = Pipeline(driftless, folder, TEXT.replace("@CAST@", "null"))
    pipeline.run()
    expected = [{"id": r["id"], "n": r["n"] if r["n"] < BIG else None} for r in rows]
    check(pipeline.rows("shop.orders") == expected, f"{pipeline.rows('shop.orders')}")


def a_sink_that_cannot_look_up_is_not_asked_to(driftless, folder):
    write_records(folder)
    text = TEXT.replace("@CAST@", "fail") + "  on-absent: lookup\n"
    log = Pipeline(driftless, folder, text).run(expected=1)
    check("pipeline.yaml:" in log and "on-absent: lookup" in log and "paimon" in log, log)
    check(not os.path.exists(os.path.join(folder, "warehouse", "shop.db")), "something was written")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    args = ap.parse_args()
    sys.exit(run_all([a_misfit_goes_to_the_file, null_and_fail_are_other_answers,
                      a_sink_that_cannot_look_up_is_not_asked_to], args.driftless))
