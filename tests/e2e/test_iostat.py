# SPDX-License-Identifier: Apache-2.0
"""tally iostat: a made tree of sysfs in a mount namespace of its own, whose units count CPU time."""
import json
import os
import pathlib
import subprocess

import json_schema
import pytest
from conftest import wait_for

BIND = ('mount --bind /sys/devices/system devices/system && mount --rbind devices /sys/devices && '
        'mount --bind pmus /sys/bus/event_source/devices || exit 99; exec "$@"')


@pytest.fixture
def iostat(tally, tmp_path):
    """iostat(WORDS) on a machine of two units and two dies; the second die has no CPUs."""
    if os.geteuid() != 0:
        pytest.skip('a made /sys needs root')
    (tmp_path / 'devices/system').mkdir(parents=True)
    for unit, ports in ((0, ['0000:00', '0000:80']), (1, ['0000:3a'])):
        for die, port in enumerate(ports):
            file = tmp_path / f'devices/uncore_iio_{unit}/die{die}'
            file.parent.mkdir(exist_ok=True)
            file.write_text(port + '\n')
        pmu = tmp_path / f'pmus/uncore_iio_{unit}'
        (pmu / 'format').mkdir(parents=True)
        (pmu / 'type').write_text('1\n')  # software events; the terms do not matter to cpu-clock, which is config 0
        (pmu / 'cpumask').write_text('0\n')
        for bit, term in enumerate(('event', 'umask', 'ch_mask', 'fc_mask')):
            (pmu / 'format' / term).write_text(f'config1:{8 * bit}-{8 * bit + 7}\n')

    def run(*words, verb='iostat'):
        result = subprocess.run(['unshare', '-m', 'sh', '-c', BIND, 'sh', tally.path, verb, *words], cwd=tmp_path, text=True,
                                capture_output=True, check=False, env=tally.environment, timeout=300)
        if 'unshare' in result.stderr or result.returncode == 99:
            pytest.skip(f'no mount namespace here: {result.stderr}')
        return result

    return run


def test_ports_are_listed(iostat):
    result = iostat('list')
    assert result.stdout == 'S0-uncore_iio_0<0000:00>\nS1-uncore_iio_0<0000:80>\nS0-uncore_iio_1<0000:3a>\n', result.stderr


def test_traffic_is_counted(iostat):
    result = iostat('0:3a,0000:80', '--', 'sh', '-c', 'echo written; exit 3')
    assert result.returncode == 3 and result.stdout == 'written\n'
    failed, *lines = result.stderr.splitlines()
    assert failed == 'tally: 1 of 1 runs failed: exit status 3'
    assert lines[1] == " Performance counter stats for 'system wide':"
    assert lines[3].split('  ')[0] == '' and 'Inbound Read(MB)    Inbound Write(MB)    Outbound Read(MB)' in lines[3]
    if '<not counted>' in lines[4]:
        pytest.skip('this kernel does not count the made events')
    assert lines[4].split() == ['0000:3a', '0', '0', '0', '0']
    assert lines[5].split() == ['0000:80', *['<not', 'counted>'] * 4] and 'seconds time elapsed' in result.stderr


def test_stat_has_it_as_an_option(iostat, tally):
    assert iostat('--iostat=list', '--', 'touch', 'made', verb='stat').stdout == iostat('list').stdout
    result = iostat('-a', '--iostat=0:3a', 'sh', '-c', 'echo written; exit 3', verb='stat')
    assert result.returncode == 3 and result.stdout == 'written\n' and 'Inbound Read(MB)' in result.stderr
    assert '0000:3a' in result.stderr and '0000:80' not in result.stderr
    assert '0000:80' in iostat('--iostat', '--', 'true', verb='stat').stderr
    for words in (['-x,'], ['-e', 'cpu-clock'], ['-I', '1000']):
        assert "--iostat goes with no other option than -a, and not with '" + words[0] in \
            tally('stat', *words, '--iostat', 'true', check=129).stderr


def test_json(iostat):
    found = json.loads(iostat('--json', '--', 'sleep', '0.2').stdout)
    json_schema.check(found, json.loads((pathlib.Path(__file__).parents[2] / 'docs/schema/iostat.json').read_text()))
    assert [port['port'] for port in found['ports']] == ['0000:00', '0000:80', '0000:3a']
    assert 'inbound_read_mb' not in found['ports'][1]
    listed = json.loads(iostat('--json', 'list').stdout)
    assert listed['ports'][2] == {'port': '0000:3a', 'unit': 1, 'die': 0} and len(listed['ports']) == 3


def test_a_signal_ends_the_command(iostat, tally, tmp_path):
    assert iostat('list').returncode == 0  # skips where there are no mount namespaces
    process = subprocess.Popen(['unshare', '-m', 'sh', '-c', BIND, 'sh', tally.path, 'iostat', '--', 'sh', '-c', 'echo $$; exec sleep 300'],
                               cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=tally.environment)
    command = pathlib.Path('/proc', process.stdout.readline().strip())
    process.terminate()
    process.communicate(timeout=60)
    wait_for(lambda: not (command / 'exe').exists())


def test_ports_that_are_none(iostat):
    for words in ('0:99', 'nonsense', '0:3a,0:3a'):
        assert "is no root port of this machine ('iostat list' shows them)" in iostat(words, '--', 'true').stderr


def test_other_machines_say_what_is_missing(tally):
    if list(pathlib.Path('/sys/devices').glob('uncore_iio_*/die*')):
        pytest.skip('this machine has such ports')
    for words in (['list'], ['--', 'true']):
        assert 'there is no /sys/devices/uncore_iio_N/dieM' in tally('iostat', *words, check=255).stderr
    assert 'there is no /sys/devices/uncore_iio_N/dieM' in tally('stat', '--iostat', 'true', check=255).stderr
    assert 'which command?' in tally('iostat', check=129).stderr
    assert 'which command?' in tally('stat', '--iostat', check=129).stderr
    assert 'does not record what --iostat shows' in tally('stat', 'record', '--iostat', 'true', check=129).stderr
    assert "unexpected argument 'x'" in tally('iostat', 'list', 'x', check=129).stderr
