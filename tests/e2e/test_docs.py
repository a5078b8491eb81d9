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


@pytest.mark.parametrize('name', ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/compatibility.md'])
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
