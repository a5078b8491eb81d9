#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `tally top` costs by the minute under processes that come and go, beside `perf top` on the same load.

    tests/live/top_soak.py MINUTES [--tally PROGRAM] [--perf PROGRAM] [--load SHELLS] [--alone]

Both run as text with 4 kHz on all CPUs. Prints a table: resident memory, CPU of one CPU, processes started per second,
and how far the refreshes are from where they are due. Not a test: it asserts nothing. A quarter of the minutes are not
enough to see a leak; an hour is what it is for.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOAD = 'while :; do /bin/true; done'
DELAY_S = 2


def cpu_seconds(pid):
    words = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='ascii').rsplit(')', 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')


def resident_mb(pid):
    status = pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii')
    return int(re.search(r'VmRSS:\s+(\d+)', status)[1]) / 1024


def processes_started():
    return int(re.search(r'^processes (\d+)', pathlib.Path('/proc/stat').read_text(encoding='ascii'), re.M)[1])


class Watched:
    def __init__(self, name, command, folder):
        self.name = name
        self.output = folder / f'{name}.txt'
        self.input, self.writer = os.pipe()  # perf reads keys: none come, and it does not end
        with self.output.open('wb') as output:
            self.process = subprocess.Popen(command, stdin=self.input, stdout=output, stderr=subprocess.DEVNULL)
        self.started = time.monotonic()
        self.cpu = cpu_seconds(self.process.pid)

    def cells(self, seconds):
        if self.process.poll() is not None:
            return ['ended', '', '']
        cpu = cpu_seconds(self.process.pid)
        share, self.cpu = 100 * (cpu - self.cpu) / seconds, cpu
        refreshes = self.output.read_bytes().count(b'PerfTop:')
        late = (time.monotonic() - self.started) - refreshes * DELAY_S
        return [f'{resident_mb(self.process.pid):.1f}', f'{share:.1f}', f'{late:+.1f}']

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def arguments():
    parser = argparse.ArgumentParser(description='memory and CPU of tally top by the minute, beside perf top')
    parser.add_argument('minutes', type=int)
    parser.add_argument('--tally', default=str(ROOT / 'build' / 'src' / 'cli' / 'tally'))
    parser.add_argument('--perf', default='perf')
    parser.add_argument('--load', type=int, default=2, help='shells that start one program after the other')
    parser.add_argument('--alone', action='store_true', help='without perf top')
    parser.add_argument('--options', default='', help='more options for both, as in "-g"')
    return parser.parse_args()


def main():
    wanted = arguments()
    options = ['top', '--stdio', '-e', 'cpu-clock', '-d', str(DELAY_S), *wanted.options.split()]
    load = [subprocess.Popen(['sh', '-c', LOAD]) for _ in range(wanted.load)]
    watched = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            watched.append(Watched('tally', [wanted.tally, *options], pathlib.Path(folder)))
            if not wanted.alone:
                watched.append(Watched('perf', [wanted.perf, *options], pathlib.Path(folder)))
            heads = [f'{w.name} {what}' for w in watched for what in ('MB', 'CPU %', 'late s')]
            print('| minute | processes/s | ' + ' | '.join(heads) + ' |', flush=True)
            print('|---' * (2 + len(heads)) + '|', flush=True)
            before, count = time.monotonic(), processes_started()
            for minute in range(1, wanted.minutes + 1):
                time.sleep(max(0, watched[0].started + 60 * minute - time.monotonic()))
                now, started = time.monotonic(), processes_started()
                cells = [cell for w in watched for cell in w.cells(now - before)]
                print(f'| {minute} | {(started - count) / (now - before):.0f} | ' + ' | '.join(cells) + ' |', flush=True)
                before, count = now, started
    finally:
        for each in watched:
            each.end()
        for shell in load:
            shell.kill()
            shell.wait()


if __name__ == '__main__':
    main()
