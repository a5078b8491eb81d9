#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every folder of src/ against musl, warnings as errors, and runs the library's own checks, linked statically.

Debian has musl, but none of the libraries that the program needs built for it: so what is linked is the library without
names of addresses, which needs none. Their headers, and the kernel's, are taken from beside the C library.

usage: tools/check_musl.py [BUILD]      BUILD (build-musl) is made when it is not there. Exit status 77: no musl-gcc.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ['asm', 'asm-generic', 'linux', 'bpf', 'capstone', 'curses.h', 'elfutils', 'gelf.h', 'libdeflate.h', 'libelf.h',
           'libiberty', 'lzma', 'lzma.h', 'ncurses.h', 'ncurses_dll.h', 'ncursesw', 'perfmon', 'sqlite3.h', 'term.h',
           'unctrl.h', 'zconf.h', 'zlib.h', 'zstd.h', 'zstd_errors.h']
LINKED = ['kernel', 'abi', 'arch', 'base']
CHECKS = ['counter', 'fd', 'pmu', 'sampling']
LACKING = 77  # the exit status of a check that this machine cannot run
TIMEOUT_S = 120


class Failure(Exception):
    pass


def run(*command, **environment):
    result = subprocess.run([str(word) for word in command], cwd=ROOT, env={**os.environ, **environment}, text=True,
                            errors='replace', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=False)
    if result.returncode:
        lines = [line for line in result.stdout.splitlines() if ' -o ' not in line]
        raise Failure('\n'.join([f'{command[0]} failed:', *lines[-60:]]))
    return result.stdout


def link_headers(folder):
    """Links to the headers that are not the C library's: whole folders of the system's would have glibc's as well."""
    multiarch = run('gcc', '-print-multiarch').strip()
    folder.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        found = next((place / name for place in [pathlib.Path('/usr/include') / multiarch, pathlib.Path('/usr/include')]
                      if (place / name).exists()), None)
        if found and not (folder / name).exists():
            (folder / name).symlink_to(found)


def compile_folders(build):
    headers = build / 'headers'
    link_headers(headers)
    compiler = 'ccache musl-gcc' if shutil.which('ccache') else 'musl-gcc'
    if not (build / 'build.ninja').exists():
        run('meson', 'setup', build, '-Dtests=disabled', '-Dunity=on', '-Dunity_size=12', '-Ddebug=false', '-Doptimization=0', '-Dwerror=true',
            f'-Dc_args=-idirafter {headers} -ffunction-sections -fdata-sections', CC=compiler)
    folders = [line.split(':')[0] for line in (ROOT / 'src/layers.txt').read_text().splitlines()
               if ':' in line and not line.startswith('#')]
    # What tasks and verbs have is in the archive of cli.
    run('ninja', '-k', '0', '-C', build, *[archive(folder) for folder in folders if folder not in ('tasks', 'verbs')])


def archive(folder):
    return f'src/{folder}/libtally_{folder}.a'


def run_checks(build):
    """The problems of those that fail; each check is a process of its own."""
    problems = []
    for name in CHECKS:
        program = build / f'check_{name}'
        run('musl-gcc', '-std=gnu11', '-O1', '-static', '-pthread', '-idirafter', build / 'headers', '-I', ROOT / 'include',
            # An object of a unity build has what needs other libraries, too.
            '-o', program, ROOT / f'tests/library/{name}.c', '-Wl,--gc-sections', '-Wl,--start-group',
            *[build / archive(folder) for folder in LINKED], '-Wl,--end-group')
        for check in run(program).split():
            result = subprocess.run([program, check], text=True, errors='replace', stdin=subprocess.DEVNULL,
                                    capture_output=True, timeout=TIMEOUT_S, check=False)
            if result.returncode not in (0, LACKING):
                problems.append(f'{name}.c, {check}: exit status {result.returncode}: {result.stderr.strip()}')
    return problems


def main():
    if not shutil.which('musl-gcc'):
        print('musl-gcc is not installed (Debian: musl-tools)')
        return 77
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build-musl').resolve()
    try:
        compile_folders(build)
        problems = run_checks(build)
    except Failure as failure:
        problems = [str(failure)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
