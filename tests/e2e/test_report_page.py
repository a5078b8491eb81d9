# SPDX-License-Identifier: Apache-2.0
"""report --html: one page with all of a recording. Its sums are report's, it needs nothing else, names are never markup."""
import json
import re

import pytest

from page import HOSTILE, browse, numbers, page_data
from page_recordings import OBJECTS, hostile, sampled
from perfdata_build import Recording

PANES = ['overview', 'time', 'flame', 'functions', 'code']
NUMBERS_OF_ROW = 7


def page_rows(data):
    """(time, node, track, CPU, event, period) of each sample."""
    source, last, time = numbers(data['rows']), {}, 0
    for _ in range(data['rowCount']):
        since, node, track, cpu, event, period, _ = (next(source) for _ in range(NUMBERS_OF_ROW))
        time += since
        last[event] = period - 1 if period else last[event]
        yield time, node, track, cpu - 1, event, last[event]


def page_stacks(data):
    """Names from the root, by node."""
    source, stacks = numbers(data['nodes']), []
    for index in range(data['nodeCount']):
        back, label = next(source), next(source)
        stacks.append((stacks[index - back] if back else ()) + (data['labels'][label][0],))
    return stacks


@pytest.fixture(name='recording')
def fixture_recording(tmp_path):
    path = tmp_path / 'perf.data'
    sampled(path, lambda i: 100 + i)
    return path


def test_sums_are_reports(tally, recording):
    data = page_data(tally('report', '--html=-', '-i', recording, check=0).stdout)
    rows = list(page_rows(data))
    stacks = page_stacks(data)
    tables = json.loads(tally('report', '--json', '--no-children', '-g', 'none', '-s', 'dso', '-i', recording,
                              check=0).stdout)['tables']
    assert len(tables) == 2
    for event, table in enumerate(tables):
        assert data['events'][event][0] == table['events'][0]['name']
        assert sum(row[5] for row in rows if row[4] == event) == table['events'][0]['period']
        assert {row['dso'] for row in table['rows']} == set(OBJECTS)
        for line in table['rows']:
            ours = [row[5] for row in rows if row[4] == event and stacks[row[1]][-1] == f'[{line["dso"]}]']
            assert (len(ours), sum(ours)) == (line['values'][0]['samples'], line['values'][0]['period'])
    assert [row[0] for row in rows] == [i * 10 ** 7 for i in range(300)]
    assert [row[3] for row in rows] == [i % 2 for i in range(300)]
    assert sorted(data['tracks']) == [[1000, 1000, 'worker'], [1000, 1001, 'worker']] and data['counts'] is None


def test_it_is_export_in_report(tally, recording, tmp_path):
    page = tmp_path / 'page.html'
    note = tally('report', f'--html={page}', '-i', recording, check=0).stderr
    assert f'wrote {page}' in note
    assert page.read_text() == tally('export', '-F', 'html', recording, check=0).stdout
    named = tmp_path / 'named.html'  # as people type it
    tally('report', '-i', recording, '--html', named, check=0)
    assert named.read_text() == page.read_text()
    some = page_data(tally('report', '--html=-', '-i', recording, '--time', '1.0,1.5', check=0).stdout)
    assert 0 < some['rowCount'] < 300
    # What the page cannot be asked for is not silently left out.
    tally('report', f'--html={page}', '-s', 'comm', '-i', recording, check=129)


def counted(path, intervals):
    """What stat record writes: counts so far of two events, one of which is not counted in the second interval."""
    recording = Recording()
    for config in (1, 2):
        recording.event('IDENTIFIER', kind=1, config=config)
    recording.name_events('task-clock', '<b>faults')
    for i in range(intervals):
        for event, value in enumerate(((i + 1) * 50_000_000, 10 * (i + 1) if i != 1 else 10)):
            ran = (i + 1) * 100_000_000 if event == 0 or i != 1 else 100_000_000
            recording.record(76, 0, recording.pack('QIIQQQ', event + 1, 2 ** 32 - 1, 0, value, ran, ran))
        recording.record(77, 0, recording.pack('QQ', 0, (i + 1) * 100_000_000))
    if not intervals:
        for event, value in enumerate((150_000_000, 30)):
            recording.record(76, 0, recording.pack('QIIQQQ', event + 1, 2 ** 32 - 1, 0, value, 200_000_000, 100_000_000))
        recording.record(77, 0, recording.pack('QQ', 1, 300_000_000))
    recording.write(path)
    return path


def test_counts_of_intervals(tally, tmp_path):
    """As stat report tells them; the page draws a line of each event and needs no pane but the first."""
    path, page = counted(tmp_path / 'stat.data', 3), tmp_path / 'page.html'
    tally('report', f'--html={page}', '-i', path, check=0)
    events, rounds, left_out = page_data(page.read_text())['counts']
    assert events == [['task-clock', 'msec', 100], ['<b>faults', '', 100]] and left_out == 0
    assert rounds == [[0.1, 0.1, [50, 10]], [0.2, 0.1, [50, None]], [0.3, 0.1, [50, 20]]]
    theirs = re.findall(r'^ +(\S+) +(<not counted>|\S+) +(?:msec +)?(\S+)', tally('stat', 'report', '-i', path).stderr, re.M)
    assert [row[1] for row in theirs if row[2] == '<b>faults'] == ['10', '<not counted>', '20']
    shown, complaints = browse(page, tmp_path, '#functions')
    assert complaints == []
    body = shown.split('<body')[1].split('<script')[0]
    assert '150 msec' in body and '0.5 CPUs' in body and '100 a second' in body and 'all 3 intervals' in body
    assert body.count('<svg') == 2 and 'not counted' in body and 'Hottest' not in body
    assert re.search(r'<button hidden="" id="tab-functions"', body) and '<section id="overview" role="tabpanel" aria-label="overview">' in body


def test_counts_of_a_whole_run(tally, tmp_path):
    path, page = counted(tmp_path / 'stat.data', 0), tmp_path / 'page.html'
    tally('report', f'--html={page}', '-i', path, check=0)
    events, rounds, _ = page_data(page.read_text())['counts']
    assert [event[2] for event in events] == [50, 50] and rounds == [[-1, 0.3, [300, 60]]]
    shown, complaints = browse(page, tmp_path)
    body = shown.split('<body')[1].split('<script')[0]
    assert complaints == [] and '50.0 %' in body and '<svg' not in body and '200 a second' in body
    assert page_data(tally('export', '-F', 'html', counted(tmp_path / 'one', 1), check=0).stdout)['counts'][1][0][2] == [50, 10]


def test_counts_of_places_stay_apart(tally, tmp_path):
    """As record -A's in stat report."""
    recording = Recording()
    recording.event('IDENTIFIER', kind=1, config=1)
    recording.event('IDENTIFIER', kind=1, config=3)
    recording.name_events('task-clock', 'context-switches')
    recording.record(75, 0, recording.pack('QQQQQ', 2, 0, 0, 2, 1))  # aggregated by CPU; scaled
    recording.record(74, 0, recording.pack('HHHH', 0, 2, 0, 1))
    for event, counts in ((1, (250_000_000, 50_000_000)), (2, (7, 9))):
        for cpu, value in enumerate(counts):
            recording.record(76, 0, recording.pack('QIIQQQ', event, cpu, 0, value, 300_000_000, 300_000_000))
    recording.record(77, 0, recording.pack('QQ', 1, 300_000_000))
    path, page = tmp_path / 'stat.data', tmp_path / 'page.html'
    recording.write(path)
    theirs = re.findall(r'^(CPU\d) +(\S+) ', tally('stat', 'report', '-i', path).stderr, re.M)
    assert theirs == [('CPU0', '250.00'), ('CPU1', '50.00'), ('CPU0', '7'), ('CPU1', '9')]
    tally('report', f'--html={page}', '-i', path, check=0)
    events, rounds, _ = page_data(page.read_text())['counts']
    assert [[event[0], event[3]] for event in events] == [
        ['task-clock', 'CPU0'], ['task-clock', 'CPU1'], ['context-switches', 'CPU0'], ['context-switches', 'CPU1']]
    assert rounds == [[-1, 0.3, [250, 50, 7, 9]]]
    shown, complaints = browse(page, tmp_path)
    assert complaints == [] and '<td>CPU1</td><td class="n">50 msec</td>' in shown.split('<body')[1].split('<script')[0]


def test_names_are_never_markup(tally, tmp_path):
    path, page = tmp_path / 'hostile.data', tmp_path / 'page.html'
    hostile(path)
    tally('report', f'--html={page}', '-i', path)
    text = page.read_text()
    assert text.count('<script') == 2 and text.count('</script') == 2
    assert len(list(page_rows(page_data(text)))) == len(HOSTILE)
    for pane in PANES:
        assert browse(page, tmp_path, f'#{pane}')[1] == []


@pytest.mark.parametrize('pane', PANES)
def test_each_pane_runs(tally, recording, tmp_path, pane):
    page = tmp_path / 'page.html'
    tally('report', f'--html={page}', '-i', recording, check=0)
    shown, complaints = browse(page, tmp_path, f'#{pane}')
    assert complaints == []
    body = shown.split('<body>')[1]
    visible = re.search(rf'<section id="{pane}"[^>]*>', body).group(0)
    assert 'hidden' not in visible
    # Every control has a name that is read aloud.
    buttons = re.findall(r'<button[^>]*>(.*?)</button>', body.split('<script')[0], re.S)
    assert len(buttons) > len(PANES) and all(re.sub(r'<[^>]*>', '', button).strip() for button in buttons)


def test_a_chosen_time_filters_all(tally, recording, tmp_path):
    page = tmp_path / 'page.html'
    tally('report', f'--html={page}', '-i', recording, check=0)
    whole, _ = browse(page, tmp_path, '#overview')
    part, complaints = browse(page, tmp_path, '#overview&t=0-1000000000')
    assert complaints == []
    assert '>200<' in whole  # of the first event
    assert '>67<' in part or '>66<' in part
    assert 'samples chosen' in part and 'samples chosen' not in whole.split('<script')[0]
