# SPDX-License-Identifier: Apache-2.0
"""A store on ClickHouse: the tests of stores on a server, and tables that plain SQL can read."""
import os
import subprocess

import pytest

from clickhouse import ClickHouse
from conftest import BUILD, TIMEOUT_S

SCHEMA = BUILD.parent / 'src/store/clickhouse_schema.sql'


@pytest.fixture(name='server', scope='module')
def fixture_server(tmp_path_factory):
    with ClickHouse(tmp_path_factory.mktemp('server')) as server:
        yield server


def test_stores_are_the_same_on_a_server(server):
    """The unit tests of stores, each in a database of its own."""
    program = BUILD / 'tests/unit/test_store_store'
    if not program.exists():
        pytest.skip('the unit tests were not built')
    result = subprocess.run([program], env={**os.environ, 'TALLY_TEST_CLICKHOUSE': server.place}, capture_output=True,
                            text=True, timeout=5 * TIMEOUT_S, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    databases = [name for name in server.ask('SHOW DATABASES').split() if name.startswith('t_')]
    assert len(databases) >= 16
    tables = [line.split()[5] for line in SCHEMA.read_text(encoding='utf-8').splitlines() if line.startswith('CREATE')]
    for database in databases:
        assert set(tables) == set(server.ask('SHOW TABLES', database).split())
    batches = [server.ask('SELECT count() FROM batches', database) for database in databases]
    assert sum(map(int, batches)) > 30
