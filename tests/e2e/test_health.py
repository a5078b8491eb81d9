"""tally health: the page, its JSON, and what it says of stock perf against stock perf."""
import csv
import json
import random
import struct

import pytest

RECORDINGS = ['u', 'k', 'kg', 'grp', 'thr', 'zstd', 'pipe', 'tp', 'nosamp']


@pytest.fixture
def recording(shared):
    def find(name):
        path = shared / 'perf-golden' / 'data' / f'{name}.data'
        if not path.exists():
            pytest.skip(f'{path} is absent')
        return path
    return find


def health(tally, path, check=None):
    result = tally('health', '--json', path, check=check)
    parsed = json.loads(result.stdout)
    assert parsed['schema'] == 1
    expected = {'good': 0, 'lossy': 1, 'damaged': 1, 'cut': 1, 'unusable': 255}[parsed['verdict']]
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


def test_the_page(tally, recording):
    page = tally('health', recording('kg'), check=0).stdout
    for line in ('  end               complete\n', '  stock perf 6.1    reads it\n', '  lost              nothing\n',
                 '    cpu-clock: 172 samples\n', '           172 SAMPLE\n'):
        assert line in page
    assert page.startswith(f'{recording("kg")}: good\n')


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


def test_corpus(shared, tally):
    """Whether perf 6.1 reads it, and the number of records of each type, as the manifest has it for all files."""
    corpus = shared / 'corpus'
    if not (corpus / 'MANIFEST.tsv').exists():
        pytest.skip('../shared/corpus is absent')
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
