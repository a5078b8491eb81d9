# SPDX-License-Identifier: Apache-2.0
"""tally script -F against perf on recordings that hold every field, in both byte orders, and on shared ones."""
import gzip
import re

import perfdata_build
import pytest

ALL = ('IP TID TIME ADDR CPU PERIOD IDENTIFIER CALLCHAIN BRANCH_STACK REGS_USER WEIGHT_STRUCT DATA_SRC TRANSACTION '
       'REGS_INTR PHYS_ADDR CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE')
RAW, SOFTWARE, BPF_OUTPUT = 4, 1, 10


@pytest.fixture(params=['<', '>'], ids=['little', 'big'])
def recording(request, tmp_path):
    r = perfdata_build.Recording(request.param)
    r.event(ALL, kind=RAW, regs=0x1ff, branch=perfdata_build.BRANCH_ANY | perfdata_build.BRANCH_HW_INDEX)
    r.event('IP TID TIME RAW IDENTIFIER', kind=SOFTWARE, config=BPF_OUTPUT)
    r.text_feature(6, 'x86_64')
    r.feature(7, r.pack('II', 4, 4))
    r.feature(29, r.pack('IIQQ', 1, 1, 1700000000123456789, 4000000000))
    r.comm('prog')
    r.mmap(0x400000, 0x100000, '/nonexistent/prog')
    registers = range(0x10, 0x19)
    flags = [1 | 5 << 4, 2 | 4 | 8 | 100 << 4 | 3 << 20, 2 | 15 << 20]
    if request.param == '>':  # bit fields begin at the top
        flags = [1 << 63 | 5 << 44, 7 << 60 | 100 << 44 | 3 << 40, 1 << 62 | 15 << 40]
    r.sample(addr=0x402000, cpu=3, callchain=[perfdata_build.CHAIN_USER, 0x401234, 0x401500], phys_addr=0x123456000,
             branch_stack=[0x401000, 0x401100, flags[0], 0x401200, 0x401300, flags[1], 0x7000, 0x9000, flags[2]],
             regs_user=registers, regs_intr=registers, weight_struct=5 | 6 << 32 | 7 << 48, data_src=0x68100142,
             data_page_size=4096, code_page_size=2 << 20)
    r.sample(addr=0x402000, cpu=0, misc=1, ip=0xffffffff81000010, time=6000000000)
    for raw in (b'hello', b'hello\0x', b'0123456789abcdef \x01\t', b''):
        r.sample(event=1, time=7000000000, raw=raw)
    path = tmp_path / 'perf.data'
    r.write(path)
    return path


def plain(text):
    """Without what is told apart on purpose: modifiers of names, addresses in chains, 6.1's word for an event. Nor
    registers of the other byte order: perf names them by a mask that it did not turn around."""
    text = text.replace(':HG:', ':').replace('unknown-software', 'bpf-output')
    text = re.sub(r' [A-Z0-9]+:(0x[0-9a-f]+)', r' REG:\1', text)
    return [re.sub(' +', ' ', re.sub(r'^\t *[0-9a-f]+', '\t', line)).rstrip() for line in text.split('\n')]


@pytest.mark.parametrize('fields', [
    'raw:iregs,uregs', 'raw:brstack', 'raw:brstacksym,dso', 'raw:brstackoff', 'raw:weight,ins_lat,data_src',
    'raw:comm,pid,tid,cpu,misc,tod,time,period,flags,addr', 'raw:phys_addr,data_page_size,code_page_size',
    'raw:comm,ip,sym,iregs,brstack,phys_addr', 'raw:', 'sw:comm,period', 'trace,comm', '-F tod -F +time', '+bpf-output',
    'raw:time,ip,sym,symoff,dso,brstackoff'])
def test_fields_are_as_perf_prints_them(recording, perf, tally, fields):
    if 'tod' in fields and recording.read_bytes()[:8] != b'PERFILE2':
        pytest.skip('perf does not read the clock of the other byte order')
    lists = fields.split(' ') if ' ' in fields else ['-F', fields]
    theirs = perf('script', '-i', recording, *lists, check=0).stdout
    assert plain(tally('script', '-i', recording, *lists, check=0).stdout) == plain(theirs)


def test_time_of_day_of_streams(tmp_path, perf, tally):
    for clock in (True, False):
        built = perfdata_build.Recording()
        built.event('IP TID TIME CPU PERIOD IDENTIFIER')
        if clock:
            built.feature(29, built.pack('IIQQ', 1, 1, 1700000000123456789, 4000000000))
        built.sample(time=4900000000)
        built.write(tmp_path / 'file.data')
        stream = tally('inject', '-i', tmp_path / 'file.data', '-o', '-', text=False, check=0).stdout
        words = ('script', '-i', '-', '-F', 'comm,tod,time')
        ours = tally(*words, stdin=stream, text=False, check=0, env={'TZ': 'UTC'}).stdout.decode().split()
        assert ours[1:] == (['2023-11-14', '22:13:21.023456'] if clock else ['disabled']) + ['4.900000:']
        assert ours == perf(*words, stdin=stream, text=False, env={'TZ': 'UTC'}).stdout.decode().split()
        of_file = tally('script', '-i', tmp_path / 'file.data', '-F', 'tod')
        assert clock or (of_file.returncode == 255 and 'missing clock data' in of_file.stderr)


@pytest.mark.parametrize('form', ['--reltime', '--deltatime'])
def test_records_without_a_time_begin_nothing(recording, perf, tally, form):
    arguments = ('script', '-i', recording, form, '--show-task-events')
    ours = tally(*arguments, check=0).stdout
    assert plain(ours) == plain(perf(*arguments, check=0).stdout)
    assert '1.000000:' in ours


@pytest.mark.parametrize('fields', [
    '', 'trace:', 'bla:comm', 'comm,+tid', '+comm,tid', 'hw:trace', 'iregs', 'hw:+bpf-output', 'srcline'])
def test_lists_that_cannot_be(recording, perf, tally, fields):
    theirs = perf('script', '-i', recording, '-F', fields)
    ours = tally('script', '-i', recording, '-F', fields)
    assert theirs.returncode != 0 and ours.returncode != 0
    first = [line for line in theirs.stderr.split('\n') if line and not line.startswith('Warning')][0]
    assert first.replace('unknown-software', 'bpf-output') in ours.stderr


# id of the shared recording, what expected/ has of it, the fields that were asked for
SHARED = [
    ('16e99d19efe2', '6.1', 'script-brstack', 'pid,tid,time,event,brstack'),
    ('f2dca14e995d', '6.1', 'script-brstack', 'pid,tid,time,event,brstack'),
    ('864b8e3ca55f', '6.1', 'script-brstack', 'pid,tid,time,event,brstack'),
    ('76d501f50a41', '7.3', 'script-mem', 'pid,tid,time,event,addr,data_src,weight'),
    ('c96371a56494', '7.3', 'script-default', None),
]


@pytest.mark.parametrize('identity,version,what,fields', SHARED)
def test_shared_recordings(shared, tally, tmp_path, identity, version, what, fields):
    corpus = shared / 'corpus'
    if not corpus.is_dir():
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
    rows = [line.split('\t') for line in (corpus / 'MANIFEST.tsv').read_text().split('\n')]
    path = corpus / 'files' / [row[1] for row in rows if row[0] == identity][0]
    expected = gzip.decompress((corpus / 'expected' / identity / f'perf-{version}' / f'{what}.txt.gz').read_bytes())
    arguments = ['-F', fields] if fields else []
    ours = tally('script', '--symfs', tmp_path, '-i', path, *arguments, check=0).stdout.split('\n')
    theirs = expected.decode(errors='replace').split('\n')[:-1]
    narrow = [re.sub(' +', ' ', line).strip() for line in theirs]
    assert [re.sub(' +', ' ', line).strip() for line in ours[:len(theirs)]] == narrow


@pytest.mark.parametrize('with_samples', [False, True])
def test_a_dummy_lacks_no_field(perf, tally, tmp_path, with_samples):
    """It counts nothing; of the others of its kind each field that is asked for must be there."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME IDENTIFIER', kind=SOFTWARE, config=9)
    if with_samples:
        r.event('IP TID TIME ADDR IDENTIFIER', kind=SOFTWARE, config=2)
    r.name_events('dummy', 'page-faults') if with_samples else r.name_events('dummy')
    r.comm('prog')
    if with_samples:
        r.sample(event=1, addr=0x402000)
    r.write(tmp_path / 'perf.data')
    words = ['script', '--show-task-events', '-F', 'comm,time,addr', '-i', tmp_path / 'perf.data']
    shown = tally(*words, check=0).stdout
    assert plain(shown) == plain(perf(*words, check=0).stdout)
    assert 'PERF_RECORD_COMM: prog' in shown and ('402000' in shown) == with_samples
    refused = tally('script', '-F', 'phys_addr', '-i', tmp_path / 'perf.data', check=255 if with_samples else 0).stderr
    assert with_samples == ("Samples for 'page-faults' event do not have PHYS_ADDR attribute set." in refused)


@pytest.mark.parametrize('fields', ['brstackinsn', 'time,symoff', 'comm,srcline', 'tod', 'comm,symoff,ip'])
def test_of_a_dummy_nothing_is_asked(perf, tally, tmp_path, fields):
    """Fields that cannot be, of a kind whose only event has no samples."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME IDENTIFIER', kind=0)
    r.event('IP TID TIME IDENTIFIER', kind=SOFTWARE, config=9)
    r.name_events('cycles', 'dummy')
    r.comm('prog')
    r.sample()
    r.write(tmp_path / 'perf.data')
    words = ['script', '-F', f'sw:{fields}', '-F', 'hw:comm,time,ip', '-i', tmp_path / 'perf.data']
    shown = tally(*words, check=0).stdout
    assert 'prog' in shown and plain(shown) == plain(perf(*words, check=0).stdout)


def test_relative_times_are_of_one_kind(tally, tmp_path):
    r = perfdata_build.Recording()
    r.event('IP TID TIME')
    r.write(tmp_path / 'perf.data')
    for words in (['--reltime', '--deltatime'], ['--deltatime', '--reltime']):
        refused = tally('script', *words, '-i', tmp_path / 'perf.data', check=255)
        assert refused.stderr == '--reltime and --deltatime cannot be used together\n'


def test_a_copied_stack_is_unwound_to_its_root(shared, golden_tally):
    path = shared / 'perf-golden' / 'data' / 'ud.data'
    blocks = golden_tally('script', '-i', path, '-F', 'comm,ip,sym', check=0).stdout.split('\n\n')
    names = [line.split()[-1] for line in blocks[0].splitlines()[1:]]
    assert names == ['leaf_hot', 'mid_a', 'work', 'main', '__libc_start_call_main', '__libc_start_main_impl', '_start']


def test_metrics_of_groups(perf, tally, tmp_path):
    """perf 6.1 has the lines, with other figures; 7.x has none."""
    r = perfdata_build.Recording()
    for kind, config, period in ((0, 0, 1000), (0, 1, 0), (0, 4, 0), (0, 5, 0), (SOFTWARE, 1, 0), (SOFTWARE, 2, 0)):
        r.event('IP TID TIME READ CPU IDENTIFIER', kind=kind, config=config, period=period, read_format=0xf)
    r.name_events('cycles', 'instructions', 'branches', 'branch-misses', 'task-clock', 'faults')
    r.text_feature(6, 'x86_64')
    r.feature(7, r.pack('II', 4, 4))
    r.feature(17, r.pack('II', 1, 64) + b'group'.ljust(64, b'\0') + r.pack('II', 0, 6))
    r.comm('prog')
    counts = [0] * 6
    for time, grown in ((1, (1000, 1500, 200, 3, 500000, 4)), (2, (1000, 250, 0, 0, 500000, 2))):
        counts = [count + more for count, more in zip(counts, grown)]
        r.sample(ip=0x401000, time=time * 10**9,
                 read=[6, 1, 1, *(word for index, count in enumerate(counts) for word in (count, index + 1))])
    r.write(tmp_path / 'perf.data')
    arguments = ['script', '-i', tmp_path / 'perf.data', '-F', 'comm,time,event,period,metric']
    ours = tally(*arguments, check=0).stdout
    assert [line.split('metric: ')[1] for line in ours.split('\n') if 'metric' in line] == [
        '   0.002 GHz', '   1.50  insn per cycle', ' 400.000 K/sec', '   1.50% of all branches', '   8.000 K/sec',
        '   0.002 GHz', '   0.25  insn per cycle', '   4.000 K/sec']
    rows, metrics = ([line for line in ours.split('\n') if ('metric' in line) == wanted] for wanted in (False, True))
    theirs = perf(*arguments, check=0).stdout.split('\n')
    assert plain('\n'.join(rows)) == plain('\n'.join(line for line in theirs if 'metric' not in line))
    assert all(line.split('\t')[0] in {metric.split('\t')[0] for metric in metrics} for line in theirs if 'metric' in line)
    assert tally(*arguments, '-c', 'other', check=0).stdout == ''


def test_counts_of_inherited_groups_are_their_threads(tally, tmp_path):
    """Linux 6.12 and later: an inherited counter is read as what the sample's own thread counted."""
    r = perfdata_build.Recording()
    for config in (1, 2):
        r.event('IP TID TIME READ IDENTIFIER', kind=SOFTWARE, config=config, flags=1 << 1, read_format=0xc)
    r.name_events('task-clock', 'faults')
    r.feature(17, r.pack('II', 1, 64) + b'group'.ljust(64, b'\0') + r.pack('II', 0, 2))
    r.comm('prog')
    for time, tid, clock, faults in ((1, 1000, 5000, 7), (2, 1001, 300, 2), (3, 1000, 5100, 7), (4, 1001, 400, 9),
                                     (5, 1001, 50, 1)):  # at last another thread has the number
        r.sample(time=time * 10**9, tid=(1000, tid), read=[2, clock, 1, faults, 2])
    r.write(tmp_path / 'perf.data')
    rows = tally('script', '-i', tmp_path / 'perf.data', '-F', 'tid,period,event', check=0).stdout.split('\n')
    assert [row.split() for row in rows if row] == [
        ['1000', '5000', 'task-clock:'], ['1000', '7', 'faults:'], ['1001', '300', 'task-clock:'],
        ['1001', '2', 'faults:'], ['1000', '100', 'task-clock:'], ['1001', '100', 'task-clock:'],
        ['1001', '7', 'faults:'], ['1001', '50', 'task-clock:'], ['1001', '1', 'faults:']]
    report = tally('report', '-i', tmp_path / 'perf.data', '-s', 'pid', '--group', check=0).stdout
    assert [row.split() for row in report.split('\n') if row[:1] == ' '] == [
        ['91.89%', '41.18%', '1000:prog'], ['8.11%', '58.82%', '1001::1001']]


def test_what_the_kernel_accesses_of_a_program_has_its_names(perf, tally, tmp_path):
    """Page faults within the kernel: the address is the program's."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME ADDR IDENTIFIER', kind=SOFTWARE, config=2, period=1)
    r.comm('prog')
    r.mmap(0x400000, 0x100000, '/nonexistent/prog')
    for misc, ip in ((2, 0x400010), (1, 0xffffffff81000010)):
        for addr in (0x402000, 0x700000):
            r.sample(ip=ip, misc=misc, addr=addr)
    r.write(tmp_path / 'perf.data')
    rows = [[line.split() for line in program('script', '-F', 'addr,dso', '-i', tmp_path / 'perf.data').stdout.split('\n')]
            for program in (tally, perf)]
    assert rows[0][:2] == [['402000', '(/nonexistent/prog)'], ['700000', '([unknown])']]
    assert rows[0][2:4] == rows[0][:2]
    assert rows[0] == rows[1]


@pytest.mark.parametrize('machine, first, last', [('s390x', 'R0', 'PC'), ('ppc64le', 'r0', 'msr'), ('mips64', 'PC', '$31')])
def test_registers_of_other_machines(tally, perf, tmp_path, machine, first, last):
    mask = (1 << 34) - 1 if machine != 'mips64' else 0xf3ffffff
    r = perfdata_build.Recording()
    r.event('IP TID TIME REGS_USER', regs=mask)
    r.text_feature(6, machine)
    r.comm('prog')
    r.sample(regs_user=range(mask.bit_count()))
    r.write(tmp_path / 'perf.data')
    command = ['script', '-F', 'comm,uregs', '-i', tmp_path / 'perf.data']
    shown = tally(*command).stdout
    assert shown == perf(*command).stdout
    assert f' {first}:0x0 ' in shown and f' {last}:' in shown
