#!/usr/bin/env python3
"""Loads a generated stream into the double of StarRocks and of Doris and prints rows per CPU-second of ours.

usage: olap_path.py --driftless BIN [--changes 200000] [--repeat 3]

The double's own time does not count: it is another process, and slow.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from whole_path import machine, measured

HERE = os.path.dirname(os.path.abspath(__file__))
DOUBLE = os.path.join(HERE, "..", "doubles", "olap_server")
SINKS = {
    "starrocks": "  type: starrocks\n  jdbc-url: jdbc:mysql://127.0.0.1:{query}\n  load-url: 127.0.0.1:{http}\n",
    "doris": "  type: doris\n  jdbc-url: jdbc:mysql://127.0.0.1:{query}\n  fenodes: 127.0.0.1:{http}\n",
}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--changes", type=int, default=200000)
    ap.add_argument("--repeat", type=int, default=3)
    a = ap.parse_args()
    print(f"machine: {machine()}")
    with tempfile.TemporaryDirectory(prefix="driftless-bench-") as work:
        stream = os.path.join(work, "key.jsonl")
        subprocess.run([sys.executable, os.path.join(HERE, "generate_changes.py"), stream, "--changes", str(a.changes)],
                       check=True)
        for product, sink in SINKS.items():
            best = None
            for run in range(a.repeat):
                double = subprocess.Popen([sys.executable, DOUBLE, "--product", product], stdout=subprocess.PIPE,
                                          text=True)
                try:
                    ports = json.loads(double.stdout.readline())
                    pipeline = os.path.join(work, f"{product}{run}.yaml")
                    with open(pipeline, "w", encoding="utf-8") as f:
                        f.write(f"source:\n  type: file\n  path: {stream}\nsink:\n{sink.format(**ports)}"
                                "  username: root\n  password: ''\n  table.create.properties.replication_num: 1\n"
                                "pipeline:\n  name: bench\n  http.address: off\n")
                    _, cpu, peak = measured([a.driftless, "run", pipeline, "--state", f"{pipeline}.state", "--until-end"])
                    if best is None or cpu < best[0]:
                        best = (cpu, peak)
                finally:
                    double.kill()
                    double.wait()
            print(f"{product}: {a.changes / best[0]:,.0f} rows per CPU-second, peak {best[1]:.0f} MiB")


if __name__ == "__main__":
    main()
