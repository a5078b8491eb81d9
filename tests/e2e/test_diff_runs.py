# SPDX-License-Identifier: Apache-2.0
"""diff of several recordings a side: a change of 3 % is found, none is found if there is none, and gates say so."""
import functools
import json
import pathlib
import random
import re
import struct

import pytest
from perfdata_build import Recording

RUNS = 10
OBJECTS = 12
MEAN = 50_000_000
NOISE = 0.01  # of one run, as a share
TRIES = [25, pytest.param(200, marks=pytest.mark.long)]
MARK = 0x7a11700000000000
CHANGED = 3  # the exit status


@functools.lru_cache
def recording_of_parts(count):
    """A recording with a sample for each object, whose period is MARK + the object's index; and where these are."""
    made = Recording()
    made.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    made.comm('work')
    for index in range(count):
        made.mmap(0x400000 + index * 0x10000, 0x1000, f'/nowhere/part{index}')
        made.sample(ip=0x400100 + index * 0x10000, period=MARK + index)
    data = made.whole()
    places = [data.index(struct.pack('=Q', MARK + index)) for index in range(count)]
    return data, places


def write_recording(path, amounts):
    """A recording with a sample for each object; its period is what the object took in all."""
    data, places = recording_of_parts(len(amounts))
    data = bytearray(data)
    for place, amount in zip(places, amounts):
        struct.pack_into('=Q', data, place, round(amount))
    path.write_bytes(data)
    return path


def amounts(chance, factors=None):
    factors = factors or {}
    return [MEAN * (1 + index) * factors.get(index, 1) * (1 + chance.gauss(0, NOISE)) for index in range(OBJECTS)]


def write_side(folder, name, chance, factors=None, runs=RUNS):
    return [write_recording(folder / f'{name}{run}', amounts(chance, factors)) for run in range(runs)]


def diff(tally, base, new, *options, **kwargs):
    return tally('diff', '-s', 'dso', *options, '--base', *base, '--new', *new, **kwargs)


def rows_of(result):
    return {row['dso']: row['change'] for row in json.loads(result.stdout)['events'][0]['rows']}


@pytest.fixture
def slower(tmp_path):
    """Ten recordings a side; part7 takes 3 % more in the second ones."""
    chance = random.Random(7)
    return write_side(tmp_path, 'a', chance), write_side(tmp_path, 'b', chance, {7: 1.03})


def test_three_percent_are_found(slower, tally):
    rows = rows_of(diff(tally, *slower, '--json', check=0))
    assert len(rows) == OBJECTS
    assert [name for name, change in rows.items() if change['verdict'] != 'same'] == ['part7']
    change = rows['part7']
    assert change['verdict'] == 'more'
    assert change['low_percent'] <= 3 <= change['high_percent']
    assert 1 < change['low_percent'] and change['high_percent'] < 5
    assert change['adjusted_p'] < 0.01
    assert change['noise_percent'] < change['change_percent']


def test_a_change_is_found_in_most_tries_and_covered(tmp_path, tally):
    chance = random.Random(11)
    found = covered = 0
    for _ in range(20):
        base = write_side(tmp_path, 'a', chance)
        row = rows_of(diff(tally, base, write_side(tmp_path, 'b', chance, {7: 1.03}), '--json', check=0))['part7']
        found += row['verdict'] == 'more'
        covered += row['low_percent'] <= 3 <= row['high_percent']
    assert found >= 16  # 18 or 19 are to be expected: of 200 tries with other seeds 186 were found
    assert covered >= 17  # 19 are to be expected of 95 %


@pytest.mark.parametrize('tries', TRIES)
def test_the_same_program_raises_no_alarm(tries, tmp_path, tally):
    chance = random.Random(5)
    alarms = 0
    for _ in range(tries):
        result = diff(tally, write_side(tmp_path, 'a', chance), write_side(tmp_path, 'b', chance), '--json',
                      '--fail-if', 'change>0%')
        assert result.returncode in (0, CHANGED)
        is_alarm = any(change['verdict'] != 'same' for change in rows_of(result).values())
        assert is_alarm == (result.returncode == CHANGED)
        alarms += is_alarm
    assert alarms <= max(1, tries // 100)


def test_text_has_the_changed_row_first(slower, tally):
    text = diff(tally, *slower, check=0).stdout
    assert '# 10 recordings against 10, mean period of each row' in text
    assert re.search(r"# p: rank test of 12 rows, Holm's correction, level 0.005; 0 rows under 0.5 % are not tested",
                     text)
    first = next(line for line in text.splitlines() if not line.startswith('#'))
    assert re.match(r' +\d+\.\d\d% +\d+\.\d\d% +\+[234]\.\d\d% +\[\+\d\.\d\d%, \+\d\.\d\d%\] +[<0]+\.\d{4} +\d\.\d\d%'
                    r'  more  part7 *$', first), first


@pytest.mark.parametrize('clause,status', [
    ('regression>2% with p<0.01', CHANGED), ('regression>2%', CHANGED), ('regression > 2 with p < 0.05', CHANGED),
    ('change>2%', CHANGED), ('improvement>2%', 0), ('regression>10% with p<0.01', 0),
    ('regression>2% with p<0.0000001', 4), ('total>2%', 0), ('improvement>2%,regression>2%', CHANGED),
])
def test_gate(clause, status, slower, tally):
    result = diff(tally, *slower, '--fail-if', clause, check=status)
    assert ('part7: +' in result.stderr) == (status == CHANGED)
    document = json.loads(diff(tally, *slower, '--fail-if', clause, '--json', check=status).stdout)
    assert document['gate']['has_failed'] == (status == CHANGED)


@pytest.mark.parametrize('clause', ['', 'regression', 'regression>', 'regression>x', 'slower>2%', 'regression>2% with',
                                    'regression>2% with p<2', 'regression>-1%', 'regression>2% and more',
                                    ','.join(['change>1%'] * 9)])
def test_what_is_no_gate_is_refused(clause, slower, tally):
    result = diff(tally, *slower, f'--fail-if={clause}', check=129)
    assert '--fail-if' in result.stderr


def test_total_is_a_gate(tmp_path, tally):
    chance = random.Random(3)
    base = write_side(tmp_path, 'a', chance)
    new = write_side(tmp_path, 'b', chance, {index: 1.05 for index in range(OBJECTS)})
    assert 'total: +' in diff(tally, base, new, '--fail-if', 'total>2%', check=CHANGED).stderr
    # Shares are as they were.
    assert not diff(tally, base, new, '--measure', 'share', '--fail-if', 'change>2%', check=0).stderr


def write_drifting(folder, name, chance, factors=None):
    """A side on a machine whose speed is another one in each run."""
    written = []
    for run in range(RUNS):
        speed = chance.uniform(0.8, 1.2)
        written.append(write_recording(folder / f'{name}{run}', [speed * a for a in amounts(chance, factors)]))
    return written


def test_scaled_periods_leave_the_machine_out(tmp_path, tally):
    chance = random.Random(13)
    base = write_drifting(tmp_path, 'a', chance)
    new = write_drifting(tmp_path, 'b', chance, {7: 1.03})
    plain = rows_of(diff(tally, base, new, '--measure', 'period', '--json', check=0))
    assert [name for name, change in plain.items() if change['verdict'] != 'same'] == []
    result = diff(tally, base, new, '--measure', 'scaled', '--json', check=0)
    rows = rows_of(result)
    assert [name for name, change in rows.items() if change['verdict'] != 'same'] == ['part7']
    assert 1 < rows['part7']['low_percent'] <= 3 <= rows['part7']['high_percent'] < 5
    document = json.loads(result.stdout)
    assert document['test']['measure'] == 'scaled'
    # The total is what it was: noise.
    assert document['events'][0]['total_change']['high_percent'] > 3
    assert 'scaled by the recording' in diff(tally, base, new, '--measure', 'scaled', check=0).stdout


@pytest.mark.parametrize('tries', TRIES)
def test_scaled_periods_raise_no_alarm(tries, tmp_path, tally):
    chance = random.Random(17)
    alarms = 0
    for _ in range(tries):
        base, new = write_drifting(tmp_path, 'a', chance), write_drifting(tmp_path, 'b', chance)
        changes = rows_of(diff(tally, base, new, '--measure', 'scaled', '--json', check=0)).values()
        alarms += any(change['verdict'] != 'same' for change in changes)
    assert alarms <= max(1, tries // 100)


def measured(result):
    document = json.loads(result.stdout)
    assert document['test']['measure'] == 'auto'
    return document['events'][0]['measure']


def verdicts(result):
    return {name: change['verdict'] for name, change in rows_of(result).items() if change['verdict'] != 'same'}


def test_what_runs_differ_by_chooses_the_measure(tmp_path, tally, slower):
    assert measured(diff(tally, *slower, '--json', check=0)) == 'period'
    chance = random.Random(19)
    base = write_drifting(tmp_path, 'a', chance)
    new = write_drifting(tmp_path, 'b', chance, {7: 1.03})
    result = diff(tally, base, new, '--json', check=0)
    assert measured(result) == 'scaled'
    assert verdicts(result) == {'part7': 'more'}
    assert result.stdout == diff(tally, base, new, '--json', '--measure', 'auto', check=0).stdout
    assert 'by how fast the machine was' in diff(tally, base, new, check=0).stdout
    # With few recordings nobody knows.
    assert measured(diff(tally, base[:3], new[:3], '--json', check=0)) == 'period'
    # So that no gate misses what grew everywhere, its p says whether the totals tell the sides apart.
    slow = write_drifting(tmp_path, 'd', chance, {index: 1.1 for index in range(OBJECTS)})
    p = json.loads(diff(tally, base, slow, '--json', check=0).stdout)['events'][0]['total_change']['p']
    assert 0.005 < p < 0.05
    assert measured(diff(tally, base, slow, '--json', check=0)) == 'scaled'
    assert measured(diff(tally, base, slow, '--json', '--fail-if', 'regression>2% with p<0.05',
                         check=None)) == 'period'
    # What grows everywhere is no matter of the machine alone, however much that drifts.
    slow = write_drifting(tmp_path, 'c', chance, {index: 1.6 for index in range(OBJECTS)})
    result = diff(tally, base, slow, '--json', check=0)
    assert measured(result) == 'period'
    assert len(verdicts(result)) == OBJECTS


@pytest.mark.parametrize('tries', TRIES)
@pytest.mark.parametrize('write', [write_side, write_drifting])
def test_a_chosen_measure_raises_no_alarm(write, tries, tmp_path, tally):
    chance = random.Random(23)
    alarms = 0
    for _ in range(tries):
        base, new = write(tmp_path, 'a', chance), write(tmp_path, 'b', chance)
        alarms += len(verdicts(diff(tally, base, new, '--json', check=0))) > 0
    assert alarms <= max(1, tries // 100)


def test_noise_of_recordings_made_apart(tmp_path, tally):
    chance = random.Random(9)
    base = write_side(tmp_path, 'a', chance)
    new = write_side(tmp_path, 'b', chance, {7: 1.03})
    apart = write_side(tmp_path, 'c', chance, {7: 1.05})
    rows = rows_of(tally('diff', '-s', 'dso', '--json', '--base', *base, '--new', *new, '--aa', *apart, check=0))
    assert rows['part7']['noise_percent'] > 4
    assert rows['part7']['verdict'] == 'same'


def test_markdown(slower, tally):
    lines = diff(tally, *slower, '--markdown', check=0).stdout.splitlines()
    head = lines.index('| Base | New | Change | 95% interval | p | Shared Object |')
    assert lines[head + 1] == '|---:|---:|---:|---:|---:|---|'
    assert re.match(r'\| \d+\.\d\d% \| \d+\.\d\d% \| \*\*\+\d\.\d\d%\*\* \| \[.*\] \| <?0\.\d{4} \| part7 \|$',
                    lines[head + 2])
    assert len(lines) == head + 2 + OBJECTS + 1


def test_pairs_as_json_and_markdown(slower, tally):
    (one, *_), (two, *_) = slower
    document = json.loads(tally('diff', '-s', 'dso', '--json', one, two, check=0).stdout)
    assert document['schema'] == 1
    assert [recording['side'] for recording in document['recordings']] == ['base', 'new']
    event = document['events'][0]
    for row in event['rows']:
        base, new = (100 * value['period'] / total for value, total in zip(row['values'], event['totals']))
        assert row['differences'][0]['difference'] == pytest.approx(new - base, abs=1e-5)
    lines = tally('diff', '-s', 'dso', '--markdown', one, two, check=0).stdout.splitlines()
    assert lines[2:4] == ['| Baseline | Difference | Shared Object |', '|---:|---:|---|']


def test_few_recordings_say_little(slower, tally):
    base, new = slower
    rows = rows_of(diff(tally, base[:2], new[:2], '--json', check=0))
    assert all('noise_percent' not in change for change in rows.values())
    assert all(change['verdict'] == 'undecided' for change in rows.values())


UNDECIDED = 4  # the exit status


def write_counted(path, chance, counts):
    """A sample of each count of each object, as many as chance has of that rate."""
    made = Recording()
    made.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    made.comm('work')
    for index, count in enumerate(counts):
        made.mmap(0x400000 + index * 0x10000, 0x1000, f'/nowhere/part{index}')
        for _ in range(max(0, round(count + count**0.5 * chance.gauss(0, 1))) if count else 0):
            made.sample(ip=0x400100 + index * 0x10000, period=1000000)
    made.write(path)
    return path


@pytest.fixture
def few(tmp_path):
    """Three recordings a side; part1, a fifth of all, is gone in the new ones of `changed`, and nothing in those of `same`."""
    chance = random.Random(3)
    counts = [500, 220, 130, 80, 40, 30]
    sides = {name: [write_counted(tmp_path / f'{name}{run}', chance, of) for run in range(3)]
             for name, of in (('base', counts), ('same', counts), ('changed', [500, 0, *counts[2:]]))}
    return sides


def test_few_recordings_see_what_is_gone(few, tally):
    result = diff(tally, few['base'], few['changed'], '--json', '--fail-if', 'improvement>50%', check=CHANGED)
    rows = rows_of(result)
    assert rows.pop('part1')['verdict'] == 'less'
    assert {change['verdict'] for change in rows.values()} == {'undecided'}
    assert 'part1: gone' in result.stderr
    event = json.loads(result.stdout)['events'][0]
    assert (event['test'], event['needed_recordings']) == ('size', 7)


def test_a_gate_that_cannot_tell_is_undecided(few, tally):
    """Ranks of three recordings a side have no p under 0.1, whatever they are."""
    result = diff(tally, few['base'], few['same'], '--json', '--fail-if', 'regression>50% with p<0.01', check=UNDECIDED)
    assert {change['verdict'] for change in rows_of(result).values()} == {'undecided'}
    assert 'undecided: 3 recordings against 3 are too few to tell whether nothing changed at p<0.01 over 6 rows; ' \
        '7 a side are needed' in result.stderr
    gate = json.loads(result.stdout)['gate']
    assert (gate['has_failed'], gate['is_undecided'], gate['verdict']) == (False, True, 'undecided')
    lines = diff(tally, few['base'], few['changed'], '--markdown', check=0).stdout.splitlines()
    assert 'Too few recordings for a rank test, which needs 7 a side' in '\n'.join(lines)
    assert sum('(undecided)' in line for line in lines) == 5 and sum('**gone**' in line for line in lines) == 1
    text = diff(tally, few['base'], few['same'], '--fail-if', 'total>50% with p<0.2', check=0).stdout
    assert 'too few for a rank test, which needs 7 a side' in text and text.count('undecided  ') == 6


def test_a_gate_without_samples_is_undecided(tmp_path, tally):
    none = [write_counted(tmp_path / f'none{run}', random.Random(1), []) for run in range(10)]
    result = diff(tally, none, none, '--fail-if', 'regression>2%', check=UNDECIDED)
    assert 'undecided: no row of the recordings has 0.5% of the samples' in result.stderr


def test_a_gate_refuses_recordings_that_are_not_whole(tmp_path, few, tally):
    cut = tmp_path / 'cut.data'
    whole = pathlib.Path(few['same'][0]).read_bytes()
    cut.write_bytes(whole[:len(whole) * 2 // 3])
    result = diff(tally, few['base'], [cut, *few['same'][1:]], '--fail-if', 'regression>2%', check=255)
    assert f'no verdict of --fail-if: {cut} is not a whole recording' in result.stderr or 'cut' in result.stderr


def test_enough_recordings_decide(slower, tally):
    result = diff(tally, *slower, '--json', '--fail-if', 'regression>50%', check=0)
    assert result.stderr == '' and json.loads(result.stdout)['gate']['is_undecided'] is False
    event = json.loads(result.stdout)['events'][0]
    assert event['test'] == 'rank' and 'needed_recordings' not in event


@pytest.mark.parametrize('line,message', [
    ('--base a', '--base and --new go together'),
    ('--base a --new b -q c', '--base and --new name all files'),
    ('--base a --new b -c ratio', 'compare single recordings only'),
    ('--fail-if total>1% a b', 'need several recordings a side'),
    ('--level 2 --base a --new b', '--level takes a probability'),
    ('--correction x --base a --new b', '--correction takes holm, bh or none'),
    ('--measure x --base a --new b', '--measure takes auto, period, share or scaled'),
    ('--json --markdown a b', '--json and --markdown cannot be used together'),
    ('--base', 'requires a value'),
])
def test_what_does_not_go_together_is_refused(line, message, tally, tmp_path):
    result = tally('diff', *line.split(), cwd=tmp_path, check=129)
    assert message in result.stderr
