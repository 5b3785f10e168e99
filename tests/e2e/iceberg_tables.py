#!/usr/bin/env python3
"""Iceberg tables of every shape: partitioned by transforms, without key, format version 3; changed between commits.

usage: iceberg_tables.py --driftless BIN [--seed N] [--only TEST[,TEST]] [--keep FOLDER]

Rows are inserted, updated, deleted and moved to other keys, over a schema change and a restart. A table that is there
already is compared column by column; columns that are added get their default in format version 3; a thousand tables
are committed at once. The seed is printed.
"""
import argparse
import json
import os
import random
import sys

from pipelines import Failed, Pipeline, Records, check, default_seed, run_all

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
  sort.key: "shop.bucketed:id desc;shop.log:truncate[100](v) desc nulls last,region"
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
    for table in tables:
        # The three changes of the statement are one commit; the key is what it was.
        first, second = metadata_of(pipeline, table)["schemas"]
        check(first.get("identifier-field-ids", []) == second.get("identifier-field-ids", []), f"{table}: {second}")


def version_2(driftless, folder):
    replay(driftless, folder, 2, ["plain", "bucketed", "regions", "log"])


def version_3(driftless, folder):
    replay(driftless, folder, 3, ["plain", "bucketed", "regions", "log"])


SIMPLE = """source:
  type: file
  path: "@FOLDER@/@RECORDS@.jsonl"
sink:
  type: iceberg
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
  table.properties.format-version: "@VERSION@"
pipeline:
  name: @RECORDS@
  http.address: off
  schema.change.behavior: @BEHAVIOR@
"""


def simple(driftless, folder, records, behavior="LENIENT", version=2):
    text = SIMPLE.replace("@RECORDS@", records).replace("@BEHAVIOR@", behavior).replace("@VERSION@", str(version))
    pipeline = Pipeline(driftless, folder, text)
    pipeline.state = os.path.join(folder, "state." + records)
    return pipeline, Records(os.path.join(folder, records + ".jsonl"))


def an_existing_table_is_compared(driftless, folder):
    pipeline, records = simple(driftless, folder, "first")
    columns = [("id", "INT", True), ("a", "INT", False), ("b", "VARCHAR(20)", False), ("c", "INT", False)]
    records.ddl("t", "CREATE TABLE t (id INT NOT NULL, a INT, b VARCHAR(20), c INT NOT NULL, PRIMARY KEY (id))", columns)
    records.row("t", {"id": 1, "a": 2, "b": "x", "c": 3})
    records.close()
    pipeline.run()
    # Another pipeline finds it: it wants wider types, another text, NULLs, and another key; one column is new.
    pipeline, records = simple(driftless, folder, "second", "EVOLVE")
    columns = [("id", "BIGINT", True), ("a", "VARCHAR(10)", False), ("b", "VARCHAR(20)", True), ("c", "INT", False),
               ("d", "INT", False)]
    records.ddl("t", "CREATE TABLE t (id BIGINT NOT NULL, a VARCHAR(10), b VARCHAR(20) NOT NULL, c INT, d INT,"
                     " PRIMARY KEY (id, b))", columns)
    records.row("t", {"id": 1, "a": "z", "b": "x", "c": None, "d": 1}, key=("id", "b"))
    records.close()
    text = pipeline.run(expected=1)
    for what in ("column id is INT at the sink, which does not hold every BIGINT",
                 "column a is INT at the sink, which does not hold every VARCHAR(10)",
                 "column c is NOT NULL at the sink", "the key is (id) at the sink and (id, b) at the source"):
        check(what in text, f"the report does not say {what!r}:\n{text[-2000:]}")
    check("column b" not in text.replace("(id, b)", ""), "column b fits")
    check(pipeline.rows("shop.t") == [{"id": 1, "a": 2, "b": "x", "c": 3}], "the table was touched")


def added_columns_have_their_default(driftless, folder):
    """In format version 3 rows from before read what they read at the source; in version 2 NULL, and `plan` says so."""
    defaults = [("i", "INT", "7", 7), ("big", "BIGINT", "-9000000000", -9000000000), ("s", "VARCHAR(20)", "'it''s'", "it's"),
                ("blank", "VARCHAR(20)", "''", ""), ("price", "DECIMAL(10,2)", "1.5", "1.50"), ("on_day", "DATE", "'2024-02-29'", "2024-02-29"),
                ("seen", "DATETIME(3)", "'2024-02-29 01:02:03.456'", "2024-02-29T01:02:03.456000"),
                ("clock", "TIME", "'10:20:30'", "10:20:30.000000"), ("rate", "DOUBLE", "0.25", 0.25),
                ("no_default", "INT", None, None), ("null_default", "INT", "NULL", None)]
    for version in (2, 3):
        here = os.path.join(folder, str(version))
        os.makedirs(here)
        pipeline, records = simple(driftless, here, "shop", version=version)
        columns = [("id", "INT", True)]
        records.ddl("t", "CREATE TABLE t (id INT NOT NULL, PRIMARY KEY (id))", columns)
        records.row("t", {"id": 1})
        for name, kind, default, _ in defaults:
            columns.append((name, kind, False))
            records.ddl("t", f"ALTER TABLE t ADD COLUMN {name} {kind}" + (f" DEFAULT {default}" if default else ""), columns)
        records.row("t", {"id": 2, **{name: None for name, *_ in defaults}})
        records.ddl("t", "ALTER TABLE t RENAME COLUMN i TO j", [(n.replace("i", "j") if n == "i" else n, k, key) for n, k, key in columns])
        records.row("t", {"id": 3, "j": 1, **{name: None for name, *_ in defaults[1:]}})
        records.close()
        pipeline.run()
        wanted = {name: value if version == 3 else None for name, _, _, value in defaults}
        wanted = {"id": 1, "j": wanted.pop("i"), **wanted}
        nothing = {name: None for name in wanted}
        check(pipeline.rows("shop.t") == [wanted, {**nothing, "id": 2}, {**nothing, "id": 3, "j": 1}],
              f"version {version}: {pipeline.rows('shop.t')}\nnot {wanted}")
        said = "old rows read the default 7" if version == 3 else "old rows read NULL"
        check(any(said in json.dumps(record) for record in pipeline.audit()), f"the audit log does not say {said!r}")


def metadata_of(pipeline, table):
    folder = os.path.join(pipeline.warehouse, "shop", table, "metadata")
    with open(os.path.join(folder, "version-hint.text"), encoding="utf-8") as hint:
        with open(os.path.join(folder, f"v{hint.read().strip()}.metadata.json"), encoding="utf-8") as f:
            return json.load(f)


def ids_are_never_used_again(driftless, folder):
    """A column that comes again under an old name is another one: files that hold the old one's values say nothing of it."""
    pipeline, records = simple(driftless, folder, "shop", "EVOLVE")
    columns = [("id", "INT", True), ("b", "INT", False)]
    records.ddl("t", "CREATE TABLE t (id INT NOT NULL, b INT, PRIMARY KEY (id))", columns)
    records.row("t", {"id": 1, "b": 1})
    records.ddl("t", "ALTER TABLE t ADD COLUMN a INT FIRST", [("a", "INT", False), *columns])
    records.row("t", {"a": 7, "id": 2, "b": 2})
    records.ddl("t", "ALTER TABLE t DROP COLUMN a", columns)
    records.row("t", {"id": 3, "b": 3})
    records.ddl("t", "ALTER TABLE t ADD COLUMN a INT AFTER id", [columns[0], ("a", "INT", False), columns[1]])
    records.row("t", {"id": 4, "a": 9, "b": 4})
    records.ddl("t", "ALTER TABLE t RENAME COLUMN b TO c", [columns[0], ("a", "INT", False), ("c", "INT", False)])
    records.row("t", {"id": 5, "a": 10, "c": 5})
    records.close()
    pipeline.run()
    rows = [{"id": i, "a": {4: 9, 5: 10}.get(i), "c": i} for i in range(1, 6)]
    check(sorted(pipeline.rows("shop.t"), key=lambda row: row["id"]) == rows, pipeline.rows("shop.t"))
    metadata = metadata_of(pipeline, "t")
    schemas = {s["schema-id"]: s for s in metadata["schemas"]}
    ids = [[(f["name"], f["id"]) for f in s["fields"]] for _, s in sorted(schemas.items())]
    check(ids == [[("id", 1), ("b", 2)], [("a", 3), ("id", 1), ("b", 2)], [("id", 1), ("a", 4), ("b", 2)],
                  [("id", 1), ("a", 4), ("c", 2)]], ids)
    check(metadata["last-column-id"] == 4 and all(s["identifier-field-ids"] == [1] for s in schemas.values()), schemas)
    # Each snapshot is read under the schema that it was made under.
    travelled = [json.loads(line) for line in pipeline.command(
        "peek", pipeline.file, "--table", "shop.t", "--snapshot", str(metadata["snapshots"][1]["snapshot-id"]),
        "--output", "json").splitlines()]
    check(sorted(travelled, key=lambda row: row["id"]) == [{"a": None, "id": 1, "b": 1}, {"a": 7, "id": 2, "b": 2}], travelled)


def the_catalog_has_defaults_for_tables(driftless, folder):
    pipeline, records = simple(driftless, folder, "shop")
    with open(pipeline.file, encoding="utf-8") as f:
        text = f.read()
    with open(pipeline.file, "w", encoding="utf-8") as f:
        f.write(text.replace("  table.properties", "  table.properties.mine: ours\n"
                             "  catalog.properties.table-default.mine: theirs\n"
                             "  catalog.properties.table-default.write.parquet.compression-codec: gzip\n"
                             "  catalog.properties.table-override.history.expire.min-snapshots-to-keep: 3\n  table.properties", 1))
    records.ddl("t", "CREATE TABLE t (id INT NOT NULL, PRIMARY KEY (id))", [("id", "INT", True)])
    records.row("t", {"id": 1})
    records.close()
    pipeline.run()
    properties = metadata_of(pipeline, "t")["properties"]
    wanted = {"mine": "ours", "write.parquet.compression-codec": "gzip", "history.expire.min-snapshots-to-keep": "3"}
    check({k: properties.get(k) for k in wanted} == wanted, properties)
    check(pipeline.rows("shop.t") == [{"id": 1}], "the rows")


def a_thousand_tables(driftless, folder):
    """One checkpoint of a thousand tables: each is created and has its rows, in one snapshot each."""
    pipeline, records = simple(driftless, folder, "many")
    for i in range(1000):
        columns = [("id", "INT", True), ("v", "INT", False)]
        records.ddl(f"t{i}", f"CREATE TABLE t{i} (id INT NOT NULL, v INT, PRIMARY KEY (id))", columns)
    for i in range(1000):
        for n in range(2):
            records.row(f"t{i}", {"id": n, "v": i})
    records.close()
    process = pipeline.start("--until-end")
    try:
        check(process.wait(timeout=500) == 0, "the run failed: " + open(pipeline.log, encoding="utf-8").read()[-3000:])
    finally:
        process.kill()
    cuts = set()
    for i in range(1000):
        snapshots = metadata_of(pipeline, f"t{i}")["snapshots"]
        cuts.update(snapshot["summary"]["driftless.cut"] for snapshot in snapshots)
        check(len(snapshots) == 1 and snapshots[0]["summary"]["added-records"] == "2", f"t{i}: {snapshots}")
    check(len(cuts) == 1, f"the tables were committed by the cuts {cuts}")
    for i in (0, 1, 500, 999):
        check(pipeline.rows(f"shop.t{i}") == [{"id": 0, "v": i}, {"id": 1, "v": i}], f"rows of t{i}")


SHORT = [version_2, version_3, an_existing_table_is_compared, added_columns_have_their_default,
         ids_are_never_used_again, the_catalog_has_defaults_for_tables]
TESTS = [*SHORT, a_thousand_tables]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--seed", type=int, default=default_seed())
    ap.add_argument("--only", default=",".join(test.__name__ for test in SHORT))
    ap.add_argument("--keep", help="work in this folder and leave it")
    args = ap.parse_args()
    options.seed = args.seed
    print(f"seed {args.seed}")
    chosen = [t for t in TESTS if t.__name__ in args.only.split(",")]
    if not args.keep:
        sys.exit(run_all(chosen, args.driftless))
    for test in chosen:
        os.makedirs(os.path.join(args.keep, test.__name__))
        try:
            test(args.driftless, os.path.join(args.keep, test.__name__))
            print("ok", test.__name__)
        except Failed as error:
            print("FAILED", test.__name__, error)


main()
