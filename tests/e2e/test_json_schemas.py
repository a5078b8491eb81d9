# SPDX-License-Identifier: Apache-2.0
"""What each verb prints as JSON is as its schema in docs/schema says, and each verb that has --json has a schema."""
import json

import pytest

import json_schema
from conftest import CORPUS, ROOT

SCHEMAS = ROOT / 'docs' / 'schema'
# Verbs whose JSON other tests check, or that print another verb's form.
OTHERS = {'annotate': 'annotate', 'c2c': 'c2c', 'config': 'config', 'daemon': 'daemon', 'doctor': 'doctor', 'fleet': 'report',
          'ftrace': 'ftrace', 'iostat': 'iostat', 'kmem': 'kmem', 'kvm': 'kvm', 'kwork': 'kwork', 'lock': 'lock', 'report': 'report',
          'sched': 'sched', 'summary': 'summary'}
# Rows of the user's own columns, and a document that docs/diff-json.md describes.
WITHOUT = {'query', 'diff'}
PRINTED = [('evlist', ['-i', CORPUS / name]) for name in ('deep.data', 'tp.data', 'grp.data', 'pipe.data')] + [
    ('buildid-list', ['-i', CORPUS / name]) for name in ('deep.data', 'nobid.data')] + [
    ('health', [CORPUS / name]) for name in ('deep.data', 'ud.data', 'pipe.data', 'zstd.data', 'nosamp.data')] + [
    ('list', []), ('list', ['metric']), ('list', ['sw'])]


def schema(name):
    return json.loads((SCHEMAS / f'{name}.json').read_text(encoding='utf-8'))


@pytest.mark.parametrize('verb, words', PRINTED, ids=[f'{verb}-{words[-1].stem if words and hasattr(words[-1], "stem") else words}'
                                                      for verb, words in PRINTED])
def test_what_is_printed_is_as_the_schema_says(tally, verb, words):
    result = tally(verb, '--json', *words)
    document = json.loads(result.stdout)
    json_schema.check(document, schema(verb))
    known = schema(verb)
    known = known['items'] if known['type'] == 'array' else known
    for item in document if isinstance(document, list) else [document]:
        assert set(item) <= set(known['properties']), verb


@pytest.mark.parametrize('words', [(), ('-r', 2), ('-I', 20)])
def test_lines_of_stat(tally, words):
    result = tally('stat', '-j', '-e', 'task-clock,page-faults,cycles', *words, '--', 'sleep', '0.05')
    lines = [line for line in result.stderr.splitlines() if line.startswith('{')]
    if not lines:
        pytest.skip('events are not allowed here')
    known = schema('stat')
    for line in lines:
        document = json.loads(line)
        json_schema.check(document, known)
        assert set(document) <= set(known['properties']), line


def test_each_verb_with_json_has_a_schema(tally):
    checked = {verb for verb, _ in PRINTED} | set(OTHERS) | WITHOUT | {'stat'}
    verbs = tally('--list-cmds', check=0).stdout.split()
    having = {verb for verb in verbs if '--json' in tally('help', verb).stdout}
    assert having <= checked, having - checked
    for name in {verb for verb, _ in PRINTED} | set(OTHERS.values()) | {'stat'}:
        assert schema(name)['description']
