# SPDX-License-Identifier: Apache-2.0
"""record --call-graph dwarf: stacks of code without frame pointers, unwound while it records."""
import collections
import os
import re
import shutil
import signal
import subprocess

import pytest

from conftest import built, wait_for
from perfdata_file import SAMPLE, PerfData, told_size

pytestmark = pytest.mark.usefixtures('live')

PROGRAM = r'''
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#define KEPT __attribute__((noinline, noipa))
static volatile unsigned long counter;
extern "C" KEPT void burn(int n) { for (int i = 0; i < n; i++) counter += (unsigned long)i * 3; }
extern "C" KEPT int recurse(int depth, int n)
{
	char frame[200];
	memset(frame, depth, sizeof(frame));
	asm volatile("" ::"r"(frame) : "memory");
	burn(depth == 0 ? n : depth % 40 ? 40 : n);
	int result = depth == 0 ? 0 : recurse(depth - 1, n);
	asm volatile("" ::: "memory");
	return result + frame[3];
}
struct shape { virtual int area(int) = 0; };
struct square : shape { KEPT int area(int n) override { burn(n); return 1; } };
struct circle : shape { KEPT int area(int n) override { burn(2 * n); return 2; } };
extern "C" KEPT int measure(shape *s, int n) { return s->area(n) + 1; }
extern "C" KEPT void thrower(int n) { burn(n); if (n) throw std::runtime_error("x"); }
extern "C" KEPT int catcher(int n) { try { thrower(n); } catch (std::exception &e) { burn(n); return 1; } return 0; }
extern "C" KEPT void *thread_main(void *n) { for (int i = 0; i < *(int *)n; i++) recurse(3, 20000); return NULL; }
extern "C" KEPT int shapes(int n)
{
	square s; circle c; int sum = 0;
	for (int i = 0; i < n; i++) sum += measure(&s, 20000) + measure(&c, 20000);
	return sum;
}
extern "C" KEPT int threads(int n)
{
	pthread_t t[3];
	for (auto &one : t) pthread_create(&one, NULL, thread_main, &n);
	for (auto &one : t) pthread_join(one, NULL);
	return 1;
}
extern "C" KEPT int load(int n)
{
	void *library = dlopen(getenv("LIBRARY"), RTLD_NOW);
	int (*f)(int, void (*)(int)) = library ? (int (*)(int, void (*)(int)))dlsym(library, "from_library") : NULL;
	for (int i = 0; f && i < n; i++) f(20000, burn);
	return f ? 1 : -1;
}
int main(int argc, char **argv)
{
	const char *mode = argv[1];
	int n = atoi(argv[2]), sum = 0;
	if (!strcmp(mode, "shapes")) sum = shapes(n);
	if (!strcmp(mode, "deep")) for (int i = 0; i < n; i++) sum += recurse(120, 20000);
	if (!strcmp(mode, "deeper")) for (int i = 0; i < n; i++) sum += recurse(1000, 3000000);
	if (!strcmp(mode, "throw")) for (int i = 0; i < n; i++) sum += catcher(5000);
	if (!strcmp(mode, "threads")) sum = threads(n);
	if (!strcmp(mode, "dlopen")) sum = load(n);
	if (!strcmp(mode, "delete")) { unlink(argv[0]); sum = shapes(n); }
	if (!strcmp(mode, "exec") && fork() == 0) { execl(argv[0], argv[0], "shapes", argv[2], (char *)0); _exit(9); }
	if (!strcmp(mode, "exec")) wait(NULL);
	return sum == -1;
}
'''
LIBRARY = '''
__attribute__((noinline)) int inside(int n, void (*f)(int)) { f(n); return n; }
int from_library(int n, void (*f)(int)) { return inside(n, f) + 1; }
'''
FLAGS = ['-O2', '-fomit-frame-pointer', '-g', '-rdynamic']


@pytest.fixture(scope='module')
def program():
    if not shutil.which('g++'):
        pytest.skip('g++ is not installed')
    folder = built({'program.cc': PROGRAM, 'library.c': LIBRARY},
                   ['g++', *FLAGS, '-o', 'program', 'program.cc', '-ldl', '-pthread'],
                   ['gcc', *FLAGS, '-shared', '-fPIC', '-o', 'library.so', 'library.c'])
    return folder / 'program'


@pytest.fixture
def record(tally, program, tmp_path):
    """Records a mode of the program; gives the file and what was said."""
    def run(mode, count, *options, path=program, frequency=2000, dwarf='dwarf'):
        data = tmp_path / 'live.data'
        tally.environment['LIBRARY'] = str(program.parent / 'library.so')
        result = tally('record', '-e', 'cpu-clock:u', '-F', frequency, '--call-graph', dwarf, '-o', data, *options,
                       '--', path, mode, count, check=0)
        return data, result.stderr
    return run


def stacks(tool, data, *options):
    """Of each sample its function names, outermost first."""
    text = tool('script', '-i', data, '-F', 'comm,ip,sym', '--no-inline', '--max-stack', '2000', *options,
                check=0).stdout
    result = []
    for block in text.split('\n\n'):
        names = [re.sub(r'\(.*', '', line.split(None, 1)[1].strip()) for line in block.splitlines()[1:]
                 if len(line.split(None, 1)) == 2]
        if names:
            result.append(tuple(reversed(names)))
    assert result, text
    return result


def complete(said):
    return float(re.search(r'stacks: ([\d.]+) % complete', said)[1])


def expect_mostly(found, *path, least=0.9):
    """Nearly all stacks that end in the last of these functions came through all of them, from the first on."""
    leaf = [stack for stack in found if stack[-1] == path[-1] and path[-2] in stack]
    whole = [stack for stack in leaf if stack[0] in ('_start', '__clone3', 'clone3', '__clone', 'clone')
             and all(name in stack for name in path)]
    assert len(leaf) >= 20 and len(whole) >= least * len(leaf), (len(whole), len(leaf), leaf[:3])


@pytest.mark.parametrize('mode, count, path', [
    ('shapes', 3000, ('_start', 'main', 'shapes', 'measure', 'burn')),
    ('throw', 20000, ('_start', 'main', 'catcher', 'thrower', 'burn')),
    ('throw', 20000, ('_start', 'main', 'catcher', 'burn')),
    ('threads', 1000, ('thread_main', 'recurse', 'burn')),
    ('dlopen', 4000, ('_start', 'main', 'load', 'from_library', 'inside', 'burn')),
    ('exec', 3000, ('_start', 'main', 'shapes', 'measure', 'burn')),
], ids=lambda value: value if isinstance(value, str) else '')
def test_stacks_are_whole(record, tally, mode, count, path):
    data, said = record(mode, count)
    assert complete(said) >= 95
    expect_mostly(stacks(tally, data), *path)


def test_deleted_program(record, tally, program, tmp_path):
    copy = tmp_path / 'gone'
    shutil.copy(program, copy)
    data, said = record('delete', 60000, path=copy)
    assert not copy.exists()
    assert complete(said) >= 95
    text = tally('script', '-i', data, '-F', 'ip', check=0).stdout
    depths = [len(block.split()) for block in text.split('\n\n') if block.strip()]
    assert depths and sum(depth >= 6 for depth in depths) >= 0.9 * len(depths)


def test_stacks_deeper_than_perfs_copy(record, tally, perf, program, tmp_path):
    data, said = record('deep', 3000)
    assert complete(said) >= 99
    ours = [stack for stack in stacks(tally, data) if stack[-1] == 'burn']
    assert sum(stack[0] == '_start' for stack in ours) >= 0.97 * len(ours)
    assert max(stack.count('recurse') for stack in ours) == 121
    theirs = tmp_path / 'perf.data'
    perf('record', '-e', 'cpu-clock:u', '-F', 2000, '--call-graph', 'dwarf', '-o', theirs, '--', program, 'deep', 1500,
         check=0)
    cut = [stack for stack in stacks(perf, theirs) if stack[-1] == 'burn']
    assert sum(stack[0] == '_start' for stack in cut) < 0.5 * len(cut)
    samples = PerfData(data).count(SAMPLE)
    assert data.stat().st_size / samples < 8 * 128 + 200


def test_stacks_deeper_than_the_copy_are_joined(record, tally):
    data, said = record('deeper', 10, dwarf='dwarf,32768')
    joined = re.search(r'; (\d+) joined', said)
    assert joined and int(joined[1]) >= 20, said
    deep = [stack for stack in stacks(tally, data) if stack.count('recurse') > 200]
    assert sum(stack[0] == '_start' for stack in deep) >= 0.5 * len(deep) and len(deep) >= 20


def test_perf_sees_the_paths_of_its_own_stacks(record, perf, program, tmp_path):
    data, _ = record('shapes', 30000, frequency=3989)
    theirs = tmp_path / 'perf.data'
    perf('record', '-e', 'cpu-clock:u', '-F', 3989, '--call-graph', 'dwarf', '-o', theirs, '--', program, 'shapes',
         30000, check=0)
    shares = []
    for path in (data, theirs):
        found = stacks(perf, path)
        counted = collections.Counter(found)
        shares.append({stack: 100 * count / len(found) for stack, count in counted.items()})
    hot = [stack for stack in set(shares[0]) | set(shares[1]) if max(s.get(stack, 0) for s in shares) >= 2]
    assert len(hot) >= 2
    for stack in hot:
        # Some 2,000 samples each: a share of a third is known to within 1 point.
        assert abs(shares[0].get(stack, 0) - shares[1].get(stack, 0)) <= 5, stack


def test_attrs_say_what_chains_are_of(record, tally, perf):
    data, _ = record('shapes', 100)
    text = perf('evlist', '-v', '-i', data, check=0).stdout
    assert 'CALLCHAIN' in text and 'REGS_USER' not in text and '|STACK_USER' not in text
    assert re.search(r'sample_stack_user: \d+', text)
    text = tally('health', '-i', data, check=0).stdout
    assert re.search(r'call chains unwound while recording from \d+ bytes of stack', text)


def test_keep_stacks_is_what_perf_does(record, perf):
    data, said = record('shapes', 300, '--keep-stacks')
    text = perf('evlist', '-v', '-i', data, check=0).stdout
    assert 'REGS_USER|STACK_USER' in text and 'sample_stack_user: 8192' in text and 'stacks:' not in said
    assert any(stack[0] == '_start' and stack[-1] == 'burn' for stack in stacks(perf, data))


@pytest.mark.parametrize('options', [
    ['-z'], ['-e', 'task-clock:u'], ['--user-regs=sp,ip'], ['-d'], ['--per-thread'], ['-s'], ['-m', '1M'],
    ['--no-buffering'], ['-T', '-W', '--sample-cpu', '-I'], ['--buildid-mmap'], ['--mmap-flush', '64K'],
], ids=' '.join)
def test_goes_with_other_options(record, tally, perf, options):
    data, said = record('shapes', 2000, *options)
    assert complete(said) >= 90
    for tool in (tally, perf):
        expect_mostly(stacks(tool, data), '_start', 'main', 'shapes', 'measure', 'burn', least=0.8)


def test_a_leader_that_samples_for_its_group(tally, program, tmp_path):
    data = tmp_path / 'group.data'
    tally('record', '-e', '{cpu-clock:u,page-faults:u}:S', '-F', 2000, '--call-graph', 'dwarf', '-o', data, '--',
          program, 'shapes', 2000, check=0)
    expect_mostly(stacks(tally, data), '_start', 'main', 'shapes', 'measure', 'burn', least=0.8)


@pytest.mark.parametrize('kind', ['-p', '-t', '-a'])
def test_what_runs_already(tally, program, tmp_path, kind):
    if kind == '-a' and os.geteuid() != 0:
        pytest.skip('system-wide events need root')
    data = tmp_path / 'attached.data'
    with subprocess.Popen([str(program), 'shapes', '1000000000']) as job:
        try:
            target = [kind, job.pid] if kind != '-a' else ['-a']
            said = tally('record', '-e', 'cpu-clock:u', '-F', 2000, '--call-graph', 'dwarf', '-o', data, *target, '--',
                         'sleep', 1, check=0).stderr
        finally:
            job.kill()
    assert 'stacks: ' in said
    expect_mostly(stacks(tally, data, '--comm', 'program'), '_start', 'main', 'shapes', 'measure', 'burn')


@pytest.mark.parametrize('option', ['--synth=no', '--tail-synthesize'])
def test_what_is_not_told_of_the_start_is_known_all_the_same(tally, program, tmp_path, option):
    data = tmp_path / 'attached.data'
    with subprocess.Popen([str(program), 'shapes', '1000000000']) as job:
        try:
            said = tally('record', '-e', 'cpu-clock:u', '-F', 2000, '--call-graph', 'dwarf', '-o', data, option, '-p',
                         job.pid, '--', 'sleep', 1, check=0).stderr
        finally:
            job.kill()
    assert complete(said) >= 95


def test_pipe(tally, program, tmp_path):
    data = tmp_path / 'pipe.data'
    result = tally('record', '-e', 'cpu-clock:u', '-F', 2000, '--call-graph', 'dwarf', '-o', '-', '--', program,
                   'shapes', 3000, check=0, text=False)
    data.write_bytes(result.stdout)
    expect_mostly(stacks(tally, data), '_start', 'main', 'shapes', 'measure', 'burn')


def test_switched_files(tally, program, tmp_path):
    tally('record', '-e', 'cpu-clock:u', '-F', 2000, '--call-graph', 'dwarf', '-o', tmp_path / 'out',
          '--switch-output=60K', '--', program, 'shapes', 60000, check=0)
    files = sorted(tmp_path.glob('out.2*'))
    assert len(files) >= 3
    for data in files[:2]:
        expect_mostly(stacks(tally, data), '_start', 'main', 'shapes', 'measure', 'burn')


def test_a_killed_recording_opens(tally, perf, program, tmp_path):
    data = tmp_path / 'killed.data'
    process = tally.start('record', '-e', 'cpu-clock:u', '-F', 2000, '--call-graph', 'dwarf', '-o', data, '--', program,
                          'shapes', 1000000000, start_new_session=True)
    wait_for(lambda: (told_size(data) or 0) > 100_000)  # some hundred samples
    process.kill()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()
    for tool in (tally, perf):
        expect_mostly(stacks(tool, data), '_start', 'main', 'shapes', 'measure', 'burn')


@pytest.mark.parametrize('options', [['--threads'], ['--overwrite'], ['--affinity=cpu']], ids=' '.join)
def test_what_it_does_not_go_with_is_refused(tally, program, tmp_path, options):
    words = ['record', '-a', '-e', 'cpu-clock', '--call-graph', 'dwarf', *options, '-o', tmp_path / 'x']
    result = tally(*words, '--', 'true')
    assert result.returncode != 0 and '--keep-stacks' in result.stderr
    assert not (tmp_path / 'x').exists()
    if os.geteuid() == 0:
        tally(*words, '--keep-stacks', '--', 'true', check=0)


@pytest.fixture
def small_group():
    """A control group with 64 MB of memory; gives the file that takes processes into it, and that of its failures."""
    groups = dict(line.strip().split(':', 2)[1:] for line in open('/proc/self/cgroup', encoding='utf-8'))
    if 'memory' in groups:
        folder = '/sys/fs/cgroup/memory' + groups['memory']
        limit, peak = 'memory.limit_in_bytes', 'memory.max_usage_in_bytes'
    else:
        folder = '/sys/fs/cgroup' + groups.get('', '/')
        limit, peak = 'memory.max', 'memory.peak'
    folder = os.path.join(folder, f'tally-test-{os.getpid()}')
    try:
        os.mkdir(folder)
    except OSError as error:
        pytest.skip(f'no control group can be made: {error}')
    try:
        try:
            with open(os.path.join(folder, limit), 'w', encoding='utf-8') as file:
                file.write(str(64 << 20))
        except OSError as error:
            pytest.skip(f'the control group takes no limit of memory: {error}')
        yield os.path.join(folder, 'cgroup.procs'), os.path.join(folder, peak)
    finally:
        os.rmdir(folder)


@pytest.mark.alone
def test_the_whole_machine_in_little_memory(tally, program, tmp_path, small_group):
    """Stacks wait for large files to be opened, and take their memory; what there is no room for is given up, and said."""
    procs, peak = small_group
    data, node = tmp_path / 'data', shutil.which('node')
    busy = [subprocess.Popen([program, 'deep', '1000000'], stdout=subprocess.DEVNULL) for _ in range(2)]
    if node:  # a program of 100 MB
        busy.append(subprocess.Popen([node, '-e', 'for (let x = 0;; x++) JSON.stringify({a: [1, 2, x]})']))
    try:
        result = subprocess.run(
            ['sh', '-c', f'echo $$ > {procs} && exec "$@"', 'sh', tally.path, 'record', '-a', '-e', 'cpu-clock', '-F',
             '4000', '--call-graph', 'dwarf', '-o', data, '--', 'sleep', '3'],
            env=tally.environment, capture_output=True, text=True, timeout=120)
        used = int(open(peak, encoding='utf-8').read()) if os.path.exists(peak) else 0
    finally:
        for one in busy:
            one.kill()
            one.wait()
    if 'system wide' in result.stderr or 'permission' in result.stderr.lower():
        pytest.skip('the whole machine may not be recorded')
    assert result.returncode == 0, (result.returncode, result.stderr)
    assert used <= 64 << 20
    samples = int(re.search(r'\((\d+) samples\)', result.stderr)[1])
    assert samples >= 500 and 'stacks: ' in result.stderr
    assert tally('script', '-i', data, '-F', 'ip', check=0).stdout.count('\n\n') >= 0.9 * samples
