#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tally's stacks with gdb's: sixty.cc is stopped at many instructions, once in gdb.

usage: tests/live/stops.py [--stops 2000] [--threads 0] [--tally PATH] [--compiler g++] [--flags "-O2 ..."]
                           [--unwinder build/tests/live/unwind_stops | --perf PERF] [--show N] [--work FOLDER]

Each stop becomes two samples: one with gdb's addresses as its call chain, which tally names (functions and the calls
inlined there), and one with registers and a stack dump, which tally unwinds. Both must be gdb's backtrace. Ends
with one line of counts; exit status 1: something differs. --unwinder
unwinds without a recording, --perf with perf, for comparison.
"""
import argparse
import collections
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'e2e'))
import perfdata_build  # noqa: E402  pylint: disable=wrong-import-position

FLAGS = '-O2 -g -fomit-frame-pointer'
ROUNDS = 1 << 40
TIMER_US = 1000
# In the order of perf's numbers for x86 (asm/perf_regs.h); ds, es, fs and gs are not sampled.
SAMPLED = {0: 'rax', 1: 'rbx', 2: 'rcx', 3: 'rdx', 4: 'rsi', 5: 'rdi', 6: 'rbp', 7: 'rsp', 8: 'rip', 9: 'eflags',
           10: 'cs', 11: 'ss', **{8 + n: f'r{n}' for n in range(8, 16)}}
STACK_BYTES = 60000  # a record's size has 16 bits
PID = 1000


def build(folder, compiler='g++', flags=FLAGS):
    """The program and its two libraries."""
    common = [compiler, '-std=c++17', '-w', *flags.split()]
    for name in ('linked', 'loaded'):
        subprocess.run([*common, '-fPIC', '-shared', f'-DNAME={name}', HERE / 'sixty_library.cc', '-o',
                        folder / f'lib{name}.so'], check=True, cwd=folder)
    subprocess.run([*common, HERE / 'sixty.cc', '-o', folder / 'sixty', f'-L{folder}', '-llinked',
                    '-Wl,-rpath,$ORIGIN', '-ldl', '-pthread'], check=True, cwd=folder)
    return folder / 'sixty'


def instructions(path):
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', path], capture_output=True, text=True,
                          check=True).stdout
    return re.findall(r'^ +([0-9a-f]+):\t', text, re.M)


def collect(folder, stops, threads=0, seed=1, recorder=None):
    """The stops, as gdb_stops.py wrote them. recorder: a command that records meanwhile, and the file that it makes."""
    rng = random.Random(seed)
    places = []
    for name, share in (('sixty', 4), ('liblinked.so', 1), ('libloaded.so', 1)):
        every = instructions(folder / name)
        places += [f'{folder / name} {at}\n' for at in rng.sample(every, min(len(every), stops * share // 6 + 1))]
    (folder / 'at').write_text(''.join(places))
    environment = {**os.environ, 'STOPS': str(stops), 'STOPS_SEED': str(seed), 'STOPS_AT': str(folder / 'at'),
                   'STOPS_OUT': str(folder / 'stops.json'), 'LC_ALL': 'C'}
    if recorder:
        environment.update(STOPS_RECORDER=recorder[0], STOPS_RECORDING=str(recorder[1]))
    result = subprocess.run(['gdb', '-nx', '-batch', '-x', HERE / 'gdb_stops.py', '--args', folder / 'sixty',
                             str(ROUNDS), folder / 'libloaded.so', str(threads), str(TIMER_US)], env=environment,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=1200)
    with open(folder / 'stops.json', encoding='utf-8') as f:
        stopped = [json.loads(line) for line in f]
    if sum('regs' in stop for stop in stopped) < stops:
        raise RuntimeError(f'gdb: {result.stdout[-2000:]}{result.stderr[-2000:]}')
    return stopped


def stack_bounds(stop):
    low = stop['regs']['rsp']
    return low, low + min(len(stop['stack']) // 2, STACK_BYTES)


def add_maps(recording, maps, time):
    for line in maps.splitlines():
        words = line.split(None, 5)
        low, high = (int(word, 16) for word in words[0].split('-'))
        name = words[5] if len(words) > 5 else ''
        if 'x' not in words[1] or not name:
            continue
        body = recording.pack('IIQQQIIQQII', PID, PID, low, high - low, int(words[2], 16), 0, 0, 0, 0, 5, 2)
        recording.record(10, 2, body + recording.name(name) + recording.pack('IIQ', PID, PID, time))


def write_recording(path, stops, unwound):
    """One sample per stop, 1 us apart: unwound: registers and stack, otherwise gdb's addresses."""
    recording = perfdata_build.Recording()
    mask = sum(1 << number for number in SAMPLED)
    recording.event('IP TID TIME ' + ('REGS_USER STACK_USER CALLCHAIN' if unwound else 'CALLCHAIN'), regs=mask,
                    flags=1 << 22 if unwound else 0)  # exclude_callchain_user
    time = 1000
    recording.record(3, 0, recording.pack('II', PID, PID) + recording.name('sixty') +
                     recording.pack('IIQ', PID, PID, time))
    for stop in stops:
        time += 1000
        if 'maps' in stop:
            add_maps(recording, stop['maps'], time)
            continue
        registers = stop['regs']
        chain = []
        body = recording.pack('QIIQ', registers['rip'], PID, PID, time)
        if not unwound:
            chain = [perfdata_build.CHAIN_USER]
            chain += [pc for pc, _, inlined in expected(stop, True) if not inlined]
        body += recording.words([len(chain), *chain])
        if unwound:
            low, high = stack_bounds(stop)
            stack = bytes.fromhex(stop['stack'])[:high - low]
            stack += bytes(-len(stack) % 8)
            body += recording.words([2, *(registers[SAMPLED[number]] for number in sorted(SAMPLED))])
            body += recording.words([len(stack)]) + stack + recording.words([high - low])
        recording.record(9, 2, body)
    recording.text_feature(6, os.uname().machine)  # HEADER_ARCH: whose registers they are
    recording.write(pathlib.Path(path))


DWARF = 'rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15'.split()


def unwind(program, path, stops):
    """The chains of unwind_stops: lists of (address, '', False), and how each ended."""
    with open(path, 'w', encoding='utf-8') as f:
        for stop in stops:
            for line in stop.get('maps', '').splitlines():
                words = line.split(None, 5)
                if 'x' in words[1] and len(words) > 5:
                    low, high = words[0].split('-')
                    f.write(f'map {low} {high} {words[2]} {words[5]}\n')
            if 'regs' in stop:
                registers = stop['regs']
                low, high = stack_bounds(stop)
                numbers = ' '.join(f'{registers[name]:x}' for name in DWARF)
                f.write(f'stop {registers["rip"]:x} {low:x} {stop["stack"][:2 * (high - low)]} {numbers}\n')
    text = subprocess.run([program, path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
                          timeout=600).stdout
    rows = [line.split(' bridged', 1) for line in text.splitlines()]
    return [[(int(word, 16), '', False) for word in row[1].split()] for row in rows], [row[0] for row in rows]


def read_script(text):
    """The chains of `script -F time,ip,sym`: lists of (address, name, inlined)."""
    chains = []
    for line in text.splitlines():
        begins = re.match(r' *\d+\.\d+: *(.*)$', line)
        if begins:
            chains.append([])
            line = ' ' + begins[1]
        frame = re.match(r'\s+([0-9a-f]+) (.*?)( \(inlined\))?$', line)
        if frame:
            chains[-1].append((int(frame[1], 16), frame[2].strip(), bool(frame[3])))
    return chains


def script(program, path, names):
    command = [program, 'script', '-i', path, '-F', 'time,ip,sym', '--max-stack', '512']
    command += ['--no-demangle'] if names else []
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=600,
                            env={**os.environ, 'LC_ALL': 'C'})
    return read_script(result.stdout)


def expected(stop, whole):
    """gdb's frames; of a stack dump those up to the first one that the copy does not hold. A caller's address is
    that of its call, as unwinders give it: the byte before the one that it returns to."""
    low, high = stack_bounds(stop)
    frames = []
    is_call, before = False, ''
    for pc, name, kind, sp, _ in stop['frames']:
        is_held = low - 8 <= sp <= high
        # Where a signal came, on another stack than the handler's, is written in what the copy holds.
        if not whole and not is_held and before != 'signal':
            break
        if kind == 'tail':
            continue  # made up by gdb from the debug information
        if pc == 0:
            break  # where gdb lost its way
        frames.append((pc - (is_call and kind != 'signal'), name or '[unknown]', kind == 'inline'))
        if kind != 'inline':
            is_call, before = kind != 'signal', kind
        if not whole and not is_held and kind != 'inline':
            break
    return frames


def is_lost(stop):
    """Whether gdb's own walk left all code: it goes on with whatever it finds."""
    code = [tuple(int(end, 16) for end in line.split()[0].split('-')) for line in stop['code']]
    return not all(any(low <= pc < high for low, high in code) for pc, *_ in stop['frames'])


def same_name(ours, theirs, aliases):
    """gdb takes the debug information's name, tally the symbol's: of several for one address (constructors, glibc's)
    another, a symbol's version, and what gcc adds for the parts of a function. Where the debug information has no
    linker's name, gdb makes one of the source's names: then the last of these counts."""
    ours, theirs = plain_name(ours), plain_name(theirs)
    if theirs.startswith('*ABS*') and ours.endswith('@plt'):
        return True  # a function that the code at an address chooses
    if ours == theirs or theirs in aliases.get(ours, ()) or (ours == '.plt' and theirs == '[unknown]'):
        return True
    return not theirs.startswith('_Z') and last_name(demangled(ours)) == last_name(theirs)


@functools.lru_cache(maxsize=None)
def plain_name(name):
    name = name if name.endswith('@plt') else name.split('@')[0]
    return re.sub(r'(\.(cold|part|isra|constprop|lto_priv|llvm)(\.\d+)?)+$', '', name)


@functools.lru_cache(maxsize=None)
def demangled(name):
    return subprocess.run(['c++filt', name], capture_output=True, text=True, check=True).stdout.strip()


def last_name(text):
    """Of "void a::b<int>::c<d::e>(f::g) const": c."""
    depth, kept = 0, ''
    for char in text.replace('(anonymous namespace)', 'anonymous').replace('operator()', 'call'):
        depth += (char in '<(') - (char in '>)')
        if char == '(' and depth == 1:
            break
        if depth == 0 and char != '>':
            kept += char
    return kept.split('::')[-1].split(' ')[-1]


def read_aliases(paths):
    """Names of one address, in the symbol tables of these files and of their debug files."""
    aliases = collections.defaultdict(set)
    for path in paths:
        at = collections.defaultdict(set)
        text = subprocess.run(['readelf', '-sW', path], capture_output=True, text=True, check=False).stdout
        for value, name in re.findall(r'^ *\d+: ([0-9a-f]{16}) +\w+ (?:FUNC|IFUNC) .* (\S+)$', text, re.M):
            at[value].add(name.split('@')[0])
        for names in at.values():
            for name in names:
                aliases[name] |= names
    return aliases


def debug_file(path):
    text = subprocess.run(['readelf', '-nW', path], capture_output=True, text=True, check=False).stdout
    match = re.search(r'Build ID: (..)(\w+)', text)
    found = pathlib.Path(f'/usr/lib/debug/.build-id/{match[1]}/{match[2]}.debug') if match else None
    return [found] if found and found.exists() else []


def mapped_files(stops):
    paths = {line.split(None, 5)[5] for stop in stops if 'maps' in stop for line in stop['maps'].splitlines()
             if ' r-xp ' in line and line.count('/')}
    return [file for path in sorted(paths) for file in [path, *debug_file(path)]]


def tool(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ''


class Arbiter:
    """Where tally and gdb do not agree on the calls inlined at an address (at the first one of an inlined call gdb shows
    the program before it): what eu-addr2line or llvm-symbolizer says."""

    def __init__(self, stops, aliases):
        self.aliases = aliases
        self.bases = []
        for stop in stops:
            for line in stop.get('maps', '').splitlines():
                words = line.split(None, 5)
                if len(words) > 5 and words[5].startswith('/'):
                    low, high = (int(word, 16) for word in words[0].split('-'))
                    self.bases.append((low, high, low - int(words[2], 16), words[5]))
        self.overruled = collections.Counter()
        self.lost = 0

    @functools.lru_cache(maxsize=None)
    def answers(self, pc):
        """The names at pc, innermost first, by each of the two tools."""
        for low, high, base, path in self.bases:
            if low <= pc < high:
                eu = tool('eu-addr2line', '-i', '-f', '-e', path, hex(pc - base))
                llvm = tool('llvm-symbolizer', '--inlines', '--functions=linkage', '--no-demangle', '--output-style=GNU',
                            '-e', path, hex(pc - base))
                return [[line.split(' inlined at ')[0] for line in text.splitlines()[::2]] for text in (eu, llvm)]
        return []

    def agrees(self, wanted, chain):
        """Whether the two differ only in calls that one of these has as tally has them."""
        if [pc for pc, _, inlined in wanted if not inlined] != [pc for pc, _, inlined in chain if not inlined]:
            return False
        for pc in dict.fromkeys(pc for pc, *_ in chain):
            ours, theirs = ([frame[1:] for frame in frames if frame[0] == pc] for frames in (chain, wanted))
            if len(ours) == len(theirs) and all(a[1] == b[1] and same_name(a[0], b[0], self.aliases)
                                                for a, b in zip(ours, theirs)):
                continue
            one = ours[:[inlined for _, inlined in ours].index(False) + 1]  # a recursive function has it more often
            if not any(len(names) == len(one) and all(same_name(a[0], b, self.aliases) for a, b in zip(one, names))
                       for names in self.answers(pc)):
                return False
            self.overruled[pc] += 1
        return True


def compare(stops, chains, arbiter, *, names, whole):
    """Lists of stops that differ: in addresses, in names. whole: frames that the stack dump does not hold, too."""
    wrong_pcs, wrong_names = [], []
    taken, maps = [], ''
    for stop in stops:
        maps = stop.get('maps', maps)
        if 'regs' in stop:
            stop['code'] = [line for line in maps.splitlines() if ' r-xp ' in line or '[vsyscall]' in line]
            taken.append(stop)
    if len(taken) != len(chains):
        raise RuntimeError(f'{len(chains)} chains for {len(taken)} stops')
    for stop, chain in zip(taken, chains):
        wanted = expected(stop, whole)
        pcs = [pc for pc, _, inlined in wanted if not inlined]
        # An inlined call has the address of the frame that it is in, which comes last.
        got = [pc for pc, _, inlined in chain if not inlined]
        if is_lost(stop):
            got, pcs = got[:2], pcs[:2]
            arbiter.lost += not whole
        if [pc - (i > 0 and pc - 1 == w) for i, (pc, w) in enumerate(zip(got, pcs))] != pcs or len(got) != len(pcs):
            wrong_pcs.append((wanted, chain))
        elif names and not is_lost(stop) and not arbiter.agrees(wanted, chain):
            wrong_names.append((wanted, chain))
    return wrong_pcs, wrong_names


def show(wanted, chain):
    print('  gdb:')
    for pc, name, inlined in wanted[:40]:
        print(f'    {pc:x} {name}{" (inlined)" if inlined else ""}')
    print('  tally:')
    for pc, name, inlined in chain[:40]:
        print(f'    {pc:x} {name}{" (inlined)" if inlined else ""}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--stops', type=int, default=2000)
    parser.add_argument('--threads', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--compiler', default='g++')
    parser.add_argument('--flags', default=FLAGS)
    parser.add_argument('--tally', default=HERE.parents[1] / 'build' / 'src' / 'cli' / 'tally')
    parser.add_argument('--work', help='keep the files here')
    parser.add_argument('--perf', help='unwind with this perf, for comparison')
    parser.add_argument('--unwinder', help='unwind_stops of the build: unwinds without a recording')
    parser.add_argument('--show', type=int, default=5, help='so many of the stops that differ')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.work or temporary).resolve()
        folder.mkdir(exist_ok=True)
        build(folder, options.compiler, options.flags)
        stops = collect(folder, options.stops, options.threads, options.seed)
        arbiter = Arbiter(stops, read_aliases(mapped_files(stops)))
        total = sum('regs' in stop for stop in stops)
        failed = False
        for what in ('named', 'unwound'):
            ends, program = None, options.tally
            if what == 'unwound' and options.unwinder:
                program = options.unwinder
                chains, ends = unwind(program, folder / 'unwound.stops', stops)
            else:
                path = folder / f'{what}.data'
                write_recording(path, stops, what == 'unwound')
                program = options.perf if what == 'unwound' and options.perf else options.tally
                chains = script(program, path, program == options.tally)
            wrong_pcs, wrong_names = compare(stops, chains, arbiter, names=program == options.tally,
                                             whole=what == 'named')
            for wanted, chain in (wrong_pcs + wrong_names)[:options.show]:
                show(wanted, chain)
            frames = sum(len(expected(stop, True)) for stop in stops if 'regs' in stop)
            print(f'{what}: {total - len(wrong_pcs) - len(wrong_names)} of {total} stops as gdb has them ({frames} frames);'
                  f' addresses differ {len(wrong_pcs)}, names differ {len(wrong_names)}')
            if ends:
                print(f'  ends: {dict(collections.Counter(ends))}')
            if arbiter.overruled and what == 'named':
                print(f'  of these, {sum(arbiter.overruled.values())} frames, at {len(arbiter.overruled)} addresses, have'
                      ' the inlined calls that eu-addr2line or llvm-symbolizer has, not those of gdb')
            if arbiter.lost:
                print(f'  of these, {arbiter.lost} where gdb loses its way: the first two frames count')
            failed |= bool(wrong_pcs or wrong_names)
    return failed


if __name__ == '__main__':
    sys.exit(main())
