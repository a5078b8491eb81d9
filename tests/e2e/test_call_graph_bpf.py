# SPDX-License-Identifier: Apache-2.0
"""record --call-graph bpf: user stacks of code without frame pointers, walked in the kernel."""
import platform
import re
import shutil
import signal
import subprocess

import pytest
from conftest import bpf_programs, bpf_programs_of, compiled, has_open_events, wait_for, wait_for_work

pytestmark = pytest.mark.usefixtures('live')

PROGRAM = r'''
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEPT __attribute__((noinline, noipa))
static volatile unsigned long counter;
KEPT void burn(long n) { for (long i = 0; i < n; i++) counter += (unsigned long)i * 3; }
KEPT int recurse(int depth, long n)
{
	volatile char frame[200];
	frame[depth % 200] = 1;
	if (depth == 0)
		burn(n);
	int result = depth == 0 ? 0 : recurse(depth - 1, n);
	return result + frame[3] + 1;
}
KEPT void handler(int number) { burn(300000000); }
KEPT void raiser(void) { raise(SIGUSR1); counter++; }
static int map_over(struct dl_phdr_info *info, size_t size, void *context)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
			unsigned long at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			unsigned long page = at & ~4095ul, end = (at + info->dlpi_phdr[i].p_memsz + 4095) & ~4095ul;
			void *there = mmap((void *)page, end - page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			memset(there, 0x5a, end - page);
		}
	return 1; /* the program alone */
}
int main(int argc, char **argv)
{
	long n = atol(argv[2]);
	if (!strcmp(argv[1], "deep"))
		return recurse(100, n) == 0;
	if (!strcmp(argv[1], "deeper"))
		return recurse(300, n) == 0;
	if (!strcmp(argv[1], "signal")) {
		signal(SIGUSR1, handler);
		raiser();
	}
	if (!strcmp(argv[1], "over")) {
		dl_iterate_phdr(map_over, NULL);
		return recurse(10, n) == 0;
	}
	if (!strcmp(argv[1], "forks"))
		for (long i = 0; i < n; i++) {
			pid_t pid = fork();
			if (pid == 0) {
				recurse(5, 200000);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
	return 0;
}
'''
LONG = '400000000'  # turns of a loop: some tenths of a second


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    folder = tmp_path_factory.mktemp('stacks')
    (folder / 'stacks.c').write_text(PROGRAM)
    subprocess.run(['gcc', '-O2', '-fomit-frame-pointer', '-fno-optimize-sibling-calls', '-o', folder / 'stacks',
                    folder / 'stacks.c'], check=True)
    return folder / 'stacks'


@pytest.fixture
def record(tally, tmp_path):
    """record(OPTIONS, COMMAND): a recording with --call-graph bpf; skips where BPF programs are refused."""
    data = tmp_path / 'stacks.data'

    def run(*command, options=()):
        result = tally('record', '-e', 'cpu-clock', '--call-graph', 'bpf', *options, '-o', data, '--', *command)
        if result.returncode and 'BPF' in result.stderr:
            pytest.skip(f'BPF programs are refused here: {result.stderr.splitlines()[0]}')
        assert result.returncode == 0, result.stderr
        return data, result

    return run


def chains_of(program, data):
    """Of each sample the names of its frames, innermost first."""
    text = program('script', '-i', data, '-F', 'ip,sym', check=0).stdout
    return [re.findall(r'^\s+[0-9a-f]+ (\S+)', block, re.M) for block in text.split('\n\n') if block.strip()]


def whole(chains, wanted):
    return sum(chain[:len(wanted)] == wanted and '_start' in chain[-1] for chain in chains)


def test_deep_stacks_are_whole(tally, program, record):
    data, result = record(program, 'deep', LONG)
    chains = chains_of(tally, data)
    assert whole(chains, ['burn'] + ['recurse'] * 101 + ['main']) > len(chains) / 2, chains[-1]
    assert re.search(r'\[ stacks: \d+\.\d % complete', result.stderr)


# A function without a table is left by its frame pointer; the frames of its callers are found from the stack pointer then.
MIXED = r'''
#include <stdlib.h>
#define KEPT __attribute__((noinline, noipa))
static volatile unsigned long counter;
KEPT void burn(long n) { for (long i = 0; i < n; i++) counter += (unsigned long)i * 3; }
void by_frame_pointer(long n);
__asm__(".text\n.type by_frame_pointer, @function\n.globl by_frame_pointer\nby_frame_pointer:\n\tpush %rbp\n"
	"\tmov %rsp, %rbp\n\tsub $80, %rsp\n\tcall burn\n\tleave\n\tret\n.size by_frame_pointer, .-by_frame_pointer\n");
KEPT void inner(long n) { volatile char frame[200]; frame[0] = 1; by_frame_pointer(n); counter += (unsigned long)frame[0]; }
KEPT void outer(long n) { volatile char frame[1000]; frame[0] = 1; inner(n); counter += (unsigned long)frame[0]; }
int main(int argc, char **argv) { outer(atol(argv[1])); return 0; }
'''


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='assembly for x86-64')
def test_frames_by_frame_pointer_among_others(tally, record):
    program = compiled('mixed.c', MIXED, '-O2', '-fomit-frame-pointer', '-fno-optimize-sibling-calls')
    chains = chains_of(tally, record(program, LONG)[0])
    assert whole(chains, ['burn', 'by_frame_pointer', 'inner', 'outer', 'main']) > len(chains) / 2, chains[-1]


def test_a_stack_has_127_frames(tally, program, record):
    data, result = record(program, 'deeper', LONG)
    chains = chains_of(tally, data)
    assert sum(chain == ['burn'] + ['recurse'] * 126 for chain in chains) > len(chains) / 2, chains[-1]
    assert float(re.search(r'(\d+\.\d) % cut', result.stderr)[1]) > 50


def test_perf_reads_the_chains(tally, perf, newest_perf, program, record):
    data, _ = record(program, 'deep', LONG)
    ours = chains_of(tally, data)
    for other in perf, newest_perf:
        theirs = chains_of(other, data)
        assert len(theirs) == len(ours)
        assert whole(theirs, ['burn'] + ['recurse'] * 101 + ['main']) > len(theirs) / 2


def test_the_kernels_part_comes_first(tally, program, record):
    data, _ = record('dd', 'if=/dev/zero', 'of=/dev/null', 'bs=4M', 'count=3000')
    text = tally('script', '-i', data, '-F', 'ip', '--no-inline', check=0).stdout
    chains = [[int(word, 16) for word in block.split()] for block in text.split('\n\n') if block.strip()]
    both = [[address >> 63 for address in chain] for chain in chains]
    assert any(1 in sides and 0 in sides for sides in both)
    assert all(sides == sorted(sides, reverse=True) for sides in both)


def test_what_a_signal_interrupted(tally, program, record):
    data, _ = record(program, 'signal', '1')
    chains = [chain for chain in chains_of(tally, data) if chain[:2] and 'handler' in chain[:2]]
    assert chains and sum('raiser' in chain and 'main' in chain and '_start' in chain[-1] for chain in chains) > len(
        chains) / 2, chains[-1]


def test_a_program_that_maps_over_its_tables(tally, program, record):
    data, _ = record(program, 'over', LONG)
    chains = chains_of(tally, data)
    assert whole(chains, ['burn'] + ['recurse'] * 11 + ['main']) > len(chains) / 2


def test_many_forks(tally, program, record):
    data, result = record(program, 'forks', '1000')
    assert 'complete' in result.stderr
    assert any('recurse' in chain and '_start' in chain[-1] for chain in chains_of(tally, data) if chain)


def test_tracepoints_take_stack_dumps(tally, program, record):
    data, _ = record(program, 'forks', '20', options=('-e', 'sched:sched_process_fork'))
    text = tally('script', '-i', data, '-F', 'event,ip,sym', check=0).stdout
    forks = [block for block in text.split('\n\n') if 'sched_process_fork' in block]
    assert len(forks) >= 20 and sum('main' in block and '_start' in block for block in forks) > 10


def test_nothing_stays_of_a_killed_recorder(tally, program, record, tmp_path):
    record('true')  # skips where it is refused
    burner = subprocess.Popen([program, 'deep', '100000000000'])
    recorder = subprocess.Popen([tally.path, 'record', '-q', '-e', 'cpu-clock', '--call-graph', 'bpf', '-o',
                                 tmp_path / 'killed.data', '-p', str(burner.pid)])
    try:
        wait_for(lambda: has_open_events(recorder.pid) and bpf_programs_of(recorder.pid))
        wait_for_work(burner.pid, 0.2)
        programs = bpf_programs_of(recorder.pid)
        recorder.kill()
        recorder.wait()
        wait_for(lambda: not programs & bpf_programs())
    finally:
        recorder.kill()
        recorder.wait()
        burner.send_signal(signal.SIGKILL)
        burner.wait()
    tally('report', '-i', tmp_path / 'killed.data', '--stdio', check=0)


def test_auto_says_what_it_takes(tally, program, tmp_path):
    result = tally('record', '-e', 'cpu-clock', '--call-graph', 'auto', '-o', tmp_path / 'auto.data', '--', program, 'deep',
                   '1000000', check=0)
    assert re.search(r'call graphs are unwound (in the kernel \(--call-graph bpf\)|from stack dumps)', result.stderr)
    result = tally('record', '-e', 'cpu-clock', '--call-graph', 'auto', '--threads', '-o', tmp_path / 'fp.data', '--',
                   program, 'deep', '1000000', check=0)
    assert 'call graphs are by frame pointer (--call-graph fp): --threads leaves no way to unwind' in result.stderr


def test_flamegraph_takes_auto(tally, program, tmp_path):
    """The status is the program's, which depends on what its stack had in it."""
    lines = tmp_path / 'lines'
    drawn = tally('flamegraph', '-e', 'cpu-clock', '--folded', '-o', lines, '--', program, 'deep', '300000000', check=None)
    assert re.search(r'call graphs are unwound (in the kernel \(--call-graph bpf\)|from stack dumps)', drawn.stderr)
    assert any(line.count(';recurse') == 101 and ';main;' in line for line in lines.read_text().splitlines())
    drawn = tally('flamegraph', '-e', 'cpu-clock', '--call-graph', 'fp', '--folded', '-o', lines, '--', program, 'deep', '300000000',
                  check=None)
    assert 'call graphs are' not in drawn.stderr
    assert not any(line.count(';recurse') == 101 for line in lines.read_text().splitlines())
    refused = tally('flamegraph', '--call-graph', 'fp', tmp_path / 'perf.data')
    assert refused.returncode == 129 and '--call-graph says how to record' in refused.stderr


@pytest.mark.parametrize('options', [['--per-thread'], ['--threads'], ['--overwrite']])
def test_refusals(tally, options, tmp_path):
    result = tally('record', '--call-graph', 'bpf', *options, '-o', tmp_path / 'x', '--', 'true')
    assert result.returncode and f'--call-graph bpf and {options[0]} cannot be used together' in result.stderr


def test_without_rights(tally, tmp_path):
    if not shutil.which('setpriv'):
        pytest.skip('setpriv is not installed')
    copy = tmp_path / 'tally'
    shutil.copy(tally.path, copy)
    tmp_path.chmod(0o777)
    result = subprocess.run(['setpriv', '--bounding-set', '-all', '--inh-caps', '-all', copy, 'record', '--call-graph', 'bpf',
                             '-o', tmp_path / 'x.data', '--', 'true'], text=True, capture_output=True, check=False)
    assert result.returncode and '--call-graph bpf' in result.stderr
    assert 'needs CAP_BPF and CAP_PERFMON' in result.stderr or 'lacks' in result.stderr


SPACE = r'''
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	void *first = NULL;
	for (int i = 0; i < 6; i++) { /* one library where the other one was */
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
		void (*work)(long) = (void (*)(long))dlsym(library, "work");
		if (i == 0)
			first = (void *)work;
		work(atol(argv[3]));
		fprintf(stderr, "%s", (void *)work == first ? "" : "moved\n");
		dlclose(library);
	}
	return 0;
}
'''
LIBRARY = r'''
static volatile unsigned long counter;
__attribute__((noinline, noipa)) static void NAME(long n, volatile char *frame)
{
	volatile char own[SIZE];
	for (long i = 0; i < n; i++)
		counter += own[i % SIZE] = frame[i % SIZE] + (char)i;
}
__attribute__((noinline, noipa)) void work(long n)
{
	volatile char frame[SIZE] = {0};
	NAME(n, frame);
	counter++;
}
'''


def test_code_that_is_mapped_where_other_code_was(tally, tmp_path, record):
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    (tmp_path / 'space.c').write_text(SPACE)
    (tmp_path / 'library.c').write_text(LIBRARY)
    options = ['gcc', '-O2', '-fomit-frame-pointer', '-fno-optimize-sibling-calls']
    for name, size in ('small', 40), ('large', 4000):
        subprocess.run([*options, f'-DNAME={name}', f'-DSIZE={size}', '-fPIC', '-shared', '-o', tmp_path / f'{name}.so',
                        tmp_path / 'library.c'], check=True)
    subprocess.run([*options, '-o', tmp_path / 'space', tmp_path / 'space.c', '-ldl'], check=True)
    data, _ = record(tmp_path / 'space', tmp_path / 'small.so', tmp_path / 'large.so', '30000000')
    chains = chains_of(tally, data)
    for name in 'small', 'large':
        found = [chain for chain in chains if chain[0] == name]
        # The first samples of a library may come before its unwind table has been made.
        assert found and whole(found, [name, 'work', 'main']) > len(found) * 0.8, (name, len(found), found[-1])
