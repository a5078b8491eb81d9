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
