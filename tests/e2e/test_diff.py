# SPDX-License-Identifier: Apache-2.0
"""diff: the text that perf prints of the same recordings, to the byte."""
import json
import os
import random
import re
import shutil
import struct
import subprocess

import pytest

from conftest import NEWEST_PERF, compiled
import perfdata_build
import perfdata_file

COMMAND_LINES = [
    'one two', 'two one', '-c delta one two', '-c ratio two one', '-c wdiff:2,3 one two', '-p -F one two',
    '-c ratio -p -F one two', '-c wdiff:1,2 -F -t, -p two one', '-b one two', '-b -F two one', '-o 0 one two',
    'one two three', '-o 2 -p -F one two three', '-o 2 -c ratio three two one', '-q one two', '-q -v one two three', '-s comm one two',
    '-s dso one two', '-s pid one two', '-s sym,dso one two', '-S main one two', '--percentage relative -d x,y one two',
    '--time 10%-60% one two', '-t; one two', '-v one two', '-v two three', '-v -s sym one two three', '-v -s dso -t, one two',
    '-s time one two', '-s addr two one', '-s socket,dso one two', '-s +socket one two', '-s cgroup,comm one two',
    '-s weight,sym one two', '-s local_weight,comm -p -F one two three', '-s code_page_size,sym -t, one two',
    '-s transaction,dso -c ratio one two', '-s trace,sym one two', '-s local_weight,sym two one', '-s sym,weight -p one two',
    'kernel two', '-s dso,sym -c ratio two kernel',
]

# perf takes the vdso from its cache, tally the one that this kernel gives it.
VDSO_ORIGIN = re.compile(r'[dB] (?=\[\.\] __vdso_)')


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('diff')


def record_once(perf, tally, path, *options):
    """perf's recording of a command, without a sample in libc's own PLT, which perf 6.1 does not name as we do."""
    tries = 0 if path.exists() else 20
    for _ in range(tries):
        result = perf('record', '-o', path, '-F', '1999', *options, env={'HOME': str(path.parent)})
        if result.returncode:
            path.unlink(missing_ok=True)  # not what was recorded until then
            pytest.skip(f'perf record fails here: {result.stderr.strip().splitlines()[-1]}')
        if not perfdata_file.has_binding_of_libc(path, tally):
            return
    if tries:
        path.unlink()
        pytest.skip("each of 20 recordings has samples in libc's own PLT")


@pytest.fixture
def recordings(folder, perf, tally, live, workload):
    """Folder with the recordings one, two and three, and one with samples of the kernel, whose symbols take long to read."""
    for name, program, milliseconds in (('one', 'deep', 150), ('two', 'deep', 90), ('three', 'recursion', 120), ('kernel', 'deep', 60)):
        record_once(perf, tally, folder / name, '-e', 'cpu-clock' if name == 'kernel' else 'cpu-clock:u', '--',
                    workload(program).path, milliseconds)
    return folder


@pytest.mark.parametrize('line', COMMAND_LINES)
def test_text_is_perfs(line, recordings, perf, tally):
    expected = perf('diff', *line.split(), cwd=recordings, env={'HOME': str(recordings)})
    got = tally('diff', *line.split(), cwd=recordings, env={'HOME': str(recordings)})
    assert got.returncode == expected.returncode
    assert VDSO_ORIGIN.sub('', got.stdout) == VDSO_ORIGIN.sub('', expected.stdout)


@pytest.mark.parametrize('line,message', [
    ('-c foo a b', "Failed: 'foo' is not computation method"),
    ('-c wdiff a b', "Failed: wrong weight data, use 'wdiff:w1,w2'"),
    ('-c wdiff:0,1 a b', "Failed: wrong weight data, use 'wdiff:w1,w2'"),
    ('-c ratio:1 a b', "Failed: extra option specified '1'"),
    ('-s foo a b', "Unknown --sort key: `foo'"),
    # by which perf does not count either
    ('-s dso_from a b', "Invalid --sort key: `dso_from'"),
    ('-s comm,mem a b', "Invalid --sort key: `mem'"),
    ('-s period a b', "--sort key 'period' is a value, and rows of diff are by keys"),
    ('-t . a b', "'.' is the only non valid --field-separator argument"),
    ('-o 2 a b', 'Order option out of limit.'),
    ('--stream -F a b', '--stream compares runs of branches, in text'),
    ('--stream -s foo a b', "Unknown --sort key: `foo'"),
    ('--cycles-hist a b', '--cycles-hist goes with -c cycles'),
    ('a b', 'failed to open a: No such file or directory\nFailed to open a\n'),
    ('', 'failed to open perf.data.old: No such file or directory\nFailed to open perf.data.old\n'),
])
def test_what_is_wrong_is_said(line, message, tally, tmp_path):
    result = tally('diff', *line.split(), cwd=tmp_path)
    assert message in result.stderr
    assert result.returncode in (129, 255)
    assert not result.stdout


def test_records_have_no_counts_behind(recordings, tally, perf):
    """As perf's, whose report -D has them; ID_INDEX and ends of records that diff does not use are said there otherwise."""
    def rows(program):
        return [line for line in program('diff', '-D', 'one', 'two', cwd=recordings, check=0).stdout.splitlines()
                if line.strip() and ' id: ' not in line and 'ID_INDEX' not in line and not line.endswith('unhandled!')]

    ours = rows(tally)
    assert not [line for line in ours if 'events:' in line or 'stats:' in line]
    assert [line for line in ours if 'RECORD_' in line] == [line for line in rows(perf) if 'RECORD_' in line]


def test_no_files_are_the_old_and_the_new_recording(recordings, tally, tmp_path):
    os.symlink(recordings / 'one', tmp_path / 'perf.data.old')
    os.symlink(recordings / 'two', tmp_path / 'perf.data')
    named = tally('diff', recordings / 'one', recordings / 'two', check=0).stdout
    assert tally('diff', cwd=tmp_path, check=0).stdout == named
    assert tally('diff', recordings / 'two', cwd=tmp_path, check=0).stdout == named


@pytest.mark.parametrize('options', [['--comm', 'NOBODY'], ['--json', '--comm', 'NOBODY'], ['-S', 'no_such_symbol']])
def test_options_that_leave_nothing_are_told(recordings, tally, options):
    said = tally('diff', *options, 'one', 'two', cwd=recordings, check=0).stderr
    for name in ('one', 'two'):
        assert re.search(rf'note: none of the \d+ samples of {name} passes the filters', said)
    assert 'passes the filters' not in tally('diff', 'one', 'two', cwd=recordings, check=0).stderr
    assert 'passes the filters' not in tally('diff', '-q', *options, 'one', 'two', cwd=recordings, check=0).stderr


def test_a_cut_recording_is_no_baseline(recordings, tally, tmp_path):
    (tmp_path / 'cut').write_bytes((recordings / 'one').read_bytes()[:2000])
    (tmp_path / 'none').write_bytes(b'PERFILE')
    assert tally('diff', tmp_path / 'cut', recordings / 'two', check=255).stderr
    assert 'Failed to open' in tally('diff', tmp_path / 'none', recordings / 'two', check=255).stderr


@pytest.fixture
def chains(folder, perf, tally, live, workload):
    """Folder with the recordings g1 and g2, with call chains."""
    for name, program in (('g1', 'deep'), ('g2', 'recursion')):
        record_once(perf, tally, folder / name, '-g', '-e', 'cpu-clock:u', '--', workload(program).path, '120')
    return folder


def test_call_paths_that_differ(chains, tally):
    text = tally('diff', '-g', 'g1', 'g2', cwd=chains, check=0).stdout
    assert '# Call paths that differ, from the outermost caller' in text
    tree = text[text.index('# Call paths'):]
    assert 'descend;descend;descend' in tree.replace(' (inlined)', '')
    assert 'descend' not in tally('diff', '-g', 'g1', 'g1', cwd=chains, check=0).stdout
    paths = json.loads(tally('diff', '-g', '--json', 'g1', 'g2', cwd=chains, check=0).stdout)['events'][0]['paths']
    grown = max(paths, key=lambda path: path['new_share_percent'] - path['base_share_percent'])
    assert grown['new_share_percent'] > 50
    assert [frame['name'] for frame in grown['frames']]
    assert '```' in tally('diff', '-g', '--markdown', 'g1', 'g2', cwd=chains, check=0).stdout


def test_call_paths_want_call_chains(recordings, tally):
    result = tally('diff', '-g', 'one', 'two', cwd=recordings, check=255)
    assert '-g needs call chains, and one has none' in result.stderr
    assert '-g takes name or line' in tally('diff', '--call-graph=x', 'a', 'b', check=129).stderr


@pytest.mark.parametrize('setting', ['compute = ratio', 'compute = delta', 'compute = wdiff', 'compute = foo',
                                     'compute = wdiff:1,2', 'order = 0', 'order = 5', 'order = x'])
def test_configuration_is_perfs(setting, recordings, perf, tally, tmp_path):
    (tmp_path / 'config').write_text(f'[diff]\n\t{setting}\n')
    environment = {'HOME': str(recordings), 'PERF_CONFIG': str(tmp_path / 'config')}
    expected = perf('diff', 'one', 'two', cwd=recordings, env=environment)
    got = tally('diff', 'one', 'two', cwd=recordings, env=environment)
    assert (got.returncode, got.stdout) == (expected.returncode, expected.stdout)
    if 'foo' in setting or ' x' in setting:
        assert 'Invalid compute method: foo' in got.stderr or "bad config value for 'diff.order'" in got.stderr
    # An option wins.
    named = perf('diff', '-c', 'delta', '-o', '1', 'one', 'two', cwd=recordings, env=environment).stdout
    assert tally('diff', '-c', 'delta', '-o', '1', 'one', 'two', cwd=recordings, env=environment).stdout == named


def write_counts(path, counts):
    """A recording of program0, program1, ... with so many samples each, every one a process."""
    built = perfdata_build.Recording()
    built.event('IP TID TIME PERIOD', kind=1)
    for index, count in enumerate(counts):
        process = (2000 + index, 2000 + index)
        built.record(3, 0, built.pack('II', *process) + built.name(f'program{index}') + built.trailer())
        for _ in range(count):
            built.sample(ip=0x1000, tid=process)
    built.write(path)


@pytest.mark.parametrize('options', [[], ['-t,'], ['-t,', '-p', '-F']])
def test_weighted_differences_of_nothing(tally, perf, tmp_path, options):
    """A row whose weighted difference is 0, one that is new, one that is gone."""
    write_counts(tmp_path / 'old', (2, 3, 1, 0))
    write_counts(tmp_path / 'new', (1, 3, 0, 2))
    arguments = ['diff', '-c', 'wdiff:1,2', '-s', 'comm', *options, 'old', 'new']
    assert tally(*arguments, cwd=tmp_path, check=0).stdout == perf(*arguments, cwd=tmp_path, check=0).stdout


@pytest.mark.parametrize('method', ['delta', 'delta-abs', 'ratio', 'wdiff:1,2', 'wdiff:2,-1', 'wdiff:-3,-1'])
def test_order_of_rows_that_some_recordings_lack(tally, perf, tmp_path, method):
    """Rows of two to four recordings, many of them new, gone or alike; the columns of weighted differences are wider of three."""
    chance = random.Random(7)
    for turn in range(12):
        names = [f'recording{index}' for index in range(chance.choice((2, 3, 4)))]
        for name in names:
            write_counts(tmp_path / name, [chance.choice((0, 0, 1, 1, 2, 3, 5)) for _ in range(9)])
        order = ['-o', str(chance.randrange(len(names)))] if turn % 2 else []
        arguments = ['diff', '-c', method, '-s', 'comm', '-p', *order, *names]
        expected = perf(*arguments, cwd=tmp_path, check=0).stdout
        assert expected.count('program') > 4
        assert tally(*arguments, cwd=tmp_path, check=0).stdout == expected


def test_order_without_weights(tally, perf, tmp_path):
    """Weights that the configuration does not give are 0: new rows are all alike then, whatever their periods."""
    (tmp_path / 'config').write_text('[diff]\n\tcompute = wdiff\n')
    write_counts(tmp_path / 'old', (2, 3, 0, 0, 0))
    write_counts(tmp_path / 'new', (1, 3, 1, 3, 2))
    texts = [program('diff', '-s', 'comm', 'old', 'new', cwd=tmp_path, check=0,
                     env={'PERF_CONFIG': str(tmp_path / 'config')}).stdout for program in (tally, perf)]
    assert texts[0] == texts[1] and 'program4' in texts[0]


BLOCKS_SOURCE = """__attribute__((noinline)) unsigned one(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += i % 7 ? i * 3 : i ^ s;
	for (unsigned i = 0; i < n; i++)
		s ^= i / 5 + s * 11;
	return s;
}
__attribute__((noinline)) unsigned two(unsigned n)
{
	unsigned s = 1;
	for (unsigned i = 0; i < n; i++)
		s = s * 31 + i / 3;
	return s;
}
int main(int argc, char **argv)
{
	return (int)(one((unsigned)argc) + two((unsigned)argc)) & 1;
}
"""
# Blocks that ran, by function: first and last address, cycles. Averages are 10 and 12, 20 and 15; 30 and 80, 5 and none.
BLOCKS = [
    [('one', (0, 16, 10), (20, 32, 20)), ('one', (0, 16, 11), (20, 32, 20)), ('one', (0, 16, 10)), ('two', (0, 16, 30)),
     ('two', (4, 20, 5))],
    [('one', (0, 16, 12), (20, 32, 15)), ('one', (0, 16, 12), (20, 32, 15)), ('two', (0, 16, 80)), ('two', (0, 16, 81)),
     ('two', (4, 24, 6))],
]


def blocks_recording(path, program, functions, samples):
    built = perfdata_build.Recording()
    built.event('IP TID TIME PERIOD BRANCH_STACK', kind=0, branch=1 | perfdata_build.BRANCH_ANY)
    built.text_feature(6, 'x86_64')
    built.feature(7, struct.pack('<II', 8, 8))
    built.feature(15, b'')
    built.comm('program')
    built.mmap(0x400000, 0x10000, str(program))
    for name, *blocks in samples:
        start = functions[name]
        stack = [(0x400000, start + blocks[0][0], 0)]
        for index, (_, last, cycles) in enumerate(blocks):
            following = blocks[index + 1][0] if index + 1 < len(blocks) else 0
            stack.append((start + last, start + following, cycles))
        words = [word for source, target, cycles in reversed(stack) for word in (source, target, 2 | cycles << 4)]
        built.sample(ip=start + blocks[-1][1], branch_stack=words)
    built.write(path)


def test_cycles_of_program_blocks(tally, tmp_path):
    """As the newest perf prints them; 6.1 crashes on this. What it has no baseline for it shows as 0."""
    if not shutil.which('gcc') or os.uname().machine != 'x86_64':
        pytest.skip('no gcc for x86-64')
    (tmp_path / 'program.c').write_text(BLOCKS_SOURCE)
    subprocess.run(['gcc', '-O2', '-g', '-no-pie', '-o', 'program', 'program.c'], cwd=tmp_path, check=True)
    listed = subprocess.run(['nm', 'program'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    functions = {line.split()[2]: int(line.split()[0], 16) for line in listed.splitlines() if len(line.split()) == 3}
    for name, samples in zip(('old', 'new'), BLOCKS):
        blocks_recording(tmp_path / name, tmp_path / 'program', functions, samples)
    for strip in (False, True):
        if strip:
            subprocess.run(['strip', '-g', 'program'], cwd=tmp_path, check=True)
        for options in ([], ['-p'], ['-b'], ['-s', 'comm,sym']):
            text = tally('diff', '-c', 'cycles', *options, 'old', 'new', cwd=tmp_path, check=0).stdout
            assert [int(number) for number in re.findall(r'\] {1,4}(-?\d+)  ', text)] == [-5, 2, 50]
            if not NEWEST_PERF:
                continue
            theirs = subprocess.run([NEWEST_PERF, 'diff', '-c', 'cycles', *options, 'old', 'new'], cwd=tmp_path,
                                    capture_output=True, text=True, check=True).stdout
            rows = [[re.sub(r'\] {4}0 ', ']      ', line).rstrip() for line in output.splitlines() if line[:1] != '#']
                    for output in (theirs, text)]
            assert rows[0] == rows[1]
        assert ('one+0 -> one+16' in text) == strip
    chosen = random.Random(3)
    for name, most in (('old', 1.5), ('new', 3)):
        samples = [(function, *[(first, last, int(cycles * chosen.uniform(.5, most))) for first, last, cycles in blocks])
                   for _ in range(20) for function, *blocks in BLOCKS[0]]
        blocks_recording(tmp_path / f'{name}-many', tmp_path / 'program', functions, samples)
    for words, spreads in ((['old', 'new'], 2), (['old-many', 'new-many'], 4), (['new-many', 'old', '-p'], 2), (['old', 'old'], 0)):
        ours = tally('diff', '-c', 'cycles', '--cycles-hist', *words, cwd=tmp_path, check=0).stdout
        rows = [line for line in ours.splitlines() if line[:1] != '#']
        assert len({len(line.rstrip()) for line in rows}) == 1  # columns, not bytes
        assert len(re.findall(r'\u00b1 *\d+\.\d% [\u2581-\u2588]{2,8} ', ours)) == spreads
        if NEWEST_PERF:
            theirs = subprocess.run([NEWEST_PERF, 'diff', '-c', 'cycles', '--cycles-hist', *words], cwd=tmp_path,
                                    capture_output=True, text=True, check=True).stdout
            assert [re.sub(r'\] 0 ', '] ', ' '.join(line.split())) for line in theirs.splitlines()[1:]] == [
                re.sub(r'\] 0 ', '] ', ' '.join(line.split())) for line in ours.splitlines()[1:]]


def test_cycles_want_branch_stacks(tally, tmp_path):
    built = perfdata_build.Recording()
    built.event('IP TID TIME PERIOD', kind=0)
    built.comm('program')
    built.sample(ip=0x1000)
    built.write(tmp_path / 'data')
    result = tally('diff', '-c', 'cycles', 'data', 'data', cwd=tmp_path, check=255)
    assert 'needs branch stacks' in result.stderr
    assert tally('diff', '-c', 'cycles', '-s', 'comm', 'data', 'data', cwd=tmp_path).returncode == 255
    for options in (['--json'], ['-F']):
        assert tally('diff', '-c', 'cycles', *options, 'data', 'data', cwd=tmp_path).returncode == 129


def test_new_rows_of_an_event_that_two_of_the_baseline_match(tally, perf, tmp_path):
    """Once, beside the first of them."""
    for name, events, ip in (('old.data', ('cycles', 'cycles'), 0x400000), ('new.data', ('cycles',), 0x500000)):
        built = perfdata_build.Recording()
        for _ in events:
            built.event('IDENTIFIER IP TID TIME PERIOD', kind=0)
        built.name_events(*events)
        built.comm('job')
        built.mmap(0x400000, 0x1000, '/bin/one')
        built.mmap(0x500000, 0x1000, '/bin/two')
        for event in range(len(events)):
            built.sample(event=event, ip=ip)
        built.write(tmp_path / name)
    line = ['diff', '-s', 'dso', tmp_path / 'old.data', tmp_path / 'new.data']
    ours, theirs = ([row.split() for row in program(*line).stdout.splitlines() if row[:1] == ' '] for program in (tally, perf))
    assert ours == theirs
    assert [row[-1] for row in ours].count('two') == 1


WORK = '''
long hot(long n) __asm__(NAME);
__attribute__((noinline)) long hot(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
int main(void) { return hot(60000000) == 1; }
'''


def builds_with_two_names(tally, folder, old, new):
    """Recordings of two builds, each (file, name of its function)."""
    for side, (file, name) in (('old', old), ('new', new)):
        (folder / side).mkdir()
        program = compiled('diff_names.c', WORK, '-O1', '-g', f'-DNAME="{name}"')
        shutil.copy(program, folder / side / file)
        tally('record', '-q', '-g', '-e', 'cpu-clock', '-F', '999', '-o', f'{side}.data', folder / side / file, cwd=folder, check=0)


@pytest.mark.parametrize('old,new', [
    (('app', 'hot.llvm.3103333759997825785'), ('app', 'hot.llvm.4657036302498497752')),
    (('app-1.0', 'hot'), ('app-1.1', 'hot.constprop.0'))])
def test_numbers_of_builds_do_not_part_functions(live, tally, tmp_path, old, new):
    builds_with_two_names(tally, tmp_path, old, new)
    document = json.loads(tally('diff', '--json', 'old.data', 'new.data', cwd=tmp_path, check=0).stdout)
    rows = [r for r in document['events'][0]['rows'] if r['symbol'].startswith('hot')]
    assert len(rows) == 1 and all(v['samples'] > 0 for v in rows[0]['values']), rows
    assert rows[0]['symbol'] == old[1]
    assert {'kind': 'function', 'name': new[1], 'as': old[1]} in document['matched_names']
    text = tally('diff', 'old.data', 'new.data', cwd=tmp_path, check=0)
    assert f"'{new[1]}' as '{old[1]}'" in text.stderr
    flame = tally('flamegraph', '--folded', '--diff', 'old.data', 'new.data', cwd=tmp_path, check=0)
    joined = [line for line in flame.stdout.splitlines() if ';hot' in line and all(int(n) > 0 for n in line.split()[-2:])]
    assert joined, flame.stdout
    assert f"'{new[1]}' as '{old[1]}'" in flame.stderr


def test_that_no_function_was_matched_is_said(live, tally, tmp_path):
    builds_with_two_names(tally, tmp_path, ('first', 'one'), ('second', 'two'))
    text = tally('diff', '--dsos', 'first,second', 'old.data', 'new.data', cwd=tmp_path, check=0)
    assert "no function of 'new.data' was matched with one of 'old.data'" in text.stderr
    flame = tally('flamegraph', '--folded', '--diff', 'old.data', 'new.data', cwd=tmp_path, check=0)
    assert "no function of 'new.data' was matched" in flame.stderr and '-g none' in flame.stderr
