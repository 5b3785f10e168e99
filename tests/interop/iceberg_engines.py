#!/usr/bin/env python3
"""Reads the final Iceberg tables of every case by the reference implementation, DuckDB and pyiceberg, and compares each
with the source's truth.

usage: iceberg_engines.py --replays DIR [--case NAME[,...]] [--reader oracle|duckdb|pyiceberg[,...]]

DIR/CASE has what `replay.py --sink iceberg --keep DIR/CASE` left. Each reader is one process for all cases. What may
differ is what replay.py expects of the case; what an engine cannot read stands in cases.json. Exit status: 0 as expected,
1 not, 77 a reader is not installed.
"""
import argparse
import glob
import json
import os
import shutil
import sys

import compare_table
import iceberg_readers
import replay


class Comparison:
    """Compares what readers have left in folders with the truth. What two of them read alike is compared once."""

    def __init__(self):
        self.truths, self.known, self.compared, self.rows = {}, {}, 0, 0

    def truth_of(self, case):
        name = os.path.join(replay.TOP, "tests/data/truth", case["truth"])
        if name not in self.truths:
            self.truths[name] = compare_table.read_truth(name + ".final.schema.jsonl.gz", name + ".final.rows.jsonl.gz")
        return self.truths[name]

    def differences(self, case, folder, unreadable):
        options = compare_table.parser().parse_args(["--schema", "", "--rows", "", *case.get("compare", [])])
        results = []
        for table, truth in sorted(self.truth_of(case).items()):
            if table in unreadable:
                continue
            path, sink, content = os.path.join(folder, table + ".jsonl"), None, None
            if os.path.exists(path):
                sink = compare_table.read_sink(compare_table.lines(path))
                rows = sorted(json.dumps(row, sort_keys=True) for row in sink["rows"])
                content = hash(json.dumps([sink["fields"], sink["primary_key"], rows]))
                self.compared += 1
                self.rows += len(sink["rows"])
            known = (case["truth"], table, str(case.get("compare")), content)
            if known not in self.known:
                self.known[known] = compare_table.compare(table, truth, sink, options)
            results.append(self.known[known])
        return replay.summary(results)


def read_all(reader, cases, root):
    """Reads the tables of all cases. By case: the tables that the reader could not read."""
    places = {case["name"]: (os.path.join(root, case["name"], "warehouse"), os.path.join(root, case["name"], reader))
              for case in cases}
    for warehouse, out in places.values():
        if not replay.tables_of(warehouse):
            sys.exit(f"{warehouse} has no tables: run replay.py with --keep first")
        shutil.rmtree(out, ignore_errors=True)
    if reader == "oracle":
        replay.by_oracle("iceberg", list(places.values()))
        return {name: set() for name in places}
    errors = iceberg_readers.by_engine(reader, [job for place in places.values() for job in replay.jobs_of(*place)])
    failed = {}
    for case in cases:
        _, out = places[case["name"]]
        own = {to: text for to, text in errors.items() if os.path.dirname(to) == out}
        if wrong := iceberg_readers.beyond(own, case.get("unreadable", {}).get(reader, {})):
            sys.exit(f"{reader} cannot read, in {case['name']}, {json.dumps(wrong, ensure_ascii=False, indent=1)}")
        failed[case["name"]] = {os.path.basename(to) for to in own}
    return failed


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--replays", required=True)
    ap.add_argument("--case", type=lambda text: text.split(","))
    ap.add_argument("--reader", type=lambda text: text.split(","), default=["oracle", "duckdb", "pyiceberg"])
    args = ap.parse_args()
    for peer in ("oracle", "readers"):
        if not os.path.exists(os.path.join(replay.PEERS, "dist", peer, ".stamp")):
            sys.exit(replay.SKIPPED)
    cases = [case for case in iceberg_readers.loaded(os.path.join(replay.HERE, "cases.json"))
             if not args.case or case["name"] in args.case]
    wrong, comparison = [], Comparison()
    for reader in args.reader:
        failed = read_all(reader, cases, args.replays)
        tables = sum(len(glob.glob(os.path.join(glob.escape(args.replays), c["name"], reader, "*.jsonl"))) for c in cases)
        compared, rows = comparison.compared, comparison.rows
        for case in cases:
            expectation = replay.expectation(argparse.Namespace(sink="iceberg", format_version=2, case=case["name"]))
            expected = {t: d for t, d in replay.expected_of(expectation).items() if t not in failed[case["name"]]}
            got = comparison.differences(case, os.path.join(args.replays, case["name"], reader), failed[case["name"]])
            if replay.in_words_of_all(got) != replay.in_words_of_all(expected):
                wrong.append(f"{case['name']} by {reader}: not the expected differences, but "
                             f"{json.dumps(got, indent=1, ensure_ascii=False)}")
        if comparison.compared == compared:
            wrong.append(f"{reader} has read nothing that could be compared")
        print(f"{reader}: {tables} tables of {len(cases)} recordings; {comparison.compared - compared} with "
              f"{comparison.rows - rows} rows compared with the truth; {sum(map(len, failed.values()))} refused", flush=True)
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
