# SPDX-License-Identifier: Apache-2.0
"""What each verb prints as JSON is as its schema in docs/schema says, and each verb that has --json has a schema."""
import json
import re

import pytest

import json_schema
from conftest import CORPUS, ROOT

SCHEMAS = ROOT / 'docs' / 'schema'
# Verbs and commands of verbs whose JSON other tests check, or that print another verb's form. A verb stands for all of its
# commands.
OTHERS = {'annotate': 'annotate', 'buildid-cache': 'buildid-cache', 'c2c': 'c2c', 'config': 'config', 'daemon': 'daemon',
          'doctor': 'doctor', 'fleet': 'report', 'ftrace': 'ftrace', 'iostat': 'iostat', 'kallsyms': 'kallsyms', 'kmem': 'kmem',
          'kvm': 'kvm', 'kwork': 'kwork', 'lock': 'lock', 'mem': 'report', 'probe': 'probe', 'report': 'report', 'sched script': 'script',
          'script': 'script', 'summary': 'summary', 'top': 'top', 'trace': 'trace'}
# Rows of the user's own columns.
WITHOUT = {'query'}
PRINTED = [('evlist', ['-i', CORPUS / name]) for name in ('deep.data', 'tp.data', 'grp.data', 'pipe.data')] + [
    ('buildid-list', ['-i', CORPUS / name]) for name in ('deep.data', 'nobid.data')] + [
    ('health', [CORPUS / name]) for name in ('deep.data', 'ud.data', 'pipe.data', 'zstd.data', 'nosamp.data')] + [
    ('list', []), ('list', ['metric']), ('list', ['sw']), ('sched latency', ['-i', CORPUS / 'sched.data']),
    ('sched map', ['-i', CORPUS / 'sched.data']), ('sched timehist', ['-S', '-i', CORPUS / 'sched.data']),
    ('timechart', ['-i', CORPUS / 'sched.data']), ('diff', [CORPUS / 'diff1.data', CORPUS / 'diff2.data']),
    ('diff', ['-g', CORPUS / 'deep.data', CORPUS / 'deep.data']),
    ('diff', ['--base', CORPUS / 'diff1.data', '--new', CORPUS / 'diff2.data'])]


def schema(name):
    return json.loads((SCHEMAS / f'{name}.json').read_text(encoding='utf-8'))


@pytest.mark.parametrize('verb, words', PRINTED, ids=[f'{verb}-{words[-1].stem if words and hasattr(words[-1], "stem") else words}'
                                                      for verb, words in PRINTED])
def test_what_is_printed_is_as_the_schema_says(tally, verb, words):
    result = tally(*verb.split(), '--json', *words)
    document = json.loads(result.stdout)
    known = schema('sched' if verb == 'sched latency' else verb.replace(' ', '-'))
    json_schema.check(document, known)
    known = known['items'] if known['type'] == 'array' else known
    for item in document if isinstance(document, list) else [document]:
        assert set(item) <= set(known['properties']), verb


def test_memory_report_has_the_form_of_report(tally):
    document = json.loads(tally('mem', 'report', '--json', '-i', CORPUS / 'addr.data', check=0).stdout)
    json_schema.check(document, schema('report'))
    assert set(document) <= set(schema('report')['properties']) and document['tables'][0]['columns']


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


def commands_of(helps, verb):
    """Those of its commands that its usage names: "sched {record|latency|...}"."""
    named = re.search(r'\{([a-z|-]+)\}', helps[verb])
    return [f'{verb} {name}' for name in named[1].split('|')] if named else []


def test_each_verb_with_json_has_a_schema(tally):
    checked = {verb for verb, _ in PRINTED} | set(OTHERS) | WITHOUT | {'stat'}
    verbs = tally('--list-cmds', check=0).stdout.split()
    helps = {verb: tally('help', verb).stdout for verb in verbs}
    for command in [command for verb in verbs for command in commands_of(helps, verb)]:
        shown = tally(*command.split(), '-h')
        helps[command] = shown.stdout + shown.stderr
    having = {command for command, text in helps.items() if '--json' in text}
    missing = {command for command in having if command not in checked and command.split()[0] not in checked}
    assert not missing
    assert {'sched latency', 'sched map', 'sched timehist'} <= having
    files = {path.stem for path in SCHEMAS.glob('*.json')} - {'export', 'sched'}
    assert files <= {verb.replace(' ', '-') for verb in checked}, 'a schema that nothing prints'
    for path in SCHEMAS.glob('*.json'):
        assert schema(path.stem)['description']
