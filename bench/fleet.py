# SPDX-License-Identifier: Apache-2.0
"""Stores of the profiles of many machines: how fast they take them, how large they become, how long questions take.

One real window of an agent is replayed as the windows of many hosts, each with all of its symbols: an agent leaves out
those that the store has, so that real ones are smaller.
"""
import importlib
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'e2e'
WINDOW_SECONDS = 10


def real_window(tally, work, environment):
    """The batch with most samples of an agent that watches a busy machine, decoded."""
    for module in ('pytest', 'google.protobuf'):
        try:
            importlib.import_module(module)
        except ModuleNotFoundError:
            raise RuntimeError(f'fleet: skipped: {sys.executable} has no module {module}') from None
    for program in ('protoc', 'zstd'):
        if not shutil.which(program):
            raise RuntimeError(f'fleet: skipped: {program} is not installed')
    sys.path.insert(0, str(TESTS))
    import batch_reader
    folder = work / 'fleet-windows'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    agent = subprocess.Popen([tally, 'agent', '--to', folder, '--window', '5'], env=environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 11
    while time.monotonic() < end and agent.poll() is None:
        subprocess.run([tally, 'version', '--build-options'], stdout=subprocess.DEVNULL, env=environment, check=False)
    agent.send_signal(signal.SIGTERM)
    _, errors = agent.communicate(timeout=60)
    found = batch_reader.batches_in(folder)
    if not found or not any(batch.count for batch in found):
        raise RuntimeError('fleet: the agent took no samples: ' + ' '.join(errors.strip().splitlines()[-1:]))
    return max(found, key=lambda batch: batch.count)


def varint(number):
    encoded = b''
    while number >= 0x80:
        encoded += bytes([number & 0x7f | 0x80])
        number >>= 7
    return encoded + bytes([number])


def contents(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def replay(batch, hosts, windows, folder, end_ns):
    """A file for each window of each host: the same batch, and behind it what differs, since the last value counts."""
    message = batch.message
    strings = list(message.strings)
    labels = [label for label in message.labels if strings[label.name] != 'host']
    del message.labels[:]
    message.labels.extend(labels)
    message.strings.append('host')
    same, name = message.SerializeToString(), len(message.strings) - 1
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for host in range(hosts):
        host_label = contents(4, f'host-{host}'.encode()) + contents(5, b'\x08' + varint(name) + b'\x10' + varint(name + 1))
        for window in range(windows):
            begin = end_ns - (windows - window) * WINDOW_SECONDS * 10 ** 9
            number = (host * windows + window).to_bytes(8, 'little')
            times = b'\x10' + varint(begin) + b'\x18' + varint(begin + WINDOW_SECONDS * 10 ** 9)
            data = same + contents(1, b'simulate' + number) + times + host_label
            (folder / f'{begin}-{number.hex()}.batch.zst').write_bytes(data)
    return len(same)


def busiest_service(batch):
    sums = {}
    for sample in batch.samples:
        service = sample['labels'].get('service', '')
        sums[service] = sums.get(service, 0) + sample['count']
    return max(sums, key=sums.get)


def run(command, environment):
    begin = time.perf_counter()
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f'fleet: {" ".join(map(str, command[1:3]))}: ' + ' '.join(done.stderr.strip().splitlines()[-1:]))
    return time.perf_counter() - begin


def measure_store(tally, url, folder, service, rounds, environment):
    """Seconds to take all batches; median seconds of a table and of a flame graph."""
    taken = run([tally, 'push', '-q', folder, '--to', url], environment)
    query = f'service="{service}"'
    asked = [['top', '--json'], ['flamegraph', '--folded', '-o', '/dev/null']]
    times = [statistics.median(run([tally, 'fleet', verb, *options, query, '--from', url, '--since', '30d'], environment)
                               for _ in range(rounds)) for verb, *options in asked]
    return taken, *times


def measure_sqlite(tally, work, folder, service, rounds, environment):
    path = work / 'fleet.db'
    for old in work.glob('fleet.db*'):
        old.unlink()
    times = measure_store(tally, f'sqlite:{path}', folder, service, rounds, environment)
    return (*times, path.stat().st_size)


def measure_clickhouse(tally, place, folder, service, rounds, environment):
    database = f'bench_{os.getpid()}'

    def ask(statement):
        return urllib.request.urlopen(f'http://{place}/', data=statement.encode(), timeout=60).read()

    try:
        times = measure_store(tally, f'clickhouse://{place}/{database}', folder, service, rounds, environment)
        return (*times, int(ask(f"select sum(bytes_on_disk) from system.parts where active and database = '{database}'")))
    finally:
        ask(f'drop database if exists {database}')


def measure(tally, work, hosts, windows, rounds, environment):
    """(facts of the window, results of SQLite, results of ClickHouse or None): CLICKHOUSE is host:port of a server."""
    batch = real_window(tally, work, environment)
    service, folder = busiest_service(batch), work / 'fleet-batches'
    facts = {'samples': batch.count, 'rows': len(batch.samples), 'service': service,
             'bytes': replay(batch, hosts, windows, folder, time.time_ns())}
    try:
        place = os.environ.get('CLICKHOUSE')
        return (facts, measure_sqlite(tally, work, folder, service, rounds, environment),
                measure_clickhouse(tally, place, folder, service, rounds, environment) if place else None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
