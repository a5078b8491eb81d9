# SPDX-License-Identifier: Apache-2.0
"""Exports: every format says what report says, real consumers read it, and names can hold anything."""
import csv
import gzip
import hashlib
import io
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess

import pytest

import json_schema
from otlp_reader import Otlp
from page import HOSTILE, page_data, raw_name
from page_recordings import hostile
from perfdata_build import BRANCH_ANY, CHAIN_USER, Recording

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTOS = pathlib.Path(__file__).with_name('protos')
SHARED = ['kg', 'sys', 'multi', 'sched', 'pipe', 'cxx', 'regs']
MADE = ['flat', 'chains', 'events', 'swapped', 'notime', 'branches']
TIMED = ['speedscope', 'firefox', 'chrome', 'perfetto', 'json', 'csv', 'sqlite']
FORMATS = ['folded', 'pprof', 'otlp', 'otlp-json', 'callgrind', *TIMED]


def user(*addresses):
    return [CHAIN_USER, *addresses]


CLOCK_DATA = 29


def make(name, path, wall=None):
    """A small recording of each kind that needs nothing else; wall: time since 1970 when its clock said a second."""
    recording = Recording('>' if name == 'swapped' else '<')
    fields = 'IP TID PERIOD' if name == 'notime' else 'IP TID TIME CPU PERIOD'
    if name in ('chains', 'swapped'):
        fields += ' CALLCHAIN'
    if name == 'events':
        fields = 'IDENTIFIER ' + fields
    if name == 'branches':
        fields += ' CALLCHAIN BRANCH_STACK'
    recording.event(fields, kind=1, config=0, branch=BRANCH_ANY if name == 'branches' else 0)
    if name == 'events':
        recording.event(fields, kind=0, config=0)
        recording.event(fields, kind=0, config=1)
        recording.name_events('cpu-clock', 'cycles', 'instructions')
    recording.comm('first')
    recording.mmap(0x400000, 0x100000, '/nowhere/program')
    recording.mmap(0x7f0000000000, 0x100000, '/nowhere/lib.so')
    for i in range(60):
        ip = 0x400000 + 0x10 * (i % 7)
        chain = user(ip, 0x400800 + 0x10 * (i % 3), 0x7f0000000010) if i % 5 else user(ip)
        recording.sample(event=i % 3 if name == 'events' else 0, ip=ip, tid=(1000 + i % 2, 1000 + i % 4), cpu=i % 3,
                         time=5_000_000_000 + 1_000_003 * i, period=1000 + i, callchain=chain,
                         branch_stack=[0x400100, ip, 2, 0x400200, 0x4000f0, 2])
    if wall:
        recording.feature(CLOCK_DATA, recording.pack('IIQQ', 1, 1, wall, 1_000_000_000))
    recording.write(path)
    return path


REPORT_SUMS = {}
INLINED = '''
static inline __attribute__((always_inline)) unsigned deep(unsigned x) { return x * 77 ^ x >> 3; }
static inline __attribute__((always_inline)) unsigned middle(unsigned x) { return deep(x) + deep(x / 3); }
__attribute__((noinline)) unsigned outer(unsigned x) { return middle(x) * 5; }
int main(int argc, char **argv) { return (int)outer((unsigned)argc) + 1; }
'''


@pytest.fixture(scope='session')
def inlined(tmp_path_factory):
    """Samples all over a function that others were inlined into."""
    if not all(map(shutil.which, ('cc', 'nm', 'readelf'))):
        pytest.skip('cc or binutils is absent')
    folder = tmp_path_factory.mktemp('inlined')
    (folder / 'program.c').write_text(INLINED)
    program = folder / 'program'
    subprocess.run(['cc', '-O2', '-g', '-no-pie', folder / 'program.c', '-o', program], check=True)
    symbols = subprocess.run(['nm', '-S', program], capture_output=True, text=True, check=True).stdout
    places = {line.split()[3]: [int(word, 16) for word in line.split()[:2]] for line in symbols.splitlines()
              if len(line.split()) == 4}
    segments = subprocess.run(['readelf', '-lW', program], capture_output=True, text=True, check=True).stdout
    offset, start = [int(word, 16) for word in re.search(r'LOAD +(\S+) (\S+) \S+ \S+ \S+ R E', segments).groups()]
    recording = Recording()
    recording.event('IP TID TIME CPU PERIOD CALLCHAIN')
    recording.comm('first')
    recording.record(1, 2, recording.pack('IIQQQ', 1000, 1000, start, 0x1000, offset) + recording.name(str(program)) +
                     recording.trailer())
    begin, size = places['outer']
    for i in range(size):
        recording.sample(ip=begin + i, cpu=i % 3, time=5_000_000_000 + i, period=1000 + i,
                         callchain=user(begin + i, places['main'][0] + 4))
    recording.write(folder / 'perf.data')
    return folder / 'perf.data'


@pytest.fixture(params=MADE + ['inlined'] + SHARED)
def recording(request, tmp_path):
    if request.param == 'inlined':
        return request.getfixturevalue('inlined')
    if request.param in MADE:
        return make(request.param, tmp_path / 'perf.data')
    return request.getfixturevalue('perf_recording')(request.param)


def report_sums(tally, path):
    """{event: (samples, period)} of report; of a sample with branches too, as one. Asked once for each recording."""
    key = hashlib.sha1(path.read_bytes()).digest()
    if key not in REPORT_SUMS:
        REPORT_SUMS[key] = report_sums_now(tally, path)
    return REPORT_SUMS[key]


def report_sums_now(tally, path):
    text = tally('report', '--stdio', '--no-children', '--no-branch-stack', '-g', 'none', '-F', 'sample,period,comm', '-s', 'comm', '-i', path).stdout
    sums, event = {}, None
    for line in text.splitlines():
        head = re.match(r"# Samples: .* of event(?:s)? '(.*)'", line)
        if head:
            event = head.group(1)
        row = re.match(r'\s+(\d+)\s+(\d+)\s+\S', line)
        if row:
            samples, period = sums.get(event, (0, 0))
            sums[event] = (samples + int(row.group(1)), period + int(row.group(2)))
    return {event: sum_ for event, sum_ in sums.items() if sum_[0]}


def export(tally, form, path, *options, output):
    tally('export', '-F', form, *options, '-o', output, path)
    return output


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def fields(data):
    """Fields of a protocol buffer: {number: [value, ...]}; bytes of embedded messages."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        else:
            assert key & 7 == 2
            length = number()
            value = data[at:at + length]
            assert len(value) == length
            at += length
        found.setdefault(key >> 3, []).append(value)
    return found


class Pprof:
    """profile.proto, by its field numbers."""

    def __init__(self, data):
        top = fields(gzip.decompress(data))
        self.strings = [s.decode('utf-8') for s in top[6]]
        assert self.strings[0] == ''
        self.time, self.duration = top.get(9, [0])[0], top.get(10, [0])[0]
        self.comments = [self.strings[n] for n in top.get(13, [])]
        self.types = []
        for part in top[1]:
            value_type = fields(part)
            self.types.append((self.strings[value_type[1][0]], self.strings[value_type[2][0]]))
        self.functions = {fields(f)[1][0]: fields(f) for f in top.get(5, [])}
        self.locations = {fields(x)[1][0]: fields(x) for x in top.get(4, [])}
        self.mappings = {fields(x)[1][0]: fields(x) for x in top.get(3, [])}
        self.samples = []
        for part in top.get(2, []):
            sample = fields(part)
            labels = {}
            for label in sample.get(3, []):
                label = fields(label)
                labels[self.strings[label[1][0]]] = self.strings[label[2][0]] if 2 in label else label.get(3, [0])[0]
            self.samples.append((list(varints(sample[1][0])), list(varints(sample[2][0])), labels))

    def names(self, locations):
        """Innermost first."""
        found = []
        for location in locations:
            for line in self.locations[location][4]:
                found.append(self.strings[self.functions[fields(line)[1][0]].get(2, [0])[0]])
        return found


def sums_of(form, path):
    """{event or None: (samples, period)}; None for what the format does not tell."""
    data = path.read_bytes()
    sums = {}

    def add(event, samples, period):
        known = sums.get(event, (0, 0))
        sums[event] = (known[0] + samples, known[1] + period)

    if form == 'pprof':
        profile = Pprof(data)
        assert profile.types[0] == ('samples', 'count')
        for locations, values, labels in profile.samples:
            assert len(values) == len(profile.types) and all(x in profile.locations for x in locations)
            at = max(range(1, len(values)), key=lambda i: values[i])
            add(profile.types[at][0], values[0], values[at])
        for location in profile.locations.values():
            mapping = location.get(2)
            if mapping:
                limits = profile.mappings[mapping[0]]
                assert limits.get(2, [0])[0] <= location.get(3, [0])[0] < limits[3][0]
    elif form == 'otlp':
        sums = Otlp(data).sums()
    elif form == 'otlp-json':
        sums = Otlp.of_json(data).sums()
    elif form == 'speedscope':
        for one in json.loads(data)['profiles']:
            assert len(one['samples']) == len(one['weights']) and sum(one['weights']) == one['endValue']
            add(one['name'].split(': ', 1)[1], len(one['samples']), sum(one['weights']))
    elif form == 'firefox':
        for thread in json.loads(data)['threads']:
            samples = thread['samples']
            assert samples['weightType'] == ('tracing-ms' if samples['weight'] else 'samples') or not samples['length']
            add(None, samples['length'], round(sum(samples['weight'] or ()) * 1e6))
    elif form == 'chrome':
        for event in json.loads(data)['traceEvents']:
            if event['ph'] == 'P':
                add(event['name'], 1, event['args']['weight'])
    elif form == 'json':
        whole = json.loads(data)
        for sample in whole['samples']:
            add(whole['events'][sample['event']]['name'], 1, sample['period'])
    elif form == 'csv':
        for row in csv.DictReader(io.StringIO(data.decode('utf-8'), newline='')):
            add(row['event'], 1, int(row['period']))
    elif form == 'sqlite':
        with sqlite3.connect(path) as db:
            assert db.execute('pragma integrity_check').fetchone() == ('ok',)
            for event, samples, period in db.execute('select event, count(*), sum(period) from hits group by 1'):
                add(event, samples, period)
    elif form == 'perfetto':
        last, names = {}, {}
        for packet in fields(data)[1]:
            packet = fields(packet)
            sequence = packet[10][0]
            if 59 in packet:
                names[sequence] = fields(fields(fields(packet[59][0])[12][0])[1][0])[10][0].decode()
            elif 66 in packet and 4 in fields(packet[66][0]):
                sample = fields(packet[66][0])
                add(names[sequence], 1, sample[6][0] - last.get(sequence, 0))
                last[sequence] = sample[6][0]
    elif form == 'callgrind':
        text = data.decode('utf-8')
        events = re.search(r'^events: (.*)$', text, re.M).group(1).split()
        for key in ('summary', 'totals'):
            values = [int(v) for v in re.search(rf'^{key}: (.*)$', text, re.M).group(1).split()]
            sums[key] = dict(zip(events, values))
    return sums


def check_sums(form, output, wanted):
    """The sums of what was written are those of report: {event: (samples, period)}."""
    samples = sum(v[0] for v in wanted.values())
    if form == 'folded':
        lines = output.read_text(errors='replace').splitlines()
        assert sum(int(line.rsplit(' ', 1)[1]) for line in lines) == next(iter(wanted.values()))[1]
    elif form == 'callgrind':
        found = sums_of(form, output)
        assert found['summary'] == found['totals'] and found['totals']['Samples'] == samples
        assert sorted(v for k, v in found['totals'].items() if k != 'Samples') == sorted(v[1] for v in wanted.values())
    elif form == 'firefox':
        assert sums_of(form, output)[None][0] == samples
    elif form == 'html':
        assert page_data(output.read_text())['rowCount'] == samples
    else:
        assert sums_of(form, output) == wanted


@pytest.mark.parametrize('form', FORMATS)
def test_sums_are_reports(tally, recording, tmp_path, form):
    output = export(tally, form, recording, output=tmp_path / 'out')
    check_sums(form, output, report_sums(tally, recording))
    if form == 'folded':
        assert output.read_text() == tally('flamegraph', '--folded', recording).stdout


@pytest.mark.parametrize('form', FORMATS)
def test_choices_choose(tally, tmp_path, form):
    path = make('events', tmp_path / 'perf.data')
    tids = report_sums(tally, path)
    options = ['--tid', '1001', '-e', 'cycles']
    every_fourth = [i for i in range(60) if i % 3 == 1 and i % 4 == 1]
    output = export(tally, form, path, *options, output=tmp_path / 'out')
    period = sum(1000 + i for i in every_fourth)
    if form == 'folded':
        assert sum(int(line.rsplit(' ', 1)[1]) for line in output.read_text().splitlines()) == period
    elif form == 'callgrind':
        assert sums_of(form, output)['totals'] == {'Samples': len(every_fourth), 'cycles': period}
    elif form == 'firefox':
        assert sums_of(form, output)[None][0] == len(every_fourth)
    else:
        assert sums_of(form, output) == {'cycles': (len(every_fourth), period)}
    assert sum(v[0] for v in tids.values()) == 60


def test_time_and_cpu(tally, tmp_path):
    path = make('flat', tmp_path / 'perf.data')
    text = tally('export', '-F', 'csv', '--time', '5.010000,5.020000', path, check=0).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row['time_ns']) for row in rows] == [5_000_000_000 + 1_000_003 * i for i in range(10, 20)]
    rows = list(csv.DictReader(io.StringIO(tally('export', '-F', 'csv', '-C', '1', path, check=0).stdout)))
    assert len(rows) == 20 and {row['cpu'] for row in rows} == {'1'}


@pytest.mark.parametrize('name', MADE)
def test_pprof_tells_when(tally, tmp_path, name):
    """How long, and by a recording that says how its clock stood, when."""
    path = make(name, tmp_path / 'perf.data')
    profile = Pprof(export(tally, 'pprof', path, output=tmp_path / 'a').read_bytes())
    assert (profile.time, profile.duration) == (0, 0 if name == 'notime' else 59 * 1_000_003)
    assert f'recording: {path}' in profile.comments
    if name == 'notime':
        return
    part = Pprof(export(tally, 'pprof', path, '--time', '5.010000,5.020000', output=tmp_path / 'b').read_bytes())
    assert part.duration == 10_000_000
    path = make(name, tmp_path / 'clock.data', wall=1_700_000_000_000_000_123)
    profile = Pprof(export(tally, 'pprof', path, output=tmp_path / 'c').read_bytes())
    assert profile.time == 1_700_000_000_000_000_123 + 4_000_000_000


@pytest.mark.parametrize('form', FORMATS)
def test_a_pipe_is_a_file(tally, tmp_path, form):
    """What is written of a stream is what is written of the file, but for its name."""
    path = make('chains', tmp_path / 'perf.data')
    by_name = export(tally, form, path, output=tmp_path / 'a')
    with open(path, 'rb') as stream:
        subprocess.run([tally.path, 'export', '-F', form, '-i', '-', '-o', tmp_path / 'b'], stdin=stream, check=True,
                       env=tally.environment, stderr=subprocess.PIPE)
    if form == 'folded':
        assert by_name.read_bytes() == (tmp_path / 'b').read_bytes()
    else:
        assert sums_of(form, by_name) == sums_of(form, tmp_path / 'b')


def test_a_live_stream_in_every_format(tally, workload, live, tmp_path):
    """What record writes to a pipe, one export reads while it is written, the others afterwards."""
    stream = tmp_path / 'stream'
    command = [tally.path, 'record', '-o', '-', '-e', 'cpu-clock:u', '-F', '2000', '-g', '--', workload('spin').path, '60']
    with subprocess.Popen(command, env=tally.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as recorder:
        with subprocess.Popen(['tee', stream], stdin=recorder.stdout, stdout=subprocess.PIPE) as tee:
            subprocess.run([tally.path, 'export', '-F', 'json', '-i', '-', '-o', tmp_path / 'json'], stdin=tee.stdout,
                           env=tally.environment, stderr=subprocess.PIPE, check=True)
    assert recorder.returncode == 0 and tee.returncode == 0
    wanted = report_sums(tally, stream)
    assert wanted['cpu-clock:u'][0] > 10
    check_sums('json', tmp_path / 'json', wanted)
    for form in FORMATS + ['html']:
        output = tmp_path / form
        with subprocess.Popen(['cat', stream], stdout=subprocess.PIPE) as cat:
            subprocess.run([tally.path, 'export', '-F', form, '-i', '-', '-o', output], stdin=cat.stdout, check=True,
                           env=tally.environment, stderr=subprocess.PIPE)
        check_sums(form, output, wanted)


GENERATING = 4194304 + 77  # no process has such a number


@pytest.fixture
def hostile_symbols(tmp_path):
    """A recording of generated code, whose functions a list in /tmp names."""
    names = [name.replace('\n', ' ') for name in HOSTILE]
    path = pathlib.Path(f'/tmp/perf-{GENERATING}.map')
    path.write_bytes(b''.join(f'{0x20000000 + 0x100 * i:x} 80 '.encode() + raw_name(name) + b'\n' for i, name in enumerate(names)))
    recording = Recording()
    recording.event('IP TID TIME CPU PERIOD CALLCHAIN')
    data = b'//anon\0\0'
    recording.record(1, 2, recording.pack('IIQQQ', GENERATING, GENERATING, 0x20000000, 0x10000, 0) + data + recording.trailer())
    for i in range(len(names)):
        ip = 0x20000000 + 0x100 * i + 8
        recording.sample(ip=ip, tid=(GENERATING, GENERATING), time=5_000_000_000 + i, period=10 + i,
                         callchain=user(ip, 0x20000008))
    recording.write(tmp_path / 'perf.data')
    yield tmp_path / 'perf.data'
    path.unlink()


@pytest.mark.parametrize('form', FORMATS)
def test_hostile_symbols(tally, hostile_symbols, tmp_path, form):
    output = export(tally, form, hostile_symbols, output=tmp_path / 'out')
    count, period = len(HOSTILE), sum(10 + i for i in range(len(HOSTILE)))
    if form == 'folded':
        lines = output.read_bytes().decode('utf-8', 'replace').split('\n')[:-1]
        assert len(lines) == count and sum(int(line.rsplit(' ', 1)[1]) for line in lines) == period
        assert all(len(line.split(';')) == 3 for line in lines)
    elif form == 'callgrind':
        assert list(sums_of(form, output)['totals'].values()) == [count, period]
    else:
        assert list(sums_of(form, output).values()) == [(count, period)]
    if form == 'sqlite':
        with sqlite3.connect(output) as db:
            symbols = {name for name, in db.execute('select symbol from frames')}
        assert {'<img src=x onerror=alert(1)>', "'; drop table samples", '(2)', 'a,"b",c'} <= symbols


@pytest.mark.parametrize('form', FORMATS)
def test_hostile_names(tally, tmp_path, form):
    path = tmp_path / 'perf.data'
    hostile(path)
    output = export(tally, form, path, output=tmp_path / 'out')
    count, period = len(HOSTILE), sum(10 + i for i in range(len(HOSTILE)))
    data = output.read_bytes()
    if form == 'folded':
        lines = data.decode('utf-8', 'replace').split('\n')[:-1]
        assert len(lines) == count and sum(int(line.rsplit(' ', 1)[1]) for line in lines) == period
        assert all(len(line.split(';')) == 4 for line in lines)
    elif form == 'callgrind':
        totals = sums_of(form, output)['totals']
        assert list(totals.values()) == [count, period]
        for line in data.decode('utf-8').split('\n'):
            assert re.match(r'(#|\w+:|(c?fn|c?ob|fl|cfi)=\(\d+\)|calls=\d+ \d+$|[\d ]+$|$)', line), line[:80]
    elif form == 'firefox':
        assert sums_of(form, output) == {None: (count, period)}
    else:
        sums = sums_of(form, output)
        assert list(sums.values()) == [(count, period)]
    if form == 'json':
        comms = {thread['comm'] for thread in json.loads(data)['threads']}
        assert '</script><scrip' in comms and r'\xff' in ''.join(comms)


def test_speedscope_matches_its_schema(tally, recording, tmp_path):
    """The shape that speedscope.app/file-format-schema.json asks of sampled profiles."""
    whole = json.loads(export(tally, 'speedscope', recording, output=tmp_path / 'out').read_text())
    assert whole['$schema'] == 'https://www.speedscope.app/file-format-schema.json'
    assert all(set(f) <= {'name', 'file', 'line', 'col'} and isinstance(f['name'], str) for f in whole['shared']['frames'])
    for one in whole['profiles']:
        assert set(one) == {'type', 'name', 'unit', 'samples', 'weights', 'startValue', 'endValue'}
        assert one['type'] == 'sampled' and one['unit'] in ('none', 'nanoseconds')
        assert all(0 <= frame < len(whole['shared']['frames']) for stack in one['samples'] for frame in stack)


def test_firefox_tables(tally, recording, tmp_path):
    """Version 48 of the processed format: columns are as long as their table says, and indexes lie in the tables."""
    whole = json.loads(export(tally, 'firefox', recording, output=tmp_path / 'out').read_text())
    assert whole['meta']['preprocessedProfileVersion'] == 48
    for lib in whole['libs']:
        assert set(lib) == {'name', 'path', 'debugName', 'debugPath', 'breakpadId', 'codeId', 'arch'}
        assert lib['breakpadId'] == '' or re.fullmatch('[0-9A-F]{33}', lib['breakpadId'])
    columns = {'samples': 'stack time', 'markers': 'name startTime endTime phase category data',
               'stackTable': 'prefix frame category subcategory',
               'frameTable': 'address inlineDepth category subcategory func nativeSymbol innerWindowID implementation '
                             'line column',
               'funcTable': 'name isJS relevantForJS resource fileName lineNumber columnNumber',
               'nativeSymbols': 'libIndex address name functionSize', 'resourceTable': 'lib name host type'}
    points_to = {('samples', 'stack'): 'stackTable', ('stackTable', 'prefix'): 'stackTable',
                 ('stackTable', 'frame'): 'frameTable', ('frameTable', 'func'): 'funcTable',
                 ('frameTable', 'nativeSymbol'): 'nativeSymbols', ('funcTable', 'resource'): 'resourceTable'}
    for thread in whole['threads']:
        assert isinstance(thread['pid'], str) and isinstance(thread['isMainThread'], bool)
        for table, names in columns.items():
            for name in names.split():
                assert len(thread[table][name]) == thread[table]['length'], (table, name)
        for (table, name), target in points_to.items():
            assert all(value in (None, -1) or 0 <= value < thread[target]['length'] for value in thread[table][name])
        for table in ('funcTable', 'nativeSymbols', 'resourceTable', 'markers'):
            assert all(0 <= value < len(thread['stringArray']) for value in thread[table]['name'])
        assert thread['samples']['time'] == sorted(thread['samples']['time'])
        assert all(p is None or p < i for i, p in enumerate(thread['stackTable']['prefix']))


def test_json_schema(tally, recording, tmp_path):
    schema = json.loads((ROOT / 'docs' / 'schema' / 'export.json').read_text())
    json_schema.check(json.loads(export(tally, 'json', recording, output=tmp_path / 'out').read_text()), schema)


def test_stacks_agree(tally, tmp_path):
    """The same stacks and periods, by folded, pprof, speedscope, Chrome, JSON, CSV and SQL."""
    path = make('chains', tmp_path / 'perf.data')
    wanted = {}
    for line in export(tally, 'folded', path, output=tmp_path / 'f').read_text().splitlines():
        stack, period = line.rsplit(' ', 1)
        stack = tuple(stack.split(';')[1:])
        wanted[stack] = wanted.get(stack, 0) + int(period)

    def same(pairs):
        found = {}
        for stack, period in pairs:
            found[tuple(stack)] = found.get(tuple(stack), 0) + period
        assert found == wanted

    profile = Pprof(export(tally, 'pprof', path, output=tmp_path / 'p').read_bytes())
    same((profile.names(x)[::-1], values[1]) for x, values, _ in profile.samples)
    scope = json.loads(export(tally, 'speedscope', path, output=tmp_path / 's').read_text())
    names = [f['name'] for f in scope['shared']['frames']]
    same(([names[f] for f in stack], w) for p in scope['profiles'] for stack, w in zip(p['samples'], p['weights']))
    rows = csv.DictReader(io.StringIO(export(tally, 'csv', path, output=tmp_path / 'c').read_text()))
    same((row['stack'].split(';'), int(row['period'])) for row in rows)
    chrome = json.loads(export(tally, 'chrome', path, output=tmp_path / 't').read_text())

    def chrome_stack(at):
        frame = chrome['stackFrames'][at]
        return [*(chrome_stack(frame['parent']) if 'parent' in frame else []), frame['name']]

    same((chrome_stack(e['sf']), e['args']['weight']) for e in chrome['traceEvents'] if e['ph'] == 'P')
    with sqlite3.connect(export(tally, 'sqlite', path, output=tmp_path / 'd')) as db:
        pairs = []
        for stack, period in db.execute('select stack, period from samples').fetchall():
            frames = db.execute('select symbol from callers join frames on frames.id = callers.frame '
                                'where stack = ? order by distance desc', (stack,)).fetchall()
            pairs.append(([name for name, in frames], period))
        same(pairs)


@pytest.mark.parametrize('order', ['caller', 'callee'])
def test_stacks_are_reports(tally, inlined, tmp_path, order):
    """Name by name with inlined calls, in either order, and so the widths of every level of the picture."""
    text = tally('report', '--stdio', '--no-children', '-s', 'comm', '-g', f'folded,0,{order},function,period', '-i',
                 inlined).stdout
    wanted = {}
    for line in re.findall(r'^(\d+) (.*)$', text, re.M):
        names = line[1].replace(' (inlined)', '').split(';')
        wanted[tuple(names if order == 'caller' else names[::-1])] = int(line[0])
    assert {('main', 'outer', 'middle', 'deep'), ('main', 'outer')} <= set(wanted)
    found, levels = {}, {}
    for line in export(tally, 'folded', inlined, output=tmp_path / 'f').read_text().splitlines():
        stack, period = line.rsplit(' ', 1)
        assert stack.split(';')[0] == 'first'
        found[tuple(stack.split(';')[1:])] = int(period)
    assert found == wanted
    profile = Pprof(export(tally, 'pprof', inlined, output=tmp_path / 'p').read_bytes())
    sums = {}
    for locations, values, _ in profile.samples:
        names = tuple(profile.names(locations)[::-1])
        sums[names] = sums.get(names, 0) + values[1]
    assert sums == wanted
    svg = tally('flamegraph', '--svg', '-o', '-', inlined, check=0).stdout
    for depth, period in re.findall(r'data-d="(\d+)"><title>[^<]*? (\d+) of the period', svg):
        levels[int(depth)] = levels.get(int(depth), 0) + int(period)
    assert levels[0] == sum(wanted.values()) and len(levels) == 1 + max(map(len, wanted))
    for depth in range(1, len(levels)):
        assert levels[depth] == sum(period for stack, period in wanted.items() if len(stack) >= depth)


RECURSIVE = """volatile long g;
__attribute__((noinline)) void b(int n);
__attribute__((noinline)) void a(int n) { for (volatile int i = 0; i < 2000; i++); if (n > 0) b(n - 1); g++; }
__attribute__((noinline)) void b(int n) { for (volatile int i = 0; i < 2000; i++); if (n > 0) a(n - 1); g++; }
__attribute__((noinline)) void self(int n) { for (volatile int i = 0; i < 2000; i++); if (n > 0) self(n - 1); g++; }
int main(void) { for (int i = 0; i < 1500; i++) { a(40); self(40); } }
"""


def test_callgrind_of_recursion(tally, live, tmp_path):
    """A function's own costs and those of its calls are the samples that it is in, however deep it recurs."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    (tmp_path / 'r.c').write_text(RECURSIVE)
    subprocess.run(['gcc', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', 'r.c', '-o', 'r'], cwd=tmp_path,
                   check=True)
    data = tmp_path / 'data'
    tally('record', '-q', '-g', '-F', 1000, '-e', 'cpu-clock:u', '-o', data, tmp_path / 'r', check=0)
    of, names, function = {}, {}, None
    for line in export(tally, 'callgrind', data, output=tmp_path / 'out').read_text().splitlines():
        named = re.match(r'fn=\((\d+)\)(?: (.*))?|cfn=\((\d+)\) (.*)', line)
        if named:
            names.update({named[k]: named[k + 1] for k in (1, 3) if named[k + 1]})
            function = names[named[1]] if named[1] else function
        elif line[:1].isdigit():
            of[function] = of.get(function, 0) + int(line.split()[1])
    inside = {name: 0 for name in of}
    for line in tally('flamegraph', '--folded', '--samples', '-i', data).stdout.splitlines():
        stack, count = line.rsplit(' ', 1)
        for name in set(stack.split(';')) & set(inside):
            inside[name] += int(count)
    assert {'a', 'b', 'self', 'main'} <= set(of)
    assert {name: of[name] for name in ('a', 'b', 'self', 'main')} == {name: inside[name] for name in ('a', 'b', 'self', 'main')}


def test_callgrind_annotate_reads_it(tally, recording, tmp_path):
    if not shutil.which('callgrind_annotate'):
        pytest.skip('callgrind_annotate (valgrind) is absent')
    output = export(tally, 'callgrind', recording, output=tmp_path / 'callgrind.out.1')
    result = subprocess.run(['callgrind_annotate', '--auto=no', output], capture_output=True, text=True, errors='replace')
    assert result.returncode == 0, result.stderr
    total = re.search(r'^([\d,]+) \(100\.0%\).*PROGRAM TOTALS', result.stdout, re.M)
    samples = sum(v[0] for v in report_sums(tally, recording).values())
    assert (int(total.group(1).replace(',', '')) if total else 0) == samples


@pytest.mark.parametrize('form, proto, message', [('pprof', 'pprof.proto', 'tally.test.Profile'),
                                                  ('perfetto', 'perfetto.proto', 'tally.test.Trace')])
def test_protoc_reads_it(tally, recording, tmp_path, form, proto, message):
    if not shutil.which('protoc'):
        pytest.skip('protoc (protobuf-compiler) is absent')
    data = export(tally, form, recording, output=tmp_path / 'out').read_bytes()
    data = gzip.decompress(data) if form == 'pprof' else data
    text = subprocess.run(['protoc', f'--decode={message}', '-I', PROTOS, proto], input=data, capture_output=True,
                          check=True).stdout.decode('utf-8', 'replace')
    # A field that the schema does not know is shown by its number.
    assert not re.search(r'^\s*\d+[:\s{]', text, re.M)
    assert len(re.findall(r'^sample \{' if form == 'pprof' else r'callstack_iid', text, re.M)) > 0


def test_pprof_tool_reads_it(tally, recording, tmp_path):
    if not shutil.which('go'):
        pytest.skip('go is absent')
    output = export(tally, 'pprof', recording, output=tmp_path / 'out.pb.gz')
    result = subprocess.run(['go', 'tool', 'pprof', '-top', '-sample_index=samples', '-nodecount=5', output],
                            capture_output=True, text=True, env={**tally.environment, 'PATH': '/usr/bin:/usr/lib/go/bin'})
    assert result.returncode == 0, result.stderr
    total = re.search(r'of (\d+) total', result.stdout)
    samples = sum(v[0] for v in report_sums(tally, recording).values())
    assert total and int(total.group(1)) == samples


def test_pprof_begins_with_the_program(tally, tmp_path):
    """As pprof takes it: the first mapping names the profile, though the library came first and is hotter."""
    recording = Recording()
    recording.event('IP TID TIME PERIOD', kind=1, config=0)
    recording.comm('first')
    recording.mmap(0x7f0000000000, 0x100000, '/nowhere/lib.so.1')
    recording.mmap(0x400000, 0x100000, '/nowhere/program')
    recording.mmap(0x600000, 0x100000, '/nowhere/other')
    for i in range(60):
        ip = 0x600000 if i == 0 else 0x400000 if i % 3 == 1 else 0x7f0000000010
        recording.sample(ip=ip, tid=(1000, 1000), time=1000 + i, period=1000)
    recording.write(tmp_path / 'perf.data')
    profile = Pprof(export(tally, 'pprof', tmp_path / 'perf.data', output=tmp_path / 'out').read_bytes())
    names = [profile.strings[mapping[5][0]] for mapping in profile.mappings.values()]
    assert names[0] == '/nowhere/program' and sorted(names[1:]) == ['/nowhere/lib.so.1', '/nowhere/other']


def test_sched_switches(tally, perf_recording, tmp_path):
    """A recording of the scheduler: what ran where, for perfetto and for Chrome's viewer."""
    path = perf_recording('sched')
    switches = tally('query', '--csv', path, "select count(*) from marks where kind = 'switch'", check=0).stdout
    count = int(switches.split()[1])
    script = tally('script', '-i', path, check=0).stdout.count('sched:sched_switch:')
    assert count == script > 0
    trace = fields(export(tally, 'perfetto', path, output=tmp_path / 'p').read_bytes())[1]
    assert sum(1 in fields(packet) for packet in trace) == count
    chrome = json.loads(export(tally, 'chrome', path, output=tmp_path / 'c').read_text())
    open_at = {}
    for event in (e for e in chrome['traceEvents'] if e['ph'] in 'BE'):
        before = open_at.pop(event['tid'], None)
        assert (event['ph'] == 'E') == (before is not None) and (before is None or before <= event['ts'])
        if event['ph'] == 'B':
            open_at[event['tid']] = event['ts']
    assert not open_at and sum(e['ph'] == 'B' for e in chrome['traceEvents']) == count


def test_query(tally, tmp_path):
    path = make('events', tmp_path / 'perf.data')
    text = tally('query', path, 'select event, count(*) as n from hits group by 1 order by 1', check=0).stdout
    assert text.splitlines() == ['event          n', '------------  --', 'cpu-clock     20', 'cycles        20',
                                 'instructions  20']
    rows = json.loads(tally('query', '--json', path, 'select event, sum(period) p from hits group by 1', check=0).stdout)
    assert {row['event']: row['p'] for row in rows} == {k: v[1] for k, v in report_sums(tally, path).items()}
    database = export(tally, 'sqlite', path, output=tmp_path / 'out.db')
    before = database.read_bytes()
    assert tally('query', '--csv', database, 'select count(*) from samples', check=0).stdout.split() == ['count(*)', '60']
    for bad in ('delete from samples', "attach '/etc/passwd' as x", 'pragma query_only = 0', 'select 1; select 2', '',
                "select load_extension('x')", 'select', 'create table x (y)', 'vacuum', f"vacuum into '{tmp_path}/copy'", 'begin'):
        for source in (database, path):
            result = tally('query', source, bad, check=255)
            assert result.stderr and not result.stdout
    assert database.read_bytes() == before
    assert tally('query', database, '-p', '1000', 'select 1', check=129).stderr


def test_queries_are_bounded(tally, tmp_path):
    """Neither time nor memory is without end, and a table is printed however wide a cell is."""
    database = export(tally, 'sqlite', make('flat', tmp_path / 'perf.data'), output=tmp_path / 'out.db')
    endless = 'with recursive a(x) as (select 1 union all select x + 1 from a) select count(*) from a'
    assert '--timeout 1 s' in tally('query', '--timeout', '1', database, endless, check=255).stderr
    assert tally('query', '--timeout', '1000', database, 'select 1', check=0).stdout.split() == ['1', '-', '1']
    for huge in ('select length(zeroblob(900000000))', 'select length(hex(zeroblob(60000000)))'):
        result = tally('query', database, huge, check=255)
        assert 'too big' in result.stderr
    wide = tally('query', database, "select printf('%2000000d', id) as w from samples limit 3", check=0).stdout.splitlines()
    assert [len(line) for line in wide[1:]] == [2000000] * 4


def test_databases_are_files(tally, tmp_path):
    """Names that mean something else to SQLite are names of files here; a file's own views are not trusted."""
    path = make('flat', tmp_path / 'perf.data')
    for name in (':memory:', 'file:x?mode=memory', 'a b%20c'):
        tally('export', '-F', 'sqlite', '-o', name, path, cwd=tmp_path)
        assert tally('query', '--csv', name, 'select count(*) from hits', cwd=tmp_path).stdout.split() == ['count(*)', '60']
    with sqlite3.connect(tmp_path / 'trap.db') as db:
        db.execute("create table t (x)")
        db.execute("create view v as select load_extension('/nowhere') as x")
        db.execute("create view w as select * from pragma_database_list")
    for view in ('v', 'w', 't, v', 'pragma_database_list', 'sqlite_dbpage'):
        assert tally('query', tmp_path / 'trap.db', f'select * from {view}', check=255).stderr
    damaged = bytearray((tmp_path / 'a b%20c').read_bytes())
    for at in range(100, len(damaged), 97):
        damaged[at] ^= 0x55
    (tmp_path / 'bad.db').write_bytes(damaged)
    assert tally('query', tmp_path / 'bad.db', 'select * from hits', check=255).stderr


def test_options_may_follow_the_recording(tally, tmp_path):
    path = make('flat', tmp_path / 'perf.data')
    folded = tally('export', '-F', 'folded', path).stdout
    assert tally('export', path, '--format', 'folded').stdout == tally('flamegraph', path, '--folded').stdout == folded
    tally('export', '-F', 'folded', path, '-o', tmp_path / 'out')
    assert (tmp_path / 'out').read_text() == folded
    assert tally('query', path, 'select count(*) from samples', '--csv').stdout.split()[1] == '60'


def test_refusals(tally, tmp_path):
    path = make('flat', tmp_path / 'perf.data')
    before = path.read_bytes()
    assert "no format 'foo'" in tally('export', '-F', 'foo', path, check=129).stderr
    assert '--format' in tally('export', path, check=129).stderr
    assert 'a database is written to a file' in tally('export', '-F', 'sqlite', path, check=129).stderr
    assert "no event 'nothing'" in tally('export', '-F', 'csv', '-e', 'nothing', path, check=255).stderr
    assert 'is the recording that is being read' in tally('export', '-F', 'csv', '-o', path, path, check=255).stderr
    assert path.read_bytes() == before
    assert tally('export', '-F', 'csv', '-o', tmp_path / 'no' / 'x', path, check=255).stderr
    for form in FORMATS:
        result = tally('export', '-F', form, '-o', '/dev/full', path, check=255)
        assert ('database' if form == 'sqlite' else 'No space left on device') in result.stderr
        assert pathlib.Path('/dev/full').is_char_device()


@pytest.mark.parametrize('form', FORMATS)
def test_nothing_chosen_is_a_valid_file(tally, tmp_path, form):
    path = make('flat', tmp_path / 'perf.data')
    output = export(tally, form, path, '--tid', '99999', output=tmp_path / 'out')
    sums = {} if form == 'folded' else sums_of(form, output)
    assert sums == {} or (form == 'callgrind' and set(sums['totals'].values()) == {0})


@pytest.mark.parametrize('form', FORMATS)
def test_a_cut_recording_gives_what_is_whole(tally, tmp_path, form):
    path = make('chains', tmp_path / 'perf.data')
    whole = path.read_bytes()
    cut = tmp_path / 'cut.data'
    cut.write_bytes(whole[:len(whole) * 2 // 3])
    tally('export', '-F', form, '-o', tmp_path / 'out', cut)
    if form not in ('folded', 'callgrind', 'firefox') and (tmp_path / 'out').exists():
        assert all(0 < samples < 60 for samples, _ in sums_of(form, tmp_path / 'out').values())
