# SPDX-License-Identifier: Apache-2.0
"""pack: a recording that names everything in a root with nothing in it, with the bytes that it gives at home."""
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess

import pytest

from conftest import NEWEST_PERF, TIMEOUT_S, compiled
import perfdata_build
from test_inline import build
from test_jit import container, hot, node, remove_maps  # pylint: disable=unused-import

FIELDS = 'comm,ip,sym,symoff,dso,srcline'
VIEWS = [
    ['report', '--stdio'],
    ['report', '--stdio', '--children', '-g', '-s', 'comm,dso,sym'],
    ['report', '--stdio', '--no-children', '-g', 'address', '-s', 'sym'],
    ['report', '--stdio', '--no-children', '-s', 'srcline,sym,dso'],
    ['report', '--json'],
    ['script'],
    ['script', '-F', FIELDS],
]
LISTINGS = [['annotate', '--stdio'], ['annotate', '--stdio2'], ['annotate', '--stdio', '-l'], ['annotate', '--json'],
            ['annotate', '--stdio', '-M', 'intel']]


class Root:
    """A root with the program under test, the libraries that it needs, and nothing else."""

    def __init__(self, folder, program):
        listed = subprocess.run(['ldd', program], capture_output=True, text=True, check=False).stdout
        libraries = re.findall(r'(/\S+)', listed)
        loader = [path for path in libraries if '/ld-' in path or '/ld64' in path]
        if os.geteuid() != 0 or not shutil.which('chroot') or not loader:
            pytest.skip('needs root, chroot and ldd')
        # The program loads it by name.
        known = subprocess.run(['/sbin/ldconfig', '-p'], capture_output=True, text=True, check=False).stdout
        libraries += re.findall(r'libcapstone\.so\.\d+ .*=> (\S+)', known)
        self.folder = folder
        (folder / 't').mkdir(parents=True)
        for path in [program, *libraries]:
            shutil.copy(path, folder / 't')
        self.start = ['chroot', folder, f'/t/{pathlib.Path(loader[0]).name}', '--library-path', '/t',
                      f'/t/{program.name}']

    def __call__(self, *arguments, data):
        shutil.copy(data, self.folder / 'in.data')
        environment = {'PATH': os.environ['PATH'], 'HOME': '/nowhere', 'LC_ALL': 'C', 'TZ': 'UTC', 'COLUMNS': '80',
                       'TERM': 'dumb'}
        return subprocess.run([*self.start, *arguments, '-i', 'in.data'], capture_output=True, text=True,
                              errors='replace', env=environment, cwd='/', timeout=TIMEOUT_S, check=False)


@pytest.fixture
def elsewhere(tmp_path, tally):
    return Root(tmp_path / 'root', tally.path)


@pytest.fixture
def recorded(tmp_path, live, tally):
    """A folder with in.data, of a program with inlined calls that lies in it; the kernel's part too where that is allowed."""
    program = build(tmp_path, '-g')
    tally('record', '-q', '-g', '-e', 'cpu-clock', '-F', 2000, '-o', tmp_path / 'in.data', program, check=0)
    return tmp_path


def seen(result):
    return result.returncode, result.stdout, result.stderr


def test_same_bytes_in_an_empty_root(recorded, tally, elsewhere):
    at_home = [seen(tally(*view, '-i', 'in.data', cwd=recorded)) for view in VIEWS]
    bare = elsewhere('report', '--stdio', data=recorded / 'in.data')
    result = tally('pack', 'in.data', cwd=recorded, check=0)
    assert re.search(r'\[ tally pack: \d+ symbols and \d+ source lines of \d+ files', result.stderr)
    (recorded / 'program').rename(recorded / 'moved')
    for view, expected in zip(VIEWS, at_home):
        assert expected[0] == 0
        assert seen(elsewhere(*view, data=recorded / 'in.data')) == expected, view
        assert seen(tally(*view, '-i', 'in.data', cwd=recorded)) == expected, view
    assert 'outer' in at_home[0][1] and 'outer' not in bare.stdout
    assert '(inlined)' in at_home[1][1] and re.search(r'program\.c:\d+', at_home[3][1])


def test_code_of_what_was_hit(recorded, tally, elsewhere):
    (recorded / 'program.c').unlink()
    at_home = [seen(tally(*view, '-s', 'outer', '-i', 'in.data', cwd=recorded)) for view in LISTINGS]
    result = tally('pack', 'in.data', cwd=recorded, check=0)
    assert re.search(r'code of [1-9]\d* functions', result.stderr)
    (recorded / 'program').rename(recorded / 'moved')
    for view, expected in zip(LISTINGS, at_home):
        assert 'imul' in expected[1] and expected[0] == 0
        assert seen(elsewhere(*view, '-s', 'outer', data=recorded / 'in.data')) == expected, view


def test_code_of_what_has_no_name(recorded, tally, elsewhere):
    """Of a stripped program, whose samples lie near and far from each other, the instructions that they hit."""
    if not shutil.which('strip'):
        pytest.skip('strip is not installed')
    subprocess.run(['strip', 'program'], cwd=recorded, check=True)
    tally('record', '-q', '-B', '-e', 'cpu-clock:u', '-F', 2000, '-o', 'stripped.data', './program', cwd=recorded, check=0)
    view = ['script', '-F', 'ip,sym,dso,insn,insnlen,disasm']
    expected = seen(tally(*view, '-i', 'stripped.data', cwd=recorded))
    assert re.search(r'\[unknown\] \(\S*/program\) ilen: \d+ insn: ', expected[1])
    tally('pack', '-q', 'stripped.data', cwd=recorded, check=0)
    assert seen(elsewhere(*view, data=recorded / 'stripped.data')) == expected


def test_output_and_packing_twice(recorded, tally, elsewhere):
    before = (recorded / 'in.data').read_bytes()
    tally('pack', '-q', '-o', 'once.data', 'in.data', cwd=recorded, check=0)
    assert (recorded / 'in.data').read_bytes() == before
    (recorded / 'program').rename(recorded / 'moved')
    tally('pack', '-q', '-o', 'twice.data', 'once.data', cwd=recorded, check=0)
    assert (recorded / 'twice.data').read_bytes() == (recorded / 'once.data').read_bytes()
    assert 'outer' in elsewhere('report', '--stdio', data=recorded / 'twice.data').stdout


def test_the_recording_may_be_named_by_an_option(recorded, tally):
    (recorded / 'named.data').write_bytes((recorded / 'in.data').read_bytes())
    for arguments in (('-o', 'word.data', 'in.data'), ('-i', 'in.data', '-o', 'option.data'), ('-i', 'named.data')):
        assert '[ tally pack: ' in tally('pack', *arguments, cwd=recorded, check=0).stderr
    packed = (recorded / 'word.data').read_bytes()
    assert (recorded / 'option.data').read_bytes() == (recorded / 'named.data').read_bytes() == packed
    assert 'pack takes one recording' in tally('pack', '-i', 'in.data', 'named.data', cwd=recorded, check=None).stderr


@pytest.mark.parametrize('verb', [['report', '--stdio'], ['script'], ['evlist', '-v'], ['buildid-list']],
                         ids=lambda verb: verb[0])
def test_perf_reads_it_as_before(recorded, tally, perf, verb):
    shutil.copy(recorded / 'in.data', recorded / 'plain.data')
    tally('pack', '-q', '-o', 'packed.data', 'in.data', cwd=recorded, check=0)
    for program in [perf.path, *([NEWEST_PERF] if NEWEST_PERF else [])]:
        shown = []
        for name in ('plain.data', 'packed.data'):
            shutil.copy(recorded / name, recorded / 'in.data')
            result = subprocess.run([program, *verb, '-i', 'in.data'], cwd=recorded, env=perf.environment, text=True,
                                    capture_output=True, errors='replace', timeout=TIMEOUT_S, check=False)
            lines = [line for line in result.stdout.splitlines() if not line.startswith('# (')]
            shown.append((result.returncode, lines, result.stderr))
        assert shown[0] == shown[1]


def test_damage_is_told_and_costs_the_names_only(recorded, tally, elsewhere):
    tally('pack', '-q', 'in.data', cwd=recorded, check=0)
    data = bytearray((recorded / 'in.data').read_bytes())
    data[data.index(b'TALLYPCK') + 60] ^= 1
    (recorded / 'in.data').write_bytes(data)
    result = elsewhere('report', '--stdio', data=recorded / 'in.data')
    assert result.returncode == 0
    assert 'cannot be used: its checksum is wrong' in result.stderr
    assert 'outer' not in result.stdout


def test_of_a_cut_recording_what_comes_before(recorded, tally, elsewhere):
    """Into another file: in place what lies behind would be lost."""
    whole = (recorded / 'in.data').read_bytes()
    offset, size = struct.unpack_from('<QQ', whole, 40)
    cut = whole[:offset + size - 3]
    (recorded / 'cut.data').write_bytes(cut)
    expected = tally('script', '-i', 'cut.data', cwd=recorded, check=255)
    refused = tally('pack', 'cut.data', cwd=recorded, check=255)
    assert 'at offset 0x' in refused.stderr and '-o FILE' in refused.stderr
    assert (recorded / 'cut.data').read_bytes() == cut
    told = tally('pack', '-o', 'packed.data', 'cut.data', cwd=recorded, check=255).stderr
    assert '[ tally pack: ' in told and re.search(r'left at offset 0x[0-9a-f]+$', told.strip())
    (recorded / 'program').rename(recorded / 'moved')
    result = elsewhere('script', data=recorded / 'packed.data')
    assert result.returncode == 0 and 'outer' in result.stdout and result.stdout == expected.stdout


def test_record_packs_at_the_end(recorded, tally, elsewhere):
    result = tally('record', '--self-contained', '-g', '-e', 'cpu-clock:u', '-o', 'own.data', './program', cwd=recorded,
                   check=0)
    assert 'tally pack: ' in result.stderr
    shutil.copy(recorded / 'own.data', recorded / 'in.data')
    expected = seen(tally(*VIEWS[1], '-i', 'in.data', cwd=recorded))
    assert 'outer' in expected[1]
    assert seen(elsewhere(*VIEWS[1], data=recorded / 'own.data')) == expected
    for option in (['--threads'], ['--switch-output'], ['-o', '-'], ['--call-graph', 'dwarf', '--keep-stacks']):
        refused = tally('record', '--self-contained', '-o', 'other.data', *option, './program', cwd=recorded)
        assert refused.returncode and 'not supported yet' in refused.stderr


def test_the_section_has_a_name(recorded, tally):
    tally('pack', '-q', 'in.data', cwd=recorded, check=0)
    assert '# tally feature PACK: ' in tally('report', '--header-only', '-i', 'in.data', cwd=recorded).stdout
    assert 'unknown features' not in tally('health', 'in.data', cwd=recorded).stdout


def test_user_named_files_go_first(recorded, tally):
    tally('pack', '-q', 'in.data', cwd=recorded, check=0)
    (recorded / 'list').write_text('ffffffff81000000 T _text\nffffffff81000001 T all_of_it\n')
    result = tally('report', '--stdio', '-v', '--kallsyms', 'list', '-i', 'in.data', cwd=recorded, check=0)
    assert 'outer' in result.stdout


@pytest.fixture
def stacks(tmp_path, live, perf, workload):
    """A folder with in.data, whose samples have registers and stack dumps, and the program."""
    shutil.copy(workload('deep').path, tmp_path / 'program')
    result = perf('record', '-q', '-e', 'cpu-clock:u', '-F', '499', '--call-graph', 'dwarf', '-o', tmp_path / 'in.data', '--',
                  tmp_path / 'program', '300')
    if result.returncode:
        pytest.skip('perf record fails here')
    return tmp_path


STACK_VIEWS = [VIEWS[0], VIEWS[1], VIEWS[2], VIEWS[3], ['script'], ['script', '-F', FIELDS + ',uregs']]


def test_copies_of_stacks_become_call_chains(stacks, tally, perf, elsewhere):
    """The same text without any program; other tools have call chains, which they had to unwind before."""
    at_home = [tally(*view, '-i', 'in.data', cwd=stacks, check=0).stdout for view in STACK_VIEWS]
    size = (stacks / 'in.data').stat().st_size
    told = tally('pack', 'in.data', cwd=stacks, check=0).stderr
    assert re.search(r'call chains in place of [1-9]\d* stack dumps', told)
    assert (stacks / 'in.data').stat().st_size < size / 2
    (stacks / 'program').rename(stacks / 'moved')
    for view, expected in zip(STACK_VIEWS, at_home):
        assert elsewhere(*view, data=stacks / 'in.data').stdout == expected, view
    chains = re.findall(r'^\S.*\n((?:\t.*\n)+)', at_home[4], re.M)
    assert max(len(chain.splitlines()) for chain in chains) > 10
    (stacks / 'moved').rename(stacks / 'program')
    def names(text):
        return re.findall(r'^\s+[0-9a-f]+ (\w+)', text, re.M)

    ours = names(tally('script', '-F', 'ip,sym', '--no-inline', '-i', 'in.data', cwd=stacks, check=0).stdout)
    for program in [perf.path, *([NEWEST_PERF] if NEWEST_PERF else [])]:
        theirs = subprocess.run([program, 'script', '-F', 'ip,sym', '--no-inline', '-i', 'in.data'], cwd=stacks, text=True,
                                env=perf.environment, capture_output=True, timeout=TIMEOUT_S, check=False).stdout
        assert set(names(theirs)) == set(ours) and len(names(theirs)) > len(ours) / 2 > 500


def test_absent_split_debug_information_is_still_said(tmp_path, tally, live):
    (tmp_path / 'w.c').write_text('static inline long step(long i) { return i * 3; }\n'
                                  'int main(void) { volatile long s = 0; for (long i = 0; i < 50000000; i++) s += step(i); }\n')
    subprocess.run(['gcc', '-O1', '-g', '-gsplit-dwarf', '-o', 'w', 'w.c'], cwd=tmp_path, check=True)
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', '500', '-o', 'in.data', './w', cwd=tmp_path, check=0)

    def said(*words):
        return 'split debug information (.dwo files) was not found' in tally('report', *words, cwd=tmp_path, check=0).stderr

    tally('pack', '-q', 'in.data', '-o', 'whole.data', cwd=tmp_path, check=0)
    for file in tmp_path.glob('*.dwo'):
        file.unlink()
    assert '.dwo' in tally('pack', 'in.data', '-o', 'part.data', cwd=tmp_path, check=0).stderr
    (tmp_path / 'w').unlink()
    assert said('--stdio', '-i', 'part.data') and not said('--stdio', '-i', 'whole.data')


@pytest.mark.parametrize('order', ['<', '>'])
def test_stacks_of_both_byte_orders(tmp_path, tally, order):
    """One sample at the start of a function, whose return address is on the stack; one without a copy; one event without."""
    if not shutil.which('gcc') or os.uname().machine != 'x86_64':
        pytest.skip('no gcc for x86-64')
    (tmp_path / 'a.c').write_text('__attribute__((noinline)) int leaf(int x) { return x * 3; }\n'
                                  '__attribute__((noinline)) int outer(int x) { return leaf(x) + 1; }\n'
                                  'int main(int c, char **v) { (void)v; return outer(c) + outer(c + 1); }\n')
    subprocess.run(['gcc', '-O1', '-no-pie', '-o', 'program', 'a.c'], cwd=tmp_path, check=True)
    listed = subprocess.run(['nm', 'program'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    at = {line.split()[2]: int(line.split()[0], 16) for line in listed.splitlines() if len(line.split()) == 3}
    built = perfdata_build.Recording(order)
    built.event('IDENTIFIER IP TID TIME PERIOD CALLCHAIN REGS_USER STACK_USER', regs=1 << 7 | 1 << 8)
    built.event('IDENTIFIER IP TID TIME PERIOD', config=2)
    built.text_feature(6, 'x86_64')
    built.name_events('cycles', 'other')
    built.comm('program')
    built.mmap(0x400000, 0x10000, str(tmp_path / 'program'))
    stack = built.words([at['outer'] + 9, 0, 0, 0])
    built.sample(ip=at['leaf'], regs_user=[0x7ffe1000, at['leaf']], stack_user=stack)
    built.sample(ip=at['outer'], time=5000000001)
    built.sample(1, ip=at['main'], time=5000000002)
    built.write(tmp_path / 'in.data')
    views = [['script', '-F', 'event,time,ip,sym'], ['report', '--stdio', '--no-children', '-g', 'caller']]
    at_home = [tally(*view, '-i', 'in.data', cwd=tmp_path, check=0).stdout for view in views]
    names = re.findall(r'[0-9a-f]{6} (\w+)', at_home[0])
    assert names[:2] == ['leaf', 'outer'] and names[-1] == 'main'
    tally('pack', 'in.data', cwd=tmp_path, check=0)
    assert [tally(*view, '-i', 'in.data', cwd=tmp_path, check=0).stdout for view in views] == at_home
    described = tally('evlist', '-v', '-i', 'in.data', cwd=tmp_path, check=0).stdout.splitlines()
    assert 'STACK_USER' in described[0] and 'CALLCHAIN' in described[0] and 'CALLCHAIN' not in described[1]
    assert stack not in (tmp_path / 'in.data').read_bytes()
    once = (tmp_path / 'in.data').read_bytes()
    tally('pack', 'in.data', cwd=tmp_path, check=0)
    assert (tmp_path / 'in.data').read_bytes() == once


def test_scrubbed_stacks_are_gone(stacks, tally, elsewhere):
    tally('pack', '-q', '-o', 'whole.data', 'in.data', cwd=stacks, check=0)
    tally('pack', '-q', '--scrub', '-o', 'clean.data', 'in.data', cwd=stacks, check=0)
    symbols = [elsewhere('script', '-F', 'ip,sym', data=stacks / name).stdout for name in ('whole.data', 'clean.data')]
    assert symbols[0] == symbols[1] and symbols[0].count('\n') > 100
    registers = elsewhere('script', '-F', 'uregs', data=stacks / 'clean.data').stdout
    assert not re.search(r':0x[1-9a-f]', registers)


def test_generated_code_of_a_dump(tmp_path, live, tally, workload, elsewhere):
    """Names, code and lines of two functions that lay at one address in turn, without the dump."""
    data = tmp_path / 'in.data'
    tally('record', '-q', '-k', 'mono', '-g', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', workload('jitcode').path,
          tmp_path, 150, 'move', check=0)
    views = [*VIEWS[:4], ['script'], ['script', '-F', FIELDS], ['annotate', '-l', '-s', 'jit_first'],
             ['annotate', '--stdio2', '-s', 'jit_second']]
    at_home = [tally(*view, '-i', 'in.data', cwd=tmp_path, check=0).stdout for view in views]
    shutil.copy(data, tmp_path / 'plain.data')
    told = tally('pack', data, check=0).stderr
    assert '1 dumps of generated code' in told
    tally('pack', '--scrub', '-q', '-o', tmp_path / 'clean.data', data, check=0)
    for dump in tmp_path.glob('jit-*.dump'):
        dump.rename(tmp_path / 'moved')
    for view, expected in zip(views, at_home):
        assert elsewhere(*view, data=data).stdout == expected, view
    assert 'jit_first' in at_home[0] and 'first.js:11' in at_home[6]
    assert 'jit_first' not in elsewhere(*views[0], data=tmp_path / 'plain.data').stdout
    clean = elsewhere(*views[0], data=tmp_path / 'clean.data').stdout
    assert re.findall(r'(\S+%.*)jitcode', at_home[0])[:1] == re.findall(r'(\S+%.*)x\d+', clean)[:1]
    assert 'jit_first' in clean
    refused = elsewhere(*views[6], data=tmp_path / 'clean.data')
    assert refused.stdout == '' and 'its code was not packed' in refused.stderr


SECRETIVE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
volatile unsigned long sink;
__attribute__((noinline)) void spin(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}
static void *thread(void *name)
{
	pthread_setname_np(pthread_self(), name);
	spin(60000000);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t other;
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*work)(unsigned long) = library ? (void (*)(unsigned long))dlsym(library, "work") : spin;
	int file = open(argv[2], O_RDONLY), memory = memfd_create("SECRET-memfd", 0);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	ftruncate(memory, 4096);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, memory, 0);
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), map[64];
	prctl(0x53564d41, 0, code, 4096, "SECRET-vma");
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	FILE *names = fopen(map, "w");
	fprintf(names, "%lx 1000 LazyCompile /home/SECRET-script.js\n", (unsigned long)code);
	fclose(names);
	static const unsigned char loop[] = {0xb9, 0, 0, 0, 0x10, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	for (unsigned i = 0; i < sizeof(loop); i++)
		code[i] = (char)loop[i];
	pthread_create(&other, NULL, thread, "SECRET-thread");
	prctl(PR_SET_NAME, "SECRET-comm");
	work(60000000);
#ifdef __x86_64__
	((void (*)(void))code)();
#endif
	pthread_join(other, NULL);
	return argc > 3 ? 0 : 1;
}
"""


def test_scrub_leaves_no_secret(tmp_path, live, tally, elsewhere):
    if not shutil.which('cc') or os.geteuid() != 0:
        pytest.skip('needs a C compiler and root')
    folder = tmp_path / 'SECRET-user' / 'SECRET-project'
    (folder / 'SECRET-include').mkdir(parents=True)
    (folder / 'SECRET-folder').mkdir()
    (folder / 'SECRET-folder' / 'SECRET-data').write_bytes(bytes(4096))
    (folder / 'SECRET-include' / 'SECRET-header.h').write_text(
        'static inline __attribute__((always_inline)) unsigned long square(unsigned long x) { return x * x; }\n')
    (folder / 'SECRET-library.c').write_text(
        '#include "SECRET-include/SECRET-header.h"\nvolatile unsigned long done;\n'
        'void work(unsigned long n) { for (unsigned long i = 0; i < n; i++) done += square(i); }\n')
    (folder / 'SECRET-program.c').write_text(SECRETIVE)
    for arguments in (['SECRET-library.c', '-shared', '-fPIC', '-o', 'SECRET-library.so'],
                      ['SECRET-program.c', '-o', 'SECRET-program', '-pthread', '-ldl']):
        subprocess.run(['cc', '-g', '-O2', *arguments], cwd=folder, check=True)
    environment = {'SECRET-variable': 'SECRET-value'}
    events = ['-e', 'cpu-clock/name=SECRET-event/']
    if pathlib.Path('/sys/kernel/tracing/events/sched/sched_process_exec').exists():
        events += ['-e', 'sched:sched_process_exec', '-e', 'sched:sched_switch']
    command = ['./SECRET-program', folder / 'SECRET-library.so', 'SECRET-folder/SECRET-data',
               '--password=SECRET-argument', '--token=SECRET-token', '--key', 'SECRET-key', 'SECRET-customer']
    for more in (['--intr-regs=ax'], []):
        result = tally('record', '-g', *events, '-o', 'SECRET-recording', *more, '--', *command, cwd=folder,
                       env=environment)
        if result.returncode == 0:
            break
    assert result.returncode == 0, result.stderr
    host, release = os.uname().nodename.encode(), os.uname().release.encode()
    before = (folder / 'SECRET-recording').read_bytes()
    planted = set(re.findall(rb'SECRET-[a-z]+', before))
    assert {b'SECRET-user', b'SECRET-program', b'SECRET-argument', b'SECRET-comm', b'SECRET-thread'} <= planted
    assert host in before and release in before

    tally('pack', '-q', '-o', tmp_path / 'whole', 'SECRET-recording', cwd=folder, check=0)
    for path in pathlib.Path('/tmp').glob('perf-*.map'):
        if b'SECRET-script' in path.read_bytes():
            path.unlink()
    names = set(re.findall(rb'SECRET-[a-z]+', (tmp_path / 'whole').read_bytes()))
    assert names >= planted | {b'SECRET-header', b'SECRET-include', b'SECRET-script'}
    assert len(names | {host, release}) >= 20
    told = tally('pack', '--scrub', '-o', tmp_path / 'clean', tmp_path / 'whole', cwd=folder, check=0).stdout
    clean = (tmp_path / 'clean').read_bytes()
    assert b'SECRET' not in clean and b'password' not in clean and (len(host) < 6 or host not in clean)
    header = tally('report', '--header-only', '-i', tmp_path / 'clean', check=0).stdout
    assert not re.search('^# (hostname|os release|cmdline) :', header, re.M)
    assert release not in re.sub(rb'/lib/modules/[^/]+', b'', clean)
    assert 'SECRET' not in told and 'What remains' in told and 'libc' in told

    shares = []
    for data in ('whole', 'clean'):
        shown = elsewhere('report', '--stdio', '-g', 'none', '-s', 'comm,dso,sym,srcline', data=tmp_path / data)
        assert shown.returncode == 0, shown.stderr
        shares.append(re.findall(r'[\d.]+%(?= .*(?:spin|work|square))', shown.stdout))
    assert len(shares[0]) >= 3 and shares[0] == shares[1]


def test_perf_reads_scrubbed_tracepoints(tmp_path, live, tally, perf):
    result = tally('record', '-q', '-e', 'sched:sched_process_exec,sched:sched_switch', '-o', tmp_path / 'in.data',
                   'true')
    if result.returncode:
        pytest.skip('tracepoints cannot be recorded here')
    tally('pack', '-q', '--scrub', tmp_path / 'in.data', check=0)
    assert 'sched:sched_switch' in tally('evlist', '-i', tmp_path / 'in.data', check=0).stdout
    assert tally('report', '--stdio', '-i', tmp_path / 'in.data').returncode == 0
    assert 'sched:sched_switch' in perf('evlist', '-i', tmp_path / 'in.data', check=0).stdout
    assert perf('report', '--stdio', '-i', tmp_path / 'in.data').returncode == 0


def test_perf_reads_what_was_scrubbed(recorded, tally, perf):
    tally('pack', '-q', '--scrub', '-o', 'clean.data', 'in.data', cwd=recorded, check=0)
    plain = perf('report', '--stdio', '-q', '-s', 'pid', '-g', 'none', '-i', 'in.data', cwd=recorded).stdout
    clean = perf('report', '--stdio', '-q', '-s', 'pid', '-g', 'none', '-i', 'clean.data', cwd=recorded)
    assert clean.returncode == 0
    assert re.findall(r'[0-9.]+%', plain) == re.findall(r'[0-9.]+%', clean.stdout)


def packed_elsewhere(tally, elsewhere, data):
    """Packs data, which lies in its folder, and reads it where nothing else is; the report at home before."""
    at_home = [seen(tally(*view, '-i', data.name, cwd=data.parent)) for view in VIEWS]
    bare = elsewhere(*VIEWS[0], data=data).stdout
    tally('pack', data, check=0)
    for view, expected in zip(VIEWS, at_home):
        assert expected[0] == 0 and seen(elsewhere(*view, data=data)) == expected, view
    assert 'hotOuter' in at_home[0][1] and 'hotOuter' not in bare


# spin returns to a function that no call precedes, and to one that a call precedes.
RETURNS = r"""
#include <time.h>
__attribute__((noinline)) void spin(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)
		;
}
__asm__(".text\n"
	"enter: push %rbp; mov %rsp, %rbp; sub $8, %rsp; lea landing(%rip), %rax; push %rax; jmp spin\n"
	".type before, @function\nbefore: nop; nop; nop; nop; nop; nop; jmp enter\n.size before, . - before\n"
	".type landing, @function\nlanding: call spin; leave; ret\n.size landing, . - landing\n"
	".type calling, @function\ncalling: push %rbp; mov %rsp, %rbp; call spin\n.size calling, . - calling\n"
	".type after, @function\nafter: pop %rbp; ret\n.size after, . - after\n");
void enter(void), calling(void);
int main(void) { enter(); calling(); return 0; }
"""


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='the program is written for x86-64')
@pytest.mark.parametrize('options', [[], ['--scrub']])
def test_returns_to_the_start_of_a_function(tmp_path, live, tally, elsewhere, options):
    """Whether a call precedes the function is seen in its code, which is not packed."""
    program = compiled('returns.c', RETURNS, '-O1', '-fno-omit-frame-pointer')
    data = tmp_path / 'in.data'
    tally('record', '-q', '--call-graph', 'fp', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', program, check=0)
    script = ['script', '-F', 'ip,sym']
    at_home = tally(*script, '-i', data, check=0).stdout
    names = set(at_home.split())
    assert {'landing', 'calling'} <= names and not {'before', 'after'} & names
    tally('pack', '-q', *options, '-o', tmp_path / 'packed.data', data, check=0)
    assert elsewhere(*script, data=tmp_path / 'packed.data').stdout == at_home


def test_generated_code_of_a_map(tmp_path, live, tally, elsewhere, node, hot):
    data = tmp_path / 'in.data'
    tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', node, '--perf-basic-prof', hot, 200,
          cwd=tmp_path, check=0)
    try:
        packed_elsewhere(tally, elsewhere, data)
    finally:
        remove_maps(data, tally)


def test_a_container_is_named_elsewhere(tmp_path, live, tally, elsewhere, node):
    """Its files and its map are in a root that this machine sees as long as it runs only."""
    data = tmp_path / 'in.data'
    with container(node, tmp_path) as pid:
        tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', '1000', '-p', pid, '-o', data, '--', 'sleep', 0.2, check=0)
        packed_elsewhere(tally, elsewhere, data)


def test_instructions_without_the_disassembler(recorded, elsewhere, tally):
    """The library is loaded by name when code is disassembled: without it, a listing says what is missing."""
    tally('pack', '-q', '-i', recorded / 'in.data', '-o', recorded / 'packed.data', check=0)
    for library in (elsewhere.folder / 't').glob('libcapstone.so.*'):
        library.unlink()
    script = elsewhere('script', '-F', 'ip,disasm', data=recorded / 'packed.data')
    lines = [line for line in script.stderr.splitlines() if 'instructions are missing' in line]
    assert len(lines) == 1 and 'libcapstone' in lines[0] and script.stdout and script.returncode == 0
    assert 'libcapstone' in elsewhere('annotate', '--stdio', data=recorded / 'packed.data').stderr
