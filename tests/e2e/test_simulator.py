# SPDX-License-Identifier: Apache-2.0
"""The Valgrind tool `tally` (simulator/) alone: its counts against cachegrind and single-stepping, its streams, windows."""
import os
import re
import shutil
import signal
import subprocess

import conftest
import pytest
import simulation_stream
from conftest import BUILD, ROOT, wait_for
from simulation_stream import COMM, EXIT, FORK, LOST

TOOL = BUILD / 'simulator' / 'tally-amd64-linux'
VALGRIND_FILES = next((f for f in ('/usr/libexec/valgrind', '/usr/lib/valgrind') if os.path.isdir(f)), '')

pytestmark = [
    pytest.mark.skipif(not TOOL.exists(), reason='there is no simulator: Valgrind\'s headers are not installed'),
    pytest.mark.skipif(not shutil.which('valgrind'), reason='valgrind is not installed'),
]

# I1, D1, LL: of a usual CPU, and tiny ones that miss all the time.
GEOMETRIES = [((32768, 8, 64), (32768, 8, 64), (8388608, 16, 64)),
              ((4096, 2, 32), (2048, 1, 32), (65536, 4, 32)),
              ((16384, 4, 64), (8192, 2, 64), (131072, 8, 64))]

# cachegrind's words. Its mispredictions are those of another predictor.
SAME_COUNTS = {'Ir': 'L1-icache-loads', 'I1mr': 'L1-icache-load-misses', 'ILmr': 'LLC-code-misses',
               'Dr': 'L1-dcache-loads', 'D1mr': 'L1-dcache-load-misses', 'DLmr': 'LLC-load-misses',
               'Dw': 'L1-dcache-stores', 'D1mw': 'L1-dcache-store-misses', 'DLmw': 'LLC-store-misses',
               'Bc': 'conditional-branches', 'Bi': 'indirect-branches'}

SQL = """create table t(a int, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300) insert into t select x, hex(x * x) from c;
select sum(a), max(b) from t group by a % 7;"""


class Simulator:
    """Runs commands under the tool, and under cachegrind in the same environment: addresses then are the same."""

    def __init__(self, folder):
        self.folder = folder
        self.lib = folder / 'lib'
        self.lib.mkdir()
        for path in [TOOL, *(os.path.join(VALGRIND_FILES, name) for name in os.listdir(VALGRIND_FILES))]:
            (self.lib / os.path.basename(path)).symlink_to(path)
        self.environment = {**os.environ, 'LC_ALL': 'C', 'VALGRIND_LIB': str(self.lib), 'PYTHONHASHSEED': '0'}
        self.runs = 0

    def command(self, *options):
        self.runs += 1
        self.streams = self.folder / f'streams{self.runs:03}'
        self.streams.mkdir()
        return ['valgrind', '-q', '--tool=tally', f'--stream-dir={self.streams}', *options]

    def run(self, options, command, **how):
        self.result = subprocess.run([*self.command(*options), *command], env=self.environment, text=True,
                                     errors='replace', capture_output=True, timeout=300, cwd=self.folder, check=False, **how)
        return simulation_stream.streams(self.streams)

    def counts(self, options, command):
        streams = self.run(options, command)
        assert self.result.returncode == 0, self.result.stderr
        assert len(streams) == 1 and streams[0].is_final
        return streams[0].counts

    def cachegrind(self, geometry, command):
        out = self.folder / 'cachegrind.out'
        caches = [f'--{name}={",".join(map(str, level))}' for name, level in zip(('I1', 'D1', 'LL'), geometry)]
        subprocess.run(['valgrind', '-q', '--tool=cachegrind', '--vex-guest-chase=no', '--cache-sim=yes',
                        '--branch-sim=yes', f'--cachegrind-out-file={out}', *caches, *command], env=self.environment,
                       capture_output=True, timeout=300, cwd=self.folder, check=True)
        text = out.read_text()
        names = re.search(r'^events: (.*)$', text, re.M)[1].split()
        return dict(zip(names, map(int, re.search(r'^summary: (.*)$', text, re.M)[1].split())))


@pytest.fixture
def simulator(tmp_path):
    return Simulator(tmp_path)


@pytest.fixture
def compiled(tmp_path):
    """compiled(text, *options): the path of a program made of C text, which cases share if it includes none of our headers."""
    def make(text, *options, suffix='.c', compiler='cc'):
        if not shutil.which(compiler):
            pytest.skip(f'{compiler} is not installed')
        if not any(option.startswith('-I') for option in options):
            return str(conftest.compiled(f'program{suffix}', text, *options, compiler=compiler))
        source = tmp_path / f'program{suffix}'
        source.write_text(text)
        subprocess.run([compiler, source, *options, '-o', tmp_path / 'program'], check=True)
        return str(tmp_path / 'program')
    return make


def caches_of(geometry):
    return [f'--{name}={",".join(map(str, level))}' for name, level in zip(('i1', 'd1', 'll'), geometry)]


def check_against_cachegrind(simulator, geometry, command):
    """All counts are equal. cachegrind's vary by a miss or two from run to run, because the loader reads a few bytes behind
    a string, and there are random ones (AT_RANDOM), which our tool sets: so cachegrind has more than one try."""
    ours = simulator.counts(['--events=branches,caches', *caches_of(geometry)], command)
    own = {word: ours[name] for word, name in SAME_COUNTS.items()}
    for _ in range(12):
        theirs = simulator.cachegrind(geometry, command)
        if own == {word: theirs[word] for word in SAME_COUNTS}:
            break
    assert own == {word: theirs[word] for word in SAME_COUNTS}
    assert ours['branches'] == theirs['Bc'] + theirs['Bi']


@pytest.mark.parametrize('geometry', GEOMETRIES)
def test_ls_counts_as_cachegrind(simulator, geometry):
    check_against_cachegrind(simulator, geometry, ['ls', '-l', '/usr/include/linux'])


def test_sqlite_counts_as_cachegrind(simulator):
    if not shutil.which('sqlite3'):
        pytest.skip('sqlite3 is not installed')
    check_against_cachegrind(simulator, GEOMETRIES[0], ['sqlite3', ':memory:', SQL])


def test_xz_counts_as_cachegrind(simulator, tmp_path):
    if not shutil.which('xz'):
        pytest.skip('xz is not installed')
    (tmp_path / 'text').write_bytes(b''.join(b'%d %x\n' % (i * i % 1009, i) for i in range(2000)))
    check_against_cachegrind(simulator, GEOMETRIES[1], ['xz', '-9', '-k', '-c', 'text'])


CPP = """#include <map>
#include <stdexcept>
#include <string>
#include <cstdio>
struct shape { virtual int area(int) = 0; virtual ~shape() {} };
struct square : shape { int area(int n) override { return n * n; } };
struct bar : shape { int area(int n) override { if (n % 37 == 0) throw std::runtime_error("bar"); return n; } };
int main()
{
	std::map<std::string, int> sums;
	square s; bar b;
	for (int i = 1; i < 1500; i++) {
		shape *one = i % 3 ? static_cast<shape *>(&s) : &b;
		try { sums[std::to_string(i % 97)] += one->area(i); } catch (const std::exception &) { sums["thrown"]++; }
	}
	std::printf("%zu %d\\n", sums.size(), sums["thrown"]);
}
"""


def test_cpp_program_counts_as_cachegrind(simulator, compiled):
    check_against_cachegrind(simulator, GEOMETRIES[2], [compiled(CPP, '-O1', suffix='.cc', compiler='g++')])


def test_rust_program_counts_as_cachegrind(simulator, compiled):
    # Its own main: the one of the standard library reads /proc/self/maps, where the tools differ.
    text = """#![no_main]
use std::collections::BTreeMap;
#[no_mangle] pub extern "C" fn main() -> i32 { let mut words: BTreeMap<String, usize> = BTreeMap::new();
  for i in 0..3000u64 { *words.entry(format!("{:x}", i * i % 257)).or_default() += (i as usize).min(7); }
  println!("{}", words.values().max().unwrap()); 0 }"""
    check_against_cachegrind(simulator, GEOMETRIES[1], [compiled(text, '-O', suffix='.rs', compiler='rustc')])


LARGE_ACCESSES = """#include <string.h>
static char area[8192] __attribute__((aligned(64)));
int main(void)
{
	for (int k = 0; k < 100; k++) {
		char *at = area + 9 * k;
		__asm__ volatile("fnsave (%0); frstor (%0); fnstenv 200(%0); fldenv 200(%0)" : : "r"(at) : "memory");
		__asm__ volatile("fxsave64 (%0); fxrstor64 (%0)" : : "r"(area + 16 * k) : "memory");
		__asm__ volatile("fldt (%0); fstpt 100(%0); movups 3(%0), %%xmm0; movups %%xmm0, 61(%0)" : : "r"(at) : "memory", "xmm0");
		__sync_fetch_and_add((long *)(area + 8 * k), 3);
		__sync_bool_compare_and_swap((long *)(area + 8 * k), 3, 4);
		memcpy(area + k, area + 1000 + 3 * k, 900);
	}
	return 0;
}
"""


@pytest.mark.parametrize('geometry', GEOMETRIES)
def test_accesses_larger_than_lines_count_as_cachegrind(simulator, compiled, geometry):
    check_against_cachegrind(simulator, geometry, [compiled(LARGE_ACCESSES, '-O2', '-static')])


REPEATED = """.globl _start
.bss
buffer: .skip 4096
.text
_start: mov $10, %ecx
1:	dec %ecx
	jnz 1b
	lea buffer(%rip), %rdi
	mov $100, %ecx
	xor %eax, %eax
	rep stosb
	xor %ecx, %ecx
	rep stosb		# none
	lea buffer(%rip), %rdi
	mov $50, %ecx
	mov $1, %al
	repne scasb		# finds nothing
	lea buffer(%rip), %rdi
	movb $1, 7(%rdi)
	mov $50, %ecx
	repne scasb		# finds it
	lea buffer(%rip), %rsi
	lea 100+buffer(%rip), %rdi
	mov $33, %ecx
	repe cmpsb		# a difference
	mov $20, %r8d
2:	mov %r8d, %ecx		# counts that the translator does not know, among them 0
	sub $5, %ecx
	cmovl %r9d, %ecx
	lea buffer(%rip), %rdi
	lea 300(%rdi), %rsi
	rep movsq
	mov %r8d, %ecx
	and $3, %ecx
	repe scasb
	test %r8d, %ecx
	jz 3f
	test $1, %r8b
	jnz 3f
	inc %r10d
3:	dec %r8d
	jns 2b
	mov $60, %eax
	xor %edi, %edi
	syscall
"""

STEPPER = """#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
/* Steps after which the program is elsewhere: iterations of a repeated instruction stay where they are. */
int main(int argc, char **argv)
{
	int status;
	unsigned long count = 0, before = 0;
	pid_t child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[1], argv + 1);
		return 1;
	}
	waitpid(child, &status, 0);
	while (!WIFEXITED(status)) {
		if (ptrace(PTRACE_SINGLESTEP, child, 0, 0))
			return 2;
		waitpid(child, &status, 0);
		struct user_regs_struct registers = {0};
		unsigned long at = 0;
		if (ptrace(PTRACE_GETREGS, child, 0, &registers) == 0)
			at = registers.rip;
		count += at != before;
		before = at;
	}
	printf("%lu\\n", count);
}
"""


@pytest.fixture
def stepper(compiled):
    """How many instructions a program executes, by single-stepping it."""
    path = compiled(STEPPER, '-O1')

    def count(program):
        result = subprocess.run([path, program], capture_output=True, text=True, check=False)
        if result.returncode == 2:
            pytest.skip('ptrace cannot single-step here')
        return int(result.stdout)
    return count


SHORT_CIRCUITS = """static int a[64];
static int calls(int n) { return n < 2 ? n : calls(n - 1) + calls(n - 2); }
void _start(void)
{
	int found = 0;
	for (int i = 0; i < 64; i++)
		a[i] = i * i % 7;
	for (int i = 2; i < 64; i++)
		if ((a[i] > 2 && a[i - 1] < 4) || (a[i] == a[i - 2] && i % 3))
			found++;
	found += calls(15);
	__asm__ volatile("syscall" : : "a"(60), "D"(found & 1 ? 0 : 0));
}
"""


def test_instructions_are_those_of_single_stepping(simulator, compiled, stepper):
    programs = [('repeated', REPEATED, '.S', ()), ('short', SHORT_CIRCUITS, '.c', ('-O2', '-ffreestanding'))]
    for name, text, suffix, options in programs:
        program = compiled(text, '-nostdlib', '-static', *options, suffix=suffix)
        assert simulator.counts([], [program])['instructions'] == stepper(program), name


def test_repeated_instructions_are_fetched_as_by_cachegrind(simulator, compiled):
    check_against_cachegrind(simulator, GEOMETRIES[0], [compiled(REPEATED, '-nostdlib', '-static', suffix='.S')])


@pytest.mark.parametrize('runs', [6, pytest.param(20, marks=pytest.mark.long)])
def test_runs_are_equal_to_the_byte(simulator, compiled, runs):
    """Counts and streams are the same but for the process's number, and what programs keep of the clock (RDTSC)."""
    program = compiled(CPP, '-O1', suffix='.cc', compiler='g++')
    options = ['--events=branches,caches,tlb', '--sample=instructions:50000', '--sample=L1-dcache-load-misses:100',
               '--sample=branch-misses:500', '--stack-bytes=1024']
    seen = set()
    for _ in range(runs):
        stream, = simulator.run(options, [program])
        if stream.pid % 4096 == 0:
            continue  # the size of a mapping may be the same number
        records = []
        for record in stream.records:
            if record.kind() == 'sample':
                records.append((record.identifier, record.ip, record.time, record.period,
                                tuple(record.registers[6:9]), len(record.stack)))
                continue
            body = record.body
            for number in {stream.pid, stream.ppid}:
                body = body.replace(number.to_bytes(4, 'little'), b'PPID')
            records.append((record.type, record.misc, body))
        assert len(stream.samples) > 100
        seen.add(tuple(records))
    assert len(seen) == 1


FUNCTIONS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile long sum;
__attribute__((noinline)) void leaf(long n) { for (long i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void middle(long n) { leaf(n); sum++; leaf(n); sum++; }
__attribute__((noinline)) void outer(long n) { middle(n); sum++; leaf(n); sum++; }
#ifndef ROUNDS
#define ROUNDS 300
#endif
int main(void) { for (int i = 0; i < ROUNDS; i++) outer(40); return 0; }
"""


def symbols_of(program):
    listed = subprocess.run(['nm', '-S', program], capture_output=True, text=True, check=True).stdout
    return {line.split()[3]: (int(line.split()[0], 16), int(line.split()[1], 16)) for line in listed.splitlines()
            if len(line.split()) == 4}


def test_samples_are_the_exact_instructions(simulator, compiled):
    """With period 1, samples of instructions are the trace: each address once per execution, at times 1, 2, 3 ..."""
    program = compiled(REPEATED, '-nostdlib', '-static', suffix='.S')
    stream, = simulator.run(['--sample=instructions:1'], [program])
    samples = stream.samples
    assert [s.time for s in samples] == list(range(1, stream.counts['instructions'] + 1))
    assert samples[0].ip == simulation_entry(program) and all(s.abi == 0 and s.stack == b'' for s in samples)
    assert {s.period for s in samples} == {1} and {s.tid for s in samples} == {stream.pid}


def simulation_entry(program):
    text = subprocess.run(['readelf', '-h', program], capture_output=True, text=True, check=True).stdout
    return int(re.search(r'Entry point address:\s+0x(\w+)', text)[1], 16)


def call_chain(sample, names):
    """The functions by frame pointers, from registers and stack dump alone."""
    def name_of(address):
        return next((n for n, (start, size) in names.items() if start <= address < start + size), None)
    sp, bp = sample.registers[7], sample.registers[6]
    chain = [name_of(sample.ip)]
    while sp <= bp <= sp + len(sample.stack) - 16 and name_of(int.from_bytes(sample.stack[bp - sp + 8:bp - sp + 16], 'little')):
        chain.append(name_of(int.from_bytes(sample.stack[bp - sp + 8:bp - sp + 16], 'little')))
        bp = int.from_bytes(sample.stack[bp - sp:bp - sp + 8], 'little')
    return chain


@pytest.mark.parametrize('event', ['instructions', 'L1-dcache-loads', 'branches'])
def test_stacks_are_exact(simulator, compiled, event):
    program = compiled(FUNCTIONS, '-O0', '-fno-omit-frame-pointer', '-no-pie', '-static')
    names = symbols_of(program)
    stream, = simulator.run(['--events=caches,branches', f'--sample={event}:101', '--stack-bytes=4096'], [program])
    chains = [call_chain(s, names) for s in stream.samples]
    leaves = [c for c in chains if c[0] == 'leaf' and len(c) > 2]
    ways = [tuple(c[1:c.index('main') + 1]) for c in leaves if 'main' in c]
    assert len(leaves) > 300 and len(ways) >= 0.97 * len(leaves)
    # leaf runs twice in middle and once in outer itself; a prologue's first instructions lack a frame.
    shares = ways.count(('middle', 'outer', 'main')) / len(ways), ways.count(('outer', 'main')) / len(ways)
    assert shares[0] == pytest.approx(2 / 3, abs=0.02) and shares[1] == pytest.approx(1 / 3, abs=0.02)


def test_miss_has_the_registers_of_its_instruction(simulator, compiled):
    """PUSH misses below the stack pointer; the sample has the stack pointer that it had before."""
    program = compiled(""".globl _start
_start: mov $3, %ebx
	mov %rsp, %rbp
1:	sub $8192, %rsp
	mov %rsp, %r12
here:	push %rbx
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
""", '-nostdlib', '-static', suffix='.S')
    here = int(next(line.split()[0] for line in subprocess.run(
        ['nm', program], capture_output=True, text=True, check=True).stdout.splitlines() if line.endswith(' here')), 16)
    stream, = simulator.run(['--events=caches', '--sample=L1-dcache-store-misses:1', '--stack-bytes=64'], [program])
    assert stream.samples and {s.ip for s in stream.samples} == {here}
    for sample in stream.samples:
        assert sample.registers[7] == sample.registers[14]  # R12
        assert sample.registers[8] == here


def test_events_that_are_not_named_are_not_counted(simulator, compiled):
    program = compiled(FUNCTIONS, '-O1')
    assert set(simulator.counts([], [program])) == {'instructions'}
    both = simulator.counts(['--events=branches,caches,tlb'], [program])
    assert set(both) == set(simulation_stream.event_names().values())
    tlb = simulator.counts(['--events=tlb'], [program])
    branches = simulator.counts(['--events=branches'], [program])
    for alone in (tlb, branches):
        assert alone == {name: both[name] for name in alone}
    assert both['dTLB-loads'] == both['L1-dcache-loads'] and both['branches'] > both['branch-misses'] > 0


def test_second_level_takes_what_the_first_misses(simulator):
    command = ['ls', '/']
    two = simulator.counts(['--events=caches', *caches_of(GEOMETRIES[2])], command)
    three = simulator.counts(['--events=caches', *caches_of(GEOMETRIES[2]), '--l2=65536,8,64'], command)
    for name in ('L1-dcache-load-misses', 'L1-dcache-store-misses', 'L1-icache-load-misses'):
        assert three[name] == two[name]
    assert three['l2-loads'] == three['L1-dcache-load-misses'] and three['LLC-loads'] == three['l2-load-misses']
    assert three['l2-stores'] == three['L1-dcache-store-misses'] and three['LLC-stores'] == three['l2-store-misses']
    assert three['l2-load-misses'] < three['l2-loads'] and two['l2-loads'] == 0
    # A second level as large as the last one sees, and misses, what that one did.
    same = simulator.counts(['--events=caches', *caches_of(GEOMETRIES[2]), '--l2=131072,8,64'], command)
    assert same['l2-load-misses'] == two['LLC-load-misses'] >= same['LLC-load-misses']


def test_tlb_of_one_large_page_misses_once(simulator, compiled):
    """With pages of 1 GiB, program and stack are on few pages; with 4 KiB and few entries there are many misses."""
    program = compiled(FUNCTIONS, '-O1')
    large = simulator.counts(['--events=tlb', '--dtlb=4,4,1073741824', '--itlb=4,4,1073741824'], [program])
    small = simulator.counts(['--events=tlb', '--dtlb=4,1,4096', '--itlb=4,1,4096'], [program])
    assert 0 < large['dTLB-load-misses'] + large['dTLB-store-misses'] <= 4 and 0 < large['iTLB-load-misses'] <= 4
    assert small['dTLB-load-misses'] > 100 and small['iTLB-load-misses'] > 100


def test_fork_and_exec_have_streams_of_their_own(simulator):
    streams = simulator.run(['--trace-children=yes'], ['sh', '-c', '(exit 3); ls / > /dev/null; exec true'])
    assert simulator.result.returncode == 0
    shell = [s for s in streams if s.pid == streams[0].pid]
    assert [s.image for s in shell] == [0, 1]
    assert [r.name for s in shell for r in s.of(COMM)] == ['sh', 'true']
    children = [r.child for r in shell[0].of(FORK)]
    assert len(children) == 2 and {s.pid for s in streams} == {shell[0].pid, *children}
    forks = {r.child: r.time for r in shell[0].of(FORK)}
    assert all(0 < time <= shell[0].counts['instructions'] for time in forks.values())
    # Each forked child begins without a name; an image that is replaced has no EXIT.
    for child in children:
        images = [s for s in streams if s.pid == child]
        assert images[0].ppid == shell[0].pid and not images[0].of(COMM)
        assert len(images[-1].of(EXIT)) == 1 and all(not s.of(EXIT) for s in images[:-1])
    assert any(r.name == 'ls' for s in streams for r in s.of(COMM))
    assert all(s.is_final for s in streams)
    mapped = {m.file for m in shell[1].mappings}
    assert any(re.search(r'/libc[.-]', name) for name in mapped) and '/true' in ''.join(mapped)


def test_exec_that_fails_loses_nothing(simulator, compiled):
    program = compiled("""#include <unistd.h>
int main(void) { for (volatile int i = 0; i < 1000; i++); execl("/nonexistent", "x", (char *)0);
	for (volatile int i = 0; i < 1000; i++); return 0; }""", '-O1')
    stream, = simulator.run(['--trace-children=yes'], [program])
    assert stream.is_final and len(stream.of(EXIT)) == 1 and stream.counts['instructions'] > 8000


THREADS = """#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
static __attribute__((noinline)) void spin(long n) { for (volatile long i = 0; i < n; i++); }
static void *body(void *n) { prctl(PR_SET_NAME, "worker"); spin((long)n); return 0; }
int main(void)
{
	pthread_t threads[4];
	for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, body, (void *)(10000 * (i + 1)));
	for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
	return 0;
}
"""


def test_threads_have_their_records_and_samples(simulator, compiled):
    program = compiled(THREADS, '-O1', '-pthread')
    stream, = simulator.run(['--sample=instructions:100'], [program])
    forked = [r for r in stream.of(FORK)]
    assert len(forked) == 4 and {r.child for r in forked} == {stream.pid} == {r.parent for r in forked}
    assert [r.name for r in stream.of(COMM)].count('worker') == 4
    assert {r.child_tid for r in stream.of(EXIT)} == {stream.pid, *(r.child_tid for r in forked)}
    per_thread = sorted(sum(s.tid == r.child_tid for s in stream.samples) for r in forked)
    # 6 instructions a turn
    assert per_thread == [pytest.approx(600 * (i + 1), abs=60) for i in range(4)]


def test_threads_count_as_cachegrind_within_a_thousandth(simulator, compiled):
    program = compiled(THREADS, '-O1', '-pthread')
    theirs = simulator.cachegrind(GEOMETRIES[0], [program])
    ours = simulator.counts(['--events=branches,caches', *caches_of(GEOMETRIES[0])], [program])
    for word in ('Ir', 'Dr', 'Dw', 'Bc'):
        assert ours[SAME_COUNTS[word]] == pytest.approx(theirs[word], rel=0.001), word


def test_code_made_at_run_time_is_mapped(simulator, compiled):
    program = compiled("""#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
int main(void)
{
	char *code = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, "\\xb8\\x2a\\0\\0\\0\\xc3", 6);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	return ((int (*)(void))code)() - 42;
}""", '-O1')
    stream, = simulator.run(['--sample=instructions:1'], [program])
    assert simulator.result.returncode == 0
    made = [m for m in stream.mappings if m.file == '//anon' and m.prot == 5 and m.length == 4096 and m.time > 1000]
    assert len(made) == 1
    inside = [s for s in stream.samples if made[0].start <= s.ip < made[0].start + 4096]
    assert [s.ip - made[0].start for s in inside] == [0, 5] and inside[0].time > made[0].time


def test_fatal_signal_ends_the_stream(simulator, compiled):
    program = compiled('int main(void) { for (volatile int i = 0; i < 500; i++); return *(volatile int *)8; }', '-O1')
    stream, = simulator.run([], [program])
    assert simulator.result.returncode == -signal.SIGSEGV
    assert stream.is_final and len(stream.of(EXIT)) == 1


def test_killed_process_keeps_counts_of_its_last_100_million(simulator, compiled):
    program = compiled('int main(void) { for (volatile long i = 0;; i++); }', '-O1')
    with subprocess.Popen([*simulator.command(), program], env=simulator.environment) as process:
        def counted():
            files = simulation_stream.streams(simulator.streams)
            return files and files[0].counts.get('instructions', 0)
        wait_for(lambda: counted() and counted() > 150_000_000)
        process.kill()
    stream, = simulation_stream.streams(simulator.streams)
    assert not stream.is_final and not stream.of(EXIT)
    # They are written each 90 million and some: the loop runs no more than its scheduler's turn beyond.
    assert stream.counts['instructions'] % 90_000_000 < 20_000_000


def test_disk_full_loses_samples_and_says_so(simulator, compiled, tmp_path):
    program = compiled(FUNCTIONS, '-O1')
    small = tmp_path / 'small'
    small.mkdir()
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small], capture_output=True, check=False).returncode:
        pytest.skip('a tmpfs cannot be mounted here')
    try:
        command = [*simulator.command('--events=caches', '--sample=instructions:20'), program]
        command[3] = f'--stream-dir={small}'
        result = subprocess.run(command, env=simulator.environment, capture_output=True, text=True, check=False,
                                cwd=simulator.folder)
        stream, = simulation_stream.streams(small)
    finally:
        subprocess.run(['umount', small], check=True)
    assert result.returncode == 0 and result.stderr.count('cannot take more records') == 1
    whole, = simulator.run(['--events=caches', '--sample=instructions:20'], [program])
    lost, = stream.of(LOST)
    assert stream.counts == whole.counts and stream.is_final
    assert lost.samples > 0 and len(stream.samples) + lost.samples == len(whole.samples)
    assert len(stream.records) + lost.records == len(whole.records)


REGIONS = """#include <pthread.h>
#include <stdio.h>
#include <tally/simulation.h>
static __attribute__((noinline)) void spin(long n) { for (volatile long i = 0; i < n; i++); }
static void *other(void *n) { spin((long)n); return 0; }
int main(int argc, char **argv)
{
	pthread_t thread;
	spin(1000);
	int listens = tally_simulation_begin();
	spin(10000);
	tally_simulation_begin();
	pthread_create(&thread, 0, other, (void *)50000);
	pthread_join(thread, 0);
	tally_simulation_end();
	spin(20000);
	tally_simulation_end();
	spin(100000);
	printf("%d\\n", listens);
	if (argc > 1)
		tally_simulation_zero();
	spin(5000);
	return 0;
}
"""


def test_regions_limit_what_is_collected(simulator, compiled):
    program = compiled(REGIONS, '-O1', '-pthread', f'-I{ROOT / "include"}')
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == '0\n'
    counts = simulator.counts(['--collect-at-start=no'], [program])
    assert simulator.result.stdout == '1\n'
    # 6 instructions a turn, and what making a thread takes
    assert 6 * 80000 < counts['instructions'] < 6 * 80000 + 40000
    stream, = simulator.run(['--collect-at-start=no', '--sample=instructions:500'], [program])
    assert len(stream.samples) == stream.counts['instructions'] // 500
    everything = simulator.counts([], [program])['instructions']
    after_zero = simulator.counts([], [program, 'zero'])['instructions']
    assert 6 * 5000 < after_zero < 6 * 5000 + 20000 and everything > 6 * 186000


def test_region_numbers_are_those_of_the_stream(compiled):
    compiled("""#include <tally/simulation.h>
#include "simulator/stream.h"
_Static_assert(TALLY_SIMULATION_BEGIN == SIM_REQUEST_BEGIN && TALLY_SIMULATION_END == SIM_REQUEST_END, "");
_Static_assert(TALLY_SIMULATION_ZERO == SIM_REQUEST_ZERO && TALLY_SIMULATION_THREAD == SIM_SCOPE_THREAD, "");
_Static_assert((int)TALLY_SIMULATION_PROCESS == (int)SIM_SCOPE_PROCESS, "");
int main(void) { return 0; }""", f'-I{ROOT / "include"}', f'-I{ROOT}')


def test_library_regions_are_the_thread_s(simulator, compiled):
    library = BUILD / 'src' / 'libtally.so'
    if not library.exists():
        pytest.skip('the shared library is not built')
    program = compiled("""#include <pthread.h>
#include <tally/region.h>
static __attribute__((noinline)) void spin(long n) { for (volatile long i = 0; i < n; i++); }
static void *other(void *n) { spin((long)n); return 0; }
int main(void)
{
	struct tally_mark mark;
	pthread_t thread;
	tally_region_begin(NULL, &mark);
	pthread_create(&thread, 0, other, (void *)90000);
	pthread_join(thread, 0);
	spin(10000);
	tally_region_end(NULL, &mark, NULL, 0);
	spin(1000);
	return 0;
}""", '-O1', '-pthread', f'-I{ROOT / "include"}', str(library), f'-Wl,-rpath,{library.parent}')
    counts = simulator.counts(['--collect-at-start=no'], [program])
    assert 60000 < counts['instructions'] < 60000 + 30000


def test_toggle_collects_while_a_function_is_on_the_stack(simulator, compiled):
    # Each instruction is a sample: the program executes few of them, and none of the dynamic loader.
    program = compiled(FUNCTIONS, '-O0', '-static-pie', '-DROUNDS=20')
    names = symbols_of(program)
    whole, = simulator.run(['--sample=instructions:1'], [program])
    base = next(m for m in whole.mappings if m.file == program)
    at = {name: (start - base.offset + base.start, size) for name, (start, size) in names.items()}

    def inside(sample, *functions):
        return any(at[f][0] <= sample.ip < at[f][0] + at[f][1] for f in functions)
    assert simulator.counts(['--toggle=leaf'], [program])['instructions'] == sum(inside(s, 'leaf') for s in whole.samples)
    outer = sum(inside(s, 'leaf', 'middle', 'outer') for s in whole.samples)
    assert outer > 20 * 3 * 40
    assert simulator.counts(['--toggle=outer'], [program])['instructions'] == outer
    assert simulator.counts(['--toggle=[mo][iu][dt]*'], [program])['instructions'] == outer
    toggled, = simulator.run(['--toggle=outer', '--sample=instructions:1'], [program])
    assert len(toggled.samples) == outer
    assert simulator.counts(['--toggle=nothing'], [program])['instructions'] == 0


def test_toggle_ends_with_exceptions_and_longjmp(simulator, compiled):
    program = compiled("""#include <csetjmp>
static std::jmp_buf place;
static __attribute__((noinline)) void spin(long n) { for (volatile long i = 0; i < n; i++); }
__attribute__((noinline)) void thrower(int n) { spin(1000); if (n) throw n; }
__attribute__((noinline)) void jumper(int n) { spin(2000); if (n) std::longjmp(place, n); }
int main(int argc, char **)
{
	try { thrower(argc); } catch (int) { spin(100000); }
	if (!setjmp(place)) jumper(argc);
	spin(200000);
	return 0;
}""", '-O0', suffix='.cc', compiler='g++')
    jumper = simulator.counts(['--toggle=jumper'], [program])['instructions']
    assert 2000 * 5 < jumper < 2000 * 8 + 3000
    thrower = simulator.counts(['--toggle=thrower(int)'], [program])['instructions']
    assert 1000 * 5 < thrower < 100000 * 5
    assert simulator.counts(['--toggle=thrower'], [program])['instructions'] == thrower


@pytest.mark.parametrize('option, message', [
    ('--events=cycles', 'Name what to simulate'),
    ('--events=', 'Name what to simulate'),
    ('--i1=32768,8', 'SIZE,WAYS,LINE'),
    ('--i1=49152,8,64', 'power of two at this level'),
    ('--d1=32768,8,63', 'line size must be a power of two'),
    ('--ll=1000,8,64', 'multiple of WAYS'),
    ('--l2=32768,0,64', 'number of ways'),
    ('--dtlb=64,5,4096', 'multiple of WAYS'),
    ('--itlb=64,4,1000', 'page size'),
    ('--sample=cycles:100', 'no such event'),
    ('--sample=instructions', 'EVENT:PERIOD'),
    ('--sample=instructions:0', 'EVENT:PERIOD'),
    ('--sample=instructions:1e9', 'EVENT:PERIOD'),
    ('--sample=branch-misses:100', 'only with --events=branches'),
    ('--stack-bytes=12', 'multiple of 8'),
    ('--stack-bytes=65536', 'multiple of 8'),
    ('--toggle=', 'Name a function'),
    ('--collect-at-start=maybe', 'Invalid boolean value'),
    ('--streams=x', 'Unknown option'),
])
def test_bad_options_are_refused(simulator, option, message):
    simulator.run([option], ['true'])
    assert simulator.result.returncode == 1 and message in simulator.result.stderr, simulator.result.stderr


def test_folder_that_is_not_there_is_refused(simulator):
    command = simulator.command()
    for last, message in ((f'--stream-dir={simulator.folder}/none', 'cannot write a stream'), ('-q', 'Give a folder')):
        command[3] = last
        result = subprocess.run([*command, 'true'], env=simulator.environment, capture_output=True, text=True, check=False)
        assert result.returncode == 1 and message in result.stderr

