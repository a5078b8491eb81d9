# SPDX-License-Identifier: Apache-2.0
"""top: a profile that is renewed, as text and on the screen."""
import json
import os
import pathlib
import re
import select
import shlex
import signal
import subprocess
import time

import json_schema
import pytest
from conftest import ROOT, TIMEOUT_S, wait_for
from test_refusals import NOBODY
from test_tui import terminal  # noqa: F401 (a fixture)

HEADER = re.compile(r' {3}PerfTop: +(\d+) irqs/sec  kernel:[ \d.]+%  exact: [ \d.]+% lost: \d+/\d+ drop: \d+/\d+ '
                    r'\[(.*)\],  \((.*)\), own CPU [\d.]+%')
DEEP = ['-e', 'cpu-clock:u', '-d', '1', '--stdio']


class Watched:
    """A busy program of the tests, for as long as the test runs."""

    def __init__(self, path, *arguments):
        self.process = subprocess.Popen([path, *arguments], stdout=subprocess.DEVNULL)
        self.pid = self.process.pid

    def end(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def deep(live, workload):
    watched = Watched(workload('deep').path, '100000000')
    yield watched
    watched.end()


class Refreshes:
    """What a running top prints: for each refresh, its header and the lines below."""

    def __init__(self, process):
        self.process = process
        self.text = ''
        self.seen = 0

    def read(self):
        while select.select([self.process.stdout], [], [], 0)[0]:
            piece = os.read(self.process.stdout.fileno(), 65536).decode(errors='replace')
            if not piece:
                return
            self.text += piece

    def all(self):
        self.read()
        parts = self.text.split('   PerfTop:')[1:]
        return [('   PerfTop:' + part).splitlines() for part in parts]

    def next(self, condition=lambda lines: True):
        """The next whole refresh (another has begun behind it) that is so."""
        def look():
            whole = self.all()[:-1]
            for index in range(self.seen, len(whole)):
                self.seen = index + 1
                if condition(whole[index]):
                    return whole[index]
            return None

        return wait_for(look)


@pytest.fixture
def top(tally):
    started = []

    def start(*arguments, program=(), **kwargs):
        process = subprocess.Popen([*program, str(tally.path), 'top', *map(str, arguments)], env=tally.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        started.append(process)
        return Refreshes(process)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def rows(lines):
    """(percent, rest) of each row."""
    found = [re.match(r' +([\d.]+)% +(.*)', line) for line in lines[2:]]
    return [(float(row[1]), row[2]) for row in found if row]


def sample_count(lines):
    return sum(int(row.split()[0]) for _, row in rows(lines))


def busy_program(shown, pid):
    for lines in (shown.next(rows), shown.next(rows)):
        header = HEADER.match(lines[0])
        assert header, lines[0]
        assert header[2] == '4000Hz cpu-clock:u' and header[3] == f'target_pid: {pid}'
        assert int(header[1]) > 10
        assert lines[1] == '-' * 79
        assert rows(lines)[0][1].split() == ['deep', '[.]', 'leaf']
        assert sum(percent for percent, _ in rows(lines)) <= 100.5
    shown.process.send_signal(signal.SIGINT)
    assert shown.process.wait(30) == 0
    last = HEADER.match(shown.all()[-1][0])
    assert int(last[1]) <= 2 * 4000, 'a short refresh has a rate too, and one thread no more than it was asked for'


def call_chains(shown, _):
    lines = shown.next(lambda lines: any(' main' in row for _, row in rows(lines)))
    names = [row.split()[-1] for _, row in rows(lines)]
    assert 'leaf' in names and 'main' in names
    assert any('--' in line and 'main' in line for line in lines)
    shown.process.send_signal(signal.SIGTERM)
    assert shown.process.wait(30) == 0


def counts_without_children(shown, _):
    lines = shown.next(rows)
    percent, samples, name = re.match(r' +([\d.]+)% +(\d+)  (.*)', next(l for l in lines if 'leaf' in l)).groups()
    assert float(percent) > 50 and int(samples) > 10 and name.split() == ['deep', '[.]', 'leaf']


def one_row(shown, pid):
    lines = shown.next(rows)
    assert len(rows(lines)) == 1
    assert rows(lines)[0][1].split()[:4] == ['deep', f'{pid}:deep', '[.]', 'leaf']


def one_symbol(shown, _):
    assert rows(shown.next(rows)) == [(100.0, 'deep')]  # the column that the filter makes constant is left out


def nothing(shown, _):
    assert not rows(shown.next())


def two_tables(shown, _):
    lines = shown.next(lambda lines: len(rows(lines)) >= 2)
    assert HEADER.match(lines[0])[2] == 'cpu-clock:u, task-clock:u'
    assert [re.match(r"# Samples: .* of event '(.*?)'", line)[1] for line in lines if line.startswith('# ')] == \
        ['cpu-clock:u', 'task-clock:u']


def two_columns(shown, _):
    assert re.match(r' +[\d.]+% +[\d.]+%  deep +\[\.\] leaf', '\n'.join(
        line for line in shown.next(rows) if 'leaf' in line))


def one_thread(shown, pid):
    header = HEADER.match(shown.next(rows)[0])
    assert header[2] == '1000000 cpu-clock:u' and header[3] == f'target_tid: {pid}'


def hierarchy(shown, _):
    lines = [line.split() for line in shown.next(rows)[3:]]
    assert lines[0] == ['100.00%', 'deep'] and lines[1][1:] == ['[.]', 'leaf']


def cgroups(shown, pid):
    """Of this kernel, the one for perf events: the root, where that is not mounted."""
    groups = pathlib.Path(f'/proc/{pid}/cgroup').read_text(encoding='utf-8').splitlines()
    own = [line.split(':', 2)[2] for line in groups if line.startswith('0::') or 'perf_event' in line]
    assert rows(shown.next(rows))[0][1].strip() in {*own, '/'}


def between_two_events(shown, _):
    """The clock that switches samples on goes on ticking, and so they stay on."""
    shown.next(rows)
    assert rows(shown.next(rows))[0][1].split() == ['deep', '[.]', 'leaf']


def code_below(shown, _):
    lines = shown.next(lambda lines: any('Showing' in line for line in lines))
    code = lines[lines.index('Showing cpu-clock:u for leaf'):]
    assert code[1] == '  Events  Pcnt (>=5%)' and re.search(r' of deep for cpu-clock:u \(\d+ samples', code[2])
    # Source lines stand between instructions, without a share.
    assert 50 < max(float(line.split(':')[0]) for line in code[4:] if re.match(r' *\d+\.\d+ :', line)) <= 100


SEVERAL = ['-e', 'cpu-clock:u', '-e', 'task-clock:u']
CASES = [
    (busy_program, ['-e', 'cpu-clock:u']),
    (call_chains, ['-e', 'cpu-clock:u', '-F', '299', '-E', '50', '--call-graph', 'fp']),
    (call_chains, ['-e', 'cpu-clock:u', '-F', '299', '-E', '50', '--call-graph', 'dwarf']),
    (call_chains, ['-e', 'cpu-clock:u', '-F', '299', '-E', '50', '--call-graph', 'dwarf,4096']),
    (call_chains, ['-e', 'cpu-clock:u', '-F', '299', '-E', '50', '--call-graph', 'graph,0.5,caller']),
    (counts_without_children, ['-e', 'cpu-clock:u', '-g', '-n', '--no-children']),
    (one_row, ['-e', 'cpu-clock:u', '-s', 'comm,pid,symbol', '-E', '1', '--percent-limit', '5']),
    (one_symbol, ['-e', 'cpu-clock:u', '--symbols', 'leaf', '--percentage', 'relative']),
    (nothing, ['-e', 'cpu-clock:u', '-U']),
    (two_tables, [*SEVERAL, '-E', '3']),
    (two_columns, ['-e', 'cpu-clock:u,task-clock:u', '--group']),
    (one_thread, ['-e', 'cpu-clock:u', '-c', '1000000', '-t']),
    (hierarchy, ['-e', 'cpu-clock:u', '--hierarchy', '-s', 'comm,symbol']),
    (cgroups, ['-e', 'cpu-clock:u', '--all-cgroups', '-s', 'cgroup']),
    (between_two_events, [*SEVERAL, '--overwrite', '--switch-on', 'task-clock:u', '-E', '3']),
    (code_below, ['-e', 'cpu-clock:u', '--sym-annotate', 'leaf']),
]


def test_tables(top, deep):
    """All at once: each waits more than it computes."""
    started = []
    for check, options in CASES:
        target = [] if options[-1] == '-t' else ['-p']
        started.append((check, options, top('--stdio', '-d', '1', *options, *target, deep.pid)))
    for check, options, shown in started:
        print(check.__name__, *options)
        check(shown, deep.pid)


def test_zero_forgets(top, deep):
    fading = top(*DEEP, '-p', deep.pid, '-n', '-F', '999')
    zeroed = top(*DEEP, '-p', deep.pid, '-n', '-F', '999', '-z')
    old = [sample_count(fading.next(rows)) for _ in range(3)][-1]
    new = [sample_count(zeroed.next(rows)) for _ in range(3)][-1]
    assert 0 < new < old


def test_it_ends_with_its_target(top, deep):
    shown = top(*DEEP, '-p', deep.pid)
    shown.next(rows)
    deep.end()
    assert shown.process.wait(30) == 0
    assert rows(shown.all()[-1])[0][1].split() == ['deep', '[.]', 'leaf']


def test_what_ended_fades(top, deep, workload):
    """A program that is gone loses its share to one that goes on."""
    other = Watched(workload('spin').path, '100000000')
    shown = top('--stdio', '-e', 'cpu-clock:u', '-d', '1', '-s', 'comm', '-p', f'{deep.pid},{other.pid}')
    shares = dict(reversed(row) for row in rows(shown.next(lambda lines: len(rows(lines)) == 2)))
    other.end()
    before = shares['spin']
    shown.next(lambda lines: dict(reversed(row) for row in rows(lines)).get('spin', 0) < before / 2)


def test_the_configuration(top, deep, tally, tmp_path):
    """-g unwinds as call-graph.record-mode says, and an option goes before it."""
    config = tmp_path / 'perfconfig'
    config.write_text('[call-graph]\nrecord-mode = dwarf\n[top]\nchildren = false\n')
    tally.environment['PERF_CONFIG'] = str(config)
    for options, is_dwarf in ((['-g'], True), (['--call-graph', 'caller'], True), (['--call-graph', 'fp'], False), ([], False)):
        shown = top(*DEEP, '-p', deep.pid, *options)
        lines = shown.next(rows)
        shown.process.send_signal(signal.SIGINT)
        said = shown.process.communicate()[1].decode()
        assert ('by dwarf, as configured' in said) == is_dwarf
        assert not is_dwarf or any('_start' in line for line in lines)
        assert all(row.split()[-1] != 'main' for share, row in rows(lines) if share > 20), 'top.children is off'
    config.write_text('[call-graph]\nrecord-mode = none\n')
    assert 'wrong config key-value pair call-graph.record-mode=none' in tally('top', *DEEP, check=255).stderr


def test_call_graphs_are_unwound_as_is_possible(top, deep):
    for options, says in ((['-g'], 'unwound'), (['--call-graph', 'caller'], 'unwound'), (['--call-graph', 'fp'], None),
                          (['-g', '--overwrite'], 'by frame pointer'), ([], None)):
        shown = top('--stdio', '-e', 'cpu-clock:u', '-d', '1', '-E', '50', '-p', deep.pid, *options)
        lines = shown.next(rows)
        shown.process.send_signal(signal.SIGINT)
        said = shown.process.communicate()[1].decode()
        assert (f'call graphs are {says}' in said) if says else ('call graphs' not in said), said
        assert says != 'unwound' or any('_start' in line for line in lines)


def test_names_that_may_be_another_builds(top, live, tmp_path):
    """What was at its path when a program had ended may not be what ran: that is told once, beside the tables."""
    for name, more in (('ran', ''), ('came', ' + 1')):
        (tmp_path / f'{name}.c').write_text(f'__attribute__((noinline)) long {name}(long n)'
                                            f'{{ volatile long i; for (i = 0; i < n; i++); return i{more}; }}\n'
                                            f'int main(void) {{ return {name}(100000000) * 0; }}\n')
        subprocess.run(['gcc', '-O1', '-Wl,--build-id=none', f'{name}.c', '-o', name], cwd=tmp_path, check=True)
    # Only what this shell starts is seen: on a busy machine, a program of all others would not be among the rows.
    shell = subprocess.Popen(['sh', '-c', 'read go; cp ran p; ./p; rm p; cp came p; read end'], cwd=tmp_path, stdin=subprocess.PIPE)
    shown = top('--stdio', '-d', '2', '-e', 'cpu-clock:u', '-p', shell.pid)
    try:
        shown.next()
        shell.stdin.write(b'go\n')
        shell.stdin.flush()
        shown.next(lambda lines: any(row.split()[0] == 'p' for _, row in rows(lines)))
        shown.process.send_signal(signal.SIGINT)
        shown.process.wait(TIMEOUT_S)
    finally:
        shell.stdin.close()
        shell.wait()
    named_wrongly = any(row.split()[::2] == ['p', 'came'] for lines in shown.all() for _, row in rows(lines))
    said = shown.process.stderr.read().decode()
    assert said.count('/p may come from another build') == named_wrongly


def test_all_cpus(top, deep, system_wide):
    shown = top('--stdio', '-d', '1', '-e', 'cpu-clock', '-E', '1000', '-n')
    one = top('--stdio', '-d', '1', '-e', 'cpu-clock', '-C', '0')
    lines = shown.next(lambda lines: any('leaf' in row for _, row in rows(lines)))
    assert HEADER.match(lines[0])[3].startswith('all, ')
    assert HEADER.match(one.next()[0])[3] == 'all, CPU: 0'


def test_samples_that_a_filter_drops(top, deep, system_wide, tally, tmp_path):
    refused = tally('record', '-e', 'cpu-clock', '--filter', 'ip > 0', '-o', tmp_path / 'x.data', 'true')
    if refused.returncode and 'BPF' in refused.stderr:
        pytest.skip(f'BPF programs are refused here: {refused.stderr.splitlines()[0]}')
    shown = top('--stdio', '-d', '1', '-e', 'cpu-clock', '--filter', f'pid == {deep.pid}', '-s', 'comm')
    for lines in (shown.next(rows), shown.next(rows)):
        assert rows(lines) == [(100.0, 'deep')]


@pytest.mark.alone  # that user may run nothing else
def test_new_processes_of_a_user(top, live, workload, open_folder):
    """Processes of the user that run, their children, and those that come from elsewhere."""
    program = shlex.quote(str(workload('deep').path))
    shell = subprocess.Popen([*NOBODY, 'sh', '-c', f'read x; {program} 100000000; :'],
                             stdin=subprocess.PIPE, cwd=open_folder)
    others = []
    try:
        wait_for(lambda: 'Uid:\t65534' in pathlib.Path(f'/proc/{shell.pid}/status').read_text())
        runs = [top('--stdio', '-d', '1', *events, '-u', '65534') for events in (['-e', 'cpu-clock:u'], SEVERAL)]
        for shown in runs:
            assert HEADER.match(shown.next()[0])[3] == 'uid: 65534'
        shell.stdin.write(b'\n')
        shell.stdin.flush()
        others.append(subprocess.Popen([*NOBODY, workload('spin').path, '100000000'], stdout=subprocess.DEVNULL))
        for shown in runs:
            def found(lines, name):
                return any(row.split()[0] == name for _, row in rows(lines))
            shown.next(lambda lines: found(lines, 'deep') and found(lines, 'spin'))
    finally:
        subprocess.run(['pkill', '-KILL', '-P', str(shell.pid)], check=False)
        for process in [shell, *others]:
            process.kill()
            process.wait()


def own_program(open_folder, tally):
    program = open_folder / 'tally'
    program.write_bytes(tally.path.read_bytes())
    program.chmod(0o755)
    return program


def is_refused_to_others():
    return int(pathlib.Path('/proc/sys/kernel/perf_event_paranoid').read_text()) > 0


@pytest.mark.alone  # that user may run nothing else
def test_without_permission_one_sees_ones_own(tally, live, workload, open_folder):
    if not is_refused_to_others():
        pytest.skip('everybody may sample all CPUs here')
    program = own_program(open_folder, tally)
    environment = {**tally.environment, 'HOME': str(open_folder)}
    busy = open_folder / 'deep'
    busy.write_bytes(workload('deep').path.read_bytes())
    busy.chmod(0o755)
    mine = subprocess.Popen([*NOBODY, busy, '100000000'], cwd=open_folder, stdout=subprocess.DEVNULL)
    shown = Refreshes(subprocess.Popen([*NOBODY, program, 'top', '--stdio', '-d', '1', '-e', 'cpu-clock:u'],
                                       env=environment, cwd=open_folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    try:
        lines = shown.next(lambda lines: any('leaf' in row for _, row in rows(lines)))
        assert HEADER.match(lines[0])[3] == 'uid: 65534'
    finally:
        shown.process.send_signal(signal.SIGTERM)
        mine.kill()
        mine.wait()
        _, notes = shown.process.communicate(timeout=TIMEOUT_S)
    assert shown.process.returncode == 0
    assert 'perf_event_paranoid' in notes.decode() and 'your own processes' in notes.decode()


def test_all_cpus_by_name_are_refused(tally, live, open_folder):
    if not is_refused_to_others():
        pytest.skip('everybody may sample all CPUs here')
    program = own_program(open_folder, tally)
    for option in (['-a'], ['-C', '0']):
        result = subprocess.run([*NOBODY, program, 'top', '--stdio', '-e', 'cpu-clock', *option], cwd=open_folder,
                                env=tally.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=TIMEOUT_S, check=False)
        assert result.returncode == 255 and result.stdout == ''
        assert 'perf_event_paranoid' in result.stderr


@pytest.mark.parametrize('words, status, message', [
    (['-p', '99999999'], 255, '99999999'),
    (['-d', '100000'], 255, '--delay takes seconds, 86400 at most'),
    (['--stdio', '--tui'], 255, '--tui and --stdio cannot be used together'),
    (['--tui'], 255, '--tui needs a terminal'),
    (['-M', 'nonsense'], 255, '-M takes intel or att'),
    (['--prefix-strip', '2'], 255, '--prefix-strip goes with --prefix'),
    (['--overwrite', '--call-graph', 'dwarf'], 255, '--overwrite'),
    (['--hierarchy', '--fields', 'comm'], 255, '--fields'),
    (['--group-sort-idx', '1'], 255, '--group makes one of all'),
    (['--switch-on', 'nothing'], 255, 'switch-on event not found (nothing)'),
    (['-b'], 255, 'need a PMU that records branches'),
    (['-b', '-j', 'any'], 129, 'cannot be used together'),
    (['word'], 129, "'word'"),
    (['-F', '99', '-c', '99'], 234, 'cannot set frequency and period at the same time'),
    (['--call-graph', 'nonsense'], 129, "'nonsense'"),
    (['-s', 'nonsense'], 255, 'nonsense'),
    (['-s', 'cgroup'], 255, 'needs --all-cgroups'),
    (['-s', 'cgroup_id'], 255, 'not supported yet'),
])
def test_refusals(tally, live, words, status, message):
    result = tally('top', '-e', 'cpu-clock:u', '-p', os.getpid(), *words)
    assert result.returncode == status, result.stderr
    assert message in result.stderr


def resident_kb(pid):
    return int(re.search(r'VmRSS:\s+(\d+)', pathlib.Path(f'/proc/{pid}/status').read_text())[1])


def test_processes_that_come_and_go_leave_nothing(top, live):
    """Thousands of short processes between two looks at its memory."""
    load = subprocess.Popen(['sh', '-c', 'while :; do /bin/true; done'], stdout=subprocess.DEVNULL)
    try:
        # Zeroed: else what fades takes more for the first half minute.
        shown = top('--stdio', '-z', '-d', '1', '-e', 'cpu-clock', '-g', '-s', 'pid,dso,sym', '-p', load.pid)
        for _ in range(4):
            shown.next()
        early = resident_kb(shown.process.pid)
        for _ in range(5):
            shown.next()
        late = resident_kb(shown.process.pid)
    finally:
        load.kill()
        load.wait()
    assert late < early * 1.5 + 16384, f'{early} kB became {late} kB'


def sample_total(lines):
    found = re.search(r' (\d+) samples, percent', lines[0])
    return int(found[1]) if found else 0


def test_keys(terminal, tally, deep):  # noqa: F811
    command = shlex.join([str(tally.path), 'top', '-e', 'cpu-clock:u', '-e', 'task-clock:u', '-d', '1', '-g', '-p',
                          str(deep.pid)])
    screen = terminal(f'sh -c {shlex.quote(command + "; echo ended with $?; sleep 100")}', (120, 30))
    empty = screen.wait(lambda lines: lines[0].startswith('Samples: '))
    assert "of event 'cpu-clock:u', 4000 Hz" in empty[0]
    screen.wait(lambda lines: any('leaf' in line for line in lines))

    def pressed(key, condition):
        screen.press(key)
        return screen.wait(condition)

    pressed('f', lambda lines: lines[0].startswith('[frozen] '))
    frozen = screen.wait(lambda lines: lines[-1].startswith('frozen: '))
    time.sleep(1.5)  # a refresh would be due
    assert [line for line in screen.lines()[1:] if '%' in line] == [line for line in frozen[1:] if '%' in line]
    pressed('G', lambda lines: 'event 1/2' in lines[-1])
    pressed('Home', lambda lines: re.search(r', 1/\d+$', lines[-1]))
    pressed('Enter', lambda lines: lines[2].startswith('- '))
    pressed('f', lambda lines: lines[0].startswith('Samples: '))
    screen.wait(lambda lines: lines[2].startswith('- ') and '/s, lost: 0/' in lines[0])  # refreshed, and still open
    pressed('z', lambda lines: lines[-1].startswith('each refresh starts from nothing'))
    pressed('z', lambda lines: lines[-1].startswith('old samples fade'))
    pressed('Z', lambda lines: lines[-1].startswith('what came up to now is forgotten'))
    screen.wait(lambda lines: '%' in lines[2])
    pressed('D', lambda lines: ', changed since ' in lines[0] and 'Change' in lines[1])
    pressed('D', lambda lines: lines[-1].startswith('all rows') and 'Change' not in lines[1])
    pressed('Tab', lambda lines: "of event 'task-clock:u'" in lines[0])
    pressed('?', lambda lines: lines[1] == 'What comes in' and 'freeze' in lines[2])
    pressed('Escape', lambda lines: 'Symbol' in lines[1])
    pressed('Home', lambda lines: re.search(r', 1/\d+$', lines[-1]))
    pressed('/', lambda lines: lines[-1].startswith('Symbol: '))
    screen.press('leaf', 'Enter')
    screen.wait(lambda lines: lines[2].endswith(' leaf'))
    first = pressed('a', lambda lines: lines[0].startswith('leaf  ') and any(' ret' in line for line in lines))
    screen.wait(lambda lines: sample_total(lines) > sample_total(first))  # it goes on
    pressed('q', lambda lines: 'Symbol' in lines[1])
    pressed('T', lambda lines: lines[0].startswith('Top-down: '))
    opened = pressed('e', lambda lines: any(' leaf ' in line for line in lines))
    screen.wait(lambda lines: lines[0] != opened[0] and any(' leaf ' in line for line in lines))  # and stays open
    pressed('I', lambda lines: lines[0].startswith('Callers: ') and any(' leaf ' in line for line in lines))
    pressed('v', lambda lines: lines[0].startswith('Flame: '))
    pressed('q', lambda lines: 'Symbol' in lines[1])
    for key in 'i', 'W':
        pressed(key, lambda lines: lines[-1] == 'recordings have that: tally record, then tally report')
    pressed('s', lambda lines: lines[-1].startswith('Sort keys: '))
    screen.press('C-u', 'pid', 'Enter')
    screen.wait(lambda lines: lines[-1] == 'rows by other keys: leave, and tally top -s pid')
    pressed('S', lambda lines: lines[-1] == 'Search: _')
    pressed('Escape', lambda lines: 'Search: ' not in lines[-1])
    pressed('x', lambda lines: lines[-1] == "unknown key 'x': press ? for help")
    pressed('q', lambda lines: 'ended with 0' in lines)


def test_hierarchy_on_the_screen(terminal, tally, deep):  # noqa: F811
    command = shlex.join([str(tally.path), 'top', '-e', 'cpu-clock:u', '-d', '1', '--hierarchy', '-s', 'comm,symbol', '-p',
                          str(deep.pid)])
    screen = terminal(f'sh -c {shlex.quote(command + "; echo ended with $?; sleep 100")}', (120, 30))
    screen.wait(lambda lines: lines[0].startswith('Hierarchy: Samples: 0 ') and 'Sort keys' in lines[1])
    screen.wait(lambda lines: lines[2].split() == ['100.00%', '+', 'deep'])
    screen.press('Enter')
    opened = screen.wait(lambda lines: any(line.endswith(' leaf  deep') for line in lines))
    screen.wait(lambda lines: lines[0] != opened[0] and any(line.endswith(' leaf  deep') for line in lines))  # stays open
    screen.press('T')
    screen.wait(lambda lines: lines[0].startswith('Top-down: '))
    screen.press('q')
    screen.wait(lambda lines: lines[0].startswith('Hierarchy: '))
    screen.press('q')
    screen.wait(lambda lines: 'Overhead' in lines[1])
    screen.press('C-c')
    screen.wait(lambda lines: 'ended with 0' in lines)


def test_sigterm_leaves_the_terminal_well(terminal, tally, deep):  # noqa: F811
    command = shlex.join([str(tally.path), 'top', '-e', 'cpu-clock:u', '-d', '1', '-p', str(deep.pid)])
    screen = terminal(f'sh -c {shlex.quote(command + "; echo ended with $?; stty -a; sleep 100")}', (100, 20))
    screen.wait(lambda lines: any('leaf' in line for line in lines))
    parent = int(screen.ask('pane_pid'))
    children = pathlib.Path(f'/proc/{parent}/task/{parent}/children').read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    lines = screen.wait(lambda lines: 'ended with 0' in lines)
    assert re.search(r'(?<!-)icanon', '\n'.join(screen.wait(lambda lines: any('icanon' in l for l in lines)) or lines))
    assert screen.ask('alternate_on') == '0'


GROWING = r'''
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static const unsigned char spin[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec rdi; jne; ret */
static volatile sig_atomic_t wanted = 1;
static void more(int number) { wanted++; }
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
int main(int argc, char **argv)
{
	int is_dump = !strcmp(argv[1], "dump"), is_file = !strcmp(argv[1], "memfd"), made = 0;
	int fd = is_file ? memfd_create("code", 0) : -1;
	if (is_file && ftruncate(fd, 65536))
		return 2;
	int how = is_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	char *write_to = mmap(0, 65536, is_file ? 3 : 7, how, fd, 0), *code = is_file ? mmap(0, 65536, 5, how, fd, 0) : write_to;
	char name[99];
	snprintf(name, sizeof name, is_dump ? "%s/jit-%d.dump" : "%s/perf-%d.map", is_dump ? argv[2] : "/tmp", getpid());
	FILE *out = fopen(name, "w+");
	if (is_dump) {
		uint32_t head[6] = {0x4A695444, 1, 40, 62, 0, getpid()};
		uint64_t rest[2] = {now(), 0};
		fwrite(head, 24, 1, out), fwrite(rest, 16, 1, out), fflush(out);
		mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0);
	}
	signal(SIGUSR1, more);
	puts(name), fflush(stdout);
	while (wanted < 9) {
		for (; made < wanted; made++) {
			char *at = code + made * 4096, function[20];
			memcpy(write_to + made * 4096, spin, sizeof spin);
			snprintf(function, sizeof function, "made_no_%d", made);
			if (is_dump) {
				uint64_t size = sizeof spin, index = made, time = now(), place = (uintptr_t)at;
				uint32_t head[2] = {0, 16 + 40 + (uint32_t)strlen(function) + 1 + sizeof spin}, ids[2] = {getpid(), getpid()};
				fwrite(head, 8, 1, out), fwrite(&time, 8, 1, out), fwrite(ids, 8, 1, out), fwrite(&place, 8, 1, out);
				fwrite(&place, 8, 1, out), fwrite(&size, 8, 1, out), fwrite(&index, 8, 1, out);
				fwrite(function, strlen(function) + 1, 1, out), fwrite(spin, sizeof spin, 1, out);
			} else {
				fprintf(out, "%lx %zx %s\n", (long)at, sizeof spin, function);
			}
			fflush(out);
		}
		((void (*)(long))(code + (made - 1) * 4096))(10000000);
	}
	return 0;
}
'''


@pytest.mark.parametrize('kind', ['map', 'memfd', 'dump'])
def test_names_that_come_while_it_runs(top, live, tmp_path, kind):
    """A runtime writes names as it makes code: of anonymous memory, of a file in memory, into a dump."""
    if os.uname().machine != 'x86_64':
        pytest.skip('the code is for x86_64')
    (tmp_path / 'growing.c').write_text(GROWING)
    subprocess.run(['cc', '-O1', '-w', 'growing.c', '-o', 'growing'], cwd=tmp_path, check=True, timeout=TIMEOUT_S)
    running = subprocess.Popen([tmp_path / 'growing', kind, tmp_path], stdout=subprocess.PIPE, text=True)
    names = pathlib.Path(running.stdout.readline().strip())
    try:
        shown = top(*DEEP, '-p', running.pid)
        for number in range(3):
            assert shown.next(lambda lines: any(f'made_no_{number}' in row for _, row in rows(lines)))
            running.send_signal(signal.SIGUSR1)
    finally:
        running.kill()
        running.wait()
        names.unlink(missing_ok=True)


def test_refreshes_as_json(tally, deep):
    """Each is a line; its tables have the members of report's."""
    schemas = ROOT / 'docs' / 'schema'
    schema, report = (json.loads((schemas / f'{name}.json').read_text(encoding='utf-8')) for name in ('top', 'report'))
    assert all(report['$defs'][name] == part for name, part in schema['$defs'].items())
    process = subprocess.Popen([str(tally.path), 'top', '--json', '-e', 'cpu-clock:u', '-d', '1', '-F', '199', '-E', '1', '-p',
                                str(deep.pid)], env=tally.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        for line in process.stdout:
            document = json.loads(line)
            json_schema.check(document, schema)
            assert set(document) <= set(schema['properties'])
            table, = document['tables']
            if table['rows']:
                break
        row, = table['rows']
        assert row['symbol'] == 'leaf' and table['events'][0]['name'] == 'cpu-clock:u' and document['samples'] > 0
        deep.end()
        rest = process.stdout.read().splitlines()
        assert process.wait(30) == 0 and all(json.loads(line)['schema'] == 1 for line in rest)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize('option, word', [('--tui', 'screen (--tui)'), ('--sym-annotate=leaf', 'code (--sym-annotate)')])
def test_json_has_no_screen(tally, option, word):
    result = tally('top', '--json', option)
    assert result.returncode == 255 and f'--json has no {word}' in result.stderr
