# SPDX-License-Identifier: Apache-2.0
"""trace: lines and sums of system calls, page faults and events, live and from recordings, beside perf's and strace's."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

import json_schema
from conftest import ROOT, TIMEOUT_S, bpf_programs, child_named, wait_for, waits_with_counters

LINE = re.compile(r' *(?P<time>[\d.]+|\?) \((?P<duration>[ \d.]+ ms|         )\): (?P<thread>\S+) (?P<call>.*?) *= (?P<result>.*)')
ROW = re.compile(r'   (\w+) +(\d+) +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+%')
NO_NOTES = {'PERF_CONFIG': '/dev/null'}


@pytest.fixture
def calls(system_wide):
    """Skips where system calls cannot be traced."""
    if os.geteuid() != 0:
        pytest.skip('tracing system calls needs root here')
    if not pathlib.Path('/sys/kernel/tracing/events/raw_syscalls/sys_enter').exists():
        pytest.skip('no tracepoints of system calls on this machine')


@pytest.fixture
def program(tally, calls):
    """Skips where our BPF program cannot be loaded."""
    note = tally('trace', '-e', 'getpid', 'true', check=0).stderr
    if 'are read from tracepoints instead' in note:
        pytest.skip(note.strip())


def rows(text):
    """The sums of a table: (calls, errors) by name."""
    return {row[1]: (int(row[2]), int(row[3])) for row in ROW.finditer(text)}


def names(text):
    """The calls of the lines, in order."""
    found = [LINE.match(line) for line in text.splitlines()]
    return [re.search(r'(\w+)\(', line['call'])[1] for line in found if line]


def recording(newest_perf, tmp_path, command):
    data = tmp_path / 'calls.data'
    newest_perf('record', '-q', '-c', '1', '-m', '1024', '-o', data, '-e', 'raw_syscalls:sys_enter,raw_syscalls:sys_exit', *command)
    return data


SUMS = [['-s'], ['-s', '--errno-summary'], ['-s', '--max-summary', '3']]  # perf does not select by -e in a recording


def test_sums_of_a_recording_are_perfs(tally, newest_perf, calls, tmp_path):
    data = recording(newest_perf, tmp_path, ['sh', '-c', 'ls /nonexistent; cat /dev/null; ls >/dev/null'])
    for options in SUMS:
        ours = tally('trace', '-i', data, *options, check=0, env=NO_NOTES).stderr
        perfs = newest_perf('trace', '-i', data, *options, check=0, env=NO_NOTES).stderr
        assert sorted(ours.splitlines()) == sorted(perfs.splitlines()), options  # rows of equal times have no order
        assert len(rows(ours)) >= 3


def shape(text):
    """Lines without what calls say: time, duration, thread, name; the results that are plain numbers."""
    found = []
    for line in text.splitlines():
        parts = re.match(r'( *[\d.?]+ (?:\[\d+\] )?\(.*?\): \S+ +(?:\.\.\. \[continued\]: )?\w+)\(.*?(?:= (-?\d+|\?)( .*)?|( \.\.\.))?$', line)
        assert parts, line
        found.append((parts[1], parts[2], bool(parts[4])))
    return found


def test_lines_of_a_recording_are_perfs(tally, newest_perf, calls, tmp_path):
    data = recording(newest_perf, tmp_path, ['sh', '-c', 'sleep 0.1 & cat /dev/null; wait; ls /nonexistent'])
    for options in ([], ['-T'], ['--failure'], ['--duration', '50'], ['--no-comm']):
        ours = shape(tally('trace', '-i', data, *options, check=0, env=NO_NOTES).stderr)
        perfs = shape(newest_perf('trace', '-i', data, *options, check=0, env=NO_NOTES).stderr)
        assert ours == perfs, options
        assert ours or options == ['--duration', '50']


def test_record_and_replay(tally, calls, tmp_path):
    data = tmp_path / 'recorded.data'
    tally('trace', 'record', '-o', data, 'cat', '/dev/null', check=0)
    shown = names(tally('trace', '-i', data, check=0).stderr)
    assert shown.count('execve') == 1
    assert {'openat', 'read', 'close', 'mmap', 'exit_group'} <= set(shown)
    streamed = tally('trace', 'record', '-o', '-', 'cat', '/dev/null', check=0, text=False).stdout
    again = tally('trace', '-i', '-', stdin=streamed, text=False, check=0).stderr.decode()
    assert names(again).count('execve') == 1
    assert 'openat' in names(again)


def test_lines_and_sums_agree(tally, calls):
    result = tally('trace', '-S', 'cat', '/dev/null', check=0).stderr
    counts = rows(result)
    for name in ('openat', 'read', 'close', 'mmap'):
        assert names(result).count(name) == counts[name][0], name
    for options in (['-s'], ['-s', '--no-bpf-summary'], ['-s', '--summary-mode=total']):
        other = rows(tally('trace', *options, 'cat', '/dev/null', check=0).stderr)
        assert {name: other.get(name) for name in counts} == counts, options


def test_sums_are_perfs(tally, newest_perf, calls):
    ours = rows(tally('trace', '-s', 'cat', '/dev/null', check=0, env=NO_NOTES).stderr)
    perfs = rows(newest_perf('trace', '-s', 'cat', '/dev/null', check=0, env=NO_NOTES).stderr)
    assert ours == perfs


def test_sums_of_many_short_processes(tally, program, tmp_path):
    script = tmp_path / 'many.sh'
    script.write_text('for i in $(seq 300); do /bin/true; done\n')
    result = tally('trace', '-s', 'sh', script, check=0).stderr
    assert 'are in no row' not in result
    assert len(re.findall(r'^ true \(\d+\), \d+ events', result, re.M)) == 300
    total = rows(tally('trace', '-s', '--summary-mode=total', 'sh', script, check=0).stderr)
    assert total['execve'][0] == 302  # of the shell, of seq, and of each


def test_tracepoints_tell_the_same_calls(tally, program):
    by_program = names(tally('trace', 'cat', '/dev/null', check=0).stderr)
    by_tracepoints = names(tally('trace', '--print-sample', 'cat', '/dev/null', check=0).stderr)
    assert by_program == by_tracepoints


def test_another_pid_namespace(tally, program, namespace):
    """BPF programs would compare other numbers of threads: the trace was empty."""
    traced = namespace(tally.path, 'trace', 'cat', '/dev/null')
    assert traced.returncode == 0 and names(traced.stderr).count('openat') >= 2, traced.stderr
    assert "the machine's first PID namespace, and this process is in another one" in traced.stderr
    assert 'are read from tracepoints instead' in traced.stderr


def test_waits_in_another_pid_namespace(tally, program, namespace):
    recorded = namespace(tally.path, 'record', '--wall', '-o', 'wall.data', '--', 'sleep', '0.2')
    assert recorded.returncode == 0 and "not from BPF: BPF programs see threads" in recorded.stderr, recorded.stderr
    assert re.search(r'[1-9]\d* samples', recorded.stderr), recorded.stderr


def test_command_is_traced_from_its_exec_on(tally, program):
    first = [line for line in tally('trace', 'cat', '/dev/null', check=0).stderr.splitlines() if LINE.match(line)][0]
    assert re.search(r'execve\(.*"/[^"]*/cat".*"/dev/null".*\) += 0$', first), first


def test_arguments_are_readable(tally, program, tmp_path):
    script = '''
import os, socket
os.mkdir('made', 0o751)
os.rename('made', 'moved')
try:
    os.open('/nonexistent/file', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
except OSError:
    pass
fd = os.open('plain', os.O_WRONLY | os.O_CREAT, 0o644)
os.write(fd, b'hello\\nworld\\0')
s = socket.socket(socket.AF_UNIX)
try:
    s.connect('/nonexistent.socket')
except OSError:
    pass
os.kill(os.getpid(), 0)
'''
    (tmp_path / 'calls.py').write_text(script)
    lines = tally('trace', '-e', 'mkdir*,rename*,openat,write,connect,socket,kill', sys.executable, 'calls.py', cwd=tmp_path, check=0).stderr
    for pattern in (r'mkdir(at)?\((dfd: CWD, )?pathname: "made", mode: .*\) += 0',  # arm64 has only the later calls
                    r'rename(at2?)?\((olddfd: CWD, )?oldname: "made", (newdfd: CWD, )?newname: "moved"\) += 0',
                    r'openat\(dfd: CWD, filename: "/nonexistent/file", flags: .*EXCL.*, mode: .*\) += -1 ENOENT \(No such file or directory\)',
                    r'write\(fd: \d+(<.*/plain>)?, buf: "hello\\nworld\\0", count: 12\) += 12',
                    r'connect\(fd: \d+.*"?/nonexistent.socket"?.*\) += -1 ENOENT',
                    r'kill\(pid: \d+.*\) += 0'):
        assert re.search(pattern, lines), (pattern, lines)


def test_events_come_among_calls(tally, calls):
    lines = tally('trace', '-e', 'write,sched:sched_process_exec,sched:sched_process_exit', 'sh', '-c', 'echo hi', check=0)
    assert lines.stdout == 'hi\n'
    write, ends = [line for line in lines.stderr.splitlines() if LINE.match(line) or 'exit(' in line][-2:]
    assert re.search(r'sh/\d+ write\(fd: 1.*count: 3\) +=', write)
    assert re.search(r'\(         \): sh/(\d+) sched:sched_process_exit\(comm: "sh", pid: \1 \(sh\), prio: \d+', ends)
    only = tally('trace', '-e', 'sched:sched_process_exec/nr=1/', 'sh', '-c', 'true; /bin/true', check=0).stderr
    assert re.fullmatch(r' +0\.000 sh/(\d+) sched:sched_process_exec\(filename: "/.*/sh", pid: \1 \(sh\), old_pid: \1 \(sh\)\)\n'
                        r"(note: tracing has ended, and 'sh' goes on as process \1\n)?", only)


def test_page_faults(tally, calls):
    lines = tally('trace', '-F', 'all', '--max-events', '20', 'ls', check=0).stderr.splitlines()
    assert len(lines) == 20
    assert all(re.match(r' *[\d.]+ \( 0\.000 ms\): ls/\d+ (min|maj)fault \[.*\] => \S+ \([d?x][k.]\)$', line) for line in lines), lines
    sums = tally('trace', '-F', 'all', '--syscalls', '-s', 'ls', check=0).stderr
    assert re.search(r' ls \(\d+\), \d+ events, [\d.]+%(, \d+ majfaults)?, \d+ minfaults', sums)


def test_callers(tally, calls, workload):
    lines = tally('trace', '-e', 'write', '--call-graph', 'dwarf', 'cat', '/proc/self/comm', check=0).stderr.splitlines()
    start = next(i for i, line in enumerate(lines) if ' write(' in line)
    callers = [line.strip() for line in lines[start + 1:] if line.startswith(' ' * 39)]
    assert re.match(r'\S*write\S* \(/.*libc.*\)', callers[0])
    assert len(callers) > 3
    two = tally('trace', '-e', 'write', '--max-stack', '2', 'cat', '/proc/self/comm', check=0).stderr.splitlines()
    assert sum(line.startswith(' ' * 39) for line in two) == 2


def test_process_that_runs(tally, calls):
    sleeper = subprocess.Popen(['sh', '-c', 'while :; do sleep 0.05; done'])
    try:
        lines = tally('trace', '-p', sleeper.pid, '-e', 'wait4', '--max-events', '3', check=0).stderr
        assert lines.count('wait4(') >= 3
    finally:
        sleeper.kill()
        sleeper.wait()


@pytest.mark.parametrize('options', [[], ['--print-sample']], ids=['program', 'tracepoints'])
def test_call_that_began_before(tally, calls, options):
    sleeper = subprocess.Popen(['sleep', '60'])
    try:
        wait_for(lambda: ' (sleep) S ' in pathlib.Path(f'/proc/{sleeper.pid}/stat').read_text())
        tracer = tally.start('trace', '-p', sleeper.pid, *options)
        wait_for(lambda: waits_with_counters(tracer.pid))
        tracer.send_signal(signal.SIGINT)
        lines = tracer.communicate(timeout=TIMEOUT_S)[1]
        assert re.search(r'^ +\? \( +\): clock_nanosleep\(.*\) +\.\.\.$', lines, re.M), lines
    finally:
        sleeper.kill()
        sleeper.wait()


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=lambda number: number.name)
def test_a_signal_ends_the_trace_and_not_its_command(tally, calls, number):
    tracer = tally.start('trace', '-s', 'sleep', '600')
    command = wait_for(lambda: child_named(tracer.pid, 'sleep'))
    try:
        wait_for(lambda: ' (sleep) S ' in pathlib.Path(f'/proc/{command}/stat').read_text())
        tracer.send_signal(number)
        assert tracer.wait(timeout=TIMEOUT_S) == 0
        assert pathlib.Path(f'/proc/{command}').exists()
    finally:
        os.kill(command, signal.SIGKILL)  # it has our pipes
    text = tracer.communicate(timeout=TIMEOUT_S)[1]
    assert re.search(r'^ sleep \(\d+\), \d+ events', text, re.M), text


def test_refusals(tally, calls, tmp_path):
    missing = tally('trace', '-e', 'opnat', 'true', check=129).stderr
    assert "'opnat'" in missing and "'openat'" in missing
    assert 'is no system call' in tally('trace', '-e', '!nosuch', 'true', check=129).stderr
    assert 'follows the event' in tally('trace', '--filter', 'x > 1', 'true', check=129).stderr
    assert 'takes all, maj or min' in tally('trace', '-F', 'some', 'true', check=129).stderr
    assert 'no process 4194303' in tally('trace', '-p', '4194303', check=255).stderr
    assert 'numbers of processes' in tally('trace', '--filter-pids', 'x', 'true', check=255).stderr
    plain = tmp_path / 'plain.data'
    tally('record', '-q', '-e', 'cpu-clock', '-o', plain, 'true', check=0)
    assert "make a recording with 'tally trace record'" in tally('trace', '-i', plain, check=255).stderr
    assert 'no live target' in tally('trace', '-i', plain, '-a', check=129).stderr


@pytest.fixture
def recorded(tally, calls, tmp_path):
    tally('trace', 'record', '-o', tmp_path / 'recorded.data', 'cat', '/dev/null', check=0)
    return tmp_path / 'recorded.data'


def test_the_output_is_not_the_recording(tally, recorded):
    before = recorded.read_bytes()
    assert 'is the recording that is being read' in tally('trace', '-i', recorded, '-o', recorded, check=255).stderr
    assert recorded.read_bytes() == before and not recorded.with_name(recorded.name + '.old').exists()


def test_the_output_that_is_full_is_named(tally, recorded):
    if not os.path.exists('/dev/full'):
        pytest.skip('there is no /dev/full')
    assert 'cannot write to the output file: No space left on device' in tally('trace', '-i', recorded, '-o', '/dev/full', check=255).stderr


@pytest.mark.parametrize('options, said', [
    (['-e', 'opnat'], "'opnat' is no system call, and of a recording"), (['-e', 'openat,sched:sched_switch'], "'sched:sched_switch' is no system"),
    (['-G', 'x'], '-G is for'), (['-e', 'openat', '--filter', 'x > 1'], '--filter is for'), (['-D', '10'], '--delay is for'),
    (['--no-inherit'], '--no-inherit is for'), (['--bpf-summary'], 'counts in the kernel'), (['-p', '1'], 'no live target'),
    (['--switch-on', 'no:event'], "has no event 'no:event', which --switch-on names"),
    (['--switch-off', 'no:event'], "has no event 'no:event', which --switch-off names")], ids=lambda value: value[0] if isinstance(value, list) else '')
def test_refusals_for_a_recording(tally, recorded, options, said):
    result = tally('trace', '-i', recorded, *options)
    assert result.returncode in (129, 255) and said in result.stderr, result.stderr
    assert not names(result.stderr)


def test_configured_events_are_no_mistake_in_a_recording(tally, recorded, tmp_path):
    (tmp_path / 'config').write_text('[trace]\n\tadd_events = sched:sched_switch\n')
    assert 'openat' in names(tally('trace', '-i', recorded, env={'PERF_CONFIG': str(tmp_path / 'config')}, check=0).stderr)


def test_processes_are_left_out_of_a_recording(tally, recorded):
    pid = re.search(r'cat/(\d+) ', tally('trace', '-i', recorded, check=0).stderr)[1]
    assert not names(tally('trace', '-i', recorded, '--filter-pids', pid, check=0).stderr)
    assert 'openat' in names(tally('trace', '-i', recorded, '--filter-pids', '1', check=0).stderr)


@pytest.mark.parametrize('options', [['-s'], ['-s', '--no-bpf-summary']], ids=' '.join)
def test_sums_leave_processes_out(tally, program, options):
    busy = subprocess.Popen(['sh', '-c', 'while :; do read line </proc/self/comm; done'])
    try:
        result = tally('trace', *options, '-p', busy.pid, '--filter-pids', busy.pid, 'sleep', '0.2', check=0).stderr
        assert 'Summary of events' in result and not rows(result), result
    finally:
        busy.kill()
        busy.wait()


def test_delay(tally, calls):
    assert 'no ranges here' in tally('trace', '-D', '10-20', 'true', check=129).stderr
    result = tally('trace', '-D', '600000', 'true', check=0).stderr
    assert not names(result) and 'the trace ended before the time that --delay gives' in result


@pytest.mark.alone
def test_killed_tracer_leaves_nothing(tally, program, tmp_path):
    before = bpf_programs()
    script = tmp_path / 'forever.sh'
    script.write_text('while :; do read line </proc/self/comm; done\n')
    tracer = tally.start('trace', '-o', tmp_path / 'lines', 'sh', script)
    try:
        wait_for(lambda: (tmp_path / 'lines').exists() and (tmp_path / 'lines').stat().st_size > 1000)
        command = child_named(tracer.pid, 'sh')
        tracer.kill()
        tracer.wait()
        wait_for(lambda: bpf_programs() <= before)
        os.kill(command, 0)  # it goes on
        os.kill(command, signal.SIGKILL)
    finally:
        tracer.kill()
        tracer.communicate()


@pytest.mark.parametrize('name', ['trace_btf_enum.sh', 'trace_btf_general.sh', 'trace_exit_race.sh', 'trace_record_replay.sh',
                                  'trace_summary.sh'])
def test_perfs_own_test(perfs_own_test, program, name):
    result = perfs_own_test(name)
    assert result.returncode == 0, result.stdout + result.stderr


def as_strace(tally, folder, *command):
    if not shutil.which('strace'):
        pytest.skip('strace is not installed')
    if subprocess.run(['strace', '-o', '/dev/null', 'true'], capture_output=True, check=False).returncode:
        pytest.skip('strace cannot trace here')
    truth = pathlib.Path(__file__).parent.parent / 'live/trace_truth.py'
    result = subprocess.run([sys.executable, truth, '--tally', tally.path, '--keep', folder / 'truth', *command], capture_output=True,
                            text=True, check=False, timeout=TIMEOUT_S, cwd=folder, env=tally.environment)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize('command', [['ls', '-lR', '/etc'], [sys.executable, '-c', 'print(1)'],
                                     ['sh', '-c', 'ls /nonexistent | cat; (cat /proc/self/status) >/dev/null & wait']], ids=' '.join)
def test_same_calls_as_strace(tally, program, tmp_path, command):
    as_strace(tally, tmp_path, *command)


def test_same_calls_of_git_as_strace(tally, program, tmp_path):
    if not shutil.which('git'):
        pytest.skip('git is not installed')
    subprocess.run(['git', 'init', '-q', tmp_path / 'made'], check=True)
    for i in range(30):
        (tmp_path / 'made' / f'file{i}').write_text('x' * i)
    subprocess.run(['git', '-C', tmp_path / 'made', 'add', '.'], check=True)
    as_strace(tally, tmp_path, 'git', '-C', tmp_path / 'made', 'status')


def syscall_rows(rows):
    """As the text has them."""
    for row in rows:
        average = row['total_ns'] / row['calls'] if row['calls'] else 0
        yield [row['syscall'], str(row['calls']), str(row['errors']), *(f'{ns / 1e6:.3f}' for ns in (
            row['total_ns'], row['min_ns'], average, row['max_ns'])), pytest.approx(row['error_percent'], abs=0.0051)]
        yield from ([f"{error['name']}:", str(error['calls'])] for error in row.get('by_error', ()))


@pytest.mark.parametrize('words', [(), ('--errno-summary',), ('--summary-mode=total',), ('--max-summary', '3')], ids=' '.join)
def test_sums_as_json(tally, calls, tmp_path, words):
    path, schema = tmp_path / 'calls.data', json.loads((ROOT / 'docs' / 'schema' / 'trace.json').read_text(encoding='utf-8'))
    tally('trace', 'record', '-o', path, 'sh', '-c', 'ls /nonexistent; cat /dev/null; ls >/dev/null; exit 0', check=0)
    document = json.loads(tally('trace', '-s', '--json', *words, '-i', path, check=0, env=NO_NOTES).stderr)
    json_schema.check(document, schema)
    assert set(document) <= set(schema['properties'])
    text = tally('trace', '-s', *words, '-i', path, check=0, env=NO_NOTES).stderr.splitlines()
    lists = [thread['syscalls'] for thread in document.get('threads', ())] or [document['syscalls']]
    told = [row for rows in lists for row in syscall_rows(rows)]
    shown = [[float(word[:-1]) if word.endswith('%') else word for word in line.split()]
             for line in text if re.search(r'%$', line) and ' events, ' not in line or line.startswith('\t')]
    assert told and told == shown
    heads = [f" {thread['comm']} ({thread['tid']}), {thread['events']} events, " for thread in document.get('threads', ())]
    assert all(any(line.startswith(head) for line in text) for head in heads)
    assert '--json is for the sums' in tally('trace', '--json', '-i', path, check=129).stderr
