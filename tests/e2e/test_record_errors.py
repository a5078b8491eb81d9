# SPDX-License-Identifier: Apache-2.0
"""record with bad input: one clear sentence, the next command to try, perf's exit status."""
import os
import shutil
import subprocess

import pytest

CASES = {
    'unknown event': ('-e cycels', 129, "event syntax error: 'cycels'", "did you mean 'cycles'"),
    'unknown tracepoint': ('-e nosuch:tp', 129, 'nosuch'),
    'unknown pid': ('-p 99999999', 244, "Couldn't create thread/CPU maps: No such process", 'no process 99999999', 'ps -e'),
    'no pid': ('-p abc', 244, "'abc'"),
    'unknown tid': ('-t 99999999', 255, 'no thread 99999999'),
    'unknown user': ('-u no-such-user', 255, "no user 'no-such-user'"),
    'unknown CPU': ('-C 4095', 237, 'no CPU 4095', 'online'),
    'no CPU': ('-C abc', 129, "'abc'"),
    'frequency is no number': ('-F abc', 234, 'frequency and count are zero, aborting'),
    'frequency 0': ('-F 0', 234, 'frequency and count are zero, aborting'),
    'frequency and count': ('-F 100 -c 100', 234, 'cannot set frequency and period at the same time'),
    'strict frequency': ('--strict-freq -F 99999999', 234, 'Maximum frequency rate', 'perf_event_max_sample_rate'),
    'count is no number': ('-c abc', 129, "switch `c' expects a numerical value"),
    'ring too large': ('-m 99999G', 129, 'Invalid argument for --mmap_pages/-m'),
    'size of AUX data': ('-m 8,x', 129, 'Invalid argument for --mmap_pages/-m'),
    'call graph': ('--call-graph bogus', 129, 'callchain: Unknown --call-graph option value', 'fp, dwarf'),
    'stack size': ('--call-graph dwarf,70000', 129, 'callchain: Incorrect stack dump size'),
    'clock': ('-k bogus', 129, 'unknown clockid', 'monotonic'),
    'register': ('--user-regs=foo', 129, 'Unknown register'),
    'delay': ('-D abc', 129, '--delay takes milliseconds'),
    'not built yet': ('--aio', 129, 'not supported yet'),
    'unknown option': ('--nosuchoption', 129, 'nosuchoption'),
    'missing value': ('-e', 129, "switch `e' requires a value"),
    'no such folder': ('-e cpu-clock -o /nonexistent/x.data', 255, '/nonexistent/x.data', '-o'),
}


@pytest.mark.parametrize('name', CASES)
def test_bad_input(tally, tmp_path, live, name):
    options, status, *parts = CASES[name]
    words = options.split()
    command = [] if words[-1] == '-e' else ['--', 'true']
    output = [] if '-o' in words or not command else ['-o', tmp_path / 'x.data']
    result = tally('record', *output, *words, *command, cwd=tmp_path, check=status)
    for part in parts:
        assert part in result.stderr, result.stderr
    assert not (tmp_path / 'x.data').exists()


@pytest.mark.parametrize('command, reason', [('/nonexistent/command', 'No such file'), ('/etc/passwd', 'Permission denied')])
def test_command_that_cannot_run(tally, tmp_path, live, command, reason):
    result = tally('record', '-e', 'cpu-clock:u', '-o', tmp_path / 'x.data', '--', command, check=255)
    assert command in result.stderr and reason in result.stderr
    assert not (tmp_path / 'x.data').exists()


def test_instructions_without_a_pmu(tally, tmp_path, hardware_absent):
    result = tally('record', '-e', 'instructions', '-o', tmp_path / 'x.data', '--', 'true', check=255)
    assert 'instructions' in result.stderr and 'PMU' in result.stderr


def test_throttled_frequency(tally, tmp_path, live):
    result = tally('record', '-e', 'cpu-clock:u', '-F', '99999999', '-o', tmp_path / 'x.data', '--', 'true', check=0)
    assert 'warning: Maximum frequency rate' in result.stderr


def test_full_disk(tally, live):
    result = tally('record', '-e', 'cpu-clock:u', '-o', '/dev/full', '--', 'true', check=255)
    assert 'No space left on device' in result.stderr


def test_too_few_open_files(tally, tmp_path, live):
    if os.sysconf('SC_NPROCESSORS_ONLN') < 2:
        pytest.skip('one CPU needs too few files')
    events = ','.join(['cpu-clock:u', 'page-faults:u', 'task-clock:u'] * 10)
    script = f'ulimit -n 40; exec {tally.path} record -e {events} -o {tmp_path}/x.data -- true'
    result = subprocess.run(['sh', '-c', script], capture_output=True, text=True, check=False)
    assert result.returncode == 255
    assert 'open files' in result.stderr and 'ulimit -n' in result.stderr
    script = f'ulimit -Sn 40; exec {tally.path} record -e {events} -o {tmp_path}/x.data -- true'
    assert subprocess.run(['sh', '-c', script], capture_output=True, check=False).returncode == 0


def test_whole_system_without_rights(tally, open_folder, live):
    if int(open('/proc/sys/kernel/perf_event_paranoid').read()) < 1:
        pytest.skip('everybody may do it here')
    program = open_folder / 'tally'
    shutil.copy(tally.path, program)
    command = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', program, 'record', '-a', '-o',
               open_folder / 'x.data', '--', 'true']
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert result.returncode == 255
    assert 'perf_event_paranoid' in result.stderr and 'CAP_PERFMON' in result.stderr
    assert not (open_folder / 'x.data').exists()


@pytest.mark.parametrize('size, rounded', [('3,16', True), ('4,16M', False), (',16', False), ('3,', True)])
def test_the_size_of_aux_data_is_taken(tally, tmp_path, live, size, rounded):
    result = tally('record', '-e', 'cpu-clock:u', '-m', size, '-o', tmp_path / 'x.data', '--', 'true', check=0)
    assert ('rounding mmap pages size to 16K (4 pages)' in result.stderr) == rounded
    assert ('no AUX data is recorded' in result.stderr) == (not size.endswith(','))
    assert (tmp_path / 'x.data').exists()
