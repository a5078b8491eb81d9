# SPDX-License-Identifier: Apache-2.0
"""Recordings whose samples are not from perf events say so wherever they are shown, and stay readable for perf."""
import pytest

from conftest import CORPUS
from origin_build import BY, NOT_SEEN, label

SENTENCE = f'samples are simulated, not measured ({BY}); they do not show {NOT_SEEN}'
RECORDINGS = ['deep.data', 'pipe.data', 'zstd.data']


@pytest.fixture(params=RECORDINGS)
def labelled(request, tmp_path):
    return label(CORPUS / request.param, tmp_path / request.param)


@pytest.fixture
def simulated(tmp_path):
    return label(CORPUS / 'deep.data', tmp_path / 'simulated.data')


def shown(perf, recording):
    """Without the tip, which perf 7 draws by lot."""
    out = perf('report', '--stdio', '--no-children', '-i', recording, check=0).stdout
    assert '%' in out
    return [line for line in out.splitlines() if '(Tip:' not in line]


def test_perf_reads_them_as_before(perf, labelled):
    assert shown(perf, labelled) == shown(perf, CORPUS / labelled.name)


def test_the_newest_perf_reads_them_as_before(newest_perf, labelled):
    assert shown(newest_perf, labelled) == shown(newest_perf, CORPUS / labelled.name)


@pytest.mark.parametrize('target', ['file', 'pipe'])
def test_inject_keeps_the_label(tally, labelled, tmp_path, target):
    if target == 'file':
        tally('inject', '-i', labelled, '-o', tmp_path / 'out.data', check=0)
    else:
        (tmp_path / 'out.data').write_bytes(tally('inject', '-i', labelled, '-o', '-', check=0, text=False).stdout)
    assert f'# origin : {SENTENCE}\n' in tally('report', '--header-only', '-i', tmp_path / 'out.data', check=0).stdout


@pytest.mark.parametrize('options', [(), ('--scrub',)])
def test_pack_keeps_the_label(tally, simulated, options):
    tally('pack', *options, simulated, '-o', simulated.with_name('packed.data'), check=0)
    out = tally('report', '--header-only', '-i', simulated.with_name('packed.data'), check=0).stdout
    assert f'# origin : {SENTENCE}\n' in out
