# SPDX-License-Identifier: Apache-2.0
"""The header of a recording with every feature that is rare: as perf 6.1 and 7.3 print it, in both byte orders."""
import json
import pathlib
import time

import pytest

import json_schema
from perfdata_build import Recording

SCHEMA = pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'report.json'

RARE = """\
# contains AUX area data (e.g. instruction trace)
# contains stat data
# memory nodes (nr 1, block size 0x8000000):
#    0 [512M]: 0-2,64
# clockid frequency: 1000 MHz
# directory data version : 1
# compressed : Zstd, level = 3, ratio = 9
# cpu pmu capabilities: branches=32, max_precise=3
# clockid: monotonic_raw (4)
# reference time: 2020-08-06 12:40:21.619290 = 1596717621.619290 (TOD) = 21931.077673635 (monotonic_raw)
# hybrid cpu system:
# cpu_core cpu list : 0-1
# pmu0 pmu capabilities: not available
# cpu_x pmu capabilities: a=b
# schedstat version\t: 17
# Maximum sched domains\t: 2
# cpu\t\t: 0
# nr_domains\t: 1
# Domain\t\t: 0
# Domain name      : MC
# Domain cpu map   : 3
# Domain cpu list  : 0-1
# cpu\t\t: 1
# nr_domains\t: 0
# e_machine : 62
#   e_flags : 0
# cacheline size: 64
"""
OURS = """\
# feature bit 57: unknown, 3 bytes
# simpleperf feature META_INFO: 8 bytes
# hiperf feature FILES_SYMBOL: 0 bytes
"""
HIDDEN = ('MEM_TOPOLOGY', 'HYBRID_TOPOLOGY', 'CPU_DOMAIN_INFO')


def recording(order):
    r = Recording(order)
    r.event('IP TID TIME')
    r.comm('work')

    def text(words):
        return r.pack('I', len(words) + 1) + words.encode() + b'\0'

    r.feature(7, r.pack('II', 2, 2))
    r.feature(18, r.pack('QQQ', 1, 4096, 48))
    r.feature(19, b'')
    r.feature(22, r.pack('QQQ', 1, 0x8000000, 1) + r.pack('QQQQQ', 0, 65, 65, 7, 1))
    r.feature(23, r.pack('Q', 1))
    r.feature(24, r.pack('Q', 1))
    r.feature(27, r.pack('5I', 1, 1, 3, 9, 4096))
    r.feature(28, r.pack('I', 2) + text('branches') + text('32') + text('max_precise') + text('3'))
    r.feature(29, r.pack('IIQQ', 1, 4, 1596717621619290123, 21931077673635))
    r.feature(30, r.pack('I', 1) + text('cpu_core') + text('0-1'))
    r.feature(31, r.pack('II', 2, 0) + text('pmu0') + r.pack('I', 1) + text('a') + text('b') + text('cpu_x'))
    r.feature(32, r.pack('6I', 17, 2, 0, 1, 0, 3) + b'MC\0' + text('3') + text('0-1') + r.pack('II', 1, 0))
    r.feature(33, r.pack('II', 62, 0))
    r.feature(34, r.pack('I', 64))
    r.feature(57, b'abc')
    r.feature(129, b'key\0val\0')
    r.feature(192, b'')
    return r


def features_in(text):
    """From the line behind the number of CPUs to the one of what is missing."""
    return text.split('# nrcpus avail : 2\n')[1].split('# missing features')[0]


@pytest.mark.parametrize('order', '<>')
@pytest.mark.parametrize('verb', ['report', 'script'])
def test_rare_features(tally, tmp_path, order, verb):
    path = tmp_path / 'perf.data'
    recording(order).write(path)
    result = tally(verb, '--header-only', '-I', '-i', path, check=0)
    assert features_in(result.stdout) == RARE + OURS


def test_what_is_long_is_named(tally, tmp_path):
    path = tmp_path / 'perf.data'
    recording('<').write(path)
    shown = features_in(tally('report', '--header-only', '-i', path, check=0).stdout)
    assert [line.split()[1] for line in shown.splitlines() if 'use -I' in line] == list(HIDDEN)
    assert 'hybrid cpu system' not in shown and 'Domain' not in shown and 'memory nodes' not in shown


def test_as_perf_prints_it(tally, perf, tmp_path):
    """But for what 6.1 does not know, and for the directory, which is none."""
    path = tmp_path / 'perf.data'
    made = recording('<')
    for bit in (24, 32, 33, 34, 57, 129, 192):
        del made.features[bit]
    made.write(path)
    theirs, ours = (tool('report', '--header-only', '-I', '-i', path, check=0).stdout for tool in (perf, tally))
    assert features_in(ours) == features_in(theirs)


def test_a_topology_without_the_number_of_cpus(tally, tmp_path):
    path, made = tmp_path / 'perf.data', recording('<')
    del made.features[7]
    made.feature(13, made.pack('I', 1) + made.text('0-1') + made.pack('I', 1) + made.text('0') + made.pack('4I', 0, 0, 1, 0))
    made.write(path)
    shown = tally('report', '--header-only', '-I', '-i', path, check=0).stdout
    assert '# sibling threads : 0\n# Core ID and Socket ID information is not available\n' in shown


@pytest.mark.parametrize('bit, name', [(14, 'NUMA_TOPOLOGY'), (22, 'MEM_TOPOLOGY'), (25, 'BPF_PROG_INFO'),
                                       (31, 'PMU_CAPS'), (32, 'CPU_DOMAIN_INFO')])
def test_a_damaged_feature_is_said(tally, tmp_path, bit, name):
    path = tmp_path / 'perf.data'
    made = recording('<')
    made.feature(bit, b'\xff' * 30)
    made.write(path)
    shown = tally('report', '--header-only', '-I', '-i', path, check=0).stdout
    assert f'# feature {name}: damaged, 30 bytes\n' in shown
    assert '# cacheline size: 64\n' in shown


def test_a_stream_was_captured_when_it_was_last_written(tally, tmp_path):
    recording('<').write(tmp_path / 'perf.data')
    before = time.time()
    result = tally('report', '--json', '--header-only', '-i', '-', text=False,
                   stdin=(tmp_path / 'perf.data').read_bytes())
    assert before - 60 < json.loads(result.stdout)['header']['captured_s'] < time.time() + 60


def info_of(tally, path, *words):
    document = json.loads(tally('report', '--json', *words, '-i', path, check=0).stdout)
    json_schema.check(document, json.loads(SCHEMA.read_text()))
    return document['header']


@pytest.mark.parametrize('order', '<>')
def test_the_machine_as_json(tally, tmp_path, order):
    path = tmp_path / 'perf.data'
    made = recording(order)

    def text(words):
        return made.pack('I', len(words) + 1) + words.encode() + b'\0'

    made.feature(13, made.pack('I', 1) + text('0-1') + made.pack('I', 2) + text('0') + text('1') +
                 made.pack('4I', 3, 0, 4, 0) + made.pack('I', 1) + text('0-1') + made.pack('2I', 7, 8))
    made.feature(14, made.pack('I', 1) + made.pack('IQQ', 5, 4096, 1024) + text('0-1'))
    made.feature(16, made.pack('I', 1) + made.pack('I', 4) + text('cpu'))
    made.feature(20, made.pack('II', 1, 1) + made.pack('4I', 1, 64, 128, 8) + text('Data') + text('48K') + text('0'))
    made.write(path)
    info = info_of(tally, path, '--header-only', '-I')['info']
    assert info == {
        'cpu_topology': {'cores': ['0-1'], 'dies': ['0-1'], 'threads': ['0', '1'],
                         'cpus': [{'core': 3, 'die': 7, 'socket': 0}, {'core': 4, 'die': 8, 'socket': 0}]},
        'numa_nodes': [{'node': 5, 'total_kb': 4096, 'free_kb': 1024, 'cpus': '0-1'}],
        'caches': [{'level': 1, 'type': 'Data', 'size': '48K', 'line_bytes': 64, 'sets': 128, 'ways': 8, 'cpus': '0'}],
        'memory': {'block_bytes': 0x8000000, 'nodes': [{'node': 0, 'bytes': 4 * 0x8000000, 'blocks': '0-2,64'}]},
        'pmus': [{'name': 'cpu', 'type': 4}],
        'pmu_capabilities': [
            {'pmu': 'cpu', 'capabilities': [{'name': 'branches', 'value': '32'}, {'name': 'max_precise', 'value': '3'}]},
            {'pmu': 'pmu0', 'capabilities': []}, {'pmu': 'cpu_x', 'capabilities': [{'name': 'a', 'value': 'b'}]}],
        'hybrid_cpus': [{'pmu': 'cpu_core', 'cpus': '0-1'}],
        'sched_domains': {'schedstat_version': 17, 'max': 2, 'cpus': [
            {'cpu': 0, 'domains': [{'number': 0, 'name': 'MC', 'mask': '3', 'cpus': '0-1'}]},
            {'cpu': 1, 'domains': []}]},
        'elf_machine': 62, 'elf_flags': 0, 'cache_line_bytes': 64, 'clock_resolution_ns': 1, 'directory_version': 1,
        'compression': {'type': 1, 'level': 3, 'ratio': 9}, 'damaged': []}
    assert 'info' not in info_of(tally, path, '--header-only')


def test_information_stands_beside_tables(tally, tmp_path):
    path = tmp_path / 'perf.data'
    made = recording('<')
    made.feature(14, b'\xff' * 30)
    made.sample()
    made.write(path)
    document = json.loads(tally('report', '--json', '-I', '-i', path, check=0).stdout)
    assert document['header']['info']['damaged'] == ['NUMA_TOPOLOGY']
    assert len(document['tables'][0]['rows']) == 1
    refused = tally('report', '--json', '-D', '-i', path, check=255)
    assert 'data convert --to-json' in refused.stderr
