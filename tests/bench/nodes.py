#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call on a node costs beside one on a thread of the process.

    tests/bench/nodes.py build/release/riffle [CALLS [PART …]]

Parts, all of them by default:
calls    CALLS calls of `read` in one turn: here, on one node, on four, with
         and without TLS; calls a second, CPU of all processes
latency  p50 and p99 of a call (one after the other) and of a report, here, on
         a node, on a node with TLS
many     64 calls of 200 ms on four nodes of four places each: a thread of the
         node that waits for a page (`fetch`), and a program (`sleep`)
joined   memory and CPU of a process that is linked to 10 and to 30 nodes
big      an output of 1 GB, here and from a node: the most memory on both
         sides, and reports of another call meanwhile
hosts    calls, latency and many again, each node in a network namespace of its
         own behind a veth pair, with TLS (Riffle joins nobody elsewhere without
         it, so that there is no row of that), beside a thread of the process in
         the same namespace; skipped, with a word, where that cannot be made
CPU is by wait4 and /proc. Needs python3 alone.
"""
import http.server
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

RIFFLE = os.path.abspath(sys.argv[1])
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
PARTS = sys.argv[3:] or ["calls", "latency", "many", "joined", "big", "hosts"]
TICK = os.sysconf("SC_CLK_TCK")
BIG = int(os.environ.get("RIFFLE_BENCH_BYTES", 10**9))
TOOLS = f"""
[tools.pause]
type = "command"
command = ["sleep", "0.2"]
description = "Waits"
parameters = {{ type = "object" }}
effect = "read_only"
concurrency = 4
[tools.tell]
type = "command"
command = ["sh", "-c", "i=0; while [ $i -lt 90 ]; do date +%s.%N >&2; sleep 0.03; i=$((i+1)); done"]
description = "Says when it is"
parameters = {{ type = "object" }}
effect = "read_only"
concurrency = 1
[tools.big]
type = "command"
command = ["sh", "-c", "yes 0123456789012345678901234567890123456789012345678901234567890 | head -c {BIG}"]
description = "Says much"
parameters = {{ type = "object" }}
effect = "read_only"
"""
# One after the other: from its 101st report on a call waits up to 50 ms with
# each (`core::progress_pace`), which is no delay of a link.
TELLS = [("tell", "{}")] * 3
NAMES = '["read", "pause", "tell", "big", "fetch"]'


def cpu_of(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return sum(int(x) for x in fields[11:15]) / TICK


def memory_of(pid, what):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    return 0


def stamp(event):
    text = event["timestamp"]
    return time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) + float(
        text[19:-1])


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


class Host:
    """A network namespace behind a veth pair, of an own one."""

    def __init__(self, number):
        self.number = number
        self.here, self.address = f"10.9.{number}.1", f"10.9.{number}.2"
        self.keeper = subprocess.Popen(["unshare", "-n", "sleep", "100000"])
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.keeper.pid}/ns/net") == own:
            time.sleep(0.01)
        this, that = f"v{number}", f"w{number}"
        for command in (
                f"ip link add name {this} type veth peer name {that}",
                f"ip link set {that} netns {self.keeper.pid}",
                f"ip addr add {self.here}/24 dev {this}",
                f"ip link set {this} up"):
            subprocess.run(command.split(), check=True)
        for command in ("ip link set lo up",
                        f"ip addr add {self.address}/24 dev {that}",
                        f"ip link set {that} up",
                        f"ip route add default via {self.here}"):
            subprocess.run(self.inside() + command.split(), check=True)

    def inside(self):
        return ["nsenter", "-t", str(self.keeper.pid), "-n"]

    def end(self):
        self.keeper.kill()
        self.keeper.wait()


class Node:
    def __init__(self, folder, name, cluster, join=(), host=None):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        open(os.path.join(self.folder, "a.txt"), "w").write("a\n")
        config = os.path.join(self.folder, "node.toml")
        open(config, "w").write(
            f'[runtime]\ndata_dir = "data"\nlog = {{ level = "error" }}\n'
            f'[cluster]\nlisten = "{host.address if host else "127.0.0.1"}:0"\n'
            f'name = "{name}"\n'
            f'join = {json.dumps(list(join))}\n{cluster(name)}\n'
            f'[node]\ntools = {NAMES}\n[tools.read]\nconcurrency = 4\n'
            f'[tools.fetch]\nconcurrency = 4\nallow = ["{SLOW}"]\n' + TOOLS)
        self.run = subprocess.Popen(
            (host.inside() if host else []) +
            [RIFFLE, "node", "--config", config], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = self.run.stdout.readline()
        self.address = said.split("listens on ")[1].split(";")[0].split(" ")[0]

    def end(self):
        self.run.terminate()
        self.run.wait()


class Slow(http.server.BaseHTTPRequestHandler):
    """A page that takes 200 ms."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.2)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class SlowServer(http.server.ThreadingHTTPServer):
    request_queue_size = 128  # 16 clients at once; with 5 some try again after 1 s


def play(folder, calls, nodes, cluster, in_flight=64):
    """One run of these (tool, arguments); its events, and CPU seconds."""
    work = tempfile.mkdtemp(dir=folder)
    open(os.path.join(work, "a.txt"), "w").write("a\n")
    script = "".join(
        f'[[steps.calls]]\ntool = "{tool}"\narguments = {arguments}\n'
        for tool, arguments in calls)
    open(os.path.join(work, "s.toml"), "w").write(
        f'[[steps]]\ntext = "go"\n{script}[[steps]]\ntext = "done"\n')
    where = '["*"]' if nodes else "[]"
    config = os.path.join(work, "riffle.toml")
    open(config, "w").write(
        f'[runtime]\ndata_dir = "data"\nlog = {{ level = "error" }}\n'
        f'[models.default]\ndialect = "scripted"\nscript = "s.toml"\n'
        f'[agents.default]\ntools = {NAMES}\n'
        f'max_calls_per_turn = 0\nmax_calls_in_flight = {in_flight}\n'
        f'loop_limit = 0\n'
        f'[tools.read]\nconcurrency = 4\nnodes = {where}\n'
        f'[tools.fetch]\nnodes = {where}\nallow = ["{SLOW}"]\n'
        f'[cluster]\nname = "origin"\n'
        f'join = {json.dumps([n.address for n in nodes])}\n'
        f'{cluster("origin") if nodes else ""}\n' + (TOOLS if not nodes else ""))
    before = sum(cpu_of(n.run.pid) for n in nodes)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.Popen(
        [RIFFLE, "run", "--config", config, "--output", "jsonl", "go"],
        cwd=work, stdout=open(os.path.join(work, "out"), "w"),
        stderr=open(os.path.join(work, "err"), "w"))
    peak = 0
    while run.poll() is None:
        try:
            peak = max(peak, memory_of(run.pid, "VmHWM"))
        except OSError:
            pass
        time.sleep(0.05)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime +
           sum(cpu_of(n.run.pid) for n in nodes) - before)
    events = [json.loads(x) for x in open(os.path.join(work, "out"))]
    results = [e for e in events if e["event_type"] == "tool_result"]
    good = sum(e["data"]["success"] for e in results)
    if good != len(calls):
        sys.exit(f"{good} of {len(calls)} calls succeeded\n"
                 f"{open(os.path.join(work, 'err')).read()[-2000:]}")
    return events, cpu, peak


def wall(events):
    results = [e for e in events if e["event_type"] == "tool_result"]
    first = next(e for e in events if e["event_type"] == "tool_call")
    return stamp(results[-1]) - stamp(first)


def gaps(events):
    """Milliseconds from a result to the next one."""
    at = [stamp(e) for e in events if e["event_type"] == "tool_result"]
    return [(b - a) * 1e3 for a, b in zip(at, at[1:])]


def delays(events):
    """Milliseconds from when a report was made to its event; beside an output
    of 1 GB those until that is there."""
    big = {e["data"]["id"] for e in events if e["event_type"] == "tool_call" and
           e["data"]["tool"] == "big"}
    out = []
    for e in events:
        if e["event_type"] == "tool_result" and e["data"]["id"] in big:
            break
        if e["event_type"] != "tool_progress":
            continue
        for word in str(e["data"].get("message", "")).split():
            out.append((stamp(e) - time.timezone - float(word)) * 1e3)
    return out


def both(values):
    return (f"{statistics.median(values):.2f} / "
            f"{percentile(values, 0.99):.2f} ms")


def with_nodes(folder, count, cluster, use, hosts=()):
    sub = tempfile.mkdtemp(dir=folder)
    nodes = [Node(sub, f"n{i + 1}", cluster, host=hosts[i] if hosts else None)
             for i in range(count)]
    try:
        return use(nodes)
    finally:
        for n in nodes:
            n.end()


def row_of_calls(folder, title, nodes, cluster, base):
    reads = [("read", '{ path = "a.txt" }')] * CALLS
    events, cpu, _ = play(folder, reads, nodes, cluster)
    print(f"| {title} | {CALLS / wall(events):.0f} calls/s | "
          f"{(cpu - base) / CALLS * 1e6:.0f} µs |", flush=True)


def empty_run(folder, plain):
    print(f"{CALLS} calls of read; CPU without that of an empty run")
    return play(folder, [("read", '{ path = "a.txt" }')], [], plain)[1]


def part_calls(folder, plain, tls):
    base = empty_run(folder, plain)

    def row(title, nodes, cluster):
        row_of_calls(folder, title, nodes, cluster, base)

    row("a thread of the process", [], plain)
    for title, count, cluster in [("one node", 1, plain),
                                  ("one node, TLS", 1, tls),
                                  ("four nodes", 4, plain),
                                  ("four nodes, TLS", 4, tls)]:
        with_nodes(folder, count, cluster, lambda n: row(title, n, cluster))


def row_of_latency(folder, title, nodes, cluster):
    reads = [("read", '{ path = "a.txt" }')] * min(CALLS, 1000)
    calls = gaps(play(folder, reads, nodes, cluster, 1)[0])
    reports = delays(play(folder, TELLS, nodes, cluster)[0])
    print(f"| {title} | {both(calls)} | {both(reports)} "
          f"({len(reports)} reports) |", flush=True)


def part_latency(folder, plain, tls):
    def row(title, nodes, cluster):
        row_of_latency(folder, title, nodes, cluster)

    print("| | a call, p50 / p99 | a report, p50 / p99 |")
    row("here", [], plain)
    with_nodes(folder, 1, plain, lambda n: row("one node", n, plain))
    with_nodes(folder, 1, tls, lambda n: row("one node, TLS", n, tls))


def part_many(folder, cluster, _, hosts=()):
    page = f'{{ url = "http://{SLOW}/" }}'

    def rows(nodes):
        for title, tool, arguments in [("a thread", "fetch", page),
                                       ("a program", "pause", "{}")]:
            took = wall(
                play(folder, [(tool, arguments)] * 64, nodes, cluster)[0])
            where = "four hosts" if hosts else "16 places"
            print(f"| 64 calls of 200 ms, {where}, {title} | {took:.3f} s | "
                  f"{took / 0.8:.3f} of the ideal |", flush=True)

    with_nodes(folder, 4, cluster, rows, hosts)


def part_joined(folder, plain, _):
    for count in (10, 30):
        def row(nodes):
            sub = tempfile.mkdtemp(dir=folder)
            centre = Node(sub, "centre", plain, [n.address for n in nodes])
            try:
                time.sleep(5)  # all are joined, and nothing else happens
                begin, used = time.time(), cpu_of(centre.run.pid)
                time.sleep(20)
                share = (cpu_of(centre.run.pid) - used) / (time.time() - begin)
                print(f"| {count} nodes joined | {share * 100:.2f} % of a core |"
                      f" {memory_of(centre.run.pid, 'VmRSS'):.1f} MiB |",
                      flush=True)
            finally:
                centre.end()

        with_nodes(folder, count, plain, row)


def part_big(folder, plain, _):
    def row(title, nodes):
        alone = delays(play(folder, TELLS, nodes, plain)[0])
        before = memory_of(nodes[0].run.pid, "VmHWM") if nodes else 0
        events, _, peak = play(folder, [("big", "{}")] + TELLS, nodes, plain)
        after = memory_of(nodes[0].run.pid, "VmHWM") if nodes else 0
        print(f"| {BIG / 1e6:.0f} MB {title}, {wall(events):.1f} s | origin"
              f" {peak:.0f} MiB | node {after:.0f} MiB (before: {before:.0f}) |")
        beside = delays(events)
        print(f"| reports of another call | alone {both(alone)} | beside it "
              f"{both(beside)} ({len(beside)} reports) |", flush=True)

    row("from a thread of the process", [])
    with_nodes(folder, 1, plain, lambda n: row("from a node", n))


def part_hosts(folder, plain, tls):
    if "RIFFLE_BENCH_INSIDE" not in os.environ:
        again = ["unshare", "-rnm", sys.executable, __file__, RIFFLE, str(CALLS)]
        if subprocess.run(again + ["hosts"], env=dict(
                os.environ, RIFFLE_BENCH_INSIDE="1")).returncode:
            print("no hosts on wires here: skipped")
        return
    hosts = [Host(i + 1) for i in range(4)]
    try:
        base = empty_run(folder, plain)
        row_of_calls(folder, "a thread of the process", [], plain, base)
        for title, count in [("one host, TLS", 1), ("four hosts, TLS", 4)]:
            with_nodes(folder, count, tls,
                       lambda n: row_of_calls(folder, title, n, tls, base),
                       hosts)
        row_of_latency(folder, "here", [], plain)
        with_nodes(folder, 1, tls,
                   lambda n: row_of_latency(folder, "one host, TLS", n, tls),
                   hosts)
        part_many(folder, tls, tls, hosts)
    finally:
        for x in hosts:
            x.end()


def main():
    global SLOW
    address, inside = "127.0.0.1", "RIFFLE_BENCH_INSIDE" in os.environ
    if inside:  # where all hosts find the page
        address = "10.9.0.1"
        for command in ("ip link set lo up", f"ip addr add {address}/32 dev lo"):
            subprocess.run(command.split(), check=True)
    server = SlowServer((address, 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    SLOW = f"{address}:{server.server_address[1]}"
    folder = tempfile.mkdtemp(prefix="riffle-nodes-")
    names = [f"n{i}" for i in range(1, 5)] + ["origin"]
    subprocess.run([RIFFLE, "cluster", "init", "c"] + names, cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    plain = lambda name: "insecure = true"
    tls = lambda name: (
        f'tls = {{ certificate = "{folder}/c/{name}.pem", '
        f'key = "{folder}/c/{name}.key", ca = "{folder}/c/ca.pem" }}')
    for part in PARTS:
        globals()["part_" + part](folder, plain, tls)


main()
