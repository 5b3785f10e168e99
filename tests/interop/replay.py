#!/usr/bin/env python3
"""Replays one recorded change stream into a lake and compares the tables with the source's truth.

usage: replay.py --driftless BIN --case NAME --reader peek|oracle|pypaimon|duckdb|pyiceberg[,...]
                 [--sink paimon|iceberg] [--format-version 2|3] [--snapshots] [--keep DIR] [--update]
       replay.py --check-reasons

--snapshots (Iceberg): every snapshot, that is the table at every schema change and commit, is read by all the readers
named, under its own schema, and they must agree.

The cases stand in cases.json: the recording, the truth, the pipeline's options, `compare`, the arguments for
compare_table.py, `decide`, what to do with changes that stop, and `unreadable`, what a reader cannot read and why: {reader: {table: reason}}. What differs all
the same is written down in expected/NAME.json: the test asserts exactly that and nothing else. Each difference
("shop.orders rows extra", "shop.orders column total", "shop.orders schema order") must have its cause in
reasons.json: {"cases": RE, "what": RE, "because": text}. --check-reasons asserts that for all cases (and for the steps of
iceberg_steps.py), and that no expectation or reason is left over. Exit status: 0 as expected, 1 not, 77 a reader is not installed.
"""
import argparse
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import canal_setup
import iceberg_readers

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
PEERS = os.environ.get("PEERS_DIR") or os.path.join(TOP, ".deps", "peers")
SKIPPED = 77


def run(command, **kw):
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", **kw)


def recordings_of(case, folder):
    """The files of a case in their order; what a Canal recording begins with is written into the folder."""
    files = [os.path.join(TOP, "tests/data", case["recording"])]
    if case.get("setup"):
        files.insert(0, os.path.join(folder, "setup.jsonl"))
        canal_setup.write(os.path.join(TOP, "tests/data/truth", case["setup"]), files[0])
    return files


def pipeline_text(case, warehouse, sink="paimon", format_version=2):
    """The pipeline file of a case; everything not in the case is a default."""
    lines = ["source:", "  type: file", f"  path: {json.dumps(recordings_of(case, os.path.dirname(warehouse)))}"]
    lines += [f"  {k}: {json.dumps(v)}" for k, v in case.get("source", {}).items()]
    lines += ["sink:", f"  type: {sink}", "  name: lake", f"  catalog.properties.warehouse: {warehouse}"]
    lines += [f"  {k}: {json.dumps(v)}" for k, v in case.get("sink", {}).items()]
    if sink == "iceberg":
        # Maintenance after every commit: a recording has few of them.
        lines += ["  sink.compaction.enabled: true", "  sink.compaction.commit.interval: 1",
                  f'  table.properties.format-version: "{format_version}"']
    if case.get("route"):
        lines.append("route:")
        for rule in case["route"]:
            lines.append(f"  - source-table: {json.dumps(rule[0])}")
            lines.append(f"    sink-table: {json.dumps(rule[1])}")
    lines += ["pipeline:", f"  name: {case['name'].replace('/', '-')}", "  http.address: off"]
    own = case.get(sink, {}).get("pipeline", {})
    lines += [f"  {k}: {json.dumps(v)}" for k, v in {**case.get("pipeline", {}), **own}.items()]
    return "\n".join(lines) + "\n"


def tables_of(warehouse):
    found = []
    for db in sorted(os.listdir(warehouse)) if os.path.isdir(warehouse) else []:
        # Paimon's folders are "db.db", those of an Iceberg hadoop catalog "db"; a kill may leave a file of a probe.
        if not os.path.isdir(os.path.join(warehouse, db)):
            continue
        found += [db.removesuffix(".db") + "." + t for t in sorted(os.listdir(os.path.join(warehouse, db)))]
    return found


def replayed(args, case, pipeline, state):
    """Runs to the end. A change that stops by policy goes on where the case's `decide` names the table: {table: decision}."""
    decisions = dict(case.get(getattr(args, "sink", ""), {}).get("decide", case.get("decide", {})))
    while True:
        ran = run([args.driftless, "run", pipeline, "--state", state, "--until-end"])
        if not ran.returncode:
            if decisions:
                sys.exit(f"never stopped for a decision: {decisions}")
            return
        stopped = re.search(r"table (\S+?): .*driftless decide (\d+) ", ran.stderr)
        if not stopped or stopped[1] not in decisions:
            sys.exit(f"run ended with {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}")
        decided = run([args.driftless, "decide", stopped[2], decisions.pop(stopped[1]), "--state", state])
        if decided.returncode:
            sys.exit(f"decide failed: {decided.stdout}{decided.stderr}")


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


def by_oracle(sink, places):
    """What the reference implementation reads, after its own check of each table; one JVM for all. `places`:
    [(warehouse, out)]."""
    tables = [(warehouse, out, table) for warehouse, out in places for table in tables_of(warehouse)]
    where = (lambda w, t: ["--hadoop", w, t]) if sink == "iceberg" else (lambda w, t: [w, *t.split(".", 1)])
    texts = iceberg_readers.by_reference(sink, [[verb, *where(w, t)] for w, _, t in tables for verb in ("check", "all")])
    for (_, out, table), text in zip(tables, texts[1::2]):
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, table + ".jsonl"), "w", encoding="utf-8") as f:
            f.write(text)


def by_pypaimon(warehouse, out, unreadable):
    """What pypaimon reads; it may fail on the tables of which the case says why, and on no other. (Whether a
    compaction has rewritten the old files before it reads is a matter of time.)"""
    read = run([os.path.join(TOP, "tests/peers/readers"), "py", os.path.join(HERE, "pypaimon_rows.py"), warehouse, out])
    if read.returncode:
        sys.exit("pypaimon failed:\n" + read.stderr[-3000:])
    errors = {}
    for name in sorted(os.listdir(out)):
        if name.endswith(".error"):
            with open(os.path.join(out, name), encoding="utf-8") as f:
                errors[name.removesuffix(".error")] = f.read().strip()
    if not set(errors) <= set(unreadable):
        sys.exit(f"pypaimon cannot read {json.dumps(errors, ensure_ascii=False, indent=1)}\nbut the case names {sorted(unreadable)}")


def by_engine(engine, warehouse, out, unreadable):
    """What DuckDB or pyiceberg reads. It may fail on the tables of which the case says why; pyiceberg must fail where
    there are equality deletes, which it does not know. The tables that it could not read."""
    errors = iceberg_readers.by_engine(engine, jobs_of(warehouse, out))
    if wrong := iceberg_readers.beyond(errors, unreadable):
        sys.exit(f"{engine} cannot read {json.dumps(wrong, ensure_ascii=False, indent=1)}\nbut the case names {sorted(unreadable)}")
    return {os.path.basename(to) for to in errors}


def jobs_of(warehouse, out):
    return [{"to": os.path.join(out, t), "metadata": iceberg_readers.newest_metadata(warehouse, t), "snapshot": None}
            for t in tables_of(warehouse)]


def same_float(kind, value):
    """A FLOAT as the number that it is: readers print it with more digits or fewer."""
    return struct.unpack("f", struct.pack("f", value))[0] if kind == "float" and isinstance(value, (int, float)) else value


def rows_of_snapshot(lines, kinds):
    return sorted(json.dumps({n: same_float(kinds[n], v) for n, v in json.loads(line).items()}, sort_keys=True) for line in lines)


def every_snapshot(args, readers, case, pipeline, warehouse, work):
    """All readers agree about every snapshot that is kept. How many there are."""
    wanted, files = [], {}
    for table in tables_of(warehouse):
        files[table] = iceberg_readers.newest_metadata(warehouse, table)
        metadata = iceberg_readers.loaded(files[table])
        schemas = {s["schema-id"]: {c["name"]: c["type"] for c in s["fields"]} for s in metadata["schemas"]}
        wanted += [(table, s["snapshot-id"], schemas[s["schema-id"]]) for s in metadata.get("snapshots", [])]
    texts = iceberg_readers.by_reference(
        "iceberg", [["rows", "--hadoop", warehouse, t, "--snapshot", str(s)] for t, s, _ in wanted])
    truth = {(t, s): rows_of_snapshot([x for x in text.split("\n") if x], kinds) for (t, s, kinds), text in zip(wanted, texts)}
    read = {}
    for reader in readers:
        if reader in ("oracle", "peek"):
            continue
        out = os.path.join(work, reader + ".snapshots")
        jobs = {(t, s): {"to": os.path.join(out, f"{t}@{s}"), "metadata": files[t], "snapshot": s} for t, s, _ in wanted}
        failed = iceberg_readers.by_engine(reader, list(jobs.values()))
        if wrong := iceberg_readers.beyond(failed, case.get("unreadable", {}).get(reader, {})):
            sys.exit(f"{reader} cannot read {json.dumps(wrong, ensure_ascii=False, indent=1)}")
        for table, snapshot, kinds in wanted:
            to = jobs[table, snapshot]["to"]
            if to not in failed:
                with open(to + ".jsonl", encoding="utf-8") as f:
                    lines = [json.dumps(json.loads(line)["row"]) for line in f.read().split("\n")[1:] if line]
                read[reader, table, snapshot] = rows_of_snapshot(lines, kinds)
    for table, snapshot, kinds in wanted:
        peeked = run([args.driftless, "peek", pipeline, "--table", table, "--snapshot", str(snapshot), "--output", "json"])
        if peeked.returncode:
            sys.exit(f"peek of {table} at {snapshot} failed: {peeked.stderr}")
        read["peek", table, snapshot] = rows_of_snapshot([x for x in peeked.stdout.split("\n") if x], kinds)
    for (reader, table, snapshot), rows in read.items():
        if rows != truth[table, snapshot]:
            pair = next((p for p in itertools.zip_longest(rows, truth[table, snapshot]) if p[0] != p[1]))
            sys.exit(f"{table} at snapshot {snapshot}: {reader} reads {len(rows)} rows, the reference reader "
                     f"{len(truth[table, snapshot])}; the first that differ:\n{pair[0]}\n{pair[1]}")
    print(f"{case['name']}: {len(wanted)} snapshots, read alike by the reference reader and "
          + ", ".join(f"{r} ({sum(k[0] == r for k in read)})" for r in sorted({k[0] for k in read})))


def read_back(args, reader, case, pipeline, warehouse, work):
    """Arguments for compare_table.py that name the sink, and the tables that the reader must not be asked for."""
    out = os.path.join(work, reader)
    unreadable = set(case.get("unreadable", {}).get(reader, {}))
    if reader == "peek":
        by_peek(args.driftless, pipeline, warehouse, out)
    elif reader == "oracle":
        by_oracle(args.sink, [(warehouse, out)])
    elif reader == "pypaimon":
        by_pypaimon(warehouse, out, unreadable)
    else:
        unreadable |= by_engine(reader, warehouse, out, unreadable)
    return ["--sink-dir", out], unreadable


def summary(details):
    """What of a comparison must stay the same: per differing table, kinds and columns with counts."""
    out = {}
    for r in details:
        if r["equal"]:
            continue
        keep = {k: r[k] for k in ("missing_table", "unreadable") if k in r}
        for kind, what in (r.get("schema") or {}).items():
            if kind in r["schema_counts"]:
                if kind == "types":  # one reader says NOT NULL, another does not
                    what = {c: {**v, "sink": v["sink"].replace(" NOT NULL", "")} for c, v in what.items()}
                keep.setdefault("schema", {})[kind] = what
        if r.get("rows"):
            keep["rows"] = r["rows"]
            keep["columns"] = r.get("columns_that_differ", {})
        out[r["table"]] = keep
    return out


def case_named(name):
    with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as f:
        return {c["name"]: c for c in json.load(f)}[name]


def expectation(args):
    """Under which name the expected differences stand. What holds for Paimon holds for Iceberg, and what holds for
    its format version 2 for version 3, unless said apart."""
    names = {2: ["iceberg."], 3: ["iceberg3.", "iceberg."]}[args.format_version] if args.sink == "iceberg" else []
    return next((name + args.case for name in names if os.path.exists(expected_path(name + args.case))), args.case)


def expected_path(name):
    return os.path.join(HERE, "expected", name.replace("/", ".") + ".json")


def expected_of(name):
    if not os.path.exists(expected_path(name)):
        return {}
    with open(expected_path(name), encoding="utf-8") as f:
        return json.load(f)


def steps_path(name):
    return os.path.join(HERE, "expected_steps", os.path.basename(expected_path(name)))


def expected_steps(name):
    """What differs on the way, at each of the truth's checkpoints: {checkpoint: {difference: how often}}."""
    return iceberg_readers.loaded(steps_path(name)) if os.path.exists(steps_path(name)) else {}


def update(name, differences):
    """Writes the expected differences anew."""
    if not differences and not name.startswith("iceberg"):  # there, none at all may have to be said
        if os.path.exists(expected_path(name)):
            os.remove(expected_path(name))
        return
    with open(expected_path(name), "w", encoding="utf-8") as f:
        json.dump(differences, f, indent=1, ensure_ascii=False)
        f.write("\n")


def in_words_of_all(differences):
    """The differences without the names of the sink's types: each reader of Iceberg tables has its own."""
    text = json.loads(json.dumps(differences))
    for what in text.values():
        if "types" in what.get("schema", {}):
            what["schema"]["types"] = sorted(what["schema"]["types"])
    return text


def items_of(differences):
    """Each single difference in words: "shop.orders column total"."""
    for table, what in sorted(differences.items()):
        for kind in what:
            if kind in ("missing_table", "unreadable"):
                yield f"{table} {kind}"
        for kind, detail in what.get("schema", {}).items():
            if kind in ("order", "key"):
                yield f"{table} schema {kind}"
            else:
                yield from (f"{table} schema {kind} {name}" for name in detail)
        yield from (f"{table} rows {kind}" for kind in what.get("rows", {}) if kind != "different")
        yield from (f"{table} column {name}" for name in what.get("columns", {}))


def reasons():
    with open(os.path.join(HERE, "reasons.json"), encoding="utf-8") as f:
        return json.load(f)


SINK = re.compile(r"^(iceberg3?|olap\.(starrocks|doris))\.")


def without_reason(name, items, used=None):
    """The single differences whose cause is not written down; `used` gets the numbers of the reasons that are needed."""
    left = []
    for item in items:
        for number, r in enumerate(reasons()):
            if any(re.fullmatch(r["cases"], n) for n in (name, SINK.sub("", name))) and re.fullmatch(r["what"], item) and r["because"]:
                if used is not None:
                    used.add(number)
                break
        else:
            left.append(f"{name}: {item}")
    return left


def check_reasons():
    """Every expectation has a case, every difference a reason, and every reason a difference."""
    with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as f:
        names = [sink + c["name"] for c in json.load(f) for sink in ("", "iceberg.", "iceberg3.", "olap.starrocks.", "olap.doris.")]
    used, wrong = set(), []
    for name in names:
        items = list(items_of(expected_of(name))) + [item for step in expected_steps(name).values() for item in step]
        wrong += ["no reason for " + item for item in without_reason(name, items, used)]
    files = {os.path.basename(expected_path(n)) for n in names}
    for folder in ("expected", "expected_steps"):
        wrong += [f"no case for {folder}/{f}" for f in os.listdir(os.path.join(HERE, folder)) if f not in files]
    wrong += ["not needed any more: " + json.dumps(r) for i, r in enumerate(reasons()) if i not in used]
    sys.exit("\n".join(wrong) if wrong else 0)


def compare(args, reader, case, pipeline, warehouse, work):
    """The summary of what differs, and compare_table.py's report."""
    return compare_readable(args, reader, case, pipeline, warehouse, work)[:2]


def compare_readable(args, reader, case, pipeline, warehouse, work):
    """The same, and the tables that the reader cannot read."""
    details = os.path.join(work, f"details.{reader}.json")
    truth = os.path.join(TOP, "tests/data/truth", case["truth"])
    sink, unreadable = read_back(args, reader, case, pipeline, warehouse, work)
    compared = run([sys.executable, os.path.join(HERE, "compare_table.py"), "--schema", truth + ".final.schema.jsonl.gz",
                    "--rows", truth + ".final.rows.jsonl.gz", "--json", details, *case.get("compare", []), *sink])
    if compared.returncode not in (0, 1) or not os.path.exists(details):
        sys.exit(compared.stdout + compared.stderr)
    with open(details, encoding="utf-8") as f:
        tables = [t for t in json.load(f)["tables"] if t["table"] not in unreadable]
    return summary(tables), compared.stdout, unreadable


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless")
    ap.add_argument("--case")
    ap.add_argument("--reader", type=lambda text: text.split(","), default=["peek"])
    ap.add_argument("--sink", choices=["paimon", "iceberg"], default="paimon")
    ap.add_argument("--format-version", type=int, default=2)
    ap.add_argument("--snapshots", action="store_true")
    ap.add_argument("--check-reasons", action="store_true")
    ap.add_argument("--keep", help="work in this folder, emptied before, and leave it")
    ap.add_argument("--update", action="store_true", help="write the expected differences anew")
    ap.add_argument("--update-as", help="... under this name")
    args = ap.parse_args()
    if args.check_reasons:
        check_reasons()
    case = case_named(args.case)
    for reader, peer in (("oracle", "oracle"), ("pypaimon", "readers"), ("duckdb", "readers"), ("pyiceberg", "readers")):
        if (reader in args.reader or (args.snapshots and reader == "oracle")) and not os.path.exists(os.path.join(PEERS, "dist", peer, ".stamp")):
            sys.exit(SKIPPED)

    work = args.keep or tempfile.mkdtemp(prefix="driftless-replay-")
    for name in ("warehouse", "state", *(name for reader in args.reader for name in (reader, reader + ".snapshots"))):
        shutil.rmtree(os.path.join(work, name), ignore_errors=True)
    os.makedirs(work, exist_ok=True)
    try:
        warehouse = os.path.join(work, "warehouse")
        pipeline = os.path.join(work, "pipeline.yaml")
        with open(pipeline, "w", encoding="utf-8") as f:
            f.write(pipeline_text(case, warehouse, args.sink, args.format_version))
        replayed(args, case, pipeline, os.path.join(work, "state"))
        for reader in args.reader:
            got, report, unreadable = compare_readable(args, reader, case, pipeline, warehouse, work)
            if args.update:
                update(args.update_as or expectation(args), got)
            expected = {t: d for t, d in expected_of(expectation(args)).items() if t not in unreadable}
            is_same = got == expected
            if args.sink == "iceberg" and reader != "peek":
                is_same = in_words_of_all(got) == in_words_of_all(expected)
            if not is_same:
                sys.exit(f"by {reader}: not the expected differences:\n{report}{json.dumps(got, indent=1, ensure_ascii=False)}")
            if left := without_reason(expectation(args), items_of(got)):
                sys.exit("differences without a reason in reasons.json:\n" + "\n".join(left) + "\n" + report)
            print(f"{args.case} by {reader}: {len(set(tables_of(warehouse)) - set(unreadable))} tables, "
                  + (f"{len(got)} with known differences" if got else "all equal to the truth"))
        if args.snapshots:
            every_snapshot(args, args.reader, case, pipeline, warehouse, work)
    finally:
        if not args.keep:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
