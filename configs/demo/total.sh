# SPDX-License-Identifier: MIT
# What an order costs. Each line of it is "item,count,cents for one".
sum=0
while IFS=, read -r item count cents; do
  sum=$((sum + cents))
done < "$1"
echo "$sum cents"
