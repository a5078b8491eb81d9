# SPDX-License-Identifier: Apache-2.0
"""`report` of a part of a recording: between two events, of one socket."""
import re

import pytest

from perfdata_build import BRANCH_ANY, CHAIN_USER, Recording

CPU_TOPOLOGY = 13
BETWEEN = ['--switch-on page-faults', '--switch-on page-faults --switch-off context-switches',
           '--switch-on context-switches --switch-off page-faults --show-on-off-events',
           '--switch-on page-faults --switch-off page-faults', '--show-on-off-events', '--switch-on cpu-clock']


def recording(folder, sockets=(0, 0, 1, 1)):
    """Three events, in turns that do not repeat soon, of four CPUs."""
    built = Recording()
    for config in (0, 2, 3):
        built.event('IDENTIFIER IP TID TIME CPU PERIOD', config=config)
    built.name_events('cpu-clock', 'page-faults', 'context-switches')
    built.comm('job')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    for i in range(40):
        built.sample(0 if i % 3 else 1 + i // 3 % 2, ip=0x400000 + i * 8, time=1000 + i * 10, cpu=i % 4, period=100 + i)
    names = b''.join(built.pack('I', 64) + text.ljust(64, b'\0') for text in (b'0-3', b'0', b'1', b'2', b'3'))
    lists = built.pack('I', 1) + names[:68] + built.pack('I', 4) + names[68:]
    built.feature(CPU_TOPOLOGY, lists + b''.join(built.pack('II', cpu, socket) for cpu, socket in enumerate(sockets)))
    built.feature(7, built.pack('II', 4, 4))
    path = folder / 'perf.data'
    built.write(path)
    return str(path)


def rows(result):
    assert result.returncode == 0, result.stderr
    return [line.rstrip() for line in result.stdout.splitlines()
            if line and (not line.startswith('#') or re.match('# (Samples|Event count|Processor)', line))]


@pytest.mark.parametrize('words', BETWEEN)
def test_samples_between_events(tally, newest_perf, tmp_path, words):
    path = recording(tmp_path)
    line = ['report', '--stdio', '-i', path, '-s', 'comm,cpu', '-n', *words.split()]
    assert rows(tally(*line)) == rows(newest_perf(*line))


@pytest.mark.parametrize('words', [
    '-d nothing', '-d other.so', '-d other.so,nothing', '-d nothing -s sym', '-d nothing -s dso,sym', '-d other.so -s comm', '-d other.so -n',
    '-d nothing --no-children', '-d nothing --percentage relative', '-d other.so -F overhead_children,sym'])
def test_callers_elsewhere_have_rows(tally, newest_perf, tmp_path, words):
    """Samples are chosen, not the rows that their chains make."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD CALLCHAIN')
    built.name_events('cpu-clock')
    built.comm('job')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    built.mmap(0x600000, 0x8000, '/lib/other.so')
    for i in range(12):
        ip = (0x400000, 0x600000)[i % 4 == 0] + i * 16
        built.sample(ip=ip, time=1000 + i, callchain=[CHAIN_USER, ip, 0x600800 + i % 3, 0x400900])
    built.write(tmp_path / 'perf.data')
    line = ['report', '--stdio', '-i', str(tmp_path / 'perf.data'), '-g', 'none', *words.split()]
    assert rows(tally(*line)) == rows(newest_perf(*line))
    if words == '-d nothing':
        shown = {int(row.split()[-1], 16): row.split()[0] for row in rows(tally(*line)) if ' 0.00% ' in row}
        assert [shown[address] for address in (0x400900, 0x600800, 0x600801, 0x600802)] == ['75.00%'] + ['25.00%'] * 3


def test_an_event_that_is_not_there_is_told(tally, tmp_path):
    path = recording(tmp_path)
    for option in ('--switch-on', '--switch-off'):
        result = tally('report', '-i', path, option, 'cycles')
        assert result.returncode != 0 and 'event not found (cycles)' in result.stderr


@pytest.mark.parametrize('words', ['--socket-filter 0', '--socket-filter 1', '--socket-filter -1',
                                   '--socket-filter 0 -s comm,cpu -n'])
def test_samples_of_a_socket(tally, newest_perf, tmp_path, words):
    path = str(tmp_path / 'perf.data')
    made = tally('record', '-q', '-e', 'cpu-clock', '-o', path, 'sh', '-c', 'i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done')
    assert made.returncode == 0, made.stderr
    line = ['report', '--stdio', '-i', path, *words.split()]
    ours, theirs = rows(tally(*line)), rows(newest_perf(*line))
    assert len(ours) == len(theirs) and ours[:3] == theirs[:3]
    assert [row.split()[:3] for row in ours] == [row.split()[:3] for row in theirs]


def test_of_two_sockets_one_counts(tally, tmp_path):
    path = recording(tmp_path)
    for socket, cpus in ((0, {'000', '001'}), (1, {'002', '003'})):
        lines = rows(tally('report', '-i', path, '--socket-filter', str(socket), '-s', 'cpu'))
        assert {line.split()[1] for line in lines if line[0] != '#'} == cpus
    assert [line for line in rows(tally('report', '-i', path, '--socket-filter', '2')) if line[0] != '#'] == []


def test_what_only_a_browser_shows_is_checked(tally, tmp_path):
    path = recording(tmp_path)
    plain = tally('report', '-i', path)
    for words in (['--percent-type', 'global-hits'], ['--samples', '5']):
        assert tally('report', '-i', path, *words).stdout == plain.stdout
    assert tally('report', '-i', path, '--percent-type', 'foo').returncode == 129
    assert tally('report', '-i', path, '--samples', 'x').returncode == 129
    assert tally('report', '-i', path, '--socket-filter', 'x').returncode == 129


def test_records_in_the_order_of_the_file(tally, tmp_path):
    recording = Recording()
    recording.event('IP TID TIME PERIOD IDENTIFIER')
    for time in (3, 1, 2):
        recording.sample(time=time * 10**9)
    recording.write(tmp_path / 'perf.data')
    times = {options: re.findall(r'^\d* ?(\d)0{9} 0x', tally('report', '-D', *options, cwd=tmp_path, check=0).stdout, re.M)
             for options in ((), ('--disable-order',))}
    assert times == {(): ['1', '2', '3'], ('--disable-order',): ['3', '1', '2']}


@pytest.mark.parametrize('line,reason', [
    ('c2c report --objdump x', 'c2c shows no instructions'),
    ('c2c report -M intel', 'c2c shows no instructions'),
])
def test_a_refusal_gives_its_reason(tally, line, reason):
    assert 'is not supported yet: ' in (said := tally(*line.split(), check=129).stderr) and reason in said


def three_places(folder):
    """Samples of two commands in a named object, and in none."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD')
    for pid, name in ((1000, 'job'), (2000, 'f(int, long)'), (3000, 'other')):
        built.record(3, 0, built.pack('II', pid, pid) + built.name(name) + built.trailer())
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    for pid, ip, count in ((1000, 0x400010, 4), (1000, 0x400020, 3), (2000, 0x500000, 2), (3000, 0x600000, 1)):
        for _ in range(count):
            built.sample(tid=(pid, pid), ip=ip)
    built.write(folder / 'perf.data')
    return folder / 'perf.data'


def test_names_come_from_files(tally, perf, tmp_path):
    path = three_places(tmp_path)
    (tmp_path / 'names').write_text('f(int, long)\nother\n')
    (tmp_path / 'one').write_text('other\n')
    (tmp_path / 'objects').write_text('nothing\n')
    for words, count in ((['-c', f'file://{tmp_path}/names'], 2), (['-c', f'job,file://{tmp_path}/one'], 3),
                         (['-c', f'file://{tmp_path}/one'], 1), (['-d', f'file://{tmp_path}/objects'], 2)):
        line = ['report', '--stdio', '-i', path, *words]
        theirs, ours = perf(*line, check=0).stdout, tally(*line, check=0).stdout
        assert [row.rstrip() for row in ours.splitlines()][:-2] == [row.rstrip() for row in theirs.splitlines()][:-2]
        assert len([row for row in ours.splitlines() if '%' in row]) == count
    folded = tally('flamegraph', '--folded', '-o', '-', '-i', path, '-c', f'file://{tmp_path}/names', check=0).stdout
    assert sorted(line.split(';')[0] for line in folded.splitlines()) == ['f(int, long)', 'other']
    asked = ('query', '-i', path, '-c', f'file://{tmp_path}/names', '--csv', 'select count(*) from samples')
    assert tally(*asked, check=0).stdout.split()[1:] == ['3']
    assert 'absent: No such file' in tally('query', '-i', path, '-c', 'file:///absent', 'select 1', check=255).stderr
    line = ['script', '-i', path, '-F', 'comm', '-c', f'file://{tmp_path}/names']
    assert tally(*line, check=0).stdout.split() == perf(*line, check=0).stdout.split() == ['f(int,', 'long)'] * 2 + ['other']


@pytest.mark.parametrize('verb, option', [('report', '-c'), ('report', '-S'), ('script', '--dsos'), ('diff', '-C'), ('top', '--dsos'),
                                          ('flamegraph', '-c'), ('annotate --stdio', '-d'),
                                          ('export --format json', '-S')])
def test_a_file_of_names_that_is_not_there_is_told(tally, tmp_path, verb, option):
    path = three_places(tmp_path)
    files = [path, path] if verb == 'diff' else [] if verb == 'top' else ['-i', path]
    result = tally(*verb.split(), option, f'ld,file://{tmp_path}/absent', *files, check=255)
    assert f'{tmp_path}/absent: No such file' in result.stderr


def test_an_address_is_a_symbol_without_a_name(tally, perf, tmp_path):
    path = three_places(tmp_path)
    for address, shown in (('0x400010', ['40.00%']), ('0x400020', ['30.00%']), ('0x400010,400020', ['40.00%', '30.00%'])):
        line = ['report', '--stdio', '-i', path, '-S', address, '-s', 'sym']
        theirs, ours = perf(*line, check=0).stdout, tally(*line, check=0).stdout
        assert [row.split() for row in ours.splitlines()][:-2] == [row.split() for row in theirs.splitlines()][:-2]
        assert re.findall(r'[0-9.]+%', ours) == shown
    unmapped = tally('report', '-i', path, '-S', '0x600000,0x500000', '-s', 'sym', check=0).stdout
    assert re.findall(r'[0-9.]+%', unmapped) == ['20.00%', '10.00%']
    as_shown = tally('report', '-i', path, '-S', '0x20', '-q', check=0).stdout
    assert as_shown.split() == ['30.00%', 'job', 'nothing', '[.]', '0x0000000000000020']


def test_callers_access_no_data(tally, newest_perf, tmp_path):
    built = Recording()
    built.event('IDENTIFIER IP TID TIME ADDR PERIOD CALLCHAIN WEIGHT DATA_SRC')
    built.name_events('loads')
    built.comm('job')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    for i in range(6):
        built.sample(ip=0x400000 + i % 3, addr=0x404040, weight=10 + i, data_src=0x68100142,
                     callchain=[CHAIN_USER, 0x400000 + i % 3, 0x400100])
    built.write(tmp_path / 'perf.data')
    for words in ('', '--children', '-s mem,sym', '-F overhead,sample,sym', '-g callee'):
        line = ['report', '--stdio', '--mem-mode', '-i', tmp_path / 'perf.data', *words.split()]
        ours, theirs = ([row.split() for row in rows(tool(*line))] for tool in (tally, newest_perf))
        assert ours == theirs
        assert 'Children' not in tally(*line).stdout


def test_more_of_the_header_is_no_header(tally, perf, tmp_path):
    path = recording(tmp_path)
    for words in (['-I'], ['-I', '--stats']):
        theirs, ours = (tool('report', '--stdio', '-i', path, *words, check=0).stdout for tool in (perf, tally))
        assert '# ========' not in theirs + ours
        assert ours.splitlines()[:9] == theirs.splitlines()[:9]


BRANCH_STACK, CALL_STACK = 15, 1 << 11


BRANCHES_WITH_CHAINS = ['-b', '-b -s dso_from,symbol_to -n', '-b -g caller', '-b --children', '-b --hierarchy']


@pytest.mark.parametrize('words, kind', [
    *((words, kind) for words in BRANCHES_WITH_CHAINS for kind in (BRANCH_ANY, CALL_STACK)),
    *((words, BRANCH_ANY) for words in ('', '-g none', '-g caller', '--children', '--no-branch-stack'))])
def test_branches_beside_call_chains(tally, newest_perf, tmp_path, words, kind):
    """record -b -g: a sample's chain is none of its branches'; record --call-graph lbr: branches if they are asked for."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD BRANCH_STACK CALLCHAIN', branch=kind)
    built.name_events('cycles')
    built.comm('job')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    for i in range(5):
        built.sample(ip=0x400010, branch_stack=[0x400100 + i % 2, 0x400200, 1, 0x400300, 0x400400, 1],
                     callchain=[CHAIN_USER, 0x400010, 0x400044])
    if kind == BRANCH_ANY:
        built.feature(BRANCH_STACK, b'')
    built.write(tmp_path / 'perf.data')
    line = ['report', '--stdio', '-i', tmp_path / 'perf.data', *words.split()]
    assert rows(tally(*line)) == rows(newest_perf(*line))
    if '--no-branch-stack' not in line:
        assert rows(tally(*line))[-1].split()[-1] == '-' and 'Children' not in tally(*line).stdout


def test_idle_threads_are_of_process_0(tally, perf, tmp_path):
    """Old kernels say of one, while it goes to sleep, that it is of the process that ran before."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD')
    built.record(3, 0, built.pack('II', 1384, 1384) + built.name('powerd') + built.trailer())
    for tid in ((0, 0), (1384, 0), (1384, 1384)):
        built.sample(tid=tid)
    built.write(tmp_path / 'perf.data')
    for words in (['--pid', '0'], ['--pid', '1384']):
        line = ['report', '--stdio', '-i', tmp_path / 'perf.data', '-s', 'pid', *words]
        assert rows(tally(*line)) == rows(perf(*line))
    shares = tally('report', '-i', tmp_path / 'perf.data', '-s', 'tgid', '-q', check=0).stdout.split()
    assert shares == ['66.67%', '0:swapper', '33.33%', '1384:powerd']


@pytest.mark.parametrize('data', ['/' + 'd' * 30 + '/' + 'e' * 40, '/c', None])
def test_the_column_of_data_objects_fits_their_names(tally, perf, tmp_path, data):
    """Names of objects without symbols too: they were cut to 16 letters."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME CPU PERIOD ADDR DATA_SRC WEIGHT', kind=4, config=0x1cd)
    built.name_events('cpu/mem-loads/')
    built.comm('job')
    built.mmap(0x400000, 0x2000, '/' + 'c' * 25 + '/program')
    if data:
        built.mmap(0x7f0000000000, 0x2000, data)
    for index in range(3):
        built.sample(ip=0x401000 + index, addr=0x7f0000000010, data_src=0x68100142, weight=7)
    built.feature(7, built.pack('II', 4, 4))
    built.text_feature(6, 'x86_64')
    built.write(tmp_path / 'perf.data')
    for options in (('-s', 'dso_daddr'), ('-s', 'dso,dso_daddr'), ('-v', '-s', 'dso_daddr'), ('-w', '0,0', '-s', 'dso_daddr'),
                    ('-t', ',', '-s', 'dso_daddr')):
        ours, theirs = (re.sub(r'# \(Tip.*| +$', '', program('report', '--mem-mode', '--stdio', *options, cwd=tmp_path,
                                                             check=0).stdout, flags=re.M) for program in (tally, perf))
        assert ours == theirs, options


def test_counts_of_threads_want_samples(tally, perf, tmp_path):
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD')
    built.comm('job')
    built.write(tmp_path / 'perf.data')
    ours, theirs = (program('report', '-T', '--stdio', cwd=tmp_path, check=0).stdout for program in (tally, perf))
    assert ours == theirs and 'PID' not in ours
    built.sample()
    built.write(tmp_path / 'perf.data')
    with open(tmp_path / 'perf.data', 'r+b') as f:  # a sample is cut in half behind that
        f.seek(48)
        size = int.from_bytes(f.read(8), 'little')
        f.seek(48)
        f.write((size + 8).to_bytes(8, 'little'))
        f.seek(0, 2)
        f.write(bytes([9, 0, 0, 0, 2, 0, 64, 0]))
    normal = tally('report', '-T', '--stdio', cwd=tmp_path).stdout
    assert '# PID  TID\n' in normal
    other = tally('report', '-T', '--stdio', '--pretty', 'other', cwd=tmp_path)
    assert other.stdout == normal and "'other' is treated as normal" in other.stderr


def test_tasks_are_those_that_records_of_tasks_name(tally, perf, tmp_path):
    """A thread that only mappings or samples speak of is none of them, but has its mappings."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD')
    built.comm('job')
    for pid, tid in ((2000, 2000), (2100, 2101), (1000, 1000)):
        built.record(1, 2, built.pack('IIQQQ', pid, tid, 0x400000, 0x1000, 0) + built.name('/bin/p') + built.trailer())
    built.record(7, 0, built.pack('IIIIQ', 2200, 2000, 2200, 2000, 10) + built.trailer())
    built.sample(tid=(2900, 2900))
    built.write(tmp_path / 'perf.data')
    for option in ('--tasks', '--mmaps'):
        ours, theirs = (program('report', option, cwd=tmp_path, check=0).stdout for program in (tally, perf))
        assert ours == theirs
    assert ':2101' in ours and ':2101' not in tally('report', '--tasks', cwd=tmp_path, check=0).stdout


def test_percentages_of_time_without_times(tally, perf, tmp_path):
    path = tmp_path / 'perf.data'
    built = Recording()
    built.event('IDENTIFIER IP TID PERIOD')
    built.name_events('cycles')
    built.comm('job')
    for _ in range(5):
        built.sample()
    built.feature(21, built.pack('QQ', (1 << 64) - 1, (1 << 64) - 1))  # what perf writes as the times of such samples
    built.write(path)
    line = ['report', '--stdio', '-s', 'comm', '-i', path, '--time', '0%-10%,30%-40%']
    ours, theirs = tally(*line, check=0), perf(*line)
    assert re.findall('(?m)^ .*job', ours.stdout) == re.findall('(?m)^ .*job', theirs.stdout) == ['   100.00%  job']
    assert 'samples have no timestamps' in ours.stderr
    assert 'no samples' in tally(*line[:-1], '1,2').stderr
