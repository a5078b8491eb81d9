# SPDX-License-Identifier: Apache-2.0
"""Numbers of CPUs, threads and nodes in recordings are hostile: no verb counts on them, sizes by them or runs past an end."""
import pytest

from perfdata_build import CHAIN_USER, Recording
from tracing_build import Tracepoint, tracing_data

NUMBERS = [0, 1, 4095, 4096, 0x7ffffffe, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]
TEXT, LONG = ('char', 'comm[16]', 16), 0x7fffffffffffffff
TRACEPOINTS = [
    Tracepoint('sched', 'sched_switch', 300, [
        ('char', 'prev_comm[16]', 16), ('int', 'prev_pid', 4), ('int', 'prev_prio', 4), ('long', 'prev_state', 8),
        ('char', 'next_comm[16]', 16), ('int', 'next_pid', 4), ('int', 'next_prio', 4)]),
    Tracepoint('sched', 'sched_wakeup', 301, [TEXT, ('int', 'pid', 4), ('int', 'prio', 4), ('int', 'target_cpu', 4)]),
    Tracepoint('sched', 'sched_migrate_task', 302, [
        TEXT, ('int', 'pid', 4), ('int', 'prio', 4), ('int', 'orig_cpu', 4), ('int', 'dest_cpu', 4)]),
    Tracepoint('power', 'cpu_idle', 303, [('unsigned int', 'state', 4), ('unsigned int', 'cpu_id', 4)]),
    Tracepoint('lock', 'contention_begin', 304, [('void *', 'lock_addr', 8)]),
    Tracepoint('lock', 'contention_end', 305, [('void *', 'lock_addr', 8), ('int', 'ret', 4)]),
    Tracepoint('kmem', 'kmalloc', 306, [('unsigned long', 'call_site', 8), ('void *', 'ptr', 8), ('size_t', 'bytes_req', 8),
                                        ('size_t', 'bytes_alloc', 8), ('int', 'node', 4)]),
    Tracepoint('kmem', 'mm_page_alloc', 307, [('unsigned long', 'pfn', 8), ('unsigned int', 'order', 4),
                                              ('int', 'migratetype', 4)]),
    Tracepoint('irq', 'irq_handler_entry', 308, [('int', 'irq', 4), TEXT]),
    Tracepoint('irq', 'irq_handler_exit', 309, [('int', 'irq', 4), ('int', 'ret', 4)]),
    *(Tracepoint('irq', f'softirq_{step}', number, [('unsigned int', 'vec', 4)])
      for step, number in (('raise', 310), ('entry', 311), ('exit', 312))),
    *(Tracepoint('workqueue', f'workqueue_{step}', number, [('void *', 'work', 8), ('void *', 'function', 8)])
      for step, number in (('activate_work', 313), ('execute_start', 314), ('execute_end', 315)))]


def of_samples(path, values):
    """values: what a number makes of a sample."""
    r = Recording()
    r.event('IP TID TIME CPU PERIOD CALLCHAIN')
    r.comm('worker')
    r.mmap(0x400000, 0x1000, '/usr/bin/x')
    for i, number in enumerate(NUMBERS):
        r.sample(**{'ip': 0x400010, 'time': 1000 + i, 'period': 5, 'callchain': [CHAIN_USER, 0x400010, 0x400020],
                    **values(number)})
    r.write(path)


def of_tracepoints(path, _):
    r = Recording()
    for tracepoint in TRACEPOINTS:
        r.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=tracepoint.number, period=1)
    r.name_events(*[f'{t.system}:{t.name}' for t in TRACEPOINTS])
    r.feature(1, tracing_data(TRACEPOINTS))
    when = 1000
    for number in NUMBERS:
        signed = number - (1 << 32) if number >> 31 else number
        for index, tracepoint in enumerate(TRACEPOINTS):
            fields = {name: LONG if size == 8 and number == 0x7fffffff else signed
                      for _, name, size in tracepoint.fields if '[' not in name}
            when += 1000
            r.sample(index, tid=(number, number), time=when, period=1, cpu=number, raw=tracepoint.payload(**fields))
    r.write(path)


RECORDINGS = {'cpu': (of_samples, lambda n: {'cpu': n}), 'tid': (of_samples, lambda n: {'tid': (n, n)}),
              'time': (of_samples, lambda n: {'time': (1 << 64) - 1 - n}),
              'period': (of_samples, lambda n: {'period': (1 << 64) - 1 - n}), 'tracepoints': (of_tracepoints, None)}
FORMS = [
    'report --stdio -s cpu,socket,tid,pid', 'report --stdio --tasks', 'report --stats', 'report --json -s cpu,comm',
    'report --html o.html', 'report --stdio -C 2147483647', 'report --stdio -s parallelism', 'report -D',
    'script -F comm,tid,pid,cpu,time,ip,sym,period', 'script --show-task-events', 'annotate --stdio', 'health', 'health --json',
    'flamegraph --folded -g cpu', 'flamegraph -g thread -o o.html', 'timechart -o o.svg', 'timechart --html o.html',
    'sched latency', 'sched map', 'sched timehist', 'sched timehist -s', 'lock info -t', 'lock info -m', 'lock info -t --json',
    'lock report', 'lock contention', 'kmem stat', 'kmem stat --page', 'c2c report --stdio', 'mem report --stdio', 'query',
    'kwork report -S', 'kwork report --json', 'kwork latency', 'kwork timehist', 'kwork top', 'kwork top --json',
    'inject -o o', 'data convert --to-json o --force', 'export -F html -o o', 'export -F firefox -o o',
    'export -F chrome -o o', 'export -F perfetto -o o', 'export -F sqlite -o o', 'export -F pprof -o o', 'export -F otlp -o o',
    'export -F otlp-json -o o']


def run_forms(program, folder, make, values):
    path = folder / 'data'
    make(path, values)
    for form in FORMS:
        words = form.split()
        given = [path] if words[0] in ('query', 'flamegraph') else ['-i', path]
        result = program(*words, *given, cwd=folder, timeout=120)
        assert 0 <= result.returncode != 99 and 'runtime error' not in result.stderr, f'{form}: {result.stderr}'
        for made in folder.glob('o*'):
            assert made.stat().st_size < 50_000_000, form
            made.unlink()


@pytest.mark.parametrize('kind', RECORDINGS)
def test_numbers_of_a_file(tally, tmp_path, kind):
    run_forms(tally, tmp_path, *RECORDINGS[kind])


@pytest.mark.parametrize('kind', RECORDINGS)
def test_numbers_of_a_file_sanitized(tally_asan, tmp_path, kind):
    run_forms(tally_asan, tmp_path, *RECORDINGS[kind])
