# SPDX-License-Identifier: Apache-2.0
"""script -s and -g: scripts of perf's kind, run on tally's events."""
import re
import shutil

import pytest

SHOW = '''
import sys

count = 0

def trace_begin():
    print('begin', sys.argv[1:])

def trace_end():
    print('end', count)

def process_event(event):
    global count
    count += 1
    if count == 1:
        print(event['ev_name'], event['comm'], sorted(event['sample'])[:3], len(event['attr']) >= 64)
        print(event.get('symbol'), [node.get('sym', {}).get('name') for node in event['callchain']][:2])
'''

NUMBERS = '''
def syscalls__sys_exit_write(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
        common_callchain, __syscall_nr, ret, perf_sample_dict):
    if common_comm == 'sh':
        print(event_name, __syscall_nr, ret, len(perf_sample_dict['raw_buf']) > 8)

def trace_unhandled(event_name, context, fields):
    print('unhandled', event_name, sorted(fields)[:2])
'''


@pytest.fixture
def python():
    if not shutil.which('python3'):
        pytest.skip('python3 is not installed')


@pytest.fixture
def profile(tally, tmp_path):
    path = tmp_path / 'data'
    tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', 5000, '-o', path, 'sh', '-c', 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done',
          check=0)
    return path


def test_process_event(tally, tmp_path, python, profile):
    script = tmp_path / 'show.py'
    script.write_text(SHOW)
    lines = tally('script', '-i', profile, '-s', script, 'one', 'two', check=0).stdout.splitlines()
    samples = tally('script', '-i', profile, '-F', 'ip', '-G', check=0).stdout.splitlines()
    assert lines[0] == "begin ['one', 'two']"
    assert lines[1].startswith("cpu-clock") and lines[1].endswith("['addr', 'cpu', 'cpumode'] True")
    assert lines[-1] == f'end {len(samples)}'


def test_perf_sees_the_same(tally, perf, tmp_path, python, profile):
    script = tmp_path / 'show.py'
    script.write_text(SHOW)
    theirs = perf('script', '-i', profile, '-s', script)
    if theirs.returncode != 0 or 'begin' not in theirs.stdout:
        pytest.skip('this perf runs no Python')
    # perf looks callers up at their return addresses: that of the loader's _start is where the next symbol begins.
    expected = theirs.stdout.replace("'_dl_start_user'", "'_start'")
    assert tally('script', '-i', profile, '-s', f'python:{script}', check=0).stdout == expected


def test_tracepoint_handlers(tally, tmp_path, python):
    data = tmp_path / 'data'
    made = tally('record', '-q', '-e', 'syscalls:sys_exit_write,syscalls:sys_enter_write', '-o', data, 'sh', '-c', 'echo hello >/dev/null; echo x >&9')
    if not data.exists():
        pytest.skip(f'tracepoints cannot be recorded here: {made.stderr.strip()}')
    script = tmp_path / 'numbers.py'
    script.write_text(NUMBERS)
    text = tally('script', '-i', data, '-s', script, check=0).stdout
    assert re.search(r'^syscalls__sys_exit_write 1 6 True$', text, re.M)
    assert "unhandled syscalls__sys_enter_write ['__syscall_nr', 'buf']" in text
    tally('script', '-i', data, '-g', 'python', cwd=tmp_path, check=0)
    generated = tally('script', '-i', data, '-s', 'perf-script.py', cwd=tmp_path, check=0).stdout
    assert generated.startswith('in trace_begin\n') and generated.endswith('in trace_end\n')
    assert 'ret=6' in generated
    named = tally('script', '-i', data, '-g', tmp_path / 'named.py', check=0)
    assert f'generated Python script: {tmp_path}/named.py' in named.stderr
    assert (tmp_path / 'named.py').read_text() == (tmp_path / 'perf-script.py').read_text()
    assert 'Python only' in tally('script', '-i', data, '-g', 'named.pl', check=255).stderr


def test_what_is_not_run(tally, tmp_path, python, profile):
    assert 'only Python' in tally('script', '-i', profile, '-s', 'x.pl', check=255).stderr
    assert 'No such file' in tally('script', '-i', profile, '-s', tmp_path / 'none.py', check=255).stderr
    script = tmp_path / 'raises.py'
    script.write_text('def process_event(event):\n    raise SystemExit(7)\n')
    tally('script', '-i', profile, '-s', script, check=7)
    assert 'python3' in tally('script', '-i', profile, '-s', script, env={'PATH': str(tmp_path)}, check=127).stderr
