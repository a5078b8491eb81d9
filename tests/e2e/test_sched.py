# SPDX-License-Identifier: Apache-2.0
"""What the scheduler did: the tables are perf's, on its recordings and on ours."""
import json
import pathlib
import re

import json_schema
import pytest

from conftest import CORPUS
from test_timechart import Scheduler, WAKEUP

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'sched.json').read_text())
LISTS = ['timehist', 'timehist -w -M', 'timehist -n', 'timehist -I', 'timehist -V', 'timehist -C 1 -w',
         'timehist --no-call-graph', 'map', 'map --compact']
# Not compared on a live recording: where a task is gone before its last switch, perf's sums have it in two rows.
SUMS = ['timehist -S', 'timehist -I -s', 'timehist -M -s']


@pytest.fixture
def recordings(perf_recordings):
    return perf_recordings


@pytest.fixture
def live(tally, tmp_path):
    path = tmp_path / 'live.data'
    result = tally('sched', 'record', '-o', path, '--', 'sh', '-c',
                   'for i in 1 2 3; do sleep 0.01; ls / | cat >/dev/null; done', check=None)
    if result.returncode != 0:
        pytest.skip('the scheduler\'s tracepoints cannot be recorded here')
    return path


def assert_table_is_perfs(tally, perf, words, path):
    if '6.1' not in perf('--version').stdout:
        pytest.skip('other versions of perf have other tables')
    theirs = perf('sched', *words.split(), '-i', path).stdout
    assert tally('sched', *words.split(), '-i', path, check=0).stdout == theirs


@pytest.mark.parametrize('words', [*LISTS, *SUMS, 'timehist -t 4497,15 -w', 'timehist -p 4483'])
def test_tables_are_perfs(tally, perf, perf_recording, words):
    assert_table_is_perfs(tally, perf, words, perf_recording('sched'))


@pytest.mark.parametrize('words', [
    'map --cpus 1', 'latency', 'latency -p', 'latency -s max,avg', 'latency -p -s runtime', 'latency -s pid', 'latency -p -s pid',
    'latency -p -s avg,pid', 'timehist -t 16610,15 -w', 'timehist -p 16608', 'timehist --time 6594.712,6594.72 -S',
    'timehist --time 6594.727,'])
def test_other_tables_are_perfs(tally, perf, shared_recording, words):
    """Where perf 6.1 counts delays of tasks that migrate otherwise than 7.x, on a recording that has none of them; and by the
    times and tasks of that one."""
    assert_table_is_perfs(tally, perf, words, shared_recording('sched'))


def test_our_recordings_tables_are_perfs(tally, perf, live):
    if '6.1' not in perf('--version').stdout:
        pytest.skip('other versions of perf have other tables')
    for words in LISTS:
        theirs = perf('sched', *words.split(), '-i', live).stdout.splitlines()
        ours = tally('sched', *words.split(), '-i', live, check=0).stdout.splitlines()
        assert len(theirs) >= 3  # of a busy machine --idle-hist has no rows
        # The last switch of a task that is gone has no thread in its sample: perf shows -1, we the event's field.
        assert len(ours) == len(theirs), words
        assert [pair for pair in zip(ours, theirs) if pair[0] != pair[1] and ':-1[' not in pair[1]] == [], words


def test_switches_that_are_missing(tally, perf, tmp_path):
    """Some kernels record no events within some threads: an idle time then follows another one."""
    if '6.1' not in perf('--version').stdout:
        pytest.skip('other versions of perf have other tables')
    r = Scheduler()
    r.switch(1, 7, 0, state=1)
    r.switch(2, 0, 68)  # 68's switch to idle is missing
    r.switch(5, 0, 8)
    r.switch(6, 8, 0, state=1)
    r.switch(9, 0, 7)
    r.switch(10, 7, 0, state=1)
    path = tmp_path / 'missing.data'
    r.write(path)
    theirs = perf('sched', 'timehist', '-I', '-i', path).stdout
    assert theirs.count('<idle>') == 2
    assert tally('sched', 'timehist', '-I', '-i', path, check=0).stdout == theirs
    sums = tally('sched', 'timehist', '-I', '-s', '-i', path, check=0).stdout
    assert 'Total number of context switches: 5' in sums and re.search(r':7\[7\] +-1 +1 +1.000 ', sums)


def test_who_is_woken_and_never_seen(tally, perf, tmp_path):
    """A task that only others' events name has no process to show; a record of its name, or what it does, tells one."""
    if '6.1' not in perf('--version').stdout:
        pytest.skip('other versions of perf have other tables')
    r = Scheduler()
    r.record(3, 0, r.pack('II', 20, 21) + r.name('thread') + r.trailer())
    for when, pid in ((1, 8), (2, 21), (3, 8), (5, 8)):
        r.happen(WAKEUP, when, tid=7, pid=pid, comm='woken')
        r.switch(when + 0.5, 7, 8 if when == 3 else 7)
    r.switch(4, 8, 7)
    path = tmp_path / 'woken.data'
    r.write(path)
    theirs = perf('sched', 'timehist', '-w', '-i', path).stdout
    ours = tally('sched', 'timehist', '-w', '-i', path, check=0).stdout
    assert re.findall('awakened: (.*)', ours) == [':8', 'thread[21/20]', ':8', ':8[8]']
    ran = '       1.004000'  # from here on perf passes over what 8 tells itself
    assert ours.split(ran)[0] == theirs.split(ran)[0]
    assert re.sub(r':8(\[8\])?', ':8', ' '.join(ours.split())) == ' '.join(theirs.split())


def delays(tally, path, *words):
    document = json.loads(tally('sched', 'latency', '--json', *words, '-i', path, check=0).stdout)
    json_schema.check(document, SCHEMA)
    return document


def test_delays_as_json(tally, tmp_path):
    r = Scheduler()
    path = tmp_path / 'delays.data'
    for pid, name in ((7, 'alike'), (8, 'alike'), (9, 'other')):
        r.record(3, 0, r.pack('II', pid, pid) + r.name(name) + r.trailer())
    r.switch(1, 0, 7)
    r.happen(WAKEUP, 2, tid=7, pid=8, comm='alike')
    r.switch(3, 7, 8)  # 7 could go on, and waits
    r.happen(WAKEUP, 4, tid=8, pid=9, comm='other')
    r.switch(6, 8, 9, state=1)
    r.switch(10, 9, 7, state=1)
    r.write(path)
    ms, start = 10**6, 10**9
    def row(comm, tid, switches, total, first, last):
        tids = {'tid': tid} if tid else {}
        return {'comm': comm, **tids, 'tasks': 1 if tid else 2, 'runtime_ns': 0, 'switches': switches,
                'delay_total_ns': total * ms, 'delay_avg_ns': total * ms // switches, 'delay_max_ns': (last - first) * ms,
                'delay_max_start_ns': start + first * ms, 'delay_max_end_ns': start + last * ms}
    apart = delays(tally, path, '-p')
    assert apart['latency'] == [row('alike', 7, 2, 7, 3, 10), row('other', 9, 1, 2, 4, 6), row('alike', 8, 1, 1, 2, 3)]
    assert apart['schema'] == 1 and apart['path'] == str(path) and apart['context_switch_bugs'] == 0
    assert delays(tally, path)['latency'] == [row('alike', None, 3, 8, 3, 10), row('other', 9, 1, 2, 4, 6)]
    text = tally('sched', 'latency', '-p', '-i', path, check=0).stdout
    assert re.findall(r'^  (\w+):(\d+) .*\| max: +([\d.]+) ms', text, re.M) == \
        [(task['comm'], str(task['tid']), f"{task['delay_max_ns'] / ms:.3f}") for task in apart['latency']]
    assert 'mutually exclusive' in tally('sched', 'latency', '--json', '-D', '-i', path, check=129).stderr


def counts(table):
    return dict(re.findall(r'^  (sleep:\d+) +\| +[\d.]+ ms \| +(\d+) \| avg:', table, re.M))


@pytest.mark.alone  # the whole machine's programs named sleep are looked for
def test_delays_of_a_live_recording(tally, live):
    shown = tally('sched', 'latency', '-p', '-i', live, check=0)
    assert '--waking' not in shown.stderr
    # There are threads within which some kernels record nothing, so that some switches are missing (for perf too): as
    # many delays as there are sleeps that were seen to be woken and then switched to.
    woken, delayed, sleeps = set(), set(), set()
    for row in tally('script', '-i', live, '-F', 'event,trace', check=0).stdout.splitlines():
        wake = re.search(r'sched:sched_wakeup(?:_new)?: .*? pid=(\d+) prio', row)
        switch = re.search(r'prev_comm=(.*) prev_pid=(\d+) .* next_comm=(.*) next_pid=(\d+)', row)
        if wake:
            woken.add(wake[1])
        if switch:
            delayed |= {switch[4]} & woken
            sleeps |= {pid for name, pid in (switch.groups()[:2], switch.groups()[2:]) if name == 'sleep'}
    assert {f'sleep:{pid}' for pid in delayed & sleeps} == set(counts(shown.stdout))
    assert len(sleeps) == 3 and all(int(count) >= 1 for count in counts(shown.stdout).values())
    # Wakings come a moment before wake-ups: no delay is lost or made by asking for both.
    both = tally('sched', 'latency', '-p', '--waking', '-i', live, check=0).stdout
    assert counts(both) == counts(shown.stdout)


@pytest.mark.parametrize('words', ['latency', 'timehist --summary', 'timehist', 'map'])
def test_what_comes_before_damage_is_shown(tally, tmp_path, words):
    r = Scheduler()
    for pid in (7, 8):
        r.record(3, 0, r.pack('II', pid, pid) + r.name(f'task{pid}') + r.trailer())
    r.switch(1, 0, 7)
    r.happen(WAKEUP, 2, tid=7, pid=8, comm='task8')
    r.switch(3, 7, 8, state=1)
    r.switch(5, 8, 7, state=1)
    whole, damaged = tmp_path / 'whole.data', tmp_path / 'damaged.data'
    r.write(whole)
    r.records += r.pack('IHH', 9, 2, 0) + bytes(64)
    r.write(damaged)
    expected = tally('sched', *words.split(), '-i', whole, check=0).stdout
    result = tally('sched', *words.split(), '-i', damaged, check=255)
    assert 'task8' in expected and result.stdout == expected
    assert re.search(r'a record of type 9 has an invalid size of 0 bytes at offset 0x[0-9a-f]+$', result.stderr.strip())


def test_states_are_the_kernels(tally, shared_recording):
    data = shared_recording('sched')
    rows = tally('sched', 'timehist', '--state', '-i', data, check=0).stdout
    assert re.search(r'rcu_preempt\[15\] .* I ', rows) and re.search(r'demo\[16610\] .* Z ', rows)
    sums = tally('sched', 'timehist', '--state', '-s', '-i', data, check=0).stdout
    assert re.search(r'demo\[16608\] +16607 +5 +8.046 +0.067 +0.000 +7.982 +0.058', sums)


def test_chains(tally, tmp_path):
    path = tmp_path / 'chains.data'
    if tally('sched', 'record', '-g', '-o', path, 'sleep', '0.01', check=None).returncode != 0:
        pytest.skip('the scheduler\'s tracepoints cannot be recorded here')
    rows = tally('sched', 'timehist', '--max-stack', '3', '-i', path, check=0).stdout
    asleep = [row for row in rows.splitlines() if re.search(r' sleep\[\d+\]', row) and 'nanosleep' in row]
    assert asleep and all('schedule <-' not in row for row in asleep)
    assert '<-' not in tally('sched', 'timehist', '--no-call-graph', '-i', path, check=0).stdout


def test_priorities_and_waiting_before_migrations(tally, recordings):
    data = recordings / 'sched.data'
    rows = tally('sched', 'timehist', '--show-prio', '-P', '--state', '-i', data, check=0).stdout.splitlines()
    assert rows[0].split() == 'time cpu task name prio wait time sch delay run time pre-mig time state'.split()
    assert len(rows[1]) == len(rows[2])
    kernels = [row for row in rows if ' migration/' in row]
    assert kernels and all(row.split()[3] == '0' and row.split()[-1] == 'S' for row in kernels)
    plain = tally('sched', 'timehist', '-i', data, check=0).stdout.splitlines()
    only = tally('sched', 'timehist', '--prio', '0-99', '-i', data, check=0).stdout.splitlines()
    assert only == plain[:3] + [row for row in plain if ' migration/' in row]
    rest = tally('sched', 'timehist', '--prio', '100-139', '-i', data, check=0).stdout.splitlines()
    assert sorted(only[3:] + rest[3:]) == sorted(plain[3:])


def test_a_map_of_some_tasks(tally, shared_recording):
    data = shared_recording('sched')
    rows = tally('sched', 'map', '--task-name', 'demo', '-i', data, check=0).stdout
    assert set(re.findall(r'=> (\S+):', rows)) == {'demo'}
    gone = [row for row in rows.splitlines() if '*- ' in row]
    assert gone and all('=>' not in row for row in gone)
    fuzzy = tally('sched', 'map', '--task-name', 'nothing,em', '--fuzzy-name', '-i', data, check=0).stdout
    assert set(re.findall(r'=> (\S+):', fuzzy)) == {'demo', 'rcu_preempt'}
    assert tally('sched', 'map', '--task-name', 'em', '-i', data, check=0).stdout == ''
    coloured = tally('sched', 'map', '--color-pids', '16610', '--color-cpus', '1', '-i', data, check=0).stdout
    assert coloured == tally('sched', 'map', '-i', data, check=0).stdout  # colours are a terminal's


def test_script(tally, recordings):
    data = recordings / 'sched.data'
    expected = tally('script', '-i', data, check=0).stdout
    assert 'sched:sched_switch' in expected
    assert tally('sched', 'script', '-i', data, check=0).stdout == expected
    assert tally('sched', '-i', data, 'script', check=0).stdout == expected


def test_options_before_the_verb(tally, recordings):
    data = recordings / 'sched.data'
    assert tally('sched', '-i', data, 'lat', check=0).stdout == tally('sched', 'latency', '-i', data, check=0).stdout


def test_verbose_counts(tally, shared_recording):
    shown = tally('sched', 'map', '-v', '-i', shared_recording('sched'), check=0).stderr
    assert 'note: 23 switches, 10 wakings, 0 wake-ups, 3 of new tasks' in shown and ' 2 migrations' in shown


def test_records_before_the_table(tally, recordings):
    dump, table = (tally(*words, '-i', recordings / 'sched.data', check=0).stdout
                   for words in (('report', '-q', '-D'), ('sched', 'latency')))
    for words in (('sched', 'latency', '-D'), ('sched', '-D', 'latency')):
        assert tally(*words, '-i', recordings / 'sched.data', check=0).stdout == dump + table


def lost(recording, when, count, cpu=0):
    recording.record(2, 0, recording.pack('QQIIQIIQ', 1, count, 0, 0, 10**9 + when * 10**6, cpu, 0, 1))


def test_no_time_goes_on_across_lost_events(tally, tmp_path):
    r = Scheduler()
    r.switch(1, 0, 7)
    r.happen(WAKEUP, 2, tid=7, pid=8, comm='task8')
    r.switch(3, 7, 8, state=1)
    r.happen(WAKEUP, 3.5, cpu=1, tid=6, pid=7, comm='task7')
    lost(r, 900, 40)
    r.switch(1000, 8, 7, state=1)
    r.switch(1001, 7, 8, state=1)
    path = tmp_path / 'lost.data'
    r.write(path)
    history = tally('sched', 'timehist', '-i', path, check=0)
    rows = [line.split()[-3:] for line in history.stdout.splitlines() if line[:3].strip().isdigit() or ' [000' in line]
    assert rows[-2:] == [['0.000', '0.000', '0.000'], ['0.000', '0.000', '1.000']]
    assert '40 events were lost' in history.stderr and 'events were lost within 2 run times or waits' in history.stderr
    assert '999.' not in tally('sched', 'timehist', '-s', '-i', path, check=0).stdout
    table = delays(tally, path)
    assert table['lost_events'] == 40 and table['cut_delays'] == 1
    assert max(task['delay_max_ns'] for task in table['latency']) < 2 * 10**6
    drawn = tally('sched', 'map', '-i', path, check=0)
    assert '40 events were lost' in drawn.stderr


def test_a_map_forgets_who_runs_where_events_were_lost(tally, tmp_path):
    r = Scheduler()
    r.switch(1, 0, 7, cpu=0)
    r.switch(2, 0, 8, cpu=1)
    lost(r, 3, 5, cpu=1)
    r.switch(4, 7, 9, cpu=0)
    path = tmp_path / 'map.data'
    r.write(path)
    last = tally('sched', 'map', '--compact', '-i', path, check=0).stdout.splitlines()[-1]
    assert last.split()[:2] == ['*C0', '1.004000']  # no B0 beside it


@pytest.mark.parametrize('words', [['timehist', '-p', '99'], ['timehist', '-s', '-t', '99'], ['timehist', '-C', '77'],
                                   ['timehist', '--time', '9,10'], ['latency', '-C', '77'], ['latency', '--json', '-C', '77'],
                                   ['latency', '--time', '9,10'], ['map', '--cpus', '77']], ids=' '.join)
def test_options_that_leave_nothing_say_so(tally, tmp_path, words):
    r = Scheduler()
    r.switch(1, 0, 7)
    r.switch(2, 7, 0)
    path = tmp_path / 'few.data'
    r.write(path)
    shown = tally('sched', *words, '-i', path, check=0)
    assert f'note: none of the 2 switches of {path} passes the filters' in shown.stderr
    assert '--json' not in words or json.loads(shown.stdout)['latency'] == []
    assert 'passes the filters' not in tally('sched', words[0], '-i', path, check=0).stderr


def test_a_chart_of_nobody_says_so(tally, tmp_path):
    r = Scheduler()
    r.switch(1, 0, 7)
    r.switch(2, 7, 0)
    path = tmp_path / 'few.data'
    r.write(path)
    chart = ['timechart', '-i', path, '-o', tmp_path / 'x.svg', '-p']
    assert 'matches -p' in tally(*chart, 'nobody', check=0).stderr
    assert 'matches -p' not in tally(*chart, '7', check=0).stderr


def cut_before_features(tally, path, to):
    shown = tally('report', '--header-only', '-i', path, check=0).stdout
    end = int(re.search(r'feat offset *: (\d+)', shown)[1])
    to.write_bytes(path.read_bytes()[:end - 20])
    return to


def test_a_cut_recording_of_ours_has_its_names(tally, live, tmp_path):
    whole = tally('sched', 'timehist', '-i', live, check=0).stdout.splitlines()
    cut = tally('sched', 'timehist', '-i', cut_before_features(tally, live, tmp_path / 'cut.data'), check=255)
    assert 'would have followed' not in cut.stderr
    assert len(cut.stdout.splitlines()) >= len(whole) - 1


def test_a_cut_recording_without_names_says_so(tally, recordings, tmp_path):
    path = cut_before_features(tally, recordings / 'sched.data', tmp_path / 'cut.data')
    cut = tally('sched', 'timehist', '-i', path, check=255).stderr
    assert re.search(r'cut at offset 0x\w+: the names and fields of its \d+ tracepoints would have followed', cut)


def test_refusals(tally, recordings):
    data = recordings / 'sched.data'
    assert 'Unknown --sort key' in tally('sched', 'latency', '-s', 'foo', '-i', data, check=129).stderr
    assert 'mutually exclusive' in tally('sched', 'timehist', '-sw', '-i', data, check=129).stderr
    assert 'Invalid time string' in tally('sched', 'timehist', '--time', 'x', '-i', data, check=234).stderr
    assert 'sched record' in tally('sched', 'timehist', '-i', recordings / 'u.data', check=255).stderr
    assert 'Invalid prio' in tally('sched', 'timehist', '--prio', '9-3', '-i', data, check=255).stderr
    assert 'cpu_list' in tally('sched', 'map', '--color-cpus', 'x', '-i', data, check=255).stderr
    for words in (['replay'], ['foo'], [], ['latency', 'x'], ['-D', 'replay']):
        tally('sched', *words, check=129)
    for cut in ('trunc.data', 'bad.data', 'empty.data'):
        tally('sched', 'latency', '-i', recordings / cut, check=255)


def test_histogram_of_delays(tally, recordings):
    data = recordings / 'sched.data'
    table = tally('sched', 'latency', '-i', data, check=0).stdout
    total = int(re.search(r'TOTAL: .* ms \| +(\d+) \|', table).group(1))
    for options in (['-H'], ['--histogram', '--hist-mode', 'log'], ['--hist-mode', 'linear']):
        shown = tally('sched', 'latency', *options, '-i', data, check=0).stdout
        assert shown.startswith(table) and f'(total samples: {total})' in shown
        rows = re.findall(r'^  (\S.*?) +\| +(\d+) \| +([\d.]+)% \| (#+)$', shown[len(table):], re.M)
        assert sum(int(count) for _, count, _, _ in rows) == total
        assert all(len(bar) == max(1, int(40 * int(count) / total)) for _, count, _, bar in rows)
        document = json.loads(tally('sched', 'latency', '--json', *options, '-i', data, check=0).stdout)
        json_schema.check(document, SCHEMA)
        assert [bucket['delays'] for bucket in document['histogram']] == [int(count) for _, count, _, _ in rows]
    tally('sched', 'latency', '--hist-mode', 'other', '-i', data, check=129)


def test_latency_of_a_part_of_the_recording(tally, recordings):
    data = recordings / 'sched.data'
    rows = json.loads(tally('sched', 'latency', '-p', '--json', '-i', data, check=0).stdout)['latency']
    ends = sorted(row['delay_max_end_ns'] for row in rows if row['delay_max_ns'])
    cut = ends[len(ends) // 2] / 1e9
    parts = [json.loads(tally('sched', 'latency', '-p', '--json', '--time', span, '-i', data, check=0).stdout)['latency']
             for span in (f',{cut:.9f}', f'{cut + 1e-9:.9f},')]
    assert sum(row['switches'] for part in parts for row in part) == sum(row['switches'] for row in rows)
    assert all(row['delay_max_end_ns'] <= cut * 1e9 + 1 for row in parts[0])
    assert all(row['delay_max_end_ns'] > cut * 1e9 - 1 for row in parts[1] if row['delay_max_ns'] > 0)


def schema_of(name):
    return json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / f'{name}.json').read_text(encoding='utf-8'))


def document_of(tally, verb, path, *words):
    document = json.loads(tally('sched', verb, '--json', *words, '-i', path, check=0).stdout)
    json_schema.check(document, schema_of(f'sched-{verb}'))
    assert set(document) <= set(schema_of(f'sched-{verb}')['properties'])
    return document


def cut(ns, unit, digits):
    """As the text cuts times: 1234567 ns are 1.234 ms."""
    scale = unit // 10 ** digits
    return f'{ns // unit}.{ns % unit // scale:0{digits}d}'


def row_of(row):
    """A row of the JSON as words of the text."""
    def name(task):
        place = '' if task['tid'] == 0 or 'pid' not in task else f"[{task['tid']}" + (
            '' if task['pid'] == task['tid'] else f"/{task['pid']}") + ']'
        return (task['comm'] + place).split()
    words = [cut(row['time_ns'], 10**9, 6), f"[{row['cpu']:04}]", *name(row)]
    if row['kind'] == 'switch':
        return words + [cut(row[key], 10**6, 3) for key in ('wait_ns', 'delay_ns', 'run_ns')]
    other = row['awakened'] if row['kind'] == 'wakeup' else row['migrated']
    to = ['cpu', str(row['from_cpu']), '=>', str(row['to_cpu'])] if row['kind'] == 'migration' else []
    return words + [row['kind'].replace('wakeup', 'awakened:').replace('migration', 'migrated:'), *name(other), *to]


@pytest.mark.parametrize('words', [(), ('-w', '-M'), ('-C', '1'), ('-t', '4528')])
def test_rows_of_timehist_as_json(tally, words):
    path = CORPUS / 'sched.data'
    text = tally('sched', 'timehist', *words, '-i', path, check=0).stdout.splitlines()[3:]
    rows = document_of(tally, 'timehist', path, *words)['rows']
    assert len(rows) > 0 and [row_of(row) for row in rows] == [line.split() for line in text]


def test_states_and_chains_of_timehist_as_json(tally):
    path = CORPUS / 'sched.data'
    text = tally('sched', 'timehist', '--state', '-n', '-i', path, check=0).stdout.splitlines()[3:]
    rows = document_of(tally, 'timehist', path)['rows']
    told = [f"{row['state']} next: {row['next']['comm']}[{row['next']['tid']}]" for row in rows]
    assert [re.search(r'([A-Z]) +(next: .*\])', line).groups() for line in text] == [tuple(t.split(' ', 1)) for t in told]


@pytest.mark.parametrize('words', [('-s',), ('-S',), ('-M', '-s'), ('-I', '-s')])
def test_the_summary_of_timehist_as_json(tally, words):
    path = CORPUS / 'sched.data'
    text = tally('sched', 'timehist', *words, '-i', path, check=0).stdout
    document = document_of(tally, 'timehist', path, *words)
    assert (document['rows'] == []) == ('-s' in words)
    summary = document['summary']
    lines = [line.split() for line in text.split('-' * 117)[1].split('\nIdle stats')[0].splitlines() if '[' in line]
    tasks = [[str(task.get('parent', -1)), str(task['count']), *(cut(task[key], 10**6, 3) for key in (
        'total_ns', 'min_ns', 'avg_ns', 'max_ns')), f"{task['error_percent']:.2f}", str(task['migrations'])]
        for task in sorted(summary['tasks'], key=lambda task: task['has_exited'])]
    assert [line[-8:] for line in lines] == tasks
    assert f"unique tasks: {summary['unique_tasks']}\n" in text and f"switches: {summary['switches']}\n" in text
    assert f"Total run time (msec): {cut(summary['run_ns'], 10**6, 3)}" in re.sub('msec\\): +', 'msec): ', text)
    assert f"(x {summary['cpu_count']})" in text
    for cpu in summary['cpus']:
        assert re.search(rf"CPU +{cpu['cpu']} idle (entire|for +{re.escape(cut(cpu['idle_ns'], 10**6, 3))} )", text)


def test_switches_of_map_as_json(tally):
    path = CORPUS / 'sched.data'
    text = tally('sched', 'map', '-i', path, check=0).stdout.splitlines()
    switches = document_of(tally, 'map', path)['switches']
    assert [cut(switch['time_ns'], 10**9, 6) for switch in switches] == [line.split(' secs')[0].split()[-1] for line in text]
    names = dict(found for line in text for found in re.findall(r'(\w\d|\.) +=> (.*)$', line))
    last = re.findall(r'[A-Z]\d|\.(?= )', text[-1].split(' secs')[0].rsplit(' ', 1)[0])
    told = [next(task.rsplit(':', 1)[1] for letters, task in names.items() if letters == shown) for shown in last if shown != '.']
    assert told == [str(running['tid']) for running in switches[-1]['running'] if running['tid']]
    only = document_of(tally, 'map', path, '--task-name', 'cc1')['switches']
    assert {switch.get('comm') for switch in only} == {'cc1', None}


def test_options_that_json_does_not_take(tally):
    for verb, option in (('timehist', '-V'), ('timehist', '--state'), ('map', '--compact')):
        result = tally('sched', verb, '--json', option, '-i', CORPUS / 'sched.data')
        assert result.returncode == 129
        assert '--json has all' in result.stderr or 'text output only' in result.stderr
