#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the lines of src that the tests run: unit and end-to-end tests together, in a build of its own.

usage: tools/coverage.py [--unit] [--count-only]

    --unit         run the unit tests only; print the figures, and refuse nothing
    --count-only   run nothing: count what earlier runs left in build-coverage

Prints the share by folder and the files below the limit, and leaves build-coverage/coverage.json for tools/figures.py.
Fails if fewer than 92 % of all lines are covered, or fewer than 60 % of one file's.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / 'build-coverage'
WHOLE_AT_LEAST = 92
FILE_AT_LEAST = 60


def run(*command, **environment):
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, check=False)


def run_tests(unit_only):
    if not (BUILD / 'build.ninja').exists():
        # -O0 would slow the tests down; at -O1 a line is still counted as a line.
        # Children that leave by _exit write no counters by themselves.
        run('meson', 'setup', BUILD, '-Db_coverage=true', '-Doptimization=1',
            f'-Dc_args=-include{ROOT}/tools/coverage_exit.h', CC='gcc')  # whose counters gcov reads
    if run('ninja', '-C', BUILD).returncode:
        sys.exit('coverage: the build failed')
    for counts in BUILD.rglob('*.gcda'):
        counts.unlink()
    failed = run('meson', 'test', '-C', BUILD, '--no-rebuild', '--timeout-multiplier', '5', '--suite', 'unit').returncode
    if not unit_only:
        # A program that is killed while it writes its counters leaves a file that the next ones complain about: not on their
        # standard error, which tests read.
        errors = BUILD / 'gcov-errors.txt'
        failed |= run(sys.executable, 'tools/check', 'e2e', BUILD=BUILD.name, GCOV_ERROR_FILE=str(errors)).returncode
    if failed:
        print('coverage: some tests failed: lines behind the failure are not counted')


def lines_of(counts):
    """{file: {line: calls}} of one object's counters."""
    command = ['gcov', '--json-format', '--stdout', counts]
    text = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=True).stdout
    found = {}
    for document in text.splitlines():
        for file in json.loads(document)['files']:
            path = (BUILD / file['file']).resolve()
            if path.is_relative_to(ROOT / 'src'):
                lines = found.setdefault(str(path.relative_to(ROOT)), {})
                for line in file['lines']:
                    lines[line['line_number']] = lines.get(line['line_number'], 0) + line['count']
    return found


def count():
    """{file: (covered, lines)}. An object that no test has run has no counters: its lines count as not covered."""
    total = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for found in pool.map(lines_of, sorted((BUILD / 'src').rglob('*.gcno'))):
            for file, lines in found.items():
                for number, calls in lines.items():
                    total[file][number] = total[file].get(number, 0) + calls
    return {file: (sum(calls > 0 for calls in lines.values()), len(lines)) for file, lines in sorted(total.items())}


def percent(covered, lines):
    return 100 * covered / max(lines, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--unit', action='store_true', help='run the unit tests only, and refuse nothing')
    parser.add_argument('--count-only', action='store_true', help='count what earlier runs left')
    options = parser.parse_args()
    if not options.count_only:
        run_tests(options.unit)
    files = count()
    (BUILD / 'coverage.json').write_text(json.dumps({'files': files}, indent=0))
    folders = collections.defaultdict(lambda: [0, 0])
    for file, (covered, lines) in files.items():
        parts = file.split('/')[1:-1]
        for folder in {'/'.join(parts[:1]), '/'.join(parts[:2])} if parts[0] in ('tasks', 'verbs') else {parts[0]}:
            folders[folder][0] += covered
            folders[folder][1] += lines
    for folder, (covered, lines) in sorted(folders.items()):
        print(f'{folder:20} {percent(covered, lines):5.1f} % of {lines:6}')
    low = {file: part for file, part in files.items() if percent(*part) < FILE_AT_LEAST}
    for file, (covered, lines) in sorted(low.items(), key=lambda item: -item[1][1]):
        print(f'below {FILE_AT_LEAST} %: {file}: {percent(covered, lines):.1f} % of {lines}')
    whole = percent(sum(covered for covered, _ in files.values()), sum(lines for _, lines in files.values()))
    print(f'{whole:.1f} % of {sum(lines for _, lines in files.values())} lines are covered')
    return 0 if options.unit else int(whole < WHOLE_AT_LEAST or bool(low))


if __name__ == '__main__':
    sys.exit(main())
