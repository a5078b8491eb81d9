# SPDX-License-Identifier: Apache-2.0
"""Root with a user's HOME leaves nothing of its own there."""
import os
import shutil

import pytest


@pytest.fixture
def users_home(live, tmp_path):
    """A folder of another user's, and where root's own caches are kept aside meanwhile."""
    if os.geteuid() != 0:
        pytest.skip('not root')
    home = tmp_path / 'user'
    home.mkdir()
    os.chown(home, 65534, 65534)
    return home


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob('*'))


@pytest.mark.parametrize('variable', [None, 'XDG_CACHE_HOME'])
def test_roots_caches_are_not_in_a_users_home(tally, users_home, workload, tmp_path, variable):
    """record fills ~/.debug and report ~/.cache: both are root's own then, where the password file says."""
    environment = {'HOME': str(users_home)}
    if variable:
        environment[variable] = str(users_home / 'cache')
    shutil.copy(workload('spin').path, tmp_path / 'program')
    tally('record', '-q', '-e', 'cpu-clock:u', '-o', 'x.data', '--', './program', '100', cwd=tmp_path, env=environment, check=0)
    tally('report', '--stdio', '-s', 'srcline', '-i', 'x.data', cwd=tmp_path, env=environment, check=0)
    assert everything(users_home) == []
    assert 'spin' in tally('report', '--stdio', '-i', 'x.data', cwd=tmp_path, env=environment, check=0).stdout
    os.chown(users_home, 0, 0)
    tally('record', '-q', '-e', 'cpu-clock:u', '-o', 'x.data', '--', './program', '100', cwd=tmp_path, env=environment, check=0)
    assert any(path.startswith('.debug/') for path in everything(users_home))


def test_the_command_keeps_its_home(tally, users_home, tmp_path):
    result = tally('record', '-q', '-N', '-e', 'cpu-clock:u', '-o', 'x.data', '--', 'sh', '-c', 'echo $HOME', cwd=tmp_path,
                   env={'HOME': str(users_home)}, check=0)
    assert result.stdout.strip() == str(users_home)
