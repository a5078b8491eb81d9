# SPDX-License-Identifier: Apache-2.0
"""Places of probes by debug information, and `probe -L`: as perf has them, or as addr2line and line tables prove
(tests/live/probe_places.py); and what is said of places that are not there."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'live'))
import probe_places  # noqa: E402  pylint: disable=wrong-import-position

COMPARED = ('C gcc -O0', 'C gcc -O2', 'C clang -O0', 'C clang -O2', 'C gcc -gsplit-dwarf -O0', 'C++ gcc -O0', 'C++ clang -O2',
            'Rust -O0', 'Rust -O2')


# perf takes a second for each function of some of them.
@pytest.mark.parametrize('build', [build if build in ('C gcc -O2', 'C clang -O0') else pytest.param(build, marks=pytest.mark.long)
                                   for build in COMPARED])
def test_as_perf(tally, newest_perf, build, tmp_path, monkeypatch):
    """Twenty functions of a program each."""
    lacking = probe_places.missing(build)
    if lacking:
        pytest.skip(f'{lacking} is not installed')
    program = probe_places.Program(tmp_path, build)
    monkeypatch.setenv('HOME', str(tmp_path))
    if probe_places.run(program, newest_perf.path, '-D', 'main')[0] != 0:
        pytest.skip('perf probe -D does not run here')
    counts, wrong = probe_places.compare(program, newest_perf.path, tally.path, brief=True)
    assert not wrong, '\n'.join(wrong)
    assert counts['same'] > counts.total() / 5


@pytest.fixture(name='program')
def built_program(tmp_path):
    """The C program, not optimized, beside its source."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    shutil.copy(probe_places.HERE / 'probed' / 'twenty.c', tmp_path)
    subprocess.run(['gcc', '-g', '-O0', str(tmp_path / 'twenty.c'), '-o', str(tmp_path / 'twenty')], check=True)
    return tmp_path / 'twenty'


def line_of(program, text):
    """The number of the first line of the source with the text."""
    lines = program.with_suffix('.c').read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def defined(tally, program, definition):
    """The offsets in the file of a definition."""
    result = tally('probe', '-x', program, '-D', definition)
    assert result.returncode == 0, result.stderr
    return [int(text, 16) for text in re.findall(r':(0x[0-9a-f]+)', result.stdout)]


def refused(tally, program, definition):
    result = tally('probe', '-x', program, '-D', definition)
    assert result.returncode != 0 and not result.stdout, result.stdout
    return result.stderr


def test_functions_and_lines(tally, program):
    """Entries are those of the symbols; a line is the same, counted from its function or its source."""
    symbols = {name: int(address, 16) for address, _, name in
               (line.split() for line in subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout.splitlines()
                if len(line.split()) == 3)}
    for name in ('add', 'make', 'main'):
        assert defined(tally, program, name) == [symbols[name]]
        assert defined(tally, program, f'{name}+1') == [symbols[name] + 1]
        assert defined(tally, program, f'{name}@twenty.c') == [symbols[name]]
    declared = line_of(program, 'struct node *make(')
    assert defined(tally, program, 'make:3') == defined(tally, program, f'twenty.c:{declared + 3}')
    assert defined(tally, program, 'is_*') == [symbols['is_odd'], symbols['is_even']]
    # Three calls were inlined, whose lines have code thrice.
    assert len(defined(tally, program, 'cube')) == 3
    assert sorted(defined(tally, program, 'cube')) == sorted(defined(tally, program, 'cube:2'))
    assert defined(tally, program, 'make;*node->next=next*') == defined(tally, program, 'make:6')
    # Behind the prologue, where the parameter is.
    assert defined(tally, program, 'add a') == defined(tally, program, 'add:2')


def test_refusals(tally, program):
    declared = line_of(program, 'struct node *make(')
    assert "Probe point 'make:100' not found" in refused(tally, program, 'make:100')
    assert f'the next line with code is {declared}' in refused(tally, program, f'twenty.c:{declared - 1}')
    assert 'all calls of it are inlined' in refused(tally, program, 'cube%return')
    assert 'is bigger than the size of add' in refused(tally, program, 'add+100000')
    assert "no line with code matches 'nothing*'" in refused(tally, program, 'make;nothing*')
    result = tally('probe', '-x', program, '--no-inlines', '-D', 'cube')
    assert result.returncode != 0 and '--no-inlines' in result.stderr
    program.with_suffix('.c').unlink()
    assert '--source' in refused(tally, program, 'make;*node*')
    assert '--source' in tally('probe', '-x', program, '-L', 'make').stderr


def test_listing(tally, program):
    """Lines are numbered that have code, in the range given; the source may be elsewhere now."""
    listed = tally('probe', '-x', program, '-L', 'make:2-4').stdout.splitlines()
    assert listed[0] == f'<make@{program.with_suffix(".c")}:2>'
    assert listed[1:] == ['      2  \tstruct node *node = malloc(sizeof(*node));', '      3  \tif (!node)', '      4  \t\tabort();']
    whole = tally('probe', '-x', program, '-L', 'twenty.c').stdout.splitlines()
    assert [line[9:] for line in whole[1:]] == program.with_suffix('.c').read_text().splitlines()
    away = program.parent / 'away'
    away.mkdir()
    program.with_suffix('.c').rename(away / 'twenty.c')
    moved = tally('probe', '-x', program, '-s', away, '-L', 'make:2-4').stdout.splitlines()
    assert moved == [f'<make@{away}/twenty.c:2>', *listed[1:]]
    result = tally('probe', '-x', program, '-L', 'no_such_function')
    assert result.returncode != 0
    assert 'Specified source line(function: no_such_function, line:0) is not found.' in result.stderr


def test_debug_information_elsewhere(tally, program, tmp_path):
    """In a file that the program names by .gnu_debuglink, and compressed."""
    if not shutil.which('objcopy'):
        pytest.skip('objcopy is not installed')
    wanted = {name: defined(tally, program, name) for name in ('cube', 'make:3', 'twenty.c;*sum*')}
    debug = tmp_path / 'twenty.debug'
    stripped = tmp_path / 'stripped'
    subprocess.run(['objcopy', '--only-keep-debug', '--compress-debug-sections', program, debug], check=True)
    subprocess.run(['objcopy', '--strip-all', f'--add-gnu-debuglink={debug}', program, stripped], check=True)
    for name, offsets in wanted.items():
        assert defined(tally, stripped, name) == offsets
    os.unlink(debug)
    assert 'stripped' in refused(tally, stripped, 'cube')


def test_missing_split_units(tally, program):
    """What a .dwo file says is found while it is there; then the message says what is missing."""
    folder = program.parent
    subprocess.run(['gcc', '-g', '-gsplit-dwarf', '-O0', 'twenty.c', '-o', 'split'], check=True, cwd=folder)
    assert len(defined(tally, folder / 'split', 'cube')) == 3
    for path in folder.glob('*.dwo'):
        path.unlink()
    assert '.dwo files are missing' in refused(tally, folder / 'split', 'cube')
