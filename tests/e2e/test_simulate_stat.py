# SPDX-License-Identifier: Apache-2.0
"""stat --simulate: counts that do not vary, their label, children, the gate of --compare, refusals and signals."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

import json_schema
from conftest import BUILD, ROOT, compiled, wait_for

TOOL = BUILD / 'simulator' / f'tally-{ {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, "") }-linux'
DEFAULT = ['instructions', 'branches', 'branch-misses', 'L1-dcache-loads', 'L1-dcache-load-misses', 'LLC-loads', 'LLC-load-misses',
           'L1-icache-loads', 'L1-icache-load-misses', 'dTLB-loads', 'dTLB-load-misses']

pytestmark = [
    pytest.mark.skipif(not shutil.which('valgrind'), reason='valgrind is not installed'),
    pytest.mark.skipif(not TOOL.exists(), reason='the simulator is not built (valgrind has no headers or libraries here)'),
    pytest.mark.skipif(not shutil.which('cc'), reason='there is no C compiler'),
]

# work(n) executes a fixed number of instructions for each of n, plus a fixed number.
LOOP = r'''
#include <stdlib.h>
__attribute__((noinline, noclone)) static unsigned long work(unsigned long n)
{
	volatile unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++) sum += i;
	return sum;
}
int main(int argc, char **argv)
{
	work(argc > 1 ? strtoul(argv[1], 0, 0) : 1000);
	return argc > 2 ? atoi(argv[2]) : 0;
}
'''
WINDOW = r'''
#include <tally/simulation.h>
static volatile unsigned long sum;
__attribute__((noinline, noclone)) static void work(unsigned long n) { for (unsigned long i = 0; i < n; i++) sum += i; }
int main(void) { work(100000); tally_simulation_begin(); work(1000); tally_simulation_end(); work(100000); return 0; }
'''


@pytest.fixture
def loop():
    # The dynamic loader would take most of the time.
    return compiled('loop.c', LOOP, '-O1', '-g', '-static', compiler='cc')


@pytest.fixture
def simulate(tally, tmp_path):
    """tally stat --simulate ...; afterwards, its temporary folder must be gone."""
    room = tmp_path / 'room'
    room.mkdir()
    tally.environment['TMPDIR'] = str(room)

    def run(*words, **kwargs):
        return tally('stat', '--simulate', *words, **kwargs)
    yield run
    assert not list(room.iterdir())


def rows(result):
    """{event: count} of -x,"""
    lines = [line.split(',') for line in result.stderr.splitlines() if re.match(r'\d', line)]
    return {line[2]: int(line[0]) for line in lines}


def counts_of(simulate, *words, check=0):
    return rows(simulate('-x,', *words, check=check))


def test_table_says_that_it_is_simulated(simulate, loop):
    result = simulate(loop, 1000, 7, check=7)
    label = result.stderr.splitlines()[0]
    assert label.startswith('# simulated, not measured (valgrind=')
    assert ' d1=' in label and ' predictor=' in label and "do not show the kernel's code" in label
    shown = re.findall(r'^ +(\d+) +(\S+) ', result.stderr, re.M)
    assert [event for _, event in shown] == DEFAULT
    counts = {event: int(count) for count, event in shown}
    share = 100 * counts['branch-misses'] / counts['branches']
    assert f'{share:.2f}% of all branches' in result.stderr
    assert 'of all L1-dcache accesses' in result.stderr and 'of all dTLB cache accesses' in result.stderr
    assert 'seconds of simulation (not the time that the command takes)' in result.stderr
    assert 'time elapsed' not in result.stderr


def test_input_output_and_status_are_the_commands(simulate):
    result = simulate('-e', 'instructions', 'sh', '-c', 'cat; echo err >&2; exit 3', stdin='through\n', check=3)
    assert result.stdout == 'through\n'
    assert result.stderr.splitlines()[0] == 'err'
    assert simulate('-e', 'instructions', 'sh', '-c', 'kill -9 $$').stderr.splitlines()[0] == 'sh: Killed'


def test_environment_is_the_commands_own(simulate):
    """But for the two variables that Valgrind needs; Debian's script around it would add more, which the loader reads."""
    inside = dict(line.split('=', 1) for line in simulate('-e', 'instructions', 'env', check=0).stdout.splitlines() if '=' in line)
    outside = dict(line.split('=', 1) for line in subprocess.run(['env'], text=True, capture_output=True, check=True).stdout.splitlines()
                   if '=' in line)
    added = set(inside) - set(outside) - {'TMPDIR', 'HOME'}
    assert {'LD_PRELOAD', 'VALGRIND_LIB'} <= added
    assert not added & {'LD_LIBRARY_PATH', 'GLIBCPP_FORCE_NEW', 'GLIBCXX_FORCE_NEW'}


def test_counts_are_exact_and_do_not_vary(simulate, loop):
    """Each turn of the loop executes the same number of instructions, one branch, one load and one store."""
    counts = [counts_of(simulate, '-e', 'instructions,branches,L1-dcache-loads,L1-dcache-stores', '--toggle', 'work', loop, n)
              for n in (1000, 2000, 4000)]
    for event in counts[0]:
        assert 2 * (counts[1][event] - counts[0][event]) == counts[2][event] - counts[1][event], event
    for event in 'branches', 'L1-dcache-loads', 'L1-dcache-stores':
        assert counts[1][event] - counts[0][event] == 1000, counts
    assert counts[0]['branches'] == pytest.approx(1000, abs=2)
    # All of the program, and all events.
    assert counts_of(simulate, '-d', loop) == counts_of(simulate, '-d', loop)


def test_repeated_runs_show_that_they_agree(simulate, loop):
    result = simulate('-r', 3, '-e', 'instructions', loop, check=0)
    assert re.search(r' instructions .*\( \+-  0\.00% \)', result.stderr), result.stderr
    assert '(3 runs)' in result.stderr


def test_json_is_as_the_schema_says(simulate, loop):
    known = json.loads((ROOT / 'docs/schema/stat.json').read_text(encoding='utf-8'))
    lines = [json.loads(line) for line in simulate('-j', '-e', 'instructions:u,cache-misses', loop, check=0).stderr.splitlines()]
    lines += [json.loads(line) for line in simulate('-j', '-e', 'instructions', '--compare', loop, loop, check=0).stderr.splitlines()]
    for line in lines:
        json_schema.check(line, known)
        assert set(line) <= set(known['properties']), line
    assert [line['event'] for line in lines[:2]] == ['instructions:u', 'cache-misses']
    for line in lines[:3]:
        assert line['origin']['kind'] == 'simulated'
        assert line['origin']['by'].startswith('valgrind=')
        assert 'how long' in line['origin']['not_seen']
    assert [line.get('kind') for line in lines[2:]] == ['simulated-comparison', 'gate']


def test_children_are_counted_unless_no_inherit(simulate, loop):
    one = counts_of(simulate, '-e', 'instructions', loop, 50000)['instructions']
    line = f'{loop} 50000; {loop} 50000; true'
    both = counts_of(simulate, '-e', 'instructions', 'sh', '-c', line)['instructions']
    shell = counts_of(simulate, '-i', '-e', 'instructions', 'sh', '-c', line)['instructions']
    assert both == pytest.approx(2 * one + shell, rel=0.01)
    assert shell < one
    # A program that the process itself executes is the process.
    executed = counts_of(simulate, '-i', '-e', 'instructions', 'sh', '-c', f'exec {loop} 50000')['instructions']
    assert executed > one


def test_names_of_perf(simulate, loop):
    words = 'branch-instructions:u,cache-misses,cache-references,LLC-load-misses,LLC-store-misses,LLC-code-misses,l2-loads'
    result = simulate('-x,', '--cache-model', 'generic', '-e', words, loop, check=0)
    counts = rows(result)
    assert counts['cache-misses'] == sum(counts[f'LLC-{kind}-misses'] for kind in ('load', 'store', 'code'))
    assert counts['cache-references'] >= counts['cache-misses'] > 0
    assert counts['branch-instructions:u'] > 1000
    assert ' d1=32768,8,64 l2=1048576,16,64 ll=33554432,16,64' in result.stderr.splitlines()[0]
    two = simulate('--cache-model', 'cachegrind:ll=8M,16,64', '-e', 'LLC-loads,l2-loads', loop, check=0)
    assert ' l2=' not in two.stderr.splitlines()[0]
    assert '<not supported> l2-loads: the model has no L2 cache' in two.stderr


def test_only_what_events_need_is_simulated(simulate, loop):
    assert 'i1=' not in simulate('-e', 'instructions', loop, check=0).stderr
    assert 'dtlb=' not in simulate('-e', 'LLC-loads', loop, check=0).stderr


def test_counting_begins_where_the_program_says(simulate, tmp_path):
    if not (ROOT / 'include/tally/simulation.h').exists():
        pytest.skip('there is no tally/simulation.h')
    (tmp_path / 'window.c').write_text(WINDOW)
    subprocess.run(['cc', '-O1', '-I', ROOT / 'include', '-o', tmp_path / 'window', tmp_path / 'window.c'], check=True)
    counts = counts_of(simulate, '-D', -1, '-e', 'instructions,branches', tmp_path / 'window')
    assert counts['branches'] == pytest.approx(1000, abs=50)
    assert 'which it did not' in simulate('-D', -1, '-e', 'instructions', 'true', check=0).stderr


def test_gate(simulate, loop):
    def gate(*words, check):
        return simulate('-e', 'instructions', '--compare', *words, check=check)
    assert 'B does not exceed A by more than 0.1% in instructions.' in gate(f'{loop} 100000', f'{loop} 100000', check=0).stderr
    worse = gate(f'{loop} 100000', f'{loop} 102000', check=3).stderr
    assert 'exceeds the threshold' in worse and 'B exceeds A by more than 0.1% in instructions.' in worse
    gate(f'{loop} 100000', f'{loop} 98000', check=0)
    gate(f'{loop} 100000', f'{loop} 102000', '--threshold', '50%', check=0)
    gate(f'{loop} 100000', f'{loop} 100001', '--threshold', 0, check=3)
    # The gate is instructions, unless -e names other events: what else there is, is shown.
    other = simulate('-d', '--compare', f'{loop} 1000', f'{loop} 1000 || exit 1', '--threshold', 1000, check=0).stderr
    assert re.search(r'[+-]\d+\.\d{3}%  LLC-load-misses', other), other  # a shell runs B
    failed = simulate('--compare', f'{loop} 10', f'{loop} 10 3', check=255).stderr
    assert 'no verdict: of B, 1 of 1 runs failed: exit status 3' in failed


def test_gate_on_files(simulate, loop, tmp_path):
    before, after, real = tmp_path / 'before.json', tmp_path / 'after.json', tmp_path / 'real.json'
    simulate('-j', '-o', before, loop, 100000, check=0)
    simulate('-j', '-o', after, loop, 103000, check=0)
    assert simulate('--compare', before, f'{loop} 100000', check=0)
    assert simulate('--compare', before, after, check=3)
    lines = [json.loads(line) for line in simulate('-j', '--compare', before, after, check=3).stderr.splitlines()]
    assert [line['event'] for line in lines[:-1]] == DEFAULT
    assert [line['is-gated'] for line in lines[:-1]] == [True] + [False] * (len(DEFAULT) - 1)
    assert lines[-1] == {'kind': 'gate', 'a': str(before), 'b': str(after), 'threshold-percent': 0.1, 'has-failed': True, 'verdict': 'worse'}
    missing = simulate('-e', 'l2-loads', '--compare', before, after, check=255).stderr
    assert f"no verdict: A ('{before}') has no count of l2-loads" in missing
    other = simulate('-e', 'LLC-loads', '--cache-model', 'generic:ll=1M,16,64', '--compare', before, loop, check=255).stderr
    assert 'no verdict on LLC-loads: A was simulated by' in other
    real.write_text('{"counter-value" : "5.0", "event" : "instructions"}\n')
    assert 'not simulated, and vary' in simulate('--compare', real, after, check=255).stderr
    real.write_text('5 instructions\n')
    assert f"cannot compare with '{real}': line 1 is no JSON object" in simulate('--compare', real, after, check=255).stderr
    assert 'No such file' in simulate('--compare', tmp_path / 'none.json', after, check=255).stderr


VARYING = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* FILE MEAN SPREAD: counts its runs in FILE, and each has another amount of work. */
int main(int argc, char **argv)
{
	static const int noise[] = {0, 1, -1, 2, -2};
	FILE *f = fopen(argv[1], "r+");
	int k = 0;
	if (!f || fscanf(f, "%d", &k) != 1) return 1;
	rewind(f); fprintf(f, "%d", k + 1); fclose(f);
	long n = atol(argv[2]) + noise[k % 5] * atol(argv[3]);
	for (volatile long i = 0; i < n; i++);
	return argc > 4 ? (abort(), 0) : 0;
}
'''


@pytest.fixture
def varying(tmp_path):
    program = compiled('varying.c', VARYING, '-O1', '-static', compiler='cc')

    def command(name, mean, spread):
        (tmp_path / name).write_text('0')
        return f'{program} {tmp_path / name} {mean} {spread}'
    return command


def test_gate_decides_by_the_spread(simulate, varying):
    def gate(b_mean, *words, check, spread=2000):
        return simulate('-e', 'instructions', '-r', 5, '--compare', varying('a', 100000, spread), varying('b', b_mean, spread), *words, check=check)
    open_ = gate(100200, check=4).stderr  # 0.2 %, and runs vary by 3 %
    assert re.search(r'\+- [23]\.\d\d%', open_) and 'undecided: instructions: runs vary too much to tell whether B exceeds A by more than 0.1%' in open_
    assert re.search(r'find [67]\S*% in 9 of 10 comparisons; about \d+ of each would do', open_) or '% in 9 of 10 comparisons' in open_
    worse = [json.loads(line) for line in gate(120000, '-j', check=3).stderr.splitlines()]
    assert worse[0]['verdict'] == worse[1]['verdict'] == 'worse' and worse[0]['test'] == 'ranks' and worse[0]['p-exceeds'] < 0.01
    gate(100200, '--threshold', 20, check=0)
    # What agrees is exact.
    gate(100200, check=3, spread=0)


def test_gate_of_clauses(simulate, loop):
    def gate(clauses, check, *words, b=102000):
        return simulate('-e', 'instructions,branches', '--compare', f'{loop} 100000', f'{loop} {b}', '--fail-if', clauses, *words, check=check)
    gate('instructions>5%, branches>5%', 0)
    assert 'worse: branches: B exceeds A by more than 1%' in gate('instructions>5%, branches>1%', 3).stderr
    gate('regression>1%', 3)
    gate('improvement>1%', 3, b=98000)
    gate('improvement>3%', 0, b=98000)
    gate('change>1%', 3, b=98000)
    gate('branches>+1K', 3)
    gate('branches>+3K', 0)
    assert 'worse: branches: B exceeds 100000' in gate('branches>100K', 3).stderr
    gate('branches>1M', 0)
    markdown = gate('instructions>5%', 0, '--markdown').stderr
    assert '| instructions | ' in markdown and '| not worse |' in markdown and 'Verdict: not worse' in markdown
    for wrong, says in (('nonsense>1%', 'nothing of that name'), ('instructions', 'takes clauses'), ('instructions>2s', 'is counted in events'),
                        ('regression>+5', 'takes clauses'), ('instructions>1% with p<2', 'takes clauses')):
        assert says in gate(wrong, 129).stderr


def test_files_of_several_benchmarks(simulate, loop, tmp_path):
    before, after = tmp_path / 'before.json', tmp_path / 'after.json'

    def store(path, name, *words):
        simulate('-j', '-o', path, '--append', '--name', name, '-e', 'instructions', *words)
    store(before, 'parse', loop, 100000)
    store(before, 'print', loop, 50000)
    store(after, 'parse', loop, 100000)
    gone = simulate('--compare', before, after, check=255).stderr
    assert "has no benchmark 'print', which A has: it was renamed, or did not run" in gone
    store(after, 'print', loop, 60000)
    result = simulate('--compare', before, after, check=3).stderr
    assert 'B exceeds A by more than 0.1% in instructions of print.' in result
    table = simulate('--compare', before, after, '--markdown', check=3).stderr
    assert re.search(r'\| parse \| instructions .*\| not worse \|', table) and re.search(r'\| print \| instructions .*\| worse \|', table)
    store(after, 'new', loop, 10)
    assert "Only B has the benchmark 'new'" in simulate('--compare', before, after, check=3).stderr
    store(after, 'parse', loop, 10)
    assert "two counts of 'instructions' of parse" in simulate('--compare', before, after, check=255).stderr


def test_a_stored_result_keeps_what_is_wrong_with_it(simulate, loop, tmp_path):
    good, failed, nothing = tmp_path / 'good.json', tmp_path / 'failed.json', tmp_path / 'nothing.json'
    simulate('-j', '-o', good, '-e', 'instructions', loop, 1000, check=0)
    simulate('-j', '-o', failed, '-e', 'instructions', loop, 1000, 5, check=5)
    line = json.loads(failed.read_text())
    assert line['failures'] == {'runs': 1, 'failed': 1, 'exit-status': 5, 'reason': '1 of 1 runs failed: exit status 5'}
    simulate('-j', '-o', nothing, '-e', 'branches', '--toggle', 'no_such_function', loop, 1000, check=0)
    assert "no function that --toggle names as 'no_such_function' has run" in json.loads(nothing.read_text())['warnings'][0]
    for a, b in (good, failed), (failed, good):
        assert '1 of 1 runs failed: exit status 5' in simulate('--compare', a, b, check=255).stderr
    assert 'has run' in simulate('-e', 'branches', '--compare', nothing, nothing, check=255).stderr
    csv = simulate('-x,', '-e', 'instructions', loop, 1000, 5, check=5).stderr
    assert csv.splitlines()[-1] == '# warning: 1 of 1 runs failed: exit status 5'


def test_gate_of_a_function_that_did_not_run(simulate, loop):
    for words in ('work', loop, 'true'), ('wrok', loop, loop):
        assert 'no verdict' in simulate('-e', 'instructions', '--toggle', words[0], '--compare', *words[1:], check=255).stderr
    # One of two that is renamed takes its work away, too.
    said = simulate('-e', 'instructions', '--toggle', 'work', '--toggle', 'wrok*', '--compare', loop, loop, check=255).stderr
    assert "no function that --toggle names as 'wrok*' has run" in said
    assert 'has run' not in simulate('-e', 'instructions', '--toggle', 'work', '--toggle', 'w?rk', loop, check=0).stderr


def test_different_environments_are_told(simulate, loop, tmp_path):
    before, after = tmp_path / 'before.json', tmp_path / 'after.json'
    simulate('-j', '-o', before, '-e', 'instructions', loop, 1000, check=0)
    simulate('-j', '-o', after, '-e', 'instructions', loop, 1000, check=0, env={'TALLY_TEST_PADDING': 'x' * 100})
    environment = json.loads(before.read_text())['environment']
    assert environment['machine'] == os.uname().machine and environment['kernel'] == os.uname().release
    assert environment['simulator'].startswith('valgrind=') and environment['variables-bytes'] > 0
    assert 'different environments' not in simulate('--compare', before, before, check=0).stderr
    text = after.read_text().replace(environment['kernel'], '5.4.0')
    if 'erms ' in environment['cpu-features']:
        text = text.replace('erms ', '')
    after.write_text(text)
    said = simulate('--compare', before, after, '--threshold', 50, check=0).stderr
    assert 'different environments' in said and f"kernel ({environment['kernel']} and 5.4.0)" in said
    assert 'size of the environment variables (' in said
    assert ('CPU features (only A: erms)' in said) == ('erms ' in environment['cpu-features'])
    gate = json.loads(simulate('-j', '--compare', before, after, '--threshold', 50, check=0).stderr.splitlines()[-1])
    assert 'kernel (' in gate['environment-differences']


@pytest.mark.parametrize('words, says', [
    (('-e', 'cycles'), "'cycles' cannot be simulated"),
    (('-e', 'page-faults'), 'without --simulate'),
    (('-e', 'nonsense'), "'nonsense' is not simulated: -e takes instructions"),
    (('-e', 'instructions:k'), 'no other modifier than :u'),
    (('-a',), '--simulate and --all-cpus cannot be used together'),
    (('-p', '1'), '--simulate and --pid cannot be used together'),
    (('-I', '100'), '--simulate and --interval-print cannot be used together'),
    (('-M', 'insn_per_cycle'), '--simulate and --metrics cannot be used together'),
    (('--topdown',), '--simulate and --topdown cannot be used together'),
    (('-r', '0'), 'a number of runs that is positive'),
    (('--threshold', '1'), '--threshold needs --compare'),
    (('--threshold', 'x'), 'expects a percentage'),
    (('--toggle', ''), 'expects the name of a function'),
    (('--cache-model', 'd1=32K'), "'d1=32K' is not d1=SIZE,WAYS,LINE"),
    (('--cache-model', 'll=30M,20,64'), "'ll=30M,30,64' would be the nearest"),
])
def test_what_cannot_be_simulated_is_refused(simulate, words, says):
    result = simulate(*words, 'true')
    assert result.returncode in (129, 234), result.stderr
    assert says in result.stderr


def test_options_of_the_simulation_need_it(tally):
    for words in ('--cache-model', 'generic'), ('--toggle', 'main'), ('--threshold', '1'):
        assert f'{words[0]} needs --simulate' in tally('stat', *words, 'true', check=129).stderr
    assert '--simulate needs a command' in tally('stat', '--simulate', check=129).stderr
    assert 'does not store simulated counts' in tally('stat', '--simulate', 'record', 'true', check=129).stderr


def test_programs_that_cannot_run_are_explained(simulate, tally, tmp_path):
    absent = simulate('no-such-command')
    alone = tally('stat', '-n', 'no-such-command')
    assert absent.returncode == alone.returncode
    assert absent.stderr.splitlines()[-1] == alone.stderr.splitlines()[-1] == "cannot run 'no-such-command': No such file or directory"
    program = tmp_path / 'program'
    shutil.copy('/bin/true', program)
    program.chmod(0o4755)
    assert 'it is set-user-ID' in simulate(program, check=255).stderr
    program.chmod(0o755)
    data = bytearray(program.read_bytes())
    data[4] = 1
    program.write_bytes(data)
    assert 'it is a 32-bit program' in simulate(program, check=255).stderr
    program.write_text('#!/bin/sh\nexit 5\n')
    assert simulate('-e', 'instructions', program, check=5)
    assert 'apt install valgrind' in simulate('/bin/true', env={'PATH': str(tmp_path)}, check=255).stderr


def test_an_instruction_that_valgrind_lacks_is_named(simulate, tmp_path):
    if os.uname().machine != 'x86_64':
        pytest.skip('the instruction is one of x86-64')
    (tmp_path / 'avx512.c').write_text('int main(void) { __asm__ volatile(".byte 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0"); return 0; }\n')
    subprocess.run(['cc', '-o', tmp_path / 'avx512', tmp_path / 'avx512.c'], check=True)
    result = simulate('-e', 'instructions', tmp_path / 'avx512')
    if 'Illegal instruction' not in result.stderr:
        pytest.skip('this Valgrind knows AVX-512')
    assert 'executed an instruction that Valgrind does not know, and got SIGILL: 0x62 0xF1 0x7C 0x48' in result.stderr


def test_counts_of_a_killed_process_are_marked(simulate, loop):
    line = f'{loop} 100000000000 & until [ -e $TMPDIR/tally-simulation-*/$!.1 ]; do :; done; kill -9 $!; wait; true'
    result = simulate('-e', 'instructions', 'sh', '-c', line, check=0)
    assert re.search(r'the counts of 1 of \d+ process images are not complete', result.stderr), result.stderr


def test_children_from_before_are_not_the_commands(simulate, tally):
    """tally takes the place of a shell that has a child: nothing is said of it, and it is not waited for."""
    result = subprocess.run(['bash', '-c', 'sleep 20 >/dev/null 2>&1 & exec "$0" "$@"', tally.path, 'stat', '--simulate', '-e', 'instructions', 'true'],
                            text=True, capture_output=True, env=tally.environment, check=False)
    assert result.returncode == 0 and 'still run' not in result.stderr and 'instructions' in result.stderr


def test_percent_signs_in_the_name_of_the_folder(simulate, tally):
    room = pathlib.Path(tally.environment['TMPDIR']) / 'a%b%p%%'
    room.mkdir()
    tally.environment['TMPDIR'] = str(room)
    assert simulate('-e', 'instructions', 'true', check=0)
    assert not list(room.iterdir())
    room.rmdir()


def test_processes_that_go_on_keep_the_folder(tally, tmp_path):
    tally.environment['TMPDIR'] = str(tmp_path)
    gate = tmp_path / 'gate'
    os.mkfifo(gate)
    result = tally('stat', '--simulate', '-e', 'instructions', 'sh', '-c', f'(read line < {gate}; true) > /dev/null 2>&1 &', check=0)
    folder, = tmp_path.glob('tally-simulation-*')
    assert f"still run under Valgrind, and need the folder '{folder}'" in result.stderr
    gate.write_text('go on\n')
    pids = {int(file.name.split('.')[0]) for file in folder.glob('[0-9]*.[0-9]*')}
    wait_for(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in pids))
    shutil.rmtree(folder)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_command_and_leave_nothing(tally, tmp_path, loop, number):
    room = tmp_path / 'room'
    room.mkdir()
    tally.environment['TMPDIR'] = str(room)
    code = f'import os, signal, sys; signal.signal({int(number)}, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])'
    running = subprocess.Popen([sys.executable, '-c', code, tally.path, 'stat', '--simulate', '-e', 'instructions', loop, '100000000000'],
                               env=tally.environment, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: list(room.glob('tally-simulation-*/[0-9]*.0')))
    os.kill(running.pid, number)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == -number
    assert ' instructions ' in errors
    assert not list(room.iterdir())
