# SPDX-License-Identifier: Apache-2.0
"""Known workloads, counted and recorded with software events."""
import re
import signal

import pytest

from conftest import TIMEOUT_S, cpu_seconds, wait_for, wait_for_work, waits_with_counters


def count(text, event):
    match = re.search(rf'^\s*([\d,]+)\s+{event}\b', text, re.M)
    assert match, text
    return int(match[1].replace(',', ''))


def report_rows(tally, data, *options):
    text = tally('report', '--stdio', '-i', data, '--no-children', '-g', 'none', *options, check=0).stdout
    return [line.split() for line in text.splitlines() if re.match(r'\s+\d', line)]


def least_page_faults(tool, program, pages):
    """The least of five runs: where the loader puts things moves the count by a few."""
    return min(count(tool('stat', '-e', 'page-faults:u', '--', program.path, pages, check=0).stderr, 'page-faults:u')
               for _ in range(5))


def test_page_faults_of_touched_pages(live, tally, workload):
    few, many = (least_page_faults(tally, workload('faults'), pages) for pages in (1, 1001))
    assert abs(many - few - 1000) <= 2


def test_page_faults_as_perf_counts_them(live, tally, perf, workload):
    ours, theirs = (least_page_faults(tool, workload('faults'), 500) for tool in (tally, perf))
    assert abs(ours - theirs) <= 2


def test_children_are_counted(live, tally, workload):
    text = tally('stat', '-e', 'task-clock', '--', workload('forks').path, 10, check=0).stderr
    # Ten children of 10 ms each.
    assert float(re.search(r'([\d.]+) msec task-clock', text)[1]) >= 95
    alone = tally('stat', '-i', '-e', 'task-clock', '--', workload('forks').path, 10, check=0).stderr
    assert float(re.search(r'([\d.]+) msec task-clock', alone)[1]) < 60


@pytest.mark.parametrize('verb', [['stat'], ['record', '-o']])
@pytest.mark.parametrize('status', [0, 3, 77])
def test_exit_status_is_passed_on(live, tally, workload, verb, status, tmp_path):
    options = [*verb, tmp_path / 'perf.data'] if verb[0] == 'record' else verb
    assert tally(*options, '--', workload('exits').path, status).returncode == status


def test_spin_is_where_the_time_goes(live, tally, workload, tmp_path):
    data = tmp_path / 'perf.data'
    tally('record', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', workload('spin').path, 300, check=0)
    row = report_rows(tally, data)[0]
    assert row[1:] == ['spin', 'spin', '[.]', 'spin'] and float(row[0].rstrip('%')) > 95


def test_deep_calls_are_whole(live, tally, workload, tmp_path):
    data = tmp_path / 'perf.data'
    tally('record', '-g', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', workload('deep').path, 200, check=0)
    stacks = tally('script', '-i', data, check=0).stdout.strip().split('\n\n')
    wanted = ['leaf', *(f'level_{level}' for level in range(20, 0, -1)), 'main']
    whole = [stack for stack in stacks if re.findall(r'^\s+[0-9a-f]+ (\w+)', stack, re.M)[:22] == wanted]
    assert len(stacks) > 100 and len(whole) > 0.95 * len(stacks)


def test_recursion_is_whole(live, tally, workload, tmp_path):
    data = tmp_path / 'perf.data'
    tally('record', '-g', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', workload('recursion').path, 200, check=0)
    stacks = tally('script', '-i', data, check=0).stdout.strip().split('\n\n')
    assert sum(stack.count(' descend+') == 51 for stack in stacks) > 0.95 * len(stacks)


def test_threads_have_their_names(live, tally, workload, tmp_path):
    data = tmp_path / 'perf.data'
    tally('record', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', workload('threads').path, 100, check=0)
    found = {(row[1], row[-1]): float(row[0].rstrip('%')) for row in report_rows(tally, data)}
    for number in range(4):
        assert 20 < found[f'worker-{number}', f'work_{number}'] < 30


def test_exec_changes_the_name(live, tally, workload, tmp_path):
    data = tmp_path / 'perf.data'
    tally('record', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', workload('execs').path,
          workload('spin').path, 200, check=0)
    row = report_rows(tally, data)[0]
    assert row[1:] == ['spin', 'spin', '[.]', 'spin']


def while_it_works(run, target):
    """Ends what measures a process when that has worked a fifth of a second more; what was printed."""
    wait_for(lambda: waits_with_counters(run.pid))
    wait_for_work(target.pid, 0.2)
    run.send_signal(signal.SIGINT)
    _, text = run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == -signal.SIGINT
    return text


def test_attach_by_pid(live, tally, workload, tmp_path):
    data = tmp_path / 'perf.data'
    with workload('waits').start(30) as target:
        try:
            assert target.stdout.readline() == f'ready {target.pid}\n'
            while_it_works(tally.start('record', '-e', 'cpu-clock:u', '-F', '1000', '-p', str(target.pid), '-o', data), target)
            before = cpu_seconds(target.pid)
            text = while_it_works(tally.start('stat', '-e', 'task-clock', '-p', str(target.pid)), target)
            spent = cpu_seconds(target.pid) - before
            assert target.poll() is None
        finally:
            target.kill()
    row = report_rows(tally, data)[0]
    assert (row[1], row[-1]) == ('waits', 'busy') and float(row[0].rstrip('%')) > 90
    # The kernel tells of a process in ticks of 10 ms.
    assert 0.19 <= float(re.search(r'([\d.]+) msec task-clock', text)[1]) / 1000 <= spent + 0.02


def test_interrupt_ends_a_recording_cleanly(live, tally, workload, tmp_path):
    data = tmp_path / 'perf.data'
    with workload('waits').start(30) as target:
        try:
            target.stdout.readline()
            text = while_it_works(tally.start('record', '-e', 'cpu-clock:u', '-F', '1000', '-p', str(target.pid), '-o',
                                              str(data)), target)
        finally:
            target.kill()
    assert 'Captured and wrote' in text
    assert report_rows(tally, data)[0][-1] == 'busy'


def test_the_last_recording_is_kept(live, tally, workload, tmp_path):
    for milliseconds in (20, 40):
        tally('record', '-e', 'cpu-clock:u', '-o', 'perf.data', '--', workload('spin').path, milliseconds,
              cwd=tmp_path, check=0)
    assert sorted(path.name for path in tmp_path.glob('perf.data*')) == ['perf.data', 'perf.data.old']
