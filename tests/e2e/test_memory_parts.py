# SPDX-License-Identifier: Apache-2.0
"""Shares by what accesses did and where they hit (-F op,cache,memory,snoop,dtlb), beside the newest perf's."""
import itertools
import json
import random

from perfdata_build import Recording

PARTS = ['op', 'cache', 'memory', 'snoop', 'dtlb']
VIEWS = ['-F op,sym', '-F sym,cache', '-F overhead,memory,sym', '-F mem,sample,dso', '-F snoop,dtlb', '-F dtlb,comm -t ,',
         '-F overhead,op,cache,memory,snoop,dtlb,sym', '-F cache,overhead -s sym', '-F op,cache -c prog']


def source(operation, level, snoop, tlb):
    return operation | snoop << 19 | tlb << 26 | level << 33


def recording(path, samples, events=2):
    built = Recording()
    for config in range(events):
        built.event('IDENTIFIER IP TID TIME ADDR PERIOD WEIGHT DATA_SRC', kind=4, config=config)
    built.comm('prog')
    built.mmap(0x400000, 0x10000, '/bin/prog')
    for index, sample in enumerate(samples):
        built.sample(time=5000000000 + index, addr=0x1000 * index, **sample)
    built.name_events('loads', 'stores')
    built.write(path)


def every_value():
    """Each value of each kind at an address of its own, the others at random."""
    chosen = random.Random(1)
    for index, (kind, count) in enumerate([(0, 32), (1, 16), (2, 32), (3, 128)]):
        for value in range(count):
            parts = [chosen.choice([2, 4]), chosen.randrange(16), chosen.choice([2, 4, 8]), chosen.choice([10, 4, 26])]
            parts[kind] = value
            yield dict(event=chosen.randrange(2), ip=0x400000 + 0x1000 * index + 16 * value, data_src=source(*parts),
                       weight=chosen.randrange(1, 300))


def lines(result):
    """6.1 has a line that names the order, which follows from the fields."""
    assert result.returncode == 0, result.stderr
    return [line for line in result.stdout.splitlines() if '(Tip' not in line and '# Sort order' not in line]


def test_shares_are_perfs(tally, newest_perf, tmp_path):
    path = tmp_path / 'perf.data'
    recording(path, every_value())
    for view in VIEWS:
        words = ['report', '--mem-mode', '--stdio', '-i', path, *view.split()]
        assert lines(tally(*words)) == lines(newest_perf(*words)), view


def test_shares_of_nothing_and_refusals(tally, tmp_path):
    path = tmp_path / 'perf.data'
    recording(path, [dict(data_src=source(2, 1, 2, 10), weight=7), dict(data_src=source(4, 2, 4, 4), weight=3)], events=1)
    words = ['report', '--mem-mode', '-i', path, '-F', ','.join(['overhead', *PARTS])]
    values = json.loads(tally(*words, '--json', check=0).stdout)['tables'][0]['rows'][0]['values'][0]
    shares = {part: {name: period for name, period in values[part].items() if period} for part in PARTS}
    assert shares == {'op': {'Load': 7, 'Store': 3}, 'cache': {'L1': 7, 'L2': 3}, 'memory': {'Other': 10},
                      'snoop': {'Hit': 3, 'Other': 7}, 'dtlb': {'L1-Hit': 7, 'Miss': 3}}
    nobody = tally(*words, '--stdio', '-c', 'nobody', check=0).stdout
    assert all(len(set(map(len, pair))) == 1 for pair in itertools.pairwise(
        [line for line in nobody.splitlines() if 'Mem Op' in line or '....' in line]))
    assert "--hierarchy does not show shares by 'op'" in tally(*words[:-2], '-s', 'op,sym', '--hierarchy', check=255).stderr
    assert 'Invalid --fields key: `op\'' in tally('report', '-i', path, '-F', 'op', check=255).stderr
