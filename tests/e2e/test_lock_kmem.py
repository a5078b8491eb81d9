# SPDX-License-Identifier: Apache-2.0
"""Waits for kernel locks, and the slab allocator: the tables are perf's, on its recordings and on ours."""
import json
import pathlib
import re
import shutil
import subprocess

import json_schema
import perfdata_build
import pytest
import tracing_build

SCHEMAS = pathlib.Path(__file__).parents[2] / 'docs' / 'schema'
SCHEMA = json.loads((SCHEMAS / 'lock.json').read_text())


@pytest.fixture
def recordings(perf_recordings):
    return perf_recordings


def same_kernel(recordings, perf):
    """Names of the recorded kernel's functions come from the running one, or from a copy."""
    ours = pathlib.Path('/sys/kernel/notes').read_bytes().hex()
    ids = perf('buildid-list', '-i', recordings / 'lock.data').stdout
    kernel = re.search(r'^([0-9a-f]{40}) \[kernel', ids, re.M)
    return kernel and kernel.group(1) in ours


def without_place(text):
    """Rows without the caller, whose name needs the kernel that was recorded."""
    return [line.split('   ')[:-1] for line in text.splitlines()]


@pytest.mark.parametrize('name, words', [('lockcont', ['contention']), ('lockrep', ['report'])])
def test_lock_tables_are_perfs(tally, perf, shared_recording, name, words):
    recordings = shared_recording('lock').parent
    expected = (recordings.parent / 'out' / f'misc-{name}.err').read_text()
    shown = tally('lock', *words, '-i', recordings / 'lock.data', check=0)
    assert shown.stdout == ''
    if same_kernel(recordings, perf):
        assert sorted(shown.stderr.splitlines()) == sorted(expected.splitlines())
    elif name == 'lockcont':
        assert len(shown.stderr.splitlines()) == len(expected.splitlines())


def test_threads_have_their_names(tally, shared_recording):
    recordings = shared_recording('lock').parent
    expected = (recordings.parent / 'out' / 'misc-lockcontt.err').read_text()
    shown = tally('lock', 'contention', '-t', '-i', recordings / 'lock.data', check=0).stderr
    # perf prints ":16698" for threads that were forked by one whose name it knows.
    assert without_place(shown) == without_place(expected)
    assert not re.search(r' :\d+$', shown, re.M)


def test_a_thread_that_renames_itself(tally, perf, tmp_path):
    """All its waits are one row, which has the thread's last name."""
    begin = tracing_build.Tracepoint('lock', 'contention_begin', 5, [('void *', 'lock_addr', 8), ('unsigned', 'flags', 4)])
    end = tracing_build.Tracepoint('lock', 'contention_end', 6, [('void *', 'lock_addr', 8), ('int', 'ret', 4)])
    r = perfdata_build.Recording()
    for tracepoint in (begin, end):
        r.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=tracepoint.number, period=1)
    r.name_events('lock:contention_begin', 'lock:contention_end')
    r.feature(1, tracing_build.tracing_data([begin, end]))
    for turn in (1, 2):
        r.record(3, 0, r.pack('II', 1000, 1000) + r.name(f'name {turn}') + r.pack('IIQIIQ', 1000, 1000, turn * 10**9, 0, 0, 1))
        for event, tracepoint in enumerate((begin, end)):
            r.sample(event, time=turn * 10**9 + 1000 + event * 5000, raw=tracepoint.payload(lock_addr=64))
    r.write(tmp_path / 'perf.data')
    results = (program('lock', 'contention', '-t', '-i', tmp_path / 'perf.data', check=0) for program in (tally, perf))
    ours, theirs = (re.findall(r'(?m)^ .* name \d$', result.stdout + result.stderr) for result in results)
    assert [row.split()[-2:] for row in ours] == [['name', '2']]
    assert ours == theirs


@pytest.fixture
def waits(tmp_path):
    """Thread 1001 waits twice for a mutex, 1002 once for a spinlock and, without an end, for a semaphore."""
    begin = tracing_build.Tracepoint('lock', 'contention_begin', 5, [('void *', 'lock_addr', 8), ('unsigned', 'flags', 4)])
    end = tracing_build.Tracepoint('lock', 'contention_end', 6, [('void *', 'lock_addr', 8), ('int', 'ret', 4)])
    r = perfdata_build.Recording()
    for tracepoint in (begin, end):
        r.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN RAW CGROUP', kind=2, config=tracepoint.number, period=1)
    r.name_events('lock:contention_begin', 'lock:contention_end')
    r.feature(1, tracing_build.tracing_data([begin, end]))
    for tid in (1001, 1002):
        r.record(3, 0, r.pack('II', 1000, tid) + r.name(f'worker {tid}') + r.pack('IIQIIQ', 1000, tid, 0, 0, 0, 1))
    kernel = 0xffffffff81000000
    r.record(1, 1, r.pack('IIQQQ', 0xffffffff, 0, kernel, 0x1000, kernel) + r.name('[kernel.kallsyms]_stext') +
             r.pack('IIQIIQ', 0, 0, 0, 0, 0, 1))
    r.record(19, 0, r.pack('Q', 77) + r.name('/some.slice') + r.pack('IIQIIQ', 1000, 1001, 0, 0, 0, 1))
    for tid, lock, flags, start, stop in ((1001, 0x40, 0x20, 1000, 4000), (1002, 0x80, 1, 2000, 2500),
                                          (1001, 0x40, 0x20, 5000, 6000), (1002, 0xc0, 2, 7000, None)):
        who = {'tid': (1000, tid), 'misc': 1, 'cgroup': 77,
               'callchain': [(1 << 64) - 128, kernel + 0x18, kernel + 0x24 + 4 * (tid == 1002)]}
        r.sample(0, time=10**9 + start, raw=begin.payload(lock_addr=lock)[:16] + r.pack('I', flags), **who)
        if stop:
            r.sample(1, time=10**9 + stop, raw=end.payload(lock_addr=lock), **who)
    r.write(tmp_path / 'waits.data')
    (tmp_path / 'kallsyms').write_text(''.join(f'{kernel + 16 * i:x} T {name}\n' for i, name in enumerate(
        ('_stext', 'waiting', 'calling', 'end'))))
    return tmp_path / 'waits.data'


def lock_json(tally, path, *words):
    shown = tally('lock', *words, '--json', '-q', '-i', path, '--kallsyms', path.parent / 'kallsyms', check=0)
    document = json.loads(shown.stdout)
    json_schema.check(document, SCHEMA)
    assert document.pop('schema') == 1 and document.pop('path') == str(path) and shown.stderr == ''
    assert (document.pop('events'), document.pop('unended'), document.pop('unbegun')) == (7, 1, 0)
    assert document.pop('lost_events') == 0
    return document


TABLES = [['contention'], ['contention', '-t'], ['contention', '-l'], ['contention', '--lock-cgroup'], ['report'],
          ['report', '-t'], ['contention', '-x', ';'], ['report', '-x', ';']]


@pytest.mark.parametrize('words', TABLES, ids=' '.join)
def test_quiet_tables_are_their_rows(tally, waits, words):
    names = ['--kallsyms', waits.parent / 'kallsyms', '-i', waits]
    whole = tally('lock', *words, *names, check=0).stderr.splitlines()
    quiet = tally('lock', *words, '-q', *names, check=0).stderr.splitlines()
    assert quiet == [line for line in whole if re.search(r'\d', line) and not line.startswith('note:')]


@pytest.mark.parametrize('words', [['contention'], ['contention', '-t'], ['report']], ids=' '.join)
def test_quiet_tables_are_perfs(tally, perf, recordings, words):
    data = recordings / 'lock.data'
    ours, theirs = (program('lock', *words, '-q', '-i', data, check=0).stderr.splitlines() for program in (tally, perf))
    assert len(ours) == len([line for line in theirs if not line.startswith('No kallsyms')]) > 3

def test_quiet_still_tells_why_there_is_no_table(tally, recordings):
    failed = tally('lock', 'contention', '-q', '-i', recordings / 'u.data', check=255)
    assert 'no lock events in this recording' in failed.stderr


def test_info_without_a_choice_is_both(tally, waits):
    names = ['--kallsyms', waits.parent / 'kallsyms', '-i', waits]
    threads, locks = (tally('lock', 'info', option, *names, check=0).stderr for option in ('-t', '-m'))
    assert threads.count('worker') == 2 and locks.count(' 0x') == 3
    for words in ([], ['-t', '-m']):
        assert tally('lock', 'info', *words, *names, check=0).stderr == threads + '\n' + locks


def test_functions_of_the_program_call_no_lock_of_the_kernel(tally, tmp_path):
    """Where the kernel's frames have no names, the row has none."""
    source, library = tmp_path / 'u.c', tmp_path / 'u.so'
    source.write_text('int user_function(int a) { return a * 3 + 1; }\n')
    if not shutil.which('gcc') or not shutil.which('nm'):
        pytest.skip('gcc or nm is not installed')
    subprocess.run(['gcc', '-shared', '-fPIC', '-o', library, source], check=True)
    address = next(int(line.split()[0], 16) for line in subprocess.run(
        ['nm', library], capture_output=True, text=True, check=True).stdout.splitlines() if line.endswith(' user_function'))
    begin = tracing_build.Tracepoint('lock', 'contention_begin', 5, [('void *', 'lock_addr', 8), ('unsigned', 'flags', 4)])
    end = tracing_build.Tracepoint('lock', 'contention_end', 6, [('void *', 'lock_addr', 8), ('int', 'ret', 4)])
    r = perfdata_build.Recording()
    for tracepoint in (begin, end):
        r.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN RAW', kind=2, config=tracepoint.number, period=1)
    r.name_events('lock:contention_begin', 'lock:contention_end')
    r.feature(1, tracing_build.tracing_data([begin, end]))
    r.comm('worker')
    r.mmap(0x7f0000000000, 0x10000, str(library))
    kernel = 0xffffffff81000000
    r.record(1, 1, r.pack('IIQQQ', 0xffffffff, 0, kernel, 0x1000, kernel) + r.name('[kernel.kallsyms]_stext') + r.trailer())
    chain = [(1 << 64) - 128, kernel + 0x18, kernel + 0x24, kernel + 0x28, kernel + 0x2c, perfdata_build.CHAIN_USER,
             0x7f0000000000 + address + 4]
    r.sample(0, time=10**9, misc=1, callchain=chain, raw=begin.payload(lock_addr=64))
    r.sample(1, time=2 * 10**9, misc=1, callchain=chain, raw=end.payload(lock_addr=64))
    r.write(tmp_path / 'waits.data')
    (tmp_path / 'none').write_text('')
    (tmp_path / 'names').write_text(f'{kernel:x} T _stext\n{kernel + 0x20:x} T calling\n{kernel + 0x40:x} T end\n')
    for names, caller in (('none', 'Unknown'), ('names', 'calling+0xc')):
        shown = tally('lock', 'contention', '-v', '-i', tmp_path / 'waits.data', '--kallsyms', tmp_path / names, check=0).stderr
        rows = [line for line in shown.splitlines() if ' spinlock ' in line or ' mutex' in line or '1.00 s' in line]
        assert len(rows) == 1 and rows[0].endswith(f'   {caller}')
        assert 'user_function+0x4' in shown  # the chain of -v is whole


def times(contended, total, most, least):
    return {'contended': contended, 'wait_total_ns': total, 'wait_max_ns': most, 'wait_min_ns': least,
            'avg_wait_ns': total // contended}


def test_waits_as_json(tally, waits):
    mutex, spin = times(2, 4000, 3000, 1000), times(1, 500, 500, 500)
    rest = {'without_row': 0, 'without_row_ns': 0, 'sorted_by': 'wait_total'}
    assert lock_json(tally, waits, 'contention', '-t') == rest | {'rows': [
        {'tid': 1001, 'comm': 'worker 1001'} | mutex, {'tid': 1002, 'comm': 'worker 1002'} | spin]}
    assert lock_json(tally, waits, 'contention', '-l', '-k', 'wait_min', '-E', '1') == rest | {
        'sorted_by': 'wait_min', 'rows': [{'address': '0x40', 'type': 'mutex'} | mutex]}
    assert lock_json(tally, waits, 'contention', '--lock-cgroup')['rows'] == [
        {'cgroup': '/some.slice'} | times(3, 4500, 3000, 500)]
    document = lock_json(tally, waits, 'report', '--stack-skip', '1')
    assert document == rest | {'sorted_by': 'acquired', 'rows': [
        {'name': 'calling+0x4', 'acquired': 2} | mutex, {'name': 'calling+0x8', 'acquired': 1} | spin]}
    assert lock_json(tally, waits, 'info', '-t') == {
        'threads': [{'tid': tid, 'comm': f'worker {tid}'} for tid in (1001, 1002)]}
    assert [row['address'] for row in lock_json(tally, waits, 'info', '-m')['locks']] == ['0x40', '0x80', '0xc0']


@pytest.mark.parametrize('between', [(2, 'QQ', 1, 30), (4, 'IIIIQ', 1000, 1000, 1001, 1001, 0)], ids=['lost', 'exit'])
def test_waits_do_not_go_on_across_lost_events_and_ends_of_threads(tally, tmp_path, between):
    kind, form, *values = between
    begin = tracing_build.Tracepoint('lock', 'contention_begin', 5, [('void *', 'lock_addr', 8), ('unsigned', 'flags', 4)])
    end = tracing_build.Tracepoint('lock', 'contention_end', 6, [('void *', 'lock_addr', 8), ('int', 'ret', 4)])
    r = perfdata_build.Recording()
    for tracepoint in (begin, end):
        r.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=tracepoint.number, period=1)
    r.name_events('lock:contention_begin', 'lock:contention_end')
    r.feature(1, tracing_build.tracing_data([begin, end]))
    for index, (tracepoint, time) in enumerate(((begin, 1000), (end, 900_000_000), (begin, 900_001_000), (end, 900_001_500))):
        if index == 1:
            r.record(kind, 0, r.pack(form, *values) + r.pack('IIQIIQ', 1000, 1001, 10**9 + 5000, 1, 0, 1))
        r.sample(index % 2, time=10**9 + time, raw=tracepoint.payload(lock_addr=0x40), tid=(1000, 1001))
    path = tmp_path / 'between.data'
    r.write(path)
    shown = tally('lock', 'contention', '-t', '--json', '-i', path, check=0)
    document = json.loads(shown.stdout)
    assert (document['unended'], document['unbegun']) == (1, 1)
    assert [(row['contended'], row['wait_max_ns']) for row in document['rows']] == [(1, 500)]
    assert document['lost_events'] == (30 if kind == 2 else 0)
    assert ('30 events were lost' in shown.stderr) == (kind == 2)
    quiet = tally('lock', 'contention', '-q', '-i', path, check=0)
    assert ('30 events were lost' in quiet.stderr) == (kind == 2)


def test_waits_by_caller_as_json(tally, waits):
    frames = [['waiting+0x8', 'calling+0x4'], ['waiting+0x8', 'calling+0x8']]
    addresses = [['0xffffffff81000018', '0xffffffff81000024'], ['0xffffffff81000018', '0xffffffff81000028']]
    wanted = [{'type': 'mutex', 'caller': 'calling+0x4'} | times(2, 4000, 3000, 1000),
              {'type': 'spinlock', 'caller': 'calling+0x8'} | times(1, 500, 500, 500)]
    assert lock_json(tally, waits, 'contention', '--stack-skip', '1')['rows'] == wanted
    verbose = lock_json(tally, waits, 'contention', '--stack-skip', '1', '-v')['rows']
    assert [[line.split() for line in row.pop('stack')] for row in verbose] == \
        [list(map(list, zip(*both))) for both in zip(addresses, frames)]
    assert verbose == wanted


@pytest.mark.parametrize('key, columns', [
    ('wait_min', 'contended total wait max wait avg wait min wait type caller'),
    ('wait_max', 'contended total wait max wait avg wait type caller')])
def test_the_key_is_a_column(tally, perf, waits, key, columns):
    line = ['lock', 'contention', '-k', key, '-i', waits]
    ours, theirs = (' '.join(re.search('.*contended.*', program(*line).stderr).group().split()) for program in (tally, perf))
    assert ours == theirs == columns


@pytest.mark.parametrize('name, is_passed', [
    ('do_nanosleep', True), ('__cond_resched', True), ('mutex_unlock', True), ('_raw_spin_unlock_irqrestore', True),
    ('_raw_spin_rq_lock_irqsave', False), ('rwsem_wake', False)])
def test_functions_that_wait_are_no_callers(tally, waits, name, is_passed):
    names = waits.parent / 'kallsyms'
    names.write_text(names.read_text().replace('waiting', name))
    rows = tally('lock', 'contention', '--stack-skip', '0', '-i', waits, '--kallsyms', names, check=0).stderr
    assert (f'{name}+0x8' in rows) != is_passed and ('calling+0x4' in rows) == is_passed


def test_json_of_locks_beside_other_options(tally, waits, tmp_path):
    shown = tally('lock', 'contention', '--json', '--output', tmp_path / 'out.json', '-i', waits, check=0)
    assert shown.stdout == '' and len(json.loads((tmp_path / 'out.json').read_text())['rows']) > 0
    for words in (['-x', ';'], ['-D']):
        assert 'does not go with --json' in tally('lock', 'contention', '--json', *words, '-i', waits, check=129).stderr
    few = json.loads(tally('lock', 'contention', '-t', '-M', '1', '--json', '-i', waits, check=0).stdout)
    assert (few['without_row'], few['without_row_ns'], len(few['rows'])) == (1, 500, 1)
    none = perfdata_build.Recording()
    none.event('IP TID TIME')
    none.sample()
    none.write(tmp_path / 'none.data')
    empty = tally('lock', 'contention', '--json', '-i', tmp_path / 'none.data', check=255)
    assert json.loads(empty.stdout)['rows'] == [] and 'no lock events' in empty.stderr


def test_contention_for_programs(tally, shared_recording):
    data = shared_recording('lock')
    rows = tally('lock', 'contention', '-l', '-x', ';', '-E', '1', '-i', data, check=0).stderr.splitlines()
    assert rows[0] == '# output: contended; total wait; max wait; avg wait; address; symbol; type'
    assert rows[1].startswith('428; ') and rows[1].endswith('; ffff888627d2ba40; ; spinlock')
    rows = tally('lock', 'contention', '-F', 'contended', '-k', 'wait_max', '-Y', 'rwlock', '-i', data,
                 check=0).stderr.splitlines()
    assert len(rows) == 3 and rows[2].split()[:4] == ['1', '20.64', 'us', 'rwlock:R']
    threads = tally('lock', 'info', '-t', '-i', data, check=0).stderr.splitlines()
    assert threads[0] == ' Thread ID: comm' and '     16618: sched-messaging' in threads
    assert tally('lock', 'contention', '--tid', '16690', '-t', '-i', data, check=0).stderr.count('\n') == 3


def test_lock_refuses(tally, recordings):
    data = recordings
    assert 'Unknown compare key: foo' in tally('lock', 'report', '-k', 'foo', '-i', data / 'lock.data', check=255).stderr
    assert 'Unknown output field: foo' in tally(
        'lock', 'report', '-F', 'foo', '-i', data / 'lock.data', check=255).stderr
    assert 'lock record' in tally('lock', 'report', '-i', data / 'u.data', check=255).stderr
    for words in (['-i', '-'], ['--json', '-i', data / 'lock.data'], ['--output', '/dev/null', '-i', data / 'lock.data']):
        assert 'needs either -t or -m' in tally('lock', 'info', *words, check=129).stderr
    for words in (['report', '-l'], ['report', '-m'], ['contention', '-c'], ['info', '-t', '-k', 'acquired']):
        assert f'does not go with {words[0]}' in tally('lock', *words, '-i', data / 'lock.data', check=129).stderr
    tally('lock', 'contention', '-b', '-i', data / 'lock.data', check=129)
    tally('lock', check=129)


def test_contention_of_some_locks(tally, shared_recording, tmp_path):
    data = shared_recording('lock')
    kernel = tmp_path / 'kallsyms'
    # The recorded kernel's: its list has no place of its own, and so names no symbol but these.
    kernel.write_text('ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff82209988 T _etext\n'
                      'ffffffff83008080 D tasklist_lock\nffffffff83008088 D other\n')
    by_address = ['lock', 'contention', '-l', '-x', ';', '--kallsyms', kernel, '-i', data]
    one = '1; 20641; 20641; 20641; ffffffff83008080; tasklist_lock; rwlock'
    for lock in ('tasklist_lock', 'foo,ffffffff83008080', '0xffffffff83008080'):
        assert tally(*by_address, '-L', lock, check=0).stderr.splitlines()[1:] == [one], lock
    assert one in tally(*by_address, '-a', check=0).stderr.splitlines()
    assert 'no thread waited for a lock' in tally(*by_address, '-L', 'other', check=0).stderr  # one lies within it
    table = tmp_path / 'table'
    assert tally(*by_address, '--output', table, check=0).stderr == ''
    assert table.read_text() == tally(*by_address, check=0).stderr
    dump = tally('lock', 'contention', '-D', '-E', '1', '-i', data, check=0)
    assert dump.stdout.count('PERF_RECORD_SAMPLE(') == 1070 and len(dump.stderr.splitlines()) == 3
    for words, text in ((['-a', '-C', '0'], '--all-cpus does not go with --cpu'),
                        (['-t'], 'Cannot use thread and addr mode together'), (['-o'], '--lock-owner needs --use-bpf')):
        assert text in tally(*by_address, *words, check=129).stderr


@pytest.mark.parametrize('options', [
    [], ['--caller'], ['--alloc'], ['--alloc', '-l', '4', '-s', 'ptr'], ['--caller', '--raw-ip', '-s', 'bytes,ptr'],
    ['--alloc', '-s', 'pingpong,hit,ptr', '-l', '7']])
def test_slab_tables_are_perfs(tally, perf, recordings, options):
    data = recordings / 'kmem.data'
    options = [*options, '-i', data, 'stat']
    theirs = perf('kmem', *options).stdout
    ours = tally('kmem', *options, check=0).stdout
    if '--raw-ip' not in options and not same_kernel(recordings, perf):
        ours, theirs = ours.count('\n'), theirs.count('\n')
    if ours != theirs:  # perf does not say in which order rows with equal keys come
        assert sorted(ours.splitlines()) == sorted(theirs.splitlines())


def test_call_sites_have_names_unless_addresses_are_wanted(tally, recordings, tmp_path):
    kernel = tmp_path / 'kallsyms'
    kernel.write_text('ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff816f6a00 T a_caller\n'
                      'ffffffff82209988 T _etext\n')
    words = ['kmem', 'stat', '--caller', '-l', '1', '--kallsyms', kernel, '-i', recordings / 'kmem.data']
    named, raw = (tally(*words, *more, check=0).stdout for more in ([], ['--raw-ip']))
    assert ' a_caller+6c ' in named
    assert ' 0xffffffff816f6a6c ' in raw and 'a_caller' not in raw


def test_slab_rows_are_asked_for_behind_stat_too(tally, recordings):
    data = recordings / 'kmem.data'
    assert tally('kmem', 'stat', '--caller', '-l', '2', '-i', data, check=0).stdout == tally(
        'kmem', '--caller', '-l', '2', '-i', data, 'stat', check=0).stdout
    assert 'Unknown slab --sort key: ' in tally('kmem', '-s', 'foo', '-i', data, 'stat', check=255).stderr
    assert 'kmem record' in tally('kmem', '-i', recordings / 'u.data', 'stat', check=255).stderr


def test_a_time_that_leaves_nothing_says_so(tally, recordings):
    for words in ((), ('--page',), ('--json',)):
        assert 'samples is within --time' in tally(
            'kmem', 'stat', *words, '--time', '1,2', '-i', recordings / 'kmem.data', check=255).stderr, words


def test_options_without_effect_are_taken(tally, recordings):
    data = recordings
    slab = tally('kmem', '--live', 'stat', '-i', data / 'kmem.data', check=0)
    assert slab.stdout == tally('kmem', 'stat', '-i', data / 'kmem.data', check=0).stdout and '--page' in slab.stderr
    locks = [tally('lock', 'report', *words, '-i', data / 'lock.data', check=0) for words in ([], ['-v'])]
    assert locks[0].stdout == locks[1].stdout and locks[0].stderr == locks[1].stderr


def rows_by_block(text):
    """Rows without what perf names otherwise: the type of pages and the call site."""
    cells = [[cell.strip() for cell in line.split('|', 7)] for line in text.splitlines() if line.count(' | ') >= 6]
    return sorted((row[0], row[1], row[2], row[3], *row[5:-1]) for row in cells if row[0].isdigit())


def test_pages(tally, perf, tmp_path):
    if not pathlib.Path('/sys/kernel/tracing/events/kmem').exists():
        pytest.skip('no tracepoints on this machine')
    data = tmp_path / 'pages.data'
    tally('kmem', '--page', 'record', '-o', data, shutil.which('true'), check=0)
    ours = tally('kmem', 'stat', '--page', '--alloc', '-i', data, check=0).stdout
    theirs = perf('kmem', '--page', '--alloc', '-i', data, 'stat').stdout
    assert re.search(r'Total allocation requests +: +[1-9]', ours)
    summary = ours[ours.index('SUMMARY'):]
    assert [line for line in summary.splitlines() if 'Order' not in line] == [
        line for line in theirs[theirs.index('SUMMARY'):].splitlines() if 'Order' not in line]
    assert ours[:ours.index('PFN')] == theirs[:theirs.index('PFN')]  # the flags' names
    assert rows_by_block(ours) == rows_by_block(theirs)
    callers = tally('kmem', 'stat', '--page', '--caller', '-i', data, check=0).stdout
    total = re.search(r'Total allocation requests +: +(\d+) +\[ +(\d+) KB', ours).groups()
    rows = re.findall(r'^ +(\d+) \| +(\d+) \| +\d+ \| .* \| (\S+)$', callers, re.M)
    assert (sum(int(row[1]) for row in rows), sum(int(row[0]) for row in rows)) == tuple(int(n) for n in total)
    assert not any(re.match(r'_*(alloc_(frozen_)?pages|folio_alloc|get_free_page)', row[2]) for row in rows)
    live = tally('kmem', 'stat', '--page', '--live', '--caller', '-i', data, check=0).stdout
    only = re.search(r'Total alloc-only requests +: +(\d+)', ours)[1]
    rows = re.findall(r'^ +\d+ \| +(\d+) \| +\d+ \| ', live, re.M)
    assert ' Live alloc (KB)' in live and sum(int(row) for row in rows) <= int(only)
    few = tally('kmem', 'stat', '--page', '--alloc', '-l', '2', '-s', 'order,page', '-i', data, check=0).stdout
    assert len(rows_by_block(few)) == 2 and '\n ...              | ...              | ' in few
    for words in (['--page', '-s', 'ptr'], ['--slab', '--page']):
        tally('kmem', 'stat', *words, '-i', data, check=255)


def test_recordings_of_ours(tally, perf, tmp_path):
    if not pathlib.Path('/sys/kernel/tracing/events/kmem').exists():
        pytest.skip('no tracepoints on this machine')
    data = tmp_path / 'kmem.data'
    tally('kmem', 'record', '-o', data, shutil.which('true'), check=0)
    ours = tally('kmem', '--alloc', '-s', 'ptr', '-i', data, 'stat', check=0).stdout
    assert ours == perf('kmem', '--alloc', '-s', 'ptr', '-i', data, 'stat').stdout
    assert re.search(r'Total bytes allocated: [1-9]', ours)
    waits = tmp_path / 'lock.data'
    tally('lock', 'record', '-o', waits, shutil.which('true'), check=0)
    evlist = tally('evlist', '-i', waits, check=0).stdout
    assert 'lock:contention_begin' in evlist and 'lock:contention_end' in evlist


def memory(path, tracepoints, happenings, lost=0):
    """happenings: (index of the tracepoint, CPU, its fields); all by the same caller in the kernel."""
    r = perfdata_build.Recording()
    for tracepoint in tracepoints:
        r.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=tracepoint.number, period=1)
    r.name_events(*[f'kmem:{tracepoint.name}' for tracepoint in tracepoints])
    r.feature(1, tracing_build.tracing_data(tracepoints))
    for index, (event, cpu, fields) in enumerate(happenings):
        r.sample(event, misc=1, ip=0x1000, time=10**9 + index * 1000, cpu=cpu, raw=tracepoints[event].payload(**fields))
    if lost:
        r.record(2, 0, r.pack('QQ', 1, lost) + r.pack('IIQIIQ', 1000, 1001, 2 * 10**9, 1, 0, 1))
    r.write(path)


def kmem_json(tally, path, *words):
    document = json.loads(tally('kmem', 'stat', '--json', '--raw-ip', *words, '-i', path, check=0).stdout)
    json_schema.check(document, json.loads((SCHEMAS / 'kmem.json').read_text()))
    assert document.pop('schema') == 1 and document.pop('path') == str(path)
    return document


def test_slab_as_json(tally, tmp_path):
    pointer = [('void *', name, 8) for name in ('call_site', 'ptr')]
    sizes = [('size_t', name, 8) for name in ('bytes_req', 'bytes_alloc')]
    path = tmp_path / 'slab.data'
    memory(path, [tracing_build.Tracepoint('kmem', 'kmalloc', 5, pointer + sizes), tracing_build.Tracepoint('kmem', 'kfree', 6, pointer)], [
        (0, 0, dict(call_site=0x100, ptr=0x10, bytes_req=60, bytes_alloc=64)),
        (0, 0, dict(call_site=0x100, ptr=0x20, bytes_req=20, bytes_alloc=64)),
        (0, 1, dict(call_site=0x200, ptr=0x30, bytes_req=8, bytes_alloc=8)),
        (1, 1, dict(ptr=0x10)), (1, 0, dict(ptr=0x99))])

    def row(address, hits, allocated, requested, ping_pongs):
        return {'address': address, 'hits': hits, 'bytes_allocated': allocated, 'bytes_requested': requested, 'ping_pongs': ping_pongs}
    summary = {'allocations': 3, 'bytes_allocated': 136, 'bytes_requested': 88, 'bytes_freed': 64, 'other_node': 0, 'unknown_frees': 1}
    assert kmem_json(tally, path) == {'allocator': 'slab', 'lost_events': 0, 'summary': summary}
    assert kmem_json(tally, path, '--caller', '--alloc', '-s', 'bytes') == {
        'allocator': 'slab', 'lost_events': 0, 'summary': summary, 'callers': [row('0x100', 2, 128, 80, 1), row('0x200', 1, 8, 8, 0)],
        'objects': [row('0x10', 1, 64, 60, 1), row('0x20', 1, 64, 20, 0), row('0x30', 1, 8, 8, 0)]}
    assert len(kmem_json(tally, path, '--alloc', '-l', '1')['objects']) == 1
    assert 'of one allocator' in tally('kmem', 'stat', '--json', '--slab', '--page', '-i', path, check=129).stderr
    assert tally('kmem', 'stat', '--json', '--page', '-i', path, check=255).stdout == ''


def test_what_was_lost_may_have_been_freed(tally, tmp_path):
    block = [('unsigned long', 'pfn', 8), ('unsigned int', 'order', 4)]
    path = tmp_path / 'pages.data'
    memory(path, [tracing_build.Tracepoint('kmem', 'mm_page_alloc', 5, block)], [(0, 0, dict(pfn=100, order=0))], lost=7)
    assert kmem_json(tally, path, '--page')['lost_events'] == 7
    for words, is_noted in (([], False), (['--live'], True)):
        said = tally('kmem', 'stat', '--page', *words, '-i', path, check=0).stderr
        assert '7 events were lost' in said
        assert ('frees may be among the 7 lost events' in said) == is_noted


def test_pages_as_json(tally, tmp_path):
    block = [('unsigned long', 'pfn', 8), ('unsigned int', 'order', 4)]
    kinds = [('unsigned int', 'gfp_flags', 4), ('int', 'migratetype', 4)]
    path = tmp_path / 'pages.data'
    memory(path, [tracing_build.Tracepoint('kmem', 'mm_page_alloc', 5, block + kinds), tracing_build.Tracepoint('kmem', 'mm_page_free', 6, block)], [
        (0, 0, dict(pfn=100, order=2, gfp_flags=0xc0, migratetype=1)), (0, 0, dict(pfn=200, order=0, gfp_flags=0xc0)),
        (0, 0, dict(pfn=300, order=0, gfp_flags=0xc0)), (1, 0, dict(pfn=200, order=0)), (1, 0, dict(pfn=900, order=1))])

    def row(hits, pages, order, kind, **more):
        return {'address': '0x1000', 'hits': hits, 'pages': pages, 'order': order, 'migrate_type': kind, **more}
    document = kmem_json(tally, path, '--page', '--caller', '--alloc')
    flags = {r.pop('gfp_flags') for r in document['callers'] + document['blocks']}
    assert flags == {'0xc0'} and document['allocator'] == 'page' and document['page_bytes'] % 1024 == 0
    assert document['callers'] == [row(1, 4, 2, 'Movable'), row(2, 2, 0, 'Unmovable')]
    assert document['blocks'] == [row(1, 4, 2, 'Movable', pfn=100), row(1, 1, 0, 'Unmovable', pfn=200),
                                  row(1, 1, 0, 'Unmovable', pfn=300)]
    assert document['summary'] == {
        'allocated': {'requests': 3, 'pages': 6}, 'freed': {'requests': 2, 'pages': 3},
        'unknown_frees': {'requests': 1, 'pages': 2}, 'failed': {'requests': 0, 'pages': 0},
        'orders': [{'order': 0, 'migrate_type': 'Unmovable', 'requests': 2}, {'order': 2, 'migrate_type': 'Movable', 'requests': 1}]}
    live = kmem_json(tally, path, '--page', '--live', '--alloc')
    assert [r['pfn'] for r in live['blocks']] == [100, 300]


def test_functions_of_the_program_ask_for_no_page(tally, tmp_path):
    """Where the kernel's part of a chain is the allocator's alone, the site is where the event was, not the program's."""
    kernel, kernel_id = 0xffffffff81000000, '1d' * 20
    block = [('unsigned long', 'pfn', 8), ('unsigned int', 'order', 4)]
    kinds = [('gfp_t', 'gfp_flags', 4), ('int', 'migratetype', 4)]
    alloc = tracing_build.Tracepoint('kmem', 'mm_page_alloc', 5, block + kinds)
    r = perfdata_build.Recording()
    r.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN RAW', kind=2, config=alloc.number, period=1)
    r.name_events('kmem:mm_page_alloc')
    r.feature(1, tracing_build.tracing_data([alloc]))
    r.comm('worker')
    r.record(1, 1, r.pack('IIQQQ', 0xffffffff, 0, kernel, 0x1000, kernel) + r.name('[kernel.kallsyms]_stext') + r.trailer())
    body = r.pack('i', -1) + bytes.fromhex(kernel_id) + bytes([20, 0, 0, 0]) + r.name('[kernel.kallsyms]')
    r.feature(2, r.pack('IHH', 0, 1 | 1 << 15, 8 + len(body)) + body)
    for frames in ([kernel + 0x10, perfdata_build.CHAIN_USER, 0x7f0000001234], [kernel + 0x10, kernel + 0x24]):
        r.sample(0, time=10**9, misc=1, ip=kernel + 0x10, callchain=[(1 << 64) - 128, *frames],
                 raw=alloc.payload(pfn=100, order=0, gfp_flags=0xc0, migratetype=1))
    r.write(tmp_path / 'pages.data')
    names = tmp_path / 'cache' / '.build-id' / kernel_id[:2] / kernel_id[2:]
    names.mkdir(parents=True)
    (names / 'kallsyms').write_text(f'{kernel:x} T _stext\n{kernel + 0x10:x} T __alloc_pages\n{kernel + 0x20:x} T asking\n'
                                    f'{kernel + 0x40:x} T end\n')
    document = kmem_json(lambda *words, check: tally('--buildid-dir', tmp_path / 'cache', *words, check=check),
                         tmp_path / 'pages.data', '--page', '--caller')
    assert [row['address'] for row in document['callers']] == [f'{kernel + 0x10:#x}', f'{kernel + 0x24:#x}']


def test_a_caller_that_is_not_there_is_unknown(tally, perf, waits):
    """More frames are passed over than there are."""
    line = ['lock', 'contention', '--stack-skip', '9', '-i', waits]
    for program in (tally, perf):
        rows = [row.split() for row in program(*line).stderr.splitlines() if ' us ' in row]
        assert [row[1:7] + row[8:] for row in rows] == [['4.50', 'us', '3.00', 'us', '1.50', 'us', 'Unknown']]
    listed = tally(*line, '-x', ',', check=0)
    assert (listed.stdout + listed.stderr).splitlines()[-1].endswith(', Unknown')
    assert [row.get('caller') for row in lock_json(tally, waits, 'contention', '--stack-skip', '9')['rows']] == [None]
