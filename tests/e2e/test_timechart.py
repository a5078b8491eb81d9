# SPDX-License-Identifier: Apache-2.0
"""Timecharts: the picture has what the events say, its sums are the scheduler's, names in it are never markup."""
import json
import re
import subprocess
import xml.etree.ElementTree

import pytest

import json_schema
from conftest import CORPUS, ROOT, TIMEOUT_S
from page import HOSTILE, browse, numbers, page_data, raw_name
from perfdata_build import CHAIN_USER, Recording
from tracing_build import INTERRUPT, Tracepoint, tracing_data

MS = 1_000_000
SVG = '{http://www.w3.org/2000/svg}'
KINDS = ['running', 'waiting', 'blocked', 'idle', 'read', 'write', 'receive', 'send', 'sync', 'poll']
CUT, MERGED, TEXT, ERROR, MARKED = 0x10, 0x20, 0x40, 0x80, 0x100
SWITCH = Tracepoint('sched', 'sched_switch', 300, [
    ('char', 'prev_comm[16]', 16), ('int', 'prev_pid', 4), ('int', 'prev_prio', 4), ('long', 'prev_state', 8),
    ('char', 'next_comm[16]', 16), ('int', 'next_pid', 4), ('int', 'next_prio', 4)])
WAKEUP = Tracepoint('sched', 'sched_wakeup', 301, [('char', 'comm[16]', 16), ('int', 'pid', 4), ('int', 'prio', 4)])
IDLE = Tracepoint('power', 'cpu_idle', 302, [('unsigned int', 'state', 4), ('unsigned int', 'cpu_id', 4)])
FREQUENCY = Tracepoint('power', 'cpu_frequency', 303, IDLE.fields)
ENTER = Tracepoint('syscalls', 'sys_enter_read', 304, [('int', '__syscall_nr', 4), ('unsigned long', 'fd', 8)])
LEAVE = Tracepoint('syscalls', 'sys_exit_read', 305, [('int', '__syscall_nr', 4), ('long', 'ret', 8)])
ALL = [SWITCH, WAKEUP, IDLE, FREQUENCY, ENTER, LEAVE]


class Scheduler(Recording):
    """A recording of tracepoints; times in milliseconds."""

    def __init__(self, flags=0, has_chains=False):
        super().__init__()
        for tracepoint in ALL:
            self.event('IDENTIFIER IP TID TIME CPU PERIOD RAW' + ' CALLCHAIN' * has_chains, kind=2, config=tracepoint.number, period=1, flags=flags)
        self.name_events(*[f'{tracepoint.system}:{tracepoint.name}' for tracepoint in ALL])
        self.feature(1, tracing_data(ALL))

    def happen(self, tracepoint, when, cpu=0, tid=0, flags=0, chain=(), **fields):
        self.sample(ALL.index(tracepoint), tid=(tid, tid), time=1000 * MS + int(when * MS), period=1, cpu=cpu,
                    callchain=chain, raw=tracepoint.payload(flags, **fields))

    def switch(self, when, leaves, comes, state=0, cpu=0, names=('', ''), chain=()):
        self.happen(SWITCH, when, cpu, leaves, chain=chain, prev_pid=leaves, prev_state=state, next_pid=comes,
                    prev_comm=names[0] or f'task{leaves}', next_comm=names[1] or f'task{comes}')


def small(path):
    r = Scheduler()
    r.happen(IDLE, 0, cpu=1, state=2, cpu_id=1)
    r.happen(FREQUENCY, 0.5, state=2_000_000, cpu_id=0)
    r.switch(1, 7, 8, state=2)
    r.happen(WAKEUP, 3, tid=8, pid=7, comm='task7')
    r.switch(4, 8, 7)
    r.happen(IDLE, 5, cpu=1, state=-1, cpu_id=1)
    r.happen(FREQUENCY, 5.5, state=1_000_000, cpu_id=0)
    r.happen(WAKEUP, 6, tid=7, flags=INTERRUPT, pid=9, comm='task9')
    r.switch(8, 7, 8, state=1)
    r.switch(10, 8, 0, state=1)
    r.write(path)


def tracks(data):
    """Each track as a dict; spans as dicts of kind, start, end, held and so on."""
    result = []
    for kind, number, pid, first, last, names, count, spans, level_count, levels in data['tracks']:
        track = {'cpu': kind == 0, 'id': number, 'pid': pid, 'names': [data['strings'][name] for name in names],
                 'first': first, 'last': last, 'spans': []}
        it, start = numbers(spans), 0
        for _ in range(count):
            flags = next(it)
            start += next(it)
            span = {'kind': KINDS[flags & 15], 'start': start, 'end': start + next(it), 'detail': next(it) - 1,
                    'cut': bool(flags & CUT), 'marked': bool(flags & MARKED), 'count': 1}
            span['held'] = span['end'] - span['start']
            if flags & MERGED:
                span['held'], span['count'] = next(it), next(it)
            if flags & TEXT:
                span['text'] = data['strings'][next(it)]
            if flags & ERROR:
                span['error'] = next(it)
            if KINDS.index(span['kind']) >= 4:
                span['bytes'] = next(it)
            track['spans'].append(span)
        it, when = numbers(levels), 0
        track['levels'] = []
        for _ in range(level_count):
            when += next(it)
            track['levels'].append((when, next(it)))
        result.append(track)
    return result


def chart(tally, path, *options):
    return tracks(page_data(tally('timechart', '-i', path, '--html', '-', *options, check=0).stdout))


def shown(track):
    return [(s['kind'], s['start'] / MS, s['end'] / MS, s['detail'], s['cut']) for s in track['spans']]


def test_the_page_has_what_the_events_say(tally, tmp_path):
    small(tmp_path / 'data')
    rows = chart(tally, tmp_path / 'data')
    assert [(row['cpu'], row['id']) for row in rows] == [(True, 0), (True, 1), (False, 7), (False, 8), (False, 9)]
    assert shown(rows[0]) == [('running', 0, 1, 2, True), ('running', 1, 4, 3, False), ('running', 4, 8, 2, False),
                              ('running', 8, 10, 3, False)]
    assert shown(rows[1]) == [('idle', 0, 5, 2, False)]
    assert rows[0]['levels'] == [(500_000, 2_000_000), (5_500_000, 1_000_000)]
    assert shown(rows[2]) == [('running', 0, 1, 0, True), ('blocked', 1, 3, -1, False), ('waiting', 3, 4, 3, False),
                              ('running', 4, 8, 0, False)]
    assert shown(rows[3]) == [('running', 1, 4, 0, False), ('waiting', 4, 8, -1, False), ('running', 8, 10, 0, False)]
    assert shown(rows[4]) == [('waiting', 6, 10, -1, True)]
    assert rows[2]['names'] == ['task7']
    data = page_data(tally('timechart', '-i', tmp_path / 'data', '--html', '-', check=0).stdout)
    arrows = list(numbers(data['arrows']))
    assert data['arrow_count'] == 2 and arrows[:8] == [3 * MS, 4, 3, 0, 3 * MS, 0, 5, 1]


def elements(path, tag):
    return list(xml.etree.ElementTree.parse(path).getroot().iter(SVG + tag))


def bars(path, name):
    return [rect for rect in elements(path, 'rect') if rect.get('class', '').split(' ')[0] == name
            and rect.find(SVG + 'title') is not None]


def test_the_svg_has_what_the_events_say(tally, tmp_path):
    small(tmp_path / 'data')
    svg = tmp_path / 'output.svg'
    note = tally('timechart', '-i', tmp_path / 'data', check=0, cwd=tmp_path)
    assert note.stderr == 'Written 0.0 seconds of trace to output.svg.\n' and note.stdout == ''
    assert len(bars(svg, 'sample')) == 4 + 2 + 2 and len(bars(svg, 'waiting')) == 3
    assert len(bars(svg, 'blocked')) == 1 and len(bars(svg, 'c2')) == 1
    titles = [title.text for title in elements(svg, 'title')]
    assert 'task7 7 blocked on I/O 2.0 ms at 1.0 ms' in titles
    assert 'task7 7 waiting for a CPU 1.0 ms, woken by task8 8 at 3.0 ms' in titles
    assert 'CPU 1 idle 5.0 ms in state 2 at 0 ns' in titles
    assert 'task8 8 wakes task7 7 at 3.0 ms' in titles and 'an interrupt wakes task9 9 at 6.0 ms' in titles
    assert 'frequency, up to 2.00 GHz' in titles
    # 10 ms are the whole width right of the names.
    wide = {rect.find(SVG + 'title').text: float(rect.get('width')) for rect in bars(svg, 'sample')}
    assert wide['task7 7 running 4.0 ms on CPU 0 at 4.0 ms'] == pytest.approx((1000 - 198) * 0.4, abs=0.1)
    tally('timechart', '-i', tmp_path / 'data', '-w', '3000', '-o', svg, check=0)
    assert elements(svg, 'rect')[0] is not None and xml.etree.ElementTree.parse(svg).getroot().get('width') == '3000'


def test_io(tally, tmp_path):
    r = Scheduler()
    for when, until, result in ((0, 1, 4096), (1.0005, 2, 100), (3, 4, -11), (5, 6, -5), (7, 9, 10)):
        r.happen(ENTER, when, tid=7, fd=3)
        r.happen(LEAVE, until, tid=7, ret=result)
    r.happen(ENTER, 10, tid=7, fd=4)
    r.happen(ENTER, 12, tid=8, fd=4)
    r.write(tmp_path / 'data')
    row = chart(tally, tmp_path / 'data')[0]
    assert [(s['start'] / MS, s['end'] / MS, s.get('bytes'), s.get('error'), s['count'], s['cut']) for s in row['spans']] == [
        (0, 2, 4196, None, 2, False), (3, 4, 0, 11, 1, False), (5, 6, 0, 5, 1, False), (7, 9, 10, None, 1, False),
        (10, 12, 0, None, 1, True)]
    assert all(s['kind'] == 'read' for s in row['spans'])
    apart = chart(tally, tmp_path / 'data', '--io-merge-dist', '100', '--io-skip-eagain')[0]['spans']
    assert len(apart) == 5 and [s.get('error') for s in apart] == [None, None, 5, None, None]
    svg = tmp_path / 'io.svg'
    tally('timechart', '-i', tmp_path / 'data', '-o', svg, check=0)
    first = float(bars(svg, 'disk')[1].get('width'))
    tally('timechart', '-i', tmp_path / 'data', '-o', svg, '--io-min-time', '2500us', check=0)
    # Up to the next one, or the end.
    assert float(bars(svg, 'disk')[1].get('width')) == pytest.approx(first * 2.5 / 2, abs=0.1)
    assert float(bars(svg, 'error')[0].get('width')) == pytest.approx(first, abs=0.1)


def test_options(tally, tmp_path):
    r = Scheduler()
    for task in range(40):
        r.switch(task, 10 + task, 11 + task)
    r.switch(60, 50, 51)
    r.write(tmp_path / 'data')
    svg = tmp_path / 'options.svg'

    def names(*options):
        tally('timechart', '-i', tmp_path / 'data', '-o', svg, *options, check=0)
        return [text.text for text in elements(svg, 'text') if text.text and text.text.startswith('task')
                and text.find(SVG + 'title') is not None]

    assert len(names()) == 15 and 'task50 50' in names()  # which ran for 21 ms
    assert len(names('-n', '3')) == 3 and len(names('-n', '100')) == 41
    assert names('-p', 'task12', '-p', '20') == ['task12 12', 'task20 20']
    assert names('-P') == [] and len(bars(svg, 'sample')) == 40  # the first was not seen to run
    assert 'task50 50' in names('--highlight', '5ms') and len(bars(svg, 'sample_hi')) == 2
    assert names('--highlight', 'task12', '-p', 'task12') and len(bars(svg, 'sample_hi')) == 2
    small(tmp_path / 'small')
    tally('timechart', '-i', tmp_path / 'small', '-T', '-o', svg, check=0)
    assert bars(svg, 'c2') == [] and [e for e in elements(svg, 'path') if e.get('class') == 'pstate'] == []
    assert '<svg' in tally('timechart', '-i', tmp_path / 'small', '-o', '-', check=0).stdout


def test_topology_sorts_cpus(tally, tmp_path):
    r = Scheduler()
    for cpu in range(4):
        r.switch(cpu, 7, 8, cpu=cpu)
    strings = r.pack('I', 0) * 2  # no lists of siblings
    r.feature(13, strings + b''.join(r.pack('II', core, 0) for core in (0, 1, 0, 1)))
    r.feature(7, r.pack('II', 4, 4))
    r.write(tmp_path / 'data')
    cpus = [row['id'] for row in chart(tally, tmp_path / 'data') if row['cpu']]
    assert cpus == [0, 1, 2, 3]
    assert [row['id'] for row in chart(tally, tmp_path / 'data', '-t') if row['cpu']] == [0, 2, 1, 3]


def many(path, switches):
    r = Scheduler()
    for index in range(switches):
        r.switch(index / 100, 100 + index % 7, 100 + (index + 1) % 7, state=index % 2)
        r.happen(WAKEUP, index / 100 + 0.001, tid=100 + index % 7, pid=100 + (index + 3) % 7)
    r.write(path)


@pytest.mark.parametrize('limit', ['16K', '64K', '1M'])
def test_size_is_bounded(tally, tmp_path, limit):
    many(tmp_path / 'data', 4000)
    svg = tmp_path / 'bounded.svg'
    tally('timechart', '-i', tmp_path / 'data', '-o', svg, '--max-size', limit, check=0)
    assert svg.stat().st_size <= int(limit[:-1]) * (1024 if limit[-1] == 'K' else 1 << 20)
    texts = [text.text for text in elements(svg, 'text') if text.text]
    assert any('is merged: height is the share of time' in text for text in texts)
    merged = [rect.find(SVG + 'title').text for rect in bars(svg, 'sample')]
    assert merged and any(re.search(r'\(\d+ times in ', title) for title in merged)


def test_merged_bars_do_not_hide_one_another(tally, tmp_path):
    """Half of the time blocked, a quarter waiting: the one hangs below the other, each as high as its share."""
    r = Scheduler()
    for i in range(2000):
        r.switch(i * 0.004, 7, 8, state=2)
        r.happen(WAKEUP, i * 0.004 + 0.002, tid=8, pid=7, comm='task7')
        r.switch(i * 0.004 + 0.003, 8, 7)
    r.write(tmp_path / 'data')
    svg = tmp_path / 'merged.svg'
    tally('timechart', '-i', tmp_path / 'data', '-o', svg, '--max-size', '64K', check=0)
    boxes = {kind: [[float(bar.get(name)) for name in ('y', 'height')] for bar in bars(svg, kind)
                    if re.match('task7 .* times in ', bar.find(SVG + 'title').text)] for kind in ('waiting', 'blocked')}
    assert len(boxes['blocked']) > 10
    top = boxes['waiting'][5][0]
    assert all(box == [top, pytest.approx(4, abs=0.4)] for box in boxes['waiting'][1:-1])
    assert all(box == [pytest.approx(top + 4, abs=0.4), pytest.approx(8, abs=0.4)] for box in boxes['blocked'][1:-1])


def test_a_page_is_bounded(tally, tmp_path):
    """Only if that was asked for; its sums stay."""
    many(tmp_path / 'data', 4000)
    pages = [tmp_path / name for name in ('whole.html', 'bounded.html')]
    tally('timechart', '-i', tmp_path / 'data', '--html', pages[0], check=0)
    tally('timechart', '-i', tmp_path / 'data', '--html', pages[1], '--max-size', '64K', check=0)
    whole, bounded = (page_data(page.read_text(encoding='utf-8')) for page in pages)
    assert pages[0].stat().st_size > 64 << 10 >= pages[1].stat().st_size
    assert whole['resolution'] == 0 < bounded['resolution']
    sums = [[sum(s['held'] for s in track['spans'] if s['kind'] == 'running') for track in tracks(data)]
            for data in (whole, bounded)]
    assert sums[0] == sums[1]
    none = tally('timechart', '-i', tmp_path / 'data', '--html', tmp_path / 'none.html', '--max-size', '16K', check=255)
    assert 'the page does not fit' in none.stderr and not (tmp_path / 'none.html').exists()


def chained(path):
    """Task 7 leaves its CPU in a call at 4 ms, is woken in another at 8 ms."""
    r = Scheduler(has_chains=True)
    r.mmap(0x10000, 0x1000, '/nowhere')
    r.switch(1, 8, 7)
    r.switch(4, 7, 8, state=1, chain=[CHAIN_USER, 0x10008, 0x10020])
    r.happen(WAKEUP, 8, tid=8, pid=7, comm='task7', chain=[CHAIN_USER, 0x10040, 0x10050])
    r.switch(9, 8, 7)
    r.write(path)


def test_bars_tell_backtraces(tally, tmp_path):
    chained(tmp_path / 'data')
    svg = tmp_path / 'chained.svg'
    tally('timechart', '-i', tmp_path / 'data', '-o', svg, check=0)
    titles = [title.text for title in elements(svg, 'title')]
    assert any(re.fullmatch(r'task7 7 running 3.0 ms .*\nleft the CPU in:\n0x10008\n0x10020', title) for title in titles)
    assert any(re.fullmatch(r'task7 7 waiting .*\nwoken in:\n0x10040\n0x10050', title) for title in titles)


def came_unseen(tally, path):
    """Threads that left a CPU which was another's: the switch to them was not recorded."""
    now, found = {}, set()
    for line in tally('script', '-F', 'cpu,event,trace', '-i', path, check=0).stdout.splitlines():
        switch = re.search(r'\[(\d+)\].*sched_switch: .*prev_pid=(\d+) .*next_pid=(\d+)', line)
        if switch:
            cpu, before, after = map(int, switch.groups())
            found |= {before} if now.get(cpu, before) != before else set()
            now[cpu] = after
    return found


def test_sums_are_timehists(tally, perf, perf_recording, tmp_path):
    many(tmp_path / 'many', 1500)
    small(tmp_path / 'small')
    paths = [tmp_path / 'many', tmp_path / 'small']
    of_perf = perf_recording('sched')
    paths.append(of_perf)
    for path in paths:
        sums, gaps = {}, came_unseen(tally, path)
        for row in chart(tally, path):
            whole = [span for span in row['spans'] if span['kind'] == 'running' and not span['cut']]
            if not row['cpu'] and whole:
                sums[row['id']] = sums.get(row['id'], 0) + sum(span['held'] for span in whole)
        tables = [tally('sched', 'timehist', '-s', '-i', path, check=0).stdout]
        if path == of_perf and '6.1' in perf('--version').stdout:
            tables.append(perf('sched', 'timehist', '-s', '-i', path).stdout)
        for table in tables:
            expected = {}
            for tid, run in re.findall(r'^ *\S.*?\[(\d+)(?:/\d+)?\] +-?\d+ +\d+ +([\d.]+) ', table, re.M):
                expected[int(tid)] = expected.get(int(tid), 0) + float(run)
            assert expected and {tid for tid, run in expected.items() if run} <= set(sums) | gaps
            for tid, run in expected.items():
                # Where the switch to a task was not recorded timehist takes all since the one before for its time.
                is_right = sums.get(tid, 0) / MS == pytest.approx(run, abs=0.002)
                assert is_right or (tid in gaps and sums.get(tid, 0) / MS < run), (path, tid)


def hostile(path, long_names=True):
    r = Scheduler()
    for index, name in enumerate(HOSTILE):
        r.switch(index, 10 + index, 11 + index, names=(raw_name(name)[:15], 'next'))
        if long_names:  # names of threads that are longer than the kernel's
            body = r.pack('II', 10 + index, 10 + index) + raw_name(name) + b'\xff\xfe\0'
            r.record(3, 0, body + bytes(-len(body) % 8) + r.pack('IIQIIQ', 10, 10, 1000 * MS, 0, 0, 1))
    r.write(path)


@pytest.mark.parametrize('long_names', [False, True])
def test_names_are_never_markup(tally, tmp_path, long_names):
    hostile(tmp_path / '<b>&.data', long_names)
    svg = tmp_path / 'hostile.svg'
    tally('timechart', '-i', tmp_path / '<b>&.data', '-o', svg, '-n', '100', '--highlight', HOSTILE[0][:15], check=0)
    tags = {element.tag for element in xml.etree.ElementTree.parse(svg).getroot().iter()}
    assert tags == {SVG + tag for tag in ('svg', 'style', 'g', 'rect', 'text', 'title', 'line')}
    text = svg.read_text(encoding='utf-8')
    assert '\u202e' not in text and '<script' not in text and '<img' not in text
    page = tally('timechart', '-i', tmp_path / '<b>&.data', '--html', '-', text=False, check=0).stdout.decode('utf-8')
    assert page.count('<script') == 2 and page.count('</script') == 2
    assert any('</script>' in name or '</scrip' in name for row in tracks(page_data(page)) for name in row['names'])


def test_hostile_names_run_nothing(tally, tmp_path):
    hostile(tmp_path / 'data')
    page = tmp_path / 'page.html'
    tally('timechart', '-i', tmp_path / 'data', '--html', page, check=0)
    text, complaints = browse(page, tmp_path, '#q=script')
    assert complaints == [] and f'1 of {len(HOSTILE) + 1} rows' in text


def test_the_page_runs(tally, tmp_path):
    many(tmp_path / 'data', 6000)
    page = tmp_path / 'page.html'
    tally('timechart', '-i', tmp_path / 'data', '--html', page, check=0)
    text, complaints = browse(page, tmp_path, '#z=10000000-30000000&q=task10[12]')
    assert complaints == [] and '2 of 8 rows' in text and '10.000 ms to 30.000 ms' in text
    assert '1 CPUs, 7 tasks' in text and 'waiting for a CPU' in text
    assert not (tmp_path / 'output.svg').exists()


def test_damaged_recordings(tally, tmp_path):
    many(tmp_path / 'data', 200)
    whole = (tmp_path / 'data').read_bytes()
    for cut in range(0, len(whole), len(whole) // 11):
        (tmp_path / 'cut').write_bytes(whole[:cut])
        result = tally('timechart', '-i', tmp_path / 'cut', '-o', tmp_path / 'cut.svg')
        assert result.returncode in (0, 255)
    flipped = bytearray(whole)
    for at in range(200, len(whole), 97):
        flipped[at] ^= 0x41
    (tmp_path / 'flipped').write_bytes(flipped)
    result = tally('timechart', '-i', tmp_path / 'flipped', '-o', tmp_path / 'flipped.svg')
    assert result.returncode in (0, 255)
    if result.returncode == 0:
        xml.etree.ElementTree.parse(tmp_path / 'flipped.svg')


def test_refusals(tally, tmp_path):
    small(tmp_path / 'data')
    path = tmp_path / 'data'
    assert 'cannot be used together' in tally('timechart', '-P', '-T', '-i', path, check=129).stderr
    assert "--html takes the page's name, not '-i'" in tally('timechart', '--html', '-i', path, check=129).stderr
    assert 'cannot be used together' in tally('timechart', 'record', '-P', '-I', 'true', check=129).stderr
    for words in (['--io-min-time', 'x'], ['--io-merge-dist', '5parsecs'], ['--max-size', '1K'], ['-w', '1000000'],
                  ['nosuch'], ['rec', '--nosuch'], ['--io-min-time', '99999999999999999999']):
        tally('timechart', '-i', path, *words, check=129)
    tally('timechart', '-i', path, '-o', tmp_path / 'none' / 'out.svg', check=255)
    tally('timechart', '-i', path, '--html', '/dev/full', check=255)
    tally('timechart', '-i', path, '-o', '/dev/full', check=255)
    other = Recording()
    other.event('IP TID TIME PERIOD')
    other.sample(time=5)
    other.write(tmp_path / 'other')
    assert "record it with 'timechart record' or 'record --wall'" in tally('timechart', '-i', tmp_path / 'other', '-o', '-', check=255).stderr


def test_events_that_did_not_happen_leave_an_empty_picture(tally, tmp_path):
    """As states of CPUs that a virtual machine does not tell."""
    empty = Scheduler()
    empty.record(3, 0, empty.pack('II', 1, 1) + empty.name('init') + empty.trailer())
    empty.write(tmp_path / 'empty')
    result = tally('timechart', '-P', '-i', tmp_path / 'empty', '-o', '-', '--html', tmp_path / 'page')
    assert 'none of the events' in result.stderr and 'Written 0.0 seconds' in result.stderr
    assert xml.etree.ElementTree.fromstring(result.stdout).tag == SVG + 'svg'
    assert page_data((tmp_path / 'page').read_text())


@pytest.mark.parametrize('mode', ['', '-T', '-I', '-g'])
def test_perf_reads_ours_and_we_read_perfs(tally, perf, tmp_path, mode):
    command = [*mode.split(), '--', 'sh', '-c', 'for i in 1 2 3; do sleep 0.01; ls / | cat >/dev/null; done']
    ours = tmp_path / 'ours.data'
    if tally('timechart', 'record', '-o', ours, *command, check=None).returncode != 0:
        pytest.skip('the kernel\'s tracepoints cannot be recorded here')
    result = perf('timechart', '-i', ours, '-o', tmp_path / 'theirs.svg', cwd=tmp_path)
    assert result.returncode == 0 and 'Written' in result.stderr
    assert ('class="disk"' if mode == '-I' else 'class="sample"') in (tmp_path / 'theirs.svg').read_text(errors='replace')
    svg = tmp_path / 'ours.svg'
    tally('timechart', '-i', ours, '-o', svg, check=0)
    assert bars(svg, 'disk' if mode == '-I' else 'sample')
    if mode == '-g':
        assert any('left the CPU in:' in title.text for title in elements(svg, 'title'))
    with open(tmp_path / 'log', 'w', encoding='utf-8') as log:  # into a pipe perf would write the recording
        subprocess.run([str(perf.path), 'timechart', 'record', *command], cwd=tmp_path, env=perf.environment,
                       stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=True)
    tally('timechart', '-i', tmp_path / 'perf.data', '-o', svg, check=0)
    assert bars(svg, 'disk' if mode == '-I' else 'sample')




def test_sums_as_json_are_those_of_the_spans(tally, tmp_path):
    schema = json.loads((ROOT / 'docs' / 'schema' / 'timechart.json').read_text(encoding='utf-8'))
    many(tmp_path / 'many', 1500)
    small(tmp_path / 'small')
    io = Scheduler()
    io.happen(ENTER, 1, tid=7, fd=3)
    io.happen(LEAVE, 3, tid=7, ret=4096)
    io.write(tmp_path / 'io')
    for path in (tmp_path / 'many', tmp_path / 'small', tmp_path / 'io', CORPUS / 'sched.data'):
        document = json.loads(tally('timechart', '--json', '-i', path, check=0, cwd=tmp_path).stdout)
        json_schema.check(document, schema)
        assert set(document) <= set(schema['properties']) and not (tmp_path / 'output.svg').exists()
        told = {('cpu', row['cpu']): row['sums'] for row in document['cpus']}
        told.update({('task', row['tid'], row['pid']): row['sums'] for row in document['tasks']})
        drawn = {}
        for row in chart(tally, path):
            key = ('cpu', row['id']) if row['cpu'] else ('task', row['id'], row['pid'])
            sums = drawn.setdefault(key, {})
            for span in row['spans']:
                state = sums.setdefault(span['kind'], [0, 0, 0])
                for place, what in enumerate(('count', 'held', 'bytes')):
                    state[place] += span.get(what) or 0
        assert {key: {one['state']: [one['count'], one['ns'], one.get('bytes', 0)] for one in sums}
                for key, sums in told.items()} == drawn


def test_json_beside_pictures(tally, tmp_path):
    small(tmp_path / 'data')
    result = tally('timechart', '--json', '-i', tmp_path / 'data', '-o', tmp_path / 'x.svg', '--html', tmp_path / 'x.html', check=0)
    assert json.loads(result.stdout)['cpus'] and (tmp_path / 'x.svg').exists() and (tmp_path / 'x.html').exists()
    assert json.loads(tally('timechart', '--json', '-P', '-i', tmp_path / 'data', check=0).stdout)['tasks'] == []
    refused = tally('timechart', '--json', '-i', tmp_path / 'data', '-o', '-')
    assert refused.returncode == 129 and '--json goes to standard output' in refused.stderr
