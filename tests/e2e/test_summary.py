# SPDX-License-Identifier: Apache-2.0
"""tally summary: its facts are those of report, it keeps its budget, and it says the same each time."""
import json
import os
import re
import shlex
import shutil
import subprocess

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


@pytest.mark.parametrize('name', ['sys', 'multi', 'cxx'])
def test_any_budget_is_kept_or_refused(tally, name):
    """From what no summary fits to more than a screen; nothing is cut within a character."""
    path, shown = CORPUS / f'{name}.data', 0
    for budget in [*range(100, 700, 75), 1000, 1999, 5000, 20000]:
        for form in ([], ['--json']):
            result = subprocess.run([tally.path, 'summary', *form, '--budget', str(budget), path], capture_output=True, check=False)
            text = result.stdout.decode('utf-8')
            if text:
                assert len(text) <= budget, (budget, form)
                if form:
                    json_schema.check(json.loads(text), SCHEMA)
            else:
                least = int(re.search(r'the shortest summary has (\d+) characters', result.stderr.decode()).group(1))
                assert result.returncode == 255 and least > budget
            shown += bool(text)
    assert shown >= 18
    more = tally('summary', '--budget', 20000, path, check=0).stdout.count('%') - tally('summary', path, check=0).stdout.count('%')
    assert more > 0 if name == 'sys' else more >= 0


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
    assert all(change['symbol'] == f'[{change["dso"]}]' for change in changes)
    assert summed(tally, '--baseline', base, same)['baseline']['changes'] == []
    assert "no function's share differs by more than chance" in tally('summary', '--baseline', base, same, check=0).stdout


def test_a_cut_recording_gives_what_is_intact(tally, tmp_path):
    whole = (CORPUS / 'deep.data').read_bytes()
    # Cut behind some of its samples, and behind all of them.
    for size, status in ((4000, 255), (8000, 0)):
        (tmp_path / 'cut.data').write_bytes(whole[:size])
        result = tally('summary', '--json', tmp_path / 'cut.data')
        document = json.loads(result.stdout)
        assert result.returncode == status and ('cut or damaged at offset' in result.stderr) == (status != 0)
        assert document['verdict'] != 'good' and any('health' in note for note in document['notes'])
        assert document['next'][2].startswith('tally health') and document['samples'] > 10


def test_other_events_are_named(tally):
    document = summed(tally, CORPUS / 'multi.data')
    report = json.loads(tally('report', '--json', '-g', 'none', '-i', CORPUS / 'multi.data', check=0).stdout)
    events = {event['name']: event['samples'] for table in report['tables'] for event in table['events'] if event['samples']}
    others = {other['event']: other['samples'] for other in document['other_events']}
    assert others and {document['event']: document['samples'], **others} == events
    text = tally('summary', CORPUS / 'multi.data', check=0).stdout
    assert all(f' of {name}' in text.splitlines()[1] for name in others)
    name = next(iter(others))
    assert summed(tally, '-e', name, CORPUS / 'multi.data')['samples'] == others[name]


def test_a_stream_has_no_file_for_the_next_commands(tally, tmp_path):
    data = (CORPUS / 'pipe.data').read_bytes()
    for words in ([], ['-'], ['-i', '-']):
        result = subprocess.run([tally.path, 'summary', *words], input=data, capture_output=True, cwd=tmp_path, check=True)
        text = result.stdout.decode()
        assert text.startswith('standard input: ') and ' -i ' not in text and 'if the stream is saved as perf.data' in text


def test_an_unreadable_recording(tally, open_folder):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('only root can become another user')
    program, path = open_folder / 'tally', open_folder / 'other.data'
    shutil.copy(tally.path, program)
    program.chmod(0o755)
    path.write_bytes(b'PERFILE2')
    path.chmod(0o600)
    result = subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', program, 'summary', path],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 255 and f'failed to open {path}: Permission denied; run as ' in result.stderr


def test_recordings_without_samples(tally):
    for name, said in (('stat', 'tally stat report -i '), ('nosamp', 'tally health -i ')):
        result = tally('summary', CORPUS / f'{name}.data')
        assert result.returncode == 255 and said in result.stderr and result.stdout == ''
        result = tally('summary', '--json', CORPUS / f'{name}.data')
        document = json.loads(result.stdout)
        json_schema.check(document, SCHEMA)
        assert result.returncode == 255 and said in result.stderr
        assert document['samples'] == 0 and document['functions'] == [] and document['verdict'] == 'good'
        assert any(said in note for note in document['notes'])


def test_next_commands_can_be_pasted(tally, tmp_path):
    """Whatever the file is called; annotate is only for functions whose binary is there and that matter."""
    path = tmp_path / '-it\'s "a" $HOME `id` *;.data'
    shutil.copy(CORPUS / 'sys.data', path)
    commands = summed(tally, path)['next']
    for command in commands:
        assert command.startswith('tally ') and shlex.split(command)[0] == 'tally' and str(path) in shlex.split(command)
        result = subprocess.run(['sh', '-c', command.replace('tally', str(tally.path), 1)], cwd=tmp_path, capture_output=True,
                                stdin=subprocess.DEVNULL, check=False)
        assert result.returncode == 0, (command, result.stderr)



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
    assert 'tally-recording-' not in result.stdout
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
