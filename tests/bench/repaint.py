#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""repaint.py RIFFLE: what a long run writes to a terminal of 80 x 24.

A scripted model lets 200 commands run in 10 steps of 20 and writes 5,000 lines
of text. Beside the bytes that Riffle writes stand those of a naive redraw of the
same run: the whole screen as it stands, each time when Riffle writes something
(what comes together in one read counts once, so it is a lower bound)."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import tempfile
import termios
import time

COLUMNS, ROWS, STEPS, CALLS, LINES, LIMIT = 80, 24, 10, 20, 5000, 300

SEQUENCE = re.compile(
    r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\]2;[^\x1b]*\x1b\\|\x1b([D78])"
)


class Screen:
    """What is on the terminal; text of one column a character is enough."""

    def __init__(self):
        self.rows, self.row, self.column = [""], 0, 0
        self.saved = (0, 0)

    def next_row(self):
        self.row, self.column = self.row + 1, 0
        if self.row == len(self.rows):
            self.rows.append("")

    def put(self, c):
        if self.column == COLUMNS:
            self.next_row()
        line = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = line[: self.column] + c + line[self.column + 1 :]
        self.column += 1

    def control(self, numbers, name):
        if name == "A":
            self.row -= int(numbers or 1)
        elif name == "C":
            self.column = min(self.column + int(numbers or 1), COLUMNS - 1)
        elif name == "G":
            self.column = int(numbers or 1) - 1
        elif name == "K" and not numbers:
            self.rows[self.row] = self.rows[self.row][: self.column]
        elif name == "J":
            self.rows[self.row] = self.rows[self.row][: self.column]
            del self.rows[self.row + 1 :]
        elif name == "7":
            self.saved = (self.row, self.column)
        elif name == "8":
            self.row, self.column = self.saved
        elif name == "D":
            column = self.column
            self.next_row()
            self.column = column
        elif name not in "mthl":
            raise ValueError("unknown sequence: " + name)

    def feed(self, text):
        at = 0
        while at < len(text):
            found = SEQUENCE.match(text, at)
            if found:
                if found[2] or found[3]:
                    self.control(found[1], found[2] or found[3])
                at = found.end()
                continue
            c = text[at]
            if c == "\x1b":
                return text[at:]  # the rest of it comes
            if c == "\n":
                self.next_row()
            elif c == "\r":
                self.column = 0
            else:
                self.put(c)
            at += 1
        return ""

    def bytes_shown(self):
        """Home, and each row to its end, as an application would write it."""
        shown = self.rows[max(0, len(self.rows) - ROWS) :]
        return 3 + sum(len(x.rstrip().encode()) + 5 for x in shown)


def prepare(folder):
    with open(folder + "/s.toml", "w") as f:
        f.write('chunk = 40\ndelay = "2ms"\n')
        for step in range(STEPS):
            f.write(f'[[steps]]\ntext = "Step {step}.\\n"\n')
            for call in range(CALLS):
                f.write('[[steps.calls]]\ntool = "bash"\narguments = { command '
                        f'= "echo {step}; sleep 0.0{call % 10}" }}\n')
        f.write('[[steps]]\ntext = """\n')
        for n in range(LINES):
            f.write(f"This is line {n} of a text that a person may read.\n")
        f.write('"""\n')
    with open(folder + "/riffle.toml", "w") as f:
        f.write('[runtime]\ndata_dir = "data"\n[models.default]\n'
                'dialect = "scripted"\nmodel = "s"\nscript = "s.toml"\n'
                '[agents.default]\nmax_steps = 20\n'
                '[tools.bash]\napproval = "allow"\n')


def run(riffle, folder, more):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
        os.environ.pop("NO_COLOR", None)
        os.execv(riffle, [riffle, "run", "--config", "riffle.toml", *more, "go"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen, rest, written, naive, writes = Screen(), "", 0, 0, 0
    begin = time.monotonic()
    decoder_rest = b""
    while time.monotonic() - begin < LIMIT:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        written += len(data)
        data = decoder_rest + data
        cut = len(data)
        while cut and data[cut - 1] & 0xC0 == 0x80:
            cut -= 1
        if cut and data[cut - 1] >= 0xC0:  # maybe a cut character
            size = 2 if data[cut - 1] < 0xE0 else 3 if data[cut - 1] < 0xF0 else 4
            cut = cut - 1 if len(data) - cut + 1 < size else len(data)
        else:
            cut = len(data)
        decoder_rest, data = data[cut:], data[:cut]
        rest = screen.feed(rest + data.decode())
        naive += screen.bytes_shown()
        writes += 1
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status != 0:
        sys.exit(f"riffle ended with {status}")
    final = sum(len(x.encode()) + 2 for x in screen.rows)
    return written, naive, writes, final, time.monotonic() - begin


def main():
    riffle = os.path.abspath(sys.argv[1])
    print("| | bytes written | of a naive redraw | what stays on the screen | "
          "over that | seconds |\n|---|---|---|---|---|---|")
    for name, more in (("as it is", []), ("without colours", ["--no-color"])):
        with tempfile.TemporaryDirectory() as folder:
            prepare(folder)
            written, naive, writes, final, seconds = run(riffle, folder, more)
        print(f"| {name} | {written:,} | {naive:,} ({writes:,} redraws), "
              f"1/{naive / written:.0f} | {final:,} | "
              f"{written - final:,} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
