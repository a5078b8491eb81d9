# SPDX-License-Identifier: Apache-2.0
"""stat where every event is denied: getrusage and /proc count, and say so; --rung and --require-event choose."""
import json
import os
import subprocess
import sys

import pytest

import json_schema
from conftest import ROOT, TIMEOUT_S, wait_for
from test_refusals import denying
from test_stat import rows

SCHEMA = json.loads((ROOT / 'docs' / 'schema' / 'stat.json').read_text(encoding='utf-8'))
PAGE = os.sysconf('SC_PAGESIZE')
PAGES = 3000
EVENTS = 'task-clock,page-faults,minor-faults,major-faults,context-switches'
# Touches pages, itself and in a child, and prints what the kernel says that both used.
PROGRAM = f'''
import mmap, os, resource, sys, time
def touch():
    room = mmap.mmap(-1, {PAGES * PAGE})
    if hasattr(mmap, 'MADV_NOHUGEPAGE'):
        room.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range({PAGES}):
        room[i * {PAGE}] = 1
touch()
for i in range(20):
    time.sleep(0.001)
if len(sys.argv) > 1:
    child = os.fork()
    if child == 0:
        touch()
        os._exit(0)
    os.waitpid(child, 0)
both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(use.ru_utime + use.ru_stime for use in both), sum(use.ru_minflt for use in both), sum(use.ru_majflt for use in both),
      sum(use.ru_nvcsw + use.ru_nivcsw for use in both))
'''


@pytest.fixture(params=['EPERM', 'ENOSYS'])
def denied(request, tally, tmp_path):
    """Runs tally where a seccomp filter answers perf_event_open by this error."""
    prefix = denying(tmp_path, 'perf_event_open', request.param)

    def run(*words, check=0):
        result = subprocess.run([prefix, tally.path, *map(str, words)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                                stdin=subprocess.DEVNULL)
        assert check is None or result.returncode == check, result.stderr
        return result
    run.prefix = prefix
    return run


@pytest.fixture
def rusage(tally):
    """stat --rung rusage, which works everywhere."""
    def run(*words, check=0):
        result = tally('stat', '--rung', 'rusage', *words, check=check)
        return result
    return run


def label(text):
    first = text.splitlines()[0]
    assert first.startswith('# counted by getrusage and /proc (--rung rusage), which do not show hardware events'), text
    return first


def test_the_label_names_the_gate_and_the_next_step(denied):
    result = denied('stat', 'true')
    assert 'perf events are denied here: a seccomp filter' in label(result.stderr) and "'tally doctor'" in label(result.stderr)
    found = rows(result.stderr)
    assert found['task-clock'] > 0 and found['page-faults'] > 0
    assert found['cycles'] == '<not supported>'
    assert 'branch-misses: only perf events count what the CPU does; --simulate counts it' in result.stderr
    assert 'CPUs utilized' in result.stderr and 'seconds user' in result.stderr


@pytest.mark.parametrize('more', [[], ['child']])
def test_a_command_has_what_the_kernel_says_that_it_used(rusage, more):
    result = rusage('-e', EVENTS, '--', sys.executable, '-c', PROGRAM, *more)
    seconds, minor, major, switches = map(float, result.stdout.split())
    found = rows(result.stderr)
    assert PAGES * (1 + len(more)) <= found['minor-faults'] <= minor + 1500  # the interpreter's end comes after it
    assert minor - 200 <= found['minor-faults']
    assert found['page-faults'] == found['minor-faults'] + found['major-faults']
    assert major <= found['major-faults'] + 50
    assert seconds * 1000 - 10 <= found['task-clock'] <= seconds * 1000 + 1000
    assert 20 <= found['context-switches'] and switches - 50 <= found['context-switches'] <= switches + 10000


def test_it_agrees_with_events(rusage, tally, live):
    words = ['-x,', '-e', 'page-faults', '--', sys.executable, '-c', PROGRAM, 'child']
    events, other = tally('stat', *words).stderr, rusage(*words).stderr.split('\n', 1)[1]
    first, second = int(events.split(',')[0]), int(other.split(',')[0])
    assert abs(first - second) < 0.05 * first, (events, other)


SERVER = f'''
import mmap, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
while True:
    with open(sys.argv[1]) as fifo:
        if not fifo.read():
            break
    room = mmap.mmap(-1, {PAGES * PAGE})
    if hasattr(mmap, 'MADV_NOHUGEPAGE'):
        room.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range({PAGES}):
        room[i * {PAGE}] = 1
    with open(sys.argv[2], 'w') as fifo:
        fifo.write('done')
'''


@pytest.fixture
def server(tmp_path):
    """(process, a command that makes it touch pages and waits for that)."""
    asked, answered = tmp_path / 'asked', tmp_path / 'answered'
    os.mkfifo(asked)
    os.mkfifo(answered)
    with subprocess.Popen([sys.executable, '-c', SERVER, asked, answered]) as process:
        wait_for(lambda: len(os.listdir(f'/proc/{process.pid}/task')) == 2)
        yield process, ['sh', '-c', 'echo go > "$0"; cat "$1" > /dev/null', asked, answered]
        process.kill()


def test_a_process(denied, server):
    process, command = server
    result = denied('stat', '-e', EVENTS + ',cpu-migrations', '-p', process.pid, '--', *command)
    found = rows(result.stderr)
    assert 'children that the processes start' in label(result.stderr)
    assert PAGES <= found['page-faults'] <= PAGES + 500 and found['task-clock'] > 0 and found['context-switches'] >= 1
    assert found['cpu-migrations'] >= 0


def test_threads_of_a_process(denied, server):
    process, command = server
    result = denied('stat', '--per-thread', '-e', 'page-faults,task-clock,cpu-migrations', '-p', process.pid, '--', *command)
    faults = [line.split() for line in result.stderr.splitlines() if 'page-faults' in line]
    assert len(faults) == 2 and sorted(int(row[1].replace(',', '')) >= PAGES for row in faults) == [False, True]
    alone = rows(denied('stat', '-e', 'page-faults', '-t', process.pid, '--', *command).stderr)
    assert PAGES <= alone['page-faults'] <= PAGES + 500


def test_intervals_add_up_to_the_totals(rusage):
    result = rusage('-I', 20, '-x,', '--summary', '-e', 'page-faults,context-switches,task-clock', '--', sys.executable, '-c', PROGRAM,
                    'child')
    label(result.stderr)
    sums, totals = {}, {}
    for line in result.stderr.splitlines()[1:]:
        fields = [field.strip() for field in line.split(',')]
        if fields[0] == 'summary':
            totals[fields[3]] = float(fields[1])
        elif fields[1] != '<not counted>':
            sums[fields[3]] = sums.get(fields[3], 0) + float(fields[1])
    assert totals['page-faults'] >= 2 * PAGES and totals['context-switches'] >= 20
    for name, total in totals.items():
        assert abs(sums[name] - total) < 2, (name, sums, totals)  # milliseconds are rounded in each interval


def test_runs_and_forms(denied, tmp_path):
    table = denied('stat', '-r', 3, '--table', '-e', 'page-faults,cs', 'true').stderr
    label(table)
    assert '(3 runs)' in table and 'Table of individual measurements' in table
    for words in ([], ['-r', 2], ['-r', 2, '--stats'], ['-I', 20]):
        result = denied('stat', '-j', *words, '-e', 'page-faults,cycles', '--', 'sleep', '0.05')
        lines = [json.loads(line) for line in result.stderr.splitlines()]
        assert len(lines) >= 2
        for line in lines:
            if 'kind' not in line:
                json_schema.check(line, SCHEMA)
            assert line['origin']['kind'] == 'rusage' and line['origin']['not_seen'], line
    csv = denied('stat', '-x,', '-e', 'page-faults,cycles', 'true').stderr.splitlines()
    label(csv[0])
    assert int(csv[1].split(',')[0]) > 0 and csv[2].startswith('<not supported>,,cycles,') and len(csv) == 3
    denied('stat', '-o', tmp_path / 'out', '-e', 'page-faults', 'true')
    assert '# counted by getrusage' in (tmp_path / 'out').read_text()
    for words in (['--compare', 'true'], ['-j', '--compare', 'true']):
        result = denied('stat', *words, 'exit 0', '-r', 4, '-e', 'page-faults')
        assert ('"origin"' in result.stderr) == ('-j' in words) and (result.stderr[0] == '#') != ('-j' in words)


def test_a_recording_of_counts_is_labelled(denied, tally, tmp_path):
    file = tmp_path / 'counts.data'
    denied('stat', 'record', '-o', file, '-e', 'page-faults,cycles', 'true')
    for words in (['report', '-i', file], ['-x,', 'report', '-i', file]):
        shown = tally('stat', *words).stderr
        assert shown.splitlines()[0].startswith('# counted by getrusage and /proc, which do not show hardware events'), shown
        assert shown.count('counted by') == 1 and 'page-faults' in shown
    for line in tally('stat', '-j', 'report', '-i', file).stderr.splitlines():
        json_schema.check(json.loads(line), SCHEMA)
        assert json.loads(line)['origin']['kind'] == 'rusage'
    assert '# origin : counts are not from perf events (getrusage and /proc); they do not show' in tally(
        'report', '--header-only', '-i', file).stdout
    streamed = subprocess.run([denied.prefix, tally.path, 'stat', 'record', '-o', '-', '-e', 'task-clock', 'true'], capture_output=True,
                              timeout=TIMEOUT_S, check=True).stdout
    shown = subprocess.run([tally.path, 'stat', 'report', '-i', '-'], input=streamed, capture_output=True, timeout=TIMEOUT_S, check=True)
    assert shown.stderr.startswith(b'# counted by getrusage')


def test_migrations_are_only_told_where_they_are_known(rusage):
    if not os.path.exists('/proc/self/sched'):
        pytest.skip('this kernel has no /proc/PID/sched')
    assert rows(rusage('-e', 'cpu-migrations', 'true').stderr)['cpu-migrations'] != '<not counted>'
    result = rusage('-e', 'cpu-migrations', '--', 'sh', '-c', 'true; cat /dev/null; true')
    assert rows(result.stderr)['cpu-migrations'] == '<not counted>'
    assert '<not counted> cpu-migrations: threads or children that have ended took their number with them' in result.stderr


def test_modes_cannot_be_told_apart(rusage):
    result = rusage('-e', 'page-faults:u,task-clock:u,page-faults', 'true')
    found = rows(result.stderr)
    assert found['page-faults:u'] == '<not supported>' and found['task-clock:u'] > 0 and found['page-faults'] > 0
    assert '<not supported> page-faults:u: getrusage and /proc do not tell user mode from kernel mode: omit the modifier' in result.stderr


@pytest.mark.parametrize('words', [['--require-event'], ['--rung', 'events'], ['-e', 'cycles'], ['-a'], ['-C', '0']])
def test_where_it_does_not_descend_the_gate_is_named(tally, tmp_path, words):
    prefix = denying(tmp_path, 'perf_event_open')
    result = subprocess.run([prefix, tally.path, 'stat', *words, '--', 'true'], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 255 and 'a seccomp filter' in result.stderr and '--security-opt seccomp=' in result.stderr, result.stderr
    assert 'counted by' not in result.stderr
    assert ('--require-event forbids to count without' in result.stderr) == ('--require-event' in words)


@pytest.mark.parametrize('words, why', [
    (['-a'], 'counting all processes (-a)'), (['-C', '0'], 'counting single CPUs (-C)'), (['-i'], 'leaving out children (-i)'),
    (['--plan', '-e', 'cs'], '--plan'), (['--passes'], '--passes'), (['--all-user'], '--all-user'), (['--bpf-counters'], '--bpf-counters')])
def test_what_it_cannot_do_is_refused(tally, words, why):
    result = tally('stat', '--rung', 'rusage', *words, '--', 'true', check=255)
    assert f'--rung rusage: {why} needs perf events' in result.stderr


def test_choices(tally, live):
    assert tally('stat', '--rung', 'timer', 'true', check=129).stderr.count('expects auto, events or rusage') == 1
    for words in ([], ['--rung', 'auto'], ['--rung', 'events'], ['--require-event']):
        assert 'counted by' not in tally('stat', *words, '-e', 'page-faults', 'true').stderr
    assert label(tally('stat', '--rung', 'rusage', '-e', 'page-faults', 'true').stderr)


def test_events_of_the_tool_need_no_rung(denied):
    result = denied('stat', '-e', 'duration_time,user_time', 'true')
    assert 'counted by' not in result.stderr and rows(result.stderr)['duration_time'] > 0
    assert 'counted by' not in denied('stat', '-n', 'true').stderr


def test_without_proc(tally, tmp_path):
    """A sandbox may have no /proc: wait4 counts the command all the same, and intervals show no 0 that nobody has read."""
    (tmp_path / 'nothing').mkdir()
    prefix = ['unshare', '--mount', 'sh', '-c', 'mount --make-rprivate / && mount --bind "$0" /proc && exec "$@"', tmp_path / 'nothing',
              denying(tmp_path, 'perf_event_open', 'ENOSYS')]
    if os.geteuid() != 0 or subprocess.run([*prefix, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('mounting is not permitted here')
    result = subprocess.run([*prefix, tally.path, 'stat', '-x,', '-I', '50', '--summary', '-e', 'page-faults,task-clock,cs', '--', 'sleep', '0.3'],
                            capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    lines = [[field.strip() for field in line.split(',')] for line in result.stderr.splitlines()[1:]]
    totals = {line[3]: line[1] for line in lines if line[0] == 'summary'}
    assert float(totals['page-faults']) > 10 and float(totals['task-clock']) > 0
    assert not any(line[1] in ('0', '0.00') for line in lines), lines


def test_status_signal_and_end_of_the_command(denied):
    assert denied('stat', '-e', 'cs', '--', 'sh', '-c', 'exit 7', check=7)
    result = denied('stat', '-e', 'task-clock', '--timeout', 100, '--', 'sleep', '60', check=None)
    assert rows(result.stderr)['task-clock'] > 0 and 'seconds time elapsed' in result.stderr
    gone = denied('stat', '-e', 'task-clock', '-p', 999999999, check=None)
    assert gone.returncode != 0 and 'counted by' not in gone.stderr
