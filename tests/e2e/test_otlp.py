# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry's profiles: a decoder made by protoc reads what the other exports and report say of the same recording."""
import json
import re
import shutil
import subprocess

import pytest

import kernel_build
from otlp_reader import Otlp
from page import HOSTILE
from page_recordings import hostile
from perfdata_build import CHAIN_USER, Recording
from test_export import inlined, make, recording  # pylint: disable=unused-import

CHAIN_KERNEL = (1 << 64) - 128
CONTAINER = '0123456789abcdef' * 4
SECOND = 1_000_000_000


def export(tally, form, path, *options, output):
    tally('export', '-F', form, *options, '-o', output, path)
    return output


def otlp(tally, path, *options):
    return Otlp(export(tally, 'otlp', path, *options, output=path.with_suffix('.otlp')).read_bytes())


def add(sums, key, value):
    sums[key] = sums.get(key, 0) + value


def json_sums(path):
    """{(event, pid, tid, comm, stack): [samples, period]}, each frame with its file, line, binary and build ID."""
    whole = json.loads(path.read_text())
    maps = [(one['path'], one['build_id']) for one in whole['maps']]

    def frame(index):
        one = whole['frames'][index]
        mapping = maps[one['map']] if 'map' in one else None
        known = one['kind'] != 'unknown' or not mapping
        return one['symbol'] if known else None, one.get('file', ''), one.get('line', 0), mapping

    def stack(at):
        while at is not None:
            yield frame(whole['stacks'][at]['frame'])
            at = whole['stacks'][at].get('parent')

    sums = {}
    for sample in whole['samples']:
        thread = whole['threads'][sample['thread']]
        key = (whole['events'][sample['event']]['name'], thread['pid'], thread['tid'], thread['comm'],
               tuple(stack(sample['stack'])))
        add(sums.setdefault('samples', {}), key, 1)
        add(sums.setdefault('periods', {}), key, sample['period'])
    return sums


def otlp_sums(message):
    sums = {}
    for sample in message.samples:
        about, attributes = sample['profile'], sample['attributes']
        key = (about['attributes']['tally.event'], about['resource'].get('process.pid', -1), attributes.get('thread.id', -1),
               attributes.get('thread.name', ''),
               tuple((one['function'], one['file'], one['line'], one['mapping']) for one in sample['frames']))
        counts = about['type'] == ('samples', 'count')
        add(sums.setdefault('samples' if counts else 'periods', {}), key, sample['value'])
    return sums


def test_it_says_what_json_says(tally, recording, tmp_path):
    """The same counts and periods in the same stacks: names, files, lines, binaries and build IDs."""
    message = Otlp(export(tally, 'otlp', recording, output=tmp_path / 'otlp').read_bytes())
    assert otlp_sums(message) == json_sums(export(tally, 'json', recording, output=tmp_path / 'json'))


def test_json_is_the_same_message(tally, recording, tmp_path):
    binary = export(tally, 'otlp', recording, output=tmp_path / 'binary')
    text = export(tally, 'otlp-json', recording, output=tmp_path / 'text')
    assert Otlp.of_json(text.read_text()).message == Otlp(binary.read_bytes()).message


def test_build_ids(tally, perf_recording, tmp_path):
    message = Otlp(export(tally, 'otlp', perf_recording('kg'), output=tmp_path / 'otlp').read_bytes())
    listed = dict(reversed(line.split()) for line in tally('buildid-list', '-i', perf_recording('kg'), check=0).stdout.splitlines())
    found = {frame['mapping'] for sample in message.samples for frame in sample['frames'] if frame['mapping']}
    known = {path: build_id for path, build_id in found if build_id}
    assert known and all(listed[path] == build_id for path, build_id in known.items())


def test_inlined_calls_are_lines_of_one_location(tally, inlined, tmp_path):
    message = Otlp(export(tally, 'otlp', inlined, output=tmp_path / 'otlp').read_bytes())
    names = {tuple(message.string(message.dictionary.function_table[line.function_index].name_strindex) for line in location.lines)
             for location in message.dictionary.location_table}
    assert ('deep', 'middle', 'outer') in names and ('main',) in names
    assert all(line.line > 0 for location in message.dictionary.location_table for line in location.lines)
    flat = Otlp(export(tally, 'otlp', inlined, '--no-inline', output=tmp_path / 'flat').read_bytes())
    assert all(len(location.lines) <= 1 for location in flat.dictionary.location_table)


def test_resources_are_processes(tally, tmp_path):
    """The busiest process comes first; names and numbers of threads are attributes of samples."""
    r = Recording()
    r.event('IP TID TIME PERIOD')
    for pid, name in ((1000, 'quiet'), (2000, 'busy')):
        r.record(3, 0, r.pack('II', pid, pid) + r.name(name) + r.trailer())
        r.record(3, 0, r.pack('II', pid, pid + 1) + r.name(name + '-io') + r.trailer())
    for i in range(60):
        pid = 1000 if i % 3 == 0 else 2000
        r.sample(ip=0x400000, tid=(pid, pid + i % 2), time=SECOND + i, period=7)
    r.write(tmp_path / 'data')
    message = otlp(tally, tmp_path / 'data')
    assert [(one['process.pid'], one['process.executable.name'], one['service.name'], one['os.type'])
            for one in message.resources] == [(2000, 'busy', 'unknown_service:busy', 'linux'),
                                              (1000, 'quiet', 'unknown_service:quiet', 'linux')]
    threads = {(s['profile']['resource']['process.pid'], s['attributes']['thread.id'], s['attributes']['thread.name'])
               for s in message.samples}
    assert threads == {(2000, 2000, 'busy'), (2000, 2001, 'busy-io'), (1000, 1000, 'quiet'), (1000, 1001, 'quiet-io')}
    given = otlp(tally, tmp_path / 'data', '--resource', 'service.name=shop', '--resource', 'a=b=c,d', '--resource', 'service.name=till',
                 '--resource', 'host.name=me', '--resource', 'empty=')
    for one in given.resources:
        assert one['service.name'] == 'till' and one['a'] == 'b=c,d' and one['host.name'] == 'me' and one['empty'] == ''
    assert otlp_sums(given) == otlp_sums(message)


def test_attributes_of_resources_are_checked(tally, tmp_path):
    path = make('flat', tmp_path / 'data')
    for bad in ('shop', '=shop', ''):
        result = tally('export', '-F', 'otlp', '--resource', bad, '-o', tmp_path / 'out', path, check=129)
        assert 'expects KEY=VALUE' in result.stderr
    result = tally('export', '-F', 'pprof', '--resource', 'a=b', '-o', tmp_path / 'out', path, check=129)
    assert 'the format pprof has no resources: --resource is for otlp and otlp-json' in result.stderr
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('path, container', [
    (f'/docker/{CONTAINER}', CONTAINER), (f'/kubepods.slice/pod1/cri-containerd-{CONTAINER}.scope', CONTAINER),
    (f'/x/{CONTAINER}0', None), ('/system.slice/ssh.service', None), (f'/{CONTAINER[1:]}', None)])
def test_containers(tally, tmp_path, path, container):
    r = Recording()
    r.event('IP TID TIME PERIOD CGROUP')
    r.comm('boxed')
    r.record(19, 0, r.pack('Q', 4711) + r.name(path) + r.trailer())
    r.sample(ip=0x400000, tid=(1000, 1000), time=SECOND, period=7, cgroup=4711)
    r.write(tmp_path / 'data')
    message = otlp(tally, tmp_path / 'data')
    assert [one.get('container.id') for one in message.resources] == [container]


@pytest.mark.parametrize('name', ['flat', 'chains', 'swapped', 'branches'])
def test_times(tally, tmp_path, name):
    """A recording that says how its clock stood has the time of each sample; else there are sums."""
    wall = 1_700_000_000_000_000_123
    plain = otlp(tally, make(name, tmp_path / 'plain'))
    assert all(one['time'] == 0 and one['duration'] == 59 * 1_000_003 + 1 for one in plain.profiles)
    assert not any(sample['times'] for sample in plain.samples)
    dated = otlp(tally, make(name, tmp_path / 'dated', wall=wall))
    times = sorted(time for sample in dated.samples for time in sample['times'])
    assert times == [wall + 4 * SECOND + 1_000_003 * i for i in range(60)]
    assert all(one['time'] == times[0] for one in dated.profiles)
    assert otlp_sums(dated) == otlp_sums(plain)
    part = otlp(tally, make(name, tmp_path / 'part', wall=wall), '--time', '5.010000,5.020000')
    assert sorted(time for sample in part.samples for time in sample['times']) == times[10:20]


def test_a_stream_has_times(tally, tmp_path):
    path = make('chains', tmp_path / 'data', wall=SECOND * 1_700_000_000)
    with open(path, 'rb') as stream:
        data = subprocess.run([tally.path, 'export', '-F', 'otlp', '-i', '-'], stdin=stream, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=tally.environment).stdout
    assert otlp_sums(Otlp(data)) == otlp_sums(otlp(tally, path))


def test_without_times(tally, tmp_path):
    message = otlp(tally, make('notime', tmp_path / 'data'))
    assert all(one['time'] == one['duration'] == 0 for one in message.profiles)
    assert message.sums() == {'cpu-clock:HG': (60, sum(1000 + i for i in range(60)))}


def test_types(tally, tmp_path):
    """Time has the names that the format's examples use; the event's own name is an attribute."""
    found = {(one['attributes']['tally.event'], one['type'], one['period_type'], one['period'])
             for one in otlp(tally, make('events', tmp_path / 'data')).profiles}
    assert found == {(event, kind, named, sum(1000 + i for i in range(at, 60, 3)) // 20)
                     for at, (event, named) in enumerate((('cpu-clock', ('cpu', 'nanoseconds')), ('cycles', ('cycles', 'count')),
                                                          ('instructions', ('instructions', 'count'))))
                     for kind in (named, ('samples', 'count'))}


def test_without_threads(tally, tmp_path):
    r = Recording()
    r.event('IP TIME PERIOD')
    r.sample(ip=0x400000, time=SECOND, period=7)
    r.write(tmp_path / 'data')
    message = otlp(tally, tmp_path / 'data')
    assert message.sums() == {'cpu-clock:HG': (1, 7)} and not any(sample['attributes'] for sample in message.samples)
    assert all('process.pid' not in one and one['service.name'].startswith('unknown_service') for one in message.resources)


def test_comments(tally, tmp_path):
    path = make('flat', tmp_path / 'data')
    for one in otlp(tally, path).profiles:
        assert f'recording: {path}' in one['attributes']['pprof.profile.comment']


def test_types_of_frames(tally, tmp_path):
    """Code of the kernel, of a file, and of neither."""
    if not kernel_build.have_tools():
        pytest.skip('gcc or binutils is absent')
    kernel_build.compile_files(tmp_path)
    entry = kernel_build.symbols(tmp_path / 'vmlinux')['schedule'][0] - kernel_build.LINKED + kernel_build.RAN
    r = Recording()
    r.event('IP TID TIME PERIOD CALLCHAIN')
    r.comm('first')
    r.record(1, 1, r.pack('iIQQQ', -1, 0, kernel_build.RAN, 0x1000000, kernel_build.RAN) +
             r.name('[kernel.kallsyms]_stext') + r.trailer())
    r.mmap(0x400000, 0x1000, '/nowhere/program')
    r.sample(ip=entry, tid=(1000, 1000), time=SECOND, period=7,
             callchain=[CHAIN_KERNEL, entry, CHAIN_USER, 0x400010, 0x77777777])
    r.write(tmp_path / 'data')
    message = otlp(tally, tmp_path / 'data', '--vmlinux', tmp_path / 'vmlinux')
    frames = message.samples[0]['frames']
    assert [one['type'] for one in frames if one['address'] == entry] and 'schedule' in {one['function'] for one in frames}
    assert all(one['type'] == 'kernel' for one in frames if one['address'] == entry)
    assert [(one['function'], one['type']) for one in frames[-2:]] == [(None, 'native'), ('[unknown]', None)]


@pytest.mark.parametrize('ending, language', [('go', 'go'), ('rs', 'rust'), ('c', 'native')])
def test_languages_are_those_of_source_files(tally, tmp_path, ending, language):
    if not all(map(shutil.which, ('cc', 'nm'))):
        pytest.skip('cc or binutils is absent')
    (tmp_path / 'made.c').write_text(f'#line 1 "made.{ending}"\nint work(int x) {{ return x * 7; }}\n')
    subprocess.run(['cc', '-shared', '-nostdlib', '-O1', '-g', 'made.c', '-o', 'made.so'], cwd=tmp_path, check=True)
    listed = subprocess.run(['nm', 'made.so'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    address = int(re.search(r'^(\w+) T work$', listed, re.M).group(1), 16)
    r = Recording()
    r.event('IP TID TIME PERIOD')
    r.comm('first')
    r.mmap(0x400000, 0x10000, str(tmp_path / 'made.so'))
    r.sample(ip=0x400000 + address, tid=(1000, 1000), time=SECOND, period=7)
    r.write(tmp_path / 'data')
    frame, = otlp(tally, tmp_path / 'data').samples[0]['frames']
    assert (frame['function'], frame['file'].split('/')[-1], frame['type']) == ('work', f'made.{ending}', language)


def test_hostile_names(tally, tmp_path):
    """What is no UTF-8 is replaced, and every name arrives."""
    hostile(tmp_path / 'data')
    message = otlp(tally, tmp_path / 'data', '--resource', 'key\udcff=a\udcfeb\x01')
    assert sum(s['value'] for s in message.samples if s['profile']['type'] == ('samples', 'count')) == len(HOSTILE)
    assert all(one['key\ufffd'] == 'a\ufffdb\x01' for one in message.resources)
    text = export(tally, 'otlp-json', tmp_path / 'data', '--resource', 'key\udcff=a\udcfeb\x01', output=tmp_path / 'json').read_text()
    assert Otlp.of_json(text).message == message.message
    threads = {sample['attributes']['thread.name'] for sample in message.samples}
    assert '</script><scrip' in threads and r'\xff' in ''.join(threads)


def test_large_periods_stay_positive(tally, tmp_path):
    r = Recording()
    r.event('IP TID TIME PERIOD')
    r.comm('first')
    for i in range(2):
        r.sample(ip=0x400000, tid=(1000, 1000), time=SECOND + i, period=2 ** 63 - 1)
    r.write(tmp_path / 'data')
    assert {s['value'] for s in otlp(tally, tmp_path / 'data').samples} == {2, 2 ** 63 - 1}
