# SPDX-License-Identifier: Apache-2.0
"""`mem record` and `c2c record`: what they ask of record, and what they say where no PMU samples accesses."""
import pathlib

import pytest

DEVICES = pathlib.Path('/sys/bus/event_source/devices')


def has_memory_events():
    return any(DEVICES.glob('cpu*/events/mem-*')) or (DEVICES / 'ibs_op').exists()


@pytest.mark.parametrize('line', ['mem record true', 'mem record -e list', 'mem -t load record -K true', 'c2c record true',
                                  'mem record --ldlat=50 -U -C 0 true', 'c2c record -l 50 -u -- -g true'])
def test_the_reason_is_told_where_the_pmu_lacks_them(tally, line):
    if has_memory_events():
        pytest.skip('this machine samples accesses to memory')
    result = tally(*line.split())
    assert result.returncode == 255 and 'no PMU supports the memory events' in result.stderr


@pytest.mark.parametrize('line,reason', [('mem record -t foo true', '-t takes'), ('mem record -e foo true', '-e takes'),
                                         ('mem record --ldlat x true', '--ldlat takes')])
def test_what_is_no_choice_is_refused(tally, line, reason):
    result = tally(*line.split())
    assert result.returncode == 255 and reason in result.stderr
