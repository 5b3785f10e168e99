#!/usr/bin/env python3
"""Transforms that are changed between two runs: what `plan` says of the next start is what the start does.

usage: transform_changes.py --driftless BIN
"""
import argparse
import json
import os
import subprocess
import sys

from pipelines import Pipeline, Records, check, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/orders.jsonl
  tables: shop.orders
transform:
  - source-table: shop.orders
    projection: @PROJECTION@
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
pipeline:
  name: orders
  http.address: off
  schema.change.behavior: EVOLVE
"""
COLUMNS = [("id", "BIGINT", True), ("item", "VARCHAR(20)", False), ("qty", "INT", False), ("price", "DOUBLE", False)]


def records(folder):
    out = Records(os.path.join(folder, "orders.jsonl"))
    out.ddl("orders", "CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(20), qty INT, price DOUBLE)", COLUMNS)
    out.row("orders", {"id": 1, "item": "tea", "qty": 2, "price": 2.5})
    return out


def pipeline_of(driftless, folder, projection):
    return Pipeline(driftless, folder, TEXT.replace("@PROJECTION@", projection))


def plan(pipeline, *words):
    return subprocess.run([pipeline.driftless, "plan", pipeline.file, *words], capture_output=True, text=True,
                          encoding="utf-8")


def verdicts_of(text):
    """(event, verdict, cell) of each change of a plan in JSON."""
    found = []
    for line in text.splitlines():
        for change in json.loads(line)["changes"]:
            found += [(change["event"], sink["verdict"], sink["cell"]) for sink in change["sinks"]]
    return found


def the_plan_is_what_the_start_does(driftless, folder):
    out = records(folder)
    pipeline = pipeline_of(driftless, folder, "id, item, qty")
    pipeline.run()
    same = plan(pipeline, "--state", pipeline.state)
    check((same.returncode, same.stdout) == (0, ""), same.stdout + same.stderr)
    pipeline = pipeline_of(driftless, folder, "id, item AS what, qty * price AS total")
    planned = plan(pipeline, "--state", pipeline.state, "--output", "json")
    check(planned.returncode == 0, planned.stdout + planned.stderr)
    wanted = verdicts_of(planned.stdout)
    check(sorted(event for event, _, _ in wanted) == ["add.column", "drop.column", "rename.column"], planned.stdout)
    before = {(r["id"], r["phase"]) for r in pipeline.audit()}
    out.row("orders", {"id": 2, "item": "milk", "qty": 3, "price": 1.0})
    pipeline.run()
    done = [(r["event"], r["verdict"], r["cell"]) for r in pipeline.audit()
            if r["phase"] == "intent" and (r["id"], r["phase"]) not in before]
    check(sorted(done) == sorted(wanted), f"planned {wanted}, done {done}")
    rows = sorted(pipeline.rows("shop.orders"), key=lambda row: row["id"])
    check(rows == [{"id": 1, "what": "tea", "total": None}, {"id": 2, "what": "milk", "total": 3.0}], str(rows))
    again = plan(pipeline, "--state", pipeline.state)
    check((again.returncode, again.stdout) == (0, ""), again.stdout + again.stderr)


def what_would_stop_the_start_is_told(driftless, folder):
    records(folder)
    strict = TEXT.replace("EVOLVE", "EXCEPTION")
    pipeline = Pipeline(driftless, folder, strict.replace("@PROJECTION@", "id, item"))
    pipeline.run()
    pipeline = Pipeline(driftless, folder, strict.replace("@PROJECTION@", "id, item, qty"))
    planned = plan(pipeline, "--state", pipeline.state)
    check(planned.returncode == 3 and "add.column" in planned.stdout, planned.stdout + planned.stderr)
    log = pipeline.run(expected=1)
    check("add.column" in log, log)
    nothing = plan(pipeline)
    check(nothing.returncode == 1 and "--state" in nothing.stderr, nothing.stdout + nothing.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--driftless", required=True)
    sys.exit(run_all([the_plan_is_what_the_start_does, what_would_stop_the_start_is_told], parser.parse_args().driftless))
