#!/bin/sh
# Lays Arrow C++ and Parquet C++ into a folder, from the pyarrow wheel, with only their own symbols
# exported: the wheel's libraries carry a whole OpenSSL, thrift and simdjson that would otherwise
# take the place of the system's (tests/unit/sinks/arrow_symbols_test.cc guards this).
#   usage: setup_arrow.sh DEST [VERSION]
set -eu
dest=$1
version=${2:-26.0.1}
here=$(cd "$(dirname "$0")" && pwd)
stamp="$dest/.arrow-$version"
[ -e "$stamp" ] && exit 0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# Any python3 with pip will do: the shared objects do not depend on the Python version.
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
  --dest "$tmp" "pyarrow==$version"
python3 -m zipfile -e "$tmp"/pyarrow-"$version"-*.whl "$tmp/x"
rm -rf "$dest"
mkdir -p "$dest"
mv "$tmp/x/pyarrow/include" "$dest/include"
rm -rf "$dest/include/arrow/python"
cp "$tmp"/x/pyarrow-"$version".dist-info/licenses/* "$dest/" 2>/dev/null || true
for lib in arrow parquet; do
  for so in "$tmp"/x/pyarrow/lib$lib.so.*; do
    python3 "$here/hide_symbols.py" "$so" "$dest/$(basename "$so")" 5arrow 7parquet arrow_
  done
done
sync "$dest"/lib*.so.*
touch "$stamp"
