#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the places of probes, and source lines with code, with what perf says, and where they differ with addr2line.

usage: tests/live/probe_places.py [--tally PATH] [--perf PATH] [--brief] [--build WORDS] [--show]

For twenty functions each of a C, a C++ and a Rust program (probed/twenty.*), built in many ways, `probe -D` and `probe -L`
of tally must say what those of perf say. Where they do not, the difference must be one of these:

- perf refuses the definition, or has fewer places, and each place of tally is proved: addr2line says that the function
  named has the code, or the line table has a statement of the line named there, or a call in that line was inlined there;
- perf has more places, and each of them is wrong: no code is there, or addr2line says that it is not of the function.

One line of counts for each program. Exit status 1: other differences, which are listed.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
C = ('square cube add sum_squares sum_cubes factorial make length release choose mean complain check many sum_all nothing '
     'is_even is_odd compare by_table main').split()
CXX = ('area name count Circle Square Shape ~Shape hidden largest<int> largest<double> overload _Z8overloadi total_area '
       'by_lambda operator() operator+ twice thrower catcher plain_c main').split()
RUST = ('new distance shifted area helper add square sum_squares largest<i32> largest<f64> factorial total_area count_words '
        'parse choose plain_c fmt doubled<twenty::Circle> doubled<twenty::Square> '
        'apply<twenty::main::{closure_env#0}>').split()
BUILDS = {  # source, functions, command
    'C gcc -O0': ('twenty.c', C, 'gcc -g -O0'),
    'C gcc -O2': ('twenty.c', C, 'gcc -g -O2'),
    'C clang -O0': ('twenty.c', C, 'clang -g -O0'),
    'C clang -O2': ('twenty.c', C, 'clang -g -O2'),
    'C gcc -gdwarf-4 -O2': ('twenty.c', C, 'gcc -gdwarf-4 -O2'),
    'C gcc -gsplit-dwarf -O0': ('twenty.c', C, 'gcc -g -gsplit-dwarf -O0'),
    'C++ gcc -gsplit-dwarf -O2': ('twenty.cc', CXX, 'g++ -g -gsplit-dwarf -O2'),
    'C gcc -no-pie -O1': ('twenty.c', C, 'gcc -g -no-pie -O1'),
    'C gcc -flto -O2': ('twenty.c', C, 'gcc -g -flto -O2'),
    'C++ gcc -O0': ('twenty.cc', CXX, 'g++ -g -O0'),
    'C++ gcc -O2': ('twenty.cc', CXX, 'g++ -g -O2'),
    'C++ clang -O0': ('twenty.cc', CXX, 'clang++ -g -O0'),
    'C++ clang -O2': ('twenty.cc', CXX, 'clang++ -g -O2'),
    'Rust -O0': ('twenty.rs', RUST, 'rustc -g -Copt-level=0'),
    'Rust -O2': ('twenty.rs', RUST, 'rustc -g -Copt-level=2'),
}
MANY = ('operator()', 'fmt', 'new', 'add', 'parse', 'area', 'helper', 'distance')  # libraries have functions of these names
NEEDS_SYMBOLIZER = 'clang++'  # addr2line misses some calls that it inlined
COUNTS = ('same', 'more', 'fewer', 'other name', 'perf fails', 'both fail', 'wrong')


class Program:
    """One of the programs, with what other tools say of its code."""

    def __init__(self, folder, build):
        source, self.functions, command = BUILDS[build]
        self.build = build
        self.source = folder / source
        self.path = folder / re.sub(r'[^\w+]', '_', build)
        if not self.source.exists():
            shutil.copy(HERE / 'probed' / source, self.source)
        # The .dwo file is made in the folder.
        self.compile(command, self.path)
        # Neither perf nor addr2line reads .dwo files, but the code is that of a program without them.
        self.reference = self.path
        if '-gsplit-dwarf' in command:
            self.reference = self.path.with_name(self.path.name + '_whole')
            self.compile(command.replace('-gsplit-dwarf ', ''), self.reference)
        self.lines = self.source.read_text().splitlines()
        self.needs_symbolizer = command.startswith(NEEDS_SYMBOLIZER)
        self.chains = {}
        self.rows = self.read_rows()
        self.entered, self.calls, self.own_code = self.read_entries()
        self.segments = [(int(m[1], 16), int(m[2], 16), int(m[3], 16)) for m in
                         re.finditer(r'^\s+LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)',
                                     self.ask('readelf', '-lW', None), re.M)]

    def compile(self, command, path):
        subprocess.run([*command.split(), str(self.source), '-o', str(path)], check=True, capture_output=True, cwd=self.path.parent)

    def ask(self, *command):
        """What a tool says of the program, whose path stands for None."""
        words = [str(self.reference) if word is None else word for word in command]
        return subprocess.run(words, capture_output=True, text=True, check=False, errors='replace').stdout

    def read_rows(self):
        """{(line, address)} of the statements of the program's own source."""
        rows = set()
        pattern = re.compile(r'\S*%s\s+(\d+)\s+0x([0-9a-f]+)(?:\[\d+\])?\s+(?:\d+\s+)?x' % re.escape(self.source.name))
        for line in self.ask('objdump', '--dwarf=decodedline', None).splitlines():
            match = pattern.match(line)
            if match:
                rows.add((int(match[1]), int(match[2], 16)))
        return rows

    def read_entries(self):
        """{(function, address)} of entries of code, out of line and inlined; {(line of a call, address)} of what was inlined
        there; {function with code out of line: [(low, high)]}."""
        entries, at = {}, None
        for line in self.ask('readelf', '-W', '--debug-dump=info', None).splitlines():
            match = re.match(r'\s*<[0-9a-f]+><([0-9a-f]+)>: Abbrev Number: \d+ \((\w+)\)', line)
            if match:
                at = entries.setdefault(int(match[1], 16), {'tag': match[2]})
                continue
            match = re.match(r'\s*<[0-9a-f]+>\s+DW_AT_(\w+)\s*:\s*(?:\([^)]*\):? )*(.*)', line)
            if match and at is not None and match[1] in ('name', 'linkage_name', 'abstract_origin', 'specification', 'entry_pc',
                                                         'low_pc', 'high_pc', 'call_line'):
                at[match[1]] = match[2].split('\t')[0].strip()

        def names(entry, depth=0):
            found = {entry[key] for key in ('name', 'linkage_name') if key in entry}
            for key in ('abstract_origin', 'specification'):
                if key in entry and depth < 8:
                    found |= names(entries.get(int(entry[key].strip('<>'), 16), {}), depth + 1)
            return found

        entered, calls, own = set(), set(), {}
        for entry in entries.values():
            addresses = [int(entry[key], 16) for key in ('entry_pc', 'low_pc') if key in entry]
            if entry['tag'] == 'DW_TAG_inlined_subroutine' and 'call_line' in entry:
                calls |= {(int(entry['call_line']), address) for address in addresses}
            elif entry['tag'] == 'DW_TAG_subprogram' and 'low_pc' in entry and 'high_pc' in entry:
                low, high = (int(entry[key], 16) for key in ('low_pc', 'high_pc'))
                for name in names(entry):
                    own.setdefault(name, []).append((low, high if high > low else low + high))
            elif entry['tag'] == 'DW_TAG_subprogram' and addresses:
                for name in names(entry):
                    own.setdefault(name, [])
            if entry['tag'] in ('DW_TAG_subprogram', 'DW_TAG_inlined_subroutine'):
                entered |= {(name, address) for name in names(entry) for address in addresses}
        return entered, calls, own

    def chain(self, address):
        """The names of the function that has the code, and of calls that were inlined there."""
        if address not in self.chains:
            text = self.ask('addr2line', '-i', '-f', '-C', '-e', None, hex(address))
            if self.needs_symbolizer:
                text += self.ask('llvm-symbolizer', '-e', None, hex(address))
            self.chains[address] = text.splitlines()[::2]
        return self.chains[address]

    def lines_at(self, address):
        """The lines of the source that code at an address is of: of the innermost function, and of the calls around it."""
        text = self.ask('addr2line', '-i', '-e', None, hex(address))
        if shutil.which('llvm-symbolizer'):
            text += self.ask('llvm-symbolizer', '-e', None, hex(address))
        return {int(line) for line in re.findall(r'/%s:(\d+)' % re.escape(self.source.name), text)}

    def address(self, offset):
        """perf and tally print offsets in the file."""
        return next((offset - begin + address for begin, address, size in self.segments if begin <= offset < begin + size), None)

    def has_function(self, address, function, offset=0):
        """Whether the code is of a function of that name: it is entered there, or addr2line says so."""
        if offset == 0 and (function, address) in self.entered:
            return True
        # addr2line does not say which instance of a Rust function it is, and has a name for what lies behind a function.
        if '<' in function or (offset > 0 and len(self.chain(address)) == 1 and self.own_code.get(function)):
            return any(low <= address < high for low, high in self.own_code.get(function, []))
        name = {'_Z8overloadi': 'overload'}.get(function, function)
        pattern = re.compile(r'(^|[\s:>])%s($|[\s(<\[.@])' % re.escape(name))
        return any(pattern.search(text) for text in self.chain(address))

    def has_line(self, address, line):
        """Whether code of that line of the source begins there: a statement, a call that was inlined, or a function that is
        declared there."""
        if (line, address) in self.rows or (line, address) in self.calls or line in self.lines_at(address):
            return True
        names = [name for name, own in self.entered if own == address] + self.chain(address)
        return 0 < line <= len(self.lines) and any(re.split(r'[(<]', name)[0].split('::')[-1] in self.lines[line - 1] for name in names)

    def declared(self, function):
        """The lines that may declare it."""
        name = {'_Z8overloadi': 'overload'}.get(function, function.split('<')[0])
        return [number for number, text in enumerate(self.lines, 1) if name in text]


def run(program, command, *words):
    path = program.path if command == TALLY else program.reference
    result = subprocess.run([str(command), 'probe', '-x', str(path), *words], capture_output=True, text=True, check=False,
                            stdin=subprocess.DEVNULL, env={**os.environ, 'LC_ALL': 'C', 'DEBUGINFOD_URLS': ''})
    return result.returncode, result.stdout, result.stderr


def places(program, command, definition):
    """[(what the event is called, address)], or None where the definition is refused; the second: what was said."""
    code, out, err = run(program, command, '-D', definition)
    # What stands for other characters than letters and digits is not compared.
    found = [(match[1] + ':' + re.sub('_+', '_', match[2]), int(match[3], 16)) for match in re.finditer(r'^([pr]):\w+/(\S+) \S+:(0x[0-9a-f]+)', out, re.M)]
    return (found if code == 0 else None), (err.strip() or f'exit status {code}')


def proved(program, definition, offset):
    """Whether other tools say that the definition's code is at an offset in the program file."""
    address = program.address(offset)
    if address is None:
        return False
    match = re.match(r'%s:(\d+)$' % re.escape(program.source.name), definition)
    if match:
        return program.has_line(address, int(match[1]))
    function = re.match(r'(.*?)(?:@|%return|\+\d+$|:\d+$|$)', definition)[1]
    line = re.search(r'[^:]:(\d+)$', definition)
    if line and int(line[1]) > 0:
        return program.has_function(address, function) and any(
            program.has_line(address, declared + int(line[1])) for declared in program.declared(function))
    plus = re.search(r'\+(\d+)$', definition)
    return program.has_function(address, function, int(plus[1]) if plus else 0)


def judge(program, definition, perf, tally):
    """One of COUNTS for a definition."""
    theirs, ours, said = perf[0], tally[0], tally[1]
    if theirs is None and ours is None:
        return 'both fail' if re.search('not found|Failed to find|^Offset', said) else 'wrong'
    if theirs == ours:
        return 'same'
    extra = [offset for _, offset in ours or [] if offset not in [own for _, own in theirs or []]]
    missing = [offset for _, offset in theirs or [] if offset not in [own for _, own in ours or []]]
    if any(proved(program, definition, offset) for offset in missing) or \
            not all(proved(program, definition, offset) for offset in extra):
        return 'wrong'
    if theirs is None:
        return 'perf fails'
    if not extra and not missing:
        # Events of a line are named after the function of the line, which for perf is what was inlined there.
        return 'other name' if definition.startswith(program.source.name) else 'wrong'
    return 'more' if extra else 'fewer'


def definitions(program, brief):
    for function in program.functions:
        yield function
        yield function + '%return'
        if function not in MANY:
            yield function + ':2'
        if not brief:
            yield from (function + end for end in ('+1', ':0', '@' + program.source.name))
            yield from (function + end for end in (':1', ':3') if function not in MANY)
    if brief:
        return
    for number in range(1, len(program.lines) + 1):
        yield f'{program.source.name}:{number}'


def judge_listing(program, what, perf, tally):
    """The texts must be equal; lines that only tally marks must have code, and none may be missing."""
    theirs, ours = perf[1].splitlines(), tally[1].splitlines()
    if perf[0] != 0:
        return 'both fail' if tally[0] != 0 else 'perf fails'
    if theirs == ours:
        return 'same'
    if tally[0] != 0 or ours[0] != theirs[0]:
        return 'wrong'
    first = 0
    if what != program.source.name:
        # Counted from the line that both show first.
        first = program.lines.index(ours[1][9:]) + 1
    for left, right in zip(theirs[1:], ours[1:]):
        if left[9:] != right[9:] or (left[:9].strip() and not right[:9].strip()):
            return 'wrong'
        line = first + int(right[:9]) if right[:9].strip() else 0
        if left != right and not any(line == own for own, _ in program.rows | program.calls) and not \
                any(name in program.lines[line - 1] for name, _ in program.entered):
            return 'wrong'
    return 'more'


TALLY = None


def compare(program, perf, tally, brief, show=None):
    """Counts of judgements of all definitions, and the lines that describe wrong ones."""
    global TALLY
    TALLY = tally
    counts, wrong = collections.Counter(), []
    for definition in definitions(program, brief):
        theirs, ours = places(program, perf, definition), places(program, tally, definition)
        verdict = judge(program, definition, theirs, ours)
        counts[verdict] += 1
        if verdict == 'wrong' or show:
            text = [None if found is None else ' '.join(f'{event}@{offset:#x}' for event, offset in found) for found, _ in (theirs, ours)]
            text = f'{program.build}: {verdict}: {definition!r}: perf {text[0] or theirs[1]}, tally {text[1] or ours[1]}'
            if verdict == 'wrong':
                wrong.append(text)
            elif verdict != 'same':
                print(text)
    # For what is only inlined, perf lists lines of other functions.
    listed = [function for function in program.functions if function in program.own_code and function not in MANY]
    for what in [program.source.name, *listed[:: 4 if brief else 1]]:
        theirs, ours = run(program, perf, '-L', what), run(program, tally, '-L', what)
        verdict = judge_listing(program, what, theirs, ours)
        counts[verdict] += 1
        if verdict == 'wrong':
            lines = [(left, right) for left, right in zip(theirs[1].splitlines(), ours[1].splitlines()) if left != right]
            wrong.append(f'{program.build}: -L {what}: {lines[:2] or (theirs[2], ours[2])}')
    return counts, wrong


def missing(build):
    """The tool that is not installed, or cannot run (rustup has a rustc without a compiler); None: all are."""
    tools = [BUILDS[build][2].split()[0], 'objdump', 'addr2line', 'readelf']
    if tools[0] == NEEDS_SYMBOLIZER:
        tools.append('llvm-symbolizer')
    return next((tool for tool in tools if not shutil.which(tool) or
                 subprocess.run([tool, '--version'], capture_output=True, check=False).returncode != 0), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--tally', default=HERE.parents[1] / 'build/src/cli/tally', type=pathlib.Path)
    parser.add_argument('--perf', default='/opt/perf7/perf', type=pathlib.Path)
    parser.add_argument('--brief', action='store_true', help='what the end-to-end test compares')
    parser.add_argument('--build', help='only builds with these words')
    parser.add_argument('--show', action='store_true', help='list all that differs')
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix='tally-probe-places-') as folder:
        for build in BUILDS:
            if options.build and options.build not in build:
                continue
            if missing(build):
                print(f'{build}: skipped: {missing(build)} is not installed')
                continue
            program = Program(pathlib.Path(folder), build)
            counts, wrong = compare(program, options.perf, options.tally, options.brief, options.show)
            print(f'{build}: ' + ', '.join(f'{counts[key]} {key}' for key in COUNTS if counts[key]))
            print(*wrong, sep='\n', end='\n' if wrong else '')
            failed |= bool(wrong)
    return failed


if __name__ == '__main__':
    sys.exit(main())
