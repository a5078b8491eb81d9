#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares record --wall with what threads measured themselves, /proc/PID/schedstat and perf sched timehist.

usage: tests/live/known_waits.py [--unit MS] [--tally PATH] [--program PATH] [--perf PATH]

tests/workloads/known_waits.c runs under both recorders at once, as root. Exit status 1: a cause is not in the report, its time
differs from the thread's own by more than 2 %, or a sum differs from schedstat or timehist by more than 1 % (and 2 ms: a
running thread's schedstat is as old as the last tick). On a machine that is not busy, 1,000 ms make the waits of issue 30.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CAUSES = {'computer': ('running', 'work'), 'sleeper': ('sleep', 'be'), 'holder': ('sleep', 'hold'),
          'waiter': ('lock', 'wait_for_mutex'), 'reader': ('io', 'read_pipe'), 'left': ('running', 'share_cpu'),
          'right': ('running', 'share_cpu')}
WAKERS = {'waiter': ('holder', 'hold'), 'reader': ('feeder', 'be'), 'sleeper': ('an interrupt', 'hrtimer_wakeup'),
          'holder': ('an interrupt', 'hrtimer_wakeup')}
THREADS = [*CAUSES, 'feeder']
MS = 1e6


def run(*words):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, words))}: exit status {done.returncode}: {done.stderr.strip()[-500:]}')
    return done.stdout


def read_table(tally, data, keys):
    """{keys: (ns, ns with callees)}"""
    table = json.loads(run(tally, 'report', '--json', '--wall', '--children', '-i', data, '-s', keys))['tables'][0]
    names = ['symbol' if key == 'sym' else key for key in keys.split(',')]
    return {tuple(row.get(name) for name in names): (row['values'][0]['period'], row['values'][0]['children_period'])
            for row in table['rows']}


def read_off_cpu(tally, data):
    """{tid: ns off the CPU} while threads have their names."""
    found = collections.Counter()
    for line in run(tally, 'script', '-i', data, '-F', 'comm,tid,period,event').splitlines():
        row = re.match(r'\s*(\w+)\s+(\d+)\s+(\d+)\s+offcpu-time:', line)
        if row and row[1] in THREADS:
            found[int(row[2])] += int(row[3])
    return found


def read_timehist(perf, data):
    """The same. A line has the wait before the thread ran, and the name after: the first line with the next name counts."""
    found, ended = collections.Counter(), set()
    for line in run(perf, 'sched', 'timehist', '-i', data).splitlines():
        row = re.search(r' (\w+)\[(\d+)/\d+\]\s+([\d.]+)\s', line)
        if row and row[2] not in ended and (row[1] in THREADS or row[1] == 'ended'):
            found[int(row[2])] += round(float(row[3]) * MS)
            ended |= {row[2]} if row[1] == 'ended' else set()
    return found


def has_waker(report, comm, waker, function):
    """Whether a wait of the thread ends in these frames."""
    blocks = re.split(r'^(?=\s+[\d.]+%  )', report, flags=re.M)
    return any(re.match(rf'\s+[\d.]+%  {comm}\s', block) and
               re.search(rf'\[woken by {waker}\](.*\n)*.*\b{function}\b', block) for block in blocks)


def compare(title, rows):
    """rows: thread, what tally has, what else says, share that they may differ by. Whether all are near enough."""
    print(f'\n{title}')
    is_good = True
    for thread, tally, other, share in rows:
        is_near = abs(tally - other) <= share * other + 2 * MS
        is_good &= is_near
        print(f'  {thread:34}{tally / MS:10.2f} ms {other / MS:10.2f} ms {100 * (tally - other) / max(other, 1):+8.2f} %'
              f'{"" if is_near else "   too far"}')
    return is_good


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--unit', type=int, default=1000, help='ms (default 1000)')
    parser.add_argument('--tally', type=pathlib.Path, default=root / 'build/src/cli/tally')
    parser.add_argument('--program', type=pathlib.Path, default=root / 'build/tests/workloads/known_waits')
    parser.add_argument('--perf', default='perf')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='tally-waits-') as folder:
        wall, sched = (pathlib.Path(folder) / name for name in ('wall.data', 'sched.data'))
        text = run(options.tally, 'record', '-q', '--wall', '-o', wall, '--', options.perf, 'sched', 'record', '-o', sched,
                   options.program, options.unit)
        told = {row[0]: list(map(int, row[1:])) for row in
                (line.split() for line in text.splitlines() if re.fullmatch(r'\w+( \d+){5}', line))}
        states = {key: ns for key, (ns, _) in read_table(options.tally, wall, 'comm,state').items()}
        causes = read_table(options.tally, wall, 'comm,state,sym')
        off_cpu, timehist = read_off_cpu(options.tally, wall), read_timehist(options.perf, sched)
        wakers = run(options.tally, 'report', '--stdio', '--wakers', '-i', wall, '-s', 'comm,state,sym')
    rows = []
    for name, (state, function) in CAUSES.items():
        _, waited, ran, *_ = told[name]
        # What a thread measured of its wait ends when it runs again.
        found = causes.get((name, state, function), (0, 0))[1] + (waited and causes.get((name, 'runnable', function), (0, 0))[1])
        rows.append((f'{name}: {state} in {function}', found, waited or ran, 0.02))
    is_good = compare(f'{"Causes":34}      tally          the thread', rows)
    is_good &= compare(f'{"Ready to run":34}      tally       schedstat',
                       [(name, states.get((name, 'runnable'), 0), of[3], 0.01) for name, of in told.items()])
    is_good &= compare(f'{"Off the CPU":34}      tally        timehist',
                       [(name, off_cpu[of[0]], timehist[of[0]], 0.01) for name, of in told.items()])
    print('\nWakers')
    for name, (waker, function) in WAKERS.items():
        is_there = has_waker(wakers, name, waker, function)
        is_good &= is_there
        print(f'  {name}: woken by {waker}, in {function}{"" if is_there else ": not in the report"}')
    return 0 if is_good else 1


if __name__ == '__main__':
    sys.exit(main())
