#!/usr/bin/env bash
# The one list of what Driftless installs on a Debian 12 machine, and the one place that installs it.
#   docker/dependencies.sh build   what compiling needs: packages, Arrow and Parquet C++
#   docker/dependencies.sh run     what the finished binary needs, nothing else (the image)
#   docker/dependencies.sh test    what `make test` needs besides: the reference readers
#   docker/dependencies.sh lint    clang-format and clang-tidy
# A database server that cannot be installed is said in a loud line; its tests are skipped, by name.
# Does nothing where everything is there already. Arrow goes to .deps/arrow, the readers to .deps/peers.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
deps=${DRIFTLESS_DEPS:-$top/.deps}

build_packages=(
  g++ cmake ninja-build mold make pkg-config ca-certificates git python3 python3-pip python3-venv
  librdkafka-dev libsimdjson-dev libyaml-cpp-dev prometheus-cpp-dev libgtest-dev libgmock-dev
  libbenchmark-dev libfmt-dev libspdlog-dev libcli11-dev libcpp-httplib-dev libsqlite3-dev libre2-dev
  libabsl-dev libedit-dev libroaring-dev libexpected-dev libpq-dev libmariadb-dev libcurl4-openssl-dev
  libprotobuf-dev protobuf-compiler libzstd-dev liblz4-dev libsnappy-dev zlib1g-dev libssl-dev tzdata)
run_packages=(
  librdkafka1 libmariadb3 libpq5 libsimdjson14 libyaml-cpp0.7 libprometheus-cpp-core1.0 libfmt9 libspdlog1.10
  libcpp-httplib0.11 libsqlite3-0 libre2-9 libabsl20220623 libcurl4 libroaring0 libzstd1 zlib1g libssl3 tzdata
  libedit2 ca-certificates)
lint_packages=(clang-format-19 clang-tidy-19)

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

apt_need() {
  local missing=() package as_root=()
  for package in "$@"; do installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "dependencies.sh: run as root: apt-get install ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "Installing ${#missing[@]} packages" >&2
  "${as_root[@]}" apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >&2
}

# A command that is there already, wherever it came from, needs no package.
need_command() { command -v "$1" >/dev/null || printf '%s\n' "$2"; }

# A server that only tests want: without it the others still run.
try_peer() {
  timeout 600 "$top/tests/peers/$1" install && return 0
  printf '%s\n' '****' "**** dependencies.sh: $1 could not be installed; the tests that need it are skipped" \
    '****' >&2
}

case ${1-} in
  build)
    apt_need "${build_packages[@]}"
    if [ -z "${DRIFTLESS_ARROW_DIR-}" ]; then
      "$top/docker/arrow/setup_arrow.sh" "$deps/arrow" >&2
    fi ;;
  run) apt_need "${run_packages[@]}" ;;
  test)
    # shellcheck disable=SC2046
    apt_need $(need_command javac openjdk-17-jdk-headless; need_command mvn maven; \
      need_command unzip unzip; need_command xz xz-utils; need_command curl curl)
    export PEERS_DIR=${PEERS_DIR:-$deps/peers}
    "$top/tests/peers/oracle" install
    "$top/tests/peers/readers" install
    "$top/tests/peers/kafka" install
    "$top/tests/peers/iceberg-rest" install
    try_peer mariadb
    try_peer postgres
    # MySQL is no package of Debian 12: 1.4 GB from another suite, as root. Only where it is asked for.
    if [ -n "${DRIFTLESS_TEST_MYSQL-}" ]; then try_peer mysql; fi
    S3_SERVER=moto "$top/tests/peers/s3" install
    # The stricter S3 server is a Go program: where there is a Go compiler, it is built and asked too.
    if command -v go >/dev/null; then S3_SERVER=versitygw "$top/tests/peers/s3" install; fi ;;
  lint) apt_need "${lint_packages[@]}" ;;
  *)
    echo "usage: dependencies.sh build|run|test|lint" >&2
    exit 2 ;;
esac
