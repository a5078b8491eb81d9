# SPDX-License-Identifier: Apache-2.0
"""Stacks of stripped Go programs, which have no call-frame information: by their function table, as exact as with it."""
import bisect
import collections
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'live'))
import go_stops  # noqa: E402
import stops as live_stops  # noqa: E402

STOPS = 200
DWARF = {'rsp': 'r7', 'sp': 'r31'}

# tiny has no frame of its own, and is called by two functions in turn; clock calls the vdso, on another stack.
PROGRAM = r'''
package main

import "time"

var sum int

//go:noinline
func tiny(n int) int {
	for i := 0; i < 200; i++ {
		n = n*31 + 7
	}
	return n
}

//go:noinline
func odd(n int) { sum += tiny(n) }

//go:noinline
func even(n int) { sum -= tiny(n) }

//go:noinline
func clock(n int) {
	for i := 0; i < n; i++ {
		sum += time.Now().Nanosecond()
	}
}

func main() {
	for i := 0; i < 1500000; i++ {
		if i&1 == 0 {
			even(i)
		} else {
			odd(i)
		}
		if i%1000 == 0 {
			clock(2000)
		}
	}
}
'''


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')


def build(folder, source, machine='amd64'):
    need('go')
    try:
        return go_stops.build(folder, source, machine)
    except subprocess.CalledProcessError as error:
        return pytest.skip('go build fails: ' + error.stderr[-200:])


def frame_rows(path):
    """(low, high, {column: what readelf prints}) of each row of .debug_frame."""
    text = subprocess.run(['readelf', '-W', '--debug-dump=frames-interp', path], check=True, capture_output=True,
                          text=True).stdout
    for entry in re.finditer(r'FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)\n *(LOC .*)\n((?:[0-9a-f]{16} .+\n)*)', text):
        rows = [line.split() for line in entry[4].splitlines()]
        ends = [int(row[0], 16) for row in rows[1:]] + [int(entry[2], 16)]
        for row, end in zip(rows, ends):
            yield int(row[0], 16), end, dict(zip(entry[3].split(), row))


def symbols_of(path):
    rows = [line.split() for line in subprocess.run(['nm', path], check=True, capture_output=True,
                                                    text=True).stdout.splitlines()]
    return sorted((int(row[0], 16), row[2].removesuffix('.abi0')) for row in rows if len(row) == 3)


@pytest.mark.parametrize('machine, arch', [('amd64', 'x86_64'), ('arm64', 'aarch64')])
def test_rules_are_those_of_debug_frame(tmp_path, machine, arch):
    """At every instruction of every function, but of those that begin or change a stack, of which .debug_frame does not
    know. A negative offset, for code that removes what others pushed, has no rule here."""
    need('readelf', 'nm')
    plain, stripped = build(tmp_path, live_stops.HERE / 'stops.go', machine)
    ours = [line.split() for line in subprocess.run([BUILD / 'tests' / 'live' / 'unwind_rows', stripped, arch], check=True,
                                                    capture_output=True, text=True).stdout.splitlines()]
    starts, symbols = [int(row[0], 16) for row in ours], symbols_of(plain)
    compared, special, wrong = 0, set(), collections.Counter()
    for low, high, row in frame_rows(plain):
        function = symbols[bisect.bisect_right(symbols, (low, '\x7f')) - 1][1]
        register, offset = re.match(r'(\w+)([+-]\d+)', row['CFA']).groups()
        wanted = [DWARF[register] + offset, {'u': 'same', 's': 'same', '': 'same'}.get(row['ra'], row['ra'])]
        for address in range(low, high, 4 if machine == 'arm64' else 1):
            rule = ours[bisect.bisect_right(starts, address) - 1][1:]
            compared += 1
            if 'switch' in rule or 'root' in rule:
                special.add(function)
            elif rule[:2] != wanted and not (rule == ['none'] and offset[0] == '-'):
                wrong[f'{function}: {wanted}, not {rule}'] += 1
    assert not wrong
    assert compared > 50000
    assert {'runtime.goexit', 'runtime.mstart', 'runtime.mcall', 'runtime.systemstack', 'runtime.asmcgocall'} <= special
    assert len(special) < 25


def test_stops_have_the_stacks_of_gdb(tmp_path):
    need('gdb', 'objdump')
    if platform.machine() != 'x86_64':
        pytest.skip('the stops are those of an x86-64')
    build(tmp_path, live_stops.HERE / 'stops.go')
    try:
        counts, wrong = go_stops.run(tmp_path, STOPS, BUILD / 'tests' / 'live' / 'unwind_stops')
    except RuntimeError as error:
        if 'Operation not permitted' in str(error):
            pytest.skip('gdb may not trace programs here')
        raise
    assert not wrong
    assert counts['ends in runtime.goexit'] > STOPS // 10


def stacks_of(tally, data):
    """The functions of each sample, innermost first."""
    text = tally('script', '-F', 'ip,sym', '--no-inline', '-i', data, check=0).stdout
    return [[line.split(None, 1)[1].removesuffix('.abi0') for line in stack.splitlines() if len(line.split()) > 1]
            for stack in text.split('\n\n') if stack.strip()]


@pytest.mark.parametrize('how', [['dwarf'], ['dwarf', '--keep-stacks'], ['bpf']], ids=' '.join)
def test_leaf_functions_have_their_callers(live, tally, tmp_path, how):
    (tmp_path / 'program.go').write_text(PROGRAM)
    _, stripped = build(tmp_path, tmp_path / 'program.go')
    data = tmp_path / 'perf.data'
    recorded = tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '--call-graph', *how, '-o', data, '--', stripped)
    if how == ['bpf'] and recorded.returncode != 0 and 'BPF' in recorded.stderr:
        pytest.skip(f'BPF programs are refused here: {recorded.stderr.splitlines()[0]}')
    assert recorded.returncode == 0, recorded.stderr
    stacks = stacks_of(tally, data)
    leaves = [stack for stack in stacks if stack[0] == 'main.tiny']
    assert len(leaves) > len(stacks) // 10
    callers = collections.Counter(tuple(stack[1:]) for stack in leaves)
    # The first few samples come before BPF has the tables.
    usual = sum(callers[caller, 'main.main', 'runtime.main', 'runtime.goexit'] for caller in ('main.odd', 'main.even'))
    assert usual >= len(leaves) - 5, callers
    assert all(callers[caller, 'main.main', 'runtime.main', 'runtime.goexit'] for caller in ('main.odd', 'main.even'))
    # The frame pointer leads back from the stack on which the vdso runs. What dwarf copies is only that stack.
    clocks = [stack for stack in stacks if any('vdso_clock_gettime' in name for name in stack)]
    whole = [stack for stack in clocks if 'main.clock' in stack]
    assert clocks and all(stack[-2:] == ['runtime.main', 'runtime.goexit'] for stack in whole)
    if how == ['bpf']:
        assert len(whole) > len(clocks) * 0.9
