#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A volley of many tasks, beside the same tasks as single processes and in one
node script with the AI SDK.

    tests/bench/volley.py [RIFFLE] [--tasks 1000] [--workers 50] [--delay 0.5]
        [--modules FOLDER_WITH_NODE_MODULES]

A model server of its own on loopback answers each request after `delay`; the
ideal is tasks / workers * delay. Told: wall time and its ratio to the ideal,
CPU of the whole process for each task, peak memory, requests. Without a folder
that has `ai` and `@ai-sdk/openai-compatible` (`./dev bench` leaves one in
build/bench/harness) the node script is left out.
"""
import argparse
import asyncio
import json
import os
import resource
import shutil
import subprocess
import tempfile
import threading
import time

CHUNK = 'data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}\n\n'
BODY = (
    CHUNK % ('{"role":"assistant","content":"Done."}', "null")
    + CHUNK % ("{}", '"stop"')
    + "data: [DONE]\n\n"
).encode()
ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"content-length: %d\r\n\r\n" % len(BODY)
) + BODY


class Server:
    """Keep-alive, any number of connections, one thread."""

    def __init__(self, delay):
        self.delay = delay
        self.requests = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.run, args=(ready,), daemon=True).start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=4096))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = 0
                for line in head.split(b"\r\n"):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                await reader.readexactly(length)
                self.requests += 1
                await asyncio.sleep(self.delay)
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def measure(command, folder):
    """Wall time, CPU and peak memory of a command with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "MODEL_KEY": "x"})
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return done, wall, cpu, after.ru_maxrss


def told(name, tasks, ideal, wall, cpu, peak, requests):
    print(f"{name}: {tasks} tasks in {wall:.2f} s, {wall / ideal:.3f} of the "
          f"ideal {ideal:.2f} s; {(wall - ideal) / tasks * 1000:.2f} ms over it "
          f"and {cpu / tasks * 1000:.2f} ms of CPU a task; "
          f"peak {peak / 1024:.0f} MiB; {requests} requests", flush=True)


def node_script(x, ideal, server, folder):
    """The same tasks with the AI SDK, if it is there."""
    if not x.modules or not shutil.which("node"):
        print("node script with the AI SDK: left out, for want of "
              + ("node" if x.modules else "--modules FOLDER"), flush=True)
        return
    server.requests = 0
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "volley.mjs")
    done, wall, cpu, peak = measure(
        ["node", script, f"http://127.0.0.1:{server.port}/v1", str(x.tasks),
         str(x.workers), os.path.abspath(x.modules)], folder)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    answers = json.loads(done.stdout)
    assert len(answers) == x.tasks and all(one == "Done." for one in answers)
    told("node script with the AI SDK", x.tasks, ideal, wall, cpu, peak,
         server.requests)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("riffle", nargs="?", default="build/release/riffle")
    args.add_argument("--tasks", type=int, default=1000)
    args.add_argument("--workers", type=int, default=50)
    args.add_argument("--delay", type=float, default=0.5)
    args.add_argument("--singles", type=int, default=200,
                      help="tasks of the loop of single processes; 0: none")
    args.add_argument("--modules", help="a folder with node_modules")
    x = args.parse_args()
    riffle = os.path.abspath(x.riffle)
    server = Server(x.delay)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "riffle.toml"), "w") as out:
            out.write(f"""[runtime]
data_dir = "data"
max_runs = {max(64, x.workers + 8)}
[models.default]
base_url = "http://127.0.0.1:{server.port}/v1"
model = "m"
max_concurrent = {x.workers}
""")
        with open(os.path.join(folder, "tasks.txt"), "w") as out:
            for i in range(x.tasks):
                out.write(f"task {i}\n")
        config = ["--config", "riffle.toml"]
        # First: the peak is that of all children so far.
        if x.singles > 0:
            loop = (f"seq {x.singles} | xargs -P {x.workers} -I{{}} {riffle} run "
                    "--config riffle.toml -q 'task {}' > /dev/null")
            done, wall, cpu, peak = measure(["sh", "-c", loop], folder)
            assert done.returncode == 0, done.stderr.decode()[-2000:]
            told("single processes", x.singles, x.singles / x.workers * x.delay,
                 wall, cpu, peak, server.requests)
        server.requests = 0
        done, wall, cpu, peak = measure(
            [riffle, "run", *config, "--tasks-file", "tasks.txt", "--workers",
             str(x.workers), "--output", "json", "-q"], folder)
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        results = json.loads(done.stdout)["results"]
        assert len(results) == x.tasks
        assert all(one["answer"] == "Done." for one in results)
        ideal = x.tasks / x.workers * x.delay
        told("volley", x.tasks, ideal, wall, cpu, peak, server.requests)
        # Last: it has the highest peak.
        node_script(x, ideal, server, folder)


if __name__ == "__main__":
    main()
