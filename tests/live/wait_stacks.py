#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the waits of random programs, by BPF and by tracepoints, with what the programs measured themselves.

usage: tests/live/wait_stacks.py [--tally PATH] [--first SEED] [--count N] [--most POINTS]

As root. Prints each seed of which a caller's or a cause's share differs by more than POINTS (2), and how many stacks were
recognized wrongly. Exit status 1: there was a seed or a stack.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'e2e'))
import waits_program  # noqa: E402


def record(tally, folder, seed, source, memory):
    done = subprocess.run([tally, 'record', '--wall', '--wall-source', source, '-o', folder / 'd', '--', folder / 'p'], check=True,
                          capture_output=True, text=True, env={**os.environ, 'TALLY_WAIT_STACKS': memory})
    seen = subprocess.run([tally, 'flamegraph', '--folded', folder / 'd'], check=True, capture_output=True, text=True).stdout
    wrong = re.search(r'(\d+) stacks of waits were recognized wrongly', done.stderr)
    points = waits_program.differences(waits_program.truth(done.stdout), waits_program.folded(seen))
    return max(points.items(), key=lambda item: abs(item[1])), int(wrong[1]) if wrong else 0, len(points)


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--tally', default='build/src/cli/tally')
    options.add_argument('--first', type=int, default=1)
    options.add_argument('--count', type=int, default=20)
    options.add_argument('--most', type=float, default=2)
    options = options.parse_args()
    far = {'bpf': 0, 'check': 0, 'tracepoints': 0}
    wrong = compared = 0
    for seed in range(options.first, options.first + options.count):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            waits_program.build(seed, folder / 'p', ['-O1', '-O2', '-O0'][seed % 3])
            for way in far:
                source = 'bpf' if way == 'check' else way
                (what, points), mistaken, count = record(options.tally, folder, seed, source, 'check' if way == 'check' else '')
                compared += count
                wrong += mistaken
                if abs(points) > options.most or mistaken:
                    far[way] += 1
                    print(f'seed {seed}, {way}: {what} differs by {points:+.2f} points, {mistaken} stacks recognized wrongly',
                          flush=True)
    print(f'{options.count} programs, {compared} shares: {far["bpf"]} programs too far by bpf, {far["check"]} by bpf with check, '
          f'{far["tracepoints"]} by tracepoints; {wrong} stacks recognized wrongly')
    return sum(far.values()) + wrong > 0


if __name__ == '__main__':
    sys.exit(main())
