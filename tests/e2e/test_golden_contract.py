# SPDX-License-Identifier: Apache-2.0
"""The program against what perf printed: the score per group is kept, and the named cases must be the same."""
import re
import subprocess
import sys

import pytest
from conftest import BUILD, GOLDEN, normalise_numbers

NAMED = [line for line in (GOLDEN / 'contract-min.txt').read_text().split('\n') if line and not line.startswith('#')]

# Made with names of the kernel that ran, or of it: the same only where that kernel runs.
OF_THE_KERNEL = {'report-kg', 'script-k', 'misc-bidlistk'}


@pytest.fixture(scope='module')
def scores(tmp_path_factory, golden_place, shared):
    checker = shared / 'perf-golden' / 'check.py'
    if not checker.exists():
        pytest.skip('TALLY_TEST_DATA/perf-golden is absent')
    table = tmp_path_factory.mktemp('golden') / 'scores.tsv'
    # err-nowork counts the whole machine until its time-out of 45 s.
    result = subprocess.run([*golden_place, sys.executable, checker, BUILD / 'src' / 'cli' / 'tally', '-c', 'contract',
                             '-m', '^(?!err-nowork$)', '-o', table], text=True,
                            capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=1200)
    assert result.returncode == 0, result.stderr
    (BUILD / 'golden-score.txt').write_text(result.stdout)
    rows = [line.split('\t') for line in table.read_text().splitlines() if not line.startswith('#')]
    return {name: (float(score), how) for name, score, how in rows}


@pytest.mark.parametrize('name', NAMED)
def test_same_as_perf(scores, shared, tally, name):
    theirs = shared / 'perf-golden' / 'out' / 'misc-bidlistk.out'
    if name in OF_THE_KERNEL and tally('buildid-list', '-k', check=0).stdout != theirs.read_text():
        pytest.skip('another kernel than the one of the reference runs here')
    score, how = scores[name]
    assert score == 1.0, f'{name}: {how}; see tools: check.py -v -m {name}'


def shape_of_repeats(text):
    """Numbers alike, without the spread: it is left out where all runs counted the same, which is chance; and without
    the unit of rates, which is the machine's speed."""
    text = re.sub(r' ?\( \+- ?N% \)', '', normalise_numbers(text))
    return [line.strip() for line in re.sub(r'\b[KMG]?/sec', '/sec', text).splitlines()]


def test_repeats_have_the_shape_of_perf(shared, live, hardware_absent, golden_tally):
    out = shared / 'perf-golden' / 'out'
    command = (out / 'stat-r.cmd').read_text().split()
    result = golden_tally(*command[1:], check=0)
    # Called as tally, it says why hardware events are missing.
    shown = re.sub(r'^(tally: |<not (supported|counted)> ).*\n', '', result.stderr, flags=re.M)
    assert shape_of_repeats(shown) == shape_of_repeats((out / 'stat-r.err').read_text())
    assert re.search(r' elapsed +\( \+- +\d+\.\d\d% \)', result.stderr)
