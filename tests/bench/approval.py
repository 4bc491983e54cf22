#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the time from a person's key to the effect of the approved call.

usage: approval.py RIFFLE [QUESTIONS]

A run at a pseudo-terminal asks about that many writes (200); each `y` comes
as soon as it counts, and the time is taken until the file is there. Prints a
line of Markdown.
"""
import os
import pty
import select
import statistics
import sys
import tempfile
import time

CONFIG = """
[runtime]
data_dir = "data"
[agents.default]
max_steps = 1000
[models.default]
dialect = "scripted"
model = "s"
script = "s.toml"
"""
READ_IT = 0.35  # a key that comes earlier counts as typed before
LIMIT = 30


def script(count):
    calls = "".join(
        '[[steps.calls]]\ntool = "write"\n'
        f'arguments = {{ path = "f{i}", content = "x" }}\n'
        for i in range(count))
    return "[[steps]]\n" + calls + '[[steps]]\ntext = "End."\n'


class Terminal:
    def __init__(self, riffle, folder):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="xterm", RIFFLE_CONFIG="riffle.toml")
            os.execv(riffle, [riffle, "run", "--no-color", "go"])

    def read(self, wait):
        if not select.select([self.fd], [], [], wait)[0]:
            return False
        self.text += os.read(self.fd, 65536)
        return True

    def wait_for(self, mark):
        end = time.monotonic() + LIMIT
        while mark not in self.text:
            if time.monotonic() > end or not self.read(1):
                if time.monotonic() > end:
                    sys.exit("no question came; on the screen:\n" +
                             self.text[-2000:].decode(errors="replace"))
        self.text = self.text[self.text.index(mark) + len(mark):]


def measure(riffle, count, folder):
    with open(os.path.join(folder, "s.toml"), "w") as file:
        file.write(script(count))
    with open(os.path.join(folder, "riffle.toml"), "w") as file:
        file.write(CONFIG)
    terminal = Terminal(riffle, folder)
    times = []
    for i in range(count):
        terminal.wait_for(f"Writing f{i} ".encode())
        terminal.wait_for(b"[?] > ")
        end = time.monotonic() + READ_IT
        while time.monotonic() < end:
            terminal.read(end - time.monotonic())
        effect = os.path.join(folder, f"f{i}")
        begin = time.monotonic()
        os.write(terminal.fd, b"y")
        while not os.path.exists(effect):
            time.sleep(0.0002)
            if time.monotonic() - begin > LIMIT:
                sys.exit("nothing was written")
        times.append((time.monotonic() - begin) * 1000)
    os.close(terminal.fd)
    os.waitpid(terminal.pid, 0)
    return sorted(times)


def main():
    riffle = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as folder:
        times = measure(riffle, count, folder)
    p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
    print(f"| key to effect, {count} approvals | p50 "
          f"{statistics.median(times):.1f} ms | p99 {p99:.1f} ms | worst "
          f"{times[-1]:.1f} ms |")


main()
