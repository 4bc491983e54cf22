#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A part of ./dev, which reads it for `fuzz` and `torture`; see README.md.
# shellcheck disable=SC2154

packages_fuzz=("clang-$clang_major" "libclang-rt-$clang_major-dev")
dialects=(openai anthropic responses ollama)

# fuzz_one DIALECT SECONDS: what it finds lies in build/fuzz/found.
fuzz_one() {
  local name=$1 dir=$build_root/fuzz seeds=()
  local recorded=${RIFFLE_CORPUS:-$root/../shared/corpus}
  mkdir -p "$dir/corpus/$name" "$dir/found"
  seeds=("$dir/corpus/$name" "$root/tests/fuzz/seeds/$name")
  [[ ! -d $recorded ]] || {
    # Every provider's streams are tried as every dialect: no server is sane.
    mkdir -p "$dir/recorded"
    find "$recorded" -type f \( -name '*.sse' -o -name '*.ndjson' -o \
      -name '*.jsonl' \) -size -8k -exec cp -n -t "$dir/recorded" {} +
    seeds+=("$dir/recorded")
  }
  RIFFLE_FUZZ=$name "$dir/tests/fuzz/riffle_fuzz" -max_total_time="$2" \
    -max_len=8192 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$dir/found/$name-" "${seeds[@]}" \
    >"$dir/$name.log" 2>&1
}

# fuzz_wire SECONDS: the same of what comes from peers of a cluster.
fuzz_wire() {
  local dir=$build_root/fuzz
  mkdir -p "$dir/corpus/wire" "$dir/found"
  "$dir/tests/fuzz/riffle_fuzz_wire" -max_total_time="$1" -max_len=4096 \
    -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$dir/found/wire-" "$dir/corpus/wire" \
    >"$dir/wire.log" 2>&1
}

fuzz_any() {
  if [[ $1 == wire ]]; then fuzz_wire "$2"; else fuzz_one "$@"; fi
}

# A minute in all. Without clang it is skipped, and said so.
torture_fuzz() {
  local name
  if ! command -v "clang++-$clang_major" >/dev/null; then
    ((++skipped))
    say "fuzz is skipped: there is no clang++-$clang_major (./dev fuzz gets it)"
    return 0
  fi
  build fuzz riffle_fuzz riffle_fuzz_wire
  for name in "${dialects[@]}" wire; do
    if fuzz_any "$name" 12; then
      ((++passed))
    else
      ((++failed))
      tail -n 20 "$build_root/fuzz/$name.log" >&2
    fi
  done
}

fuzz() {
  local seconds=${1:-600} name rc=0
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "fuzz takes a number of seconds"
  need "${packages_build[@]}" "${packages_test[@]}" "${packages_fuzz[@]}"
  build fuzz riffle_fuzz riffle_fuzz_wire
  for name in "${dialects[@]}" wire; do
    say "$name, for $seconds s; its words are in build/fuzz/$name.log"
    fuzz_any "$name" "$seconds" || {
      rc=1
      tail -n 20 "$build_root/fuzz/$name.log" >&2
      say "$name: what broke it lies in $build_root/fuzz/found"
    }
    grep -E 'number_of_executed_units|peak_rss' "$build_root/fuzz/$name.log" || true
  done
  return "$rc"
}
