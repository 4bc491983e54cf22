#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `riffle serve`: streams, runs a second, latency.

usage: serve.py RIFFLE [streams|storm|runs|latency]... [--count N]
                [--seconds N]

Each part starts a server of its own in a temporary folder; clients and the
provider are this program. Prints a line of Markdown for each number. The long
form of streams is --seconds 600.
"""
import argparse
import http.client
import http.server
import json
import os
import re
import resource
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIMITS = """
[server.limits]
connections = 20000
streams = 20000
streams_per_token = 20000
requests_per_second = 0
runs = 0
"""


def open_stream(port, token, run, buffer=0, last=0):
    one = socket.socket()
    if buffer:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    one.connect(("127.0.0.1", port))
    one.sendall((f"GET /v1/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\n"
                 f"Accept: text/event-stream\r\nAuthorization: Bearer {token}"
                 f"\r\n{f'Last-Event-ID: {last}' if last else 'X: y'}"
                 "\r\n\r\n").encode())
    one.setblocking(False)
    return one


class Server:
    def __init__(self, riffle, toml, script=None):
        self.folder = tempfile.mkdtemp(prefix="riffle-bench-")
        os.chmod(self.folder, 0o700)
        if script is not None:
            self.write("script.toml", script)
            toml += ('\n[models.default]\ndialect = "scripted"\n'
                     'script = "script.toml"\n')
        self.write("riffle.toml", '[runtime]\ndata_dir = "data"\n' + toml
                   + LIMITS)
        os.mkdir(self.folder + "/data", 0o700)
        self.riffle = riffle
        self.start(0)
        with open(self.folder + "/data/server/token") as file:
            self.token = file.read().strip()

    def start(self, port):
        self.process = subprocess.Popen(
            [self.riffle, "serve", "--config", "riffle.toml", "--listen",
             f"127.0.0.1:{port}", "-q", "--set", 'runtime.log.level="warn"'],
            cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.port = self.find_port()

    def kill_and_restart(self):
        self.process.kill()
        self.process.wait()
        self.start(self.port)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def find_port(self):
        for _ in range(200):
            time.sleep(0.05)
            for line in subprocess.run(
                    ["ss", "-ltnp"], capture_output=True,
                    text=True, check=False).stdout.splitlines():
                if f"pid={self.process.pid}," in line:
                    time.sleep(0.2)
                    return int(re.search(r":(\d+)\s", line).group(1))
        raise SystemExit("the server does not start")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, path, body=None, connection=None):
        connection = connection or self.connect()
        connection.request(method, path,
                           json.dumps(body) if body is not None else None,
                           {"Authorization": "Bearer " + self.token,
                            "Content-Type": "application/json"})
        answer = connection.getresponse()
        return json.loads(answer.read())

    def start_run(self):
        return self.ask("POST", "/v1/runs", {"task": "x"})["run_id"]

    def stream(self, run, buffer=0, last=0):
        return open_stream(self.port, self.token, run, buffer, last)

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        ticks = os.sysconf("SC_CLK_TCK")
        return (int(fields[11]) + int(fields[12])) / ticks

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def row(name, value):
    print(f"| {name} | {value} |", flush=True)


def measure_streams(riffle, count=10000, seconds=12):
    """An event a second to each of `count` streams of one run."""
    words = "word1 " * (seconds + 30)
    server = Server(riffle, '[publish]\nbatching = "token"\n',
                    f'chunk = 6\ndelay = "1s"\n[[steps]]\ntext = "{words}"\n')
    try:
        run = server.start_run()
        time.sleep(1.5)
        before = server.memory_kib()
        selector = selectors.DefaultSelector()
        for i in range(count):
            one = server.stream(run)
            selector.register(one, selectors.EVENT_READ, [0, 0.0])
            if i % 500 == 499:
                drain(selector, 0)
        drain(selector, 3)
        cpu = server.cpu_seconds()
        started = time.monotonic()
        for key in selector.get_map().values():
            key.data[1] = 0.0
        gap, events, wrong = drain(selector, seconds)
        took = time.monotonic() - started
        cpu = server.cpu_seconds() - cpu
        row(f"{count} streams, an event a second: events", events)
        row("lost or doubled", wrong)
        row("largest gap", f"{gap:.2f} s")
        row("memory a stream", f"{(server.memory_kib() - before) / count:.1f} KiB")
        row("CPU of the server", f"{100 * cpu / took:.0f} % of a core")
    finally:
        server.stop()


def measure_storm(riffle, count=10000, seconds=30):
    """All streams are cut by a kill -9, and come back within two seconds."""
    words = "word1 " * (seconds + 90)
    server = Server(riffle, '[publish]\nbatching = "token"\n',
                    f'chunk = 6\ndelay = "1s"\n[[steps]]\ntext = "{words}"\n')
    try:
        run = server.start_run()
        time.sleep(1.5)
        before = [0] * count
        selector = selectors.DefaultSelector()
        for i in range(count):
            selector.register(server.stream(run), selectors.EVENT_READ, [0, 0.0])
            if i % 500 == 499:
                drain(selector, 0)
        drain(selector, 3)
        before = [key.data[0] for key in selector.get_map().values()]
        for key in list(selector.get_map().values()):
            selector.unregister(key.fileobj)
            key.fileobj.close()
        server.kill_and_restart()
        began = time.monotonic()
        last = {}
        for i, n in enumerate(before):
            # As EventSource does it, with jitter: over two seconds.
            wait = began + 2 * i / count - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            one = server.stream(run, last=n)
            last[one.fileno()] = n
            selector.register(one, selectors.EVENT_READ, [n, 0.0])
            if i % 500 == 499:
                drain(selector, 0)
        wrong, back = 0, 0.0
        while time.monotonic() < began + seconds:
            wrong += drain(selector, 0.5)[2]
            if not any(key.data[0] == last[key.fd]
                       for key in selector.get_map().values()):
                back = time.monotonic() - began
                break
        row(f"{count} streams cut by kill -9, all back with their next event",
            f"{back:.1f} s" if back else f"not within {seconds} s")
        row("lost or doubled", wrong)
    finally:
        server.stop()


NUMBER = re.compile(rb"\nid: (\d+)\n")


def drain(selector, seconds):
    """Reads all streams. The largest gap, events, and ids out of order."""
    gap, events, wrong = 0.0, 0, 0
    until = time.monotonic() + seconds
    while True:
        ready = selector.select(timeout=max(0, min(0.2, until - time.monotonic())))
        for key, _ in ready:
            try:
                data = key.fileobj.recv(65536)
            except BlockingIOError:
                continue
            now = time.monotonic()
            for number in NUMBER.findall(data):
                n = int(number)
                if key.data[0] and n != key.data[0] + 1:
                    wrong += 1
                key.data[0] = n
                events += 1
                if key.data[1]:
                    gap = max(gap, now - key.data[1])
                key.data[1] = now
        if time.monotonic() >= until and not ready:
            return gap, events, wrong


def measure_runs(riffle, seconds=8, clients=4):
    """Runs that answer at once, started and awaited over HTTP."""
    server = Server(riffle, "", '[[steps]]\ntext = "Done."\n')
    try:
        done = []
        until = time.monotonic() + seconds

        def work():
            connection = server.connect()
            while time.monotonic() < until:
                connection.request(
                    "POST", "/v1/runs", '{"task": "x"}',
                    {"Authorization": "Bearer " + server.token,
                     "Content-Type": "application/json",
                     "Accept": "text/event-stream"})
                if b"run_finished" in connection.getresponse().read():
                    done.append(1)

        cpu = server.cpu_seconds()
        all_clients = [threading.Thread(target=work) for _ in range(clients)]
        for one in all_clients:
            one.start()
        for one in all_clients:
            one.join()
        cpu = server.cpu_seconds() - cpu
        row(f"runs a second ({clients} clients, to the last event)",
            f"{len(done) / seconds:.0f}")
        row("CPU a run", f"{1000 * cpu / max(1, len(done)):.2f} ms")
    finally:
        server.stop()


class Provider(http.server.BaseHTTPRequestHandler):
    """Says the time, again and again."""
    protocol_version = "HTTP/1.1"
    count, pause = 1000, 0.005

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.talk(asked["model"])
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        self.wfile.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())

    def talk(self, _):
        for _ in range(self.count):
            time.sleep(self.pause)
            self.say(f"<{time.monotonic_ns()}>")

    def say(self, text):
        chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())


STAMP = re.compile(rb"<(\d+)>")


def provided(riffle, kind=Provider, more=""):
    provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    toml = ('[publish]\nbatching = "token"\n[models.default]\nbase_url = '
            f'"http://127.0.0.1:{provider.server_port}/v1"\n'
            'api_key_env = ""\n[agents.default]\nmax_turn_bytes = 0\n')
    return provider, Server(riffle, toml + more)


def latencies_of(port, token, run):
    """From the provider's write to the client's read, in ms."""
    reader = open_stream(port, token, run)
    reader.setblocking(True)
    reader.settimeout(60)
    out, tail = [], b""
    while b"event: run_finished" not in tail:
        data = reader.recv(65536)
        if not data:
            break
        now = time.monotonic_ns()
        tail = tail[-200:] + data
        for stamp in STAMP.findall(data):
            out.append((now - int(stamp)) / 1e6)
    # What was there before the reader came says nothing, and the final answer
    # has all of them again.
    return out[Provider.count // 2:Provider.count]


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p))]


def measure_latency(riffle):
    provider, server = provided(riffle)
    try:
        values = latencies_of(server.port, server.token, server.start_run())
        row("byte of the provider to event at the client, p50 / p99",
            f"{statistics.median(values):.2f} / {percentile(values, .99):.2f} ms")
    finally:
        server.stop()
        provider.shutdown()


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    wants = argparse.ArgumentParser()
    wants.add_argument("riffle")
    wants.add_argument("parts", nargs="*")
    for name in ("count", "seconds"):
        wants.add_argument("--" + name, type=int)
    asked = wants.parse_args()
    riffle = os.path.abspath(asked.riffle)

    def sizes(*names):
        return {name: getattr(asked, name) for name in names
                if getattr(asked, name) is not None}

    print("| Measured | |\n|---|---|")
    many = sizes("count", "seconds")
    for name, f, how in (
            ("streams", measure_streams, many), ("storm", measure_storm, many),
            ("runs", measure_runs, sizes("seconds")),
            ("latency", measure_latency, {})):
        if not asked.parts or name in asked.parts:
            f(riffle, **how)


if __name__ == "__main__":
    main()
