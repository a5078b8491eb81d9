#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that names find themselves: grep, gdb, ctags and profiles of tally show one function or struct for a name.

At most 2 % of the static functions of src may share their name with another file's, at most 2 % may be one word, and no
struct tag may be defined twice. A static function is named after its file: record_rings.c has record_rings_map.

A macro, an enumerator, a static object or a static function of a .c file has a name that no other .c file of the same
folder defines, because unity builds compile a folder's files together. A macro that its file ends with #undef is free.

usage: tools/check_names.py [-v] [ROOT]
"""
import collections
import pathlib
import re
import sys

MOST = 0.02
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
# A definition at the left edge: "static TYPE name(" whose parameters are followed by a body.
FUNCTION = re.compile(r'^static [^;={}()]*?(?:__attribute__\(\([^)]*\)*\)\)\s*)?\b(\w+)\(', re.M)
STRUCT = re.compile(r'\bstruct (\w+)\s*\{')
MACRO = re.compile(r'^[ \t]*#[ \t]*(define|undef)[ \t]+(\w+)', re.M)
OBJECT = re.compile(r'^(?:static (?!inline)[^;={}()\n]*?|\} )\b(\w+)(?:\[[^]\n]*\])*\s*(?:=|;)', re.M)
ENUM = re.compile(r'^(?:static |typedef )?enum\b[^{;()]*\{(.*?)\}', re.M | re.S)
ENUMERATOR = re.compile(r'(?:^|,)\s*(\w+)')
# Attributes between a function's type and its name look like calls.
ATTRIBUTES = {'TALLY_PRINTF'}


def names_of(root):
    """{function: files} of static functions, and {tag: files} of struct definitions, a file for each time."""
    functions, tags = collections.defaultdict(set), collections.defaultdict(list)
    for file in sorted((root / 'src').rglob('*.[ch]')):
        text = COMMENT.sub(' ', file.read_text())
        place = str(file.relative_to(root))
        if file.suffix == '.c':
            for name in set(FUNCTION.findall(text)):
                functions[name].add(place)
        for tag in STRUCT.findall(text):
            tags[tag].append(place)
    return functions, tags


def file_names(text):
    """What a .c file defines at file scope for itself alone: macros, enumerators, static objects and functions."""
    macros = {}
    for word, name in MACRO.findall(text):
        macros[name] = word
    text = COMMENT.sub(' ', text)
    found = {name for name, word in macros.items() if word == 'define'}
    found.update(OBJECT.findall(text), FUNCTION.findall(text))
    for body in ENUM.findall(text):
        found.update(ENUMERATOR.findall(body))
    return found - ATTRIBUTES


def folder_names(root):
    """{folder/name: files} of names that two .c files of a folder define; programs for BPF are compiled alone."""
    twice = {}
    for folder in sorted(path for path in (root / 'src').iterdir() if path.is_dir()):
        places = collections.defaultdict(list)
        for file in sorted(folder.rglob('*.c')):
            if not file.name.endswith('.bpf.c'):
                for name in file_names(file.read_text()):
                    places[name].append(str(file.relative_to(root)))
        twice.update({f'{folder.name}/{name}': files for name, files in places.items() if len(files) > 1})
    return twice


def summary(root):
    """The sentence with the figures, whether they are too many, and what was found, by kind."""
    functions, tags = names_of(root)
    total = sum(len(places) for places in functions.values())
    shared = {name: places for name, places in functions.items() if len(places) > 1}
    shared_count = sum(len(places) for places in shared.values())
    short = {name: places for name, places in functions.items() if '_' not in name}
    short_count = sum(len(places) for places in short.values())
    twice = {tag: places for tag, places in tags.items() if len(places) > 1}
    folder = folder_names(root)
    text = (f'{total} static functions: {shared_count} share their name with another file\'s '
            f'({100 * shared_count / max(total, 1):.1f} %), {short_count} are one word '
            f'({100 * short_count / max(total, 1):.1f} %); {len(twice)} struct tags are defined twice; '
            f'{len(folder)} names are defined by two files of a folder')
    is_bad = bool(twice) or bool(folder) or shared_count > MOST * total or short_count > MOST * total
    return text, is_bad, {'shared': shared, 'one word': short, 'struct': twice, 'folder': folder}


def main(arguments):
    is_verbose = '-v' in arguments
    roots = [a for a in arguments if a != '-v']
    text, is_bad, kinds = summary(pathlib.Path(roots[0] if roots else pathlib.Path(__file__).resolve().parent.parent))
    print(text)
    if is_bad or is_verbose:
        for kind, found in kinds.items():
            for name, places in sorted(found.items()):
                print(f'{kind}: {name}: {" ".join(sorted(places))}')
    return 1 if is_bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
