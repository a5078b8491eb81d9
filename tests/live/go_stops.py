#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the stacks of a stripped Go program with gdb's of the same program with its debug information.

usage: tests/live/go_stops.py [--stops 1000] [--unwinder build/tests/live/unwind_stops] [--show N]

stops.go is stopped at many instructions. Each of our stacks, unwound by .gopclntab, must be gdb's up to the function in
which Go begins or changes stacks: gdb does not know of other stacks. Ends with one line of counts; exit status 1:
something differs.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import stops as live_stops

LOADED_AT = 0x400000  # by Go's linker; gdb_stops.py adds where the file is mapped
# The functions with which a stack begins, and those that change to another one.
FIRST = {'runtime.goexit', 'runtime.mstart', 'runtime.mcall', 'runtime.sigtramp', 'runtime.rt0_go'}
SWITCH = {'runtime.systemstack', 'runtime.morestack', 'runtime.asmcgocall', 'runtime.gogo', 'gogo', 'runtime.clone',
          'runtime.nanotime1', 'time.now', 'runtime.walltime'}


def environment(folder, **more):
    return {**os.environ, 'HOME': str(folder), 'GO111MODULE': 'off', 'CGO_ENABLED': '0', 'GOFLAGS': '',
            'GOCACHE': str(folder / 'cache'), **more}


def build(folder, source, machine='amd64'):
    """The program with debug information, and the same without; of the same addresses."""
    paths = []
    for name, flags in (('plain', '-compressdwarf=false'), ('stripped', '-s -w')):
        paths.append(folder / f'{name}-{machine}')
        subprocess.run(['go', 'build', '-ldflags', flags, '-o', paths[-1], source], cwd=folder, check=True, timeout=600,
                       env=environment(folder, GOARCH=machine), capture_output=True, text=True)
    return paths


def collect(folder, program, count, seed=1):
    rng = random.Random(seed)
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', program], capture_output=True, text=True,
                          check=True).stdout
    places, function = collections.defaultdict(list), ''
    for line in text.splitlines():
        begins = re.match(r'[0-9a-f]+ <(.*)>:$', line)
        function = begins[1] if begins else function
        instruction = re.match(r' +([0-9a-f]+):\t', line)
        if instruction:
            places[function.startswith('main.')].append(instruction[1])
    chosen = [place for of in places.values() for place in rng.sample(of, min(len(of), count // 2))]
    (folder / 'at').write_text(''.join(f'{program} {int(at, 16) - LOADED_AT:x}\n' for at in chosen))
    result = subprocess.run(['gdb', '-nx', '-batch', '-x', live_stops.HERE / 'gdb_stops.py', '--args', program],
                            env={**os.environ, 'STOPS': str(count), 'STOPS_SEED': str(seed), 'LC_ALL': 'C',
                                 'STOPS_AT': str(folder / 'at'), 'STOPS_OUT': str(folder / 'stops.json'),
                                 'STOPS_BEGIN': 'main.rounds', 'STOPS_STEPS': '1', 'GODEBUG': 'asyncpreemptoff=1'},
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)
    with open(folder / 'stops.json', encoding='utf-8') as f:
        taken = [json.loads(line) for line in f]
    if sum('regs' in stop for stop in taken) < count:
        raise RuntimeError(f'gdb: {result.stdout[-2000:]}{result.stderr[-2000:]}')
    return taken


def expected(stop):
    """gdb's addresses up to the function that begins the stack or changes it, and that function's name."""
    pcs = []
    for pc, name, kind, *_ in stop['frames']:
        if kind == 'inline':
            continue
        pcs.append(pc)
        name = (name or '').removesuffix('.abi0')
        if name in FIRST | SWITCH:
            return pcs, name
    return pcs, ''


def compare(taken, chains, ends):
    """Counts of what differs, and the stops that differ."""
    counts, wrong = collections.Counter(), []
    for stop, chain, end in zip([stop for stop in taken if 'regs' in stop], chains, ends):
        pcs, last = expected(stop)
        ours = [pc for pc, *_ in chain]
        if len(pcs) == 1 and last:
            counts['on the way to another stack'] += 1  # nothing says on which one
            continue
        counts['ends in ' + (last or 'code that is not Go')] += 1
        is_whole = ours[:len(pcs)] == pcs and (len(ours) == len(pcs) or last in SWITCH)
        is_right = end.startswith('complete') if last in FIRST else True
        if not is_whole or not is_right:
            counts['different'] += 1
            wrong.append((pcs, last, ours, end))
    return counts, wrong


def run(folder, count, unwinder):
    plain, stripped = build(folder, live_stops.HERE / 'stops.go')
    taken = collect(folder, plain, count)
    for stop in taken:
        if 'maps' in stop:
            stop['maps'] = stop['maps'].replace(str(plain), str(stripped))
    return compare(taken, *live_stops.unwind(unwinder, folder / 'unwound.stops', taken))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--stops', type=int, default=1000)
    parser.add_argument('--unwinder', default=live_stops.HERE.parents[1] / 'build' / 'tests' / 'live' / 'unwind_stops')
    parser.add_argument('--show', type=int, default=5, help='so many of the stops that differ')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts, wrong = run(pathlib.Path(folder).resolve(), options.stops, options.unwinder)
    for pcs, last, ours, end in wrong[:options.show]:
        print('gdb ', ' '.join(f'{pc:x}' for pc in pcs), last)
        print('ours', ' '.join(f'{pc:x}' for pc in ours), end)
    print(dict(counts))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
