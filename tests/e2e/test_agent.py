# SPDX-License-Identifier: Apache-2.0
"""agent: batches of windows, with labels, and every sample accounted for."""
import os
import pathlib
import re
import signal
import subprocess

import pytest
from batch_reader import batches_in
from conftest import wait_for
from test_refusals import NOBODY

TOTALS = re.compile(r'\[ tally agent: (\d+) windows, (\d+) samples taken, (\d+) kept, (\d+) dropped, '
                    r'(\d+) lost by the kernel \]')


class Agent:
    """A running agent, which writes what it says into a file."""

    def __init__(self, command, tmp_path, env=None):
        self.errors = tmp_path / 'agent-errors'
        with open(self.errors, 'wb') as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=tmp_path, env=env)

    def said(self):
        return self.errors.read_text(errors='replace')

    def end(self):
        """The figures of its last line."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.said()
        return [int(word) for word in TOTALS.search(self.said()).groups()]


@pytest.fixture
def agent(tally, tmp_path):
    running = []

    def start(*arguments, prefix=(), env=None):
        running.append(Agent([*prefix, tally.path, 'agent', *map(str, arguments)], tmp_path,
                             {**os.environ, **(env or {})}))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def deep(live, workload):
    process = subprocess.Popen([workload('deep').path, '100000000'], stdout=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait()


def files(folder):
    return list(pathlib.Path(folder).glob('*.batch.zst')) if pathlib.Path(folder).exists() else []


def test_windows_have_all_samples(agent, deep, tmp_path, system_wide):
    folder = tmp_path / 'batches'
    one = agent('--to', folder, '--window', '1', '-F', '199', '--max-cpu', '1000', '--max-memory', '4G', '--label',
                'region=eu', '--label', 'host=here')
    wait_for(lambda: len(files(folder)) >= 3)
    windows, taken, kept, dropped, lost = one.end()
    batches = batches_in(folder)
    assert windows == len(batches) >= 4 and dropped == 0
    assert sum(batch.count for batch in batches) == kept
    assert kept + sum(batch.losses.lost_samples for batch in batches) == taken + lost
    assert len({batch.id for batch in batches}) == len(batches)
    for before, batch in zip(batches, batches[1:]):
        assert before.begin < before.end == batch.begin
    for batch in batches:
        assert batch.labels['region'] == 'eu' and batch.labels['host'] == 'here'
        assert batch.labels['kernel'] == os.uname().release and batch.labels['arch'] == os.uname().machine
        assert batch.losses.own_cpu_ns > 0 and batch.losses.own_bytes > 0 and batch.losses.frequency_hz == 199
    mine = [sample for batch in batches for sample in batch.samples if sample['pid'] == deep.pid]
    running = [sample for sample in mine if sample['event'].startswith('cpu-clock')]
    assert all(sample['comm'] == sample['labels']['process'] == 'deep' for sample in mine)
    assert all(sample['labels']['service'] for sample in mine)
    assert sum(sample['count'] for sample in running) > 20
    assert sum(sample['value'] for sample in running) == sum(sample['count'] for sample in running) * (10**9 // 199)
    assert any(sample['stack'][:2] == ['leaf', 'level1'] or 'leaf' in sample['stack'] for sample in running)


def test_disk_full(agent, deep, tmp_path, system_wide):
    """What a folder has no room for is dropped, and the next batch says how much that was."""
    folder = tmp_path / 'small'
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], check=False,
                                           stderr=subprocess.DEVNULL).returncode:
        pytest.skip('no file system can be mounted here')
    try:
        ballast = folder / 'ballast'
        one = agent('--to', folder, '--window', '1', '-F', '99', '--no-wait')
        wait_for(lambda: len(files(folder)) >= 1)
        with open(ballast, 'wb', buffering=0) as full:
            try:
                while full.write(bytes(4096)):
                    pass
            except OSError:
                pass
        wait_for(lambda: 'No space left' in one.said())
        ballast.unlink()
        count = len(files(folder))
        wait_for(lambda: len(files(folder)) >= count + 2)
        _, taken, kept, dropped, lost = one.end()
        batches = batches_in(folder)
        assert sum(batch.losses.dropped_batches for batch in batches) > 0
        assert sum(batch.losses.dropped_samples for batch in batches) == dropped
        assert sum(batch.count for batch in batches) == kept
        assert kept + dropped + sum(batch.losses.lost_samples for batch in batches) == taken + lost
        assert not list(folder.glob('*.tmp'))
    finally:
        subprocess.run(['umount', folder], check=True)


@pytest.mark.parametrize('arguments, why', [
    ([], '--to is missing'),
    (['--to', 'ftp://x'], "'ftp://x' is no URL of http or https"),
    (['--to', 'x', '--window', '0'], '--window takes seconds'),
    (['--to', 'x', '--label', 'a'], 'expects NAME=VALUE'),
    (['--to', 'x', '--label', '1a=b'], 'takes names of letters'),
    (['--to', 'x', '--label', 'a=\n'], 'takes values of UTF-8'),
    (['--to', 'x', '--label', 'a=b', '--label', 'a=c'], "'a'"),
    (['--to', 'x', '--max-cpu', '0'], 'expects a percentage'),
    (['--to', 'x', '--max-memory', '100'], 'expects a size'),
    (['--to', 'x', '--token-file', '/nonexistent'], '/nonexistent'),
    (['--to', '/dev/null/x'], '/dev/null'),
    (['--to', 'x', 'word'], "unexpected argument 'word'"),
])
def test_refusals(tally, tmp_path, arguments, why):
    made = tally('agent', *arguments, cwd=tmp_path)
    assert made.returncode not in (0, 1) and why in made.stderr
    assert not files(tmp_path / 'x')


def test_own_processes_with_less_rights(agent, tally, open_folder, workload):
    if os.geteuid() != 0 or int(pathlib.Path('/proc/sys/kernel/perf_event_paranoid').read_text()) < 1:
        pytest.skip('takes root, and a kernel that refuses events of all CPUs to others')
    program = open_folder / 'tally'
    program.write_bytes(tally.path.read_bytes())
    program.chmod(0o755)
    busy = open_folder / 'busy'
    busy.write_bytes(workload('spin').path.read_bytes())
    busy.chmod(0o755)
    folder = open_folder / 'batches'
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    mine = subprocess.Popen([*NOBODY, busy, '100000000'], cwd=open_folder, stdout=subprocess.DEVNULL)
    try:
        one = Agent([*NOBODY, program, 'agent', '--to', folder, '--window', '1', '-F', '99'], open_folder)
        try:
            wait_for(lambda: any(sample['pid'] == mine.pid for batch in batches_in(folder)
                                 for sample in batch.samples))
        finally:
            one.process.send_signal(signal.SIGTERM)
            assert one.process.wait(60) == 0
        assert 'sampling your own processes' in one.said()
        assert 'waits are not measured' in one.said()
    finally:
        mine.kill()
        mine.wait()
