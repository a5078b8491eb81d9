"""What the kernel refuses: the gate is named, with the least that opens it, and perf's exit status."""
import os
import subprocess

import pytest

from conftest import TIMEOUT_S

NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def paranoid():
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as file:
        return int(file.read())


@pytest.fixture
def as_nobody(tally, live):
    if os.geteuid() != 0:
        pytest.skip('only root can become another user')
    if paranoid() < 1:
        pytest.skip('perf_event_paranoid is below 1: users may measure whole CPUs')

    def run(*words):
        return subprocess.run([*NOBODY, tally.path, *words], capture_output=True, text=True, timeout=TIMEOUT_S)
    return run


@pytest.mark.parametrize('words', [('stat', '-a', '-e', 'cs'), ('record', '-a', '-e', 'cpu-clock', '-o', '/dev/null')])
def test_whole_cpus_without_rights(as_nobody, words):
    result = as_nobody(*words, '--', 'true')
    assert result.returncode == 255
    assert f'perf_event_paranoid is {paranoid()} and measuring all processes of a CPU needs 0 or less' in result.stderr
    assert 'PERFMON' in result.stderr and 'kernel.perf_event_paranoid=0' in result.stderr
    assert 'warning' not in result.stderr  # leaving the kernel out would not help


def test_a_process_of_another_user(as_nobody):
    result = as_nobody('stat', '-e', 'cs:u', '-p', '1', 'true')
    assert result.returncode == 255
    assert 'belongs to another user' in result.stderr or 'perf_event_paranoid' in result.stderr


def test_tracepoints_that_do_not_open_are_left_out(tally, live):
    if not os.path.exists('/sys/kernel/tracing/events/irq_vectors/irq_work_exit/id'):
        pytest.skip('no tracepoint irq_vectors:irq_work_exit')
    result = tally('record', '-o', '-', '-e', 'irq_vectors:*', '--', 'true', text=False)
    assert b"1 of the " in result.stderr and b"events of 'irq_vectors:*' left out: irq_vectors:irq_work_exit: " in result.stderr


def test_the_end_of_many_tracepoints_is_not_waited_for_with_pipes_open(tally, live):
    if not os.path.exists('/sys/kernel/tracing/events/sched/sched_switch/id'):
        pytest.skip('no tracepoints')
    result = tally('stat', '-x,', '-e', 'sched:*', '-r', '3', '--', 'true')  # returns when standard error closes
    rows = [line.split(',') for line in result.stderr.splitlines()]
    assert len(rows) >= 8 and all(row[2].startswith('sched:') for row in rows)
    assert any(row[2] == 'sched:sched_process_exec' and row[0] == '1' for row in rows)


@pytest.mark.parametrize('verb', ['stat', 'record'])
def test_a_group_that_is_not_closed(tally, live, tmp_path, verb):
    output = ['-o', tmp_path / 'x.data'] if verb == 'record' else []
    result = tally(verb, *output, '-e', '{cpu-clock,page-faults', '--', 'true')
    assert "'{cpu-clock,page-faults': the group is not closed with '}'" in result.stderr


def test_a_target_that_sleeps_is_why_nothing_was_counted(tally, live):
    with subprocess.Popen(['sleep', '60']) as sleeper:
        try:
            result = tally('stat', '-e', 'page-faults', '-p', sleeper.pid, 'true')
        finally:
            sleeper.kill()
    assert '<not counted>' in result.stderr
    assert 'not counted: page-faults: nothing measured ran meanwhile' in result.stderr


@pytest.mark.parametrize('words', [('stat', '-a', '-e', 'cs'), ('record', '-a', '-e', 'cpu-clock', '-o', '/dev/null')])
def test_root_of_a_user_namespace_is_a_user(tally, live, words):
    if os.geteuid() != 0 or paranoid() < 1:
        pytest.skip('needs root, and a perf_event_paranoid above 0')
    inside = [*NOBODY, 'unshare', '-Ur']
    if subprocess.run([*inside, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('user namespaces are not permitted here')
    result = subprocess.run([*inside, tally.path, *words, '--', 'true'], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert result.returncode == 255
    assert f'perf_event_paranoid is {paranoid()}' in result.stderr
    assert 'the capabilities of this user namespace do not count' in result.stderr
    assert 'security module' not in result.stderr


def test_events_of_the_kernel_are_not_recorded_as_nothing(as_nobody):
    if paranoid() < 2:
        pytest.skip('perf_event_paranoid is below 2: users may measure the kernel')
    alone = as_nobody('record', '-o', '/dev/null', '-e', 'cs', '--', 'true')
    assert alone.returncode == 255 and 'measuring kernel mode needs 1 or less' in alone.stderr
    beside = as_nobody('record', '-o', '/dev/null', '-e', 'cs,cpu-clock', '--', 'true')
    assert beside.returncode == 0 and "'cs' happens in the kernel only" in beside.stderr
