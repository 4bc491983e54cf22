#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of README.md from the harness's results: table.py results.jsonl"""
import json
import statistics
import sys


def cpu_per_chunk(r):
    return statistics.median(c / n for c, n in zip(r['cpu_us'], r['chunks']))


def cpu_ms(r):
    return statistics.median(r['cpu_us']) / 1e3


def peak_kib(r):
    return max(r['rss_peak_kb'], r['maxrss_kb'])


class Results:
    """The good runs, by peer and measure."""

    def __init__(self, path):
        self.peers, self.runs = [], {}
        for line in open(path, encoding='utf-8'):
            r = json.loads(line)
            if r['peer'] not in self.peers:
                self.peers.append(r['peer'])
            if r.get('ok'):
                self.runs.setdefault((r['peer'], r['measure']), []).append(r)

    def values(self, peer, measure, read):
        return sorted(read(r) for r in self.runs.get((peer, measure), []))

    def median(self, peer, measure, read):
        found = self.values(peer, measure, read)
        return statistics.median(found) if found else None


def direct(measure, read):
    return lambda x, peer: x.values(peer, measure, read)


def slope(first, last, count, read):
    """What one more costs, between two measures that are `count` apart."""
    def values(x, peer):
        a, b = (x.median(peer, m, read) for m in (first, last))
        return [] if a is None or b is None else [(b - a) / count]
    return values


# The same build with other settings: columns of its row.
VARIANTS = ('-sentence', '-disk')


def variant(suffix, measure, read):
    return lambda x, peer: x.values(peer + suffix, measure, read)


# title, goal in memory, goal with the durable journal, values
COLUMNS = [
    ('a1: 1 × 20,000 chunks, CPU µs each', 1.1, 2.0,
     direct('a1', cpu_per_chunk)),
    ('a2: 100 × 500', 1.4, 2.5, direct('a2', cpu_per_chunk)),
    ('k: 100 streams, a chunk each 20 ms', 20, 25, direct('k', cpu_per_chunk)),
    ('K: 1,000 streams, a chunk each 20 ms', 20, 25,
     direct('K', cpu_per_chunk)),
    ('K, whole sentences', None, None,
     variant('-sentence', 'K', cpu_per_chunk)),
    ('K, `disk`', None, None, variant('-disk', 'K', cpu_per_chunk)),
    ('c2: one stream at 1 ms', 30, 40, direct('c2', cpu_per_chunk)),
    ('added latency p50, µs', 50, 150,
     direct('c2', lambda r: r['chunk_p50_us'])),
    ('p99, µs', 500, 500, direct('c2', lambda r: r['chunk_p99_us'])),
    ('KiB for each further run at 5,000', 64, 64,
     slope('d1', 'd5000', 4999, peak_kib)),
    ('CPU ms a turn, turns 100–400', 0.3, 0.4,
     slope('e100', 'e400', 300, cpu_ms)),
    ('8 tools of 200 ms, × ideal', 1.01, 1.01,
     direct('b1', lambda r: statistics.median(r['makespan_us']) / 2e5)),
    ('cold start, ms', 20, 30, direct('f', lambda r: r['proc_wall_ms'])),
    ('cold start, MiB', 16, 20, direct('f', lambda r: r['maxrss_kb'] / 1024)),
]


def number(x):
    return f'{x:.3f}' if x < 2 else f'{x:.1f}' if x < 20 else f'{x:.0f}'


def cell(values, goal):
    if not values:
        return '–'
    mid = statistics.median(values)
    text = number(mid)
    if len(values) > 1:
        text += f' ({number(values[0])}–{number(values[-1])})'
    if goal:
        text += ' ✓' if mid <= goal else f' **✗ goal {goal:g}**'
    return text


def early(x, peer):
    first = x.median(peer, 'b2', lambda r: r['tool_start_minus_turn_end_us'])
    return '–' if first is None else 'yes' if first < -50000 else 'no'


def main():
    x = Results(sys.argv[1])
    peers = [p for p in x.peers if not p.endswith(VARIANTS)]
    columns = [c for c in COLUMNS if any(c[3](x, p) for p in peers)]
    print('| | ' + ' | '.join(c[0] for c in columns)
          + ' | tool starts before the turn ends |')
    print('|---' * (len(columns) + 2) + '|')
    for peer in peers:
        goals = [c[2] if peer.startswith('riffle-sqlite') else c[1] for c in columns] \
            if peer.startswith('riffle') else [None] * len(columns)
        cells = [cell(c[3](x, peer), g) for c, g in zip(columns, goals)]
        print(f'| {peer} | ' + ' | '.join(cells) + f' | {early(x, peer)} |')


main()
