#!/usr/bin/env python3
"""Reads Iceberg tables as they were after every schema change, by the reference implementation, DuckDB and pyiceberg,
and compares each with what the source held at that moment.

usage: iceberg_steps.py --driftless BIN --case NAME [--format-version 2|3] [--every N] [--keep DIR] [--update]

The truth of a recording has a checkpoint after every step of its script: where the log stood, and the tables that had
changed. The recording is cut there, and each piece is played to its end. Then all the readers read
- every table at every step: by the metadata file that was the newest then, compared with the checkpoint;
- and by time travel: from the last metadata file to the snapshot of that step, which must give the same rows.
What may differ stands in expected_steps/, each with its cause in reasons.json. --every N cuts at every Nth checkpoint only
(at all of them with DRIFTLESS_LONG_TESTS=1) and compares what it lists. Exit status: 0 as expected, 1 not, 77 a reader is not installed.
"""
import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile

import compare_table
import iceberg_readers
import replay

READERS = ("oracle", *iceberg_readers.ENGINES)


class Step:
    """A checkpoint of the truth: its name, where the log ended, and the tables that had changed."""

    def __init__(self, name, end):
        self.name, self.end, self.tables = name, end, {}


def place(of):
    """Where a record or checkpoint stands in the log: a file and position of MySQL's, or a log sequence number."""
    if "lsn" not in of:
        return of["file"], of["pos"]
    if isinstance(of["lsn"], int):
        return of["lsn"]
    high, low = of["lsn"].split("/")
    return int(high, 16) << 32 | int(low, 16)


def steps_of(case):
    steps = []
    path = os.path.join(replay.TOP, "tests/data/truth", case["truth"] + ".checkpoints.jsonl.gz")
    for line in compare_table.lines(path):
        if not steps or steps[-1].name != line["checkpoint"]:
            steps.append(Step(line["checkpoint"], place(line["pos"])))
        if line.get("rows") is not None:  # those of large tables are left out of the truth
            steps[-1].tables[line["table"]] = line
    return steps


def cut(case, steps):
    """The recording's lines by step. Records without a position are of the step of the one before."""
    pieces, at = [[] for _ in steps], 0
    with gzip.open(os.path.join(replay.TOP, "tests/data", case["recording"]), "rt", encoding="utf-8") as f:
        for line in f:
            value = json.loads(line)["value"] or {}
            source = value.get("payload", value).get("source")
            if source:
                while at + 1 < len(steps) and place(source) >= steps[at].end:
                    at += 1
            pieces[at].append(line)
    return pieces


def played(args, case, steps, work):
    """Plays piece after piece. By step: the newest metadata file of each table."""
    warehouse, records = os.path.join(work, "warehouse"), os.path.join(work, "records")
    os.makedirs(records)
    case = {**case, "recording": os.path.join(records, "*.jsonl")}
    # Every metadata file stays, so that it can be read at the end.
    case["sink"] = {**case.get("sink", {}), "table.properties.write.metadata.previous-versions-max": "100000"}
    pipeline = os.path.join(work, "pipeline.yaml")
    with open(pipeline, "w", encoding="utf-8") as f:
        f.write(replay.pipeline_text(case, warehouse, "iceberg", args.format_version))
    newest = []
    for number, lines in enumerate(cut(args.recorded, steps)):
        with open(os.path.join(records, f"{number:06d}.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(lines)
        replay.replayed(args, case, pipeline, os.path.join(work, "state"))
        newest.append({t: iceberg_readers.newest_metadata(warehouse, t) for t in replay.tables_of(warehouse)})
    return newest


def read_rows(path):
    return compare_table.read_sink(compare_table.lines(path))


def read_jobs(reader, jobs, unreadable):
    """Reads all jobs. Those that the reader refused, as it must or as the case says."""
    if reader != "oracle":
        errors = iceberg_readers.by_engine(reader, jobs)
        if wrong := iceberg_readers.beyond(errors, unreadable):
            sys.exit(f"{reader} cannot read {json.dumps(wrong, ensure_ascii=False, indent=1)}")
        return set(errors)
    requests = [["all", "--metadata", job["metadata"],
                 *([] if job["snapshot"] is None else ["--snapshot", str(job["snapshot"])])] for job in jobs]
    for job, text in zip(jobs, iceberg_readers.by_reference("iceberg", requests)):
        os.makedirs(os.path.dirname(job["to"]), exist_ok=True)
        with open(job["to"] + ".jsonl", "w", encoding="utf-8") as f:
            f.write(text)
    return set()


def at_step(job):
    return f"{os.path.basename(job['to'])} ({os.path.basename(job['metadata'])})"


def counted(differences):
    """Each single difference and how often it is there."""
    found = {item: 1 for item in replay.items_of(differences)}
    for table, what in differences.items():
        found.update({f"{table} rows {kind}": n for kind, n in what.get("rows", {}).items() if kind != "different"})
        found.update({f"{table} column {name}": n for name, n in what.get("columns", {}).items()})
    return dict(sorted(found.items()))


def compare_with_truth(case, steps, jobs, refused):
    """By step, what differs, and how many tables were compared."""
    options = compare_table.parser().parse_args(["--schema", "", "--rows", "", *case.get("compare", [])])
    found, compared = {}, 0
    for (number, table), job in jobs.items():
        if job["to"] in refused:
            continue
        result = compare_table.compare(table, steps[number].tables[table], read_rows(job["to"] + ".jsonl"), options)
        compared += 1
        if differences := counted(replay.summary([result])):
            found.setdefault(steps[number].name, {}).update(differences)
    return found, compared


def by_id(path, metadata, schema_id):
    """The rows, with the ids and types of the columns instead of names."""
    fields = next(s for s in metadata["schemas"] if s["schema-id"] == schema_id)["fields"]
    names = {f["name"]: (f["id"], json.dumps(f["type"])) for f in fields}
    kinds = {f["name"]: f["type"] for f in fields}
    return set(names.values()), [{names[n]: replay.same_float(kinds[n], v) for n, v in row.items()} for row in read_rows(path)["rows"]]


def same_rows(one, other):
    """Equal in the columns that both have: a schema change without rows has no snapshot of its own."""
    both = one[0] & other[0]
    forms = [sorted(json.dumps(sorted([str(c), v] for c, v in row.items() if c in both)) for row in rows) for _, rows in (one, other)]
    return forms[0] == forms[1]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--case", required=True)
    ap.add_argument("--format-version", type=int, default=2)
    ap.add_argument("--every", type=int, default=1)
    ap.add_argument("--keep", help="work in this new folder and leave it")
    ap.add_argument("--update", action="store_true", help="write the expected differences anew (with --every 1)")
    args = ap.parse_args()
    args.sink = "iceberg"
    if os.environ.get("DRIFTLESS_LONG_TESTS") == "1":
        args.every = 1
    for peer in ("oracle", "readers"):
        if not os.path.exists(os.path.join(replay.PEERS, "dist", peer, ".stamp")):
            sys.exit(replay.SKIPPED)
    work = args.keep or tempfile.mkdtemp(prefix="driftless-steps-")
    try:
        check(args, replay.case_named(args.case), work)
    finally:
        if not args.keep:
            shutil.rmtree(work, ignore_errors=True)


def check(args, case, work):
    args.recorded = case
    steps = steps_of(case)
    steps = [s for i, s in enumerate(steps) if i % args.every == args.every - 1 or i == len(steps) - 1]
    newest = played(args, case, steps, work)
    then, travelled = {}, {}  # (step, table): the job
    for number, step in enumerate(steps):
        for table in step.tables:
            if table not in newest[number]:
                continue
            then[number, table] = {"metadata": newest[number][table], "snapshot": None}
            now = iceberg_readers.loaded(newest[number][table]), iceberg_readers.loaded(newest[-1][table])
            snapshot = now[0]["current-snapshot-id"]
            if now[0]["table-uuid"] == now[1]["table-uuid"] and snapshot in [s["snapshot-id"] for s in now[1].get("snapshots", [])]:
                travelled[number, table] = {"metadata": newest[-1][table], "snapshot": snapshot}
    name, found = ("iceberg3." if args.format_version == 3 else "iceberg.") + args.case, {}
    for reader in READERS:
        for kind, jobs in (("then", then), ("travelled", travelled)):
            for (number, table), job in jobs.items():
                job["to"] = os.path.join(work, reader, kind, str(number), table)
        unreadable = case.get("unreadable", {}).get(reader, {})
        refused = read_jobs(reader, [*then.values(), *travelled.values()], unreadable)
        found[reader], compared = compare_with_truth(case, steps, then, refused)
        agreed = 0
        for key, job in travelled.items():
            if {job["to"], then[key]["to"]} & refused:
                continue
            metadata = iceberg_readers.loaded(then[key]["metadata"])
            of = next(s["schema-id"] for s in metadata["snapshots"] if s["snapshot-id"] == job["snapshot"])
            if not same_rows(by_id(job["to"] + ".jsonl", metadata, of),
                             by_id(then[key]["to"] + ".jsonl", metadata, metadata["current-schema-id"])):
                sys.exit(f"by {reader}: travelling to {steps[key[0]].name} gives other rows of {at_step(job)} than it had then")
            agreed += 1
        if reader != "pyiceberg" and not (compared and agreed):  # it may know none of the deletes
            sys.exit(f"{reader} has read nothing that could be compared")
        print(f"{args.case} by {reader}: {compared} tables at {len(steps)} steps compared with the truth, {agreed} by time "
              f"travel; {len(refused)} refused", flush=True)
    if args.update:
        with open(replay.steps_path(name), "w", encoding="utf-8") as f:
            json.dump(found["oracle"], f, indent=1, ensure_ascii=False)
            f.write("\n")
    expected = replay.expected_steps(name)
    for reader in READERS:
        readable = {s: {i: n for i, n in items.items()} for s, items in found[reader].items()}
        wanted = {s.name: expected[s.name] for s in steps if s.name in expected}
        if reader == "pyiceberg":  # what it could not read is no difference
            wanted = {s: {i: n for i, n in items.items() if i in readable.get(s, {})} for s, items in wanted.items()}
            wanted = {s: items for s, items in wanted.items() if items}
        if readable != wanted:
            sys.exit(f"by {reader}: not the expected differences, but "
                     + json.dumps(readable, indent=1, ensure_ascii=False) + "\nwanted " + json.dumps(wanted, indent=1, ensure_ascii=False))
    if left := replay.without_reason(name, [i for items in found["oracle"].values() for i in items]):
        sys.exit("differences without a reason in reasons.json:\n" + "\n".join(sorted(set(left))))


if __name__ == "__main__":
    main()
