# SPDX-License-Identifier: Apache-2.0
"""Called as `perf` by a script that reads standard error: warnings of wrong or lost results, and nothing else."""
import os
import pty
import subprocess

import pytest

from conftest import Program
from perfdata_build import CHAIN_USER, Recording


@pytest.fixture
def perf_is_tally(tally, tmp_path):
    link = tmp_path / 'named' / 'perf'
    link.parent.mkdir()
    link.symlink_to(tally.path)
    return Program(link, tmp_path)


@pytest.fixture
def recording(tmp_path):
    """Samples in a file that is absent: report has notes about their names, their call chains and their number."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD CALLCHAIN', kind=1, config=0)
    built.comm('job')
    built.mmap(0x401000, 0x1000, '/nonexistent/job')
    for index in range(40):
        built.sample(time=1000 + index, ip=0x401010, callchain=[CHAIN_USER, 0x401010, 0x401020])
    built.text_feature(6, 'x86_64')
    built.write(tmp_path / 'perf.data')
    return tmp_path / 'perf.data'


def shown(result):
    """Without the tip, which has the name of the program."""
    return [line for line in result.stdout.splitlines() if not line.startswith('# (Tip:')]


@pytest.mark.parametrize('words', [['report', '--stdio'], ['report', '--stdio', '--pid=1'], ['script'], ['annotate', '--stdio'],
                                   ['list', 'nosuch']], ids=' '.join)
def test_only_the_name_quiets(tally, perf_is_tally, recording, words):
    ours, theirs = (program(*words, cwd=recording.parent) for program in (tally, perf_is_tally))
    assert theirs.returncode == ours.returncode and shown(theirs) == shown(ours)
    assert theirs.stderr == '' or words[0] == 'annotate'
    assert 'note: ' not in theirs.stderr
    if words[0] in ('report', 'list'):
        assert 'tally: note: ' in ours.stderr


def test_more_words_bring_notes_back(perf_is_tally, recording):
    said = perf_is_tally('report', '--stdio', '-v', cwd=recording.parent, check=0).stderr
    assert 'perf: note: 40 samples, none lost' in said and 'perf: warning: 100.0% of the samples have no symbol' in said


def test_losses_are_said(tally, perf_is_tally, recording):
    whole = recording.read_bytes()
    recording.write_bytes(whole[:-200])
    cut = perf_is_tally('report', '--stdio', cwd=recording.parent)
    assert cut.stderr != '' and cut.returncode == tally('report', '--stdio', cwd=recording.parent).returncode


def test_a_terminal_shows_notes(perf_is_tally, recording):
    main, terminal = pty.openpty()
    with os.fdopen(main, 'rb', buffering=0) as screen:
        subprocess.run([perf_is_tally.path, 'report', '--stdio'], cwd=recording.parent, env=perf_is_tally.environment,
                       stdout=subprocess.DEVNULL, stderr=terminal, check=True)
        os.close(terminal)
        assert b'perf: note: 40 samples' in screen.read(65536)
