# SPDX-License-Identifier: Apache-2.0
"""tally annotate: rows as perf's on the same recording, and what is said where there is no code."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import json_schema
import perfdata_build
import pytest

SOURCE = """#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline, noclone))
static volatile unsigned long sink;
unsigned long table[256];
NI void hot(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i ^ (sink << 1); }
NI void divided(unsigned long n)
{
	for (unsigned long i = 1; i < n; i++)
		sink += 1000003 * i / (i | 3);
}
NI double floats(unsigned long n)
{
	double sum = 0;
	for (unsigned long i = 1; i < n; i++)
		sum += 1.0 / (double)i;
	return sum;
}
static inline unsigned long mixed(unsigned long i)
{
	return table[i & 255] * 31 + i;
}
NI void tabled(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		table[i * 7 & 255] = mixed(i);
}
static int less(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
NI void sorted(unsigned long n)
{
	static int numbers[4096];
	for (unsigned long r = 0; r < n; r++) {
		for (int i = 0; i < 4096; i++)
			numbers[i] = (int)(i * 2654435761u >> 8);
		qsort(numbers, 4096, sizeof(int), less);
	}
}
int main(void)
{
	hot(150000000);
	divided(60000000);
	printf("%f\\n", floats(120000000));
	tabled(150000000);
	sorted(700);
	return 0;
}
"""
FUNCTIONS = ('hot', 'divided', 'floats', 'tabled', 'less')
ROW = re.compile(r'^ *((?:\d+(?:\.\d+)? +)+): +([0-9a-f]+): +(.*?)(?: // .*)?$')


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    """A program with debug information, and its samples by two events."""
    if not shutil.which('gcc') or not shutil.which('perf'):
        pytest.skip('gcc or perf is not installed')
    folder = tmp_path_factory.mktemp('annotate')
    (folder / 'work.c').write_text(SOURCE)
    subprocess.run(['gcc', '-O2', '-g', '-o', 'work', 'work.c'], cwd=folder, check=True)
    command = ['perf', 'record', '-q', '-F', '499', '-e', '{cpu-clock:u,task-clock:u}', '-o', 'data', './work']
    if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip('perf cannot record here')
    return folder


def rows(text):
    """Values, address and instruction of each line of code."""
    found = [ROW.match(line) for line in text.splitlines()]
    return [(m.group(1).split(), m.group(2), m.group(3).rstrip()) for m in found if m]


def both(tally, perf, recording, *arguments, check=0):
    # Colours depend on the version of perf.
    theirs = perf('annotate', '--stdio', '--stdio-color', 'never', '-i', 'data', *arguments, cwd=recording, check=check)
    ours = tally('annotate', '--stdio', '-i', 'data', *arguments, cwd=recording, check=check)
    return theirs.stdout, ours.stdout


@pytest.mark.parametrize('function', FUNCTIONS)
def test_rows_of_functions_are_perfs(tally, perf, recording, function):
    theirs, ours = both(tally, perf, recording, function)
    assert len(rows(theirs)) > 2
    assert rows(ours) == rows(theirs)


@pytest.mark.parametrize('options', [
    ('-l',), ('-n',), ('--show-total-period',), ('--asm-raw',), ('-M', 'intel'), ('--no-source',), ('-P', '-l'),
    ('--percent-type', 'local-hits')])
def test_options_give_perfs_rows(tally, perf, recording, options):
    for function in FUNCTIONS[:4]:
        theirs, ours = both(tally, perf, recording, *options, function)
        assert rows(ours) == rows(theirs)


@pytest.mark.parametrize('options', [(), ('-l',), ('-l', '-P'), ('-n', '--no-source'), ('--percent-type', 'local-hits', '-l')])
def test_all_of_the_text_is_perfs(tally, perf, recording, options):
    """Headings, source, rows, names, places: line by line, of five functions."""
    for function in FUNCTIONS:
        theirs, ours = both(tally, perf, recording, *options, function)
        assert ours.count('\n') > 10
        assert [line.rstrip() for line in ours.splitlines()] == [line.rstrip() for line in theirs.splitlines()]


@pytest.mark.parametrize('style', [(), ('-M', 'intel'), ('-M', 'intel-mnemonic')])
def test_a_program_named_objdump_gives_the_text(tally, perf, recording, style):
    """The last one only objdump knows."""
    if not shutil.which('objdump'):
        pytest.skip('no objdump')
    for function in FUNCTIONS[:3]:
        theirs, ours = both(tally, perf, recording, '--objdump', 'objdump', *style, function)
        assert len(rows(ours)) > 5
        assert rows(ours) == rows(theirs)
    short = tally('annotate', '--stdio2', '--objdump', 'objdump', '-i', 'data', 'hot', cwd=recording, check=0).stdout
    assert short == tally('annotate', '--stdio2', '-i', 'data', 'hot', cwd=recording, check=0).stdout


def test_objdump_that_fails_is_told(tally, recording, tmp_path):
    for program, why in ((tmp_path / 'none', 'cannot run'), ('false', 'failed (status 1)'), ('true', 'no instructions')):
        result = tally('annotate', '--objdump', program, '-i', 'data', 'hot', cwd=recording, check=0)
        assert result.stdout == '' and why in result.stderr


@pytest.mark.parametrize('config, options', [
    ('disassembler_style = intel', []), ('disassembler_style = "intel"', ['-M', 'att']), ('disassembler_style = odd', []),
    ('show_nr_samples = yes', []), ('show_total_period', []), ('show_total_period = true', ['-n']),
    ('show_nr_samples = true', ['--show-total-period']), ('show_nr_samples = true', ['--no-show-nr-samples']),
    ('hide_src_code = true', [])])
def test_configuration_is_perfs(tally, perf, recording, tmp_path, config, options):
    (tmp_path / 'config').write_text(f'[annotate]\n\t{config}\n')
    arguments = ['annotate', '--stdio', '--stdio-color', 'never', '-i', 'data', *options, 'hot']
    theirs, ours = [program(*arguments, cwd=recording, check=0, env={'PERF_CONFIG': str(tmp_path / 'config')}).stdout
                    for program in (perf, tally)]
    assert len(rows(ours)) > 2
    assert [line.rstrip() for line in ours.splitlines()] == [line.rstrip() for line in theirs.splitlines()]


def test_configuration_without_perf(tally, recording, tmp_path):
    def text(config, *options):
        (tmp_path / 'config').write_text(config)
        return tally('annotate', '--stdio', '-i', 'data', *options, 'hot', cwd=recording, check=0,
                     env={'PERF_CONFIG': str(tmp_path / 'config')})

    intel = text('[annotate]\ndisassembler_style=intel\n').stdout
    assert intel == text('', '-M', 'intel').stdout != text('').stdout
    assert text('[annotate]\nshow_nr_samples=true\n').stdout == text('', '-n').stdout != text('').stdout
    refused = text('[annotate]\nshow_nr_samples=maybe\n')
    assert "bad config value for 'annotate.show_nr_samples'" in refused.stderr and refused.stdout == text('').stdout


def test_global_percentages_are_of_all_samples(tally, recording):
    """Of perf's own they depend on which symbols are shown, and of the second event of a group they are 0."""
    counts = rows(tally('annotate', '-i', 'data', '-n', cwd=recording, check=0).stdout)
    shares = rows(tally('annotate', '-i', 'data', '--percent-type', 'global-hits', cwd=recording, check=0).stdout)
    script = tally('script', '-i', 'data', '-F', 'event', cwd=recording, check=0).stdout.split()
    totals = [script.count('cpu-clock:u:'), script.count('task-clock:u:')]
    assert len(counts) == len(shares) > 100 and min(totals) > 100
    for (values, address, _), (percents, same, _) in zip(counts, shares):
        assert address == same
        assert [f'{100 * int(value) / total:.2f}' for value, total in zip(values, totals)] == percents


def test_all_functions_hottest_first(tally, perf, recording):
    heads = re.compile(r' <(\w+)>:$', re.M)
    theirs, ours = both(tally, perf, recording, '-d', 'work')
    samples = collections.Counter(re.findall(r'(\w+-clock:\w*):\s+\S+ (\w+)', perf(
        'script', '-F', 'event,ip,sym', '-i', 'data', cwd=recording, check=0).stdout))
    events = {event for event, _ in samples}
    assert len(events) == 2
    # perf leaves out functions that only the second event fell on. Where the events differ in what is hotter, either may
    # come first.
    first = heads.findall(ours)[:4]
    assert set(first) == set(heads.findall(theirs)[:4])
    for hotter, other in zip(first, first[1:]):
        assert any(samples[event, hotter] >= samples[event, other] for event in events), (first, samples)
    assert set(heads.findall(ours)) >= set(heads.findall(theirs)) >= set(FUNCTIONS[:4])


def test_summary_of_lines(tally, perf, recording):
    summary = re.compile(r'^((?: +\d+\.\d\d)+) (\S+:\d+)$', re.M)
    theirs, ours = both(tally, perf, recording, '-l', 'divided')
    assert summary.findall(ours) == summary.findall(theirs)
    assert 'work.c:' in ours


def test_compact_form_is_perfs(tally, perf, recording):
    for function in FUNCTIONS[:4]:
        theirs = perf('annotate', '--stdio2', '-i', 'data', function, cwd=recording, check=0).stdout
        ours = tally('annotate', '--stdio2', '-i', 'data', function, cwd=recording, check=0).stdout
        # The first line: of a group perf 6.1 has the period of the first event, later ones of all.
        assert [line.rstrip() for line in ours.splitlines()[1:]] == [line.rstrip() for line in theirs.splitlines()[1:]]


SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'annotate.json').read_text())


def test_json_has_what_the_text_has(tally, recording):
    text = rows(tally('annotate', '-i', 'data', '-n', 'divided', cwd=recording, check=0).stdout)
    tree = json.loads(tally('annotate', '-i', 'data', '--json', 'divided', cwd=recording, check=0).stdout)
    json_schema.check(tree, SCHEMA)
    function, = tree['functions']
    assert function['name'] == 'divided' and len(function['events']) == 2
    zero = [{'samples': 0}, {'samples': 0}]
    assert [([str(v['samples']) for v in row.get('values', zero)], row['address'][2:], row['text'])
            for row in function['instructions']] == text
    assert sum(row['values'][0]['samples'] for row in function['lines']) == function['events'][0]['samples']
    assert {row['path'] for row in function['instructions']} == {str(recording / 'work.c')}


def loop_of(recording):
    """The one loop of 'hot': its first and its last instruction."""
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', 'fixed'], cwd=recording, capture_output=True, text=True,
                          check=True).stdout
    body = re.search(r'<hot>:\n((?: .*\n)+)', text).group(1)
    backward = [m for m in re.finditer(r'^ *([0-9a-f]+):\tj[a-z]+ +([0-9a-f]+) <', body, re.M)
                if int(m.group(2), 16) < int(m.group(1), 16)]
    assert len(backward) == 1
    return int(backward[0].group(2), 16), int(backward[0].group(1), 16)


def test_branch_stacks(tally, perf, recording, tmp_path):
    """Ten samples of three turns of a loop each, 12 cycles a turn; the first of them was mispredicted, but is no run."""
    # Of programs that can lie anywhere perf 6.1 shows nothing.
    command = ['gcc', '-O2', '-g', '-no-pie', '-o', 'fixed', 'work.c']
    subprocess.run(command, cwd=recording, check=True)
    first, last = loop_of(recording)
    built = perfdata_build.Recording()
    built.event('IP TID TIME PERIOD BRANCH_STACK', kind=0, branch=1 | perfdata_build.BRANCH_ANY)
    built.text_feature(6, 'x86_64')
    built.comm('work')
    built.mmap(0x400000, 0x10000, str(recording / 'fixed'))
    for _ in range(10):
        turns = [last, first, 2 | 12 << 4] * 2 + [last, first, 1 | 12 << 4]
        built.sample(ip=last, branch_stack=turns)
    built.write(tmp_path / 'data')
    shown = re.compile(r'^ +\d+\.\d\d :.*\t#.*$', re.M)
    ours = tally('annotate', '--stdio', '-i', tmp_path / 'data', 'hot', check=0).stdout
    theirs = perf('annotate', '--stdio', '--stdio-color', 'never', '-i', tmp_path / 'data', 'hot', check=0).stdout
    assert shown.findall(ours) == shown.findall(theirs) != []
    tree = json.loads(tally('annotate', '-i', tmp_path / 'data', '--json', 'hot', check=0).stdout)
    rows_of = {int(row['address'], 16): row for row in tree['functions'][0]['instructions']}
    assert (rows_of[last]['cycles'], rows_of[last]['left'], rows_of[last]['predicted']) == (12, 100, 100)
    inside = [address for address in rows_of if first <= address <= last]
    assert {rows_of[address]['ipc'] for address in inside} == {round(len(inside) / 12, 4)}
    assert 'IPC Cycle' in tally('annotate', '--stdio2', '-i', tmp_path / 'data', 'hot', check=0).stdout


def test_code_of_another_machine(tally, perf, recording, tmp_path):
    """A program for arm64, with one sample on each instruction of its functions."""
    if not shutil.which('aarch64-linux-gnu-gcc') or not shutil.which('aarch64-linux-gnu-objdump'):
        pytest.skip('no cross-compiler for arm64')
    program = tmp_path / 'arm64'
    subprocess.run(['aarch64-linux-gnu-gcc', '-O2', '-g', '-o', program, recording / 'work.c'], check=True)
    listing = subprocess.run(['aarch64-linux-gnu-objdump', '-d', program], capture_output=True, text=True, check=True)
    built = perfdata_build.Recording()
    built.event('IP TID TIME PERIOD', kind=0)
    built.text_feature(6, 'aarch64')
    built.comm('arm64')
    built.mmap(0x5500000000, 0x10000, str(program))
    for function in FUNCTIONS:
        body = re.search(rf'<{function}>:\n((?: .*\n)+)', listing.stdout).group(1)
        for address in re.findall(r'^ *([0-9a-f]+):', body, re.M):
            built.sample(ip=0x5500000000 + int(address, 16))
    built.write(tmp_path / 'data')
    theirs = perf('annotate', '--stdio', '--stdio-color', 'never', '--objdump', 'aarch64-linux-gnu-objdump', '-i',
                  tmp_path / 'data', check=0).stdout
    ours = tally('annotate', '--stdio', '-i', tmp_path / 'data', check=0).stdout
    # What pages hold is named by the program's own symbols here.
    page = re.compile(r'(adrp .*) <.*>')
    assert len(rows(ours)) > 50
    # Functions with as many samples come in any order.
    assert sorted((address, values, page.sub(r'\1', text)) for values, address, text in rows(ours)) == sorted(
        (address, values, page.sub(r'\1', text)) for values, address, text in rows(theirs))


def test_generated_code(live, tally, workload, tmp_path):
    """Two functions that lay at one address in turn, each with its own code and lines."""
    data = tmp_path / 'perf.data'
    tally('record', '-k', 'mono', '-e', 'cpu-clock:u', '-F', '1000', '-o', data, '--', workload('jitcode').path, tmp_path,
          150, 'move', check=0)
    for function, line in (('jit_first', 'first.js:11'), ('jit_second', 'second.js:21')):
        text = tally('annotate', '-i', data, '-l', function, check=0).stdout
        assert sum(float(values[0]) for values, _, _ in rows(text)) == pytest.approx(100, abs=1)
        assert line in text and not any('(bad)' in text for _, _, text in rows(text))


def test_no_such_function(tally, recording):
    """An error, with the names that may be meant; never that there are no samples."""
    result = tally('annotate', '-i', 'data', 'nosuch', cwd=recording, check=255)
    assert result.stdout == ''
    assert "no samples fell on a function 'nosuch'" in result.stderr and 'has no samples' not in result.stderr
    assert re.search(r"'\w+' \(\d+ samples\)", result.stderr)


def test_part_of_a_name(live, tally, tmp_path):
    """Without template arguments, parameters, scopes; several functions that are meant are listed."""
    (tmp_path / 'names.cc').write_text('''
volatile long sum;
template<class T> struct Box { __attribute__((noinline)) long turn(T from, long n) { for (volatile long i = 0; i < n; i++); return from; } };
namespace ns { __attribute__((noinline)) long alone(long n) { for (volatile long i = 0; i < n; i++); return n; } }
int main() { Box<int> a; Box<char> b; for (int i = 0; i < 100; i++) sum = a.turn(i, 500000) + b.turn(i, 500000) + ns::alone(500000); }
''')
    built = subprocess.run(['c++', '-O1', '-g', 'names.cc', '-o', 'names'], cwd=tmp_path, check=False, capture_output=True)
    if built.returncode:
        pytest.skip('no C++ compiler')
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '-o', data, '--', tmp_path / 'names', check=0)
    assert 'ns::alone' in tally('annotate', '--stdio', '-i', data, 'alone', check=0).stdout
    assert 'Box<char>::turn' in tally('annotate', '--stdio', '-i', data, 'Box<char>::turn', check=0).stdout
    several = tally('annotate', '--stdio', '-i', data, 'turn', check=255)
    assert several.stdout == '' and 'Box<int>::turn' in several.stderr and 'Box<char>::turn' in several.stderr
    near = tally('annotate', '--stdio', '-i', data, 'alane', check=255)
    assert "the nearest names: 'ns::alone" in near.stderr


def test_cpus_and_times(tally, recording):
    """Samples that name no CPU cannot be chosen by it; halves of the time have all samples between them."""
    result = tally('annotate', '-i', 'data', '-C', '0', cwd=recording, check=255)
    assert 'does not contain CPU events' in result.stderr and result.stdout == ''

    def samples(*options):
        text = tally('annotate', '-i', 'data', '-n', *options, cwd=recording, check=0).stdout
        return sum(int(values[0]) for values, _, _ in rows(text))

    assert samples('--time', '0%-40%') + samples('--time', '40%-100%') in (samples(), samples() + 1)


def test_wrong_words(tally, recording):
    for words in (['--percent-type', 'foo'], ['-M', 'nosuch'], ['a', 'b'], ['--prefix-strip', '1']):
        result = tally('annotate', '-i', 'data', *words, cwd=recording)
        assert result.returncode in (129, 255)
        assert result.stdout == ''


def test_source_is_found_with_a_prefix(tally, recording, tmp_path):
    moved = tmp_path / 'elsewhere'
    moved.mkdir()
    (moved / 'work.c').write_text(SOURCE.replace('sink += 1000003', 'SINK += 1000003'))
    parts = len(str(recording).strip('/').split('/'))
    result = tally('annotate', '-i', 'data', '--prefix', moved, '--prefix-strip', str(parts), 'divided', cwd=recording,
                   check=0)
    assert 'SINK += 1000003' in result.stdout


def test_missing_code_is_told(tally, recording, tmp_path):
    result = tally('annotate', '-i', recording / 'data', '--symfs', tmp_path, env={'HOME': str(tmp_path)}, check=0)
    assert rows(result.stdout) == []


@pytest.mark.parametrize('share', [100, pytest.param(1, marks=pytest.mark.long)])
def test_instructions_are_objdumps(tally, share):
    """The text of one of so many instructions of the program itself; all of libc: tests/live/disassembly.py by hand."""
    from conftest import BUILD, ROOT
    if not shutil.which('objdump') or os.uname().machine != 'x86_64':
        pytest.skip('no objdump of x86-64 programs')
    tool = BUILD / 'tests' / 'live' / 'disassemble'
    for style in ([], ['-M', 'intel']):
        result = subprocess.run(['python3', ROOT / 'tests/live/disassembly.py', tool, '--one-of', str(share),
                                 BUILD / 'src/cli/tally', *style], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout
        assert int(re.search(r' of (\d+) instructions', result.stdout)[1]) > 300000 // share


LIBRARY = """#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline, noclone))
int counter = 1;
const int fixed = 5;
extern int strange(int);
NI int helper(int n) { return n * counter; }
NI static int hidden(int n) { return n * 3 + helper(n); }
NI int outer(int n)
{
	fputs("x", stderr);
	free(malloc((size_t)n));
	return helper(n) + hidden(n) + counter;
}
NI int tiny(void) { return 1; }
"""


@pytest.fixture
def stripped(tmp_path):
    """A recording with samples in a library that has dynamic symbols with versions only: (library, addresses by name)."""
    if not shutil.which('gcc') or not shutil.which('strip') or not shutil.which('objdump'):
        pytest.skip('gcc or binutils is not installed')
    if os.uname().machine != 'x86_64':
        pytest.skip('not on x86-64')
    (tmp_path / 'lib.c').write_text(LIBRARY)
    (tmp_path / 'map').write_text('VERS_1 { global: helper; outer; tiny; counter; fixed; local: *; };\n')
    library = tmp_path / 'libmade.so'
    subprocess.run(['gcc', '-O1', '-fPIC', '-shared', '-fno-stack-protector', '-Wl,--version-script=map', '-Wl,-Bsymbolic-functions', '-o',
                    library, 'lib.c'], cwd=tmp_path, check=True)
    subprocess.run(['strip', library], check=True)
    symbols = subprocess.run(['objdump', '-T', library], capture_output=True, text=True, check=True).stdout
    return library, {line.split()[-1]: int(line.split()[0], 16) for line in symbols.splitlines() if 'VERS_1' in line}


def record_by_hand(path, library, ips, period):
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD', kind=0, period=1000)
    r.comm('prog')
    r.mmap(0x7f0000000000, 0x10000, str(library))
    for at, ip in enumerate(ips):
        r.sample(ip=0x7f0000000000 + ip, time=1000 + at, period=period)
    r.write(path)


@pytest.mark.parametrize('style', ['--stdio', '--stdio2'])
def test_dynamic_symbols_have_versions(tally, stripped, tmp_path, style):
    library, symbols = stripped
    record_by_hand(tmp_path / 'data', library, [symbols['outer'], symbols['outer'] + 4], 1000)
    arguments = ['annotate', style, '--no-source', '-s', 'outer', '-i', tmp_path / 'data']
    shown = tally(*arguments).stdout
    if style == '--stdio':
        assert '<outer@@VERS_1>:' in shown and re.search(r'# [0-9a-f]+ <stderr@GLIBC_[0-9.]+>', shown)
        assert re.search(r'# [0-9a-f]+ <counter@@VERS_1-0x[0-9a-f]+>', shown)
    else:
        assert '→ call helper\n' in re.sub(' +', ' ', shown)
    if shutil.which('perf'):
        theirs = subprocess.run(['perf', *map(str, arguments)], capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'})
        # The heading of --stdio2 has the period as Hz there.
        rows = [[line.rstrip() for line in text.splitlines()[1:]] for text in (shown, theirs.stdout)]
        assert rows[0] == rows[1]


def test_the_heading_counts_what_is_asked_for(tally, stripped, tmp_path):
    """With samples in the library that no function is known of; and where all periods are 0."""
    library, symbols = stripped
    places = [symbols['tiny'], symbols['tiny'], 0x3fff]
    for period, count in ((1000, '3000'), (0, '0')):
        record_by_hand(tmp_path / 'data', library, places, period)
        shown = tally('annotate', '--stdio2', '--no-source', '-d', 'libmade.so', '-i', tmp_path / 'data').stdout.splitlines()
        assert shown[0].startswith("Samples: 3  of event 'cycles:HG'")
        assert f'Event count (approx.): {count},' in shown[0]
        assert shown[1] == f'tiny() {library}'
        assert [line.strip() for line in shown if line.endswith('ret')] == ['← ret']
        assert any(line == '           Disassembly of section .text:' for line in shown)


# Of one file only: gcc gives them no linker's name in the debug information.
LONG_NAMES = """template <typename A, typename B> struct pair_of {};
template <int N> struct nested { typedef pair_of<typename nested<N - 1>::type, typename nested<N - 1>::type> type; };
template <> struct nested<0> { typedef int type; };
static volatile int sink;
namespace {
template <typename T> __attribute__((noinline)) int measured(T, int x)
{
	return sink\t+= x;
}
__attribute__((noinline)) int outer(int x)
{
	return measured(nested<7>::type(), x) + 1;
}
}
int main(int argc, char **)
{
	return outer(argc);
}
"""


def test_functions_of_one_file_and_long_names(tally, tmp_path):
    """They go by their symbol, with the types of their parameters; names of templates are shown whole."""
    if not all(map(shutil.which, ('g++', 'nm'))):
        pytest.skip('g++ or nm is not installed')
    (tmp_path / 'work.cc').write_text(LONG_NAMES)
    subprocess.run(['g++', '-O1', '-g', '-no-pie', '-o', 'work', 'work.cc'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['nm', '-C', 'work'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    places = dict(reversed(line.split(' ', 2)[::2]) for line in symbols.splitlines() if line[0] != ' ')
    measured = next(name for name in places if '::measured<' in name)
    assert len(measured) > 2048
    built = perfdata_build.Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    built.comm('work')
    built.mmap(0x400000, 0x10000, str(tmp_path / 'work'))
    for name in ('(anonymous namespace)::outer(int)', measured):
        built.sample(ip=int(places[name], 16))
    built.write(tmp_path / 'data')
    shown = tally('annotate', '--stdio', '-i', 'data', cwd=tmp_path).stdout.splitlines()
    texts = [re.sub('^ *: *[0-9]+ *', '', line) for line in shown]
    assert '(anonymous namespace)::outer(int):' in texts and f'{measured}:' in texts
    assert any(line.endswith(f' <{measured}>') for line in shown)
    assert 'return sink     += x;' in texts


@pytest.mark.parametrize('is_stripped', [False, True], ids=['symbols', 'stripped'])
def test_code_without_debug_information_is_its_functions(tally, tmp_path, is_stripped):
    """Where the file itself has names. The same of a packed recording elsewhere."""
    if not all(map(shutil.which, ('g++', 'nm', 'strip'))):
        pytest.skip('g++ or binutils is not installed')
    (tmp_path / 'work.cc').write_text('namespace n { int sink; __attribute__((noinline)) void outer(int x) { sink += x; } }\n'
                                      'extern "C" __attribute__((noinline)) void plain(int x) { n::sink ^= x; }\n'
                                      'int main(int count, char **) { n::outer(count); plain(count); return 0; }\n')
    subprocess.run(['g++', '-O1', '-no-pie', '-o', 'work', 'work.cc'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['nm', '-C', 'work'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    places = dict(reversed(line.split(' ', 2)[::2]) for line in symbols.splitlines() if line[0] != ' ')
    if is_stripped:
        subprocess.run(['strip', 'work'], cwd=tmp_path, check=True)
    built = perfdata_build.Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    built.comm('work')
    built.mmap(0x400000, 0x10000, str(tmp_path / 'work'))
    for name in ('n::outer(int)', 'plain'):
        built.sample(ip=int(places[name], 16))
    built.write(tmp_path / 'data')
    line = ['annotate', '--stdio', '-i', 'data']
    shown = tally(*line, cwd=tmp_path).stdout
    for name in ('n::outer(int):', 'plain():'):
        assert bool(re.search(f'^ *: 6 +{re.escape(name)}$', shown, re.M)) != is_stripped
    if shutil.which('perf'):
        theirs = subprocess.run(['perf', *line], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, 'LC_ALL': 'C'})
        assert [row.rstrip() for row in shown.splitlines()] == [row.rstrip() for row in theirs.stdout.splitlines()]
    tally('pack', 'data', cwd=tmp_path, check=0)
    (tmp_path / 'work').unlink()
    assert tally(*line, cwd=tmp_path).stdout == shown


def test_places_of_code_without_a_line_are_its_files(tally, tmp_path):
    """Compilers say so of code that comes from several lines."""
    if not all(map(shutil.which, ('clang', 'nm'))):
        pytest.skip('clang or nm is not installed')
    # An instruction has as many bytes as the other, of each kind of machine.
    (tmp_path / 'none.c').write_text('void hot(void)\n{\n\t__asm__("nop");\n\t__asm__("nop");\n}\nint main(void)\n{\n\thot();\n}\n')
    subprocess.run(['clang', '-O1', '-g', '-fno-inline', '-S', 'none.c'], cwd=tmp_path, check=True)
    code, count = re.subn(r'(\.loc\t\d+) 4 ', r'\1 0 ', (tmp_path / 'none.s').read_text())
    assert count > 0
    (tmp_path / 'none.s').write_text(code)
    subprocess.run(['clang', '-no-pie', '-o', 'work', 'none.s'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['nm', 'work'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    start = int(re.search(r'^(\w+) T hot$', symbols, re.M).group(1), 16)
    built = perfdata_build.Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    built.comm('work')
    built.mmap(0x400000, 0x10000, str(tmp_path / 'work'))
    for instruction in (0, 1, 1, 1):
        built.sample(ip=start + instruction * (1 if os.uname().machine == 'x86_64' else 4))
    built.write(tmp_path / 'data')
    shown = tally('annotate', '--stdio', '-l', '-i', 'data', cwd=tmp_path).stdout
    assert re.findall(r'^ +([0-9.]+) +(none\.c:\d+)$', shown, re.M) == [('75.00', 'none.c:0'), ('25.00', 'none.c:3')]


def test_why_no_function_is_shown(tally, tmp_path):
    record_by_hand(tmp_path / 'data', tmp_path / 'gone', [0x10, 0x20], 1000)
    for arguments in ((), ('-s', 'main')):
        said = tally('annotate', '--stdio', '-i', 'data', *arguments, cwd=tmp_path)
        assert said.stdout == '' and f'most in {tmp_path}/gone (the file does not exist' in said.stderr
        assert 'gone' not in tally('annotate', '--stdio', '-q', '-i', 'data', *arguments, cwd=tmp_path).stderr


def test_why_no_type_is_shown(tally, stripped, tmp_path):
    library, symbols = stripped
    record_by_hand(tmp_path / 'data', library, [symbols['outer'], symbols['outer'] + 4], 1000)
    for count, arguments in ((2, ('--data-type',)), (2, ('--data-type=int', '--json'))):
        said = tally('annotate', '--stdio', '-i', 'data', *arguments, cwd=tmp_path).stderr
        assert re.search(rf'no data type is known for any of {count} sampled instructions; for [012] of them there is no debug information here', said)


# As hand-written code is, and what begins and ends a program (_init, _fini).
NO_SIZE = """	.globl first, _start
	.text
first:
	nop
	.section more, "ax"
	.balign 64
_start:
	nop
"""


def test_code_without_a_size_ends_with_its_section(tally, tmp_path):
    if not all(map(shutil.which, ('gcc', 'nm'))):
        pytest.skip('gcc or nm is not installed')
    (tmp_path / 'work.s').write_text(NO_SIZE)
    subprocess.run(['gcc', '-nostdlib', '-static', '-no-pie', '-o', 'work', 'work.s'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['nm', 'work'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    first, second = (int(re.search(rf'^(\w+) T {name}$', symbols, re.M).group(1), 16) for name in ('first', '_start'))
    if second - first != 64:
        pytest.skip('this linker does not put one section behind the other')
    built = perfdata_build.Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD', config=0)
    built.comm('work')
    built.mmap(0x400000, 0x10000, str(tmp_path / 'work'))
    built.sample(ip=first)
    built.write(tmp_path / 'data')
    shown = tally('annotate', '--stdio', '-i', 'data', cwd=tmp_path).stdout
    assert rows(shown) == [(['100.00'], f'{first:x}', 'nop')]


DATED_SOURCE = '''__attribute__((noinline)) long worker(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i * 3; /* compiled here */
	return s;
}
int main(void) { return worker(60000000) == 1; }
'''


def doubted(tally, folder):
    document = json.loads(tally('annotate', '--json', '-i', 'd', 'worker', cwd=folder, check=0).stdout)
    json_schema.check(document, SCHEMA)
    return [(row['state'], row['files'], row['first']) for row in document['sources']]


def test_sources_that_are_absent_or_changed_are_said(live, tally, tmp_path):
    source = tmp_path / 'w.c'
    source.write_text(DATED_SOURCE)
    subprocess.run(['gcc', '-O1', '-g', '-o', 'w', source], cwd=tmp_path, check=True)
    tally('record', '-q', '-e', 'cpu-clock', '-F', '999', '-o', 'd', './w', cwd=tmp_path, check=0)
    same = tally('annotate', '--stdio', '-i', 'd', 'worker', cwd=tmp_path, check=0)
    assert 'compiled here' in same.stdout and 'w.c' not in same.stderr
    assert doubted(tally, tmp_path) == []
    built = (tmp_path / 'w').stat().st_mtime
    os.utime(source, (built + 60, built + 60))
    newer = tally('annotate', '--stdio', '-i', 'd', 'worker', cwd=tmp_path, check=0)
    assert f'{source} was modified after the program was built' in newer.stderr
    assert doubted(tally, tmp_path) == [('newer', 1, str(source))]
    source.write_text('/* another file of the same name */\n')
    os.utime(source, (built - 60, built - 60))
    shorter = tally('annotate', '--stdio', '-i', 'd', 'worker', cwd=tmp_path, check=0)
    assert f'{source} ends before lines that the debug information names' in shorter.stderr
    assert doubted(tally, tmp_path) == [('shorter', 1, str(source))]
    source.unlink()
    absent = tally('annotate', '--stdio', '-i', 'd', 'worker', cwd=tmp_path, check=0)
    assert f'no source of {source}: the file is not there' in absent.stderr and '--prefix' in absent.stderr
    assert doubted(tally, tmp_path) == [('absent', 1, str(source))]
