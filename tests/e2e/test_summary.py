# SPDX-License-Identifier: Apache-2.0
"""tally summary: its facts are those of report, it keeps its budget, and it says the same each time."""
import json
import shutil

import pytest

import json_schema
import perfdata_build
from conftest import CORPUS, ROOT

SCHEMA = json.loads((ROOT / 'docs' / 'schema' / 'summary.json').read_text(encoding='utf-8'))
RECORDINGS = ('deep', 'multi', 'sys', 'cmd', 'grp', 'ids', 'kg', 'dyn', 'tpsleep', 'ud', 'cgrp', 'nobid')


def summed(tally, *words, status=0):
    result = tally('summary', '--json', *words)
    assert result.returncode == status, result.stderr
    document = json.loads(result.stdout)
    json_schema.check(document, SCHEMA)
    assert len(document['next']) == 3
    return document


@pytest.mark.parametrize('name', RECORDINGS)
def test_facts_are_those_of_report(tally, name):
    path = CORPUS / f'{name}.data'
    if not path.exists():
        pytest.skip(f'no {name}.data')
    document = summed(tally, path)
    report = json.loads(tally('report', '--json', '--no-children', '-g', 'none', '-s', 'sym,dso', '-i', path, check=0).stdout)
    table = next(table for table in report['tables'] if any(event['samples'] for event in table['events']))
    index = next(i for i, event in enumerate(table['events']) if event['samples'])
    event = table['events'][index]
    assert (document['event'], document['samples'], document['period']) == (event['name'], event['samples'], event['period'])
    rows = {}
    for row in table['rows']:
        values = row['values'][index]
        if values.get('self_period', values.get('period', 0)):
            key = (row.get('symbol', row.get('address')), row.get('dso', ''))
            rows[key] = values
    for function in document['functions']:
        values = rows[(function['symbol'], function.get('dso', ''))]
        assert function['self_period'] == values.get('self_period', values.get('period'))
        assert abs(function['self_percent'] - 100 * function['self_period'] / document['period']) < 0.0001
    assert document['function_count'] >= len(document['functions']) > 0
    periods = [function['self_period'] for function in document['functions']]
    assert periods == sorted(periods, reverse=True)


@pytest.mark.parametrize('name', RECORDINGS)
@pytest.mark.parametrize('budget', [2000, 1200])
def test_the_budget_is_kept(tally, name, budget):
    path = CORPUS / f'{name}.data'
    if not path.exists():
        pytest.skip(f'no {name}.data')
    text = tally('summary', '--budget', budget, path, check=0).stdout
    assert 0 < len(text) <= budget and text.startswith(str(path)) and '\nnext\n' in text
    if budget == 2000:
        assert len(tally('summary', '--json', '--budget', budget, path, check=0).stdout) <= budget


def test_less_is_left_out_of_a_larger_budget(tally):
    path, last = CORPUS / 'sys.data', 0
    for budget in (900, 1500, 2500, 10000):
        count = tally('summary', '--budget', budget, path, check=0).stdout.count('%')
        assert count >= last
        last = count
    result = tally('summary', '--budget', 50, path)
    assert result.returncode == 255 and 'the shortest summary has ' in result.stderr and result.stdout == ''


def test_it_says_the_same_each_time(tally):
    first = tally('summary', CORPUS / 'sys.data', check=0).stdout
    assert all(tally('summary', CORPUS / 'sys.data', check=0).stdout == first for _ in range(4))


def shared(path, shares, count):
    """A recording with so many samples in each of some libraries."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD')
    r.record(3, 0, r.pack('II', 7, 7) + r.name('program') + r.trailer())
    for index in range(len(shares)):
        r.record(1, 2, r.pack('IIQQQ', 7, 7, 0x400000 + 0x10000 * index, 0x10000, 0) + r.name(f'/bin/part{index}') + r.trailer())
    now = 1
    for index, share in enumerate(shares):
        for _ in range(share * count):
            r.sample(misc=2, ip=0x400100 + 0x10000 * index, tid=(7, 7), time=now, period=1000)
            now += 1
    r.write(path)
    return path


def test_changes_beyond_chance(tally, tmp_path):
    base = shared(tmp_path / 'base.data', (50, 30, 20), 10)
    same = shared(tmp_path / 'same.data', (49, 31, 20), 10)
    new = shared(tmp_path / 'new.data', (20, 60, 20), 10)
    document = summed(tally, '--baseline', base, new)
    changes = document['baseline']['changes']
    assert [(change['dso'], change['base_percent'], change['new_percent']) for change in changes] == [
        ('part0', 50, 20), ('part1', 30, 60)]
    assert document['next'][0] == f'tally diff {base} {new}'
    assert summed(tally, '--baseline', base, same)['baseline']['changes'] == []
    assert "no function's share differs by more than chance" in tally('summary', '--baseline', base, same, check=0).stdout


def test_a_cut_recording_gives_what_is_intact(tally, tmp_path):
    whole = (CORPUS / 'deep.data').read_bytes()
    # Cut behind some of its samples.
    (tmp_path / 'cut.data').write_bytes(whole[:len(whole) * 3 // 4])
    result = tally('summary', '--json', tmp_path / 'cut.data')
    assert result.returncode in (0, 255)
    if result.stdout:
        document = json.loads(result.stdout)
        assert document['verdict'] != 'good' and any('health' in note for note in document['notes'])
        assert document['next'][2].startswith('tally health')


def test_hostile_names_stay_text(tally, tmp_path):
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD')
    r.record(3, 0, r.pack('II', 7, 7) + r.name('a\x1b[31m') + r.trailer())
    r.record(1, 2, r.pack('IIQQQ', 7, 7, 0x400000, 0x10000, 0) + r.name("/bin/x'; rm\x1b[2J") + r.trailer())
    r.sample(misc=2, ip=0x400100, tid=(7, 7), time=5, period=1000)
    path = tmp_path / "it's.data"
    r.write(path)
    text = tally('summary', path, check=0).stdout
    assert '\x1b' not in text and "it'\\''s.data'" in text
    summed(tally, path)


def test_a_command(tally, live, workload):
    result = tally('summary', '--', workload('spin').path, 300, check=0)
    assert 'spin' in result.stdout and 'tally record --call-graph auto -- ' in result.stdout
    assert '/tmp/tally-summary' not in result.stdout
    document = summed(tally, '--', workload('spin').path, 300)
    assert document['functions'][0]['symbol'] == 'spin' and document['functions'][0]['self_percent'] > 50
    assert any('spin' in node['path'] and node['total_percent'] > 50 for node in document['tree'])


def test_words(tally, tmp_path):
    shutil.copy(CORPUS / 'deep.data', tmp_path / 'perf.data')
    assert tally('summary', cwd=tmp_path, check=0).stdout.startswith('perf.data: ')
    for words in (['--wall'], ['a', 'b'], ['-i', 'a', '--', 'true'], ['--']):
        assert tally('summary', *words).returncode == 129, words
    for words in (['-e', 'nothing', CORPUS / 'deep.data'], ['/nonexistent'], [CORPUS / 'stat.data'], ['--baseline', '/nonexistent', CORPUS / 'deep.data']):
        result = tally('summary', *words)
        assert result.returncode == 255 and len(result.stderr) > 10, words
