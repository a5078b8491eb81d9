# SPDX-License-Identifier: Apache-2.0
"""What shows nothing says why: a recording without samples, filters that leave none, samples without names."""
import pytest

import perfdata_build

SAMPLES_ONLY = ['folded', 'speedscope', 'pprof', 'otlp', 'otlp-json', 'callgrind', 'csv']
WITH_MORE = ['html', 'firefox', 'chrome', 'perfetto', 'json', 'sqlite']


def recording(path, samples):
    made = perfdata_build.Recording()
    made.event('IDENTIFIER IP TID TIME CPU PERIOD')
    made.comm('toy')
    for index in range(samples):
        made.sample(time=5000000000 + index, ip=0x1000)
    made.write(path)
    return path


@pytest.fixture(params=[(0, [], 'has no samples'), (3, ['--comms', 'nobody'], 'none of the 3 samples of '),
                        (3, ['--cpu', '9'], 'none of the 3 samples of ')], ids=['none', 'no thread', 'no CPU'])
def nothing(request, tmp_path):
    """(path, options that leave no sample, the sentence)."""
    samples, options, sentence = request.param
    return recording(tmp_path / 'perf.data', samples), options, sentence


@pytest.mark.parametrize('name', SAMPLES_ONLY + WITH_MORE)
def test_exports(tally, nothing, tmp_path, name):
    path, options, sentence = nothing
    out = tmp_path / 'out'
    run = tally('export', '-F', name, '-o', out, '-i', path, *options, check=255 if name in SAMPLES_ONLY else 0)
    assert run.stderr.count(sentence) == 1 and run.stderr.count('\n') == 1
    assert out.exists()
    whole = tally('export', '-F', name, '-o', out, '-i', recording(tmp_path / 'some.data', 3), check=0)
    assert 'samples of' not in whole.stderr and 'no samples' not in whole.stderr


@pytest.mark.parametrize('verb,code', [(['script'], 0), (['script', '-F', 'ip'], 0), (['flamegraph', '--folded'], 255),
                                       (['flamegraph', '-o', 'page.html'], 255), (['report', '--html', 'page.html'], 0)],
                         ids=lambda value: ' '.join(value) if isinstance(value, list) else '')
def test_verbs(tally, nothing, tmp_path, verb, code):
    path, options, sentence = nothing
    run = tally(*verb, '-i', path, *options, check=code, cwd=tmp_path)
    if verb[0] == 'flamegraph' and options:
        sentence = 'no sample of '
    assert run.stderr.count(sentence) == 1
    assert run.stdout == ''


def test_a_script_that_shows_other_records_says_nothing(tally, tmp_path):
    path = recording(tmp_path / 'perf.data', 0)
    run = tally('script', '--show-task-events', '-i', path, check=0)
    assert 'PERF_RECORD_COMM' in run.stdout and run.stderr == ''


def test_queries(tally, tmp_path):
    run = tally('query', recording(tmp_path / 'none.data', 0), 'select count(*) as n from samples', check=0)
    assert run.stdout.split()[-1] == '0' and 'none.data has no samples' in run.stderr
    run = tally('query', recording(tmp_path / 'some.data', 2), 'select count(*) as n from samples', check=0)
    assert run.stdout.split()[-1] == '2' and run.stderr == ''


def test_report_of_rows_that_no_filter_passes(tally, tmp_path):
    path = recording(tmp_path / 'perf.data', 3)
    for options in (['--comms', 'nobody'], ['--dsos', 'nothing'], ['--json', '--comms', 'nobody']):
        assert 'none of the 3 samples of ' in tally('report', '--stdio', *options, '-i', path, check=0).stderr
    assert 'none of' not in tally('report', '--stdio', '-i', path, check=0).stderr


def test_annotate_of_samples_without_names(tally, tmp_path):
    run = tally('annotate', '--stdio', '-i', recording(tmp_path / 'perf.data', 3), check=0)
    assert run.stdout == ''
    assert 'None of the 3 samples of ' in run.stderr and 'report --missing' in run.stderr
    run = tally('annotate', '--stdio', '-i', recording(tmp_path / 'none.data', 0), check=0)
    assert 'none.data data has no samples' in run.stderr


def test_diff_of_recordings_without_samples(tally, tmp_path):
    none, some = recording(tmp_path / 'none.data', 0), recording(tmp_path / 'some.data', 2)
    assert tally('diff', none, some, check=0).stderr.count('none.data has no samples') == 1
    assert tally('diff', some, some, check=0).stderr == ''


def test_lists_that_are_empty(tally, tmp_path):
    path = recording(tmp_path / 'perf.data', 1)
    run = tally('buildid-list', '-i', path, check=0)
    assert run.stdout == '' and run.stderr == f'note: {path} has no build IDs\n'
    assert 'as no sample hit a file' in tally('buildid-list', '-H', '-i', recording(tmp_path / 'none.data', 0), check=0).stderr
    run = tally('list', 'no-such-event-anywhere', check=0)
    assert "no event or metric matches 'no-such-event-anywhere'" in run.stderr
    assert 'no event or metric matches' not in tally('list', 'cpu-clock', check=0).stderr


def test_tables_that_filters_leave_empty(tally, perf_recording):
    for option in ('--pid', '--tid'):
        run = tally('lock', 'contention', '-i', perf_recording('lock'), option, '999999', check=255)
        assert 'lock events here is of the CPUs, processes or threads asked for' in run.stderr
    run = tally('sched', 'map', '--task-name', 'nobody', '-i', perf_recording('sched'), check=0)
    assert "no task named 'nobody' was switched to" in run.stderr
    assert 'no switch' not in tally('sched', 'map', '--task-name', 'swapper', '-i', perf_recording('sched'), check=0).stderr
