# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the end-to-end tests: the built program, the reference tools, the workloads, the goldens."""
import ctypes
import functools
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

import budget
import made_once

BUILD = ROOT / os.environ.get('TALLY_BUILD', 'build')
ASAN = ROOT / os.environ.get('TALLY_ASAN', 'build-asan')
TSAN = ROOT / os.environ.get('TALLY_TSAN', 'build-tsan')
WITHOUT_BPF = ROOT / os.environ.get('TALLY_WITHOUT_BPF', 'build-without-bpf')
GOLDEN = ROOT / 'tests' / 'golden'
CORPUS = ROOT / 'tests' / 'corpus'
# The folder of test data that is not in the source tree; only TALLY_TEST_DATA names it.
SHARED = pathlib.Path(os.environ['TALLY_TEST_DATA']) if os.environ.get('TALLY_TEST_DATA') else None
# A case that uses one of these is marked `data`.
DATA_FIXTURES = {'shared', 'shared_recording', 'golden_place'}
# Whatever the terminal, the locale and the time zone of the caller, the output is the same.
FIXED = {'LC_ALL': 'C', 'TERM': 'dumb', 'COLUMNS': '80', 'TZ': 'UTC', 'PAGER': 'cat'}
# For what never ends: a loaded machine is slow.
TIMEOUT_S = 300
RETRY_AFTER_ABORT_S = 0.3


def find_newest_perf():
    """The second reference, newer than the installed one: $TALLY_NEWEST_PERF, or where it usually is; None: nowhere."""
    places = [os.environ.get('TALLY_NEWEST_PERF'), '/opt/perf7/perf', '/opt/newest-perf/perf']
    return next((pathlib.Path(place) for place in places if place and os.access(place, os.X_OK)), None)


NEWEST_PERF = find_newest_perf()

# A shell ignores these in what it starts in the background, nohup the hang-up, and programs inherit that and blocked
# signals: here they end programs.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def pytest_addoption(parser):
    parser.addoption('--update', action='store_true', help='write the goldens anew instead of comparing with them')
    budget.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    # The newer scheduler of xdist, where it is known: no worker ends with a long queue.
    if config.getoption('numprocesses', None) and config.getoption('dist') == 'no' and knows_worksteal():
        config.option.dist = 'worksteal'


def knows_worksteal():
    return importlib.util.find_spec('xdist.scheduler.worksteal') is not None


def pytest_configure(config):
    config.addinivalue_line('markers', 'alone: not beside other tests (it counts, fills or times what all share)')
    config.addinivalue_line('markers', 'seeds: laws on other random programs each time, and on many recordings')
    config.addinivalue_line('markers', 'data: compares with the data of TALLY_TEST_DATA, or is skipped')
    budget.configure(config, BUILD)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if DATA_FIXTURES.intersection(item.fixturenames):
            item.add_marker('data')


def pytest_runtest_teardown(item, nextitem):
    if 'page' in sys.modules and (nextitem is None or nextitem.path != item.path):
        sys.modules['page'].close_browser()


class Program:
    """A program with the fixed environment. Calling it gives its CompletedProcess; check=N asserts the exit status."""

    def __init__(self, path, home, retries_if_aborted=0, prefix=()):
        self.path = pathlib.Path(path)
        self.prefix = list(prefix)
        self.retries_if_aborted = retries_if_aborted
        self.environment = {**os.environ, **FIXED, 'HOME': str(home)}

    def __call__(self, *arguments, check=None, cwd=None, stdin=None, env=None, timeout=TIMEOUT_S, text=True):
        environment = {**self.environment, **(env or {})}
        kept = {'errors': 'replace'} if text else {}
        for retries_left in reversed(range(self.retries_if_aborted + 1)):
            result = subprocess.run([*self.prefix, str(self.path), *map(str, arguments)], cwd=cwd, env=environment, text=text,
                                    input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
                                    capture_output=True, timeout=timeout, check=False, **kept)
            if result.returncode != -signal.SIGABRT or not retries_left:
                break
            time.sleep(RETRY_AFTER_ABORT_S)
        if check is not None:
            shown = f'{" ".join(map(str, arguments))}\nstdout: {result.stdout}\nstderr: {result.stderr}'
            assert result.returncode == check, f'exit status {result.returncode}: {shown}'
        return result

    def start(self, *arguments, **kwargs):
        """The running process; standard input, output and error are pipes."""
        return subprocess.Popen([*self.prefix, str(self.path), *map(str, arguments)], env=self.environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)


@pytest.fixture
def tally(tmp_path):
    """The program under test."""
    path = BUILD / 'src' / 'cli' / 'tally'
    assert path.exists(), f'{path} is not built'
    yield Program(path, tmp_path)
    # Each test has a home of its own, and each home would keep the kernel's list of symbols.
    shutil.rmtree(tmp_path / '.cache', ignore_errors=True)


@pytest.fixture
def tally_asan(tmp_path):
    """The same program with the address and undefined-behaviour sanitizers."""
    path = ASAN / 'src' / 'cli' / 'tally'
    if not path.exists():
        pytest.skip(f'{path.relative_to(ROOT)} is not built (tools/check sanitized)')
    program = Program(path, tmp_path)
    program.environment['ASAN_OPTIONS'] = 'allocator_may_return_null=1:exitcode=99'
    program.environment['UBSAN_OPTIONS'] = 'halt_on_error=1:print_stacktrace=1:exitcode=99'
    return program


@pytest.fixture
def tally_tsan(tmp_path):
    """The same program with the thread sanitizer; exit status 66 is a race."""
    path = TSAN / 'src' / 'cli' / 'tally'
    if not path.exists():
        pytest.skip(f'{path.relative_to(ROOT)} is not built (tools/check races)')
    program = Program(path, tmp_path)
    program.environment['TSAN_OPTIONS'] = 'exitcode=66:second_deadlock_stack=1'
    if 'ThreadSanitizer' in program('version').stderr:
        pytest.skip('the thread sanitizer does not run on this kernel (vm.mmap_rnd_bits is above 28)')
    return program


@pytest.fixture
def tally_without_bpf(tmp_path):
    """The same program of a build without BPF."""
    path = WITHOUT_BPF / 'src' / 'cli' / 'tally'
    if not path.exists():
        pytest.skip(f'{path.relative_to(ROOT)} is not built (tools/check without_bpf)')
    return Program(path, tmp_path)


@pytest.fixture
def perf(tmp_path):
    """The reference: $PERF or the installed perf."""
    path = os.environ.get('PERF') or shutil.which('perf')
    if not path:
        pytest.skip('perf is not installed')
    # perf 6.1 aborts when another session on the machine asks for build IDs at the same time: the kernel then marks
    # the mappings of every session as having one (docs/compatibility.md). tally and perf 7.x ask by default, and tests
    # run side by side: the retries last longer than such a session.
    return Program(path, tmp_path, retries_if_aborted=60)


@pytest.fixture
def newest_perf(tmp_path):
    """The second, newer reference; skips if there is none."""
    if not NEWEST_PERF:
        pytest.skip('the newest perf is not installed (TALLY_NEWEST_PERF)')
    return Program(NEWEST_PERF, tmp_path)


@pytest.fixture
def perfs_own_test(tally, tmp_path):
    """perfs_own_test(NAME): the result of a shell test of the newest perf, with tally as `perf`."""
    if not NEWEST_PERF:
        pytest.skip('the newest perf is not installed (TALLY_NEWEST_PERF)')
    scripts = NEWEST_PERF.parent / 'root/usr/lib/perf-core/tests/shell'
    folder = tmp_path / 'perf-is-tally'
    folder.mkdir()
    (folder / 'perf').write_text(f'#!/bin/sh\nexec {tally.path} "$@"\n')
    (folder / 'perf').chmod(0o755)
    # perf's tests of locks want four CPUs, so that threads meet; what they use meets on two.
    (folder / 'nproc').write_text('#!/bin/sh\necho 4\n')
    (folder / 'nproc').chmod(0o755)

    def run(name):
        if not (scripts / name).exists():
            pytest.skip(f"perf's own test {name} is not installed")
        return subprocess.run(['bash', scripts / name, '-v'], capture_output=True, text=True, check=False, cwd=tmp_path,
                              env={**tally.environment, 'PATH': f'{folder}:{os.environ["PATH"]}'}, timeout=TIMEOUT_S)

    return run


def need_data(path='.'):
    """What has this name in the folder of TALLY_TEST_DATA; the case is skipped if it is absent."""
    if SHARED is None:
        pytest.skip('TALLY_TEST_DATA is not set')
    return SHARED / path if (SHARED / path).exists() else pytest.skip(f'TALLY_TEST_DATA/{path} is absent')


@pytest.fixture(scope='session')
def shared():
    """The folder of TALLY_TEST_DATA."""
    return need_data()


@pytest.fixture
def shared_recording():
    """shared_recording(NAME): the recording of TALLY_TEST_DATA, for a test that knows its figures."""
    return lambda name: need_data(f'perf-golden/data/{name}.data')


@pytest.fixture
def perf_recording():
    """perf_recording(NAME): a recording of that kind by perf, of TALLY_TEST_DATA, or our own."""

    def find(name):
        if SHARED is not None and (path := SHARED / 'perf-golden' / 'data' / f'{name}.data').exists():
            return path
        own = CORPUS / f'{name}.data'
        return own if own.exists() else need_data(f'perf-golden/data/{name}.data')

    return find


@pytest.fixture
def perf_recordings(perf_recording):
    """The folder of those recordings."""
    return perf_recording('u').parent


@pytest.fixture(scope='session')
def golden_place():
    """What to put before a command so that it finds perf-golden at /srv, the place that its recordings name."""
    source = need_data('perf-golden')
    if os.path.isdir('/srv/perf-golden'):
        return []
    mounts = (f'mount -t tmpfs none /srv && mkdir /srv/perf-golden && mount --bind {shlex.quote(str(source))} '
              '/srv/perf-golden && exec "$@"')
    prefix = ['unshare', '--mount', 'sh', '-c', mounts, 'sh']
    tried = subprocess.run([*prefix, 'true'], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f'cannot mount perf-golden at /srv: {tried.stderr.strip()}')
    return prefix


@pytest.fixture
def golden_tally(tally, golden_place):
    """The program under test, where perf-golden is at /srv."""
    tally.prefix = golden_place
    return tally


@pytest.fixture
def workload(tmp_path):
    """workload(NAME): the built program tests/workloads/NAME.c."""

    def find(name):
        path = BUILD / 'tests' / 'workloads' / name
        assert path.exists(), f'{path} is not built'
        return Program(path, tmp_path)

    return find


def built(files, *commands):
    """The folder in which these files (name: text) are and where these commands ran; once for all runs of this build."""
    return made_once.built(BUILD, files, *commands)


def compiled(name, text, *options, compiler='gcc'):
    """The program that the compiler makes of this text, whose file NAME is beside it; once for all runs of this build."""
    return made_once.compiled(BUILD, name, text, *options, compiler=compiler)


def static_workload(name):
    """tests/workloads/NAME.c as a static program: libc and its debug information are not among its binaries."""
    sources = {file: (ROOT / 'tests' / 'workloads' / file).read_text() for file in (f'{name}.c', 'keep_frame.h')}
    options = ['-O1', '-g', '-static', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', '-fno-shrink-wrap', '-pthread']
    return built(sources, ['gcc', f'{name}.c', *options, '-o', name]) / name


@pytest.fixture(scope='session')
def made(tmp_path_factory):
    """made(NAME, make): a folder that all workers of this run share, filled by make(folder) once."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if os.environ.get('PYTEST_XDIST_WORKER') else base
    return lambda name, make: made_once.made_once(base / 'made-once' / name, make)


@pytest.fixture(scope='session')
def recorded(made):
    """recorded(WORD...): what `tally record WORD...` recorded, once in this run: the path of a recording to be read only."""

    def find(*words):
        def record(folder):
            program = Program(BUILD / 'src' / 'cli' / 'tally', folder)
            program('record', '-o', folder / 'perf.data', *words, cwd=folder, check=0)

        return made(f'recording-{made_once.key_of(*map(str, words))}', record) / 'perf.data'

    return find


@pytest.fixture
def namespace(tally, tmp_path):
    """Runs words in a PID namespace of their own, as in a container; $TALLY is the program."""
    prefix = ['unshare', '--pid', '--mount', '--fork', '--mount-proc']
    if not shutil.which('unshare') or subprocess.run([*prefix, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('unshare makes no PID namespace here')
    environment = {**tally.environment, 'TALLY': str(tally.path)}
    return lambda *words: subprocess.run([*prefix, *words], capture_output=True, text=True, check=False, cwd=tmp_path,
                                         timeout=TIMEOUT_S, env=environment)


def wait_for(condition, seconds=TIMEOUT_S):
    """What the condition gave first that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, 'it never happened'
        time.sleep(0.01)
    return found


def cpu_seconds(pid):
    """User and system time of a process so far."""
    words = pathlib.Path(f'/proc/{pid}/stat').read_text(encoding='ascii', errors='replace').rsplit(')', 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')


def wait_for_work(pid, seconds):
    """Until the process has had so much more of a CPU, however long that takes."""
    end = cpu_seconds(pid) + seconds
    wait_for(lambda: cpu_seconds(pid) >= end)


def until_worked(pid, seconds):
    """The words of a command that ends when the process has had so much more of a CPU, or is gone."""
    code = """import os, sys, time
def used():
    words = open(f'/proc/{sys.argv[1]}/stat', errors='replace').read().rsplit(')', 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')
try:
    end = used() + float(sys.argv[2])
    while used() < end:
        time.sleep(0.01)
except OSError:
    pass"""
    return [sys.executable, '-S', '-c', code, str(pid), str(seconds)]


def child_named(parent, name):
    """The PID of a child that runs the program of this name; 0 while there is none."""
    for entry in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            comm, rest = entry.read_text(errors='replace').split('(', 1)[1].rsplit(')', 1)
        except OSError:
            continue
        if comm == name and int(rest.split()[1]) == parent:
            return int(entry.parent.name)
    return 0


def wait_for_command(recorder, name, seconds):
    """Until the command of this name, which a recorder has started, has had so much of a CPU."""
    wait_for_work(wait_for(lambda: child_named(recorder.pid, name)), seconds)


def has_open_events(pid):
    """Whether a process has opened counters."""
    try:
        return any('perf_event' in os.readlink(file) for file in pathlib.Path(f'/proc/{pid}/fd').iterdir())
    except OSError:
        return False


def bpf_programs_of(pid):
    """The numbers of the BPF programs that a process holds."""
    found = set()
    for info in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
        try:
            found.update(re.findall(r'^prog_id:\s+(\d+)', info.read_text(), re.M))
        except OSError:
            continue
    return found


def bpf_programs():
    """The numbers of all BPF programs that are loaded; skips without bpftool."""
    bpftool = shutil.which('bpftool', path=f'{os.environ["PATH"]}:/usr/sbin:/usr/local/sbin')
    if not bpftool:
        pytest.skip('bpftool is not installed')
    listed = subprocess.run([bpftool, 'prog', 'list'], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r'^(\d+):', listed, re.M))


def waits_with_counters(pid):
    """Whether all is open, and the program sleeps until something happens."""
    return has_open_events(pid) and '\nState:\tS' in pathlib.Path(f'/proc/{pid}/status').read_text()


@pytest.fixture
def open_folder():
    """A folder that every user may write to; pytest's own are closed to others."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv to become a user with a limit')
    if subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'true'], capture_output=True,
                      check=False).returncode:
        pytest.skip('this root cannot become another user (a user namespace has no other)')
    folder = pathlib.Path(tempfile.mkdtemp(prefix='tally-record-'))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def open_event_fd(kind, config, flags=0, breakpoint_type=0, address=0, length=0, pid=0, cpu=-1):
    """A descriptor of this event, on the calling process unless said otherwise, or -errno of perf_event_open."""
    libc = ctypes.CDLL(None, use_errno=True)
    # struct perf_event_attr, PERF_ATTR_SIZE_VER1: type, size, config, period, sample_type, read_format, flags, wakeup, ...
    attr = ctypes.create_string_buffer(struct.pack('=IIQQQQQIIQQ', kind, 72, config, 0, 0, 0, flags, 0, breakpoint_type,
                                                   address, length), 72)
    number = {'x86_64': 298, 'aarch64': 241, 'riscv64': 241}.get(os.uname().machine)
    if number is None:
        return 1
    fd = libc.syscall(number, attr, pid, cpu, -1, 0)
    return fd if fd >= 0 else -ctypes.get_errno()


def open_event(kind, config, flags=0):
    """errno of a perf_event_open of this event on the calling process, 0 if it works; -1: not known here."""
    fd = open_event_fd(kind, config, flags)
    if fd > 2:
        os.close(fd)
    return -1 if fd == 1 else max(-fd, 0)


PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, PERF_TYPE_BREAKPOINT = 0, 1, 5
EXCLUDE_KERNEL = 1 << 5


@pytest.fixture
def live():
    """Skips where the kernel lets nobody count, not even a task clock of one's own process."""
    error = open_event(PERF_TYPE_SOFTWARE, 1, EXCLUDE_KERNEL)
    if error:
        pytest.skip(f'perf_event_open is refused: {os.strerror(error) if error > 0 else "unknown architecture"}')


@pytest.fixture
def system_wide(live):
    """Skips where events of the whole machine are refused; probes, raw PMUs and the kernel's part of tracepoints need the same right."""
    fd = open_event_fd(PERF_TYPE_SOFTWARE, 0, pid=-1, cpu=min(os.sched_getaffinity(0)))
    if fd <= 2:
        pytest.skip(f'system-wide events are refused here: {os.strerror(-fd) if fd < 0 else "unknown architecture"}')
    os.close(fd)


@functools.cache
def why_no_breakpoints():
    """None if a breakpoint counts a write to a variable. In some virtual machines it opens and never fires."""
    cell = (ctypes.c_uint64 * 1)()
    fd = open_event_fd(PERF_TYPE_BREAKPOINT, 0, EXCLUDE_KERNEL, 2, ctypes.addressof(cell), 8)
    if fd <= 2:
        return f'hardware breakpoints are refused: {os.strerror(-fd) if fd < 0 else "unknown architecture"}'
    for _ in range(8):
        cell[0] += 1
    count, = struct.unpack('=Q', os.read(fd, 8))
    os.close(fd)
    return None if count else 'hardware breakpoints open on this machine but never fire'


@pytest.fixture
def breakpoints(live):
    """Skips where hardware breakpoints do not fire."""
    if why_no_breakpoints():
        pytest.skip(why_no_breakpoints())


@pytest.fixture
def hardware(live):
    """Skips where the machine has no hardware counters."""
    if open_event(PERF_TYPE_HARDWARE, 0, EXCLUDE_KERNEL):
        pytest.skip('no hardware counters on this machine')


@pytest.fixture
def hardware_absent(live):
    """Skips where hardware counters would change an output that was made without them."""
    if not open_event(PERF_TYPE_HARDWARE, 0, EXCLUDE_KERNEL):
        pytest.skip('this machine has hardware counters, the reference had none')


@pytest.fixture
def compare_golden(request):
    """compare_golden(NAME, TEXT) compares with tests/golden/NAME, or writes it with --update."""

    def compare(name, text):
        path = GOLDEN / name
        if request.config.getoption('--update'):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        assert path.exists(), f'{path} is missing; run pytest --update tests/e2e'
        assert text == path.read_text()

    return compare


def without_build_id_request(text):
    """What evlist -v prints, without the flag that asks for build IDs: tally and perf 7.x set it by default."""
    return text.replace(', build_id: 1', '')


def normalise_numbers(text):
    """The text with digits and runs of blanks made alike, to compare the shape of what is measured anew."""
    text = re.sub(r'0x[0-9a-f]+', '0xN', text)
    text = re.sub(r'\d[\d,]*(\.\d+)?', 'N', text)
    return re.sub(r'[ \t]+', ' ', text)


@pytest.fixture
def traces_by_bpf(tally, system_wide):
    """Skips where our BPF program cannot be loaded."""
    if os.geteuid() != 0:
        pytest.skip('tracing system calls needs root here')
    note = tally('trace', '-e', 'getpid', 'true', check=0).stderr
    if 'are read from tracepoints instead' in note:
        pytest.skip(note.strip())
