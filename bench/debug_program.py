#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a C++ program with much debug information: templates, lambdas, inlined calls three deep, in many units.

usage: bench/debug_program.py OUTPUT [MEGABYTES]

A unit is compiled once; its copies differ in the name of the one function that is not local, so that hundreds of
megabytes cost seconds of linking and not minutes of compiling. MEGABYTES (500) is what the debug sections come to.
`OUTPUT [TURNS]` calls each unit in turn.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

# Names of an anonymous namespace stay local, so that the linker keeps each copy.
TEMPLATES = '''
namespace {
typedef unsigned long word;
template <class T, int N> struct step {
	T value;
	__attribute__((always_inline)) inline word mix(word x) const { return (x ^ value) * (2 * N + 1) + (x >> 7); }
	__attribute__((always_inline)) inline word twice(word x) const { const word once = mix(x); return mix(once + N); }
};
template <class T, class U, int N> struct pair {
	step<T, N> first;
	step<U, N + 1> second;
	__attribute__((always_inline)) inline word both(word x) const
	{
		const word left = first.twice(x);
		const word right = second.twice(x);
		return left ^ right;
	}
};
template <class T, class U, int N> __attribute__((noinline)) word work(word x)
{
	pair<T, U, N> parts = {{T(x)}, {U(x >> 3)}};
	auto again = [&](word turns) {
		word sum = x;
		for (word i = 0; i < turns; i++)
			sum += parts.both(sum + i);
		return sum;
	};
	return again(4) + again(x & 7);
}
template <int N> struct walk {
	static word all(word x)
	{
		x = work<int, long, N>(x);
		x = work<short, word, N>(x);
		x = work<char, unsigned, N>(x);
		x = work<long, short, N>(x);
		return walk<N - 1>::all(x);
	}
};
template <> struct walk<FIRST> { static word all(word x) { return x; } };
}
unsigned long unit_entry(unsigned long x) { return walk<FIRST + COUNT>::all(x); }
'''
ENTRY = '_Z10unit_entrym'
DISTINCT = 2  # units that are compiled
COUNT = 400  # instantiations of walk in each


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def debug_bytes(path):
    """The bytes of the sections of a file whose names begin with .debug_."""
    text = subprocess.run(['readelf', '-SW', str(path)], check=True, text=True, capture_output=True).stdout
    return sum(int(size, 16) for size in re.findall(r'\] \.debug_\w+ +\S+ +\S+ +\S+ +(\S+)', text))


def main_unit(count):
    lines = [f'unsigned long entry_{i}(unsigned long);' for i in range(count)]
    lines += ['unsigned long (*const entries[])(unsigned long) = {', *(f'\tentry_{i},' for i in range(count)), '};',
              'unsigned long strtoul(const char *, char **, int);',
              'int main(int argc, char **argv)', '{',
              '\tunsigned long x = 1, turns = argc > 1 ? strtoul(argv[1], 0, 10) : 1;',
              f'\tfor (unsigned long i = 0; i < turns * {count}; i++)', f'\t\tx = entries[i % {count}](x);',
              '\treturn x == 42;', '}', '']
    return '\n'.join(lines)


def build(output, megabytes):
    with tempfile.TemporaryDirectory(dir=pathlib.Path(output).parent) as folder:
        work = pathlib.Path(folder)
        units = []
        for i in range(DISTINCT):
            source = work / f'unit{i}.cc'
            source.write_text(TEMPLATES)
            run('g++', '-g', '-O1', '-ftemplate-depth=1000', f'-DFIRST={i * COUNT}', f'-DCOUNT={COUNT}', '-c', source,
                '-o', work / f'unit{i}.o')
            units.append(work / f'unit{i}.o')
        each = sum(debug_bytes(unit) for unit in units) / DISTINCT
        count = max(1, round(megabytes * 1e6 / each))
        copies = []
        for i in range(count):
            copies.append(work / f'copy{i}.o')
            run('objcopy', f'--redefine-sym={ENTRY}=entry_{i}', units[i % DISTINCT], copies[-1])
        (work / 'main.c').write_text(main_unit(count))
        run('gcc', '-g', '-O1', work / 'main.c', *copies, '-Wl,--build-id', '-o', output)


def main():
    parser = argparse.ArgumentParser(description='Builds a C++ program with much debug information.')
    parser.add_argument('output', help='the program')
    parser.add_argument('megabytes', nargs='?', type=int, default=500, help='debug information (default 500)')
    options = parser.parse_args()
    build(options.output, options.megabytes)
    print(f'{options.output}: {debug_bytes(options.output) / 1e6:.0f} MB of debug sections')


if __name__ == '__main__':
    main()
