# SPDX-License-Identifier: Apache-2.0
"""`c2c report` beside perf's: cache lines that CPUs take from each other, of recordings made here and of the corpus."""
import json
import pathlib
import random
import re
import struct

import json_schema
import pytest

from conftest import NEWEST_PERF, Program
from perfdata_build import CHAIN_USER, Recording

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'c2c.json').read_text())
ARCH, NRCPUS, NUMA_TOPOLOGY, MEM_TOPOLOGY = 6, 7, 14, 22
LOAD, STORE = 2, 4
LINE = 0x7000000
LEVELS = [[1, 3], [1, 4], [1, 5], [1, 6], [2, 6], [1, 7], [1, 8], [1, 9], [1, 10], [1, 11], [1, 12], [1, 13], [0], [2, 3],
          [1], [], [1, 3, 5], [1, 6, 10]]
SNOOPS = [2, 4, 8, 16, 1, 0]
LINES = ['', '-N', '-NN', '-d lcl', '-d rmt', '-d peer', '-c tid', '-c dso', '-c pid,tid,iaddr,dso', '--show-all',
         '--double-cl', '--stats', '--full-symbols']


def source(operation, levels, snoop, more=0):
    return operation | sum(1 << 5 + level for level in levels) | snoop << 19 | more


def accesses(seed, count=400):
    """Loads and stores of all kinds by two threads, on four CPUs of two nodes, to six lines and to nothing."""
    chosen = random.Random(seed)
    for _ in range(count):
        kind = chosen.choices([LOAD, STORE, 1], [60, 37, 3])[0]
        more = chosen.choice([0, 0, 1 << 37]) | chosen.choice([0, 0, 0, 1, 2]) << 38 if kind == LOAD else 0
        more |= chosen.choice([0, 0, 0, 1, 2, 4]) << 43  # hops
        more |= chosen.choice([1, 1, 2]) << 24 | chosen.choice([0, 0, 1, 2, 6]) << 40
        address = LINE + chosen.randrange(48) * 8
        yield dict(event=kind == STORE, addr=chosen.choice([address] * 30 + [0, 0x99999]), cpu=chosen.randrange(4),
                   ip=0x400000 + chosen.randrange(4) * 16, tid=chosen.choice([(1000, 1000), (1000, 1001)]),
                   weight=chosen.randrange(300), phys_addr=chosen.choice([0x1000000, 0x9000000]) + (address & 0xffff),
                   data_src=source(kind, chosen.choice(LEVELS), chosen.choice(SNOOPS), more))


def recording(path, samples, with_memory=True, with_nodes=True, more_fields='', cpu=' CPU', arch=None, damage=b''):
    built = Recording()
    for config in (0x1cd, 0x82d0):
        built.event(f'IDENTIFIER IP TID TIME ADDR{cpu} PERIOD WEIGHT DATA_SRC PHYS_ADDR{more_fields}', kind=4, config=config)
    built.name_events('cpu/mem-loads,ldlat=30/P', 'cpu/mem-stores/P')
    built.comm('job')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    built.mmap(LINE, 0x80000, '/bin/data')
    for index, sample in enumerate(samples):
        built.sample(time=1000 + index * 10, **sample)
    built.records += damage
    built.feature(NRCPUS, built.pack('II', 4, 4))
    if arch:
        built.text_feature(ARCH, arch)

    def text(value):
        return built.pack('I', 64) + value.encode().ljust(64, b'\0')
    if with_nodes:
        built.feature(NUMA_TOPOLOGY, built.pack('IIQQ', 2, 0, 100, 50) + text('0-1') + built.pack('IQQ', 1, 100, 50) +
                      text('2-3'))
    if with_memory:
        nodes = b''.join(built.pack('QQQQ', node, 0x100, 64, 1 << node) for node in (0, 1))
        built.feature(MEM_TOPOLOGY, built.pack('QQQ', 1, 0x8000000, 2) + nodes)
    built.write(path)


@pytest.mark.parametrize('words', LINES)
@pytest.mark.parametrize('seed', [1, 2])
def test_tables_are_perfs(tally, newest_perf, tmp_path, seed, words):
    path = tmp_path / 'perf.data'
    recording(path, accesses(seed), with_memory=seed == 1)
    line = ['c2c', 'report', '--stdio', '--no-source', '-i', str(path), *words.split()]
    ours, theirs = tally(*line), newest_perf(*line)
    assert ours.returncode == theirs.returncode == 0, ours.stderr + theirs.stderr
    assert ours.stdout.splitlines() == theirs.stdout.splitlines()


@pytest.mark.parametrize('words', ['--stdio', '--json'])
def test_what_comes_before_damage_is_shown(tally, tmp_path, words):
    whole, damaged = tmp_path / 'a' / 'perf.data', tmp_path / 'b' / 'perf.data'
    for path, damage in ((whole, b''), (damaged, struct.pack('<IHH', 9, 2, 0) + bytes(64))):
        path.parent.mkdir()
        recording(path, accesses(1), damage=damage)
    expected = tally('c2c', 'report', words, cwd=whole.parent, check=0).stdout
    result = tally('c2c', 'report', words, cwd=damaged.parent, check=255)
    assert 'hitm' in expected.lower() and result.stdout == expected
    assert 'a record of type 9 has an invalid size of 0 bytes at offset 0x' in result.stderr


@pytest.mark.parametrize('words', ['', '-N', '-NN'])
def test_samples_without_cpus_are_of_none(tally, newest_perf, tmp_path, words):
    path = tmp_path / 'perf.data'
    recording(path, accesses(1), cpu='')
    line = ['c2c', 'report', '--stdio', '--no-source', '-i', str(path), *words.split()]
    ours, theirs = ([row.rstrip() for row in program(*line).stdout.splitlines()] for program in (tally, newest_perf))
    assert ours == theirs
    assert any('0x400010' in row for row in ours)


@pytest.mark.parametrize('arch, order', [('aarch64', 'Peer Snoop'), ('arm64', 'Peer Snoop'), ('x86_64', 'Total HITMs')])
def test_what_lines_are_ordered_by(tally, newest_perf, tmp_path, arch, order):
    path = tmp_path / 'perf.data'
    recording(path, accesses(1), arch=arch)
    line = ['c2c', 'report', '--stdio', '--no-source', '-i', path]
    ours = tally(*line, check=0).stdout
    assert ours == newest_perf(*line).stdout
    assert re.search('Cachelines sort on +: ' + order, ours)


PROTECTION, SHARED, PRIVATE = 3, 1, 2  # read and write
HERE, THERE = 0x7000000, 0x9000000
FILE, OTHER, NONE = (8, 1, 77), (8, 1, 78), (0, 0, 0)
MEMORY = [  # what two processes have mapped, (start, name, file, flags, offset) each, and whether a line of it is one
    ([(HERE, '/dev/shm/x', FILE, SHARED, 0), (THERE, '/dev/shm/x', FILE, SHARED, 0)], True, True),
    ([(HERE, '/dev/shm/x', FILE, SHARED, 0x1000), (THERE, '/dev/shm/x', FILE, SHARED, 0x1000)], True, True),
    ([(HERE, '/dev/shm/x', FILE, SHARED, 0), (HERE, '/dev/shm/x', FILE, SHARED, 0x1000)], False, True),
    ([(HERE, '/dev/shm/x', FILE, SHARED, 0), (HERE, '/dev/shm/y', OTHER, SHARED, 0)], False, True),
    ([(HERE, '/memfd:x (deleted)', FILE, SHARED, 0), (HERE, '/memfd:x (deleted)', OTHER, SHARED, 0)], False, True),
    ([(HERE, '//anon', NONE, PRIVATE, 0), (HERE, '//anon', NONE, PRIVATE, 0)], False, True),
    ([(HERE, '/SYSV00000000 (deleted)', FILE, SHARED, 0), (THERE, '/SYSV00000000 (deleted)', FILE, SHARED, 0)], True, False),
    ([(HERE, '/bin/data', FILE, PRIVATE, 0), (HERE, '/bin/data', FILE, PRIVATE, 0)], False, False),
    ([(HERE, 'anon_inode:[io_uring]', FILE, SHARED, 0), (HERE, 'anon_inode:[io_uring]', FILE, SHARED, 0)], False, False),
]


@pytest.mark.parametrize('maps, is_one, is_perfs', MEMORY, ids=range(len(MEMORY)))
def test_memory_of_two_processes(tally, tmp_path, maps, is_one, is_perfs):
    path = tmp_path / 'perf.data'
    built = Recording()
    built.event('IDENTIFIER IP TID TIME ADDR CPU PERIOD WEIGHT DATA_SRC', kind=4, config=0x1cd)
    built.name_events('cpu/mem-loads,ldlat=30/P')
    hitm = source(LOAD, [1, 6], 16)
    for pid, (start, name, file, flags, offset) in zip((1000, 2000), maps):
        built.record(1, 2, built.pack('IIQQQ', pid, pid, 0x400000, 0x8000, 0) + built.name('/bin/nothing') + built.trailer())
        built.record(10, 2 | 1 << 13, built.pack('IIQQQIIQQII', pid, pid, start, 0x10000, offset, *file, 0, PROTECTION, flags) +
                     built.name(name) + built.trailer())
    for pid, (start, *_) in zip((1000, 2000), maps):
        built.sample(time=1000 + pid, addr=start + 0x140, ip=0x400000, tid=(pid, pid), weight=9, data_src=hitm)
    built.feature(NRCPUS, built.pack('II', 4, 4))
    built.feature(NUMA_TOPOLOGY, built.pack('IIQQI', 1, 0, 100, 50, 64) + b'0-3'.ljust(64, b'\0'))
    built.write(path)
    lines = as_json(tally, path)['lines']
    assert [(line['address'], line['accesses']['local_hitm']) for line in lines] == \
        ([(hex(HERE + 0x140), 2)] if is_one else [(hex(start + 0x140), 1) for start, *_ in maps])
    if NEWEST_PERF:
        words = ['c2c', 'report', '--stdio', '--no-source', '-i', path]
        same = tally(*words, check=0).stdout == Program(NEWEST_PERF, tmp_path)(*words).stdout
        assert same == is_perfs


def with_chains(samples):
    """Up to three callers, of few functions; the deep ones weigh more, and some samples have none."""
    chosen = random.Random(5)
    for sample in samples:
        callers = [0x401000 + chosen.randrange(3) * 0x100 for _ in range(chosen.randrange(4))]
        chain = [CHAIN_USER, sample['ip'], *callers] if chosen.random() < .95 else []
        yield dict(sample, callchain=chain, period=5000 if len(callers) > 1 else 1000)


@pytest.mark.parametrize('words', ['', '-g', '-g folded,count', '-g caller,address', '-g none'])
def test_call_chains_are_perfs(tally, newest_perf, tmp_path, words):
    path = tmp_path / 'perf.data'
    recording(path, with_chains(accesses(1)), more_fields=' CALLCHAIN')
    line = ['c2c', 'report', '--stdio', '--no-source', '-i', str(path), *words.split()]
    ours = tally(*line, check=0)
    assert ours.stdout == newest_perf(*line).stdout
    assert ('0x401100' in ours.stdout) == (words != '-g none')
    if words == '-g':
        fewer = tally(*line, 'graph,5', check=0).stdout  # perf shows all, whatever the threshold is
        assert 0 < fewer.count('0x401') < ours.stdout.count('0x401')


def test_lines_of_a_small_share_are_left_out(tally, newest_perf, tmp_path):
    path = tmp_path / 'perf.data'
    hitm = source(LOAD, [1, 6], 16)
    counts = [10000, 8, 9, 10, 11, 12, 13]
    recording(path, (dict(addr=LINE + index * 64, ip=0x400000, weight=3, data_src=hitm)
                     for index, count in enumerate(counts) for _ in range(count)))
    line = ['c2c', 'report', '--stdio', '-i', str(path), '--no-source']
    assert tally(*line).stdout == newest_perf(*line).stdout


def test_a_recording_of_the_corpus(tally, newest_perf, shared):
    path = shared / 'corpus/files/google+perf_data_converter/perf.data.weight_struct'
    if not path.exists():
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
    line = ['c2c', 'report', '--stdio', '-i', str(path)]
    assert tally(*line).stdout == newest_perf(*line).stdout


def test_what_it_cannot_do_is_told(tally, tmp_path):
    path = tmp_path / 'perf.data'
    recording(path, accesses(3, 10), with_nodes=False)
    assert 'nodes of CPUs' in tally('c2c', 'report', '-i', str(path)).stderr
    assert 'function or address' in tally('c2c', 'report', '-i', str(path), '-g', 'srcline', check=129).stderr
    recording(tmp_path / 'whole.data', accesses(3, 10))
    plain = tally('c2c', 'report', '-i', tmp_path / 'whole.data', check=0)
    stitched = tally('c2c', 'report', '--stitch-lbr', '-i', tmp_path / 'whole.data', check=0)
    assert 'branch registers' in stitched.stderr and stitched.stdout == plain.stdout != ''
    for words in (['-c', 'foo'], ['-c', 'tid,tid'], ['-d', 'all']):
        assert tally('c2c', 'report', '-i', str(path), *words).returncode != 0
    plain = Recording()
    plain.event('IDENTIFIER IP TID TIME')
    plain.sample()
    plain.write(path)
    result = tally('c2c', 'report', '-i', str(path))
    assert result.returncode != 0 and 'data sources' in result.stderr


def as_json(tally, path, *words):
    document = json.loads(tally('c2c', 'report', '--json', *words, '-i', path, check=0).stdout)
    json_schema.check(document, SCHEMA)
    return document


def count(accesses, *kinds):
    return sum(accesses.get(kind, 0) for kind in kinds)


@pytest.mark.parametrize('words', [[], ['-d', 'lcl'], ['-d', 'rmt'], ['-d', 'peer'], ['--show-all'], ['--double-cl']], ids=' '.join)
def test_json_has_what_the_text_has(tally, tmp_path, words):
    path = tmp_path / 'perf.data'
    recording(path, accesses(1))
    text = tally('c2c', 'report', '--stdio', '--no-source', *words, '-i', path, check=0).stdout
    document = as_json(tally, path, '--no-source', *words)
    assert document['path'] == str(path) and document['line_bytes'] == (128 if words == ['--double-cl'] else 64)
    assert document['events'] == ['cpu/mem-loads,ldlat=30/P', 'cpu/mem-stores/P']
    numbers = dict(re.findall(r'^  (.*?) +: +(\d+)$', text, re.M))
    for name, kind in (('Total records', 'records'), ('Load Operations', 'load'), ('Load Remote HITM', 'remote_hitm'),
                       ('Store L1D Miss', 'store_l1_miss'), ('Unable to parse data source', 'unknown')):
        assert document['all'].get(kind, 0) == int(numbers[name])
    assert document['shared_lines'] == int(numbers['Total Shared Cache Lines'])
    assert document['shared'].get('l1', 0) == int(numbers['L1D hits on shared lines'])
    table, pareto = text.split('Shared Data Cache Line Table')[1].split('Shared Cache Line Distribution Pareto')
    rows = [row.split() for row in table.splitlines() if re.match(r' +\d', row)]
    assert [(row[1], f'{{{row[2]}}}'.replace('N/A', ''), row[3], row[4]) for row in rows] == \
        [(line['address'], '{' + '-'.join(map(str, line['memory_nodes'])) + '}', str(line['physical_addresses']),
          f"{line['percent']:.2f}%") for line in document['lines']]
    assert [row[10:13] for row in rows] == [[str(count(line['accesses'], kind)) for kind in ('store', 'store_l1_hit', 'store_l1_miss')]
                                            for line in document['lines']]
    codes = [(row.group(1), row.group(2)) for row in re.finditer(r' (0x[0-9a-f]+) +[\d,/NA-]+ +\d+ +(0x4000[0-9a-f]+) ', pareto)]
    assert len(rows) > 1 and len(codes) > 1
    assert codes == [(hex(offset['offset']), offset['code']) for line in document['lines'] for offset in line['offsets']]


def test_json_of_lines_adds_up(tally, tmp_path):
    path = tmp_path / 'perf.data'
    recording(path, accesses(2))
    for line in as_json(tally, path, '--show-all')['lines']:
        assert sum(count(offset['accesses'], 'store') for offset in line['offsets']) == count(line['accesses'], 'store')
        for offset in line['offsets']:
            cpus = offset['cpus']
            assert [use['node'] for use in cpus] == [use['cpu'] // 2 for use in cpus]
            assert sum(use['stores'] for use in cpus) == count(offset['accesses'], 'store')
            assert sum(use['hitms'] for use in cpus) == count(offset['accesses'], 'local_hitm', 'remote_hitm')
            assert ('remote_hitm' in offset['cycles']) == (count(offset['accesses'], 'remote_hitm') > 0)
            assert offset['dso'] == 'nothing' and not {'tid', 'pid', 'comm'} & set(offset)


def test_json_by_other_keys(tally, tmp_path):
    path = tmp_path / 'perf.data'
    recording(path, accesses(1))
    offsets = [offset for line in as_json(tally, path, '-c', 'pid,tid')['lines'] for offset in line['offsets']]
    assert {(offset['pid'], offset['tid'], offset['comm']) for offset in offsets} == {(1000, 1000, 'job'), (1000, 1001, ':1001')}
    assert not any({'code', 'symbol', 'line', 'dso'} & set(offset) for offset in offsets)
    assert 'lines' not in as_json(tally, path, '--stats')
    assert 'no call chains' in tally('c2c', 'report', '--json', '-g', '-i', path, check=129).stderr
