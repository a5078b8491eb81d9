# SPDX-License-Identifier: Apache-2.0
"""Names that others chose, with sequences that steer a terminal and with line ends: in no verb's text do they come out."""
import gzip
import json
import os
import pty
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT_S, wait_for_work
from perfdata_build import Recording
from tracing_build import Tracepoint, tracing_data

# Sets the clipboard, colours, a line of its own, C1 in UTF-8, DEL, bytes that are no UTF-8 (one of them C1, a half of a
# pair, a character cut short), another direction, the separator of lines, and what ends strings of JSON and scripts.
EVIL = ('\x1b]52;c;UFdO\x07\x1b[31m\nROW,x\x9b2J\x7f' + b'\xff\x9b\xed\xa0\x80\xe2\x28'.decode('utf-8', 'surrogateescape') +
        '\u202e\u2028"\'<script>\\')
SHOWN = r'\x1b]52;c;UFdO\x07'
SHORT = '\x1b]0;P\x07\nROW'  # fits a thread's name
CONTROL = re.compile(rb'[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]')
NAME = [('char', 'comm[32]', 32)]
SWITCH = Tracepoint('sched', 'sched_switch', 5, [
    ('char', 'prev_comm[16]', 16), ('int', 'prev_pid', 4), ('int', 'prev_prio', 4), ('long', 'prev_state', 8),
    ('char', 'next_comm[16]', 16), ('int', 'next_pid', 4), ('int', 'next_prio', 4)],
    '"prev_comm=%s next_comm=%s", REC->prev_comm, REC->next_comm')
WAKEUP = Tracepoint('sched', 'sched_wakeup', 6, NAME + [('int', 'pid', 4)], '"comm=%s", REC->comm')
RUNTIME = Tracepoint('sched', 'sched_stat_runtime', 7, NAME + [('int', 'pid', 4), ('u64', 'runtime', 8)])
ACQUIRE = Tracepoint('lock', 'lock_acquire', 8, [('void *', 'lockdep_addr', 8), ('int', 'flags', 4), ('char', 'name[48]', 48)])
CONTENDED = Tracepoint('lock', 'lock_contended', 9, [('void *', 'lockdep_addr', 8), ('char', 'name[48]', 48)])
ACQUIRED = Tracepoint('lock', 'lock_acquired', 10, [('void *', 'lockdep_addr', 8), ('char', 'name[48]', 48)])
RELEASE = Tracepoint('lock', 'lock_release', 11, [('void *', 'lockdep_addr', 8), ('char', 'name[48]', 48)])
IRQ_ENTRY = Tracepoint('irq', 'irq_handler_entry', 12, [('int', 'irq', 4), ('char', 'name[48]', 48)])
IRQ_EXIT = Tracepoint('irq', 'irq_handler_exit', 13, [('int', 'irq', 4), ('int', 'ret', 4)])
POINTS = [SWITCH, WAKEUP, RUNTIME, ACQUIRE, CONTENDED, ACQUIRED, RELEASE, IRQ_ENTRY, IRQ_EXIT]


def check_text(output, starts=('ROW',)):
    """Nothing of a name steers or ends a row: colours in output that is not for a terminal are a name's too."""
    found = CONTROL.search(output)
    assert not found, output[max(0, found.start() - 80):found.end() + 20]
    lines = output.decode().splitlines()
    assert not [line for line in lines if line.lstrip().startswith(starts)]


@pytest.fixture
def planted(tmp_path):
    """Samples, switches and locks of a process whose every name is hostile."""
    r = Recording()
    r.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN CGROUP', 1, 0)
    for point in POINTS:
        r.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', 2, point.number)
    r.name_events('cycles' + EVIL, *[f'{point.system}:{point.name}' for point in POINTS])
    r.feature(1, tracing_data(POINTS))
    r.feature(3, r.text('host' + EVIL))
    r.feature(11, r.pack('I', 2) + r.text('/bin/a' + EVIL) + r.text('argument' + EVIL))
    r.comm(SHORT)
    r.mmap(0x400000, 0x10000, '/tmp/prog' + EVIL)
    r.record(19, 0, r.pack('Q', 77) + r.name('/group' + EVIL) + r.trailer())
    r.record(17, 0, r.pack('QIHH', 0xffffffffc0000000, 0x100, 1, 0) + r.name('bpf_prog' + EVIL) + r.trailer())
    for i in range(4):
        t = 1000000 * i
        r.sample(0, time=t, ip=0x401000 + 64 * i, cgroup=77, callchain=[0xfffffffffffffe00, 0x401000 + 64 * i, 0x402000])
        r.sample(2, time=t + 10, raw=WAKEUP.payload(comm=SHORT, pid=1000))
        r.sample(1, time=t + 20, tid=(0, 0), raw=SWITCH.payload(next_comm=SHORT, next_pid=1000, prev_comm='swapper'))
        r.sample(3, time=t + 30, raw=RUNTIME.payload(comm=SHORT, pid=1000, runtime=500))
        for number, point in ((4, ACQUIRE), (5, CONTENDED), (6, ACQUIRED), (7, RELEASE)):
            r.sample(number, time=t + 30 + number, raw=point.payload(lockdep_addr=0xf00, name='lock' + EVIL))
        r.sample(8, time=t + 50, raw=IRQ_ENTRY.payload(irq=7, name='irq' + EVIL))
        r.sample(9, time=t + 60, raw=IRQ_EXIT.payload(irq=7))
        r.sample(1, time=t + 900, raw=SWITCH.payload(prev_comm=SHORT, prev_pid=1000, next_comm='swapper', prev_state=1))
    path = tmp_path / 'planted.data'
    r.write(path)
    return path


SHOWS = [
    'report --stdio -s comm,dso,sym', 'report --stdio --children -v', 'report --stdio -s pid,cgroup,srcline',
    'report --stdio --hierarchy -s comm,dso', 'report --stdio --header', 'report --stdio --tasks --mmaps', 'report --stdio --missing',
    'report --stdio -t , -s comm,dso', 'report --stdio -s trace', 'report -D', 'report --stdio -g caller -s comm', 'report --stats',
    'report --stdio -F overhead,comm,dso', 'report --header-only -I', 'script', 'script --header -F comm,tid,time,event,ip,sym,dso,dsoff,srcline,trace',
    'script --show-mmap-events --show-task-events --show-cgroup-events --show-bpf-events', 'script -D', 'script -F +cgroup',
    'evlist', 'evlist -v', 'evlist -F -g', 'evlist --trace-fields', 'buildid-list', 'sched latency', 'sched map', 'sched timehist',
    'sched timehist -s', 'sched script', 'lock report', 'lock report -t', 'lock info -t', 'lock info -m', 'lock contention',
    'lock report -x ,', 'health', 'annotate --stdio', 'diff {} {}', 'kmem stat', 'c2c report --stdio', 'mem report --stdio', 'mem report -D',
    'stat report', 'flamegraph --folded -o -', 'export -F folded -o -', 'export -F collapsed -o -', 'timechart -o -',
    'kwork report', 'kwork timehist', 'kwork top',
]


@pytest.mark.parametrize('line', SHOWS)
def test_text_of_every_verb(tally, planted, line):
    words = line.split()
    data = [] if '{}' in words else ['-i', str(planted)]
    done = tally(*[word.replace('{}', str(planted)) for word in words], *data, text=False)
    check_text(done.stdout + done.stderr)


DATA = [
    'report --json', 'report --missing --json', 'report --header-only -I --json', 'sched latency --json', 'health --json',
    'lock contention --json', 'lock report --json', 'diff --json {} {}', 'data convert --to-json OUT', 'export -F chrome -o OUT',
    'export -F firefox -o OUT', 'export -F speedscope -o OUT', 'annotate --json', 'export -F json -o OUT', 'kwork report --json',
    'kwork top --json',
]


@pytest.mark.parametrize('line', DATA)
def test_data_of_every_verb(tally, planted, tmp_path, line):
    """Valid JSON in valid UTF-8, which steers no terminal either."""
    words = line.split()
    out = tmp_path / 'out'
    data = [] if '{}' in words else ['-i', str(planted)]
    done = tally(*[word.replace('{}', str(planted)).replace('OUT', str(out)) for word in words], *data, text=False, check=0)
    written = out.read_bytes() if out.exists() else done.stdout
    written = gzip.decompress(written) if written[:2] == b'\x1f\x8b' else written
    check_text(written)
    values = written.decode().splitlines() if '-F json' in line else [written.decode()]
    assert [json.loads(value) for value in values]


def test_they_are_shown(tally, planted):
    """Not left out: the reader sees what is there."""
    assert SHOWN in tally('report', '--stdio', '-s', 'dso', '-i', planted, check=0).stdout
    assert r'\x1b]0;P\x07\x0aROW' in tally('report', '--stdio', '-s', 'comm', '-i', planted, check=0).stdout
    assert r'\x1b]0;P\x07\x0aROW' in tally('sched', 'latency', '-i', planted, check=0).stdout
    script = tally('script', '-i', planted, check=0).stdout
    assert SHOWN in script and r'next_comm=\x1b]0;P\x07\x0aROW' in script and r'\xc2\x9b2J\x7f' in script
    assert SHOWN in tally('evlist', '-i', planted, check=0).stdout
    header = tally('report', '--header-only', '-i', planted, check=0).stdout
    assert '# hostname : host' + SHOWN in header and '/bin/a' + SHOWN in header


def test_separators_in_names_are_dots(tally, planted):
    rows = tally('report', '--stdio', '-g', 'none', '-t', ',', '-s', 'dso', '-i', planted, check=0).stdout
    rows = [row for row in rows.splitlines() if row and row[0] != '#']
    assert rows and all(row.count(',') == 2 for row in rows)


def test_a_separator_of_control_stays(tally, planted):
    """\\x1f is what a reader of columns may ask for."""
    rows = tally('report', '--stdio', '-g', 'none', '-t', '\x1f', '-s', 'comm,dso', '-i', planted, check=0).stdout
    assert [row for row in rows.splitlines() if row.count('\x1f') == 3 and SHOWN in row]


SOURCE = r'''
#include <sys/prctl.h>
__attribute__((noinline)) long work(long n) __asm__("\"work@NAME@\"");
#line 1 "@PATH@"
__attribute__((noinline)) long work(long n) /* @ESC@]52;c;UFdO@BEL@ @ESC@[31m */
{
	for (volatile long i = 0; i < n; i++) ;
	return n;
}
int main(int argc, char **argv)
{
	prctl(PR_SET_NAME, "\x1b]0;P\x07\nROW,\xff\x9b\xe2\x28");
	for (long i = 0; i < (argc > 1 ? 100000 : 200); i++)
		work(1000000);
	return 0;
}
'''


@pytest.fixture
def program(tmp_path):
    if not shutil.which('cc'):
        pytest.skip('cc is not installed')
    source = tmp_path / 'source.c'
    text = SOURCE.replace('@NAME@', r'\033]52;c;UFdO\007').replace('@PATH@', str(source))
    source.write_bytes(text.replace('@ESC@', '\x1b').replace('@BEL@', '\x07').encode())
    path = tmp_path / ('prog\x1b]52;c;UFdO\x07\nROW')
    made = subprocess.run(['cc', '-O1', '-g', '-o', path, source], capture_output=True, timeout=TIMEOUT_S)
    if made.returncode != 0:
        pytest.skip('the assembler takes no quoted names: ' + made.stderr.decode(errors='replace')[:200])
    return path


def test_of_a_program(live, tally, tmp_path, program):
    data = tmp_path / 'perf.data'
    done = tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', 999, '-o', data, '--', program, text=False)
    check_text(done.stdout + done.stderr)
    shown = {}
    for line in ('report --stdio -s comm,dso,sym', 'report --stdio -s srcline', 'script', 'script -F +srcline', 'annotate --stdio',
                 'annotate --stdio2', 'annotate -v --stdio', 'report --stdio --missing', 'buildid-list', 'report --stdio --no-demangle',
                 'report --stdio --symbol-filter=nothing', 'evlist', 'health', 'diff'):
        words = line.split()
        done = tally(*words, *([data, data] if line == 'diff' else ['-i', data]), text=False)
        check_text(done.stdout + done.stderr)
        shown[line] = done.stdout.decode(errors='replace')
    assert r'work\x1b]52;c;UFdO\x07' in shown['report --stdio -s comm,dso,sym']
    assert r'prog\x1b]52;c;UFdO\x07\x0aROW' in shown['report --stdio -s comm,dso,sym']
    assert r'/* \x1b]52;c;UFdO\x07 \x1b[31m */' in shown['annotate --stdio']


def test_probing_and_caching_a_program(tally, program):
    """Source lines, functions, variables, and names on standard error."""
    shown = {}
    for line in ('probe -x {} -L work', 'probe -x {} -L main', 'probe -x {} -V main', 'probe -x {} -F', 'probe -x {} -n -v --add main',
                 'probe -x {} -D main', 'probe -x {}x -L main', 'buildid-cache -v --add {}', 'buildid-cache -l', 'buildid-cache --update {}',
                 'buildid-cache -v --remove {}', 'buildid-cache --update {}', 'doctor {}', 'kallsyms {}',
                 'bench {}', 'help {}', 'list {}'):
        done = tally(*[word.replace('{}', str(program)) for word in line.split()], text=False)
        check_text(done.stdout + done.stderr)
        shown[line] = done.stdout.decode(errors='replace')
    if 'int main' in shown['probe -x {} -L main']:
        assert r'/* \x1b]52;c;UFdO\x07 \x1b[31m */' in shown['probe -x {} -L work'] + shown['probe -x {} -L main']
    assert r'\x0aROW' in shown['buildid-cache -l']


def test_data_types_of_a_program(live, tally, tmp_path, program):
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '-o', data, '--', program)
    done = tally('annotate', '--stdio', '--data-type', '-i', data, text=False)
    check_text(done.stdout + done.stderr)


def test_counted_by_thread(live, tally, program):
    running = subprocess.Popen([program, 'long'])
    try:
        wait_for_work(running.pid, 0.2)
        for options in ([], ['-x', ','], ['-j']):
            done = tally('stat', '-e', 'task-clock', '--per-thread', '-p', running.pid, *options, '--', 'sleep', '0.1', text=False)
            check_text(done.stdout + done.stderr)
            rows = done.stderr.decode().splitlines()
            if options == ['-j']:
                assert {json.loads(row)['thread'] for row in rows} == {
                    rf'\x1b]0;P\x07\x0aROW,\xff\x9b\xe2(-{running.pid}'}
                continue
            rows = [row for row in rows if r'\x1b]0;P\x07' in row]
            assert rows
            if options:
                assert all(row.startswith(r'\x1b]0;P\x07\x0aROW.\xff\x9b\xe2(-') for row in rows)
    finally:
        running.kill()
        running.wait()


def test_on_a_terminal(planted, tally, tmp_path):
    """Where it counts: what reaches the terminal."""
    main, terminal = pty.openpty()
    env = dict(os.environ, HOME=str(tmp_path), PAGER='cat', TERM='xterm')
    child = subprocess.Popen([tally.path, 'report', '--stdio', '-q', '-s', 'comm,dso', '-i', planted],
                             stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL, env=env)
    os.close(terminal)
    seen = b''
    try:
        while part := os.read(main, 65536):
            seen += part
    except OSError:
        pass  # how a terminal without writers ends
    os.close(main)
    assert child.wait(TIMEOUT_S) == 0
    assert SHOWN.encode() in seen and b'\x1b]' not in seen and b'\x07' not in seen
