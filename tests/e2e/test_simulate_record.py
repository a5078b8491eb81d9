# SPDX-License-Identifier: Apache-2.0
"""record --simulate: samples of simulated events, their stacks and shares, with children, threads and signals."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

import conftest
from conftest import BUILD, ROOT, wait_for

TOOL = BUILD / 'simulator' / f'tally-{ {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, "") }-linux'

pytestmark = [
    pytest.mark.skipif(not shutil.which('valgrind'), reason='valgrind is not installed'),
    pytest.mark.skipif(not TOOL.exists(), reason='the simulator is not built (valgrind has no headers or libraries here)'),
    pytest.mark.skipif(not shutil.which('cc'), reason='there is no C compiler'),
]

# 6 instructions a turn as gcc -O2 makes it; whatever it is, three quarters of them are called by one().
SHARES = r'''
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline, noclone)) static void leaf(unsigned long turns) { for (unsigned long i = 0; i < turns; i++) sink += i; }
__attribute__((noinline, noclone)) static void one(unsigned long n) { leaf(3 * n); sink++; }
__attribute__((noinline, noclone)) static void two(unsigned long n) { leaf(n); sink++; }
int main(int argc, char **argv) { unsigned long n = argc > 1 ? strtoul(argv[1], 0, 0) : 100000; one(n); two(n); return 3; }
'''
# Exceptions, virtual calls and templates, recursion with large frames.
CXX = r'''
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual long area(long n) = 0; };
struct Square : Shape { __attribute__((noinline, noclone)) long area(long n) override { long s = 0; for (long i = 0; i < n; i++) s += i ^ s; return s; } };
__attribute__((noinline, noclone)) static long deep(Shape &shape, int depth, long n)
{
	volatile char room[100];
	room[depth % 100] = 1;
	if (depth == 0)
		return shape.area(n);
	return deep(shape, depth - 1, n) + room[depth % 100];
}
__attribute__((noinline, noclone)) static long thrown(int n)
{
	long caught = 0;
	for (int i = 0; i < n; i++)
		try { throw std::runtime_error("no"); } catch (const std::exception &) { caught++; }
	return caught;
}
int main()
{
	Square square;
	std::map<std::string, long> names;
	std::vector<std::string> all;
	for (int i = 0; i < 3000; i++) { all.push_back("name" + std::to_string(i * 7919 % 1000)); names[all.back()] += i; }
	std::sort(all.begin(), all.end());
	std::printf("%ld %ld %zu\n", deep(square, 60, 100000), thrown(50), names.size());
}
'''
THREADS = r'''
#include <pthread.h>
static volatile unsigned long sinks[64 * 8];
__attribute__((noinline, noclone)) static void work(unsigned long n, unsigned long t) { for (unsigned long i = 0; i < n; i++) sinks[64 * t] += i; }
static void *run(void *p) { work((unsigned long)p * 100000, (unsigned long)p); return 0; }
int main(void)
{
	pthread_t t[3];
	for (unsigned long i = 0; i < 3; i++) pthread_create(&t[i], 0, run, (void *)(i + 1));
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
'''
# One line of 64 bytes after the other: each load of walk() misses a cache of any size that is smaller than 32 MB.
MISSES = r'''
#include <stdlib.h>
static volatile unsigned char sum;
__attribute__((noinline, noclone)) static void walk(const volatile unsigned char *p, size_t n) { for (size_t i = 0; i < n; i += 64) sum += p[i]; }
int main(void) { static unsigned char room[32 << 20]; walk(room, sizeof(room)); return 0; }
'''


def compiled(code, name, *options, compiler='cc', suffix='c'):
    if not shutil.which(compiler):
        pytest.skip(f'{compiler} is not installed')
    return conftest.compiled(f'{name}.{suffix}', code, '-O2', '-fomit-frame-pointer', '-g', *options, compiler=compiler)


@pytest.fixture
def shares():
    return compiled(SHARES, 'shares', '-static')  # the dynamic loader would take most of the time


def stacks_of(tally, recording, *options):
    """[(comm, tid, event, period, (innermost, ..., outermost))]"""
    out = tally('script', '--no-inline', '-F', 'comm,tid,event,period,ip,sym', '-i', recording, *options, check=0).stdout
    found = []
    for line in out.splitlines():
        head = re.match(r'\s*(\S.*?)\s+(\d+)\s+(\d+)\s+(\S+):(?:\s+[0-9a-f]+ (.*))?', line)
        if head:
            found.append((head[1], int(head[2]), head[4], int(head[3]), (head[5],) if head[5] else ()))
        elif line.strip():
            name = re.sub(r'@.*|\.(constprop|part|isra)\.\d+', '', line.split(None, 1)[1])
            found[-1] = *found[-1][:4], found[-1][4] + (name,)
    return found


def test_shares_and_whole_stacks(tally, shares, tmp_path):
    recording = tmp_path / 'perf.data'
    made = tally('record', '--simulate', '-g', '-c', 10007, '-o', recording, shares, check=3)
    samples = stacks_of(tally, recording)
    assert len(samples) > 100, made.stderr
    assert f'({len(samples)} simulated samples)' in made.stderr
    assert '100.0 % complete' in made.stderr
    assert {(event, period) for _, _, event, period, _ in samples} == {('instructions:u', 10007)}
    leaves = [names for *_, names in samples if names[0] == 'leaf']
    by_one = sum('one' in names for names in leaves)
    assert {names[1:3] for names in leaves} == {('one', 'main'), ('two', 'main')}
    assert {names[-1] for names in leaves} == {'_start'}
    assert abs(by_one - 0.75 * len(leaves)) <= 1  # a sample more or less
    # The label is in the header, and so is the command line.
    header = tally('report', '--header-only', '-i', recording, check=0).stdout
    assert 'simulated' in header and 'valgrind' in header
    assert f'cmdline : {os.path.realpath(tally.path)} record --simulate' in header


def test_periods_sum_to_the_count(tally, shares, tmp_path):
    """A sample of each event at each period: the sum is at most one period below the count."""
    sums = {}
    for period in 997, 50021:
        recording = tmp_path / f'{period}.data'
        tally('record', '--simulate', '-c', period, '-e', 'instructions,branches', '-o', recording, shares, check=3)
        for _, _, event, own, names in stacks_of(tally, recording):
            assert own == period and len(names) == 1
            sums[event, period] = sums.get((event, period), 0) + own
    for event in 'instructions:u', 'branches:u':
        assert 0 <= sums[event, 997] - sums[event, 50021] + 997 <= 50021 + 997, sums


def test_deterministic(tally, shares, tmp_path):
    """Two recordings of a program with one thread have equal samples, but for the process's number."""
    runs = []
    for name in 'first', 'second':
        recording = tmp_path / f'{name}.data'
        tally('record', '--simulate', '-g', '-c', 5003, '-e', 'instructions,branch-misses/period=101/,L1-dcache-load-misses/period=101/',
              '-o', recording, shares, check=3)
        out = tally('script', '-F', 'comm,time,event,period,ip,sym,dso', '-i', recording, check=0).stdout
        runs.append(out)
    assert runs[0] == runs[1]
    assert runs[0].count('\n\n') > 100


def test_cxx(tally, tmp_path):
    program = compiled(CXX, 'cxx', compiler='c++', suffix='cc')
    recording = tmp_path / 'perf.data'
    made = tally('record', '--simulate', '--call-graph', 'dwarf', '-c', 4001, '-o', recording, program, check=0)
    samples = stacks_of(tally, recording)
    # In the middle of a throw, libgcc replaces what its own frame has saved.
    others = [names for *_, names in samples if '_Unwind_RaiseException' not in names]
    assert len(others) > 0.9 * len(samples)
    assert {names[-1] for names in others} <= {'_start', '_dl_start_user'}, made.stderr
    assert any('Square::area(long)' in names[0] for *_, names in samples)
    areas = [names for *_, names in samples if 'Square::area' in names[0]]
    depths = {sum('deep(' in name for name in names) for names in areas}
    assert len(depths) == 1 and depths.pop() >= 55
    assert any('thrown(int)' in name for *_, names in samples for name in names)


def test_misses_are_where_they_happen(tally, tmp_path):
    program = compiled(MISSES, 'misses')
    recording = tmp_path / 'perf.data'
    tally('record', '--simulate', '-g', '-e', 'L1-dcache-load-misses,LLC-load-misses', '-c', 1009, '--cache-model',
          'generic:ll=4M,16,64', '-o', recording, program, check=0)
    counts = collections.Counter()
    for _, _, event, _, names in stacks_of(tally, recording):
        counts[event, names[0]] += 1
    for event in 'L1-dcache-load-misses:u', 'LLC-load-misses:u':
        of_walk = counts[event, 'walk']
        assert of_walk == pytest.approx((32 << 20) / 64 / 1009, abs=2)
        assert of_walk >= 0.9 * sum(n for (name, _), n in counts.items() if name == event)
    # All of them at the load.
    listing = tally('annotate', 'walk', '--stdio', '-i', recording, check=0).stdout
    hot = [line for line in listing.splitlines() if re.match(r'\s+(9\d|100)\.\d\d\s*:', line)]
    assert len(hot) == 2 and len(set(hot)) == 1 and '(%' in hot[0], listing  # of each event, the same


def test_threads(tally, tmp_path):
    program = compiled(THREADS, 'threads', '-pthread')
    recording = tmp_path / 'perf.data'
    made = tally('record', '--simulate', '-g', '-c', 1009, '-o', recording, program, check=0)
    counts = collections.Counter(tid for _, tid, _, _, names in stacks_of(tally, recording) if names[0] == 'work')
    assert len(counts) == 3, made.stderr
    least, middle, most = sorted(counts.values())
    assert middle == pytest.approx(2 * least, abs=5) and most == pytest.approx(3 * least, abs=5)


def test_children(tally, shares, tmp_path):
    """What a shell starts is followed: by fork alone, and with an exec."""
    recording = tmp_path / 'perf.data'
    script = f'i=0; ( while [ $i -lt 2000 ]; do i=$((i+1)); done ); {shares} 50000; exec {shares} 20000'
    made = tally('record', '--simulate', '-g', '-c', 1009, '-o', recording, '--', 'sh', '-c', script, check=3)
    assert '100.0 % complete' in made.stderr
    samples = stacks_of(tally, recording)
    tids = collections.defaultdict(collections.Counter)
    for comm, tid, _, _, names in samples:
        tids[comm][tid] += names[0] == 'leaf'
    assert len(tids['shares']) == 2  # the child's and the shell's own
    few, many = sorted(tids['shares'].values())
    assert many == pytest.approx(2.5 * few, abs=5)
    shell = next(comm for comm in tids if comm != 'shares')
    assert len(tids[shell]) >= 2
    times = [float(line) for line in
             tally('script', '-F', 'time', '-G', '-i', recording, check=0).stdout.replace(':', '').split()]
    assert times == sorted(times)


def test_toggle(tally, shares, tmp_path):
    recording = tmp_path / 'perf.data'
    tally('record', '--simulate', '-g', '-c', 1009, '--toggle', 'two', '-o', recording, shares, check=3)
    samples = stacks_of(tally, recording)
    assert len(samples) > 100
    assert all('two' in names and 'one' not in names for *_, names in samples)


def test_toggle_counts_what_callgrind_collects(tally, shares, tmp_path):
    """The sum of the periods is callgrind's count, but for less than a period at the end."""
    recording, file = tmp_path / 'perf.data', tmp_path / 'callgrind.out'
    subprocess.run(['valgrind', '--tool=callgrind', '--toggle-collect=two', f'--callgrind-out-file={file}', shares, '5000'],
                   capture_output=True, check=False, timeout=300)
    collected = int(re.search(r'^(?:summary|totals): (\d+)', file.read_text(), re.M)[1])
    assert collected > 5000
    tally('record', '--simulate', '-c', 7, '--toggle', 'two', '-o', recording, shares, 5000, check=3)
    assert 0 <= collected - 7 * len(stacks_of(tally, recording)) < 7


def test_nothing_was_collected(tally, shares, tmp_path):
    """The reason, with a recording without samples."""
    recording = tmp_path / 'perf.data'
    for options, reason in ((['--toggle', 'nobody'], "no function that --toggle names as 'nobody' has run"),
                            (['-D', '-1'], 'counting begins where the program says so'), ([], 'try a lower -c')):
        made = tally('record', '--simulate', *options, '-c', 10**14, '-o', recording, shares, check=3)
        assert reason in made.stderr and ('try a lower -c' in made.stderr) == (not options)
        assert stacks_of(tally, recording) == []


def test_program_says_what_is_recorded(tally, tmp_path):
    """-D -1: what runs between the requests of tally/simulation.h."""
    code = SHARES.replace('one(n); two(n);', 'one(n); tally_simulation_begin(); two(n); tally_simulation_end(); one(n);')
    program = tmp_path / 'said'
    program.with_suffix('.c').write_text('#include <tally/simulation.h>\n' + code)
    subprocess.run(['cc', '-O2', '-fomit-frame-pointer', '-g', '-I', ROOT / 'include', '-o', program, program.with_suffix('.c')],
                   check=True)
    recording = tmp_path / 'perf.data'
    tally('record', '--simulate', '-g', '-D', -1, '-c', 1009, '-o', recording, program, check=3)
    samples = stacks_of(tally, recording)
    assert len(samples) > 100
    assert all('two' in names and 'one' not in names for *_, names in samples if names[0] == 'leaf')


def test_killed_program_keeps_its_samples(tally, shares, tmp_path):
    recording = tmp_path / 'perf.data'
    script = f'{shares} 20000; kill -KILL $$'
    killed = tally('record', '--simulate', '-g', '-c', 1009, '-o', recording, '--', 'sh', '-c', script)
    assert killed.returncode == -signal.SIGKILL
    assert sum(names[0] == 'leaf' for *_, names in stacks_of(tally, recording)) > 100


def test_interrupt_keeps_what_was_recorded(tally, tmp_path):
    """As Ctrl-C does it: the signal ends the command, and the recording is complete."""
    recording, mark = tmp_path / 'perf.data', tmp_path / 'mark'
    script = f'i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; : > {mark}; while :; do i=$((i+1)); done'
    with tally.start('record', '--simulate', '-c', 10007, '-o', recording, '--', 'sh', '-c', script,
                     start_new_session=True) as process:
        wait_for(mark.exists)
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGINT, error
    assert 'Captured and wrote' in error
    assert len(stacks_of(tally, recording)) > 10


def test_stock_perf_reads_it(tally, perf, newest_perf, shares, tmp_path):
    recording = tmp_path / 'perf.data'
    tally('record', '--simulate', '-g', '-e', 'instructions,branch-misses/period=11/,l2-loads/period=11/', '-c', 5003,
          '-o', recording, shares, check=3)
    ours = tally('report', '--stdio', '--no-children', '-g', 'none', '-i', recording, check=0).stdout
    leaf = re.search(r'^ +[\d.]+%  shares .* leaf *$', ours, re.M)
    assert leaf, ours
    for program in perf, newest_perf:
        theirs = program('report', '--stdio', '--no-children', '-g', 'none', '-i', recording, check=0).stdout
        assert leaf[0].split() in [line.split() for line in theirs.splitlines()]
        names = program('evlist', '-i', recording, check=0).stdout.split()
        assert names[:3] == ['instructions:u', 'branch-misses:u', 'l2-loads:u']
        script = program('script', '-i', recording, check=0).stdout
        assert re.search(r'leaf.*\n.*one.*\n.*main', script)


def test_stream_on_standard_output(tally, shares, tmp_path):
    with open(tmp_path / 'stream.data', 'wb') as stream:
        subprocess.run([tally.path, 'record', '--simulate', '-c', '10007', '-g', '-o', '-', '--', shares], stdout=stream,
                       stderr=subprocess.DEVNULL, env=tally.environment, check=False)
    samples = stacks_of(tally, tmp_path / 'stream.data')
    assert sum(names[0] == 'leaf' for *_, names in samples) > 100


def test_kept_stacks(tally, shares, tmp_path):
    """The dumps go into the file, and the reader unwinds them."""
    recording = tmp_path / 'perf.data'
    tally('record', '--simulate', '-c', 20011, '--call-graph', 'dwarf,4096', '--keep-stacks', '-z', '-o', recording, shares,
          check=3)
    leaves = [names for *_, names in stacks_of(tally, recording) if names[0] == 'leaf']
    assert len(leaves) > 20 and {names[1:3] for names in leaves} == {('one', 'main'), ('two', 'main')}


@pytest.mark.parametrize('program', ['liblzma', *(pytest.param(name, marks=pytest.mark.long) for name in ('sqlite3', 'rust'))])
def test_inclusive_shares_are_callgrinds(tally, program):
    """Within a point, for all functions that can be compared (tests/live/simulation_truth.py)."""
    toolchains = os.environ.get('RUSTUP_HOME') or os.path.expanduser('~/.rustup')
    truth = subprocess.run([sys.executable, ROOT / 'tests/live/simulation_truth.py', '--tally', tally.path, '--least', '2',
                            program], capture_output=True, text=True, check=False, timeout=600,
                           env={**tally.environment, 'RUSTUP_HOME': toolchains})
    if f'{program} is missing' in truth.stderr:
        pytest.skip(f'{program} is not installed (or what it is built with)')
    assert truth.returncode == 0 and 'largest difference' in truth.stdout, truth.stdout + truth.stderr


def test_times_without_build_ids(tally, shares, tmp_path):
    recording = tmp_path / 'perf.data'
    tally('record', '--simulate', '-B', '--timestamp-boundary', '-c', 10007, '-o', recording, shares, check=3)
    header = tally('report', '--header-only', '-i', recording, check=0).stdout
    assert '# time of first sample : 0.000010' in header
    assert tally('buildid-list', '-i', recording, '--header').stdout.strip() == ''


def test_flamegraph(tally, shares, tmp_path):
    made = tally('flamegraph', '--simulate', '--folded', '-o', '-', '--', shares, 2000000, check=3)
    weights = dict(line.rsplit(' ', 1) for line in made.stdout.splitlines() if line.endswith(tuple('0123456789')))
    one = sum(int(n) for stack, n in weights.items() if ';one' in stack)
    two = sum(int(n) for stack, n in weights.items() if ';two' in stack)
    assert abs(one - 3 * two) <= 4 * 1000003
    assert 'needs a command' in tally('flamegraph', '--simulate', check=129).stderr


def test_summary(tally, shares):
    made = tally('summary', '--simulate', '--', shares, 2000000, check=3)
    assert 'samples are simulated' in made.stdout and re.search(r'75\.\d+ %.*one', made.stdout), made.stdout
    assert 'goes with a command' in tally('summary', '--simulate', check=129).stderr


def test_json_says_simulated(tally, shares, tmp_path):
    recording = tmp_path / 'perf.data'
    tally('record', '--simulate', '-o', recording, '-c', 10007, shares, check=3)
    header = json.loads(tally('report', '--header-only', '--json', '-i', recording, check=0).stdout)
    text = json.dumps(header)
    assert '"kind": "simulated"' in text and 'valgrind' in text


@pytest.mark.parametrize('options, sentence', [
    (['-a'], '-a cannot be used with it'),
    (['-p', '1'], '-p cannot be used with it'),
    (['-C', '0'], '-C cannot be used with it'),
    (['-F', '99'], '-c N takes a sample each N events'),
    (['-k', 'monotonic'], '-k is about events of the kernel'),
    (['--wall'], '--wall is about events of the kernel'),
    (['-b'], '-b is about events of the kernel'),
    (['-m', '64'], '-m is about the reading of events'),
    (['--switch-output'], '--switch-output is about the reading of events'),
    (['-D', '10'], '--toggle FUNCTION begins at a function'),
    (['-n'], 'counts without samples'),
    (['--proc-map-timeout', '9'], '--proc-map-timeout is about the reading of events'),
    (['--call-graph', 'fp'], 'makes call chains of stack dumps'),
    (['--call-graph', 'dwarf,65528'], 'at most 65000 bytes'),
    (['--keep-stacks'], '--keep-stacks needs --call-graph dwarf'),
    (['-e', 'cycles'], "'cycles' is not simulated"),
    (['-e', 'instructions:k'], 'no other modifier than :u'),
    (['-e', 'l2-loads', '--cache-model', 'cachegrind'], 'the model has no L2 cache'),
    (['--cache-model', 'nonsense'], 'nonsense'),
])
def test_refusals(tally, tmp_path, options, sentence):
    refused = tally('record', '--simulate', *options, '-o', tmp_path / 'perf.data', '--', 'true')
    assert refused.returncode not in (0, -signal.SIGSEGV) and sentence in refused.stderr
    assert not (tmp_path / 'perf.data').exists()


def test_options_that_need_it(tally, tmp_path):
    for option, value in ('--toggle', 'main'), ('--cache-model', 'generic'):
        refused = tally('record', option, value, '-o', tmp_path / 'perf.data', '--', 'true')
        assert refused.returncode != 0 and f'{option} needs --simulate' in refused.stderr
    assert 'needs a command' in tally('record', '--simulate', check=129).stderr


def test_missing_command_leaves_nothing(tally, tmp_path):
    refused = tally('record', '--simulate', '-o', tmp_path / 'perf.data', '--', '/no/such/program')
    assert refused.returncode != 0 and '/no/such/program' in refused.stderr
    assert not (tmp_path / 'perf.data').exists()
