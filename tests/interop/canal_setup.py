"""What a recorded Canal stream begins with: the tables as they were when Canal started, as messages in Canal's form."""
import gzip
import json
import re


def lines_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            yield json.loads(line)


def members(kind):
    return [m.replace("''", "'") for m in re.findall(r"'((?:[^']|'')*)'", kind)]


def canal_value(kind, text):
    """Canal's text of a value: ENUM and SET as numbers, BIT as a number, bytes as ISO-8859-1 characters."""
    if text is None:
        return None
    if kind.startswith("enum("):
        return str(members(kind).index(text) + 1)
    if kind.startswith("set("):
        return str(sum(1 << members(kind).index(m) for m in text.split(",") if m))
    if kind.startswith("bit("):
        return str(int(text, 16))
    if re.match(r"(tiny|medium|long)?blob|(var)?binary", kind):
        return bytes.fromhex(text[2:]).decode("latin-1")
    return text


def write(truth, path):
    """`truth`: the path of NAME.setup without .final.*; writes a CREATE and one INSERT for each row."""
    tables = {}
    with open(path, "w", encoding="utf-8") as out:
        for table in lines_of(truth + ".final.schema.jsonl.gz"):
            database, name = table["table"].split(".", 1)
            tables[table["table"]] = table
            out.write(json.dumps({
                "data": None, "database": database, "es": 1750000000000, "gtid": "", "id": 1, "isDdl": True,
                "mysqlType": None, "old": None, "pkNames": None, "sql": table["create"], "sqlType": None,
                "table": name, "ts": 1750000000000, "type": "CREATE"}, ensure_ascii=False) + "\n")
        for line in lines_of(truth + ".final.rows.jsonl.gz"):
            table = tables[line["table"]]
            database, name = line["table"].split(".", 1)
            types = {c["name"]: c["type"] for c in table["columns"]}
            out.write(json.dumps({
                "data": [{c: canal_value(types[c], v) for c, v in line["row"].items()}], "database": database,
                "es": 1750000000000, "gtid": "", "id": 1, "isDdl": False, "mysqlType": types, "old": None,
                "pkNames": table["primary_key"] or None, "sql": "", "sqlType": None, "table": name,
                "ts": 1750000000000, "type": "INSERT"}, ensure_ascii=False) + "\n")
