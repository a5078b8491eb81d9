#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares functions, inlined calls and source lines with what eu-addr2line and llvm-symbolizer say.

usage: tests/live/lines.py [--addresses 20000] [--tally PATH] [--show 5] [FILE...]

For so many random addresses of the code of each FILE (default: libc, tally, and sixty.cc built in many ways) the frames
that `tally script` shows must be those of eu-addr2line -i -f; where they are not, those of llvm-symbolizer. One line of
counts for each file; exit status 1: frames that neither of the two has.
"""
import argparse
import functools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'e2e'))
import perfdata_build  # noqa: E402  pylint: disable=wrong-import-position
import stops as live_stops  # noqa: E402  pylint: disable=wrong-import-position

BASE = 0x500000000000  # where programs that can be moved are
PID = 1000
PER_RECORD = 100
BUILDS = {  # compiler, flags
    'gcc -O2': ('g++', '-O2 -g'),
    'gcc -O0': ('g++', '-O0 -g'),
    'gcc -O3 -flto': ('g++', '-O3 -flto -g'),
    'gcc -gdwarf-4': ('g++', '-O2 -gdwarf-4'),
    'gcc -gdwarf-4 -fdebug-types-section': ('g++', '-O2 -gdwarf-4 -fdebug-types-section'),
    'gcc -fdebug-types-section': ('g++', '-O2 -g -fdebug-types-section'),
    'gcc -gdwarf-3 -gstrict-dwarf': ('g++', '-O2 -gdwarf-3 -gstrict-dwarf'),
    'gcc -gdwarf64': ('g++', '-O2 -g -gdwarf64'),
    'gcc -gsplit-dwarf': ('g++', '-O2 -g -gsplit-dwarf'),
    'gcc -gdwarf-4 -gsplit-dwarf': ('g++', '-O2 -gdwarf-4 -gsplit-dwarf'),
    'gcc -gz': ('g++', '-O2 -g -gz'),
    'gcc -ffunction-sections': ('g++', '-O2 -g -ffunction-sections -Wl,--gc-sections'),
    'gcc -no-pie': ('g++', '-O2 -g -no-pie'),
    'clang -O2': ('clang++', '-O2 -g'),
    'clang -O0': ('clang++', '-O0 -g'),
    'clang -gdwarf-4': ('clang++', '-O2 -gdwarf-4'),
    'clang -gline-tables-only': ('clang++', '-O2 -gline-tables-only'),
    'clang -O3 -flto': ('clang++', '-O3 -flto -g -fuse-ld=lld'),
    'clang -gsplit-dwarf': ('clang++', '-O2 -g -gsplit-dwarf'),
    'clang -fdebug-types-section': ('clang++', '-O2 -g -fdebug-types-section'),
}


def run(*command, text=None, check=True):
    return subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=check,
                          errors='replace', env={**os.environ, 'LC_ALL': 'C'}).stdout


def code(path):
    """[(address, size)] of the sections with code, [(offset, address, size)] of the segments, and where they go."""
    sections = [(int(at, 16), int(size, 16)) for at, size in re.findall(
        r'PROGBITS +(\w+) \w+ (\w+) \w+ +AX ', run('readelf', '-SW', path))]
    headers = run('readelf', '-lW', path)
    segments = [tuple(int(word, 16) for word in match) for match in re.findall(
        r'LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E', headers)]
    return sections, segments, 0 if 'type is EXEC' in headers else BASE


def write_recording(path, program, addresses):
    """Addresses in the call chains of samples, PER_RECORD in each. A context marker stands before each address: the first
    frame of a context is looked up as it is, the callers after it inside their calls, at the byte before."""
    _, segments, base = code(program)
    recording = perfdata_build.Recording()
    recording.event('IP TID TIME CALLCHAIN')
    for offset, address, size in segments:
        start = base + address & ~0xfff
        body = recording.pack('IIQQQIIQQII', PID, PID, start, base + address + size - start, offset & ~0xfff, 0, 0, 0,
                              0, 5, 2)
        recording.record(10, 2, body + recording.name(str(program)) + recording.pack('IIQ', PID, PID, 1))
    for first in range(0, len(addresses), PER_RECORD):
        chain = [base + address for address in addresses[first:first + PER_RECORD]]
        marked = [word for address in chain for word in (perfdata_build.CHAIN_USER, address)]
        body = recording.pack('QIIQ', chain[0], PID, PID, 1000 + first)
        recording.record(9, 2, body + recording.words([len(marked), *marked]))
    recording.write(path)
    return base


def tally_frames(tally, recording, base):
    """{address: [(function, file:line)]}, innermost first."""
    text = run(tally, 'script', '-i', recording, '-F', 'ip,sym,srcline', '--full-source-path', '--no-demangle',
               '--max-stack', 500)
    frames, address, is_done = {}, None, True
    for line in text.splitlines():
        match = re.match(r'\t +([0-9a-f]+) (.*)$', line)
        if match:
            if is_done or int(match[1], 16) != address + base:
                address = int(match[1], 16) - base
                frames[address] = []
            frames[address].append([match[2], '??:0'])
            is_done = True
        elif address is not None and line.strip():
            is_done = not line.endswith(' (inlined)')
            place = line.strip().removesuffix(' (inlined)')
            if re.search(r':\d+$', place):
                frames[address][-1][1] = place
    return {at: [tuple(frame) for frame in list_] for at, list_ in frames.items()}


def addr2line_frames(text):
    frames, current = {}, None
    lines = iter(text.splitlines())
    for line in lines:
        if re.fullmatch('0x[0-9a-f]+', line):
            current = frames.setdefault(int(line, 16), [])
        elif line and current is not None:
            current.append((line.split(' inlined at ')[0], place_of(next(lines))))
    return frames


def place_of(text):
    """FILE:LINE of FILE:LINE:COLUMN."""
    match = re.match(r'(.*?):(\d+|\?)(:\d+)?( \(discriminator \d+\))?$', text)
    return f'{match[1]}:{match[2].replace("?", "0")}' if match else text


def eu_frames(path, addresses):
    return addr2line_frames(run('eu-addr2line', '-i', '-f', '-a', '-e', path,
                                text=''.join(f'{address:#x}\n' for address in addresses), check=False))


def llvm_frames(path, addresses):
    if not shutil.which('llvm-symbolizer'):
        return {}
    return addr2line_frames(run('llvm-symbolizer', '--inlines', '--functions=linkage', '--no-demangle', '-a',
                                '--output-style=GNU', '-e', path,
                                text=''.join(f'{address:#x}\n' for address in addresses), check=False))


def plain_path(place):
    """Without . and .. in it; what has no line has no file either. Where the compiler's folder is relative (Debian's
    libc), the other tools put it before itself."""
    path, line = place.rsplit(':', 1)
    path = re.sub(r'^([^/].*?)/(\1/)', r'\2', os.path.normpath(path).removeprefix('./'))
    return '??:0' if line == '0' else f'{path}:{line}'


def same(ours, theirs, aliases):
    if not theirs or [frame for frame in theirs if frame != ('??', '??:0')] == []:
        return all(place == '??:0' for _, place in ours)
    return len(ours) == len(theirs) and all(
        (live_stops.same_name(a[0], b[0], aliases) or b[0] == '??') and plain_path(a[1]) == plain_path(b[1])
        for a, b in zip(ours, theirs))


def compare(tally, path, count, folder, seed=1):
    """(addresses, equal to eu-addr2line, equal to llvm-symbolizer only, [(address, ours, eu's, llvm's)])."""
    sections, _, _ = code(path)
    rng = random.Random(seed)
    places = [(start, size) for start, size in sections if size]
    addresses = sorted({start + rng.randrange(size) for start, size in
                        rng.choices(places, weights=[size for _, size in places], k=count)})
    recording = pathlib.Path(folder) / 'lines.data'
    base = write_recording(recording, path, addresses)
    ours = tally_frames(tally, recording, base)
    eu = eu_frames(path, addresses)
    aliases = live_stops.read_aliases([path, *live_stops.debug_file(path)])
    open_ = [address for address in addresses if not same(ours.get(address, []), eu.get(address), aliases)]
    llvm = llvm_frames(path, open_) if open_ else {}
    wrong = [(address, ours.get(address, []), eu.get(address), llvm.get(address)) for address in open_
             if address not in llvm or not same(ours.get(address, []), llvm[address], aliases)]
    return len(addresses), len(addresses) - len(open_), len(open_) - len(wrong), wrong


@functools.lru_cache(maxsize=None)
def libc():
    match = re.search(r'=> (\S*libc\.so\S*)', run('ldd', shutil.which('env')))
    return pathlib.Path(match[1]).resolve() if match else None


def builds(folder, only=None):
    """(name, program) of each build whose compiler is here."""
    for name, (compiler, flags) in BUILDS.items():
        if not shutil.which(compiler) or (only and name not in only):
            continue
        into = pathlib.Path(folder) / name.replace(' ', '_')
        into.mkdir(exist_ok=True)
        try:
            yield name, live_stops.build(into, compiler, flags)
        except subprocess.CalledProcessError:
            print(f'{name}: does not build here')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--addresses', type=int, default=20000)
    parser.add_argument('--tally', default=HERE.parents[1] / 'build' / 'src' / 'cli' / 'tally')
    parser.add_argument('--show', type=int, default=5, help='so many of the addresses that differ')
    parser.add_argument('--only', action='append', help='this build only: ' + ', '.join(BUILDS))
    parser.add_argument('--work', help='keep the programs here')
    parser.add_argument('files', nargs='*')
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.work or temporary).resolve()
        folder.mkdir(exist_ok=True)
        files = [(file, pathlib.Path(file).resolve()) for file in options.files]
        if not files and not options.only:
            files = [('libc', libc()), ('tally', pathlib.Path(options.tally).resolve())]
        for name, path in [*files, *([] if options.files else builds(folder, options.only))]:
            count, eu, llvm, wrong = compare(options.tally, path, options.addresses, folder)
            for address, ours, *theirs in wrong[:options.show]:
                print(f'  {address:#x}: tally {ours}\n    eu-addr2line {theirs[0]}\n    llvm-symbolizer {theirs[1]}')
            print(f'{name}: {count} addresses: {eu} as eu-addr2line, {llvm} as llvm-symbolizer only, '
                  f'{len(wrong)} as neither', flush=True)
            failed |= bool(wrong)
    return failed


if __name__ == '__main__':
    sys.exit(main())
