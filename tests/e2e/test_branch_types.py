# SPDX-License-Identifier: Apache-2.0
"""`report -b` of branches whose types were recorded: how many are of which, below all tables."""
import json
import pathlib

import json_schema
import pytest

from perfdata_build import BRANCH_ANY, Recording

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'report.json').read_text())
TYPE_SAVE = 1 << 16
COND, UNCOND, IND, CALL, IND_CALL, RET, EXTENDED = 1, 2, 3, 4, 5, 6, 15
FORWARD, BACKWARD = (0x401000, 0x401100), (0x401200, 0x401080)
OTHER_PAGE, FAR = (0x401ffe, 0x402000), (0x5ffffe, 0x600000)


def branch(ends, kind, more=0, order='<'):
    """Predicted, with one cycle. Machines of the other byte order fill bit fields from the top."""
    fields = ((0, 1), (1, 1), (0, 2), (1, 16), (kind, 4), (0, 2), (more, 4))
    flags = shift = 0
    for value, bits in fields:
        flags |= value << (shift if order == '<' else 64 - shift - bits)
        shift += bits
    return (*ends, flags)


def record(path, samples, order='<', events=1):
    """samples: lists of branches; those after the first are of the last event."""
    recording = Recording(order)
    for event in range(events):
        recording.event('IDENTIFIER IP TID TIME CPU PERIOD BRANCH_STACK', kind=0, config=event, period=1,
                        branch=BRANCH_ANY | TYPE_SAVE)
    recording.comm('jumper')
    recording.mmap(0x400000, 0x400000, '/nowhere/jumper')
    for index, branches in enumerate(samples):
        recording.sample(ip=0x401234, time=10**9 + index * 10**6, cpu=index % 2, event=min(index, events - 1),
                         branch_stack=[word for entry in branches for word in entry])
    recording.feature(15, b'')
    recording.text_feature(6, 'x86_64')
    recording.feature(7, recording.pack('II', 4, 4))
    recording.write(path)
    return path


def shares(text):
    """Lines of the statistics; None: there are none."""
    _, found, below = text.partition('\n#\n# Branch Statistics:\n#\n')
    return below.splitlines() if found else None


# Rows of one type each, so that perf's counts are of all branches.
MIXED = [[branch(FORWARD, COND), branch(BACKWARD, COND), branch(OTHER_PAGE, CALL)],
         [branch(FORWARD, COND), branch(FAR, RET), branch((0x401300, 0x401400), 0)],
         [branch(FAR, RET), branch((0x700000, 0x700010), 9), branch((0x700100, 0xffffffff81000000), 7)]]
MIXED_SHARES = ['COND_FWD:  25.0%', 'COND_BWD:  12.5%', 'CROSS_4K:  12.5%', 'CROSS_2M:  37.5%', '    COND:  37.5%',
                '    CALL:  12.5%', '     RET:  25.0%', ' SYSCALL:  12.5%', 'COND_CALL:  12.5%']


@pytest.mark.parametrize('words', [(), ('-b',), ('-q',), ('-T',), ('--hierarchy',), ('-s', 'symbol_from'), ('-t', ','),
                                   ('--total-cycles',), ('-c', 'nobody'), ('--percent-limit', '99')],
                         ids=' '.join)
def test_types_below_the_tables(tally, tmp_path, words):
    report = tally('report', '--stdio', *words, '-i', record(tmp_path / 'mixed.data', MIXED), check=0)
    assert shares(report.stdout) == MIXED_SHARES


@pytest.mark.parametrize('words', [(), ('-q',), ('-T',), ('--hierarchy',), ('-t', ','), ('--total-cycles',)], ids=' '.join)
def test_types_are_perfs(tally, newest_perf, tmp_path, words):
    path = record(tmp_path / 'mixed.data', MIXED)
    theirs = newest_perf('report', '--stdio', '-f', *words, '-i', path).stdout
    if 'Statistics' not in theirs:  # 7.3 may crash with --total-cycles
        pytest.skip('perf says nothing here')
    assert shares(theirs) == MIXED_SHARES
    assert shares(tally('report', '--stdio', *words, '-i', path, check=0).stdout) == shares(theirs)


def test_each_branch_has_its_own_type(tally, tmp_path):
    path = record(tmp_path / 'row.data', [[branch(FORWARD, COND), branch(FORWARD, UNCOND), branch(BACKWARD, COND)]])
    wanted = ['COND_FWD:  33.3%', 'COND_BWD:  33.3%', '    COND:  66.7%', '  UNCOND:  33.3%']
    for words in ((), ('-s', 'comm'), ('-s', 'mispredict')):
        assert shares(tally('report', *words, '-i', path, check=0).stdout) == wanted


def test_types_of_other_machines(tally, tmp_path):
    branches = [branch(FORWARD, COND, order='>')] + [branch(BACKWARD, EXTENDED, more, '>') for more in (0, 7, 9)]
    path = record(tmp_path / 'arm.data', [branches], '>')
    assert shares(tally('report', '-i', path, check=0).stdout) == [
        'COND_FWD:  25.0%', '    COND:  25.0%', 'FAULT_ALGN:  25.0%', '  ARCH_5:  25.0%', '  TYPE_9:  25.0%']


def test_types_of_chosen_samples(tally, tmp_path):
    path = record(tmp_path / 'some.data', [[branch(FORWARD, COND)], [branch(FORWARD, CALL)], [branch(FORWARD, COND)]])
    assert shares(tally('report', '-C', '1', '-i', path, check=0).stdout) == ['    CALL: 100.0%']
    assert shares(tally('report', '--time', '0.9,1.0005', '-i', path, check=0).stdout) == [
        'COND_FWD: 100.0%', '    COND: 100.0%']


def test_types_of_all_events(tally, tmp_path):
    path = record(tmp_path / 'two.data', [[branch(FORWARD, CALL)], [branch(FORWARD, RET)]], events=2)
    wanted = ['    CALL:  50.0%', '     RET:  50.0%']
    for words in ((), ('--group',)):
        assert shares(tally('report', *words, '-i', path, check=0).stdout) == wanted


def test_no_types(tally, tmp_path):
    path = record(tmp_path / 'mixed.data', MIXED)
    for words in (('--no-branch-stack',), ('--branch-history',), ('--stats',), ('--header-only',), ('-D',), ('-U',)):
        assert shares(tally('report', *words, '-i', path, check=0).stdout) is None
    unknown = record(tmp_path / 'unknown.data', [[branch(FAR, 0), branch((0, 0x401000), COND)]])
    assert shares(tally('report', '-i', unknown, check=0).stdout) is None
    assert 'branch_types' not in json.loads(tally('report', '--json', '-i', unknown, check=0).stdout)


@pytest.mark.parametrize('words', [(), ('--total-cycles',)], ids=' '.join)
def test_types_as_json(tally, tmp_path, words):
    report = tally('report', '--json', *words, '-i', record(tmp_path / 'mixed.data', MIXED), check=0)
    document = json.loads(report.stdout)
    json_schema.check(document, SCHEMA)
    assert document['branch_types'] == {
        'branches': 8, 'conditional_forward': 2, 'conditional_backward': 1, 'cross_4k': 1, 'cross_2m': 3,
        'types': [{'type': name, 'count': count} for name, count in
                  (('COND', 3), ('CALL', 1), ('RET', 2), ('SYSCALL', 1), ('COND_CALL', 1))]}
