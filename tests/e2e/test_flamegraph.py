# SPDX-License-Identifier: Apache-2.0
"""Flame graphs: their sums are report's, the page needs nothing else, and names in it are never markup."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import BUILD, CORPUS, TIMEOUT_S, child_named, wait_for, wait_for_work
from page import HOSTILE, browse, numbers, page_data
from page_recordings import hostile
from perfdata_build import CHAIN_USER, Recording

HOSTILE_SUM = sum(10 + i for i in range(len(HOSTILE)))


@pytest.fixture
def recordings(perf_recordings):
    return perf_recordings


@pytest.fixture
def symfs(recordings, tmp_path):
    """A folder in which the recorded program has the path that it was recorded at, wherever the recordings are kept."""
    if recordings == CORPUS:
        return ('--symfs', CORPUS / 'root')
    program = recordings.parent / 'bin' / 'demo'
    if not program.exists():
        pytest.skip('TALLY_TEST_DATA/perf-golden/bin/demo is absent')
    place = tmp_path / 'root' / 'srv' / 'perf-golden' / 'bin' / 'demo'
    place.parent.mkdir(parents=True)
    shutil.copy(program, place)
    return ('--symfs', tmp_path / 'root')


@pytest.fixture
def recorded(recordings):
    """The name of the recorded program, and of its hottest function."""
    return ('program', 'leaf_long') if recordings == CORPUS else ('demo', 'leaf_hot')


def page_folded(data):
    """The page's nodes as folded lines."""
    source, stack, lines = numbers(data['nodes'], is_packed=True), [], {}
    for _ in range(data['count']):
        up, label, own = next(source), next(source), next(source)
        del stack[len(stack) - up:]
        stack.append(data['labels'][label][0])
        if own:
            lines[tuple(stack)] = lines.get(tuple(stack), 0) + own
    return lines


def folded(text):
    return {tuple(line.rsplit(' ', 1)[0].split(';')): int(line.rsplit(' ', 1)[1]) for line in text.splitlines()}


@pytest.mark.parametrize('name', ['ug', 'kg', 'ud', 'u', 'zstd', 'pipe', 'dyn'])
def test_sums_are_reports(tally, recordings, name):
    path = recordings / f'{name}.data'
    if not path.exists():
        pytest.skip(f'{name}.data is absent')
    report = tally('report', '--stdio', '--no-children', '-g', 'none', '-i', path, check=0).stdout
    total = int(re.search(r'Event count \(approx\.\): (\d+)', report).group(1))
    lines = folded(tally('flamegraph', '--folded', path, check=0).stdout)
    assert sum(lines.values()) == total
    assert sum(folded(tally('flamegraph', '--folded', '--reverse', path, check=0).stdout).values()) == total
    samples = folded(tally('flamegraph', '--folded', '--samples', path, check=0).stdout)
    assert set(samples) == set(lines)
    data = page_data(tally('flamegraph', '-o', '-', path, check=0).stdout)
    shown = page_folded(data)
    assert sum(shown.values()) == total and data['samples'] == sum(samples.values())
    assert {tuple(part.replace(';', ':') for part in stack): own for stack, own in shown.items()} == lines


def test_widths_by_comm_are_reports(tally, recordings):
    rows = tally('report', '--stdio', '--no-children', '-g', 'none', '-s', 'comm', '-F', 'period,comm', '-i',
                 recordings / 'kg.data', check=0).stdout
    periods = {row.split()[1]: int(row.split()[0]) for row in rows.splitlines() if row and not row.startswith('#')}
    sums = {}
    for stack, own in folded(tally('flamegraph', '--folded', recordings / 'kg.data', check=0).stdout).items():
        sums[stack[0]] = sums.get(stack[0], 0) + own
    assert sums == periods


def test_names_are_never_markup(tally, tmp_path):
    path = tmp_path / 'hostile.data'
    hostile(path)
    result = tally('flamegraph', '-o', '-', '--title', HOSTILE[0], path, text=False)
    text = result.stdout.decode('utf-8')
    assert text.count('<script') == 2 and text.count('</script') == 2
    assert '<img' not in text.lower().replace('<img', '', 0).split('<script')[1]
    data = page_data(text)
    assert data['title'] == HOSTILE[0] and sum(page_folded(data).values()) == HOSTILE_SUM
    lines = tally('flamegraph', '--folded', path, text=False).stdout.decode('utf-8', 'replace').rstrip('\n').split('\n')
    assert all(re.fullmatch(r'.* \d+', line) for line in lines)
    assert sum(int(line.rsplit(' ', 1)[1]) for line in lines) == HOSTILE_SUM


def test_the_page_runs(tally, recordings, symfs, recorded, tmp_path):
    program, hottest = recorded
    page = tmp_path / 'page.html'
    note = tally('flamegraph', *symfs, '-o', page, recordings / 'ug.data', check=0).stderr
    assert f'wrote {page}' in note
    text, complaints = browse(page, tmp_path, f'#q={hottest}')
    assert complaints == []
    report = tally('report', *symfs, '--stdio', '--no-children', '-g', 'none', '-s', 'sym', '-i',
                   recordings / 'ug.data', check=0).stdout
    share = re.search(rf'([\d.]+)%\s+\[\.\] {hottest}', report).group(1)
    assert f'{share} % matched' in text
    data = page_data(page.read_text())
    names = [label[0] for label in data['labels']]
    zoomed, complaints = browse(page, tmp_path, f'#z={names.index(program):x}')
    assert complaints == [] and '›' in zoomed


def test_hostile_names_run_nothing(tally, tmp_path):
    path, page = tmp_path / 'hostile.data', tmp_path / 'page.html'
    hostile(path)
    tally('flamegraph', '-o', page, '--title', HOSTILE[0], path)
    text, complaints = browse(page, tmp_path)
    assert complaints == []
    assert HOSTILE[0] in text.split('<body>')[1]  # the title, as text


def test_a_command_in_one_go(tally, tmp_path):
    page = tmp_path / 'page.html'
    spin = ['sh', '-c', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done']
    tally('flamegraph', '-o', page, '--', *spin, check=0)
    data = page_data(page.read_text())
    assert data['title'] == 'sh' and data['samples'] > 0
    assert any(label[0] == 'sh' and label[2] == 5 for label in data['labels'])


def grown_recording(path, works):
    """Samples in two functions of one file; works: how many in each."""
    recording = Recording()
    recording.event('IP TID TIME PERIOD CALLCHAIN')
    recording.comm('worker')
    for index, count in enumerate(works):
        start = 0x10000 * (index + 1)
        recording.mmap(start, 0x1000, f'/part{index}')
        for i in range(count):
            recording.sample(ip=start + 8, time=index * 1000 + i, period=10, callchain=[CHAIN_USER, start + 8])
    recording.write(path)


def test_a_comparison(tally, tmp_path):
    base, new, page = tmp_path / 'base.data', tmp_path / 'new.data', tmp_path / 'page.html'
    grown_recording(base, (50, 40, 10))
    grown_recording(new, (50, 70))
    lines = tally('flamegraph', '--folded', '--diff', base, new, check=0).stdout.splitlines()
    assert sorted(lines) == ['worker;[part0] 500 500', 'worker;[part1] 400 700', 'worker;[part2] 100 0']
    tally('flamegraph', '--diff', base, '-o', page, new, check=0)
    text, complaints = browse(page, tmp_path)
    assert complaints == [] and 'grew' in text and f'since {base}' in text
    before, complaints = browse(page, tmp_path, '#b&q=part2')
    assert complaints == [] and '10.00 % matched' in before
    after, _ = browse(page, tmp_path, '#q=part1')
    assert '58.33 % matched' in after
    assert tally('flamegraph', '--diff', tmp_path / 'none', new, check=255).stderr


def test_an_svg(tally, tmp_path):
    path, evil, page = tmp_path / 'new.data', tmp_path / 'hostile.data', tmp_path / 'page.svg'
    grown_recording(path, (50, 40, 10))
    tally('flamegraph', '--svg', '-o', page, path, check=0)
    root = xml.etree.ElementTree.parse(page).getroot()
    svg = '{http://www.w3.org/2000/svg}'
    boxes = [(group.find(f'{svg}title').text, float(group.find(f'{svg}rect').get('width')))
             for group in root.findall(f'{svg}g')]
    assert sorted((title.split()[0], round(width / 11.80)) for title, width in boxes) == [
        ('[part0]', 50), ('[part1]', 40), ('[part2]', 10), ('worker', 100)]
    _, complaints = browse(page, tmp_path)
    assert complaints == []
    hostile(evil)
    tally('flamegraph', '--svg', '-o', page, '--title', HOSTILE[0], evil)
    root = xml.etree.ElementTree.parse(page).getroot()  # well-formed, and one script
    assert len(root.findall(f'.//{svg}script')) == 1 and not root.findall('.//img')
    assert browse(page, tmp_path)[1] == []
    tally('flamegraph', '--svg', '--diff', path, '-o', page, path, check=0)
    assert 'before: 500, 50.00%' in page.read_text()


def test_events_as_roots(tally, tmp_path):
    recording = Recording()
    for config in range(2):
        recording.event('IDENTIFIER IP TID TIME PERIOD CALLCHAIN', config=config)
    recording.name_events('cycles', 'faults')
    recording.comm('worker')
    recording.mmap(0x10000, 0x1000, '/part')
    for i in range(30):
        recording.sample(event=i % 3 == 0, ip=0x10008, time=i + 1, period=10 ** (i % 3), callchain=[CHAIN_USER, 0x10008])
    recording.write(tmp_path / 'data')
    lines = tally('flamegraph', '--folded', '-g', 'event', tmp_path / 'data', check=0).stdout.splitlines()
    assert sorted(lines) == ['cycles;[part] 20', 'faults;[part] 10']  # samples: periods are of different units
    lines = tally('flamegraph', '--folded', '-g', 'event', '-e', 'faults', tmp_path / 'data', check=0).stdout
    assert lines == 'faults;[part] 10\n'
    data = page_data(tally('flamegraph', '-g', 'event', '-o', '-', tmp_path / 'data', check=0).stdout)
    assert (data['event'], data['group'], data['unit']) == ('all events', 'event', 'samples')


def test_missing_callers_are_told(tally, tmp_path):
    if not shutil.which('nm'):
        pytest.skip('binutils are not installed')
    program, path, page = BUILD / 'tests' / 'workloads' / 'spin', tmp_path / 'data', tmp_path / 'page.svg'
    symbols = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    main, start = (0x400000 + int(re.search(f'([0-9a-f]+) T {name}', symbols).group(1), 16)
                   for name in ('main', '_start'))
    recording = Recording()
    recording.event('IP TID TIME PERIOD CALLCHAIN')
    recording.comm('spin')
    recording.mmap(0x400000, 0x3000, str(program))
    recording.sample(ip=main + 1, time=1, callchain=[CHAIN_USER, main + 1, start + 1])
    recording.sample(ip=main + 1, time=2, callchain=[CHAIN_USER, main + 1])
    recording.write(path)
    labels = page_data(tally('flamegraph', '-o', '-', path, check=0).stdout)['labels']
    assert {label[0]: label[3:] for label in labels} == {'spin': [], '_start': [1], 'main': []}
    tally('flamegraph', '--svg', '-o', page, path, check=0)
    boxes = re.findall(r'<g class="f( u)?" data-d="(\d)"><title>(\w+)', page.read_text())
    assert sorted(boxes) == [('', '0', 'spin'), ('', '1', '_start'), ('', '2', 'main'), (' u', '1', 'main')]
    assert 'callers are missing' in page.read_text()


def test_options_and_refusals(tally, recordings, symfs, recorded, tmp_path):
    program, hottest = recorded
    path = recordings / 'ug.data'
    assert 'no event' in tally('flamegraph', '-e', 'nosuch', '-o', '-', path, check=255).stderr
    assert 'comm, process' in tally('flamegraph', '-g', 'nosuch', path, check=255).stderr
    tally('flamegraph', '--reverse', path, check=129)
    tally('flamegraph', '--svg', '--folded', path, check=129)
    tally('flamegraph', path, path, check=129)
    tally('flamegraph', '-o', tmp_path / 'none' / 'page', path, check=255)
    assert not (tmp_path / 'none').exists()
    assert 'no samples' in tally('flamegraph', '-o', tmp_path / 'empty', recordings / 'nosamp.data', check=255).stderr
    assert not (tmp_path / 'empty').exists()
    only = folded(tally('flamegraph', *symfs, '--folded', '-S', hottest, path, check=0).stdout)
    assert only and all(stack[-1] == hottest for stack in only)
    by_thread = folded(tally('flamegraph', '--folded', '-g', 'thread', path, check=0).stdout)
    assert all(re.fullmatch(rf'{program}-\d+/\d+', stack[0]) for stack in by_thread)
    assert program not in {stack[0] for stack in folded(
        tally('flamegraph', '--folded', '-g', 'none', path, check=0).stdout)}


@pytest.fixture
def busy(live):
    """A process that is busy until the test ends."""
    with subprocess.Popen(['sh', '-c', 'while :; do :; done']) as process:
        yield process
        process.kill()


@pytest.mark.parametrize('words', [('-p', 'PID', '--', 'sleep', '0.3'), ('-t', 'PID', '0.3'), ('-p', 'PID', '300ms'),
                                   ('-e', 'cpu-clock', '-p', 'PID', '0.3s'), ('-a', '0.3'), ('-C', 'CPUS', '--', 'sleep', '0.3'),
                                   ('-u', 'USER', '0.3'), ('-G', '/', '0.3')], ids=' '.join)
def test_targets_are_recorded_while_a_command_runs(tally, busy, tmp_path, request, words):
    if words[0] in ('-a', '-C', '-G'):
        request.getfixturevalue('system_wide')
    cpus = ','.join(map(str, sorted(os.sched_getaffinity(0))))
    named = [{'PID': str(busy.pid), 'CPUS': cpus, 'USER': str(os.geteuid())}.get(word, word) for word in words]
    stacks = folded(tally('flamegraph', '--folded', *named, check=0).stdout)
    assert 'sh' in {stack[0] for stack in stacks}
    if words[0] in ('-p', '-t', '-e'):
        assert {stack[0] for stack in stacks} == {'sh'}  # neither the sleep nor others
    page = tmp_path / 'page.html'
    if words[0] == '-p':
        tally('flamegraph', '-o', page, *named, check=0)
        assert page_data(page.read_text())['title'] == f'process {busy.pid}'


def test_a_recording_interrupted_is_drawn(tally, busy):
    drawing = tally.start('flamegraph', '--folded', '-p', busy.pid, '--', 'sleep', '600')
    wait_for(lambda: child_named_tree(drawing.pid, 'sleep'))
    wait_for_work(busy.pid, 0.2)
    drawing.send_signal(signal.SIGINT)
    out, err = drawing.communicate(timeout=TIMEOUT_S)
    assert folded(out) and 'Captured and wrote' in err


def child_named_tree(pid, name):
    """Whether a grandchild runs a program of this name."""
    children = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
    try:
        below = [int(child) for child in children.read_text().split()]
    except OSError:
        return 0
    return any(child_named(child, name) or child_named_tree(child, name) for child in below)


def test_what_cannot_be_drawn_is_said(tally, busy, tmp_path):
    assert 'need a command behind them' in tally('flamegraph', '-a', check=129).stderr
    assert tally('flamegraph', '--folded', '-p', '2147483647', '1').returncode != 0
    data, page = tmp_path / 'd', tmp_path / 'page.html'
    grown_recording(data, [5, 5])
    for words in [('-c', 'other'), ('-S', 'nosuch'), ('-C', '4095')]:
        result = tally('flamegraph', '-o', page, *words, data)
        assert result.returncode != 0 and result.stderr.strip()
        assert not page.exists()
    named = tmp_path / '5'  # a recording's name is no duration
    grown_recording(named, [5, 5])
    result = tally('flamegraph', '--folded', '-t', '1', '5', cwd=tmp_path)
    assert 'recorded' not in result.stderr and 'Captured' not in result.stderr
