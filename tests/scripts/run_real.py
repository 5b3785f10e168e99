#!/usr/bin/env python3
"""Plays scripts whose sinks write to the double of StarRocks or Doris (tests/doubles/olap_server), which it starts.

usage: run_real.py --driftless BIN --product starrocks|doris [--version VERSION] FOLDER
"""
import argparse
import glob
import json
import os
import subprocess
import sys

DOUBLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doubles", "olap_server")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--driftless", required=True)
    ap.add_argument("--product", choices=("starrocks", "doris"), required=True)
    ap.add_argument("--version", help="of the double")
    ap.add_argument("folder")
    a = ap.parse_args()
    scripts = sorted(glob.glob(os.path.join(a.folder, "*.drift")))
    if not scripts:
        sys.exit(f"no scripts in {a.folder}")
    version = ["--version", a.version] if a.version else []
    double = subprocess.Popen([sys.executable, DOUBLE, "--product", a.product, *version], stdout=subprocess.PIPE, text=True)
    try:
        ports = json.loads(double.stdout.readline())
        ports = {"QUERY_PORT": str(ports["query"]), "HTTP_PORT": str(ports["http"])}
        sys.exit(subprocess.run([a.driftless, "test", *scripts], env={**os.environ, **ports}).returncode)
    finally:
        double.kill()
        double.wait()


if __name__ == "__main__":
    main()
