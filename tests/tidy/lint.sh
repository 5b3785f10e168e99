#!/usr/bin/env bash
# clang-format on every file of ours, clang-tidy on those that differ from the main branch, on all with --all, or on
# those below the folders that are named.   usage: lint.sh BUILD_DIR [--all | FOLDER...]
set -euo pipefail
build=$1
shift
cd "$(dirname "$0")/../.."
if [ $# -gt 0 ] && [ "$1" != --all ]; then
  mapfile -t files < <(git ls-files "${@/%//*.cc}" "${@/%//*.h}")
else
  mapfile -t files < <(git ls-files '*.cc' '*.h')
fi
status=0
clang-format-19 --dry-run --Werror "${files[@]}" || status=1
echo "clang-format: ${#files[@]} files"
if [ $# -gt 0 ]; then
  mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep '\.cc$')
else
  base=$(git merge-base HEAD "$(git rev-parse --verify -q origin/main || git rev-list --max-parents=0 HEAD | tail -1)")
  mapfile -t sources < <(git diff --name-only --diff-filter=d "$base" -- '*.cc')
fi
# Fuzz targets and benchmarks are not in every build.
mapfile -t sources < <(for f in "${sources[@]}"; do grep -q "/$f\"" "$build/compile_commands.json" && echo "$f"; done)
if [ ${#sources[@]} -gt 0 ]; then
  printf '%s\0' "${sources[@]}" |
    xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' || status=1
fi
echo "clang-tidy: ${#sources[@]} files"
exit $status
