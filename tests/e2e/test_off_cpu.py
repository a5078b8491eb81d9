# SPDX-License-Identifier: Apache-2.0
"""record --off-cpu and --wall: waits of a program whose waits are known, beside what the kernel and perf say of them."""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import bpf_programs, bpf_programs_of, has_open_events, wait_for

MS, SECOND = 10 ** 6, 10 ** 9
UNIT_MS = 300
RUNNABLE = 1
SUM, BEGAN_BEFORE, UNFINISHED, WAKER, INTERRUPT, PREEMPTED = 1, 2, 4, 8, 16, 32


@pytest.fixture(name='bpf', autouse=True)
def bpf_is_allowed(tally, tmp_path, request):
    """Skips with tally's own reason where waits cannot be measured."""
    if 'refus' in request.node.name:
        return
    tried = tally('record', '--off-cpu', '--wall-source', 'bpf', '-e', 'dummy', '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(f'waits cannot be measured here: {tried.stderr.strip().splitlines()[-1]}')


def ns_by(tally, path, *keys, total='period'):
    """Of wall-clock time."""
    table = json.loads(tally('report', '--json', '-i', path, '--wall', '-s', ','.join(keys), check=0).stdout)['tables'][0]
    names = ['symbol' if key == 'sym' else key for key in keys]
    return {tuple(row.get(name) for name in names): row['values'][0][total] for row in table['rows'] if row['values'][0][total]}


def waits_of(tally, path):
    """Each sample of the event: comm, tid, end in seconds, ns, and of its raw data flags, count and state."""
    text = tally('script', '-i', path, '-F', 'comm,tid,time,period,event,bpf-output', check=0).stdout
    found, raw = [], b''
    for line in text.splitlines() + ['end']:
        head = re.match(r'\s*(\S.*?)\s+(\d+)\s+(?:\[\d+\]\s+)?([\d.]+):\s+(\d+)\s+([\w-]+):', line)
        if (head or line == 'end') and raw:
            at = raw.index(b'WAIT')
            found[-1].update(state=raw[at + 6], flags=raw[at + 7], count=int.from_bytes(raw[at + 8:at + 16], 'little'))
            raw = b''
        if head and head[5] == 'offcpu-time':
            found.append({'comm': head[1], 'tid': int(head[2]), 'end': float(head[3]), 'ns': int(head[4])})
        data = re.search(r'[0-9a-f]{4}: ((?:[0-9a-f]{2} ){1,8})', line)
        if data and found:
            raw += bytes.fromhex(data[1])
    return found


def told(text):
    """What known_waits says of each thread."""
    names = 'tid waited ran ready least_ready'.split()
    rows = [line.split() for line in text.splitlines() if re.fullmatch(r'\w+( \d+){5}', line)]
    return {row[0]: dict(zip(names, map(int, row[1:]))) for row in rows}


@contextlib.contextmanager
def switches(perf, path):
    """The switches of the machine meanwhile, in perf's recording."""
    recorder = perf.start('record', '-a', '-m', '4096', '-e', 'sched:sched_switch', '-o', path)
    try:
        wait_for(lambda: has_open_events(recorder.pid))
        yield
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.communicate()


def preempted_by_thread(perf, path):
    """{(tid, its name then): ns} from each switch away from a thread that could go on to the one back to it."""
    found, left = collections.Counter(), {}
    for line in perf('script', '-i', path, '-F', 'time,trace', '--ns', check=0).stdout.splitlines():
        switch = re.search(r'([\d.]+):.*?prev_comm=(.*) prev_pid=(\d+) .*prev_state=(\w).* next_pid=(\d+) ', line)
        if not switch:
            continue
        ns = round(float(switch[1]) * SECOND)
        left[int(switch[3])] = (ns, switch[2]) if switch[4] == 'R' else None
        back = left.pop(int(switch[5]), None)
        if back:
            found[int(switch[5]), back[1]] += ns - back[0]
    return found


THREADS = {'computer', 'sleeper', 'holder', 'waiter', 'reader', 'feeder', 'left', 'right'}


@pytest.mark.alone
@pytest.mark.parametrize('options', [(), ('--off-cpu-thresh', '0')], ids=['sums', 'single'])
def test_known_waits(tally, perf, workload, tmp_path, options):
    """Within 1 % of what the threads measured themselves and of schedstat, and 3 ms for what they do between their
    questions and their waits. Nothing here depends on how busy the machine is: what it takes from a thread, the thread sees."""
    path = tmp_path / 'wall.data'
    with switches(perf, tmp_path / 'switches.data'):
        ran = tally('record', '--wall', *options, '-o', path, '--', workload('known_waits').path, str(UNIT_MS), check=0)
    preempted = preempted_by_thread(perf, tmp_path / 'switches.data')
    threads = told(ran.stdout)
    assert set(threads) == THREADS
    states = ns_by(tally, path, 'comm', 'state')

    def is_between(found, least, most):
        assert least * 0.99 - 3 * MS <= found <= most * 1.01 + 3 * MS, (found, least, most, states, threads)

    causes = ns_by(tally, path, 'comm', 'state', 'sym', total='children_period')
    for name, state, function in (('sleeper', 'sleep', 'be'), ('holder', 'sleep', 'hold'),
                                  ('waiter', 'lock', 'wait_for_mutex'), ('reader', 'io', 'read_pipe')):
        assert causes.get((name, state, function), 0) >= 0.98 * states.get((name, state), 0), causes
        # What the thread measured of its wait ends when it runs again. It may have been preempted before it waited.
        blocked, ready = (states.get((name, of), 0) for of in (state, 'runnable'))
        is_between(blocked, threads[name]['waited'] - ready, threads[name]['waited'])
    ready_by_tid = collections.Counter()
    for wait in waits_of(tally, path):
        ready_by_tid[wait['tid']] += wait['ns'] if wait['state'] == RUNNABLE else 0
    for name, of in threads.items():
        ready = states.get((name, 'runnable'), 0)
        # At least what the switches show: on a virtual machine beside other load, schedstat has waits that no switch
        # shows. A sum that the thread began under its name counts for its next name, if it goes on then.
        is_between(ready, preempted[of['tid'], name] if options else 0, of['ready'])
        assert ready_by_tid[of['tid']] >= sum(ns for (tid, _), ns in preempted.items() if tid == of['tid']) * 0.99 - 3 * MS
    assert preempted[threads['left']['tid'], 'left'] > 0  # which shares a CPU with the right
    for name in ('left', 'right', 'computer'):
        assert states[name, 'running'] == pytest.approx(threads[name]['ran'], rel=0.1)


@pytest.mark.alone
def test_wakers(tally, workload, tmp_path):
    path = tmp_path / 'wall.data'
    threads = told(tally('record', '--wall', '-o', path, '--', workload('known_waits').path, str(UNIT_MS), check=0).stdout)
    by_waker = ns_by(tally, path, 'comm', 'state', 'waker')
    holder, feeder = (f'{name}:{threads[name]["tid"]}' for name in ('holder', 'feeder'))
    waiter = {waker: ns for (comm, state, waker), ns in by_waker.items() if comm == 'waiter' and state == 'lock'}
    assert max(waiter, key=waiter.get) == holder, by_waker
    reader = {waker: ns for (comm, state, waker), ns in by_waker.items() if comm == 'reader' and state == 'io'}
    assert max(reader, key=reader.get) == feeder, by_waker
    # Stacks are whole, though the program has no frame pointers.
    report = tally('report', '--stdio', '-i', path, '--wakers', check=0).stdout
    assert re.search(r'wait_for_mutex(.*\n)+?.*woken by holder(.*\n)+?.*\bhold\b', report), report
    assert re.search(r'read_pipe(.*\n)+?.*woken by feeder(.*\n)+?.*write\b(.*\n)+?.*\bbe\b', report), report
    # Timers wake sleepers, whatever ran when they expired.
    sleeper = {waker for (comm, state, waker) in by_waker if comm == 'sleeper' and state == 'sleep'}
    assert sleeper == {'[interrupt]'}, by_waker


def test_perfs_read_it(tally, perf, newest_perf, tmp_path):
    path = tmp_path / 'off.data'
    tally('record', '--off-cpu', '-e', 'dummy', '-o', path, '--', 'sleep', '1', check=0)
    waits = [w for w in waits_of(tally, path) if w['ns'] >= SECOND]
    assert [(w['comm'], w['count'], w['flags'] & ~INTERRUPT) for w in waits] == [('sleep', 1, WAKER)]
    for reader in (perf, newest_perf):
        assert 'offcpu-time' in reader('evlist', '-i', path, check=0).stdout
        script = reader('script', '-i', path, '-F', 'comm,tid,period,event,ip,sym', check=0).stdout
        found = re.search(r'^sleep\s+(\d+)\s+(\d+)\s+offcpu-time:\s*\n((?:\s+[0-9a-f]+ .*\n)+)', script, re.M)
        assert found, script
        assert (int(found[1]), int(found[2])) == (waits[0]['tid'], waits[0]['ns'])
        assert 'nanosleep' in found[3]
        report = reader('report', '-i', path, '--stdio', '--no-children', '-g', 'none', '-s', 'comm', check=0)
        assert re.search(r'sleep', report.stdout) and 'out of order' not in report.stderr


def test_threshold_decides_what_is_told_by_itself(tally, tmp_path):
    path = tmp_path / 'off.data'
    naps = 'import time\nfor _ in range(20): time.sleep(0.02)\ntime.sleep(0.3)'
    tally('record', '--off-cpu', '--off-cpu-thresh', '250', '-e', 'dummy', '-o', path, '--', 'python3', '-c', naps, check=0)
    slept = [w for w in waits_of(tally, path) if w['state'] == 2 and w['comm'] == 'python3']
    alone = [w for w in slept if w['ns'] >= 300 * MS and not w['flags'] & SUM]
    assert len(alone) == 1 and alone[0]['count'] == 1
    assert sum(w['count'] for w in slept) >= 15 and sum(w['ns'] for w in slept) >= 550 * MS
    assert any(w['flags'] & SUM for w in slept)
    # 0: all of them
    tally('record', '--off-cpu', '--off-cpu-thresh', '0', '-e', 'dummy', '-o', path, '--', 'python3', '-c', naps, check=0)
    slept = [w for w in waits_of(tally, path) if w['state'] == 2 and w['comm'] == 'python3']
    # A thread that loses its CPU after it has set the timer sleeps less.
    assert len([w for w in slept if w['ns'] >= 10 * MS]) >= 15 and {w['count'] for w in slept} == {1}


def test_waits_that_began_before_and_last(tally, tmp_path):
    """A process that sleeps all the time is in the recording, with the time that this took."""
    path = tmp_path / 'wall.data'
    with subprocess.Popen(['sleep', '1000']) as sleeper:
        wait_for(lambda: 'nanosleep' in read(f'/proc/{sleeper.pid}/wchan') or read(f'/proc/{sleeper.pid}/stat').split()[2] == 'S')
        began = time.monotonic()
        tally('record', '--wall', '-p', sleeper.pid, '-o', path, '--', 'sleep', '0.5', check=0)
        took = time.monotonic() - began
        sleeper.kill()
    waits = waits_of(tally, path)
    assert [(w['tid'], w['flags'] & (BEGAN_BEFORE | UNFINISHED)) for w in waits] == [
        (sleeper.pid, BEGAN_BEFORE | UNFINISHED)]
    assert 0.5 * SECOND <= waits[0]['ns'] <= took * SECOND


def read(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except OSError:
        return ''


def test_the_recorder_is_left_out(tally, system_wide, tmp_path):
    path = tmp_path / 'wall.data'
    recorder = tally.start('record', '-q', '--wall', '-a', '-o', path, '--', 'sleep', '0.5')
    assert recorder.wait() == 0
    waits = waits_of(tally, path)
    assert 'sleep' in {w['comm'] for w in waits}
    assert recorder.pid not in {w['tid'] for w in waits}


def test_a_killed_recorder_leaves_nothing_in_the_kernel(tally, system_wide, tmp_path):
    path = tmp_path / 'wall.data'
    recorder = tally.start('record', '-q', '--wall', '-a', '-o', path)
    try:
        wait_for(lambda: path.exists() and path.read_bytes().count(b'WAIT') > 10)
        programs = bpf_programs_of(recorder.pid)
    finally:
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
    assert waits_of(tally, path)
    assert programs
    wait_for(lambda: not programs & bpf_programs())


def test_forks_and_execs(tally, tmp_path):
    """Each child's waits are its own, also when it changes its program; nothing is lost."""
    path = tmp_path / 'wall.data'
    ran = tally('record', '--wall', '-o', path, '--', 'sh', '-c',
                'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done; exec sleep 0.2', check=0)
    assert 'missing' not in ran.stderr and 'lost' not in ran.stderr
    waits = waits_of(tally, path)
    assert len({w['tid'] for w in waits}) > 250
    asleep = [w for w in waits if w['comm'] == 'sleep' and w['state'] == 2]
    assert sum(w['ns'] for w in asleep) >= 200 * MS
    shell = {w['tid'] for w in asleep}
    assert len(shell) == 1 and sum(w['count'] for w in waits if w['tid'] in shell) >= 300


@pytest.fixture(name='cgroup')
def two_cgroups(system_wide):
    """A folder of a cgroup, its name, and one inside it."""
    root = next((pathlib.Path(line.split()[1]) for line in read('/proc/mounts').splitlines() if line.split()[2] == 'cgroup2'), None)
    if not root or pathlib.Path('/sys/fs/cgroup/perf_event/tasks').exists():
        pytest.skip('no cgroup v2 is mounted, or perf events belong to v1')
    folder = root / f'tally-waits-{os.getpid()}'
    try:
        (folder / 'inner').mkdir(parents=True)
    except OSError as error:
        pytest.skip(f'no cgroup can be made: {error}')
    yield folder
    wait_for(lambda: not (folder / 'inner/cgroup.procs').read_text())
    (folder / 'inner').rmdir()
    folder.rmdir()


def test_waits_of_a_cgroup_alone(tally, cgroup, tmp_path):
    """And of those inside it; others wait meanwhile, since before the recording and during it."""
    path = tmp_path / 'wall.data'
    before = f'echo $$ >{cgroup}/inner/cgroup.procs && exec sleep 1000'
    with subprocess.Popen(['sh', '-c', before]) as inside, subprocess.Popen(['sleep', '1000']) as outside:
        wait_for(lambda: str(inside.pid) in (cgroup / 'inner/cgroup.procs').read_text())
        wait_for(lambda: read(f'/proc/{inside.pid}/stat').split()[2] == 'S')
        ran = tally('record', '--wall', '-a', '-G', cgroup.name, '-o', path, '--', 'sh', '-c',
                    f'sleep 0.2; echo $$ >{cgroup}/cgroup.procs; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo $$; '
                    'exec sleep 0.3', check=0)
        inside.kill()
        outside.kill()
    mover = int(ran.stdout.split()[0])
    waits = waits_of(tally, path)
    assert {w['tid'] for w in waits} == {inside.pid, mover}, waits
    assert sum(w['ns'] for w in waits if w['tid'] == inside.pid) >= 0.5 * SECOND
    assert 0.3 * SECOND <= sum(w['ns'] for w in waits if w['tid'] == mover and w['state'] == 2)
    text = tally('script', '-i', path, '-F', 'tid,event', check=0).stdout
    assert {int(line.split()[0]) for line in text.splitlines() if 'cpu-clock' in line} == {mover}, text


@pytest.mark.parametrize('options, reason', [
    (('--off-cpu-thresh', '5'), '--off-cpu-thresh needs --off-cpu or --wall'),
    (('--off-cpu', '--off-cpu-thresh', 'x'), 'give a number of milliseconds'),
    (('--off-cpu', '-k', 'realtime'), '--off-cpu takes times of the clock monotonic'),
    (('--wall', '--overwrite'), '--wall writes waits into'),
    (('--wall', '--threads'), '--wall writes waits into'),
    (('--wall', '--wall-source', 'switches', '-G', '/', '-a'), 'are measured by BPF only')])
def test_refused_options(tally, tmp_path, options, reason):
    refused = tally('record', *options, '-o', tmp_path / 'x.data', '--', 'true', check=None)
    assert refused.returncode not in (0, None) and reason in refused.stderr
    assert not (tmp_path / 'x.data').exists()


def test_refusal_names_the_right_that_is_missing(tally, tmp_path):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv to become a user without rights')
    tmp_path.chmod(0o777)
    refused = subprocess.run(['setpriv', '--reuid', '65534', '--clear-groups', '--inh-caps=-all', '--', tally.path, 'record',
                              '--off-cpu', '--wall-source', 'bpf', '-o', tmp_path / 'x.data', '--', 'true'],
                             text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd='/')
    assert refused.returncode != 0
    assert 'CAP_BPF' in refused.stderr or 'lacks' in refused.stderr or 'Permission' in refused.stderr, refused.stderr
    assert not (tmp_path / 'x.data').exists()


@pytest.mark.alone
def test_perfs_own_test_passes(perfs_own_test):
    result = perfs_own_test('record_offcpu.sh')
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count('[Success]') == 4 and 'Failed' not in result.stdout


def test_sums_have_perfs_times_and_the_true_ones(tally, tmp_path):
    """perf's scripts tell sums by their times; our own views have the times of their ends."""
    path = tmp_path / 'off.data'
    tally('record', '--off-cpu', '-e', 'dummy', '-o', path, '--', 'sh', '-c', 'sleep 0.1; sleep 0.9', check=0)
    slept = sorted((w['end'], w['ns']) for w in waits_of(tally, path) if w['comm'] == 'sleep' and w['ns'] > 50 * MS)
    assert len(slept) == 2 and slept[0][1] >= 900 * MS and slept[0][0] < 2 ** 33, slept
    assert slept[1][1] < 900 * MS and slept[1][0] == pytest.approx(0xffffffff00000000 / 1e9), slept
    header = tally('report', '--header-only', '-i', path, check=0).stdout
    assert float(re.search(r'sample duration : +([\d.]+) ms', header)[1]) < 60_000, header

    span = f'{slept[0][0] - 100:.6f},{slept[0][0] - 0.5:.6f}'
    found = ns_by_comm(tally, path, '--time', span)
    assert 100 * MS <= found['sleep'] < 800 * MS, found


def ns_by_comm(tally, path, *options):
    tables = json.loads(tally('report', '--json', '-i', path, '-s', 'comm', *options, check=0).stdout)['tables']
    table = next(table for table in tables if table['events'][0]['name'] == 'offcpu-time')
    return {row['comm']: row['values'][0]['period'] for row in table['rows']}
