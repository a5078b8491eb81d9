#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents against the tree.

Every folder of src/ that has sources, and every layer, has a README.md of at most 40 lines. ARCHITECTURE.md names every
layer and has at most 150 lines. Every path in backquotes in a document or in a README.md of src/ exists, and every function or type that ARCHITECTURE.md,
CONTRIBUTING.md and docs/extending.md name.

usage: tools/check_docs.py [ROOT]
"""
import pathlib
import re
import sys

README_LINES = 40
ARCHITECTURE_LINES = 150
FOLDERS = ('src', 'include', 'tests', 'tools', 'docs', 'examples', 'fuzz', 'bench')
SOURCES = ('.c', '.h', '.py', '.js', '.html')


def layers(root):
    lines = (root / 'src' / 'layers.txt').read_text().splitlines()
    return [line.split(':')[0] for line in lines if ':' in line and not line.startswith('#')]


def paths_in(text, names, in_source=False):
    """The words in backquotes that look like paths: folder/file, with a folder of the root or a layer (names) first.

    In the README.md of a folder of src, also the files of that folder by their own names.
    """
    for span in re.findall(r'`([^`\n]+)`', text):
        word = span.split()[0]
        if re.search(r'[<>*$={}]|NAME', word):
            continue
        is_path = '/' in word and word.split('/')[0] in (*FOLDERS, *names)
        if is_path or (in_source and word.endswith(SOURCES)):
            yield word


def exists(root, word, folder=None):
    """A path is given from the root, from src/ or from the document's own folder; a module may lack its suffix."""
    places = [root / word, root / 'src' / word, *([folder / word] if folder else [])]
    return any(path.exists() or path.with_name(path.name + '.c').exists() or path.with_name(path.name + '.h').exists()
               for path in places)


def documents(root):
    return [path for path in (root / 'README.md', root / 'ARCHITECTURE.md', root / 'CONTRIBUTING.md',
                              *sorted((root / 'docs').glob('**/*.md'))) if path.exists()]


def find_missing_paths(root):
    names, problems = layers(root), []
    for path in [*documents(root), *sorted((root / 'src').rglob('README.md'))]:
        in_source = path.is_relative_to(root / 'src')
        for number, line in enumerate(path.read_text().splitlines(), 1):
            problems += [f'{path.relative_to(root)}:{number}: {word} does not exist'
                         for word in paths_in(line, names, in_source)
                         if not exists(root, word, path.parent if in_source else None)]
    return problems


def find_readmes(root):
    src, problems = root / 'src', []
    folders = {path.parent for path in src.rglob('*') if path.suffix in SOURCES} | {src / name for name in layers(root)}
    for folder in sorted(folders - {src}):
        readme = folder / 'README.md'
        if not readme.exists():
            problems.append(f'{folder.relative_to(root)}: README.md is missing; say which question the folder answers')
        elif len(readme.read_text().splitlines()) > README_LINES:
            problems.append(f'{readme.relative_to(root)}: more than {README_LINES} lines')
    return problems


def find_architecture(root):
    text = (root / 'ARCHITECTURE.md').read_text()
    names = layers(root)
    named = {word.removeprefix('src/').split('/')[0] for word in paths_in(text, names)}
    problems = [f'ARCHITECTURE.md: no path of the layer {name} is named' for name in names if name not in named]
    if len(text.splitlines()) > ARCHITECTURE_LINES:
        problems.append(f'ARCHITECTURE.md: more than {ARCHITECTURE_LINES} lines')
    return problems


def find_missing_names(root):
    """Functions and types that the documents for developers name: `foo_bar` or `foo_bar(...)`."""
    known, problems = set(), []
    for path in (path for folder in ('src', 'include', 'tests', 'tools') for path in (root / folder).rglob('*')):
        if path.suffix in (*SOURCES, '.build', '.txt'):
            known.update(re.findall(r'\w+', path.read_text(errors='replace')))
    for path in (root / name for name in ('ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/extending.md')):
        text = path.read_text() if path.exists() else ''
        for number, line in enumerate(text.splitlines(), 1):
            problems += [f'{path.relative_to(root)}:{number}: nothing in the sources is named {word}' for word in
                         re.findall(r'`(?:struct |enum )?([a-z]\w*_\w+)(?:\([^`]*\))?`', line) if word not in known]
    return problems


def check(root):
    root = root.resolve()
    return find_readmes(root) + find_architecture(root) + find_missing_paths(root) + find_missing_names(root)


def main():
    problems = check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
