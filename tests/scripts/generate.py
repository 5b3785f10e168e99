#!/usr/bin/env python3
"""Writes one .drift script for every cell of the capability matrix and every behaviour.

usage: generate.py MATRIX.csv FOLDER

What a script expects is worked out here from the matrix and from section 3 and 4 of the
schema-change policy, without any of the product's code.
"""

import csv
import pathlib
import sys

BEHAVIORS = ["LENIENT", "EVOLVE", "TRY_EVOLVE", "IGNORE", "EXCEPTION"]

CREATE = """\
  CREATE TABLE shop.orders (
    id BIGINT NOT NULL, qty INT, note VARCHAR(20) NOT NULL, PRIMARY KEY (id)
  );"""

DDL = {
    "drop.table": "DROP TABLE shop.orders;",
    "truncate.table": "TRUNCATE TABLE shop.orders;",
    "add.column": "ALTER TABLE shop.orders ADD COLUMN extra INT;",
    "add.column.nullable": "ALTER TABLE shop.orders ADD COLUMN extra INT;",
    "add.column.not_null": "ALTER TABLE shop.orders ADD COLUMN extra INT NOT NULL;",
    "drop.column": "ALTER TABLE shop.orders DROP COLUMN qty;",
    "rename.column": "ALTER TABLE shop.orders RENAME COLUMN qty TO quantity;",
    "alter.column.type": "ALTER TABLE shop.orders MODIFY COLUMN qty BIGINT;",
    "relax.nullability": "ALTER TABLE shop.orders MODIFY COLUMN note VARCHAR(20) NULL;",
    "tighten.nullability": "ALTER TABLE shop.orders MODIFY COLUMN qty INT NOT NULL;",
    "alter.column.comment": "ALTER TABLE shop.orders MODIFY COLUMN qty INT COMMENT 'how many';",
    "alter.table.comment": "ALTER TABLE shop.orders COMMENT = 'orders of the shop';",
}

# The row that the source sends behind each event, in the source's own new columns.
LATER = {
    "add.column": '{"id": 2, "qty": 6, "note": "b", "extra": 9}',
    "add.column.nullable": '{"id": 2, "qty": 6, "note": "b", "extra": 9}',
    "add.column.not_null": '{"id": 2, "qty": 6, "note": "b", "extra": 9}',
    "drop.column": '{"id": 2, "note": "b"}',
    "rename.column": '{"id": 2, "quantity": 6, "note": "b"}',
}


def tag(event):
    return "add.column" if event.startswith("add.column") else event


def verdict(sink, event, lenient, evolve, behavior):
    """The verdict by the policy's section 3."""
    if evolve == "never":
        return "skip"
    if event == "create.table":
        return "apply"
    if evolve == "ignore":
        return "fail" if behavior == "EXCEPTION" else "ignore"
    if event == "relax.nullability" and evolve == "skip":
        return "skip"  # unsupported: skipped in every mode
    if behavior == "IGNORE":
        return "skip"
    if behavior == "EXCEPTION":
        return "fail"
    if event == "add.column.not_null":
        return "rewrite"  # Hologres makes it nullable in every mode
    if behavior == "LENIENT":
        return lenient
    if behavior == "EVOLVE":
        return evolve
    return {"apply": "apply", "rewrite": "apply", "skip": "skip", "fail": "skip"}[evolve]


def schema_after(event, outcome):
    """Columns of the sink table as (name, type); None: there is no table."""
    columns = [("id", "*"), ("qty", "INT"), ("note", "*")]
    if outcome in ("skip", "fail", "ignore"):
        return columns
    if event == "drop.table":
        return None
    if event.startswith("add.column"):
        return columns + [("extra", "INT")]
    if event == "drop.column":
        return [columns[0], columns[2]]
    if event == "rename.column":
        if outcome == "rewrite":  # the renamed column is appended, the old one stays
            return columns + [("quantity", "INT")]
        return [columns[0], ("quantity", "INT"), columns[2]]
    if event == "alter.column.type":
        return [columns[0], ("qty", "BIGINT"), columns[2]]
    return columns


def rows_after(sink, event, outcome):
    """What the sink table holds in the end: a row from before the event and one from after it."""
    first = {"id": 1, "qty": 5, "note": "a"}
    second = {"id": 2, "qty": 6, "note": "b"}
    if event == "create.table":
        return [first]
    if event == "drop.table":
        return [first] if outcome != "apply" else []
    if event == "truncate.table":
        return [second] if outcome == "apply" else [first, second]
    if sink == "kafka" and outcome == "ignore":
        # A message is what the source had when it was sent.
        later = dict(second)
        if event == "drop.column":
            del later["qty"]
        if event == "rename.column":
            later["quantity"] = later.pop("qty")
        if event.startswith("add.column"):
            later["extra"] = 9
        return [first, later]
    if event.startswith("add.column") and outcome in ("apply", "rewrite"):
        return [dict(first, extra=None), dict(second, extra=9)]
    if event == "drop.column":
        if outcome == "apply":
            return [{"id": 1, "note": "a"}, {"id": 2, "note": "b"}]
        return [first, dict(second, qty=None)]
    if event == "rename.column" and outcome == "apply":
        return [{"id": 1, "quantity": 5, "note": "a"}, {"id": 2, "quantity": 6, "note": "b"}]
    if event == "rename.column" and outcome == "rewrite":
        return [dict(first, quantity=None), {"id": 2, "qty": None, "quantity": 6, "note": "b"}]
    return [first, second]


def json_text(value):
    if value is None:
        return "null"
    return f'"{value}"' if isinstance(value, str) else str(value)


def row_line(row):
    return "  {" + ", ".join(f'"{name}": {json_text(value)}' for name, value in row.items()) + "}"


# Where the double of the servers listens: run_real.py sets it.
ADDRESSES = {
    "starrocks": ["    jdbc-url: jdbc:mysql://127.0.0.1:${ENV:QUERY_PORT}", "    load-url: 127.0.0.1:${ENV:HTTP_PORT}",
                  "    username: root", "    password: ''", "    table.create.properties.replication_num: 1"],
    "selectdb": ["    jdbc-url: jdbc:mysql://127.0.0.1:${ENV:QUERY_PORT}", "    fenodes: 127.0.0.1:${ENV:HTTP_PORT}",
                 "    username: root", "    table.create.properties.replication_num: 1"],
}


# What capability.extensions switches on at servers that are new enough: the cell says apply then.
EXTENSIONS = {
    "starrocks": ["rename.column", "alter.column.type", "alter.table.comment"],
    "selectdb": ["relax.nullability", "alter.column.comment", "alter.table.comment"],
}


def pipeline(sink, behavior, real, more):
    head = "pipeline real" if real else "pipeline"
    return [head, "  sink:", f"    type: {sink}", *(ADDRESSES.get(sink, []) if real else []), *more, "  pipeline:", "    name: matrix",
            f"    schema.change.behavior: {behavior}", ""]


def script(sink, event, lenient, evolve, behavior, real, more=()):
    outcome = verdict(sink, event, lenient, evolve, behavior)
    lines = [f"# {sink}, {event}, {behavior}: the matrix says {lenient} / {evolve}.", ""]
    lines += pipeline(sink, behavior, real, more)
    if sink == "hologres" and behavior == "TRY_EVOLVE":
        return lines + ['fails "TRY_EVOLVE"']
    lines += ["ddl", CREATE, "", "rows shop.orders",
              '  +I {"id": 1, "qty": 5, "note": "a"}', ""]
    has_later = event not in ("create.table", "drop.table")
    if event != "create.table":
        lines += ["ddl", "  " + DDL[event], ""]
    if has_later:
        later = LATER.get(event, '{"id": 2, "qty": 6, "note": "b"}')
        lines += ["rows shop.orders", "  +I " + later, ""]
    if outcome == "fail":
        lines += [f'fails "{tag(event)}"', ""]
    lines += ["verdicts", "  shop.orders create.table apply"]
    if event != "create.table":
        lines.append(f"  shop.orders {tag(event)} {outcome}")
    lines.append("")
    if outcome == "fail":
        # Nothing of the event and nothing behind it has arrived; the way out is a decision.
        lines += ["result shop.orders", row_line({"id": 1, "qty": 5, "note": "a"}), "",
                  f"skip {tag(event)}", ""]
        outcome = "skip"
    if sink != "kafka":
        lines.append("schema shop.orders")
        columns = schema_after(event, outcome)
        if columns is None:
            lines.append("  no table")
        else:
            lines += [f"  {name} {kind}" for name, kind in columns]
            lines.append("  primary key (id)")
        lines.append("")
    if not (event == "drop.table" and outcome == "apply"):
        lines.append("result shop.orders")
        lines += [row_line(row) for row in rows_after(sink, event, outcome)]
    return lines


def main():
    matrix, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    cells = list(csv.DictReader(matrix.open(encoding="utf-8")))
    count = 0
    for cell in cells:
        kinds = [(cell["sink"], False, ())]
        if cell["sink"] in ("paimon", "iceberg", *ADDRESSES):
            kinds.append((f"{cell['sink']}-real", True, ()))
        if cell["event"] in EXTENSIONS.get(cell["sink"], []):
            kinds.append((f"{cell['sink']}-extended", True, [f"    capability.extensions: [{cell['event']}]"]))
        for name, real, more in kinds:
            target = folder / name
            target.mkdir(parents=True, exist_ok=True)
            for behavior in BEHAVIORS:
                says = ("apply", "apply") if more else (cell["lenient"], cell["evolve"])
                text = script(cell["sink"], cell["event"], *says, behavior, real, more)
                file = target / f"{cell['event']}.{behavior.lower()}.drift"
                content = "\n".join(text) + "\n"
                if real and cell["sink"] in ADDRESSES:  # all of them share one double
                    content = content.replace("shop.", f"shop{count}.")
                file.write_text(content, encoding="utf-8")
                count += 1
    print(f"{count} scripts in {folder}")


if __name__ == "__main__":
    main()
