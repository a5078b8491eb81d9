"""The documents name only files that exist."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('src', 'include', 'tests', 'tools', 'docs', 'examples', 'fuzz', 'bench')
LAYERS = [line.split(':')[0] for line in (ROOT / 'src' / 'layers.txt').read_text().splitlines()
          if ':' in line and not line.startswith('#')]


def paths_in(text):
    """What stands in backquotes and looks like a path of ours: folder/file, with folders of src/ by their own name."""
    for span in re.findall(r'`([^`\n]+)`', text):
        word = span.split()[0]
        first = word.split('/')[0]
        if '/' in word and not re.search(r'[<>*$={}]|NAME', word) and first in (*FOLDERS, *LAYERS):
            yield word


def exists(word):
    candidates = [ROOT / word, ROOT / 'src' / word]
    # A module may be named without its suffix.
    return any(path.exists() or path.with_name(path.name + '.c').exists() or path.with_name(path.name + '.h').exists()
               for path in candidates)


@pytest.mark.parametrize('name', ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/compatibility.md', 'docs/documents.md'])
def test_paths_exist(name):
    path = ROOT / name
    if not path.exists():
        pytest.skip(f'{name} is not written yet')
    missing = [word for word in paths_in(path.read_text()) if not exists(word)]
    assert missing == []


def test_architecture_walks_through_every_folder():
    path = ROOT / 'ARCHITECTURE.md'
    if not path.exists():
        pytest.skip('ARCHITECTURE.md is not written yet')
    text = path.read_text()
    assert len(text.splitlines()) <= 300
    named = {word.removeprefix('src/').split('/')[0] for word in paths_in(text)}
    assert [layer for layer in LAYERS if layer not in named] == []


def test_a_path_that_does_not_exist_is_seen():
    words = list(paths_in('see `src/base/arena.c`, `base/no_such_module` and `perf_event_open(2)`'))
    assert words == ['src/base/arena.c', 'base/no_such_module']
    assert [exists(word) for word in words] == [True, False]


def table_of(heading):
    """The rows below a heading of docs/compatibility.md, as lists of cells."""
    text = (ROOT / 'docs' / 'compatibility.md').read_text()
    section = re.split(r'^## ', text.split(f'\n## {heading}\n', 1)[1], maxsplit=1, flags=re.M)[0]
    rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in section.splitlines() if line[:1] == '|']
    return rows[2:]


def names_in(path, pattern):
    return re.findall(pattern, (ROOT / path).read_text(), re.M)


@pytest.mark.parametrize('heading, path, pattern', [
    ('Features', 'src/perfdata/feature_table.c', r'^\t\{FEATURE_\w+, "(\w+)"'),
    ('Records', 'src/abi/record_table.c', r'^\t\{RECORD_\w+, "(\w+)"'),
    ('Sample fields', 'src/abi/perf_constants.h', r'^#define SAMPLE_(?!KNOWN_MASK)(\w+)\s'),
])
def test_what_is_read_is_in_a_table_with_its_test(heading, path, pattern):
    names = names_in(path, pattern)
    rows = table_of(heading)
    listed = {name for row in rows for name in re.findall(r'\b[A-Z][A-Z0-9_]*\b', row[0])}
    assert len(names) > 20
    assert [name for name in names if name not in listed] == []
    for row in rows:
        tests = re.findall(r'`([^`]+)`', row[-1])
        assert tests, row
        missing = [test for test in tests if not (ROOT / 'tests' / test).exists() and not (ROOT / test).exists()]
        assert missing == [], row


def names_a_test(reference):
    """Whether `path::name`, below tests/, is there; of a table of events the name is the expression of a row."""
    path, _, name = reference.partition('::')
    file = ROOT / 'tests' / path
    if not file.exists():
        return False
    text = file.read_text()
    if path.endswith('.tsv'):
        return any(line.startswith(name + '\t') for line in text.splitlines())
    return bool(re.search(rf'\b{re.escape(name)}\b', text))


def test_claims_of_the_documents_have_their_tests():
    text = (ROOT / 'docs' / 'documents.md').read_text()
    rows = [re.split(r'(?<!`) \| ', line.strip('| ')) for line in text.splitlines() if line[:2] == '| ']
    rows = [row for row in rows if row[0] != 'statement']
    assert len(rows) > 100
    for row in rows:
        tests = [word for word in re.findall(r'`([^`]+)`', row[-1]) if '::' in word]
        assert [test for test in tests if not names_a_test(test)] == [], row
        # What nothing shows says so.
        assert tests or 'not yet' in row[-1] or 'kernel' in row[-1], row


def test_a_test_that_does_not_exist_is_seen():
    assert names_a_test('e2e/test_docs.py::test_a_test_that_does_not_exist_is_seen')
    assert names_a_test('data/events/vm.tsv::{cs}')
    for reference in ('e2e/test_docs.py::test_no_such' + '_test', 'e2e/nothing.py::x', 'data/events/vm.tsv::no-such'):
        assert not names_a_test(reference)
