# SPDX-License-Identifier: Apache-2.0
"""The kernel's own work: the tables are perf's, on recordings of known times and on live ones."""
import json
import re
import signal
import subprocess
import sys

import pytest

import json_schema
from conftest import ROOT
from perfdata_build import Recording
from tracing_build import Tracepoint, tracing_data

SCHEMA = json.loads((ROOT / 'docs/schema/kwork.json').read_text())
MS = 1_000_000
IRQ_ENTRY = Tracepoint('irq', 'irq_handler_entry', 301, [('int', 'irq', 4), ('char', 'name[16]', 16)])
IRQ_EXIT = Tracepoint('irq', 'irq_handler_exit', 302, [('int', 'irq', 4), ('int', 'ret', 4)])
VECTORS = '"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 1, "TIMER" }, { 3, "NET_RX" }, { 7, "SCHED" }, { 9, "RCU" })'
RAISE, ENTRY, EXIT = (Tracepoint('irq', f'softirq_{step}', number, [('unsigned int', 'vec', 4)], VECTORS)
                      for step, number in (('raise', 303), ('entry', 304), ('exit', 305)))
ACTIVATE = Tracepoint('workqueue', 'workqueue_activate_work', 306, [('void *', 'work', 8), ('void *', 'function', 8)])
START = Tracepoint('workqueue', 'workqueue_execute_start', 307, ACTIVATE.fields)
END = Tracepoint('workqueue', 'workqueue_execute_end', 308, ACTIVATE.fields)
SWITCH = Tracepoint('sched', 'sched_switch', 309, [
    ('char', 'prev_comm[16]', 16), ('pid_t', 'prev_pid', 4), ('int', 'prev_prio', 4), ('long', 'prev_state', 8),
    ('char', 'next_comm[16]', 16), ('pid_t', 'next_pid', 4), ('int', 'next_prio', 4)])
ALL = [IRQ_ENTRY, IRQ_EXIT, RAISE, ENTRY, EXIT, ACTIVATE, START, END, SWITCH]


class Kernel(Recording):
    """Times in milliseconds."""

    def __init__(self, has_chains=False):
        super().__init__()
        for tracepoint in ALL:
            self.event('IDENTIFIER IP TID TIME CPU PERIOD RAW' + ' CALLCHAIN' * has_chains, kind=2, config=tracepoint.number, period=1)
        self.name_events(*[f'{tracepoint.system}:{tracepoint.name}' for tracepoint in ALL])
        self.feature(1, tracing_data(ALL))

    def happen(self, tracepoint, when, cpu=0, tid=0, chain=(), **fields):
        self.sample(ALL.index(tracepoint), tid=(tid, tid), time=1000 * MS + int(when * MS), period=1, cpu=cpu, callchain=chain,
                    raw=tracepoint.payload(**fields))

    def softirq(self, begin, end, vec, cpu=0, raised=None, chain=()):
        if raised is not None:
            self.happen(RAISE, raised, cpu, vec=vec)
        self.happen(ENTRY, begin, cpu, chain=chain, vec=vec)
        self.happen(EXIT, end, cpu, vec=vec)

    def irq(self, begin, end, irq, name, cpu=0):
        self.happen(IRQ_ENTRY, begin, cpu, irq=irq, name=name)
        self.happen(IRQ_EXIT, end, cpu, irq=irq, ret=1)

    def switch(self, when, leaves, comes, cpu=0):
        self.happen(SWITCH, when, cpu, leaves, prev_pid=leaves, next_pid=comes, prev_comm=f'task{leaves}', next_comm=f'task{comes}')


def known_recording(path):
    r = Kernel()
    r.softirq(1, 2, 1, raised=0.5)
    r.softirq(3, 3.25, 1, raised=2.75)
    r.softirq(3.5, 5, 9, cpu=1)  # nobody raised it
    r.irq(6, 6.125, 36, 'virtio1-req.0')
    r.irq(7, 7.5, 36, 'virtio1-req.0')
    r.irq(7, 7.125, 41, 'a-name-of-15-bs', cpu=1)
    r.happen(EXIT, 8, 1, vec=3)  # its begin is before the recording
    r.happen(ENTRY, 9, 1, vec=3)  # its end is behind it
    r.happen(RAISE, 9, 0, vec=7)
    r.write(path)


@pytest.fixture
def known(tmp_path):
    path = tmp_path / 'known.data'
    known_recording(path)
    return path


LINES = ['report', 'report -S', 'report -s max', 'report -s count', 'report -C 1', 'report -k irq', 'report -n TIMER -S',
         'report -S --time 1.0029,', 'latency', 'latency -s count', 'latency -k softirq', 'timehist', 'timehist -C 0',
         'timehist -n virtio1-req.0', 'report -k sched', 'latency -k irq']


def same_but_load(text):
    """perf prints the ratio, and calls it percent; of events it counts all records, and it misses the raise of interrupts."""
    if 'Avg delay' in text:
        text = re.sub('  INFO: .*\n', '', text)
    return re.sub(r'\([0-9.]+% load|[0-9.]+% skipped', '', text)


@pytest.mark.parametrize('line', LINES)
def test_tables_are_perfs(tally, newest_perf, known, line):
    mine, perfs = (program('kwork', *line.split(), '-i', known).stdout for program in (tally, newest_perf))
    assert same_but_load(mine) == same_but_load(perfs)


def test_sums(tally, known):
    out = tally('kwork', 'report', '-S', '-i', known, check=0).stdout
    assert '  Total runtime   (msec) :     3.500 (43.750% load average)\n' in out
    assert '  Total time span (msec) :     8.000\n' in out
    assert '  INFO: 11.765% skipped events (2 including 0 raise, 1 entry, 1 exit)\n' in out
    assert re.search(r'\(s\)TIMER:1 +\| 0000 \| +1\.250 ms \| +2 \| +1\.000 ms \| +1\.001000 s \| +1\.002000 s \|', out)


@pytest.mark.parametrize('verb, key', [('report', 'runtimes'), ('latency', 'delays')])
def test_json(tally, known, verb, key):
    document = json.loads(tally('kwork', verb, '--json', '-i', known, check=0).stdout)
    json_schema.check(document, SCHEMA)
    rows = {(row['name'], row['cpu']): row for row in document[key]}
    if verb == 'report':
        assert rows['(s)TIMER:1', 0]['total_ns'] == 1_250_000 and rows['virtio1-req.0:36', 0]['count'] == 2
        assert len(rows) == 4 and document['span_ns'] == 8_000_000 and document['unmatched_events'] == 2
    else:
        assert list(rows) == [('(s)TIMER:1', 0)]
        assert rows['(s)TIMER:1', 0]['total_ns'] == 750_000 and rows['(s)TIMER:1', 0]['max_start_ns'] == 1_000_500_000


def test_work_items_run_on_any_cpu(tally, newest_perf, tmp_path):
    """perf looks for the activation on the CPU on which the item runs, and pairs an old one with a later run."""
    r = Kernel()
    r.happen(ACTIVATE, 1, 0, work=0xf000, function=0xf1)
    r.happen(START, 3, 1, work=0xf000, function=0xf1)
    r.happen(END, 4, 1, work=0xf000, function=0xf1)
    r.happen(ACTIVATE, 9, 0, work=0xf000, function=0xf1)
    r.happen(START, 10, 0, work=0xf000, function=0xf1)
    r.happen(END, 12, 0, work=0xf000, function=0xf1)
    r.write(tmp_path / 'work.data')
    runs = [re.findall(r'\| (\d{4}) \| +([0-9.]+) ms', program('kwork', 'report', '-i', tmp_path / 'work.data').stdout)
            for program in (tally, newest_perf)]
    assert runs[0] == runs[1] == [('0000', '2.000'), ('0001', '1.000')]
    waits = tally('kwork', 'latency', '-i', tmp_path / 'work.data', check=0).stdout
    assert re.findall(r'\| (\d{4}) \| +([0-9.]+) ms', waits) == [('0001', '2.000'), ('0000', '1.000')]
    assert '(w)0xf1 ' in waits and 'skipped' not in waits
    assert re.findall(r'(?m) (\S+) +(\S+) $', tally('kwork', 'timehist', '-i', tmp_path / 'work.data', check=0).stdout)[-2:] == [
        ('1.000', '2.000'), ('2.000', '1.000')]


def test_a_softirq_waits_from_its_first_raise(tally, tmp_path):
    r = Kernel()
    r.happen(RAISE, 1, vec=9)
    r.softirq(5, 6, 9, raised=4)
    r.write(tmp_path / 'raised.data')
    row = json.loads(tally('kwork', 'latency', '--json', '-i', tmp_path / 'raised.data', check=0).stdout)['delays'][0]
    assert (row['count'], row['total_ns']) == (1, 4_000_000)


def top_recording(path):
    r = Kernel()
    r.switch(0, 5, 7)
    r.softirq(1, 3, 1)
    r.irq(4, 5, 36, 'disk')
    r.switch(10, 7, 0)
    r.switch(16, 0, 8)
    r.switch(20, 8, 7)
    r.switch(0, 5, 8, cpu=1)
    r.switch(10, 8, 7, cpu=1)
    r.write(path)


def test_top(tally, newest_perf, tmp_path):
    path = tmp_path / 'top.data'
    top_recording(path)
    mine = tally('kwork', 'top', '-i', path, check=0).stdout
    assert mine.splitlines()[:6] == ['', 'Total  :     30.000 ms, 2 cpus', '%Cpu(s):  20.00% id,   3.33% hi,   6.67% si',
                                     '%Cpu0   [||||||||||||||||                55.00%]', '%Cpu1   [|||||||||||||||||||||||||||||| 100.00%]', '']
    rows = [tuple(line.split()[:3]) for line in mine.splitlines()[8:] if line.strip()]
    assert rows == [('8', '120.00', '14.000'), ('7', '35.00', '7.000'), ('0', '30.00', '6.000')]
    perfs = newest_perf('kwork', 'top', '-i', path).stdout
    assert [line.split('  ')[0] for line in perfs.splitlines()[:8]] == [line.split('  ')[0] for line in mine.splitlines()[:8]]
    for key, first in (('tid', '0'), ('runtime', '8'), ('rate', '8')):
        assert tally('kwork', 'top', '-s', key, '-i', path, check=0).stdout.splitlines()[8].split()[0] == first
    document = json.loads(tally('kwork', 'top', '--json', '-i', path, check=0).stdout)
    json_schema.check(document, SCHEMA)
    assert document['cpus'][0] == {'cpu': 0, 'total_ns': 20 * MS, 'idle_ns': 6 * MS, 'irq_ns': MS, 'softirq_ns': 2 * MS}
    assert [task['tid'] for task in document['tasks']] == [8, 7, 0]


def test_nothing_is_said_in_a_sentence(tally, known, tmp_path, perf_recording):
    none = tally('kwork', 'report', '-n', 'nobody', '-i', known, check=0)
    assert none.stderr == "note: none of the 17 events of the kernel's work passes the filters, or has both ends\n"
    other = tally('kwork', 'latency', '-i', perf_recording('u'), check=0)
    assert "the recording has no events of the kernel's work (irq,softirq,workqueue)" in other.stderr
    assert 'kwork -k irq,softirq,workqueue record' in other.stderr
    r = Kernel()
    r.irq(6, 6.125, 36, 'disk')
    r.write(tmp_path / 'irq.data')
    said = tally('kwork', 'top', '-i', tmp_path / 'irq.data', check=0).stderr
    assert said.startswith('note: without sched:sched_switch the time of tasks is not known') and said.count('\n') == 1
    said = tally('kwork', 'latency', '-k', 'workqueue', '-i', tmp_path / 'irq.data', check=0).stderr
    assert said == 'note: the kernel did no such work while it was recorded\n'


def test_numbers_of_events_and_dumps(tally, known):
    said = tally('kwork', '-v', 'report', '-i', known, check=0).stderr
    assert said == 'note: 17 events of interrupts, softirqs and work items\n'
    dumped = tally('kwork', 'report', '-D', '-i', known, check=0).stdout
    assert dumped.count('PERF_RECORD_SAMPLE') == 17 and 'Kwork Name' in dumped.split('PERF_RECORD_SAMPLE')[-1]


def test_chains_of_where_work_begins(tally, tmp_path):
    r = Kernel(has_chains=True)
    r.softirq(1, 2, 1, chain=(2**64 - 128, 0xffffffff81000010, 0xffffffff81000020))
    r.write(tmp_path / 'chains.data')
    row = tally('kwork', 'timehist', '-g', '-i', tmp_path / 'chains.data', check=0).stdout.splitlines()[3]
    assert row.count(' <- ') == 1
    assert ' <- ' not in tally('kwork', 'timehist', '-g', '--max-stack', '1', '-i', tmp_path / 'chains.data', check=0).stdout
    assert ' <- ' not in tally('kwork', 'timehist', '-i', tmp_path / 'chains.data', check=0).stdout


def test_k_of_timehist_names_work_or_vmlinux(tally, known):
    assert tally('kwork', 'timehist', '-k', 'irq', '-i', known, check=0).stdout.count('virtio1') == 2
    assert tally('kwork', 'timehist', '-k', 'irq', '-i', known, check=0).stdout.count('TIMER') == 0
    refused = tally('kwork', 'timehist', '-k', '/nonexistent/vmlinux', '-i', known)
    assert '/nonexistent/vmlinux' in refused.stderr


@pytest.mark.parametrize('line, said', [
    (['-k', 'foo', 'report'], 'takes irq, softirq, workqueue and sched'),
    (['report', '-s', 'avg'], "Unknown --sort key: `avg'"),
    (['latency', '-s', 'runtime'], "Unknown --sort key: `runtime'"),
    (['top', '-s', 'count'], "Unknown --sort key: `count'"),
    (['report', 'word'], "unexpected argument 'word'"),
    ([], 'kwork needs a command'),
    (['reprot'], 'reprot'),
    (['-i', 'x.data', 'record', 'true'], '-i and -D read a recording'),
])
def test_wrong_usage(tally, line, said):
    assert said in tally('kwork', *line, check=129).stderr


@pytest.fixture
def recorded(tally, tmp_path, system_wide):
    path = tmp_path / 'live.data'
    result = tally('kwork', '-k', 'irq,softirq,workqueue,sched', 'record', '-o', path, '--', 'sh', '-c', 'for i in $(seq 20); do sleep 0.05; done')
    if result.returncode != 0:
        pytest.skip(f'the tracepoints cannot be recorded here: {result.stderr}')
    return path


def test_live_recordings_tables_are_perfs(tally, newest_perf, recorded):
    for line in ('report -S', 'report -k softirq', 'timehist -n TIMER'):
        mine, perfs = (sorted(same_but_load(program('kwork', *line.split(), '-i', recorded).stdout).splitlines()) for program in (tally, newest_perf))
        assert mine == perfs and len(mine) > 5
    assert tally('kwork', 'top', '-i', recorded, check=0).stdout.count('ms') > 1


@pytest.fixture
def bpf(tally, system_wide):
    probed = tally('kwork', 'report', '-b', '-k', 'softirq', 'true')
    if probed.returncode != 0:
        pytest.skip(f'BPF programs cannot measure here: {probed.stderr.strip()}')


def measured(tally, *words):
    document = json.loads(tally('kwork', words[0], '-b', '--json', *words[1:], check=0).stdout)
    json_schema.check(document, SCHEMA)
    return document


SLEEPS = ['sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done']


def test_bpf_adds_up_what_a_recording_has(tally, bpf, tmp_path):
    """The same machine at the same time: the program measures around the recording, so it has at least its work."""
    path = tmp_path / 'beside.data'
    document = measured(tally, 'report', '-k', 'softirq,workqueue', '--', tally.path, 'kwork', '-k', 'softirq,workqueue', 'record', '-o', path, '--', *SLEEPS)
    recorded = json.loads(tally('kwork', 'report', '--json', '-k', 'softirq,workqueue', '-i', path, check=0).stdout)
    rows = {(row['kind'], row.get('work', row.get('number')), row['cpu']): row for row in document['runtimes']}
    softirqs = [row for row in recorded['runtimes'] if row['kind'] == 'softirq']
    assert softirqs and recorded['lost_events'] == 0
    for row in softirqs:
        mine = rows[row['kind'], row['number'], row['cpu']]
        assert mine['count'] >= row['count'] and mine['total_ns'] >= row['total_ns'] // 2 and mine['name'] == row['name']
    items = [row for row in recorded['runtimes'] if row['kind'] == 'workqueue']
    for row in items:
        mine = rows[row['kind'], row['work'], row['cpu']]
        assert mine['count'] >= row['count'] and (mine['name'] == row['name'] or '0x' in mine['name'] + row['name'])


def test_bpf_measures_delays_and_tasks(tally, bpf):
    delays = measured(tally, 'latency', '--', *SLEEPS)['delays']
    assert {row['kind'] for row in delays} <= {'softirq', 'workqueue'} and any(row['name'] == '(s)TIMER:1' for row in delays)
    assert all(row['max_end_ns'] - row['max_start_ns'] == row['max_ns'] <= row['total_ns'] for row in delays)
    work = 'import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass'
    top = measured(tally, 'top', '--', sys.executable, '-c', work)
    mine = max((task for task in top['tasks'] if task['comm'].startswith('python')), key=lambda task: task['runtime_ns'])
    assert mine['runtime_ns'] > 200_000_000
    for cpu in top['cpus']:
        assert cpu['idle_ns'] + cpu['irq_ns'] + cpu['softirq_ns'] <= cpu['total_ns'] * 1.01
    only = measured(tally, 'report', '-C', '0', '--', *SLEEPS)['runtimes']
    assert only and {row['cpu'] for row in only} == {0}


def test_bpf_stops_at_a_signal(tally, bpf):
    running = tally.start('kwork', 'report', '-b', '-k', 'softirq')
    assert running.stderr.readline() == 'note: measuring until Ctrl-C\n'
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0 and 'Kwork Name' in out


def test_bpf_outlives_its_terminal_with_nohup(tally, bpf):
    running = tally.start('kwork', 'report', '-b', '-k', 'softirq',
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert running.stderr.readline() == 'note: measuring until Ctrl-C\n'
    running.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(timeout=1)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0 and 'Kwork Name' in out


def test_bpf_wrong_usage(tally, tally_without_bpf):
    assert '-b measures now' in tally('kwork', 'report', '-b', '-i', 'x.data', check=129).stderr
    refused = tally_without_bpf('kwork', 'report', '-b', 'true', check=255)
    assert refused.stderr.startswith('kwork -b') and refused.stdout == ''


def test_records_the_same_events(tally, newest_perf, tmp_path, system_wide):
    for words in ([], ['-k', 'irq'], ['-k', 'sched,softirq']):
        names = []
        for program in (tally, newest_perf):
            path = tmp_path / 'events.data'
            if program('kwork', *words, 'record', '-o', path, '--', 'true').returncode != 0:
                pytest.skip('the tracepoints cannot be recorded here')
            names.append(sorted(line for line in tally('evlist', '-i', path, check=0).stdout.splitlines() if line[0] != '#' and 'dummy' not in line))
        assert names[0] == names[1]


def test_perfs_own_test(perfs_own_test, system_wide):
    result = perfs_own_test('kwork.sh')
    assert result.returncode in (0, 2) and 'Failed' not in result.stdout, result.stdout + result.stderr
