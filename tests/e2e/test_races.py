# SPDX-License-Identifier: Apache-2.0
"""No data race while the program records, reads and shows: each run here is under the thread sanitizer.

A recording is made by the sanitized program too, so that the recorder's own threads are watched as well.
"""
import signal

import pytest
from conftest import wait_for, waits_with_counters

RECORDERS = {
    'frame_pointers': ['-g'],
    'dwarf': ['--call-graph', 'dwarf'],
    'compressed': ['-z', '-g'],
    'rotated': ['--switch-output=50K', '-g'],
}
REPORTS = {
    'flat': ['report', '--stdio'],
    'callers': ['report', '--stdio', '--children', '-g', 'caller'],
    'callees': ['report', '--stdio', '--no-children', '-g', 'callee', '-s', 'comm,dso,sym'],
    'levels': ['report', '--stdio', '--hierarchy', '-s', 'comm,dso,sym'],
    'lines': ['report', '--stdio', '-s', 'srcline,sym'],
    'json': ['report', '--json'],
    'page': ['report', '--html=/dev/null'],
    'flames': ['flamegraph', '-o', '/dev/null'],
    'pprof': ['export', '-F', 'pprof', '-o', '/dev/null'],
    'firefox': ['export', '-F', 'firefox', '-o', '/dev/null'],
    'samples': ['script'],
    'code': ['annotate', '--stdio'],
    'health': ['health'],
}


def expect_no_race(result, statuses=(0,)):
    assert 'ThreadSanitizer' not in result.stderr, result.stderr
    assert result.returncode in statuses, result.stdout + result.stderr


@pytest.fixture(scope='module')
def recordings(tmp_path_factory):
    """Of each recorder, made once: its file by name."""
    return {'folder': tmp_path_factory.mktemp('races'), 'files': {}}


def record(recordings, tally_tsan, workload, name):
    if name not in recordings['files']:
        file = recordings['folder'] / f'{name}.data'
        # Tens of thousands of samples: what is small is left to one thread.
        expect_no_race(tally_tsan('record', '-q', '-c', '20000', '-e', 'cpu-clock', *RECORDERS[name], '-o', file, '--',
                                  workload('threads').path, '200'))
        recordings['files'][name] = sorted(recordings['folder'].glob(f'{name}.data*'))[0]
    return recordings['files'][name]


@pytest.mark.parametrize('name', RECORDERS)
def test_recorder_has_no_race(live, recordings, tally_tsan, workload, name):
    assert record(recordings, tally_tsan, workload, name).stat().st_size > 0


@pytest.mark.parametrize('form', REPORTS)
@pytest.mark.parametrize('name', ['frame_pointers', 'dwarf'])
def test_reader_has_no_race(live, recordings, tally_tsan, workload, name, form):
    file = record(recordings, tally_tsan, workload, name)
    # The sanitized recorder is slow: that it lost samples, which health answers by status 1, is no race.
    expect_no_race(tally_tsan(*REPORTS[form], '-i', file), (0, 1) if form == 'health' else (0,))


def test_threads_of_record_have_no_race(system_wide, tally_tsan, tmp_path):
    expect_no_race(tally_tsan('record', '-q', '-a', '--threads', '-F', '500', '-e', 'cpu-clock', '-g',
                              '-o', tmp_path / 'parts', '--', 'sleep', '0.3'))
    expect_no_race(tally_tsan('report', '--stdio', '-i', tmp_path / 'parts'))


def test_top_has_no_race(live, tally_tsan, workload):
    spinning = workload('threads').start()
    try:
        top = tally_tsan.start('top', '--stdio', '-p', spinning.pid, '-e', 'cpu-clock', '-g', '-d', '1')
        wait_for(lambda: waits_with_counters(top.pid) or top.poll() is not None)
        wait_for(lambda: 'PerfTop' in top.stdout.readline() or top.poll() is not None)
        top.send_signal(signal.SIGINT)
        _, errors = top.communicate(timeout=60)
    finally:
        spinning.kill()
        spinning.communicate()
    assert 'ThreadSanitizer' not in errors, errors
