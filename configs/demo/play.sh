#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# play.sh RIFFLE [OPTION…]   the demo: an agent finds a mistake in a small
# program. Two tools work while it writes, a person approves its change (at a
# terminal; else all is approved), and in the middle of the tests Riffle is
# killed with kill -9 and resumed. All in a copy of this folder, which is
# removed; OPTION: of `riffle run` and `riffle sessions resume`.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
riffle=$(realpath "$1")
shift
stage=$(mktemp -d "${TMPDIR:-/tmp}/riffle-demo.XXXXXX")
watcher='' terminal=''
leave() {
  [[ -z $watcher ]] || kill "$watcher" 2>/dev/null || true
  [[ -z $terminal ]] || stty "$terminal" 2>/dev/null || true
  rm -rf "$stage"
}
trap leave EXIT
# Nobody is left to watch it: it ends, too.
trap '[[ ! -s riffle.pid ]] || kill -9 "$(<riffle.pid)" 2>/dev/null; exit 143' TERM

cp "$here"/{riffle.toml,script.toml,order.csv,total.sh,tests.sh,check.sh} \
  "$stage"
cd "$stage"
options=(--config riffle.toml --set "runtime.data_dir=$stage/data" "$@")
someone=''
if [[ -t 0 && -t 2 ]]; then
  someone=yes
  terminal=$(stty -g)
fi

# Says what happens outside of Riffle.
say() {
  echo >&2
  if [[ -t 2 ]]; then printf '\e[1m▌ %s\e[0m\n' "$@" >&2
  else printf '| %s\n' "$@" >&2; fi
}

# The second test has begun: then it is killed.
kill_in_the_tests() {
  for ((i = 0; i < 6000; ++i)); do
    ! grep -qs 'testing two' tests.log || break
    sleep 0.1
  done
  kill -9 "$(<riffle.pid)"
}

approve=(--approve all)
[[ -z $someone ]] || approve=()
say "riffle run \"The total of an order is wrong. Why?\""
echo >&2
kill_in_the_tests 2>/dev/null &
watcher=$!
exec 3>&2 2>/dev/null  # the shell says "Killed" of it
status=0
bash -c 'echo $$ > riffle.pid; exec "$@"' _ "$riffle" run "${options[@]}" \
  "${approve[@]}" --session demo "The total of an order is wrong. Why?" \
  2>&3 || status=$?
exec 2>&3 3>&-
((status == 128 + 9)) || exit "$status"
[[ -z $terminal ]] || stty "$terminal"
[[ ! -t 2 ]] || printf '\r\e[K\e[C\e[J\r' >&2
say "Somebody has killed Riffle with kill -9, in the middle of the tests." \
  "All that you saw is in its journal: it is shown again, and goes on." \
  "" "riffle sessions resume demo"
echo >&2
sleep 2
"$riffle" sessions resume "${options[@]}" demo
