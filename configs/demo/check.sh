# SPDX-License-Identifier: MIT
# A tool of this demo: looks at each line of a file and says so meanwhile, in
# JSON lines on standard error. What it found goes to standard output.
file=$1
total=$(wc -l < "$file") || exit 1
done=0
while [ "$done" -lt "$total" ]; do
  sleep 0.6
  done=$((done + 1))
  echo "{\"progress\": $done, \"total\": $total, \"message\": \"line $done\"}" >&2
done
echo "$file: all $total lines can be read"
