# SPDX-License-Identifier: Apache-2.0
"""What perf does by itself: depth of chains, separators within cells, guests, short names of verbs within verbs."""
import pytest

from perfdata_build import BRANCH_ANY, CHAIN_USER, Recording
from tracing_build import Tracepoint, tracing_data

TRACING_DATA, ARCH = 1, 6
DEPTH = 200
USER, GUEST_KERNEL, GUEST_USER, UNKNOWN = 2, 4, 5, 0


def same_as_perf(tally, perf, *line):
    """The output without its last lines, which is where perf has a tip of the day."""
    ours, theirs = tally(*line, '-q'), perf(*line, '-q')
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    return ours.stdout


def write(built, folder, name='perf.data'):
    path = folder / name
    built.write(path)
    return str(path)


@pytest.fixture
def deep(tmp_path):
    """One sample, called from 200 places."""
    built = Recording()
    built.event('IP TID TIME PERIOD CALLCHAIN')
    built.comm('deep:er')
    built.mmap(0x400000, 0x100000, '/bin/no_thing')
    built.sample(ip=0x400000, callchain=[CHAIN_USER, *(0x400000 + 16 * i for i in range(DEPTH))])
    return write(built, tmp_path)


@pytest.mark.parametrize('options', [[], ['--max-stack', '127'], ['--max-stack', '500'], ['--max-stack', '3'],
                                     ['-g', 'caller'], ['--no-children']])
def test_chains_end_where_perf_ends_them(tally, perf, deep, options):
    same_as_perf(tally, perf, 'report', '--stdio', '-i', deep, '-s', 'comm,sym', *options)


def test_a_report_follows_127_frames(tally, deep):
    def frames(*options):
        text = tally('report', '--stdio', '-i', deep, '-s', 'comm', '--no-children', *options).stdout
        return text.count(' 0x400') + text.count('-0x400')
    assert (frames(), frames('--max-stack', '1000'), frames('--max-stack', '0')) == (127, DEPTH, 0)
    told = [tally('report', '-i', deep, *options).stderr for options in ([], ['--max-stack', '1000'], ['-g', 'none'])]
    assert ['have call chains longer than 127' in text for text in told] == [True, False, True]


def test_copied_stacks_are_followed_from_the_innermost(tally, perf, live, workload, tmp_path):
    """Chains that begin with the outermost call have these of what the kernel recorded, but not of stack dumps."""
    def share_of_main(*record):
        path = tmp_path / 'data'
        made = perf('record', '-e', 'cpu-clock:u', '-F', '999', *record, '-o', path, '--', workload('recursion').path, 100,
                    env={'HOME': str(tmp_path)})
        if made.returncode:
            pytest.skip(f'perf record fails here: {made.stderr.strip().splitlines()[-1]}')
        text = tally('report', '--stdio', '--children', '--max-stack', '2', '-s', 'sym', '-g', 'none', '-i', path).stdout
        return sum(float(line.split('%')[0]) for line in text.splitlines() if line.endswith(' [.] main'))
    # It calls what recurses 50 deep; some samples may be of what it calls besides.
    assert share_of_main('--call-graph', 'dwarf') < 50 < share_of_main('--call-graph', 'fp')


def test_no_frames_in_script(tally, deep):
    text = tally('script', '-i', deep, '-F', 'comm,ip', '--max-stack', '0').stdout
    assert text == 'deep:er \n\n'
    assert tally('script', '-i', deep, '-F', 'comm,ip', '--max-stack', '2').stdout.count('40') == 2


@pytest.mark.parametrize('separator', [':', '_', 'e'])
def test_a_separator_within_a_cell_is_a_full_stop(tally, perf, deep, separator):
    text = same_as_perf(tally, perf, 'report', '--stdio', '-i', deep, '-s', 'comm,dso,pid', '-g', 'none', '-t', separator)
    rows = [row for row in text.splitlines() if row and not row.startswith('#')]
    assert len(rows) == 1 and rows[0].count(separator) == 4


@pytest.mark.parametrize('options', [['-c', 'deep:er'], ['-d', 'no_thing'], ['-c', 'deep:er', '--stats'],
                                     ['-c', 'deep:er', '--tasks'], ['-d', 'no_thing', '-D']])
def test_the_one_name_that_is_chosen_stands_first(tally, perf, deep, options):
    text = same_as_perf(tally, perf, 'report', '--stdio', '-i', deep, '-g', 'none', *options)
    assert text.startswith('# comm: deep:er\n' if '-c' in options else '# dso: no_thing\n')


def test_a_word_beside_the_input_is_part_of_a_name(tally, deep):
    line = ['report', '--stdio', '-q', '-i', deep, '-g', 'none']
    assert tally(*line, 'main').stdout == tally(*line, '--symbol-filter', 'main').stdout != tally(*line).stdout


@pytest.fixture
def guests(tmp_path):
    built = Recording()
    built.event('IP TID TIME PERIOD')
    built.comm('qemu')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    for i, mode in enumerate([USER, GUEST_KERNEL, GUEST_USER, USER, UNKNOWN]):
        built.sample(misc=mode, ip=0x400000 + 16 * i, time=1000 + i)
    return write(built, tmp_path)


@pytest.mark.parametrize('line', [['report', '--stdio'], ['report', '--stdio', '--percentage', 'relative'],
                                  ['report', '--stdio', '-s', 'comm', '-n'], ['script', '-F', 'ip,sym,dso']])
def test_what_ran_in_virtual_machines_has_no_rows(tally, perf, guests, line):
    quiet = [] if line[0] == 'script' else ['-q']
    ours, theirs = (program(*line, *quiet, '-i', guests) for program in (tally, perf))
    assert (ours.returncode, ours.stdout) == (0, theirs.stdout)


@pytest.mark.parametrize('context', [-2048, -2176, -2560, -100], ids=['guest', 'guest kernel', 'guest user', 'unknown'])
def test_call_chains_of_virtual_machines_are_none(tally, perf, tmp_path, context):
    built = Recording()
    built.event('IP TID TIME PERIOD CALLCHAIN')
    built.comm('qemu')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    built.sample(ip=0x401000, time=1000, callchain=[CHAIN_USER, 0x401000, context, 0x402000])
    built.sample(ip=0x403000, time=2000, callchain=[CHAIN_USER, 0x403000, 0x404000])
    path = write(built, tmp_path)
    shown = same_as_perf(tally, perf, 'report', '--stdio', '--no-children', '-g', 'folded', '-i', path)
    assert '50.00% 0x403000;0x404000\n' in shown
    assert '0x402000' not in shown and '401000' not in shown
    assert tally('script', '-F', 'ip', '-i', path).stdout.split() == ['403000', '404000']


def test_what_ran_in_virtual_machines_is_told(tally, guests):
    result = tally('report', '--stdio', '-i', guests)
    assert result.stdout.count(' 20.00%') == 3 and ' [H] 0x' in result.stdout
    assert '2 samples of virtual machines are counted and not shown' in result.stderr
    assert len(tally('script', '-i', guests).stdout.splitlines()) == 3


@pytest.fixture
def waits(tmp_path):
    """Thread 30 waits before thread 20."""
    begin = Tracepoint('lock', 'contention_begin', 5, [('void *', 'lock_addr', 8), ('unsigned', 'flags', 4)])
    end = Tracepoint('lock', 'contention_end', 6, [('void *', 'lock_addr', 8), ('int', 'ret', 4)])
    built = Recording()
    built.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=5)
    built.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=6)
    built.name_events('lock:contention_begin', 'lock:contention_end')
    built.comm('job')
    for i, tid in enumerate((30, 20)):
        built.sample(0, tid=(1000, tid), time=1000 + 100 * i, raw=begin.payload(lock_addr=0x1000 + i, flags=1))
        built.sample(1, tid=(1000, tid), time=1050 + 100 * i, raw=end.payload(lock_addr=0x1000 + i))
    built.feature(TRACING_DATA, tracing_data([begin, end]))
    return write(built, tmp_path)


def test_lock_script_reads_the_file_that_is_named_before_it(tally, waits):
    plain = tally('script', '-i', waits).stdout
    assert plain.count('lock:contention') == 4
    assert tally('lock', '-i', waits, 'script').stdout == tally('lock', '-v', 'script', '-i', waits).stdout == plain


def test_threads_of_lock_info_are_in_order(tally, waits):
    rows = tally('lock', '-i', waits, 'info', '-t').stderr.splitlines()
    assert [int(row.split(':')[0]) for row in rows if row.strip()[:1].isdigit()] == [20, 30]


@pytest.mark.parametrize('short, whole', [
    ('lock rep', 'lock report'), ('lock cont', 'lock contention'), ('kmem sta', 'kmem stat'), ('mem repo', 'mem report'),
    ('c2c rep', 'c2c report'), ('stat repo', 'stat report'), ('sched lat', 'sched latency'), ('sched tim', 'sched timehist')])
def test_verbs_within_verbs_may_be_cut_to_three_letters(tally, waits, short, whole):
    cut, full = (tally(*words.split(), '-i', waits) for words in (short, whole))
    assert (cut.returncode, cut.stdout, cut.stderr) == (full.returncode, full.stdout, full.stderr)
    assert cut.returncode != 129 and 'Unknown command' not in cut.stderr
    assert tally(short[:-1] if len(short.split()[1]) == 3 else short.split()[0] + ' xyz', '-i', waits).returncode != 0


@pytest.fixture
def copied(tmp_path):
    """Stack dumps of a program that is not here; beside the last one its frame was recorded as a chain."""
    built = Recording()
    built.event('IP TID TIME PERIOD CALLCHAIN REGS_USER STACK_USER', regs=1 << 8 | 1 << 7)
    built.comm('gone')
    built.mmap(0x400000, 0x8000, '/bin/gone')
    for i, chain in enumerate([[], [], [CHAIN_USER, 0x400030]]):
        built.sample(ip=0x400010 + 16 * i, time=1000 + i, callchain=chain, regs_user=[0x7000, 0x400010 + 16 * i],
                     stack_user=bytes(64))
    built.text_feature(ARCH, 'x86_64')
    return write(built, tmp_path)


@pytest.mark.parametrize('options', [[], ['--no-children'], ['-s', 'comm,dso']])
def test_a_copied_stack_of_an_absent_program_makes_no_chain(tally, perf, copied, options):
    same_as_perf(tally, perf, 'report', '--stdio', '-i', copied, *options)


def test_only_recorded_chains_of_one_frame_are_shown(tally, copied):
    text = tally('report', '--stdio', '-q', '--no-children', '-i', copied).stdout
    assert text.count(' gone ') == 6 and text.count('---0x') == 1 and '---0x400030' in text


@pytest.mark.parametrize('line', [['report', '-D'], ['report', '-D', '--disable-order'], ['script', '-D'],
                                  ['script', '--dump-unsorted-raw-trace']])
def test_marks_of_rounds_in_dumps(tally, perf, tmp_path, line):
    built = Recording()
    built.event('IP TID TIME PERIOD')
    built.comm('job')
    built.sample(time=2000)
    built.record(68, 0, b'')
    built.sample(time=3000)
    path = write(built, tmp_path)
    ours, theirs = (program(*line, '-i', path).stdout for program in (tally, perf))
    assert ours.count('PERF_RECORD_FINISHED_ROUND: unhandled!') == theirs.count('PERF_RECORD_FINISHED_ROUND: unhandled!')
    assert ours == theirs


@pytest.mark.parametrize('options', [[], ['-F', 'comm,tid,cpu,time,event'], ['--show-task-events'], ['-F', 'comm,pid,ip']])
def test_narrow_columns(tally, perf, tmp_path, options):
    built = Recording()
    built.event('IP TID TIME CPU PERIOD')
    built.comm('a-long-command')
    built.sample(time=2000, cpu=11)
    path = write(built, tmp_path)
    ours, theirs = (program('script', '-L', '-i', path, *options).stdout for program in (tally, perf))
    assert ours == theirs and ours.lstrip().startswith('a-long-c ')


def test_levels_of_a_hierarchy_by_fields(tally, deep):
    line = ['report', '--stdio', '-q', '--hierarchy', '--no-children', '-g', 'none', '-i', deep]
    by_fields, by_keys = tally(*line, '-F', 'overhead,comm,sym'), tally(*line, '-s', 'comm,sym')
    assert by_fields.stdout == by_keys.stdout and by_fields.stdout.count('100.00%') == 2
    assert tally(*line, '-F', 'sample,comm').stdout.split() == ['1', 'deep:er']


def test_branches_in_a_stream_count_where_they_are_asked_for(tally, tmp_path):
    built = Recording()
    built.event('IP TID TIME PERIOD BRANCH_STACK', branch=BRANCH_ANY)
    built.comm('job')
    built.sample(branch_stack=[0x400100, 0x400200, 0, 0x400300, 0x400400, 0])
    built.write(tmp_path / 'file')
    attr = built.events[0][0]
    stream = b'PERFILE2' + built.pack('Q', 16) + built.pack('IHHQ', 64, 0, 16 + len(attr), 0)[:8] + attr + built.pack('Q', 1)
    (tmp_path / 'stream').write_bytes(stream + built.records)

    def rows(*options):
        return tally('report', '--stdio', '-q', '-i', tmp_path / 'stream', *options).stdout.split('\n')
    assert len([row for row in rows() if row]) == 1
    assert len([row for row in rows('-b') if row]) == 2
    assert len([row for row in rows('-s', 'symbol_from') if row]) == 2
