# SPDX-License-Identifier: Apache-2.0
"""Surroundings that deny events, symbols or files, by verbs: doctor names the gate, and each verb measures or says what opens it.

Each cell is asserted and printed (pytest -s). A cell is a result, labelled if it is not from perf events. Where events are required,
it is a refusal with the least that opens them.
"""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import json_schema
from conftest import ROOT, TIMEOUT_S
from test_refusals import NOBODY, denying

PARANOID = pathlib.Path('/proc/sys/kernel/perf_event_paranoid')
SPIN_MS = 300
# What labels and refusals say: the gate, and one of the commands that open it.
GATES = ('seccomp filter', 'perf_event_paranoid is')
OPENERS = ('--security-opt seccomp=', 'kernel.perf_event_paranoid=', 'CAP_PERFMON', 'as root')


def covering(folder, *covered):
    """Words that run a command where these files or folders are covered by empty ones."""
    (folder / 'empty').write_text('')
    (folder / 'nothing').mkdir()
    mounts = [f'mount --bind {folder / ("nothing" if pathlib.Path(path).is_dir() else "empty")} {path}' for path in covered
              if pathlib.Path(path).exists()]
    if not mounts:
        pytest.skip(f'this kernel has no {covered[0]}')
    return ['unshare', '--mount', 'sh', '-c', ' && '.join(['mount --make-rprivate /', *mounts]) + ' && exec "$@"', 'sh']


def read_only(folder):
    """Words that run a command in / where only this folder can be written."""
    return ['unshare', '--mount', 'sh', '-c', f'mount --make-rprivate / && mount --bind {folder} {folder} && mount -o remount,ro,bind / '
            '&& cd / && exec "$@"', 'sh']


class Surrounding:
    """Where the verbs of a row run."""
    def __init__(self, tally, folder, prefix, gate=None, is_denied=False):
        self.prefix, self.gate, self.is_denied, self.folder = prefix, gate, is_denied, folder
        self.program, self.spin = folder / 'tally', folder / 'spin'
        self.program.write_bytes(tally.path.read_bytes())
        self.program.chmod(0o755)
        self.environment = {**os.environ, 'HOME': str(folder), 'TMPDIR': str(folder)}
        if self.run('true', program=[]).returncode != 0:
            pytest.skip(f'{" ".join(map(str, prefix[:2]))} is not permitted here')

    def run(self, *words, program=None):
        program = [self.program] if program is None else program
        return subprocess.run([*map(str, [*self.prefix, *program, *words])], capture_output=True, text=True, timeout=TIMEOUT_S,
                              check=False, stdin=subprocess.DEVNULL, env=self.environment, cwd=self.folder)

    def refuses(self, *words):
        """Where events are required, the gate is named, and what opens it."""
        result = self.run(*words)
        assert result.returncode == 255 and 'counted by' not in result.stderr, result.stderr
        assert any(gate in result.stderr for gate in GATES) and any(opener in result.stderr for opener in OPENERS), result.stderr
        assert '--require-event' in result.stderr and "'tally doctor'" in result.stderr, result.stderr

    def label(self, result):
        """The line that says how samples were taken without events, and what denies them."""
        label = next((line for line in result.stderr.splitlines() if '--rung timer' in line), '')
        assert bool(label) == self.is_denied, result.stderr
        assert not label or (any(gate in label for gate in GATES) and any(opener in label for opener in OPENERS)), label

    def doctor(self):
        result = self.run('doctor', '--json')
        document = json.loads(result.stdout)
        json_schema.check(document, json.loads((ROOT / 'docs' / 'schema' / 'doctor.json').read_text(encoding='utf-8')))
        software = next(event for event in document['events'] if event['name'] == 'software')
        assert software['is_allowed'] != self.is_denied
        if not self.gate:
            return 'nothing is in the way of events'
        setting = next(setting for setting in document['settings'] if setting['name'] == self.gate)
        assert setting['is_in_the_way'] and setting['opens_it'], setting
        return f'{self.gate}: {setting["opens_it"]}'

    def stat(self):
        text = self.run('stat', '-e', 'task-clock,page-faults,cycles', '--', self.spin, '20')
        lines = self.run('stat', '-j', '-e', 'task-clock,page-faults', '--', self.spin, '20')
        assert text.returncode == lines.returncode == 0, text.stderr
        documents = [json.loads(line) for line in lines.stderr.splitlines() if line.startswith('{')]
        assert len(documents) == 2 and all(float(document['counter-value']) > 0 for document in documents)
        assert all(('origin' in document) == self.is_denied for document in documents)
        assert text.stderr.startswith('# counted by getrusage and /proc') == self.is_denied
        if self.is_denied:
            assert any(opener in text.stderr.splitlines()[0] for opener in OPENERS)
            self.refuses('stat', '--require-event', '--', self.spin, '20')
            return 'counts of getrusage and /proc'
        return 'counts of events'

    def shows_spin(self, recording):
        shown = self.run('report', '-f', '--stdio', '-i', recording)
        assert shown.returncode == 0, shown.stderr
        rows = [line.split() for line in shown.stdout.splitlines() if line.strip() and not line.startswith('#')]
        assert any(row[-1].startswith('spin') and float(row[0].rstrip('%')) > 50 for row in rows), shown.stdout
        return shown.stdout

    def record(self):
        recording = self.folder / 'recorded.data'
        result = self.run('record', '-o', recording, '--', self.spin, SPIN_MS)
        assert result.returncode == 0, result.stderr
        self.label(result)
        shown = self.shows_spin(recording)
        assert ('# samples are from timers of CPU time, not from perf events' in shown) == self.is_denied, shown
        origin = json.loads(self.run('report', '-f', '--json', '-i', recording).stdout).get('origin', {})
        assert origin.get('kind') == ('timer' if self.is_denied else None), origin
        if self.is_denied:
            self.refuses('record', '--require-event', '-o', recording, '--', self.spin, '20')
        return 'samples of timers' if self.is_denied else 'samples of events'

    def flamegraph(self):
        picture = self.folder / 'flames.svg'
        result = self.run('flamegraph', '--svg', '-o', picture, '--', self.spin, SPIN_MS)
        assert result.returncode == 0, result.stderr
        self.label(result)
        assert picture.read_text().startswith('<') and 'spin' in picture.read_text()
        assert ('samples are from timers of CPU time' in picture.read_text()) == self.is_denied
        return 'drawn from timers' if self.is_denied else 'drawn from events'

    def row(self, name):
        cells = {verb: getattr(self, verb)() for verb in ('doctor', 'stat', 'record', 'flamegraph')}
        assert all(cells.values())
        for verb, cell in cells.items():
            print(f'{name:28} {verb:10} {cell}')
        return cells


@pytest.fixture
def root(live):
    if os.geteuid() != 0 or not shutil.which('unshare') or not shutil.which('setpriv'):
        pytest.skip('making these surroundings takes root, unshare and setpriv')


@pytest.fixture
def place(open_folder, workload):
    """A folder that every user can write to, with a program that uses the CPU."""
    open_folder.chmod(0o777)
    shutil.copy(workload('spin').path, open_folder / 'spin')
    (open_folder / 'spin').chmod(0o755)
    return open_folder


def test_root(tally, root, place):
    Surrounding(tally, place, []).row('root')


@pytest.fixture
def paranoid_at(root):
    """Sets perf_event_paranoid for the time of a test."""
    before = PARANOID.read_text(encoding='ascii')

    def put(value):
        try:
            PARANOID.write_text(f'{value}\n', encoding='ascii')
        except OSError as error:
            pytest.skip(f'perf_event_paranoid cannot be set here: {error}')
    yield put
    PARANOID.write_text(before, encoding='ascii')


@pytest.mark.alone
@pytest.mark.parametrize('value', [2, 3, 4])
def test_a_user(tally, paranoid_at, place, value):
    """Only some distributions' kernels deny everything from 3 on; the others take it as 2."""
    paranoid_at(value)
    opened = subprocess.run([*NOBODY, tally_path(tally, place), 'doctor', '-q', '--require', 'software'], check=False, capture_output=True)
    is_denied = opened.returncode != 0
    if value > 2:
        print(f'this kernel {"denies users every event" if is_denied else "allows users the same as at 2"} at perf_event_paranoid {value}')
    assert value > 2 or not is_denied
    surrounding = Surrounding(tally, place, NOBODY, 'kernel.perf_event_paranoid', is_denied)
    surrounding.row(f'user, paranoid {value}')
    document = json.loads(surrounding.run('doctor', '--json').stdout)
    assert next(setting for setting in document['settings'] if setting['name'] == 'kernel.perf_event_paranoid')['value'] == str(value)


def tally_path(tally, place):
    program = place / 'asked'
    program.write_bytes(tally.path.read_bytes())
    program.chmod(0o755)
    return program


@pytest.mark.parametrize('user', ['root', 'user'])
@pytest.mark.parametrize('error', ['EPERM', 'EACCES', 'ENOSYS'])
def test_a_seccomp_filter(tally, root, place, error, user):
    prefix = [*(NOBODY if user == 'user' else []), denying(place, 'perf_event_open', error)]
    Surrounding(tally, place, prefix, 'seccomp', is_denied=True).row(f'seccomp {error}, {user}')


def test_a_user_namespace(tally, root, place):
    surrounding = Surrounding(tally, place, [*NOBODY, 'unshare', '-Ur'], 'user namespace')
    surrounding.row('user namespace')


def test_no_kallsyms(tally, root, place):
    surrounding = Surrounding(tally, place, covering(place, '/proc/kallsyms'), 'kernel.kptr_restrict')
    assert 'umount /proc/kallsyms' in surrounding.row('no /proc/kallsyms')['doctor']
    said = surrounding.run('record', '-o', place / 'named.data', '--', surrounding.spin, '20').stderr
    assert 'an empty file covers /proc/kallsyms' in said and 'umount /proc/kallsyms' in said and 'kptr_restrict' not in said


def test_no_tracefs(tally, root, place):
    Surrounding(tally, place, covering(place, '/sys/kernel/tracing', '/sys/kernel/debug/tracing'), 'tracefs').row('no tracefs')


def test_a_read_only_root(tally, root, place):
    surrounding = Surrounding(tally, place, read_only(place), 'writable folders')
    surrounding.row('read-only root')
    refused = surrounding.run('record', '-o', 'perf.data', '--', surrounding.spin, '20')
    assert refused.returncode == 255 and 'choose another file with -o: Read-only file system' in refused.stderr
    surrounding.environment['TMPDIR'] = '/tmp'
    if str(place).startswith('/tmp/'):
        refused = surrounding.run('flamegraph', '-o', place / 'f.html', '--', surrounding.spin, '20')
        assert refused.returncode == 255 and "in '/tmp' (TMPDIR names another folder" in refused.stderr
