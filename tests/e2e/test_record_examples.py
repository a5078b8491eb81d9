# SPDX-License-Identifier: Apache-2.0
"""The sampling examples, built on the library alone."""
import re
import subprocess

import pytest

from conftest import BUILD, TIMEOUT_S

pytestmark = pytest.mark.usefixtures('live')
EXAMPLES = BUILD / 'examples'


def run(name, *arguments, check=0):
    result = subprocess.run([EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == check, result.stdout + result.stderr
    return result


@pytest.fixture
def spinning(workload):
    process = workload('spin').start(60_000)
    yield process.pid
    process.kill()
    process.communicate()


def test_monitor_prints_addresses(spinning):
    result = run('monitor', '-e', 'cpu-clock:u', '-c', 1_000_000, '-n', 5, spinning)
    assert re.fullmatch(r'(IP: 0x[0-9a-f]{16}\n){5}', result.stdout)


def test_monitor_resolves_addresses(spinning, workload):
    result = run('monitor', '-e', 'cpu-clock:u', '-c', 1_000_000, '-n', 50, '-d', workload('spin').path, spinning)
    lines = result.stdout.splitlines()
    assert len(lines) == 50
    assert sum(bool(re.search(r' spin\+0x[0-9a-f]+$', line)) for line in lines) >= 25


def test_monitor_ends_with_its_thread(workload):
    process = workload('spin').start(300)
    result = run('monitor', '-e', 'cpu-clock:u', '-c', 1_000_000, process.pid)
    process.communicate()
    assert 50 <= len(result.stdout.splitlines()) <= 320


def test_monitor_says_what_stands_in(spinning, hardware_absent):
    result = run('monitor', '-n', 1, spinning)
    assert 'sampling cpu-clock:u' in result.stderr and 'instructions' in result.stderr


def test_monitor_with_bad_input():
    assert '99999999' in run('monitor', 99999999, check=1).stderr
    assert 'nosuch' in run('monitor', '-e', 'nosuch', 1, check=1).stderr
    assert 'usage' in run('monitor', check=2).stderr
    assert '/nonexistent' in run('monitor', '-d', '/nonexistent', 1, check=1).stderr


def test_lbr_sampler_without_branch_stacks(hardware_absent):
    lines = run('lbr_sampler', 50_000_000).stdout.splitlines()
    assert lines[0].startswith('no branch stacks: ') and 'branch-misses' in lines[0]
    assert re.fullmatch(r'SAMPLE 0x[0-9a-f]+', lines[1])
    samples, lost = re.fullmatch(r'(\d+) samples of cpu-clock:u, (\d+) lost', lines[-2]).groups()
    assert int(samples) == sum(line.startswith('SAMPLE') for line in lines)
    assert int(samples) >= 20 and lost == '0'
    assert lines[-1] == '25000000'


def test_lbr_sampler_with_branch_stacks(hardware):
    lines = run('lbr_sampler', 100_000).stdout.splitlines()
    if lines[0].startswith('no branch stacks'):
        pytest.skip('this PMU records no branch stacks')
    assert any('Branches in Stack' in line for line in lines)
