# SPDX-License-Identifier: Apache-2.0
"""A store on ClickHouse: the tests of stores on a server, and tables that plain SQL can read."""
import json
import os
import re
import signal
import subprocess
import threading

import pytest

from clickhouse import ClickHouse
from conftest import BUILD, TIMEOUT_S, wait_for
from page_recordings import sampled
from store_server import NOW_NS, SECOND, Server, make_batch

SCHEMA = BUILD.parent / 'src/store/clickhouse_schema.sql'


@pytest.fixture(autouse=True)
def needs_server(tally):
    options = tally('version', '--build-options').stdout
    for name in ('libmicrohttpd', 'libcurl', 'sqlite'):
        if not re.search(rf'^ *{name}: \[ on', options, re.M):
            pytest.skip(f'this build has no {name}')


@pytest.fixture(name='server', scope='module')
def fixture_server(tmp_path_factory):
    with ClickHouse(tmp_path_factory.mktemp('server')) as server:
        yield server


def test_stores_are_the_same_on_a_server(server):
    """The unit tests of stores, each in a database of its own."""
    program = BUILD / 'tests/unit/test_store'
    if not program.exists():
        pytest.skip('the unit tests were not built')
    result = subprocess.run([program, 'store'], env={**os.environ, 'TALLY_TEST_CLICKHOUSE': server.place}, capture_output=True,
                            text=True, timeout=5 * TIMEOUT_S, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    databases = [name for name in server.ask('SHOW DATABASES').split() if name.startswith('t_')]
    assert len(databases) >= 16
    tables = [line.split()[5] for line in SCHEMA.read_text(encoding='utf-8').splitlines() if line.startswith('CREATE')]
    for database in databases:
        assert set(tables) == set(server.ask('SHOW TABLES', database).split())
    batches = [server.ask('SELECT count() FROM batches', database) for database in databases]
    assert sum(map(int, batches)) > 30


QUERIES = ({}, {'query': 'service="api"'}, {'query': 'host=~"a|b" and not service="api"'}, {'event': 'cycles'},
           {'until': NOW_NS + 30 * SECOND}, {'query': 'release="1.4"'}, {'query': 'nothing="x"'})


def answers(server):
    """All that two stores must agree in, by query and form."""
    found = {}
    for number, arguments in enumerate(QUERIES):
        found[number, 'folded'] = server.folded(**arguments)
        found[number, 'counts'] = server.folded(count=1, **arguments)
        for page in ('labels', 'labels/host', 'labels/service', 'events'):
            found[number, page] = server.get_json(f'/api/v1/{page}', **arguments)
        found[number, 'load'] = server.get_json('/api/v1/load', **{
            'from': NOW_NS, 'until': NOW_NS + 120 * SECOND, 'step': '10s', **arguments})
    return found


def test_both_databases_give_the_same_answers(tally, tmp_path, server):
    """Batches of agents and a pushed recording: the same numbers, which are report's for the recording."""
    sampled(tmp_path / 'perf.data', lambda i: 100 + i)
    place = f'clickhouse://{server.place}/agree'
    with Server(tally, tmp_path / 'store.db') as one, Server(tally, place) as other:
        for store in (one, other):
            for number in range(1, 25):
                batch = make_batch(number, {'host': 'abc'[number % 3], 'zone': 'eu'},
                                   (('main;work', number), ('main;rest;sleep', 2)), NOW_NS + number * 5 * SECOND,
                                   ('api', 'db')[number % 2], ('cpu-clock', 'cycles')[number % 5 == 0])
                status, receipt = store.post(batch)
                assert (status, receipt['duplicate']) == (200, False), receipt
                status, receipt = store.post(batch)
                assert (status, receipt['duplicate']) == (200, True), receipt
            tally('push', '--to', store.url, '--label', 'release=1.4', tmp_path / 'perf.data')
        first, second = answers(one), answers(other)
        for key, value in first.items():
            assert second[key] == value, key
        assert any(first[0, 'folded']) and first[1, 'folded'] != first[0, 'folded'] and first[6, 'folded'] == {}
        tables = json.loads(tally('report', '--json', '--no-children', '-g', 'none', '-s', 'dso', '-i',
                                  tmp_path / 'perf.data', check=0).stdout)['tables']
        for table in tables:
            pushed = one.folded(query='release="1.4"', event=table['events'][0]['name'])
            assert sum(pushed.values()) == table['events'][0]['period']
            assert other.folded(query='release="1.4"', event=table['events'][0]['name']) == pushed
        assert one.metrics()['tally_store_samples'] == other.metrics()['tally_store_samples']


def columns_of(server, database, table):
    return server.ask(f"SELECT groupArray(name) FROM system.columns WHERE database = '{database}' AND table = '{table}'"
                      ).strip()[1:-1].replace("'", '')


def copy_rows(server, database, table, **changes):
    columns = chosen = columns_of(server, database, table)
    for name, value in changes.items():
        chosen = re.sub(rf'\b{name}\b', f'{value} AS {name}', chosen)
    server.ask(f'INSERT INTO {table} ({columns}) SELECT {chosen} FROM (SELECT * FROM {table} WHERE attempt > 1000)', database)


def test_unfinished_attempts_do_not_count(tally, server):
    """Rows whose batch was not entered, as a server leaves them that ends while it inserts, or that is slower than
    another one with the same batch."""
    with Server(tally, f'clickhouse://{server.place}/attempts') as store:
        for number in (1, 2):
            assert store.post(make_batch(number, samples=(('main;work', 3),)))[0] == 200
        before = store.folded(), store.get_json('/api/v1/load'), store.metrics()['tally_store_samples']
        assert sum(before[0].values()) == 6_000_000
        for table in ('samples', 'windows'):
            copy_rows(server, 'attempts', table, attempt=2 ** 64 - 1)
        assert before == (store.folded(), store.get_json('/api/v1/load'),
                          store.metrics()['tally_store_samples'])
        # Another server entered the same batches later: the smaller attempt counts.
        copy_rows(server, 'attempts', 'batches', attempt=2 ** 64 - 1)
        assert before == (store.folded(), store.get_json('/api/v1/load'),
                          store.metrics()['tally_store_samples'])


def test_attempts_of_long_ago_are_decided_once(tally, server):
    """One that was entered counts, and one that failed, or came after another, does not."""
    url = f'clickhouse://{server.place}/swept'
    with Server(tally, url) as store:
        assert store.post(make_batch(1, samples=(('main;work', 3),)))[0] == 200
        assert store.folded(count=1) == {'program;main;work': 3}
    # Attempt 7 is of another batch, 8 comes after it for the same batch, 9 was never entered.
    other = "unhex('ffffffffffffffffffffffffffffffff')"
    for attempt in (7, 8, 9):
        for table in ('samples', 'windows'):
            copy_rows(server, 'swept', table, attempt=attempt)
        copy_rows(server, 'swept', 'attempts', attempt=attempt, batch=other)
        if attempt != 9:
            copy_rows(server, 'swept', 'batches', attempt=attempt, batch=other)
    server.ask('TRUNCATE TABLE sweeps', 'swept')
    with Server(tally, url) as store:
        assert store.folded(count=1) == {'program;main;work': 6}
        assert store.metrics()['tally_store_samples'] == 6
        assert sorted(server.ask('SELECT attempt FROM void_attempts', 'swept').split()) == ['8', '9']
        assert server.ask('SELECT count() FROM attempts WHERE attempt < 10', 'swept') == '0\n'
        assert store.post(make_batch(2, samples=(('main;work', 5),)))[0] == 200
        assert store.folded(count=1) == {'program;main;work': 11}


def test_a_killed_store_or_database_loses_nothing(tally, tmp_path):
    """Batches are sent until each is acknowledged; the server is killed, and the database once."""
    with ClickHouse(tmp_path) as database:
        place = f'clickhouse://{database.place}/killed'
        for round_number in range(4):
            with Server(tally, place) as store:
                ended = threading.Event()

                def post(first=round_number * 20, store=store, ended=ended):
                    for number in range(first + 1, first + 21):
                        try:
                            store.post(make_batch(number, samples=(('main;work', number),)))
                        except OSError:
                            break
                    ended.set()
                sender = threading.Thread(target=post)
                sender.start()
                ended.wait(0.05 * round_number)
                if round_number == 2:
                    database.kill()
                    database.start()
                store.end(signal.SIGKILL)
                sender.join()
        with Server(tally, place) as store:
            for number in range(1, 81):
                status, receipt = store.post(make_batch(number, samples=(('main;work', number),)))
                assert status == 200, receipt
            assert store.folded(count=1) == {'program;main;work': 80 * 81 // 2}
            assert store.metrics()['tally_store_batches'] == 80


def test_old_days_are_removed(tally, server):
    """By whole days: what is left is still right, and the server's tables are smaller."""
    day = 86400 * SECOND
    with Server(tally, f'clickhouse://{server.place}/old') as store:
        for number in range(1, 41):
            assert store.post(make_batch(number, begin_ns=NOW_NS - number * day, samples=((f'main;f{number}', 1),)))[0] == 200
        assert sum(store.folded(count=1).values()) == 40
    with Server(tally, f'clickhouse://{server.place}/old', '--retain', '36500d') as store:
        assert sum(store.folded(count=1).values()) == 40
    with Server(tally, f'clickhouse://{server.place}/old', '--retain', '30d') as store:
        wait_for(lambda: store.metrics()['tally_removed_batches_total'] == 40)
    with Server(tally, f'clickhouse://{server.place}/old') as store:
        assert store.folded() == {}
    assert server.ask('SELECT count() FROM stacks', 'old') == '0\n'


def test_refusals_name_the_reason(tally, server):
    for url, words in (('clickhouse://127.0.0.1:1/x', 'cannot reach'), ('clickhouse:x', 'clickhouse://host'),
                       (f'clickhouse://{server.place}/a-b', 'letters, digits and _'),
                       (f'clickhouse://{server.place}/x?tls=2', 'tls=1')):
        result = tally('serve', '--store', url, '--listen', '127.0.0.1:0', check=None)
        assert result.returncode != 0 and words in result.stderr, result.stderr
    server.ask('CREATE DATABASE newer')
    server.ask('CREATE TABLE about (name String, value String) ENGINE = MergeTree() ORDER BY name', 'newer')
    server.ask("INSERT INTO about VALUES ('schema', '9'), ('id', '0123456789abcdef')", 'newer')
    result = tally('serve', '--store', f'clickhouse://{server.place}/newer', '--listen', '127.0.0.1:0', check=None)
    assert result.returncode != 0 and 'version 9 of the tables' in result.stderr
