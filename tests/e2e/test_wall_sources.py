# SPDX-License-Identifier: Apache-2.0
"""record --wall without BPF: from the sched tracepoints, and from context-switch records and /proc, as root and as a user
without rights; waits are compared with what the threads of a program measured themselves."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import child_named, wait_for
from test_off_cpu import BEGAN_BEFORE, INTERRUPT, MS, SECOND, UNFINISHED, UNIT_MS, ns_by, read, told, waits_of
from test_waits import folded

SOURCES = ('tracepoints', 'switches')
CAUSES = (('sleeper', 'sleep'), ('waiter', 'lock'), ('reader', 'io'))


@pytest.fixture(name='source', params=SOURCES)
def source_that_works(tally, tmp_path, request):
    """Skips with tally's own reason where this source is refused."""
    tried = tally('record', '--wall', '--wall-source', request.param, '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(f'{request.param}: {tried.stderr.strip().splitlines()[-1]}')
    return request.param


@pytest.fixture(name='as_user')
def user_without_rights(tally, workload):
    """Runs tally as a user without rights, in a folder that this user may write."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv to become a user without rights')
    folder = pathlib.Path(tempfile.mkdtemp(prefix='tally-user-', dir='/tmp'))
    folder.chmod(0o777)
    become = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps=-all', '--']

    def run(*words):
        return subprocess.run([*become, tally.path, *words], text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=folder, env={'PATH': os.environ['PATH'], 'HOME': str(folder)})
    run.folder = folder
    program = workload('known_waits').path
    if subprocess.run([*become, 'test', '-x', program], check=False, cwd='/').returncode != 0:
        pytest.skip(f'the user nobody cannot reach {program}')
    tried = run('record', '-e', 'cpu-clock:u', '-o', folder / 'try.data', '--', 'true')
    if tried.returncode != 0:
        pytest.skip(f'this kernel lets no user sample: {tried.stderr.strip().splitlines()[-1]}')
    yield run
    shutil.rmtree(folder)


def are_known_waits(threads, states, splits_wakes):
    """Within 1 % of what the threads measured themselves and of schedstat, and 3 ms for what they do after they asked. A
    source that does not see wake-ups has the time until a thread ran in the wait."""
    for name, state in CAUSES:
        waited, blocked = threads[name]['waited'], states[name, state]
        if splits_wakes:
            assert blocked <= waited * 1.01 + 3 * MS, states
        assert blocked + states.get((name, 'runnable'), 0) >= waited * 0.99 - 3 * MS, states
        assert blocked <= waited * 1.01 + 3 * MS + threads[name]['ready'], states
    for name in ('left', 'right', 'computer'):
        ready = threads[name]['ready']
        assert abs(states[name, 'runnable'] - ready) <= ready / 100 + 20 * MS, states
    assert states['holder', 'sleep'] >= 3 * UNIT_MS * MS


@pytest.mark.alone
def test_known_waits(tally, workload, tmp_path, source):
    path = tmp_path / 'wall.data'
    ran = tally('record', '--wall', '--wall-source', source, '-o', path, '--', workload('known_waits').path, str(UNIT_MS), check=0)
    assert f'(--wall-source {source})' in ran.stderr
    are_known_waits(told(ran.stdout), ns_by(tally, path, 'comm', 'state'), source == 'tracepoints')


@pytest.mark.alone
def test_stacks_and_wakers(tally, workload, tmp_path, source):
    """Whole stacks, though the program has no frame pointers; who woke whom is seen by the tracepoints alone."""
    path = tmp_path / 'wall.data'
    ran = tally('record', '--wall', '--wall-source', source, '-o', path, '--', workload('known_waits').path, '100', check=0)
    threads = told(ran.stdout)
    stacks = folded(tally('flamegraph', '--folded', path, check=0).stdout)
    for name, function, state in (('waiter', 'wait_for_mutex', '[lock]'), ('reader', 'read_pipe', '[io]'), ('holder', 'hold', '[sleep]')):
        found = [stack for stack in stacks if stack[0] == name and stack[-1] == state]
        assert any({'start_thread', 'run', function} <= set(stack) for stack in found), (name, stacks)
    wakers = {(comm, waker) for comm, state, waker in ns_by(tally, path, 'comm', 'state', 'waker') if state in ('lock', 'io', 'sleep')}
    if source == 'switches':
        assert {waker for _, waker in wakers} == {'-'}
        for words in (('report', '--stdio', '--wakers', '-i', path), ('flamegraph', '--wakers', '--folded', path)):
            assert 'wakers are not known' in tally(*words, check=255).stderr
    else:
        assert ('waiter', f'holder:{threads["holder"]["tid"]}') in wakers
        assert ('reader', f'feeder:{threads["feeder"]["tid"]}') in wakers
        assert ('sleeper', '[interrupt]') in wakers


@pytest.mark.alone
def test_known_waits_of_a_user(tally, workload, as_user):
    """Without any right, a user's own process is measured: the stacks of long waits are read while they last."""
    path = as_user.folder / 'wall.data'
    ran = as_user('record', '--wall', '-o', path, '--', workload('known_waits').path, str(UNIT_MS))
    assert ran.returncode == 0, ran.stderr
    notes = [line for line in ran.stderr.splitlines() if '--wall-source switches' in line]
    assert len(notes) == 1 and 'not from BPF' in notes[0] and 'not from the tracepoints' in notes[0], ran.stderr
    os.chown(path, os.geteuid(), os.getegid())
    are_known_waits(told(ran.stdout), ns_by(tally, path, 'comm', 'state'), False)
    stacks = folded(tally('flamegraph', '--folded', path, check=0).stdout)
    for name, function, state in (('waiter', 'wait_for_mutex', '[lock]'), ('reader', 'read_pipe', '[io]'), ('holder', 'hold', '[sleep]')):
        found = {stack: ns for stack, ns in stacks.items() if stack[0] == name and stack[-1] == state}
        assert any({'start_thread', 'run', function} <= set(stack) for stack in found), (name, stacks)


def test_waits_that_began_before_and_last(tally, tmp_path, source):
    path = tmp_path / 'wall.data'
    with subprocess.Popen(['sleep', '1000']) as sleeper:
        wait_for(lambda: read(f'/proc/{sleeper.pid}/stat').split()[2] == 'S')
        began = time.monotonic()
        tally('record', '--wall', '--wall-source', source, '-p', sleeper.pid, '-o', path, '--', 'sleep', '0.5', check=0)
        took = time.monotonic() - began
        sleeper.kill()
    waits = waits_of(tally, path)
    assert [(w['tid'], w['flags'] & (BEGAN_BEFORE | UNFINISHED)) for w in waits] == [(sleeper.pid, BEGAN_BEFORE | UNFINISHED)]
    assert 0.5 * SECOND <= waits[0]['ns'] <= took * SECOND


def test_the_whole_machine(tally, system_wide, tmp_path, source):
    path = tmp_path / 'wall.data'
    for _ in range(5):  # where rings are full, what is under way is not known any more
        recorder = tally.start('record', '--wall', '--wall-source', source, '-a', '-o', path, '--', 'sleep', '0.5')
        _, stderr = recorder.communicate()
        assert recorder.returncode == 0, stderr
        waits = waits_of(tally, path)
        asleep = [w for w in waits if w['comm'] == 'sleep' and w['ns'] >= 0.5 * SECOND and not w['flags'] & (BEGAN_BEFORE | UNFINISHED)]
        if asleep or 'are missing' not in stderr:
            break
    if not asleep and 'are missing' in stderr:
        pytest.skip('this machine is so busy that rings were full in each of five recordings')
    assert asleep and recorder.pid not in {w['tid'] for w in waits}, stderr
    if source == 'tracepoints':
        assert any(w['flags'] & INTERRUPT for w in asleep), waits


def test_forks_and_execs(tally, tmp_path, source):
    path = tmp_path / 'wall.data'
    tally('record', '--wall', '--wall-source', source, '-o', path, '--', 'sh', '-c',
          'i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i+1)); done; exec sleep 0.2', check=0)
    waits = waits_of(tally, path)
    assert len({w['tid'] for w in waits}) > 40
    assert sum(w['ns'] for w in waits if w['comm'] == 'sleep' and w['state'] == 2) >= 200 * MS


def test_what_begins_later(tally, tmp_path, source):
    """--delay: waits before it do not count."""
    path = tmp_path / 'wall.data'
    began = time.monotonic()
    tally('record', '--wall', '--wall-source', source, '-D', '300', '-o', path, '--', 'sh', '-c', 'sleep 0.6; sleep 0.2', check=0)
    took = time.monotonic() - began
    asleep = sum(w['ns'] for w in waits_of(tally, path) if w['comm'] == 'sleep' and w['state'] == 2)
    assert 200 * MS <= asleep <= (took - 0.3) * SECOND


@pytest.mark.parametrize('options, reason', [
    (('--wall-source', 'switches'), '--wall-source needs --off-cpu or --wall'),
    (('--wall', '--wall-source', 'guesses'), 'give auto, bpf, tracepoints or switches')])
def test_refused_options(tally, tmp_path, options, reason):
    refused = tally('record', *options, '-o', tmp_path / 'x.data', '--', 'true', check=None)
    assert refused.returncode != 0 and reason in refused.stderr
    assert not (tmp_path / 'x.data').exists()


@pytest.mark.parametrize('source, reasons', [('bpf', ('CAP_BPF', 'lacks')), ('tracepoints', ('no permission', 'tracefs'))])
def test_refusals_name_what_is_missing(as_user, source, reasons):
    refused = as_user('record', '--wall', '--wall-source', source, '-o', as_user.folder / 'x.data', '--', 'true')
    assert refused.returncode != 0 and any(reason in refused.stderr for reason in reasons), refused.stderr
    assert not (as_user.folder / 'x.data').exists()


PING = '''
import os
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(a[1])
    while os.read(a[0], 1):
        os.write(b[1], b'x')
    os._exit(0)
while True:
    os.write(a[1], b'x')
    os.read(b[0], 1)
'''


def switches_of(pid):
    return int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', read(f'/proc/{pid}/status'), re.M)[1])


def test_switches_that_rings_lost_are_lost_samples(tally, tmp_path, source):
    """A recorder that is stopped cannot empty its rings."""
    path = tmp_path / 'wall.data'
    recorder = tally.start('record', '--wall', '--wall-source', source, '-o', path, '--', sys.executable, '-c', PING)
    try:
        wait_for(lambda: path.exists() and path.read_bytes().count(b'WAIT') > 10)
        recorder.send_signal(signal.SIGSTOP)
        pinging = wait_for(lambda: child_named(recorder.pid, os.path.basename(sys.executable)))
        end = switches_of(pinging) + 60_000  # several times what the rings have room for
        wait_for(lambda: switches_of(pinging) > end)
    finally:
        recorder.send_signal(signal.SIGCONT)
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=60)
    lost = re.search(r'(\d+) context switches are missing from waits', said, re.M)
    assert lost, said
    stats = tally('report', '--stats', '-i', path, check=0).stdout
    waits = stats[stats.index('offcpu-time'):]
    assert int(re.search(r'LOST_SAMPLES events: +(\d+)', waits)[1]) >= int(lost[1]), stats
