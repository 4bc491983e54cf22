#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A part of ./dev, which reads it for `torture`.
# shellcheck disable=SC2154

# Quick: every test with the tag [torture] and all of e2e, RIFFLE_TORTURE=1,
# inside one budget of time. --full: all tests, with RIFFLE_TEST_FULL=1 too.
# Names of tests ('*' at their ends): these alone, in that form.
torture() {
  export RIFFLE_TORTURE=1
  local budget=840 everything='~[.],[torture]' filter name program begin left
  local found=0 full=${1:-} preset=$(whole)
  if [[ $full == --full ]]; then
    export RIFFLE_TEST_FULL=1
    budget=86400
    shift
  fi
  local only=("${@//,/\\,}")  # a comma divides Catch's filters
  need "${packages_build[@]}" "${packages_test[@]}"
  build "$preset"
  logs=$build_root/$preset/torture-logs
  mkdir -p "$logs"
  begin=$SECONDS
  while read -r name program <&3; do
    filter='[torture]'
    [[ $name != e2e && $full != --full ]] || filter=$everything
    ((${#only[@]} == 0)) || filter=$(IFS=,; echo "${only[*]}")
    # Catch's exit status is the number of tests; the pipe must not fail by it.
    { "$program" --list-tests "$filter" 2>/dev/null </dev/null || true; } |
      grep -E '^[1-9][0-9]* ' >/dev/null || continue
    found=1
    left=$((budget - SECONDS + begin))
    test_one "$((left > 1 ? left : 1))" "$name" "$program" "$filter"
  done 3< <(programs "$preset")
  ((${#only[@]})) || { . "$root/tests/fuzz/run.sh" && torture_fuzz; }
  summary "$found"
}
