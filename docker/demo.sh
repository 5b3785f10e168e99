#!/usr/bin/env bash
# The demo: replays a recorded MySQL shop, with about a hundred kinds of DDL in it, into a local Paimon
# warehouse under LENIENT, and shows every decision, the final schemas and a few rows.
# Everything goes to demo-output/, which is made anew.   usage: demo.sh [DRIFTLESS_BINARY]
set -euo pipefail
cd "$(dirname "$0")/.."
driftless=${1:-build/release/driftless}
out=demo-output
pipeline=config/examples/demo.yaml
stream=tests/data/debezium-json/mysql-9.7/a_ddl.plain.jsonl.gz
export WAREHOUSE=$out/warehouse

rm -rf "$out"
mkdir -p "$out"
printf '\n== A recorded MySQL shop, %s records, into the Paimon warehouse %s ==\n\n' \
  "$(zcat "$stream" | wc -l)" "$WAREHOUSE"

"$driftless" run "$pipeline" --state "$out/state" --until-end >"$out/run.log" 2>&1 &
run=$!
total=$(zcat "$stream" | wc -l)
bar() {  # how far the last schema change in the log stands in the stream
  local at done_width
  # Tables decide beside each other, so the furthest counts, not the last.
  at=$(grep -o "$stream:[0-9]*" "$out/run.log" 2>/dev/null | sed 's/.*://' | sort -n | tail -1 || true)
  [ "${2-}" = end ] && at=$total
  done_width=$((${at:-0} * 50 / total))
  printf '\r  [%-50s] %5d of %d records' "$(printf '#%.0s' $(seq 0 "$done_width") | tail -c "$done_width")" \
    "${at:-0}" "$total"
}
while kill -0 $run 2>/dev/null; do
  bar now || true
  sleep 0.1
done
if ! wait $run; then
  printf '\n'
  tail -5 "$out/run.log"
  exit 1
fi
bar now end
printf '\n\n'
tail -1 "$out/run.log"

printf '\n== What was decided (driftless audit --state %s/state) ==\n\n' "$out"
"$driftless" audit --state "$out/state" --output json | python3 -c '
import collections, json, sys
count, skipped = collections.Counter(), []
for line in sys.stdin:
    r = json.loads(line)
    if r["phase"] != "outcome":
        continue
    count[r["event"], r["verdict"]] += 1
    if r["verdict"] == "skip" and r["event"] not in ("default.change", "tighten.nullability"):
        skipped.append(r)
print("  %-24s %7s %8s %6s" % ("event", "apply", "rewrite", "skip"))
for event in sorted({e for e, _ in count}):
    cells = [count[event, v] or "" for v in ("apply", "rewrite", "skip")]
    print("  %-24s %7s %8s %6s" % (event, *cells))
print("\n  Skips are loud; the first of them:")
for r in skipped[:4]:
    print("  - %s: %s" % (r["detail"], r["reason"]))
'

printf '\n== What stays different, by decision (driftless divergences) ==\n\n'
"$driftless" divergences --state "$out/state" | head -4 | cut -c1-150 | sed 's/^/  /'

printf '\n== shop.products as it arrived: added, renamed, moved, retyped (driftless peek) ==\n\n'
"$driftless" peek "$pipeline" --table shop.products --schema --output table | sed 's/^/  /'
printf '\n'
"$driftless" peek "$pipeline" --table shop.products --limit 3 | cut -c1-150 | sed 's/^/  /'

cat <<TXT

== Try next ==

  export WAREHOUSE=$WAREHOUSE
  # what a DDL would do, before anybody runs it
  $driftless plan $pipeline --state $out/state --ddl "ALTER TABLE shop.products DROP COLUMN maker, ADD COLUMN qty INT NOT NULL FIRST"
  # how a table came to look as it does
  $driftless history --state $out/state shop.products
  # the same stream under EVOLVE: it stops at the first thing that Paimon cannot do, and says why
  sed 's/LENIENT/EVOLVE/; s/name: demo/name: demo-evolve/' $pipeline > $out/evolve.yaml
  WAREHOUSE=$out/evolve $driftless run $out/evolve.yaml --state $out/evolve-state --until-end
TXT
