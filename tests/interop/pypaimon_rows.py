"""Prints Paimon tables as the Java oracle's `all` does, read by pypaimon: one file DB.TABLE.jsonl per table, or
DB.TABLE.error with the reason where pypaimon cannot read the table.

usage: pypaimon_rows.py WAREHOUSE OUT_DIR [DB.TABLE ...]      (python of tests/peers/readers)
"""
import datetime
import decimal
import glob
import json
import os
import sys

from pypaimon import CatalogFactory

EPOCH = datetime.datetime(1970, 1, 1)


def digits(fraction_us, precision):
    text = f"{fraction_us:06d}".ljust(9, "0")[:precision]
    return "." + text if precision else ""


def moment(value, precision, zone):
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + digits(value.microsecond, precision) + zone


def precision_of(type_text, default):
    return int(type_text[type_text.index("(") + 1:type_text.index(")")]) if "(" in type_text else default


def text_of(value, type_text):
    """A value in the oracle's form; see tests/peers/oracles/common Values.java."""
    if value is None:
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray)):
        return "0x" + bytes(value).hex()
    if isinstance(value, datetime.datetime):
        zone = "Z" if "LOCAL TIME ZONE" in type_text or "LTZ" in type_text else ""
        return moment(value, precision_of(type_text, 6), zone)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M:%S") + digits(value.microsecond, precision_of(type_text, 0))
    if isinstance(value, float):
        return "NaN" if value != value else "Infinity" if value == float("inf") else \
            "-Infinity" if value == float("-inf") else value
    if isinstance(value, list):
        return [text_of(v, "") for v in value]
    if isinstance(value, dict):
        return {k: text_of(v, "") for k, v in value.items()}
    return value


def main():
    warehouse, out = sys.argv[1], sys.argv[2]
    tables = sys.argv[3:] or sorted(
        os.path.basename(os.path.dirname(p))[:-3] + "." + os.path.basename(p)
        for p in glob.glob(os.path.join(glob.escape(warehouse), "*.db", "*")))
    catalog = CatalogFactory.create({"warehouse": warehouse})
    os.makedirs(out, exist_ok=True)
    for name in tables:
        db, table_name = name.split(".", 1)
        folder = os.path.join(warehouse, db + ".db", table_name, "schema")
        newest = max(os.listdir(folder), key=lambda f: int(f.rsplit("-", 1)[1]))
        with open(os.path.join(folder, newest), encoding="utf-8") as f:
            schema = json.load(f)
        types = {f["name"]: f["type"] if isinstance(f["type"], str) else "" for f in schema["fields"]}
        try:
            builder = catalog.get_table(name).new_read_builder()
            rows = builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()
        except BaseException as error:  # a Rust library inside panics with one that is no Exception
            with open(os.path.join(out, name + ".error"), "w", encoding="utf-8") as f:
                f.write(f"{type(error).__name__}: {error}\n")
            continue
        with open(os.path.join(out, name + ".jsonl"), "w", encoding="utf-8") as f:
            f.write(json.dumps({"schema": schema}, ensure_ascii=False) + "\n")
            for row in rows:
                line = {k: text_of(v, types.get(k, "")) for k, v in row.items()}
                f.write(json.dumps({"row": line}, ensure_ascii=False) + "\n")


main()
