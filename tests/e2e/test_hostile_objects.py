# SPDX-License-Identifier: Apache-2.0
"""Program files that are damaged: whatever reads them ends cleanly, in bounded time and memory, and what is intact in a
file still gives names."""
import os
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

from conftest import ASAN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'live'))
import lines as live_lines  # noqa: E402

TRIES = 60  # by section of each file; by hand: thousands
SOURCE = '''
#include <stdio.h>
#include <string.h>
struct s { int a, b; };
static inline __attribute__((always_inline)) int deep(struct s *s, int x)
{
	for (int i = 0; i < x; i++)
		s->a += i * s->b;
	return s->a;
}
static inline __attribute__((always_inline)) int middle(struct s *s, int x)
{
	return deep(s, x) ^ deep(s, x + 1);
}
__attribute__((noinline)) int outer(struct s *s, int x) { return middle(s, x) + (int)strlen("abc"); }
static __attribute__((noinline)) int grows(int n) { char t[n]; memset(t, n, (size_t)n); return t[n / 2]; }
__attribute__((cold, noinline)) int seldom(int x) { printf("%d\\n", x); return x; }
int main(int argc, char **argv)
{
	struct s s = {argc, 2};
	if (argc > 5)
		seldom(argc);
	return outer(&s, argc) + grows(argc + 3);
}
'''
BUILDS = {
    'dwarf5': ('cc', '-gdwarf-5'),
    'dwarf4': ('cc', '-gdwarf-4', '-fdebug-types-section'),
    'dwarf3': ('cc', '-gdwarf-3', '-gstrict-dwarf'),
    'dwarf64': ('cc', '-gdwarf-5', '-gdwarf64'),
    'packed': ('cc', '-g', '-gz=zlib'),
    'debug_frame': ('cc', '-g', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables'),
    'static_pie_off': ('cc', '-g', '-no-pie'),
    'clang': ('clang', '-g'),
}


def build(folder, name):
    compiler, *flags = BUILDS[name]
    if not shutil.which(compiler):
        pytest.skip(f'{compiler} is not installed')
    (folder / 'small.c').write_text(SOURCE)
    result = subprocess.run([compiler, '-O2', *flags, folder / 'small.c', '-o', folder / name], check=False,
                            capture_output=True)
    if result.returncode:
        pytest.skip(f'{compiler} does not take {" ".join(flags)}')
    return folder / name


def try_objects(*files):
    program = ASAN / 'tests' / 'robustness' / 'objects'
    if not program.exists():
        pytest.skip(f'{program} is not built (make check builds it)')
    result = subprocess.run([program, str(TRIES), *files], capture_output=True, text=True, check=False, timeout=900,
                            errors='replace', env={**os.environ, 'UBSAN_OPTIONS': 'halt_on_error=1',
                                                   'ASAN_OPTIONS': 'allocator_may_return_null=1'})
    assert result.returncode == 0, result.stderr[-3000:]
    assert int(result.stdout.split(',')[1].split()[0]) > 2000


@pytest.mark.parametrize('name', BUILDS)
def test_damaged_fields_and_sections(name, tmp_path):
    try_objects(build(tmp_path, name))


@pytest.mark.long  # the library takes 64 MB for each damaged copy that it unpacks
def test_damaged_links_and_packed_symbols(tmp_path):
    whole = build(tmp_path, 'dwarf5')
    for tool in ('objcopy', 'strip', 'xz'):
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')
    run = lambda *command: subprocess.run(command, check=True, cwd=tmp_path)
    run('objcopy', '--only-keep-debug', whole, 'whole.debug')
    run('objcopy', '--strip-debug', whole, 'names')
    run('xz', '-f', 'names')
    run('strip', whole, '-o', 'stripped')
    run('objcopy', '--add-gnu-debuglink=whole.debug', '--add-section', '.gnu_debugdata=names.xz', 'stripped')
    try_objects(tmp_path / 'stripped')


def test_damaged_supplements(tmp_path):
    if not shutil.which('dwz'):
        pytest.skip('dwz is not installed')
    first, second = build(tmp_path, 'dwarf5'), build(tmp_path, 'static_pie_off')
    if subprocess.run(['dwz', '-m', 'common.dwz', '-h', first, second], cwd=tmp_path, check=False).returncode:
        pytest.skip('dwz does not take these files')
    try_objects(first, second, tmp_path / 'common.dwz')


def sections(path):
    """{name: (offset, size)}"""
    text = live_lines.run('readelf', '-SW', path)
    found = {}
    for line in text.splitlines():
        words = line.replace('[ ', '[').split()
        if len(words) > 5 and words[0].startswith('[') and words[1].startswith('.'):
            found[words[1]] = int(words[4], 16), int(words[5], 16)
    return found


def report(tally_asan, program, folder, addresses):
    live_lines.write_recording(folder / 'data', program, addresses)
    result = tally_asan('report', '-i', folder / 'data', '--stdio', '-s', 'sym,srcline', env={
        'TALLY_CACHE': '',  # files of one build id would have one index
        'UBSAN_OPTIONS': 'halt_on_error=1', 'ASAN_OPTIONS': 'max_allocation_size_mb=2000:allocator_may_return_null=1'})
    assert 'Sanitizer' not in result.stderr and 'runtime error' not in result.stderr, result.stderr[-3000:]
    assert result.returncode in (0, 255), result.stderr
    return result


@pytest.mark.parametrize('count', [20, pytest.param(60, marks=pytest.mark.long)])
def test_reports_of_damaged_files(tally_asan, tmp_path, count):
    program = build(tmp_path, 'dwarf5')
    whole = bytearray(program.read_bytes())
    code = [int(line.split()[0], 16) for line in live_lines.run('nm', program).splitlines() if ' T ' in line or
            ' t ' in line]
    parts = [part for name, part in sections(program).items() if part[1] and
             name.startswith(('.debug', '.eh_frame', '.note', '.symtab', '.strtab', '.dyn'))]
    assert len(parts) > 8
    rng = random.Random(5)
    damaged = tmp_path / 'damaged'
    for _ in range(count):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            offset, size = rng.choice([*parts, (0, 64), (len(data) - 2300, 2300)])
            at = offset + rng.randrange(size)
            data[at:at + 4] = rng.choice([b'\xff' * 4, b'\x80' * 4, bytes(4), rng.randbytes(4)])[:len(data) - at]
        damaged.write_bytes(data)
        report(tally_asan, damaged, tmp_path, code)


def test_a_damaged_unit_does_not_hide_the_others(tally, tally_asan, tmp_path):
    """Two units with an inlined call each: without the first one's entries the second one's calls still have names."""
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    for name in ('first', 'second'):
        (tmp_path / f'{name}.c').write_text(f'''
static inline __attribute__((always_inline)) int in_{name}(int x) {{ return x * 7 + 1; }}
__attribute__((noinline)) int {name}(int x) {{ return in_{name}(x) ^ 3; }}
''' + ('int second(int);\nint main(int argc, char **argv) { return first(argc) + second(argc); }\n'
       if name == 'first' else ''))
    program = tmp_path / 'program'
    subprocess.run(['cc', '-O2', '-gdwarf-5', '-gno-column-info', '-Wl,--build-id=none', tmp_path / 'first.c', tmp_path / 'second.c', '-o',
                    program], check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in live_lines.run('nm', program).splitlines()
               if len(line.split()) == 3}
    addresses = [symbols['first'], symbols['second']]

    def lines():
        live_lines.write_recording(tmp_path / 'data', program, addresses)
        return tally('script', '-i', tmp_path / 'data', '-F', 'ip,sym,srcline', check=0).stdout

    before = lines()
    assert 'in_first (inlined)' in before or 'first.c:' in before
    second = before[before.index('second.c'):]
    data = bytearray(program.read_bytes())
    offset, _ = sections(program)['.debug_info']
    data[offset + 12] = 0x7f  # an abbreviation that does not exist, in the first unit
    program.write_bytes(data)
    after = lines()
    assert 'first.c:3' not in after and after[after.index('second.c'):] == second
    result = report(tally_asan, program, tmp_path, addresses)
    assert result.returncode == 0 and f'{program}: units of debug information that are damaged and left out: 1\n' in result.stderr
