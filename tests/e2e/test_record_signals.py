# SPDX-License-Identifier: Apache-2.0
"""Signals and limits that end a recording: what was recorded is kept, and its last lines are said."""
import os
import re
import resource
import signal
import subprocess

import pytest

from conftest import TIMEOUT_S, child_named, wait_for, waits_with_counters

pytestmark = pytest.mark.usefixtures('live')

INT, HUP, TERM = signal.SIGINT, signal.SIGHUP, signal.SIGTERM


def recording(tally, file, before=None, command=('sleep', '600')):
    process = tally.start('record', '-e', 'cpu-clock', '-o', file, '--', *command, preexec_fn=before)
    wait_for(lambda: waits_with_counters(process.pid) and child_named(process.pid, 'sleep'))
    return process


@pytest.mark.parametrize('signals', [[INT], [INT] * 2, [INT] * 20, [HUP], [HUP] * 3, [INT, HUP, TERM], [TERM] * 3],
                         ids=lambda signals: '-'.join(f'{len(signals)}{number.name}' for number in signals[:1]))
def test_signals_that_come_again(tally, tmp_path, signals):
    file = tmp_path / 'd'
    process = recording(tally, file)
    for number in signals:
        process.send_signal(number)
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == -TERM  # the command's end, which is passed on
    assert re.search(r'\[ \S+ record: Captured and wrote .* \]', err), err
    assert 'complete' in tally('health', file).stdout


def test_a_hang_up_that_is_ignored_stays_so(tally, tmp_path):
    process = recording(tally, tmp_path / 'd', lambda: signal.signal(HUP, signal.SIG_IGN), ('sleep', '1'))
    process.send_signal(HUP)
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0 and 'Captured' in err


def limited(bytes_most):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_most, bytes_most))


def test_the_limit_of_a_files_size(tally, tmp_path):
    file = tmp_path / 'd'
    busy = ['sh', '-c', 'i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done']
    result = subprocess.run([tally.path, 'record', '-F', '20000', '-g', '-e', 'cpu-clock', '-o', file, '--', *busy],
                            preexec_fn=limited(64 << 10), capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                            env=tally.environment)
    assert result.returncode == 255 and 'File too large' in result.stderr
    assert ('has all that was recorded so far' in result.stderr) == file.exists()
    small = subprocess.run([tally.path, 'record', '-e', 'cpu-clock', '-o', tmp_path / 'e', '--', *busy],
                           preexec_fn=limited(1 << 10), capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                           env=tally.environment)
    assert small.returncode == 255 and f"'{tmp_path}/e' cannot hold even the beginning" in small.stderr
    assert 'File too large' in small.stderr
    assert 'has all' not in small.stderr and not (tmp_path / 'e').exists()


def test_the_limit_is_the_commands_own_matter(tally, tmp_path):
    """A command dies of the signal as it would alone."""
    result = subprocess.run([tally.path, 'record', '-q', '-e', 'cpu-clock', '-o', tmp_path / 'd', '--', 'sh', '-c',
                             f'exec dd if=/dev/zero of={tmp_path}/large bs=1M count=200'],
                            preexec_fn=limited(100 << 20), capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                            env=tally.environment)
    assert result.returncode == -signal.SIGXFSZ
    assert os.path.getsize(tmp_path / 'large') == 100 << 20
