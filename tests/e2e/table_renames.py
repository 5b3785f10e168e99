#!/usr/bin/env python3
"""Tables that are renamed, swapped and followed, in the records that Debezium writes of them.

usage: table_renames.py --driftless BIN

Debezium tells `RENAME TABLE a TO t, b TO a, t TO b` as one record for each pair; they share their place in the binary
log, and each names all the new names.
"""
import argparse
import json
import os
import sys

from pipelines import Pipeline, Records, check, run_all

TEXT = """source:
  type: file
  path: @FOLDER@/*.jsonl
sink:
  type: paimon
  name: lake
  catalog.properties.warehouse: @FOLDER@/warehouse
pipeline:
  name: renames
  http.address: off
@MORE@
"""
A = [("id", "INT", True), ("n", "INT", False)]
B = [("id", "INT", True), ("n", "INT", False), ("m", "INT", False)]


def rename(stream, pairs):
    """One RENAME TABLE statement; `pairs`: [(from, to, columns)], columns None for the steps in the middle."""
    names = ",".join(sorted({to for _, to, _ in pairs}))
    source = stream._source(names)
    for old, new, columns in pairs:
        changes = []
        if columns is not None:
            changes = [{"type": "ALTER", "id": f'"shop"."{new}"',
                        "table": {"defaultCharsetName": "utf8mb4",
                                  "primaryKeyColumnNames": [c[0] for c in columns if c[2]],
                                  "columns": [{"name": name, "typeName": kind, "typeExpression": kind,
                                               "position": i + 1, "optional": not key}
                                              for i, (name, kind, key) in enumerate(columns)]}}]
        stream.raw(json.dumps({"topic": "shop", "key": {"databaseName": "shop"},
                               "value": {"source": source, "ts_ms": 1700000000000, "databaseName": "shop",
                                         "schemaName": None, "ddl": f"RENAME TABLE `shop`.`{old}` TO `shop`.`{new}`",
                                         "tableChanges": changes}}))


def begin(folder, name="1.jsonl"):
    stream = Records(os.path.join(folder, name))
    stream.ddl("a", "CREATE TABLE a (id INT NOT NULL PRIMARY KEY, n INT)", A)
    stream.ddl("b", "CREATE TABLE b (id INT NOT NULL PRIMARY KEY, n INT, m INT)", B)
    stream.row("a", {"id": 1, "n": 10})
    stream.row("b", {"id": 2, "n": 20, "m": 200})
    return stream


def swap(stream, a=B, b=A):
    rename(stream, [("a", "tmp", None), ("b", "a", a), ("tmp", "b", b)])


def a_swap_is_one_change_of_each_name(driftless, folder):
    stream = begin(folder)
    swap(stream)
    stream.row("a", {"id": 3, "n": 30, "m": 300})
    stream.row("b", {"id": 4, "n": 40})
    swap(stream, a=A, b=B)
    stream.row("a", {"id": 5, "n": 50})
    stream.row("b", {"id": 6, "n": 60, "m": 600})
    stream.close()
    pipeline = Pipeline(driftless, folder, TEXT.replace("@MORE@", ""))
    pipeline.run()
    # A name stays bound to its sink table; columns go by name.
    check(pipeline.rows("shop.a") == [{"id": 1, "n": 10}, {"id": 3, "n": 30}, {"id": 5, "n": 50}],
          f"{pipeline.rows('shop.a')}")
    # What a swap takes away and the next brings back is a new column.
    check(pipeline.rows("shop.b") == [{"id": 2, "n": 20, "m": None}, {"id": 4, "n": 40, "m": None},
                                      {"id": 6, "n": 60, "m": 600}], f"{pipeline.rows('shop.b')}")
    events = [(r["table"], r["event"]) for r in pipeline.audit() if r["phase"] == "outcome"]
    check(not any(event == "rename.table" for _, event in events), f"{events}")
    check(not any(table.endswith("tmp") for table, _ in events), f"{events}")
    check(not os.path.exists(os.path.join(folder, "warehouse", "shop.db", "tmp")), "tmp became a table")


def a_swap_at_the_end_and_over_a_restart(driftless, folder):
    stream = begin(folder)
    swap(stream)
    stream.close()
    pipeline = Pipeline(driftless, folder, TEXT.replace("@MORE@", ""))
    pipeline.run()
    later = Records(os.path.join(folder, "2.jsonl"))
    later.position = 5000
    later.row("a", {"id": 3, "n": 30, "m": 300})
    later.row("b", {"id": 4, "n": 40})
    later.close()
    pipeline.run()
    check(pipeline.rows("shop.a") == [{"id": 1, "n": 10, "m": None}, {"id": 3, "n": 30, "m": 300}],
          f"{pipeline.rows('shop.a')}")
    check([r["n"] for r in pipeline.rows("shop.b")] == [20, 40], f"{pipeline.rows('shop.b')}")


def a_swap_that_is_not_understood_waits_as_a_whole(driftless, folder):
    stream = begin(folder)
    swap(stream, a=A)  # the record shows another table than the statement makes
    stream.row("a", {"id": 3, "n": 30})
    stream.row("b", {"id": 4, "n": 40})
    stream.close()
    pipeline = Pipeline(driftless, folder, TEXT.replace("@MORE@", ""))
    pipeline.run()
    check(pipeline.rows("shop.a") == [{"id": 1, "n": 10}], f"{pipeline.rows('shop.a')}")
    check(pipeline.rows("shop.b") == [{"id": 2, "n": 20, "m": 200}], f"{pipeline.rows('shop.b')}")
    held = {r["source_table"] if "source_table" in r else r["table"] for r in pipeline.audit() if r["result"] == "held"}
    check(held == {"shop.a", "shop.b", "shop.tmp"}, f"{held}")


def a_renamed_table_is_new_or_followed(driftless, folder):
    stream = begin(folder)
    rename(stream, [("a", "c", A)])
    stream.row("c", {"id": 3, "n": 30})
    stream.ddl("c", "ALTER TABLE c ADD COLUMN w INT", A + [("w", "INT", False)])
    stream.row("c", {"id": 4, "n": 40, "w": 4})
    stream.close()
    for option, a, c in (
            ("new-table", [{"id": 1, "n": 10}],
             [{"id": 3, "n": 30, "w": None}, {"id": 4, "n": 40, "w": 4}]),
            ("follow", [{"id": 1, "n": 10, "w": None}, {"id": 3, "n": 30, "w": None}, {"id": 4, "n": 40, "w": 4}],
             None)):
        own = os.path.join(folder, option)
        os.mkdir(own)
        os.link(os.path.join(folder, "1.jsonl"), os.path.join(own, "1.jsonl"))
        pipeline = Pipeline(driftless, own, TEXT.replace("@MORE@", f"  table.rename: {option}"))
        pipeline.run()
        pipeline.run()
        check(pipeline.rows("shop.a") == a, f"{option}: {pipeline.rows('shop.a')}")
        check(pipeline.rows_or_none("shop.c") == (c or []), f"{option}: {pipeline.rows_or_none('shop.c')}")


def a_table_leaves_or_enters_the_captured_ones(driftless, folder):
    stream = begin(folder)
    rename(stream, [("a", "elsewhere", A)])
    stream.row("elsewhere", {"id": 3, "n": 30})
    stream.ddl("outside", "CREATE TABLE outside (id INT NOT NULL PRIMARY KEY, n INT)", A)
    stream.row("outside", {"id": 7, "n": 70})
    rename(stream, [("outside", "c", A)])
    stream.row("c", {"id": 8, "n": 80})
    stream.close()
    for option in ("new-table", "follow"):
        own = os.path.join(folder, option)
        os.mkdir(own)
        os.link(os.path.join(folder, "1.jsonl"), os.path.join(own, "1.jsonl"))
        text = TEXT.replace("@MORE@", f"  table.rename: {option}").replace("jsonl\n", "jsonl\n  tables: shop.[abc]\n")
        pipeline = Pipeline(driftless, own, text)
        pipeline.run()
        check(pipeline.rows("shop.a") == [{"id": 1, "n": 10}], f"{option}: {pipeline.rows('shop.a')}")
        check(pipeline.rows("shop.c") == [{"id": 8, "n": 80}], f"{option}: {pipeline.rows('shop.c')}")
        tables = sorted(os.listdir(os.path.join(own, "warehouse", "shop.db")))
        check(tables == ["a", "b", "c"], f"{option}: {tables}")
        check("left" in pipeline.decide("divergences"), pipeline.decide("divergences"))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    args = ap.parse_args()
    sys.exit(run_all([a_swap_is_one_change_of_each_name, a_swap_at_the_end_and_over_a_restart,
                      a_swap_that_is_not_understood_waits_as_a_whole,
                      a_renamed_table_is_new_or_followed, a_table_leaves_or_enters_the_captured_ones],
                     args.driftless))
