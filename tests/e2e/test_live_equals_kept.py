# SPDX-License-Identifier: Apache-2.0
"""record --call-graph dwarf unwinds while it records; with --keep-stacks, report does it later. Both know the same: the
same stacks, as often, of every kind of program that is hard to unwind."""
import collections
import os
import pathlib
import platform
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.usefixtures('live')

CALLS = r'''
#define N __attribute__((noinline))
volatile long sink;
N long burn(long n) { volatile long i; for (i = 0; i < n; i++); sink += i; return i + 1; }
N long low(long n) { long k = burn(n); sink ^= k; return k + 3; }
N long mid(long n) { char b[300]; b[n % 300] = 1; long k = low(n); sink ^= k + b[5]; return k + 2; }
N long high(long n) { long k = mid(n); sink ^= k; return k + 1; }
int main(void) { for (int i = 0; i < 30; i++) high(6000000); return 0; }
'''
SIGNALS = r'''
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
volatile long sink;
__attribute__((noinline)) long burn(long n) { volatile long i; for (i = 0; i < n; i++); sink += i; return i + 1; }
void on_signal(int s) { burn(6000000); sink += s; }
__attribute__((noinline)) void raiser(void) { raise(SIGUSR1); sink += 2; }
__attribute__((noinline)) void faulter(void) { burn(1); __asm__ volatile("ud2"); sink += 3; }
void on_fault(int s, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	burn(6000000);
	c->uc_mcontext.gregs[IP] += 2;
	sink += s + (info != 0);
}
int main(void)
{
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
#ifdef ALTERNATE
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigaltstack(&stack, 0);
	fault.sa_flags |= SA_ONSTACK;
#endif
	signal(SIGUSR1, on_signal);
	sigaction(SIGILL, &fault, 0);
	for (int i = 0; i < 15; i++) { raiser(); faulter(); }
	return 0;
}
'''


class Bench:
    """Builds programs in a folder of their own, and records them in both ways."""
    def __init__(self, tally, folder):
        self.tally, self.folder = tally, folder

    def build(self, source, *flags, name='program', compiler='gcc'):
        path = self.folder / name
        source_path = self.folder / (name + ('.c' if compiler == 'gcc' else '.cc'))
        source_path.write_text(source)
        done = subprocess.run([compiler, *flags, source_path, '-o', path], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f'{compiler} {" ".join(flags)} does not work here: {done.stderr[:200]}')
        return path

    def stacks(self, *command, options=()):
        """Of each sample the names, innermost first."""
        data = self.folder / 'data'
        self.tally('record', '-q', '-e', 'cpu-clock:u', '-F', '1000', '--call-graph', 'dwarf', *options, '-o', data, '--',
                   *command)
        text = self.tally('script', '-i', data, '-F', 'ip,sym', '--no-inline').stdout
        found = []
        for block in text.split('\n\n'):
            words = [line.split(None, 1) for line in block.splitlines() if line.strip()]
            if words:
                found.append(tuple(w[1] if len(w) > 1 else '' for w in words))
        return found

    def compare(self, *command, leaf='burn', options=()):
        """The stacks of the leaf that make up a twentieth, by share."""
        result = []
        for more in ((), ('--keep-stacks',)):
            found = [s for s in self.stacks(*command, options=(*options, *more)) if leaf in s[0]]
            assert len(found) >= 40, (more, len(found))
            shares = {s: n / len(found) for s, n in collections.Counter(found).items() if n * 20 > len(found)}
            result.append(shares)
        live, kept = result
        assert set(live) == set(kept)
        for stack, share in live.items():
            assert abs(share - kept[stack]) < 0.15, (stack, share, kept[stack])
        return set(live)


@pytest.fixture
def bench(tally, tmp_path):
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    return Bench(tally, tmp_path)


def ends_in(found, *path):
    """All of these stacks go from their innermost function through these, and to the start of the program."""
    assert found
    for stack in found:
        assert stack[:len(path)] == path and stack[-1] == '_start', stack


OUTER = ('burn', 'low', 'mid', 'high', 'main')


@pytest.mark.parametrize('flags', [
    ('-fomit-frame-pointer',), ('-fno-omit-frame-pointer',), ('-m32', '-fomit-frame-pointer'),
    ('-m32', '-fno-omit-frame-pointer'), ('-static',), ('-static', '-m32')], ids=' '.join)
def test_calls(bench, flags):
    if '-m32' in flags and platform.machine() != 'x86_64':
        pytest.skip('x86_64 only')
    ends_in(bench.compare(bench.build(CALLS, '-O1', '-g', *flags)), *OUTER)


@pytest.mark.parametrize('where', ['program', 'debug file', 'packed debug file', 'mini debug information'])
@pytest.mark.parametrize('bits', [(), ('-m32',)], ids=['native', '32 bits'])
def test_call_frame_information_of_a_part_elsewhere(bench, where, bits):
    """The start files have .eh_frame; all else has .debug_frame only."""
    program = bench.build(CALLS, '-O1', '-g', '-fomit-frame-pointer', '-fno-asynchronous-unwind-tables',
                          '-fno-exceptions', *bits)
    debug, folder = bench.folder / 'program.debug', bench.folder
    if where != 'program':
        subprocess.run(['objcopy', '--only-keep-debug', program, debug], check=True)
        subprocess.run(['strip', program], check=True)
    if where == 'packed debug file':
        subprocess.run(['objcopy', '--compress-debug-sections=zlib', debug], check=True)
    if 'debug file' in where:
        subprocess.run(['objcopy', f'--add-gnu-debuglink={debug}', program], check=True)
    if where == 'mini debug information':
        if not shutil.which('xz'):
            pytest.skip('xz is not installed')
        subprocess.run(['objcopy', '-R', '.debug_info', '-R', '.debug_line', debug], check=True)
        subprocess.run(['xz', '-k', debug], check=True)
        subprocess.run(['objcopy', '--add-section', f'.gnu_debugdata={debug}.xz', program], check=True)
        debug.unlink()
    ends_in(bench.compare(program), *OUTER)
    assert folder.exists()


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='x86_64 only')
@pytest.mark.parametrize('bits', [(), ('-m32',)], ids=['native', '32 bits'])
def test_signals(bench, bits):
    ip = 'REG_EIP' if bits else 'REG_RIP'
    found = bench.compare(bench.build(SIGNALS, '-O1', '-g', '-fomit-frame-pointer', f'-DIP={ip}', *bits))
    assert len(found) == 2
    for stack in found:
        handler = stack[1]
        assert handler in ('on_signal', 'on_fault') and stack[-1] == '_start', stack
        # What a handler returns to, and what was interrupted: not what comes before either.
        assert stack[2] in ('__restore_rt', '__kernel_rt_sigreturn', '__kernel_sigreturn'), stack
        assert stack[3] == 'faulter' if handler == 'on_fault' else 'raiser' in stack, stack
        assert bits or stack[2] == '__restore_rt', stack


# Generates functions one after the other, each of which calls what it is told to; says so in jit-PID.dump before it runs
# them. COUNT: how many; the memory of some is used again. Built with -DFORKS, a child goes on with its parent's.
GENERATED = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
/* sub $8 + pad, %rsp; call *%rsi; add, ret: frames of two sizes */
static const uint8_t code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd6, 0x48, 0x83, 0xc4, 8, 0xc3};
static const uint8_t frames[] = {20,0,0,0, 0,0,0,0, 1,'z','R',0, 1,0x78,16,1, 0x1b,0x0c,7,8, 0x90,1,0,0,
	20,0,0,0, 28,0,0,0, 0xd0,0xff,0xff,0xff, 11,0,0,0, 0,0x44,0x0e,16, 0x46,0x0e,8,0, 0,0,0,0,
	1,0x1b,3,0x3b, 0xc8,0xff,0xff,0xff, 1,0,0,0, 0xbc,0xff,0xff,0xff, 0xe4,0xff,0xff,0xff};
#define FRAME_AT 43 /* the CFA behind the first instruction */
volatile long sink;
__attribute__((noinline)) void burn(long n) { for (volatile long i = 0; i < n; i++); sink++; }
__attribute__((noinline)) void drive(void *f, long n) { ((void (*)(long, void *))f)(n, (void *)burn); sink++; }
static FILE *f;
static void put(void *at, int number)
{
	uint8_t mine[sizeof(code)], described[sizeof(frames)];
	memcpy(mine, code, sizeof(code));
	memcpy(described, frames, sizeof(frames));
	mine[3] = mine[9] = number % 2 ? 24 : 8;
	described[FRAME_AT] = number % 2 ? 32 : 16;
	memcpy(at, mine, sizeof(mine));
	struct { uint32_t id, size; uint64_t time, unwind, header, mapped; } u = {
		4, 40 + sizeof(frames), now(), sizeof(frames), 20, sizeof(frames)};
	fwrite(&u, sizeof(u), 1, f);
	fwrite(described, sizeof(described), 1, f);
	struct { uint32_t id, size; uint64_t time; uint32_t pid, tid; uint64_t vma, addr, len, index; } c = {
		0, 56 + 9 + sizeof(code), now(), getpid(), getpid(), (long)at, (long)at, sizeof(code), number};
	fwrite(&c, sizeof(c), 1, f);
	fwrite("jit_step", 9, 1, f);
	fwrite(mine, sizeof(mine), 1, f);
	fflush(f);
}
int main(void)
{
	char name[64];
	sprintf(name, "jit-%d.dump", getpid());
	int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0666);
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	f = fdopen(fd, "w");
	char *page = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } h = {
		0x4A695444, 1, 40, MACHINE, 0, getpid(), now(), 0};
	fwrite(&h, sizeof(h), 1, f);
	for (int i = 0; i < 30; i++) {
		char *at = page + i % 20 * 64;
		put(at, i % 2 ? i : i + i / 20);
#ifdef FORKS
		if (fork() == 0) { drive(at, 6000000); _exit(0); }
		wait(0);
#endif
		drive(at, 6000000);
	}
	return 0;
}
'''


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='x86_64 only')
@pytest.mark.parametrize('flags', [('-DMACHINE=62',), ('-DMACHINE=0',), ('-DMACHINE=65535',), ('-DMACHINE=62', '-DFORKS')],
                         ids=' '.join)
def test_generated_code(bench, monkeypatch, flags):
    monkeypatch.chdir(bench.folder)
    program = bench.build(GENERATED, '-O1', '-g', '-fomit-frame-pointer', *flags)
    ends_in(bench.compare(program, options=('-k', 'mono')), 'burn', 'jit_step', 'drive', 'main')


HOT = '''
function burn(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s }
function middle(n) { return burn(n) + 1 }
function outer(n) { return middle(n) + 1 }
let sum = 0; for (let i = 0; i < 4000; i++) sum += outer(100000)
'''


def test_node(bench, monkeypatch):
    if not shutil.which('node'):
        pytest.skip('node is not installed')
    monkeypatch.chdir(bench.folder)
    (bench.folder / 'hot.js').write_text(HOT)
    for more in ((), ('--keep-stacks',)):  # how its tiers follow each other differs from run to run
        found = [s for s in bench.stacks('node', '--perf-prof', '--perf-prof-unwinding-info', 'hot.js',
                                         options=('-k', 'mono', *more)) if 'burn' in s[0]]
        whole = [s for s in found if s[-1] == '_start' and len(s) > 10]
        assert len(found) >= 40 and len(whole) * 100 >= len(found) * 95, (more, len(whole), len(found))


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='x86_64 only')
def test_signals_on_a_stack_of_their_own(bench):
    """The copy is of the handler's stack: kept, what was interrupted is the last; live, frame pointers lead on."""
    program = bench.build(SIGNALS, '-O1', '-g', '-fno-omit-frame-pointer', '-DIP=REG_RIP', '-DALTERNATE')
    for options, wanted in (((), ('faulter', 'main')), (('--keep-stacks',), ('faulter',))):  # libc has no frame pointers
        found = [s for s in bench.stacks(program, options=options) if s[:2] == ('burn', 'on_fault')]
        assert len(found) >= 20
        good = [s for s in found if s[2:5] == ('__restore_rt', *wanted)]
        assert len(good) * 10 > len(found) * 9, (options, collections.Counter(found).most_common(3))


SWITCHES = r"""
#include <stdlib.h>
volatile long sink;
__attribute__((noinline)) void burn(long n) { volatile long i; for (i = 0; i < n; i++); sink += i; }
__attribute__((noinline)) void inner(void) { burn(6000000); sink++; }
__attribute__((noinline)) void work(void) { inner(); sink++; }
/* Runs work on the stack at rdi, with frame pointers, as runtime.systemstack does; nothing says where the old stack is. */
__asm__(".globl elsewhere\nelsewhere: push %rbp; mov %rsp, %rbp; push %rbx; mov %rsp, %rbx; mov %rdi, %rsp; call work;"
	" mov %rbx, %rsp; pop %rbx; pop %rbp; ret");
void elsewhere(char *top);
__attribute__((noinline)) void outer(char *top) { elsewhere(top); sink++; }
int main(void)
{
	char *stack = malloc(1 << 16);
	for (int i = 0; i < 30; i++) outer(stack + (1 << 16) - 64);
	return 0;
}
"""


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='x86_64 only')
def test_code_that_switches_stacks(bench):
    """Frame pointers lead to the other stack, of which the sample has no copy."""
    program = bench.build(SWITCHES, '-O1', '-g', '-fno-omit-frame-pointer')
    found = [s for s in bench.stacks(program) if s[0] == 'burn']
    assert len(found) >= 40
    good = [s for s in found if s[:6] == ('burn', 'inner', 'work', 'elsewhere', 'outer', 'main')]
    assert len(good) * 10 > len(found) * 9, collections.Counter(found).most_common(3)


GO = """
package main

import ("fmt"; "time")

type row struct { a []int; b map[string]string }

//go:noinline
func fill(n int) (r []row) {
	for i := 0; i < n; i++ { r = append(r, row{make([]int, 64), map[string]string{"k": fmt.Sprint(i), "v": "x"}}) }
	return
}

func main() {
	done, t := make(chan int), time.Now()
	go func() { n := 0; for time.Since(t) < 2*time.Second { n += len(fill(4000)) }; done <- n }()
	<-done
}
"""


def test_go_on_its_system_stack(bench):
    """The callers of what the runtime does for a goroutine on another stack are there, as frame pointers alone have them."""
    if not shutil.which('go'):
        pytest.skip('go is not installed')
    (bench.folder / 'm.go').write_text(GO)
    environment = {**os.environ, 'GO111MODULE': 'off', 'HOME': str(bench.folder)}
    subprocess.run(['go', 'build', '-o', 'm', 'm.go'], cwd=bench.folder, env=environment, check=True)
    found = [s for s in bench.stacks(bench.folder / 'm') if 'runtime.systemstack.abi0' in s or 'runtime.systemstack' in s]
    if len(found) < 40:
        pytest.skip('this Go does little on its system stack')
    # Its own threads begin there: mstart, mcall.
    good = [s for s in found if any(name.startswith(('runtime.goexit', 'runtime.mstart', 'runtime.mcall')) for name in s)]
    assert len(good) * 100 > len(found) * 85, collections.Counter(s[-2:] for s in found).most_common(5)


CLOCK = """
#include <time.h>
int main(void) { struct timespec t; long s = 0; for (int i = 0; i < 4000000; i++) { clock_gettime(CLOCK_MONOTONIC, &t); s += t.tv_nsec; } return s * 0; }
"""


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='x86_64 only')
def test_the_vdso_of_32_bits(bench):
    """Has names of its own, which no verb takes from the 64-bit one, and a build ID of its own."""
    cache = pathlib.Path(bench.tally.environment['HOME']) / '.debug'
    small, wide = (bench.build(CLOCK, '-O1', *flags, name=name) for flags, name in ((('-m32',), 'small'), ((), 'wide')))
    for options in ((), ('--call-graph', 'dwarf'), ('--call-graph', 'dwarf', '--keep-stacks')):
        data = bench.folder / 'data'
        bench.tally('record', '-q', '-e', 'cpu-clock:u', '-F', '1000', *options, '-o', data, '--',
                    'sh', '-c', f'{small}; {wide}')
        rows = bench.tally('report', '--stdio', '-i', data, '--no-children', '-g', 'none', '-s', 'comm,dso,sym').stdout
        found = {}  # the function that most is in: not all of the vdso's have names
        for line in rows.splitlines():
            if 'vdso' in line:
                found.setdefault(tuple(line.split()[1:3]), line.split()[-1])
        if not any(key[0] == 'small' for key in found):
            pytest.skip('no sample in the vdso')
        if found[('small', '[vdso32]')].startswith('0x'):
            pytest.skip('this kernel gives no 32-bit vdso')
        assert 'clock_gettime' in found[('small', '[vdso32]')] and ('small', '[vdso]') not in found
        assert 'clock_gettime' in found[('wide', '[vdso]')] and ('wide', '[vdso32]') not in found
        lines = bench.tally('script', '-i', data, '-F', 'comm,ip,sym,dso').stdout.splitlines()
        assert not [line for line in lines if '[vdso' in line and 'getrandom' in line]
        ids = dict(reversed(line.split()) for line in bench.tally('buildid-list', '-i', data).stdout.splitlines())
        assert ids['[vdso]'] != ids['[vdso32]']
        assert (cache / '[vdso32]' / ids['[vdso32]'] / 'vdso').exists()
    listing = bench.tally('annotate', '--stdio', '-i', data, found[('small', '[vdso32]')]).stdout
    assert '%e' in listing and '%r' not in listing  # registers of 32 bits
