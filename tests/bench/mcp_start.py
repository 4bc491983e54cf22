#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""20 servers with 28 tools each: from the start of `riffle run` to its first
request, beside the same without servers; and what memory they take.

usage: mcp_start.py RIFFLE LIAR [rounds]
LIAR: build/release/tests/riffle_mcp_liar, which answers at once."""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

riffle, liar = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 11
servers = 20
came = threading.Event()
held = threading.Event()
seen = {}


class model(BaseHTTPRequestHandler):
    def do_POST(self):
        seen["at"] = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen["tools"] = len(body.get("tools", []))
        came.set()
        held.wait(20)
        chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "done"},
                              "finish_reason": "stop"}]}
        data = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *ignored):
        pass


def kib(pid, name):
    """Of a process and all below it."""
    total = 0
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith(name):
            total += int(line.split()[1])
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in open(f"/proc/{pid}/task/{task}/children").read().split():
            try:
                total += kib(int(child), name)
            except OSError:
                pass
    return total


def own_kib(pid, name):
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def measure(folder, config):
    came.clear()
    held.clear()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = dict(os.environ, RIFFLE_CONFIG=config, XDG_STATE_HOME=folder, KEY="k")
    began = time.monotonic()
    run = subprocess.Popen([riffle, "run", "go"], cwd=folder, env=env,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if not came.wait(20):
        sys.exit(f"no request came: {run.stderr.read().decode()[:2000]}")
    out = {"ms": (seen["at"] - began) * 1000, "tools": seen["tools"],
           "runtime": own_kib(run.pid, "Pss:") / 1024, "all": kib(run.pid, "Pss:") / 1024}
    held.set()
    run.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    out["cpu"] = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return out


server = ThreadingHTTPServer(("127.0.0.1", 0), model)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as folder:
    base = (f'[runtime]\ndata_dir = "{folder}/data"\n[models.default]\n'
            f'base_url = "http://127.0.0.1:{server.server_port}/v1"\napi_key_env = "KEY"\n')
    table = "".join(f'[mcp.s{i}]\ncommand = ["{liar}", "modern"]\nagents = ["default"]\n'
                    for i in range(servers))
    for name, text in (("none", base), ("many", base + table)):
        with open(f"{folder}/{name}.toml", "w") as f:
            f.write(text)
    all_of = {"none": [], "many": []}
    measure(folder, f"{folder}/many.toml")  # the era of each is known from here on
    for _ in range(rounds):
        for name, rows in all_of.items():
            rows.append(measure(folder, f"{folder}/{name}.toml"))
for name, rows in all_of.items():
    mid = {k: statistics.median(x[k] for x in rows) for k in rows[0]}
    best = min(x["ms"] for x in rows)
    print(f"{name}: {mid['tools']:.0f} tools, first request after {mid['ms']:.0f} ms "
          f"(best {best:.0f}), {mid['cpu']:.0f} ms of CPU, memory of the runtime "
          f"{mid['runtime']:.1f} MiB, with guards and servers {mid['all']:.1f} MiB")
