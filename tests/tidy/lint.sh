#!/usr/bin/env bash
# clang-format on every file of ours, clang-tidy on those that differ from the main branch (or on all
# with --all).   usage: lint.sh BUILD_DIR [--all]
set -euo pipefail
build=$1
cd "$(dirname "$0")/../.."
mapfile -t files < <(git ls-files '*.cc' '*.h')
clang-format-19 --dry-run --Werror "${files[@]}"
echo "clang-format: ${#files[@]} files"
if [ "${2-}" = --all ]; then
  mapfile -t sources < <(git ls-files '*.cc')
else
  base=$(git merge-base HEAD "$(git rev-parse --verify -q origin/main || git rev-list --max-parents=0 HEAD | tail -1)")
  mapfile -t sources < <(git diff --name-only --diff-filter=d "$base" -- '*.cc')
fi
[ ${#sources[@]} -gt 0 ] || exit 0
clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' "${sources[@]}"
echo "clang-tidy: ${#sources[@]} files"
