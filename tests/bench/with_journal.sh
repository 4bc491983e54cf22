#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs an older peer, which has no `--sqlite -`, with the SQLite journal in a folder
# of its own. Its cold start has this script's in it.
# usage: with_journal.sh PEER [ARG…]
set -eu
peer=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$peer" --sqlite "$dir" "$@"
