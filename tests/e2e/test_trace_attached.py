# SPDX-License-Identifier: Apache-2.0
"""Traces of what runs already, or will: when they have begun, and whose lines are whose."""
import os
import re
import shutil
import signal
import subprocess

import pytest

from conftest import TIMEOUT_S, wait_for

FORKS = '''
import os, time
while True:
    if os.fork() == 0:
        os.getppid(); os._exit(0)
    os.wait(); time.sleep(0.01)
'''


def commands_of(user):
    return subprocess.run(['ps', '-u', str(user), '-o', 'comm='], capture_output=True, text=True).stdout.split()


@pytest.fixture
def nobody(tmp_path):
    """The beginning of a command of a user that has no process."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv')
    user = 61234
    assert not commands_of(user)
    return ['setpriv', '--reuid', str(user), '--clear-groups'], user


def attach(tally, tmp_path, *options):
    tracer = tally.start('trace', '-o', 'out', *options, cwd=tmp_path)
    assert 'attached to' in tracer.stderr.readline()
    return tracer


def end(tracer):
    tracer.send_signal(signal.SIGINT)
    tracer.communicate(timeout=TIMEOUT_S)


def test_children_of_a_process_are_named(tally, live, system_wide, tmp_path):
    server = subprocess.Popen(['/usr/bin/python3', '-c', FORKS])
    try:
        tracer = attach(tally, tmp_path, '-e', 'getppid,wait4', '-p', server.pid)
        wait_for(lambda: (tmp_path / 'out').read_text().count('getppid()') > 2)
        end(tracer)
    finally:
        server.kill()
        server.wait()
    lines = [line for line in (tmp_path / 'out').read_text().splitlines() if 'getppid()' in line]
    assert not [line for line in lines if not re.search(r'\): python3/\d+ getppid\(\)', line)]


def test_one_thread_alone_needs_no_name(tally, live, system_wide, tmp_path):
    sleeper = subprocess.Popen(['/usr/bin/python3', '-c', 'import time\nwhile True: time.sleep(0.01)'])
    try:
        tracer = attach(tally, tmp_path, '-p', sleeper.pid)
        wait_for(lambda: (tmp_path / 'out').read_text().count('clock_nanosleep(') > 2)
        end(tracer)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert '): clock_nanosleep(' in (tmp_path / 'out').read_text()


@pytest.mark.parametrize('options', [[], ['-S', '-F', 'all', '--syscalls']], ids=['calls', 'faults'])
def test_processes_that_a_user_starts_have_names(tally, traces_by_bpf, nobody, tmp_path, options):
    begin, user = nobody
    waiting = subprocess.Popen([*begin, 'sleep', '60']) if options else None
    try:
        if waiting:
            wait_for(lambda: commands_of(user) == ['sleep'])
        tracer = attach(tally, tmp_path, '-u', str(user), '-e', 'openat', *options)

        def found():
            subprocess.run([*begin, 'cat', '/etc/hostname'], stdout=subprocess.DEVNULL, check=True)
            return [line for line in (tmp_path / 'out').read_text().splitlines() if '/etc/hostname' in line]
        lines = wait_for(found)
        end(tracer)
    finally:
        if waiting:
            waiting.kill()
            waiting.wait()
    assert not [line for line in lines if not re.search(r'\): cat/\d+ openat\(', line)]
