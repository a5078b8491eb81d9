# SPDX-License-Identifier: Apache-2.0
"""Records as text beside perf's: script --show-*-events, -D, report -D, --tasks, --mmaps, and script's filters."""
import gzip
import re

import perfdata_build
import pytest

SHOWN = [f'--show-{name}-events' for name in
         ('task', 'mmap', 'switch', 'namespace', 'cgroup', 'lost', 'bpf', 'text-poke')]
KERNEL, USER = 1, 2
SWITCH_OUT, PREEMPT, BUILD_ID, EXEC = 1 << 13, 1 << 14, 1 << 14, 1 << 13
FIELDS = 'IP TID TIME CPU PERIOD IDENTIFIER'


class Records(perfdata_build.Recording):
    """Every record that is no sample, with trailers at ascending times."""

    def __init__(self, order):
        super().__init__(order)
        self.event(FIELDS, config=1)
        self.text_feature(6, 'x86_64')
        self.feature(7, self.pack('II', 4, 4))
        self.time = 1000000000

    def put(self, kind, body, misc=0, time=None):
        self.time += 1000
        time = self.time if time is None else time
        self.record(kind, misc, body + self.pack('IIQIIQ', 77, 78, time, 1, 0, 1))

    def kernel(self):
        pack, name = self.pack, self.name
        ids = pack('II', 77, 78)
        self.put(3, ids + name('worker'), time=0)
        self.put(3, ids + name('work er2'), EXEC)
        self.put(1, pack('IIQQQ', 77, 78, 0x1000, 0x1000, 0) + name('/bin/data'), USER | 1 << 13)
        self.put(10, pack('IIQQQIIQQII', 77, 78, 0x400000, 0x5000, 0x1000, 8, 1, 1234, 5, 5, 2) + name('/bin/foo'), USER)
        bid = pack('IIQQQBBH', 77, 78, 0x500000, 0x5000, 0, 20, 0, 0) + bytes(range(20)) + pack('II', 7, 1)
        self.put(10, bid + name('/bin/bid'), USER | BUILD_ID)
        for kind in (7, 4):
            self.put(kind, pack('IIIIQ', 80, 77, 81, 78, 55))
        for kind in (5, 6):
            self.put(kind, pack('QQQ', 5, 1, 1))
        self.put(2, pack('QQ', 1, 7))
        self.put(13, pack('Q', 9))
        for flags in (0, 7):
            self.put(11, pack('QQQ', 0x100, 0x200, flags))
        self.put(12, ids)
        for misc in (0, SWITCH_OUT, SWITCH_OUT | PREEMPT):
            self.put(14, b'', misc)
            self.put(15, pack('ii', 99, -1), misc)
        for count in (2, 4, 7, 9):
            self.put(16, ids + pack('Q', count) + b''.join(pack('QQ', 3, 0xf0000000 + i) for i in range(count)))
        self.put(17, pack('QIHH', 0xffffffffc0000000, 100, 1, 0) + name('bpf_prog'))
        self.put(17, pack('QIHH', 0xffffffffc0001000, 100, 2, 1) + name('ool'))
        self.put(18, pack('HHI', 1, 0, 42) + bytes(8))
        self.put(19, pack('Q', 4242) + name('/user.slice'))
        for old, new in ((5, 5), (0, 20)):
            body = pack('QHH', 0x1234, old, new) + bytes(range(old + new))
            self.put(20, body + bytes(-len(body) % 8))
        self.put(21, pack('Q', 0x1234))

    def user(self):
        pack = self.pack
        add = lambda kind, body=b'', misc=0: self.record(kind, misc, body)
        add(65, pack('Q', 7))
        add(68)
        add(69, pack('QQQQqQQQq', 2, 1, 0, 0, -1, 1, 1, 1, 77))
        add(72, pack('IIIIIIQQ', 1, 2, 1, 77, 78, 1, 0x400000, 1500000000) + b'an error'.ljust(64, b'\0'))
        add(73, pack('Qq', 1, 77) + bytes(16))
        add(73, pack('Qq', 2, 77) + bytes(16) + pack('q', -1) + bytes(16))
        add(74, pack('HHHHHH', 0, 4, 0, 1, 2, 7))
        add(74, pack('HHH', 0, 1, 0xffff))
        add(74, pack('HHHII', 1, 2, 4, 15, 3))
        add(74, pack('HBBHH', 2, 1, 0, 2, 9))
        add(78, pack('QQ', 0, 1) + b'msec')
        add(78, pack('QQd', 1, 1, 0.25))
        add(78, pack('QQ', 2, 1) + b'my-name')
        add(79, pack('QQQ', 10, 20, 30))
        add(79, pack('QQQQQBB', 10, 20, 30, 40, 50, 1, 0))
        add(82)


def same_rows(result, expected):
    assert result.stdout.splitlines() == expected.stdout.splitlines()


def same_in_both_orders(tally, path, words, add):
    """perf reads half of the records of the other byte order wrongly, so there it is no judge."""
    texts = []
    for order in '<>':
        records = Records(order)
        add(records)
        records.write(path / 'perf.data')
        rows = tally(*words, cwd=path, check=0).stdout.splitlines()
        texts.append([row for row in rows if not row.startswith('.  ')])  # but for the bytes
    assert texts[0] == texts[1]


@pytest.mark.parametrize('options', [*([option] for option in SHOWN), SHOWN, [*SHOWN, '--show-round-events'],
                                     [*SHOWN, '--ns', '-F', 'comm,time'], [*SHOWN, '-C', '1'], [*SHOWN, '-C', '0']])
def test_rows_of_records(tally, perf, tmp_path, options):
    def add(records):
        records.kernel()
        records.record(68, 0, b'')
    records = Records('<')
    add(records)
    records.write(tmp_path / 'perf.data')
    same_rows(tally('script', *options, cwd=tmp_path, check=0), perf('script', *options, cwd=tmp_path, check=0))
    same_in_both_orders(tally, tmp_path, ['script', *options], add)


@pytest.mark.parametrize('verb', ['script', 'report'])
@pytest.mark.parametrize('add', [Records.kernel, Records.user], ids=['kernel', 'user'])
def test_dump(tally, perf, tmp_path, verb, add):
    records = Records('<')
    add(records)
    records.write(tmp_path / 'perf.data')
    expected, result = perf(verb, '-D', cwd=tmp_path, check=0), tally(verb, '-D', cwd=tmp_path, check=0)
    stats = '\nAggregated stats:\n'  # newer versions count more there
    assert result.stdout.split(stats)[0] == expected.stdout.split(stats)[0]
    assert (stats in result.stdout) == (verb == 'report')
    same_in_both_orders(tally, tmp_path, [verb, '-D'], add)


@pytest.mark.parametrize('verb', ['script', 'report'])
def test_dump_of_accesses_to_memory(tally, perf, tmp_path, verb):
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME ADDR WEIGHT DATA_SRC TRANSACTION PHYS_ADDR DATA_PAGE_SIZE CODE_PAGE_SIZE')
    recording.comm('prog')
    for data, code in ((4096, 2 << 20), (0, 0), (1 << 30, 512)):
        recording.sample(data_page_size=data, code_page_size=code, weight=7, phys_addr=0x1234, transaction=5,
                         data_src=0x68100142)
    recording.write(tmp_path / 'perf.data')
    expected, result = perf(verb, '-D', cwd=tmp_path, check=0), tally(verb, '-D', cwd=tmp_path, check=0)

    def dumped(text):
        """Without script's own lines, whose words for the levels of memory are newer than 6.1's."""
        return [line for line in text.splitlines() if not line.startswith(' ' * 12) and 'events: ' not in line]

    assert dumped(result.stdout) == dumped(expected.stdout)
    assert ' .. data page size: 4K\n' in result.stdout


def test_dump_of_a_long_chain(tally, perf, tmp_path):
    built = perfdata_build.Recording()
    built.event('IP TID TIME PERIOD CALLCHAIN')
    built.sample(callchain=[perfdata_build.CHAIN_USER, *range(0x400000, 0x400078)])
    built.write(tmp_path / 'perf.data')
    expected, result = (tool('report', '-D', cwd=tmp_path, check=0).stdout for tool in (perf, tally))
    assert '..... 120: ' in result
    assert re.findall(r'(?m)^\.{5} .*', result) == re.findall(r'(?m)^\.{5} .*', expected)


def test_dump_of_page_sizes_and_stacks(tally, perf, tmp_path):
    """A kernel thread's stack is empty: its place is shown all the same."""
    built = perfdata_build.Recording()
    built.event('IP TID TIME REGS_USER STACK_USER DATA_PAGE_SIZE CODE_PAGE_SIZE', regs=3)
    built.sample(data_page_size=4096, code_page_size=2 << 20)
    built.sample(regs_user=[7, 8], stack_user=b'12345678' * 4)
    built.write(tmp_path / 'perf.data')
    expected, result = (tool('report', '-D', cwd=tmp_path, check=0).stdout for tool in (perf, tally))
    rows = re.compile(r'(?m)^.*(?:ustack|page size).*')
    assert len(rows.findall(result)) == 6
    assert rows.findall(result) == rows.findall(expected)


@pytest.mark.parametrize('option', ['--tasks', '--mmaps'])
def test_tasks(tally, perf, tmp_path, option):
    records = Records('<')
    records.kernel()
    records.write(tmp_path / 'perf.data')
    # What perf takes for the inode of a mapping with a build id is part of the build id.
    expected = re.sub(r'(rwxs) 00000000 \d+', r'\1 00000000 0', perf('report', option, cwd=tmp_path, check=0).stdout)
    assert tally('report', option, cwd=tmp_path, check=0).stdout == expected
    same_in_both_orders(tally, tmp_path, ['report', option], Records.kernel)


GOLDEN = ['u', 'ug', 'sched', 'swev', 'ns', 'cgrp', 'regs', 'grpS', 'thr', 'addr', 'multi', 'tp']


@pytest.mark.parametrize('name', GOLDEN)
@pytest.mark.parametrize('options', [['report', '-D'], ['report', '--tasks'], ['report', '--mmaps'],
                                     ['script', *SHOWN, '-F', 'comm,pid,tid,time,event']], ids=' '.join)
def test_recordings(tally, perf, perf_recording, name, options):
    path = perf_recording(name)
    assert tally(*options, '-i', path).stdout == perf(*options, '-i', path).stdout


@pytest.mark.parametrize('words', [['--time', '10%/2'], ['--dsos', 'libc.so.6'], ['-S', 'main,work'], ['--tid', '0'],
                                   ['-S', '0x4016c0'], ['-S', '4016c0', '--addr-range', '8'], ['-c', 'demo'], ['-a'],
                                   ['--switch-on', 'cpu-clock:u'], ['--switch-on', 'cpu-clock:u', '--show-on-off-events'],
                                   ['--switch-on', 'cpu-clock:u', '--switch-off', 'cpu-clock:u', '--show-on-off-events']],
                         ids=' '.join)
def test_filters(tally, perf, perf_recording, words):
    path = perf_recording('u')
    same_rows(tally('script', *words, '-i', path, check=0), perf('script', *words, '-i', path, check=0))


@pytest.mark.parametrize('words', [['-C', '0'], ['--time', '6594.712,6594.715'], ['-c', 'perf'],
                                   ['-C', '1', '--time', '6594.712,']], ids=' '.join)
def test_dump_of_a_part(tally, perf, perf_recording, words):
    """Records are all there; who and where stands below the samples of the span of time and the CPUs only."""
    path = perf_recording('sched')
    result = tally('script', '-D', *words, '-i', path, check=0)
    same_rows(result, perf('script', '-D', *words, '-i', path, check=0))
    assert result.stdout.count(' ... thread: ') < result.stdout.count('PERF_RECORD_SAMPLE') or '-c' in words


def test_tracepoints_without_their_chains_have_no_place(tally, tmp_path):
    """Their place is shown for the chain's sake; other events have it anyway."""
    recording = perfdata_build.Recording()
    for kind in (1, 2):
        recording.event('IDENTIFIER IP TID TIME CALLCHAIN', kind=kind)
    recording.comm('prog')
    for event in (0, 1):
        recording.sample(event=event, callchain=[perfdata_build.CHAIN_USER, 0x401234])
    recording.write(tmp_path / 'perf.data')
    shown = [tally('script', *words, cwd=tmp_path, check=0).stdout for words in ([], ['-G'], ['-G', '-F', 'comm,ip,sym'])]
    assert [text.count('401234 ') for text in shown] == [2, 1, 2]


def test_cpus(tally, perf, perf_recording):
    path = perf_recording('sys')
    for cpus in ('0', '1', '0-1', '1,0'):
        words = ['script', '-C', cpus, '-F', 'cpu,time,event', '-i', path]
        same_rows(tally(*words, check=0), perf(*words, check=0))
    assert tally('script', '-C', 'x', '-i', path, check=255).stderr == "Invalid cpu_list: 'x'\n"


def test_samples_without_a_cpu_are_of_none(tally, tmp_path):
    recording = perfdata_build.Recording()
    recording.event(FIELDS)
    recording.event('IP TID TIME PERIOD IDENTIFIER')
    recording.comm('prog')
    for event, cpu in ((0, 1), (1, 0), (0, 0)):
        recording.sample(event=event, cpu=cpu, ip=0x401000 + event)
    recording.write(tmp_path / 'perf.data')
    shown = [tally('script', '-C', cpus, '-F', 'ip', cwd=tmp_path, check=0).stdout.split() for cpus in ('0', '1', '0-1')]
    assert shown == [['401000'], ['401000'], ['401000', '401000']]


def samples(tmp_path, count=6):
    recording = perfdata_build.Recording()
    recording.event(FIELDS, config=0)
    recording.event(FIELDS, config=1)
    recording.comm('prog')
    for i in range(count):
        recording.sample(event=i % 2, time=1000000000 * (i + 1))
    recording.write(tmp_path / 'perf.data')


def test_max_events(tally, tmp_path):
    samples(tmp_path)
    assert len(tally('script', '--max-events', 2, cwd=tmp_path, check=0).stdout.splitlines()) == 2
    assert len(tally('script', '--max-events', 99, cwd=tmp_path, check=0).stdout.splitlines()) == 6


def test_switch_off_alone_ends_it(tally, tmp_path):
    samples(tmp_path)
    rows = tally('script', '--switch-off', 'task-clock:HG', '-F', 'event', cwd=tmp_path, check=0).stdout.split()
    assert rows == ['cpu-clock:HG:']
    result = tally('script', '--switch-on', 'nothing', cwd=tmp_path, check=255)
    assert 'switch-on event not found (nothing)' in result.stderr


def test_files_per_event(tally, tmp_path):
    samples(tmp_path)
    all_rows = tally('script', cwd=tmp_path, check=0).stdout.splitlines()
    said = tally('script', '--per-event-dump', cwd=tmp_path, check=0).stdout
    assert said == ('[ tally script: Wrote 0.000 MB perf.data.cpu-clock:HG.dump (3 samples) ]\n'
                    '[ tally script: Wrote 0.000 MB perf.data.task-clock:HG.dump (3 samples) ]\n')
    assert (tmp_path / 'perf.data.cpu-clock:HG.dump').read_text().splitlines() == all_rows[0::2]
    assert (tmp_path / 'perf.data.task-clock:HG.dump').read_text().splitlines() == all_rows[1::2]
    (tmp_path / 'perf.data.task-clock:HG.dump').unlink()
    (tmp_path / 'perf.data.task-clock:HG.dump').mkdir()
    assert 'perf.data.task-clock:HG.dump' in tally('script', '--per-event-dump', cwd=tmp_path, check=255).stderr


def test_shared_sideband(tally, shared):
    """The rows of records that perf printed for the shared recordings, of those that print every one of them."""
    corpus = shared / 'corpus'
    if not (corpus / 'MANIFEST.tsv').exists():
        pytest.skip(f'{corpus} is absent')
    header, *lines = (corpus / 'MANIFEST.tsv').read_text().splitlines()
    differ = []
    for line in lines:
        entry = dict(zip(header.split('\t'), line.split('\t')))
        version = entry['use_expected']
        path = corpus / 'expected' / entry['id'] / f'perf-{version}' / 'script-sideband.txt.gz'
        if version == '-' or not path.exists():
            continue
        expected = gzip.decompress(path.read_bytes()).decode(errors='replace').splitlines()
        shown = [option for option in SHOWN if not re.search('cgroup|bpf|poke', option)]
        result = tally('script', *shown, '-F', 'comm,pid,tid,time', '-i', corpus / 'files' / entry['file'])
        # Newer versions have wider columns.
        rows = [row.split() for row in result.stdout.splitlines() if 'PERF_RECORD_' in row]
        wanted = [row.split() for row in expected if 'PERF_RECORD_' in row]
        if rows[:len(wanted)] != wanted:
            differ.append(entry['file'])
    assert not differ, f'{len(differ)}: {differ}'


@pytest.mark.parametrize('span', ['10%/2', '0%-10%,30%-40%', '6561.1,6561.2', ',6561.2', '6561.1,6561.11 6561.2,'])
def test_report_of_a_part(tally, perf, perf_recording, span):
    path = perf_recording('u')
    shown = [[row for row in program('report', '--stdio', '--time', span, '-i', path, check=0).stdout.splitlines()
              if 'Tip:' not in row] for program in (tally, perf)]
    assert shown[0] == shown[1]
    assert tally('report', '--time', '2,1', '-i', path, check=234).stderr == 'Invalid time string\n'


def test_report_of_a_part_of_a_group(tally, tmp_path):
    """Values that grew before the part belong to no sample of it."""
    recording = perfdata_build.Recording()
    recording.event('IP TID TIME IDENTIFIER READ', config=0)
    recording.comm('prog')
    for second, value in ((1, 100), (2, 150), (3, 160)):
        recording.sample(time=second * 1000000000, read=value)
    recording.write(tmp_path / 'perf.data')
    shown = tally('report', '--time', '3,', cwd=tmp_path, check=0).stdout
    assert '# Samples: 1 ' in shown and '# Event count (approx.): 10\n' in shown


def test_checks_instead_of_samples(tally, perf, tmp_path):
    """A round whose samples lie before those of the round before that."""
    recording = perfdata_build.Recording()
    recording.event('IP TID TIME PERIOD CPU IDENTIFIER')
    for base in (20, 10, 0):
        for second in (3, 1, 2):
            recording.sample(time=(base + second) * 10**9)
        recording.record(68, 0, b'')
    recording.write(tmp_path / 'late.data')
    ours, theirs = (tool('script', '-d', '-i', tmp_path / 'late.data', check=0) for tool in (tally, perf))
    assert ours.stdout == theirs.stdout == ''
    assert '-d and -s cannot be used together' in tally('script', '-d', '-s', 'x.py', '-i', tmp_path / 'late.data', check=255).stderr
    said = [[line for line in result.stderr.splitlines() if 'isordered' in line] for result in (ours, theirs)]
    assert said[0] == said[1] == ['Samples misordered, previous: 23000000000 this: 1000000000', 'Misordered timestamps: 1']


CONTEXT_DEFERRED = (1 << 64) - 640


@pytest.fixture(params='<>')
def deferred(request, tmp_path):
    """Two samples whose callers in the program came later, one whose callers never did, and one with its own."""
    r = perfdata_build.Recording(request.param)
    r.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN', period=1000, flags=3 << 38 if request.param == '<' else 3 << 24)
    r.text_feature(6, 'x86_64')
    r.comm('prog')
    r.mmap(0x400000, 0x100000, '/nowhere/prog')
    kernel, address, second = (1 << 64) - 128, 0xffffffff81000010, 10**9
    for index, chain in enumerate(([kernel, address, address + 16, CONTEXT_DEFERRED, 0x70007],
                                   [kernel, address, CONTEXT_DEFERRED, 0x70007], [CONTEXT_DEFERRED, 9])):
        r.sample(misc=1, ip=address, time=second + 1000 * index, callchain=chain)
    later = r.words([0x70007, 3, perfdata_build.CHAIN_USER, 0x401000, 0x402000])
    r.record(22, 2, later + r.pack('II', 1000, 1001) + r.pack('Q', second + 3000) + r.pack('II', 2, 0) + r.pack('Q', 1))
    r.sample(ip=0x403000, time=second + 4000, callchain=[perfdata_build.CHAIN_USER, 0x403000])
    r.write(tmp_path / 'deferred.data')
    return tmp_path / 'deferred.data'


FRAMES = {1: '\tffffffff81000010 [unknown] ([unknown])', 2: '\tffffffff81000020 [unknown] ([unknown])',
          7: '\t           70007 (cookie) ([unknown])', 9: '\t               9 (cookie) ([unknown])',
          'later': ['\t          401000 [unknown] (/nowhere/prog)', '\t          402000 [unknown] (/nowhere/prog)'],
          'own': '\t          403000 [unknown] (/nowhere/prog)'}


def head(name, tid, cpu, microseconds, what):
    return f'{name}  {tid} [{cpu:03}]     1.00000{microseconds}: {what}'


def test_callers_that_came_later(tally, deferred):
    sample = '      1000 cpu-clock: '
    wanted = [head('prog', 1000, 0, 0, sample), FRAMES[1], FRAMES[2], *FRAMES['later'], '',
              head('prog', 1000, 0, 1, sample), FRAMES[1], *FRAMES['later'], '', head('prog', 1000, 0, 2, sample), '',
              head('prog', 1000, 0, 4, sample), FRAMES['own'], '']
    for words in ((), ('--merge-callchains',), ('--no-merge-callchains', '--merge-callchains')):
        shown = tally('script', *words, '-i', deferred, check=0).stdout
        assert re.sub('cpu-clock:[A-Z]+:', 'cpu-clock:', shown).splitlines() == wanted, words


def apart(tally, deferred, *words):
    shown = tally('script', '--no-merge-callchains', *words, '-i', deferred, check=0).stdout
    return re.sub('cpu-clock:[A-Z]+:', 'cpu-clock:', shown).splitlines()


def test_callers_that_came_later_apart(tally, deferred):
    sample, record = '      1000 cpu-clock: ', 'DEFERRED CALLCHAIN [cookie: 70007]'
    assert apart(tally, deferred) == [
        head('prog', 1000, 0, 0, sample), FRAMES[1], FRAMES[2], FRAMES[7], '', head('prog', 1000, 0, 1, sample), FRAMES[1],
        FRAMES[7], '', head('prog', 1000, 0, 2, sample), FRAMES[9], '', head(':1001', 1001, 2, 3, record), *FRAMES['later'],
        '', head('prog', 1000, 0, 4, sample), FRAMES['own'], '']
    assert apart(tally, deferred, '--tid', '1001') == [head(':1001', 1001, 2, 3, record), *FRAMES['later'], '']
    assert apart(tally, deferred, '-C', '2', '-F', 'ip,sym') == [record, *(row.split(' (/')[0] for row in FRAMES['later']), '']
    assert apart(tally, deferred, '-C', '2', '--max-stack', '1') == [head(':1001', 1001, 2, 3, record), FRAMES['later'][0], '']
    assert apart(tally, deferred, '-C', '2', '-G')[0].endswith(record)
    assert apart(tally, deferred, '--time', '1.000002,1.0000029', '-F', 'ip,dso') == ['', '\t               9 ([unknown])', '']
    assert '(cookie)' not in ''.join(apart(tally, deferred, '--max-stack', '1', '--time', '1,1.000001'))


def test_callers_that_came_later_in_a_stream(tally, deferred):
    stream = tally('inject', '-i', deferred, '-o', '-', text=False, check=0).stdout
    shown = tally('script', '--no-merge-callchains', '-F', 'ip', '-i', '-', stdin=stream, text=False, check=0).stdout
    assert b'DEFERRED CALLCHAIN [cookie: 70007]\n\t          401000\n\t          402000\n' in shown


def test_descriptions_of_a_pipe(tally, tmp_path):
    """ATTR and FEATURE records say what they hold, as perf 7.x prints it."""
    made = tally('record', '-q', '-e', 'cpu-clock:u', '-o', '-', '--', 'true', text=False)
    if made.returncode != 0:
        pytest.skip('recording is not possible here')
    (tmp_path / 'pipe.data').write_bytes(made.stdout)
    for verb in ('report', 'script', 'annotate'):
        rows = [line.split(': PERF_RECORD_', 1)[1] for line in tally(verb, '-D', '-i', tmp_path / 'pipe.data').stdout.splitlines()
                if re.match(r'.* \[0x[0-9a-f]+\]: PERF_RECORD_(ATTR|FEATURE)', line)]
        assert rows[0].startswith('ATTR, type = 1 (PERF_TYPE_SOFTWARE), size = ')
        assert 'config = 0 (PERF_COUNT_SW_CPU_CLOCK), ' in rows[0] and 'exclude_kernel = 1' in rows[0]
        assert [row for row in rows if row.startswith('FEATURE, # hostname : ')]
        assert [row for row in rows if row.startswith('FEATURE, # nrcpus online : ')]
        assert all(row.startswith(('ATTR, ', 'FEATURE, ')) for row in rows)
