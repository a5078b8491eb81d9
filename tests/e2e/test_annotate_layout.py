# SPDX-License-Identifier: Apache-2.0
"""tally annotate: what the text of a listing looks like where a function has parts, long instructions and no loops of its own."""
import platform
import re
import shutil
import subprocess

import perfdata_build
import pytest

SOURCE = """#define NI __attribute__((noipa))
volatile unsigned long sink;
__attribute__((noipa, cold)) void seldom(unsigned long x) { sink += x; }
NI unsigned long apart(const int *p, unsigned long n)
{
	unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++) {
		if (__builtin_expect(p[i] < 0, 0)) {
			seldom(sum);
			sum ^= sink;
		}
		sum += (unsigned long)p[i];
	}
	return sum;
}
NI void wide(void)
{
	sink = 0x1122334455667788;
	sink ^= 5;
	sink += 7;
}
NI unsigned long padded(unsigned long n)
{
	unsigned long s = 1;
	for (unsigned long i = 1; i < n; i++)
		s = s * 31 + s / i;
	return s;
}
int main(void)
{
	int some[4] = {1, 2, 3, -4};
	sink = apart(some, 4);
	wide();
	sink += padded(10);
	return 0;
}
"""
FUNCTIONS = ('apart', 'wide', 'padded')


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    """Samples of two events, which are no group: as many of each function, the last one first."""
    if not all(map(shutil.which, ('gcc', 'nm'))):
        pytest.skip('gcc or nm is not installed')
    folder = tmp_path_factory.mktemp('layout')
    (folder / 'work.c').write_text(SOURCE)
    subprocess.run(['gcc', '-O2', '-g', '-no-pie', '-falign-loops=16', '-o', 'work', 'work.c'], cwd=folder, check=True)
    symbols = subprocess.run(['nm', 'work'], cwd=folder, capture_output=True, text=True, check=True).stdout
    places = {name: int(address, 16) for address, name in re.findall(r'^(\w+) \w (\S+)$', symbols, re.M)}
    built = perfdata_build.Recording()
    for config in (0, 1):
        # By frequency: perf's compact form says Hz of a fixed period too.
        built.event('IDENTIFIER IP TID TIME PERIOD', config=config, flags=1 << 10)
    built.name_events('cpu-clock', 'task-clock')
    built.text_feature(6, 'x86_64')
    built.comm('work')
    built.mmap(0x400000, 0x10000, str(folder / 'work'))
    for name in reversed(FUNCTIONS):
        for event in (0, 1):
            built.sample(event, ip=places[name])
    built.write(folder / 'data')
    return folder


def lines(text):
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize('function', FUNCTIONS)
@pytest.mark.parametrize('options', [('--stdio',), ('--stdio', '--asm-raw'), ('--stdio', '--group'), ('--stdio2',)])
def test_all_of_the_text_is_perfs(tally, perf, recording, function, options):
    colour = ('--stdio-color', 'never') if '--stdio' in options else ()
    theirs = perf('annotate', *options, *colour, '-i', 'data', function, cwd=recording, check=0).stdout
    ours = tally('annotate', *options, '-i', 'data', function, cwd=recording, check=0).stdout
    assert len(lines(ours)) > 10
    assert lines(ours) == lines(theirs)


@pytest.mark.parametrize('options', [(), ('-l',), ('--asm-raw', '-l', '-n')])
def test_colours_are_perfs(tally, perf, recording, options):
    words = ('annotate', '--stdio', '--stdio-color', 'always', *options, '-i', 'data', 'padded')
    ours = tally(*words, cwd=recording, check=0).stdout
    assert '\033[35m' in ours and '\033[34m' in ours and ('\033[31m padded.c' in ours or '-l' not in options or
                                                         '\033[31m work.c' in ours)
    assert lines(ours) == lines(perf(*words, cwd=recording, check=0).stdout)


def test_the_compact_form_has_no_colours(tally, recording):
    words = ('annotate', '--stdio2', '-i', 'data', 'padded')
    coloured = tally(*words, '--stdio-color', 'always', cwd=recording, check=0).stdout
    assert '100.00' in coloured and coloured == tally(*words, cwd=recording, check=0).stdout


def test_a_jump_to_the_part_further_up_keeps_its_address(tally, recording):
    text = tally('annotate', '--stdio2', '-i', 'data', 'apart', cwd=recording).stdout
    if 'apart.cold' not in text:
        pytest.skip('this compiler does not part the function')
    assert re.search(r'→ j\w+ +[0-9a-f]+ <apart\.cold>$', text, re.M)


def test_functions_of_one_weight_go_by_name(tally, recording):
    text = tally('annotate', '--stdio', '-i', 'data', cwd=recording).stdout
    assert re.findall(r' <(\w+)>:$', text, re.M) == sorted(FUNCTIONS) * 2


def test_events_that_are_no_group_are_named_one_by_one(tally, recording):
    text = tally('annotate', '--stdio', '--group', '-i', 'data', 'wide', cwd=recording).stdout
    assert ' for cpu-clock, task-clock (1 samples, ' in text


BELOW = """	.globl below
	.type below, @function
below:
	lea -0x10000(%rip), %rax
	ret
	.size below, .-below
"""


def test_names_of_what_lies_before_address_0(tally, perf, tmp_path):
    """As in a vdso: the data of the kernel is before its code, so far above all symbols."""
    if platform.machine() != 'x86_64' or not all(map(shutil.which, ('gcc', 'nm', 'objdump'))):
        pytest.skip('no gcc, nm and objdump of x86-64')
    (tmp_path / 'below.s').write_text(BELOW)
    subprocess.run(['gcc', '-shared', '-nostdlib', '-o', 'below.so', 'below.s'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['nm', 'below.so'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    start = int(re.search(r'^(\w+) T below$', symbols, re.M).group(1), 16)
    built = perfdata_build.Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    built.text_feature(6, 'x86_64')
    built.comm('work')
    built.mmap(0x400000, 0x10000, str(tmp_path / 'below.so'))
    built.sample(ip=0x400000 + start)
    built.write(tmp_path / 'data')
    words = ('annotate', '--stdio', '-i', 'data', 'below')
    ours = tally(*words, cwd=tmp_path).stdout
    theirs = perf(*words, '--stdio-color', 'never', cwd=tmp_path, check=0).stdout
    shown = re.findall(r'lea +-0x10000\(%rip\),%rax +# ffff\w+ <\w+\+0xffff\w+>', ours)
    assert len(shown) == 1 and shown == re.findall(r'lea .*\S', theirs)


COPIED = """#include <stdio.h>
__attribute__((noipa)) int say(int n) { return fputs("x", stderr) + n; }
int main(void) { return say(1) < 0; }
"""


def test_data_copied_from_a_library_has_its_version(tally, perf, tmp_path):
    """stderr lies in the program, but is not the program's own: one @, as objdump writes it."""
    if platform.machine() != 'x86_64' or not all(map(shutil.which, ('gcc', 'strip', 'objdump'))):
        pytest.skip('no gcc and binutils of x86-64')
    (tmp_path / 'say.c').write_text(COPIED)
    subprocess.run(['gcc', '-O1', '-no-pie', '-fno-pie', '-rdynamic', '-o', 'say', 'say.c'], cwd=tmp_path, check=True)
    subprocess.run(['strip', 'say'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['objdump', '-T', 'say'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    if not re.search(r'\.bss.*GLIBC\S* stderr$', symbols, re.M):
        pytest.skip('this linker does not copy stderr')
    start = int(re.search(r'^(\w+) .* say$', symbols, re.M).group(1), 16)
    built = perfdata_build.Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    built.text_feature(6, 'x86_64')
    built.comm('say')
    built.mmap(0x400000, 0x10000, str(tmp_path / 'say'))
    built.sample(ip=start)
    built.write(tmp_path / 'data')
    words = ('annotate', '--stdio', '-i', 'data', 'say')
    named = r'# \w+ <stderr@+GLIBC_\S+>'
    shown = re.findall(named, tally(*words, cwd=tmp_path).stdout)
    assert shown and '@@' not in shown[0]
    assert shown == re.findall(named, perf(*words, '--stdio-color', 'never', cwd=tmp_path, check=0).stdout)
