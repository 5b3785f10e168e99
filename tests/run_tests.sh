#!/usr/bin/env bash
# Runs every test of a build folder and closes with the totals: "N passed, N failed, N skipped".
#   usage: run_tests.sh BUILD_DIR [ctest arguments]
set -uo pipefail
build=$1
shift
top=$(cd "$(dirname "$0")/.." && pwd)
export PEERS_DIR=${PEERS_DIR:-${DRIFTLESS_DEPS:-$top/.deps}/peers}
report=$build/ctest.xml
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --output-junit "$(realpath "$build")/ctest.xml" \
  --no-tests=error "$@"
status=$?
# The skipped ones by name: a test that could not run is never silent.
python3 - "$report" <<'P'
import sys
import xml.etree.ElementTree as ET

passed = failed = skipped = 0
for case in ET.parse(sys.argv[1]).getroot().iter("testcase"):
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        skipped += 1
        print("skipped: " + case.get("name"))
    elif case.find("failure") is not None or case.get("status") == "fail":
        failed += 1
        print("failed: " + case.get("name"))
    else:
        passed += 1
print(f"{passed} passed, {failed} failed, {skipped} skipped")
P
exit $status
