"""buildid-list: against stock perf on recordings, ELF files and the running kernel."""
import csv
import gzip
import shutil
import subprocess

import pytest

# Where ours differs from the version of perf that the corpus trusts, and why.
CALLERS = 'files of callers count as hit, as in perf 7.3'
BY_NAME = 'perf 7.3 sorts by name'
EXPLAINED = {
    '48c18ccdc35a': CALLERS,
    '3af012a2059f': CALLERS,
    '537c01e7707b': CALLERS,
    '1eb2507ff34e': CALLERS,
    '9f75f75f542a': CALLERS,
    '4807e10a8b5d': BY_NAME,
    '52c7977133a0': BY_NAME,
    '3b586c20928a': 'perf names the vdso of a pipe after a temporary file',
    '03d08ba8198b': 'perf names the vdso of a pipe after a temporary file',
    'e72e6c761929': 'no perf reads it',
    '035e65f3df51': 'no perf reads it',
    'b9f23968b15b': 'perf 7.3 drops the data of compressed pipes',
}


def build(folder, name, build_id):
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    source = folder / 'empty.c'
    source.write_text('int main(void) { return 0; }\n')
    subprocess.run(['gcc', f'-Wl,--build-id={build_id}', source, '-o', folder / name], check=True)
    return folder / name


@pytest.mark.parametrize('arguments', [[], ['-H']])
@pytest.mark.parametrize('name', ['u', 'k', 'kg', 'bidall', 'bidmmap', 'nobid', 'pipe', 'old', 'nosamp'])
def test_as_perf(shared, tally, perf, name, arguments):
    recording = shared / 'perf-golden' / 'data' / f'{name}.data'
    if not recording.exists():
        pytest.skip(f'{recording} is absent')
    expected = perf('buildid-list', *arguments, '-i', recording, check=0)
    assert tally('buildid-list', *arguments, '-i', recording, check=0).stdout == expected.stdout


@pytest.mark.parametrize('build_id', ['0x0123456789abcdef', 'md5', 'sha1'])
def test_of_an_elf_file(tally, tmp_path, build_id):
    file = build(tmp_path, 'program', build_id)
    printed = tally('buildid-list', '-i', file, check=0).stdout.strip()
    notes = subprocess.run(['readelf', '-n', file], text=True, capture_output=True, check=True).stdout
    assert f'Build ID: {printed}\n' in notes


def test_an_elf_file_without_one_is_told(tally, tmp_path):
    file = build(tmp_path, 'program', 'none')
    result = tally('buildid-list', '-i', file, check=255)
    assert result.stdout == '' and 'has no build id' in result.stderr


@pytest.mark.parametrize('option', ['-k', '-m'])
def test_of_the_kernel(tally, perf, option):
    assert tally('buildid-list', option, check=0).stdout == perf('buildid-list', option, check=0).stdout


def test_what_is_no_recording_is_refused(tally, tmp_path):
    (tmp_path / 'text').write_text('hello\n' * 100)
    assert tally('buildid-list', '-i', tmp_path / 'text', check=255).stdout == ''
    assert tally('buildid-list', '-i', tmp_path / 'absent', check=255).stdout == ''


def test_corpus(shared, tally):
    """All rows as the trusted perf prints them, or the file is in the table above."""
    corpus = shared / 'corpus'
    if not (corpus / 'MANIFEST.tsv').exists():
        pytest.skip('../shared/corpus is absent')
    unexplained, compared, equal = [], 0, 0
    with open(corpus / 'MANIFEST.tsv', encoding='utf-8') as manifest:
        files = list(csv.DictReader(manifest, delimiter='\t'))
    for row in files:
        version = row['use_expected'] if row['use_expected'] in ('6.1', '7.3') else '6.1'
        expected = gzip.open(corpus / 'expected' / row['id'] / f'perf-{version}' / 'buildid-list.txt.gz',
                             'rt', errors='replace').read()
        printed = tally('buildid-list', '-i', corpus / 'files' / row['file']).stdout
        compared += 1
        same = sorted(printed.splitlines()) == sorted(expected.splitlines())
        equal += same
        if not same and row['id'] not in EXPLAINED:
            unexplained.append(row['id'])
    print(f'buildid-list: {compared} files, {equal} equal, {compared - equal} explained')
    assert not unexplained
