# SPDX-License-Identifier: Apache-2.0
"""tally inject: what it writes is what it read, for us and for stock perf, but for what was asked for."""
import hashlib
import os
import re
import struct

import pytest

from conftest import NEWEST_PERF
from perfdata_build import CHAIN_USER, Recording
from perfdata_file import MMAP2, PerfData

BUILD_ID = 67
MISC_MMAP_BUILD_ID = 1 << 14
RECORDINGS = ['u', 'k', 'kg', 'dyn', 'grp', 'multi', 'thr', 'tp', 'pipe', 'zstd']
OPTIONS = [['--sort'], ['-b'], ['--buildid-all'], ['-B'], ['--mmap2-buildid-all']]


@pytest.fixture
def golden(perf_recording):
    return perf_recording


@pytest.fixture
def readers(perf, tmp_path):
    """Stock perf as installed, and the newest where it is."""
    newest = [type(perf)(NEWEST_PERF, tmp_path)] if NEWEST_PERF else []
    return [perf] + newest


def rows(program, recording):
    """The report without its comments, and the script. A pipe's report does not add up children by itself."""
    report = program('report', '--stdio', '--no-children', '-i', recording)
    script = program('script', '-i', recording)
    lines = [line for line in report.stdout.splitlines() if not line.startswith('#')]
    return report.returncode, lines, script.returncode, hashlib.sha1(script.stdout.encode()).hexdigest()


@pytest.mark.parametrize('name, options', [(name, []) for name in RECORDINGS] + [
    (name, options) for name in ('kg', 'dyn', 'pipe') for options in OPTIONS])
def test_stock_perf_reports_the_same(tally, readers, golden, tmp_path, name, options):
    source, copy = golden(name), tmp_path / 'copy.data'
    tally('inject', *options, '-i', source, '-o', copy, check=0)
    for program in [tally, *readers]:
        before, after = rows(program, source), rows(program, copy)
        if before[0] == 0:
            assert after == before
    # Reports keep what they learn of a binary (tally: .cache) or a copy of it (perf: .debug); inject adds no file.
    assert {path.name for path in tmp_path.iterdir() if path.suffix != '.data'} <= {'.debug', '.cache'}


@pytest.mark.parametrize('name', ['u', 'kg', 'grp', 'tp'])
def test_by_way_of_a_pipe(tally, readers, golden, tmp_path, name):
    source, piped, back = golden(name), tmp_path / 'piped', tmp_path / 'back.data'
    piped.write_bytes(tally('inject', '-i', source, check=0, text=False).stdout)
    assert piped.read_bytes()[8:16] == struct.pack('=Q', 16)
    back.write_bytes(b'')
    tally('inject', '-i', '-', '-o', back, stdin=piped.read_bytes(), text=False, check=0)
    for program in [tally, *readers]:
        before = rows(program, source)
        if before[0] == 0:
            assert rows(program, back) == before
            if program is not readers[-1]:  # 7.x puts modifiers of the attr behind an event's name in pipes
                assert rows(program, piped)[2:] == before[2:]


def test_default_is_from_pipe_to_pipe(tally, golden):
    data = golden('pipe').read_bytes()
    assert tally('inject', stdin=data, text=False, check=0).stdout == data


def test_build_ids_as_records(tally, perf, shared_recording, tmp_path):
    copy = tmp_path / 'copy.data'
    tally('inject', '-b', '-i', shared_recording('dyn'), '-o', copy, check=0)
    kinds = [record[0] for record in PerfData(copy).records]
    assert kinds.count(BUILD_ID) == 2 and kinds.index(BUILD_ID) < kinds.index(9)
    tally('inject', '--buildid-all', '-i', shared_recording('dyn'), '-o', copy, check=0)
    assert PerfData(copy).count(BUILD_ID) == 4
    listed = perf('buildid-list', '-i', copy, check=0).stdout
    assert 'demo-dyn' in listed and 'ld-linux' in listed and '[vdso]' in listed


def test_build_ids_in_mappings(tally, shared_recording, tmp_path):
    copy = tmp_path / 'copy.data'
    ids = PerfData(shared_recording('k')).build_ids()
    tally('inject', '-B', '-i', shared_recording('k'), '-o', copy, check=0)
    found = {}
    for kind, misc, body in PerfData(copy).records:
        if kind == MMAP2:
            assert misc & MISC_MMAP_BUILD_ID
            found[body[64:].split(b'\0')[0].decode()] = body[36:36 + body[32]].hex()
    assert len(found) == 2 and all(ids[name] == value for name, value in found.items())
    tally('inject', '--mmap2-buildid-all', '-i', shared_recording('k'), '-o', copy, check=0)
    assert PerfData(copy).count(MMAP2) == PerfData(shared_recording('k')).count(MMAP2)


@pytest.mark.parametrize('as_file', [False, True])
def test_known_build_ids(tally, perf, golden, tmp_path, as_file):
    name = next(name for name in PerfData(golden('u')).build_ids() if name.startswith('/srv/'))
    value, copy = 'ab' * 20, tmp_path / 'copy.data'
    known = f'{value} {name},{"cd" * 20} /elsewhere'
    if as_file:
        (tmp_path / 'list').write_text(known.replace(',', '\n'))
        known = f'file://{tmp_path}/list'
    tally('inject', '-b', '--known-build-ids', known, '-i', golden('u'), '-o', copy, check=0)
    assert PerfData(copy).build_ids()[name] == value
    assert f'{value} {name}' in perf('buildid-list', '-i', copy, check=0).stdout
    for bad in ('zz /x', 'abc /x', 'abcd', 'file:///nonexistent'):
        result = tally('inject', '-b', '--known-build-ids', bad, '-i', golden('u'), '-o', copy)
        assert result.returncode == 255 and result.stderr


def test_order_of_time(tally, shared, tmp_path):
    source = shared / 'corpus' / 'files' / 'google+perf_data_converter' / 'perf.data.systemwide.1-3.8'
    if not source.exists():
        pytest.skip(f'{source} is absent')
    sorted_file = tmp_path / 'sorted.data'
    tally('inject', '--sort', '-i', source, '-o', sorted_file, check=0)
    times = [line.split(':')[0].split()[-1] for line in
             tally('script', '-F', 'time', '-i', source, check=0).stdout.splitlines() if ':' in line]
    assert times == sorted(times, key=float)
    before, after = PerfData(source), PerfData(sorted_file)
    assert sorted(before.records) == sorted(after.records) and before.records != after.records
    samples = [struct.unpack_from('=Q', body, 24)[0] for kind, _, body in after.records if kind == 9]
    assert len(samples) > 700


def test_sleep_times(tally, perf, readers, tmp_path, workload):
    """Of a live recording: for each sched_stat_runtime sample the thread's last switch, as perf makes it."""
    source, ours, theirs = (tmp_path / f'{name}.data' for name in ('source', 'ours', 'theirs'))
    recorded = perf('record', '-o', source, '-a', '-g', '-e', 'sched:sched_switch', '-e', 'sched:sched_stat_runtime',
                    '-e', 'sched:sched_process_exit', 'sh', '-c', 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.02; done')
    if recorded.returncode != 0:
        pytest.skip('the scheduler\'s tracepoints cannot be recorded here')
    newest = readers[-1]  # what 6.1 writes it cannot always read
    tally('inject', '-s', '-i', source, '-o', ours, check=0)
    newest('inject', '-s', '-i', source, '-o', theirs, check=0)
    rows_of = [newest('script', '--no-inline', '-F', 'comm,tid,time,event,period,ip', '--ns', '-i', path).stdout
               for path in (ours, theirs)]
    assert rows_of[0].count('sched:sched_switch') > 5 and 'stat_runtime' not in rows_of[0]
    assert rows_of[0] == rows_of[1]


def test_without_aux_data(tally, perf, shared, tmp_path):
    source = shared / 'corpus' / 'files' / 'google+perf_data_converter' / 'perf.data.intel_pt-4.14'
    if not source.exists():
        pytest.skip(f'{source} is absent')
    copy = tmp_path / 'copy.data'
    tally('inject', '--strip', '-i', source, '-o', copy, check=0)
    kinds = {record[0] for record in PerfData(copy).records}
    assert not kinds & {11, 12, 21, 70, 71, 72} and PerfData(copy).feature('AUXTRACE') is None
    assert copy.stat().st_size < source.stat().st_size
    assert tally('script', '-i', copy, check=0).stdout == tally('script', '-i', source, check=0).stdout
    assert perf('report', '--stats', '-i', copy).returncode == 0


@pytest.mark.parametrize('options', [[], ['--sort'], ['-b']], ids=' '.join)
def test_a_directory_becomes_a_file(tally, perf, live, workload, tmp_path, options):
    source, copy = tmp_path / 'folder', tmp_path / 'copy.data'
    recorded = perf('record', '--threads', '-e', 'cpu-clock:u', '-o', source, workload('threads').path, '60')
    if recorded.returncode != 0 or not source.is_dir():
        pytest.skip('perf record --threads does not work here')
    tally('inject', *options, '-i', source, '-o', copy, check=0)
    assert copy.is_file() and PerfData(copy).count(9) > 10
    for program in (tally, perf):
        of_copy, of_source = (program('script', '-i', path).stdout.splitlines() for path in (copy, source))
        assert of_copy == of_source
        assert rows(program, copy) == rows(program, source)


CHAINS = ['script', '-F', 'comm,tid,time,ip,sym']


def test_stacks_become_call_chains(tally, perf, readers, golden, shared, tmp_path):
    """What each reader makes of the stacks it makes of the chains; the file is a fraction, without registers."""
    stacks, chains = golden('ud'), tmp_path / 'chains.data'
    # Of a program that is gone perf unwinds nothing, where tally follows frame pointers.
    perf('buildid-cache', '--add', shared / 'perf-golden' / 'bin' / 'demo', check=0)
    tally('inject', '--convert-callchain', '-i', stacks, '-o', chains, check=0)
    assert chains.stat().st_size * 5 < stacks.stat().st_size
    newest = readers[1:]
    for reader in [tally, *newest]:
        assert rows(reader, chains) == rows(reader, stacks)
        assert reader(*CHAINS, '-i', chains).stdout == reader(*CHAINS, '-i', stacks).stdout
    shown = perf('evlist', '-v', '-i', chains, check=0).stdout
    assert 'CALLCHAIN' in shown and not re.search('REGS_USER|STACK_USER|sample_regs_user|exclude_callchain_user', shown)
    for reader in newest:
        theirs = tmp_path / 'theirs.data'
        assert reader('inject', '--convert-callchain', '-i', stacks, '-o', theirs).returncode == 0
        assert reader(*CHAINS, '-i', chains).stdout == reader(*CHAINS, '-i', theirs).stdout
    piped = tmp_path / 'piped.data'
    piped.write_bytes(tally('inject', '--convert-callchain', '-i', stacks, check=0, text=False).stdout)
    assert tally(*CHAINS, '-i', piped).stdout == tally(*CHAINS, '-i', chains).stdout
    for unwound in (chains, piped):
        again = tmp_path / 'again.data'
        assert 'kept as they are' in tally('inject', '--convert-callchain', '-i', unwound, '-o', again, check=0).stderr
        assert tally(*CHAINS, '-i', again).stdout == tally(*CHAINS, '-i', chains).stdout
    plain = tally('inject', '--convert-callchain', '-i', golden('u'), '-o', tmp_path / 'no', check=255)
    assert 'has neither them nor call chains: record --call-graph dwarf' in plain.stderr
    assert not (tmp_path / 'no').exists()


def test_changes_are_made_one_after_the_other(tally, tmp_path):
    """All together are what they are one by one: chains, then build IDs in the header, then other addresses."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD CALLCHAIN REGS_USER STACK_USER', regs=0x3)
    built.comm('job')
    built.mmap(0x401000, 0x1000, '/bin/job')
    for index in range(3):
        built.sample(time=1000 + index, ip=0x401010 + index, callchain=[CHAIN_USER, 0x401010 + index], regs_user=[1, 2],
                     stack_user=bytes(64))
    built.text_feature(6, 'x86_64')
    built.write(tmp_path / 'all.data')
    known = '0123456789abcdef0123456789abcdef01234567 /bin/job'
    steps = [['--convert-callchain'], ['--known-build-ids', known], ['--aslr']]
    for number, step in enumerate(steps):
        tally('inject', *step, '-i', f'{number or "all"}.data', '-o', f'{number + 1}.data', cwd=tmp_path, check=0)
    words = [word for step in steps for word in step]
    tally.environment['TMPDIR'] = str(tmp_path)
    tally('inject', *words, '-i', 'all.data', '-o', 'once.data', cwd=tmp_path, check=0)
    assert (tmp_path / 'once.data').read_bytes() == (tmp_path / '3.data').read_bytes()
    stream = tally('inject', *words, '-i', '-', stdin=(tmp_path / 'all.data').read_bytes(), cwd=tmp_path, check=0, text=False)
    (tmp_path / 'stream.data').write_bytes(stream.stdout)
    shown = ['script', '-F', 'comm,tid,time,ip,sym,dso', '-i']
    assert tally(*shown, 'stream.data', cwd=tmp_path).stdout == tally(*shown, '3.data', cwd=tmp_path).stdout != ''
    assert not list(tmp_path.glob('tally-recording-*'))
    failed = tally('inject', *words, '-i', 'absent.data', '-o', 'none.data', cwd=tmp_path)
    assert failed.returncode == 255 and not (tmp_path / 'none.data').exists() and not list(tmp_path.glob('tally-recording-*'))


@pytest.mark.parametrize('order', ['<', '>'])
def test_stacks_of_both_byte_orders(tally, tmp_path, order):
    """Registers alone tell one caller of nothing; what a sample has beyond that stays, and damage is passed over."""
    built = Recording(order)
    built.event('IDENTIFIER IP TID TIME PERIOD CALLCHAIN REGS_USER STACK_USER WEIGHT', regs=0x3)
    built.comm('job')
    built.mmap(0x401000, 0x1000, '/bin/job')
    for index, size in enumerate([64, 0, 64]):
        copied = {'regs_user': [1, 2], 'stack_user': bytes(size)} if size else {}
        built.sample(time=1000 + index, ip=0x401010 + index, weight=7 + index, callchain=[CHAIN_USER, 0x401010 + index],
                     **copied)
    built.text_feature(6, 'x86_64')
    path, chains = tmp_path / 'stacks.data', tmp_path / 'chains.data'
    built.write(path)
    tally('inject', '--convert-callchain', '-i', path, '-o', chains, check=0)
    fields = ['script', '-F', 'time,ip,weight,period']
    assert tally(*fields, '-i', chains, check=0).stdout == tally(*fields, '-i', path, check=0).stdout
    assert 'REGS_USER' not in tally('evlist', '-v', '-i', chains, check=0).stdout
    data = path.read_bytes()
    for length in range(len(data) - 400, len(data), 23):
        (tmp_path / 'cut').write_bytes(data[:length])
        assert tally('inject', '--convert-callchain', '-i', tmp_path / 'cut', '-o', chains).returncode in (0, 255)


def test_refusals(tally, golden, tmp_path):
    own = tmp_path / 'own.data'
    own.write_bytes(golden('u').read_bytes())
    os.link(own, tmp_path / 'link.data')
    for output in (own, tmp_path / 'link.data'):
        result = tally('inject', '-i', own, '-o', output)
        assert result.returncode == 255 and 'the same file' in result.stderr
    assert own.read_bytes() == golden('u').read_bytes()
    assert tally('inject', '-i', tmp_path / 'absent', '-o', tmp_path / 'x').returncode == 255
    assert tally('inject', '-i', own, 'more').returncode == 129
    assert tally('inject', '-i', own, '-o', tmp_path).returncode == 255
    result = tally('inject', '-i', own, '-o', '/dev/full')
    assert result.returncode == 255 and 'No space left' in result.stderr
    assert tally('inject', '-b', '-k', '/nonexistent', '-i', own, '-o', tmp_path / 'x').returncode == 255
    assert not (tmp_path / 'x').exists()
    result = tally('inject', '-i', own, '-o', '/dev/stdout', text=False, check=0)
    assert result.stdout == tally('inject', '-i', own, '-o', '-', text=False, check=0).stdout != b''


def test_a_cut_recording(tally, readers, shared_recording, tmp_path):
    """What is whole is written, as a whole file; that something is missing is said, and in the status."""
    cut, copy = tmp_path / 'cut.data', tmp_path / 'copy.data'
    cut.write_bytes(shared_recording('kg').read_bytes()[:9001])
    result = tally('inject', '-i', cut, '-o', copy)
    assert result.returncode == 255 and 'offset' in result.stderr
    copied = PerfData(copy)
    assert copied.count(9) > 50
    for program in [tally, *readers]:
        assert program('report', '--stdio', '-i', copy).returncode == 0


def test_what_was_there_stays_until_the_copy_is_whole(tally, golden, tmp_path):
    copy = tmp_path / 'copy.data'
    copy.write_bytes(b'precious')
    assert tally('inject', '-i', tmp_path / 'absent', '-o', copy).returncode == 255
    assert copy.read_bytes() == b'precious'
    tally('inject', '-i', golden('u'), '-o', copy, check=0)
    assert PerfData(copy).count(9) == PerfData(golden('u')).count(9) > 100
    link = tmp_path / 'link.data'
    link.symlink_to(copy)
    tally('inject', '-b', '-i', golden('u'), '-o', link, check=0)
    assert link.is_symlink() and PerfData(copy).count(BUILD_ID) == 1
