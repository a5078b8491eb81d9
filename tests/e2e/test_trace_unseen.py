# SPDX-License-Identifier: Apache-2.0
"""Calls of which the kernel reports only the end, and calls that no table has."""
import json
import re
import subprocess

import pytest

COUNT = 40


@pytest.fixture
def filtered(workload):
    path = str(workload('filtered').path)
    if subprocess.run([path]).returncode == 77:
        pytest.skip('no seccomp filters here')
    return path


def sums(tally, filtered, *options):
    out = json.loads(tally('trace', '-s', '--json', '--summary-mode', 'total', *options, filtered, COUNT, check=0).stderr)
    return {row['syscall']: row for row in out['syscalls']}


@pytest.mark.parametrize('options', [[], ['--no-bpf-summary']], ids=' '.join)
def test_sums_have_denied_calls(tally, traces_by_bpf, filtered, options):
    rows = sums(tally, filtered, *options)
    unlink = rows['unlinkat']
    assert (unlink['calls'], unlink['errors'], unlink['untimed_calls']) == (COUNT + 3, COUNT + 3, COUNT)
    assert 0 < unlink['min_ns'] <= unlink['avg_ns'] <= unlink['max_ns'], 'of the calls that have a duration'
    assert rows['syscall_9999']['calls'] == rows['syscall_9999']['errors'] == 5
    assert rows['syscall_600']['calls'] == 1
    assert rows.get('clone', rows.get('clone3'))['calls'] == 1, 'its return in the child is no call'


def test_lines_of_denied_calls(tally, traces_by_bpf, filtered):
    lines = [line for line in tally('trace', '-e', 'unlinkat', filtered, 1, check=0).stderr.splitlines() if 'unlinkat' in line]
    assert len(lines) == 4
    assert re.fullmatch(r' +\d+\.\d+ \( +\): filtered/\d+ unlinkat\(dfd: CWD, pathname: "refused-file"\) += -1 EPERM .*', lines[3])


def test_calls_of_unknown_numbers(tally, traces_by_bpf, filtered):
    lines = tally('trace', filtered, check=0).stderr
    assert len(re.findall(r'syscall_9999\(arg0: 0x1, arg1: 0x2, arg2: 0x3.*\) += -1 ENOSYS', lines)) == 5
    assert len(re.findall(r'syscall_600\(', lines)) == 1
    others = tally('trace', '-e', '!getpid', filtered, check=0).stderr
    assert others.count('syscall_9999(') == 5, 'all but one has those that have no name'
    assert 'syscall_9999' not in tally('trace', '-e', 'unlinkat', filtered, check=0).stderr


def test_signals_and_ends_are_lines(tally, traces_by_bpf):
    lines = tally('trace', '-e', 'kill', 'sh', '-c', 'sh -c "kill -SEGV \\$\\$"; exit 5', check=None).stderr
    assert re.search(r'sh/\d+ --- SIGSEGV \{ .si_signo: SIGSEGV, .si_code: SI_USER, .si_pid: \d+.*\} ---$', lines, re.M)
    assert re.search(r'\+\+\+ killed by SIGSEGV (\(core dumped\) )?\+\+\+$', lines, re.M)
    assert re.search(r'--- SIGCHLD \{ .*CLD_KILLED.*si_status: SIGSEGV', lines)
    assert re.search(r'\+\+\+ exited with 5 \+\+\+$', lines, re.M)
    assert '+++' not in tally('trace', '--failure', 'true', check=0).stderr
