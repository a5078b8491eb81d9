# SPDX-License-Identifier: Apache-2.0
"""agent: batches of windows, with labels, and every sample accounted for."""
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest
from batch_reader import Batch, batches_in
from conftest import wait_for
from test_refusals import NOBODY

TOTALS = re.compile(r'\[ tally agent: (\d+) windows, (\d+) samples taken, (\d+) kept, (\d+) dropped, '
                    r'(\d+) lost by the kernel \]')


class Agent:
    """A running agent, which writes what it says into a file."""

    def __init__(self, command, tmp_path, env=None):
        self.errors = tmp_path / 'agent-errors'
        with open(self.errors, 'wb') as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=tmp_path, env=env)

    def said(self):
        return self.errors.read_text(errors='replace')

    def end(self):
        """The figures of its last line."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.said()
        return [int(word) for word in TOTALS.search(self.said()).groups()]


@pytest.fixture
def agent(tally, tmp_path):
    running = []

    def start(*arguments, prefix=(), env=None):
        running.append(Agent([*prefix, tally.path, 'agent', *map(str, arguments)], tmp_path,
                             {**os.environ, **(env or {})}))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def deep(live, workload):
    # Busy for about 10 % of the time: enough for some samples in each window.
    process = subprocess.Popen([workload('deep').path, '100000000', '15000'], stdout=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait()


def files(folder):
    return list(pathlib.Path(folder).glob('*.batch.zst')) if pathlib.Path(folder).exists() else []


def wait_for_batches(folder, is_enough):
    """Until is_enough(batches); they are read only when there are more."""
    def look():
        if len(files(folder)) == looked_at[0]:
            return False
        looked_at[0] = len(files(folder))
        return is_enough(batches_in(folder))

    looked_at = [0]
    wait_for(look)


def test_windows_have_all_samples(agent, deep, tmp_path, system_wide):
    folder = tmp_path / 'batches'
    one = agent('--to', folder, '--window', '1', '-F', '199', '--max-cpu', '1000', '--max-memory', '4G', '--label',
                'region=eu', '--label', 'host=here')

    def running_samples(batches):
        return [sample for batch in batches for sample in batch.samples
                if sample['pid'] == deep.pid and sample['event'].startswith('cpu-clock')]

    wait_for_batches(folder, lambda batches: len(batches) >= 3 and sum(
        sample['count'] for sample in running_samples(batches)) > 10)
    windows, taken, kept, dropped, lost = one.end()
    batches = batches_in(folder)
    assert windows == len(batches) >= 4 and dropped == 0
    assert sum(batch.count for batch in batches) == kept
    assert kept + sum(batch.losses.lost_samples for batch in batches) == taken + lost
    assert len({batch.id for batch in batches}) == len(batches)
    for before, batch in zip(batches, batches[1:]):
        assert before.begin < before.end == batch.begin
    for batch in batches:
        assert batch.labels['region'] == 'eu' and batch.labels['host'] == 'here'
        assert batch.labels['kernel'] == os.uname().release and batch.labels['arch'] == os.uname().machine
        assert batch.losses.own_cpu_ns > 0 and batch.losses.own_bytes > 0 and batch.losses.frequency_hz == 199
    mine = [sample for batch in batches for sample in batch.samples if sample['pid'] == deep.pid]
    running = running_samples(batches)
    assert all(sample['comm'] == sample['labels']['process'] == 'deep' for sample in mine)
    assert all(sample['labels']['service'] for sample in mine)
    assert sum(sample['value'] for sample in running) == sum(sample['count'] for sample in running) * (10**9 // 199)
    assert any(sample['stack'][:2] == ['leaf', 'level1'] or 'leaf' in sample['stack'] for sample in running)


@pytest.mark.alone
def test_long_waits_count_in_each_window(agent, tmp_path, live, system_wide):
    """A thread that sleeps all the time has as much of each window as the window is long."""
    folder = tmp_path / 'batches'
    with subprocess.Popen(['sleep', '1000']) as sleeper:
        try:
            one = agent('--to', folder, '--window', '1', '--max-cpu', '1000', '--max-memory', '4G')
            wait_for(lambda: len(files(folder)) >= 6)
            one.end()
            if 'waits are measured' not in one.said():
                pytest.skip('BPF programs are refused here')
        finally:
            sleeper.kill()
    batches = batches_in(folder)
    slept = [sum(sample['value'] for sample in batch.samples if sample['pid'] == sleeper.pid and sample['is_waiting'])
             for batch in batches]
    # Its part of the first window begins when waits began to be measured.
    assert all(slept[1:]), slept
    whole = batches[-1].end - batches[1].begin
    assert 0.9 * whole < sum(slept[1:]) < 1.1 * whole + 10**9, (slept, whole)
    stacks = [sample['stack'] for batch in batches[1:] for sample in batch.samples if sample['pid'] == sleeper.pid]
    assert all('clock_nanosleep' in ' '.join(stack) for stack in stacks), stacks[:3]


def test_disk_full(agent, deep, tmp_path, system_wide):
    """What a folder has no room for is dropped, and the next batch says how much that was."""
    folder = tmp_path / 'small'
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], check=False,
                                           stderr=subprocess.DEVNULL).returncode:
        pytest.skip('no file system can be mounted here')
    try:
        ballast = folder / 'ballast'
        one = agent('--to', folder, '--window', '1', '-F', '99', '--no-wait')
        wait_for(lambda: len(files(folder)) >= 1)
        with open(ballast, 'wb', buffering=0) as full:
            try:
                while full.write(bytes(4096)):
                    pass
            except OSError:
                pass
        wait_for(lambda: 'No space left' in one.said())
        ballast.unlink()
        count = len(files(folder))
        wait_for(lambda: len(files(folder)) >= count + 2)
        _, taken, kept, dropped, lost = one.end()
        batches = batches_in(folder)
        assert sum(batch.losses.dropped_batches for batch in batches) > 0
        assert sum(batch.losses.dropped_samples for batch in batches) == dropped
        assert sum(batch.count for batch in batches) == kept
        assert kept + dropped + sum(batch.losses.lost_samples for batch in batches) == taken + lost
        assert not list(folder.glob('*.tmp'))
    finally:
        subprocess.run(['umount', folder], check=True)


class Store:
    """A server that keeps batches in memory. behave(batch) says what is answered: 'store', 'lose' (store it, and end the
    connection without an answer), a status, 'lacks' (symbols), or (status, headers, body)."""

    def __init__(self, port=0):
        self.batches, self.order, self.requests, self.deliveries = {}, [], [], 0
        self.behave = lambda batch: 'store'
        self.ahead_s = 0  # its clock, of this machine's
        self.token, self.id = None, '0123456789abcdef' * 2
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', port), self.handler())
        self.server.daemon_threads = True
        self.server.handle_error = lambda *request: None  # agents are killed in the middle of requests
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def handler(self):
        store = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                store.requests.append((self.path, dict(self.headers)))
                if store.token and self.headers.get('Authorization') != f'Bearer {store.token}':
                    return self.answer(401, {'error': 'a token is needed'})
                batch = Batch(body)
                store.deliveries += 1
                act = store.behave(batch)
                if act in ('store', 'lose'):
                    is_new = batch.id not in store.batches
                    if is_new:
                        store.batches[batch.id] = batch
                        store.order.append(batch)
                    if act == 'lose':
                        self.close_connection = True
                        return self.connection.close()
                    return self.answer(200, {'stored': is_new, 'duplicate': not is_new, 'samples': batch.count,
                                             'lacks_symbols': False, 'store': store.id})
                if act == 'lacks':
                    return self.answer(200, {'stored': False, 'duplicate': False, 'samples': 0, 'lacks_symbols': True,
                                             'store': store.id})
                if isinstance(act, tuple):  # as something else in the server's place answers
                    return self.send(*act)
                return self.answer(act, {'error': f'the test says {act}'})

            def answer(self, status, members):
                headers = {'Content-Type': 'application/json', **({'Retry-After': '1'} if status == 503 else {})}
                self.send(status, headers, json.dumps(members).encode())

            def send(self, status, headers, body):
                self.send_response(status)
                for name, value in {**headers, 'Content-Length': str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def date_time_string(self, timestamp=None):
                return super().date_time_string(time.time() + store.ahead_s)

            def log_message(self, *arguments):
                pass

        return Handler


@pytest.fixture
def store():
    one = Store()
    yield one
    one.close()


QUICK = ['--window', '1', '-F', '99', '--no-wait', '--max-cpu', '1000', '--max-memory', '4G']
SENT = re.compile(r'\[ tally agent: (\d+) batches with (\d+) samples sent, (\d+) with (\d+) wait in ')


def sums(batches):
    """Samples in the batches, and what they report as dropped and as lost."""
    return (sum(batch.count for batch in batches), sum(batch.losses.dropped_samples for batch in batches),
            sum(batch.losses.lost_samples for batch in batches))


def sending(one):
    """Batches and samples that an agent that has ended says it sent, and those that wait in its queue."""
    return [int(word) for word in SENT.search(one.said()).groups()]


def left_out(batch):
    return sum(location.symbols_left_out for location in batch.message.locations)


def test_server(agent, deep, store, tmp_path, system_wide):
    """Sent once, in order, with the token, and with symbols that the store has left out."""
    store.token = 'sesame'
    (tmp_path / 'token').write_text('sesame\n')
    one = agent('--to', store.url + '/', '--queue', tmp_path / 'queue', '--token-file', tmp_path / 'token', *QUICK)
    wait_for(lambda: len(store.order) >= 4)
    windows, taken, kept, dropped, lost = one.end()
    sent, sent_samples, waiting, waiting_samples = sending(one)
    assert (sent + waiting, sent_samples + waiting_samples) == (windows, kept)
    assert [batch.begin for batch in store.order] == sorted(batch.begin for batch in store.order)
    assert len(store.order) == sent == store.deliveries and dropped == 0
    count, _, lost_there = sums(store.order)
    assert count == sent_samples and (waiting or count + lost_there == taken + lost)
    path, headers = store.requests[0]
    assert path == '/api/v1/batches' and headers['Content-Type'] == 'application/x-protobuf'
    assert headers['User-Agent'].startswith('tally/')
    assert left_out(store.order[0]) == 0 and all(left_out(batch) > 0 for batch in store.order[1:])
    assert len(list((tmp_path / 'queue').glob('*.batch*'))) == waiting


def test_symbols_that_a_store_lacks(agent, deep, store, tmp_path, system_wide):
    one = agent('--to', store.url, '--queue', tmp_path / 'queue', *QUICK)
    store.behave = lambda batch: 'store' if len(store.order) < 2 or not left_out(batch) else 'lacks'
    wait_for(lambda: len(store.order) >= 4)
    one.end()
    assert left_out(store.order[1]) > 0
    assert all(left_out(batch) == 0 for batch in store.order[2:3])


def test_server_that_is_away_or_busy(agent, deep, store, tmp_path, system_wide):
    """Refused connections, 503 and answers that are lost: everything arrives, and is counted once."""
    port = store.server.server_address[1]
    store.close()
    one = agent('--to', store.url, '--queue', tmp_path / 'queue', *QUICK)
    wait_for(lambda: 'wait in the queue' in one.said() and len(list((tmp_path / 'queue').iterdir())) >= 4)
    again = Store(port)
    try:
        acts = iter([503, 'lose', 429, 'lose'])
        again.behave = lambda batch: next(acts, 'store')
        wait_for(lambda: again.deliveries >= 6 and len(again.order) >= 4, 120)
        windows, taken, kept, dropped, lost = one.end()
        count, dropped_there, lost_there = sums(again.order)
        sent, sent_samples, waiting, waiting_samples = sending(one)
        assert dropped == dropped_there == 0 and sent + waiting == windows and len(again.order) >= sent
        assert again.deliveries > len(again.order)
        assert sent_samples + waiting_samples == kept
        assert waiting or (count == kept and count + lost_there == taken + lost)
        assert 'batches are being sent again' in one.said()
    finally:
        again.close()


def test_batches_that_are_refused(agent, deep, store, tmp_path, system_wide):
    """They are dropped, the server's sentence is told once, and later batches report them."""
    refused = []

    def behave(batch):
        if len(refused) < 2:
            refused.append(batch)
            return 400
        return 'store'

    store.behave = behave
    one = agent('--to', store.url, '--queue', tmp_path / 'queue', *QUICK)
    wait_for(lambda: len(store.order) >= 3 and sum(batch.losses.dropped_batches for batch in store.order) == 2)
    _, taken, kept, dropped, lost = one.end()
    assert one.said().count('the test says 400') == 1
    count, dropped_there, lost_there = sums(store.order)
    _, _, waiting, waiting_samples = sending(one)
    assert dropped == dropped_there == sum(batch.count for batch in refused) == kept - count - waiting_samples
    assert sum(batch.losses.dropped_batches for batch in store.order) == 2
    assert waiting or count + dropped_there + lost_there == taken + lost


def test_clocks_that_differ_are_told(agent, deep, store, tmp_path, system_wide):
    store.ahead_s = -3600
    one = agent('--to', store.url, '--queue', tmp_path / 'queue', *QUICK)
    wait_for(lambda: re.search(r'clock of this machine is 3[56]\d\d s ahead of that of http://127', one.said()))
    store.ahead_s = 600
    wait_for(lambda: re.search(r'clock of this machine is [56]\d\d s behind that of http://127', one.said()))
    store.ahead_s = 0
    wait_for(lambda: 'agrees with that of http://127' in one.said())
    one.end()


@pytest.mark.parametrize('status', [302, 404])
def test_answers_that_are_not_about_the_batch(agent, deep, store, tmp_path, system_wide, status):
    """A proxy may answer in the server's place, for a while: nothing is dropped, and its answer is told."""
    answers = [(status, {'Location': 'https://me:Sesame77@login.example.com/'}, b'<html>')]
    store.behave = lambda batch: answers[0] if answers else 'store'
    one = agent('--to', store.url, '--queue', tmp_path / 'queue', *QUICK)
    wait_for(lambda: f'the server answered {status}' in one.said())
    answers.clear()
    wait_for(lambda: len(store.order) >= 2)
    _, _, kept, dropped, _ = one.end()
    assert dropped == 0 and 'are dropped' not in one.said()
    assert 'Sesame77' not in one.said() and (status != 302 or 'a redirect to https://***@login' in one.said())
    count, dropped_there, _ = sums(store.order)
    assert dropped_there == 0 and count + sending(one)[3] == kept


def test_wrong_token(agent, deep, store, tmp_path, system_wide):
    """Nothing is dropped, and the reason is told."""
    store.token = 'sesame'
    one = agent('--to', store.url, '--queue', tmp_path / 'queue', *QUICK, env={'TALLY_TOKEN': 'wrong'})
    wait_for(lambda: 'a token is needed' in one.said())
    windows, _, kept, dropped, _ = one.end()
    assert sending(one) == [0, 0, windows, kept] and dropped == 0
    again = agent('--to', store.url, '--queue', tmp_path / 'queue', *QUICK, env={'TALLY_TOKEN': 'sesame'})
    wait_for(lambda: len(store.order) > windows)
    again.end()


@pytest.mark.parametrize('kills', [2, pytest.param(10, marks=pytest.mark.long)])
def test_killed_again_and_again(agent, deep, store, tmp_path, system_wide, kills):
    """What has left the rings for the queue arrives, once: after each kill the next agent sends it."""
    queue, seen = tmp_path / 'queue', set()
    acts = iter(['store', 'lose', 503] * 100)

    def behave(batch):
        seen.add(batch.id)
        return next(acts)

    store.behave = behave
    for _ in range(kills):
        # Each sends what the one before left, and then a batch that nobody has sent before.
        count = len(seen)
        one = agent('--to', store.url, '--queue', queue, *QUICK)
        wait_for(lambda: len(seen) > count or one.process.poll() is not None)
        assert one.process.poll() is None, one.said()
        one.process.kill()
        one.process.wait()
    store.behave = lambda batch: 'store'
    one = agent('--to', store.url, '--queue', queue, *QUICK)
    count = store.deliveries
    wait_for(lambda: store.deliveries >= count + 2 and len(store.order) >= 3)
    one.end()
    # An agent that ends may leave its last batches to the next one; nothing older is left.
    left = [Batch(path.read_bytes()) for path in queue.iterdir() if '.batch' in path.name]
    assert len(left) == sending(one)[2] and not {batch.id for batch in left} & {batch.id for batch in store.order}
    assert all(batch.begin >= store.order[-1].begin for batch in left)
    assert len({batch.id for batch in store.order}) == len(store.order) >= 3
    assert sums(store.order)[1] == 0
    windows = sorted((batch.begin, batch.end) for batch in store.order)
    assert all(before[1] <= after[0] for before, after in zip(windows, windows[1:]))
    # Only a kill leaves a gap between windows: none of those that were in the queue is missing.
    assert sum(before[1] < after[0] for before, after in zip(windows, windows[1:])) <= kills


@pytest.mark.parametrize('arguments, why', [
    ([], '--to is missing'),
    (['--to', 'ftp://x'], "'ftp://x' is no URL of a server"),
    (['--to', 'x', '--window', '0'], '--window takes seconds'),
    (['--to', 'x', '--label', 'a'], 'expects NAME=VALUE'),
    (['--to', 'x', '--label', '1a=b'], 'takes names of letters'),
    (['--to', 'x', '--label', 'a=\n'], 'takes values of UTF-8'),
    (['--to', 'x', '--label', 'a=b', '--label', 'a=c'], "'a'"),
    (['--to', 'x', '--max-cpu', '0'], 'expects a percentage'),
    (['--to', 'x', '--max-memory', '100'], 'expects a size'),
    (['--to', 'x', '--token-file', '/nonexistent'], '/nonexistent'),
    (['--to', '/dev/null/x'], '/dev/null'),
    (['--to', 'x', 'word'], "unexpected argument 'word'"),
])
def test_refusals(tally, tmp_path, arguments, why):
    made = tally('agent', *arguments, cwd=tmp_path)
    assert made.returncode not in (0, 1) and why in made.stderr
    assert not files(tmp_path / 'x')


def test_own_processes_with_less_rights(agent, tally, open_folder, workload):
    if os.geteuid() != 0 or int(pathlib.Path('/proc/sys/kernel/perf_event_paranoid').read_text()) < 1:
        pytest.skip('takes root, and a kernel that refuses events of all CPUs to others')
    program = open_folder / 'tally'
    program.write_bytes(tally.path.read_bytes())
    program.chmod(0o755)
    busy = open_folder / 'busy'
    busy.write_bytes(workload('spin').path.read_bytes())
    busy.chmod(0o755)
    folder = open_folder / 'batches'
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    mine = subprocess.Popen([*NOBODY, busy, '100000000'], cwd=open_folder, stdout=subprocess.DEVNULL)
    try:
        one = Agent([*NOBODY, program, 'agent', '--to', folder, '--window', '1', '-F', '99'], open_folder)
        try:
            wait_for_batches(folder, lambda batches: any(sample['pid'] == mine.pid for batch in batches
                                                         for sample in batch.samples))
        finally:
            one.process.send_signal(signal.SIGTERM)
            assert one.process.wait(60) == 0
        assert 'sampling your own processes' in one.said()
        assert 'waits are not measured' in one.said()
    finally:
        mine.kill()
        mine.wait()


def test_unit_has_the_capabilities_that_it_takes(tally, open_folder, system_wide):
    """As the service runs: by a user without other rights, all CPUs, names of the kernel's functions, other users' processes."""
    unit = (pathlib.Path(__file__).parents[2] / 'contrib' / 'tally-agent.service.in').read_text()
    names = re.search('^AmbientCapabilities=(.*)', unit, re.M)[1].split()
    assert names == re.search('^CapabilityBoundingSet=(.*)', unit, re.M)[1].split()
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('takes root and setpriv')
    program = open_folder / 'tally'
    program.write_bytes(tally.path.read_bytes())
    program.chmod(0o755)
    folder = open_folder / 'batches'
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    sets = ','.join(['-all'] + ['+' + name[4:].lower() for name in names])
    as_service = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs',
                  f'--bounding-set={sets}', f'--inh-caps={sets}', f'--ambient-caps={sets}']
    if subprocess.run([*as_service, 'true'], check=False, stderr=subprocess.DEVNULL).returncode:
        pytest.skip('setpriv cannot give these capabilities here')
    mine = subprocess.Popen(['sh', '-c', 'while :; do read x < /proc/self/stat; done'])
    try:
        one = Agent([*as_service, program, 'agent', '--to', folder, *QUICK], open_folder)
        try:
            wait_for_batches(folder, lambda batches: os.uname().machine != 'x86_64' or any(
                sample['pid'] == mine.pid and 'do_syscall_64' in sample['stack']
                for batch in batches for sample in batch.samples))
        finally:
            one.process.send_signal(signal.SIGTERM)
            assert one.process.wait(60) == 0
        assert 'sampling your own processes' not in one.said()
    finally:
        mine.kill()
        mine.wait()
