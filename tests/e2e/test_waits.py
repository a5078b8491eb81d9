"""Waits and who ended them, in every view: of recordings that are built, whose waits are known."""
import json

import perfdata_build
import pytest

from tracing_build import Tracepoint, tracing_data
from waits_build import BEGIN, MS, PROCESS, SECOND, WallRecording, known_waits, tid, wait_record

NS_BY_STATE = {'running': 2500 * MS, 'sleep': 2500 * MS, 'lock': 3 * SECOND, 'runnable': 120 * MS, 'io': 2 * SECOND,
               'poll': 4 * SECOND}


@pytest.fixture(name='wall')
def wall_recording(tmp_path):
    return known_waits(tmp_path / 'wall.data')


def report(tally, path, *words):
    return json.loads(tally('report', '--json', '-i', path, *words, check=0).stdout)['tables']


def periods(table, *keys):
    return {tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]]: row['values'][0]['period']
            for row in table['rows'] if row['values'][0]['period']}


@pytest.mark.parametrize('order', ['<', '>'])
def test_states_add_up(tally, tmp_path, order):
    path = known_waits(tmp_path / 'wall.data', order=order)
    tables = report(tally, path, '-s', 'state')
    assert [table['events'][0]['name'] for table in tables] == ['wall-clock']
    assert periods(tables[0], 'state') == NS_BY_STATE
    assert tables[0]['events'][0]['period'] == sum(NS_BY_STATE.values())


def test_causes_have_names(tally, wall):
    found = periods(report(tally, wall, '-s', 'state,sym')[0], 'state', 'symbol')
    assert found[('lock', 'futex_wait')] == 3 * SECOND
    assert found[('sleep', 'clock_sleep')] == 2500 * MS
    assert found[('running', 'compute')] == 2 * SECOND
    assert found[('runnable', 'compute')] == 100 * MS
    text = tally('report', '--stdio', '-i', wall, '-s', 'state,sym', '-g', 'none', check=0).stdout
    assert 'lock      [.] futex_wait' in text


def test_wakers(tally, wall):
    found = periods(report(tally, wall, '-s', 'waker,state')[0], 'waker', 'state')
    assert found == {('-', 'running'): 2500 * MS, ('-', 'runnable'): 100 * MS, ('-', 'poll'): 4 * SECOND,
                     ('[interrupt]', 'sleep'): 2500 * MS, (f'holder:{tid("holder")}', 'lock'): 3 * SECOND,
                     (f'holder:{tid("holder")}', 'runnable'): 20 * MS, (f'feeder:{tid("feeder")}', 'io'): 2 * SECOND}


def test_times_to_wake_and_to_run(tally, wall):
    rows = report(tally, wall, '-s', 'comm,wait,run_latency', '-g', 'none')[0]['rows']
    found = {row['comm']: (row['values'][0]['wait'], row['values'][0]['run_latency']) for row in rows}
    assert found == {'computer': (0, 100 * MS), 'holder': (2500 * MS, 0), 'waiter': (3 * SECOND, 20 * MS),
                     'reader': (2 * SECOND, 0), 'pool': (4 * SECOND, 0)}
    text = tally('report', '--stdio', '-i', wall, '-F', 'run_latency,comm', '--no-children', '-g', 'none', check=0).stdout
    assert [line.split()[-1] for line in text.splitlines() if line.startswith(' ')][:2] == ['computer', 'waiter'], text
    # with callees
    rows = report(tally, wall, '-s', 'comm,sym,wait')[0]['rows']
    assert {row['symbol']: row['values'][0]['wait'] for row in rows if row['comm'] == 'waiter'}['use_it'] == 3 * SECOND


def test_which_recordings_have_one_table(tally, tmp_path):
    """Scripts that know perf's two tables get them of --off-cpu, unless they ask for wall-clock time."""
    wall, off, plain = (known_waits(tmp_path / name, **more) for name, more in (
        ('wall.data', {}), ('off.data', {'command': ('record', '--off-cpu', '--', 'x', '--wall')}),
        ('perf.data', {'command': ('record', '--off-cpu'), 'raw': False})))
    one, two = ['wall-clock'], ['cpu-clock', 'offcpu-time']
    for path, words, wanted in ((wall, (), one), (wall, ('--no-wall',), two), (off, (), two), (off, ('--wall',), one),
                                (off, ('-s', 'state'), one), (plain, (), two), (plain, ('--wall',), one),
                                (wall, ('--no-wall', '-s', 'state'), two)):
        assert [t['events'][0]['name'] for t in report(tally, path, *words)] == wanted, (path, words)
    assert periods(report(tally, plain, '-s', 'state')[0], 'state') == {'running': 2500 * MS, 'off-cpu': 11620 * MS}


def test_a_recording_without_waits(tally, tmp_path):
    recording = WallRecording()
    recording.events.pop()
    recording.features.pop(12)
    recording.runs('computer', BEGIN, SECOND, 'compute')
    recording.write(tmp_path / 'cpu.data')
    assert periods(report(tally, tmp_path / 'cpu.data', '-s', 'state')[0], 'state') == {'running': SECOND}
    assert 'needs the event offcpu-time' in tally('report', '--stdio', '--wall', '-i', tmp_path / 'cpu.data').stderr


@pytest.mark.parametrize('raw', [b'', b'WAIT', wait_record('lock', version=9), wait_record(77), wait_record('running'),
                                 wait_record('lock')[:30], wait_record('lock', magic=1),
                                 wait_record('io', waker='feeder', stack=['feed'] * 5)[:-16]])
def test_damaged_waits_are_waits_still(tally, tmp_path, raw):
    recording = WallRecording()
    recording.sample(1, tid=(PROCESS, PROCESS), time=BEGIN, period=SECOND, raw=raw)
    recording.write(tmp_path / 'damaged.data')
    assert periods(report(tally, tmp_path / 'damaged.data', '-s', 'state,waker')[0], 'state', 'waker') == {
        ('off-cpu', '-'): SECOND}


def test_fields_of_tracepoints_keep_their_names(tally, tmp_path):
    point = Tracepoint('own', 'thing', 7, [(f'unsigned int', name, 4) for name in ('state', 'waker', 'wait')], '"x"')
    recording = perfdata_build.Recording()
    recording.event('IP TID TIME PERIOD RAW IDENTIFIER', kind=2, config=7, period=1)
    recording.name_events('own:thing')
    recording.feature(1, tracing_data([point]))
    recording.sample(raw=point.payload(state=11, waker=12, wait=13))
    recording.write(tmp_path / 'fields.data')
    assert [(row['state'], row['waker'], row['wait']) for row in report(
        tally, tmp_path / 'fields.data', '-s', 'state,waker,wait')[0]['rows']] == [('11', '12', '13')]
