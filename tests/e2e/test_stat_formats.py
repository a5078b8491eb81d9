# SPDX-License-Identifier: Apache-2.0
"""stat's CSV and JSON, field by field, beside perf 6.1 (everything) and the newest perf (what it still has)."""
import json
import os
import re
import subprocess

import pytest

from conftest import NEWEST_PERF, TIMEOUT_S


CSV = {
    'plain': '-e task-clock,page-faults',
    'missing': '-e cycles,page-faults',
    'semicolon': '-x; -e task-clock',
    'tab': '-x \\t -e page-faults',
    'runs': '-r 2 -e task-clock',
    'CPUs': '-a -A -e cpu-clock,page-faults',
    'cores': '-a --per-core -e cpu-clock,page-faults',
    'dies': '-a --per-die -e cpu-clock',
    'sockets': '-a --per-socket -e cpu-clock',
    'nodes': '-a --per-node -e cpu-clock',
    'intervals': '-a -I 20 -e cpu-clock,page-faults',
    'interval count': '-a -I 10 --interval-count 2 -e cpu-clock',
    'summary': '-a -I 20 --summary -e cpu-clock',
    'bare summary': '-a -I 20 --summary --no-csv-summary -e cpu-clock',
    'detailed': '-d -e page-faults',
    'modifier': '-e page-faults:u',
    'nothing': '-n',
    'unscaled': '--no-scale -e page-faults',
}
JSON = [name for name in CSV if name not in ('semicolon', 'tab', 'bare summary')]
NUMBER = re.compile(r'^\s*-?\d[\d.]*%?$')


def output(tool, words):
    environment = {**os.environ, 'LC_ALL': 'C'}
    run = subprocess.run([str(tool), 'stat', *words, '--', 'sleep', '0.05'], capture_output=True, text=True,
                         env=environment, timeout=TIMEOUT_S, check=True)
    return [line for line in run.stderr.splitlines() if line and not line.startswith(('Warning:', 'workload '))]


def csv_words(name):
    words = CSV[name].split()
    return words if words[0].startswith('-x') else ['-x,', *words]


def separator(name):
    return {'semicolon': ';', 'tab': '\t'}.get(name, ',')


def field(text):
    """A number with the number of its decimals; other texts as they are. Metrics have K, M or none."""
    if NUMBER.match(text):
        return '%' if text.endswith('%') else f'N{len(text.partition(".")[2])}'
    return re.sub(r'^[KMG]?/sec$', '/sec', text)


def csv_rows(tool, name):
    return [[field(part) for part in line.split(separator(name))] for line in output(tool, csv_words(name))]


def json_rows(tool, name):
    rows = []
    for line in output(tool, ['-j', *CSV[name].split()]):
        row = json.loads(line)
        if row.get('metric-unit') == '(null)':  # what 6.1 makes of no unit
            row['metric-unit'] = ''
        if 'aggregate-number' in row:  # 6.1's name of what 7.x calls counters
            row = {'counters' if key == 'aggregate-number' else key: value for key, value in row.items()}
        rows.append({key: field(value) if isinstance(value, str) else type(value).__name__ for key, value in row.items()})
    return rows


@pytest.mark.parametrize('name', CSV)
def test_csv_fields(tally, perf, system_wide, name):
    ours, theirs = csv_rows(tally.path, name), csv_rows(perf.path, name)
    if 'intervals' in name or 'summary' in name:  # how many intervals the last instant makes is chance
        ours, theirs = [ours[0], ours[-1]], [theirs[0], theirs[-1]]
    assert ours == theirs


@pytest.mark.parametrize('name', JSON)
def test_json_fields(tally, perf, system_wide, name):
    ours, theirs = json_rows(tally.path, name), json_rows(perf.path, name)
    if 'intervals' in name or 'summary' in name:
        ours, theirs = [ours[0], ours[-1]], [theirs[0], theirs[-1]]
    assert ours == theirs
    assert [list(row) for row in ours] == [list(row) for row in theirs]  # in this order


@pytest.mark.parametrize('name', [name for name in CSV if name not in ('missing', 'detailed', 'nothing')])
def test_csv_fields_of_the_newest(tally, newest_perf, system_wide, name):
    ours, theirs = csv_rows(tally.path, name), csv_rows(newest_perf.path, name)
    for mine, other in zip(ours[:1], theirs[:1]):  # it gives software events no metrics
        assert len(mine) == len(other)
        assert mine[:-2] == other[:-2]


@pytest.mark.parametrize('name', [name for name in JSON if name not in ('missing', 'detailed', 'nothing')])
def test_json_fields_of_the_newest(tally, newest_perf, system_wide, name):
    ours, theirs = json_rows(tally.path, name), json_rows(newest_perf.path, name)
    for mine, other in zip(ours[:1], theirs[:1]):
        keys = [key for key in other if not key.startswith('metric-')]
        assert [key for key in mine if not key.startswith('metric-')] == keys


@pytest.mark.parametrize('options', [['-x,'], ['-j'], ['-x,', '-a', '-A']], ids=' '.join)
def test_counts_of_0_have_no_line(tally, system_wide, options):
    """Alignment faults are always 0 where the CPU takes any address; what else is 0 may be so in one of two runs."""
    words = [*options, '-e', 'cpu-clock,alignment-faults']
    shown = '\n'.join(output(tally.path, words))
    if not re.search(r'"?0(\.0+)?"?,.*alignment-faults', shown):
        pytest.skip('programs have alignment faults here')
    lines = output(tally.path, ['--hide-zero-events', *words])
    assert lines and all('cpu-clock' in line for line in lines)
    if NEWEST_PERF:
        assert len(lines) == len(output(NEWEST_PERF, ['--hide-zero-events', *words]))


@pytest.mark.parametrize('words', [['-x,', '-j', 'true'], ['-j', '-x;', 'record', '-o', 'x.data', 'true'], ['-x,', '-j', 'report']],
                         ids=' '.join)
def test_lines_are_csv_or_json(tally, words):
    refused = tally('stat', '-e', 'cpu-clock', *words, check=129)
    assert '-x and -j cannot be used together' in refused.stderr


def test_counters_are_read_without_visits(tally, system_wide):
    assert output(tally.path, ['--no-affinity', '-x,', '-e', 'cpu-clock'])
    refused = tally('stat', '--affinity', '-e', 'cpu-clock', 'true')
    assert refused.returncode == 129 and "option `affinity' is not supported" in refused.stderr
