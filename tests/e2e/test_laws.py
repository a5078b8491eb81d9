# SPDX-License-Identifier: Apache-2.0
"""tests/laws on recordings and on random programs: what must hold for each, in every view.

A case is one recording, and its failure names each law that does not hold. `tests/laws/run.py --seeds N-N --ways WAY --keep
FOLDER` shows a seed again, with the recording and the program's own truth.
"""
import os
import random
import sys

import pytest

from conftest import CORPUS, ROOT, SHARED, need_data

sys.path.insert(0, str(ROOT / 'tests' / 'laws'))

import ways

# Laws that are known not to hold yet, by the beginning of the way; whoever mends one deletes its line.
OPEN = {'timechart_fits': 'wall'}
# Seeds that once showed a fault.
FOUND = []
NEED_ROOT = ('bpf', 'wall-bpf', 'wall-tracepoints', 'trace')
LONG_SEEDS = int(os.environ.get('TALLY_LAWS_SEEDS') or 100)


def judge(results, way=''):
    """Fails for what is broken; what is only known to be is no failure, and no success."""
    broken = [(name, text) for name, text in results if text and not text.startswith('- ')]
    unknown = [text for name, text in broken if not way.startswith(OPEN.get(name, '-'))]
    assert not unknown, '\n'.join(unknown)
    if broken:
        pytest.xfail(broken[0][1])
    assert any(text is None for _, text in results), 'no law applies'


@pytest.mark.always
@pytest.mark.parametrize('name', sorted(path.stem for path in CORPUS.glob('*.data')))
def test_recordings(tally, tmp_path, name):
    results = ways.check_recording(tally, CORPUS / f'{name}.data', tmp_path, forms=1, thorough=False)
    if all(text and text.startswith('- ') for _, text in results):
        pytest.skip(results[0][1][2:])
    judge(results)


def check_seed(tally, tmp_path, seed, way):
    if way in NEED_ROOT and os.geteuid() != 0:
        pytest.skip(f'{way} needs root')
    judge(ways.check_seed(tally, seed, way, tmp_path, forms=1, thorough=False), way)


@pytest.mark.always
@pytest.mark.parametrize('seed', range(1, 21))
def test_random_programs(live, system_wide, tally, tmp_path, seed):
    check_seed(tally, tmp_path, seed, ways.of_seed(seed)[0])


@pytest.mark.parametrize('seed, way', FOUND)
def test_found(live, system_wide, tally, tmp_path, seed, way):
    check_seed(tally, tmp_path, seed, way)


def other_seeds():
    """Other ones each time, said by their case's name; $TALLY_LAWS_FIRST_SEED repeats a run."""
    first = int(os.environ.get('TALLY_LAWS_FIRST_SEED') or 0)
    # All workers of xdist must collect the same cases: the parent of all is the same process.
    first = first or random.Random(os.environ.get('PYTEST_XDIST_TESTRUNUID') or os.getpid()).randrange(10**6, 10**9)
    return range(first, first + LONG_SEEDS)


@pytest.mark.long
@pytest.mark.seeds
@pytest.mark.parametrize('number', range(LONG_SEEDS))
def test_other_seeds(live, system_wide, tally, tmp_path, number):
    seed = other_seeds()[number]
    print(f'seed {seed}')
    for way in ways.of_seed(seed):
        folder = tmp_path / way
        folder.mkdir()
        check_seed(tally, folder, seed, way)


def shared_files():
    return sorted(path.relative_to(SHARED) for folder in ('corpus/files', 'perf-golden/data') for path in (SHARED / folder).rglob('*')
                  if path.is_file()) if SHARED else []


@pytest.mark.data
@pytest.mark.long
@pytest.mark.seeds
@pytest.mark.parametrize('path', shared_files() or ['corpus'], ids=str)
def test_recordings_of_others(tally, tmp_path, path):
    results = ways.check_recording(tally, need_data(path), tmp_path, forms=3, thorough=True)
    if all(text and text.startswith('- ') for _, text in results):
        pytest.skip(results[0][1][2:])
    judge(results)
