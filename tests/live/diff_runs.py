#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tally diff --base --new on this machine: a function that does 3 % more work, and the same program against itself.

usage: diff_runs.py TALLY [RUNS [POOL [TRIES]]]

A program spends its time in four functions. RUNS (10) recordings a side, in turn, of it and of one whose `work` loops 3 %
longer: is `work` found, and does the interval hold 3 %? Then POOL (40) recordings of the first, from which TRIES (200)
times two sides of RUNS are drawn: how many comparisons raise an alarm? Draws share recordings, so tries are not
independent. By the default, by periods, and by periods scaled to the machine's speed in each run. Exit status 0 if the
first is found by one of them and at most 1 % of the others are alarms by any.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SOURCE = r'''
#include <stdlib.h>
#define PART(name, factor) \
	__attribute__((noinline)) unsigned name(unsigned x, unsigned long n) \
	{ for (unsigned long i = 0; i < n; i++) { x = x * factor + 1; __asm__ volatile("" : "+r"(x)); } return x; }
PART(work, 1664525u) PART(rest, 22695477u) PART(more, 1103515245u) PART(last, 69069u)
int main(int argc, char **argv)
{
	unsigned long n = strtoul(argv[1], 0, 10), changed = strtoul(argv[2], 0, 10);
	unsigned x = 1;
	for (int i = 0; i < 100; i++)
		x = last(more(rest(work(x, changed), n), n / 2), n / 4);
	return x == 12345;
}
'''
LOOPS = 1_000_000
PERCENT = 3
LEVEL = 0.005
MEASURES = ('auto', 'period', 'scaled')


def record(tally, folder, name, changed):
    path = folder / name
    subprocess.run([tally, 'record', '-q', '-N', '-e', 'cpu-clock:u', '-F', '10000', '-o', path, '--',
                    folder / 'program', str(LOOPS), str(changed)], check=True, stdin=subprocess.DEVNULL)
    return path


def compare(tally, base, new, *options):
    result = subprocess.run([tally, 'diff', '-q', '-s', 'symbol', '--json', *options, '--base', *base, '--new', *new],
                            check=True, capture_output=True, text=True)
    return json.loads(result.stdout)['events'][0]


def show(event, measure):
    rows = {row['symbol']: row['change'] for row in event['rows']}
    for name, change in rows.items():
        print(f"{name:10} {change.get('change_percent', 0):+7.2f} %  "
              f"[{change.get('low_percent', 0):+.2f}, {change.get('high_percent', 0):+.2f}]  "
              f"p {change['adjusted_p']:.2g}  noise {change.get('noise_percent', 0):.2f} %  {change['verdict']}")
    work = rows['work']
    found = work['verdict'] == 'more' and work['low_percent'] <= PERCENT <= work['high_percent']
    print(f"{measure}: {PERCENT} % more {'found, within the interval' if found else 'NOT found, or not within the interval'}")
    return found


def main():
    tally = pathlib.Path(sys.argv[1]).resolve()
    runs, pool, tries = (int(sys.argv[i]) if len(sys.argv) > i else default
                         for i, default in ((2, 10), (3, 40), (4, 200)))
    folder = pathlib.Path(tempfile.mkdtemp(prefix='tally-diff-'))
    (folder / 'program.c').write_text(SOURCE)
    subprocess.run(['gcc', '-O2', '-g', '-o', folder / 'program', folder / 'program.c'], check=True)
    slow = LOOPS * (100 + PERCENT) // 100
    base, new = [], []
    for run in range(runs):
        base.append(record(tally, folder, f'a{run}', LOOPS))
        new.append(record(tally, folder, f'b{run}', slow))
    found = [show(compare(tally, base, new, '--measure', measure), measure) for measure in MEASURES]
    same = base + [record(tally, folder, f'c{run}', LOOPS) for run in range(len(base), pool)]
    chance = random.Random(1)
    alarms = dict.fromkeys(MEASURES, 0)
    for _ in range(tries):
        drawn = chance.sample(same, 2 * runs)
        for measure in MEASURES:
            rows = compare(tally, drawn[:runs], drawn[runs:], '--measure', measure)['rows']
            alarms[measure] += any(row['change']['verdict'] != 'same' for row in rows)
    for measure in MEASURES:
        print(f'{measure}: {alarms[measure]} alarms in {tries} comparisons of same with same (level {LEVEL})')
    return 0 if any(found) and max(alarms.values()) * 100 <= tries else 1


if __name__ == '__main__':
    sys.exit(main())
