# SPDX-License-Identifier: Apache-2.0
"""record --wall and --off-cpu of threads that waited before the recording began: they have their stacks, and states."""
import collections
import os
import pathlib
import re
import shutil
import time

import pytest

from conftest import wait_for
from test_off_cpu import BEGAN_BEFORE, MS, SECOND, UNFINISHED, ns_by, read, waits_of
from test_waits import folded

# By thread: the state, and its functions from the outermost on that every source of waits finds. /proc shows two
# registers only, which do not lead out of timed_wait's frame.
THREADS = {
    'pool': ('lock', ['idle_thread', 'pool_wait', 'pthread_cond_wait']),
    'pipe': ('io', ['idle_thread', 'pipe_wait', 'read']),
    'nap': ('sleep', ['idle_thread', 'nap_wait', 'clock_nanosleep']),
    'poll': ('poll', ['idle_thread', 'poll_wait', '__poll']),
    'timed': ('lock', ['timed_wait', 'timed_call', 'syscall']),
    'idle_threads': ('sleep', ['main', 'nap_wait', 'clock_nanosleep']),
}
STATES = {name: state for name, (state, _) in THREADS.items()}


def is_asleep(stat):
    return stat.rsplit(') ', 1)[-1][:1] == 'S'


@pytest.fixture(name='idle')
def idle_threads(workload):
    """Starts idle_threads; gives its process when each thread waits under its own name."""
    running = []

    def start(*arguments):
        process = workload('idle_threads').start(*arguments)
        running.append(process)
        threads = pathlib.Path(f'/proc/{process.pid}/task')

        def all_wait():
            names = [read(thread / 'comm').strip() for thread in threads.iterdir()]
            return set(names) >= set(THREADS) and len(names) == (22 if arguments else 6) and (
                arguments or all(is_asleep(read(thread / 'stat')) for thread in threads.iterdir()))

        wait_for(all_wait)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(name='source', params=('bpf', 'tracepoints', 'switches'))
def source_that_works(tally, tmp_path, request):
    tried = tally('record', '--wall', '--wall-source', request.param, '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(f'{request.param}: {tried.stderr.strip().splitlines()[-1]}')
    return request.param


@pytest.fixture(name='bpf')
def bpf_is_allowed(tally, tmp_path):
    tried = tally('record', '--wall', '--wall-source', 'bpf', '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(f'waits cannot be measured by BPF here: {tried.stderr.strip().splitlines()[-1]}')


def is_part(wanted, found):
    """In this order."""
    rest = iter(found)
    return all(any(name == have for have in rest) for name in wanted)


def assert_whole_stacks(tally, path, source='bpf'):
    stacks = folded(tally('flamegraph', '--folded', path, check=0).stdout)
    for name, (state, functions) in THREADS.items():
        mine = [[re.sub('@.*', '', frame) for frame in stack] for stack in stacks if stack[0] == name]
        outermost = [] if source != 'bpf' and name == 'timed' else ['_start' if name == 'idle_threads' else 'start_thread']
        if source == 'bpf' and name == 'timed':
            functions = ['idle_thread', *functions]
        assert len(mine) == 1 and mine[0][-1] == f'[{state}]' and is_part([*outermost, *functions], mine[0]), (name, mine)


def test_states_stacks_and_times(tally, idle, source, tmp_path):
    """Nothing happens in the recording: each thread waited all the time."""
    path = tmp_path / 'wall.data'
    process = idle()
    began = time.monotonic()
    ran = tally('record', '--wall', '--wall-source', source, '-p', process.pid, '-o', path, '--', 'sleep', '0.5', check=0)
    took = time.monotonic() - began
    waits = waits_of(tally, path)
    assert {w['flags'] for w in waits} == {BEGAN_BEFORE | UNFINISHED} and 'innermost frame' not in ran.stderr, ran.stderr
    states = ns_by(tally, path, 'comm', 'state')
    assert {comm: state for comm, state in states} == STATES
    assert all(0.5 * SECOND <= ns <= took * SECOND for ns in states.values()), (states, took)
    assert_whole_stacks(tally, path, source)


def test_off_cpu_and_the_kernels_part(tally, idle, bpf, newest_perf, tmp_path):
    path = tmp_path / 'off.data'
    tally('record', '--off-cpu', '-e', 'dummy', '-p', idle().pid, '-o', path, '--', 'sleep', '0.3', check=0)
    script = newest_perf('script', '-i', path, '-F', 'comm,event,ip,sym', check=0).stdout
    chains = dict(re.findall(r'^\s*(\S+)\s+offcpu-time:\s*\n((?:\s+[0-9a-f]+ .*\n)+)', script, re.M))
    assert set(chains) == set(THREADS), script
    for name, (_, functions) in THREADS.items():
        names = [re.sub('@.*', '', found) for found in re.findall(r'^\s+[0-9a-f]+ (\S+)', chains[name], re.M)]
        assert is_part(functions[::-1], names), (name, names)
    symbols = read('/proc/kallsyms')
    if ' ksys_read\n' in symbols and not symbols.startswith('0000000000000000 '):
        assert 'ksys_read' in chains['pipe'], chains['pipe']


def test_the_whole_machine(tally, idle, bpf, system_wide, tmp_path):
    path = tmp_path / 'wall.data'
    idle()
    for seconds in ('0.5', '1', '2', '4'):  # other programs' threads have their turns before
        ran = tally('record', '--wall', '-a', '-o', path, '--', 'sleep', seconds, check=0)
        states = ns_by(tally, path, 'comm', 'state')
        for comm, state in STATES.items():
            assert states[comm, state] >= 0.5 * SECOND, states
        stacks = folded(tally('flamegraph', '--folded', path, check=0).stdout)
        if any(is_part(['start_thread', 'idle_thread', 'pool_wait'], stack) for stack in stacks if stack[0] == 'pool'):
            return
        assert 'innermost frame' in ran.stderr, (ran.stderr, stacks)
    pytest.skip('the machine has too many threads that wait: their stacks were not all read in 4 seconds')


def test_a_recording_that_is_over_at_once(tally, idle, bpf, tmp_path):
    """Stacks that were not read by then are read at its end, which counts no time."""
    path = tmp_path / 'wall.data'
    tally('record', '--wall', '-p', idle().pid, '-o', path, '--', 'true', check=0)
    assert_whole_stacks(tally, path)


def test_waits_that_end_in_the_recording(tally, idle, bpf, tmp_path):
    """A process that ends meanwhile: its waits end then, and have their stacks."""
    path = tmp_path / 'wall.data'
    process = idle()
    # The status is a signal's if the target ends first, as perf's is.
    tally('record', '--wall', '-p', process.pid, '-o', path, '--', 'sh', '-c', f'sleep 0.4; kill -9 {process.pid}; sleep 9', check=None)
    waits = [w for w in waits_of(tally, path) if w['flags'] & BEGAN_BEFORE and w['ns'] >= 300 * MS]
    assert {w['comm'] for w in waits} == set(THREADS) and not any(w['flags'] & UNFINISHED for w in waits), waits
    stacks = folded(tally('flamegraph', '--folded', path, check=0).stdout)
    assert any(is_part(['idle_thread', 'nap_wait'], stack) and stack[-1] == '[sleep]' for stack in stacks), stacks


def test_memory_that_may_not_be_read(tally, idle, bpf, tmp_path):
    """With the rights for BPF alone, the kernel's part and the innermost frame are left, and a sentence says why."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv to give rights away')
    rights = '-all,+bpf,+perfmon,+dac_override'
    without = type(tally)(shutil.which('setpriv'), tmp_path)
    process, path = idle(), tmp_path / 'wall.data'
    ran = without('--bounding-set', rights, '--inh-caps', rights, '--', tally.path, 'record', '--wall', '-p', process.pid, '-o', path,
                  '--', 'sleep', '0.3')
    if ran.returncode != 0:
        pytest.skip(f'this kernel wants more rights: {ran.stderr.strip().splitlines()[-1]}')
    assert '6 waits that began before the recording have only the innermost frame' in ran.stderr and 'CAP_SYS_PTRACE' in ran.stderr
    assert {comm: state for comm, state in ns_by(tally, path, 'comm', 'state')} == STATES
    stacks = folded(tally('flamegraph', '--folded', path, check=0).stdout)
    assert not any('idle_thread' in stack for stack in stacks), stacks


def test_enabled_later(tally, idle, source, tmp_path):
    """--delay: what waits when events are enabled counts from then on."""
    path = tmp_path / 'wall.data'
    process = idle()
    began = time.monotonic()
    tally('record', '--wall', '--wall-source', source, '-D', '300', '-p', process.pid, '-o', path, '--', 'sleep', '0.8', check=0)
    took = time.monotonic() - began
    states = ns_by(tally, path, 'comm', 'state')
    assert {comm: state for comm, state in states} == STATES
    assert all(0 < ns <= (took - 0.3) * SECOND for ns in states.values()), (states, took)
    assert_whole_stacks(tally, path, source)


def test_no_stack_of_another_wait(tally, idle, source, tmp_path):
    """Threads wait in turn in two functions, by different system calls, while they are looked at: a wait's function is always
    that of its system call, or not known."""
    path = tmp_path / 'wall.data'
    process = idle('4')
    states = collections.Counter()
    for _ in range(2):
        tally('record', '--wall', '--wall-source', source, '--off-cpu-thresh', '0', '-p', process.pid, '-o', path, '--', 'sleep', '0.1', check=0)
        for stack in folded(tally('flamegraph', '--folded', path, check=0).stdout):
            state, functions = stack[-1], {'switch_nap', 'switch_poll'} & set(stack)
            if state == '[poll]':
                assert functions <= {'switch_poll'}, stack
            elif state == '[sleep]':
                assert functions <= {'switch_nap'}, stack
            states[state] += len(functions)
    assert states['[poll]'] and states['[sleep]'], states


def test_children_that_come_before_it_is_enabled(tally, bpf, tmp_path):
    """--delay: they belong to the command, though nothing counts when they come."""
    path = tmp_path / 'wall.data'
    tally('record', '--wall', '-D', '300', '-o', path, '--', 'sh', '-c', 'sleep 2; true', check=0)
    before = {w['comm'] for w in waits_of(tally, path) if w['flags'] & BEGAN_BEFORE and w['ns'] >= 100 * MS}
    assert before == {'sh', 'sleep'}
