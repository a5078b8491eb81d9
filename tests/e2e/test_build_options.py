# SPDX-License-Identifier: Apache-2.0
"""Code for builds without an optional library compiles, too: no build on a machine that has them all sees it."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess

import pytest
from conftest import BUILD, ROOT

CONFIG = BUILD / 'tally_config.h'


def libraries():
    return sorted(set(re.findall(r"config\.set10\('(HAVE_\w+)'", (ROOT / 'meson.build').read_text())))


@pytest.fixture(scope='module')
def commands():
    """{source: the words that compile it}, of the program's files."""
    listed = subprocess.run(['ninja', '-C', BUILD, '-t', 'compdb'], capture_output=True, text=True, check=True).stdout
    found = {}
    for entry in json.loads(listed):
        path = os.path.normpath(BUILD / entry['file'])
        if path.startswith(f'{ROOT}/src/') and path.endswith('.c') and ' -c ' in entry['command']:
            words = [word for word in shlex.split(entry['command']) if word != 'ccache']
            found[path] = words[:words.index('-o')] + ['-fsyntax-only', '-Werror', path]
    return found


@pytest.mark.long
@pytest.mark.parametrize('library', libraries())
def test_each_file_compiles_without_the_library(commands, tmp_path, library):
    config, count = re.subn(rf'^#define {library}\b.*', f'#define {library} 0', CONFIG.read_text(), flags=re.M)
    assert count == 1
    (tmp_path / CONFIG.name).write_text(config)
    files = [path for path in commands if re.search(rf'\b{library}\b', open(path, encoding='utf-8').read())]
    assert files or library == 'HAVE_GNU_STRERROR_R'

    def errors(path):
        words = commands[path]
        return subprocess.run([words[0], f'-I{tmp_path}', *words[1:]], cwd=BUILD, capture_output=True, text=True,
                              check=False).stderr

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert ''.join(pool.map(errors, files)) == ''
