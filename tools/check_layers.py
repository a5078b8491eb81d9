#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the includes of src/ against src/layers.txt.

A file of a folder includes only files of its own folder and of the folders that the table allows it; include/tally is
open to all, as is simulator/stream.h. Inside a folder, modules (a .h and .c of one path) may not include each other in a circle; a header
without a .c of its own is a part of the modules that include it. Folders at any depth may not include each other in a
circle either, and no verb (src/verbs/NAME) includes another.

usage: tools/check_layers.py [ROOT]
"""
import pathlib
import re
import sys

# Headers that the build makes.
GENERATED = {'tally_config.h', 'cli/commit.h', 'store/clickhouse_schema_sql.h', 'verbs/script_driver.h', 'view/fleet_html.h', 'view/flame_html.h', 'view/report_html.h', 'view/flame_svg_script.h', 'view/timechart_html_page.h'}
# What the simulator, a program of its own, writes: constants and structs only.
STREAM = 'simulator/stream.h'
SKELETON = re.compile(r'bpf/\w+\.skel\.h')
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def read_table(path):
    """The allowed folders by folder; each may use those above it only, so the table itself has no circle."""
    table = {}
    problems = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        folder, colon, rest = line.partition(':')
        allowed = rest.split()
        if not colon:
            problems.append(f'{path}:{number}: expected "folder: folders"')
            continue
        for name in allowed:
            if name not in table:
                problems.append(f'{path}:{number}: {folder} may use {name}, which is not above it')
        table[folder.strip()] = set(allowed)
    return table, problems


def resolve(root, source, name):
    """The included file's path below src/, 'tally' for a public header, None if it is not a file of ours."""
    if name.startswith('tally/') and (root / 'include' / name).exists():
        return 'tally'
    if name == STREAM and (root / name).exists():
        return 'tally'
    for base in (source.parent, root / 'src'):
        path = (base / name).resolve()
        if path.exists() and path.is_relative_to(root / 'src'):
            return path.relative_to(root / 'src')
    return None


def find_circle(graph):
    """One circle of the graph as a list of nodes, or None."""
    state = {}
    for start in sorted(graph):
        if start in state:
            continue
        path, stack = [], [(start, None)]
        while stack:
            node, targets = stack[-1]
            if targets is None:
                state[node] = 'open'
                path.append(node)
                targets = iter(sorted(graph.get(node, ())))
                stack[-1] = (node, targets)
            target = next(targets, None)
            if target is None:
                state[node] = 'done'
                path.pop()
                stack.pop()
            elif state.get(target) == 'open':
                return path[path.index(target):] + [target]
            elif target not in state:
                stack.append((target, None))
    return None


def folder_graph(root):
    """{folder: folders that its files include}, folders at any depth, as paths below src."""
    src, folders = root.resolve() / 'src', {}
    for source in sorted([*src.rglob('*.c'), *src.rglob('*.h')]):
        folder = str(source.relative_to(src).parent)
        for match in INCLUDE.finditer(source.read_text(errors='replace')):
            target = resolve(root.resolve(), source, match[1])
            if target not in (None, 'tally') and str(target.parent) != folder:
                folders.setdefault(folder, set()).add(str(target.parent))
    return folders


def check(root):
    root = root.resolve()
    src = root / 'src'
    table, problems = read_table(src / 'layers.txt')
    graphs = {}
    for source in sorted([*src.rglob('*.c'), *src.rglob('*.h')]):
        path = source.relative_to(src)
        folder = path.parts[0]
        if folder not in table:
            problems.append(f'src/{path}: folder {folder} is not in src/layers.txt')
            continue
        text = source.read_text(errors='replace')
        for match in INCLUDE.finditer(text):
            where = f'src/{path}:{text.count(chr(10), 0, match.start(1)) + 1}'
            target = resolve(root, source, match[1])
            if target is None:
                if match[1] not in GENERATED and not SKELETON.fullmatch(match[1]):
                    problems.append(f'{where}: "{match[1]}" is neither in src/ nor in include/; use <> for others')
                continue
            if target == 'tally':
                continue
            other = target.parts[0]
            if folder == other == 'verbs' and path.parent != target.parent:
                problems.append(f'{where}: a verb may not include another ("{match[1]}")')
            if other == folder:
                module, used = path.with_suffix(''), target.with_suffix('')
                is_part = path.suffix == '.c' and not (src / target).with_suffix('.c').exists()
                if module != used and not is_part:
                    graphs.setdefault(folder, {}).setdefault(str(module), set()).add(str(used))
            elif other not in table[folder]:
                problems.append(f'{where}: {folder} may not include {other} ("{match[1]}")')
    for folder, graph in graphs.items():
        circle = find_circle(graph)
        if circle:
            problems.append(f'src/{folder}: modules include each other in a circle: ' + ' -> '.join(circle))
    circle = find_circle(folder_graph(root))
    if circle:
        problems.append('src: folders include each other in a circle: ' + ' -> '.join(circle))
    return problems


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
