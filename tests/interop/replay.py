#!/usr/bin/env python3
"""Replays one recorded change stream into Paimon and compares the tables with the source's truth.

usage: replay.py --driftless BIN --case NAME --reader peek|oracle|pypaimon [--keep DIR] [--update]

The cases stand in cases.json: the recording, the truth, the pipeline's options, and `compare`, the arguments for
compare_table.py. What differs all the same is written down, with its reason, in expected/NAME.json: the test
asserts exactly that and nothing else. Exit status: 0 as expected, 1 not, 77 the reader is not installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PEERS = os.environ.get("PEERS_DIR") or os.path.join(TOP, ".deps", "peers")
SKIPPED = 77


def run(command, **kw):
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", **kw)


def pipeline_text(case, warehouse):
    """The pipeline file of a case; everything not in the case is a default."""
    lines = ["source:", "  type: file", f"  path: {os.path.join(TOP, 'tests/data', case['recording'])}"]
    lines += [f"  {k}: {json.dumps(v)}" for k, v in case.get("source", {}).items()]
    lines += ["sink:", "  type: paimon", "  name: lake", f"  catalog.properties.warehouse: {warehouse}"]
    lines += [f"  {k}: {json.dumps(v)}" for k, v in case.get("sink", {}).items()]
    if case.get("route"):
        lines.append("route:")
        for rule in case["route"]:
            lines.append(f"  - source-table: {json.dumps(rule[0])}")
            lines.append(f"    sink-table: {json.dumps(rule[1])}")
    lines += ["pipeline:", f"  name: {case['name'].replace('/', '-')}", "  http.address: off"]
    lines += [f"  {k}: {json.dumps(v)}" for k, v in case.get("pipeline", {}).items()]
    return "\n".join(lines) + "\n"


def tables_of(warehouse):
    found = []
    for db in sorted(os.listdir(warehouse)) if os.path.isdir(warehouse) else []:
        if db.endswith(".db"):
            found += [db[:-3] + "." + t for t in sorted(os.listdir(os.path.join(warehouse, db)))]
    return found


def by_peek(driftless, pipeline, warehouse, out):
    """What `driftless peek` says, in the oracle's form."""
    os.makedirs(out)
    for table in tables_of(warehouse):
        shape = run([driftless, "peek", pipeline, "--table", table, "--schema", "--output", "json"])
        rows = run([driftless, "peek", pipeline, "--table", table, "--output", "json"])
        if shape.returncode or rows.returncode:
            sys.exit(f"peek of {table} failed: {shape.stderr}{rows.stderr}")
        schema = json.loads(shape.stdout)
        fields = [{"name": c["name"], "type": c["type"]} for c in schema["columns"]]
        with open(os.path.join(out, table + ".jsonl"), "w", encoding="utf-8") as f:
            f.write(json.dumps({"schema": {"fields": fields, "primaryKeys": schema["primary_key"]}}) + "\n")
            for line in rows.stdout.split("\n"):
                if line:
                    f.write(json.dumps({"row": json.loads(line)}) + "\n")


def read_back(args, case, pipeline, warehouse, work):
    """Arguments for compare_table.py that name the sink."""
    out = os.path.join(work, args.reader)
    if args.reader == "peek":
        by_peek(args.driftless, pipeline, warehouse, out)
        return ["--sink-dir", out]
    if args.reader == "oracle":
        if not os.path.exists(os.path.join(PEERS, "dist", "oracle", ".stamp")):
            sys.exit(SKIPPED)
        oracle = os.path.join(TOP, "tests/peers/oracle")
        for table in tables_of(warehouse):
            checked = run([oracle, "paimon", "check", warehouse, *table.split(".", 1)])
            if checked.returncode:
                sys.exit(f"the reference reader's check of {table} failed:\n{checked.stdout}{checked.stderr}")
        return ["--oracle", oracle, "--paimon", warehouse]
    if not os.path.exists(os.path.join(PEERS, "dist", "readers", ".stamp")):
        sys.exit(SKIPPED)
    read = run([os.path.join(TOP, "tests/peers/readers"), "py", os.path.join(HERE, "pypaimon_rows.py"), warehouse, out])
    if read.returncode:
        sys.exit("pypaimon failed:\n" + read.stderr[-3000:])
    return ["--sink-dir", out]


def summary(details):
    """What of a comparison must stay the same: per differing table, kinds and columns with counts."""
    out = {}
    for r in details:
        if r["equal"]:
            continue
        keep = {k: r[k] for k in ("missing_table", "unreadable") if k in r}
        for kind, what in (r.get("schema") or {}).items():
            if kind in r["schema_counts"]:
                keep.setdefault("schema", {})[kind] = what
        if r.get("rows"):
            keep["rows"] = r["rows"]
            keep["columns"] = r.get("columns_that_differ", {})
        out[r["table"]] = keep
    return out


def case_named(name):
    with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as f:
        return {c["name"]: c for c in json.load(f)}[name]


def expected_path(name):
    return os.path.join(HERE, "expected", name.replace("/", ".") + ".json")


def expected_of(name):
    if not os.path.exists(expected_path(name)):
        return {}
    with open(expected_path(name), encoding="utf-8") as f:
        return json.load(f)


def compare(args, case, pipeline, warehouse, work):
    """The summary of what differs, and compare_table.py's report."""
    details = os.path.join(work, "details.json")
    truth = os.path.join(TOP, "tests/data/truth", case["truth"])
    compared = run([sys.executable, os.path.join(HERE, "compare_table.py"), "--schema", truth + ".final.schema.jsonl.gz",
                    "--rows", truth + ".final.rows.jsonl.gz", "--json", details, *case.get("compare", []),
                    *read_back(args, case, pipeline, warehouse, work)])
    if compared.returncode not in (0, 1):
        sys.exit(compared.stdout + compared.stderr)
    with open(details, encoding="utf-8") as f:
        return summary(json.load(f)["tables"]), compared.stdout


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--case", required=True)
    ap.add_argument("--reader", choices=["peek", "oracle", "pypaimon"], required=True)
    ap.add_argument("--keep", help="work in this folder and leave it")
    ap.add_argument("--update", action="store_true", help="write the expected differences anew")
    args = ap.parse_args()
    case = case_named(args.case)

    work = args.keep or tempfile.mkdtemp(prefix="driftless-replay-")
    os.makedirs(work, exist_ok=True)
    try:
        warehouse = os.path.join(work, "warehouse")
        pipeline = os.path.join(work, "pipeline.yaml")
        with open(pipeline, "w", encoding="utf-8") as f:
            f.write(pipeline_text(case, warehouse))
        ran = run([args.driftless, "run", pipeline, "--state", os.path.join(work, "state"), "--until-end"])
        if ran.returncode:
            sys.exit(f"run ended with {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}")
        got, report = compare(args, case, pipeline, warehouse, work)
        path = expected_path(args.case)
        expected = expected_of(args.case)
        if args.update and got:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"because": expected.get("because", ""), "differences": got}, f, indent=1, ensure_ascii=False)
                f.write("\n")
            expected = {"differences": got}
        if got != expected.get("differences", {}):
            sys.exit("not the expected differences:\n" + report + json.dumps(got, indent=1, ensure_ascii=False))
        print(f"{args.case} by {args.reader}: {len(tables_of(warehouse))} tables, "
              + (f"{len(got)} with known differences" if got else "all equal to the truth"))
    finally:
        if not args.keep:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
