"""pack: a recording that names everything in a root with nothing in it, with the bytes that it gives at home."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from test_inline import build

FIELDS = 'comm,ip,sym,symoff,dso,srcline'
VIEWS = [
    ['report', '--stdio'],
    ['report', '--stdio', '--children', '-g', '-s', 'comm,dso,sym'],
    ['report', '--stdio', '--no-children', '-g', 'address', '-s', 'sym'],
    ['report', '--stdio', '--no-children', '-s', 'srcline,sym,dso'],
    ['report', '--json'],
    ['script'],
    ['script', '-F', FIELDS],
]
LISTINGS = [['annotate', '--stdio'], ['annotate', '--stdio2'], ['annotate', '--stdio', '-l'], ['annotate', '--json'],
            ['annotate', '--stdio', '-M', 'intel']]


class Root:
    """A root with the program under test, the libraries that it needs, and nothing else."""

    def __init__(self, folder, program):
        listed = subprocess.run(['ldd', program], capture_output=True, text=True, check=False).stdout
        libraries = re.findall(r'(/\S+)', listed)
        loader = [path for path in libraries if '/ld-' in path or '/ld64' in path]
        if os.geteuid() != 0 or not shutil.which('chroot') or not loader:
            pytest.skip('needs root, chroot and ldd')
        self.folder = folder
        (folder / 't').mkdir(parents=True)
        for path in [program, *libraries]:
            shutil.copy(path, folder / 't')
        self.start = ['chroot', folder, f'/t/{pathlib.Path(loader[0]).name}', '--library-path', '/t',
                      f'/t/{program.name}']

    def __call__(self, *arguments, data):
        shutil.copy(data, self.folder / 'in.data')
        environment = {'PATH': os.environ['PATH'], 'HOME': '/nowhere', 'LC_ALL': 'C', 'TZ': 'UTC', 'COLUMNS': '80',
                       'TERM': 'dumb'}
        return subprocess.run([*self.start, *arguments, '-i', 'in.data'], capture_output=True, text=True,
                              errors='replace', env=environment, cwd='/', timeout=60, check=False)


@pytest.fixture
def elsewhere(tmp_path, tally):
    return Root(tmp_path / 'root', tally.path)


@pytest.fixture
def recorded(tmp_path, live, tally):
    """A folder with in.data, of a program with inlined calls that lies in it; the kernel's part too where that is allowed."""
    program = build(tmp_path, '-g')
    tally('record', '-q', '-g', '-e', 'cpu-clock', '-F', 2000, '-o', tmp_path / 'in.data', program, check=0)
    return tmp_path


def seen(result):
    return result.returncode, result.stdout, result.stderr


def test_same_bytes_in_an_empty_root(recorded, tally, elsewhere):
    at_home = [seen(tally(*view, '-i', 'in.data', cwd=recorded)) for view in VIEWS]
    bare = elsewhere('report', '--stdio', data=recorded / 'in.data')
    result = tally('pack', 'in.data', cwd=recorded, check=0)
    assert re.search(r'\[ tally pack: \d+ symbols and \d+ source lines of \d+ files', result.stderr)
    (recorded / 'program').rename(recorded / 'moved')
    for view, expected in zip(VIEWS, at_home):
        assert expected[0] == 0
        assert seen(elsewhere(*view, data=recorded / 'in.data')) == expected, view
        assert seen(tally(*view, '-i', 'in.data', cwd=recorded)) == expected, view
    assert 'outer' in at_home[0][1] and 'outer' not in bare.stdout
    assert '(inlined)' in at_home[1][1] and re.search(r'program\.c:\d+', at_home[3][1])


def test_code_of_what_was_hit(recorded, tally, elsewhere):
    (recorded / 'program.c').unlink()
    at_home = [seen(tally(*view, '-s', 'outer', '-i', 'in.data', cwd=recorded)) for view in LISTINGS]
    result = tally('pack', 'in.data', cwd=recorded, check=0)
    assert re.search(r'code of [1-9]\d* functions', result.stderr)
    (recorded / 'program').rename(recorded / 'moved')
    for view, expected in zip(LISTINGS, at_home):
        assert 'imul' in expected[1] and expected[0] == 0
        assert seen(elsewhere(*view, '-s', 'outer', data=recorded / 'in.data')) == expected, view


def test_output_and_packing_twice(recorded, tally, elsewhere):
    before = (recorded / 'in.data').read_bytes()
    tally('pack', '-q', '-o', 'once.data', 'in.data', cwd=recorded, check=0)
    assert (recorded / 'in.data').read_bytes() == before
    (recorded / 'program').rename(recorded / 'moved')
    tally('pack', '-q', '-o', 'twice.data', 'once.data', cwd=recorded, check=0)
    assert (recorded / 'twice.data').read_bytes() == (recorded / 'once.data').read_bytes()
    assert 'outer' in elsewhere('report', '--stdio', data=recorded / 'twice.data').stdout


@pytest.mark.parametrize('verb', [['report', '--stdio'], ['script'], ['evlist', '-v'], ['buildid-list']],
                         ids=lambda verb: verb[0])
def test_perf_reads_it_as_before(recorded, tally, perf, verb):
    newest = pathlib.Path('/opt/newest-perf/perf')
    shutil.copy(recorded / 'in.data', recorded / 'plain.data')
    tally('pack', '-q', '-o', 'packed.data', 'in.data', cwd=recorded, check=0)
    for program in [perf.path, *([newest] if newest.exists() else [])]:
        shown = []
        for name in ('plain.data', 'packed.data'):
            shutil.copy(recorded / name, recorded / 'in.data')
            result = subprocess.run([program, *verb, '-i', 'in.data'], cwd=recorded, env=perf.environment, text=True,
                                    capture_output=True, errors='replace', timeout=60, check=False)
            lines = [line for line in result.stdout.splitlines() if not line.startswith('# (')]
            shown.append((result.returncode, lines, result.stderr))
        assert shown[0] == shown[1]


def test_damage_is_told_and_costs_the_names_only(recorded, tally, elsewhere):
    tally('pack', '-q', 'in.data', cwd=recorded, check=0)
    data = bytearray((recorded / 'in.data').read_bytes())
    data[data.index(b'TALLYPCK') + 60] ^= 1
    (recorded / 'in.data').write_bytes(data)
    result = elsewhere('report', '--stdio', data=recorded / 'in.data')
    assert result.returncode == 0
    assert 'cannot be used: its checksum is wrong' in result.stderr
    assert 'outer' not in result.stdout


def test_record_packs_at_the_end(recorded, tally, elsewhere):
    result = tally('record', '--self-contained', '-g', '-e', 'cpu-clock:u', '-o', 'own.data', './program', cwd=recorded,
                   check=0)
    assert 'tally pack: ' in result.stderr
    shutil.copy(recorded / 'own.data', recorded / 'in.data')
    expected = seen(tally(*VIEWS[1], '-i', 'in.data', cwd=recorded))
    assert 'outer' in expected[1]
    assert seen(elsewhere(*VIEWS[1], data=recorded / 'own.data')) == expected
    for option in (['--threads'], ['--switch-output'], ['-o', '-'], ['--call-graph', 'dwarf', '--keep-stacks']):
        refused = tally('record', '--self-contained', '-o', 'other.data', *option, './program', cwd=recorded)
        assert refused.returncode and 'not supported yet' in refused.stderr


def test_the_section_has_a_name(recorded, tally):
    tally('pack', '-q', 'in.data', cwd=recorded, check=0)
    assert '# tally feature PACK: ' in tally('report', '--header-only', '-i', 'in.data', cwd=recorded).stdout
    assert 'unknown features' not in tally('health', 'in.data', cwd=recorded).stdout


def test_user_named_files_go_first(recorded, tally):
    tally('pack', '-q', 'in.data', cwd=recorded, check=0)
    (recorded / 'list').write_text('ffffffff81000000 T _text\nffffffff81000001 T all_of_it\n')
    result = tally('report', '--stdio', '-v', '--kallsyms', 'list', '-i', 'in.data', cwd=recorded, check=0)
    assert 'outer' in result.stdout


def test_what_cannot_be_packed_is_refused(tmp_path, live, tally, perf, workload):
    result = perf('record', '-q', '-e', 'cpu-clock:u', '--call-graph', 'dwarf', '-o', tmp_path / 'in.data', '--',
                  workload('deep').path, '100')
    if result.returncode:
        pytest.skip('perf record fails here')
    before = (tmp_path / 'in.data').read_bytes()
    result = tally('pack', tmp_path / 'in.data', check=255)
    assert 'not supported yet: packing copies of stacks' in result.stderr
    assert (tmp_path / 'in.data').read_bytes() == before
    assert 'not supported yet' in tally('pack', '--scrub', tmp_path / 'in.data', check=129).stderr
