# SPDX-License-Identifier: Apache-2.0
"""Names of other scripts: columns line up in cells of a terminal, and names are cut between characters."""
import unicodedata

import pytest

from perfdata_build import Recording

NAMES = ['plain', '工作线程', 'größe', 'e\u0301e\u0301', 'ﾃｽﾄ', '😀']


def cells(text):
    return sum(0 if unicodedata.category(c) in ('Mn', 'Me', 'Cf') else 2 if unicodedata.east_asian_width(c) in 'WF' else 1
               for c in text)


@pytest.fixture
def recording(tmp_path):
    """A process for each name, with a program of that name."""
    r = Recording()
    r.event('IDENTIFIER IP TID TIME CPU PERIOD')
    for i, name in enumerate(NAMES):
        pid = 100 + i
        r.record(3, 0, r.pack('II', pid, pid) + r.name(name) + r.trailer())
        r.record(1, 0, r.pack('IIQQQ', pid, pid, 0x400000, 0x10000, 0) + r.name(f'/none/{name}.so') + r.trailer())
        for _ in range(10 - i):
            r.sample(0, time=1000 + i, tid=(pid, pid), ip=0x401000)
    path = tmp_path / 'perf.data'
    r.write(path)
    return path


def rows(output):
    found = [line for line in output.splitlines() if any(name in line for name in NAMES) and not line.startswith('#')]
    assert len(found) >= len(NAMES), output
    return found


@pytest.mark.parametrize('locale', ['C', 'C.UTF-8'])
@pytest.mark.parametrize('options', [['-s', 'comm,dso,sym'], ['-s', 'dso,comm,sym'], ['-s', 'pid,sym']], ids=' '.join)
def test_columns_of_report(tally, recording, options, locale):
    text = tally('report', '-i', recording, '--stdio', *options, check=0, env={'LC_ALL': locale}).stdout
    assert len({cells(row[:row.index('[.]')]) for row in rows(text)}) == 1, text


def test_columns_of_script(tally, recording):
    text = tally('script', '-i', recording, '-F', 'comm,tid,ip', check=0).stdout
    assert len({cells(row[:row.rindex(' 10')]) for row in rows(text)}) == 1, text


def test_columns_of_diff(tally, recording):
    text = tally('diff', recording, recording, '-s', 'comm,dso,sym', check=0).stdout
    assert len({cells(row[:row.index('[.]')]) for row in rows(text)}) == 1, text


def test_names_are_cut_between_characters(tally, recording):
    """At each width of the column of names, which a terminal may leave."""
    for width in range(1, 12):
        text = tally('report', '-i', recording, '--stdio', '-s', 'comm,sym', '-w', f'0,{width}', check=0).stdout
        shown = [row for row in text.splitlines() if '[.]' in row]
        assert len(shown) == len(NAMES) and '\ufffd' not in text and '\\x' not in text
        assert len({cells(row[:row.index('[.]')]) for row in shown}) == 1, text
