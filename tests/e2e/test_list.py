# SPDX-License-Identifier: Apache-2.0
"""tally list against perf's, and against what the kernel opens."""
import json
import re

import pytest


# Tool events that only 7.x has.
CONSTANTS = {'core_wide', 'has_pmem', 'num_cores', 'num_cpus', 'num_cpus_online', 'num_dies', 'num_packages', 'smt_on',
             'system_tsc_freq', 'target_cpu'}


def names(text):
    """The rows of a list without perf's SDT events, which come from a cache of its own, and without what either tool
    knows of a vendor's CPU: perf by tables of metrics that are built in, tally by libpfm4."""
    lines = [line for line in text.splitlines()
             if '[SDT event]' not in line and '[Vendor event ' not in line and line.strip().split(' ')[0] not in CONSTANTS]
    ends = [lines.index(word) for word in ('Metrics:', 'Metric Groups:') if word in lines]
    return '\n'.join(lines[:min(ends)] if ends else lines).strip().splitlines()


@pytest.mark.alone  # other tests add tracepoints
@pytest.mark.parametrize('words', [(), ('sw',), ('hw',), ('cache',), ('pmu',), ('tracepoint',), ('sched:*',),
                                   ('sched*:*wake*',), ('hw', 'sw'), ('context-sw*',), ('nosuchthing',)])
def test_rows_are_those_of_perf(tally, perf, live, words):
    if ' 6.1' not in perf('--version').stdout:
        pytest.skip('the layout is that of perf 6.1')
    assert names(tally('list', *words, check=0).stdout) == names(perf('list', *words).stdout)


@pytest.mark.alone
def test_names_for_completion(tally, perf, live):
    ours = tally('list', '--raw-dump', check=0).stdout.split()
    assert 'page-faults' in ours and 'rNNN' not in ours
    metrics = set(perf('list', '--raw-dump', 'metric').stdout.split() + perf('list', '--raw-dump', 'metricgroup').stdout.split())
    theirs = [name for name in perf('list', '--raw-dump').stdout.split() if not name.startswith('sdt_')]
    assert [name for name in ours if name not in CONSTANTS] == [name for name in theirs if name not in metrics]
    assert CONSTANTS <= set(ours)


def test_json_says_what_opens(tally, live, hardware_absent):
    result = tally('list', '--json', 'sw', 'hw', check=0)
    events = {event['EventName']: event for event in json.loads(result.stdout)}
    assert events['page-faults']['Opens'] is True
    assert events['page-faults']['EventAlias'] == 'faults'
    assert events['page-faults']['Encoding'] == 'software/config=0x2/'
    cycles = events['cpu-cycles']
    assert cycles['Opens'] is False and 'PMU' in cycles['WhyNot']
    # What list says of an event, stat says too.
    assert '<not supported>' in tally('stat', '-e', 'cpu-cycles', 'true').stderr


def test_what_does_not_open_is_counted_and_shown_on_request(tally, live, hardware_absent):
    plain = tally('list', 'hw', check=0)
    assert plain.stdout == ''
    assert re.search(r'note: 10 generic events do not open here \(.*PMU.*\); --all shows them', plain.stderr)
    shown = tally('list', '--all', 'hw', check=0)
    assert shown.stdout.count('[Hardware event]') == shown.stdout.count('does not open here: ') == 10


def test_details(tally, live, tmp_path):
    text = tally('list', '--details', '-v', 'sched:sched_switch', 'cpu-clock', check=0).stdout
    assert 'opens here' in text and 'field:pid_t prev_pid;' in text and 'software/config=0/' in text
    tally('list', '-o', 'out.txt', 'sw', cwd=tmp_path, check=0)
    assert 'page-faults OR faults' in (tmp_path / 'out.txt').read_text()


def test_what_is_not_built_is_refused(tally):
    for words in [('--debug',), ('--cputype', 'core')]:
        result = tally('list', *words)
        assert result.returncode != 0 and 'not supported yet' in result.stderr


def test_metrics_and_their_groups(tally, live):
    text = tally('list', 'metric', check=0).stdout
    assert text.startswith('\nMetrics:\n\n') and '\n  page_faults_per_second\n       [Page faults per CPU second]\n' in text
    assert '\n       [' not in tally('list', '--no-desc', 'metric', check=0).stdout
    assert 'page\\-faults * 1e9' in tally('list', '--details', 'metric', check=0).stdout
    groups = tally('list', 'metricgroup', check=0)
    assert 'Default' in groups.stdout.splitlines() and 'no event or metric matches' not in groups.stderr
    names = tally('list', '--raw-dump', 'metricgroups', check=0).stdout  # one line, as perf
    assert names.split() == groups.stdout.split()[2:] and names.count('\n') == 1
    assert '  cs_per_second\n' in tally('list', 'cs_per', check=0).stdout
    assert 'cs_per_second' in tally('list', '--raw-dump', 'metric', check=0).stdout.split()


def test_metrics_say_what_opens(tally, live, hardware_absent):
    plain = tally('list', 'metric', check=0)
    assert 'insn_per_cycle' not in plain.stdout and 'metrics not all events open here' in plain.stderr
    shown = tally('list', '--all', 'metric', check=0).stdout
    assert re.search(r'insn_per_cycle\n.*\n        does not open here: .*PMU', shown)
    rows = {row['MetricName']: row for row in json.loads(tally('list', '-j', 'metric', check=0).stdout)}
    assert rows['cs_per_second']['Opens'] is True and rows['insn_per_cycle']['Opens'] is False
    assert rows['insn_per_cycle']['MetricThreshold'] == 'insn_per_cycle < 1'


def test_no_event_is_deprecated(tally, perf):
    """As perf 6.1 where it has no table of this CPU's events."""
    ours = tally('list', '--deprecated', 'hw', 'sw', check=0)
    assert ours.stdout == tally('list', 'hw', 'sw', check=0).stdout and 'none of the events' in ours.stderr
    assert perf('list', '--deprecated', 'sw', check=0).stdout == perf('list', 'sw', check=0).stdout
