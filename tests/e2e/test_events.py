# SPDX-License-Identifier: Apache-2.0
"""Events of every kind that need no PMU, counted exactly on the running kernel."""
import os
import pathlib
import shutil
import subprocess

import pytest

TRACING = pathlib.Path('/sys/kernel/tracing')
UPROBE = pathlib.Path('/sys/bus/event_source/devices/uprobe')

SOURCE = r'''
#include <stdlib.h>
#include <unistd.h>
volatile int cell;
__attribute__((noinline)) int work(int x) { __asm__ volatile(""); return x + 1; }
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
	for (int i = 0; i < n; i++) {
		sum += work(i);
		cell = i;
		if (i < 5 && write(1, "12345", (size_t)i) < 0)
			return 2;
	}
	return sum == -1;
}
'''


@pytest.fixture
def program(tmp_path):
    """A program that calls work() and writes cell as often as told; its fixed addresses by name."""
    if not shutil.which('gcc') or not shutil.which('nm'):
        pytest.skip('needs gcc and nm')
    source, path = tmp_path / 'calls.c', tmp_path / 'calls'
    source.write_text(SOURCE)
    subprocess.run(['gcc', '-O1', '-no-pie', '-o', path, source], check=True)
    listing = subprocess.run(['nm', path], check=True, capture_output=True, text=True).stdout
    addresses = {words[2]: int(words[0], 16) for words in map(str.split, listing.splitlines()) if len(words) == 3}
    return path, addresses


def file_offset(path, address):
    """Where the byte of this address is in the file, by the program headers."""
    for line in subprocess.run(['readelf', '-lW', path], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if words[:1] == ['LOAD'] and int(words[2], 16) <= address < int(words[2], 16) + int(words[4], 16):
            return address - int(words[2], 16) + int(words[1], 16)
    raise AssertionError(hex(address))


def append(path, line):
    """One write at once: these files do not seek."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def counts(tally, events, *command):
    arguments = [word for event in events for word in event]
    result = tally('stat', '-x', ';', *arguments, '--', *command)
    assert result.returncode == 0, result.stderr
    return [row.split(';')[0] for row in result.stderr.splitlines() if row.count(';') > 3]


def test_write_breakpoint_counts_each_write(tally, breakpoints, program):
    path, addresses = program
    assert counts(tally, [('-e', f'mem:{addresses["cell"]:#x}/4:w:u')], path, 137) == ['137']


def test_execute_breakpoint_counts_each_call(tally, breakpoints, program):
    path, addresses = program
    assert counts(tally, [('-e', f'mem:{addresses["work"]:#x}:x:u')], path, 93) == ['93']


def test_group_of_breakpoints(tally, breakpoints, program):
    path, addresses = program
    group = f'{{mem:{addresses["work"]:#x}:x,mem:{addresses["cell"]:#x}/4:w}}:u'
    assert counts(tally, [('-e', group)], path, 21) == ['21', '21']


def test_uprobe_by_its_pmu(tally, system_wide, program):
    if not UPROBE.exists() or os.geteuid() != 0:
        pytest.skip('needs the uprobe PMU and root')
    path, addresses = program
    offset = file_offset(path, addresses['work'])
    event = f"uprobe/path='{path}',offset={offset:#x},name=calls/"
    assert counts(tally, [('-e', event)], path, 123) == ['123']
    both = f"{{{event},uprobe/path='{path}',offset={offset:#x},retprobe/u}}"
    assert counts(tally, [('-e', both)], path, 44) == ['44', '44']


def test_uprobe_by_tracefs(tally, system_wide, program):
    probes = TRACING / 'uprobe_events'
    if not os.access(probes, os.W_OK):
        pytest.skip('needs tracefs with uprobe_events, and root')
    path, addresses = program
    name = f'tally_{os.getpid()}/work'
    append(probes, f'p:{name} {path}:{file_offset(path, addresses["work"]):#x}\n')
    try:
        event = name.replace('/', ':')
        assert counts(tally, [('-e', event)], path, 77) == ['77']
        assert counts(tally, [('-e', event.replace(':work', ':w*'))], path, 5) == ['5']
    finally:
        append(probes, f'-:{name}\n')


def test_tracepoint_filter_counts_what_passes(tally, system_wide, program):
    event = 'syscalls:sys_enter_write'
    if not os.access(TRACING / 'events' / event.replace(':', '/') / 'id', os.R_OK):
        pytest.skip(f'needs {event}')
    path, _ = program
    assert counts(tally, [('-e', event)], path, 9) == ['5']
    assert counts(tally, [('-e', event), ('--filter', 'count >= 3')], path, 9) == ['2']


def test_msr_events_by_both_names(tally, system_wide):
    if not pathlib.Path('/sys/bus/event_source/devices/msr').exists():
        pytest.skip('needs the msr PMU')
    named = counts(tally, [('-e', '{tsc,msr/tsc/,msr/event=0/}')], 'true')
    assert all(int(count) > 1000 for count in named) and len(named) == 3


def test_recording_terms_hold_for_their_event_alone(tally, perf, live, program, tmp_path):
    path, _ = program
    data = tmp_path / 'perf.data'
    tally('record', '-o', data, '-e',
          'cpu-clock/call-graph=fp,max-stack=7,freq=500/,cs/period=1,no-inherit/,'
          'task-clock/call-graph=dwarf,stack-size=4096,period=100000/', '--', path, 1000000, check=0)
    rows = perf('evlist', '-v', '-i', data).stdout.splitlines()
    clock, switches, task = rows[0], rows[1], rows[2]
    assert 'CALLCHAIN' in clock and 'sample_max_stack: 7' in clock and 'inherit: 1' in clock
    assert '{ sample_period, sample_freq }: 500,' in clock
    assert 'CALLCHAIN' not in switches and ' inherit: 1' not in switches
    assert 'STACK_USER' in task and 'sample_stack_user: 4096' in task
    assert 'STACK_USER' not in clock and 'STACK_USER' not in switches
    tally('report', '--stdio', '-i', data, check=0)


def test_stat_refuses_terms_about_samples(tally):
    for term in ['call-graph=fp', 'freq=9', 'time=1', 'inherit']:
        result = tally('stat', '-e', f'cpu-clock/{term}/', 'true')
        assert result.returncode == 129 and 'cannot be used in' in result.stderr
    for term in ['overwrite', 'nr=3', 'max-events=3', 'aux-output', 'aux-sample-size=64', 'aux-action=pause', 'branch_type=any']:
        result = tally('stat', '-e', f'cpu-clock/{term}/', 'true')
        assert result.returncode == 129 and 'cannot be used in' in result.stderr


def test_record_refuses_terms_it_cannot_do(tally, tmp_path):
    for term, words in [('percore', 'only stat takes it'), ('nr=3', 'not supported by record'),
                        ('overwrite', 'use --overwrite for all of them'), ('branch_type=any', ''),
                        ('aux-output', 'leader'), ('aux-sample-size=64', 'leader'), ('aux-action=pause', 'leader')]:
        result = tally('record', '-o', tmp_path / 'x.data', '-e', f'cpu-clock/{term}/', 'true')
        assert result.returncode not in (0, 139) and words in result.stderr, term
    tally('record', '-o', tmp_path / 'x.data', '-e', 'cpu-clock/no-overwrite/', 'true', check=0)


def test_percore_sums_have_a_line_per_core(tally, system_wide):
    cores = {tuple(open(f'/sys/devices/system/cpu/cpu{n}/topology/{name}').read() for name in ['core_id', 'physical_package_id'])
             for n in range(64) if os.path.exists(f'/sys/devices/system/cpu/cpu{n}/topology/core_id')}
    lines = tally('stat', '-a', '-A', '-x,', '-e', 'cs/percore/', 'true', check=0).stderr.splitlines()
    assert len(lines) == len(cores) and all(line.startswith('S') for line in lines)
    lines = tally('stat', '-a', '-A', '-x,', '--percore-show-thread', '-e', 'cs/percore/', 'true', check=0).stderr.splitlines()
    assert all(line.startswith('CPU') for line in lines)
