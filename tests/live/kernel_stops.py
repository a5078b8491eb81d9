#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the stacks that BPF walks in the kernel with gdb's: sixty.cc is stopped at many instructions.

usage: tests/live/kernel_stops.py [--stops 2000] [--threads 0] [--tally PATH] [--compiler g++] [--flags "-O2 ..."]
                                  [--mode bpf] [--show N] [--work FOLDER]

A stop is a switch of tasks: recorded as an event (context-switches) with --call-graph bpf, it has the stack of the very
registers that gdb sees. Ends with one line of counts. Exit status 1: a frame that both have differs, or fewer than 99 %
of the stacks are gdb's to their end. --mode: another way of --call-graph, for comparison.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import stops

WHOLE = 0.99
USER = 1 << 47  # addresses of x86-64's user space are below


def read_samples(tally, path):
    """{thread: [(ns, addresses of the user stack)]}"""
    text = subprocess.run([tally, 'script', '-i', path, '-F', 'tid,time,ip', '--ns', '--no-inline'], check=True,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600).stdout
    samples = collections.defaultdict(list)
    chain = []
    for line in text.splitlines():
        begins = re.match(r' *(\d+) +(\d+)\.(\d{9}): *$', line)
        if begins:
            chain = []
            samples[int(begins[1])].append((int(begins[2]) * 10**9 + int(begins[3]), chain))
        elif line.strip() and int(line.split()[0], 16) < USER:
            chain.append(int(line.split()[0], 16))
    return samples


def chain_of(stop, samples):
    """What was recorded last of the thread before gdb looked at it, at the same instruction."""
    before = [chain for ns, chain in samples[stop['tid']] if ns <= stop['ns'] and chain]
    return before[-1] if before and before[-1][0] == stop['regs']['rip'] else None


def compare(taken, samples):
    counts, wrong = collections.Counter(), []
    maps = ''
    for stop in taken:
        maps = stop.get('maps', maps)
        if 'regs' not in stop:
            continue
        stop['code'] = [line for line in maps.splitlines() if ' r-xp ' in line or '[vsyscall]' in line]
        ours = chain_of(stop, samples)
        wanted = [pc for pc, _, inlined in stops.expected(stop, True) if not inlined]
        if ours is None or stops.is_lost(stop):
            counts['no sample' if ours is None else 'gdb lost its way'] += 1
            continue
        counts['stops'] += 1
        common = min(len(ours), len(wanted))
        if any(a not in (b, b - 1, b + 1) for a, b in zip(ours, wanted)):
            counts['different'] += 1
            wrong.append((wanted, ours))
        elif len(ours) >= len(wanted):
            counts['whole'] += 1
        else:
            counts['short'] += 1
            wrong.append((wanted, ours[:common]))
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--stops', type=int, default=2000)
    parser.add_argument('--threads', type=int, default=0)
    parser.add_argument('--tally', default=str(stops.HERE.parents[1] / 'build/src/cli/tally'))
    parser.add_argument('--compiler', default='g++')
    parser.add_argument('--flags', default=stops.FLAGS)
    parser.add_argument('--mode', default='bpf')
    parser.add_argument('--show', type=int, default=3)
    parser.add_argument('--work')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(options.work or folder)
        stops.build(folder, options.compiler, options.flags)
        recording = folder / 'stops.data'
        recorder = (f'{options.tally} record -q -e context-switches -c 1 -k CLOCK_MONOTONIC --call-graph {options.mode} '
                    f'-o {recording} -p {{pid}}')
        taken = stops.collect(folder, options.stops, options.threads, recorder=(recorder, recording))
        counts, wrong = compare(taken, read_samples(options.tally, recording))
        for wanted, ours in wrong[:options.show]:
            print('gdb ', ' '.join(f'{pc:x}' for pc in wanted))
            print('ours', ' '.join(f'{pc:x}' for pc in ours))
    print(f'{options.compiler} {options.flags}: {counts["stops"]} stops compared, {counts["whole"]} whole, '
          f'{counts["short"]} shorter than gdb\'s, {counts["different"]} different; {counts["no sample"]} without a '
          f'sample, {counts["gdb lost its way"]} where gdb lost its way')
    return 1 if counts['different'] or counts['whole'] < WHOLE * max(counts['stops'], 1) else 0


if __name__ == '__main__':
    sys.exit(main())
