"""libtally.so shows only what include/tally declares, and an installed copy can be built against."""
import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, ROOT

LIBRARY = BUILD / 'src' / 'libtally.so'


@pytest.fixture
def exported():
    if not shutil.which('nm'):
        pytest.skip('nm is not installed')
    output = subprocess.run(['nm', '-D', '--defined-only', LIBRARY], text=True, capture_output=True, check=True).stdout
    return {line.split()[-1] for line in output.splitlines()}


def declared():
    names = set()
    for header in (ROOT / 'include' / 'tally').glob('*.h'):
        text = re.sub(r'/\*.*?\*/|^\s*#(?:[^\n\\]|\\.|\\\n)*', '', header.read_text(), flags=re.S | re.M)
        for statement in text.split(';'):
            if re.search(r'\bTALLY_API\b', statement):
                names.add(re.search(r'\b(tally_\w+)\s*\(', statement)[1])
    return names


def test_every_export_is_declared(exported):
    assert sorted(exported - declared()) == []


def test_every_declaration_is_exported(exported):
    assert sorted(declared() - exported) == []


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """The root of a copy put there by `meson install` with DESTDIR."""
    destination = tmp_path_factory.mktemp('install')
    result = subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild'], text=True, capture_output=True,
                            env={**os.environ, 'DESTDIR': str(destination)}, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return destination


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
    assert 'record' in verbs and pages == sorted(f'tally-{verb}.1' for verb in verbs)
    for page in installed.rglob('man1/*.1'):
        text = page.read_text()
        assert text.startswith('.TH TALLY') and '.SH SYNOPSIS' in text
    for verb in verbs:
        assert verb in find_one(installed, 'completions/tally').read_text()


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

    def run(self, *command, timeout=60):
        return subprocess.run([str(word) for word in command], env=self.environment, text=True, capture_output=True,
                              timeout=timeout, check=False)


@pytest.fixture(scope='module')
def consumer(installed):
    return Consumer(installed)


def test_a_program_builds_against_the_installed_copy(consumer, tmp_path):
    program = tmp_path / 'program.c'
    headers = sorted(header.name for header in (ROOT / 'include' / 'tally').glob('*.h'))
    program.write_text(''.join(f'#include <tally/{name}>\n' for name in headers) +
                       'int main(void)\n{\n\treturn TALLY_OK;\n}\n')
    assert consumer.run(consumer.build(program, tmp_path / 'program')).returncode == 0


CHECKS = [(path.stem, name) for path in sorted((ROOT / 'tests' / 'library').glob('*.c'))
          for name in re.findall(r'^CHECK\((\w+)\)', path.read_text(), re.M)]


@pytest.fixture(scope='module')
def check_programs(consumer, tmp_path_factory):
    folder = tmp_path_factory.mktemp('checks')
    return {stem: consumer.build(ROOT / 'tests' / 'library' / f'{stem}.c', folder / stem)
            for stem in {stem for stem, _ in CHECKS}}


@pytest.mark.parametrize('stem, name', CHECKS, ids=[f'{stem}-{name}' for stem, name in CHECKS])
def test_installed_library(consumer, check_programs, stem, name):
    result = consumer.run(check_programs[stem], name)
    if result.returncode == 77:
        pytest.skip(result.stderr.strip())
    assert (result.returncode, result.stderr) == (0, '')
