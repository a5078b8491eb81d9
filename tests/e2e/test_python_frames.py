# SPDX-License-Identifier: Apache-2.0
"""Python frames in stacks that are walked in the kernel: compared with what Python itself says of its threads."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from conftest import TIMEOUT_S, until_worked, wait_for
from otlp_reader import Otlp

pytestmark = pytest.mark.usefixtures('live')

WAITING = '''
import collections, json, os, sys, threading, time, traceback

def sleeper(depth, seconds):
    if depth:
        return sleeper(depth - 1, seconds)
    end = time.time() + seconds
    while time.time() < end:
        time.sleep(0.1)

def waits_for_lock(lock, seconds):
    end = time.time() + seconds
    while time.time() < end:
        lock.acquire(timeout=0.1)

class Holder:
    def method(self, seconds):
        for _ in self.items(seconds):
            pass

    def items(self, seconds):
        end = time.time() + seconds
        while time.time() < end:
            time.sleep(0.1)
            yield 1

def by_key(x):
    time.sleep(0.1)
    return x

def sorts(seconds):
    end = time.time() + seconds
    while time.time() < end:
        sorted([1, 2], key=by_key)

def handles(seconds):
    end = time.time() + seconds
    while time.time() < end:
        try:
            raise ValueError
        except ValueError:
            (lambda: time.sleep(0.1))()

def main(seconds):
    lock = threading.Lock()
    lock.acquire()
    todo = [(sleeper, 3, seconds), (waits_for_lock, lock, seconds), (Holder().method, seconds), (sorts, seconds), (handles, seconds)]
    threads = [threading.Thread(target=function, args=args) for function, *args in todo]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 2)
    numbers = {thread.ident: thread.native_id for thread in threads}
    # Where each is most often: at the moment of a single look it may be between two waits.
    looks = {number: collections.Counter() for number in numbers.values()}
    for _ in range(20):
        for i, frame in sys._current_frames().items():
            if i in numbers:
                looks[numbers[i]][tuple((f.name, os.path.basename(f.filename), f.lineno) for f in reversed(traceback.extract_stack(frame)))] += 1
        time.sleep(0.013)
    print(json.dumps({number: look.most_common(1)[0][0] for number, look in looks.items()}))
    for thread in threads:
        thread.join()

main(3)
'''

RUNNING = '''
import os, sys, time

def leaf(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total

def by_key(x):
    return leaf(500)

def thrice(end):
    while time.process_time() < end:
        for _ in range(10):
            leaf(500)

def once(end):
    while time.process_time() < end:
        sorted([1, 2, 3, 4], key=by_key)

def recursive(n):
    if n == 0:
        leaf(4000000)
    else:
        recursive(n - 1)

def child(end):
    while time.process_time() < end:
        leaf(500)

if sys.argv[1:] == ['again']:
    leaf(4000000)
elif sys.argv[1:] == ['wait']:
    print('ready', flush=True)
    while True:
        leaf(500)
else:
    leaf(100000)  # until the interpreter is known
    time.sleep(1)
    start = time.process_time()
    thrice(start + 1.5)
    once(start + 2)
    recursive(50)
    pid = os.fork()
    if pid == 0:
        child(1)
        os._exit(0)
    os.waitpid(pid, 0)
    os.execv(sys.executable, [sys.executable, sys.argv[0], 'again'])
'''


@pytest.fixture
def python():
    """CPython 3.11, as Debian has it or wherever it is."""
    found = shutil.which('python3.11', path='/usr/bin:' + os.environ['PATH'])
    if not found:
        pytest.skip('python3.11 is not installed: it is the version whose frames are read')
    script = 'import sys; print(sys.implementation.name, sys.version_info[:2], os.path.realpath(sys.executable))'
    told = subprocess.run([found, '-c', 'import os; ' + script], capture_output=True, text=True, check=True).stdout
    if not told.startswith('cpython (3, 11)'):
        pytest.skip(f'{found} is not CPython 3.11, but {told.strip()}')
    return told.split()[-1]


@pytest.fixture
def record(tally, tmp_path):
    """record(OPTIONS, COMMAND): a recording; skips where BPF programs are refused. Maps of symbols are removed at the end."""
    data, pids = tmp_path / 'python.data', set()

    def run(*words):
        result = tally('record', *words[:-1], '-o', data, '--', *words[-1])
        if result.returncode and 'BPF' in result.stderr:
            pytest.skip(f'BPF programs are refused here: {result.stderr.splitlines()[0]}')
        assert result.returncode == 0, result.stderr
        pids.update(tally('script', '-i', data, '-F', 'pid', check=0).stdout.split())
        return data, result

    yield run
    for pid in pids:
        pathlib.Path(f'/tmp/perf-{pid}.map').unlink(missing_ok=True)


def frames_of(sample):
    """The Python frames of a sample: name, file and line, innermost first."""
    return [(name, file, int(line)) for name, file, line in re.findall(r'^\s+[0-9a-f]+ (.+)\n +(\S+\.py):(\d+)$', sample, re.M)]


def test_waits_have_the_stacks_that_python_dumps(tally, python, record, tmp_path):
    """Threads that sleep, wait for a lock, are in a generator, are called back from C and handle an exception."""
    (tmp_path / 'waiting.py').write_text(WAITING)
    data, result = record('--wall', '--wall-source', 'bpf', [python, tmp_path / 'waiting.py'])
    dump = json.loads(result.stdout)
    assert len(dump) == 5
    for tid, wanted in dump.items():
        text = tally('script', '-i', data, '--tid', tid, '-F', 'ip,sym,srcline', check=0).stdout
        seen = collections.Counter(tuple((name.split('.')[-1], file, line) for name, file, line in frames)
                                   for frames in map(frames_of, text.split('\n\n')) if frames)
        assert seen.most_common(1)[0][0] == tuple(map(tuple, wanted)), (tid, seen)


@pytest.fixture
def running(python, record, tmp_path):
    (tmp_path / 'running.py').write_text(RUNNING)
    return record('-e', 'cpu-clock:u', '-F', 999, '--call-graph', 'bpf', [python, tmp_path / 'running.py'])[0]


def test_samples_have_python_frames_in_place_of_the_interpreter(tally, running):
    text = tally('script', '-i', running, '-F', 'ip,sym', check=0).stdout
    chains = [re.findall(r'^\s+[0-9a-f]+ (.+)$', block, re.M) for block in text.split('\n\n') if block.strip()]
    names = {'leaf', 'by_key', 'thrice', 'once', 'recursive', 'child', '<module>'}
    paths = collections.Counter('>'.join(name for name in reversed(chain) if name in names) for chain in chains)
    deep = '<module>' + '>recursive' * 51 + '>leaf'
    wanted = {'<module>>thrice>leaf', '<module>>once>by_key>leaf', '<module>>child>leaf', '<module>>leaf', deep}
    assert wanted <= set(paths), paths
    # Frames that are entered or left at that moment may lack their innermost function; nothing else is possible.
    possible = {path.rsplit('>', cut)[0] for path in wanted for cut in range(path.count('>') + 1)} | wanted | {''}
    assert not {path for path in paths if path not in possible and '<module>><module>' not in path}, paths
    # The interpreter itself is not a frame, but where it begins or ends a call.
    assert not [chain for chain in chains if '_PyEval_EvalFrameDefault' in chain[1:] and '<module>' in chain]
    # C's frames are between those of Python.
    callbacks = [chain for chain in chains if 'by_key' in chain and 'once' in chain]
    assert callbacks and all(chain.index('once') - chain.index('by_key') > 1 for chain in callbacks)
    thrice, once = (sum(n for path, n in paths.items() if f'>{name}' in path) for name in ('thrice', 'once'))
    assert 0.65 < thrice / (thrice + once) < 0.85, paths  # 1.5 s and 0.5 s of CPU time


def test_views_show_functions_and_lines(tally, perf, newest_perf, running, tmp_path):
    report = tally('report', '--stdio', '--no-children', '-g', 'none', '-s', 'sym,srcline', '-i', running, check=0).stdout
    assert re.search(r' leaf +running\.py:7\b', report), report
    for other in perf, newest_perf:
        assert re.search(r'py::leaf:\S+/running\.py:4', other('report', '--stdio', '-g', 'none', '-i', running, check=0).stdout)
    packed = tmp_path / 'packed.data'
    tally('pack', '-i', running, '-o', packed, check=0)
    for pid in set(tally('script', '-i', running, '-F', 'pid', check=0).stdout.split()):
        pathlib.Path(f'/tmp/perf-{pid}.map').unlink(missing_ok=True)
    again = tally('report', '--stdio', '--no-children', '-g', 'none', '-s', 'sym,srcline', '-i', packed, check=0).stdout
    assert re.search(r' leaf +running\.py:7\b', again), again


def test_otlp_tells_them_from_native_frames(tally, running, tmp_path):
    tally('export', '-F', 'otlp', '-o', tmp_path / 'otlp', running, check=0)
    frames = [frame for sample in Otlp((tmp_path / 'otlp').read_bytes()).samples for frame in sample['frames']]
    assert {(frame['file'].split('/')[-1], frame['type']) for frame in frames if frame['function'] == 'leaf'} == {
        ('running.py', 'cpython')}
    assert {frame['type'] for frame in frames if frame['function'] == '_start'} == {'native'}


def test_a_link_in_place_of_the_map_is_not_followed(tally, python, tmp_path):
    """Everybody may make a file in /tmp."""
    (tmp_path / 'running.py').write_text(RUNNING)
    kept = tmp_path / 'kept'
    kept.write_text('mine\n')
    process = subprocess.Popen([python, tmp_path / 'running.py', 'wait'], stdout=subprocess.PIPE, text=True)
    link = pathlib.Path(f'/tmp/perf-{process.pid}.map')
    try:
        process.stdout.readline()
        link.symlink_to(kept)
        result = tally('record', '-e', 'cpu-clock:u', '--call-graph', 'bpf', '-p', process.pid, '-o', tmp_path / 'p.data', '--',
                       *until_worked(process.pid, 0.2))
        if result.returncode and 'BPF' in result.stderr:
            pytest.skip(f'BPF programs are refused here: {result.stderr.splitlines()[0]}')
        assert kept.read_text() == 'mine\n'
        assert re.search(r'Python functions have no names: the map of their process \(/tmp/perf-PID\.map\) cannot be written', result.stderr)
    finally:
        link.unlink(missing_ok=True)
        process.kill()
        process.wait()
        process.stdout.close()


# Another session that records the whole machine would write the map of this process, too.
@pytest.mark.alone
def test_top_leaves_no_map(tally, python, tmp_path):
    (tmp_path / 'running.py').write_text(RUNNING)
    process = subprocess.Popen([python, tmp_path / 'running.py', 'wait'], stdout=subprocess.PIPE, text=True)
    made = pathlib.Path(f'/tmp/perf-{process.pid}.map')
    made.unlink(missing_ok=True)  # of an older process with this number
    shown = tmp_path / 'shown'
    with shown.open('w', encoding='utf-8') as out:
        top = subprocess.Popen([tally.path, 'top', '--stdio', '-e', 'cpu-clock:u', '--call-graph', 'bpf', '-d', '1', '-p', str(process.pid)],
                               env=tally.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: ' leaf' in shown.read_text(encoding='utf-8') or top.poll() is not None)
        if top.poll() is not None:
            error = top.stderr.read()
            assert 'BPF' in error, error
            pytest.skip(f'BPF programs are refused here: {error.splitlines()[0]}')
        assert made.exists()
        top.send_signal(signal.SIGINT)
        top.wait(TIMEOUT_S)
        assert not made.exists()
    finally:
        for each in top, process:
            each.kill()
            each.wait()
        top.stderr.close()
        process.stdout.close()
