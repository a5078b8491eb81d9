# SPDX-License-Identifier: Apache-2.0
"""What is exact: stacks and names at the stops of a program that is hard to unwind, as gdb has them; functions, inlined
calls and lines of any address, as eu-addr2line or llvm-symbolizer has them (tests/live)."""
import pathlib
import platform
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD
from made_once import key_of, made_once

LIVE = pathlib.Path(__file__).resolve().parents[1] / 'live'
sys.path.insert(0, str(LIVE))
import lines as live_lines  # noqa: E402
import stops as live_stops  # noqa: E402

STOPS = 200
# The tool by hand takes all of lines.BUILDS. These differ most: DWARF 3 to 5, split, packed, by both compilers.
BUILDS = ['gcc -gdwarf-3 -gstrict-dwarf', 'gcc -gdwarf-4 -gsplit-dwarf', 'clang -gline-tables-only']
MORE_BUILDS = ['gcc -O3 -flto', 'gcc -gdwarf-4 -fdebug-types-section', 'gcc -gdwarf64', 'gcc -gsplit-dwarf', 'gcc -gz',
               'gcc -no-pie', 'clang -O2', 'clang -O3 -flto', 'clang -gsplit-dwarf']


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')


@pytest.fixture(scope='module')
def stopped(tmp_path_factory):
    """The stops of sixty.cc, and who decides where gdb and tally do not agree on inlined calls."""
    need('g++', 'gdb', 'objdump', 'readelf', 'c++filt', 'eu-addr2line')
    folder = tmp_path_factory.mktemp('sixty') / 'built'
    shutil.copytree(sixty_folder(None), folder)
    try:
        stops = live_stops.collect(folder, STOPS, threads=2)
    except RuntimeError as error:
        if 'Operation not permitted' in str(error):
            pytest.skip('gdb may not trace programs here')
        raise
    return stops, live_stops.Arbiter(stops, live_stops.read_aliases(live_stops.mapped_files(stops)))


def test_names_and_inlined_calls_are_those_of_gdb(stopped, tally, tmp_path):
    stops, arbiter = stopped
    live_stops.write_recording(tmp_path / 'data', stops, unwound=False)
    chains = live_stops.script(tally.path, tmp_path / 'data', names=True)
    wrong_addresses, wrong_names = live_stops.compare(stops, chains, arbiter, names=True, whole=True)
    assert not wrong_addresses and not wrong_names
    assert sum(inlined for chain in chains for *_, inlined in chain) > STOPS


def test_the_unwinder_finds_the_frames_of_gdb(stopped, tmp_path):
    if platform.machine() != 'x86_64':
        pytest.skip('the stops are those of an x86-64')
    stops, arbiter = stopped
    chains, ends = live_stops.unwind(BUILD / 'tests' / 'live' / 'unwind_stops', tmp_path / 'stops', stops)
    wrong_addresses, _ = live_stops.compare(stops, chains, arbiter, names=False, whole=False)
    assert not wrong_addresses
    # The others are in a signal handler that has a stack of its own.
    assert sum(end == 'complete, 0' for end in ends) > STOPS * 0.85


def test_recorded_stacks_are_those_of_gdb(stopped, tally, tmp_path):
    if platform.machine() != 'x86_64':
        pytest.skip('the stops are those of an x86-64')
    stops, arbiter = stopped
    live_stops.write_recording(tmp_path / 'data', stops, unwound=True)
    chains = live_stops.script(tally.path, tmp_path / 'data', names=True)
    wrong_addresses, wrong_names = live_stops.compare(stops, chains, arbiter, names=True, whole=False)
    assert not wrong_addresses and not wrong_names


def compare_lines(tally, path, count, folder):
    need('eu-addr2line', 'llvm-symbolizer', 'readelf', 'c++filt')
    checked, _, _, wrong = live_lines.compare(tally.path, path, count, folder)
    assert checked > count * 0.8
    assert not wrong


def test_lines_of_libc(tally, tmp_path):
    if not live_lines.libc() or not live_stops.debug_file(live_lines.libc()):
        pytest.skip('the debug information of libc (libc6-dbg) is not installed')
    compare_lines(tally, live_lines.libc(), 2000, tmp_path)


def test_lines_of_tally(tally, tmp_path):
    compare_lines(tally, tally.path.resolve(), 2000, tmp_path)


def sixty_folder(name):
    """The folder in which sixty.cc and its libraries are as this build makes them; once for all runs."""
    compiler, flags = live_lines.BUILDS[name] if name else ('g++', live_stops.FLAGS)
    sources = [(path.name, path.read_text()) for path in sorted(LIVE.glob('sixty*.cc'))]
    return made_once(BUILD / 'e2e-programs' / f'sixty-{key_of(compiler, flags, sources)}',
                     lambda folder: live_stops.build(folder, compiler, flags))


@pytest.mark.parametrize('name', BUILDS + [pytest.param(name, marks=pytest.mark.long) for name in MORE_BUILDS])
def test_lines_of_builds(name, tally, tmp_path):
    need(live_lines.BUILDS[name][0])
    try:
        program = sixty_folder(name) / 'sixty'
    except subprocess.CalledProcessError:
        pytest.skip('the compiler does not build with these options here')
    compare_lines(tally, program, 200, tmp_path)
