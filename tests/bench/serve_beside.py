#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`riffle serve` beside servers that an application would write instead.

usage: serve_beside.py RIFFLE [FOLDER_WITH_NODE_MODULES]

The same task, a provider that says `CHUNKS` chunks, `CLIENTS` clients that post
and read to the end, in turn for each server, `ROUNDS` times; medians of CPU.
With a folder that has @langchain/langgraph and @langchain/openai it joins.
"""
import http.client
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

from serve import Server

CHUNKS, RUNS, CLIENTS, ROUNDS = 200, 200, 8, 5


class Mock(threading.Thread):
    """Answers each request with the same bytes, a write for each ten chunks."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        chunk = ('data: {"choices": [{"index": 0, "delta": {"content": '
                 '"word "}}]}\n\n')
        end = ('data: {"choices": [{"index": 0, "delta": {}, "finish_reason":'
               ' "stop"}]}\n\ndata: [DONE]\n\n')
        self.parts = [(chunk * 10).encode()] * (CHUNKS // 10) + [end.encode()]

    def run(self):
        while True:
            one, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(one,),
                             daemon=True).start()

    def serve(self, one):
        with one:
            data = b""
            while True:
                while b"\r\n\r\n" not in data:
                    more = one.recv(65536)
                    if not more:
                        return
                    data += more
                head, data = data.split(b"\r\n\r\n", 1)
                size = 0
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        size = int(line.split(b":")[1])
                while len(data) < size:
                    data += one.recv(65536)
                data = data[size:]
                one.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-"
                            b"stream\r\nTransfer-Encoding: chunked\r\n\r\n")
                for part in self.parts:
                    one.sendall(b"%x\r\n%s\r\n" % (len(part), part))
                one.sendall(b"0\r\n\r\n")


class Node:
    def __init__(self, kind, provider, modules=""):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "serve_peers.mjs")
        self.process = subprocess.Popen(
            ["node", script, kind, provider, modules], stdout=subprocess.PIPE,
            text=True)
        self.port = int(self.process.stdout.readline().split()[1])
        self.token = ""

    cpu_seconds = Server.cpu_seconds
    memory_kib = Server.memory_kib

    def stop(self):
        self.process.kill()
        self.process.wait()


def play(server):
    """CPU ms a run, runs a second, time of a run p50 and p99 in ms."""
    todo, times, lock = [RUNS], [], threading.Lock()

    def work():
        one = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        while True:
            with lock:
                if todo[0] == 0:
                    return
                todo[0] -= 1
            began = time.monotonic()
            one.request("POST", "/v1/runs", '{"task": "x"}',
                        {"Authorization": "Bearer " + server.token,
                         "Content-Type": "application/json",
                         "Accept": "text/event-stream"})
            body = one.getresponse().read()
            if b"run_finished" not in body or b"word" not in body:
                raise SystemExit("a run did not end: " + repr(body[-300:]))
            times.append(1000 * (time.monotonic() - began))

    cpu, began = server.cpu_seconds(), time.monotonic()
    clients = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    took = time.monotonic() - began
    times.sort()
    return (1000 * (server.cpu_seconds() - cpu) / RUNS, RUNS / took,
            times[len(times) // 2], times[int(len(times) * .99)])


def main():
    riffle = os.path.abspath(sys.argv[1])
    mock = Mock()
    mock.start()
    base = f"http://127.0.0.1:{mock.port}/v1"
    model = (f'[models.default]\nbase_url = "{base}"\napi_key_env = ""\n')
    servers = {
        "Riffle, SQLite": Server(riffle, model),
        "Riffle, SQLite, an event a chunk":
            Server(riffle, '[publish]\nbatching = "token"\n' + model),
        "bare node, nothing saved": Node("bare", base),
    }
    if len(sys.argv) > 2:
        servers["LangGraph, nothing saved"] = Node("langgraph", base,
                                                   os.path.abspath(sys.argv[2]))
    found = {name: [] for name in servers}
    try:
        for server in servers.values():
            play(server)  # warm
        for _ in range(ROUNDS):
            for name, server in servers.items():
                found[name].append(play(server))
        print("| server | CPU ms a run | runs a second | a run, p50 / p99, ms "
              "| memory, MiB |\n|---|---|---|---|---|")
        for name, all_rounds in found.items():
            cpu, rate, p50, p99 = (statistics.median(x)
                                   for x in zip(*all_rounds))
            print(f"| {name} | {cpu:.2f} | {rate:.0f} | {p50:.1f} / {p99:.1f} "
                  f"| {servers[name].memory_kib() / 1024:.0f} |")
    finally:
        for server in servers.values():
            server.stop()


if __name__ == "__main__":
    main()
