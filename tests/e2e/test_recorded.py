# SPDX-License-Identifier: Apache-2.0
"""What tally prints of the recordings of tests/corpus is what perf 6.1 printed of them: it need not be installed here.

tests/corpus/expected/NAME.words is a command line, NAME.out what perf printed; tests/corpus/make.sh made both.
"""
import pytest

from conftest import CORPUS

EXPECTED = CORPUS / 'expected'


def lines(text):
    """Without the tip, which perf draws by lot, and without the end's empty lines."""
    return [line.rstrip() for line in text.rstrip().splitlines() if not line.startswith('# (Tip:')]


@pytest.mark.parametrize('name', sorted(path.stem for path in EXPECTED.glob('*.words')))
def test_as_perf_printed(tally, name):
    words = (EXPECTED / f'{name}.words').read_text().splitlines()
    result = tally(*words, cwd=CORPUS, check=0)
    assert lines(result.stdout or result.stderr) == lines((EXPECTED / f'{name}.out').read_text())


def test_the_corpus_is_small():
    assert len(list(EXPECTED.glob('*.words'))) > 40
    assert sum(path.stat().st_size for path in CORPUS.rglob('*') if path.is_file()) < 5e6
