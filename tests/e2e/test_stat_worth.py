# SPDX-License-Identifier: Apache-2.0
"""What a number is worth: medians with intervals, two commands compared."""
import json
import re
import subprocess

import pytest

from conftest import BUILD, TIMEOUT_S, wait_for

TALLY = BUILD / 'src/cli/tally'


def stat(*words, cwd=None):
    return subprocess.run([TALLY, 'stat', *map(str, words)], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=cwd)


def lines(result, kind):
    rows = [json.loads(line) for line in result.stderr.splitlines() if line.startswith('{')]
    return {row.get('event', row.get('time')): row for row in rows if row.get('kind') == kind}


def test_medians_and_their_intervals():
    result = stat('-r', '8', '-j', '--stats', '-e', 'page-faults,task-clock', 'true')
    assert result.returncode == 0, result.stderr
    rows = lines(result, 'statistics')
    assert list(rows) == ['page-faults', 'task-clock', 'elapsed', 'user', 'system']
    for row in rows.values():
        assert row['runs'] == 8
        assert row['interval-low'] <= row['median'] <= row['interval-high']
        assert abs(row['coverage'] - (1 - 2 / 256)) < 1e-6
    assert rows['page-faults']['median'] > 10


def test_few_runs_have_no_interval():
    result = stat('-r', '3', '--stats', '-e', 'page-faults', 'true')
    assert 'no interval: 3 values, 6 are the least' in result.stderr
    assert 'interval-low' not in lines(stat('-r', '3', '-j', '--stats', '-e', 'page-faults', 'true'), 'statistics')


def test_statistics_refuse_what_they_cannot_do():
    for words in (['--stats', 'true'], ['--stats', '-r', '3', '-x,', 'true'], ['--stats', '-r', '3', '-I', '10', 'true']):
        assert stat(*words).returncode == 129


def test_comparison_sees_which_counts_less():
    faults = BUILD / 'tests/workloads/faults'
    result = stat('-j', '--compare', f'{faults} 10', f'{faults} 1000', '-r', '5', '-e', 'page-faults:u')
    assert result.returncode == 0, result.stderr
    assert 'elapsed' in lines(result, 'comparison')
    row = lines(result, 'comparison')['page-faults:u']
    assert row['runs-a'] == row['runs-b'] == 5
    assert row['less'] == 'A' and abs(row['shift'] - 990) < 10 and row['shift-low'] > 0
    assert 0 < row['p'] < 0.02  # all of one side below all of the other: 2 of 10 over 5 orders, and ties


def test_comparison_as_text_and_in_any_order_of_options():
    result = stat('-r', '4', '-e', 'page-faults', '--compare', 'sleep 0.5', 'true')
    assert result.returncode == 0, result.stderr
    assert 'B is faster' in result.stderr
    assert 'too few runs to tell' in stat('-r', '3', '--compare', 'true', 'true').stderr


FAILING = {
    'status': ('true', 'exit 3', '4 of 4 runs failed: exit status 3'),
    'signal': ('kill -9 $$', 'true', '4 of 4 runs failed: signal 9, Killed'),
    'not found': ('sleep 0.1', './there_is_no_such_program', '1 of 1 runs failed: exit status 127, command not found'),
    'no program': ('true', '/etc/passwd', '1 of 1 runs failed: exit status 126, command cannot be run'),
    'several': ('true', 'echo >>log; exit $(wc -l <log)', 'exit status 1, exit status 2, exit status 3, exit status 4'),
}


@pytest.mark.parametrize('form', ['text', 'JSON'])
@pytest.mark.parametrize('name', FAILING)
def test_comparison_has_no_verdict_where_runs_fail(tmp_path, name, form):
    a, b, said = FAILING[name]
    result = stat(*(['-j'] if form == 'JSON' else []), '-r', '4', '-e', 'page-faults', '--compare', a, b, cwd=tmp_path)
    assert result.returncode == 255 and result.stderr.count(said) == 2, result.stderr
    assert 'no verdict' in result.stderr and 'faster' not in result.stderr and 'fewer' not in result.stderr


def test_comparison_leaves_failed_runs_out(tmp_path):
    """Two good runs of four: they are shown, and nothing follows from them."""
    flaky = 'echo >>log; test $(($(wc -l <log) % 2)) = 0'
    result = stat('-j', '-r', '4', '-e', 'page-faults', '--compare', 'true', flaky, cwd=tmp_path)
    row = lines(result, 'comparison')['page-faults']
    assert (row['runs-a'], row['runs-b'], row['less']) == (4, 2, 'unknown')
    failures = json.loads(next(line for line in result.stderr.splitlines() if '"failures"' in line))
    assert (failures['side'], failures['runs'], failures['failed']) == ('B', 4, 2)
    assert result.returncode == 255


def test_repeated_runs_that_fail_are_told(tmp_path):
    """The last run's success does not hide that others failed."""
    first = 'echo >>log; test $(wc -l <log) != 1'
    result = stat('-r', '3', '-e', 'page-faults', 'sh', '-c', first, cwd=tmp_path)
    assert result.returncode == 1 and '1 of 3 runs failed: exit status 1' in result.stderr
    result = stat('-r', '3', '-e', 'page-faults', 'true', cwd=tmp_path)
    assert result.returncode == 0 and 'failed' not in result.stderr


def test_comparison_runs_both_in_turn(tmp_path):
    log = tmp_path / 'log'
    stat('--compare', f'echo A >>{log}', f'echo B >>{log}', '-r', '3', '-e', 'page-faults')
    assert log.read_text().split() == ['A', 'B', 'B', 'A', 'A', 'B']


def test_comparison_refuses_what_it_cannot_do():
    for words in (['--compare', 'true'], ['--compare', 'true', 'true', 'true'], ['-a', '--compare', 'true', 'true'],
                  ['--compare', 'true', 'true', '-r', '0'], ['--compare', 'true', 'true', '-x,'],
                  ['--metric-only', '--compare', 'true', 'true']):
        result = stat(*words)
        assert result.returncode == 129 and 'compare' in result.stderr, words


def test_comparing_says_why_a_count_is_missing():
    assert '<not' not in stat('--compare', 'true', 'true', '-r', '3', '-e', 'page-faults').stderr
    result = stat('--compare', 'true', 'true', '-r', '3', '-e', 'page-faults,cycles')
    if '<not supported>' in result.stderr:
        assert re.search(r'^ *<not supported> *<not supported> +cycles', result.stderr, re.M)
        assert result.stderr.count('<not supported> cycles: ') == 1
        as_json = stat('-j', '--compare', 'true', 'true', '-r', '3', '-e', 'page-faults,cycles')
        assert all(line.startswith('{') for line in as_json.stderr.splitlines())
        assert '<not supported> cycles: ' in stat('-v', '-j', '--compare', 'true', 'true', '-r', '3', '-e', 'cycles').stderr


def test_plan_counts_nothing_and_says_what_opens(tmp_path):
    mark = tmp_path / 'mark'
    result = stat('--plan', '-j', '-e', 'page-faults,duration_time', 'touch', str(mark))
    assert result.returncode == 0 and not mark.exists()
    plan = json.loads(result.stderr)
    assert [event['event'] for event in plan['events']] == ['page-faults', 'duration_time']
    assert plan['events'][0]['type'] == 1 and plan['events'][0]['config'] == '0x2'
    assert plan['events'][0]['state'] == 'needs-no-counter' and plan['multiplexes'] is False


def test_plan_takes_words_as_events():
    result = stat('--plan', 'page-faults', 'context-switches')
    assert result.returncode == 0 and 'context-switches' in result.stderr and 'NMI watchdog' in result.stderr
    assert stat('--plan', 'no-such-event').returncode == 129
    assert stat('--plan', '-x,', 'page-faults').returncode == 129


def test_plan_names_who_has_events_open():
    with subprocess.Popen([TALLY, 'stat', '-e', 'page-faults', 'sleep', '60'], stderr=subprocess.DEVNULL) as other:
        def its_events():
            holders = json.loads(stat('--plan', '-j', '-e', 'page-faults').stderr)['holders']
            # The second is the dummy that tells whether the exec of the command ends its events.
            return [holder for holder in holders if holder['pid'] == other.pid and holder['events'] == 2]

        try:
            mine = wait_for(its_events)
            assert mine[0]['comm'] == 'tally'
            assert "the placeholder of 'stat COMMAND'; they hold no counter" in stat('--plan', '-e', 'page-faults').stderr
        finally:
            other.terminate()


def test_passes_of_events_that_fit():
    result = stat('--passes', '-r', '2', '-e', 'page-faults,task-clock', 'sh', '-c', 'exit 3')
    assert result.returncode == 3 and 'One pass' in result.stderr and 'page-faults' in result.stderr
    assert stat('--passes').returncode == 129
    assert stat('--passes', '-a', 'true').returncode == 129
    assert stat('record', '--passes', 'true').returncode == 129


def gate(a, b, clauses, *words, runs=6):
    return stat('-r', runs, '-e', 'page-faults:u', '--compare', a, b, '--fail-if', clauses, *words)


def test_a_gate_has_three_answers_and_their_statuses():
    faults = BUILD / 'tests/workloads/faults'
    worse = gate(f'{faults} 10', f'{faults} 1000', 'page-faults>20%')
    assert worse.returncode == 3 and 'worse: page-faults:u: B exceeds A by more than 20%' in worse.stderr and 'Verdict: worse.' in worse.stderr
    assert gate(f'{faults} 1000', f'{faults} 10', 'page-faults>20%').returncode == 0
    assert gate(f'{faults} 1000', f'{faults} 10', 'improvement>20%').returncode == 3
    same = gate(f'{faults} 1000', f'{faults} 1000', 'regression>20%', '-j')
    rows = [json.loads(line) for line in same.stderr.splitlines() if line.startswith('{')]
    assert rows[-1]['kind'] == 'gate' and {3: 'worse', 4: 'undecided', 0: 'not worse'}[same.returncode] == rows[-1]['verdict']
    assert {row.get('event', row.get('time')) for row in rows if 'verdict' in row} == {'elapsed', 'page-faults:u', None}
    # Two runs of a millisecond or two, of which no one can say more.
    few = gate('sleep 0.001', 'sleep 0.0011', 'elapsed>0.01%', runs=2)
    assert few.returncode in (3, 4) and ('in 9 of 10 comparisons' in few.stderr or few.returncode == 3)


def test_limits_that_are_numbers():
    faults = BUILD / 'tests/workloads/faults'
    for clause, code in ('page-faults>+500', 3), ('page-faults>+5K', 0), ('page-faults>500', 3), ('page-faults>5K', 0), ('elapsed>1000s', 0):
        assert gate(f'{faults} 10', f'{faults} 1000', clause).returncode == code, clause


def test_a_gate_refuses_what_it_cannot_judge():
    for clauses, says in (('nothing>2%', 'nothing of that name is compared'), ('time', 'takes clauses'), ('elapsed>5K', 'is counted in milliseconds')):
        result = gate('true', 'true', clauses)
        assert result.returncode == 129 and says in result.stderr
    assert '--fail-if needs --compare' in stat('--fail-if', 'time>1%', 'true').stderr
    assert '--markdown needs --compare' in stat('--markdown', 'true').stderr
    crashed = gate('true', 'kill -SEGV $$', 'elapsed>1000%')
    assert crashed.returncode == 255 and 'no verdict' in crashed.stderr
    nothing = stat('-r', '3', '-e', 'major-faults', '--compare', 'true', 'true', '--fail-if', 'major-faults>10%')
    assert nothing.returncode == 255 and 'never counted in A and B' in nothing.stderr and 'Verdict' not in nothing.stderr
    assert stat('-r', '3', '-e', 'major-faults', '--compare', 'true', 'true', '--fail-if', 'major-faults>+10').returncode == 0


def test_markdown_of_a_comparison():
    result = stat('-r', '3', '-e', 'page-faults', '--compare', 'true', 'echo a | cat > /dev/null', '--markdown')
    assert result.returncode == 0 and '| page-faults | ' in result.stderr and '| elapsed, msec | ' in result.stderr
    assert 'Verdict' not in result.stderr
