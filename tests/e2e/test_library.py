# SPDX-License-Identifier: Apache-2.0
"""libtally.so shows only what include/tally declares, and an installed copy can be built against."""
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, ROOT, TIMEOUT_S

LIBRARY = BUILD / 'src' / 'libtally.so'


@pytest.fixture
def exported():
    if not shutil.which('nm'):
        pytest.skip('nm is not installed')
    output = subprocess.run(['nm', '-D', '--defined-only', LIBRARY], text=True, capture_output=True, check=True).stdout
    versioned = [line.split()[-1].split('@') for line in output.splitlines() if line.split()[-2] != 'A']
    return {words[0]: words[-1] for words in versioned}


def declared():
    names = set()
    for header in (ROOT / 'include' / 'tally').glob('*.h'):
        text = re.sub(r'/\*.*?\*/|^\s*#(?:[^\n\\]|\\.|\\\n)*', '', header.read_text(), flags=re.S | re.M)
        for statement in text.split(';'):
            if re.search(r'\bTALLY_API\b', statement):
                names.add(re.search(r'\b(tally_\w+)\s*\(', statement)[1])
    return names


def test_every_export_is_declared(exported):
    assert sorted(set(exported) - declared()) == []


def test_every_declaration_is_exported(exported):
    assert sorted(declared() - set(exported)) == []


def test_every_export_has_a_version(exported):
    assert {version.split('_')[0] for version in exported.values()} == {'TALLY'}


def readelf(*options):
    if not shutil.which('readelf'):
        pytest.skip('readelf is not installed')
    return subprocess.run(['readelf', '-W', *options, LIBRARY], text=True, capture_output=True, check=True).stdout


def test_the_library_needs_few_others():
    """What reads ELF files and their packed sections; no disassembler, database or DWARF library."""
    needed = {name.split('.so')[0] for name in re.findall(r'\(NEEDED\).*\[(.*)\]', readelf('-d'))}
    system = {'libc', 'libm', 'libpthread', 'libdl', 'libgcc_s', 'ld-linux-x86-64', 'ld-linux-aarch64'}
    assert sorted(needed - system - {'libelf', 'libz', 'libzstd', 'liblzma', 'libdeflate'}) == []


def test_the_library_holds_no_reports():
    """Its objects come from the folders below; of `code` it takes what reads names, not instructions, types and stacks."""
    allowed = ['base', 'arch', 'abi', 'kernel', 'object', 'code/binaries', 'code/demangle', 'code/symbols', 'code']
    folders = {}
    for source in (ROOT / 'src').rglob('*.c'):
        folders.setdefault(source.name, []).append(str(source.parent.relative_to(ROOT / 'src')))
    linked = set(re.findall(r' FILE .* (\S+\.c)$', readelf('-s'), re.M))
    if not linked:
        pytest.skip('libtally.so is stripped')
    assert {'tally_counter.c', 'tally_symbols.c'} <= linked
    strange = {name: folders[name] for name in linked & set(folders)
               if not any(folder in allowed or folder.split('/')[0] in allowed[:5] for folder in folders[name])}
    assert strange == {}


@pytest.fixture(scope='session')
def installed(made):
    """The root of a copy put there by `meson install` with DESTDIR; once, as two at a time would write one log."""

    def install(folder):
        result = subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild'], text=True, capture_output=True,
                                env={**os.environ, 'DESTDIR': str(folder / 'root')}, check=False)
        assert result.returncode == 0, result.stdout + result.stderr

    return made('installed', install) / 'root'


def find_one(root, name):
    found = sorted(root.rglob(name))
    assert len(found) == 1, f'{name}: {found}'
    return found[0]


def test_installed_files(installed):
    assert os.access(find_one(installed, 'bin/tally'), os.X_OK)
    assert find_one(installed, 'include/tally/status.h').is_file()
    assert find_one(installed, 'libtally.so').resolve().name.startswith('libtally.so.')


def test_installed_pages_and_completions(installed, tally):
    verbs = re.findall(r'^ {3}([a-z][a-z0-9-]*) {2,}', tally('help').stdout, re.M)
    pages = sorted(path.name for path in installed.rglob('man1/*.1'))
    assert 'record' in verbs and pages == sorted(['tally.1'] + [f'tally-{verb}.1' for verb in verbs])
    for page in installed.rglob('man1/*.1'):
        text = page.read_text()
        assert text.startswith('.TH TALLY') and '.SH SYNOPSIS' in text
    for verb in verbs:
        assert verb in find_one(installed, 'completions/tally').read_text()


def test_packages_have_all_that_is_installed(installed):
    """A list of debian/ has each file; what debian/rules and the documents' own lists add apart."""
    lists = [*(ROOT / 'debian').glob('*.install'), ROOT / 'debian/not-installed']
    patterns = ['usr/libexec/tally', *(line.split()[0] for file in lists for line in file.read_text().splitlines())]
    prefix = find_one(installed, 'bin/tally').parents[1]
    # As Debian installs it, whatever the prefix of this build.
    names = [f'usr/{path.relative_to(prefix)}' for path in prefix.rglob('*') if path.is_symlink() or path.is_file()]
    names = [re.sub(r'^usr/lib/(?=libtally|pkgconfig)', 'usr/lib/any/', name) for name in names]
    lacking = [name for name in names if not any(
        fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, f'{pattern}/*') for pattern in patterns)]
    idle = [pattern for pattern in patterns[1:] if not any(
        fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, f'{pattern}/*') for name in names)]
    assert (lacking, idle) == ([], [])


@pytest.mark.parametrize('words', [[], ['env', 'LC_ALL=C', BUILD / 'src' / 'cli' / 'tally']], ids=['none', 'wrapper'])
def test_a_cross_build_installs_what_it_can(tmp_path, words):
    """The program of another machine runs by a wrapper, or writes no pages."""
    subprocess.run([ROOT / 'tools' / 'install-generated', *words], check=True, cwd=tmp_path,
                   env={**os.environ, 'MESON_INSTALL_DESTDIR_PREFIX': str(tmp_path / 'a prefix')})
    share = tmp_path / 'a prefix' / 'share'
    assert (share / 'man/man3/libtally.3').is_file()
    assert (share / 'man/man1/tally-record.1').exists() == bool(words)
    assert (share / 'fish/vendor_completions.d/tally.fish').exists() == bool(words)


def test_installed_pages_of_the_library(installed):
    folder = find_one(installed, 'man3')
    pages = {page.name: page.read_text() for page in folder.iterdir()}
    assert sorted(name for name in declared() if f'{name}.3' not in pages) == []
    for header in (ROOT / 'include' / 'tally').glob('*.h'):
        assert f'.BR tally_{header.stem} (3)' in pages['libtally.3']
    for name, text in pages.items():
        link = re.fullmatch(r'\.so man3/(\S+)\n', text)
        assert (link and link[1] in pages) or text.startswith(f'.TH {name.removesuffix(".3").upper()} 3'), name
    for name in declared():  # each says which threads may call it
        page = pages[f'{name}.3']
        page = pages[page.split('/')[1].strip()] if page.startswith('.so') else page
        assert f'.BR {name} ()' in page.split('.SH ATTRIBUTES')[1], name


def test_pages_of_the_library_are_valid(installed):
    if not shutil.which('groff'):
        pytest.skip('groff is not installed')
    for page in find_one(installed, 'man3').glob('*.3'):
        if not page.read_text().startswith('.so'):
            result = subprocess.run(['groff', '-man', '-Tutf8', '-ww', '-z', page], text=True, capture_output=True,
                                    check=False)
            assert (result.returncode, result.stderr) == (0, ''), page.name


@pytest.mark.parametrize('shell, name, check', [
    ('bash', 'completions/tally', ['bash', '-n']),
    ('zsh', 'site-functions/_tally', ['zsh', '-n']),
    ('fish', 'vendor_completions.d/tally.fish', ['fish', '-n']),
])
def test_installed_completion_is_valid(installed, shell, name, check):
    if not shutil.which(shell):
        pytest.skip(f'{shell} is not installed')
    result = subprocess.run([*check, find_one(installed, name)], text=True, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, '')


class Consumer:
    """Builds programs against the installed copy, as its pkg-config file says, and runs them on it."""

    def __init__(self, root):
        for tool in ('pkg-config', 'cc', 'c++'):
            if not shutil.which(tool):
                pytest.skip(f'{tool} is not installed')
        folder = find_one(root, 'tally.pc').parent
        environment = {**os.environ, 'PKG_CONFIG_PATH': str(folder), 'PKG_CONFIG_SYSROOT_DIR': str(root)}
        self.flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'tally'], env=environment, text=True,
                                    capture_output=True, check=True).stdout.split()
        self.environment = {**os.environ, 'LD_LIBRARY_PATH': str(find_one(root, 'libtally.so').parent)}

    def build(self, source, program, compiler=('cc', '-std=gnu11')):
        result = subprocess.run([*compiler, '-Wall', '-Wextra', '-Werror', '-O1', '-pthread', '-o', program, source,
                                 *self.flags], text=True, capture_output=True, check=False)
        assert result.returncode == 0, result.stderr
        return program

    def run(self, *command, timeout=TIMEOUT_S):
        return subprocess.run([str(word) for word in command], env=self.environment, text=True, capture_output=True,
                              timeout=timeout, check=False)


@pytest.fixture(scope='session')
def consumer(installed):
    return Consumer(installed)


def test_a_program_builds_against_the_installed_copy(consumer, tmp_path):
    program = tmp_path / 'program.c'
    headers = sorted(header.name for header in (ROOT / 'include' / 'tally').glob('*.h'))
    program.write_text(''.join(f'#include <tally/{name}>\n' for name in headers) +
                       'int main(void)\n{\n\treturn TALLY_OK;\n}\n')
    assert consumer.run(consumer.build(program, tmp_path / 'program')).returncode == 0


@pytest.mark.parametrize('compiler', ['cc -std=c99', 'cc -std=c11', 'cc -std=c17', 'c++ -std=c++11'])
def test_each_header_stands_alone(consumer, tmp_path, compiler):
    """In strict C and C++, and without -pthread, which would let more of the C library's names in."""
    command, standard = compiler.split()
    for header in (ROOT / 'include' / 'tally').glob('*.h'):
        (tmp_path / f'{header.stem}.{"cc" if command == "c++" else "c"}').write_text(f'#include <tally/{header.name}>\n')
    result = subprocess.run([command, standard, '-pedantic', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', *tmp_path.iterdir(),
                             *consumer.flags], text=True, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_examples_are_installed(installed):
    """They are built below."""
    for source in (ROOT / 'examples').glob('*.c'):
        assert find_one(installed, f'doc/tally/examples/{source.name}').read_text() == source.read_text()


def test_a_cxx_program_builds_and_counts(consumer, tmp_path):
    program = consumer.build(ROOT / 'tests' / 'library' / 'consumer.cc', tmp_path / 'consumer',
                             ('c++', '-std=c++11', '-pedantic', '-fno-exceptions'))
    result = consumer.run(program)
    assert (result.returncode, result.stderr) == (0, '')
    assert re.fullmatch(r'page-faults:u \d+\nregion \d+\nsamples \d+\n', result.stdout)


def test_the_pkg_config_file_is_true(consumer, installed):
    folder = find_one(installed, 'tally.pc').parent
    environment = {**os.environ, 'PKG_CONFIG_PATH': str(folder)}
    version = subprocess.run(['pkg-config', '--modversion', 'tally'], env=environment, text=True, capture_output=True,
                             check=True).stdout.strip()
    assert find_one(installed, 'libtally.so').resolve().name == f'libtally.so.{version}'
    assert any(flag.startswith('-ltally') for flag in consumer.flags)


EXAMPLES = {
    'two_lines': ([], r'Current count: \d+ \S+\n'),
    'printf_instructions': ([], r'Measuring instruction count for this printf\nUsed \d+ .*\n'),
    'branch_ratio': (['1000'], r'(no branch counts: .*\n)?\d+ / \d+ .*\n500\n'),
    'lbr_sampler': (['1000000'], r'(?s).*\d+ samples of \S+, \d+ lost\n500000\n'),
    'monitor': (['-e', 'cpu-clock:u', '-n', '0', '1'], None),
    'regions': ([], r'(?s)sorting .*'),
}


def test_every_example_is_here():
    assert sorted(EXAMPLES) == sorted(path.stem for path in (ROOT / 'examples').glob('*.c'))


@pytest.mark.parametrize('name', sorted(EXAMPLES))
def test_an_example_is_built_from_the_installed_copy(consumer, installed, tmp_path, name):
    arguments, expected = EXAMPLES[name]
    program = consumer.build(find_one(installed, f'doc/tally/examples/{name}.c'), tmp_path / name)
    if expected:
        result = consumer.run(program, *arguments)
        assert (result.returncode, result.stderr) == (0, '')
        assert re.fullmatch(expected, result.stdout), result.stdout


CHECKS = [(path.stem, name + suffix) for path in sorted((ROOT / 'tests' / 'library').glob('*.c'))
          for both, name in re.findall(r'^CHECK(_BOTH)?\((\w+)\)', path.read_text(), re.M)
          for suffix in (['', '_by_tracepoints'] if both else [''])]


@pytest.fixture(scope='session')
def check_programs(consumer, made):
    stems = {stem for stem, _ in CHECKS}

    def build(folder):
        for stem in stems:
            consumer.build(ROOT / 'tests' / 'library' / f'{stem}.c', folder / stem)

    folder = made('library-checks', build)
    return {stem: folder / stem for stem in stems}


@pytest.mark.parametrize('stem, name', CHECKS, ids=[f'{stem}-{name}' for stem, name in CHECKS])
def test_installed_library(consumer, check_programs, stem, name):
    result = consumer.run(check_programs[stem], name)
    if result.returncode == 77:
        pytest.skip(result.stderr.strip())
    assert (result.returncode, result.stderr) == (0, '')


@pytest.mark.long
def test_a_build_without_tests_needs_no_test_library(tmp_path):
    """Configured where pkg-config knows neither cmocka nor libdw: the tests are off, and Meson says why."""
    if not shutil.which('pkg-config'):
        pytest.skip('pkg-config is not installed')
    folders = subprocess.run(['pkg-config', '--variable', 'pc_path', 'pkg-config'], text=True, capture_output=True,
                             check=True).stdout.strip().split(':')
    known = tmp_path / 'pkgconfig'
    known.mkdir()
    for folder in folders:
        for file in pathlib.Path(folder).glob('*.pc'):
            if file.name not in ('cmocka.pc', 'libdw.pc') and not (known / file.name).exists():
                (known / file.name).symlink_to(file)
    build = tmp_path / 'build'
    result = subprocess.run(['meson', 'setup', build, ROOT], text=True, capture_output=True, check=False,
                            env={**os.environ, 'PKG_CONFIG_LIBDIR': str(known)})
    assert result.returncode == 0, result.stdout
    assert 'the tests and the fuzz targets are not built, because cmocka is not installed' in result.stdout
    targets = {target['name'] for target in json.loads((build / 'meson-info/intro-targets.json').read_text())}
    assert 'tally' in targets and not {name for name in targets if name.startswith(('test_', 'fuzz_'))}
