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


def test_a_program_builds_against_the_installed_copy(installed, tmp_path):
    for tool in ('pkg-config', 'cc'):
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')
    folder = find_one(installed, 'tally.pc').parent
    environment = {**os.environ, 'PKG_CONFIG_PATH': str(folder), 'PKG_CONFIG_SYSROOT_DIR': str(installed)}
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'tally'], env=environment, text=True,
                           capture_output=True, check=True).stdout.split()
    program = tmp_path / 'program.c'
    headers = sorted(header.name for header in (ROOT / 'include' / 'tally').glob('*.h'))
    program.write_text(''.join(f'#include <tally/{name}>\n' for name in headers) +
                       'int main(void)\n{\n\treturn TALLY_OK;\n}\n')
    subprocess.run(['cc', '-Wall', '-Wextra', '-Werror', '-o', tmp_path / 'program', program, *flags], check=True)
    library = find_one(installed, 'libtally.so').parent
    subprocess.run([tmp_path / 'program'], env={**os.environ, 'LD_LIBRARY_PATH': str(library)}, check=True)
