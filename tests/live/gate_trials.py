#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tally stat --compare --fail-if on this machine: false alarms, changes that are found, and runs that must not pass.

usage: tests/live/gate_trials.py [--tally PATH] [--tries N] [--runs N] [LANGUAGE ...]

A program in C, Python and Node does a number of turns. N (100) comparisons of it with itself: how often does the strictest
gate (task-clock>0%) say "worse"? Then N/5 comparisons with 1, 2 and 5 % more turns: how often is that said, and how often
where the gate itself states that it would find a change of this size in 9 of 10 comparisons ("found" in JSON)? At last,
programs that fail, crash, count nothing or are not there: none may pass. Exit status 1: more false alarms than 1 % by
chance (p < 0.01), fewer changes found than stated (p < 0.01), or one that passed.
"""
import argparse
import collections
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

C = r'''
#include <stdlib.h>
int main(int c, char **v)
{
	volatile unsigned long x = 0;
	unsigned long n = c > 1 ? strtoul(v[1], 0, 10) : 0;
	for (unsigned long i = 0; i < n; i++)
		x += i * i;
	return 0;
}
'''
PYTHON = 'import sys\nx = 0\nfor i in range(int(sys.argv[1])):\n    x += i * i\n'
NODE = 'let x = 0, a = [];\nfor (let i = 0; i < +process.argv[2]; i++) { x += i % 7; if (i % 64 == 0) a.push({i, x}); if (a.length > 9999) a = []; }\n'
# The command of so many turns; turns whose time is that of about 30 ms beside the start of the program.
LANGUAGES = {'C': ('./loop {}', 20_000_000), 'Python': ('python3 loop.py {}', 400_000), 'Node': ('node loop.js {}', 4_000_000)}
LEVEL, STATED_POWER = 0.01, 0.9
CHANGES = (1, 2, 5)
# Pairs of commands that no gate may let pass.
REFUSED = [('./loop 1000', 'false'), ('./loop 1000', 'sh -c "kill -SEGV $$"'), ('./loop 1000', './absent'), ('false', 'false'),
           ('./absent', './loop 1000')]


def at_least_by_chance(found, tries, share):
    """The probability of at least so many of them."""
    return sum(math.comb(tries, k) * share ** k * (1 - share) ** (tries - k) for k in range(found, tries + 1))


class Trials:
    def __init__(self, tally, folder, runs):
        self.tally, self.folder, self.runs = tally, folder, runs

    def compare(self, old, new, clause='task-clock>0%'):
        """Exit status, and the row of the clause."""
        done = subprocess.run([self.tally, 'stat', '--compare', old, new, '-e', 'task-clock', '-r', str(self.runs), '--fail-if',
                               clause, '-j', '-o', 'rows'], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        rows = self.folder / 'rows'
        lines = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
        rows.unlink(missing_ok=True)
        return done.returncode, next((line for line in lines if line.get('clause')), {})

    def language(self, name, tries):
        """Whether all is as stated."""
        command, turns = LANGUAGES[name]
        old = command.format(turns)
        statuses = collections.Counter(self.compare(old, old)[0] for _ in range(tries))
        alarms = statuses[3]
        is_good = at_least_by_chance(alarms, tries, LEVEL) > 0.01 and set(statuses) <= {0, 3, 4}
        print(f'{name}: {tries} comparisons without a change: {alarms} false alarms, {statuses[0]} passed, '
              f'{statuses[4]} undecided', flush=True)
        idle = self.median(command.format(0))
        for percent in CHANGES:
            found = promised = kept = 0
            for _ in range(max(1, tries // 5)):
                status, row = self.compare(old, command.format(turns * (100 + percent) // 100))
                found += status == 3
                # The turns are a part of the time of the program.
                real = (row['median-a'] - idle) * percent / 100
                if row['found'] <= real:
                    promised += 1
                    kept += status == 3
            # Too few kept is as unlikely as too many missed.
            is_good &= at_least_by_chance(promised - kept, promised, 1 - STATED_POWER) > 0.01
            print(f'{name}: {percent} % more turns: {found} of {max(1, tries // 5)} found; of {promised} of which the gate states '
                  f'that it finds such a change, {kept}', flush=True)
        return is_good

    def median(self, command):
        return self.compare(command, command)[1]['median-a']

    def refused(self):
        """Whether none of them passes."""
        passed = [(pair, status) for pair in REFUSED if (status := self.compare(*pair)[0]) == 0]
        nothing = self.compare('./loop 1000', './loop 1000', 'no-such-event>1%')[0]
        print(f'{len(REFUSED)} failed, crashed or absent programs and an event that is not counted: {len(passed)} passed {passed}, '
              f'{nothing} for the event', flush=True)
        return not passed and nothing != 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--tally', default='build/src/cli/tally')
    options.add_argument('--tries', type=int, default=100)
    options.add_argument('--runs', type=int, default=10)
    options.add_argument('languages', nargs='*')
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / 'loop.c').write_text(C)
        (folder / 'loop.py').write_text(PYTHON)
        (folder / 'loop.js').write_text(NODE)
        subprocess.run(['gcc', '-O1', '-o', 'loop', 'loop.c'], cwd=folder, check=True)
        trials = Trials(pathlib.Path(options.tally).resolve(), folder, options.runs)
        is_good = trials.refused()
        for name in options.languages or LANGUAGES:
            if shutil.which(LANGUAGES[name][0].split()[0]) or name == 'C':
                is_good &= trials.language(name, options.tries)
            else:
                print(f'{name}: not installed')
    return 0 if is_good else 1


if __name__ == '__main__':
    sys.exit(main())
