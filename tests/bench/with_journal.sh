#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the peer with the SQLite journal in a folder of its own.
# usage: with_journal.sh PEER [ARG…]
set -eu
peer=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$peer" --sqlite "$dir" "$@"
