# SPDX-License-Identifier: Apache-2.0
"""docs/extending.md, followed: its sort key is added to a copy of the sources, which is built and has the key."""
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, ROOT, TIMEOUT_S

BUILD_S = 1200


@pytest.fixture
def copied(tmp_path):
    """Sources and build folder with their times: ninja builds only what changes from there on."""
    if not shutil.which('ninja') or not shutil.which('git'):
        pytest.skip('ninja or git is not installed')
    if BUILD.parent != ROOT or not (BUILD / 'build.ninja').exists():
        pytest.skip('the program was not built by ninja inside the sources')
    folder = tmp_path / 'tally'

    def of_no_use(path, names):
        return [name for name in names if name in ('.git', 'corpus') or (path == str(ROOT) and name.startswith('build'))]

    shutil.copytree(ROOT, folder, ignore=of_no_use, symlinks=True)
    libraries = shutil.ignore_patterns('unit', 'robustness', 'live', 'library', 'fuzz', 'demo', 'deb', 'static', '*.data')
    shutil.copytree(BUILD, folder / BUILD.name, ignore=libraries, symlinks=True)
    return folder


def example():
    return re.search(r'```diff\n(.*?)```', (ROOT / 'docs' / 'extending.md').read_text(), re.S).group(1)


def test_every_path_of_the_page_exists():
    page = (ROOT / 'docs' / 'extending.md').read_text()
    named = {path for path in re.findall(r'`((?:src|tests|tools|docs|include)/[\w./-]+)`', page) if 'NAME' not in path}
    assert len(named) > 15
    assert not [path for path in named if not (ROOT / path).exists()]


@pytest.mark.skipif(not shutil.which('git'), reason='git is not installed')
def test_the_example_applies():
    subprocess.run(['git', 'apply', '--check', '-'], input=example(), text=True, check=True, cwd=ROOT, timeout=TIMEOUT_S)


@pytest.mark.long  # it builds the program
@pytest.mark.alone
def test_the_sort_key_can_be_added(copied, tally, workload, live, tmp_path):
    subprocess.run(['git', 'apply', '-'], input=example(), text=True, check=True, cwd=copied, timeout=TIMEOUT_S)
    built = subprocess.run(['ninja', '-C', copied / BUILD.name, 'src/cli/tally'], text=True, capture_output=True,
                           check=False, timeout=BUILD_S)
    assert built.returncode == 0, built.stdout[-3000:]
    tally('record', '-e', 'cpu-clock:u', '-o', tmp_path / 'x.data', '--', workload('spin').path, '300', check=0)
    options = ['report', '--stdio', '-i', tmp_path / 'x.data', '-s', 'addr_page', '-g', 'none']
    assert 'Unknown --sort key: `addr_page' in tally(*options).stderr
    tally.path = copied / BUILD.name / 'src' / 'cli' / 'tally'
    pages = re.findall(r'^ +[0-9.]+% +(0x[0-9a-f]+)', tally(*options, check=0).stdout, re.M)
    assert pages and all(int(page, 16) % 4096 == 0 for page in pages)
