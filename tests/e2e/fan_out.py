#!/usr/bin/env python3
"""One pipeline, two lakes: Paimon follows a change that Iceberg cannot take; each has its own schema, audit and position.

usage: fan_out.py --driftless BIN [--kills N] [--seed N]
"""
import argparse
import os
import random
import signal
import subprocess
import sys

from pipelines import Pipeline, Records, check, default_seed, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
sinks:
  - type: paimon
    name: lake
    catalog.properties.warehouse: @FOLDER@/paimon
  - type: iceberg
    name: ice
    catalog.properties.warehouse: @FOLDER@/iceberg
pipeline:
  name: fan-out
  http.address: off
  checkpoint.interval: 100 ms
  schema.change.behavior: @BEHAVIOR@
"""
options = argparse.Namespace(kills=10, seed=0)


def write_records(folder, rng, count):
    """Both tables change INT to VARCHAR, which is no promotion of Iceberg's. Gives the rows as Paimon must have them."""
    stream = Records(os.path.join(folder, "records.jsonl"))
    columns = {"orders": [("id", "INT", True), ("v", "INT", False)], "log": [("id", "INT", False), ("v", "INT", False)]}
    rows = {"orders": {}, "log": []}
    for table in columns:
        key = ", PRIMARY KEY (id)" if table == "orders" else ""
        stream.ddl(table, f"CREATE TABLE {table} (id INT NOT NULL, v INT{key})", columns[table])

    def value():
        v = rng.randrange(1000)
        return str(v) if columns["log"][1][1] != "INT" else v

    def fresh(i):
        return {"id": i, "v": value(), **{name: i for name, _, _ in columns["log"][2:]}}
    for i in range(count):
        row = fresh(i)
        rows["log"].append(row)
        stream.row("log", row, key=None)
        old = rows["orders"].get(i % (count // 2))
        if old is None:
            rows["orders"][i] = fresh(i)
            stream.row("orders", rows["orders"][i])
        else:
            new = {**old, "v": value()}
            rows["orders"][old["id"]] = new
            stream.row("orders", new, "u", old)
        if i in (count // 3, 2 * count // 3):
            for table in columns:
                if i == count // 3:
                    columns[table][1] = ("v", "VARCHAR(20)", False)
                    stream.ddl(table, f"ALTER TABLE {table} MODIFY v VARCHAR(20)", columns[table])
                else:
                    columns[table].append(("extra", "INT", False))
                    stream.ddl(table, f"ALTER TABLE {table} ADD COLUMN extra INT", columns[table])
                for row in (rows[table].values() if table == "orders" else rows[table]):
                    row["v"] = str(row["v"])
                    if i != count // 3:
                        row["extra"] = None
    stream.close()
    return {"orders": list(rows["orders"].values()), "log": rows["log"]}


def compare(pipeline, truth):
    def order(rows):
        return sorted(rows, key=lambda row: (row["id"], str(row["v"])))
    for table, rows in truth.items():
        got = order(pipeline.rows("shop." + table, "lake"))
        check(got == order(rows), f"Paimon's {table}: {len(got)} rows, not {len(rows)}, or others")
        numbers = [{**row, "v": int(row["v"])} for row in rows]
        got = order(pipeline.rows("shop." + table, "ice"))
        check(got == order(numbers), f"Iceberg's {table}: {len(got)} rows, not {len(numbers)}, or others")


def each_lake_decides_for_itself(driftless, folder):
    truth = write_records(folder, random.Random(options.seed), 600)
    pipeline = Pipeline(driftless, folder, TEXT.replace("@BEHAVIOR@", "LENIENT"))
    pipeline.run()
    compare(pipeline, truth)
    for table in truth:
        verdicts = {sink: [line for line in pipeline.decide("audit").splitlines()
                           if f"{sink}: shop.{table}: change type of v" in line] for sink in ("lake", "ice")}
        check(any("apply" in line for line in verdicts["lake"]), f"Paimon's verdicts: {verdicts['lake']}")
        check(any("skip" in line for line in verdicts["ice"]), f"Iceberg's verdicts: {verdicts['ice']}")
    divergences = pipeline.decide("divergences")
    check("ice: shop.orders" in divergences and "lake:" not in divergences, divergences)


def a_stop_of_one_leaves_the_other_whole(driftless, folder):
    truth = write_records(folder, random.Random(options.seed + 1), 600)
    pipeline = Pipeline(driftless, folder, TEXT.replace("@BEHAVIOR@", "EVOLVE"))
    for _ in truth:
        log = pipeline.run(expected=1)
        check("sink ice" in log and "driftless decide" in log, log[-2000:])
        number = log.rsplit("driftless decide ", 1)[1].split()[0]
        pipeline.decide("decide", number, "skip")
    pipeline.run()
    compare(pipeline, truth)


def kills_corrupt_neither(driftless, folder):
    rng = random.Random(options.seed + 2)
    truth = write_records(folder, rng, 3000)
    pipeline = Pipeline(driftless, folder, TEXT.replace("@BEHAVIOR@", "LENIENT"))
    kills = 0
    while kills < options.kills:
        process = pipeline.start("--until-end")
        try:
            check(process.wait(timeout=rng.uniform(0.05, 1.0)) == 0, "a run failed")
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    pipeline.run()
    compare(pipeline, truth)
    print(f"        {kills} kills", flush=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--kills", type=int, default=10)
    ap.add_argument("--seed", type=int, default=default_seed())
    options = ap.parse_args()
    print(f"seed {options.seed}", flush=True)
    sys.exit(run_all([each_lake_decides_for_itself, a_stop_of_one_leaves_the_other_whole, kills_corrupt_neither],
                     options.driftless))
