# SPDX-License-Identifier: Apache-2.0
"""Simulated instructions (stat --simulate) beside those that the emulated PMU counts: check.py calls every check_ function.

They need Debian's arm64 package of valgrind, unpacked in the cache's folder valgrind, which nothing fetches unasked.
"""
import re
import shutil

from bpf_checks import Skipped

TOOL = 'simulator/tally-arm64-linux'
EXACT = 2_006_010  # instructions of exact.c
LARGEST_SHARE = 0.001  # of the difference
# Valgrind's CPU has no SVE: where the guest's has it, the C library takes other functions for strings and memory there.
WITHOUT_STRINGS = ['loop-1000000', 'library_calls-float-20000', 'library_calls-atomic-100000']
PROGRAMS = [*WITHOUT_STRINGS, 'library_calls-sort-20000', 'library_calls-text-5000', 'library_calls-memory-500']


def has_valgrind(cache):
    return (cache / 'valgrind/usr/include/valgrind').is_dir()


def add_headers(cache):
    """Makes Valgrind's headers and libraries part of the cross-compiler's files; False if there are none."""
    for name in ('include/valgrind', 'lib/aarch64-linux-gnu/valgrind'):
        link = cache / 'sysroot/usr' / name
        if has_valgrind(cache) and not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(cache / 'valgrind/usr' / name)
    return has_valgrind(cache)


def add_valgrind(root, cache, build):
    """What tally needs in the guest: the launcher, Valgrind's own files, and our tool."""
    if not has_valgrind(cache):
        return
    for folder in ('usr/libexec/valgrind', 'libexec/tally/valgrind'):
        (root / folder).mkdir(parents=True)
    shutil.copy(build / TOOL, root / 'libexec/tally/valgrind')
    for name in ('bin/valgrind', 'bin/valgrind.bin', 'libexec/valgrind/vgpreload_core-arm64-linux.so', 'libexec/valgrind/default.supp'):
        shutil.copy(cache / 'valgrind/usr' / name, root / 'usr' / name)
    for name in ('exact', 'library_calls'):
        shutil.copy(build / name, root / 't' / name)


def instructions(guest, job):
    rows = [line.split(',') for line in guest.good(job).text(job, 'csv').splitlines()]
    return next(int(row[0]) for row in rows if row[2:3] and row[2].startswith('instructions'))


def both(guest, program):
    if not (guest.folder / f'simulated-{program}.rc').exists():
        raise Skipped("Debian's arm64 valgrind is not there (tests/emulated/fetch CACHE valgrind fetches it)")
    assert guest.text(f'simulated-{program}') == guest.text(f'measured-{program}'), 'the programs did not do the same'
    return instructions(guest, f'simulated-{program}'), instructions(guest, f'measured-{program}')


def check_simulated_instructions_are_exact(guest):
    """Of a program without a C library: to the unit, with loads and stores that are exclusive."""
    counts = both(guest, 'exact')
    assert counts == (EXACT, EXACT), counts


def check_simulated_instructions_are_those_of_the_pmu(guest):
    has_sve = re.search(r'^Features.*\bsve\b', guest.text('cpuinfo'), re.M)
    counts = {program: both(guest, program) for program in (WITHOUT_STRINGS if has_sve else PROGRAMS)}
    apart = {program: (ours, pmu) for program, (ours, pmu) in counts.items() if abs(ours / pmu - 1) > LARGEST_SHARE}
    assert not apart, apart
