#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the sizes of our C: what CONVENTIONS calls hard fails; what it wants is noted with -v.

                      hard   wanted
function, lines        100       60
file, lines           1000      500
header, lines          400      250
parameters               6        6
nesting                  6        4

usage: tools/check_sizes.py [-v] [ROOT]
"""
import pathlib
import re
import sys

HARD = {'function': 100, 'file': 1000, 'header': 400, 'parameters': 6, 'nesting': 6}
WANTED = {'function': 60, 'file': 500, 'header': 250, 'parameters': 6, 'nesting': 4}
# Their parameters are those of Valgrind's interface.
GIVEN = ('sim_instrument',)
FOLDERS = ('src', 'simulator', 'include', 'tests', 'fuzz', 'examples', 'bench')
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M)
NAME = re.compile(r'([A-Za-z_]\w*)\s*\($')


def blank(match):
    """The token as blanks, so that lines and columns stay."""
    return re.sub(r'[^\n]', ' ', match[0])


def strip(text):
    text = TOKEN.sub(blank, text)
    return DIRECTIVE.sub(blank, text)


def line_of(text, at):
    return text.count('\n', 0, at) + 1


def split_parameters(text):
    depth, count = 0, 1
    for char in text:
        depth += char in '([{'
        depth -= char in ')]}'
        count += char == ',' and depth == 0
    return 0 if text.strip() in ('', 'void') else count


def parameters_of(name, text):
    return 0 if name in GIVEN else split_parameters(text)


def head_of(text, brace):
    """(name, parameters, start) of the function whose body opens at brace, or None if it is no function."""
    start = max(text.rfind(mark, 0, brace) for mark in ';}{') + 1
    head = text[start:brace]
    close = head.rfind(')')
    if close < 0 or '=' in head or head[close + 1:].strip():
        return None
    depth = 0
    for at in range(close, -1, -1):
        depth += head[at] == ')'
        depth -= head[at] == '('
        if depth == 0:
            break
    name = NAME.search(head[:at + 1].rstrip())
    if not name:
        return None
    begin = start + len(head) - len(head.lstrip())
    return name[1], head[at + 1:close], begin


def body_end(text, brace):
    """The offset of the closing brace, and how deep statement blocks nest (a table's braces do not count)."""
    blocks, depth, deepest, at = [], 0, 0, brace
    for match in re.finditer(r'[{}]', text[brace:]):
        at = brace + match.start()
        if match[0] == '{':
            before = text[:at].rstrip()
            is_block = before.endswith((')', 'else', 'do', ':', ';', '{', '}')) and not in_initialiser(blocks)
            blocks.append(is_block)
            depth += is_block
            deepest = max(deepest, depth)
        else:
            depth -= blocks.pop()
            if not blocks:
                break
    return at, max(deepest - 1, 0)


def in_initialiser(blocks):
    return bool(blocks) and not blocks[-1]


def functions(text):
    at = 0
    while True:
        brace = text.find('{', at)
        if brace < 0:
            return
        end, nesting = body_end(text, brace)
        head = head_of(text, brace)
        if head:
            name, parameters, begin = head
            first, last = line_of(text, begin), line_of(text, end)
            yield name, first, last - first + 1, parameters_of(name, parameters), nesting
            at = end + 1
        else:
            # extern "C" { ... } may hold functions; a struct or a table holds none that we would find.
            at = brace + 1 if text[:brace].rstrip().endswith('extern') else end + 1


def prototypes(text):
    """Parameter counts of what is declared and not defined here."""
    for match in re.finditer(r'([A-Za-z_]\w*)\s*\(([^;{}]*)\)[^;{}()]*;', text):
        line_start = text.rfind('\n', 0, match.start()) + 1
        if not text[line_start:line_start + 1].isspace():
            yield match[1], line_of(text, match.start()), parameters_of(match[1], match[2])


def check_text(path, raw):
    """(kind, value, message) for each size of the file."""
    text = strip(raw)
    count = raw.count('\n')
    kind = 'header' if path.suffix == '.h' else 'file'
    yield kind, count, f'{path}: {count} lines'
    for name, line, length, parameters, nesting in functions(text):
        yield 'function', length, f'{path}:{line}: {name} has {length} lines'
        yield 'parameters', parameters, f'{path}:{line}: {name} has {parameters} parameters'
        yield 'nesting', nesting, f'{path}:{line}: {name} nests {nesting} deep'
    if kind == 'header':
        for name, line, parameters in prototypes(text):
            yield 'parameters', parameters, f'{path}:{line}: {name} has {parameters} parameters'


def check(root):
    problems, notes = [], []
    for folder in FOLDERS:
        for path in sorted([*(root / folder).rglob('*.c'), *(root / folder).rglob('*.h')]):
            raw = path.read_text(errors='replace')
            for kind, value, message in check_text(path.relative_to(root), raw):
                if value > HARD[kind]:
                    problems.append(f'{message}, limit {HARD[kind]}')
                elif value > WANTED[kind]:
                    notes.append(f'{message}, wanted {WANTED[kind]}')
    return problems, notes


def main():
    arguments = [a for a in sys.argv[1:] if a != '-v']
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    problems, notes = check(root)
    if '-v' in sys.argv:
        for note in notes:
            print('note:', note)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
