# SPDX-License-Identifier: Apache-2.0
"""The self-contained pages under a hand: clicks, drags, wheel, keys, search, touch and the address, in one browser."""
import json
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from conftest import BUILD, Program
from devtools import CTRL, SHIFT, Browser
from page import HOSTILE, raw_name
from page_recordings import MS, sampled
from perfdata_build import CHAIN_USER, Recording
from test_timechart import chained
from test_timechart import hostile as hostile_switches
from test_timechart import many
from tracing_build import Tracepoint, tracing_data

@pytest.fixture(scope='module', name='room')
def fixture_room(tmp_path_factory):
    return tmp_path_factory.mktemp('pages')


@pytest.fixture(scope='module', name='browser')
def fixture_browser(room):
    with Browser(room) as browser:
        yield browser


@pytest.fixture(autouse=True)
def fixture_usual(browser):
    """Each test begins with a browser as new, and ends without a complaint of it."""
    browser.resize(1200, 800)
    browser.scheme('light')
    browser.complaints.clear()
    yield
    assert browser.complaints == []


@pytest.fixture(scope='module', name='pages')
def fixture_pages(room):
    """The three pages of small recordings."""
    tally = Program(BUILD / 'src' / 'cli' / 'tally', room)
    sampled(room / 'perf.data')
    many(room / 'sched.data', 600)
    tally('flamegraph', '-o', room / 'flame.html', room / 'perf.data', check=0)
    tally('flamegraph', '--svg', '-o', room / 'flame.svg', room / 'perf.data', check=0)
    tally('report', f'--html={room}/report.html', '-i', room / 'perf.data', check=0)
    tally('timechart', '--html', room / 'time.html', '-i', room / 'sched.data', check=0)
    return {name: room / f'{name}.html' for name in ('flame', 'report', 'time')} | {'svg': room / 'flame.svg'}


def box_of(browser, name):
    """Where the flame graph drew a label: its middle, in the window."""
    return browser.value(f'''(() => {{
        const seen = visible.find(v => labels[tree.label[v[0]]][0] === {json.dumps(name)});
        const at = canvas.getBoundingClientRect();
        return seen && [at.left + seen[1] + seen[2] / 2, at.top + seen[3] + ROW / 2];
    }})()''')


@pytest.mark.parametrize('name', ['flame', 'report', 'time'])
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_all_controls_have_names(browser, pages, name, scheme):
    browser.scheme(scheme)
    browser.open(pages[name])
    assert browser.unnamed() == []


@pytest.mark.parametrize('name', ['flame', 'report', 'time'])
def test_a_narrow_window_shows_all(browser, pages, name):
    """Nothing is wider than the window, so that nobody has to move it sideways."""
    browser.resize(400, 700, is_mobile=True)
    browser.open(pages[name])
    assert browser.value('document.documentElement.scrollWidth') <= 400
    assert browser.value('[...document.querySelectorAll("header, footer, main, canvas")].every(e => '
                         'e.getBoundingClientRect().right <= 401)')


def test_flames_zoom_and_go_back(browser, pages):
    browser.open(pages['flame'])
    browser.move(*box_of(browser, '[third]'))
    assert '[third]' in browser.text('#tip') and '33.' in browser.text('#tip')
    browser.click(*box_of(browser, '[third]'))
    assert browser.value('location.hash').startswith('#z=')
    assert browser.text('#path') == 'all › worker › [first] › [third]'
    zoomed = browser.value('location.hash')
    assert box_of(browser, '[second]') is None
    browser.key('Escape')
    assert browser.value('location.hash') == '' and box_of(browser, '[second]')
    browser.open(pages['flame'], zoomed)  # in another's browser
    assert browser.text('#path') == 'all › worker › [first] › [third]'
    browser.click_on('#reset')
    assert browser.text('#path') == 'all'


def test_flames_by_keys(browser, pages):
    browser.open(pages['flame'])
    browser.click(600, 300)  # beside the boxes: the page has the keys
    browser.key('/')
    browser.type('^.second')
    assert browser.text('#matched') == '33.50 % matched'
    browser.key('Enter')
    assert '[second], 33.50 %' in browser.text('#spoken')
    browser.key('Escape')
    assert browser.text('#matched') == ''
    browser.key('ArrowDown')
    browser.key('Enter')
    assert browser.text('#path') == 'all › worker › [first]'
    browser.key('0')
    browser.key('r')
    assert browser.value('document.getElementById("reverse").getAttribute("aria-pressed")') == 'true'
    assert box_of(browser, '[third]')
    browser.key('?')
    assert browser.value('getComputedStyle(document.getElementById("help")).display') == 'block'
    browser.key('Escape')
    assert browser.value('getComputedStyle(document.getElementById("help")).display') == 'none'
    browser.key('t')
    assert browser.value('document.documentElement.dataset.theme') == 'dark'


def test_flames_by_touch(browser, pages):
    browser.resize(400, 700, is_mobile=True)
    browser.open(pages['flame'])
    browser.tap(*box_of(browser, '[third]'))
    assert browser.text('#path').endswith('[third]')


def test_a_stack_is_copied(browser, pages):
    browser.open(pages['flame'])
    browser.value('navigator.clipboard.writeText = async text => { window.copied = text; }')
    browser.click(*box_of(browser, '[second]'))
    browser.key('c')
    assert browser.value('window.copied') == 'worker\n[first]\n[second]'


def test_the_svg_zooms_and_searches(browser, pages):
    browser.open(pages['svg'])
    width = 'document.querySelectorAll(".f")[%d].querySelector("rect").getBoundingClientRect().width'
    titles = browser.value('[...document.querySelectorAll(".f title")].map(t => t.textContent)')
    at = next(i for i, title in enumerate(titles) if title.startswith('[third]'))
    before = browser.value(width % at)
    left, top, wide, tall = browser.value(
        f'(b => [b.left, b.top, b.width, b.height])(document.querySelectorAll(".f")[{at}].getBoundingClientRect())')
    browser.click(left + wide / 2, top + tall / 2)
    assert browser.value(width % at) > 2 * before
    browser.key('Escape')
    assert abs(browser.value(width % at) - before) < 0.1


def test_the_svg_shows_its_roots_by_day_and_night(browser, pages):
    browser.resize(1200, 150)
    for scheme, colour in (('light', 'rgb(255, 255, 255)'), ('dark', 'rgb(23, 24, 26)')):
        browser.scheme(scheme)
        browser.open(pages['svg'])
        assert browser.value('getComputedStyle(document.querySelector("rect")).fill') == colour
        assert browser.value('document.querySelectorAll(".f rect")[0].getBoundingClientRect().bottom') <= 150


def test_a_brush_filters_all_panes(browser, pages):
    browser.open(pages['report'], '#time')
    left, top, width, height = browser.box('#lanes')
    start = browser.value('lanes.left')
    whole = width - start
    browser.drag((left + start + 1, top + 20), (left + start + whole * 0.5, top + 20))
    assert 'samples chosen' in browser.text('#chosen')
    part = browser.value('[state.from, state.to, sum.count]')
    assert part[0] < 0.02e9 and abs(part[1] - 1.5e9) < 0.05e9 and abs(part[2] - 100) <= 3
    browser.click_on('#tab-functions')
    rows = browser.text('#list')
    assert '[second]' in rows and '[third]' not in rows
    browser.click_on('#tab-flame')
    assert browser.value('boxes.map(b => labels[tree.label[b[0]]][0]).sort().join()') == '[first],[first],[second],all'
    browser.click_on('#tab-overview')
    assert '[third]' not in browser.text('#overview')
    browser.click_on('#chosen button')
    assert '[third]' in browser.text('#overview') and browser.text('#chosen') == ''


def test_the_heat_map_chooses(browser, pages):
    browser.open(pages['report'], '#time')
    left, top, width, height = browser.box('#heat')
    browser.click(left + width / 2, top + 30)
    assert 'samples chosen' in browser.text('#chosen')
    browser.key('Escape')
    assert browser.text('#chosen') == ''
    browser.key('ArrowRight')
    browser.key('ArrowRight', SHIFT)
    assert 'samples chosen' in browser.text('#chosen')
    assert '&t=' in browser.value('location.hash')


def test_functions_sort_and_tell_callers(browser, pages):
    browser.open(pages['report'], '#functions')
    browser.click_on('#list th:nth-child(3) button')
    names = browser.value('[...document.querySelectorAll("#list tr.row td:nth-child(3)")].map(d => d.textContent)')
    assert names == ['[first]', '[second]', '[third]']
    assert browser.value('document.querySelector("#list th:nth-child(3)").getAttribute("aria-sort")') == 'ascending'
    browser.click_on('#list tr.row:nth-child(4) button')
    relations = browser.text('#relations')
    assert relations.startswith('[third]') and '[first]' in relations.split('Callers')[1].split('Callees')[0]
    browser.click(*browser.middle('#relations table button'))
    assert '[third]' in browser.text('#relations').split('Callees')[1]
    assert browser.value('location.hash').startswith('#functions&')


def recursive(path):
    """second and third call each other below first: 10 samples of first;second;third;second;third, 5 of first;second."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN')
    recording.record(3, 0, recording.pack('II', 1000, 1001) + recording.name('worker') + recording.trailer())
    for index, name in enumerate(('first', 'second', 'third')):
        recording.mmap(0x10000 * (index + 1), 0x1000, '/' + name)
    deep, flat = [0x30008, 0x20010, 0x30010, 0x20010, 0x10010], [0x20008, 0x10010]
    for i in range(15):
        chain = deep if i < 10 else flat
        recording.sample(ip=chain[0], tid=(1000, 1001), time=10 ** 9 + i * MS, cpu=0, period=100,
                         callchain=[CHAIN_USER, *chain])
    recording.write(path)


def shares(text):
    return {name: float(share) for share, name in re.findall(r'([\d.]+) %\s*(\[\w+\])', text)}


def test_calls_that_recur_count_once(browser, room, tally):
    recursive(room / 'recursive.data')
    tally('report', f'--html={room}/recursive.html', '-i', room / 'recursive.data', check=0)
    browser.open(room / 'recursive.html', '#functions')
    for name, callers, callees in (
            ('[second]', {'[first]': 100.0, '[third]': 66.67}, {'[third]': 66.67}),
            ('[third]', {'[second]': 66.67}, {'[second]': 66.67}), ('[first]', {}, {'[second]': 100.0})):
        browser.value(f'[...document.querySelectorAll("#list button")].find(b => b.textContent === "{name}").click()')
        relations = browser.text('#relations').split('Callees')
        found = shares(relations[0].split('Callers')[1])
        found.pop('all', None)
        assert found == callers and shares(relations[1]) == callees, name


@pytest.mark.parametrize('name', ['flame', 'report', 'time'])
def test_a_search_that_is_no_expression_is_plain_text(browser, pages, name):
    browser.open(pages[name])
    found = {'flame': '#matched', 'report': '#matched', 'time': '#found'}[name]
    for text, is_plain in (('(', True), ('third[', True), ('rd]', False), ('^.third.$', False)):
        browser.value(f'(s => {{ s.value = {json.dumps(text)}; s.dispatchEvent(new Event("input")); }})'
                      '(document.getElementById("search"))')
        assert ('as plain text' in browser.text(found)) == is_plain, text
        if name != 'time' and not is_plain:
            assert browser.text(found).startswith('33.50 %'), text


def test_report_by_keys_and_events(browser, pages):
    browser.open(pages['report'])
    browser.key('/')
    browser.type('third')
    assert browser.text('#matched') == '33.50 %'
    browser.key('Escape')
    browser.value('document.getElementById("event").focus()')
    browser.key('ArrowDown')
    assert browser.value('state.event') == 1
    assert 'instructions' in browser.text('#overview') and '>100<' in browser.value('document.body.innerHTML')
    browser.value('document.getElementById("tab-overview").focus()')
    browser.key('ArrowRight')
    assert browser.value('state.pane') == 'time'


def test_the_timechart_zooms_and_moves(browser, pages):
    browser.open(pages['time'])
    shown = 'JSON.stringify([from, to].map(Math.round))'
    whole = browser.value(shown)
    browser.wheel(700, 300, -300, CTRL)
    near = json.loads(browser.value(shown))
    assert near[1] - near[0] < (json.loads(whole)[1] - json.loads(whole)[0]) * 0.7
    browser.drag((800, 300), (600, 300))
    moved = json.loads(browser.value(shown))
    assert moved[0] > near[0] and abs((moved[1] - moved[0]) - (near[1] - near[0])) <= 2
    browser.drag((500, 300), (600, 300), SHIFT)
    marked = json.loads(browser.value(shown))
    assert moved[0] < marked[0] and marked[1] < moved[1]
    browser.key('Escape')
    assert json.loads(browser.value(shown)) == moved
    browser.key('0')
    assert browser.value(shown) == whole
    browser.click(700, browser.value('canvas.getBoundingClientRect().top + tops[order[0]] + 10'))
    assert 'CPU 0' in browser.text('#detail')
    browser.key('/')
    browser.type('task10[12]')
    assert '2 of 8 rows' in browser.text('#found')


def row_at(browser, name, when_ms):
    """A place in a row of the timechart."""
    left, top = browser.value('(b => [b.left, b.top])(canvas.getBoundingClientRect())')
    y = browser.value(f'tops[tracks.find(t => label(t) === {json.dumps(name)}).row] - $("view").scrollTop + 8')
    return left + browser.value(f'xOf({when_ms * MS})'), top + y


def test_the_timechart_tells_backtraces(browser, room, tally):
    chained(room / 'chained.data')
    tally('timechart', '--html', room / 'chained.html', '-i', room / 'chained.data', check=0)
    browser.open(room / 'chained.html')
    browser.move(*row_at(browser, 'task7 7', 2))
    assert browser.text('#tip').endswith('left the CPU in:\n0x10008\n0x10020')
    browser.move(*row_at(browser, 'task7 7', 5))  # asleep
    assert browser.text('#tip') == 'task7 7 sleeping 4.000 ms\nleft the CPU in:\n0x10008\n0x10020'
    browser.move(*row_at(browser, 'task7 7', 7.5))
    assert browser.text('#tip').endswith('woken in:\n0x10040\n0x10050')
    browser.click(*row_at(browser, 'task7 7', 7.5))
    assert browser.text('#detail') == browser.text('#tip')
    browser.key('/')
    browser.type('0x10040')
    assert 'and call chains' in browser.text('#found')


class Printed(Tracepoint):
    def format(self):
        return super().format().replace('print fmt: ""', 'print fmt: "comm=%s pid=%d", REC->comm, REC->pid')


WAKEUP = Printed('sched', 'sched_wakeup', 301, [('char', 'comm[16]', 16), ('int', 'pid', 4)])


def traced(path):
    """A counter that grows twice as fast in the second half, and wake-ups, one of which has a name like markup."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN')
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=WAKEUP.number, period=1)
    recording.name_events('instructions', 'sched:sched_wakeup')
    recording.feature(1, tracing_data([WAKEUP]))
    recording.comm('worker')
    recording.mmap(0x10000, 0x1000, '/first')
    for i in range(100):
        recording.sample(time=10 ** 9 + i * 10 * MS, period=1000 if i < 50 else 2000, ip=0x10008,
                         callchain=[CHAIN_USER, 0x10008])
        if i % 50 == 25:
            name = '<img src=x>' if i > 50 else 'waker'
            recording.sample(1, time=10 ** 9 + i * 10 * MS, period=1,
                             raw=WAKEUP.payload(0, comm=name.encode(), pid=i))
    recording.write(path)


def lane_at(browser, name, share):
    """A place in a row of the time pane, as far into the time as the share says."""
    left, top, width, _ = browser.box('#lanes')
    row = browser.value(f'lanes.list.findIndex(l => l.name === {json.dumps(name)})')
    start = browser.value('lanes.left')
    return left + start + (width - start) * share, top + (row + 0.5) * browser.value('LANE')


def test_counters_and_tracepoints_are_tracks(browser, room, tally):
    traced(room / 'traced.data')
    tally('report', f'--html={room}/traced.html', '-i', room / 'traced.data', check=0)
    browser.open(room / 'traced.html', '#time')
    browser.move(*lane_at(browser, 'sched:sched_wakeup', 25 / 99))
    assert 'comm=waker pid=25' in browser.text('#tip')
    browser.move(*lane_at(browser, 'sched:sched_wakeup', 75 / 99))
    assert 'comm=<img src=x> pid=75' in browser.text('#tip')
    browser.move(*lane_at(browser, 'sched:sched_wakeup', 0.5))
    assert 'comm=' not in browser.text('#tip')
    counted = browser.value('(l => [l.user.slice(0, lanes.bins / 2).reduce((a, b) => a + b), l.user.reduce((a, b) => '
                            'a + b)])(lanes.list.find(l => l.kind === "counter"))')
    assert counted == [50_000, 150_000]
    browser.click(*lane_at(browser, 'sched:sched_wakeup', 0.5))
    assert browser.value('state.event') == 1 and browser.text('#chosen') == ''
    browser.click(*lane_at(browser, 'CPU 0', 0.5))
    assert 'CPU 0' in browser.text('#chosen')


def test_firefox_has_counters_and_markers(room, tally):
    traced(room / 'traced.data')
    whole = json.loads(tally('export', '-F', 'firefox', room / 'traced.data', check=0).stdout)
    counter, = whole['counters']
    assert counter['name'] == 'instructions' and counter['pid'] == '1000'
    assert whole['threads'][counter['mainThreadIndex']]['pid'] == '1000'
    samples = counter['samples']
    assert samples['length'] == len(samples['time']) == len(samples['count'])
    assert sum(samples['count']) == 150_000 and samples['time'] == sorted(samples['time'])
    assert sum(n for t, n in zip(samples['time'], samples['count']) if t < 499) == 50_000
    markers = [(thread['stringArray'][name], time, data['text']) for thread in whole['threads'] for name, time, data in
               zip(*(thread['markers'][key] for key in ('name', 'startTime', 'data')))]
    assert [m for m in markers if m[0] == 'sched:sched_wakeup'] == [
        ('sched:sched_wakeup', 250, 'comm=waker pid=25'), ('sched:sched_wakeup', 750, 'comm=<img src=x> pid=75')]


def switched(path, is_cpu_wide):
    """Two threads take turns on a CPU, each 100 ms; records of switches, no tracepoint."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD')
    recording.comm('worker')
    recording.record(3, 0, recording.pack('II', 1000, 1001) + recording.name('other') + recording.trailer())
    for i in range(10):
        when, leaves, comes = 10 ** 9 + i * 100 * MS, 1000 + i % 2, 1000 + (i + 1) % 2
        for is_out, own, other in ((True, leaves, comes), (False, comes, leaves)):
            body = recording.pack('II', 1000, other) if is_cpu_wide else b''
            body += recording.pack('IIQIIQ', 1000, own, when, 0, 0, 1)
            recording.record(15 if is_cpu_wide else 14, 1 << 13 if is_out else 0, body)
        recording.sample(tid=(1000, comes), time=when + 50 * MS)
    recording.write(path)


@pytest.mark.parametrize('is_cpu_wide', [False, True])
def test_threads_off_their_cpu_are_gaps(browser, room, tally, is_cpu_wide):
    switched(room / 'switched.data', is_cpu_wide)
    tally('report', f'--html={room}/switched.html', '-i', room / 'switched.data', check=0)
    browser.open(room / 'switched.html', '#time')
    runs = browser.value('onCpu.filter(r => r[3] > r[2]).map(r => [r[1], Math.round(r[2] / 1e6), Math.round(r[3] / 1e6)])')
    assert runs == [[1000 + (i + 1) % 2, i * 100, min((i + 1) * 100, 950)] for i in range(10)]
    browser.move(*lane_at(browser, 'other 1000/1001', 50 / 950))
    assert 'runs on CPU 0' in browser.text('#tip')
    browser.move(*lane_at(browser, 'other 1000/1001', 150 / 950))
    assert 'off its CPU' in browser.text('#tip')
    browser.move(*lane_at(browser, 'CPU 0', 150 / 950))
    assert 'runs worker 1000' in browser.text('#tip')
    shares = '(c => { addShares(c, 0.25, 0.5); addShares(c, 1.5, 3); addShares(c, 2, 9); return [...c]; })(new Float64Array(4))'
    assert browser.value(shares) == [0.25, 0.5, 2, 1]
    marks = json.loads(tally('export', '-F', 'json', room / 'switched.data', check=0).stdout)['marks']
    assert [m['text'] for m in marks if m['kind'] == 'switch' and m.get('number')] == ['other', 'worker'] * 5


def test_code_has_the_heat_of_what_is_chosen(browser, room, tally):
    """One instruction in the first half of the time, another in the second; no program is needed to look at it."""
    if not shutil.which('objdump'):
        pytest.skip('binutils are not installed')
    program = room / 'program'
    shutil.copy(BUILD / 'tests' / 'workloads' / 'spin', program)
    symbols = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    start = int(re.search('([0-9a-f]+) T main', symbols).group(1), 16)
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD')
    recording.comm('spin')
    recording.mmap(0x400000, 0x3000, str(program))
    code = subprocess.run(['objdump', '-d', '--no-show-raw-insn', f'--start-address={start}',
                                 f'--stop-address={start + 40}', program], capture_output=True, text=True,
                                check=True).stdout
    first, second = (int(line.split(':')[0], 16) for line in re.findall(r'^ +[0-9a-f]+:.*', code, re.M)[1:3])
    for i in range(100):
        recording.sample(ip=0x400000 + (first if i < 50 else second), time=10 ** 9 + i * 10 * MS)
    recording.write(room / 'code.data')
    tally('report', f'--html={room}/code.html', '-i', room / 'code.data', check=0)
    program.unlink()
    browser.open(room / 'code.html', '#code')
    shares = ('[...document.querySelectorAll("#code tr")].filter(r => r.className !== "src" && '
              'r.cells[0].textContent).map(r => [r.cells[0].textContent, r.cells[1].textContent])')
    offsets = [f'+{address - start:x}' for address in (first, second)]
    assert browser.value(shares) == [['50.00', offsets[0]], ['50.00', offsets[1]]]
    browser.click_on('#tab-time')
    browser.drag(lane_at(browser, 'CPU 0', 0.01), lane_at(browser, 'CPU 0', 0.4))
    browser.click_on('#tab-code')
    assert browser.value(shares) == [['100.00', offsets[0]]]
    assert 'main' in browser.value('document.querySelector("#code select").selectedOptions[0].textContent')


GENERATING = 4194304 + 78  # no process has such a number


def hostile(path):
    """Names like markup as comm, file, symbol of generated code, and text of a tracepoint."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN')
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=WAKEUP.number, period=1)
    recording.name_events('<b>cycles', 'sched:<i>')
    recording.feature(1, tracing_data([WAKEUP]))
    anonymous = recording.pack('IIQQQ', GENERATING, GENERATING, 0x20000000, 0x10000, 0) + recording.name('//anon')
    recording.record(1, 2, anonymous + recording.trailer())
    for i, name in enumerate(HOSTILE):
        raw, tid = raw_name(name), (GENERATING, GENERATING + i)
        file = b'/' + raw.replace(b'/', b'_')[:3000] + b'\0'
        start = 0x10000 * (i + 1)
        recording.record(3, 0, recording.pack('II', *tid) + raw[:15].ljust(16, b'\0') + recording.trailer())
        recording.record(1, 2, recording.pack('IIQQQ', GENERATING, GENERATING, start, 0x1000, 0) + file +
                         bytes(-len(file) % 8) + recording.trailer())
        own = 0x20000000 + 0x100 * i + 8
        recording.sample(ip=own, tid=tid, time=10 ** 9 + i * MS, callchain=[CHAIN_USER, own, start + 8])
        recording.sample(1, tid=tid, time=10 ** 9 + i * MS, period=1, raw=WAKEUP.payload(0, comm=raw, pid=i))
    recording.write(path)


@pytest.fixture(scope='module', name='hostile_pages')
def fixture_hostile_pages(room):
    tally = Program(BUILD / 'src' / 'cli' / 'tally', room)
    names, data = pathlib.Path(f'/tmp/perf-{GENERATING}.map'), room / "<b>&'.data"
    lines = (f'{0x20000000 + 0x100 * i:x} 80 '.encode() + raw_name(name.replace('\n', ' ')) + b'\n'
             for i, name in enumerate(HOSTILE))
    names.write_bytes(b''.join(lines))
    try:
        hostile(data)
        tally('flamegraph', '-o', room / 'h-flame.html', '--title', HOSTILE[0], data, check=0)
        tally('flamegraph', '--svg', '-o', room / 'h-flame.svg', '--title', HOSTILE[0], data, check=0)
        tally('report', f'--html={room}/h-report.html', '-i', data, check=0)
    finally:
        names.unlink()
    hostile_switches(room / '<i>.data', True)
    tally('timechart', '--html', room / 'h-time.html', '-i', room / '<i>.data', check=0)
    return room


def is_harmless(browser):
    """No element of a name: what the page has of its own, and nothing that names brought."""
    assert browser.value('document.querySelectorAll("img, iframe, b:not(#tip b), i:not(.key i)").length') == 0
    assert browser.complaints == []


def test_hostile_flames(browser, hostile_pages):
    browser.open(hostile_pages / 'h-flame.html')
    for x, y in browser.value('(at => visible.map(v => [at.left + v[1] + v[2] / 2, at.top + v[3] + ROW / 2]))'
                              '(canvas.getBoundingClientRect())'):
        browser.move(x, y)
        assert browser.text('#tip')
    browser.click_on('#reverse')
    browser.click_on('#search')
    browser.type('<img src')
    assert 'matched' in browser.text('#matched')
    browser.key('Enter')
    browser.key('Escape')
    browser.key('c')
    browser.key('Enter')
    is_harmless(browser)
    browser.open(hostile_pages / 'h-flame.svg')
    assert browser.value('document.querySelectorAll("script").length') == 1
    left, top, wide, tall = browser.value('(b => [b.left, b.top, b.width, b.height])'
                                          '(document.querySelectorAll(".f")[1].getBoundingClientRect())')
    browser.click(left + wide / 2, top + tall / 2)


def test_hostile_reports(browser, hostile_pages):
    browser.open(hostile_pages / 'h-report.html')
    for pane in ('overview', 'functions', 'flame', 'time', 'code'):
        browser.click_on('#tab-' + pane)
        is_harmless(browser)
    browser.click_on('#tab-time')
    for index in range(len(HOSTILE)):
        browser.move(*lane_at(browser, 'sched:<i>', index / (len(HOSTILE) - 1)))
        assert 'comm=' in browser.text('#tip')
    browser.click(*lane_at(browser, browser.value('lanes.list.find(l => l.kind === "track").name'), 0.5))
    assert 'thread' in browser.text('#chosen')
    browser.click_on('#tab-functions')
    browser.click_on('#list tr.row button')
    assert browser.text('#relations')
    browser.click_on('#search')
    browser.type('alert')
    is_harmless(browser)


def test_hostile_timecharts(browser, hostile_pages):
    browser.open(hostile_pages / 'h-time.html')
    for row in range(len(HOSTILE)):
        browser.click(60, browser.value(f'canvas.getBoundingClientRect().top + tops[order[{row}]] + 10'))
        assert browser.text('#detail')
    browser.key('/')
    browser.type('<img src')
    is_harmless(browser)


@pytest.mark.long
def test_a_recording_of_30_mb(browser, room, tally):
    """240,000 samples: the page opens, and is chosen from, without a complaint."""
    recording, count = Recording(), 240_000
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN')
    recording.comm('worker')
    for i in range(64):
        recording.mmap(0x100000 * (i + 1), 0x1000, f'/module{i}')
    sample, samples = struct.Struct('<IHHQQIIQIIQQ8Q'), [recording.records]
    chains = [[0x100000 * (1 + (i * 7 ** depth >> depth) % 64) + 8 for depth in range(7)] for i in range(5000)]
    for i in range(count):
        chain = chains[i % 5000]
        samples.append(sample.pack(9, 2, sample.size, 1, chain[0], 1000, 1000, 10 ** 9 + i * 10 ** 5, i % 4, 0, 10 ** 12 + i, 8,
                                   CHAIN_USER, *chain))
    recording.records = b''.join(samples)
    recording.write(room / 'large.data')
    assert (room / 'large.data').stat().st_size > 30_000_000
    tally('report', f'--html={room}/large.html', '-i', room / 'large.data', check=0)
    browser.open(room / 'large.html', '#time')
    browser.drag(lane_at(browser, 'CPU 0', 0.01), lane_at(browser, 'CPU 0', 0.5))
    assert abs(browser.value('sum.count') - count * 0.49) < count * 0.02
    browser.click_on('#tab-flame')
    assert browser.value('boxes.length') > 64
