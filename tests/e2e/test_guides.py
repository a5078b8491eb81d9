# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/guide are run: each page is a script, whose blocks run one after the other in one folder."""
import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

GUIDES = sorted((ROOT / 'docs' / 'guide').glob('*.md'))
BLOCK = re.compile(r'^```sh( root)?\n(.*?)^```$', re.M | re.S)
PROGRAM = re.compile(r'^\s*(?:[\w]+=\S+ )?(cc|c\+\+|gzip|python3|perl)\b', re.M)
SECONDS = 300


def page_script(page):
    """The page's blocks as one script, and whether it needs root."""
    blocks = BLOCK.findall(page.read_text())
    return 'set -euo pipefail\n' + ''.join(text for _, text in blocks), any(root for root, _ in blocks)


def test_there_is_a_page_for_each_job():
    assert {page.stem for page in GUIDES} == {'compare', 'containers', 'cpp', 'jit', 'kernel', 'sharing', 'waiting'}
    for page in GUIDES:
        assert len(BLOCK.findall(page.read_text())) >= 3, page


@pytest.mark.parametrize('page', GUIDES, ids=lambda page: page.stem)
def test_its_commands_work(page, tally, live, tmp_path):
    script, needs_root = page_script(page)
    if needs_root and os.geteuid() != 0:
        pytest.skip('the page is about the whole machine, which takes root')
    if needs_root and not os.path.exists('/sys/kernel/tracing/events/sched'):
        pytest.skip('tracefs is not mounted')
    if '--wall' in script:
        tried = tally('record', '--off-cpu', '-e', 'dummy', '-o', tmp_path / 'try.data', '--', 'true', check=None)
        if tried.returncode != 0:
            pytest.skip(f'waits cannot be measured here: {tried.stderr.strip().splitlines()[-1]}')
    for needed in {'bash', *PROGRAM.findall(script), *(['perl'] if '/usr/bin/perl' in script else [])}:
        if not shutil.which(needed):
            pytest.skip(f'{needed} is not installed')
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin' / 'tally').symlink_to(tally.path)
    environment = {**tally.environment, 'PATH': f'{tmp_path}/bin:{os.environ["PATH"]}', 'HOME': str(tmp_path)}
    with (tmp_path / 'shown').open('w') as shown:  # a pipe would get the recording, as from perf
        ran = subprocess.run(['bash', '-x', '-c', script], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=shown,
                             stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    assert ran.returncode == 0, (tmp_path / 'shown').read_text(errors='replace')[-4000:]
