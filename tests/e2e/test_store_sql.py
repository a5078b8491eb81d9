# SPDX-License-Identifier: Apache-2.0
"""The tables of a store, in plain SQL: the examples of docs/fleet.md."""
import json
import pathlib
import re
import subprocess

import pytest

from store_server import NOW_NS, SECOND, Server, make_batch

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / 'docs' / 'fleet.md'
HOUR = 3600 * SECOND


@pytest.fixture(scope='module')
def examples():
    found = re.findall(r'^    tally query store\.db "(.*?)"$', DOCUMENT.read_text(), re.M | re.S)
    assert len(found) == 3
    return found


@pytest.fixture
def store(tally, tmp_path):
    options = tally('version', '--build-options').stdout
    for name in ('libmicrohttpd', 'sqlite'):
        if not re.search(rf'^ *{name}: \[ on', options, re.M):
            pytest.skip(f'this build has no {name}')
    with Server(tally, tmp_path / 'store.db') as server:
        for index, host in enumerate(('a', 'b', 'a')):
            server.post(make_batch(index + 1, {'host': host}, (('main;work;leaf', 3), ('main;rest', 1 + index)),
                                   begin_ns=NOW_NS + index * HOUR))
        server.post(make_batch(9, {'host': 'a'}, (('main;work', 100),), service='db'))
        yield server.store  # asked while the server runs


def ask(tally, store, query):
    """Rows as objects."""
    return json.loads(tally('query', store, '--json', query, check=0).stdout)


def test_examples(tally, store, examples):
    functions, hosts, losses = (ask(tally, store, query) for query in examples)
    assert functions == [{'function': 'leaf', 'ns': 9_000_000, 'samples': 9},
                         {'function': 'rest', 'ns': 6_000_000, 'samples': 6}]
    assert hosts == [{'host': 'a', 'ns': 106_000_000}, {'host': 'b', 'ns': 3_000_000}]
    hour = NOW_NS // HOUR
    assert losses == [{'host': 'a', 'hour': hour, 'samples': 104, 'lost': 0},
                      {'host': 'b', 'hour': hour + 1, 'samples': 5, 'lost': 0},
                      {'host': 'a', 'hour': hour + 2, 'samples': 6, 'lost': 0}]


def test_columns_are_those_of_the_document(tally, store):
    table = re.search(r'^\| table \|.*?\n\n', DOCUMENT.read_text(), re.M | re.S)[0]
    rows = [line.split('|') for line in table.splitlines()[2:] if line]
    assert len(rows) == 8
    for row in rows:
        name = re.search('`(.*)`', row[1])[1]
        columns = [word for word in re.findall('`([a-z_]+)`', row[3]) if word not in ('location_id',) or name != 'stacks']
        if name == 'locations':
            columns.remove('report')
        ask(tally, store, f'select {", ".join(dict.fromkeys(columns))} from {name}')


@pytest.mark.parametrize('statement', ["update sqlite_master set type = 'x'", 'delete from batches', 'drop view samples',
                                       'update batches set samples = 1', 'pragma writable_schema = 1'])
def test_nothing_is_written(tally, store, statement):
    answer = tally('query', store, statement)
    assert answer.returncode != 0 and re.search('not authorized|may not be modified', answer.stderr)


def test_a_time_limits_what_is_read(store):
    """By the index over begin_ns, not by reading all samples; needs the command of SQLite."""
    try:
        plan = subprocess.run(['sqlite3', f'file:{store}?mode=ro', 'explain query plan select sum(value) from samples '
                               f'where begin_ns >= {NOW_NS}'], text=True, capture_output=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip('sqlite3 is not installed')
    assert 'batches_by_begin (begin_ns>?)' in plan
    assert not re.search(r'SCAN (p|r|parts|sample_rows)\b', plan)
