# SPDX-License-Identifier: Apache-2.0
"""Inlined calls in call chains, from recordings of programs that are built here."""
import re
import shutil
import subprocess

import pytest

SOURCE = '''
volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long deep(unsigned long x)
{
	for (int i = 0; i < 50; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}
static inline __attribute__((always_inline)) unsigned long middle(unsigned long x)
{
	return deep(x) ^ (x >> 3);
}
__attribute__((noinline)) unsigned long outer(unsigned long n)
{
	unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++)
		sum += middle(i);
	return sum;
}
int main(void)
{
	sink = outer(6000000);
	return 0;
}
'''


def build(folder, *flags):
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    source = folder / 'program.c'
    source.write_text(SOURCE)
    subprocess.run(['cc', '-O2', '-fno-omit-frame-pointer', *flags, source, '-o', folder / 'program'], cwd=folder,
                   check=True)
    return folder / 'program'


def record(tally, folder, program):
    tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', 2000, '-o', folder / 'data', program, check=0)
    return folder / 'data'


@pytest.mark.parametrize('flags', [['-g'], ['-gdwarf-4'], ['-g', '-gz'], ['-g', '-gsplit-dwarf'],
                                   ['-gdwarf-4', '-gsplit-dwarf']], ids=' '.join)
def test_inlined_calls_are_frames(tally, tmp_path, flags):
    data = record(tally, tmp_path, build(tmp_path, *flags))
    text = tally('report', '-i', data, '--stdio', '--no-children', check=0).stdout
    lines = [line.strip(' |-') for line in text.splitlines() if not line.startswith('#')]
    # From the leaf on: the innermost call first, the function that holds its code last.
    at = next(i for i, line in enumerate(lines) if line.endswith('deep (inlined)'))
    assert lines[at + 1].startswith('middle (inlined)')
    assert lines[at + 2].startswith('outer')
    flat = tally('report', '-i', data, '--stdio', '--children', '-g', 'none', check=0).stdout
    assert 'middle (inlined)' in flat and 'deep (inlined)' in flat


def test_no_inline(tally, tmp_path):
    data = record(tally, tmp_path, build(tmp_path, '-g'))
    assert 'inlined' not in tally('report', '-i', data, '--stdio', '--no-inline', check=0).stdout


def test_without_debug_information(tally, tmp_path):
    data = record(tally, tmp_path, build(tmp_path))
    text = tally('report', '-i', data, '--stdio', check=0).stdout
    assert 'deep (inlined)' not in text and 'outer' in text


def test_separate_debug_file(tally, tmp_path):
    program = build(tmp_path, '-g')
    debug = tmp_path / 'program.debug'
    for command in (['objcopy', '--only-keep-debug', program, debug],
                    ['objcopy', '--strip-debug', f'--add-gnu-debuglink={debug}', program]):
        subprocess.run(command, cwd=tmp_path, check=True)
    data = record(tally, tmp_path, program)
    assert 'deep (inlined)' in tally('report', '-i', data, '--stdio', check=0).stdout


def test_script_lines(tally, tmp_path):
    data = record(tally, tmp_path, build(tmp_path, '-g'))
    lines = tally('script', '-i', data, '-F', 'ip,sym,srcline', check=0).stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith(' deep'))
    assert lines[at + 1] in ('  program.c:6 (inlined)', '  program.c:5 (inlined)')
    assert lines[at + 2].endswith(' middle') and lines[at + 3] == '  program.c:11 (inlined)'
    assert lines[at + 4].endswith(' outer') and lines[at + 5] == '  program.c:17'
    whole = tally('script', '-i', data, '-F', 'ip,sym,srcline', '--full-source-path', check=0).stdout
    assert f'  {tmp_path}/program.c:17\n' in whole
    plain = tally('script', '-i', data, '-F', 'ip,sym,srcline', '--no-inline', check=0).stdout
    assert 'inlined' not in plain


def test_script_without_debug_information_shows_the_address(tally, tmp_path):
    data = record(tally, tmp_path, build(tmp_path))
    lines = tally('script', '-i', data, '-F', 'ip,sym,srcline', check=0).stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith(' outer'))
    assert lines[at + 1].startswith('  program[') and lines[at + 1].endswith(']')


ONE_STEP = '''
volatile long g;
static inline __attribute__((HOW)) void step(long n) { for (volatile long i = 0; i < n; i++) ; g++; }
__attribute__((noinline)) void insert(long n) { g = 1; step(n); g++; }
__attribute__((noinline)) void other(long n) { for (volatile long i = 0; i < n; i++) ; g++; }
int main(void) { for (int i = 0; i < 60; i++) { insert(3000000); if (EXTRA) other(EXTRA); } return 0; }
'''


def record_step(tally, folder, name, how, extra=0):
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    (folder / 'step.c').write_text(ONE_STEP)
    subprocess.run(['cc', '-O1', '-g', '-fno-omit-frame-pointer', f'-DHOW={how}', f'-DEXTRA={extra}', 'step.c', '-o', 'step'], cwd=folder, check=True)
    tally('record', '-q', '--call-graph', 'dwarf', '-e', 'cpu-clock:u', '-F', 1000, '-o', folder / name, folder / 'step', check=0)
    return folder / name


def test_self_time_is_of_symbols_or_of_inlined_functions(live, tally, tmp_path):
    data = record_step(tally, tmp_path, 'data', 'always_inline')
    options = ('report', '--stdio', '--no-children', '-s', 'sym', '-i', data)

    def first(*more):
        shown = tally(*options, *more, check=0)
        return re.search(r'^\s+[\d.]+%\s+\[\.\] (.*?)\s*$', shown.stdout, re.M)[1], 'self time' in shown.stderr
    assert first() == ('insert', True)
    assert first('--self', 'symbol') == ('insert', True)
    assert first('--self', 'inlined') == ('step (inlined)', False)
    assert first('--self', 'inlined', '-g', 'none') == ('step (inlined)', False)
    assert first('--no-inline') == ('insert', False)
    folded = tally('flamegraph', '--folded', '-i', data, check=0).stdout
    assert all(line.rsplit(' ', 1)[0].endswith('insert;step') for line in folded.splitlines() if 'insert' in line)
    plain = tally('flamegraph', '--folded', '--no-inline', '-i', data, check=0).stdout
    stacks = [line.split(';', 1)[1] for line in plain.splitlines()]  # without the command, which is 'step' too
    assert not any('step' in stack for stack in stacks) and any(';insert ' in stack for stack in stacks)
    children = tally('report', '--stdio', '--children', '-g', 'none', '-s', 'sym', '--self', 'inlined', '-i', data, check=0).stdout
    shares = {name: (total, own) for total, own, name in re.findall(r'([\d.]+)%\s+([\d.]+)%\s+\[\.\] (.*?)\s*$', children, re.M)}
    assert shares['step (inlined)'][0] == shares['step (inlined)'][1] and float(shares['insert'][1]) < 5
    assert 'symbol' in tally('report', '--self', 'both', '-i', data, check=129).stderr


def test_a_call_is_one_path_whether_it_is_inlined(live, tally, tmp_path):
    base = record_step(tally, tmp_path, 'base', 'noinline')
    new = record_step(tally, tmp_path, 'new', 'always_inline', 1000000)
    text = tally('diff', '-g', base, new, check=0).stdout
    steps = [line.split() for line in text[text.index('paths'):].splitlines() if 'step' in line and 'insert' in line]
    assert steps and all(abs(float(words[1].rstrip('%'))) < 50 for words in steps)
