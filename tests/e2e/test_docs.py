# SPDX-License-Identifier: Apache-2.0
"""The documents agree with the tree, and what they claim has a test."""
import pathlib
import re

import check_docs
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path):
    """A source tree of one layer, about which there is nothing to say."""
    folder = tmp_path / 'src' / 'base'
    folder.mkdir(parents=True)
    (tmp_path / 'docs').mkdir()
    (tmp_path / 'src' / 'layers.txt').write_text('base:\n')
    (folder / 'arena.c').write_text('')
    (folder / 'README.md').write_text('Read `arena.c` first.\n')
    (tmp_path / 'ARCHITECTURE.md').write_text('See `src/base/arena.c`.\n')
    return tmp_path


def test_documents_agree_with_the_tree():
    assert check_docs.check(ROOT) == []


def test_functions_that_documents_name(tree):
    (tree / 'src' / 'base' / 'arena.c').write_text('void arena_reset(void);\n')
    (tree / 'docs' / 'extending.md').write_text('Call `arena_reset()`, with a\n`struct arena_mark`.\n')
    assert check_docs.check(tree) == ['docs/extending.md:2: nothing in the sources is named arena_mark']


def test_a_tree_with_its_documents_passes(tree):
    assert check_docs.check(tree) == []


@pytest.mark.parametrize('name, text', [
    ('ARCHITECTURE.md', 'See `base/arena` and `base/no_such_module`.\n'),
    ('docs/page.md', 'See `src/base/arena.c` and `src/base/no_such_module`.\n'),
    ('src/base/README.md', 'Read `arena.c`, then `no_such_module.h`.\n'),
])
def test_a_path_that_does_not_exist_is_seen(tree, name, text):
    (tree / name).write_text(text)
    problems = check_docs.check(tree)
    assert len(problems) == 1
    assert problems[0].startswith(f'{name}:1: ') and 'no_such_module' in problems[0]


def test_what_is_no_path_is_not_looked_for():
    assert list(check_docs.paths_in('`perf_event_open(2)`, `n/a`, `src/<verb>/x.c`, `src/base`', ['base'])) == ['src/base']


def test_a_folder_without_a_readme_is_seen(tree):
    (tree / 'src' / 'base' / 'README.md').unlink()
    assert check_docs.check(tree) == ['src/base: README.md is missing; say which question the folder answers']


def test_documents_that_are_too_long_are_seen(tree):
    (tree / 'src' / 'base' / 'README.md').write_text('line\n' * 41)
    (tree / 'ARCHITECTURE.md').write_text('`src/base`\n' + 'line\n' * 150)
    assert check_docs.check(tree) == ['src/base/README.md: more than 40 lines', 'ARCHITECTURE.md: more than 150 lines']


def test_a_layer_that_the_architecture_leaves_out_is_seen(tree):
    (tree / 'ARCHITECTURE.md').write_text('Nothing.\n')
    assert check_docs.check(tree) == ['ARCHITECTURE.md: no path of the layer base is named']


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
