#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a phrase that reads badly is in a text for users or for the next engineer, and says what to write instead.

usage: tools/check_words.py
Looks at comments and string literals of C sources, at Python sources, at documents. codespell looks at spelling, where it
is installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Each: what may not be written, what is meant.
PHRASES = [
    (r'memory is out\b', 'out of memory'),
    (r'\bfor who (?!in\b)(?=[a-z])', 'for whoever, or name who it is'),
    (r'\bwhere there is none\b', 'if there is none, or name what is missing'),
    (r'\bwhat is whole\b', 'what is intact'),
    (r'\bthat it has not\b', 'that it lacks'),
    (r'\b(?:is|are) told on standard error\b', 'is reported on standard error'),
    (r'\bis said on the screen\b', 'is shown on the screen'),
    (r'\bno code (?:is )?at hand\b', 'no code is available'),
    (r'\b(?:was|were|is|are) (?:not )?at hand\b', 'is available'),
    (r'\btells where was looked\b', "run 'report --missing' to see where symbols were searched"),
    (r'\bcannot be had\b', 'is not available'),
    (r'\btakes no words\b', "unexpected argument '...'"),
    (r"%s' is one more\b", "unexpected argument '...'"),
    (r'\btakes options only\b', "unexpected argument '...'"),
    (r'\bexclude (?:each other|one another)\b', 'cannot be used together'),
    (r'\bwhich is the rule\b', 'which is the default'),
    (r'\bof the configuration is not followed\b', 'the configuration setting ... is ignored'),
    (r'\bis asked for"', 'passes the filters'),
    (r'\bsays? nothing for\b', 'has not answered for'),
    (r'\bmay be another build\'s\b', 'may come from another build'),
    (r'\bbreaks its format\b', 'does not match its format'),
    (r'\bhas no meaning\b', 'name the valid values'),
    (r'\bmeans nothing without\b', 'requires'),
    (r'\bcop(?:y|ies) of (?:a |the )?stacks?\b', 'stack dump'),
    (r'\bcopied stacks?\b', 'stack dump'),
    (r'\bforetold wrong\b', 'mispredicted'),
    (r'\bwhoever owns (?:it|them)\b', 'do not check who owns the file'),
    (r'\bdid not come to the end\b', 'did not finish'),
    (r'\bno memory or disk left\b', 'ran out of memory or disk space'),
    (r'\bgives other rights\b', 'changes privileges'),
    (r'\bno sound ELF\b', 'not a valid ELF file'),
    (r'\bwants? arguments\b', 'requires arguments'),
    (r'\bwants the name of\b', 'requires the name of'),
    (r'\bnothing here is called\b', 'no ... matches'),
    (r'\bone word too many\b', "unexpected argument '...'"),
    (r'\bstood behind it\b', 'followed it'),
    (r'\bwhere was looked\b', 'where it was searched'),
    (r'\bat the price of reading\b', 'at the cost of reading'),
    (r'\bis not what this PMU can do\b', 'this PMU cannot'),
    (r'\bthe machine does not say it\b', 'the machine does not report it'),
    (r'\bdraw the screen anew\b', 'redraw the screen'),
    (r'\bfound no row\b', 'are in no row'),
    (r'\bbuilds apart that ran\b', 'distinguishes builds that ran'),
    (r': so perf\b', 'as in perf'),
    (r'\blet go of\b', 'dropped, freed'),
    (r'\btold elsewhere\b', 'is reported elsewhere'),
    (r'\bsize lies\b', 'its size is impossible'),
    (r'\ball (?:that )?it is given\b', 'its arguments'),
    (r'\bNames are hostile\b', 'names are not trusted'),
    (r'\bcome to some\b', 'reach some'),
    (r'\bNot how it (?:looks|is drawn)\b', 'drawing is done elsewhere'),
]
QUOTING = ('check_words.py', 'test_checkers.py', 'CONTRIBUTING.md')  # these name the phrases
# Few files have the longest plain part of a phrase; only these are searched for it. A comment or a document breaks lines
# anywhere: blanks stand for that, too.
SEARCHES = [(max(re.findall("[a-z' ]+", re.sub(r'\(.*?\)|\\b', '|', phrase)), key=len), re.compile(phrase.replace(' ', r'\s+')), better)
            for phrase, better in PHRASES]
LINE_BREAK = re.compile(r'\s*\n\s*(\*(?!/))?\s*')
TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)


def texts(path, source):
    """The parts (start, end) of a source that are not code."""
    if path.suffix not in ('.c', '.h'):
        return [(0, len(source))]
    return [match.span() for match in TEXT.finditer(source)]


def files(root):
    listed = subprocess.run(['git', 'ls-files', 'src', 'simulator', 'include', 'docs', 'tests', 'tools', 'bench', 'examples', 'fuzz', '*.md'],
                            cwd=root, text=True, capture_output=True, check=True).stdout.split('\n')
    for name in listed:
        path = root / name
        if path.suffix in ('.c', '.h', '.py', '.md') and path.name not in QUOTING and path.exists():
            yield path


def find_phrases(root):
    found = []
    for path in files(root):
        source = path.read_text(encoding='utf-8', errors='replace')
        flat = LINE_BREAK.sub(lambda match: ' ' * len(match.group()), source)
        words = ' '.join(flat.split())
        for part, phrase, better in SEARCHES:
            for match in phrase.finditer(flat) if part in words else ():
                if any(start <= match.start() and match.end() <= end for start, end in texts(path, source)):
                    line = source.count('\n', 0, match.start()) + 1
                    found.append(f'{path.relative_to(root)}:{line}: "{match.group()}": write: {better}')
    return found


def find_misspellings():
    if not shutil.which('codespell'):
        print('codespell is not installed: spelling is not checked')
        return []
    result = subprocess.run(['codespell', '--ignore-words', 'tools/words.txt', '--skip', '*.data,*.json,tests/data,tests/corpus,*.svg',
                             'src', 'simulator', 'include', 'docs', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
                            cwd=ROOT, text=True, capture_output=True, check=False)
    return result.stdout.splitlines() or result.stderr.splitlines()


def main():
    found = find_phrases(ROOT) + find_misspellings()
    print('\n'.join(found) if found else f'{len(PHRASES)} phrases, none found')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
