# SPDX-License-Identifier: Apache-2.0
"""script --json: the samples of the text, number by number."""
import json
import re

import pytest

import json_schema
from conftest import CORPUS, ROOT
from origin_build import label

SCHEMA = json.loads((ROOT / 'docs' / 'schema' / 'script.json').read_text(encoding='utf-8'))
NAMES = ['deep', 'multi', 'cxx', 'pipe', 'zstd', 'tp', 'sched', 'addr', 'grp', 'grpS', 'k', 'kg', 'u', 'ud', 'regs', 'ids', 'nobid']


def samples_of(tally, path, *words):
    document = json.loads(tally('script', '--json', *words, '-i', path, check=0).stdout)
    json_schema.check(document, SCHEMA)
    for sample in document['samples']:
        assert set(sample) <= set(SCHEMA['$defs']['sample']['properties'])
    return document['samples']


def place_of(frame):
    """A frame as the text has it, without its address."""
    shown = frame.get('sym', '[unknown]') + (f"+{frame['symoff']}" if 'symoff' in frame else '')
    if frame.get('is_inlined'):
        return shown + ' (inlined)'
    return f"{shown} ({frame.get('dso', '[unknown]')})"


@pytest.mark.parametrize('name', NAMES)
def test_heads_are_those_of_the_text(tally, name):
    path = CORPUS / f'{name}.data'
    lines = tally('script', '-G', '--ns', '-F', 'comm,pid,tid,time,period,event', '-i', path)
    if lines.returncode != 0:  # a field that these samples lack
        lines = tally('script', '-G', '--ns', '-F', 'comm,pid,tid,event', '-i', path, check=0)
    told = []
    for sample in samples_of(tally, path, '-G'):
        assert 'callchain' not in sample
        head = f"{sample['comm']} {sample['pid']}/{sample['tid']}"
        if re.search(r'\d\.\d{9}:', lines.stdout):
            head += f" {sample['time_ns'] // 10**9}.{sample['time_ns'] % 10**9:09}: {sample['period']}"
        told.append(f"{head} {sample['event']}:")
    assert told and [re.sub(r'\s+', ' ', line).strip() for line in lines.stdout.splitlines()] == told


@pytest.mark.parametrize('name', ['deep', 'cxx', 'ud', 'kg', 'pipe', 'zstd'])
@pytest.mark.parametrize('words', [(), ('--no-inline',), ('--max-stack', '2')], ids=' '.join)
def test_chains_are_those_of_the_text(tally, name, words):
    path = CORPUS / f'{name}.data'
    text = tally('script', '--show-kernel-path', '-F', 'event,ip,sym,symoff,dso', *words, '-i', path, check=0).stdout
    samples = samples_of(tally, path, *words)
    blocks = text.strip('\n').split('\n\n')
    assert len(samples) > 0
    if 'callchain' in samples[0]:
        assert [[f"{frame['ip'][2:]} {place_of(frame)}" for frame in sample['callchain']] for sample in samples] == [
            [line.strip() for line in block.split('\n')[1:]] for block in blocks]
    else:
        assert [line.split(': ', 1)[1].strip() for line in text.splitlines()] == [
            f"{sample['ip'][2:]} {place_of(sample)}" for sample in samples]


@pytest.mark.parametrize('name', ['tp', 'sched', 'tpsleep'])
def test_fields_of_tracepoints(tally, name):
    path = CORPUS / f'{name}.data'
    text = tally('script', '-G', '-F', 'event,trace', '-i', path, check=0).stdout.splitlines()
    samples = samples_of(tally, path)
    assert [line.split(': ', 1)[1].strip() for line in text] == [sample['trace'].strip() for sample in samples]
    for sample in samples:
        for found in re.findall(r'\b(\w+)=(-?\d+)\b', sample['trace']):
            if found[0] in sample['fields'] and isinstance(sample['fields'][found[0]], int):
                assert sample['fields'][found[0]] == int(found[1])


def test_filters_and_limits_apply(tally):
    path = CORPUS / 'sched.data'
    everything = samples_of(tally, path)
    assert samples_of(tally, path, '--max-events', '3') == everything[:3]
    chosen = samples_of(tally, path, '-c', 'cc1')
    assert chosen == [sample for sample in everything if sample['comm'] == 'cc1'] and chosen
    assert samples_of(tally, path, '-C', '1') == [sample for sample in everything if sample['cpu'] == 1]


def test_nothing_to_show_is_an_empty_list(tally):
    result = tally('script', '--json', '-c', 'nosuch', '-i', CORPUS / 'deep.data', check=0)
    assert json.loads(result.stdout)['samples'] == [] and 'passes the filters' in result.stderr
    counts = tally('script', '--json', '-i', CORPUS / 'stat.data', check=0)
    assert json.loads(counts.stdout)['samples'] == [] and 'stat report' in counts.stderr


@pytest.mark.parametrize('words', [('-F', 'ip'), ('-s', 'x.py'), ('-l',), ('-D',), ('--header',), ('-d',), ('--reltime',),
                                   ('--show-mmap-events',), ('--per-event-dump',), ('nosuch',)], ids=' '.join)
def test_options_of_the_text_are_refused(tally, words):
    result = tally('script', '--json', *words, '-i', CORPUS / 'deep.data')
    assert result.returncode == 129 and '--json' in result.stderr and result.stdout == ''


def test_what_made_the_samples(tally, tmp_path):
    path = label(CORPUS / 'deep.data', tmp_path / 'simulated.data')
    result = tally('script', '--json', '-i', path, check=0)
    document = json.loads(result.stdout)
    json_schema.check(document, SCHEMA)
    assert document['origin']['kind'] == 'simulated' and 'simulated' not in result.stderr
