#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what clients that stop reading cost the others of the same run.

usage: serve_slow.py RIFFLE [--slow N] [--readers N] [--megabytes N]
                     [--rate MIB_A_SECOND] [--rounds N]
"""
import argparse
import os
import resource
import selectors
import statistics
import time

from serve import Provider, STAMP, percentile, provided, row


class Paced(Provider):
    """So many MiB in a second, with the time."""
    megabytes = 64
    rate = 1.0

    def talk(self, _):
        # On time: a provider that is held up says less at once, not later.
        begin = time.monotonic()
        for i in range(self.megabytes * 64):
            wait = begin + i / (64 * self.rate) - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            self.say(f"<{time.monotonic_ns()}>" + "x" * 16360)


def read_beside(server, megabytes, readers, stopped):
    """A run of so much before readers, and clients that stop.

    From the provider's write to the client's read in ms, and KiB that the
    server grew by."""
    before = server.memory_kib()
    run = server.ask("POST", "/v1/runs", {"task": "x"})
    run = run["run_id"]
    held = [server.stream(run, 4096) for _ in range(stopped)]
    selector = selectors.DefaultSelector()
    for _ in range(readers):
        selector.register(server.stream(run), selectors.EVENT_READ, [b"", 0])
    out, reading = [], readers
    wanted = megabytes * 64
    while reading:
        for key, _ in selector.select(timeout=60):
            try:
                data = key.fileobj.recv(1 << 18)
            except BlockingIOError:
                continue
            now = time.monotonic_ns()
            text = key.data[0] + data
            for stamp in STAMP.findall(text):
                key.data[1] += 1
                # The final answer has all of them again.
                if wanted // 8 < key.data[1] <= wanted:
                    out.append((now - int(stamp)) / 1e6)
            at = text.rfind(b"<")
            tail = text[at:] if at >= 0 and b">" not in text[at:] else b""
            key.data[0] = tail[-64:]
            if not data or b"event: run_finished" in text:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                reading -= 1
    grown = server.memory_kib() - before
    for one in held:
        one.close()
    return out, grown


def measure_slow(riffle, stopped, readers, megabytes, rate, rounds):
    """`readers` of a run alone, and beside `stopped` clients of the same run
    that read nothing, in turn; one server."""
    Paced.megabytes, Paced.rate = megabytes, rate
    provider, server = provided(riffle, Paced,
                                '[server]\nstall_timeout = "10m"\n')
    try:
        read_beside(server, max(1, megabytes // 8), readers, 0)
        alone, beside, ratios, growths = [], [], [], []
        for i in range(rounds):
            found, grew = {}, {}
            for slow in (0, stopped) if i % 2 == 0 else (stopped, 0):
                values, grew[slow] = read_beside(server, megabytes, readers,
                                                 slow)
                found[slow] = percentile(values, .99)
            growths.append((grew[stopped] - grew[0]) / stopped)
            alone.append(found[0])
            beside.append(found[stopped])
            ratios.append(found[stopped] / found[0])
        row(f"p99 of {readers} readers of {megabytes} MiB, alone, each round",
            ", ".join(f"{x:.2f}" for x in alone) + " ms")
        row(f"the same beside {stopped} of the same run that stopped",
            ", ".join(f"{x:.2f}" for x in beside) + " ms")
        row("ratio, median (lowest to highest)",
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to "
            f"{max(ratios):.2f})")
        row("growth for each that stopped, over alone, most", f"{max(growths):.0f} KiB")
    finally:
        server.stop()
        provider.shutdown()


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    wants = argparse.ArgumentParser()
    wants.add_argument("riffle")
    wants.add_argument("--slow", type=int, default=50, dest="stopped")
    wants.add_argument("--readers", type=int, default=50)
    wants.add_argument("--megabytes", type=int, default=64)
    # 4 MiB/s for 50 readers in python is more than two cores have.
    wants.add_argument("--rate", type=float, default=1)
    wants.add_argument("--rounds", type=int, default=4)
    asked = vars(wants.parse_args())
    print("| Measured | |\n|---|---|")
    measure_slow(os.path.abspath(asked.pop("riffle")), **asked)


if __name__ == "__main__":
    main()
