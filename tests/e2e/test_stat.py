# SPDX-License-Identifier: Apache-2.0
"""stat on live events: layouts beside perf's, counts that are known beforehand, targets, signals, output forms."""
import json
import os
import re
import pathlib
import resource
import select
import signal
import subprocess
import sys
import time

import pytest
from conftest import (BUILD, TIMEOUT_S, child_named, normalise_numbers, until_worked, wait_for, wait_for_work,
                      waits_with_counters)


@pytest.fixture
def tracepoints(system_wide):
    if not os.access('/sys/kernel/tracing/events/syscalls/sys_enter_write/id', os.R_OK):
        pytest.skip('tracepoints of system calls are not readable here')


def rows(text):
    """{event: value} of a table."""
    found = {}
    for line in text.splitlines():
        match = re.match(r'\s*([\d.,]+|<not \w+>)\s+(?:msec |ns )?\s*(\S+)\s*(#|\(|$)', line)
        if match and 'seconds' not in line:
            found[match[2]] = match[1] if match[1][0] == '<' else float(match[1].replace(',', ''))
    return found


def shape(text):
    """Lines without digits; which values have a unit prefix or a deviation differs from run to run."""
    text = re.sub(r'\( \+-\s*[\d.]+% \)', '', text)
    text = re.sub(r'[KMG]/sec', '/sec', normalise_numbers(text))
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and 'not supported:' not in line]


# What perf 6.1 and later versions print alike; the default set differs between them.
LAYOUTS = {
    'clocks': '-e task-clock,cpu-clock,context-switches,page-faults true',
    'group': '-e {task-clock,page-faults} true',
    'modifiers': '-e task-clock:u,page-faults:uk true',
    'all CPUs': '-a -e cpu-clock,page-faults sleep 0.05',
    'one CPU': '-C 0 -e cpu-clock sleep 0.05',
    'per CPU': '-a -A -e cpu-clock sleep 0.05',
    'per core': '-a --per-core -e cpu-clock sleep 0.05',
    'per socket': '-a --per-socket -e cpu-clock sleep 0.05',
    'per node': '-a --per-node -e cpu-clock sleep 0.05',
    'repeat': '-r 3 -e task-clock,page-faults true',
    'null': '-n true',
    'CSV': '-x, -e task-clock,page-faults true',
    'CSV per CPU': '-x; -a -A -e cpu-clock sleep 0.05',
    'CSV of runs': '-x, -r 2 -e task-clock true',
    'not counted': '-D -1 -e page-faults sleep 0.02',
}


@pytest.mark.parametrize('name', LAYOUTS)
def test_layout_is_perfs(tally, perf, system_wide, name):
    words = LAYOUTS[name].split()
    version = perf('--version').stdout
    if 'perf version 6.1' not in version:
        pytest.skip(f'the layout of perf 6.1 is meant, and this is {version.strip()}')
    assert shape(tally('stat', *words, check=0).stderr) == shape(perf('stat', *words, check=0).stderr)


def test_page_faults_are_perfs(tally, perf, live, workload):
    """Of a program whose only variation is the loader's: within 2."""
    command = [workload('faults').path, 300]
    counts = [[rows(tool('stat', '-e', 'page-faults:u', *command, check=0).stderr)['page-faults:u'] for _ in range(3)]
              for tool in (tally, perf)]
    assert abs(min(counts[0]) - min(counts[1])) <= 2, counts


def test_task_clock_is_the_time_that_was_spent(tally, live, workload):
    text = tally('stat', '-e', 'task-clock', workload('spin').path, check=0).stderr
    user, system = (float(re.search(rf'([\d.]+) seconds {name}', text)[1]) for name in ('user', 'sys'))
    clock = rows(text)['task-clock'] / 1000
    assert abs(clock - user - system) < 0.05 * clock + 0.02, text


@pytest.mark.alone  # beside others it was seen 3 apart
def test_a_group_counts_what_its_members_count_alone(tally, live, workload):
    command = [workload('faults').path, 200]
    alone = rows(tally('stat', '-e', 'page-faults:u', *command, check=0).stderr)['page-faults:u']
    group = rows(tally('stat', '-e', '{context-switches,page-faults}:u', *command, check=0).stderr)['page-faults']
    assert abs(alone - group) <= 2


def test_tracepoints_count_each_call(tally, tracepoints):
    script = 'echo a; echo b; echo c'
    text = tally('stat', '-e', 'syscalls:sys_enter_write', 'sh', '-c', script, check=0).stderr
    assert rows(text)['syscalls:sys_enter_write'] == 3


def test_a_filter_counts_some_calls(tally, tracepoints):
    words = '-e syscalls:sys_enter_write --filter count==4'.split()
    text = tally('stat', *words, 'sh', '-c', 'echo a; echo bcd; echo efg', check=0).stderr
    assert rows(text)['syscalls:sys_enter_write'] == 2


def test_children_count_unless_told_otherwise(tally, live):
    script = 'i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i+1)); done'
    with_children, alone = (rows(tally('stat', *options, '-e', 'page-faults:u', 'sh', '-c', script, check=0).stderr)
                            ['page-faults:u'] for options in ([], ['-i']))
    assert with_children > alone + 50 * 20


def test_cpus_add_up(tally, system_wide):
    text = tally('stat', '-a', '-A', '-e', 'cpu-clock', 'sleep', 0.2, check=0).stderr
    per_cpu = [float(line.split()[1]) for line in text.splitlines() if line.startswith('CPU')]
    assert len(per_cpu) == os.cpu_count()
    assert all(150 < value for value in per_cpu), text


@pytest.mark.parametrize('option', ['-p', '-t'])
def test_running_process(tally, live, workload, option):
    target = workload('spin').start('5000')
    try:
        text = tally('stat', '-e', 'task-clock', option, target.pid, '--', *until_worked(target.pid, 0.1), check=0).stderr
    finally:
        target.kill()
        target.communicate()
    assert 0 < rows(text)['task-clock'] < 5000
    assert f"for {'process' if option == '-p' else 'thread'} id '{target.pid}':" in text


def test_ends_with_its_target(tally, live):
    target = subprocess.Popen(['sleep', '60'])
    stat = tally.start('stat', '-e', 'task-clock', '-p', str(target.pid))
    wait_for(lambda: waits_with_counters(stat.pid))
    target.kill()
    target.wait()
    _, text = stat.communicate(timeout=TIMEOUT_S)
    assert stat.returncode == 0 and 'seconds time elapsed' in text


def thread_names(pid):
    return {path.read_text().strip() for path in pathlib.Path(f'/proc/{pid}/task').glob('*/comm')}


def test_threads_apart(tally, live, workload):
    target = workload('threads').start('20000')
    try:
        wait_for(lambda: len(thread_names(target.pid) & {f'worker-{n}' for n in range(4)}) == 4)
        text = tally('stat', '--per-thread', '-e', 'task-clock', '-p', target.pid, '--',
                     *until_worked(target.pid, 0.4), check=0).stderr
    finally:
        target.kill()
        target.communicate()
    values = [float(match[1]) for match in re.finditer(r'^\s*worker-\d-\d+\s+([\d.]+) msec', text, re.M)]
    assert len(values) == 4
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize('script, status', [('exit 7', 7), ('exit 0', 0), ('kill -9 $$', 137)])
def test_exit_status(tally, live, script, status):
    result = tally('stat', '-e', 'task-clock', 'sh', '-c', script, check=status)
    assert ('sh: Killed' in result.stderr) == ('kill' in script)


def test_missing_hardware_is_explained_once(tally, live, hardware_absent):
    text = tally('stat', '-e', 'cycles,instructions,page-faults', 'true', check=0).stderr
    assert rows(text)['cycles'] == '<not supported>'
    lines = [line for line in text.splitlines() if line.startswith('<not supported>')]
    assert len(lines) == 1 and 'cycles, instructions: ' in lines[0] and 'PMU' in lines[0]


def test_csv_for_scripts_is_not_mixed_with_words(tally, live):
    lines = tally('stat', '-x,', '-e', 'page-faults,cycles', 'true', check=0).stderr.splitlines()
    assert len(lines) == 2 and all(line.count(',') == 6 for line in lines), lines


def test_json_lines(tally, live):
    text = tally('stat', '-j', '-r', 2, '-e', 'task-clock,page-faults', 'true', check=0).stderr
    events = [json.loads(line) for line in text.splitlines()]
    assert [event['event'] for event in events] == ['task-clock', 'page-faults']
    assert events[0]['metric-unit'] == 'CPUs utilized' and float(events[1]['counter-value']) > 10


def test_output_file(tally, live, tmp_path):
    path = tmp_path / 'out'
    for option in ([], ['--append']):
        result = tally('stat', *option, '-o', path, '-e', 'page-faults', 'true', check=0)
        assert result.stderr == ''
    text = path.read_text()
    assert text.count('# started on ') == 2 and text.count('page-faults') == 2


def test_intervals_and_summary(tally, live, workload):
    text = tally('stat', '-I', 100, '--summary', '-e', 'task-clock', workload('spin').path, check=0).stderr
    table, summary = text.split(' Performance counter stats for ')
    # On a loaded machine there are intervals in which the program did not run: <not counted>.
    values = [float(line.split()[1]) for line in table.splitlines() if 'task-clock' in line and '<not' not in line]
    assert table.startswith('#           time')
    total = rows(summary)['task-clock']
    assert len(values) >= 2 and abs(sum(values) - total) < 0.1


def test_interval_count_ends_it(tally, system_wide):
    lines = tally('stat', '-a', '-x,', '-I', 50, '--interval-count', 3, '-e', 'cpu-clock', 'sleep', 600,
                  check=0).stderr.splitlines()
    assert len([line for line in lines if 'cpu-clock' in line]) == 3


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_prints_what_was_counted(tally, system_wide, number):
    process = tally.start('stat', '-a', '-e', 'cpu-clock')
    wait_for(lambda: waits_with_counters(process.pid))
    time.sleep(0.3)
    process.send_signal(number)
    _, text = process.communicate(timeout=TIMEOUT_S)
    assert rows(text)['cpu-clock'] > 100
    assert process.returncode == -number


def test_an_interrupt_reaches_the_command(tally, live):
    process = tally.start('stat', '-e', 'task-clock', 'sleep', '600')
    wait_for(lambda: child_named(process.pid, 'sleep'))
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=TIMEOUT_S)
    assert 'sleep: Interrupt' in text and 'task-clock' in text
    assert process.returncode == -signal.SIGINT


def test_timeout_ends_the_command(tally, live):
    text = tally('stat', '--timeout', 100, '-e', 'task-clock', 'sleep', 600, check=0).stderr
    assert 0.09 < float(re.search(r'([\d.]+) seconds time elapsed', text)[1])


def test_pre_and_post_surround_each_run(tally, live):
    result = tally('stat', '-r', 2, '--pre', 'echo pre', '--post', 'echo post', '-e', 'task-clock', 'echo', 'run', check=0)
    assert result.stdout.split() == ['pre', 'run', 'post'] * 2


BAD = {
    'unknown event': ('-e cs,page-fautls true', 129, "event syntax error: 'cs,page-fautls'", "did you mean 'page-faults'"),
    'no event': ('-e  true', 129, 'parser error'),
    'open group': ('-e cs,{faults,nosuch true', 129, "event syntax error"),
    'unknown PMU': ('-e nopmu/x/ true', 129, 'Cannot find PMU `nopmu'),
    'unknown pid': ('-p 99999999 true', 234, 'no process 99999999', 'ps -e'),
    'unknown tid': ('-t 99999999 true', 234, 'no thread 99999999'),
    'unknown CPU': ('-C 4095 true', 1, 'No supported events found.', 'no CPU 4095', 'online'),
    'CPU list': ('-C 0-x true', 234, "'0-x'"),
    'runs': ('-r -1 true', 234, 'Run count'),
    'command': ('/nonexistent/command', 255, "cannot run '/nonexistent/command': No such file"),
    'output': ('-o /nonexistent/x true', 255, "cannot write '/nonexistent/x'"),
    'descriptor': ('--log-fd 77 true', 255, '--log-fd 77'),
    'per core of a command': ('--per-core true', 129, 'whole CPUs'),
    'cgroup of a command': ('-e cs -G x true', 129, 'whole CPUs'),
    'unbuilt': ('--record-tpebs true', 129, 'not supported yet'),
    'runs recorded': ('record -r 2 -o /dev/null true', 255, 'Cannot use -r option'),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_input(tally, live, name):
    line, status, *parts = BAD[name]
    result = tally('stat', *line.split(' '), check=status)
    for part in parts:
        assert part in result.stderr, result.stderr
    assert 'elapsed' not in result.stderr


def test_cpus_that_are_not_online_are_left_out(tally, system_wide, tmp_path):
    counted = tally('stat', '-C', '0,4093-4095', '-A', '-x,', '-e', 'cpu-clock', 'true', check=0).stderr
    assert 'warning: CPU 4093-4095 is not online' in counted
    assert [line.split(',')[0] for line in counted.splitlines() if 'cpu-clock' in line] == ['CPU0']
    recorded = tally('record', '-C', '0,4095', '-e', 'cpu-clock', '-o', tmp_path / 'c.data', 'true', check=0).stderr
    assert 'CPU 4095 is not online' in recorded


def as_nobody(tally, *arguments):
    if os.geteuid() != 0:
        pytest.skip('becoming another user needs root')
    return subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', tally.path, *map(str, arguments)],
                          text=True, capture_output=True, timeout=TIMEOUT_S, check=False, cwd='/')


def paranoid():
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as file:
        return int(file.read())


def test_without_privileges_user_mode_is_counted_and_said(tally, live):
    if paranoid() != 2:
        pytest.skip(f'perf_event_paranoid is {paranoid()}, 2 is meant')
    result = as_nobody(tally, 'stat', '-e', 'page-faults', 'true')
    assert result.returncode == 0 and rows(result.stderr)['page-faults:u'] > 10


def test_without_privileges_what_happens_in_the_kernel_is_no_0(tally, live):
    """In user mode alone they never happen; an explicit :u is what it says."""
    if paranoid() != 2:
        pytest.skip(f'perf_event_paranoid is {paranoid()}, 2 is meant')
    result = as_nobody(tally, 'stat', '-e', '{context-switches,page-faults},cpu-migrations,cs:u', 'true')
    counts = rows(result.stderr)
    assert counts['context-switches'] == counts['cpu-migrations'] == '<not counted>' and counts['cs:u'] == 0
    assert counts['page-faults:u'] > 10
    assert '<not counted> context-switches, cpu-migrations: perf_event_paranoid is 2' in result.stderr


def test_without_privileges_the_gate_is_named(tally, live):
    if paranoid() < 1:
        pytest.skip(f'perf_event_paranoid is {paranoid()}: nothing is closed')
    result = as_nobody(tally, 'stat', '-a', '-e', 'cpu-clock', 'true')
    assert result.returncode == 255
    assert 'perf_event_paranoid' in result.stderr and 'CAP_PERFMON' in result.stderr


def test_more_events_than_descriptors(tally, live):
    """The soft limit is raised; where the hard one is too low, how many are needed is said."""
    events = ','.join(['page-faults'] * 100)
    if os.geteuid() != 0:
        pytest.skip('setting a hard limit that can be put back needs root')
    soft = subprocess.run([tally.path, 'stat', '-x,', '-e', events, 'true'], text=True, capture_output=True, timeout=TIMEOUT_S,
                          check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (50, 4096)))
    assert soft.returncode == 0 and len(soft.stderr.splitlines()) == 100


def test_examples(live):
    def run(name, *words):
        return subprocess.run([BUILD / 'examples' / name, *words], text=True, capture_output=True, timeout=TIMEOUT_S,
                              check=True).stdout

    assert re.fullmatch(r'Current count: \d+ (cache-misses:u|page-faults:u)\n', run('two_lines'))
    lines = run('printf_instructions').splitlines()
    assert lines[0] == 'Measuring instruction count for this printf'
    assert re.match(r'Used [1-9]\d* (instructions$|ns of CPU time \(.*instructions)', lines[1])
    ratio = run('branch_ratio', '100').splitlines()
    assert ratio[-1] == '50'
    match = re.fullmatch(r'(\d+) / (\d+) (branches mispredicted|page faults needed the disk)', ratio[-2])
    assert int(match[1]) <= int(match[2])
    assert (match[3] == 'branches mispredicted') == (len(ratio) == 2)


def test_control_enables_and_stops(tally, tmp_path, system_wide):
    ctl, ack = tmp_path / 'ctl', tmp_path / 'ack'
    os.mkfifo(ctl)
    os.mkfifo(ack)
    answers = os.open(ack, os.O_RDWR | os.O_NONBLOCK)
    commands = os.open(ctl, os.O_RDWR)
    child = subprocess.Popen([str(tally.path), 'stat', '-x,', '-D', '-1', '--control', f'fifo:{ctl},{ack}', '-a', '-e',
                              'cpu-clock', '--', 'sleep', '60'], stderr=subprocess.PIPE, text=True)
    for command in (b'enable\n', b'ping\n', b'nonsense\n', b'disable\n', b'stop\n'):
        os.write(commands, command)
        if command != b'nonsense\n':
            assert select.select([answers], [], [], 50)[0], command
            assert os.read(answers, 100) == b'ack\n\0', command
    _, text = child.communicate(timeout=TIMEOUT_S)
    assert not select.select([answers], [], [], 0)[0]
    assert text.index('Events disabled') < text.index('Events enabled')
    value = next(line for line in text.splitlines() if 'cpu-clock' in line).split(',')[0]
    assert float(value) > 0
    os.close(answers)
    os.close(commands)


@pytest.mark.parametrize('option', ['--per-cache', '--per-cache=L2', '--per-cluster'])
def test_caches_and_clusters_are_the_newest_perfs(tally, newest_perf, option, system_wide):
    words = ['stat', '-x,', option, '-a', '-e', 'cpu-clock', 'sleep', '0.05']
    places = [[line.split(',')[:2] for line in subprocess.run([tool, *words], capture_output=True, text=True)
               .stderr.splitlines() if 'cpu-clock' in line] for tool in (newest_perf.path, tally.path)]
    assert places[0] == places[1]


RECORDED = {
    'command': '-e task-clock,page-faults,cycles -- true',
    'per CPU': '-a -A -e cpu-clock,page-faults -- sleep 0.05',
    'per core': '-a --per-core -e cpu-clock -- sleep 0.05',
    'per node': '-a --per-node -e cpu-clock -- sleep 0.05',
    'intervals': '-I 20 -a -e cpu-clock,page-faults -- sleep 0.05',
    'group': '-e {task-clock,page-faults} -- true',
}


def report_of(tool, path, *words):
    run = subprocess.run([str(getattr(tool, 'path', tool)), 'stat', *words, 'report', '-i', str(path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return [re.sub(r'\s*#.*', '', line).rstrip() for line in run.stderr.splitlines() if line.strip()
            and not line.startswith('#')]


@pytest.mark.parametrize('name', RECORDED)
def test_recorded_counts_are_read_by_both(tally, perf, system_wide, tmp_path, name):
    for writer in (tally, perf):
        path = tmp_path / 'stat.data'
        run = subprocess.run([str(writer.path), 'stat', 'record', '-o', str(path), *RECORDED[name].split()],
                             capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        ours = report_of(tally, path)
        assert ours and ours == report_of(perf, path)


def test_recorded_counts_by_other_places(tally, perf, system_wide, tmp_path):
    path = tmp_path / 'stat.data'
    subprocess.run([str(tally.path), 'stat', 'record', '-a', '-e', 'cpu-clock', '-o', str(path), 'sleep', '0.05'],
                   check=True, capture_output=True)
    for option in ('--per-core', '--per-socket', '--per-die', '--per-node', '-A'):
        texts = [subprocess.run([str(getattr(tool, 'path', tool)), 'stat', 'report', option, '-i', str(path)], capture_output=True,
                                text=True, check=True).stderr for tool in (tally, perf)]
        assert texts[0] == texts[1]
    line = subprocess.run([str(tally.path), 'stat', '-x,', 'report', '--per-cache', '-i', str(path)], capture_output=True,
                          text=True, check=True).stderr
    assert line.count('-ID') == line.count('cpu-clock') > 0


def test_counts_through_a_pipe(tally, perf, live, tmp_path):
    counts = {}
    for writer in tally, perf:
        pipe = subprocess.run([str(writer.path), 'stat', 'record', '-e', 'page-faults,task-clock', '-o', '-', 'sh', '-c', 'echo word'],
                              capture_output=True, timeout=TIMEOUT_S)
        assert pipe.returncode == 0 and b'word' in pipe.stderr
        assert b'Performance counter stats' not in pipe.stderr
        for reader in tally, perf:
            run = subprocess.run([str(reader.path), 'stat', 'report', '-i', '-'], input=pipe.stdout, capture_output=True, timeout=TIMEOUT_S)
            assert run.returncode == 0, run.stderr
            rows = [line for line in (run.stdout + run.stderr).decode().splitlines() if '#' in line]
            assert len(rows) == 2 and 'msec task-clock' in rows[1]
            counts.setdefault(writer, []).append(re.sub(' +', ' ', '\n'.join(rows)))
    assert all(texts[0] == texts[1] for texts in counts.values())  # each reader says the same of each pipe


@pytest.mark.parametrize('step', [97, pytest.param(11, marks=pytest.mark.long)])
def test_damaged_recording_of_counts(tally, system_wide, tmp_path, step):
    whole = tmp_path / 'whole.data'
    subprocess.run([str(tally.path), 'stat', 'record', '-a', '-A', '-e', 'cpu-clock,page-faults', '-o', str(whole), 'true'],
                   check=True, capture_output=True)
    data = whole.read_bytes()
    damaged = tmp_path / 'damaged.data'
    for at in range(0, len(data), step):
        for changed in (data[:at], data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]):
            damaged.write_bytes(changed)
            run = subprocess.run([str(tally.path), 'stat', 'report', '-i', str(damaged)], capture_output=True, timeout=TIMEOUT_S)
            assert run.returncode in (0, 255), run.stderr


def test_report_without_counts(tally, tmp_path):
    path = tmp_path / 'perf.data'
    subprocess.run([str(tally.path), 'record', '-e', 'cpu-clock', '-o', str(path), 'true'], check=True, capture_output=True)
    run = subprocess.run([str(tally.path), 'stat', 'report', '-i', str(path)], capture_output=True, text=True)
    assert run.returncode == 255 and 'no counts' in run.stderr


def test_zombie_is_refused(tally):
    child = subprocess.Popen(['true'])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    for option in ('-p', '-t'):
        result = tally('stat', option, child.pid, '-e', 'page-faults', 'sleep', '1', check=255)
        assert 'has ended already' in result.stderr
    child.wait()


@pytest.mark.parametrize('target', [[], ['-a']], ids=['command', 'all CPUs'])
def test_a_filter_that_the_kernel_refuses_ends_stat(tally, tracepoints, target):
    """As in record: a wrong condition is no event that the machine lacks."""
    for verb in ('stat', 'record'):
        words = ['-e', 'syscalls:sys_enter_write', '--filter', 'nosuch > 1', *target, '--', 'true']
        result = tally(verb, *words, check=255)
        assert 'failed to set filter "nosuch > 1" on event syscalls:sys_enter_write' in result.stderr
        assert 'not supported' not in result.stderr


def csv_counts(text):
    """[(event, count)] of CSV without places, in order; a count that is no number is its text."""
    found = []
    for line in text.splitlines():
        count, _, event = line.strip().split(',')[-7:][:3]
        found.append((event, float(count) if count[0] != '<' else count))
    return found


@pytest.fixture
def spinning(workload):
    """The pid of a program that only computes."""
    child = workload('spin').start(60000)
    wait_for_work(child.pid, 0.1)
    yield child.pid
    child.kill()
    child.wait()


TIMES = 'user_time,system_time,duration_time,task-clock'


@pytest.mark.parametrize('words', [['-p'], ['-t'], ['--per-thread', '-p'], ['-i', '-p']], ids=' '.join)
def test_times_are_those_of_the_target(tally, spinning, words):
    """The command only limits the measurement: the clock of the target says how much it ran."""
    text = tally('stat', '-x,', '-e', TIMES, *words, spinning, '--', *until_worked(spinning, 0.3), check=0).stderr
    counts = dict(csv_counts(text))
    ran = counts['user_time'] + counts['system_time']
    assert abs(ran - counts['task-clock'] * 1e6) < 50e6, text
    assert ran >= 200e6 and counts['duration_time'] >= 200e6


def test_times_of_threads_that_start_later(tally, workload, tmp_path):
    """-p counts the process: a thread that was not there at the start is in its time, as it is in its clock."""
    script = ('import sys, threading\nprint(end="r", flush=True)\nsys.stdin.read(1)\n'
              'thread = threading.Thread(target=lambda: sum(range(20000000)))\n'
              'thread.start()\nthread.join()\nprint(end=".", flush=True)\nsys.stdin.read(1)')
    # Not `python3`, which may be a script that starts other programs first: their time is in the clock only.
    child = subprocess.Popen([sys.executable, '-c', script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.read(1) == b'r'
    watcher = subprocess.Popen([str(tally.path), 'stat', '-x,', '-e', TIMES, '-p', str(child.pid)], text=True,
                               env=tally.environment, stderr=subprocess.PIPE)
    wait_for(lambda: waits_with_counters(watcher.pid))
    child.stdin.write(b'g')
    child.stdin.flush()
    assert child.stdout.read(1) == b'.'
    watcher.send_signal(signal.SIGINT)
    text = watcher.communicate(timeout=TIMEOUT_S)[1]
    child.kill()
    child.wait()
    counts = dict(csv_counts(text))
    assert counts['task-clock'] > 50 and abs(counts['user_time'] + counts['system_time'] - counts['task-clock'] * 1e6) < 100e6


@pytest.mark.parametrize('words', [['-a'], ['-C', '0'], ['-a', '-A'], ['-a', '--per-core'], ['-a', '--per-socket']],
                         ids=' '.join)
def test_times_are_those_of_the_cpus(tally, system_wide, spinning, words):
    os.sched_setaffinity(spinning, {0})
    text = tally('stat', '-x,', '-e', 'user_time,duration_time', *words, '--', 'sleep', 0.5, check=0).stderr
    users = [count for event, count in csv_counts(text) if event == 'user_time']
    durations = [count for event, count in csv_counts(text) if event == 'duration_time']
    assert sum(users) > 100e6 and max(users) <= (os.cpu_count() + 0.2) * durations[0]
    if words[-1] == '-A':
        assert len(users) == os.cpu_count() and len(durations) == 1
    else:
        assert len(set(durations)) == 1


def test_times_of_intervals(tally, workload):
    """Each interval has its own, of the command and of what it starts; together they are the whole."""
    text = tally('stat', '-x,', '-I', 100, '--summary', '-e', TIMES, '--', 'sh', '-c',
                 f'{workload("spin").path} 400; {workload("spin").path} 200', check=0).stderr
    rows = csv_counts(text)
    total = dict(row for row, line in zip(rows, text.splitlines()) if 'summary' in line)
    parts = [row for row, line in zip(rows, text.splitlines()) if 'summary' not in line]
    for event in ('user_time', 'system_time', 'duration_time'):
        assert abs(sum(count for name, count in parts if name == event) - total[event]) <= 2
    ran = [sum(count for _, count in parts[i:i + 2]) for i in range(0, len(parts), 4)]
    # On a busy machine, an interval can begin when the command has ended: <not counted>.
    clocks = [0 if isinstance(count, str) else count for name, count in parts if name == 'task-clock']
    assert all(time > 0 for time, clock in zip(ran, clocks) if clock > 30)  # ticks are of 10 ms
    assert abs(total['user_time'] + total['system_time'] - total['task-clock'] * 1e6) < 50e6


def test_times_after_a_delay(tally, workload):
    """What the command did before is not counted, and what was never enabled is no 0."""
    text = tally('stat', '-x,', '-D', 300, '-e', TIMES, '--', workload('spin').path, 600, check=0).stderr
    counts = dict(csv_counts('\n'.join(line for line in text.splitlines() if ',' in line)))
    assert abs(counts['user_time'] + counts['system_time'] - counts['task-clock'] * 1e6) < 50e6
    text = tally('stat', '-x,', '-D', -1, '-e', 'user_time,duration_time', '--', 'sleep', 0.1, check=0).stderr
    assert text.count('<not counted>') == 2


@pytest.mark.parametrize('group', ['{duration_time,page-faults}', '{page-faults,user_time,task-clock}',
                                   '{user_time,duration_time,page-faults,task-clock}', '{duration_time}'])
def test_a_group_with_tool_events_keeps_its_members(tally, live, group):
    counts = csv_counts(tally('stat', '-x,', '-e', group, '--', 'true', check=0).stderr)
    assert [event for event, _ in counts] == group.strip('{}').split(',')
    assert all(isinstance(count, float) for _, count in counts), counts
    assert dict(counts).get('page-faults', 10) >= 10


def test_tool_events_of_the_machine(tally, live):
    names = ['num_cpus', 'num_cpus_online', 'num_cores', 'num_dies', 'num_packages', 'smt_on', 'has_pmem', 'core_wide']
    counts = dict(csv_counts(tally('stat', '-x,', '-e', ','.join(names), '--', 'true', check=0).stderr))
    assert counts['num_cpus_online'] == os.sysconf('SC_NPROCESSORS_ONLN')
    assert counts['num_cpus'] == os.sysconf('SC_NPROCESSORS_CONF')
    assert counts['num_cpus'] >= counts['num_cores'] >= counts['num_dies'] >= counts['num_packages'] >= 1
    rows = csv_counts(tally('stat', '-x,', '-I', 30, '-e', 'tool/num_cpus/', '--', 'sleep', 0.1, check=0).stderr)
    assert len(rows) >= 2 and {count for _, count in rows} == {counts['num_cpus']}


def test_tool_events_are_recorded(tally, perf, spinning, tmp_path):
    data = tmp_path / 'perf.data'
    tally('stat', 'record', '-o', data, '-e', TIMES, '-p', spinning, '--', *until_worked(spinning, 0.2), check=0)
    result = tally('stat', '-x,', 'report', '-i', data, check=0)
    counts = dict(csv_counts(result.stdout + result.stderr))
    assert abs(counts['user_time'] + counts['system_time'] - counts['task-clock'] * 1e6) < 50e6
    assert counts['duration_time'] >= 0.1e9
