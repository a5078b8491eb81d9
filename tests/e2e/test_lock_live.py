# SPDX-License-Identifier: Apache-2.0
"""lock contention -b: waits for the kernel's locks while they happen, as a recording of the same time has them."""
import collections
import copy
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import json_schema
import pytest
from conftest import TIMEOUT_S, bpf_programs, bpf_programs_of, child_named, wait_for, waits_with_counters
from test_refusals import as_nobody  # noqa: F401 (a fixture)

FIELDS = ['-x', ';', '-F', 'contended', '-k', 'contended']
CALLER = '# output: contended; type; caller'

# Processes that share an open file write to it by turns: each write holds the mutex of the position for longer than the
# scheduler lets one run, so the others wait for it. They begin when a line comes, and do not end before another does.
FIGHT = '''
import ctypes, os, sys, tempfile
MANY, PIECE = 30, b'x' * (8 << 20)
ctypes.CDLL(None).prctl(15, b'file-fight')
go, ready, ends = os.pipe(), os.pipe(), os.pipe()
shared = tempfile.TemporaryFile(dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
children = []
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        os.write(ready[1], b'r')
        os.read(go[0], 1)
        for _ in range(MANY):
            os.lseek(shared.fileno(), 0, os.SEEK_SET)
            os.write(shared.fileno(), PIECE)
        os.write(ready[1], b'r')
        os.read(ends[0], 1)
        os._exit(0)
    children.append(pid)
os.close(ready[1])
for _ in children:
    os.read(ready[0], 1)
print(os.getpid(), *children, flush=True)
if sys.argv[1:] != ['at-once']:
    sys.stdin.readline()
os.write(go[1], b'g' * len(children))
for _ in children:
    os.read(ready[0], 1)
print('done', flush=True)
if sys.argv[1:] != ['at-once']:
    sys.stdin.readline()
os.write(ends[1], b'e' * len(children))
for child in children:
    os.waitpid(child, 0)
'''
FEWEST = 5  # waits: some for each


@pytest.fixture
def tracepoints(system_wide):
    if not pathlib.Path('/sys/kernel/tracing/events/lock/contention_begin').exists():
        pytest.skip('no tracepoints of lock contention on this machine')


@pytest.fixture
def fight(tracepoints, tmp_path):
    """A script whose processes fight: a command line; with at-once it needs no lines."""
    script = tmp_path / 'fight.py'
    script.write_text(FIGHT)
    return [sys.executable, str(script)]


class Fight:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pids = self.process.stdout.readline().split()
        self.wait()

    def wait(self):
        """Until none of them does anything."""
        states = [pathlib.Path(f'/proc/{pid}/status') for pid in self.pids]
        wait_for(lambda: all('\nState:\tS' in state.read_text() for state in states))

    def run(self):
        self.process.stdin.write('go\n')
        self.process.stdin.flush()
        assert self.process.stdout.readline() == 'done\n'
        self.wait()

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=TIMEOUT_S)


def stop(watcher):
    watcher.send_signal(signal.SIGINT)
    _, text = watcher.communicate(timeout=TIMEOUT_S)
    return text


def rows(text):
    """What stands behind the count of each row, with the count."""
    found = collections.Counter()
    for line in text.splitlines():
        if line[:1].isdigit():
            count, rest = line.split('; ', 1)
            found[rest] += int(count)
    return found


def test_rows_are_those_of_a_recording(tally, fight, tmp_path):
    data = tmp_path / 'lock.data'
    fighters = Fight(fight)
    pids = ','.join(fighters.pids)
    layouts = (['-p', pids], ['-lp', pids], ['-tp', pids], ['-p', pids, '-Y', 'mutex'],
               ['-p', pids, '-S', 'mutex_lock,futex'], ['--tid', pids, '--max-stack', '4'], ['-tp', pids, '-C', '0'])
    recorder = tally.start('lock', 'record', '--kernel-callchains', '-o', data, '-p', pids)
    watchers = [tally.start('lock', 'contention', '-b', *FIELDS, *words) for words in layouts]
    for watcher in [recorder, *watchers]:
        wait_for(lambda: waits_with_counters(watcher.pid))  # noqa: B023 (it is asked at once)
    fighters.run()
    texts = [stop(watcher) for watcher in watchers]
    stop(recorder)
    fighters.end()
    assert [watcher.returncode for watcher in watchers] == [0] * len(layouts)
    for words, text in zip(layouts, texts):
        result = tally('lock', 'contention', *FIELDS, *words, '-i', data)
        expected = result.stderr
        if words[-2:] == ['-C', '0'] and result.returncode == 255 and 'is of the CPUs' in expected:
            assert not rows(text)  # no fighter waited on that CPU
            continue
        assert (result.returncode, rows(text)) == (0, rows(expected)), words
        assert re.search('^# output: .*', text, re.M)[0] == re.search('^# output: .*', expected, re.M)[0]
    waits = sum(rows(texts[0]).values())
    assert waits == sum(rows(texts[1]).values()) == sum(rows(texts[2]).values()) > FEWEST
    assert 0 < sum(rows(texts[3]).values()) <= waits
    assert {row.split(';')[0] for row in rows(texts[3])} == {'mutex'}
    assert 0 < sum(rows(texts[4]).values()) < waits + 1


def test_the_whole_machine_while_a_command_runs(tally, fight, tmp_path):
    data, table = tmp_path / 'lock.data', tmp_path / 'table'
    tally('lock', 'record', '-a', '-o', data, '--', tally.path, 'lock', 'con', '-abt', '--output', table, *FIELDS,
          '--', *fight, 'at-once', check=0)
    recorded = tally('lock', 'contention', '-t', *FIELDS, '-i', data, check=0).stderr
    fighters = {row for row in rows(recorded) if row.endswith('file-fight')}
    ours, theirs = rows(table.read_text()), rows(recorded)
    assert len(fighters) > 1
    for row in fighters:  # what a process does between the two ends is in the recording only
        assert ours[row] <= theirs[row] <= ours[row] + 20, row
    assert sum(ours[row] for row in fighters) > FEWEST


def test_a_command_is_watched_alone(tally, fight):
    shown = tally('lock', 'contention', '-bt', *FIELDS, '--', *fight, 'at-once', check=0)
    assert shown.stdout.endswith('done\n')
    comms = {row.split('; ')[1] for row in rows(shown.stderr)}
    assert 'file-fight' in comms and comms <= {'file-fight', pathlib.Path(fight[0]).name, 'python3', 'tally'}


@pytest.fixture
def bpf(tally, tracepoints):
    """Skips where BPF programs are refused."""
    refused = tally('lock', 'contention', '-b', '-o', '--', 'true')
    if refused.returncode:
        pytest.skip(f'BPF programs are refused here: {refused.stderr.splitlines()[0]}')


@pytest.fixture
def without_bpf(tally, tracepoints):
    """The program with the right to trace, but not to load BPF programs."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv to give up capabilities')
    program = copy.copy(tally)
    program.prefix = ['setpriv', '--bounding-set=-bpf,-sys_admin']
    return program


def test_owners_of_locks(tally, bpf, fight):
    """Each process waits for the mutex of the position that another of them holds."""
    shown = tally('lock', 'contention', '-bo', *FIELDS, '--', *fight, 'at-once', check=0).stderr
    assert '# output: contended; pid; comm' in shown.splitlines()
    owners = rows(shown)
    assert sum(count for row, count in owners.items() if row.endswith('; file-fight')) > FEWEST
    assert all(row == '-1; Unknown' or int(row.split(';')[0]) > 0 for row in owners)


def test_without_bpf_waits_come_out_of_rings(without_bpf, fight):
    shown = without_bpf('lock', 'contention', '-bt', *FIELDS, '--', *fight, 'at-once', check=0).stderr
    assert re.search(r'lock contention -b (loads|needs) BPF.*; each wait is read from the rings instead\n', shown)
    assert sum(count for row, count in rows(shown).items() if row.endswith('file-fight')) > FEWEST
    refused = without_bpf('lock', 'contention', '-bo', '--', 'true', check=255).stderr
    assert re.match(r'lock contention -b (loads BPF programs, which needs CAP_BPF|needs BPF)', refused)


def test_nothing_stays_in_the_kernel_after_a_kill(tally, bpf):
    watcher = tally.start('lock', 'contention', '-b', '--', 'sleep', '1000')
    sleeper = wait_for(lambda: child_named(watcher.pid, 'sleep'))
    programs = bpf_programs_of(watcher.pid)
    assert len(programs) == 4 and programs <= bpf_programs()
    watcher.kill()
    os.kill(sleeper, signal.SIGKILL)  # it has our pipes
    watcher.communicate()
    wait_for(lambda: not programs & bpf_programs())


def test_stacks_below_rows(tally, fight):
    shown = tally('lock', 'contention', '-bv', '-Y', 'mutex', '--', *fight, 'at-once', check=0).stderr
    assert re.search(r'^ +\d+ .* mutex   \S+\+0x[0-9a-f]+\n\t\t\t0x[0-9a-f]+  \w*mutex_lock\S*\+0x', shown, re.M)


def test_json_has_what_was_lost(tally, fight, bpf):
    schema = json.loads((pathlib.Path(__file__).parents[2] / 'docs/schema/lock.json').read_text())
    stdout = tally('lock', 'contention', '-b', '--json', '--', *fight, 'at-once', check=0).stdout
    document = json.loads(stdout[stdout.index('{'):])
    json_schema.check(document, schema)
    assert set(document['lost']) == {'samples', 'missed_events', 'waits', 'stacks', 'threads'}
    assert document['events'] > 0 and document['lost']['waits'] == 0 and 'lost_events' not in document


def test_rows_are_bounded(tally, fight):
    for _ in range(5):
        shown = tally('lock', 'contention', '-bl', '-M', '1', *FIELDS, '--', *fight, 'at-once', check=0).stderr
        assert len(rows(shown)) == 1
        note = re.search(r'note: (\d+) waits of (\d+) ns in total are in no row, because there are 1 rows already', shown)
        if note:
            break
    else:
        pytest.skip('five times all waits were for one lock')
    assert int(note[1]) > 0 and int(note[2]) > 0
    assert 'are in no row' not in tally('lock', 'contention', '-bl', *FIELDS, '--', *fight, 'at-once', check=0).stderr


@pytest.fixture
def cgroup():
    mounts = pathlib.Path('/proc/mounts').read_text().splitlines()
    roots = [line.split()[1] for line in mounts if line.split()[2] == 'cgroup' and 'perf_event' in line.split()[3]]
    roots += [line.split()[1] for line in mounts if line.split()[2] == 'cgroup2']
    folder = pathlib.Path(roots[0] if roots else '/nowhere') / f'tally-test-{os.getpid()}'
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f'no cgroup can be made: {error}')
    yield folder
    folder.rmdir()


def test_cgroups(tally, fight, cgroup):
    inside = ['sh', '-c', f'echo 0 > {cgroup}/cgroup.procs && exec "$0" "$@"', *fight, 'at-once']
    name = cgroup.name
    shown = rows(tally('lock', 'contention', '-ab', '--lock-cgroup', *FIELDS, '--', *inside, check=0).stderr)
    assert shown[f'/{name}'] > FEWEST
    only = tally('lock', 'contention', '-ab', '--lock-cgroup', '-G', name, *FIELDS, '--', *inside, check=0).stderr
    assert '# output: contended; cgroup' in only.splitlines()
    assert list(rows(only)) == [f'/{name}'] and rows(only)[f'/{name}'] > FEWEST
    threads = tally('lock', 'contention', '-abt', '-G', f'/{name},/', *FIELDS, '--', *inside, check=0).stderr
    assert any(row.endswith('file-fight') for row in rows(threads))
    refused = tally('lock', 'contention', '-b', '-G', f'{name}/none', '--', 'true', check=255).stderr
    assert f"there is no cgroup '{name}/none'" in refused


def test_cgroups_of_a_recording(tally, fight, cgroup, tmp_path):
    inside = ['sh', '-c', f'echo 0 > {cgroup}/cgroup.procs && exec "$0" "$@"', *fight, 'at-once']
    data = tmp_path / 'lock.data'
    tally('lock', 'record', '-a', '--all-cgroups', '-o', data, '--', *inside, check=0)
    shown = tally('lock', 'contention', '--lock-cgroup', '-i', data, check=0).stderr
    assert re.search(r'avg wait   cgroup$', shown, re.M)
    assert re.search(rf'^ +\d+ .* (ns|us|ms| s) +/{cgroup.name}$', shown, re.M)
    tally('lock', 'record', '-a', '-o', data, '--', 'true', check=0)
    assert '--all-cgroups' in tally('lock', 'contention', '--lock-cgroup', '-i', data, check=255).stderr


def test_a_signal_ends_it(tally, tracepoints):
    watcher = tally.start('lock', 'contention', '-b', *FIELDS)
    wait_for(lambda: waits_with_counters(watcher.pid))
    text = stop(watcher)
    assert watcher.returncode == 0
    assert CALLER in text
    watcher = tally.start('lock', 'contention', '-ab', '--', 'sleep', '1000')
    wait_for(lambda: waits_with_counters(watcher.pid))
    assert 'total wait' in stop(watcher)
    assert watcher.returncode == 0


def test_a_command_that_is_not_there(tally, tracepoints):
    refused = tally('lock', 'contention', '-b', '--', './not-there', check=255)
    assert 'not-there' in refused.stderr and 'contended' not in refused.stderr


@pytest.mark.parametrize('words, status, text', [
    (['contention', '-b', '-i', 'x'], 129, '--input does not go with --use-bpf'),
    (['contention', '-b', '-D'], 129, '--dump-raw-trace does not go with --use-bpf'),
    (['contention', '-b', '-M', '0'], 129, '--map-nr-entries is 1 at least'),
    (['contention', '-b', '-t', '-l'], 129, 'Cannot use thread and addr mode together'),
    (['contention', '-b', '-t', '-g'], 129, '--lock-cgroup does not go with --threads or --lock-addr'),
    (['contention', '-o'], 129, '--lock-owner needs --use-bpf'),
    (['contention', '-b', '-o', '-l', 'true'], 129, 'Cannot use thread and addr mode together'),
    (['report', '-o'], 129, '--lock-owner does not go with report'),
    (['contention', '-J', '1ms@foo'], 129, 'is not supported yet: this needs a program inside the kernel'),
    (['report', '-b'], 129, '--use-bpf does not go with report'),
    (['report', '-M', '3'], 129, '--map-nr-entries does not go with report'),
    (['contention', 'true'], 129, "unexpected argument 'true': -b watches a command"),
    (['contention', '-b', '-k', 'foo', 'true'], 255, 'Unknown compare key: foo'),
    (['contention', '-b', '-p', '99999999'], 255, 'no process 99999999'),
    (['contention', '-b', '--output', '/nowhere/x', 'true'], 255, '/nowhere/x'),
])
def test_refusals(tally, tracepoints, words, status, text):
    shown = tally('lock', *words, check=status).stderr
    assert text in shown
    assert '  max wait  ' not in shown


def test_others_are_told_what_they_lack(as_nobody, tracepoints):  # noqa: F811
    result = as_nobody('lock', 'contention', '-ab', '--', 'true')
    assert result.returncode == 255
    assert 'no permission to read' in result.stderr or 'perf_event_paranoid' in result.stderr
    assert 'Usage' not in result.stderr
