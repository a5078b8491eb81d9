# SPDX-License-Identifier: Apache-2.0
"""Waits and who ended them, in every view: of recordings that are built, whose waits are known."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import json_schema
import perfdata_build
import pytest

from otlp_reader import Otlp
from page import browse, numbers, page_data
from test_export import Pprof
from tracing_build import Tracepoint, tracing_data
from waits_build import (BEGIN, CODE, FUNCTIONS, MS, NAMES, PROCESS, SECOND, STATES, WallRecording, chain, known_waits, tid,
                         wait_record)

NS_BY_STATE = {'running': 2500 * MS, 'sleep': 2500 * MS, 'lock': 3 * SECOND, 'runnable': 120 * MS, 'io': 2 * SECOND,
               'poll': 4 * SECOND}


@pytest.fixture(scope='module', autouse=True)
def names_of_functions():
    yield
    NAMES.unlink(missing_ok=True)


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


def test_perf_reads_the_same(tally, newest_perf, tmp_path):
    """perf's two tables of a built recording: so that what is built is what record writes."""
    path = known_waits(tmp_path / 'wall.data')
    theirs = newest_perf('report', '--stdio', '-i', path, '--no-children', '-g', 'none', '-s', 'comm', check=0).stdout
    found = dict(re.findall(r"of event '([\w-]+)'\n# Event count \(approx.\): (\d+)", theirs))
    assert found == {'cpu-clock': str(2500 * MS), 'offcpu-time': str(11620 * MS)}


@pytest.mark.parametrize('chain_field', ['', ' CALLCHAIN'])
@pytest.mark.parametrize('order', ['<', '>'])
def test_waits_that_lie_in_raw_data_alone(tally, newest_perf, tmp_path, chain_field, order):
    """As perf since 6.16 records them: the fields of a sample are those of whoever was on the CPU."""
    path = tmp_path / 'perf.data'
    recording = WallRecording(order, command=('perf', 'record', '--off-cpu'), raw=False)
    recording.events.pop()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD RAW' + chain_field, kind=1, config=10, period=1)
    recording.features.pop(12)
    recording.name_events('cpu-clock', 'offcpu-time')
    recording.runs('computer', BEGIN, 10 * MS, 'compute', 'start')
    for thread, length, functions in (('holder', 7 * MS, ('nap', 'hold', 'start')), ('waiter', 9 * MS, ('futex_wait', 'start'))):
        ips = chain(*functions)
        raw = recording.pack('II', PROCESS, tid(thread)) + recording.words([length, len(ips), *ips, 0])
        recording.sample(1, ip=0, tid=(PROCESS, tid('computer')), time=BEGIN + length, period=1, raw=raw, callchain=[])
    if order == '>':  # raw data that cannot be that long: perf fails on such
        recording.sample(1, ip=0, tid=(PROCESS, tid('pool')), time=BEGIN + 20 * MS, period=3, callchain=[],
                         raw=recording.pack('II', PROCESS, tid('reader')) + recording.words([5, 2 ** 61, 1]))
    NAMES.write_text(''.join(f'{CODE + 0x100 * i:x} 100 {name}\n' for i, name in enumerate(FUNCTIONS)))
    recording.write(path)
    waits = [row for table in report(tally, path, '--no-children', '-s', 'comm,sym', '-g', 'none')
             if table['events'][0]['name'] == 'offcpu-time' for row in table['rows']]
    assert {(row['comm'], row['symbol'], row['values'][0]['period']) for row in waits if row['comm'] != 'pool'} == {
        ('holder', 'nap', 7 * MS), ('waiter', 'futex_wait', 9 * MS)}
    found = folded(tally('flamegraph', '--folded', '--wall', path, check=0).stdout)
    assert found[('holder', 'start', 'hold', 'nap', '[off-cpu]')] == 7 * MS
    assert found[('waiter', 'start', 'futex_wait', '[off-cpu]')] == 9 * MS
    if order == '<':
        fields = ('-i', path, '-F', 'comm,tid,period,event,ip,sym')
        ours, theirs = ([line.split() for line in run('script', *fields, check=0).stdout.splitlines() if line.strip()]
                        for run in (tally, newest_perf))
        assert ours == theirs


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
                                 wait_record('io', waker='feeder', stack=['feed'] * 5)[:-16]], ids=lambda raw: f'{len(raw)} bytes')
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


FOLDED = {
    ('computer', 'start', 'compute'): 2 * SECOND, ('computer', 'start', 'compute', '[runnable]'): 100 * MS,
    ('holder', 'start', 'hold', 'nap', 'clock_sleep', '[sleep]'): 2500 * MS, ('holder', 'start', 'hold', 'work'): 500 * MS,
    ('pool', 'start', 'pool', 'epoll_wait', '[poll]'): 4 * SECOND,
    ('reader', 'start', 'read_it', 'sys_read', '[io]'): 2 * SECOND,
    ('waiter', 'start', 'use_it', 'lock_it', 'futex_wait', '[lock]'): 3 * SECOND,
    ('waiter', 'start', 'use_it', 'lock_it', 'futex_wait', '[runnable]'): 20 * MS}


def folded(text):
    return {tuple(line.rsplit(' ', 1)[0].split(';')): int(line.rsplit(' ', 1)[1]) for line in text.splitlines()}


def test_folded_waits_end_in_their_state(tally, tmp_path, wall):
    assert folded(tally('flamegraph', '--folded', wall, check=0).stdout) == FOLDED
    off = known_waits(tmp_path / 'off.data', command=('record', '--off-cpu'))
    assert folded(tally('flamegraph', '--folded', '--wall', off, check=0).stdout) == FOLDED
    on_cpu = {path: time for path, time in FOLDED.items() if path[-1][0] != '['}
    assert folded(tally('flamegraph', '--folded', off, check=0).stdout) == on_cpu
    both = folded(tally('flamegraph', '--folded', '--reverse', wall, check=0).stdout)
    assert both[('waiter', 'futex_wait', 'lock_it', 'use_it', 'start', '[lock]')] == 3 * SECOND


def test_a_flame_graph_has_states(tally, tmp_path, wall):
    page = tmp_path / 'page.html'
    tally('flamegraph', '--wall', '-o', page, wall, check=0)
    data = page_data(page.read_text())
    assert [data['states'][STATES.index(name)] for name in NS_BY_STATE] == list(NS_BY_STATE)
    source, found = numbers(data['nodes'], is_packed=True), {}
    for _ in range(data['count']):
        next(source), next(source), next(source)
        for _ in range(next(source)):
            name = data['states'][next(source)]
            found[name] = found.get(name, 0) + next(source)
    assert found == NS_BY_STATE
    for fragment in ('', '#s=1', '#s=2', '#r&s=2&q=lock'):
        text, complaints = browse(page, tmp_path, fragment)
        assert complaints == [] and 'on-CPU' in text and 'runnable' in text
    assert '100.00 % matched' in browse(page, tmp_path, '#s=1&q=compute%7Cwork')[0]
    assert re.search(r'\b25[.,]\d+ % matched', browse(page, tmp_path, '#s=2&q=lock_it')[0])  # 3.02 s of 11.62 s


def test_an_svg_has_states(tally, tmp_path, wall):
    page = tmp_path / 'page.svg'
    tally('flamegraph', '--svg', '-o', page, wall, check=0)
    root = xml.etree.ElementTree.parse(page).getroot()
    svg = '{http://www.w3.org/2000/svg}'
    boxes = {group.find(f'{svg}title').text.split()[0]: group for group in root.findall(f'{svg}g')}
    assert 'waiter 3020000000 ns, 21.39%; runnable 0.66%, lock 99.34%' == boxes['waiter'].find(f'{svg}title').text
    assert (boxes['hold'].get('data-t'), boxes['hold'].get('data-r')) == (str(3 * SECOND), str(500 * MS))
    colours = {name: boxes[name].find(f'{svg}rect').get('fill') for name in ('compute', 'futex_wait', 'sys_read', 'epoll_wait')}
    assert len(set(colours.values())) == 4
    assert browse(page, tmp_path)[1] == []


def test_what_has_no_waits_is_refused(tally, tmp_path):
    recording = WallRecording()
    recording.events.pop()
    recording.features.pop(12)
    recording.runs('computer', BEGIN, SECOND, 'compute')
    recording.write(tmp_path / 'cpu.data')
    assert 'needs the event offcpu-time' in tally('flamegraph', '--wall', '-o', '-', tmp_path / 'cpu.data').stderr


def chains(table):
    """Each chain of each row, as the names from the row's function on, with its period."""
    found = {}

    def walk(chain, before):
        names = before + tuple(frame['symbol'] for frame in chain['frames'])
        below = 0
        for child in chain.get('children', ()):
            below += walk(child, names)
        if chain['period'] > below:
            found[names] = found.get(names, 0) + chain['period'] - below
        return chain['period']
    for row in table['rows']:
        for chain in row.get('chains', ()):
            walk(chain, ())
    return found


def test_what_wakers_had_been_doing(tally, wall):
    table = report(tally, wall, '--wakers', '-g', 'graph,0')[0]
    assert table['events'][0]['period'] == 11500 * MS  # without the time until threads ran
    assert [column['name'] for column in table['columns']][:5] == ['overhead', 'comm', 'state', 'symbol', 'waker']
    held = ('futex_wait', 'lock_it', 'use_it', 'start', '[woken by holder]')
    napped = ('clock_sleep', 'nap', 'hold', 'start', '[woken by an interrupt]')
    read = ('sys_read', 'read_it', 'start', '[woken by feeder]', 'sys_write', 'feed', 'start')
    rest = {napped: 2500 * MS, read: 2 * SECOND, ('epoll_wait', 'pool', 'start'): 4 * SECOND}
    assert chains(table) == rest | {(*held, 'unlock', 'release', 'hold', 'start'): 3 * SECOND}
    # The holder slept for five sixths of that, and ran for the rest.
    followed = report(tally, wall, '--wakers', '--follow', '-g', 'graph,0')[0]
    assert followed['events'][0]['period'] == 11500 * MS
    assert chains(followed) == rest | {(*held, *napped): 2500 * MS, (*held, 'unlock', 'release', 'hold', 'start'): 500 * MS}


def test_flame_graphs_of_wakers(tally, tmp_path, wall):
    lines = folded(tally('flamegraph', '--folded', '--wakers', '--follow', wall, check=0).stdout)
    assert lines[('waiter', 'start', 'use_it', 'lock_it', 'futex_wait', '[woken by holder]', 'unlock', 'release', 'hold', 'start',
                  '[lock]')] == 500 * MS
    assert sum(lines.values()) == 11500 * MS
    page = tmp_path / 'page.html'
    tally('flamegraph', '--wakers', '-o', page, wall, check=0)
    text, complaints = browse(page, tmp_path, '#q=woken by holder')
    assert complaints == [] and '26.09 % matched' in text


@pytest.mark.parametrize('order', ['<', '>'])
def test_wake_ups_that_lead_in_circles(tally, tmp_path, order):
    """Two threads that wake each other, one that says it woke itself, and waits of one thread at the same time."""
    recording = WallRecording(order)
    for i in range(300):
        for thread, waker in (('reader', 'feeder'), ('feeder', 'reader'), ('pool', 'pool')):
            recording.waits(thread, 'io', BEGIN + i * MS, 2 * MS, 'sys_read', 'start', waker=waker, stack=('sys_write', 'start'))
    recording.write(tmp_path / 'circle.data')
    for words in ((), ('--follow',)):
        table = report(tally, tmp_path / 'circle.data', '--wakers', *words)[0]
        assert table['events'][0]['period'] == 900 * 2 * MS


@pytest.mark.parametrize('words, said', [
    (('--follow',), '--follow needs --wakers'),
    (('--wakers', '--wall'), 'cannot be used together')])
def test_options_of_wakers(tally, wall, words, said):
    assert said in tally('report', '--stdio', '-i', wall, *words).stderr


def test_wakers_that_nobody_recorded(tally, tmp_path):
    path = known_waits(tmp_path / 'perf.data', raw=False)
    for words in (('report', '--stdio', '--wakers', '-i', path), ('flamegraph', '--wakers', '-o', '-', path)):
        assert 'needs waits that say who ended them' in tally(*words).stderr


def test_wakers_where_there_are_no_waits(tally, tmp_path):
    recording = perfdata_build.Recording()
    recording.event('IP TID TIME PERIOD IDENTIFIER', kind=1, config=0, period=1)
    path = tmp_path / 'clock.data'
    recording.write(path)
    for words in (('report', '--stdio', '--wakers', '-i', path), ('flamegraph', '--wakers', '-o', tmp_path / 'page', path)):
        assert 'has no waits' in tally(*words, check=255).stderr


def known_complete(text):
    return re.search(r'([\d.]+)% of stacks are known to be complete', text)[1]


def test_stacks_are_as_complete_with_wakers(tally, wall):
    """What the view appends to a chain does not count."""
    without = tally('report', '--stdio', '-i', wall, '--no-wall', check=0)
    shares = {known_complete(tally('report', '--stdio', '-i', wall, '--wakers', *words, check=0).stderr) for words in ((), ('--follow',))}
    assert len(shares) == 1 and abs(float(shares.pop()) - float(known_complete(without.stderr))) < 10


def test_two_recordings_are_compared_in_wall_clock_time(tally, tmp_path, wall):
    other = known_waits(tmp_path / 'other.data')
    said = tally('diff', wall, other, check=0)
    assert re.findall(r"^# Event '(.*)'", said.stdout, re.M) == ['wall-clock'] and 'warning' not in said.stderr
    events = json.loads(tally('diff', '--json', wall, other, check=0).stdout)['events']
    assert [event['name'] for event in events] == ['wall-clock']


def test_events_of_wall_clock_time_are_one(tally, wall):
    events = json.loads(tally('export', '-F', 'json', '-i', wall, check=0).stdout)['events']
    assert [event['name'] for event in events] == ['wall-clock']


@pytest.mark.parametrize('words, left, hidden', [
    ((), NS_BY_STATE, 0),
    (('--no-idle',), NS_BY_STATE | {'poll': None}, 4),
    (('--no-idle', '--idle-functions', 'lock_*,nap'), NS_BY_STATE | {'poll': None, 'lock': None, 'sleep': None}, 9.5),
    (('--no-idle', '--idle-functions', 'read_it,!pool'), NS_BY_STATE | {'io': None}, 2)])
def test_threads_that_wait_for_work_are_hidden(tally, wall, words, left, hidden):
    result = tally('report', '--json', '-i', wall, '-s', 'state', *words, check=0)
    left = {state: time for state, time in left.items() if time}
    table = json.loads(result.stdout)['tables'][0]
    assert periods(table, 'state') == left and table['events'][0]['period'] == sum(left.values())
    assert ('are hidden' in result.stderr) == bool(hidden)
    assert not hidden or f'of {hidden:.3f} s in all, {hidden / 14.12 * 100:.1f}% of the time, are hidden' in result.stderr
    lines = tally('flamegraph', '--folded', wall, *words, check=0)
    assert sum(folded(lines.stdout).values()) == sum(left.values())
    assert ('are hidden' in lines.stderr) == bool(hidden)


def test_what_no_idle_cannot_hide(tally, tmp_path, wall):
    assert '--no-idle hides nothing' in tally(
        'report', '--stdio', '-i', wall, '--no-idle', '--idle-functions', '!epoll_wait', check=0).stderr
    recording = WallRecording()
    recording.events.pop()
    recording.features.pop(12)
    recording.runs('computer', BEGIN, SECOND, 'compute')
    recording.write(tmp_path / 'cpu.data')
    for words in (('report', '--stdio', '-i'), ('flamegraph', '-o', '-')):
        assert '--no-idle hides waits' in tally(*words, tmp_path / 'cpu.data', '--no-idle').stderr
    # Perf's waits say no state, but where they are is enough; who ended the others is not asked.
    off = known_waits(tmp_path / 'perf.data', raw=False)
    tables = report(tally, off, '--no-idle')
    assert [table['events'][0]['period'] for table in tables] == [10120 * MS]
    assert report(tally, wall, '--wakers', '--no-idle')[0]['events'][0]['period'] == 7500 * MS


def exported(tally, form, path, tmp_path):
    output = tmp_path / form
    tally('export', '-F', form, '-o', output, path, check=0)
    return output


def by_state(pairs):
    sums = {}
    for state, period in pairs:
        sums[state] = sums.get(state, 0) + period
    return sums


def test_exported_json(tally, tmp_path, wall):
    whole = json.loads(exported(tally, 'json', wall, tmp_path).read_text())
    json_schema.check(whole, json.loads((pathlib.Path(__file__).resolve().parents[2] / 'docs/schema/export.json').read_text()))
    assert by_state((s['state'], s['period']) for s in whole['samples']) == NS_BY_STATE
    assert by_state((s.get('waker'), 1) for s in whole['samples'])[f'feeder:{tid("feeder")}'] == 4
    assert {whole['events'][s['event']]['name'] for s in whole['samples']} == {'wall-clock'}
    off = known_waits(tmp_path / 'off.data', command=('record', '--off-cpu'))
    whole = json.loads(exported(tally, 'json', off, tmp_path).read_text())
    assert {(whole['events'][s['event']]['name'], s['state'] == 'running') for s in whole['samples']} == {
        ('cpu-clock', True), ('offcpu-time', False)}


def test_exported_pprof(tally, tmp_path, wall):
    profile = Pprof(exported(tally, 'pprof', wall, tmp_path).read_bytes())
    assert profile.types == [('samples', 'count'), ('wall', 'nanoseconds'), ('cpu', 'nanoseconds')]
    assert by_state((labels['state'], values[1]) for _, values, labels in profile.samples) == NS_BY_STATE
    assert sum(values[2] for _, values, _ in profile.samples) == NS_BY_STATE['running']
    assert {labels.get('waker') for _, _, labels in profile.samples if labels['state'] == 'lock'} == {f'holder:{tid("holder")}'}


def test_exported_otlp(tally, tmp_path, wall):
    message = Otlp(exported(tally, 'otlp', wall, tmp_path).read_bytes())
    assert {one['type'] for one in message.profiles} == {('cpu', 'nanoseconds'), ('off_cpu', 'nanoseconds'), ('samples', 'count')}
    times = [sample for sample in message.samples if sample['profile']['type'][1] == 'nanoseconds']
    assert by_state((sample['attributes']['tally.state'], sample['value']) for sample in times) == NS_BY_STATE
    assert {sample['attributes']['tally.state'] for sample in times if sample['profile']['type'][0] == 'cpu'} == {'running'}
    assert {sample['attributes'].get('tally.waker') for sample in times if sample['attributes']['tally.state'] == 'lock'} == {
        f'holder:{tid("holder")}'}
    # Waits are measured and not sampled: their time has no period.
    assert {one['type'][0]: one['period_type'][0] for one in message.profiles if one['type'][0] != 'samples'} == {
        'cpu': 'cpu', 'off_cpu': ''}
    counts = [sample for sample in message.samples if sample['profile']['type'] == ('samples', 'count')]
    pprof = Pprof(exported(tally, 'pprof', wall, tmp_path).read_bytes())
    assert by_state((sample['attributes']['tally.state'], sample['value']) for sample in counts) == by_state(
        (labels['state'], values[0]) for _, values, labels in pprof.samples)
    off = Otlp(exported(tally, 'otlp', known_waits(tmp_path / 'off.data', command=('record', '--off-cpu')), tmp_path).read_bytes())
    assert {(one['attributes']['tally.event'], one['type'][0]) for one in off.profiles if one['type'][0] != 'samples'} == {
        ('cpu-clock', 'cpu'), ('offcpu-time', 'off_cpu')}


def test_exports_of_stacks_end_in_states(tally, tmp_path, wall):
    assert folded(exported(tally, 'folded', wall, tmp_path).read_text()) == FOLDED
    whole = json.loads(exported(tally, 'speedscope', wall, tmp_path).read_text())
    frames = [frame['name'] for frame in whole['shared']['frames']]
    found = {}
    for one in whole['profiles']:
        for stack, weight in zip(one['samples'], one['weights']):
            key = (one['name'].split(' ')[0], *(frames[at] for at in stack))
            found[key] = found.get(key, 0) + weight
    assert found == FOLDED


def test_exported_firefox_tells_time_on_the_cpu(tally, tmp_path, wall):
    threads = json.loads(exported(tally, 'firefox', wall, tmp_path).read_text())['threads']
    samples = [thread['samples'] for thread in threads]
    assert sum(sum(s['threadCPUDelta']) for s in samples) == NS_BY_STATE['running'] // 1000
    assert all(len(s['threadCPUDelta']) == s['length'] for s in samples)
    off = known_waits(tmp_path / 'off.data', command=('record', '--off-cpu'))
    tally('export', '-F', 'firefox', '-o', tmp_path / 'off', off, check=0)


def test_exported_firefox_has_categories_of_states(tally, tmp_path, wall):
    """A wait's stack has the category of its state, which the profiler draws as idle; its callers keep theirs."""
    whole = json.loads(exported(tally, 'firefox', wall, tmp_path).read_text())
    categories = [category['name'] for category in whole['meta']['categories']]
    colours = {category['name']: category['color'] for category in whole['meta']['categories']}
    found = {}
    for thread in whole['threads']:
        stacks, samples = thread['stackTable'], thread['samples']
        for stack, weight in zip(samples['stack'], samples['weight']):
            name = categories[stacks['category'][stack]]
            found[name] = found.get(name, 0) + round(weight * MS)
        for prefix, category in zip(stacks['prefix'], stacks['category']):
            assert prefix is None or not categories[stacks['category'][prefix]].startswith('Waiting'), (prefix, category)
    assert {name[9:]: ns for name, ns in found.items() if name.startswith('Waiting: ')} == {
        state: ns for state, ns in NS_BY_STATE.items() if state != 'running'}
    assert colours['Waiting: lock'] == 'transparent' and colours['Waiting: runnable'] == 'lightred'


def test_go_reads_both_sample_types(tally, tmp_path, wall):
    if not shutil.which('go'):
        pytest.skip('no go here, whose pprof reads the export')
    profile = exported(tally, 'pprof', wall, tmp_path)
    for kind, top, total in (('wall', 'epoll_wait', sum(NS_BY_STATE.values())), ('cpu', 'compute', NS_BY_STATE['running'])):
        text = subprocess.run(['go', 'tool', 'pprof', '-top', '-unit=ms', f'-sample_index={kind}', profile], text=True, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, 'HOME': str(tmp_path)}).stdout
        assert f'Type: {kind}' in text and f'{total // MS}ms total' in text, text
        rows = [line.split()[-1] for line in text.splitlines() if re.match(r'\s+\d+ms\s', line)]
        assert rows[0] == top, text


def test_a_timechart_of_waits(tally, tmp_path, wall):
    """Each wait is a bar in the row of its thread, with its state and waker; between waits and in samples a thread runs."""
    chart = tmp_path / 'chart.svg'
    drawn = tally('timechart', '-i', wall, '-o', chart, check=0)
    assert 'note: 40 short waits were only summed up' in drawn.stderr
    titles = [title.text for title in xml.etree.ElementTree.parse(chart).getroot().iter('{http://www.w3.org/2000/svg}title')]
    bars = [title for title in titles if title]

    def bar(thread, words, *lines):
        found = [text for text in bars if text.startswith(f'{thread} {tid(thread)} {words}') and all(line in text for line in lines)]
        assert found, (thread, words, bars)

    bar('waiter', 'waiting for a lock 3.0 s', f'lock, woken by holder:{tid("holder")}', 'futex_wait\nlock_it\nuse_it')
    bar('waiter', 'waiting for a CPU 20.0 ms', f'woken by holder {tid("holder")}')
    bar('holder', 'sleeping 2.5 s', 'sleep, woken by [interrupt]', 'clock_sleep')
    bar('holder', 'running 500.0 ms on CPU')
    bar('reader', 'waiting for data 500.0 ms', f'io, woken by feeder:{tid("feeder")}')
    bar('computer', 'running 2.0 s on CPU 0')
    bar('computer', 'waiting for a CPU 100.0 ms')
    assert any(text.startswith(f'holder {tid("holder")} wakes waiter {tid("waiter")} at 3.0 s') for text in bars), bars
    page = tmp_path / 'chart.html'
    tally('timechart', '-i', wall, '--html', page, check=0)
    text, complaints = browse(page, tmp_path)
    assert complaints == [] and 'waiting for a lock' in text


def test_a_page_has_states_over_time(tally, tmp_path, wall):
    page = tmp_path / 'page.html'
    tally('report', f'--html={page}', '-i', wall, check=0)
    data = page_data(page.read_text())
    source, last, found, wakers, sums = numbers(data['rows']), 0, {}, {}, 0
    for _ in range(data['rowCount']):
        _, _, _, _, _, period, _, state, waker = (next(source) for _ in range(9))
        last = period - 1 if period else last
        name = data['states'][state]
        found[name] = found.get(name, 0) + last
        sums += waker & 1
        if waker > 1:
            wakers[data['wakers'][(waker >> 1) - 1]] = wakers.get(data['wakers'][(waker >> 1) - 1], 0) + 1
    assert found == NS_BY_STATE and sums == 1
    assert wakers == {f'holder:{tid("holder")}': 2, '[interrupt]': 1, f'feeder:{tid("feeder")}': 4}
    for pane in ('overview', 'time', 'flame', 'functions'):
        text, complaints = browse(page, tmp_path, f'#{pane}')
        assert complaints == []
        assert pane != 'time' or 'what they did' in text.split('<script')[0]


def test_a_command_recorded_and_drawn(tally, workload, tmp_path):
    """What the threads of a program wait for, and who ended it, in one command. No time is asked for: the machine may be busy."""
    tried = tally('record', '--wall', '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(f'waits cannot be measured here: {tried.stderr.strip().splitlines()[-1]}')
    program, lines = workload('known_waits').path, tmp_path / 'folded'
    tally('flamegraph', '--wall', '--folded', '-o', lines, '--', program, '100', check=0)
    states = {(path[0], path[-1]) for path in folded(lines.read_text())}
    assert {('waiter', '[lock]'), ('sleeper', '[sleep]'), ('reader', '[io]')} <= states
    assert any(comm == 'computer' and last[0] != '[' for comm, last in states), 'no time on the CPU'
    tally('flamegraph', '--wakers', '--follow', '--folded', '-o', lines, '--', program, '100', check=0)
    woken = {(path[0], name) for path in folded(lines.read_text()) for name in path if name.startswith('[woken by')}
    assert {('waiter', '[woken by holder]'), ('reader', '[woken by feeder]')} <= woken
