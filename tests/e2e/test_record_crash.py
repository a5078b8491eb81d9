# SPDX-License-Identifier: Apache-2.0
"""A recording that is killed, or whose disk is full: what was flushed opens in tally and in perf.

Each kind of file is killed three times, and ten times in a long case. TALLY_KILLS sets another number; the largest loss is
printed (pytest -s).
"""
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import wait_for, wait_for_command
from perfdata_file import FEATURES, SAMPLE, PerfData, told_size

pytestmark = pytest.mark.usefixtures('live')
RATE = 999
OPTIONS = ('-a', '-g', '-e', 'cpu-clock', '-F', RATE, '-k', 'CLOCK_MONOTONIC')
FIELDS = ('-F', 'tid,time,event', '--ns')
SYNC_MS = 250  # RECORD_SYNC_MS
KINDS = [pytest.param((), id='plain'), pytest.param(('-z',), id='zstd')]


@pytest.fixture(params=[3, pytest.param(10, marks=pytest.mark.long)])
def kills(request):
    return int(os.environ.get('TALLY_KILLS', request.param))


@pytest.fixture(autouse=True)
def whole_machine():
    if os.geteuid() != 0:
        pytest.skip('needs root: it records the whole machine')


def times(program, path):
    """The times of all samples in seconds."""
    result = program('script', '-i', path, *FIELDS, check=0)
    return [float(time_) for time_ in re.findall(r'(\d+\.\d+):\s+\S*cpu-clock', result.stdout)]


def end_group(process):
    """The command outlives a killed recorder, and holds its pipes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def kill_one(tally, workload, path, kind, delay, waits_for_samples):
    """Kills a recording; the time of the kill."""
    process = tally.start('record', *OPTIONS, *kind, '-o', path, '--', workload('spin').path, 60000,
                          start_new_session=True)
    wait_for(lambda: told_size(path))
    if waits_for_samples:
        wait_for(lambda: 'cpu-clock' in tally('script', '-i', path, *FIELDS).stdout)
    time.sleep(delay)
    killed = time.clock_gettime(time.CLOCK_MONOTONIC)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    end_group(process)
    return killed


class Losses:
    """What was lost by the kills of one kind."""

    def __init__(self):
        self.ms, self.samples, self.early, self.kills, self.unseen = [], [], 0, 0, 0

    def add(self, killed, ours, theirs):
        ms = (killed - ours[-1]) * 1000
        recent = sum(1 for t in ours if t > ours[-1] - 0.2)
        self.ms.append(ms)
        self.samples.append(max(ms, 0) * recent / min(200, max((ours[-1] - ours[0]) * 1000, 1)))
        self.unseen = max(self.unseen, len(ours) - len(theirs))

    def __str__(self):
        return (f'{self.kills} kills, {self.early} before the first sample was flushed; largest loss '
                f'{max(self.ms):.0f} ms, about {max(self.samples):.0f} samples; flushed, but behind the size in the '
                f'header (perf does not see them): at most {self.unseen} samples')


@pytest.mark.parametrize('kind', [*KINDS, pytest.param(('--threads',), id='threads')])
def test_kill_at_any_moment(tally, perf, workload, tmp_path, kind, kills):
    seed = int(os.environ.get('TALLY_SEED', time.time_ns() % 100000))
    moments = random.Random(seed)
    losses = Losses()
    for i in range(kills):
        path = tmp_path / f'{i}.data'
        killed = kill_one(tally, workload, path, kind, moments.uniform(0.3, 1.5), i == 0)
        losses.kills += 1
        ours, theirs = times(tally, path), times(perf, path)
        assert len(theirs) <= len(ours), f'seed {seed}, kill {i}'
        assert theirs == ours[:len(theirs)] or set(theirs) <= set(ours), f'seed {seed}, kill {i}'
        if not ours:
            losses.early += 1
            continue
        losses.add(killed, ours, theirs)
        assert 'hostname' in perf('report', '--header-only', '-i', path).stdout
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    assert losses.ms, 'no kill came after the first samples'
    print(f'\n{"".join(kind) or "plain"}: {losses} (seed {seed})')


@pytest.mark.parametrize('kind', KINDS)
def test_kill_while_it_closes(tally, perf, workload, tmp_path, kind, kills):
    """Ctrl-C, and a kill while build ids and features are written."""
    seed = int(os.environ.get('TALLY_SEED', time.time_ns() % 100000))
    moments = random.Random(seed)
    finished = 0
    for i in range(kills):
        path = tmp_path / f'{i}.data'
        process = tally.start('record', *OPTIONS, *kind, '-o', path, '--', workload('spin').path, 60000,
                              start_new_session=True)
        wait_for(lambda: told_size(path))
        wait_for(lambda: times(perf, path))
        process.send_signal(signal.SIGINT)
        time.sleep(moments.uniform(0, 0.01))
        process.kill()
        process.wait()
        end_group(process)
        finished += process.returncode != -signal.SIGKILL
        ours, theirs = times(tally, path), times(perf, path)
        assert theirs and set(theirs) <= set(ours), f'seed {seed}, kill {i}'
        if process.returncode != -signal.SIGKILL:
            assert set(theirs) == set(ours)
        assert 'hostname' in perf('report', '--header-only', '-i', path).stdout
        path.unlink()
    print(f'\n{"".join(kind) or "plain"}: {finished} of {kills} were through when the kill came (seed {seed})')


def test_kill_while_it_switches(tally, perf, workload, tmp_path, kills):
    seed = int(os.environ.get('TALLY_SEED', time.time_ns() % 100000))
    moments = random.Random(seed)
    files = 0
    for i in range(kills):
        directory = tmp_path / str(i)
        directory.mkdir()
        process = tally.start('record', '-e', 'cpu-clock', '-F', '9999', '--switch-output=20K', '-m', '4', '-o',
                              directory / 'perf.data', '--', workload('spin').path, 60000, start_new_session=True)
        wait_for(lambda: any(directory.glob('perf.data.*')))
        time.sleep(moments.uniform(0, 0.5))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        end_group(process)
        for path in directory.glob('perf.data.*'):
            assert set(times(perf, path)) == set(times(tally, path)) != set(), f'seed {seed}, kill {i}'  # finished
            files += 1
        last = directory / 'perf.data'
        if told_size(last):
            assert set(times(perf, last)) <= set(times(tally, last)), f'seed {seed}, kill {i}'
    assert files > 0


@pytest.fixture
def small_disk(tmp_path):
    path = tmp_path / 'disk'
    path.mkdir()
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'none', path], check=False)
    if mounted.returncode != 0:
        pytest.skip('a tmpfs cannot be mounted here')
    yield path
    subprocess.run(['umount', '-l', path], check=True)


@pytest.mark.parametrize('kind', KINDS)
def test_full_disk(tally, perf, workload, small_disk, kind):
    path = small_disk / 'perf.data'
    # What is told of the programs that run may fill it alone.
    result = tally('record', '-a', '-g', '-e', 'cpu-clock', '-F', '20000', '--synth=no', *kind, '-o', path, '--',
                   workload('spin').path, 60000)
    assert result.returncode != 0
    assert 'No space left on device' in result.stderr
    assert f"'{path}' has all that was recorded so far" in result.stderr
    ours, theirs = times(tally, path), times(perf, path)
    assert len(ours) > 100
    assert theirs == ours or set(theirs) == set(ours)
    file = PerfData(path)
    assert FEATURES['HOSTNAME'] in file.bits
    assert path.stat().st_size > 240 << 10  # the room there is, is used


def test_full_disk_of_several_threads(tally, perf, workload, small_disk):
    path = small_disk / 'perf.data'
    result = tally('record', '-a', '-g', '-e', 'cpu-clock', '-F', '20000', '--synth=no', '--threads', '-m', '8', '-o', path,
                   '--', workload('spin').path, 60000)
    assert result.returncode != 0
    assert 'No space left on device' in result.stderr
    ours, theirs = times(tally, path), times(perf, path)
    assert len(ours) > 100 and sorted(theirs) == sorted(ours)


def test_full_disk_at_the_start(tally, workload, small_disk):
    (small_disk / 'other').write_bytes(bytes(256 << 10))
    result = tally('record', '-e', 'cpu-clock', '-o', small_disk / 'perf.data', '--', workload('spin').path, 10)
    assert result.returncode != 0
    assert 'No space left on device' in result.stderr


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('kind', [*KINDS, pytest.param(('--overwrite', '--switch-output'), id='overwrite')])
def test_a_signal_ends_it_well(tally, perf, workload, tmp_path, number, kind):
    path = tmp_path / 'perf.data'
    process = tally.start('record', *OPTIONS, *kind, '-o', path, '--', workload('spin').path, 60000)
    if '--overwrite' not in kind:  # which writes nothing before its end
        wait_for(lambda: told_size(path))
    wait_for_command(process, 'spin', 0.3)
    process.send_signal(number)
    process.communicate()
    assert process.returncode in (-number, -signal.SIGTERM)  # the command's, which was ended
    path = next(tmp_path.glob('perf.data*'))
    assert len(times(perf, path)) == len(times(tally, path)) == PerfData(path).count(SAMPLE) or kind == ('-z',)
    assert len(times(perf, path)) > 20
