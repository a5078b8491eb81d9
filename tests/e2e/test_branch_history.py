# SPDX-License-Identifier: Apache-2.0
"""`report --branch-history` and `--total-cycles`: the jumps that led to each sample, and the blocks between them."""
import json
import pathlib
import random
import re
import shutil

import pytest

import json_schema
from conftest import Program
from perfdata_build import BRANCH_ANY, BRANCH_CALL_STACK, BRANCH_HW_INDEX, BRANCH_USER, CHAIN_USER, Recording

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'report.json').read_text())

PREDICTED, MISPREDICTED, ABORTED = 2, 1, 8
# Newest first: from, to, flags and cycles.
CALL, BACK, LOOP = (0x401120, 0x401200), (0x401240, 0x401125), (0x401130, 0x401110)


def taken(ends, cycles, flags=PREDICTED):
    return (*ends, flags | cycles << 4)


def record(path, samples, chains=None, periods=None):
    """samples: lists of branches, the newest first."""
    recording = Recording()
    fields = 'IDENTIFIER IP TID TIME CPU PERIOD' + (' CALLCHAIN' if chains else '') + ' BRANCH_STACK'
    recording.event(fields, kind=0, period=1, branch=BRANCH_ANY)
    recording.comm('jumper')
    recording.mmap(0x401000, 0x1000, '//anon')
    for index, branches in enumerate(samples):
        words = [word for branch in branches for word in branch]
        chain = {'callchain': chains[index]} if chains else {}
        chain |= {'period': periods[index]} if periods else {}
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
    assert 'need --branch-history' in tally(
        'report', '-s', 'callchain_branch_cycles', '-i', tmp_path / 'none.data', check=255).stderr


BLOCKS = """
.text
.macro function name bytes
.globl \\name
.type \\name, @function
\\name: .fill \\bytes, 1, 0x90
.size \\name, \\bytes
.endm
function leaf 32
function loop 64
function _start 32
"""
LEAF, LOOPED, START = 0x401000, 0x401020, 0x401060


@pytest.fixture
def blocks(tmp_path):
    """Two functions that call and loop, and branches in them."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    (tmp_path / 'blocks.s').write_text(BLOCKS)
    program = tmp_path / 'blocks'
    Program(shutil.which('gcc'), tmp_path)('-nostdlib', '-static', '-no-pie', '-Wl,-Ttext=0x401000', '-o', program,
                                           tmp_path / 'blocks.s', check=0)
    call, back, jump = (LOOPED + 16, LEAF), (LEAF + 31, LOOPED + 21), (LOOPED + 40, LOOPED + 8)
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD BRANCH_STACK', kind=0, period=1, branch=BRANCH_ANY)
    recording.comm('jumper')
    # The code lies at the file's second page, and is mapped from its first on.
    recording.mmap(0x400000, 0x2000, str(program))
    round_trip = [taken(jump, 9), taken(back, 30), taken(call, 5)]
    for index, branches in enumerate([round_trip * 2, round_trip * 2, [taken((START + 5, LOOPED), 4)] + round_trip[:1]]):
        recording.sample(ip=branches[0][1], time=10**9 + index * 10**6,
                         branch_stack=[word for branch in branches for word in branch])
    recording.feature(15, b'')
    recording.text_feature(6, 'x86_64')
    recording.feature(7, recording.pack('II', 4, 4))
    recording.write(tmp_path / 'blocks.data')
    return tmp_path / 'blocks.data'


BLOCK_ROWS = ['63.49% 120 68.18% 30 [leaf+0 -> leaf+31] blocks', '23.81% 45 20.45% 9 [loop+21 -> loop+40] blocks',
              '10.58% 20 11.36% 5 [loop+8 -> loop+16] blocks']


def test_cycles_of_blocks(tally, blocks):
    """The last branch leaves a function that none led to; the run before it is of two functions."""
    report = tally('report', '--total-cycles', '-i', blocks, check=0)
    assert '# Samples: 3  of event' in report.stdout and '# Event count (approx.): 14\n' in report.stdout
    assert [' '.join(row.split()) for row in rows_of(report.stdout)] == BLOCK_ROWS
    limited = tally('report', '--total-cycles', '--percent-limit', '20', '-t', ';', '-q', '-i', blocks, check=0)
    assert limited.stdout.splitlines() == [
        '63.49%;120;68.18%;30;[leaf+0 -> leaf+31];blocks', '23.81%;45;20.45%;9;[loop+21 -> loop+40];blocks']
    for option in (['-s', 'comm'], ['-g'], ['-d', 'x']):
        assert 'cannot be used together' in tally('report', '--total-cycles', *option, '-i', blocks, check=255).stderr


def test_cycles_of_blocks_of_chosen_samples(tally, blocks):
    """By thread and CPU, as every verb; what leaves nothing is told."""
    nothing = tally('report', '--total-cycles', '-c', 'x', '-i', blocks, check=0)
    assert rows_of(nothing.stdout) == [] and 'note: ' in nothing.stderr
    for option in (['-c', 'jumper'], ['--pid', '1000,-1'], ['--tid', '1000']):
        chosen = tally('report', '--total-cycles', *option, '-i', blocks, check=0)
        assert [' '.join(row.split()) for row in rows_of(chosen.stdout)] == BLOCK_ROWS, option
    assert 'note: ' in tally('report', '--total-cycles', '--pid', '7', '-i', blocks, check=0).stderr


def test_cycles_of_blocks_beside_other_options(tally, blocks):
    def shown(*words):
        return tally('report', '--total-cycles', *words, '-i', blocks, check=0).stdout
    for words in (['--stats'], ['--tasks'], ['--mmaps'], ['-D'], ['--header-only'], ['--stats', '--json']):
        assert shown(*words) == tally('report', *words, '-i', blocks, check=0).stdout
    plain = shown()
    for words in (['-n'], ['--show-total-period'], ['--group'], ['-w', '5'], ['--max-stack', '3'], ['--show-cpu-utilization']):
        assert shown(*words) == plain
    header = tally('report', '--header-only', '-i', blocks, check=0).stdout
    hint, rest = plain.split('#\n#\n', 1)
    assert hint.startswith('# To display') and shown('--header') == header + '#\n' + rest
    assert shown('-T') == plain + '# PID  TID\n'
    document = json.loads(shown('--json', '--header', '-T'))
    json_schema.check(document, SCHEMA)
    assert document['header']['arch'] == 'x86_64' and document['threads'] == [] and len(document['cycles']) == 1


def test_cycles_of_blocks_as_json(tally, blocks):
    text = tally('report', '--total-cycles', '--json', '-i', blocks, check=0).stdout
    document = json.loads(text)
    json_schema.check(document, SCHEMA)
    assert 'tables' not in document and document['lost_samples'] == 0
    event, = document['cycles']
    assert (event['samples'], event['branches'], event['cycles']) == (3, 14, 189)
    rows = [f"{b['cycles_percent']:.2f}% {b['cycles']} {b['average_percent']:.2f}% {b['average_cycles']} "
            f"[{b['start']['place']} -> {b['end']['place']}] {b['dso']}" for b in event['blocks']]
    assert rows[:len(BLOCK_ROWS)] == BLOCK_ROWS
    assert event['blocks'][0]['symbol'] == 'leaf' and event['blocks'][0]['path'].endswith('/blocks')
    addresses = [int(event['blocks'][0][end]['address'], 16) for end in ('start', 'end')]
    assert addresses[1] - addresses[0] == 31
    few = json.loads(tally('report', '--total-cycles', '--json', '--percent-limit', '20', '-i', blocks, check=0).stdout)
    assert few['cycles'][0]['blocks'] == event['blocks'][:2]


def test_cycles_of_blocks_are_perfs(tally, newest_perf, blocks):
    """Its average shares are of a sum that grows with the rows of another report."""
    def columns(report):
        return [[row.split()[i] for i in (0, 1, 3)] + row.split()[4:] for row in rows_of(report.stdout)]
    theirs = newest_perf('report', '--stdio', '-f', '--total-cycles', '-i', blocks, check=0)
    assert columns(tally('report', '--total-cycles', '-i', blocks, check=0)) == columns(theirs)


def test_cycles_need_branches(tally, tmp_path):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME')
    recording.sample()
    recording.write(tmp_path / 'none.data')
    result = tally('report', '--total-cycles', '-i', tmp_path / 'none.data', check=0)
    assert 'needs branch stacks' in result.stderr
    assert result.stdout == tally('report', '-i', tmp_path / 'none.data', check=0).stdout and '100.00%' in result.stdout
    stream = tally('inject', '-i', tmp_path / 'none.data', '-o', '-', text=False, check=0).stdout
    result = tally('report', '--total-cycles', '-i', '-', stdin=stream, text=False, check=0)
    assert b'needs branch stacks' in result.stderr and b'100.00%' in result.stdout
    assert result.stdout == tally('report', '-i', '-', stdin=stream, text=False, check=0).stdout


REGISTERS = 4


def call_stacks(path, seed, registers=REGISTERS, more_fields='', **more):
    """Two threads that call and return, each sample with what their last four calls are; all of the stack, as text."""
    chance = random.Random(seed)
    recording = Recording()
    recording.event(f'IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN BRANCH_STACK{more_fields}', kind=0, period=1,
                    branch=BRANCH_USER | BRANCH_CALL_STACK | BRANCH_HW_INDEX)
    stacks, whole = {1000: [], 1001: []}, []
    for index in range(25):
        tid = chance.choice(list(stacks))
        stack = stacks[tid]
        for _ in range(chance.randint(0, 3)):
            if not stack or chance.random() < .6:
                page = 0x1000 * (len(stack) + 1)
                stack.append((page + chance.choice((0x10, 0x20)), page + 0x1000))
            else:
                stack.pop()
        if not stack:
            continue
        kept = stack[::-1][:REGISTERS]
        recording.sample(ip=stack[-1][1], tid=(1000, tid), time=10**9 + index * 10**6, callchain=[CHAIN_USER, stack[-1][1]],
                         hw_idx=(len(stack) - 1) % REGISTERS, branch_stack=[word for entry in kept for word in (*entry, 0)], **more)
        whole.append(';'.join([hex(stack[-1][1])] + [hex(source) for source, _ in stack[::-1]]))
    recording.feature(6, b'')
    text = {name: recording.pack('I', 16) + name.encode().ljust(16, b'\0') for name in ('branches', str(registers))}
    if registers:
        recording.feature(28, recording.pack('I', 1) + text['branches'] + text[str(registers)])
    recording.text_feature(6, 'x86_64')
    recording.feature(7, recording.pack('II', 4, 4))
    recording.feature(14, recording.pack('IIQQI', 1, 0, 100, 50, 64) + b'0-3'.ljust(64, b'\0'))
    recording.write(path)
    return whole


def chains_of(report):
    return [row.split(' ', 1)[1] for row in rows_of(report.stdout) if '0x' in row]


STITCH = ['report', '--stdio', '--stitch-lbr', '--no-children', '-s', 'comm', '-g', 'folded,callee,count,0']


def test_call_stacks_are_stitched(tally, perf, tmp_path):
    """Never a caller that was none, and none less than perf finds."""
    path, more = tmp_path / 'lbr.data', 0
    for seed in range(12):
        whole = call_stacks(path, seed)
        ours = chains_of(tally(*STITCH, '-i', path, check=0))
        theirs = chains_of(perf(*STITCH, '-f', '-i', path, check=0))
        script = tally('script', '--stitch-lbr', '-F', 'ip', '-i', path, check=0).stdout
        # perf counts what was called from where, script lists the addresses: the same stacks.
        assert {';'.join(hex(int(ip, 16)) for ip in block.split()) for block in script.split('\n\n') if block} == {
            chain for chain in ours}
        plain = chains_of(tally(*(word for word in STITCH if 'stitch' not in word), '-i', path, check=0))
        assert all(any(stack.startswith(chain) for stack in whole) for chain in ours)
        assert all(any(chain.startswith(known) for chain in ours) for known in theirs + plain)
        more += sum(map(len, ours)) > sum(map(len, plain))
    assert more > 6
    # Lines that are taken from another CPU.
    lengths = []
    for seed in range(4):
        whole = call_stacks(path, seed, more_fields=' ADDR DATA_SRC', addr=0x7000000,
                            data_src=2 | 1 << 6 | 1 << 11 | 16 << 19)
        for options in ([], ['--stitch-lbr']):
            shown = tally('c2c', 'report', '--stdio', '-g', 'folded,callee,count', *options, '-i', path, check=0).stdout
            chains = [line.split(' ', 1)[1] for line in shown.splitlines() if ';0x' in line]
            assert chains and all(any(stack.startswith(chain) for stack in whole) for chain in chains)
            lengths.append(sum(map(len, chains)))
    assert sum(lengths[1::2]) > sum(lengths[::2])
    call_stacks(path, 1, registers=0)
    for words in (['script', '-F', 'ip'], [word for word in STITCH if 'stitch' not in word]):
        result = tally(*words, '--stitch-lbr', '-i', path, check=0)
        assert result.stderr.count('their number in the header') == 1 and result.stdout
        assert result.stdout == tally(*words, '-i', path, check=0).stdout
        stream = tally('inject', '-i', path, '-o', '-', text=False, check=0).stdout
        result = tally(*words, '--stitch-lbr', '-i', '-', stdin=stream, text=False, check=0)
        assert result.stderr.count(b'their number in the header') == 1


def test_hot_streams_of_two_recordings(tally, tmp_path, newest_perf):
    """Streams in both, in one, of several rows, with light ones left out; more than are shown."""
    rng = random.Random(4)
    ends = [(0x401000 + 16 * i, 0x401008 + 16 * ((i * 5 + 3) % 9)) for i in range(9)]
    for name in 'ab':
        samples = [[taken(rng.choice(ends), rng.randrange(20)) for _ in range(rng.randrange(1, 7))] for _ in range(40)]
        record(tmp_path / f'{name}.data', samples, periods=[rng.randrange(100, 5000) for _ in samples])
    for line in (['a.data', 'b.data'], ['b.data', 'a.data'], ['a.data', 'a.data']):
        ours, theirs = (program('diff', '--stream', *line, cwd=tmp_path) for program in (tally, newest_perf))
        assert ours.returncode == 0 and 'hot chain pair 1:' in ours.stdout
        assert ours.stdout == theirs.stdout
    for keys in ('dso', 'comm,sym', '+cpu'):
        ours, theirs = (program('diff', '--stream', '-s', keys, 'a.data', 'b.data', cwd=tmp_path)
                        for program in (tally, newest_perf))
        assert ours.stdout == theirs.stdout and '-s has no effect with --stream' in ours.stderr


def test_hot_streams_of_three_recordings(tally, tmp_path):
    """The baseline beside each of the others, each as if it were alone."""
    for name, length in (('a', 1), ('b', 1), ('c', 2)):
        branches = [taken((0x401000 + 64 * i, 0x401030 + 64 * i), 3) for i in range(length)]
        record(tmp_path / f'{name}.data', [branches] * 4)
    pairs = [tally('diff', '--stream', 'a.data', f'{other}.data', cwd=tmp_path, check=0).stdout for other in 'bc']
    assert 'hot chain pair 1:' in pairs[0] and 'hot chain pair 1:' not in pairs[1]
    assert tally('diff', '--stream', 'a.data', 'b.data', 'c.data', cwd=tmp_path, check=0).stdout == (
        f'# [0] a.data and [1] b.data\n#\n{pairs[0]}# [0] a.data and [2] c.data\n#\n{pairs[1]}')


def test_hot_streams_need_branches(tally, jumps, tmp_path):
    calls = Recording()
    calls.event('IP TID TIME PERIOD CALLCHAIN IDENTIFIER')
    calls.comm('jumper')
    calls.sample(callchain=[CHAIN_USER, 0x401000])
    calls.write(tmp_path / 'calls.data')
    result = tally('diff', '--stream', 'jumps.data', 'calls.data', cwd=tmp_path)
    assert result.returncode == 255 and 'calls.data has none: was it made without -b?' in result.stderr
