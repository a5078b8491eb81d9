# SPDX-License-Identifier: Apache-2.0
"""stat --bpf-counters and :b: sessions share one counter of each CPU, which a BPF program reads at each switch.
With cgroups, one session's cgroups share one."""
import contextlib
import json
import os
import pathlib
import re
import shutil

import pytest
from conftest import bpf_programs, bpf_programs_of, wait_for

LOOP = 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'


@pytest.fixture
def shared(tally, system_wide, tmp_path):
    """shared(...): stat with shared counters; skips where they are refused."""
    place = f'/sys/fs/bpf/tally-test-{os.getpid()}'

    def run(*arguments, check=0, map_file=place):
        result = tally('stat', '--bpf-attr-map', map_file, *arguments)
        if result.returncode and re.search('needs BPF|loads BPF programs|cannot be pinned|refused its BPF', result.stderr):
            pytest.skip(f'shared counters are refused here: {result.stderr.splitlines()[0]}')
        assert result.returncode == check, result.stderr
        return result

    run.place = place
    yield run
    if os.path.exists(place):
        os.unlink(place)


def counts(result):
    rows = [json.loads(line) for line in result.stderr.splitlines() if line.startswith('{')]
    return {row['event']: float(row['counter-value']) for row in rows if 'event' in row}


def test_a_command_with_its_children_counts_what_its_own_counter_does(shared):
    """Both stand side by side in one run: what differs is what comes before the exec."""
    script = f'({LOOP}) & {LOOP}; wait'
    found = counts(shared('-j', '-e', 'task-clock:b,task-clock', '--', 'sh', '-c', script))
    assert found['task-clock'] > 10
    assert found['task-clock:b'] == pytest.approx(found['task-clock'], rel=0.1, abs=10)


def test_all_events_by_the_option(shared):
    found = counts(shared('-j', '--bpf-counters', '-e', '{task-clock,cpu-clock},page-faults', '--', 'sh', '-c', LOOP))
    assert found['task-clock'] > 0 and found['page-faults'] > 0
    assert found['cpu-clock'] == pytest.approx(found['task-clock'], rel=0.1, abs=10)


def test_whole_cpus(shared):
    result = shared('-j', '-a', '-A', '--bpf-counters', '-e', 'cpu-clock', '--', 'sleep', '0.5')
    rows = [json.loads(line) for line in result.stderr.splitlines() if line.startswith('{')]
    clocks = [float(row['counter-value']) for row in rows if row.get('event') == 'cpu-clock']
    assert len(clocks) == len(os.sched_getaffinity(0)) and all(clock >= 450 for clock in clocks)
    assert max(clocks) == pytest.approx(min(clocks), rel=0.1, abs=20)


def test_an_event_that_the_machine_lacks_is_told_as_ever(shared, hardware_absent):
    shown = shared('--bpf-counters', '-e', 'cycles,task-clock', '--', 'true').stderr
    assert re.search(r'<not supported> +cycles', shown) and re.search(r'[\d.]+ msec task-clock', shown)


def test_sessions_share_and_leave_nothing(tally, shared):
    shared('--bpf-counters', '-e', 'cpu-clock', '--', 'true')
    words = ['stat', '--bpf-attr-map', shared.place, '--bpf-counters', '-e', 'cpu-clock']
    first = tally.start(*words, '-a')
    loaded = {'switches', 'forks', 'exits'}
    programs = wait_for(lambda: len(found := bpf_programs_of(first.pid)) == len(loaded) and found)
    # The second session takes part in what the first has loaded, and goes on when that is killed.
    second = tally.start(*words, '-a')
    assert wait_for(lambda: bpf_programs_of(second.pid)) == programs
    first.kill()
    first.wait()
    assert programs <= bpf_programs()
    found = counts(shared('-j', '--bpf-counters', '-e', 'cpu-clock', '--', 'sh', '-c', LOOP))
    assert found['cpu-clock'] > 0
    second.kill()
    second.wait()
    wait_for(lambda: not programs & bpf_programs())
    # What is pinned leads to programs that are gone: the next session begins anew.
    assert counts(shared('-j', '--bpf-counters', '-e', 'cpu-clock', '--', 'sh', '-c', LOOP))['cpu-clock'] > 0


def test_refusals(tally, shared, tmp_path):
    shared('--bpf-counters', '-e', 'cpu-clock', '--', 'true')
    for words, text in ((['-i'], '--bpf-counters and --no-inherit cannot be used together'),
                        (['-a', '--per-thread'], '--bpf-counters and --per-thread cannot be used together')):
        assert text in tally('stat', '--bpf-counters', *words, '-e', 'cpu-clock', '--', 'true').stderr
    refused = tally('stat', '--bpf-counters', '--bpf-attr-map', tmp_path / 'x', '-e', 'cpu-clock', '--', 'true')
    assert refused.returncode and 'cannot be pinned as' in refused.stderr and 'mount -t bpf' in refused.stderr
    assert ':b' in tally('record', '-e', 'cpu-clock:b', '-o', tmp_path / 'x.data', '--', 'true', check=255).stderr


@pytest.fixture
def groups():
    """Two folders of cgroups, the second within the first, and their names."""
    root = next((place for place in map(pathlib.Path, ('/sys/fs/cgroup/perf_event', '/sys/fs/cgroup/unified', '/sys/fs/cgroup'))
                 if (place / 'cgroup.procs').exists()), None)
    if not root:
        pytest.skip('no cgroup file system')
    outer = root / f'tally-shared-{os.getpid()}'
    folders = [outer, outer / 'inner']
    try:
        for folder in folders:
            folder.mkdir()
    except OSError as error:
        pytest.skip(f'no cgroup can be made: {error}')
    yield root, folders, [str(folder.relative_to(root)) for folder in folders]
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def by_cgroup(result):
    rows = [json.loads(line) for line in result.stderr.splitlines() if line.startswith('{')]
    return {(row['cgroup'], row['event']): float(row['counter-value']) for row in rows if 'cgroup' in row}


def are_near(found, name):
    clocks, faults = ([found[name, event + suffix] for suffix in (':b', '')] for event in ('cpu-clock', 'page-faults'))
    return abs(clocks[0] - clocks[1]) < 0.1 * clocks[1] + 20 and abs(faults[0] - faults[1]) < 0.02 * faults[1] + 5


def test_cgroups_count_what_their_own_counters_do(shared, groups):
    """Both stand side by side in one run. Threads move themselves, and one leaves its cgroup again."""
    root, (outer, inner), names = groups
    script = f"""(echo 0 >{outer}/cgroup.procs; {LOOP}; for n in 1 2 3 4 5; do /bin/true; done; echo 0 >{root}/cgroup.procs; {LOOP}; {LOOP}) &
        (echo 0 >{inner}/cgroup.procs; {LOOP}) & wait"""
    # Some kernels keep switches of threads that they protect from BPF programs: a time may then count for another thread.
    for _ in range(5):
        result = shared('-j', '-a', '-e', 'cpu-clock:b,cpu-clock,page-faults:b,page-faults', '--for-each-cgroup',
                        ','.join([*names, '/']), '--', 'sh', '-c', script)
        found = by_cgroup(result)
        assert len(found) == 12, result.stderr
        if all(are_near(found, name) for name in (*names, '/')):
            break
    else:
        pytest.fail(f'they never agreed: {found}')
    assert found[names[0], 'page-faults'] > 100 and found[names[1], 'cpu-clock'] > 10, found
    assert found[names[0], 'cpu-clock:b'] > found[names[1], 'cpu-clock:b'], found


def test_cgroups_by_the_option(shared, groups, hardware_absent):
    _, (outer, _), names = groups
    script = f'echo 0 >{outer}/cgroup.procs; {LOOP}'
    for words in (['--for-each-cgroup', names[0]], ['-G', f'{names[0]},{names[0]}']):
        result = shared('-j', '-a', '--bpf-counters', '-e', 'cpu-clock,cycles', *words, '--', 'sh', '-c', script)
        rows = [json.loads(line) for line in result.stderr.splitlines() if line.startswith('{')]
        values = {row['event']: row['counter-value'] for row in rows if row.get('cgroup') == names[0]}
        assert float(values['cpu-clock']) > 10 and values['cycles'] == '<not supported>', result.stderr
    assert 'no access to cgroup' in shared('-a', '--bpf-counters', '-e', 'cpu-clock', '--for-each-cgroup', f'{names[0]}-absent',
                                          '--', 'true', check=129).stderr


def test_perfs_own_test_of_cgroups(shared, perfs_own_test):
    shared('-a', '--bpf-counters', '--for-each-cgroup', '/', '--', 'true')
    result = perfs_own_test('stat_bpf_counters_cgrp.sh')
    assert result.returncode == 0, result.stdout + result.stderr


def test_who_may_not_load_programs_is_told(tally, system_wide):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv to give up capabilities')
    tally.prefix = ['setpriv', '--bounding-set=-bpf,-sys_admin']
    refused = tally('stat', '--bpf-counters', '-e', 'cpu-clock', '--', 'true')
    assert refused.returncode
    assert re.match(r'stat --bpf-counters (loads BPF programs, which needs CAP_BPF|needs BPF)', refused.stderr)
