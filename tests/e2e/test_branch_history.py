"""`report --branch-history` and `--total-cycles`: the jumps that led to each sample, and the blocks between them."""
import re
import shutil

import pytest

from conftest import Program
from perfdata_build import BRANCH_ANY, CHAIN_USER, Recording

PREDICTED, MISPREDICTED, ABORTED = 2, 1, 8
# Newest first: from, to, flags and cycles.
CALL, BACK, LOOP = (0x401120, 0x401200), (0x401240, 0x401125), (0x401130, 0x401110)


def taken(ends, cycles, flags=PREDICTED):
    return (*ends, flags | cycles << 4)


def record(path, samples, chains=None):
    """samples: lists of branches, the newest first."""
    recording = Recording()
    fields = 'IDENTIFIER IP TID TIME CPU PERIOD' + (' CALLCHAIN' if chains else '') + ' BRANCH_STACK'
    recording.event(fields, kind=0, period=1, branch=BRANCH_ANY)
    recording.comm('jumper')
    recording.mmap(0x401000, 0x1000, '//anon')
    for index, branches in enumerate(samples):
        words = [word for branch in branches for word in branch]
        chain = {'callchain': chains[index]} if chains else {}
        recording.sample(ip=branches[0][1], time=10**9 + index * 10**6, branch_stack=words, **chain)
    recording.feature(15, b'')
    recording.text_feature(6, 'x86_64')
    recording.feature(7, recording.pack('II', 4, 4))
    recording.write(path)


def rows_of(text):
    return [row.rstrip() for row in text.splitlines() if row.rstrip() and not row.startswith('#')]


@pytest.fixture
def jumps(tmp_path):
    path = tmp_path / 'jumps.data'
    record(path, [[taken(LOOP, 10), taken(BACK, 7, MISPREDICTED | ABORTED), taken(CALL, 3)]] * 2 +
           [[taken(LOOP, 20), taken(BACK, 9), taken(CALL, 5)]] * 2 + [[taken(BACK, 30), taken(CALL, 4)]])
    return path


def test_branches_are_chains_with_means(tally, jumps):
    report = tally('report', '--branch-history', '-s', 'comm,callchain_branch_predicted,callchain_branch_abort,'
                   'callchain_branch_cycles', '-i', jumps, check=0)
    assert [row.strip() for row in rows_of(report.stdout)] == [
        '100.00%  jumper   85.7%      2      10',
        '|', '---0x401200', '0x401120 (cycles:4)', '0x401125 (predicted:60.0% abort:40.0%)', '0x401240 (cycles:12)',
        '|', '--80.00%--0x401110', '0x401130 (cycles:15)']
    callee = tally('report', '--branch-history', '--no-children', '-s', 'comm', '--max-stack', '1', '-i', jumps, check=0)
    assert [row.strip() for row in rows_of(callee.stdout)] == [
        '100.00%  jumper', '|', '|--80.00%--0x401110', '|          0x401130 (cycles:15)', '|',
        '--20.00%--0x401125', '0x401240 (cycles:30)']


@pytest.mark.parametrize('arguments', [
    '', '--no-children', '-s comm', '-s symbol', '-s comm,sym', '-F overhead,sym', '-n -s +cpu', '-g folded,address',
    '-g flat', '--max-stack 2', '-g count', '-g fractal,callee', '-G', '-b'])
def test_chains_are_perfs(tally, jumps, tmp_path, arguments):
    """Of perf 6.1: 7.3 forgets what it knew of branches where chains part."""
    if not shutil.which('perf'):
        pytest.skip('perf is not installed')
    perf = Program(shutil.which('perf'), tmp_path)
    command = ['report', '--stdio', '-f', '--branch-history', *arguments.split(), '-i', jumps]
    # 6.1 has no columns of branches.
    ours = [re.sub(r'\d+\.\d% +\d+ +\d+ +(-      -)$', r'\1', row) for row in rows_of(tally(*command, check=0).stdout)]
    assert ours == rows_of(perf(*command, check=0).stdout)


def test_callers_follow_the_branches(tally, tmp_path):
    """A call among the branches is no caller once more."""
    branches = [taken(LOOP, 10), taken(BACK, 7), taken(CALL, 3)]
    record(tmp_path / 'both.data', [branches], [[CHAIN_USER, LOOP[1], 0x401025, 0x401008]])
    report = tally('report', '--branch-history', '--no-children', '-s', 'comm', '-i', tmp_path / 'both.data', check=0)
    assert [row.strip() for row in rows_of(report.stdout)][-3:] == [
        '0x401120 (cycles:3)', '0x401025 (calltrace)', '0x401008 (calltrace)']
    plain = tally('report', '--no-branch-stack', '-g', 'callee,branch', '--no-children', '-s', 'comm', '-i',
                  tmp_path / 'both.data', check=0)
    assert [row.strip() for row in rows_of(plain.stdout)][2:] == [
        '---0x401110', '0x401130', '0x401125', '0x401240', '0x401200', '0x401120', '0x401025', '0x401008']


def test_refused_without_branches(tally, tmp_path):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME')
    recording.sample()
    recording.write(tmp_path / 'none.data')
    assert 'needs branch stacks' in tally('report', '--branch-history', '-i', tmp_path / 'none.data', check=255).stderr
    assert 'only with --branch-history' in tally(
        'report', '-s', 'callchain_branch_cycles', '-i', tmp_path / 'none.data', check=255).stderr
