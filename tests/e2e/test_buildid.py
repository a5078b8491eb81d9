# SPDX-License-Identifier: Apache-2.0
"""buildid-list and buildid-cache: against stock perf, whose cache is the same."""
import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import json_schema
from conftest import CORPUS, ROOT, TIMEOUT_S
from test_refusals import denying

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
def test_as_perf(shared_recording, perf_recording, tally, perf, name, arguments):
    # tally counts the files of callers as hit, too; of ours in this form one has a caller in another file.
    recording = (shared_recording if name == 'pipe' else perf_recording)(name)
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


@pytest.mark.always
def test_corpus(shared, tally):
    """All rows as the trusted perf prints them, or the file is in the table above."""
    corpus = shared / 'corpus'
    if not (corpus / 'MANIFEST.tsv').exists():
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
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


def tree(folder):
    """What is in a cache: paths, and where links lead; without the probes that perf looks for in programs."""
    found = {}
    for path in sorted(folder.rglob('*')):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.readlink(path)
        elif path.is_file() and path.name != 'probes':
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


@pytest.fixture
def caches(tmp_path):
    return tmp_path / 'ours', tmp_path / 'theirs'


def test_cache_is_that_of_perf(tally, perf, tmp_path, caches):
    ours, theirs = caches
    files = ','.join(str(build(tmp_path, f'program-{kind}', kind)) for kind in ('sha1', 'md5'))
    for program, cache in ((tally, ours), (perf, theirs)):
        program('--buildid-dir', cache, 'buildid-cache', '-a', files, check=0)
    assert tree(ours) == tree(theirs) and len(tree(ours)) == 4
    listed = perf('--buildid-dir', ours, 'buildid-cache', '-l', check=0).stdout
    assert tally('--buildid-dir', theirs, 'buildid-cache', '-l', check=0).stdout == listed and listed
    # Each removes what the other has added.
    perf('--buildid-dir', ours, 'buildid-cache', '-r', files, check=0)
    tally('--buildid-dir', theirs, 'buildid-cache', '-r', tmp_path / 'program-sha1', check=0)
    tally('--buildid-dir', theirs, 'buildid-cache', '-p', tmp_path / 'program-md5', check=0)
    assert tree(ours) == tree(theirs) == {}


def test_the_configuration_names_the_cache(tally, perf, tmp_path, caches):
    file = build(tmp_path, 'program', 'sha1')
    config = tmp_path / 'config'

    def entries(program, dir_, *words):
        config.write_text(f'[buildid]\n\tdir = {dir_}\n')
        return program(*words, 'buildid-cache', '-l', env={'PERF_CONFIG': config, 'HOME': tmp_path}).stdout

    for program, cache in zip((tally, perf), caches):
        config.write_text(f'[buildid]\n\tdir = {cache}\n')
        program('buildid-cache', '-a', file, check=0, env={'PERF_CONFIG': config})
        assert entries(program, cache).endswith(f' {file}\n') and not entries(program, tmp_path / 'nothing')
    assert tree(caches[0]) == tree(caches[1])
    # The option is stronger, home's folder is known.
    assert entries(tally, tmp_path / 'nothing', '--buildid-dir', caches[0]) == entries(tally, caches[0]) == entries(tally, '~/ours')


def test_programs_are_found_where_the_configuration_says(tally, live, tmp_path, caches):
    """But below --symfs in that folder's own cache."""
    (tmp_path / 'program.c').write_text('int main(void) { for (volatile long i = 0; i < 200000000; i++); }\n')
    program = tmp_path / 'program'
    subprocess.run(['gcc', '-O1', '-Wl,--build-id=sha1', '-o', program, tmp_path / 'program.c'], check=True)
    config, path, root = tmp_path / 'config', tmp_path / 'perf.data', tmp_path / 'root'
    config.write_text(f'[buildid]\n\tdir = {caches[0]}\n')
    env = {'PERF_CONFIG': config, 'HOME': tmp_path}
    tally('record', '-q', '-e', 'cpu-clock:u', '-o', path, program, check=0, env=env)
    program.unlink()
    root.mkdir()

    for verb in (['report', '-s', 'sym'], ['script', '-F', 'ip,sym'], ['flamegraph', '--folded', '-o', '-']):
        shown = r' main\b' if verb[0] != 'flamegraph' else r'\bmain '  # but not dl_main, the loader's
        found = [bool(re.search(shown, tally(*where, *verb, '-i', path, *more, check=0, env=env_).stdout)) for where, more, env_ in (
            ([], [], env), ([], ['--symfs', root], env), ([], ['--symfs', '/'], env), ([], [], {'HOME': tmp_path}),
            (['--buildid-dir', caches[0]], ['--symfs', root], {'HOME': tmp_path}))]
        assert found == [True, False, True, False, True], verb


def test_cache_has_links_where_it_can(tally, tmp_path, caches):
    file = build(tmp_path, 'program', 'sha1')
    tally('--buildid-dir', caches[0], 'buildid-cache', '-a', file, check=0)
    assert file.stat().st_nlink == 2
    tally('--buildid-dir', caches[0], 'buildid-cache', '-P', check=0)
    assert file.stat().st_nlink == 1 and tree(caches[0]) == {}


def test_cache_in_another_file_system_has_copies(tally, tmp_path):
    file = build(tmp_path, 'program', 'sha1')
    if not os.access('/dev/shm', os.W_OK) or os.stat('/dev/shm').st_dev == file.stat().st_dev:
        pytest.skip('/dev/shm is no other file system')
    cache = pathlib.Path('/dev/shm') / f'tally-cache-{os.getpid()}'
    try:
        tally('--buildid-dir', cache, 'buildid-cache', '-a', file, check=0)
        assert file.read_bytes() in tree(cache).values() and file.stat().st_nlink == 1
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def test_cache_of_kernel_and_vdso(tally, perf, caches):
    tally('--buildid-dir', caches[0], 'buildid-cache', '-a', '[kernel.kallsyms],[vdso]', check=0)
    listed = tally('--buildid-dir', caches[0], 'buildid-cache', '-l', check=0).stdout
    kernel = tally('buildid-list', '-k', check=0).stdout.strip()
    assert f'{kernel} [kernel.kallsyms]\n' in listed and ' [vdso]\n' in listed


def test_updates_replace_what_is_there(tally, tmp_path, caches):
    file = build(tmp_path, 'program', 'sha1')
    before = tally('--buildid-dir', caches[0], 'buildid-cache', '-u', file, check=0)
    assert "wasn't in the cache" in before.stderr and tree(caches[0]) == {}
    tally('--buildid-dir', caches[0], 'buildid-cache', '-a', file, check=0)
    other = file.read_bytes() + b'more'
    file.unlink()
    file.write_bytes(other)
    tally('--buildid-dir', caches[0], 'buildid-cache', '-a', file, check=0)
    assert other not in tree(caches[0]).values()
    tally('--buildid-dir', caches[0], 'buildid-cache', '-u', file, check=0)
    assert other in tree(caches[0]).values()


def test_missing_of_a_recording(perf_recording, tally, perf, caches):
    recording = perf_recording('k')
    expected = perf('--buildid-dir', caches[0], 'buildid-cache', '-M', recording, check=0).stdout
    assert tally('--buildid-dir', caches[0], 'buildid-cache', '-M', recording, check=0).stdout == expected != ''


def test_many_writers_at_once(tally, tmp_path, caches):
    files = [build(tmp_path, f'program-{i}', f'0x{i:040x}') for i in range(4)]
    names = ','.join(map(str, files))
    runs = [tally.start('--buildid-dir', caches[0], 'buildid-cache', '-a', names, '-u', names) for _ in range(8)]
    for run in runs:
        _, errors = run.communicate(timeout=TIMEOUT_S)
        assert run.returncode == 0, errors
    assert len(tree(caches[0])) == 8
    assert len(tally('--buildid-dir', caches[0], 'buildid-cache', '-l', check=0).stdout.splitlines()) == 4


@pytest.mark.parametrize('arguments', [['-a', 'absent'], ['-r', 'absent'], ['-M', 'absent']])
def test_cache_fails_with_a_reason(tally, caches, arguments):
    result = tally('--buildid-dir', caches[0], 'buildid-cache', *arguments, check=255)
    assert 'absent' in result.stderr


def test_cache_usage(tally):
    assert 'Usage' in tally('buildid-cache', check=129).stderr
    assert 'Usage' in tally('--buildid-dir', check=129).stderr
    assert 'not supported yet' in tally('buildid-cache', '-k', 'x', check=129).stderr


def test_reports_find_programs_in_the_cache(tally, live, workload, tmp_path, caches):
    program = tmp_path / 'spin'
    shutil.copy(workload('spin').path, program)
    path = tmp_path / 'perf.data'
    tally('record', '-q', '-N', '-e', 'cpu-clock:u', '-o', path, '--', program, 200, check=0)
    tally('--buildid-dir', caches[0], 'buildid-cache', '-a', program, check=0)
    named = tally('report', '--stdio', '-i', path, check=0).stdout
    program.unlink()
    report = ['report', '--stdio', '-i', path]
    rows = [[line for line in text.splitlines() if line and not line.startswith('#')]
            for text in (named, tally('--buildid-dir', caches[0], *report, check=0).stdout)]
    assert rows[0] == rows[1]
    assert tally('--buildid-dir', caches[1], *report).stdout != named


def test_record_fills_the_cache_as_perf(tally, perf, live, workload, tmp_path, caches):
    """Both cache the program; what else they hit is chance."""
    for program, cache in ((tally, caches[0]), (perf, caches[1])):
        program('--buildid-dir', cache, 'record', '-q', '-e', 'cpu-clock:u', '-o', tmp_path / 'perf.data', '--',
                workload('spin').path, 200, check=0)
    ours, theirs = tree(caches[0]), tree(caches[1])
    elf = [name for name in theirs if name.endswith('/elf') and '/spin/' in name]
    assert elf, sorted(theirs)
    assert ours[elf[0]] == theirs[elf[0]]
    links = [name for name, to in ours.items() if isinstance(to, str)]
    assert all((caches[0] / name).is_dir() for name in links)
    listed = tally('buildid-list', '-i', tmp_path / 'perf.data', check=0).stdout.split()[::2]
    assert elf[0].split('/')[-2] in listed


@pytest.mark.parametrize('option', ['-N', '-B'])
def test_record_leaves_the_cache_alone(tally, live, workload, tmp_path, caches, option):
    tally('--buildid-dir', caches[0], 'record', '-q', option, '-e', 'cpu-clock:u', '-o', tmp_path / 'perf.data', '--',
          workload('spin').path, 100, check=0)
    assert not caches[0].exists()


def test_record_is_good_where_the_cache_cannot_be(tally, live, workload, tmp_path):
    (tmp_path / 'file').write_text('')
    result = tally('--buildid-dir', tmp_path / 'file' / 'cache', 'record', '-q', '-e', 'cpu-clock:u', '-o',
                   tmp_path / 'perf.data', '--', workload('spin').path, 100, check=0)
    assert result.stderr == ''


def test_cached_kernel_symbols_name_a_report(tally, live, workload, tmp_path, caches):
    path = tmp_path / 'perf.data'
    tally('--buildid-dir', caches[0], 'record', '-q', '-e', 'cpu-clock', '-F', '5000', '-o', path, '--',
          workload('forks').path, check=0)
    if 'kernel.kallsyms' not in str(list(tree(caches[0]))):
        pytest.skip('the kernel hides its addresses, or was not hit')
    report = tally('--buildid-dir', caches[0], 'report', '--stdio', '-i', path, check=0).stdout
    assert report == tally('--buildid-dir', caches[1], 'report', '--stdio', '-i', path, check=0).stdout


def test_record_keeps_the_cache_below_its_cap(tally, live, workload, tmp_path):
    def held():
        files = [path.lstat() for path in (tmp_path / '.debug').rglob('*') if path.is_file() and not path.is_symlink()]
        return sum(status.st_size for status in files if status.st_nlink == 1)

    command = ['record', '-q', '-e', 'cpu-clock', '-o', tmp_path / 'data', '--', workload('spin').path, '100']
    cache = tmp_path / '.debug' / 'old' / 'file' / ('ab' * 20)
    cache.mkdir(parents=True)
    (cache / 'elf').write_bytes(b'x' * 100000)
    links = tmp_path / '.debug' / '.build-id' / 'ab'
    links.mkdir(parents=True)
    (links / ('ab' * 19)).symlink_to(f'../../old/file/{"ab" * 20}')
    tally(*command, check=0)
    assert held() >= 100000
    tally(*command, check=0, env={'TALLY_BUILDID_CACHE_MAX': '50K'})
    assert held() <= 50 << 10
    assert not (cache / 'elf').exists()


def test_the_lists_of_the_cache_as_json(tally, tmp_path, caches):
    files = ','.join(str(build(tmp_path, f'program-{kind}', kind)) for kind in ('sha1', 'md5'))
    words = ('--buildid-dir', caches[0], 'buildid-cache')
    tally(*words, '-a', files, check=0)
    document = json.loads(tally(*words, '-l', '-M', CORPUS / 'deep.data', '--json', check=0).stdout)
    json_schema.check(document, json.loads((ROOT / 'docs' / 'schema' / 'buildid-cache.json').read_text(encoding='utf-8')))
    for name, option in (('files', ('-l',)), ('missing', ('-M', CORPUS / 'deep.data'))):
        rows = [f"{row['build_id']} {row['name']}" for row in document[name]]
        assert rows and rows == tally(*words, *option, check=0).stdout.splitlines()
        assert json.loads(tally(*words, *option, '--json', check=0).stdout) == {'schema': 1, name: document[name]}
    assert '--json is for the lists' in tally(*words, '--json', '-a', files, check=129).stderr


@pytest.mark.parametrize('call', ['getdents64', 'readlinkat'])
def test_a_cache_that_cannot_be_read_is_not_empty(tally, tmp_path, caches, call):
    words = ('--buildid-dir', caches[0], 'buildid-cache')
    tally(*words, '-a', build(tmp_path, 'program', 'sha1'), check=0)
    assert tally(*words, '-l', check=0).stdout.count('\n') == 1
    tally.prefix = [denying(tmp_path, call)]
    result = tally(*words, '-l', check=255)
    assert result.stdout == '' and 'Operation not permitted; entries and folders that are left out: 1\n' in result.stderr
