# SPDX-License-Identifier: Apache-2.0
"""report by source line and file: perf's rows, of a recording of a program that is built here."""
import os
import re
import shutil
import subprocess

import pytest

SOURCE = '''
#include "header.h"
volatile unsigned long sink;
__attribute__((noinline, noclone)) unsigned long outer(unsigned long n)
{
	volatile unsigned long sum = 0; /* so that it has a frame */
	for (unsigned long i = 0; i < n; i++)
		sum += middle(i);
	return sum;
}
__attribute__((noinline, noclone)) unsigned long caller(unsigned long n)
{
	unsigned long sum = outer(n);
	return sum ^ outer(n + 1);
}
int main(void)
{
	sink = caller(3000000);
	return 0;
}
'''
HEADER = '''static inline __attribute__((always_inline)) unsigned long deep(unsigned long x)
{
	for (int i = 0; i < 50; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}
static inline __attribute__((always_inline)) unsigned long middle(unsigned long x)
{
	return deep(x) ^ (x >> 3);
}
'''


@pytest.fixture
def data(tally, tmp_path):
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    (tmp_path / 'program.c').write_text(SOURCE)
    (tmp_path / 'header.h').write_text(HEADER)
    subprocess.run(['cc', '-O2', '-g', '-fno-omit-frame-pointer', '-fno-shrink-wrap',
                    tmp_path / 'program.c', '-o', tmp_path / 'program'],
                   check=True)
    tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', 2000, '-o', tmp_path / 'data', tmp_path / 'program', check=0)
    return tmp_path / 'data'


def rows(program, data, *options):
    text = program('report', '-i', data, '--stdio', '-g', 'none', *options, check=0).stdout
    return [re.sub(r'  +', '  ', line.strip()) for line in text.splitlines()
            if '%' in line and not line.startswith('#')]


def test_rows_of_lines_and_files(tally, data):
    lines = [row.split()[-1] for row in rows(tally, data, '--no-children', '-s', 'srcline')]
    assert set(lines[:2]) <= {'header.h:3', 'header.h:4'}
    files = rows(tally, data, '--no-children', '-s', 'srcfile')
    assert files[0].endswith('%  header.h') and float(files[0].split('%')[0]) > 90
    whole = rows(tally, data, '--no-children', '-s', 'srcfile', '--full-source-path')
    assert whole[0].endswith(f'%  {data.parent}/header.h')
    assert [row.split('  ')[0] for row in whole] == [row.split('  ')[0] for row in files]


def test_callers_have_their_own_lines(tally, data):
    found = {}
    for row in rows(tally, data, '--children', '-s', 'srcline,sym'):
        children, own, line, symbol = row.split('  ')
        found.setdefault(symbol, []).append((float(children[:-1]), float(own[:-1]), line))
    # Where a call returns to may be the line after it, as in perf; what is inlined has the line of its call.
    assert {line for _, _, line in found['[.] main']} <= {'program.c:18', 'program.c:20'}
    assert {line for *_, line in found['[.] caller']} & {'program.c:13', 'program.c:14'}
    assert any(line == 'program.c:8' and children > 90 for children, _, line in found['[.] outer'])
    assert any(line == 'header.h:9' and children > 90 for children, _, line in found['[.] middle (inlined)'])
    # A sample's own line is the innermost one, whatever function's code it is in.
    assert sum(own for _, own, line in found['[.] outer'] if line.startswith('header.h')) > 90


def test_whole_paths_in_script(tally, data):
    text = tally('script', '-i', data, '-F', 'ip,sym,srcline', '--full-source-path', check=0).stdout
    assert f'\n  {data.parent}/header.h:4 (inlined)\n' in text and f'\n  {data.parent}/program.c:8\n' in text


def same_rows(tally, perf, data):
    for options in (['-s', 'srcline'], ['-s', 'srcfile'], ['-s', 'srcline,srcfile,dso'], ['-s', 'sym,srcline'],
                    ['-F', 'overhead,sample,srcline'], ['-s', 'srcline', '--full-source-path'],
                    ['-s', 'srcfile', '--full-source-path'], ['-s', 'srcline', '--no-inline']):
        theirs = rows(perf, data, '--no-children', '--dsos', 'program', *options)
        ours = rows(tally, data, '--no-children', '--dsos', 'program', *options)
        assert ours == theirs, options


def test_rows_are_those_of_perf(tally, perf, data):
    same_rows(tally, perf, data)


def test_rows_are_those_of_the_newest_perf(tally, newest_perf, data):
    same_rows(tally, newest_perf, data)


@pytest.mark.parametrize('option', [['-s', 'srcline'], ['-s', 'srcfile'], ['-s', 'srcline,sym', '--children']])
def test_without_debug_information(tally, workload, tmp_path, option):
    tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-o', tmp_path / 'data', workload('deep').path, '50', check=0)
    result = tally('report', '-i', tmp_path / 'data', '--stdio', *option, check=0)
    assert 'Source' in result.stdout


def answering(path):
    """A program that answers as addr2line does: what nothing else says."""
    path.write_text('#!/bin/sh\nwhile read a; do case $a in 0x0) printf "0x0\\n??\\n??:0\\n";; '
                    '*) printf "%s\\ninner_of_it\\nnever.h:11\\nouter\\nnever.c:22\\n" $a;; esac; done\n')
    path.chmod(0o755)
    return path


def test_addr2line_gives_the_lines(tally, data, tmp_path):
    """The named program is run, and what it says is shown: an answer that nothing else gives."""
    program = answering(tmp_path / 'answers')
    for verb in (('report', '--stdio', '-g', 'none', '-s', 'srcline'), ('annotate', '--stdio', '-l'),
                 ('script', '-F', 'ip,sym,srcline')):
        said = tally(*verb, '-i', data, '--addr2line', program, check=0).stdout
        assert 'never.h:11' in said and 'program.c:' not in said, verb
        assert 'never' not in tally(*verb, '-i', data, check=0).stdout
    assert 'inner_of_it (inlined)' in tally('report', '--stdio', '-g', 'caller', '-i', data, '--addr2line', program,
                                            check=0).stdout


def test_addr2line_is_asked_of_files_without_debug_information(tally, data, tmp_path):
    (tmp_path / 'answers').write_text('#!/bin/sh\nwhile read a; do '
                                      'printf "%s\\ninner_of_it\\nnever.h:11\\nouter\\nnever.c:22\\n" $a; done\n')
    (tmp_path / 'answers').chmod(0o755)
    bare = ['cc', '-O2', '-fno-omit-frame-pointer', tmp_path / 'program.c', '-o', tmp_path / 'bare']
    subprocess.run(bare, check=True)
    tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', 2000, '-o', tmp_path / 'bare.data', tmp_path / 'bare', check=0)
    line = ('report', '--stdio', '-g', 'none', '-s', 'sym', '-i', tmp_path / 'bare.data', '-d', 'bare')
    assert 'inner_of_it (inlined)' in tally(*line, '--addr2line', tmp_path / 'answers', check=0).stdout
    assert 'inlined' not in tally(*line, check=0).stdout


def test_addr2line_of_binutils_gives_the_same_rows(tally, data):
    if not shutil.which('addr2line'):
        pytest.skip('addr2line is not installed')
    def of_program(lines):  # the C library's files have other names there
        return [line for line in lines if re.search(r'(program\.c|header\.h):\d', line)]

    own = of_program(rows(tally, data, '-s', 'srcline,sym'))
    assert len(own) > 5 and own == of_program(rows(tally, data, '-s', 'srcline,sym', '--addr2line', 'addr2line'))
    script = ('script', '-i', data, '-F', 'ip,sym,srcline')
    own = of_program(tally(*script, check=0).stdout.splitlines())
    assert own == of_program(tally(*script, '--addr2line', 'addr2line', check=0).stdout.splitlines())


def test_addr2line_that_fails_is_told(tally, data):
    for verb in ('report', 'annotate', 'script', 'top'):
        said = tally(verb, '--addr2line', '/nosuch/addr2line', check=255).stderr
        assert 'cannot run /nosuch/addr2line: No such file' in said
        assert 'cannot run /: Permission denied' in tally(verb, '--addr2line', '/', check=255).stderr
        assert 'cannot run nosuch-addr2line: No such file' in tally(verb, '--addr2line', 'nosuch-addr2line', check=255).stderr
    for verb in (('report', '--stdio', '-s', 'srcline'), ('annotate', '--stdio'), ('script', '-F', '+srcline')):
        said = tally(*verb, '-i', data, '--addr2line', 'true', check=0).stderr
        assert ': true ended before it had answered' in said, verb


@pytest.mark.parametrize('verb,option,style', [
    ('report', '--unwind-style', 'libdw,libunwind'), ('report', '--addr2line-style', 'libdw,llvm,libbfd'),
    ('script', '--unwind-style', 'libunwind'), ('report', '--unwind-style', 'libfoo'), ('report', '--unwind-style', ''),
    ('script', '--unwind-style', 'libdw,libfoo'), ('report', '--addr2line-style', 'bogus'),
    ('inject', '--unwind-style', 'libfoo')])
def test_styles_of_perf_change_nothing(tally, data, tmp_path, verb, option, style):
    words = [verb, '-i', data, *(['-o', tmp_path / 'out'] if verb == 'inject' else [])]
    styled = tally(*words, option, style)
    if 'foo' in style or style in ('', 'bogus'):
        assert styled.returncode == 129 and 'expects' in styled.stderr and not styled.stdout
    else:
        assert styled.returncode == 0 and styled.stdout == tally(*words, check=0).stdout


def test_the_style_addr2line_is_the_program(tally, data, tmp_path):
    """Looked up in PATH, where there is one that says what no reader does."""
    answering(tmp_path / 'addr2line')
    path = {'PATH': f'{tmp_path}:{os.environ["PATH"]}'}
    line = ('report', '--stdio', '-g', 'caller', '-i', data, '--addr2line-style', 'addr2line,libdw')
    assert 'inner_of_it (inlined)' in tally(*line, env=path, check=0).stdout
