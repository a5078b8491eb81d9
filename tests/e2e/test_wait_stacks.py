# SPDX-License-Identifier: Apache-2.0
"""Stacks of waits that BPF recognizes are those that it would take: of random programs that say how long they waited below
which caller."""
import re

import pytest
import waits_program

from conftest import compiled
from test_waits import folded

FIRST_WAIT = r'''
#include <time.h>
#define N __attribute__((noinline))
N int nap(void) { struct timespec t = {0, 900000000}; nanosleep(&t, 0); return 1; }
N int middle(void) { return nap() + 1; }
N int outer(void) { return middle() + 1; }
int main(void) { return outer() == 0; }
'''
SHORT_WAITS = '''
#include <time.h>
int main(void) { struct timespec t = {0, 20000}; nanosleep(&t, 0); return 0; }
'''


@pytest.fixture(name='record')
def record_by_bpf(tally, tmp_path):
    def record(program, memory=''):
        data = tmp_path / 'waits.data'
        done = tally('record', '--wall', '--wall-source', 'bpf', '-o', data, '--', program, check=None,
                     env={'TALLY_WAIT_STACKS': memory})
        if done.returncode:
            pytest.skip(f'waits cannot be measured by BPF here: {done.stderr.strip().splitlines()[-1]}')
        return data, done
    return record


@pytest.mark.parametrize('memory', ['', 'check', 'take'])
def test_callers_and_causes_have_their_shares(tally, tmp_path, record, memory):
    waits_program.build(7, tmp_path / 'p', '-O2')
    data, done = record(tmp_path / 'p', memory)
    assert 'recognized wrongly' not in done.stderr
    seen = waits_program.folded(tally('flamegraph', '--folded', data).stdout)
    true = waits_program.truth(done.stdout)
    assert len(true) > 1
    assert {name: points for name, points in waits_program.differences(true, seen).items() if abs(points) > 2} == {}


def test_first_wait_of_a_program_has_its_callers(tally, record):
    data, _ = record(compiled('first_wait.c', FIRST_WAIT, '-O2', '-fomit-frame-pointer'))
    stacks = folded(tally('flamegraph', '--folded', data, check=0).stdout)
    longest = max((ns, stack) for stack, ns in stacks.items() if stack[-1] == '[sleep]')
    assert re.search(r'main;outer;middle;nap;', ';'.join(longest[1]))


def test_short_waits_without_callers_are_counted(record):
    _, done = record(compiled('short_wait.c', SHORT_WAITS, '-O2'))
    found = re.search(r'(\d+) waits? \([\d.]+ s\) may lack callers', done.stderr)
    assert found and int(found[1]) > 0
