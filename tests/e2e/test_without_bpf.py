# SPDX-License-Identifier: Apache-2.0
"""A build without BPF (-Dbpf=disabled, or no libbpf or clang): what needs BPF says so, or does without it and says that."""
import re

import pytest

LACKS = 'needs BPF, which this build of tally lacks: build it with libbpf, clang and bpftool'


def test_the_version_says_it(tally_without_bpf):
    options = tally_without_bpf('version', '--build-options', check=0).stdout
    assert re.findall(r'^ *(bpf\w*): \[ (\w+) *\]', options, re.M) == [('bpf', 'OFF'), ('bpf_skeletons', 'OFF')]


@pytest.mark.parametrize('arguments', [
    ('record', '-e', 'cpu-clock', '--call-graph', 'bpf', '-o', 'x.data', '--', 'true'),
    ('record', '--wall', '--wall-source', 'bpf', '-o', 'x.data', '--', 'true'),
    ('record', '--off-cpu', '--wall-source', 'bpf', '-o', 'x.data', '--', 'true'),
    ('record', '-e', 'cpu-clock', '--filter', 'period > 1', '-o', 'x.data', '--', 'true'),
    ('flamegraph', '--call-graph', 'bpf', '-o', 'x.data', '--', 'true'),
    ('top', '--call-graph', 'bpf', '--stdio', '-d', '1'),
    ('stat', '--bpf-counters', '-e', 'cpu-clock', '--', 'true'),
    ('stat', '-e', 'cpu-clock:b', '--', 'true'),
    ('stat', '--bpf-prog', '1', '-e', 'cpu-clock', '--', 'true'),
    ('stat', '-a', '--bpf-counters', '--for-each-cgroup', '/', '-e', 'cpu-clock', '--', 'true'),
    ('record', '--setup-filter', 'pin')], ids=lambda arguments: ' '.join(arguments[:4]))
def test_refusals_say_it(live, tally_without_bpf, tmp_path, arguments):
    refused = tally_without_bpf(*arguments, cwd=tmp_path)
    assert refused.returncode not in (0, -6, -11) and LACKS in refused.stderr, refused.stderr
    assert not (tmp_path / 'x.data').exists()


@pytest.mark.parametrize('option', ['--wall', '--off-cpu'])
def test_waits_are_measured_without_it(live, tally_without_bpf, tmp_path, option):
    """By the tracepoints, or for a user who may not read them by context-switch records."""
    data = tmp_path / 'wall.data'
    recorded = tally_without_bpf('record', option, '-o', data, '--', 'sleep', '0.2', check=0)
    sources = r'the tracepoints sched_switch and sched_waking|context-switch records'
    assert re.search(rf'waits are measured from ({sources}).*not from BPF: {option} {LACKS}', recorded.stderr)
    states = tally_without_bpf('report', '--stdio', '-g', 'none', '-s', 'state', '-i', data, check=0).stdout
    assert re.search(r'^ +\d+\.\d+% .* sleep *$', states, re.M), states


def test_call_graphs_are_unwound_without_it(live, tally_without_bpf, tmp_path):
    recorded = tally_without_bpf('record', '-e', 'cpu-clock:u', '--call-graph', 'auto', '-o', tmp_path / 'x.data', '--',
                                 'sh', '-c', ':', check=0)
    assert f'(--call-graph dwarf): unwinding in the kernel {LACKS}' in recorded.stderr


def test_locks_are_read_from_the_rings(system_wide, tally_without_bpf):
    shown = tally_without_bpf('lock', 'contention', '-b', '-a', '--', 'sleep', '0.1')
    if shown.returncode and 'tracefs' in shown.stderr:
        pytest.skip('no tracepoints: ' + shown.stderr.splitlines()[-1])
    assert shown.returncode == 0, shown.stderr
    assert f'lock contention -b {LACKS}' in shown.stderr and 'each wait is read from the rings instead' in shown.stderr
    owners = tally_without_bpf('lock', 'contention', '-b', '-o', '-a', '--', 'sleep', '0.1')
    assert owners.returncode and LACKS in owners.stderr


def test_calls_are_read_from_tracepoints(system_wide, tally_without_bpf):
    traced = tally_without_bpf('trace', 'cat', '/dev/null')
    if traced.returncode and re.search('tracefs|unknown tracepoint', traced.stderr):
        pytest.skip('no tracepoints: ' + traced.stderr.splitlines()[-1])
    assert traced.returncode == 0, traced.stderr
    assert f'trace {LACKS}' in traced.stderr and 'calls are read from tracepoints instead' in traced.stderr
    assert re.search(r' openat\(dfd: CWD, filename: 0x[0-9a-f]+, flags: RDONLY.*\) += \d+$', traced.stderr, re.M), traced.stderr
    for options in (['--bpf-summary', '-S'], ['-s', '--summary-mode=cgroup']):
        refused = tally_without_bpf('trace', *options, 'true')
        assert refused.returncode == 255 and f'trace {LACKS}' in refused.stderr, refused.stderr
