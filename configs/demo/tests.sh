# SPDX-License-Identifier: MIT
# The tests of total.sh; slow on purpose, so that there is time to kill them.
failed=0
check() {  # NAME ORDER EXPECTED
  echo "testing $1"
  sleep 1.2
  printf '%s\n' "$2" > order.tmp
  got=$(sh total.sh order.tmp)
  rm -f order.tmp
  if [ "$got" = "$3" ]; then
    echo "✓ $1"
  else
    echo "✗ $1: $got instead of $3"
    failed=1
  fi
}
check "one item" "tea,1,350" "350 cents"
check "two of an item" "tea,2,350" "700 cents"
check "several items" "$(cat order.csv)" "3220 cents"
exit $failed
