# SPDX-License-Identifier: Apache-2.0
"""Lists on the command line as people and scripts write them: blanks behind commas, a comma at the end, patterns of cgroups."""
import os
import pathlib
import subprocess

import pytest


def names(text):
    """The events of CSV, in order."""
    return [line.split(',')[2] for line in text.splitlines() if line.count(',') > 4]


@pytest.fixture
def sleeping(live):
    child = subprocess.Popen(['sleep', '600'])
    yield child.pid
    child.kill()
    child.wait()


@pytest.mark.parametrize('events', ['cs, page-faults', ' cs , page-faults ', 'cs,\n\tpage-faults', '{cs, page-faults}',
                                    '{ cs , page-faults }', ' {cs} , {page-faults}'])
def test_blanks_in_lists_of_events(tally, perf, live, events):
    text = tally('stat', '-x,', '-e', events, 'true', check=0).stderr
    assert names(text) == ['cs', 'page-faults']  # perf keeps the blanks in the names
    assert perf('stat', '-x,', '-e', events, 'true', check=0).returncode == 0


def test_blanks_in_events_of_record(tally, live, tmp_path):
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u , {page-faults:u, cs:u}', '-o', data, '--', 'true', check=0)
    listed = tally('evlist', '-i', data, check=0).stdout.split('\n')
    assert [line for line in listed if line][:3] == ['cpu-clock:u', 'page-faults:u', 'cs:u']


@pytest.mark.parametrize('events', ['cs,', ',cs', 'cs,,cs', '{cs,}', ' '])
def test_an_event_that_is_missing_is_told(tally, perf, live, events):
    assert tally('stat', '-e', events, 'true', check=129).stderr
    assert perf('stat', '-e', events, 'true').returncode == 129


@pytest.mark.parametrize('verb', ['stat', 'record'])
@pytest.mark.parametrize('option', ['-p', '-t'])
@pytest.mark.parametrize('form', ['{0},', '{0}, {0}', ' {0} , {0},', '{0} '])
def test_lists_of_targets(tally, sleeping, tmp_path, verb, option, form):
    words = ['-o', tmp_path / 'data'] if verb == 'record' else ['-x,']
    tally(verb, *words, '-e', 'cpu-clock', option, form.format(sleeping), '--', 'true', check=0)


@pytest.mark.parametrize('form', [',', ',{0}', '{0},,{0}', ''])
def test_an_id_that_is_missing_is_told(tally, sleeping, form):
    """A name that a script left empty is no list without it."""
    result = tally('stat', '-e', 'cpu-clock', '-p', form.format(sleeping), '--', 'true')
    assert result.returncode != 0 and 'process id' in result.stderr


@pytest.mark.parametrize('cpus', ['0,', '0, 0', ' 0', '0-0, '])
def test_lists_of_cpus(tally, system_wide, tmp_path, cpus):
    tally('stat', '-e', 'cpu-clock', '-C', cpus, '--', 'true', check=0)
    tally('record', '-q', '-e', 'cpu-clock', '-C', cpus, '-o', tmp_path / 'data', '--', 'true', check=0)
    for verb in ('report', 'script'):
        tally(verb, '-i', tmp_path / 'data', '-C', cpus, check=0)
    assert tally('stat', '-e', 'cpu-clock', '-C', ',', '--', 'true').returncode == 234


@pytest.mark.parametrize('option, plain, loose', [
    ('--sort', 'comm,dso', 'comm, dso,'), ('--sort', 'comm,dso', ' comm ,  dso'), ('--sort', 'comm,dso', 'comm dso'),
    ('-F', 'overhead,comm', 'overhead, comm,'), ('--pid', '{0}', '{0},'), ('--tid', '{0},1', '{0}, 1,'),
    ('-w', '10,20', '10, 20,'), ('--comms', 'spin', 'spin,')])
def test_lists_of_report(tally, live, workload, tmp_path, option, plain, loose):
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '-o', data, '--', workload('spin').path, 50, check=0)
    pid = tally('script', '-i', data, '-F', 'pid', check=0).stdout.split()[0]
    shown = [tally('report', '--stdio', '-i', data, option, value.format(pid), check=0).stdout for value in (plain, loose)]
    rows = [[line for line in text.splitlines() if line and line[0] != '#'] for text in shown]
    assert rows[0] and rows[0] == rows[1]


@pytest.fixture
def cgroups(system_wide):
    """Four cgroups; their common beginning."""
    root = next((line.split()[1] for line in pathlib.Path('/proc/mounts').read_text(encoding='utf-8').splitlines()
                 if line.split()[2] == 'cgroup2'), None)
    if not root or pathlib.Path('/sys/fs/cgroup/perf_event/tasks').exists():
        pytest.skip('no cgroup v2 is mounted, or perf events belong to v1')
    start = f'tally{os.getpid()}'
    made = [pathlib.Path(root, name) for name in (f'{start}a', f'{start}a/in', f'{start}b', f'{start}c.d')]
    try:
        for path in made:
            path.mkdir()
    except OSError:
        pytest.skip('cgroups cannot be made here')
    yield start
    for path in reversed(made):
        path.rmdir()


def test_patterns_of_cgroups(tally, cgroups):
    """As perf's: regular expressions from the beginning of the name on. A dot alone makes no pattern."""
    def found(text):
        result = tally('stat', '-a', '-x,', '-e', 'cs', '--for-each-cgroup', text.replace('@', cgroups), '--', 'true', check=0)
        return [line.split(',')[3].replace(cgroups, '@') for line in result.stderr.splitlines()]

    assert found('@.*') == ['@a', '@a/in', '@b', '@c.d']
    assert found('^@.$') == ['@a', '@b']
    assert found('@[bc], @a') == ['@b', '@c.d', '@a']
    assert found('@a$|@b') == ['@a', '@b']
    assert found('/@a/.*') == ['@a/in']
    assert found('@c.d') == ['@c.d']
    assert found('@b,@.$,') == ['@b', '@a', '/']
    result = tally('stat', '-a', '-e', 'cs', '--for-each-cgroup', f'{cgroups}x.*', '--', 'true', check=129)
    assert f'no cgroup matched: {cgroups}x.*' in result.stderr
    assert 'invalid pattern' in tally('stat', '-a', '-e', 'cs', '--for-each-cgroup', 'x[', '--', 'true', check=129).stderr
