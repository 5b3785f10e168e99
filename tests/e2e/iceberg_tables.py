#!/usr/bin/env python3
"""Iceberg tables of every shape: partitioned by transforms, without key, format version 3; changed between commits.

usage: iceberg_tables.py --driftless BIN [--seed N] [--keep FOLDER]

Rows are inserted, updated, deleted and moved to other keys, over a schema change and a restart. The seed is printed.
"""
import argparse
import os
import random
import sys

from pipelines import Failed, Pipeline, Records, check, run_all

TEXT = """source:
  type: file
  path: "@FOLDER@/records/*.jsonl"
sink:
  type: iceberg
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
  table.properties.format-version: "@VERSION@"
  sink.compaction.enabled: true
  sink.compaction.commit.interval: 1
  partition.key: "shop.bucketed:bucket[4](id);shop.regions:region;shop.log:truncate[10](v),region"
pipeline:
  name: shapes
  http.address: off
"""
COLUMNS = [("id", "INT", True), ("region", "VARCHAR(20)", False), ("v", "INT", False), ("note", "VARCHAR(50)", False)]
options = argparse.Namespace(seed=0)


def keys_of(table):
    return {"bucketed": ["id"], "regions": ["region", "id"], "plain": ["id"], "log": []}[table]


class Shop:
    """The tables as they must be: lists of rows."""

    def __init__(self, folder, tables, rng):
        self.folder, self.rng = folder, rng
        self.rows = {table: [] for table in tables}
        self.names = [c[0] for c in COLUMNS]
        self.types = {c[0]: c[1] for c in COLUMNS}
        self.next_id = 0
        self.files = 0
        os.makedirs(folder)
        self.stream = Records(os.path.join(folder, "0.jsonl"))
        for table in tables:
            keys = keys_of(table)
            body = ", ".join(f"{n} {t}{' NOT NULL' if n in keys else ''}" for n, t, _ in COLUMNS)
            primary = f", PRIMARY KEY ({', '.join(keys)})" if keys else ""
            self.stream.ddl(table, f"CREATE TABLE {table} ({body}{primary})", self.described(table))

    def described(self, table):
        return [(n, self.types[n], n in keys_of(table)) for n in self.names]

    def fresh(self):
        self.next_id += 1
        row = {"id": self.next_id, "region": self.rng.choice(["eu", "us", "日本", "a/b=c"]),
               "v": self.rng.randrange(-30, 30)}
        row[self.names[-1]] = self.rng.choice([None, "x", f"note {self.next_id}"])
        if "extra" in self.names:
            row["extra"] = self.rng.choice([None, self.next_id])
        return row

    def change(self, table, count, deletes=True):
        rows, keys = self.rows[table], keys_of(table)
        for _ in range(count):
            kind = self.rng.random()
            if kind < 0.5 or not rows or not deletes:
                # Rows without key may be there twice.
                row = dict(self.rng.choice(rows)) if not keys and rows and kind < 0.1 else self.fresh()
                rows.append(row)
                self.stream.row(table, row, key=keys)
                continue
            at = self.rng.randrange(len(rows))
            old = rows[at]
            if kind < 0.7:
                rows.pop(at)
                self.stream.row(table, None, "d", old, keys)
                continue
            new = {**old, "v": self.rng.randrange(100), self.names[-1]: "changed"}
            if kind < 0.8:
                new = self.fresh()
                if keys:  # as Debezium says that a key changed
                    self.stream.row(table, None, "d", old, keys)
                    self.stream.row(table, new, "c", None, keys)
                    rows[at] = new
                    continue
            rows[at] = new
            self.stream.row(table, new, "u", old, keys)

    def evolve(self, table, statement):
        self.stream.ddl(table, f"ALTER TABLE {table} {statement}", self.described(table))

    def next_file(self):
        self.stream.close()
        self.files += 1
        self.stream.file = open(os.path.join(self.folder, f"{self.files}.jsonl"), "w", encoding="utf-8")


def compare(pipeline, shop):
    for table, rows in shop.rows.items():
        def order(row):
            return sorted((k, repr(v)) for k, v in row.items())
        got, wanted = sorted(pipeline.rows("shop." + table), key=order), sorted(rows, key=order)
        check(got == wanted, f"shop.{table} has {len(got)} rows, not the {len(wanted)} of the truth; the first that differ: "
              f"{next((p for p in zip(got, wanted) if p[0] != p[1]), None)}")


def replay(driftless, folder, version, tables):
    rng = random.Random(options.seed + version)
    shop = Shop(os.path.join(folder, "records"), tables, rng)
    pipeline = Pipeline(driftless, folder, TEXT.replace("@VERSION@", str(version)))
    deletes = {table: True for table in tables}
    for table in tables:
        shop.change(table, 200, deletes[table])
    shop.stream.file.flush()
    pipeline.run()
    compare(pipeline, shop)
    shop.next_file()
    for table in tables:
        shop.change(table, 150, deletes[table])
    shop.names, shop.types["extra"], shop.types["v"] = ["id", "region", "extra", "v", "memo"], "INT", "BIGINT"
    shop.types["memo"] = shop.types["note"]
    for table in tables:
        for row in shop.rows[table]:
            row["memo"] = row.pop("note")
            row["extra"] = None
        shop.evolve(table, "ADD COLUMN extra INT AFTER region, RENAME COLUMN note TO memo, MODIFY v BIGINT")
        shop.change(table, 150, deletes[table])
    shop.stream.file.flush()
    pipeline.run()
    compare(pipeline, shop)


def version_2(driftless, folder):
    replay(driftless, folder, 2, ["plain", "bucketed", "regions", "log"])


def version_3(driftless, folder):
    replay(driftless, folder, 3, ["plain", "bucketed", "regions", "log"])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    ap.add_argument("--keep", help="work in this folder and leave it")
    args = ap.parse_args()
    options.seed = args.seed
    print(f"seed {args.seed}")
    if not args.keep:
        sys.exit(run_all([version_2, version_3], args.driftless))
    for test in (version_2, version_3):
        try:
            test(args.driftless, os.path.join(args.keep, test.__name__))
            print("ok", test.__name__)
        except Failed as error:
            print("FAILED", test.__name__, error)


main()
