#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of README.md from the harness's results: table.py results.jsonl"""
import json
import statistics
import sys

GOALS = {  # column: (goal in memory, goal with the durable journal)
    'a1': (1.1, 2.0), 'a2': (1.4, 2.5), 'k': (20.0, 25.0),
    'p50': (90.0, None), 'p99': (1000.0, None), 'b1': (1.01, 1.01),
}


def cpu_per_chunk(r):
    return statistics.median(c / n for c, n in zip(r['cpu_us'], r['chunks']))


READ = {
    'a1': ('a1', cpu_per_chunk), 'a2': ('a2', cpu_per_chunk),
    'k': ('k', cpu_per_chunk),
    'p50': ('c2', lambda r: r['chunk_p50_us']),
    'p99': ('c2', lambda r: r['chunk_p99_us']),
    'b1': ('b1', lambda r: statistics.median(r['makespan_us']) / 2e5),
}
HEAD = {
    'a1': 'a1: 1 × 20,000 chunks, CPU µs each', 'a2': 'a2: 100 × 500',
    'k': 'k: 100 streams, a chunk each 20 ms',
    'p50': 'added latency p50, µs', 'p99': 'p99, µs',
    'b1': '8 tools of 200 ms, × ideal',
}


def main():
    runs = {}
    order = []
    for line in open(sys.argv[1], encoding='utf-8'):
        r = json.loads(line)
        if r['peer'] not in order:
            order.append(r['peer'])
        if r.get('ok'):
            runs.setdefault((r['peer'], r['measure']), []).append(r)
    early = {}
    for peer in order:
        b2 = runs.get((peer, 'b2'))
        if b2:
            first = statistics.median(
                r['tool_start_minus_turn_end_us'] for r in b2)
            early[peer] = 'yes' if first < -50000 else 'no'
    columns = [c for c in READ if any(k[1] == READ[c][0] for k in runs)]
    print('| | ' + ' | '.join(HEAD[c] for c in columns)
          + ' | tool starts before the turn ends |')
    print('|---' * (len(columns) + 2) + '|')
    for peer in order:
        row = []
        for c in columns:
            measure, read = READ[c]
            values = sorted(read(r) for r in runs.get((peer, measure), []))
            if not values:
                row.append('–')
                continue
            mid = statistics.median(values)
            text = f'{mid:.3f}' if c == 'b1' else f'{mid:.2f}' \
                if mid < 10 else f'{mid:.0f}'
            if len(values) > 1 and c != 'b1':
                text += f' ({values[0]:.2f}–{values[-1]:.2f})' \
                    if mid < 10 else f' ({values[0]:.0f}–{values[-1]:.0f})'
            goal = GOALS[c][peer == 'riffle-sqlite'] \
                if peer.startswith('riffle') else None
            if goal:
                text += ' ✓' if mid <= goal else f' **✗ goal {goal:g}**'
            row.append(text)
        print(f'| {peer} | ' + ' | '.join(row)
              + f' | {early.get(peer, "–")} |')


main()
