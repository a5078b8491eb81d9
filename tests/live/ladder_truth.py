#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares shares of record --rung timer with perf's cpu-clock and with known shares, and measures what it costs.

usage: tests/live/ladder_truth.py [--only NAME] [--rate HZ] [--pairs N] [--scale X] [--tally PATH] [--perf PATH]

The programs (C++ with 1 and with 200 threads, Go, Node, Python) do a known amount of work in known functions, and print the CPU
time that they used. Exit status 1: a share differs by more than 2 points from perf's or from the known one, or the median of the
pairs at 99 Hz is more than 3 % of CPU time. Shares are of samples in user mode, in symbols (Node: JIT maps; Python: files and
symbols of its C code). With fewer samples than some thousand, chance alone makes 2 points.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

CPP = r'''
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <thread>
#include <vector>
static long unit;
#define PART(name) \
	__attribute__((noinline)) static unsigned long name(unsigned long value, long turns) \
	{ \
		for (long i = 0; i < turns; i++) \
			value = value * 6364136223846793005u + 1442695040888963407u; \
		return value; \
	}
PART(seventy) PART(twenty) PART(ten)
static void work(long rounds, unsigned first)
{
	volatile unsigned long sink = 1;
	unsigned seed = first;
	for (long i = 0; i < rounds; i++) {
		/* Of random length: threads that run in step with each other, and with the clock, would not be sampled evenly. */
		long length = unit / 2 + rand_r(&seed) % unit;
		sink = ten(twenty(seventy(sink, 7 * length), 2 * length), length);
	}
}
int main(int argc, char **argv)
{
	int count = atoi(argv[1]);
	std::vector<std::thread> threads;
	struct rusage used;
	unit = 300007;
	for (int i = 0; i < count; i++)
		threads.emplace_back(work, atol(argv[2]), i);
	for (auto &thread : threads)
		thread.join();
	getrusage(RUSAGE_SELF, &used);
	printf("%.6f\n", used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
}
'''
GO = r'''
package main
import ("fmt"; "os"; "strconv"; "sync"; "syscall")
const unit = 300007
//go:noinline
func seventy(v uint64) uint64 { for i := 0; i < 7*unit; i++ { v = v*6364136223846793005 + 1442695040888963407 }; return v }
//go:noinline
func twenty(v uint64) uint64 { for i := 0; i < 2*unit; i++ { v = v*6364136223846793005 + 1442695040888963407 }; return v }
//go:noinline
func ten(v uint64) uint64 { for i := 0; i < unit; i++ { v = v*6364136223846793005 + 1442695040888963407 }; return v }
func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	var group sync.WaitGroup
	var sum [8]uint64
	for g := 0; g < 8; g++ {
		group.Add(1)
		go func(g int) { for i := 0; i < rounds; i++ { sum[g] = ten(twenty(seventy(sum[g] + 1))) }; group.Done() }(g)
	}
	group.Wait()
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	fmt.Printf("%.6f\n", float64(used.Utime.Sec+used.Stime.Sec)+float64(used.Utime.Usec+used.Stime.Usec)/1e6)
}
'''
NODE = r'''
const unit = 300007;
function seventy(v) { for (let i = 0; i < 7 * unit; i++) v = (Math.imul(v, 1664525) + 1013904223) | 0; return v; }
function twenty(v) { for (let i = 0; i < 2 * unit; i++) v = (Math.imul(v, 1664525) + 1013904223) | 0; return v; }
function ten(v) { for (let i = 0; i < unit; i++) v = (Math.imul(v, 1664525) + 1013904223) | 0; return v; }
let v = 1;
for (let i = 0; i < Number(process.argv[2]); i++) v = ten(twenty(seventy(v)));
const used = process.cpuUsage();
console.log((used.user + used.system) / 1e6);
'''
PYTHON = r'''
import hashlib, resource, sys, zlib
data = bytes(range(256)) * 4096
for _ in range(int(sys.argv[1])):
    hashlib.sha256(data).digest(); zlib.crc32(data); sum(range(60000)); sorted(data[:60000])
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
'''
KNOWN = {'seventy': 70, 'twenty': 20, 'ten': 10}


def run(*words, **kwargs):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **kwargs)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, words))}: exit status {done.returncode}: {done.stderr.strip()[-500:]}')
    return done.stdout


def make_programs(folder, scale):
    """{name: (command, whether its shares are known)}"""
    programs = {}

    def rounds(number):
        return str(max(1, round(number * scale)))

    if shutil.which('g++'):
        (folder / 'shares.cc').write_text(CPP)
        run('g++', '-O1', '-g', '-pthread', '-o', folder / 'shares', folder / 'shares.cc')
        programs['C++, 1 thread'] = ([folder / 'shares', '1', rounds(4000)], True)
        programs['C++, 200 threads'] = ([folder / 'shares', '200', rounds(20)], True)
    if shutil.which('go'):
        (folder / 'shares.go').write_text(GO)
        run('go', 'build', '-o', folder / 'goshares', folder / 'shares.go', env={**os.environ, 'GOFLAGS': '-mod=mod', 'GO111MODULE': 'off'})
        programs['Go, 8 goroutines'] = ([folder / 'goshares', rounds(500)], True)
    if shutil.which('node'):
        (folder / 'shares.js').write_text(NODE)
        programs['Node'] = (['node', '--perf-basic-prof', folder / 'shares.js', rounds(4000)], True)
    (folder / 'shares.py').write_text(PYTHON)
    programs['Python'] = (['/usr/bin/python3', folder / 'shares.py', rounds(5000)], False)
    return programs


def shares_of(tally, data):
    """{symbol: percent of the periods}, by script, so that both recordings are counted alike."""
    found, total = collections.Counter(), 0
    for line in run(tally, 'script', '-i', data, '-F', 'period,ip,sym,dso').splitlines():
        row = re.match(r'\s*(\d+)\s+[0-9a-f]+\s+(.*)', line)
        if row:
            name, place = row[2].rsplit(' (', 1)
            known = re.search(r'\b(seventy|twenty|ten)\b', name)
            found[known[1] if known else place.strip(')') if 'unknown' in name else name.split('+')[0].strip()] += int(row[1])
            total += int(row[1])
    return {name: 100 * value / total for name, value in found.items()}, total


def record(words, command, data, folder):
    return float(run(*words, '-o', data, '--', *command, cwd=folder).split()[-1])


def compare(args, name, command, is_known, folder):
    """The greatest difference."""
    ours, theirs = folder / 'timer.data', folder / 'perf.data'
    cpu = record([args.tally, 'record', '-q', '--rung', 'timer', '-F', args.rate], command, ours, folder)
    record([args.perf, 'record', '-q', '-e', 'cpu-clock:u', '-F', args.rate], command, theirs, folder)
    mine, seen = shares_of(args.tally, ours)
    other, _ = shares_of(args.tally, theirs)
    worst = 0
    for symbol in sorted(set(mine) | set(other), key=lambda key: -other.get(key, 0)):
        share, reference = mine.get(symbol, 0), other.get(symbol, 0)
        if max(share, reference) < 3:
            continue
        known = KNOWN.get(symbol) if is_known else None
        worst = max(worst, abs(share - reference), abs(share - known) if known else 0)
        print(f'  {name:18} {symbol[:40]:40} timer {share:6.2f}  perf {reference:6.2f}' + (f'  known {known}' if known else ''))
    print(f'  {name:18} CPU time {cpu:.2f} s, samples stand for {seen / 1e9:.2f} s; greatest difference {worst:.2f} points')
    return worst


def cost(args, command, folder):
    """Percent of CPU time more at 99 Hz; the median of pairs, whose order alternates."""
    ratios = []
    for pair in range(args.pairs):
        words = [args.tally, 'record', '-q', '--rung', 'timer', '-F', '99']
        with_first = pair % 2 == 0
        first = record(words, command, folder / 'cost.data', folder) if with_first else float(run(*command, cwd=folder).split()[-1])
        second = float(run(*command, cwd=folder).split()[-1]) if with_first else record(words, command, folder / 'cost.data', folder)
        ratios.append(first / second if with_first else second / first)
    return 100 * (statistics.median(ratios) - 1), ratios


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tally', type=pathlib.Path, default=root / 'build/src/cli/tally')
    parser.add_argument('--perf', default='perf')
    parser.add_argument('--only', default='', help='programs whose name has this')
    parser.add_argument('--rate', default='249')
    parser.add_argument('--pairs', type=int, default=5)
    parser.add_argument('--scale', type=float, default=1, help='of the work')
    args = parser.parse_args()
    failed, results = False, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for program, (command, is_known) in make_programs(folder, args.scale).items():
            if args.only not in program:
                continue
            worst = compare(args, program, command, is_known, folder)
            slower, ratios = cost(args, command, folder) if args.pairs else (0, [])
            results.append({'program': program, 'points': round(worst, 2), 'slower_percent': round(slower, 2)})
            print(f'  {program:18} CPU time at 99 Hz: {slower:+.2f} % ({", ".join(f"{100 * (r - 1):+.1f}" for r in ratios)})', flush=True)
            failed |= worst > 2 or slower > 3
    print(json.dumps(results))
    return failed


if __name__ == '__main__':
    sys.exit(main())
