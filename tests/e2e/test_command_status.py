# SPDX-License-Identifier: Apache-2.0
"""Who runs a command hands on how it ended, and leaves none running without a word."""
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import wait_for

EXITS = ('sh', '-c', 'exit 7'), 7
CRASHES = ('sh', '-c', 'ulimit -c 0; kill -SEGV $$'), 128 + signal.SIGSEGV


def status_of(tally, *words):
    """As a shell sees it."""
    result = tally(*words)
    return result.returncode if result.returncode >= 0 else 128 - result.returncode, result


@pytest.mark.parametrize('words', [
    ('stat', '-e', 'task-clock'), ('stat', '-r', 2, '-e', 'task-clock'), ('stat', '-I', 1000, '-e', 'task-clock'),
    ('stat', '--rung', 'rusage'), ('stat', '-j', '-e', 'task-clock'), ('stat', '-p', os.getpid(), '-e', 'task-clock'),
    ('stat', 'record', '-o', 'stat.data', '-e', 'task-clock'), ('stat', '--per-core', '-a', '-e', 'task-clock'),
    ('record', '-q', '-e', 'cpu-clock:u', '-o', 'perf.data'), ('summary', '--'), ('flamegraph', '--folded', '-o', 'folded', '--'),
    ('trace', '-o', 'lines'), ('trace', '-s', '-o', 'sums'), ('trace', 'record', '-o', 'trace.data'),
    ('lock', 'contention', '-b'), ('kwork', 'report', '-b'), ('sched', 'record', '-o', 'sched.data'),
], ids=lambda words: ' '.join(map(str, words[:2])) if isinstance(words, tuple) else None)
def test_the_status_of_the_command_is_handed_on(tally, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    possible, why = status_of(tally, *words, 'true')
    if possible not in (0, 255) or (possible == 255 and not re.search(r'tracepoint|BPF|permission|not supported|no samples', why.stderr)):
        assert possible == 0, why.stderr
    if possible:
        pytest.skip(f'not possible here: {why.stderr.splitlines()[-1]}')
    for command, expected in EXITS, CRASHES:
        got, result = status_of(tally, *words, *command)
        assert got == expected, result.stderr


def test_one_failed_run_of_several_is_not_hidden(tally, tmp_path):
    line = f'echo >> {tmp_path}/runs; ulimit -c 0; [ $(wc -l < {tmp_path}/runs) != 2 ] || kill -ABRT $$'
    result = tally('stat', '-r', 3, '-e', 'task-clock', 'sh', '-c', line, check=128 + signal.SIGABRT)
    assert '1 of 3 runs failed: signal 6, Aborted, and are counted with the others' in result.stderr


def test_the_reason_is_where_scripts_read(tally, tmp_path):
    line = json.loads(tally('stat', '-j', '-e', 'task-clock', *EXITS[0], check=7).stderr)
    assert line['failures'] == {'runs': 1, 'failed': 1, 'exit-status': 7, 'reason': '1 of 1 runs failed: exit status 7'}
    crash = json.loads(tally('stat', '-j', '-o', tmp_path / 'json', '-e', 'task-clock', *CRASHES[0], check=139) and
                       (tmp_path / 'json').read_text())
    assert crash['failures']['signal'] == 11 and crash['failures']['exit-status'] == 139
    last = json.loads(tally('stat', '-j', '-I', 10000, '-e', 'task-clock', *EXITS[0], check=7).stderr.splitlines()[-1])
    assert last['failures']['exit-status'] == 7
    assert 'failures' not in json.loads(tally('stat', '-j', '-e', 'task-clock', 'true', check=0).stderr)
    assert '# warning: 1 of 1 runs failed: exit status 7' in tally('stat', '-x,', '-e', 'task-clock', *EXITS[0], check=7).stderr
    tally('stat', '-o', tmp_path / 'text', '-e', 'task-clock', *EXITS[0], check=7)
    assert '# warning: 1 of 1 runs failed: exit status 7' in (tmp_path / 'text').read_text()
    assert '1 of 1 runs failed' not in tally('stat', '-x,', '-e', 'task-clock', 'true', check=0).stderr


def test_sums_of_a_trace_have_the_status(tally):
    if tally('trace', '-s', 'true').returncode:
        pytest.skip('trace is not possible here')
    sums = json.loads(tally('trace', '-s', '--json', *EXITS[0], check=7).stderr)
    assert sums['exit_status'] == 7 and 'signal' not in sums
    crashed = tally('trace', '-s', *CRASHES[0], check=139).stderr
    assert 'sh: Segmentation fault' in crashed


def test_an_end_that_was_asked_for_is_no_failure(tally):
    for words in ('--timeout', 100), ('-I', 50, '--interval-count', 1):
        result = tally('stat', *words, '-e', 'task-clock', 'sleep', 600, check=0)
        assert 'runs failed' not in result.stderr


def test_a_command_that_goes_on_after_the_trace_is_named(tally, tmp_path):
    if tally('trace', '-o', tmp_path / 'lines', 'true').returncode:
        pytest.skip('trace is not possible here')
    code = 'import os, time\nwhile not os.path.exists("' + str(tmp_path / 'end') + '"): time.sleep(0.01)'
    with open(tmp_path / 'said', 'wb') as said:  # a pipe would be open until the command ends
        ended = subprocess.run([tally.path, 'trace', '--max-events', '3', '-o', tmp_path / 'lines', sys.executable, '-c', code],
                               env=tally.environment, stdout=said, stderr=said, timeout=60, check=False)
    assert ended.returncode == 0
    pid = int(re.search(r"note: tracing has ended, and '.*' goes on as process (\d+)", (tmp_path / 'said').read_text())[1])
    assert os.path.exists(f'/proc/{pid}')
    (tmp_path / 'end').touch()
    wait_for(lambda: not os.path.exists(f'/proc/{pid}'))
    # One that has ended is not said to go on.
    assert 'goes on' not in tally('trace', '-o', tmp_path / 'lines', 'true', check=0).stderr


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_trace_leaves_its_command(tally, tmp_path, number):
    """As perf trace does; it is said."""
    if tally('trace', '-o', tmp_path / 'lines', 'true').returncode:
        pytest.skip('trace is not possible here')
    script = f'echo $$ > {tmp_path}/pid; exec sleep 600'
    running = subprocess.Popen([tally.path, 'trace', '-o', tmp_path / 'lines', 'sh', '-c', script], env=tally.environment,
                               stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    wait_for(lambda: (tmp_path / 'pid').exists() and (tmp_path / 'pid').read_text().strip())
    pid = int((tmp_path / 'pid').read_text())
    running.send_signal(number)
    try:
        assert running.wait(timeout=60) == 0
        assert os.path.exists(f'/proc/{pid}')
    finally:
        os.kill(pid, signal.SIGKILL)  # it has our pipe
    assert f"goes on as process {pid}" in running.communicate(timeout=60)[1].decode()
