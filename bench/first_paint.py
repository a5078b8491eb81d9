#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When the interactive report (or annotate) shows what, in milliseconds from its start, on a terminal of 200x50.

usage: first_paint.py TALLY RECORDING [annotate] [OPTION...]

Prints a line for each time the screen changed: when, how many bytes that took, and its first line.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

QUIET_SECONDS = 3  # nothing changes any more
PAUSE_MS = 8  # between two changes
CONTROL = re.compile(rb'\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>78]|[\r\n]')


def main(tally, recording, *options):
    verb = 'report'
    if options[:1] == ('annotate',):
        verb, *options = options
    start = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('4H', 50, 200, 0, 0))
        os.environ['TERM'] = 'xterm-256color'
        os.execv(tally, [tally, verb, *options, '-i', recording])
    changes = []  # (first ms, last ms, bytes)
    while select.select([terminal], [], [], QUIET_SECONDS)[0]:
        try:
            block = os.read(terminal, 65536)
        except OSError:
            break
        now = (time.perf_counter() - start) * 1e3
        if changes and now - changes[-1][1] < PAUSE_MS:
            changes[-1] = (changes[-1][0], now, changes[-1][2] + block)
        else:
            changes.append((now, now, block))
    for first, _, block in changes:
        text = b' '.join(CONTROL.sub(b' ', block).split())
        print(f'{first:8.1f} ms {len(block):6} bytes  {text[:70].decode("utf-8", "replace")}')
    os.write(terminal, b'\x03')
    os.waitpid(pid, 0)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
