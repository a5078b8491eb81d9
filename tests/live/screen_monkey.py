#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random keys, clicks and sizes on the program itself, in a terminal, on real recordings.

usage: screen_monkey.py PROGRAM SECONDS SEED RECORDING...

PROGRAM is tally of a build with sanitizers. Each round starts a verb on one of the recordings, on a terminal of some kind,
locale and size, presses keys for a while, and leaves by Ctrl-C. A round fails if the program ends by a signal or an
unusual status, does not end, or if a sanitizer complains; what was pressed is printed then, and the seed gives it again.
"""
import fcntl
import os
import pty
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

TERMINALS = ['xterm-256color', 'xterm-256color', 'screen-256color', 'screen', 'ansi', 'vt100', 'xterm-direct', 'tmux-256color']
SIZES = [(24, 80), (24, 80), (50, 200), (10, 40), (3, 30), (1, 1), (2, 2), (1, 200), (60, 5)]
VERBS = [['report'], ['report'], ['report', '--no-children'], ['report', '-g', 'caller'], ['report', '-s', 'sym'],
         ['report', '-s', 'pid,dso'], ['report', '-b'], ['report', '--group'], ['report', '--mem-mode'],
         ['report', '-s', 'srcline'], ['report', '-s', 'socket,sym'], ['annotate'], ['annotate', '--group'],
         ['top', '-d', '1', '-g', '-e', 'cpu-clock,task-clock'], ['top', '-d', '1', '-s', 'comm', '-z'],
         ['top', '-d', '1', '--hierarchy', '-e', 'cpu-clock', '-s', 'comm,dso,sym']]
KEYS = ['\x1b[A', '\x1b[B', '\x1b[C', '\x1b[D', '\x1bOA', '\x1bOB', '\x1bOC', '\x1bOD', '\x1b[5~', '\x1b[6~', '\x1b[H', '\x1b[F',
        '\x1b[Z', '\x1bOP', '\t', '\r', '\r', '\r', '\x7f', '\x1b', 'a', 'a', 'E', 'C', 'e', '+', 'T', 'I', 'v', 'm', 'o', '|',
        's', '/', 'n', 'z', 'u', '{', '}', 'i', 'W', 'q', '>', '<', '\x0c', '\u00e9', '\u4e2d', '\udcff']
START_SECONDS = 120  # under sanitizers, beside other work
AGAIN_SECONDS = 15  # a second Ctrl-C would end what looks for leaks
# Left; left while leaks were looked for; the recording is not for this verb; where there is no screen Ctrl-C ends it.
EXPECTED = (0, 1, 255, -signal.SIGINT)


def key(dice):
    kind = dice.randrange(10)
    if kind < 5:
        return dice.choice(KEYS)
    if kind == 5:
        return f'\x1b[M{chr(32 + dice.choice((0, 3, 64, 65)))}{chr(33 + dice.randrange(90))}{chr(33 + dice.randrange(60))}'
    if kind == 6:
        return chr(dice.randrange(1, 127)).replace('\x03', 'x').replace('\x1a', 'x').replace('\x1c', 'x')
    return dice.choice('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/?[]{}<>|+ ')


class Round:
    """One start of the program."""

    def __init__(self, program, dice, recording, folder):
        verb = dice.choice(VERBS)
        self.words = [program, *verb] + (['-i', recording] if verb[0] != 'top' else [])
        self.dice, self.pressed, self.text = dice, [], b''
        environment = {**os.environ, 'TERM': dice.choice(TERMINALS), 'LC_ALL': dice.choice(['C.UTF-8', 'C']), 'PAGER': 'cat',
                       'ASAN_OPTIONS': f'log_path={folder}/asan:exitcode=99:allocator_may_return_null=1',
                       'UBSAN_OPTIONS': f'log_path={folder}/ubsan:exitcode=99:halt_on_error=1:print_stacktrace=1'}
        environment.update({'NO_COLOR': '1'} if dice.randrange(4) == 0 else {})
        self.environment = environment
        self.folder = folder
        self.size = dice.choice(SIZES)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('4H', *self.size, 0, 0))
            os.chdir(folder)
            os.execve(program, self.words, environment)
        self.resize(self.size)

    def resize(self, size):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('4H', *size, 0, 0))
        self.pressed.append(size)

    def drain(self, seconds):
        """What it prints, for so long; false when it has ended."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self.terminal], [], [], left)[0]:
                return True
            try:
                block = os.read(self.terminal, 65536)
            except OSError:
                return False
            self.text = (self.text + block)[-4000:]
            if not block:
                return False
        return True

    def press(self, text):
        self.pressed.append(text)
        os.write(self.terminal, text.encode('utf-8', 'surrogateescape'))

    def play(self, count):
        if self.dice.randrange(3):  # not always before anything is there
            self.drain(self.dice.choice((0.1, 0.5, 3)))
        for _ in range(count):
            if self.dice.randrange(25) == 0:
                self.resize(self.dice.choice(SIZES))
            try:
                self.press(key(self.dice))
            except OSError:
                return
            if not self.drain(self.dice.choice((0, 0.002, 0.02))):
                return

    def end(self):
        """None, or what is wrong."""
        until = time.monotonic() + START_SECONDS
        again = 0
        while time.monotonic() < until:
            if time.monotonic() > again:
                again = time.monotonic() + AGAIN_SECONDS
                try:
                    self.press('\x03')
                except OSError:
                    pass
            is_open = self.drain(0.3)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.terminal)
                return self.judge(os.waitstatus_to_exitcode(status))
            if not is_open:
                time.sleep(0.05)
        if shutil.which('gdb'):
            print(subprocess.run(['gdb', '-p', str(self.pid), '-batch', '-ex', 'thread apply all bt'], text=True,
                                 capture_output=True, check=False).stdout[-6000:])
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
        return 'does not end'

    def judge(self, code):
        for name in os.listdir(self.folder):
            if name.startswith(('asan', 'ubsan')):
                with open(os.path.join(self.folder, name), encoding='utf-8', errors='replace') as file:
                    return file.read(6000)
        return None if code in EXPECTED else f'status {code}'


def main(program, seconds, seed, recordings):
    dice = random.Random(int(seed))
    until = time.monotonic() + float(seconds)
    rounds, failures, keys = 0, 0, 0
    while time.monotonic() < until:
        with tempfile.TemporaryDirectory() as folder:
            one = Round(os.path.abspath(program), random.Random(dice.randrange(1 << 30)),
                        os.path.abspath(dice.choice(recordings)), folder)
            one.play(dice.choice((30, 150, 400)))
            wrong = one.end()
            rounds += 1
            keys += len(one.pressed)
            if wrong:
                failures += 1
                setting = {name: one.environment.get(name) for name in ('TERM', 'LC_ALL', 'NO_COLOR')}
                print(f'FAILED: {" ".join(one.words)} {setting}\n{one.pressed}\n{wrong}\n{one.text[-1500:]!r}\n', flush=True)
    print(f'{rounds} rounds, {keys} keys, {failures} failures', flush=True)
    return 1 if failures else 0


if __name__ == '__main__':
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
