# SPDX-License-Identifier: Apache-2.0
"""record --filter on samples: a BPF program drops those that do not pass, and what it dropped is counted."""
import json
import os
import re
import shutil

import pytest
from conftest import bpf_programs, bpf_programs_of, wait_for, waits_with_counters

KERNEL_HALF = 1 << 63


def dropped(result):
    """The number of samples that record says did not pass; 0 where it says nothing."""
    found = re.search(r': (\d+) samples did not pass --filter\n', result.stderr)
    return int(found[1]) if found else 0


def fields_of(tally, data, field):
    return [line.strip() for line in tally('script', '-i', data, '-F', field, check=0).stdout.splitlines()]


@pytest.fixture
def record(tally, live, tmp_path):
    """record(FILTER, ...): a recording of a program, with the filter; skips where BPF programs are refused."""
    data = tmp_path / 'filtered.data'

    def run(*filters, event='task-clock', options=(), command=('dd', 'if=/dev/zero', 'of=/dev/null', 'count=10000')):
        words = [word for text in filters for word in ('--filter', text)]
        result = tally('record', '-e', event, '-c', 20000, *words, *options, '-o', data, '--', *command)
        if 'BPF' in result.stderr and result.returncode:
            pytest.skip(f'BPF programs are refused here: {result.stderr.splitlines()[0]}')
        assert result.returncode == 0, result.stderr
        return data, result

    return run


def test_what_does_not_pass_is_dropped_and_counted(tally, record):
    data, result = record(f'ip < {KERNEL_HALF:#x}')
    addresses = fields_of(tally, data, 'ip')
    assert addresses and all(int(address, 16) < KERNEL_HALF for address in addresses)
    assert dropped(result) > 0
    stats = json.loads(tally('report', '-i', data, '--stats', '--json', check=0).stdout)['stats']
    assert [(event['samples'], event['filtered_samples']) for event in stats['events']] == [(len(addresses), dropped(result))]
    # Nothing was lost: it was asked for.
    shown = tally('report', '-i', data, '--stdio', check=0)
    assert '# Total Lost Samples: 0\n' in shown.stdout
    assert f"{dropped(result)} samples did not pass the recording's --filter" in shown.stderr
    health = json.loads(tally('health', '-i', data, '--json', check=0).stdout)
    assert (health['lost']['filtered'], health['lost']['samples']) == (dropped(result), 0)


def test_the_complement_is_the_rest(tally, record):
    data, _ = record(f'ip >= {KERNEL_HALF:#x}')
    addresses = fields_of(tally, data, 'ip')
    assert addresses and all(int(address, 16) >= KERNEL_HALF for address in addresses)


def test_nothing_passes(tally, record):
    data, result = record('period == 1')
    assert fields_of(tally, data, 'ip') == [] and dropped(result) > 0


def test_and_binds_looser_than_or(tally, record):
    # False or true, and true: everything; grouped the other way the first condition would not matter either.
    data, result = record('period == 1 || period > 1, uid == 0 || uid > 0')
    assert fields_of(tally, data, 'ip') and dropped(result) == 0
    # (true or true) and false: nothing. As "true or (true and false)" everything would pass.
    data, result = record('period > 1 || period > 2, period == 1')
    assert fields_of(tally, data, 'ip') == [] and dropped(result) > 0


def test_several_filters_must_all_hold(tally, record):
    data, result = record(f'ip < {KERNEL_HALF:#x}', 'period == 1')
    assert fields_of(tally, data, 'ip') == [] and dropped(result) > 0


def test_each_operator(tally, record):
    for text, passes in (('period == 20000', True), ('period != 20000', False), ('period > 19999', True),
                         ('period > 20000', False), ('period >= 20000', True), ('period < 20000', False),
                         ('period < 20001', True), ('period <= 20000', True), ('period & 0x20', True),
                         ('period & 0x1', False)):
        data, _ = record(text)
        assert bool(fields_of(tally, data, 'ip')) == passes, text


def test_fields_of_the_sample(tally, record):
    options = ('--sample-cpu', '-T', '--sample-identifier', '-d')
    for text, passes in (('cpu < 4096', True), ('cpu > 4096', False), ('time > 0', True), ('id > 0', True),
                         ('tid > 1, pid > 1', True), ('pid == 1', False), (f'uid == {os.getuid()}', True),
                         (f'gid == {os.getgid()}', True), (f'uid == {os.getuid() + 1}', False)):
        result = record(text, options=options)
        assert bool(fields_of(tally, result[0], 'ip')) == passes, text


def test_children_are_filtered_too(tally, record, workload):
    script = f'{workload("spin").path} 0.1 & {workload("spin").path} 0.1; wait'
    data, _ = record('tid == 1', command=('sh', '-c', script))
    assert fields_of(tally, data, 'ip') == []


def test_the_events_before_it_only(tally, live, tmp_path):
    data = tmp_path / 'two.data'
    result = tally('record', '-e', 'task-clock', '--filter', 'period == 1', '-e', 'cpu-clock', '-o', data, '--', 'dd',
                   'if=/dev/zero', 'of=/dev/null', 'count=100000')
    if 'BPF' in result.stderr and result.returncode:
        pytest.skip(f'BPF programs are refused here: {result.stderr.splitlines()[0]}')
    events = json.loads(tally('report', '-i', data, '--stats', '--json', check=0).stdout)['stats']['events']
    by_name = {event['name']: event for event in events}
    assert by_name['task-clock']['samples'] == 0 and by_name['task-clock']['filtered_samples'] > 0
    assert by_name['cpu-clock']['samples'] > 0 and by_name['cpu-clock']['filtered_samples'] == 0


def test_newest_perf_reads_what_was_dropped(record, newest_perf):
    data, result = record(f'ip < {KERNEL_HALF:#x}')
    shown = newest_perf('report', '-i', data, '--stats', check=0).stdout
    assert re.search(r'LOST_SAMPLES \(BPF\) events: +(\d+)', shown)[1] == str(dropped(result))


def test_a_mistake_has_a_place(tally):
    result = tally('record', '-e', 'task-clock', '--filter', 'ip > 1, perod > 1', 'true')
    assert result.returncode == 129
    assert result.stderr.startswith("filter syntax error: 'ip > 1, perod > 1'\n"
                                    "                              \\___ unknown field of a sample 'perod', "
                                    "did you mean 'period'?\n")


def test_a_field_that_samples_lack(tally, live, tmp_path):
    result = tally('record', '-e', 'task-clock', '--filter', 'cpu > 0', '-o', tmp_path / 'x.data', 'true')
    assert result.returncode != 0
    assert result.stderr == ("--filter: samples of task-clock do not store 'cpu' (PERF_SAMPLE_CPU): add "
                             '--sample-cpu\n')


def test_who_may_not_load_programs_is_told(tally, live, open_folder):
    program = tally
    program.prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    path = open_folder / 'tally'
    shutil.copy(program.path, path)
    program.path = path
    result = program('record', '-e', 'task-clock:u', '--filter', 'ip > 1', '-o', open_folder / 'x.data', 'true')
    assert result.returncode != 0
    assert result.stderr.startswith(('--filter loads BPF programs, which needs CAP_BPF and CAP_PERFMON: run as root',
                                     '--filter needs BPF, which this build of tally lacks'))


def test_nothing_stays_in_the_kernel_after_a_kill(tally, record, system_wide, tmp_path):
    record('ip > 0')
    recorder = tally.start('record', '-a', '-e', 'cpu-clock', '--filter', 'period == 1', '-o', tmp_path / 'killed.data')
    wait_for(lambda: waits_with_counters(recorder.pid))
    programs = bpf_programs_of(recorder.pid)
    assert len(programs) == 1 and programs <= bpf_programs()
    recorder.kill()
    recorder.communicate()
    # The kernel frees programs a moment after their last event.
    wait_for(lambda: not programs & bpf_programs())


def test_perfs_own_test_passes(perfs_own_test, record, system_wide):
    record('ip > 0')
    result = perfs_own_test('record_bpf_filter.sh')
    assert result.returncode == 0, result.stdout + result.stderr
    assert 'Basic bpf-filter test [Success]' in result.stdout and 'Failed' not in result.stdout
