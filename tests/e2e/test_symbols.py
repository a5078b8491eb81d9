# SPDX-License-Identifier: Apache-2.0
"""Names of addresses, in whole files and in the kernel: against nm, and against perf where it is installed."""
import collections
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

import perfdata_build
import pytest

BASE = 0x7f0000000000
IP_TID_TIME = 1 | 2 | 4
SAMPLE_ID_ALL_AND_MMAP2 = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23


def record(kind, misc, body):
    body += b'\0' * (-len(body) % 8)
    return struct.pack('=IHH', kind, misc, 8 + len(body)) + body


def padded(text):
    return text + b'\0' * (8 - len(text) % 8)


def write_recording(path, addresses, mapping):
    """A recording with one sample at each address; mapping is the record that maps them."""
    kernel = mapping[4] & 7 == 1
    parts = [mapping, record(3, 2, struct.pack('=II', 100, 100) + padded(b'x') + struct.pack('=IIQ', 100, 100, 1))]
    parts += [record(9, 1 if kernel else 2, struct.pack('=QIIQ', address, 100, 100, 10 + i))
              for i, address in enumerate(addresses)]
    data = b''.join(parts)
    attr = struct.pack('=IIQQQQQ', 1, 128, 0, 1, IP_TID_TIME, 0, SAMPLE_ID_ALL_AND_MMAP2).ljust(128, b'\0')
    header = b'PERFILE2' + struct.pack('=QQQQQQQQ', 104, 144, 104, 144, 248, len(data), 0, 0)
    path.write_bytes(header.ljust(104, b'\0') + attr + struct.pack('=QQ', 0, 0) + data)


def user_mapping(path):
    name = padded(str(path).encode())
    size = path.stat().st_size + 0xfff & ~0xfff
    body = struct.pack('=IIQQQIIQQII', 100, 100, BASE, size, 0, 8, 1, path.stat().st_ino, 0, 5, 2)
    return record(10, 2, body + name + struct.pack('=IIQ', 100, 100, 2))


def kernel_mapping(text, end):
    body = struct.pack('=IIQQQ', 0xffffffff, 0, text, end - text, text)
    return record(1, 1, body + padded(b'[kernel.kallsyms]_text') + struct.pack('=IIQ', 0, 0, 0))


def names(program, path):
    """The symbol and offset of each sample, in order."""
    lines = program('script', '-i', path, '-F', 'ip,sym,symoff').stdout.splitlines()
    return [line.strip().partition(' ')[2] for line in lines if line.strip()]


def segments(path):
    output = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in output.splitlines() if line.split()[:1] == ['LOAD']]
    return [(int(f[1], 16), int(f[2], 16), int(f[4], 16)) for f in fields]


def code_ranges(path):
    """Offsets of what is executable: start and end of each segment."""
    output = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in output.splitlines() if line.split()[:1] == ['LOAD']]
    return [(int(f[1], 16), int(f[1], 16) + int(f[4], 16)) for f in fields if 'E' in f[6:-1]]


def to_offset(loads, address):
    return next((address - vaddr + offset for offset, vaddr, size in loads if vaddr <= address < vaddr + size), None)


def libc():
    for line in pathlib.Path('/proc/self/maps').read_text().splitlines():
        if re.search(r'/libc\.so\.6$|/libc-2.*\.so$', line):
            return pathlib.Path(line.split()[-1])
    pytest.skip('this Python does not use glibc')
    return None


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')


def test_every_exported_function_of_libc_is_found(tally, tmp_path):
    need('nm', 'readelf')
    path, wanted = libc(), collections.defaultdict(set)
    loads = segments(path)
    listing = subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in 'TtWi' and to_offset(loads, int(fields[0], 16)) is not None:
            wanted[to_offset(loads, int(fields[0], 16))].add(fields[2].split('@')[0])
    assert len(wanted) > 1000
    recording = tmp_path / 'perf.data'
    # Without debug files: HOME is empty, and the file is looked up under a root that has nothing else.
    copy = tmp_path / 'root' / path.relative_to('/')
    copy.parent.mkdir(parents=True)
    shutil.copy(path, copy)
    write_recording(recording, [BASE + offset for offset in sorted(wanted)], user_mapping(path))
    lines = tally('script', '--symfs', tmp_path / 'root', '-i', recording, '-F', 'ip,sym,symoff', check=0).stdout
    found = [line.strip().partition(' ')[2] for line in lines.splitlines()]
    assert len(found) == len(wanted)
    wrong = [(hex(offset), name) for offset, name in zip(sorted(wanted), found)
             if name.removesuffix('+0x0') not in wanted[offset]]
    assert not wrong


def interesting_offsets(path):
    """Starts, middles and ends of symbols, and places in between."""
    loads, offsets = segments(path), set()
    listing = subprocess.run(['readelf', '-sW', path], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) >= 8 and re.fullmatch(r'\d+:', fields[0]) and fields[6] != 'UND':
            start, size = int(fields[1], 16), int(fields[2], 0)
            offsets |= {to_offset(loads, a) for a in (start, start + size // 2, start + size - 1, start + size)}
    offsets |= {random.Random(1).randrange(path.stat().st_size) for _ in range(2000)}
    return sorted(offsets - {None})


@pytest.mark.parametrize('which', ['libc', 'python'])
def test_user_symbols_are_perfs(tally, perf, tmp_path, which):
    need('readelf')
    path = libc() if which == 'libc' else pathlib.Path(sys.executable).resolve()
    recording, offsets = tmp_path / 'perf.data', interesting_offsets(path)
    write_recording(recording, [BASE + offset for offset in offsets], user_mapping(path))
    ours, theirs = names(tally, recording), names(perf, recording)
    assert len(ours) == len(theirs) == len(offsets)
    # perf 6.1 names PLT entries by the order of relocations, or not at all: docs/compatibility.md.
    wrong = [(hex(offset), a, b) for offset, a, b in zip(offsets, ours, theirs)
             if a != b and '@plt' not in a + b and not a.startswith('.plt')]
    assert not wrong


PLACES_SOURCE = '''
#include <string.h>
volatile unsigned long sink;
int zeros[100000];
const char text[5000] = "x";
__attribute__((noinline)) unsigned long first(unsigned long n) { return n * 3 + sink; }
unsigned long other_name(unsigned long n) __attribute__((alias("first")));
unsigned long weak_name(unsigned long n) __attribute__((weak, alias("first")));
__attribute__((noinline)) unsigned long same_code(unsigned long n) { return n * 3 + sink; }
__attribute__((noinline)) static unsigned long local(unsigned long n) { return n * 5 + sink; }
static unsigned long chosen_code(unsigned long n) { return n * 7 + sink; }
static void *choose(void) { return chosen_code; }
unsigned long chosen(unsigned long) __attribute__((ifunc("choose")));
int main(int argc, char **argv)
{
	char copy[64];
	memcpy(copy, argv[0], (size_t)(sink & 63));
	sink = first(sink) + same_code(sink) + local(sink) + chosen(sink) + other_name(sink) + weak_name(sink);
	return copy[sink & 1];
}
'''


# Segments whose addresses and offsets are whole pages apart, or not; text in a segment of its own, or with the rest;
# functions of the same code put together; programs that stay where they are linked.
@pytest.mark.parametrize('flags', [
    ['-fuse-ld=bfd'], ['-fuse-ld=bfd', '-no-pie'], ['-static'], ['-fuse-ld=bfd', '-Wl,-z,noseparate-code'],
    ['-fuse-ld=lld'], ['-fuse-ld=lld', '-no-pie'], ['-fuse-ld=lld', '-Wl,--no-rosegment'],
    ['-fuse-ld=lld', '-ffunction-sections', '-Wl,--icf=all'], ['-fuse-ld=lld', '-Wl,-z,max-page-size=0x200000'],
    ['-fuse-ld=mold'], ['-fuse-ld=mold', '-ffunction-sections', '-Wl,--icf=all'], ['-shared', '-fPIC'],
], ids=' '.join)
def test_symbols_of_each_linker_are_perfs(tally, perf, tmp_path, flags):
    need('readelf', 'gcc')
    (tmp_path / 'p.c').write_text(PLACES_SOURCE)
    path = tmp_path / 'program'
    built = subprocess.run(['gcc', '-O1', *flags, 'p.c', '-o', path], cwd=tmp_path, capture_output=True, text=True,
                           check=False)
    if built.returncode:
        pytest.skip(f'{flags} is not to be had here: {built.stderr.splitlines()[-1]}')
    recording, code = tmp_path / 'perf.data', code_ranges(path)
    offsets = [offset for offset in interesting_offsets(path) if any(start <= offset < end for start, end in code)]
    write_recording(recording, [BASE + offset for offset in offsets], user_mapping(path))
    ours, theirs = names(tally, recording), names(perf, recording)
    assert len(ours) == len(theirs) == len(offsets)
    assert {'main', 'chosen_code'} <= {name.split('+')[0] for name in ours}
    wrong = [(hex(offset), a, b) for offset, a, b in zip(offsets, ours, theirs)
             if a != b and '@plt' not in a + b and not a.startswith('.plt')]
    assert not wrong


def test_kernel_symbols_are_perfs(tally, perf, tmp_path):
    lines = pathlib.Path('/proc/kallsyms').read_text().splitlines() if os.access('/proc/kallsyms', os.R_OK) else []
    symbols = {fields[2]: int(fields[0], 16) for fields in map(str.split, lines) if len(fields) == 3}
    if not symbols.get('_text'):
        pytest.skip('the kernel hides its addresses (kernel.kptr_restrict)')
    # As recorders write it: of a mapping that ends elsewhere no kernel's own list has names, as it is another kernel's.
    text, end = symbols['_text'], symbols['_etext']
    chosen = random.Random(2).sample(sorted(a for a in symbols.values() if text <= a < end - 5), 4000)
    addresses = sorted(set(chosen) | {a + 5 for a in chosen} | {a - 1 for a in chosen if a > text})
    recording = tmp_path / 'perf.data'
    write_recording(recording, addresses, kernel_mapping(text, end))
    ours, theirs = names(tally, recording), names(perf, recording)
    assert len(ours) == len(theirs) == len(addresses)
    wrong = [(hex(address), a, b) for address, a, b in zip(addresses, ours, theirs) if a != b]
    assert not wrong


@pytest.fixture
def replaced(tally, live, workload, tmp_path):
    """A recording whose program has been replaced by another one since."""
    program, recording = tmp_path / 'program', tmp_path / 'replaced.data'
    shutil.copy(workload('spin').path, program)
    tally('record', '-o', recording, '-e', 'cpu-clock:u', '--', program, '100', check=0)
    shutil.rmtree(tmp_path / '.debug', ignore_errors=True)  # where the recorded file may have been kept
    program.unlink()
    shutil.copy(workload('waits').path, program)
    return program, recording


@pytest.mark.parametrize('arguments', [['report', '--stdio'], ['script']])
def test_a_replaced_program_is_told(tally, replaced, arguments):
    program, recording = replaced
    result = tally(*arguments, '-i', recording, check=0)
    told = [line for line in result.stderr.splitlines() if 'no symbols of' in line]
    assert len(told) == 1
    assert re.search(rf'warning: no symbols of {program} \(\d+\.\d% of the samples\): {program} is not the file that '
                     r'was recorded: its build id is [0-9a-f]{40}, not [0-9a-f]{40}$', told[0])
    assert 'no symbols of' not in result.stdout
    assert 'have no symbol' not in result.stderr


@pytest.mark.parametrize('arguments', [['report', '--stdio'], ['script']])
def test_absent_files_take_one_line(tally, replaced, arguments):
    program, recording = replaced
    program.unlink()
    result = tally(*arguments, '-i', recording, check=0)
    told = [line for line in result.stderr.splitlines() if 'warning:' in line]
    assert len(told) == 1
    assert 'of the samples have no symbol: ' in told[0]
    assert f'most in {program} (the file does not exist' in told[0]


def test_quiet_says_nothing(tally, replaced):
    assert tally('report', '-q', '--stdio', '-i', replaced[1], check=0).stderr == ''


@pytest.mark.parametrize('arguments', [['report', '--stdio'], ['script']])
def test_verbose_says_where_symbols_came_from(tally, live, workload, tmp_path, arguments):
    program, recording = workload('spin').path, tmp_path / 'perf.data'
    tally('record', '-o', recording, '-e', 'cpu-clock:u', '--', program, '50', check=0)
    result = tally(*arguments, '-v', '-i', recording, check=0)
    assert re.search(rf'^tally: note: {program}: \d+ symbols from /', result.stderr, re.M)
    if 'script' in arguments:
        assert result.stdout == tally(*arguments, '-i', recording, check=0).stdout
    else:
        assert re.search(rf' {program} +0x[0-9a-f]+ +[dB] \[\.\] spin', result.stdout)


@pytest.fixture
def mangled(tmp_path):
    """A recording of a function whose name has the types of its parameters."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    (tmp_path / 'lib.c').write_text('int thing(int n, char *c) __asm__("_Z5thingiPc");\nint thing(int n, char *c) { return n + *c; }\n')
    library = tmp_path / 'libmade.so'
    subprocess.run(['gcc', '-O1', '-fPIC', '-shared', '-o', library, 'lib.c'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['nm', library], capture_output=True, text=True, check=True).stdout
    address = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith('_Z5thingiPc'))
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD', kind=0)
    r.comm('prog')
    r.mmap(0x7f0000000000, 0x10000, str(library))
    r.sample(ip=0x7f0000000000 + address)
    r.write(tmp_path / 'data')
    return tmp_path / 'data'


@pytest.mark.parametrize('words', [['report', '--stdio', '-s', 'sym', '-i'], ['script', '-F', 'ip,sym', '-i'],
                                   ['annotate', '--stdio2', '-i'], ['diff']])
def test_parameters_are_shown(tally, mangled, words):
    arguments = [*words, mangled] + ([mangled] if words == ['diff'] else [])
    # Of code only the heading.
    rows = 2 if words[0] == 'annotate' else None
    plain = '\n'.join(tally(*arguments).stdout.splitlines()[:rows])
    if 'Z5thing' in plain:
        pytest.skip('this build demangles nothing')
    assert 'thing(int, char*)' in plain
    assert 'thing(int, char*)' in tally('report', '--json', '-i', mangled).stdout
