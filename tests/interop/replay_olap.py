#!/usr/bin/env python3
"""Replays a recorded change stream into the double of StarRocks or Doris and compares the tables with the source's truth.

usage: replay_olap.py --driftless BIN --case NAME --product starrocks|doris [--keep DIR] [--update]

What differs stands in expected/olap.PRODUCT.NAME.json, and the test asserts exactly that (--update writes it): what
Debezium's record has lost (reasons.json), and nothing else. Names, keys and values count; types are the product's own. StarRocks' matrix skips renames and type changes,
so its replays switch on the extensions of a newer server.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

import replay

DOUBLE = os.path.join(replay.TOP, "tests", "doubles", "olap_server")
VERSIONS = {"starrocks": "3.3.5", "doris": "3.0.4"}


def sink_lines(product, ports):
    query, http = f"127.0.0.1:{ports['query']}", f"127.0.0.1:{ports['http']}"
    common = ["  name: olap", "  username: root", "  password: ''", "  table.create.properties.replication_num: 1"]
    if product == "starrocks":
        return ["  type: starrocks", f"  jdbc-url: jdbc:mysql://{query}", f"  load-url: {http}",
                "  capability.extensions: [rename.column, alter.column.type]", "  unicode-char.max-bytes: 4", *common]
    return ["  type: doris", f"  jdbc-url: jdbc:mysql://{query}", f"  fenodes: {http}", *common]


def pipeline_text(case, product, ports):
    text = replay.pipeline_text(case, "@", "paimon")
    begin, end = text.index("sink:\n"), text.index("route:\n") if "route:\n" in text else text.index("pipeline:\n")
    return text[:begin] + "sink:\n" + "\n".join(sink_lines(product, ports)) + "\n" + text[end:]


def ask(ports, what, **query):
    url = f"http://127.0.0.1:{ports['http']}/_double/{what}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def type_text(kind, length, scale):
    """The type in the words of compare_table.py."""
    plain = {"DECIMALV3": "DECIMAL", "DATEV2": "DATE", "DATETIMEV2": "TIMESTAMP", "DATETIME": "TIMESTAMP"}.get(kind, kind)
    return f"{plain}({length}, {scale or 0})" if plain == "DECIMAL" else plain


def write_tables(ports, out):
    os.makedirs(out)
    for database, name in ask(ports, "tables"):
        table = f"{database}.{name}"
        columns = ask(ports, "columns", db=database, table=name)
        keys = [c[0] for c in columns if c[5]]
        with open(os.path.join(out, table + ".jsonl"), "w", encoding="utf-8") as f:
            fields = [{"name": c[0], "type": type_text(*c[1:4])} for c in columns]
            f.write(json.dumps({"schema": {"fields": fields,
                                           "primaryKeys": keys}}) + "\n")
            for row in ask(ports, "rows", db=database, table=name):
                f.write(json.dumps({"row": row}) + "\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--case", required=True)
    ap.add_argument("--product", choices=sorted(VERSIONS), required=True)
    ap.add_argument("--keep")
    ap.add_argument("--update", action="store_true")
    args = ap.parse_args()
    case = replay.case_named(args.case)
    work = args.keep or tempfile.mkdtemp(prefix="driftless-olap-")
    os.makedirs(work, exist_ok=True)
    double = subprocess.Popen([sys.executable, DOUBLE, "--product", args.product, "--version", VERSIONS[args.product]],
                              stdout=subprocess.PIPE, text=True)
    try:
        ports = json.loads(double.stdout.readline())
        pipeline = os.path.join(work, "pipeline.yaml")
        with open(pipeline, "w", encoding="utf-8") as f:
            f.write(pipeline_text(case, args.product, ports))
        replay.replayed(args, case, pipeline, os.path.join(work, "state"))
        if waited := ask(ports, "waited"):
            sys.exit(f"open across an ALTER of their table: {waited}")
        out = os.path.join(work, "tables")
        write_tables(ports, out)
        truth = os.path.join(replay.TOP, "tests/data/truth", case["truth"])
        details = os.path.join(work, "details.json")
        compared = replay.run([sys.executable, os.path.join(replay.HERE, "compare_table.py"), "--schema",
                               truth + ".final.schema.jsonl.gz", "--rows", truth + ".final.rows.jsonl.gz",
                               "--ignore-types", "--ignore-order", "--json", details, *case.get("compare", []), "--sink-dir", out])
        if compared.returncode not in (0, 1):
            sys.exit(compared.stdout + compared.stderr)
        with open(details, encoding="utf-8") as f:
            got = {t: d for t, d in replay.summary(json.load(f)["tables"]).items() if "rows" in d or "missing_table" in d}
        name = f"olap.{args.product}.{args.case}"
        if args.update:
            replay.update(name, got)
        if got != replay.expected_of(name):
            sys.exit(f"not the expected differences:\n{compared.stdout}{json.dumps(got, indent=1, ensure_ascii=False)}")
        if left := replay.without_reason(name, replay.items_of(got)):
            sys.exit("differences without a reason in reasons.json:\n" + "\n".join(left))
        print(compared.stdout)
    finally:
        double.kill()
        double.wait()


if __name__ == "__main__":
    main()
