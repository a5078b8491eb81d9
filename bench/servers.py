# SPDX-License-Identifier: Apache-2.0
"""Throughput of servers while all waits of the machine are recorded: redis by redis-benchmark, PostgreSQL by pgbench.

A recorder runs the client as its command, twice: a second in which the recorder meets the server and reads its unwind
tables, and then the run that counts. The client says how many requests or transactions it made a second. Each server has a folder and a socket of its own in a temporary folder.

usage: bench/servers.py [ROUNDS [SECONDS]]   prints what each round had
"""
import contextlib
import os
import pathlib
import pwd
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

WALL = 'tally record --wall -a'


def tool(name):
    """A program, also where Debian has those of PostgreSQL."""
    found = shutil.which(name)
    places = sorted(pathlib.Path('/usr/lib/postgresql').glob(f'*/bin/{name}'))
    if not found and not places:
        raise RuntimeError(f'waits: {name} is not installed')
    return found or str(places[-1])


def wait_until(is_true, what):
    for _ in range(300):
        if is_true():
            return
        time.sleep(0.1)
    raise RuntimeError(f'waits: {what} did not start in 30 s')


def run(command, **options):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True, capture_output=True,
                          check=False, **options)
    if done.returncode:
        raise RuntimeError(f'{" ".join(map(str, command))}: exit status {done.returncode}: {done.stderr.strip()[-300:]}')
    return done.stdout


@contextlib.contextmanager
def redis(folder):
    """The command of a client that runs for some seconds, and a function that reads its requests a second."""
    socket = folder / 'redis.sock'
    client = [tool('redis-benchmark'), '-s', socket, '-c', '20', '-d', '16', '-q', '--csv', '-t', 'get']
    command = [tool('redis-server'), '--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', folder]
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as server:
        try:
            wait_until(socket.exists, 'redis-server')

            def rate(output):
                return float(re.search(r'^"GET","([\d.]+)"', output, re.M)[1])

            a_second = rate(run([*client, '-n', '50000']))
            yield lambda seconds: [*client, '-n', str(int(a_second * seconds))], rate
        finally:
            server.terminate()


def as_postgres():
    """PostgreSQL does not run as root."""
    if os.geteuid():
        return {}
    user = pwd.getpwnam('postgres')
    return {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}


@contextlib.contextmanager
def postgres(folder, *options):
    """pgbench's own transactions, with these options; the server does not wait for the disk, so that the CPU decides."""
    who, data = as_postgres(), folder / 'data'
    if who:
        os.chown(folder, who['user'], who['group'])
    run([tool('initdb'), '-D', data, '-A', 'trust', '-U', 'bench', '--no-sync'], cwd=folder, **who)
    server = ['-D', data, '-w', '-l', folder / 'log']
    settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c synchronous_commit=off -c fsync=off " \
               '-c autovacuum=off -c max_wal_size=4GB'
    run([tool('pg_ctl'), *server, '-o', settings, 'start'], cwd=folder, **who)
    client = [tool('pgbench'), '-h', folder, '-U', 'bench']
    try:
        run([*client, '-i', '-q', '-s', '5', 'postgres'])
        yield (lambda seconds: [*client, '-c', '4', '-j', '1', '-T', str(seconds), *options, 'postgres'],
               lambda output: float(re.search(r'tps = ([\d.]+)', output)[1]))
    finally:
        run([tool('pg_ctl'), '-D', data, '-m', 'immediate', 'stop'], cwd=folder, **who)


SERVERS = {'redis-benchmark': redis, 'pgbench': postgres, 'pgbench -S': lambda folder: postgres(folder, '-S')}


def recorders(tally, perf, data):
    """What runs the client; nothing first. perf 6.1 may fail when it reads build IDs at the end, hence -B."""
    return {'undisturbed': [], WALL: [tally, 'record', '-q', '--wall', '-a', '-o', data, '--'],
            'perf record -a -e sched:sched_switch -g': [perf, 'record', '-q', '-B', '-a', '-e', 'sched:sched_switch', '-g', '-o', data,
                                                        '--'],
            'perf record -a --call-graph dwarf': [perf, 'record', '-q', '-B', '-a', '-e', 'cpu-clock', '--call-graph', 'dwarf', '-o',
                                                  data, '--']}


def twice(client, seconds):
    return ['sh', '-c', f'{shlex.join(map(str, client(1)))} >/dev/null 2>&1 && exec {shlex.join(map(str, client(seconds)))}']


def measure(tally, perf, rounds, seconds, report=lambda *_: None):
    """For each server the rates of each recorder, one a round; recorders take turns, in the opposite order every other
    round, because a database slows down as it grows. What could not be measured is a RuntimeError in place of the rates."""
    taken = {}
    for name, start in SERVERS.items():
        with tempfile.TemporaryDirectory(prefix='tally-bench-') as place:
            folder = pathlib.Path(place) / 'server'
            folder.mkdir()
            os.chmod(place, 0o755)
            data = pathlib.Path(place) / 'perf.data'
            try:
                with start(folder) as (client, rate):
                    rates = taken[name] = {recorder: [] for recorder in recorders(tally, perf, data)}
                    for number in range(rounds):
                        turns = list(recorders(tally, perf, data).items())
                        for recorder, command in turns if number % 2 == 0 else reversed(turns):
                            rates[recorder].append(rate(run([*command, *twice(client, seconds)], cwd=folder)))
                            data.unlink(missing_ok=True)
                            report(name, recorder, rates[recorder][-1])
            except (RuntimeError, KeyError) as error:
                taken[name] = RuntimeError(f'waits: {name}: {error}')
    return taken


def kept(rates, recorder):
    """The median of what each round kept of that round's undisturbed rate."""
    return statistics.median(rate / whole for rate, whole in zip(rates[recorder], rates['undisturbed']))


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    tally = root / os.environ.get('BUILD', 'build') / 'src' / 'cli' / 'tally'
    rounds, seconds = (int(word) for word in (sys.argv[1:] + ['3', '2'][len(sys.argv) - 1:])[:2])
    taken = measure(tally, os.environ.get('PERF') or tool('perf'), rounds, seconds,
                    lambda name, recorder, rate: print(f'{name:16} {recorder:42} {rate:10.0f}', flush=True))
    for name, rates in taken.items():
        if isinstance(rates, RuntimeError):
            print(rates)
            continue
        for recorder in rates:
            print(f'{name:16} {recorder:42} {kept(rates, recorder):7.1%}')


if __name__ == '__main__':
    main()
