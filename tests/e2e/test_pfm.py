# SPDX-License-Identifier: Apache-2.0
"""Vendors' event names by libpfm4, for a model that is named by LIBPFM_FORCE_PMU: the host's own may be unknown to it."""
import json

import pytest


@pytest.fixture
def skylake(tally):
    tally.environment['LIBPFM_FORCE_PMU'] = 'skl'
    note = tally('list', 'pfm', check=0).stderr
    if 'no vendor events' in note:
        pytest.skip(note.strip())
    return tally


def test_codes_are_those_of_the_vendor(skylake):
    plan = json.loads(skylake('stat', '--plan', '-j', '--pfm-events', 'INST_RETIRED:ANY_P:u,unhalted_core_cycles', check=0).stderr)
    found = json.dumps(plan)
    assert '0xc0' in found and '0x3c' in found and 'unhalted_core_cycles' in found


def test_stat_takes_them_beside_others(skylake, live):
    lines = skylake('stat', '-x,', '-e', 'cs', '--pfm-events', '{INST_RETIRED,unhalted_core_cycles}', '-e', 'faults',
                    'true', check=0).stderr.splitlines()
    assert [line.split(',')[2] for line in lines if line.count(',') > 5] == ['cs', 'INST_RETIRED', 'unhalted_core_cycles', 'faults']


@pytest.mark.parametrize('verb', ['stat', 'record'])
def test_unknown_names_are_pointed_at(skylake, verb):
    result = skylake(verb, '--pfm-events', 'INST_RETIRED,nothing', 'true')
    assert result.returncode == 129
    lines = result.stderr.splitlines()
    assert lines[1].index('\\___') == lines[0].index('nothing')
    assert "'nothing': event not found" in result.stderr


def test_a_cpu_without_names_is_said_to_have_none(tally):
    tally.environment['LIBPFM_FORCE_PMU'] = 'perf'
    result = tally('stat', '--pfm-events', 'INST_RETIRED', 'true')
    if 'libpfm4 has no events for this model' not in result.stderr:
        assert 'libpfm4' in result.stderr
        pytest.skip(result.stderr.splitlines()[-1])
    assert result.returncode == 129


def test_list_has_names_and_descriptions(skylake):
    text = skylake('list', '-d', 'pfm', check=0).stdout
    assert '  skl::INST_RETIRED:ANY_P ' in text and '       [Number of instructions' in text
    assert 'skl::' in skylake('list', '*inst_ret*', check=0).stdout
    assert 'skl::' not in skylake('list', '--raw-dump', check=0).stdout
