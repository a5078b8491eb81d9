# SPDX-License-Identifier: Apache-2.0
"""ftrace on a tracefs of plain files (fake_tracefs.c), beside perf on the same one; and what the real one allows."""
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
from conftest import ROOT, wait_for

SCHEMA = json.loads((ROOT / 'docs/schema/ftrace.json').read_text())
HEADING = """\
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
"""
TRACE = """\
 0)               |  __x64_sys_clock_nanosleep() {
 0)   0.500 us    |    get_timespec64();
 0)               |    common_nsleep() {
 0)               |      hrtimer_nanosleep() {
 0)   1.500 us    |        hrtimer_setup();
 0) # 1062.100 us |      } /* hrtimer_nanosleep */
 0) * 10063.200 us |    } /* common_nsleep */
 0) @ 100065.123 us |  } /* __x64_sys_clock_nanosleep */
 ------------------------------------------
 0)  sleep-123    =>  sleep-124
 ------------------------------------------

 1)   2.500 us    |    mutex_lock();
 1)   3.500 us    |    mutex_lock();
 1) + 13.500 us   |    mutex_lock();
 1) ! 113.500 us  |    mutex_lock();
 1) $ 2113500.1 us |    mutex_lock();
"""
FUNCTIONS = 'vfs_read\nvfs_write\nnf_hook [nf_tables]\nx_nanosleep\n'
OPTIONS = {'function-fork': 0, 'func_stack_trace': 0, 'irq-info': 1, 'sleep-time': 1, 'funcgraph-irqs': 1, 'funcgraph-proc': 0,
           'funcgraph-abstime': 0, 'latency-format': 0, 'funcgraph-tail': 0, 'funcgraph-args': 0, 'funcgraph-retval': 0,
           'funcgraph-retval-hex': 0, 'funcgraph-retaddr': 0}
FILES = {'available_tracers': 'function_graph function nop\n', 'current_tracer': 'nop\n', 'tracing_on': '1\n',
         'set_ftrace_pid': 'no pid\n', 'set_ftrace_filter': '#### all functions enabled ####\n', 'set_ftrace_notrace': '',
         'set_graph_function': '', 'set_graph_notrace': '', 'max_graph_depth': '0\n', 'tracing_thresh': '0\n',
         'tracing_cpumask': 'f\n', 'buffer_size_kb': '7 (expanded: 1408)\n', 'trace': HEADING, 'trace_pipe': TRACE,
         'available_filter_functions': FUNCTIONS}


class Tracefs:
    """A folder that stands for /sys/kernel/tracing."""

    def __init__(self, folder, library):
        self.folder = folder
        self.environment = {'FAKE_TRACEFS': str(folder), 'LD_PRELOAD': str(library)}
        (folder / 'instances').mkdir(parents=True)
        (folder / 'events').mkdir()
        for place in (folder, folder / 'template'):
            (place / 'options').mkdir(parents=True, exist_ok=True)
            for name, text in FILES.items():
                (place / name).write_text(text)
            for name, value in OPTIONS.items():
                (place / 'options' / name).write_text(f'{value}\n')

    def has_started(self):
        log = self.folder / 'log'
        return log.exists() and '/tracing_on 1\n' in log.read_text()

    def written(self):
        """What was written, without the instance's name, and without what only resets an instance that is new."""
        log = self.folder / 'log'
        lines = [re.sub(r'^instances/[^/]*/', '', line).split(' ', 1) for line in log.read_text().splitlines()]
        log.unlink()
        return [tuple(line) for line in lines]


@pytest.fixture
def tracefs(tmp_path):
    if not shutil.which('cc'):
        pytest.skip('no C compiler for the tracefs of plain files')
    library = tmp_path / 'fake_tracefs.so'
    source = pathlib.Path(__file__).parent / 'fake_tracefs.c'
    subprocess.run(['cc', '-shared', '-fPIC', '-o', library, source, '-ldl'], check=True)
    return Tracefs(tmp_path / 'tracefs', library)


def settings(written):
    """The files that were set between the reset and the start, with the last value of each (lists: all values)."""
    last = {}
    for name, value in written:
        if name == 'trace' or (name, value) == ('current_tracer', 'nop'):
            last = {}
        elif name.startswith('set_') and value.strip():
            last.setdefault(name, []).append(value)
        elif name not in ('tracing_on', 'tracing_cpumask', 'current_tracer') or name == 'tracing_cpumask':
            last[name] = value
    defaults = {**{f'options/{name}': str(value) for name, value in OPTIONS.items()}, 'max_graph_depth': '0', 'tracing_thresh': '0',
                'options/irq-info': '0'}
    return {name: value for name, value in last.items() if defaults.get(name) != value and name != 'set_ftrace_pid'}


LINES = [
    ['trace'],
    ['trace', '--graph-opts', 'args,retval,retval-hex,retaddr,noirqs,verbose,thresh=7,depth=5,tail,nosleep-time'],
    ['trace', '--func-opts', 'call-graph,irq-info', '-t', 'function'],
    ['trace', '-T', 'vfs_*', '-T', 'mutex_lock', '-N', 'vfs_write'],
    ['trace', '-G', 'vfs_read', '-g', 'mutex_lock'],
    ['trace', '-T', 'vfs_read', '-G', 'vfs_write', '--inherit', '-m', '2M'],
    ['trace', '-C', '0'],
    ['latency', '-T', 'mutex_lock'],
    ['profile', '-G', 'vfs_read', '--graph-opts', 'depth=3'],
]


@pytest.mark.parametrize('line', LINES, ids=' '.join)
def test_kernel_is_asked_as_perf_does(tally, newest_perf, tracefs, line):
    if os.geteuid() != 0:
        pytest.skip('perf ftrace needs CAP_PERFMON')
    asked = []
    for program in (tally, newest_perf):
        program('ftrace', *line, 'true', env=tracefs.environment, check=0)
        written = tracefs.written()
        tracer = [value for name, value in written if name == 'current_tracer' and value != 'nop']
        asked.append((settings(written), tracer))
        assert not list((tracefs.folder / 'instances').iterdir())
    if line[0] == 'profile':  # perf asks for the names of functions that end, too
        assert asked[0][0]['options/funcgraph-tail'] == '1'
    if '-C' not in line:
        asked[1][0].pop('tracing_cpumask', None)
    if any('irq-info' in word for word in line):
        asked[1][0].pop('options/irq-info', None)
    assert asked[0] == asked[1]


def test_trace_prints_what_the_kernel_writes(tally, newest_perf, tracefs):
    mine = tally('ftrace', 'sleep', '0', env=tracefs.environment, check=0)
    assert mine.stdout == HEADING + TRACE and mine.stderr == ''
    assert ('set_ftrace_pid' in dict(tracefs.written()))
    # What perf writes to `trace`, to empty it, replaces the plain file's heading.
    assert newest_perf('ftrace', 'sleep', '0.1', env=tracefs.environment).stdout.endswith(TRACE)


def test_a_tracer_that_filters_overrule_is_told(tally, tracefs):
    """perf is silent."""
    mine = tally('ftrace', '-t', 'function_graph', '-T', 'vfs_read', 'true', env=tracefs.environment, check=0)
    assert ('current_tracer', 'function') in tracefs.written()
    assert mine.stderr == 'note: -t function_graph has no effect: the filters of functions are those of the tracer function\n'
    assert tally('ftrace', '-t', 'function', '-T', 'vfs_read', 'true', env=tracefs.environment, check=0).stderr == ''


def test_other_tables_are_perfs(tally, newest_perf, tracefs):
    def both(*words):
        mine, perfs = (program('ftrace', *words, 'sleep', '0.1', env=tracefs.environment, check=0).stdout
                       for program in (tally, newest_perf))
        return mine, perfs

    for key in ('total', 'max', 'count'):
        mine, perfs = both('profile', '-s', key)
        assert sorted(mine.splitlines()) == sorted(perfs.splitlines())
        assert mine.splitlines()[:2] == perfs.splitlines()[:2]
    for words in (['--bucket-range', '10'], ['--bucket-range', '100', '--min-latency', '50'],
                  ['--bucket-range', '100', '--min-latency', '50', '--max-latency', '700', '--hide-empty'],
                  ['--bucket-range', '3', '--max-latency', '10'], ['--bucket-range', '100000', '--max-latency', '2000000']):
        mine, perfs = both('latency', '-T', 'mutex_lock', *words)
        # perf leaves out what is below a microsecond in each call.
        assert mine.split('\n# statistics')[0] == perfs.split('\n# statistics')[0]
        assert [line.split(':')[0] for line in mine.splitlines()] == [line.split(':')[0] for line in perfs.splitlines()]
    # perf counts a call in the row before its own if the rows double: 13 us is in "4 - 8 us".
    mine, perfs = both('latency', '-T', 'mutex_lock')
    rows = [[line.split('|')[0].split(':')[0] for line in text.splitlines()] for text in (mine, perfs)]
    assert rows[0] == rows[1]
    assert '     8 -   16 us |          1 | #### ' in mine


def test_json(tally, tracefs):
    latency = json.loads(tally('ftrace', 'latency', '-T', 'mutex_lock', '--json', 'true', env=tracefs.environment, check=0).stdout)
    json_schema.check(latency, SCHEMA)
    counted = {bucket['from_ns']: bucket['count'] for bucket in latency['latency']['buckets'] if bucket['count']}
    assert counted == {0: 1, 1000: 1, 2000: 2, 8000: 1, 64000: 1, 1024000: 1, 8192000: 1, 65536000: 1, 1048576000: 1}
    assert latency['latency']['count'] == 10 and latency['latency']['max_ns'] == 2113500100
    profile = json.loads(tally('ftrace', 'profile', '-s', 'name', '--json', 'true', env=tracefs.environment, check=0).stdout)
    json_schema.check(profile, SCHEMA)
    assert profile['profile'][0] == {'function': '__x64_sys_clock_nanosleep', 'total_ns': 100065123, 'max_ns': 100065123, 'count': 1}
    assert [row['function'] for row in profile['profile']][-1] == 'mutex_lock'


def test_functions_are_listed_as_perf_does(tally, newest_perf, tracefs):
    for words in (['-F'], ['-F', 'vfs_*'], ['--funcs=*rea*|x_*'], ['-F', '!vfs_*']):
        mine, perfs = (program('ftrace', *words, env=tracefs.environment, check=0).stdout for program in (tally, newest_perf))
        assert mine == perfs and mine
    # perf matches the end of the line, too.
    assert tally('ftrace', '-F', '*read|*sleep', env=tracefs.environment, check=0).stdout == 'vfs_read\nx_nanosleep\n'
    nothing = tally('ftrace', '-F', 'zzz', env=tracefs.environment, check=0)
    assert nothing.stderr == "note: no function that can be traced matches 'zzz'\n"


def test_losses_are_told(tally, tracefs):
    (tracefs.folder / 'template/trace_pipe').write_text(TRACE + 'CPU:1 [LOST 14 EVENTS]\n')
    said = "note: 14 events were lost because the kernel's buffer was full; -m makes it larger\n"
    assert tally('ftrace', 'true', env=tracefs.environment, check=0).stderr == said
    assert tally('ftrace', 'profile', 'true', env=tracefs.environment, check=0).stderr == said
    (tracefs.folder / 'template/trace_pipe').write_text('')
    assert tally('ftrace', 'latency', '-T', 'x', 'true', env=tracefs.environment, check=0).stdout == 'No data found\n'
    empty = tally('ftrace', 'profile', 'true', env=tracefs.environment, check=0)
    assert empty.stderr == 'note: no function was called that the filters leave\n'


def test_kernel_that_has_the_tracer_only_once(tally, tracefs):
    """function_graph before Linux 6.11: it runs at the top, which is as before afterwards."""
    (tracefs.folder / 'template/available_tracers').write_text('function nop\n')
    before = {name: (tracefs.folder / name).read_text() for name in FILES if not name.startswith('trace')}
    mine = tally('ftrace', '--graph-opts', 'depth=5,noirqs', '-T', 'vfs_read', '-G', 'vfs_read', '-m', '1M', 'true',
                 env=tracefs.environment, check=0)
    assert mine.stdout == TRACE  # what an earlier trace had left above is gone, and with it this file's heading
    written = tracefs.written()
    assert ('current_tracer', 'function_graph') in written and ('options/funcgraph-irqs', '0') in written
    assert not list((tracefs.folder / 'instances').iterdir())
    after = {name: (tracefs.folder / name).read_text() for name in before}
    for lists in ('set_ftrace_pid', 'set_ftrace_filter'):
        assert after.pop(lists) == '' and before.pop(lists)
    assert before.pop('buffer_size_kb').split()[0] == after.pop('buffer_size_kb').strip()
    assert after == before
    assert (tracefs.folder / 'options/funcgraph-irqs').read_text() == '1\n'
    (tracefs.folder / 'current_tracer').write_text('blk\n')
    refused = tally('ftrace', 'true', env=tracefs.environment, check=255)
    assert "the tracer 'blk' runs already, and this kernel has 'function_graph' only once" in refused.stderr
    assert (tracefs.folder / 'current_tracer').read_text() == 'blk\n'


def test_files_that_an_instance_lacks(tally, tracefs):
    """max_graph_depth, tracing_thresh and the filters of graphs are only at the top: the folder's name says that it is changed."""
    for name in ('max_graph_depth', 'tracing_thresh', 'set_graph_function', 'set_graph_notrace'):
        (tracefs.folder / 'template' / name).unlink()
    tally.environment.update(tracefs.environment)
    (tracefs.folder / 'max_graph_depth').write_text('3\n')
    running = tally.start('ftrace', '-a', '-G', 'vfs_read', '--graph-opts', 'depth=2,thresh=9')
    instances = tracefs.folder / 'instances'
    wait_for(tracefs.has_started)
    assert {path.name for path in instances.iterdir()} == {f'tally-ftrace-{running.pid}', f'tally-ftrace-{running.pid}-top'}
    at_top = {name: (tracefs.folder / name).read_text().strip() for name in ('max_graph_depth', 'tracing_thresh', 'set_graph_function', 'current_tracer')}
    assert at_top == {'max_graph_depth': '2', 'tracing_thresh': '9', 'set_graph_function': 'vfs_read', 'current_tracer': 'nop'}
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=60)[0] == HEADING + TRACE
    assert not list(instances.iterdir())
    assert {name: (tracefs.folder / name).read_text().strip() for name in at_top} == {
        'max_graph_depth': '3', 'tracing_thresh': '0', 'set_graph_function': '', 'current_tracer': 'nop'}
    (tracefs.folder / 'set_graph_function').write_text('vfs_write\n')
    refused = tally('ftrace', '-G', 'vfs_read', 'true', check=255)
    assert 'set_graph_function is not empty: somebody else traces there' in refused.stderr
    assert (tracefs.folder / 'set_graph_function').read_text() == 'vfs_write\n' and not list(instances.iterdir())


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_leave_nothing_behind(tally, tracefs, number):
    tally.environment.update(tracefs.environment)
    running = tally.start('ftrace', '-a')
    instances = tracefs.folder / 'instances'
    wait_for(tracefs.has_started)
    running.send_signal(number)
    out, _ = running.communicate(timeout=60)
    assert out == HEADING + TRACE and running.returncode == 0
    assert not list(instances.iterdir())


def test_a_killed_tracer_blocks_nobody(tally, tracefs):
    tally.environment.update(tracefs.environment)
    running = tally.start('ftrace', '-a', '--graph-opts', 'depth=2')
    instances = tracefs.folder / 'instances'
    wait_for(tracefs.has_started)
    running.kill()
    running.communicate(timeout=60)
    assert [path.name for path in instances.iterdir()] == [f'tally-ftrace-{running.pid}']
    after = tally('ftrace', 'true', env=tracefs.environment, check=0)
    assert after.stderr == (f'tally: note: removed /sys/kernel/tracing/instances/tally-ftrace-{running.pid}, which a killed ftrace '
                            f'(PID {running.pid}) left behind\n')
    assert not list(instances.iterdir())


def with_an_instance_of_its_pid(tally, tracefs, **environment):
    line = ['sh', '-c', 'mkdir "$FAKE_TRACEFS/instances/tally-ftrace-$$" && LD_PRELOAD="$PRELOADED" && export LD_PRELOAD && exec "$@"', 'sh',
            tally.path, 'ftrace', 'true']
    own = {'FAKE_TRACEFS': str(tracefs.folder), 'PRELOADED': tracefs.environment['LD_PRELOAD'], **environment}
    return subprocess.run(line, env={**tally.environment, **own}, capture_output=True, text=True, timeout=60, check=False)


def test_an_instance_of_the_same_pid(tally, tracefs):
    """A killed tracer may have had this process's PID, and so may one in a container."""
    before = tracefs.folder / 'current_tracer'
    after = with_an_instance_of_its_pid(tally, tracefs)
    assert (after.stdout, after.stderr) == (HEADING + TRACE, '')
    assert before.read_text() == 'nop\n' and not list((tracefs.folder / 'instances').iterdir())
    busy = with_an_instance_of_its_pid(tally, tracefs, FAKE_REFUSED='rmdir=16')
    assert busy.returncode == 255 and busy.stdout == ''
    assert 'is in use by an ftrace that has the same PID in another PID namespace' in busy.stderr
    assert len(list((tracefs.folder / 'instances').iterdir())) == 1


@pytest.mark.parametrize('refused, said', [
    ('instances=13', 'ftrace needs root: /sys/kernel/tracing/instances/tally-ftrace-'),
    ('instances=30', 'tracefs is mounted read-only here; as root: mount -o remount,rw /sys/kernel/tracing'),
    ('current_tracer=1', 'this kernel does not let functions be traced'),
    ('set_ftrace_filter=22', "-T: cannot write 'no_such' to "),
    ('set_ftrace_filter=22', "the kernel can trace no function of this name; 'ftrace -F PATTERN' lists those that it can"),
    ('current_tracer=16', 'another tracer uses what this one needs'),
])
def test_refusals(tally, tracefs, refused, said):
    result = tally('ftrace', '-T', 'no_such', 'true', env={**tracefs.environment, 'FAKE_REFUSED': refused}, check=255)
    assert said in result.stderr and result.stderr.count('\n') == 1 and result.stdout == ''
    assert not list((tracefs.folder / 'instances').iterdir())


def test_the_nearest_function_is_offered(tally, tracefs):
    refused = {**tracefs.environment, 'FAKE_REFUSED': 'set_ftrace_filter=22'}
    assert tally('ftrace', '-T', 'vfs_raed', 'true', env=refused, check=255).stderr.endswith("; did you mean 'vfs_read'?\n")
    assert tally('ftrace', '-T', 'nf_hok', 'true', env=refused, check=255).stderr.endswith("; did you mean 'nf_hook'?\n")
    for other in ('vfs_*', 'nothing_like_it'):
        assert 'did you mean' not in tally('ftrace', '-T', other, 'true', env=refused, check=255).stderr


@pytest.mark.parametrize('line, said', [
    (['latency', 'true'], 'Should provide a function or events to measure'),
    (['latency', '-e', 'a:b,c:d', 'true'], '-e needs -b'),
    (['latency', '-e', 'a:b', 'true'], 'takes two events, separated by a comma'),
    (['latency', '-T', 'f', '-b', '-e', 'a:b,c:d', 'true'], '-T and -e cannot be used together'),
    (['latency', '-T', 'f', '--min-latency', '5', 'true'], '--min-latency works only with --bucket-range'),
    (['latency', '-T', 'f', '--max-latency', '5', 'true'], '--max-latency works only with --bucket-range'),
    (['profile', '-s', 'foo', 'true'], 'is total, avg, max, count or name'),
    (['profile', '--graph-opts', 'retval', 'true'], "has no option 'retval'"),
    (['--graph-opts', 'depth', 'true'], "has no option 'depth'"),
    (['--graph-opts', 'args=5', 'true'], "has no option 'args=5'"),
    (['-m', '5', 'true'], 'needs a number with a B, K, M or G suffix'),
    (['-m', '1B', 'true'], 'is too small'),
    (['-m', '99999999999G', 'true'], 'is too large'),
])
def test_wrong_usage(tally, line, said):
    result = tally('ftrace', *line, check=129)
    assert said in result.stderr


def test_bucket_ranges_that_do_not_fit(tally):
    for words in (['--bucket-range', '10', '--max-latency', '5'], ['--bucket-range', '1', '--max-latency', '10000000']):
        result = tally('ftrace', 'latency', '-T', 'f', *words, 'true', check=255)
        assert '--max-latency' in result.stderr and result.stderr.count('\n') == 1


def test_programs_that_cannot_start(tally, tracefs):
    result = tally('ftrace', '/nonexistent/program', env=tracefs.environment, check=255)
    assert '/nonexistent/program' in result.stderr
    assert not list((tracefs.folder / 'instances').iterdir())


@pytest.fixture
def bpf(tally, live):
    probed = tally('ftrace', 'latency', '-b', '-e', 'sched:sched_switch,sched:sched_switch', '-a', 'true')
    if probed.returncode != 0:
        pytest.skip(f'BPF programs cannot measure here: {probed.stderr.strip()}')


def bpf_latency(tally, *words):
    document = json.loads(tally('ftrace', 'latency', '-b', '--json', *words, check=0).stdout)
    json_schema.check(document, SCHEMA)
    return document['latency']


GETPPID = 'syscalls:sys_enter_getppid,syscalls:sys_exit_getppid'
NANOSLEEP = 'syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep'


def test_bpf_measures_from_event_to_event(tally, bpf):
    slept = bpf_latency(tally, '-e', NANOSLEEP, 'sleep', '0.1')
    assert slept['count'] == 1 and slept['total_ns'] == slept['min_ns'] == slept['max_ns'] >= 100_000_000
    bucket, = [bucket for bucket in slept['buckets'] if bucket['count']]
    assert bucket['from_ns'] <= slept['max_ns'] and slept['max_ns'] < bucket.get('below_ns', 2**64)
    for scale in (['-n'], ['--bucket-range', '1000', '--max-latency', '20000'], ['--bucket-range', '1000', '--min-latency', '500'],
                  ['-n', '--bucket-range', '7']):
        slept = bpf_latency(tally, '-e', NANOSLEEP, *scale, 'sleep', '0.01')
        bucket, = [bucket for bucket in slept['buckets'] if bucket['count']]
        assert bucket['from_ns'] <= slept['max_ns'] < bucket.get('below_ns', 2**64), scale


def test_bpf_measures_what_is_asked_for(tally, bpf, tmp_path):
    """Threads of the command, or of -p; not what runs beside them."""
    once = 'os.getppid(); time.sleep(0.002)'
    script = f'import os, time\nfor i in range(20): {once}'
    threads = f'import os, threading, time\ndef work():\n for i in range(20): {once}\nt = threading.Thread(target=work); t.start(); t.join()'
    beside = subprocess.Popen([sys.executable, '-c', f'import os, time\nwhile True: {once}'])
    try:
        assert bpf_latency(tally, '-e', GETPPID, sys.executable, '-c', script)['count'] == 20
        assert bpf_latency(tally, '-e', GETPPID, sys.executable, '-c', threads)['count'] == 20
        assert bpf_latency(tally, '-e', GETPPID, '-p', beside.pid, 'sleep', '0.5')['count'] > 1
        assert bpf_latency(tally, '-e', GETPPID, '-a', 'sleep', '0.5')['count'] > 1
        # One event: the time between two of a thread.
        one = bpf_latency(tally, '-e', ','.join(2 * [GETPPID.split(',')[0]]), sys.executable, '-c', script)
        assert one['count'] == 19 and one['min_ns'] >= 2_000_000
    finally:
        beside.kill()
        beside.wait()


def test_bpf_refusals(tally, bpf):
    assert "no tracepoint system 'no_such'" in tally('ftrace', 'latency', '-b', '-e', 'no_such:x,sched:sched_switch', 'true', check=255).stderr
    assert "'word' is no tracepoint" in tally('ftrace', 'latency', '-b', '-e', 'word,sched:sched_switch', 'true', check=255).stderr
    refused = tally('ftrace', 'latency', '-b', '-T', 'no_such_function', 'true', check=255).stderr
    assert "the kernel cannot probe a function 'no_such_function'" in refused
    nothing = tally('ftrace', 'latency', '-b', '-e', NANOSLEEP, 'true', check=0)
    assert nothing.stdout == 'No data found\n'


def test_bpf_is_missing(tally_without_bpf):
    refused = tally_without_bpf('ftrace', 'latency', '-b', '-T', 'vfs_read', 'true', check=255).stderr
    assert refused.startswith('ftrace latency -b') and refused.count('\n') == 1


def real_tracers():
    try:
        return pathlib.Path('/sys/kernel/tracing/available_tracers').read_text().split()
    except OSError as error:
        return pytest.skip(f'no tracefs here: {error.strerror}')


@pytest.mark.alone
def test_what_this_kernel_allows(tally):
    """On the real tracefs: the trace of a program's system call, or a sentence that says what is missing."""
    tracers = real_tracers()
    before = pathlib.Path('/sys/kernel/tracing/current_tracer').read_text()
    if os.geteuid() != 0:
        pytest.skip('needs root')
    result = tally('ftrace', '--graph-opts', 'depth=3', 'sleep', '0.1')
    assert not list(pathlib.Path('/sys/kernel/tracing/instances').glob('tally-ftrace-*'))
    assert pathlib.Path('/sys/kernel/tracing/current_tracer').read_text() == before
    if 'function_graph' not in tracers:
        assert result.returncode == 255
        assert "no tracer 'function_graph'" in result.stderr and 'CONFIG_FUNCTION_GRAPH_TRACER' in result.stderr
    elif result.returncode != 0:
        assert 'does not let functions be traced' in result.stderr or 'runs already' in result.stderr
    else:
        assert 'nanosleep' in result.stdout


@pytest.mark.alone
def test_perfs_own_test(perfs_own_test, newest_perf):
    """With tally as `perf`, where the kernel can trace functions at all."""
    if 'function_graph' not in real_tracers():
        pytest.skip('this kernel has no tracer function_graph')
    stock = newest_perf('ftrace', 'trace', 'true')
    if 'nop' not in pathlib.Path('/sys/kernel/tracing/current_tracer').read_text() or stock.returncode != 0:
        pytest.skip(f'perf cannot trace functions here: {stock.stderr.strip()}')
    result = perfs_own_test('ftrace.sh')
    assert result.returncode in (0, 2), result.stdout + result.stderr
