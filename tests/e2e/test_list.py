"""tally list against perf's, and against what the kernel opens."""
import json
import re

import pytest


def names(text):
    """The rows of a list without perf's SDT events, which come from a cache of its own."""
    return [line for line in text.splitlines() if '[SDT event]' not in line]


@pytest.mark.parametrize('words', [(), ('sw',), ('hw',), ('cache',), ('pmu',), ('tracepoint',), ('sched:*',),
                                   ('sched*:*wake*',), ('hw', 'sw'), ('*fault*',), ('metric',), ('metricgroup',),
                                   ('nosuchthing',)])
def test_rows_are_those_of_perf(tally, perf, live, words):
    if ' 6.1' not in perf('--version').stdout:
        pytest.skip('the layout is that of perf 6.1')
    assert names(tally('list', *words, check=0).stdout) == names(perf('list', *words).stdout)


def test_names_for_completion(tally, perf, live):
    ours = tally('list', '--raw-dump', check=0).stdout.split()
    assert 'page-faults' in ours and 'rNNN' not in ours
    assert ours == [name for name in perf('list', '--raw-dump').stdout.split() if not name.startswith('sdt_')]


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
    for words in [('sdt',), ('--deprecated',), ('--cputype', 'core')]:
        result = tally('list', *words)
        assert result.returncode != 0 and 'not supported yet' in result.stderr
