# shellcheck shell=bash
# Common ground of the peer scripts. Each script sources this file, defines
#   PEER=name   peer_install   peer_start   [peer_stop]   [peer_extra VERB ARGS...]
# and ends with:  peer_main "$@"
#
# Layout below $PEERS_DIR (default: .deps/peers at the top of the repository):
#   dist/<peer>/…            what `install` made; shared by all instances
#   inst/<instance>/<peer>/  one running copy: data/ log/ run/
#     run/env     the KEY=value lines that `start` prints
#     run/pids    "name pid starttime" of each process that `start` left behind
# $PEERS_INSTANCE (default: main) lets a test run a second copy beside the first.
set -euo pipefail

PEERS_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${PEERS_DIR:=$PEERS_HOME/../../.deps/peers}"
: "${PEERS_INSTANCE:=main}"
: "${PEERS_HOST:=127.0.0.1}"
mkdir -p "$PEERS_DIR"
PEERS_DIR=$(cd "$PEERS_DIR" && pwd)

# versions.env: take each key only where the environment does not set it already
while IFS='=' read -r _k _v; do
  case $_k in ''|\#*) continue ;; esac
  [ -n "${!_k-}" ] || printf -v "$_k" '%s' "$_v"
done < "$PEERS_HOME/versions.env"

say()  { printf '%s\n' "$*" >&2; }
die()  { say "$PEER: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

peer_paths() {
  DIST=$PEERS_DIR/dist/$PEER
  INST=$PEERS_DIR/inst/$PEERS_INSTANCE/$PEER
  DATA=$INST/data LOG=$INST/log RUN=$INST/run
}

# ---- install helpers -------------------------------------------------------

# stamp_ok KEY…: true when the last finished install had exactly these inputs
stamp_ok()  { [ -f "$DIST/.stamp" ] && [ "$(cat "$DIST/.stamp")" = "$*" ]; }
stamp_set() { printf '%s' "$*" > "$DIST/.stamp"; }

# apt_need PKG…: install the missing ones, without recommends and without starting services
apt_need() {
  local p miss=()
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || miss+=("$p")
  done
  [ ${#miss[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "need root to apt-get install: ${miss[*]}"
  local policy=/usr/sbin/policy-rc.d made=
  if [ ! -e "$policy" ]; then            # 101 = "do not start the service"
    printf '#!/bin/sh\nexit 101\n' > "$policy"; chmod +x "$policy"; made=1
  fi
  local rc=0
  { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${miss[@]}" ||
    { apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${miss[@]}"; }; } >&2 || rc=$?
  [ -z "$made" ] || rm -f "$policy"
  return $rc
}

# mvn_jars DIR EXCLUSIONS COORD…: the runtime class path of the coordinates, copied to DIR.
# COORD is group:artifact:version[:classifier]; EXCLUSIONS is a space list of group:artifact (or '').
mvn_jars() {
  local dir=$1 excl=$2 c g a v k x; shift 2
  local tmp; tmp=$(mktemp -d "$PEERS_DIR/mvn.XXXXXX")
  {
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>peers</groupId><artifactId>classpath</artifactId><version>1</version><packaging>pom</packaging>'
    echo '<dependencies>'
    for c in "$@"; do
      IFS=: read -r g a v k <<<"$c"
      echo "<dependency><groupId>$g</groupId><artifactId>$a</artifactId><version>$v</version>"
      [ -z "$k" ] || echo "<classifier>$k</classifier>"
      if [ -n "$excl" ]; then
        echo '<exclusions>'
        for x in $excl; do
          echo "<exclusion><groupId>${x%%:*}</groupId><artifactId>${x#*:}</artifactId></exclusion>"
        done
        echo '</exclusions>'
      fi
      echo '</dependency>'
    done
    echo '</dependencies></project>'
  } > "$tmp/pom.xml"
  rm -rf "$dir"; mkdir -p "$dir"
  local rc=0
  mvn -q -B -Dstyle.color=never -f "$tmp/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
      -DoutputDirectory="$dir" >&2 || rc=$?
  rm -rf "$tmp"
  return $rc
}

# py_venv DIR REQ…: a virtual environment with the pinned requirements
py_venv() {
  local dir=$1; shift
  rm -rf "$dir"; python3 -m venv "$dir"
  "$dir/bin/pip" install -q --disable-pip-version-check "$@" >&2
}

java_bin() { printf '%s' "${JAVA_HOME:+$JAVA_HOME/bin/}java"; }

# ---- run helpers -----------------------------------------------------------

# pick_port VAR: PEER_VAR from the environment, else the port of the last start, else a free one. VAR itself is never
# an input: it is also printed by `start`, so a caller who sourced one instance would pin the next one to its port.
pick_port() {
  local var=$1 ask=PEER_$1 port
  port=${!ask-}
  if [ -z "$port" ]; then
    port=$(sed -n "s/^$var //p" "$RUN/ports" 2>/dev/null | tail -1)
    if [ -n "$port" ] && port_open "$PEERS_HOST" "$port"; then port=; fi   # somebody else took it meanwhile
  fi
  if [ -z "$port" ]; then
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    echo "$var $port" >> "$RUN/ports"
  fi
  printf -v "$var" '%s' "$port"
}

start_time() {   # clock tick at which the process began; empty when there is none
  local s; s=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  s=${s##*) }; set -- $s; printf '%s' "${20}"
}
proc_alive() {   # PID STARTTIME: the same process still runs and is no zombie
  [ -n "$2" ] && [ "$(start_time "$1")" = "$2" ] &&
    ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# spawn NAME CMD…: start in its own session, output to log/NAME.log, remember the pid
spawn() {
  local name=$1; shift
  setsid "$@" </dev/null >>"$LOG/$name.log" 2>&1 8>&- &
  local pid=$!
  echo "$name $pid $(start_time $pid)" >> "$RUN/pids"
  SPAWNED=$pid
}

# remember_pid NAME PID: for servers that put themselves in the background
remember_pid() { echo "$1 $2 $(start_time "$2")" >> "$RUN/pids"; SPAWNED=$2; }

any_alive() {
  local n p s
  [ -f "$RUN/pids" ] || return 1
  while read -r n p s; do proc_alive "$p" "$s" && return 0; done < "$RUN/pids"
  return 1
}

# wait_for SECONDS WHAT CMD…: poll until CMD succeeds; give up early when the last spawned process dies
wait_for() {
  local limit=$1 what=$2 t0=$SECONDS st; shift 2
  st=$(start_time "$SPAWNED")
  until "$@" >/dev/null 2>&1; do
    if ! proc_alive "$SPAWNED" "$st"; then
      tail -n 30 "$LOG"/*.log >&2 || true; die "process ended before $what"
    fi
    if [ $((SECONDS - t0)) -ge "$limit" ]; then
      tail -n 30 "$LOG"/*.log >&2 || true; die "no $what after $limit s"
    fi
    sleep 0.2
  done
}
port_open() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

put_env() { printf '%s\n' "$@" >> "$RUN/env"; }

# as_user CMD…: drop root for servers that refuse it ($PEERS_USER, default nobody)
: "${PEERS_USER:=nobody}"
as_user() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid "$PEERS_USER" --regid "$(id -g "$PEERS_USER")" --clear-groups -- "$@"
  else "$@"; fi
}

stop_pids() {    # SIGNAL: newest first, wait up to $STOP_WAIT s, then KILL
  local sig=$1 n p s i
  [ -f "$RUN/pids" ] || return 0
  tac "$RUN/pids" | while read -r n p s; do
    proc_alive "$p" "$s" || continue
    kill -s "$sig" "$p" 2>/dev/null || true
    i=0
    while proc_alive "$p" "$s"; do
      i=$((i + 1))
      [ $i -le $(( ${STOP_WAIT:-30} * 10 )) ] || { kill -s KILL "$p" 2>/dev/null || true; }
      sleep 0.1
    done
  done
  rm -f "$RUN/pids"
}
# a script may override this when a plain TERM is not the right way down
peer_stop() { stop_pids TERM; }

usage() {
  say "usage: ${PEER} install|start|stop|kill|status|env|wipe${PEER_VERBS:+|$PEER_VERBS}"
  exit 2
}

peer_main() {
  local verb=${1-}; [ $# -eq 0 ] || shift
  peer_paths
  case $verb in
    install)
      mkdir -p "$DIST"
      exec 9>"$DIST/.lock"; flock 9      # two tests may install at once
      peer_install "$@" ;;
    start)
      mkdir -p "$INST"
      exec 8>"$INST/.lock"; flock 8      # two tests may start the same instance at once
      if any_alive; then cat "$RUN/env"; return 0; fi
      ( exec 8>&-; "$0" install >/dev/null ) || die "install failed"
      mkdir -p "$DATA" "$LOG" "$RUN"
      rm -f "$RUN/pids" "$RUN/env"; : > "$RUN/env"
      # one log per run: readiness checks look for lines in it
      local f; for f in "$LOG"/*.log; do [ ! -f "$f" ] || mv -f "$f" "$f.old"; done
      SPAWNED=$$
      if ! ( peer_start "$@" >&2 ); then stop_pids KILL; die "start failed; logs in $LOG"; fi
      cat "$RUN/env" ;;
    stop)   [ ! -d "$RUN" ] || peer_stop ;;
    kill)   [ ! -d "$RUN" ] || stop_pids KILL ;;
    status)
      if any_alive; then
        local n p s
        while read -r n p s; do
          if proc_alive "$p" "$s"; then
            echo "$n running pid=$p rss_mib=$(awk '/^VmRSS/{print int($2/1024)}' "/proc/$p/status")"
          else echo "$n dead pid=$p"; fi
        done < "$RUN/pids"
      else echo "$PEER stopped"; return 3; fi ;;
    env)    any_alive || die "not running"; cat "$RUN/env" ;;
    wipe)   [ ! -d "$RUN" ] || peer_stop; rm -rf "$INST" ;;
    *)      if [ -n "$verb" ] && declare -F "peer_verb_$verb" >/dev/null; then "peer_verb_$verb" "$@"; else usage; fi ;;
  esac
}
