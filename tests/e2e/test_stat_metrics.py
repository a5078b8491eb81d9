# SPDX-License-Identifier: Apache-2.0
"""stat -M and its kin: what software events give on any machine, and what is said where the hardware lacks them."""
import json
import os
import re

import pytest

SOFTWARE = {'CPUs_utilized': 'CPUs', 'cs_per_second': 'cs/sec', 'migrations_per_second': 'migrations/sec',
            'page_faults_per_second': 'faults/sec'}


def rows(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{')]


def values(tally, *options):
    objects = rows(tally('stat', '-j', *options, check=0).stderr)
    return {row['event']: float(row['counter-value']) for row in objects}, \
        {row['metric-unit'].split()[-1]: float(row['metric-value']) for row in objects if row['metric-unit']}


def test_a_metric_is_what_its_events_give(tally, live):
    counts, metrics = values(tally, '-M', 'page_faults_per_second,CPUs_utilized', 'sleep', '0.05')
    assert metrics['page_faults_per_second'] == pytest.approx(counts['page-faults'] * 1e3 / counts['task-clock'], rel=1e-4)
    assert metrics['CPUs_utilized'] == pytest.approx(counts['task-clock'] * 1e6 / counts['duration_time'], rel=1e-4)


def test_a_system_is_measured_by_its_clock(tally, live):
    counts, metrics = values(tally, '-a', '-M', 'cs_per_second', 'sleep', '0.05')
    assert set(counts) == {'context-switches', 'cpu-clock'}
    assert metrics['cs_per_second'] == pytest.approx(counts['context-switches'] * 1e3 / counts['cpu-clock'], rel=1e-4)


def test_text_csv_and_the_one_line_form(tally, live):
    names = ','.join(SOFTWARE)
    text = tally('stat', '-M', names, 'true', check=0).stderr
    for name, unit in SOFTWARE.items():
        assert re.search(rf' # +[\d.]+ {unit}  {name}\b', text), name
    lines = tally('stat', '-x,', '-M', names, 'true', check=0).stderr.splitlines()
    assert {line.split(',')[6] for line in lines} - {''} == {f'{unit}  {name}' for name, unit in SOFTWARE.items()}
    assert all(len(line.split(',')) == 7 for line in lines)
    header, line = tally('stat', '-x,', '--metric-only', '-M', names, 'true', check=0).stderr.splitlines()
    assert len(header.split(',')) == len(line.split(',')) == 5
    assert all(float(value) >= 0 for value in line.split(',')[:-1])


def test_the_fields_are_those_of_the_newest(tally, newest_perf, live):
    line = ['stat', '-x,', '-M', 'page_faults_per_second', 'true']
    ours, theirs = tally(*line, check=0).stderr.splitlines(), newest_perf(*line).stderr.splitlines()
    shape = lambda lines: [re.sub(r'[\d.]+', 'N', row) for row in lines]
    assert shape(ours) == shape(theirs)


def test_groups_share_events_unless_told_not_to(tally, live):
    def events(*options):
        return [row['event'] for row in rows(tally('stat', '-j', *options, '-M', 'cs_per_second,page_faults_per_second',
                                                   'true', check=0).stderr)]
    assert events() == ['context-switches', 'task-clock', 'page-faults', 'task-clock']
    assert events('--metric-no-group') == ['context-switches', 'task-clock', 'page-faults']
    assert events('--metric-no-group', '--metric-no-merge') == ['context-switches', 'task-clock', 'page-faults', 'task-clock']


def test_intervals_repeats_and_places_have_metrics_too(tally, live):
    for options in (['-I', '50'], ['-r', '2'], ['-a', '--per-core'], ['-a', '-A'], ['-a', '--per-socket']):
        objects = rows(tally('stat', '-j', *options, '-M', 'page_faults_per_second', 'sleep', '0.12', check=0).stderr)
        assert any(row['metric-unit'].endswith('page_faults_per_second') for row in objects), options


BAD = {
    'name': (['-M', 'nothing_like_it'], 2, "Cannot find metric or group `nothing_like_it'"),
    'near': (['-M', 'page_fault_per_second'], 2, "did you mean 'page_faults_per_second'?"),
    'topdown': (['--topdown'], 234, 'Topdown requested but'),
    'transaction': (['-T'], 234, 'Missing transaction metrics'),
    'smi': (['--smi-cost'], 234, '--smi-cost'),
}


@pytest.mark.parametrize('name', BAD)
def test_what_is_lacking_is_said(tally, live, name):
    options, status, words = BAD[name]
    if os.path.exists('/sys/bus/event_source/devices/cpu') and name in ('topdown', 'transaction', 'smi'):
        pytest.skip('this machine has a PMU, and perhaps the events')
    result = tally('stat', *options, 'true')
    assert result.returncode == status and words in result.stderr
