"""Prints Iceberg tables as the Java oracle's `all` does, read by DuckDB or by pyiceberg: one file TO.jsonl per table,
or TO.error with the reason where the engine cannot read it.

usage: iceberg_rows.py duckdb|pyiceberg < JOBS      (python of tests/peers/readers)

A job is a line {"to": path without its end, "metadata": metadata file, "snapshot": null or the id of one to travel to}: a
snapshot is read under its own schema. pyiceberg knows no equality deletes: a snapshot that has some must be refused, and
then the error begins with "equality deletes".
"""
import datetime
import decimal
import json
import os
import sys

import pyarrow as pa

NANOS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}


def date_text(days):
    """ISO, as Java prints years beyond 0 to 9999. Days since 1970, proleptic Gregorian."""
    z = days + 719468
    era, doe = divmod(z, 146097)
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + 3 if mp < 10 else mp - 9
    year = yoe + era * 400 + (month <= 2)
    head = f"{year:04d}" if 0 <= year <= 9999 else f"+{year}" if year > 0 else f"-{-year:04d}"
    return f"{head}-{month:02d}-{doy - (153 * mp + 2) // 5 + 1:02d}"


def clock_text(nanos, digits):
    seconds, fraction = divmod(nanos, 10**9)
    return (f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
            + (f".{fraction:09d}"[:digits + 1] if digits else ""))


def digits_of(kind):
    return 9 if kind.endswith("_ns") else 6


def text_of(value, kind):
    """A value in the oracle's form; see tests/peers/oracles/common Values.java. `kind`: the field's type in JSON.
    Dates, times and timestamps come as integers: days or nanoseconds."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return {f["name"]: text_of(value[f["name"]], f["type"]) for f in kind["fields"]}
        if kind["type"] == "list":
            return [text_of(v, kind["element"]) for v in value]
        pairs = value.items() if isinstance(value, dict) else value
        texts = [[text_of(k, kind["key"]), text_of(v, kind["value"])] for k, v in pairs]
        return sorted(texts, key=lambda pair: json.dumps(pair[0]))
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray)):
        return "0x" + bytes(value).hex()
    if kind == "date":
        return date_text(value if isinstance(value, int) else (value - datetime.date(1970, 1, 1)).days)
    if kind == "time":
        return clock_text(value, 6)
    if kind.startswith("timestamp"):
        days, rest = divmod(value, 86400 * 10**9)
        return f"{date_text(days)}T{clock_text(rest, digits_of(kind))}{'Z' if kind.startswith('timestamptz') else ''}"
    if isinstance(value, float):
        return "NaN" if value != value else {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, value)
    return value


def plain(array):
    """An Arrow array's values; what Python has no type for as integers: it knows only the years 1 to 9999, and
    microseconds."""
    kind = array.type
    if pa.types.is_date32(kind):
        return array.cast(pa.int32()).to_pylist()
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        scale = NANOS[kind.unit]
        return [None if v is None else v * scale for v in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_struct(kind):
        members = [plain(member) for member in array.flatten()]
        names = [kind.field(i).name for i in range(kind.num_fields)]
        return [dict(zip(names, values)) if there else None for there, *values in zip(array.is_valid().to_pylist(), *members)]
    if pa.types.is_map(kind):
        pairs, offsets = list(zip(plain(array.keys), plain(array.items))), array.offsets.to_pylist()
        parts = [pairs[a:b] for a, b in zip(offsets, offsets[1:])]
        return [part if there else None for there, part in zip(array.is_valid().to_pylist(), parts)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        values = iter(plain(array.flatten()))
        return [None if n is None else [next(values) for _ in range(n)] for n in array.value_lengths().to_pylist()]
    return array.to_pylist()


def rows_of(table, schema):
    kinds = {f["name"]: f["type"] for f in schema["fields"]}
    columns = {n: [v for chunk in table.column(n).chunks for v in plain(chunk)] for n in table.column_names if n in kinds}
    assert set(columns) == set(kinds), f"columns {sorted(columns)}, not {sorted(kinds)}"
    for i in range(table.num_rows):
        yield {n: text_of(columns[n][i], kinds[n]) for n in kinds}


class DuckDb:
    def __init__(self):
        import duckdb
        self.con = duckdb.connect(config={"extension_directory": os.environ["DUCKDB_EXTENSIONS"],
                                          "autoinstall_known_extensions": "false"})
        self.con.execute("SET TimeZone='UTC'; LOAD avro; LOAD iceberg")

    def read(self, metadata, snapshot):
        where = metadata.replace("'", "''")
        at = "" if snapshot is None else f", snapshot_from_id={snapshot}::UBIGINT"
        return self.con.execute(f"select * from iceberg_scan('{where}'{at})").fetch_arrow_table()


class PyIceberg:
    def read(self, metadata, snapshot):
        from pyiceberg.table import StaticTable
        table = StaticTable.from_metadata(metadata)
        at = table.current_snapshot() if snapshot is None else table.snapshot_by_id(snapshot)
        has_equality = at is not None and any(
            entry.data_file.content.value == 2
            for manifest in at.manifests(table.io) for entry in manifest.fetch_manifest_entry(table.io))
        scan = table.scan(**({} if snapshot is None else {"snapshot_id": snapshot}))
        try:
            rows = scan.to_arrow()
        except Exception as error:
            if has_equality and "quality" in str(error):
                raise RuntimeError(f"equality deletes: {error}") from error
            raise
        assert not has_equality, "pyiceberg reads a table with equality deletes by now: compare it"
        return rows


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        for line in lines:
            f.write(json.dumps(line, ensure_ascii=False) + "\n")


def read(engine, job):
    path, snapshot = job["metadata"], job["snapshot"]
    with open(path, encoding="utf-8") as f:
        metadata = json.load(f)
    of_snapshots = {s["snapshot-id"]: s["schema-id"] for s in metadata.get("snapshots", [])}
    schema_id = metadata["current-schema-id"] if snapshot is None else of_snapshots[snapshot]
    schema = next(s for s in metadata["schemas"] if s["schema-id"] == schema_id)
    rows = list(rows_of(engine.read(path, snapshot), schema))
    write(job["to"] + ".jsonl", [{"schema": {"current": True, "schema": schema}}] + [{"row": row} for row in rows])


def main():
    engine = {"duckdb": DuckDb, "pyiceberg": PyIceberg}[sys.argv[1]]()
    for job in map(json.loads, sys.stdin):
        try:
            read(engine, job)
        except Exception as error:
            with open(job["to"] + ".error", "w", encoding="utf-8") as f:
                f.write(f"{error}\n" if str(error).startswith("equality") else f"{type(error).__name__}: {error}\n")


main()
