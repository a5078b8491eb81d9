# SPDX-License-Identifier: Apache-2.0
"""Allocations and writes that fail: no crash, no other output with the same status, no other output without a word, and no
file that looks whole. TALLY_EVERY_ALLOCATION=1 tries every one instead of some."""
import errno
import os
import pathlib
import shutil
import subprocess

import page_recordings
import perfdata_build
import pytest
import test_c2c
import test_kwork
import test_timechart
from conftest import ASAN, BUILD, EXCLUDE_KERNEL, FIXED, PERF_TYPE_SOFTWARE, open_event, static_workload
from tracing_build import Tracepoint, tracing_data

EVERY = os.environ.get('TALLY_EVERY_ALLOCATION')
# The recording, and the command on it; OUT: the file that it writes.
FORMS = [
    'sampled report --stdio', 'live report --stdio --children', 'sampled report --stdio -g caller',
    'live report --stdio --hierarchy -s comm,dso,sym', 'live report --stdio -s srcline,sym', 'sampled report --json',
    'live report --html=OUT', 'sampled report -D', 'sampled report --stdio --header', 'sampled report --stdio --total-cycles',
    'live report --missing --stdio', 'sampled report --stdio --require lost<1%', 'kept report --stdio',
    'live script', 'live script -F ip,sym,srcline', 'kept script', 'live annotate --stdio',
    'sampled diff', 'sched sched latency', 'sched sched timehist', 'sched sched map', 'waits lock contention',
    'waits lock info -t', 'work kwork report -S', 'work kwork latency --json', 'work kwork timehist', 'tasks kwork top', 'slab kmem --caller --alloc stat', 'memory c2c report --stdio', 'memory mem report --stdio',
    'sched timechart -o OUT', 'live flamegraph -o OUT', 'sampled flamegraph --folded -o OUT',
    'live pack -o OUT', 'live pack --scrub -o OUT', 'live inject -b -o OUT', 'sampled health', 'sampled evlist -v',
    'counts stat report', 'live data convert --to-json OUT', 'sampled data convert --to-ctf OUT',
] + [f'live export -F {name} -o OUT' for name in ('html', 'firefox', 'chrome', 'perfetto', 'json', 'pprof', 'otlp', 'folded', 'otlp-json',
                                                  'speedscope', 'callgrind', 'csv')]
# SQLite allocates for each statement: some 3,000 times.
LONG_FORMS = ['sampled export -F sqlite -o OUT', 'sampled query "select count(*) from samples"']
WRITERS = [form for form in FORMS + LONG_FORMS if 'OUT' in form]


def waits(path):
    """Two waits for a mutex."""
    begin = Tracepoint('lock', 'contention_begin', 5, [('void *', 'lock_addr', 8), ('unsigned', 'flags', 4)])
    end = Tracepoint('lock', 'contention_end', 6, [('void *', 'lock_addr', 8), ('int', 'ret', 4)])
    r = perfdata_build.Recording()
    for tracepoint in (begin, end):
        r.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN RAW', kind=2, config=tracepoint.number, period=1)
    r.name_events('lock:contention_begin', 'lock:contention_end')
    r.feature(1, tracing_data([begin, end]))
    kernel = 0xffffffff81000000
    r.mmap(kernel, 0x1000, '[kernel.kallsyms]_stext')
    for i in range(20):
        for event, tracepoint in enumerate((begin, end)):
            r.sample(event, tid=(1000, 1001 + i % 3), time=10**9 + i * 1000 + event * 100, misc=1,
                     callchain=[(1 << 64) - 128, kernel + 0x18 + 8 * (i % 4)], raw=tracepoint.payload(lock_addr=0x40 + 64 * (i % 5)))
    r.write(path)


def slab(path):
    pointer = [('void *', name, 8) for name in ('call_site', 'ptr')]
    sizes = [('size_t', name, 8) for name in ('bytes_req', 'bytes_alloc')]
    tracepoints = [Tracepoint('kmem', 'kmalloc', 5, pointer + sizes), Tracepoint('kmem', 'kfree', 6, pointer)]
    r = perfdata_build.Recording()
    for tracepoint in tracepoints:
        r.event('IDENTIFIER IP TID TIME CPU PERIOD RAW', kind=2, config=tracepoint.number, period=1)
    r.name_events('kmem:kmalloc', 'kmem:kfree')
    r.feature(1, tracing_data(tracepoints))
    for i in range(80):
        fields = {'ptr': 16 * (i % 60), 'call_site': 0x100 + 16 * (i % 7)}
        event = i % 3 == 2
        more = {} if event else {'bytes_req': 60 + i, 'bytes_alloc': 128}
        r.sample(event, misc=1, ip=0x1000, time=10**9 + i * 1000, cpu=i % 2, raw=tracepoints[event].payload(**fields, **more))
    r.write(path)


@pytest.fixture(scope='module')
def recordings(tmp_path_factory):
    """A folder with NAME.data of each; live ones only where recording is possible."""
    folder = tmp_path_factory.mktemp('recordings')
    page_recordings.sampled(folder / 'sampled.data')
    test_timechart.small(folder / 'sched.data')
    test_c2c.recording(folder / 'memory.data', list(test_c2c.accesses(1)))
    test_kwork.known_recording(folder / 'work.data')
    test_kwork.top_recording(folder / 'tasks.data')
    waits(folder / 'waits.data')
    slab(folder / 'slab.data')
    if not open_event(PERF_TYPE_SOFTWARE, 0, EXCLUDE_KERNEL):
        # Static: each of thousands of runs would read the debug information of libc.
        deep = [static_workload('deep'), '60']
        common = ['-q', '-F', '500', '-e', 'cpu-clock:u']
        for name, words in (('live', ['record', *common, '-g']),
                            ('kept', ['record', *common, '--call-graph', 'dwarf,2048', '--keep-stacks']),
                            ('counts', ['stat', 'record', '-e', 'cpu-clock,faults'])):
            subprocess.run([BUILD / 'src/cli/tally', *words, '-o', folder / f'{name}.data', '--', *deep], check=True,
                           capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, 'HOME': str(folder)})
    return folder


class Runner:
    """A command whose calls can be made to fail, and what it did."""

    def __init__(self, program, form, recordings, folder, environment):
        name, *words = [word.strip('"') for word in form.split(' ', 2)]
        words = words[:1] + (words[1].split(' ') if '"' not in form and len(words) > 1 else words[1:])
        data = recordings / f'{name}.data'
        if not data.exists():
            pytest.skip('perf_event_open is refused')
        self.out = folder / 'out'
        words = [word.replace('OUT', str(self.out)) for word in words]
        if words[0] == 'diff':
            words += [data, recordings / 'sampled.data']
        elif words[0] == 'pack':
            words += [data]
        elif words[0] in ('stat', 'data'):
            words += ['-i', data]
        else:
            words[1:1] = ['-i', data]
        self.command = [str(word) for word in [program, *words]]
        self.folder = folder
        self.environment = {'PATH': os.environ['PATH'], **FIXED, 'HOME': '/dev/null', 'TMPDIR': str(folder), **environment}

    def run(self, **failing):
        shutil.rmtree(self.out, ignore_errors=True) if self.out.is_dir() else self.out.unlink(missing_ok=True)
        result = subprocess.run(self.command, env={**self.environment, **{k: str(v) for k, v in failing.items()}},
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        return result.returncode, result.stdout, result.stderr, self.written()

    def written(self):
        """What lies at the file's name or in the folder of that name; None: nothing."""
        if self.out.is_dir():
            # A trace has a random number and the time of day in it.
            return sorted((path.name, path.stat().st_size) for path in self.out.iterdir())
        return self.out.read_bytes() if self.out.exists() else None

    def left_beside(self):
        return [path.name for path in self.folder.iterdir() if path.name not in ('out', 'count')]

    def allocations(self):
        self.run(FAIL_COUNT=self.folder / 'count')
        return int((self.folder / 'count').read_text())


def chosen(count, some):
    """Which of count to try: all, or the first, the last, and some between."""
    if EVERY or count <= 3 * some:
        return range(1, count + 1)
    between = {some + 1 + (count - 2 * some) * i // some for i in range(some)}
    return sorted({*range(1, some + 1), *between, *range(count - some + 1, count + 1)})


def first_difference(expected, got):
    """Both outputs around the place where they begin to differ, and what was said."""
    for one, other in (expected[1], got[1]), (expected[3], got[3]):
        if one != other:
            if not isinstance(one, bytes) or not isinstance(other, bytes):
                return one, other, got[2]
            at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
            return at, one[max(at - 80, 0):at + 80], other[max(at - 80, 0):at + 80], got[2]
    return ''


def verdict(expected, got):
    """None, or what is wrong."""
    status, out, err, written = got
    if status < 0 or status in (99, 134, 139):
        return f'it crashed: {err.decode(errors="replace")[-2000:]}'
    if (out, written) == (expected[1], expected[3]):
        return None
    if status == expected[0]:
        return f'other output with status {status}: {first_difference(expected, got)}'
    if err == expected[2]:
        return 'other output without a word'
    return 'a file that looks whole' if written is not None and written != expected[3] else None


def check_allocations(runner, some):
    expected = runner.run()
    assert expected[0] == 0, expected[2].decode(errors='replace')
    wrong = {}
    count = runner.allocations()
    assert count > 5
    for mode, numbers in ({}, chosen(count, some)), ({'FAIL_FROM': 1}, chosen(count, max(1, some // 4))):
        for number in numbers:
            what = verdict(expected, runner.run(FAIL_AT=number, **mode))
            if what:
                wrong[(number, *mode)] = what
    assert not wrong
    assert not runner.left_beside()


def some(quick, thorough):
    """How many allocations are tried at the beginning, between, and at the end."""
    return pytest.mark.parametrize('some', [quick, pytest.param(thorough, marks=pytest.mark.long)])


@some(1, 4)
@pytest.mark.parametrize('form', FORMS + LONG_FORMS)
def test_allocations_under_the_sanitizers(recordings, tmp_path, form, some):
    program = ASAN / 'tests/robustness/tally_failing'
    if not program.exists():
        pytest.skip(f'{program.relative_to(ASAN.parent)} is not built (tools/check sanitized)')
    check_allocations(Runner(program, form, recordings, tmp_path, {
        'ASAN_OPTIONS': 'allocator_may_return_null=1:exitcode=99:detect_leaks=0',
        'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1:exitcode=99'}), some)


@pytest.fixture
def preload():
    path = BUILD / 'tests/robustness/failing_preload.so'
    assert path.exists(), f'{path} is not built'
    return {'LD_PRELOAD': str(path)}


@some(3, 10)
@pytest.mark.parametrize('form', FORMS + LONG_FORMS)
def test_allocations_of_the_libraries_too(recordings, tmp_path, preload, form, some):
    check_allocations(Runner(BUILD / 'src/cli/tally', form, recordings, tmp_path, preload), some)


@pytest.mark.parametrize('form', WRITERS)
def test_writes_that_fail_leave_the_old_file(recordings, tmp_path, preload, form):
    """EIO and ENOSPC at each of the first writes; what lies there before stays. Short writes are gone on with."""
    runner = Runner(BUILD / 'src/cli/tally', form, recordings, tmp_path, preload)
    expected = runner.run()
    assert expected[0] == 0 and expected[3]
    if 'sqlite' not in form:  # it asks for whole ones
        short = runner.run(FAIL_WRITE=1, FAIL_ERRNO=0)
        assert short[0] == 0 and short[3] == expected[3]
    for error, numbers in ((errno.EIO, range(1, 9)), (errno.ENOSPC, (1, 2))):
        for number in numbers:
            got = runner.run(FAIL_WRITE=number, FAIL_ERRNO=error)
            if got[0] == 0:  # there are fewer
                assert number > 1 and got[3] == expected[3]
                break
            assert got[0] > 0 and got[2] and got[3] is None, (number, error, got[0], got[2])
    assert not runner.left_beside()


@pytest.mark.parametrize('form', [form for form in FORMS if 'OUT' not in form and 'health' not in form])
def test_a_full_standard_output_is_told(recordings, tmp_path, form):
    runner = Runner(BUILD / 'src/cli/tally', form, recordings, tmp_path, {})
    if form.split()[1] in ('lock', 'stat') and runner.run()[1] == b'':
        return  # perf's place for it is standard error
    with open('/dev/full', 'wb') as full:
        result = subprocess.run(runner.command, env=runner.environment, stdin=subprocess.DEVNULL, stdout=full,
                                stderr=subprocess.PIPE, timeout=120, check=False)
    assert result.returncode > 0 and b'No space left' in result.stderr


@pytest.mark.parametrize('form', ['live export -F html -o OUT', 'sched timechart -o OUT', 'live flamegraph -o OUT',
                                  'live data convert --to-json OUT --force', 'live pack -o OUT', 'live inject -b -o OUT',
                                  'sampled export -F sqlite -o OUT'])
def test_a_file_that_is_too_large_leaves_the_old_one(recordings, tmp_path, form):
    """RLIMIT_FSIZE, without a signal."""
    import resource
    import signal
    runner = Runner(BUILD / 'src/cli/tally', form, recordings, tmp_path, {})
    runner.out.write_bytes(b'old')

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
    result = subprocess.run(runner.command, env=runner.environment, stdin=subprocess.DEVNULL, capture_output=True,
                            timeout=120, check=False, preexec_fn=limit)
    assert result.returncode > 0 and result.stderr
    assert runner.written() == b'old' and not runner.left_beside()


def test_little_address_space_is_enough(recordings, tmp_path):
    """Every export of a small recording works in 256 MB of addresses."""
    import resource
    for form in [form for form in FORMS + LONG_FORMS if ' export ' in form or '--html' in form]:
        runner = Runner(BUILD / 'src/cli/tally', form, recordings, tmp_path, {})
        result = subprocess.run(runner.command, env=runner.environment, stdin=subprocess.DEVNULL, capture_output=True,
                                timeout=120, check=False,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)))
        assert result.returncode == 0, (form, result.stderr)


def test_the_place_of_an_output(tally, recordings, tmp_path):
    """A link stays a link, rights stay, devices and pipes are written as they are, the recording is not replaced."""
    data = recordings / 'sampled.data'
    (tmp_path / 'file').write_text('old')
    (tmp_path / 'file').chmod(0o600)
    (tmp_path / 'link').symlink_to('file')
    tally('export', '-F', 'folded', '-i', data, '-o', tmp_path / 'link', check=0)
    assert (tmp_path / 'link').is_symlink() and (tmp_path / 'file').stat().st_mode & 0o777 == 0o600
    folded = (tmp_path / 'file').read_text()
    assert folded == tally('export', '-F', 'folded', '-i', data, check=0).stdout
    assert tally('export', '-F', 'folded', '-i', data, '-o', '/dev/stdout', check=0).stdout == folded
    tally('export', '-F', 'folded', '-i', data, '-o', '/dev/null', check=0)
    copy = pathlib.Path(shutil.copy(data, tmp_path / 'copy.data'))
    before = copy.read_bytes()
    for words in (('export', '-F', 'folded'), ('flamegraph',)):
        assert 'is the recording that is being read' in tally(*words, '-i', copy, '-o', copy, check=255).stderr
    assert copy.read_bytes() == before
