"""Values and types: what a column takes, gives back, and turns into another type."""
import json
import math
import re

INTEGERS = ["TINYINT", "SMALLINT", "INT", "BIGINT", "LARGEINT"]
RANGES = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63, "LARGEINT": 127}


def family(kind):
    return {"DECIMALV3": "DECIMAL", "DATEV2": "DATE", "DATETIMEV2": "DATETIME"}.get(kind, kind)


def converts(product, old, new):
    """Whether MODIFY COLUMN turns one type into the other: the tables of both servers' sources."""
    a, b = family(old.kind), family(new.kind)
    if (old.kind, old.length, old.scale) == (new.kind, new.length, new.scale):
        return True
    if a in INTEGERS:
        if b in INTEGERS:
            return INTEGERS.index(b) > INTEGERS.index(a)
        allowed = {"DOUBLE", "VARCHAR"} | ({"FLOAT", "STRING"} if product == "doris" else set())
        return b in allowed or (a == "INT" and b == "DATE")
    if a == "FLOAT":
        return b in ("DOUBLE", "VARCHAR") or (product == "doris" and b == "STRING")
    if a == "DOUBLE":
        return b == "VARCHAR" or (product == "doris" and b == "STRING")
    if a == "DECIMAL":
        if b == "DECIMAL":
            return (old.scale or 0) <= (new.scale or 0) and old.length - (old.scale or 0) <= new.length - (new.scale or 0)
        return b == "VARCHAR" or (product == "doris" and b == "STRING")
    if a == "VARCHAR":
        if b == "VARCHAR":
            return new.length >= old.length
        common = b in INTEGERS or b in ("FLOAT", "DOUBLE", "DATE", "JSON")
        return common or (b == "DECIMAL" if product == "starrocks" else b == "STRING")
    if a == "CHAR":
        if b in ("CHAR", "VARCHAR"):
            return new.length >= old.length
        return product == "doris" and (b in INTEGERS or b in ("FLOAT", "DOUBLE", "DATE", "STRING"))
    if a in ("DATE", "DATETIME"):
        return b in ("DATE", "DATETIME")
    return False


def sortable(value):
    return f"{value:030}" if isinstance(value, int) else str(value)


def misfit(column, value, product):
    """Why a column does not take a value; None where it does."""
    kind = family(column.kind)
    if kind in INTEGERS:
        try:
            number = int(value)
        except (TypeError, ValueError):
            return f"the value {value!r} is no number for column '{column.name}'"
        bits = RANGES[kind]
        return None if -2 ** bits <= number < 2 ** bits else f"the value {value} is out of range of '{column.name}'"
    if kind in ("CHAR", "VARCHAR", "STRING"):
        if not isinstance(value, str):
            value = json.dumps(value)
        limit = column.length if kind != "STRING" else 1048576
        length = len(value.encode())
        return None if length <= limit else f"the length of input is too long than schema. column_name: {column.name}; input length {length} schema length: {limit}"
    if kind == "DECIMAL":
        match = re.fullmatch(r"-?(\d+)(?:\.(\d+))?", str(value))
        if not match:
            return f"the value {value!r} is no decimal for column '{column.name}'"
        whole = match.group(1).lstrip("0")
        fits = len(whole) <= column.length - (column.scale or 0) and len(match.group(2) or "") <= (column.scale or 0)
        return None if fits else f"decimal value is not valid for definition, column={column.name}, value={value}"
    if kind == "DATE":
        return None if re.fullmatch(r"\d{4}-\d\d-\d\d", str(value)) else f"the value {value!r} is no date"
    if kind == "DATETIME":
        fits = re.fullmatch(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?", str(value))
        return None if fits else f"the value {value!r} is no datetime"
    if kind in ("FLOAT", "DOUBLE"):
        try:
            return None if math.isfinite(float(value)) else f"{value} is not valid for '{column.name}'"
        except (TypeError, ValueError):
            return f"the value {value!r} is no number"
    if kind == "BOOLEAN":
        return None if value in (True, False, 0, 1, "0", "1", "true", "false") else f"{value!r} is no boolean"
    return None


def normal(column, value):
    """The value as the server gives it back."""
    kind = family(column.kind)
    if kind in INTEGERS:
        return int(value)
    if kind in ("FLOAT", "DOUBLE"):
        return float(value)
    if kind == "BOOLEAN":
        return value in (True, 1, "1", "true")
    if kind == "DECIMAL":
        text = str(value)
        scale = column.scale or 0
        whole, _, digits = text.partition(".")
        return whole + ("." + digits.ljust(scale, "0") if scale else "")
    if kind == "DATE":
        return str(value)[:10]
    if kind == "DATETIME":
        text = str(value)
        return text if " " in text else text + " 00:00:00"
    if kind in ("CHAR", "VARCHAR", "STRING") and not isinstance(value, str):
        return json.dumps(value)
    return value
