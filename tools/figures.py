#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints figures of the source tree: names, circles of folders, rows of options, lines; on request skips and coverage.

usage: tools/figures.py [-v] [ROOT] [--skips REPORT.xml...] [--coverage SUMMARY.json]

ROOT is the tree to look at: this one, or a worktree of another commit. The skips are those of a run of the end-to-end
tests that is over: tools/check leaves build/e2e.xml and build/e2e-alone.xml. The coverage is what `make check-coverage`
leaves in build-coverage/coverage.json. -v lists the copies of option rows.
"""
import argparse
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

import check_layers
import check_names

# Comments go, strings stay: both are matched, so that neither begins inside the other.
TOKENS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
MACRO = re.compile(r'^#define (\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)', re.M)
KIND = r'OPTION_(?:FLAG|COUNT|STRING|U64|CALL|UNSUPPORTED)\b'
POSITIONAL = re.compile(r'\{\s*(?!OPTION_)(NULL|0|"[^"]*"|\(?\w+\)?)\s*,\s*[^,{}]+,\s*' + KIND)
NAMED = re.compile(r'\.kind = ' + KIND)
HELP = re.compile(r'\.help = [\s(]*((?:"(?:\\.|[^"\\])*"\s*)+)')
FILL = re.compile(r'struct binary_store_options(?:\)| \w+ =) *\{\s*(?!0\s*\})')


def without_comments(text):
    return TOKENS.sub(lambda match: ' ' if match[0].startswith('/') else match[0], text)


def blocks(text):
    """Every {...} that has no braces inside; those in strings and characters do not count."""
    begin = None
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{}]', text):
        if match[0] == '{':
            begin = match.start()
        elif match[0] == '}' and begin is not None:
            yield text[begin:match.end()]
            begin = None


def arguments_of(text, begin):
    """The arguments of a macro call whose first parenthesis is at begin, and where it ends."""
    found, depth, last = [], 0, begin + 1
    for match in re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[(){},]').finditer(text, begin):
        if match[0] in '({':
            depth += 1
        elif match[0] in ')}':
            depth -= 1
            if depth == 0:
                return [*found, text[last:match.start()].strip()], match.end()
        elif match[0] == ',' and depth == 1:
            found.append(text[last:match.start()].strip())
            last = match.end()
    return found, len(text)


def is_row(block):
    return bool(POSITIONAL.match(block) or NAMED.search(block))


def expand(text):
    """The text with the calls of its macros that make one row of their arguments, without these macros."""
    makers = {}
    for match in MACRO.finditer(text):
        parameters, body = [word.strip() for word in match[2].split(',') if word.strip()], match[3].replace('\\\n', ' ')
        name = POSITIONAL.search(body)
        name = name[1] if name else (re.search(r'\.name = ([^,}]*)', body) or ['', ''])[1]
        body = '{ ' + body + ' }' if '{' not in body else body
        if name.strip(' ()') in parameters and re.search(KIND, body):
            makers[match[1]] = parameters, body
    for macro, (parameters, body) in makers.items():
        text = MACRO.sub(lambda match, macro=macro: '' if match[1] == macro else match[0], text)
        call = re.compile(r'\b%s(?=\()' % macro)
        while match := call.search(text):
            words, end = arguments_of(text, match.end())
            values = dict(zip(parameters, words))
            row = re.sub(r'\w+', lambda word, values=values: values.get(word[0], word[0]), body)
            text = text[:match.start()] + row + text[end:]
    return text


def option_rows(root):
    """[(name, help, file)] of the rows of options as they are written: one that a macro holds for many verbs is one."""
    rows = []
    for file in sorted((root / 'src').rglob('*.[ch]')):
        text = without_comments(file.read_text())
        if not re.search(KIND, text):
            continue
        text = expand(text).replace('\\\n', ' ')
        for block in blocks(text):
            if not is_row(block):
                continue
            match = POSITIONAL.match(block)
            name = match[1] if match else (re.search(r'\.name = ([^,}]*)', block) or ['', ''])[1]
            name = (STRING.match(name.strip(' ()')) or [None, ''])[1]
            letter = re.search(r"'(.)'", block)
            words = ''.join(STRING.findall((HELP.search(block) or ['', ''])[1]))
            rows.append((name or (letter[1] if letter else ''), words, str(file.relative_to(root))))
    return rows


def circles(graph):
    """The sets of folders that reach each other, by Tarjan's algorithm."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in order:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], order[target])
        if low[node] == order[node]:
            members = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def print_options(root, is_verbose):
    rows = option_rows(root)
    by_name = collections.defaultdict(list)
    for name, words, file in rows:
        by_name[name].append((words, file))
    copies = sum(len(places) - 1 for places in by_name.values())
    same = sum(len(places) - len({words for words, _ in places}) for places in by_name.values())
    print(f'{len(rows)} rows of options: {copies} are second or later ones of a name, '
          f'{same} of them with the same words, {copies - same} with others')
    if is_verbose:
        for name, places in sorted(by_name.items(), key=lambda item: -len(item[1])):
            for words, file in places if len(places) > 1 else []:
                print(f'  {name}: {file}: {words}')


def print_lines(root):
    by_folder, by_room = collections.Counter(), collections.Counter()
    for file in (root / 'src').rglob('*.[ch]'):
        parts = file.relative_to(root / 'src').parts
        lines = file.read_text().count('\n')
        by_folder[parts[0]] += lines
        if parts[0] in ('cli', 'tasks', 'verbs') and len(parts) > 2:
            by_room['/'.join(parts[:2])] += lines
    print(f'{sum(by_folder.values())} lines of src: ' +
          ', '.join(f'{folder} {lines}' for folder, lines in by_folder.most_common()))
    print('of these: ' + ', '.join(f'{room} {lines}' for room, lines in by_room.most_common()))


def print_skips(reports):
    total, reasons = 0, collections.Counter()
    for report in reports:
        for case in xml.etree.ElementTree.parse(report).getroot().iter('testcase'):
            total += 1
            skipped = case.find('skipped')
            if skipped is not None:
                reasons[skipped.get('message')] += 1
    absent = sum(count for reason, count in reasons.items() if re.search(r'shared|corpus', reason))
    print(f'{sum(reasons.values())} of {total} end-to-end cases skip, {absent} for what is beside the source tree only')
    for reason, count in reasons.most_common():
        print(f'  {count:5} {reason}')


def print_coverage(path):
    folders = collections.defaultdict(lambda: [0, 0])
    for file, (covered, lines) in json.loads(path.read_text())['files'].items():
        folder = folders[file.split('/')[1]]
        folder[0] += covered
        folder[1] += lines
    covered, lines = (sum(folder[i] for folder in folders.values()) for i in (0, 1))
    print(f'{100 * covered / max(lines, 1):.1f} % of {lines} lines are covered: ' + ', '.join(
        f'{folder} {100 * part[0] / max(part[1], 1):.1f} %' for folder, part in sorted(folders.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage='%(prog)s [-v] [ROOT] [--skips REPORT.xml...] [--coverage SUMMARY.json]')
    parser.add_argument('-v', action='store_true', dest='is_verbose')
    parser.add_argument('root', nargs='?', type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument('--skips', nargs='+', type=pathlib.Path)
    parser.add_argument('--coverage', type=pathlib.Path)
    options = parser.parse_args()
    root = options.root.resolve()
    print(check_names.summary(root)[0])
    found = circles(check_layers.folder_graph(root))
    print(f'{len(found)} circles of folders' + ''.join(f'\n  {len(circle)}: {" ".join(circle)}' for circle in found))
    print_options(root, options.is_verbose)
    # Below code is the store itself.
    files = sorted((root / 'src').rglob('*.c'))
    fill = [str(f.relative_to(root)) for f in files if f.relative_to(root / 'src').parts[0] != 'code' and
            FILL.search(without_comments(f.read_text()))]
    print(f'{len(fill)} files fill struct binary_store_options: {" ".join(fill)}')
    print_lines(root)
    if options.skips:
        print_skips(options.skips)
    if options.coverage:
        print_coverage(options.coverage)
    return 0


if __name__ == '__main__':
    sys.exit(main())
