#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the laws on random programs and on recordings, and prints each law that is broken with how to see it again.

usage: tests/laws/run.py [--seeds A-B] [--ways W,...] [--files FILE...] [--keep FOLDER] [--tally PATH]
"""
import argparse
import collections
import os
import pathlib
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'e2e')]

import conftest
import ways


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seeds')
    parser.add_argument('--ways')
    parser.add_argument('--files', nargs='*', default=[])
    parser.add_argument('--keep')
    parser.add_argument('--seconds', type=float, default=1e9, help='begin no other seed after this time')
    parser.add_argument('--tally', default=str(conftest.BUILD / 'src' / 'cli' / 'tally'))
    o = parser.parse_args()
    folder = pathlib.Path(o.keep or tempfile.mkdtemp(prefix='laws-'))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'home').mkdir(exist_ok=True)
    tally = conftest.Program(o.tally, folder / 'home')
    counts, broken = collections.Counter(), []

    def report(where, results):
        for name, text in results:
            kind = 'holds' if text is None else 'n/a' if text.startswith('- ') else 'BROKEN'
            counts[name, kind] += 1
            if kind == 'BROKEN':
                broken.append(f'{where}: {text}')
                print(f'{where}: {text}'[:900], flush=True)

    begin = time.monotonic()
    for file in map(pathlib.Path, o.files):
        place = folder / 'file'
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        report(file, ways.check_recording(tally, file.resolve(), place, forms=3, thorough=True))
    first, last = map(int, o.seeds.split('-')) if o.seeds else (1, 0)
    programs = 0
    for seed in range(first, last + 1):
        if time.monotonic() - begin > o.seconds:
            break
        programs += 1
        for way in o.ways.split(',') if o.ways else ways.of_seed(seed):
            place = folder / f'seed-{seed}-{way}'
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            before = len(broken)
            report(f'seed {seed}, {way}', ways.check_seed(tally, seed, way, place, forms=2, thorough=False))
            if before == len(broken) or not o.keep:
                shutil.rmtree(place)
    names = sorted({name for name, _ in counts})
    for name in names:
        print(f'{name:32} ' + '  '.join(f'{kind} {counts[name, kind]}' for kind in ('holds', 'n/a', 'BROKEN')))
    print(f'{programs} programs, {len(o.files)} files, {sum(counts.values())} checks, {len(broken)} broken, {sum(os.times()[:4]):.0f} s of CPU')
    if not o.keep:
        shutil.rmtree(folder)
    return bool(broken)


if __name__ == '__main__':
    sys.exit(main())
