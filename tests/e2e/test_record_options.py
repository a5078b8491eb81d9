# SPDX-License-Identifier: Apache-2.0
"""record's options against perf's: what both ask of the kernel for the same words, read back by perf evlist -v."""
import os
import pathlib
import re
import subprocess

import pytest

from conftest import wait_for, without_build_id_request

pytestmark = pytest.mark.usefixtures('live')

CLOCK = ('-e', 'task-clock')
SWITCH = ('-e', 'sched:sched_switch')
SAME = [
    *[(*CLOCK, *words.split()) for words in (
        '', '-d', '-T', '-P', '-W', '--phys-data', '--data-page-size', '--code-page-size', '-R', '-s', '-n', '-i',
        '-I', '-Iax,bx', '--intr-regs=ip', '--user-regs', '--user-regs=ip,sp', '--switch-events', '--namespaces',
        '--all-cgroups', '-k monotonic', '-k mono', '-k CLOCK_MONOTONIC_RAW', '-k 1', '--buildid-mmap',
        '--buildid-all', '--sample-cpu', '--sample-identifier', '--running-time', '--all-user', '--all-kernel',
        '-g', '-g --kernel-callchains', '-g --user-callchains', '--kernel-callchains', '--user-callchains',
        '--call-graph dwarf', '--call-graph dwarf,4096', '--per-thread', '--per-thread -T', '-C 0', '-a',
        '--synth=no', '--no-bpf-event', '--strict-freq', '--transaction', '-c 100000', '-F 99', '-D 1',
        '-d -W -P --phys-data', '-a -g --all-cgroups --namespaces --switch-events', '-a -G /',
        '-d -T --call-graph dwarf -I')],
    ('-e', 'task-clock,cpu-clock', '--group'),
    ('-e', '{task-clock,cpu-clock}:S', '--running-time'),
    ('-e', 'task-clock,page-faults', '-s', '-d'),
    ('-a', '-e', 'task-clock,cpu-clock', '-G', ',/'),
    ('-e', 'mem:0x1000:w'),
    ('-e', 'mem:0x1000:w', '-c', '7'),
    ('-e', 'mem:0x1000:w', '-F', '99'),
    ('-a', *CLOCK, '-d'),
    ('-a', *CLOCK, '--call-graph', 'dwarf'),
    SWITCH,
    (*SWITCH, '-R', '-g'),
    (*SWITCH, '--filter', 'prev_pid > 0'),
    (*SWITCH, '--exclude-perf'),
    ('-a', *SWITCH, '--filter', 'prev_pid > 0', '--exclude-perf'),
    ('-e', 'task-clock', *SWITCH, '--filter', 'prev_pid > 0'),
]


def has_tracepoints():
    return any(pathlib.Path(place, 'events/sched/sched_switch/id').exists()
               for place in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing'))


@pytest.mark.parametrize('options', SAME, ids=' '.join)
def test_attrs_are_perfs(request, tally, perf, tmp_path, options):
    if options[1].startswith('mem:'):
        request.getfixturevalue('breakpoints')
    if SWITCH[1] in options and not has_tracepoints():
        pytest.skip('tracefs is not mounted, or not readable')
    if ('-a' in options or '-C' in options) and os.geteuid() != 0:
        pytest.skip('system-wide events need root')
    attrs = []
    for program in (perf, tally):
        file = tmp_path / f'{program.path.name}.data'
        kept = ['--keep-stacks'] if program is tally and '--call-graph' in options else []
        program('record', '-o', file, *options, *kept, '--', 'true', check=0)
        text = without_build_id_request(perf('evlist', '-v', '-i', file, check=0).stdout)
        attrs.append(text.replace(', ', '\n').splitlines())
    if any(':S' in word for word in options):  # which 7.x and tally inherit, where the kernel can
        attrs[1] = [line for line in attrs[1] if line != 'inherit: 1']
    assert attrs[1] == attrs[0]


def test_latency_is_context_switches(tally, tmp_path):
    attrs = set()
    for words in (['--switch-events'], ['--latency'], ['--latency', '--no-switch-events']):
        tally('record', *words, *CLOCK, '-o', tmp_path / 'latency.data', '--', 'true', check=0)
        attrs.add(tally('evlist', '-v', '-i', tmp_path / 'latency.data', check=0).stdout)
    assert len(attrs) == 1 and 'context_switch: 1' in attrs.pop()
    for words in (['-a', '--', 'true'], []):
        refused = tally('record', '--latency', *CLOCK, '-o', tmp_path / 'none.data', *words, check=234)
        assert 'latency profiling is not supported with system-wide collection' in refused.stderr
    assert not (tmp_path / 'none.data').exists()


@pytest.mark.parametrize('options, words', [
    ((*CLOCK, '-b'), 'PMU that records branches'),
    ((*CLOCK, '-j', 'any,u'), 'PMU that records branches'),
    ((*CLOCK, '-b', '-j', 'any'), '-b and -j cannot be used together'),
    ((*CLOCK, '-j', 'any', '-b'), '-b and -j cannot be used together'),
    ((*CLOCK, '-j', 'any,sideways'), 'unknown branch filter sideways:'),
    ((*CLOCK, '-I?'), 'available registers: '),
    ((*CLOCK, '--user-regs=?'), 'available registers: '),
    ((*CLOCK, '-Iip,foo'), 'Unknown register "foo"'),
    ((*CLOCK, '-k', 'foo'), 'unknown clockid'),
    ((*CLOCK, '--filter', 'a > 1'), "unknown field of a sample 'a'"),
    (('--filter', 'a > 1', *CLOCK), '--filter applies to the events before it'),
    ((*CLOCK, '--exclude-perf'), '--exclude-perf option should follow a -e tracepoint option'),
    ((*CLOCK, '-G', '/'), 'cgroup monitoring only available in system-wide mode'),
    (('-a', '-G', '/', *CLOCK), 'name them with -e before it'),
    (('-a', *CLOCK, '-G', '/,/'), 'more cgroups than there are events'),
    (('-a', *CLOCK, '-G', '/nonexistent'), 'no access to cgroup'),
])
def test_refusals_say_why(tally, perf, tmp_path, hardware_absent, options, words):
    result = tally('record', '-o', tmp_path / 'a', *options, '--', 'true')
    assert words in result.stderr
    assert result.returncode == perf('record', '-o', tmp_path / 'b', *options, '--', 'true').returncode
    assert not (tmp_path / 'a').exists()


@pytest.mark.parametrize('option, sample_type, flag', [('--data-mmap', 'IP|TID|TIME|PERIOD', True),
                                                        ('--sample-mem-info', 'IP|TID|TIME|PERIOD|DATA_SRC', False)])
def test_parts_of_data(tally, perf, tmp_path, option, sample_type, flag):
    tally('record', '-o', tmp_path / 'a', *CLOCK, option, '--', 'true', check=0)
    attr = perf('evlist', '-v', '-i', tmp_path / 'a', check=0).stdout.split(', ')
    assert f'sample_type: {sample_type}' in attr
    assert ('mmap_data: 1' in attr) == flag


def test_a_tracepoint_that_nobody_may_sample(tally, tmp_path, system_wide):
    if not has_tracepoints() or not pathlib.Path('/sys/kernel/tracing/events/irq_vectors/irq_work_exit').exists():
        pytest.skip('no irq_vectors:irq_work_exit here')
    result = tally('record', '-o', tmp_path / 'a', '-e', 'irq_vectors:irq_work_exit', '--', 'true', check=255)
    assert 'irq_vectors:irq_work_exit' in result.stderr and 'security module' not in result.stderr


def test_a_filter_the_kernel_refuses_is_named(tally, tmp_path):
    if not has_tracepoints():
        pytest.skip('tracefs is not mounted, or not readable')
    result = tally('record', '-o', tmp_path / 'a', *SWITCH, '--filter', 'nofield == 1', '--', 'true', check=255)
    assert 'failed to set filter "nofield == 1" on event sched:sched_switch' in result.stderr


def test_filters_leave_samples_out(tally, tmp_path, system_wide):
    if not has_tracepoints():
        pytest.skip('tracefs is not mounted, or not readable')
    seen = []
    for words in ((), ('--filter', 'prev_comm == "sleep"')):
        tally('record', '-a', '-o', tmp_path / 'a', *SWITCH, *words, '--', 'sleep', '0.2', check=0)
        lines = tally('script', '-i', tmp_path / 'a', '-F', 'trace', check=0).stdout.splitlines()
        seen.append({'prev_comm=sleep ' in line for line in lines})
    assert seen == [{True, False}, {True}]


def test_a_cgroup_has_its_own_tasks_only(tally, tmp_path, system_wide):
    root = next((place for place in map(pathlib.Path, ('/sys/fs/cgroup/perf_event', '/sys/fs/cgroup/unified',
                                                       '/sys/fs/cgroup')) if (place / 'cgroup.procs').exists()), None)
    group = root and root / f'tally-test-{os.getpid()}'
    try:
        group.mkdir()
    except (OSError, AttributeError) as error:
        pytest.skip(f'no cgroup can be made: {error}')
    try:
        spin = subprocess.Popen(['sh', '-c', f'echo $$ > {group}/cgroup.procs && while :; do :; done'])
        other = subprocess.Popen(['sh', '-c', 'while :; do :; done'])
        wait_for(lambda: str(spin.pid) in (group / 'cgroup.procs').read_text().split())
        tally('record', '-a', '-o', tmp_path / 'a', '-e', 'cpu-clock', '-G', group.name, '--', 'sleep', '0.5', check=0)
        tids = set(tally('script', '-i', tmp_path / 'a', '-F', 'tid', check=0).stdout.split())
        assert tids == {str(spin.pid)}
    finally:
        for process in (spin, other):
            process.kill()
            process.wait()
        group.rmdir()


@pytest.fixture
def second_cpu(system_wide):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip('needs two CPUs')
    return cpus


def test_one_cpu_is_told_of_what_starts_on_another(tally, tmp_path, second_cpu):
    """Who moves to a recorded CPU later has its own name and mappings."""
    file = tmp_path / 'd'
    tally('record', '-q', '-e', 'cpu-clock', '-C', second_cpu[0], '-o', file, '--', 'taskset', '-c', second_cpu[1],
          'sh', '-c', 'sleep 0.05', check=0)
    records = tally('script', '-i', file, '--show-task-events', '--show-mmap-events', check=0).stdout
    assert re.search(r'PERF_RECORD_COMM exec: sleep', records)
    assert re.search(rf'\[{second_cpu[1]:03}\].*PERF_RECORD_MMAP2.*sleep', records)
    samples = tally('script', '-i', file, '-F', 'cpu', check=0).stdout.split()
    assert set(samples) <= {f'[{second_cpu[0]:03}]'}  # nothing else is of the other CPU


@pytest.mark.parametrize('words', [('-C', '0'), ('-a',)])
def test_a_dummy_of_the_user_is_enough(tally, perf, tmp_path, system_wide, words):
    tally('record', '-q', '-e', 'dummy', *words, '-o', tmp_path / 'd', '--', 'true', check=0)
    assert tally('evlist', '-i', tmp_path / 'd', check=0).stdout.splitlines() == ['dummy']
    assert perf('script', '-i', tmp_path / 'd', '--show-task-events', check=0).stdout.count('PERF_RECORD_COMM') > 0


@pytest.mark.parametrize('term, shown', [('period=5', 'sample_period=5'), ('freq=50', 'sample_freq=50')])
def test_a_member_keeps_its_own_rate(tally, tmp_path, term, shown):
    tally('record', '-q', '-e', f'{{cpu-clock/period=1000000/,page-faults/{term}/}}:S', '-o', tmp_path / 'd', '--', 'true',
          check=0)
    assert shown in tally('evlist', '-F', '-i', tmp_path / 'd', check=0).stdout.splitlines()[1]
