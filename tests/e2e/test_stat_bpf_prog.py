# SPDX-License-Identifier: Apache-2.0
"""stat --bpf-prog: events are counted only while a BPF program runs. tests/emulated has the counts of a PMU."""
import contextlib
import json
import os
import pathlib
import re

import pytest
from conftest import wait_for


@pytest.fixture
def program(tally, system_wide):
    """The ID of a BPF program that runs at each switch: the one of a session that shares counters."""
    place = f'/sys/fs/bpf/tally-test-prog-{os.getpid()}'
    session = tally.start('stat', '-a', '--bpf-counters', '--bpf-attr-map', place, '-e', 'context-switches')

    def find():
        if session.poll() is not None:
            pytest.skip(f'BPF programs are refused here: {session.communicate()[1].splitlines()[0]}')
        infos = []
        for path in pathlib.Path(f'/proc/{session.pid}/fdinfo').iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                infos.append(path.read_text())
        # Of a link: libbpf loads and closes programs without one, to see what the kernel has.
        return next((int(re.search(r'prog_id:\s*(\d+)', info)[1]) for info in infos if 'link_type:' in info), None)

    try:
        yield wait_for(find)
    finally:
        session.kill()
        session.communicate()
        if os.path.exists(place):
            os.unlink(place)


def count(tally, program, *words):
    result = tally('stat', '-b', program, *words)
    if result.returncode and re.search('loads no BPF programs that run around|refused its BPF program', result.stderr):
        pytest.skip(f'fentry and fexit are refused here: {result.stderr.splitlines()[0]}')
    assert result.returncode == 0, result.stderr
    return result


def test_only_the_program_counts(tally, program):
    result = count(tally, program, '-j', '-e', 'cpu-clock,page-faults', '--', 'sh', '-c', 'for i in 1 2 3 4 5; do sleep 0.02; done')
    rows = [json.loads(line) for line in result.stderr.splitlines() if line.startswith('{')]
    values = {row['event']: float(row['counter-value']) for row in rows}
    # It runs at each switch, for some microseconds at most, and has no page faults.
    assert 0 < values['cpu-clock'] < 100 and values['page-faults'] == 0, values
    shown = count(tally, program, '-e', 'cpu-clock', '--', 'sleep', '0.1').stderr
    assert f"Performance counter stats for 'BPF program(s) {program}':" in shown


def test_several_programs_and_a_timeout(tally, program):
    result = count(tally, f'{program},{program}', '-x,', '-e', 'cpu-clock', '--timeout', 200)
    assert 0 < float(result.stderr.split(',')[0]) < 1000, result.stderr


def test_refusals(tally, program):
    for event in ('cpu-clock', 'cycles', 'duration_time'):
        assert 'there is no BPF program with this ID' in tally('stat', '-b', 4_000_000_000, '-e', event, 'true', check=255).stderr
    for words, text in ((['x'], 'expects IDs of BPF programs'), (['1,'], 'there is no BPF program|expects IDs'), (['0'], 'expects IDs'),
                        ([program, '-p', os.getpid()], '--bpf-prog and --pid cannot be used together'),
                        ([program, '-a', '-G', '/'], '--bpf-prog and --cgroup cannot be used together'),
                        ([program, '--bpf-counters'], '--bpf-prog and --bpf-counters cannot be used together')):
        refused = tally('stat', '-b', *words, '-e', 'cpu-clock', '--', 'true')
        assert refused.returncode and re.search(text, refused.stderr), (words, refused.stderr)
