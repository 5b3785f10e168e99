#!/usr/bin/env python3
"""Runs whole pipelines over a generated stream and prints changes per CPU-second, wall time and peak memory.

usage: whole_path.py --driftless BIN [--changes 1000000] [--repeat 3]

CPU time is the child's own (user + system), so that other work on the machine does not count. The yardstick is a
plain read of the same file (`wc -l`), run beside it; the ratio stays when the machine changes.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

SINKS = {
    "blackhole": "  type: blackhole\n",
    "paimon, key, 4 buckets": "  type: paimon\n  catalog.properties.warehouse: {work}/warehouse\n"
                              "  table.properties.bucket: 4\n",
    "paimon, append": "  type: paimon\n  catalog.properties.warehouse: {work}/warehouse\n",
    "iceberg, key": "  type: iceberg\n  catalog.properties.warehouse: {work}/warehouse\n",
    "iceberg, append": "  type: iceberg\n  catalog.properties.warehouse: {work}/warehouse\n",
}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((x.split(":", 1)[1].strip() for x in f if x.startswith("model name")), "unknown")
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def measured(command):
    """(wall s, cpu s, peak MiB) of a child."""
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    err = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command} failed:\n{err.decode(errors='replace')[-3000:]}")
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--changes", type=int, default=1000000)
    ap.add_argument("--repeat", type=int, default=3)
    a = ap.parse_args()
    work = tempfile.mkdtemp(prefix="driftless-bench-")
    try:
        streams = {}
        for name, flags in (("key", []), ("append", ["--no-key"])):
            streams[name] = os.path.join(work, name + ".jsonl")
            subprocess.run([sys.executable, os.path.join(HERE, "generate_changes.py"), streams[name], "--changes",
                            str(a.changes), *flags], check=True)
        size = os.path.getsize(streams["key"]) / a.changes
        print(f"machine: {machine()}")
        print(f"{a.changes} changes, {size:.0f} bytes each")
        yardstick = min(measured(["wc", "-l", streams["key"]])[1] for _ in range(a.repeat))
        print(f"{'path':28} {'changes/CPU-s':>14} {'us CPU/change':>14} {'wall s':>8} {'cores':>6} {'peak MiB':>9} {'x wc -l':>8}")
        for name, sink in SINKS.items():
            runs = []
            for i in range(a.repeat):
                here = os.path.join(work, f"run{i}")
                os.makedirs(here)
                pipeline = os.path.join(here, "pipeline.yaml")
                stream = streams["append" if "append" in name else "key"]
                with open(pipeline, "w", encoding="utf-8") as f:
                    f.write(f"source:\n  type: file\n  path: {stream}\nsink:\n  name: out\n" + sink.format(work=here)
                            + "pipeline:\n  name: bench\n")
                runs.append(measured([a.driftless, "run", pipeline, "--state", os.path.join(here, "state"), "--until-end"]))
                shutil.rmtree(here)
            wall, cpu, peak = sorted(runs, key=lambda r: r[1])[len(runs) // 2]
            print(f"{name:28} {a.changes / cpu:14,.0f} {cpu / a.changes * 1e6:14.2f} {wall:8.2f} {cpu / wall:6.2f} "
                  f"{peak:9.0f} {cpu / yardstick:8.1f}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
