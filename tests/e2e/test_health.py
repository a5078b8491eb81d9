# SPDX-License-Identifier: Apache-2.0
"""tally health: the page, its JSON, and what it says of stock perf against stock perf."""
import csv
import json
import random
import shutil
import signal
import struct
import subprocess
import time

import perfdata_build
import pytest
from conftest import wait_for

RECORDINGS = ['u', 'k', 'kg', 'grp', 'thr', 'zstd', 'pipe', 'tp', 'nosamp']


@pytest.fixture
def recording(perf_recording):
    return perf_recording


def health(tally, path, check=None):
    result = tally('health', '--json', path, check=check)
    parsed = json.loads(result.stdout)
    assert parsed['schema'] == 1
    expected = {'good': 0, 'lossy': 1, 'damaged': 1, 'unfinished': 1, 'cut': 1, 'unusable': 255}[parsed['verdict']]
    assert result.returncode == expected
    return parsed


@pytest.mark.parametrize('name', RECORDINGS)
def test_whole_recordings_are_good(tally, recording, name):
    found = health(tally, recording(name), check=0)
    assert found['verdict'] == 'good' and found['end'] == {'is_complete': True}
    assert found['perf_6_1'] == {'reads': True}
    stats = tally('report', '--stats', '-i', recording(name)).stdout
    samples = sum(event['samples'] for event in found['events'])
    assert samples == found['records']['samples']
    assert samples == 0 or f'SAMPLE events: {samples:10}  (' in stats


def test_the_page(tally, shared_recording):
    page = tally('health', shared_recording('kg'), check=0).stdout
    for line in ('  end               complete\n', '  stock perf 6.1    reads it\n', '  lost              nothing\n',
                 '    cpu-clock: 172 samples\n', '           172 SAMPLE\n'):
        assert line in page
    assert page.startswith(f'{shared_recording("kg")}: good\n')


def perf_is_6_1(perf):
    if not perf('--version').stdout.startswith('perf version 6.1.'):
        pytest.skip('perf is not of version 6.1')


def perf_reads(perf, path):
    result = perf('report', '--stats', '-i', path)
    return result.returncode == 0 and 'failed to process' not in result.stderr


@pytest.mark.parametrize('name', ['u', 'kg', 'pipe'])
def test_cut_anywhere(tally, perf, recording, tmp_path, name):
    """The offset is that of the last whole record, and perf 6.1 does what is foretold."""
    perf_is_6_1(perf)
    whole = recording(name).read_bytes()
    is_pipe = struct.unpack_from('=Q', whole, 8)[0] == 16
    data, size = (16, len(whole) - 16) if is_pipe else struct.unpack_from('=QQ', whole, 40)
    cut = tmp_path / 'cut.data'
    for length in random.Random(1).sample(range(data + 8, data + size - 8), 25):
        cut.write_bytes(whole[:length])
        found = health(tally, cut)
        at = data
        while at + 8 <= length and at + struct.unpack_from('=H', whole, at + 6)[0] <= length:
            at += struct.unpack_from('=H', whole, at + 6)[0]
        if is_pipe and at == length:
            assert found['verdict'] == 'good'
            continue
        assert found['verdict'] == 'cut' and found['end']['offset'] == at
        assert found['perf_6_1']['reads'] == perf_reads(perf, cut), length


@pytest.mark.parametrize('kind', [0, 21, 22, 40, 63, 68, 82, 83, 84, 32775])
def test_types_that_stock_perf_knows(tally, perf, recording, tmp_path, kind):
    perf_is_6_1(perf)
    whole = bytearray(recording('u').read_bytes())
    at, size = struct.unpack_from('=QQ', whole, 40)
    while struct.unpack_from('=I', whole, at)[0] != 9:
        at += struct.unpack_from('=H', whole, at + 6)[0]
    struct.pack_into('=I', whole, at, kind)
    changed = tmp_path / 'changed.data'
    changed.write_bytes(whole)
    if kind != 83:  # what says to be compressed is none, for us too
        assert health(tally, changed)['perf_6_1']['reads'] == perf_reads(perf, changed)


def test_what_is_no_recording(tally, tmp_path):
    (tmp_path / 'text').write_text('hello\n' * 100)
    assert health(tally, tmp_path / 'text', check=255)['perf_6_1']['reads'] is False
    assert tally('health', tmp_path / 'text', check=255).stdout.endswith('does not read it either\n')
    assert tally('health', tmp_path / 'absent', check=255).stdout == ''
    assert tally('health', 'a', 'b', check=129).stdout == ''


def test_names_stay_json(tally, recording, tmp_path):
    odd = tmp_path / 'odd "\n\\.data'
    odd.write_bytes(recording('u').read_bytes())
    assert health(tally, odd)['path'] == str(odd)


def test_clock_of_a_live_recording(tally, live, workload, tmp_path):
    path = tmp_path / 'perf.data'
    result = tally('record', '-q', '-e', 'cpu-clock', '-F', '5000', '-k', 'monotonic', '-o', path, '--',
                   workload('spin').path, '100')
    assert result.returncode == 0
    found = health(tally, path)
    assert found['clock']['name'] == 'monotonic' and found['clock']['is_wall_clock_known']
    assert found['clock']['first_ns'] < found['clock']['last_ns']


@pytest.mark.always
def test_corpus(shared, tally):
    """Whether perf 6.1 reads it, and the number of records of each type, as the manifest has it for all files."""
    corpus = shared / 'corpus'
    if not (corpus / 'MANIFEST.tsv').exists():
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
    with open(corpus / 'MANIFEST.tsv', encoding='utf-8') as manifest:
        files = list(csv.DictReader(manifest, delimiter='\t'))
    wrong = []
    for row in files:
        found = health(tally, corpus / 'files' / row['file'])
        if found['perf_6_1']['reads'] != row['verdict_perf6.1'].startswith('ok'):
            wrong.append((row['id'], row['verdict_perf6.1'], found['perf_6_1']))
        types = {item.get('name'): item['count'] for item in found.get('records', {}).get('by_type', [])}
        for pair in row['records_by_type'].replace('HEADER_ATTR', 'ATTR').split(','):
            name, _, count = pair.rpartition(':')
            if name and not name.startswith('T3') and types.get(name) != int(count):
                wrong.append((row['id'], pair, types.get(name)))
    print(f'health: {len(files)} files, {len(wrong)} wrong')
    assert not wrong


MODES = {'file': (), 'packed': ('-z',), 'threads': ('--threads',), 'chains': ('-g',), 'pipe': ()}


def is_passed(tally, path):
    """Whether a gate on losses passes it."""
    status = tally('report', '--stdio', '--require', 'lost<1%', '-i', path).returncode
    assert status in (0, 3, 255) # 255: what is cut is told first
    return status == 0


@pytest.mark.parametrize('mode', MODES)
def test_a_recorder_that_is_killed_is_told(live, tally, workload, tmp_path, mode):
    """At any moment: health and --require tell; the same recording that is finished is good, and stays so in inject."""
    path, spin = tmp_path / 'x.data', str(workload('spin').path)
    words = ['record', '-q', '-e', 'cpu-clock:u', '-F', '1999', *MODES[mode], '-o', '-' if mode == 'pipe' else path, '--', spin]
    chosen = random.Random(mode)
    for _ in range(6):
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
        output = open(path, 'wb') if mode == 'pipe' else subprocess.DEVNULL
        recorder = subprocess.Popen([tally.path, *words, '30000'], env=tally.environment, stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=subprocess.DEVNULL, start_new_session=True)
        first = path / 'data' if mode == 'threads' else path
        wait_for(lambda: first.exists() and first.stat().st_size >= 104)  # without a header it is no recording yet
        time.sleep(chosen.random() / 3)
        recorder.kill()
        recorder.wait()
        subprocess.run(['pkill', '-KILL', '-s', str(recorder.pid)], check=False)
        found = health(tally, path)
        assert found['verdict'] in ('unfinished', 'cut') and not found['end']['is_complete']
        if found['records']['samples']:
            assert not is_passed(tally, path)
            assert 'did not finish' in tally('report', '--stdio', '-i', path).stderr
    output = open(path, 'wb') if mode == 'pipe' else subprocess.DEVNULL
    shutil.rmtree(path, ignore_errors=True)
    subprocess.run([tally.path, *words, '200'], env=tally.environment, stdin=subprocess.DEVNULL, stdout=output,
                   stderr=subprocess.DEVNULL, check=False)
    assert health(tally, path)['verdict'] == 'good' and is_passed(tally, path)
    tally('inject', '-b', '-i', path, '-o', tmp_path / 'y.data', check=0)
    assert health(tally, tmp_path / 'y.data')['verdict'] == 'good'


def record_offsets(data):
    """Where the records of a stream without payloads begin, and where the last ends."""
    offsets = [16]
    while offsets[-1] < len(data):
        offsets.append(offsets[-1] + struct.unpack_from('<H', data, offsets[-1] + 6)[0])
    return offsets


@pytest.mark.parametrize('packed', [(), ('-z',)])
def test_a_stream_without_its_end_is_told_while_it_comes(live, tally, workload, packed):
    """Cut between two records; those who copy the reader's health before the stream has ended tell it too."""
    def run(data, *words):
        return subprocess.run([tally.path, *words, '-i', '-'], env=tally.environment, input=data, capture_output=True,
                              check=False)

    words = ['record', '-q', '-e', 'cpu-clock:u', '-F', '1999', *packed, '-o', '-', '--', workload('spin').path, '100']
    whole = subprocess.run([tally.path, *map(str, words)], env=tally.environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    offsets = record_offsets(whole)
    assert offsets[-1] == len(whole)
    at = whole.rindex(b'tallyend', 0, whole.rindex(b'tallyend')) - 8
    assert at in offsets
    cuts = [at] if packed else [at, max(offset for offset in offsets if offset <= at - 200)]
    verbs = [('report', '--stdio'), ('script',), ('report', '--stdio', '--require', 'lost<1%')]
    for data, is_whole in [(whole, True), *((whole[:cut], False) for cut in cuts)]:
        found = run(data, 'health', '--json')
        parsed = json.loads(found.stdout)
        assert (parsed['verdict'], found.returncode) == (('good', 0) if is_whole else ('unfinished', 1))
        assert parsed['end']['is_complete'] == is_whole
        page = run(data, 'health')
        assert (b'  end               complete\n' in page.stdout) == is_whole and (page.returncode == 0) == is_whole
        for verb in verbs:
            result = run(data, *verb)
            assert (b'did not finish' in result.stderr) != is_whole, verb
            assert result.stdout
            if '--require' in verb:
                assert (result.returncode == 0) == is_whole
    # Without the first mark it is another program's: nothing is known of its end.
    begin = whole.index(b'tallybeg') - 8
    other = whole[:begin] + whole[begin + 24:at]
    assert json.loads(run(other, 'health', '--json').stdout)['verdict'] == 'good'
    assert b'did not finish' not in run(other, 'script').stderr + run(other, 'report', '--stdio').stderr


@pytest.mark.parametrize('number', [signal.SIGHUP, signal.SIGXFSZ])
def test_signals_that_end_it_are_told_or_finish_it(live, tally, workload, tmp_path, number):
    path = tmp_path / 'x.data'
    # One that ignores the signal records until the program ends.
    recorder = tally.start('record', '-q', '-e', 'cpu-clock:u', '-o', path, '--', workload('spin').path, '1500',
                           start_new_session=True)
    wait_for(lambda: path.exists() and path.stat().st_size >= 1000)
    recorder.send_signal(number)
    status = recorder.wait()
    subprocess.run(['pkill', '-KILL', '-s', str(recorder.pid)], check=False)
    was_killed = status < 0 and health(tally, path)['verdict'] != 'good'
    assert was_killed or health(tally, path)['verdict'] == 'good'
    if status == -signal.SIGXFSZ:
        assert was_killed


def test_a_full_disk_is_told(live, tally, workload, tmp_path):
    """RLIMIT_FSIZE, without its signal."""
    import resource
    path = tmp_path / 'x.data'

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
    subprocess.run([tally.path, 'record', '-q', '-N', '-e', 'cpu-clock:u', '-F', '1999', '-g', '-o', path, '--',
                    workload('spin').path, '1500'], env=tally.environment, stdin=subprocess.DEVNULL, capture_output=True,
                   preexec_fn=limit, check=False)
    assert health(tally, path)['verdict'] == 'unfinished' and not is_passed(tally, path)


def test_a_file_of_the_directory_that_is_missing_is_told(live, tally, workload, tmp_path):
    path = tmp_path / 'x.data'
    tally('record', '-q', '--threads', '-e', 'cpu-clock:u', '-F', '999', '-o', path, '--', workload('spin').path, '200')
    parts = sorted(path.glob('data.*'))
    whole = health(tally, path, check=0)['records']['samples']
    for part in parts:
        kept = part.read_bytes()
        for changed in (None, kept[:-8] if kept else None):
            part.unlink() if changed is None else part.write_bytes(changed)
            found = health(tally, path)
            assert found['verdict'] in ('unfinished', 'cut')
            if changed is None:
                assert found['end'] == {'is_complete': False, 'is_unfinished': False, 'missing_files': 1}
            result = tally('report', '--stdio', '-i', path)
            assert "1 files of the recording's directory are missing" in result.stderr
            part.write_bytes(kept)
    assert health(tally, path, check=0)['records']['samples'] == whole


def test_recordings_of_perf_are_not_blamed(live, tally, perf, workload, tmp_path):
    """One that perf has finished is good; one whose size is 0, because perf was killed, is not."""
    path = tmp_path / 'x.data'
    if perf('record', '-q', '-e', 'cpu-clock:u', '-o', path, '--', workload('spin').path, '200').returncode:
        pytest.skip('perf record fails here')
    assert health(tally, path)['verdict'] == 'good' and is_passed(tally, path)
    data = bytearray(path.read_bytes())
    data[48:56] = bytes(8)
    path.write_bytes(data)
    assert health(tally, path)['verdict'] != 'good' and not is_passed(tally, path)


@pytest.mark.parametrize('counted', [False, True])
def test_losses_are_counted_once(tally, tmp_path, counted):
    """Ring 1 lost 10 records and ring 2 lost 5, which LOST says. Where the kernel counts by event, 9 and 4 of these were
    samples; where it does not, LOST_SAMPLES are others, of the hardware."""
    r = perfdata_build.Recording()
    for _ in range(2):
        r.event('IDENTIFIER IP TID TIME CPU PERIOD', read_format=16 if counted else 0, flags=1 << 18)
    r.name_events('first', 'second')

    def trailer(event):
        return r.pack('IIQIIQ', 1000, 1000, 10**9, 0, 0, event + 1)
    for i in range(20):
        r.sample(i % 2, ip=0x1000, time=10**9 + i)
    r.record(2, 0, r.pack('QQ', 1, 10) + trailer(0))
    r.record(2, 0, r.pack('QQ', 1, 5) + trailer(0))
    r.record(13, 0, r.pack('Q', 9) + trailer(0))
    r.record(13, 0, r.pack('Q', 4) + trailer(1))
    r.write(tmp_path / 'x.data')
    found = health(tally, tmp_path / 'x.data')
    assert found['verdict'] == 'lossy'
    assert found['lost']['events'] == 15 and found['lost']['samples'] == 13
    assert [event['lost'] for event in found['events']] == ([9, 4] if counted else [24, 4])
    assert sum(found['lost']['by_time']) == (15 if counted else 28)


@pytest.mark.parametrize('kind', ['MMAP2 (10)', 'SAMPLE (9)'])
@pytest.mark.parametrize('verb', ['report --stdio', 'report --stdio -s comm,dso,time', 'script', 'annotate --stdio'])
def test_the_place_of_a_damaged_record_is_told(tally, live, tmp_path, kind, verb):
    """As perf 7 says it, whose tests look for these words: the last record of the type is made too short."""
    # The rest of it becomes a record of its own, so that what follows is read.
    path = tmp_path / 'r.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', '2000', '-o', path, '--', 'sh', '-c',
          'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; /bin/true; exit 0', check=0)
    name = kind.split()[0]
    dump = tally('report', '-D', '-i', path, check=0).stdout.splitlines()
    place = [line.split()[1] for line in dump if f': PERF_RECORD_{name}' in line][-1]
    data = bytearray(path.read_bytes())
    size = struct.unpack_from('<H', data, int(place, 16) + 6)[0]
    struct.pack_into('<H', data, int(place, 16) + 6, 16)
    struct.pack_into('<IHH', data, int(place, 16) + 16, 68, 0, size - 16)
    path.write_bytes(data)
    said = tally(*verb.split(), '-i', path).stderr
    assert f'a damaged record is left out (at offset {place}: {kind})' in said
