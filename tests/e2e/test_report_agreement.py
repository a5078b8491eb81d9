# SPDX-License-Identifier: Apache-2.0
"""Rows of `report` beside perf's: command lines over recordings of many kinds, as a table of agreement.

The version of perf that the corpus's manifest trusts is asked. What makes rows alike that differ on purpose is a rule
below, with its row in docs/compatibility.md: a table that only rules made equal counts as explained, everything else
that differs fails. Run with -s to see the table.
"""
import csv
import json
import random
import re
import shutil
import subprocess

import pytest

from conftest import NEWEST_PERF, Program
from perfdata_build import BRANCH_ANY, CHAIN_USER, Recording


# name in the table, file of the corpus, what it has beside software or hardware samples
RECORDINGS = [
    ('dwarf', 'KDAB+hotspot/cpp-recursion__perf.data.old', 'chains'),
    ('tracepoints, switches', 'KDAB+perfparser/parallel_static_gcc__perf.data.zstd.zlib', 'chains dwarf switches'),
    ('cgroup ids', 'KDAB+perfparser/vector_static_gcc__perf.data.zstd', 'chains dwarf'),
    ('branches, 6.8', 'google+autofdo/hierarchical_discriminator_test.x86_64.perf.data', 'branches'),
    ('branches, arm', 'google+perf_data_converter/perf.data.branch_stack_hw_index', 'branches'),
    ('branches, 4.15', 'google+perf_data_converter/perf.data.branch_stack_spec', 'branches'),
    ('branches, simpleperf', 'jbeich+platform_system_extras/perf_lbr.data', 'branches'),
    ('frame pointers', 'google+perf_data_converter/perf.data.callgraph-3.8', 'chains'),
    ('six events, i686', 'google+perf_data_converter/perf.data.i686-3.4', ''),
    ('group', 'google+perf_data_converter/perf.data.lost_samples-4.4', ''),
    ('six events, system', 'google+perf_data_converter/perf.data.systemwide.1-3.4', ''),
    ('memory', 'google+perf_data_converter/perf.data.weight_struct', 'memory'),
    ('namespaces', 'google+perf_data_converter/perf.data.ctx_switch_namespaces-4.14', ''),
    ('user events', 'microsoft+LinuxTracepoints-Net/input__perf.data', 'tracepoints'),
    ('own branches', None, 'branches'),
    ('own memory', None, 'memory'),
]

# A word in front: only of recordings that have it, or lack it ("no branches"). Those with chains get --no-children -g none as well: call
# graphs have tests of their own.
LINES = [
    '', '-s comm', '-s dso', '-s sym', '-s comm,dso', '-s pid', '-s cpu', 'no memory: -s socket', '-s time',
    '-s time --time-quantum 1s', '-s comm,time --time-quantum 10ms --ns', '-s pid,cpu,dso', '-s symbol_size',
    'no branches: -s addr', '-s comm,dso,sym -n', '-s comm,dso --show-total-period', '-s dso --show-cpu-utilization',
    '-F overhead,sample,period -s comm', '-F overhead_us,overhead_sys,comm', '-F +period,pid', '-F +sample,dso -s sym', '-F comm,overhead -s overhead',
    'no branches: -s local_weight,weight', '-s ins_lat,local_ins_lat', '-s transaction', '-s cgroup',
    '-s code_page_size', '-v -s comm,dso', '-v -s sym', '-v -s pid,dso,sym', 'branches: -v -b', '-s comm,cgroup_id', 'no branches: -s comm,weight1',
    'no branches: -F overhead,weight1,weight2,weight3,cpu -s cpu', 'no switches: -s pid,weight2,weight3', '-s +cpu', '-t , -s comm,dso', 'no dwarf: -w 5,9,7 -s comm,dso', '--percent-limit 5 -s sym',
    '-c swapper,chrome -s comm,dso', '--percentage relative -c swapper -s comm,dso', '-s sym -U', '--skip-empty -s comm',
    '-q -s comm,sym', '-v -q -s comm,dso,sym', 'no branches: -s srcline --percent-limit 2', '-s symoff,sym', '-s comm_nodigit',
    'branches: -s dso_from,dso_to', 'branches: -s symbol_from,cycles', 'branches: -s mispredict', 'branches: -s in_tx',
    'branches: -s abort', 'branches: -s addr_from,addr_to', 'branches: --no-branch-stack',
    'branches: --branch-history', 'branches: --branch-history --no-children -s dso,sym', 'branches: --branch-history -g flat',
    'branches: --branch-history -n -s comm -g folded',
    'branches: -b -s cpu,dso_from -n', 'branches: -s comm,dso_size', 'branches: -s sym,symbol_to',
    'memory: --mem-mode', 'memory: --mem-mode -s mem,tlb', 'memory: --mem-mode -s snoop,locked,blocked',
    'memory: --mem-mode -s symbol_daddr,dso_daddr', 'memory: --mem-mode -s dcacheline', 'memory: --mem-mode -s phys_daddr',
    'memory: --mem-mode -s data_page_size,code_page_size', 'memory: --mem-mode -s symbol_iaddr,local_weight',
    '-s trace', '-s type,comm', '-s typeoff', '-s typecln', 'tracepoints: -s trace_fields', 'tracepoints: -s opcode,level,comm',
    'tracepoints: -s trace --raw-trace', 'switches: --latency', 'switches: -s latency,comm', 'switches: -F overhead,latency,comm',
    'switches: --parallelism 2-3 -F overhead,parallelism,dso', 'switches: --latency --parallelism 1,4 --percentage relative -s comm', 'chains: -s parent,dso', 'chains: -p ^sys_ -x',
    'no branches: --hierarchy', 'no branches: --hierarchy -s {comm,dso},pid,cpu -n', '--hierarchy -s comm,dso -t ;',
    '--hierarchy -s dso,pid --percent-limit 30', 'chains: --group -s comm,dso',
    'chains: --group -n -s dso', 'memory: --group -n -s comm,dso',
    'branches: -b --hierarchy -s dso_from,dso_to',
]


def without(pattern, replacement=''):
    compiled = re.compile(pattern)
    return lambda rows: [compiled.sub(replacement, row) for row in rows]


# Keys that perf 6.1 lacks or shows otherwise: the newest perf is asked.
NEWER_KEYS = re.compile(r'mem-mode|latency|parallelism|ins_lat|symoff|comm_nodigit|\btype|branch-history|weight\d|^-w')
VERBOSE = without(r'(?<=  )(/tmp/perf-vdso.so-\S{6}|\[vdso\]) *(?=0x|\[|$)|(?<= )[A-Za-z!] (?=\[.\] 0)')
# What differs on purpose, each a row of docs/compatibility.md: (name, which command lines, what makes the rows alike).
RULES = [
    ('dash for cycles by instruction', r'symbol', without(r' +(-( +-)?|\d+\.\d\d +\[ +\d+\.\d%\])$')),
    ('size of the kernel', r'dso_size', without(r'\b\d{8,}$', 'kernel')),
    ('latency beside overhead in 7.3', r'^-w|ins_lat|symoff|comm_nodigit|weight\d|-s type', without(r'^( +\d+\.\d\d%) +\d+\.\d\d%', r'\1')),
    ('means of branches', r'branch-history',
     without(r' +(\d+\.\d% +\d+ +\d+ +)?-( +-)?$| \(iter:\d+ avg_cycles:\d+\)| iter:\d+ avg_cycles:\d+')),
    ('order of equal shares in 7.3', r'symoff', sorted),
    ('names of the vdso and of modules', r'-v ', lambda rows: sorted(VERBOSE(rows))),
]


def own_branches(path):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD BRANCH_STACK', kind=0, period=1, branch=BRANCH_ANY)
    recording.comm('brancher')
    recording.mmap(0x401000, 0x2000, '/nowhere/program')
    ends = [(0x401126, 0x401159, 1 | 18 << 4), (0x401190, 0x401126, 2), (0x7f0000001000, 0x401200, 1 | 300 << 4),
            (0x401180, 0x401300, 2 | 4 | 7 << 4)]
    for index in range(12):
        stack = [word for entry in range(index % 4) for word in ends[(index + entry) % 4]]
        recording.sample(ip=0x401200 + index, time=5 * 10**9 + index * 60 * 10**6, cpu=index % 2, branch_stack=stack)
    recording.feature(15, b'')
    recording.write(path)


def own_memory(path):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME ADDR CPU PERIOD WEIGHT_STRUCT DATA_SRC TRANSACTION PHYS_ADDR CGROUP '
                    'DATA_PAGE_SIZE CODE_PAGE_SIZE', kind=4, config=0x1cd, period=1)
    recording.comm('work12er3')
    recording.mmap(0x401000, 0x1000, '/nowhere/program')
    recording.mmap(0x404000, 0x2000, '/nowhere/program')
    recording.record(19, 0, recording.pack('Q', 7) + recording.name('/user.slice/a') + recording.trailer())
    sources = (0x68100142, 0x68100242, 0x1e05080021, 0x6a100442, 0x68100842)
    transactions = (0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 3 | 5 << 32, 0xff, 0x15 | 0x12 << 32)
    for index, transaction in enumerate(transactions):
        recording.sample(
            ip=0x401100 + index % 7, time=5 * 10**9 + index * 60 * 10**6, cpu=index % 3,
            addr=(0x404060 + 4 * index, 0x404040, 0x7fff12345678, 0xffffffff81000010)[index % 4],
            weight_struct=100 + index % 3 | index % 4 << 32 | index % 2 << 48, transaction=transaction,
            phys_addr=0x100000 + index % 2 * 4096, cgroup=(0, 7, 9)[index % 3],
            data_page_size=(0, 4096, 2 << 20, 1 << 30, 512)[index % 5], code_page_size=(4096, 8192)[index % 2],
            data_src=sources[index % 5], misc=(2, 2, 1)[index % 3])
    for cpu in range(20):
        recording.sample(ip=0x401200, time=7 * 10**9 + cpu * 10**6, addr=0x404040, weight_struct=3 + cpu % 2,
                         data_src=0x68100142, cpu=cpu, period=2)
    recording.write(path)


def rows_of(text):
    """The rows of all tables, without what pads them; titles and tips are not rows."""
    rows = [row.rstrip() for row in text.splitlines()]
    return [row for row in rows if row and not row.startswith('#')]


@pytest.fixture
def versions(tmp_path):
    """perf by version; those that are not installed are absent."""
    found = {'6.1': shutil.which('perf'), '7.3': NEWEST_PERF}
    return {version: Program(path, tmp_path) for version, path in found.items() if path}


def judge(arguments, theirs, ours):
    """'same', the name of the rule that makes the rows alike, or ''."""
    if theirs == ours:
        return 'same'
    for name, lines, change in RULES:
        if re.search(lines, arguments) and change(theirs) == change(ours):
            return name
    return ''


def compare(tally, perf, path, words, empty):
    arguments = ['report', '--stdio', '-f', '--symfs', empty, '-i', path, *words.split()]
    theirs, ours = perf(*arguments), tally(*arguments)
    if theirs.returncode != 0:
        return 'refused' if ours.returncode != 0 else 'perf refuses'
    return judge(words, rows_of(theirs.stdout), rows_of(ours.stdout))


def recordings(shared, folder):
    """(name, path, words, trusted version) of each."""
    corpus = shared / 'corpus'
    if not (corpus / 'MANIFEST.tsv').exists():
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
    with open(corpus / 'MANIFEST.tsv', newline='') as manifest:
        trusted = {row['file']: row['use_expected'] for row in csv.DictReader(manifest, delimiter='\t')}
    own_branches(folder / 'branches.data')
    own_memory(folder / 'memory.data')
    for name, file, words in RECORDINGS:
        if file:
            yield name, corpus / 'files' / file, words, trusted[file]
        else:
            yield name, folder / f'{name.split()[1]}.data', words, '7.3'


def test_mem_report_is_a_report_of_accesses(tally, tmp_path):
    own_memory(tmp_path / 'memory.data')
    own_branches(tmp_path / 'branches.data')
    report = tally('report', '--mem-mode', '-n', '-i', tmp_path / 'memory.data', check=0)
    assert 'Local Weight' in report.stdout
    assert rows_of(tally('mem', 'report', '-i', tmp_path / 'memory.data', check=0).stdout) == rows_of(report.stdout)
    keys = tally('mem', '-p', '--data-page-size', '-t', 'store', 'report', '-i', tmp_path / 'memory.data', check=0)
    assert '# Sort order   : mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked,phys_daddr,data_page_size,' in keys.stdout
    refused = tally('mem', 'report', '-i', tmp_path / 'branches.data', check=255)
    assert 'needs data sources' in refused.stderr


def test_mem_report_takes_the_options_of_report(tally, tmp_path):
    own_memory(tmp_path / 'memory.data')
    for words, same_as in (
            ('report --stdio', ''), ('report -g none --no-children', ''), ('report -F overhead,comm', '-F overhead,comm'),
            ('-t load report --percent-limit 5 -c work12er3', '--percent-limit 5 -c work12er3'),
            ('-C 1 report -s mem,tlb --percentage=relative', '-C 1 -s mem,tlb --percentage=relative'),
            ('report -x, --sort=mem', '-t, -s mem'), ('rep --sort mem -q', '-s mem -q'), ('-U report -s sym', '-U -s sym')):
        mem = tally('mem', *words.split(), '-i', tmp_path / 'memory.data', check=0)
        report = tally('report', '--mem-mode', '-n', *same_as.split(), '-i', tmp_path / 'memory.data', check=0)
        assert mem.stdout == report.stdout
    last = tally('mem', 'report', '--stdio', tmp_path / 'memory.data', check=0)
    assert last.stdout == tally('mem', 'report', '-i', tmp_path / 'memory.data', check=0).stdout
    assert 'unknown option' in tally('mem', 'report', '--nonsense', check=129).stderr
    assert 'Unknown command' in tally('mem', 'wrong', 'report', check=129).stderr
    assert 'needs a command' in tally('mem', '-t', 'load', check=129).stderr
    assert 'cannot be used together' in tally('mem', '-D', 'report', '--children', check=255).stderr


@pytest.mark.parametrize('options', [[], ['-t', '|']], ids=' '.join)
def test_columns_without_rows_are_as_wide_as_their_names(tally, perf, tmp_path, options):
    own_memory(tmp_path / 'memory.data')
    words = ['report', '--stdio', '--mem-mode', '-s', 'mem,snoop,tlb,blocked,phys_daddr', '-S', 'nothing', *options, '-i',
             tmp_path / 'memory.data']
    heads = [[line for line in tool(*words).stdout.splitlines() if 'Overhead' in line or '....' in line]
             for tool in (tally, perf)]
    assert heads[0] == heads[1] and 'Memory access' in heads[0][0]


@pytest.mark.parametrize('options', [[], ['-t', '|']], ids=' '.join)
def test_transactions_are_as_wide_without_rows(tally, perf, tmp_path, options):
    own_memory(tmp_path / 'memory.data')
    words = ['report', '--stdio', '-s', 'transaction,comm', '-S', 'nothing', *options, '-i', tmp_path / 'memory.data']
    ours, theirs = ([line for line in tool(*words).stdout.splitlines() if 'Overhead' in line or '....' in line]
                    for tool in (tally, perf))
    assert ours == theirs and 'Transaction' + ' ' * 16 in ours[0]


@pytest.mark.parametrize('options, width', [('', 16), ('-d a,b', 13), ('-d a,b -s dso,sym --no-children', 13), ('-w 9', 13)])
def test_the_column_of_objects_has_room_for_addresses(tally, perf, tmp_path, options, width):
    """Where code has no names, unless objects are listed."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CALLCHAIN PERIOD')
    recording.comm('worker')
    recording.mmap(0x401000, 0x1000, '/nowhere/a')
    recording.sample(ip=0x401010, time=10**9, callchain=[CHAIN_USER, 0x401010, 0x401234])
    recording.write(tmp_path / 'perf.data')
    words = ('report', '--stdio', '-g', 'none', *options.split(), '-i', tmp_path / 'perf.data')
    ours, theirs = ([row.rstrip() for row in program(*words).stdout.splitlines() if 'Shared Object' in row or '# ....' in row]
                    for program in (tally, perf))
    assert ours == theirs and '.' * width in ours[1].split()


@pytest.mark.parametrize('options', ['--hierarchy -s sym', '--hierarchy -s comm,sym', '--hierarchy -s {comm,sym}', '-s sym'])
def test_of_equal_shares_the_kernels_addresses_come_first(tally, perf, tmp_path, options):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME PERIOD')
    recording.comm('worker')
    addresses = [0x401010, 0xffffffff81000020, 0x7f0000001000, 0xffffffff81000010]
    for address in addresses:
        recording.sample(ip=address, time=10**9, misc=1 if address >> 63 else 2)
    recording.write(tmp_path / 'perf.data')
    words = ('report', '--stdio', *options.split(), '-i', tmp_path / 'perf.data')
    ours, theirs = ([int(found, 16) for found in re.findall('0x([0-9a-f]{16})', program(*words).stdout)] for program in (tally, perf))
    assert ours == theirs == sorted(addresses, key=lambda address: (not address >> 63, address))


def test_weights_of_a_hierarchy_are_of_the_level(tally, versions, tmp_path):
    """The weight of its samples times their number, though the rows below tell them apart."""
    own_memory(tmp_path / 'memory.data')
    words = ('report', '--stdio', '--mem-mode', '--hierarchy', '-s', 'weight,comm,dcacheline', '-i', tmp_path / 'memory.data')
    ours = rows_of(tally(*words, check=0).stdout)
    tops = [row.split()[1] for row in ours if row[4] != ' ' or row[5] != ' ']
    assert sorted(tops) == ['30', '40', '400', '404', '408']
    document = json.loads(tally('report', '--json', '--mem-mode', '--hierarchy', *words[4:], check=0).stdout)
    assert sorted(row['weight'] for row in document['tables'][0]['rows']) == sorted(tops)
    if '7.3' in versions:
        assert rows_of(versions['7.3'](*words, check=0).stdout) == ours


def test_threads_that_are_gone_are_one_command(tally, versions, tmp_path):
    """comm_nodigit of a sample that has a process but no thread, or neither."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME PERIOD')
    recording.comm('worker')
    for time, (pid, tid) in enumerate([(1000, 1000), (1000, -1), (-1, -1), (1000, 2000)]):
        recording.sample(time=10**9 + time, period=100 << time, tid=(pid & 0xffffffff, tid & 0xffffffff))
    recording.write(tmp_path / 'perf.data')
    words = ('report', '--stdio', '-s', 'comm_nodigit', '-i', tmp_path / 'perf.data')
    ours = rows_of(tally(*words, check=0).stdout)
    assert [row.split()[1] for row in ours] == [':<N>', ':-<N>', 'worker']
    if '7.3' in versions:
        assert ours == rows_of(versions['7.3'](*words, check=0).stdout)


def test_mem_dump(tally, tmp_path):
    own_memory(tmp_path / 'memory.data')
    rows = tally('mem', '-D', 'report', '-i', tmp_path / 'memory.data', check=0).stdout.splitlines()
    assert len(rows) == 33 and rows[:4] == [
        '# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL',
        '1000 1000 0x401100 0x404060 100 0x68100142 /nowhere/program:???',
        '1000 1000 0x401101 0x404040 101 0x68100242 /nowhere/program:???',
        '1000 1000 0x401102 0x7fff12345678 102 0x1e05080021 ???:???']
    more = tally('mem', '-D', '-p', '--data-page-size', '-x,', '-C', '1', 'report', '-i', tmp_path / 'memory.data', check=0)
    assert more.stdout.splitlines()[1] == (
        '1000,1000,0x401101,0x404040,0x0000000000101000,4K,101,0x68100242,/nowhere/program:???')
    assert tally('mem', '-D', '-U', 'report', '-i', tmp_path / 'memory.data', check=0).stdout.count('\n') == 1
    # what is about the table is passed over, as perf does
    for words in (['-t', 'load'], ['-s', 'mem'], ['--stdio']):
        assert tally('mem', 'report', '-D', *words, '-i', tmp_path / 'memory.data', check=0).stdout.splitlines() == rows
    own_branches(tmp_path / 'branches.data')
    assert 'needs data sources' in tally('mem', '-D', 'report', '-i', tmp_path / 'branches.data', check=255).stderr


def test_mem_dump_is_perfs(tally, perf, tmp_path):
    own_memory(tmp_path / 'memory.data')
    for options in ([], ['-p', '--data-page-size'], ['-x,'], ['-U']):
        command = ['mem', '-D', *options, 'report', '-f', '-i', tmp_path / 'memory.data']
        theirs, ours = (tool(*command, check=0).stdout.splitlines() for tool in (perf, tally))
        assert (ours[:1], ours[2:]) == (theirs[:1], theirs[2:])  # the first row is padded


@pytest.mark.parametrize('order', '<>')
def test_numbers_of_samples_in_either_byte_order(tally, tmp_path, order):
    recording = Recording(order)
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD WEIGHT_STRUCT PHYS_ADDR CGROUP CODE_PAGE_SIZE')
    recording.comm('worker')
    for index in range(4):
        recording.sample(time=10**9 + index * 10**8, cpu=index % 2, weight_struct=7 | 3 << 32 | 2 << 48,
                         code_page_size=4096 << index % 2, cgroup=5)
    recording.write(tmp_path / 'perf.data')
    keys = 'time,cpu,local_weight,weight,local_ins_lat,local_p_stage_cyc,code_page_size,cgroup'
    report = tally('report', '-q', '-s', keys, '-i', tmp_path / 'perf.data', check=0)
    assert [row.split() for row in rows_of(report.stdout)] == [
        ['25.00%', f'1.{index}00000', f'00{index % 2}', '7', '7', '3', '2', f'{4 << index % 2}K', 'unknown']
        for index in range(4)]


def test_cgroup_namespaces_change_with_time(tally, tmp_path):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME PERIOD')
    recording.comm('worker')
    # By time: none, the seventh namespace, another one; the other thread's is its own, and of six none is one of cgroups.
    for tid, time_s, inode, count in ((1000, 2, 0xeffffffb, 7), (1000, 4, 0xf0000001, 8), (1001, 1, 7, 7), (1002, 1, 8, 6)):
        entries = [word for index in range(count) for word in (3, inode - 6 + index)]
        recording.record(16, 0, recording.pack('IIQ', 1000, tid, count) + recording.words(entries) +
                         recording.pack('IIQQ', 1000, tid, time_s * 10**9, 1))
    for tid, time_s in ((1000, 1), (1000, 3), (1000, 5), (1001, 5), (1002, 5)):
        recording.sample(tid=(1000, tid), time=time_s * 10**9, period=time_s)
    recording.write(tmp_path / 'perf.data')
    report = tally('report', '-q', '-s', 'pid,cgroup_id', '-F', 'period,pid,cgroup_id', '-i', tmp_path / 'perf.data', check=0)
    assert sorted(row.split() for row in rows_of(report.stdout)) == [
        ['1', '1000:worker', '0/0x0'], ['3', '1000:worker', '3/0xeffffffb'], ['5', '1000:worker', '3/0xf0000001'],
        ['5', '1001::1001', '3/0x7'], ['5', '1002::1002', '0/0x0']]


def test_weights_are_averages(tally, tmp_path):
    own_memory(tmp_path / 'memory.data')
    arguments = ['-s', 'comm', '-F', 'sample,weight1,ins_lat,p_stage_cyc,comm', '-i', tmp_path / 'memory.data']
    rows = rows_of(tally('report', '-q', *arguments, check=0).stdout)
    assert [row.split() for row in rows] == [['32', '40.1', '0.6', '0.2', 'work12er3']]
    table = json.loads(tally('report', '--json', *arguments, check=0).stdout)['tables'][0]
    assert table['rows'][0]['values'][0]['weight1'] == pytest.approx(1282 / 32, abs=0.001)


def test_a_stream_is_counted_by_branches_and_fields_too(tally, perf, shared, tmp_path):
    """What a stream has is known once it was read."""
    source = shared / 'corpus' / 'files' / 'google+perf_data_converter' / 'perf.data.branch_stack_spec'
    if not source.exists():
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
    stream = perf('inject', '-i', source, '-o', '-', check=0, text=False).stdout
    (tmp_path / 'stream').write_bytes(stream)
    with open(tmp_path / 'stream', 'rb') as opened:
        piped = tally('report', '-i', '-', '-s', 'comm,dso_from,mispredict', stdin=opened.read(), text=False)
    assert piped.returncode == 0
    plain = tally('report', '-i', source, '-s', 'comm,dso_from,mispredict', check=0)
    assert rows_of(piped.stdout.decode()) == rows_of(plain.stdout)


def record_parallelism(path, fields=''):
    """By time: one thread, two from 2 s on, one again from 4 s on, and none that is known of from 5 s on."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME PERIOD' + fields, flags=1 << 26)
    recording.comm('worker')
    for time_s, misc in ((2, 0), (4, 1 << 13), (5, 1 << 13)):
        recording.record(14, misc, recording.pack('IIQQ', 1000, 1000, time_s * 10**9, 1))
    for half in range(2, 12):
        recording.sample(time=half * 5 * 10**8, period=100, callchain=[CHAIN_USER, 0, 0x5000 + half])
    recording.write(path)


def test_latency_is_shared_by_the_threads_that_run(tally, tmp_path):
    record_parallelism(tmp_path / 'perf.data')
    report = tally('report', '-q', '--latency', '-s', 'parallelism', '-i', tmp_path / 'perf.data', check=0)
    assert [row.split() for row in rows_of(report.stdout)] == [['75.00%', '60.00%', '1'], ['25.00%', '40.00%', '2']]
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME')
    recording.sample()
    recording.write(tmp_path / 'none.data')
    for words in (['--latency'], ['--parallelism', '1']):
        refused = tally('report', *words, '-i', tmp_path / 'none.data', check=255)
        assert 'need context switches' in refused.stderr


LATENCY_COLUMNS = {
    '-s latency,comm': 'Latency Command', '-s comm,latency': 'Latency Command', '-s latency,comm -n': 'Latency Samples Command',
    '-s latency_children,latency,comm': 'Latency Latency Command', '-s latency,comm -F +period': 'Latency Period Command',
    '-s +latency': 'Latency Command Shared Object Symbol', '--latency -s comm': 'Latency Children Latency Self Command'}


@pytest.mark.parametrize('options', LATENCY_COLUMNS)
def test_a_sort_by_latency_shows_what_it_names(tally, versions, tmp_path, options):
    """And no sums of children, though the recording has call chains."""
    record_parallelism(tmp_path / 'perf.data', ' CALLCHAIN')
    words = ('report', '--stdio', '-g', 'none', *options.split(), '-i', tmp_path / 'perf.data')
    shown = tally(*words, check=0).stdout.splitlines()
    heading = next(row for row in shown if row.startswith('#') and 'Command' in row)
    assert ' '.join(heading.split()[1:]) == LATENCY_COLUMNS[options]
    if '7.3' in versions:
        theirs = versions['7.3'](*words, check=0).stdout.splitlines()
        assert heading.rstrip() == next(row for row in theirs if row.startswith('#') and 'Command' in row).rstrip()


PARALLELISM_LISTS = {'1': [['60.00%', 'worker']], '2': [['40.00%', 'worker']], '1-2': [['100.00%', 'worker']],
                     '2,7-9': [['40.00%', 'worker']], '3': [], '1,2': [['100.00%', 'worker']]}


def test_samples_are_chosen_by_how_many_threads_ran(tally, tmp_path):
    path = tmp_path / 'perf.data'
    record_parallelism(path)

    def rows(levels, *more):
        words = ('--stdio', '-q', '-F', 'overhead,comm', '--parallelism', levels, '-i', path)
        return [row.split() for row in rows_of(tally('report', *words, *more, check=0).stdout)]

    for levels, expected in PARALLELISM_LISTS.items():
        assert rows(levels) == expected, levels
    assert rows('2', '--percentage', 'relative') == [['100.00%', 'worker']]
    whole = tally('report', '--json', '--parallelism', '2', '-s', 'comm', '-i', path, check=0)
    table = json.loads(whole.stdout)['tables'][0]
    assert [row['values'][0]['period'] for row in table['rows']] == [400], table
    for levels in ('0', '0-2', '', 'two', '1,two', '2-1', '-1', '99999999999'):
        refused = tally('report', '--parallelism', levels, '-i', path, check=255)
        assert "--parallelism takes numbers of running threads" in refused.stderr, levels


@pytest.fixture
def accesses(tmp_path):
    """Of functions' code and of data, at their beginning and in them."""
    if not shutil.which('gcc') or not shutil.which('nm'):
        pytest.skip('gcc and nm are needed')
    (tmp_path / 'data.c').write_text('long table[64] __attribute__((aligned(64))) = {1};\nlong other[8] = {2};\n'
                                     'int reader(int i) { return (int)(table[i] + other[i & 7]); }\n'
                                     'int main(int count, char **words) { return reader(count) & 1; }\n')
    program = tmp_path / 'data'
    subprocess.run(['gcc', '-O1', '-no-pie', '-Wl,-z,noseparate-code', '-Wl,-z,max-page-size=4096', '-o', program, 'data.c'],
                   cwd=tmp_path, check=True)
    listed = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    symbols = {words[2]: int(words[0], 16) for words in map(str.split, listed.splitlines()) if len(words) == 3}
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME ADDR PERIOD WEIGHT DATA_SRC', kind=4, config=0x1cd, period=1)
    recording.comm('data')
    segments = subprocess.run(['readelf', '-lW', program], capture_output=True, text=True, check=True).stdout
    for words in map(str.split, segments.splitlines()):
        if words[:1] == ['LOAD']:
            offset, start, size = (int(words[index], 16) for index in (1, 2, 5))
            first, last, is_code = start & ~4095, (start + size + 4095) & ~4095, 'E' in words[6:8]
            body = recording.pack('IIQQQIIQQII', 1000, 1000, first, last - first, offset & ~4095, 0, 0, 0, 0, 7 if is_code else 3, 2)
            recording.record(10, 2 if is_code else 2 | 1 << 13, body + recording.name(str(program)) + recording.trailer())
    places = [symbols[name] + offset for name, offset in (('main', 0), ('reader', 0), ('reader', 4), ('table', 0), ('table', 24),
                                                          ('table', 70), ('other', 0), ('other', 9))]
    for index, place in enumerate(places):
        recording.sample(ip=symbols['reader'], time=10**9 + index, addr=place, weight=index + 1, data_src=0x68100142)
    recording.feature(7, recording.pack('II', 2, 2))
    recording.write(tmp_path / 'accesses.data')
    return tmp_path / 'accesses.data'


def test_offsets_stand_behind_data(tally, versions, accesses):
    """A function that is accessed is named alone."""
    def rows(program, key):
        shown = program('report', '--mem-mode', '--stdio', '-i', accesses, '-s', key, check=0).stdout
        return [row.rstrip(' -') for row in rows_of(shown)]

    ours = rows(tally, 'symbol_daddr')
    assert [re.split(r'\[.\] ', row)[1] for row in ours] == [
        'other+0x9', 'other+0x0', 'table+0x46', 'table+0x18', 'table+0x0', 'reader', 'reader', 'main']
    lines = [re.split(r'\[.\] ', row)[1] for row in rows(tally, 'dcacheline')]
    assert 'table+0x0' in lines and 'table+0x40' in lines and not [line for line in lines if re.match('(main|reader)[+]', line)]
    for version, program in versions.items():
        assert rows(program, 'symbol_daddr') == ours, version


LINES_AT, NO_FILE, FILE, OTHER_FILE = 0x7000000, (0, 0, 0), (8, 1, 77), (8, 1, 78)
SHARED, PRIVATE = 1, 2


def lines_of_two_processes(path, seed):
    """What two processes have at equal addresses, and the kernel: read by both of them."""
    chosen = random.Random(seed)
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME ADDR CPU PERIOD WEIGHT DATA_SRC', kind=4, config=0x1cd)
    for start, name in ((0xffffffff81000000, '[kernel.kallsyms]_text'), (0xffffffffc0000000, '[module]')):
        recording.record(1, 1, recording.pack('iIQQQ', -1, 0, start, 0x1000000, start) + recording.name(name) + recording.trailer())
    for pid in (1000, 2000):
        recording.record(3, 0, recording.pack('II', pid, pid) + recording.name('job') + recording.trailer())
        recording.record(1, 2, recording.pack('IIQQQ', pid, pid, 0x400000, 0x8000, 0) + recording.name('/nowhere') + recording.trailer())
        for start in range(LINES_AT, LINES_AT + 0x60000, 0x10000):
            file = chosen.choice([None, NO_FILE, FILE, OTHER_FILE])
            if file:
                flags = PRIVATE if file == NO_FILE else chosen.choice([SHARED, PRIVATE])
                name = chosen.choice(['//anon', '[heap]', '/bin/none']) if file == NO_FILE else f'/shared/{file[2]}'
                recording.record(10, 2 | 1 << 13, recording.pack('IIQQQIIQQII', pid, pid, start, 0x10000, 0, *file, 0, 3, flags) +
                                 recording.name(name) + recording.trailer())
    for index in range(chosen.randrange(4, 20)):
        pid, mode = chosen.choice([1000, 2000]), chosen.choice([1, 2, 2, 2])
        address = chosen.choice([0xffffffff81000140, 0xffffffffc0000140, 0xffff888000000140]) if mode == 1 else \
            LINES_AT + chosen.randrange(6) * 0x10000 + chosen.choice([0x140, 0x180])
        recording.sample(misc=mode, time=1000 + index, addr=address, ip=0x400000, tid=(pid, pid), weight=9, data_src=0x68100142)
    recording.write(path)


@pytest.fixture
def functions(tmp_path):
    """A program's path, and the addresses of ten functions of it."""
    if not shutil.which('gcc') or not shutil.which('nm'):
        pytest.skip('gcc and nm are needed')
    body = ''.join(f'int f{index}(int i) {{ return i * {index + 3}; }}\n' for index in range(10))
    (tmp_path / 'functions.c').write_text(body + 'int main(void) { return 0; }\n')
    program = tmp_path / 'functions'
    subprocess.run(['gcc', '-O1', '-no-pie', '-o', program, 'functions.c'], cwd=tmp_path, check=True)
    listed = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    symbols = {words[2]: int(words[0], 16) for words in map(str.split, listed.splitlines()) if len(words) == 3}
    return program, [symbols[f'f{index}'] for index in range(10)]


def chains_of_threads(path, functions, names, samples):
    """samples: (thread's number, functions from the innermost one on, period)"""
    program, addresses = functions
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CALLCHAIN PERIOD', kind=1)
    page = addresses[0] & ~4095
    for index, name in enumerate(names):
        pid = 1000 + index
        recording.record(3, 0, recording.pack('II', pid, pid) + recording.name(name) + recording.trailer())
        recording.record(1, 2, recording.pack('IIQQQ', pid, pid, page, 4096, page - 0x400000) + recording.name(str(program)) +
                         recording.trailer())
    for time, (thread, chain, period) in enumerate(samples):
        ips = [addresses[function] + (depth > 0) for depth, function in enumerate(chain)]
        recording.sample(ip=ips[0], time=1000 + time, tid=(1000 + thread, 1000 + thread), period=period,
                         callchain=[CHAIN_USER, *ips])
    recording.write(path)


def test_equal_sums_of_two_commands(tally, tmp_path, functions):
    """The depth decides between rows of both, as it does between those of one command."""
    path = tmp_path / 'perf.data'
    chains_of_threads(path, functions, 'ab', [(0, [0], 200), (1, [1], 200), (1, [3], 100), (0, [2, 4], 200)])
    rows = rows_of(tally('report', '--stdio', '--children', '-i', path, '-s', 'comm,sym', check=0).stdout)
    assert [row.split()[2:] for row in rows if '%' in row and '--' not in row] == [
        ['a', '[.]', 'f2'], ['a', '[.]', 'f4'], ['a', '[.]', 'f0'], ['b', '[.]', 'f1'], ['b', '[.]', 'f3']]


@pytest.mark.parametrize('options', ['', '-g callee', '-s sym', '-s sym,comm', '-s pid,sym', '-s comm', '-c a',
                                     '-F comm,overhead_children,sym'])
@pytest.mark.parametrize('names', ['a', 'abcd', 'aaaa', 'abab'])
def test_equal_sums_of_threads(tally, versions, tmp_path, functions, names, options):
    """Rows of one thread are in perf's order; of several threads, those of equal sums may be in another."""
    path = tmp_path / 'perf.data'
    chosen = random.Random(options)
    for _ in range(6):
        samples = [(chosen.randrange(len(names)), chosen.sample(range(10), chosen.randrange(1, 4)), chosen.choice([100, 100, 200]))
                   for _ in range(16)]
        chains_of_threads(path, functions, names, samples)
        words = ['report', '--stdio', '--children', '-i', path, *options.split()]
        ours = rows_of(tally(*words, check=0).stdout)
        assert ours
        for version, program in versions.items():
            theirs = rows_of(program(*words, check=0).stdout)
            if len(names) > 1:
                ours, theirs = sorted(ours), sorted(theirs)
            assert theirs == ours, (version, samples)


@pytest.mark.parametrize('keys', ['dcacheline', 'dcacheline,pid', 'symbol_daddr', 'dso_daddr,dcacheline'])
def test_lines_of_two_processes(tally, versions, tmp_path, keys):
    path, symbols = tmp_path / 'perf.data', tmp_path / 'kallsyms'
    # perf would take the running kernel's, whatever kernel was recorded.
    symbols.write_text('ffffffff81000000 T _text\nffffffff81000100 T entry\nffffffff81001000 T _etext\n')
    for seed in range(12):
        lines_of_two_processes(path, seed)

        def rows(program, path=path):
            shown = program('report', '--mem-mode', '--stdio', '--kallsyms', symbols, '-i', path, '-s', keys, check=0).stdout
            return [row.replace('[s]', '[.]') for row in rows_of(shown)]

        ours = rows(tally)
        assert ours
        for version, program in versions.items():
            assert rows(program) == ours, (version, seed)


@pytest.mark.parametrize('name, file, flags, is_one', [('//anon', NO_FILE, PRIVATE, False), ('//anon', NO_FILE, SHARED, True),
                                                       ('/dev/shm/x', FILE, SHARED, True), ('/dev/shm/x', FILE, PRIVATE, True)])
def test_private_memory_is_a_process_own(tally, tmp_path, name, file, flags, is_one):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME ADDR CPU PERIOD WEIGHT DATA_SRC', kind=4, config=0x1cd)
    for pid in (1000, 2000):
        recording.record(10, 2 | 1 << 13, recording.pack('IIQQQIIQQII', pid, pid, LINES_AT, 0x10000, 0, *file, 0, 3, flags) +
                         recording.name(name) + recording.trailer())
    for pid in (1000, 2000, 2000):
        recording.sample(time=1000 + pid, addr=LINES_AT + 8 * (pid == 1000), ip=0x400000, tid=(pid, pid), weight=9, data_src=0x68100142)
    recording.write(tmp_path / 'perf.data')
    words = ['report', '--mem-mode', '-s', 'dcacheline', '--json', '-i', tmp_path / 'perf.data']
    rows = json.loads(tally(*words, check=0).stdout)['tables'][0]['rows']
    assert [row['values'][0]['samples'] for row in rows] == ([3] if is_one else [2, 1])


@pytest.mark.parametrize('recorded', [name for name, *_ in RECORDINGS])
def test_rows_agree(tally, versions, shared, tmp_path, recorded):
    if len(versions) < 2:
        pytest.skip(f'perf 6.1 and the newest are needed, there is {", ".join(versions) or "none"}')
    empty = tmp_path / 'empty'
    empty.mkdir()
    different, counts = [], {}
    path, words, version = next(rest for name, *rest in recordings(shared, tmp_path) if name == recorded)
    for line in LINES:
        wanted, _, arguments = line.rpartition(': ')
        lacks, wanted = wanted.startswith('no '), wanted.removeprefix('no ')
        if wanted and (wanted in words.split()) == lacks:
            continue
        if 'chains' in words:
            arguments += ' --no-children -g none'
        asked = '7.3' if NEWER_KEYS.search(arguments) else version
        verdict = compare(tally, versions[asked], path, arguments, empty)
        counts[verdict] = counts.get(verdict, 0) + 1
        if not verdict:
            different.append(f'perf {asked}: {arguments}')
    print(version, ', '.join(f'{count} {verdict or "different"}' for verdict, count in sorted(counts.items())))
    assert counts and not different, '\n'.join(different)


def test_heading_of_a_reference_call_graph(tally, tmp_path):
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME')
    recording.name_events('cycles/call-graph=no/')
    recording.comm('toy')
    recording.sample()
    recording.write(tmp_path / 'reference.data')
    for options, end in ((['--show-ref-call-graph'], ', show reference callgraph'), ([], '')):
        heading = tally('report', '--stdio', *options, '-i', tmp_path / 'reference.data', check=0).stdout
        assert f"# Samples: 1  of event 'cycles/call-graph=no/'{end}\n" in heading


@pytest.mark.parametrize('asked', [['-s', 'parent'], ['-g', 'caller'], ['--mem-mode', '-s', 'mem,locked']])
def test_a_stream_that_lacks_what_is_asked_for_is_shown_without(tally, perf, tmp_path, asked):
    """Of a file it is known before, and refused; as perf does."""
    r = Recording()
    r.event('IP TID TIME PERIOD')
    r.comm('prog')
    for ip in (0x401000, 0x401000, 0x402000):
        r.sample(ip=ip)
    r.write(tmp_path / 'file')
    (tmp_path / 'stream').write_bytes(perf('inject', '-i', tmp_path / 'file', '-o', '-', check=0, text=False).stdout)
    assert tally('report', '-i', tmp_path / 'file', *asked).returncode != 0
    ours = tally('report', '-i', tmp_path / 'stream', *asked, check=0).stdout
    theirs = perf('report', '--stdio', '-i', tmp_path / 'stream', *asked, check=0).stdout
    assert [row.split() for row in rows_of(ours)] == [row.split() for row in rows_of(theirs)]
    assert rows_of(ours)
