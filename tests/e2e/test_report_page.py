"""report --html: one page with all of a recording. Its sums are report's, it needs nothing else, names are never markup."""
import json
import re

import pytest

from page import HOSTILE, browse, numbers, page_data
from perfdata_build import CHAIN_USER, Recording

PANES = ['overview', 'time', 'flame', 'functions', 'code']
NUMBERS_OF_ROW = 7
OBJECTS = ('first', 'second')


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
    """Two threads' worth of samples in two files, of two events, 3 s long."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN')
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN', config=1)
    recording.name_events('cycles', 'instructions')
    recording.comm('worker')
    for index, name in enumerate(OBJECTS):
        recording.mmap(0x10000 * (index + 1), 0x1000, '/' + name)
    for i in range(300):
        start = 0x10000 * (i % 2 + 1)
        recording.sample(event=i % 3 == 0, ip=start + 8, time=10 ** 9 + i * 10 ** 7, cpu=i % 2, period=100 + i,
                         callchain=[CHAIN_USER, start + 8, 0x10000 + 16])
    path = tmp_path / 'perf.data'
    recording.write(path)
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
    assert data['tracks'] == [[1000, 1000, 'worker']]


def test_it_is_export_in_report(tally, recording, tmp_path):
    page = tmp_path / 'page.html'
    note = tally('report', f'--html={page}', '-i', recording, check=0).stderr
    assert f'wrote {page}' in note
    assert page.read_text() == tally('export', '-F', 'html', recording, check=0).stdout
    some = page_data(tally('report', '--html=-', '-i', recording, '--time', '1.0,1.5', check=0).stdout)
    assert 0 < some['rowCount'] < 300
    # What the page cannot be asked for is not silently left out.
    tally('report', f'--html={page}', '-s', 'comm', '-i', recording, check=129)


def test_names_are_never_markup(tally, tmp_path):
    recording = Recording()
    recording.event('IP TID TIME PERIOD CALLCHAIN')
    for index, name in enumerate(HOSTILE):
        start = 0x10000 * (index + 1)
        recording.comm(name[:15])
        recording.mmap(start, 0x1000, '/' + name.replace('/', '_')[:4000])
        recording.sample(ip=start + 8, time=index + 1, callchain=[CHAIN_USER, start + 8, start + 16])
    path, page = tmp_path / 'hostile.data', tmp_path / 'page.html'
    recording.write(path)
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
