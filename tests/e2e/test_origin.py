# SPDX-License-Identifier: Apache-2.0
"""Recordings whose samples are not from perf events say so wherever they are shown, and stay readable for perf."""
import gzip
import json

import pytest

import json_schema
from conftest import CORPUS, ROOT
from origin_build import BY, NOT_SEEN, label

SENTENCE = f'samples are simulated, not measured ({BY}); they do not show {NOT_SEEN}'
RECORDINGS = ['deep.data', 'pipe.data', 'zstd.data']


def schema(name):
    return json.loads((ROOT / 'docs' / 'schema' / f'{name}.json').read_text(encoding='utf-8'))


@pytest.fixture(params=RECORDINGS)
def labelled(request, tmp_path):
    return label(CORPUS / request.param, tmp_path / request.param)


@pytest.fixture
def simulated(tmp_path):
    return label(CORPUS / 'deep.data', tmp_path / 'simulated.data')


def shown(perf, recording):
    """Without the tip, which perf 7 draws by lot."""
    out = perf('report', '--stdio', '--no-children', '-i', recording, check=0).stdout
    assert '%' in out
    return [line for line in out.splitlines() if '(Tip:' not in line]


def test_perf_reads_them_as_before(perf, labelled):
    assert shown(perf, labelled) == shown(perf, CORPUS / labelled.name)


def test_the_newest_perf_reads_them_as_before(newest_perf, labelled):
    assert shown(newest_perf, labelled) == shown(newest_perf, CORPUS / labelled.name)


@pytest.mark.parametrize('target', ['file', 'pipe'])
def test_inject_keeps_the_label(tally, labelled, tmp_path, target):
    if target == 'file':
        tally('inject', '-i', labelled, '-o', tmp_path / 'out.data', check=0)
    else:
        (tmp_path / 'out.data').write_bytes(tally('inject', '-i', labelled, '-o', '-', check=0, text=False).stdout)
    assert f'# origin : {SENTENCE}\n' in tally('report', '--header-only', '-i', tmp_path / 'out.data', check=0).stdout


@pytest.mark.parametrize('options', [(), ('--scrub',)])
def test_pack_keeps_the_label(tally, simulated, options):
    tally('pack', *options, simulated, '-o', simulated.with_name('packed.data'), check=0)
    out = tally('report', '--header-only', '-i', simulated.with_name('packed.data'), check=0).stdout
    assert f'# origin : {SENTENCE}\n' in out


ORIGIN = {'kind': 'simulated', 'by': BY, 'not_seen': NOT_SEEN}


@pytest.mark.parametrize('words', [('report', '--stdio', '-i'), ('report', '--stdio', '--total-cycles', '-i'), ('annotate', '-i'),
                                   ('evlist', '-v', '-i'), ('report', '--header', '--stdio', '-i'), ('script', '--header', '-i'),
                                   ('summary',), ('health',)], ids=' '.join)
def test_texts_say_it(tally, simulated, words):
    assert SENTENCE in tally(*words, simulated).stdout
    assert 'simulated' not in tally(*words, CORPUS / 'deep.data').stdout


@pytest.mark.parametrize('words', [('report', '--json', '-i'), ('annotate', '--json', '-i'), ('evlist', '--json', '-i'),
                                   ('summary', '--json'), ('health', '--json')], ids=' '.join)
def test_json_says_it(tally, simulated, words):
    document = json.loads(tally(*words, simulated, check=0).stdout)
    assert document['origin'] == ORIGIN
    json_schema.check(document, schema(words[0]))
    assert 'origin' not in json.loads(tally(*words, CORPUS / 'deep.data', check=0).stdout)


@pytest.mark.parametrize('words', [('script', '-i'), ('flamegraph', '--folded', '-i'), ('export', '-F', 'folded', '-o', '-', '-i')],
                         ids=' '.join)
def test_a_note_says_it_where_the_output_cannot(tally, simulated, words):
    assert tally(*words, simulated, check=0).stderr.count(f'note: {SENTENCE}\n') == 1
    assert 'simulated' not in tally(*words, CORPUS / 'deep.data', check=0).stderr


@pytest.mark.parametrize('form, text', [
    ('callgrind', f'\ndesc: Origin: {SENTENCE}\n'), ('speedscope', '(simulated)"'), ('chrome', f'"origin":"{SENTENCE}"'),
    ('firefox', f'"origin":"{SENTENCE}"'), ('json', '"kind": "simulated"'), ('otlp-json', '"tally.origin"'),
    ('html', f'"origin":"{SENTENCE}"')])
def test_exports_say_it(tally, simulated, tmp_path, form, text):
    def written(recording):
        tally('export', '-F', form, '-i', recording, '-o', tmp_path / 'out', check=0)
        return (tmp_path / 'out').read_text(encoding='utf-8').replace('\\u0027', "'")
    assert text in written(simulated)
    assert text not in written(CORPUS / 'deep.data')


def test_pprof_says_it(tally, simulated, tmp_path):
    tally('export', '-F', 'pprof', '-i', simulated, '-o', tmp_path / 'out', check=0)
    assert f'origin: {SENTENCE}'.encode() in gzip.decompress((tmp_path / 'out').read_bytes())


def test_export_of_json_is_as_its_schema_says(tally, simulated):
    document = json.loads(tally('export', '-F', 'json', '-i', simulated, '-o', '-', check=0).stdout)
    assert document['about']['origin'] == ORIGIN
    json_schema.check(document, schema('export'))


@pytest.mark.parametrize('options, text', [((), f'"origin":"{SENTENCE}"'), (('--svg',), f': {SENTENCE}</title>')])
def test_flame_graphs_say_it(tally, simulated, tmp_path, options, text):
    tally('flamegraph', *options, '-i', simulated, '-o', tmp_path / 'out', check=0)
    drawn = (tmp_path / 'out').read_text(encoding='utf-8')
    assert text in drawn.replace('\\u0027', "'").replace('&#39;', "'").replace('&apos;', "'")
    tally('flamegraph', *options, '-i', CORPUS / 'deep.data', '-o', tmp_path / 'out', check=0)
    assert 'simulated' not in (tmp_path / 'out').read_text(encoding='utf-8')


WARNING = (f'samples of BASE are from perf events, and those of NEW are simulated, not measured ({BY}): '
           'they may differ for that reason alone')


def test_comparisons_of_two_kinds_warn(tally, simulated, tmp_path):
    base = CORPUS / 'deep.data'
    warning = WARNING.replace('BASE', str(base)).replace('NEW', str(simulated))
    result = tally('diff', base, simulated, check=0)
    assert f'warning: {warning}\n' in result.stderr and f'# [1] {simulated}: {SENTENCE}\n' in result.stdout
    recordings = json.loads(tally('diff', '--json', base, simulated, check=0).stdout)['recordings']
    assert [recording.get('origin') for recording in recordings] == [None, ORIGIN]
    assert warning in tally('flamegraph', '--diff', base, '-i', simulated, '-o', tmp_path / 'out', check=0).stderr
    assert warning in json.loads(tally('summary', '--json', '--baseline', base, simulated, check=0).stdout)['notes']


def test_models_that_differ_are_two_kinds(tally, simulated, tmp_path):
    other = label(CORPUS / 'deep.data', tmp_path / 'other.data', by='another model')
    assert 'another model): they may differ' in tally('diff', simulated, other, check=0).stderr
    assert 'warning' not in tally('diff', simulated, simulated, check=0).stderr
    assert 'warning' not in tally('diff', CORPUS / 'deep.data', CORPUS / 'deep.data', check=0).stderr


def test_timers_and_what_is_not_known(tally, tmp_path):
    timer = label(CORPUS / 'deep.data', tmp_path / 'timer.data', kind='timer', by='ptrace', not_seen='')
    out = tally('report', '--stdio', '-i', timer, check=0).stdout
    assert '# samples are from timers of CPU time, not from perf events (ptrace)\n' in out
    later = label(CORPUS / 'deep.data', tmp_path / 'later.data', kind='guessed', by='\x1b[2J')
    out = tally('report', '--stdio', '-i', later, check=0).stdout
    assert '# samples are not from perf events, but from a source that this version does not know (\\x1b[2J)' in out
    assert json.loads(tally('report', '--json', '-i', later, check=0).stdout)['origin']['kind'] == 'unknown'


def test_a_damaged_section_is_not_taken_for_perf_events(tally, tmp_path):
    damaged = label(CORPUS / 'deep.data', tmp_path / 'damaged.data', kind='')
    result = tally('report', '--stdio', '-i', damaged, check=0)
    assert '# samples are not from perf events, but from a source that this version does not know' in result.stdout
    assert '1 damaged header sections are left out' in result.stderr


@pytest.mark.parametrize('kind', ['simulated', 'timer', 'rusage', 'guessed'])
def test_each_kind_is_as_the_schemas_say(tally, tmp_path, kind):
    path = label(CORPUS / 'deep.data', tmp_path / 'labelled.data', kind=kind)
    for words in (('report', '--json', '-i'), ('annotate', '--json', '-i'), ('evlist', '--json', '-i'), ('health', '--json'),
                  ('summary', '--json'), ('script', '--json', '-i'), ('diff', '--json', path)):
        document = json.loads(tally(*words, path, check=0).stdout)
        json_schema.check(document, schema(words[0]))
        origin = document['recordings'][0]['origin'] if words[0] == 'diff' else document['origin']
        assert origin['kind'] == (kind if kind != 'guessed' else 'unknown')
