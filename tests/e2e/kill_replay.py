#!/usr/bin/env python3
"""Kills a replay with SIGKILL at random moments and starts it again, until it has been killed --kills times.

usage: kill_replay.py --driftless BIN --case NAME [--kills 200] [--seed N] [--reader peek|oracle]
                      [--sink paimon|iceberg] [--keep DIR]

The tables must equal the source's truth after every finished replay: nothing lost, nothing twice; of Iceberg tables no
snapshot may be missing from their history. The reader `oracle` looks at every file that any snapshot names. When a replay
ends before enough kills were done, another one begins in a fresh warehouse. The seed is printed. DRIFTLESS_LONG_TESTS=1
kills 200 times at least.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import iceberg_readers  # noqa: E402
import replay  # noqa: E402
from pipelines import default_seed  # noqa: E402


def check_history(warehouse):
    """Every commit adds snapshots of the next numbers, each the child of the one before; young ones do not expire."""
    for table in replay.tables_of(warehouse):
        metadata = iceberg_readers.loaded(iceberg_readers.newest_metadata(warehouse, table))
        snapshots = sorted(metadata.get("snapshots", []), key=lambda s: s["sequence-number"])
        numbers = [s["sequence-number"] for s in snapshots]
        if numbers != list(range(1, metadata["last-sequence-number"] + 1)):
            sys.exit(f"{table} has the snapshots {numbers} of {metadata['last-sequence-number']}")
        parents = [s.get("parent-snapshot-id") for s in snapshots]
        if parents != [None, *(s["snapshot-id"] for s in snapshots)][:len(parents)]:
            sys.exit(f"the snapshots of {table} do not follow each other: {parents}")
        if snapshots and snapshots[-1]["snapshot-id"] != metadata["current-snapshot-id"]:
            sys.exit(f"{table} does not show its last snapshot")


def one_replay(args, case, work, rng, kills_left, longest_s):
    """Runs the case to its end; a run is killed after 0 to longest_s seconds. Returns the number of
    kills and how many seconds the last run took."""
    warehouse = os.path.join(work, "warehouse")
    pipeline = os.path.join(work, "pipeline.yaml")
    with open(pipeline, "w", encoding="utf-8") as f:
        f.write(replay.pipeline_text(case, warehouse, args.sink))
    command = [args.driftless, "run", pipeline, "--state", os.path.join(work, "state"), "--until-end"]
    kills = 0
    while True:
        log = open(os.path.join(work, "run.log"), "ab")
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            if kills < kills_left:
                process.wait(timeout=rng.uniform(0, longest_s))
            else:
                process.wait(timeout=300)
            last_s = time.monotonic() - started
        except subprocess.TimeoutExpired:
            if kills >= kills_left:
                process.kill()
                sys.exit("the replay does not end")
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        finally:
            log.close()
        if process.returncode != 0:
            with open(os.path.join(work, "run.log"), encoding="utf-8", errors="replace") as f:
                sys.exit(f"run ended with {process.returncode} after {kills} kills, "
                         f"{time.monotonic() - started:.1f} s\n" + f.read()[-6000:])
        break
    got, report = replay.compare(args, args.reader, case, pipeline, warehouse, work)
    expected = replay.expected_of(replay.expectation(args))
    if args.sink == "iceberg":
        check_history(warehouse)
        got, expected = replay.in_words_of_all(got), replay.in_words_of_all(expected)
    if got != expected:
        sys.exit(f"after {kills} kills the tables differ from the truth:\n{report}")
    return kills, last_s


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--case", required=True)
    ap.add_argument("--kills", type=int, default=200)
    ap.add_argument("--seed", type=int, default=default_seed())
    ap.add_argument("--reader", choices=["peek", "oracle"], default="peek")
    ap.add_argument("--sink", choices=["paimon", "iceberg"], default="paimon")
    ap.add_argument("--keep")
    args = ap.parse_args()
    args.format_version = 2
    if os.environ.get("DRIFTLESS_LONG_TESTS") == "1":
        args.kills = max(args.kills, 200)
    print(f"seed {args.seed}", flush=True)
    rng = random.Random(args.seed)
    case = replay.case_named(args.case)
    case.setdefault("pipeline", {})["checkpoint.interval"] = "100 ms"
    # How long an undisturbed replay takes here: the moments of the kills are spread over that time.
    done = replays = 0
    longest_s = None
    while done < args.kills:
        work = os.path.join(args.keep, str(replays)) if args.keep else tempfile.mkdtemp(prefix="driftless-kill-")
        os.makedirs(work, exist_ok=True)
        try:
            kills, seconds = one_replay(args, case, work, rng, args.kills - done if longest_s else 0, longest_s)
            done += kills
            longest_s = longest_s or seconds
        finally:
            if not args.keep:
                shutil.rmtree(work, ignore_errors=True)
        replays += 1
        if replays > 10 * args.kills:
            sys.exit("replays end before they can be killed")
    print(f"{done} kills over {replays} replays, all equal to the truth")


if __name__ == "__main__":
    main()
