#!/usr/bin/env bash
# All benchmarks of a release build: the small ones, whole paths, schema changes, memory and first commit.   usage: run.sh BUILD_DIR [CHANGES]
set -euo pipefail
build=$1
changes=${2:-1000000}
here=$(cd "$(dirname "$0")" && pwd)
for bench in "$build"/tests/bench/*_bench; do
  [ -x "$bench" ] && "$bench" --benchmark_counters_tabular=true
done
"$here/whole_path.py" --driftless "$build/driftless" --changes "$changes"
"$here/olap_path.py" --driftless "$build/driftless"
"$here/schema_changes.py" --driftless "$build/driftless"
"$here/footprint.py" --driftless "$build/driftless"
if command -v mariadbd > /dev/null; then
  "$here/mysql_path.py" --driftless "$build/driftless" --rows "$changes"
fi
"$here/kafka_path.py" --driftless "$build/driftless" --changes "$changes"
