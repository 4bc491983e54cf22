#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call on a node costs beside one on a thread of the process.

    tests/bench/nodes.py build/release/riffle [CALLS]

N calls of `read` in one turn of a scripted model: here, on one node, on four,
with and without TLS; then 64 calls of 200 ms on four nodes of four places
each. CPU is that of all processes, by wait4 and /proc. Needs python3 alone.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

RIFFLE = os.path.abspath(sys.argv[1])
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
TICK = os.sysconf("SC_CLK_TCK")
SLEEP = """
[tools.pause]
type = "command"
command = ["sleep", "0.2"]
description = "Waits"
parameters = { type = "object" }
effect = "read_only"
concurrency = 4
"""


def cpu_of(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return sum(int(x) for x in fields[11:15]) / TICK


class Node:
    def __init__(self, folder, name, cluster):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        open(os.path.join(self.folder, "a.txt"), "w").write("a\n")
        config = os.path.join(self.folder, "node.toml")
        open(config, "w").write(
            f'[runtime]\ndata_dir = "data"\nlog = {{ level = "error" }}\n'
            f'[cluster]\nlisten = "127.0.0.1:0"\nname = "{name}"\n{cluster(name)}\n'
            f'[node]\ntools = ["read", "pause"]\n[tools.read]\nconcurrency = 4\n'
            + SLEEP)
        self.run = subprocess.Popen(
            [RIFFLE, "node", "--config", config], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = self.run.stdout.readline()
        self.address = said.split("listens on ")[1].split(";")[0]

    def end(self):
        self.run.terminate()
        self.run.wait()


def measure(folder, calls, tool, arguments, nodes, cluster):
    """Wall and CPU seconds of one run; the first event to the last result."""
    work = tempfile.mkdtemp(dir=folder)
    open(os.path.join(work, "a.txt"), "w").write("a\n")
    script = "".join(
        f'[[steps.calls]]\ntool = "{tool}"\narguments = {arguments}\n'
        for _ in range(calls))
    open(os.path.join(work, "s.toml"), "w").write(
        f'[[steps]]\ntext = "go"\n{script}[[steps]]\ntext = "done"\n')
    joined = ", ".join(f'"{n.address}"' for n in nodes)
    where = '["*"]' if nodes else "[]"
    config = os.path.join(work, "riffle.toml")
    open(config, "w").write(
        f'[runtime]\ndata_dir = "data"\nlog = {{ level = "error" }}\n'
        f'[models.default]\ndialect = "scripted"\nscript = "s.toml"\n'
        f'[agents.default]\ntools = ["read", "pause"]\n'
        f'max_calls_per_turn = 0\nmax_calls_in_flight = 64\nloop_limit = 0\n'
        f'[tools.read]\nconcurrency = 4\nnodes = {where}\n'
        f'[cluster]\nname = "origin"\njoin = [{joined}]\n'
        f'{cluster("origin") if nodes else ""}\n' + (SLEEP if not nodes else ""))
    before = sum(cpu_of(n.run.pid) for n in nodes)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(
        [RIFFLE, "run", "--config", config, "--output", "jsonl", "go"],
        cwd=work, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime +
           sum(cpu_of(n.run.pid) for n in nodes) - before)
    events = [json.loads(x) for x in out.stdout.splitlines()]
    results = [e for e in events if e["event_type"] == "tool_result"]
    good = sum(e["data"]["success"] for e in results)
    if good != calls:
        sys.exit(f"{good} of {calls} calls succeeded\n{out.stderr[-2000:]}")
    stamp = lambda e: time.mktime(
        time.strptime(e["timestamp"][:19], "%Y-%m-%dT%H:%M:%S")) + float(
            e["timestamp"][19:-1])
    first = next(e for e in events if e["event_type"] == "tool_call")
    return stamp(results[-1]) - stamp(first), cpu


def main():
    folder = tempfile.mkdtemp(prefix="riffle-nodes-")
    names = ["n1", "n2", "n3", "n4", "origin"]
    subprocess.run([RIFFLE, "cluster", "init", "c"] + names, cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    plain = lambda name: "insecure = true"
    tls = lambda name: (
        f'tls = {{ certificate = "{folder}/c/{name}.pem", '
        f'key = "{folder}/c/{name}.key", ca = "{folder}/c/ca.pem" }}')
    read = '{ path = "a.txt" }'
    base = measure(folder, 1, "read", read, [], plain)[1]
    wall, cpu = measure(folder, CALLS, "read", read, [], plain)
    print(f"{CALLS} calls of read; CPU without that of an empty run")
    print(f"| a thread of the process | {CALLS / wall:.0f} calls/s | "
          f"{(cpu - base) / CALLS * 1e6:.0f} µs |")
    for title, count, cluster in [("one node", 1, plain),
                                  ("one node, TLS", 1, tls),
                                  ("four nodes", 4, plain),
                                  ("four nodes, TLS", 4, tls)]:
        sub = tempfile.mkdtemp(dir=folder)
        nodes = [Node(sub, n, cluster) for n in names[:count]]
        try:
            wall, cpu = measure(folder, CALLS, "read", read, nodes, cluster)
            print(f"| {title} | {CALLS / wall:.0f} calls/s | "
                  f"{(cpu - base) / CALLS * 1e6:.0f} µs |")
            if count == 4:
                wall, _ = measure(folder, 64, "pause", "{}", nodes, cluster)
                print(f"|   64 calls of 200 ms, 16 places | {wall:.3f} s | "
                      f"{wall / 0.8:.3f} of the ideal |")
        finally:
            for n in nodes:
                n.end()


main()
