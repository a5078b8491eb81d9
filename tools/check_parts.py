# SPDX-License-Identifier: Apache-2.0
"""Tells which parts of `make check-more` the changes since the last landing call for.

The table is tests/parts.txt. The last landing is the commit that .ci/landed names: one for which all parts passed. If
that commit is absent or is not an ancestor of what is checked, every part is called for, as it is for a file that no
line of the table matches.
"""
import fnmatch
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# In the order in which they run: what fails often and early comes first, and what can be cut anywhere comes after that.
PARTS = ['races', 'without_bpf', 'musl', 'emulated', 'long', 'laws', 'mutation', 'packages', 'faults']


def read_table(root=ROOT):
    """A list of (pattern, parts)."""
    table = []
    for line in (root / 'tests/parts.txt').read_text(encoding='utf-8').splitlines():
        if not line or line.startswith('#'):
            continue
        pattern, _, names = line.partition(':')
        parts = PARTS if names.split() == ['all'] else names.split()
        unknown = [name for name in parts if name not in PARTS]
        if unknown:
            raise ValueError(f'tests/parts.txt: {pattern}: unknown part {unknown[0]}')
        table.append((pattern.strip(), parts))
    return table


def matches(pattern, path):
    return path == pattern or path.startswith(pattern + '/') or fnmatch.fnmatchcase(path, pattern)


def parts_of(path, table):
    """The parts that a change of this file calls for; None if the table does not know the file."""
    lines = [parts for pattern, parts in table if matches(pattern, path)]
    return {part for parts in lines for part in parts} if lines else None


def parts_of_all(paths, table):
    """In the order of PARTS."""
    wanted = set()
    for path in paths:
        parts = parts_of(path, table)
        wanted.update(PARTS if parts is None else parts)
    return [part for part in PARTS if part in wanted]


def verbs_of(folder):
    """The verbs that the commands in a folder of src/verbs define."""
    texts = [path.read_text(encoding='utf-8') for path in folder.glob('cmd_*.c')]
    return {verb for text in texts for verb in re.findall(r'^\t\.name = "([\w-]+)",$', text, re.M)}


def long_files(paths, table, root=ROOT):
    """The files of end-to-end tests whose long cases these changes call for; None: all of them.

    A changed verb calls for the files that name it, and a changed file for itself.
    """
    tests = {path: path.read_text(encoding='utf-8') for path in sorted((root / 'tests/e2e').glob('test_*.py'))}
    files = set()
    for path in paths:
        parts = parts_of(path, table)
        if parts is not None and 'long' not in parts:
            continue
        folder = root.joinpath(*path.split('/')[:3])
        verbs = verbs_of(folder) if path.startswith('src/verbs/') else set()
        if verbs:
            files.update(test for test, text in tests.items() if any(f"'{verb}'" in text for verb in verbs))
        elif root / path in tests:
            files.add(root / path)
        else:
            return None
    return sorted(str(test.relative_to(root)) for test in files)


def git(*arguments):
    return subprocess.run(['git', *arguments], cwd=ROOT, text=True, capture_output=True, check=False)


def changed_files():
    """Paths that differ from the last landing, untracked files included; None if that commit is not known."""
    landed = ROOT / '.ci/landed'
    base = landed.read_text(encoding='ascii').split()[0] if landed.exists() else ''
    if not base or git('merge-base', '--is-ancestor', base, 'HEAD').returncode:
        return None
    changed = git('diff', '--name-only', '--no-renames', base, '--').stdout.splitlines()
    return changed + git('ls-files', '--others', '--exclude-standard').stdout.splitlines()


def parts_of_changes():
    """(parts, files, why): the parts that are called for, the files of long cases (None: all), and a sentence that says by
    what."""
    changed = changed_files()
    if changed is None:
        return PARTS, None, 'all parts, as the commit in .ci/landed is not an ancestor of this one'
    table = read_table()
    return parts_of_all(changed, table), long_files(changed, table), f'{len(changed)} files differ from the last landing (.ci/landed)'
