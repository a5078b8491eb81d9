# SPDX-License-Identifier: Apache-2.0
"""Counts that are known beforehand, on the running kernel: over threads and forks, CPUs, cgroups, targets and intervals.
Each turn of tests/workloads/counted.c calls work() once and writes cell once, which breakpoints and uprobes count."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BUILD, TIMEOUT_S, wait_for, waits_with_counters
from test_events import TRACING, UPROBE, append, counts, file_offset

# Some count the program on all CPUs, whoever runs it.
pytestmark = pytest.mark.alone
PROGRAM = BUILD / 'tests' / 'workloads' / 'counted'
TURNS = 1000


@pytest.fixture
def places(live):
    """Addresses of the program's work() and cell, by name."""
    if not shutil.which('nm'):
        pytest.skip('needs nm')
    listing = subprocess.run(['nm', PROGRAM], check=True, capture_output=True, text=True).stdout
    return {words[2]: int(words[0], 16) for words in map(str.split, listing.splitlines()) if len(words) == 3}


@pytest.fixture
def uprobe(places, system_wide):
    """The calls of work() by the kernel's uprobe PMU, which counts them on every CPU too."""
    if not UPROBE.exists() or os.geteuid() != 0 or not shutil.which('readelf'):
        pytest.skip('needs the uprobe PMU, root and readelf')
    return f"uprobe/path='{PROGRAM.resolve()}',offset={file_offset(PROGRAM, places['work']):#x},name=calls/"


@pytest.fixture
def traced(uprobe, places):
    """Two uprobes of tracefs on work(), which threads and children inherit."""
    probes, group = TRACING / 'uprobe_events', f'tally_live_{os.getpid()}'
    if not os.access(probes, os.W_OK):
        pytest.skip('needs tracefs with uprobe_events, and root')
    at = f'{PROGRAM.resolve()}:{file_offset(PROGRAM, places["work"]):#x}'
    for name in ('work', 'again'):
        append(probes, f'p:{group}/{name} {at}\n')
    yield [f'{group}:{name}:u' for name in ('work', 'again')]
    for name in ('work', 'again'):
        append(probes, f'-:{group}/{name}\n')


@pytest.fixture(params=['breakpoints', 'uprobes'])
def turn_events(request, places):
    """Two events that happen once in each turn: breakpoints on work() and cell, or where those do not fire, uprobes."""
    if request.param == 'uprobes':
        return request.getfixturevalue('traced')
    request.getfixturevalue('breakpoints')
    return [f'mem:{places["work"]:#x}:x:u', f'mem:{places["cell"]:#x}/8:w:u']


@pytest.fixture
def calls(turn_events):
    return turn_events[0]


@pytest.fixture
def writes(turn_events):
    return turn_events[1]


def tracepoint(event):
    if not os.access(TRACING / 'events' / event.replace(':', '/') / 'id', os.R_OK):
        pytest.skip(f'needs {event}')
    return event


def csv(tally, *words):
    """Rows of the -x output; exit status 0."""
    result = tally('stat', '-x', ';', *words)
    assert result.returncode == 0, result.stderr
    return [row.split(';') for row in result.stderr.splitlines() if row.count(';') > 3]


# Threads and processes.


@pytest.mark.parametrize('threads, forks', [(0, 0), (5, 0), (0, 4), (3, 3)])
def test_threads_and_forks_add_up(tally, calls, writes, threads, forks):
    if threads and forks and not calls.startswith('mem:'):
        pytest.skip('the kernel loses hits of uprobes where threads of a forked child end together')
    expected = TURNS * (1 + threads) * (1 + forks)
    found = counts(tally, [('-e', calls), ('-e', writes)], PROGRAM, TURNS, threads, forks)
    assert found == [str(expected)] * 2


def test_without_inheritance_one_thread_counts(tally, calls):
    assert counts(tally, [('-i', '-e', calls)], PROGRAM, TURNS, 3, 2) == [str(TURNS)]


def test_uprobes_of_the_pmu_leave_forks_alone(tally, uprobe, tmp_path):
    """The kernel cannot pass them on, and forks of the command would fail if it were to."""
    assert counts(tally, [('-e', uprobe)], PROGRAM, TURNS, 2, 2) == [str(TURNS)]
    assert 'children are not counted' in tally('stat', '-e', uprobe, PROGRAM, TURNS, 2, 2, check=0).stderr
    assert 'children' not in tally('stat', '-i', '-e', uprobe, PROGRAM, TURNS, 2, 2, check=0).stderr
    assert counts(tally, [('-a', '-e', uprobe)], PROGRAM, TURNS, 2, 2) == [str(TURNS * 9)]
    tally('record', '-o', tmp_path / 'data', '-e', uprobe, '-c', 1, '--', PROGRAM, TURNS, 2, 2, check=0)
    assert 'children are not counted' not in tally('stat', '-e', 'page-faults', 'true', check=0).stderr


@pytest.mark.parametrize('threads, forks', [(2, 0), (0, 2)])
def test_a_group_over_threads_and_forks(tally, calls, writes, threads, forks):
    group = f'{{{calls[:-2]},{writes[:-2]},page-faults}}:u'
    found = [int(count) for count in counts(tally, [('-e', group)], PROGRAM, TURNS, threads, forks)]
    assert found[:2] == [TURNS * 3] * 2 and found[2] > 10


@pytest.mark.parametrize('letter', ['D', 'e'])
def test_a_pinned_or_exclusive_group_counts_all_its_members(tally, calls, writes, letter):
    group = f'{{{calls[:-2]},{writes[:-2]}}}:u{letter}'
    assert counts(tally, [('-e', group)], PROGRAM, TURNS) == [str(TURNS)] * 2


def test_a_group_of_all_kinds(tally, calls, writes, uprobe):
    group = f'{{{calls[:-2]},{uprobe},{writes[:-2]},page-faults}}:u'
    found = [int(count) for count in counts(tally, [('-e', group)], PROGRAM, TURNS)]
    assert found[:3] == [TURNS] * 3 and found[3] > 10


def test_forks_are_counted_by_their_tracepoint(tally, live):
    event = tracepoint('sched:sched_process_fork')
    assert counts(tally, [('-e', event)], PROGRAM, 1, 2, 3) == [str(3 + 2 * 4)]


@pytest.mark.parametrize('runs', [1, 3])
def test_counting_begins_at_the_exec(tally, live, runs):
    """The exec that starts the command is entered before, and left after."""
    entered, left = tracepoint('syscalls:sys_enter_execve'), tracepoint('syscalls:sys_exit_execve')
    assert counts(tally, [('-r', str(runs), '-e', entered), ('-e', left)], PROGRAM, 1) == ['0', '1']


def test_counts_go_on_over_an_exec(tally, calls):
    shell = ('sh', '-c', f'{PROGRAM} 10; exec {PROGRAM} {TURNS}')
    assert counts(tally, [('-e', calls)], *shell) == [str(TURNS + 10)]


# Targets.


def count_running(tally, words, threads, calls, forks=0):
    """Counts a program from when its threads are there; the rows of -x."""
    target = subprocess.Popen([PROGRAM, str(TURNS), str(threads), str(forks)], env={**os.environ, 'WAIT': '1'},
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        pid = int(target.stdout.readline().split()[1])
        stat = tally.start('stat', '-x', ';', *[word.format(pid=pid, tid=first_thread(pid)) for word in words], '-e', calls)
        wait_for(lambda: waits_with_counters(stat.pid))
        target.communicate('go\n' * (forks + 1))
        _, text = stat.communicate(timeout=TIMEOUT_S)
        assert stat.returncode == 0, text
        return [row.split(';') for row in text.splitlines() if row.count(';') > 3]
    finally:
        target.kill()
        target.wait()


def first_thread(pid):
    """A thread that is not the main one, if there is one."""
    return sorted(int(task.name) for task in pathlib.Path(f'/proc/{pid}/task').iterdir())[-1]


def test_all_threads_of_a_running_process(tally, calls):
    assert [row[0] for row in count_running(tally, ['-p', '{pid}'], 4, calls)] == [str(5 * TURNS)]


@pytest.mark.parametrize('thread', ['{tid}', '{pid}'])
def test_one_thread_of_a_running_process(tally, calls, thread):
    """Also the main thread alone, which made the others: what is there already inherits nothing."""
    assert [row[0] for row in count_running(tally, ['-t', thread], 4, calls)] == [str(TURNS)]


def test_each_thread_of_a_running_process(tally, calls):
    rows = count_running(tally, ['--per-thread', '-p', '{pid}'], 3, calls)
    assert [row[1] for row in rows] == [str(TURNS)] * 4 and len({row[0] for row in rows}) == 4


def test_one_cpu_counts_what_runs_there(tally, uprobe, system_wide):
    cpus = sorted(os.sched_getaffinity(0))
    if not shutil.which('taskset') or len(cpus) < 2:
        pytest.skip('needs taskset and two CPUs')
    first, last = cpus[0], cpus[-1]
    command = ('taskset', '-c', str(last), PROGRAM, str(TURNS))
    rows = csv(tally, '-a', '-A', '-e', uprobe, '--', *command)
    assert {row[0]: row[1] for row in rows} == {f'CPU{cpu}': str(TURNS if cpu == last else 0) for cpu in cpus}
    assert [row[0] for row in csv(tally, '-C', str(first), '-e', uprobe, '--', *command)] == ['0']
    assert [row[0] for row in csv(tally, '-C', f'{first},{last}', '-e', uprobe, '--', *command)] == [str(TURNS)]


# Cgroups.


@pytest.fixture
def groups(system_wide):
    """Two cgroups, the second inside the first."""
    places = [pathlib.Path('/sys/fs/cgroup') / name for name in ('perf_event', 'unified', '')]
    root = next((place for place in places if (place / 'cgroup.procs').exists()), None)
    if not root:
        pytest.skip('no cgroup file system')
    made = [root / f'tally-count-{os.getpid()}', root / f'tally-count-{os.getpid()}' / 'inner']
    try:
        for group in made:
            group.mkdir()
    except OSError as error:
        pytest.skip(f'no cgroup can be made: {error}')
    yield [str(group.relative_to(root)) for group in made], made
    for group in reversed(made):
        with contextlib.suppress(OSError):
            group.rmdir()


def in_group(group, turns):
    return f"sh -c 'echo $$ >{group}/cgroup.procs && exec {PROGRAM} {turns}' && "


def test_a_cgroup_counts_its_own_and_what_is_inside(tally, uprobe, groups):
    names, folders = groups
    script = in_group(folders[0], 500) + in_group(folders[1], 70) + f'{PROGRAM} 3'
    assert counts(tally, [('-a', '-e', uprobe, '-G', names[0])], 'sh', '-c', script) == ['570']
    assert counts(tally, [('-a', '-e', uprobe, '-G', names[1])], 'sh', '-c', script) == ['70']
    rows = csv(tally, '-a', '-e', uprobe, '--for-each-cgroup', ','.join(names), '--', 'sh', '-c', script)
    assert [row[0] for row in rows] == ['570', '70']
    assert counts(tally, [('-a', '-e', uprobe)], 'sh', '-c', script) == ['573']


def test_a_cgroup_that_is_absent_is_named(tally, system_wide):
    result = tally('stat', '-a', '-e', 'cpu-clock', '-G', 'no-such-group', '--', 'true')
    assert result.returncode != 0 and 'no-such-group' in result.stderr


# Kinds of events.


@pytest.mark.parametrize('length', [1, 2, 4, 8])
def test_breakpoints_of_each_length(tally, breakpoints, places, length):
    event = f'mem:{places["cell"]:#x}/{length}:rw:u'
    assert counts(tally, [('-e', event)], PROGRAM, 123) == ['123']


def test_a_breakpoint_of_data_and_code_is_refused(tally, places):
    result = tally('stat', '-e', f'mem:{places["cell"]:#x}/8:rwx', '--', PROGRAM, 1)
    assert 'no breakpoint like this' in result.stderr, result.stderr


def test_kernel_mode_of_a_user_address_counts_nothing(tally, breakpoints, places):
    assert counts(tally, [('-e', f'mem:{places["cell"]:#x}/8:w:k')], PROGRAM, 50) == ['0']


def test_migrations_are_counted(tally, live):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip('needs two CPUs')
    assert counts(tally, [('-e', 'cpu-migrations')], PROGRAM, 'migrate', 0)[0] in map(str, range(11))
    found = int(counts(tally, [('-e', 'cpu-migrations')], PROGRAM, 'migrate', 40)[0])
    assert 40 <= found <= 50  # and those of starting it


def test_signals_are_counted_by_number(tally, live):
    event = tracepoint('signal:signal_deliver')
    found = counts(tally, [('-e', event, '--filter', 'sig == 10'), ('-e', event, '--filter', 'sig == 12')],
                   PROGRAM, 'signal', 33)
    assert found == ['33', '0']


def test_page_faults_by_kind_and_mode(tally, live, workload):
    events = 'page-faults,minor-faults,major-faults,page-faults:u,page-faults:k'
    few, many = ([int(count) for count in counts(tally, [('-e', f'{{{events}}}')], workload('faults').path, pages)]
                 for pages in (100, 1100))
    for every, minor, major, user, kernel in (few, many):
        assert minor + major == every == user + kernel
    assert abs(many[3] - few[3] - 1000) <= 5  # the pages; the loader's vary


def test_placeholders_count_nothing(tally, live):
    assert counts(tally, [('-e', 'dummy,emulation-faults')], PROGRAM, 5) == ['0', '0']


def test_both_clocks_run(tally, live, workload):
    clocks = [float(value) for value in counts(tally, [('-e', '{task-clock,cpu-clock}')], workload('spin').path, 50)]
    assert all(value >= 49 for value in clocks)


def test_msr_counters_run_on_every_cpu(tally, system_wide):
    if not pathlib.Path('/sys/bus/event_source/devices/msr').exists():
        pytest.skip('needs the msr PMU')
    rows = csv(tally, '-a', '-A', '-e', 'msr/tsc/', '--', 'sleep', '0.01')
    assert len(rows) == os.cpu_count() and all(int(row[1]) > 0 for row in rows)


# Output.


def test_intervals_add_up_to_the_total(tally, calls):
    script = f'for i in 1 2 3 4 5 6; do {PROGRAM} 100; sleep 0.02; done'
    rows = csv(tally, '-I', '10', '--summary', '-e', calls, '--', 'sh', '-c', script)
    assert rows[-1][0].strip() == 'summary' and rows[-1][1] == '600'
    # An interval in which nothing ran has no count.
    assert sum(int(row[1]) for row in rows[:-1] if row[1].isdigit()) == 600 and len(rows) > 4


def test_each_run_counts_for_itself(tally, calls):
    result = tally('stat', '-j', '-r', 4, '-e', calls, '--', PROGRAM, 77, check=0)
    row = json.loads(result.stderr.splitlines()[0])
    assert float(row['counter-value']) == 77 and row.get('variance', 0) == 0


def test_per_place_rows_add_up(tally, uprobe, system_wide):
    for option in ('--per-core', '--per-socket', '--per-node', '--per-die'):
        rows = csv(tally, '-a', option, '-e', uprobe, '--', PROGRAM, TURNS, 2)
        assert sum(int(row[2]) for row in rows) == 3 * TURNS, (option, rows)


def test_recorded_counts_are_the_same(tally, calls, tmp_path):
    tally('stat', 'record', '-o', tmp_path / 'data', '-e', calls, '--', PROGRAM, TURNS, 2, check=0)
    result = tally('stat', '-x', ';', 'report', '-i', tmp_path / 'data', check=0)
    assert result.stderr.split(';')[0] == str(3 * TURNS), result.stderr
