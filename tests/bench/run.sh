#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures Riffle against floors and peers; see README.md.
# usage: run.sh PEER_BINARY [--reps N] [--measures LIST] [--out FILE]
#                           [--add NAME=BINARY] [--setup 1]
# --add: another build of the same peer ("before"), in memory and with the journal.
# --out: its rows are kept, and more are added. --setup 1: makes what it needs, and ends.
#        run.sh PEER_BINARY calls        what a call costs that does nothing
#        run.sh PEER_BINARY dialects [N] what a chunk costs in each dialect, N rounds
# RIFFLE_BENCH_HARNESS: folder of the harness (default: ../shared/bench beside
# the repository). Its peers in node come from npm, pinned by its package.json.
set -euo pipefail
usage() {
  cat <<'TEXT'
usage: ./dev bench [OPTIONS]     measures Riffle against floors and peers: an hour
       ./dev bench calls         what a call costs that does nothing
       ./dev bench dialects [N]  what a chunk costs in each dialect, N rounds
  --reps N          so often each (5)
  --measures LIST   of a,b,c,d,e,f,k,K (all)
  --out FILE        its rows are kept, and more are added
  --add NAME=FILE   another build of the peer, beside this one
  --setup 1         make what it needs, and end
tests/bench/README.md says what is measured.
TEXT
}
for word; do
  case $word in -h | --help) usage; exit 0 ;; esac
done
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
peer=$(realpath "$1")
shift
if [ "${1:-}" = calls ]; then exec "${peer%_peer}_calls"; fi
if [ "${1:-}" = dialects ]; then exec "${peer%_peer}_dialects" "${@:2}"; fi
reps=5 measures=a,b,c,d,e,f,k,K out='' setup='' more=()
while [ $# -gt 0 ]; do
  if [ $# -eq 1 ]; then
    echo "bench: $1 is no option, or lacks its value (--help)" >&2
    exit 2
  fi
  case $1 in
    --reps) reps=$2 ;;
    --measures) measures=$2 ;;
    --out) out=$2 ;;
    --add) more+=("$2") ;;
    --setup) setup=$2 ;;
    *)
      echo "bench: unknown option $1 (--reps, --measures, --out, --add, --setup)" >&2
      exit 2
      ;;
  esac
  shift 2
done
harness=${RIFFLE_BENCH_HARNESS:-$root/../shared/bench}
if [ ! -f "$harness/bench.py" ]; then
  echo "bench: there is no harness at $harness; set RIFFLE_BENCH_HARNESS to" \
    "a folder with bench.py, its mock server and its peers" >&2
  exit 0
fi
work="$root/build/bench/harness"
if [ -z "$out" ]; then
  out="$root/build/bench/results.jsonl"
  rm -f "$out"
fi
mkdir -p "$work" "$(dirname "$out")"
cp -r "$harness/." "$work/"
chmod -R u+w "$work"
make -s -C "$work" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
peers=floor-raw-simdjson,floor-curl-nlohmann
if command -v npm > /dev/null; then
  # Two peers: the raw client, and the framework that most people use.
  (cd "$work" && python3 - <<'P'
import json
p = json.load(open('package.json'))
keep = ('openai', 'ai', '@ai-sdk/openai-compatible', 'zod')
p['dependencies'] = {k: v for k, v in p['dependencies'].items() if k in keep}
json.dump(p, open('package.json', 'w'))
P
  npm install --ignore-scripts --no-audit --no-fund --silent)
  peers=$peers,openai-raw,ai-sdk
else
  echo "bench: npm is not installed, so the peers in node are left out" >&2
fi
if [ -n "$setup" ]; then exit 0; fi
sqlite="$peer --sqlite -"
all=(--add "riffle=$peer" --add "riffle-sqlite=$sqlite")
peers=$peers,riffle,riffle-sqlite
for x in "${more[@]}"; do
  name=${x%%=*} other=$(realpath "${x#*=}")
  all+=(--add "$name=$other" --add "$name-sqlite=$here/with_journal.sh $other")
  peers=$peers,$name,$name-sqlite
done
bench() {
  python3 "$work/bench.py" --reps "$reps" --out "$out" "${all[@]}" "$@"
}
rest=$(tr , '\n' <<< "$measures" | grep -vx K | paste -sd,) || true
if [ -n "$rest" ]; then bench --measures "$rest" --peers "$peers"; fi
# In the same call: the load as a user has it who sets nothing (whole sentences),
# and with durability = "disk". The table has columns for them.
case ",$measures," in *,K,*)
  bench --measures K \
    --add "riffle-sentence=$peer --batching sentence" \
    --add "riffle-sqlite-sentence=$sqlite --batching sentence" \
    --add "riffle-sqlite-disk=$sqlite --durability disk" \
    --peers "$peers,riffle-sentence,riffle-sqlite-sentence,riffle-sqlite-disk"
esac
echo
python3 "$here/table.py" "$out"
