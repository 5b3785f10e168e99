#!/usr/bin/env python3
"""A script of Flink SQL drives a pipeline into Paimon and Iceberg; both equal the session's own DESCRIBE at the end.

usage: sql_source.py --driftless BIN
"""
import argparse
import json
import os
import subprocess
import sys

from pipelines import Pipeline, check, run_all

TEXT = """source:
  type: sql
  path: @FOLDER@/script.sql
  tables: shop.\\.*
sinks:
  - type: paimon
    name: paimon
    catalog.properties.warehouse: @FOLDER@/paimon
  - type: iceberg
    name: iceberg
    catalog.properties.warehouse: @FOLDER@/iceberg
pipeline:
  name: sql
  http.address: off
  schema.change.behavior: EVOLVE
"""
START = """CREATE DATABASE shop;
USE shop;
CREATE TABLE orders (
  id BIGINT NOT NULL,
  item STRING COMMENT 'what',
  qty INT,
  price DECIMAL(10, 2),
  ordered TIMESTAMP(3),
  total AS qty * price,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'x');
INSERT INTO orders VALUES (1, 'tea', 2, 2.5, TIMESTAMP '2024-01-02 03:04:05');
"""
# Twenty ALTERs, rows between them. A statement of watermarks, options or computed columns is no change of a stream.
ALTERS = [
    "ALTER TABLE orders ADD note STRING COMMENT 'free text'",
    "ALTER TABLE orders ADD (city STRING FIRST, zip STRING AFTER city, full_city AS city || zip)",
    "ALTER TABLE orders RENAME item TO product",
    "ALTER TABLE orders MODIFY qty BIGINT",
    "ALTER TABLE orders DROP note",
    "ALTER TABLE orders ADD note INT",
    "ALTER TABLE orders ADD WATERMARK FOR ordered AS ordered - INTERVAL '5' SECOND",
    "ALTER TABLE orders DROP total",
    "ALTER TABLE orders MODIFY price DECIMAL(12, 2)",
    "ALTER TABLE orders RENAME note TO score",
    "ALTER TABLE orders ADD note DOUBLE AFTER score",
    "ALTER TABLE orders SET ('a.b' = 'c')",
    "ALTER TABLE orders ADD (tags ARRAY<INT>, place ROW<lat DOUBLE, lon DOUBLE>)",
    "ALTER TABLE orders DROP (zip, full_city)",
    "ALTER TABLE IF EXISTS nothing ADD x INT",
    "ALTER TABLE orders MODIFY score BIGINT",
    "ALTER TABLE orders ADD kind STRING AFTER product",
    "ALTER TABLE orders RENAME kind TO sort",
    "ALTER TABLE orders DROP WATERMARK",
    "ALTER TABLE orders ADD (day_ DATE, flag BOOLEAN COMMENT 'done')",
]
ROWS = {
    1: "INSERT INTO orders (id, product, qty) VALUES (2, 'milk', 7)",  # replaced below: before the rename it is item
    4: "UPDATE orders SET qty = 5000000000 WHERE id = 1",
    6: "UPDATE orders SET note = 3 WHERE id = 2",
    10: "INSERT INTO orders (id, city, score) VALUES (3, 'Ulm', 8)",
    13: "UPDATE orders SET tags = ARRAY[1, 2], place = ROW(48.4, 9.9) WHERE city = 'Ulm'",
    16: "DELETE FROM orders WHERE id = 2",
    20: "INSERT INTO orders (id, sort, flag, day_, note) VALUES (4, 'new', TRUE, DATE '2024-05-06', 0.5)",
}
ROWS[1] = ROWS[1].replace("product", "item")


def write(folder, alters):
    path = os.path.join(folder, "script.sql")
    with open(path, "w", encoding="utf-8") as f:
        f.write(START)
        for i in range(1, alters + 1):
            f.write(ALTERS[i - 1] + ";\n")
            if i in ROWS:
                f.write(ROWS[i] + ";\n")
    return path


def described(driftless, folder, alters):
    """name -> (type, nullable) by the session's own DESCRIBE, without computed columns."""
    text = START[:START.index("INSERT")] + "".join(a + ";\n" for a in ALTERS[:alters]) + "DESCRIBE orders;\n"
    path = os.path.join(folder, "session.sql")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    result = subprocess.run([driftless, "sql", path], capture_output=True, text=True, encoding="utf-8")
    check(result.returncode == 0, result.stdout + result.stderr)
    columns = []
    for line in result.stdout.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) < 4 or cells[0] == "name":
            continue
        if not cells[4].startswith("AS "):
            columns.append((cells[0], cells[1].removesuffix(" *ROWTIME*"), cells[2] == "TRUE"))
    return columns


def sink_columns(pipeline, sink):
    text = pipeline.command("peek", pipeline.file, "--table", "shop.orders", "--sink", sink, "--schema",
                            "--output", "json")
    columns = []
    for column in json.loads(text)["columns"]:
        columns.append((column["name"], column["type"], column["nullable"]))
    return columns


WANTED = {
    1: {"city": None, "product": "tea", "qty": 5000000000, "price": "2.50", "score": None, "tags": None, "flag": None},
    3: {"city": "Ulm", "product": None, "score": 8, "tags": [1, 2], "place": {"lat": 48.4, "lon": 9.9}},
    4: {"sort": "new", "flag": True, "day_": "2024-05-06", "note": 0.5},
}


def expect(pipeline, driftless, folder, alters):
    wanted = described(driftless, folder, alters)
    for sink in ("paimon", "iceberg"):
        columns = sink_columns(pipeline, sink)
        if sink == "iceberg":  # its timestamps have microseconds
            wanted = [(name, kind.replace("TIMESTAMP(3)", "TIMESTAMP(6)"), null) for name, kind, null in wanted]
        check(columns == wanted, f"{sink} after {alters} ALTERs:\n{columns}\nwanted:\n{wanted}")


def expect_rows(pipeline):
    for sink in ("paimon", "iceberg"):
        rows = {row["id"]: row for row in pipeline.rows("shop.orders", sink)}
        check(set(rows) == set(WANTED), f"{sink}: {rows}")
        for key, values in WANTED.items():
            for name, value in values.items():
                check(str(rows[key][name]) == str(value), f"{sink}: {key}.{name} is {rows[key][name]!r}, not {value!r}")


def twenty_alters_at_once(driftless, folder):
    write(folder, len(ALTERS))
    pipeline = Pipeline(driftless, folder, TEXT)
    pipeline.run()
    expect(pipeline, driftless, folder, len(ALTERS))
    expect_rows(pipeline)


def statement_by_statement(driftless, folder):
    """The script grows, and the pipeline goes on where it was."""
    pipeline = Pipeline(driftless, folder, TEXT)
    for alters in (0, 2, 5, 6, 11, 14, 17, 20):
        write(folder, alters)
        pipeline.run()
        expect(pipeline, driftless, folder, alters)
    expect_rows(pipeline)


def plan_takes_flink_sql(driftless, folder):
    write(folder, 2)
    pipeline = Pipeline(driftless, folder, TEXT)
    pipeline.run()
    for words in (["--state", pipeline.state], ["--schema", os.path.join(folder, "tables.sql")]):
        with open(os.path.join(folder, "tables.sql"), "w", encoding="utf-8") as f:
            f.write(START[:START.index("INSERT")])
        text = pipeline.command("plan", pipeline.file, "--ddl", "ALTER TABLE shop.orders ADD extra INT AFTER item",
                                "--output", "json", *words)
        planned = json.loads(text.splitlines()[0])
        check("extra" in text and "add.column" in text, text)
        check(text.count("apply") >= 2, f"both sinks can add a column: {planned}")


def another_beginning_is_refused(driftless, folder):
    path = write(folder, 3)
    pipeline = Pipeline(driftless, folder, TEXT)
    pipeline.run()
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("'tea'", "'pea'"))
    log = pipeline.run(expected=1)
    check("does not begin with the" in log, log)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--driftless", required=True)
    sys.exit(run_all([twenty_alters_at_once, statement_by_statement, plan_takes_flink_sql, another_beginning_is_refused],
                     parser.parse_args().driftless))
