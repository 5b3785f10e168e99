#!/usr/bin/env bash
# Builds the asan and tsan presets and runs the tests that concern them: unit, simulator, one replay.
#   usage: run_sanitizers.sh [asan|tsan ...]
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
# Arrow's own library is not instrumented; its waits look like races to TSan.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 ${TSAN_OPTIONS-}"
export ASAN_OPTIONS="detect_stack_use_after_return=1 ${ASAN_OPTIONS-}"
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS-}"
[ $# -gt 0 ] || set -- asan tsan
for preset in "$@"; do
  cmake --preset "$preset" >/dev/null
  cmake --build "build/$preset" -j "$(nproc)"
  tests/run_tests.sh "build/$preset" -L 'unit|sim|replay'
done
