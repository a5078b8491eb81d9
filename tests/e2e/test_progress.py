# SPDX-License-Identifier: Apache-2.0
"""The line on the terminal while long work goes on: there from 0.3 s on, gone at the end, and nowhere else."""
import os
import pty
import re
import subprocess
import threading
import time

import perfdata_build
import pytest

from conftest import wait_for

SLOWLY = 0.8  # seconds that the recording takes to arrive, at least, where nothing is said


@pytest.fixture(name='pieces')
def fixture_pieces():
    """A recording as it comes through a pipe, in two pieces."""
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME')
    for i in range(50):
        recording.sample(ip=0x1000 + i, time=1000 + i)
    attr = recording.events[0][0]
    data = b'PERFILE2' + recording.pack('Q', 16)
    data += recording.pack('IHH', 64, 0, 8 + len(attr) + 8) + attr + recording.words([1]) + recording.records
    return data[:len(data) // 2], data[len(data) // 2:]


def run(tally, pieces, *arguments, stderr_is_terminal=True, until=None):
    """(what standard error got, exit status) of a command whose input comes slowly: the rest of it when that was said."""
    ours, theirs = pty.openpty() if stderr_is_terminal else os.pipe()
    child = subprocess.Popen([tally.path, *arguments], env={**tally.environment, 'TERM': 'xterm'}, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    got = []

    def collect():
        try:
            while block := os.read(ours, 4096):
                got.append(block)
        except OSError:
            pass  # a terminal ends so

    reader = threading.Thread(target=collect)
    reader.start()
    child.stdin.write(pieces[0])
    child.stdin.flush()
    if until:
        wait_for(lambda: until in b''.join(got))
    else:
        time.sleep(SLOWLY)
    child.stdin.write(pieces[1])
    child.stdin.close()
    child.stdout.read()
    status = child.wait()
    reader.join()
    os.close(ours)
    return b''.join(got).decode(), status


@pytest.mark.parametrize('verb', [['report', '--stdio', '-i', '-'], ['flamegraph', '--folded', '-i', '-']], ids=' '.join)
def test_a_terminal_sees_what_goes_on(tally, pieces, verb):
    text, status = run(tally, pieces, *verb, until=b'\r\x1b[Kreading the recording')
    assert status == 0
    assert '\r\x1b[Kreading the recording' in text
    # The last that it does is to clear its line; what is said comes behind.
    assert '\r\x1b[K' in text and 'reading' not in text.rpartition('\r\x1b[K')[2]


def test_elsewhere_nothing_is_said(tally, pieces):
    text, status = run(tally, pieces, 'report', '--stdio', '-i', '-', stderr_is_terminal=False)
    assert status == 0
    assert '\r' not in text and 'reading' not in text


def record(tally, folder, *arguments, stdout=subprocess.DEVNULL, until=None, go_on=None):
    """What standard error, a terminal, and standard output got of a recording that ends with its command; go_on() is
    called when `until` was said."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([tally.path, 'record', '-o', folder / 'perf.data', *arguments], env={**tally.environment, 'TERM': 'xterm'},
                             stdout=theirs if stdout is None else stdout, stderr=theirs)
    os.close(theirs)
    got = []
    try:
        while block := os.read(ours, 4096):
            got.append(block)
            if until and until in b''.join(got):
                go_on()
                until = None
    except OSError:
        pass
    os.close(ours)
    assert child.wait() == 0
    return b''.join(got).decode()


WAITS = ['--', 'sleep', '0.5']


def test_record_says_what_it_has(tally, live, tmp_path):
    end = tmp_path / 'end'
    text = record(tally, tmp_path, '-e', 'task-clock:u', '--', 'sh', '-c', f'until [ -e {end} ]; do sleep 0.05; done',
                  until=b'\r\x1b[Krecording: ', go_on=end.touch)
    line = re.search(r'\r\x1b\[Krecording: [\d.]+ s, \d+ samples?, [\d.]+ MB, 0 lost, (\d+) CPUs?', text)
    assert line and int(line[1]) == os.cpu_count()
    assert 'recording:' not in text.rpartition('\r\x1b[K')[2] and 'Captured and wrote' in text


def test_record_leaves_the_commands_terminal_alone(tally, live, tmp_path):
    assert '\x1b' not in record(tally, tmp_path, '-e', 'task-clock:u', *WAITS, stdout=None)
    assert record(tally, tmp_path, '-q', '-e', 'task-clock:u', *WAITS) == ''
