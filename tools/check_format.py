#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that clang-format would change no C source (it also orders includes: own header, system headers, ours), that no
text file has trailing blanks, that each source names its licence in its first lines, that no blank line parts a function's
first declarations from the rest, and that a tally_status is called status.

usage: tools/check_format.py [ROOT]      exit 77: clang-format is missing
"""
import pathlib
import re
import shutil
import subprocess
import sys

C_FOLDERS = ('src', 'simulator', 'include', 'tests', 'fuzz', 'examples', 'bench')
TEXT_FOLDERS = ('tools', 'docs', *C_FOLDERS)
TEXT_SUFFIXES = ('.c', '.h', '.cc', '.py', '.md', '.build', '.txt', '')
LICENSED = ('.c', '.h', '.cc', '.py', '.build')
LICENSE = 'SPDX-License-Identifier: Apache-2.0'
# Of programs in the kernel, which lets only those under the GPL call some of its helpers.
BPF_LICENSE = LICENSE + ' OR GPL-2.0-only'
DECLARATION = re.compile(r'\t+(?:static |const |volatile )*(?:(?:struct|enum|union) \w+|unsigned|int|long|bool|char|double|float|'
                         r'\w+_t|void|FILE|DIR|va_list)(?: \w+)*[ *]+\w+(?:\[[^\]]*\])*(?: = |;|,|\()')
STATUS = re.compile(r'enum tally_status \**st\b')
# Texts that a program printed are kept as they are.
KEPT = ('tests/golden', 'tests/data', 'fuzz/regressions', 'fuzz/seeds')


def files_of(root, folders, suffixes):
    for folder in folders:
        for path in sorted((root / folder).rglob('*')):
            name = path.relative_to(root).as_posix()
            if path.is_file() and path.suffix in suffixes and not name.startswith(KEPT) and '__pycache__' not in name:
                yield name


def blank_lines(text):
    """The numbers of the blank lines that follow the declarations at the beginning of a function or a block."""
    lines = text.split('\n')
    for number, line in enumerate(lines):
        if line != '{' and not line.endswith((') {', 'else {', 'do {')):
            continue
        inside = '\t' * (len(line) - len(line.lstrip('\t')) + 1)
        end = number + 1
        while end < len(lines) and lines[end].startswith(inside) and (
                DECLARATION.match(lines[end]) or
                (end > number + 1 and (lines[end].startswith(inside + '\t') or lines[end] == inside + '};'))):
            end += 1
        if number + 1 < end < len(lines) and not lines[end]:
            yield end + 1


def check(root):
    problems = []
    for name in files_of(root, TEXT_FOLDERS, TEXT_SUFFIXES):
        data = (root / name).read_bytes()
        if b'\0' in data:
            continue
        if name.endswith(LICENSED) or data.startswith(b'#!'):
            wanted = BPF_LICENSE if name.endswith(('.bpf.c', '.bpf.h')) else LICENSE
            if wanted.encode() not in b'\n'.join(data.split(b'\n', 2)[:2]):
                problems.append(f'{name}:1: the first lines lack {wanted}')
        for number, line in enumerate(data.split(b'\n'), 1):
            if line != line.rstrip():
                problems.append(f'{name}:{number}: trailing blanks')
        if data and not data.endswith(b'\n'):
            problems.append(f'{name}: no newline at the end')
    sources = list(files_of(root, C_FOLDERS, ('.c', '.h')))
    for name in sources:
        text = (root / name).read_text()
        problems += [f'{name}:{number}: blank line behind declarations' for number in blank_lines(text)]
        problems += [f'{name}: {found[0]}: call it status' for found in STATUS.finditer(text)]
    if sources:
        result = subprocess.run(['clang-format', '--dry-run', '-Werror', *sources], cwd=root, text=True,
                                capture_output=True, check=False)
        if result.returncode:
            problems += [line for line in result.stderr.splitlines() if 'clang-format-violations' in line]
    return problems


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    if not shutil.which('clang-format'):
        print('clang-format is not installed')
        return 77
    problems = check(root)
    for problem in problems:
        print(problem)
    if problems:
        print('run: make format')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
