#!/usr/bin/env bash
# Builds the asan and tsan presets and runs what concerns them: unit tests, simulator, one replay.
#   usage: run_sanitizers.sh [asan|tsan ...]
# ThreadSanitizer is for what has threads: the sinks, the runtime, the simulator with its real Paimon sink.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
rules=$top/tests/sanitizers
# Arrow's own library is not instrumented; what it does with its own locks looks like races to TSan.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 suppressions=$rules/tsan.supp ${TSAN_OPTIONS-}"
export ASAN_OPTIONS="detect_stack_use_after_return=1 ${ASAN_OPTIONS-}"
export LSAN_OPTIONS="suppressions=$rules/lsan.supp print_suppressions=0 ${LSAN_OPTIONS-}"
export UBSAN_OPTIONS="print_stacktrace=1 suppressions=$rules/ubsan.supp ${UBSAN_OPTIONS-}"
# Instrumented code is several times slower: fewer random seeds than `make test` takes, the fixed ones all.
export DRIFTLESS_RANDOM_SEEDS=${DRIFTLESS_RANDOM_SEEDS-20} DRIFTLESS_PAIMON_SEEDS=${DRIFTLESS_PAIMON_SEEDS-1}
replay='^replay\.mysql-9\.7/a_ddl\.plain\.peek$'
[ $# -gt 0 ] || set -- asan tsan
for preset in "$@"; do
  skipped='^$'
  case $preset in
    asan) units=(unit_schema unit_config unit_sql unit_sinks unit_pipeline ddl_fuzz yaml_fuzz sql_fuzz binlog_fuzz)
      folders='unit/.*|sim|fuzz' ;;
    tsan)
      units=(unit_sinks unit_pipeline) folders='unit/(sinks|pipeline)|sim'
      # librdkafka's mock brokers start C11 threads, which this ThreadSanitizer does not see begin: it dies in them.
      skipped='^unit/sinks\.(KafkaSinkTest|TableTransactionsTest)'
      ;;
    *) echo "usage: run_sanitizers.sh [asan|tsan ...]" >&2; exit 2 ;;
  esac
  cmake --preset "$preset" >/dev/null
  targets=()
  for target in driftless sim "${units[@]}"; do targets+=(--target "$target"); done
  cmake --build "build/$preset" -j "$(nproc)" "${targets[@]}"
  tests/run_tests.sh "build/$preset" -R "^($folders)\.|$replay" -E "$skipped"
done
