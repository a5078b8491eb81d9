# SPDX-License-Identifier: Apache-2.0
"""The index of source lines and inlined calls: reports say the same with it, without it, and when it is damaged."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT_S

SOURCE = """
#include <stdlib.h>
/* Divisions wait for each other: wherever a CPU takes an interrupt, both functions have samples. */
static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
	for (int i = 0; i < 8; i++) x = 4000000000u / (x | 1) + x * 3;
	return x;
}
static inline __attribute__((always_inline)) unsigned middle(unsigned x)
{
	for (int i = 0; i < 8; i++) x = 3000000000u / (x | 1) ^ x >> 3;
	return inner(x);
}
__attribute__((noinline)) unsigned outer(unsigned n) { unsigned x = n; for (unsigned i = 0; i < n; i++) x = middle(x); return x; }
int main(int argc, char **argv) { return outer((unsigned)atoi(argv[1])) == 42; }
"""


@pytest.fixture
def job(tally, live, tmp_path):
    """A recording of a program with inlined calls, and a function that reports it with a cache of one's own."""
    if not shutil.which('cc'):
        pytest.skip('no compiler')
    (tmp_path / 'p.c').write_text(SOURCE)
    subprocess.run(['cc', '-O2', '-g', '-Wl,--build-id', '-o', 'p', 'p.c'], cwd=tmp_path, check=True)
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', '2000', '-g', '-o', 'p.data', './p', '1500000', cwd=tmp_path, check=0)

    def report(cache, *words):
        words = words or ('report', '--stdio', '-g', 'caller')
        return tally(*words, '-i', 'p.data', cwd=tmp_path, env={'TALLY_CACHE': str(cache)}, check=0)

    return report


def overwrite_sections(path, *names):
    text = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True, check=True).stdout
    data = bytearray(path.read_bytes())
    for name in names:
        offset, size = re.search(rf' {re.escape(name)} +PROGBITS +\w+ (\w+) (\w+)', text).groups()
        data[int(offset, 16):int(offset, 16) + int(size, 16)] = bytes(int(size, 16))
    with open(path, 'r+b') as file:
        file.write(data)


def build_id(path):
    return re.search(r'Build ID: (\w+)', subprocess.run(['readelf', '-n', path], capture_output=True, text=True,
                                                        check=True).stdout).group(1)


def files_of(cache):
    return sorted(path for path in cache.rglob('*') if path.is_file())


def test_the_second_report_needs_no_debug_information(job, tally, tmp_path):
    plain = job('').stdout
    assert 'inner (inlined)' in plain and 'middle (inlined)' in plain
    cache = tmp_path / 'cache'
    assert job(cache).stdout == plain
    files = files_of(cache)
    assert files and all(path.suffix == '.lines' for path in files)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    before = [path.stat().st_ino for path in files]
    # What the index says is what is shown: where its debug information is overwritten the program has the same lines.
    program = tmp_path / 'p'
    status = program.stat()
    overwrite_sections(program, '.debug_info', '.debug_line')
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert job(cache).stdout == plain
    assert 'inner (inlined)' not in job('').stdout
    assert [path.stat().st_ino for path in files_of(cache)] == before
    lines = job(cache, 'script', '-F', 'ip,sym,srcline').stdout
    assert 'p.c:' in lines
    os.utime(program)  # another file, for all that is known
    assert 'inner (inlined)' not in job(cache).stdout


def test_another_file_of_that_build_id_has_no_part(job, tally, tmp_path):
    """A report of a program that claims the build id leaves the index of the genuine one as it is, and the other way round."""
    cache = tmp_path / 'cache'
    genuine = tmp_path / 'p'
    shutil.copy(genuine, tmp_path / 'kept')
    lines = ('script', '-F', 'ip,sym,srcline')
    right = job('', *lines).stdout
    (tmp_path / 'p.c').write_text('\n' * 100 + SOURCE)
    subprocess.run(['gcc', '-O2', '-g', '-Wl,--build-id=0x' + build_id(genuine), '-o', 'fake', 'p.c'], cwd=tmp_path,
                   check=True)
    shutil.rmtree(tmp_path / '.debug', ignore_errors=True)
    genuine.unlink()
    shutil.copy(tmp_path / 'fake', genuine)
    wrong = job(cache, *lines).stdout
    assert wrong != right
    genuine.unlink()
    shutil.copy(tmp_path / 'kept', genuine)
    assert job(cache, *lines).stdout == right
    assert job(cache, *lines).stdout == right
    assert len([file for file in files_of(cache) if file.parent.name + file.name.split('-')[0] == build_id(genuine)]) == 2


def test_a_damaged_index_is_made_anew(job, tmp_path):
    cache = tmp_path / 'cache'
    plain = job(cache).stdout
    good = {path: path.read_bytes() for path in files_of(cache)}
    for damage in (lambda data: b'', lambda data: data[:100], lambda data: data[:-1], lambda data: b'x' * len(data),
                   lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
                   lambda data: data[:8] + b'\x63' + data[9:]):
        for path, data in good.items():
            path.write_bytes(damage(data))
        result = job(cache)
        assert result.stdout == plain and 'index' not in result.stderr
        assert {path: path.read_bytes() for path in files_of(cache)} == good


def test_what_is_no_file_of_the_user_is_not_read(job, tmp_path):
    cache = tmp_path / 'cache'
    plain = job(cache).stdout
    for path in files_of(cache):
        path.unlink()
        os.mkfifo(path)
    assert job(cache).stdout == plain
    for path in cache.rglob('*.lines'):
        path.unlink()
        path.symlink_to('/dev/zero')
    assert job(cache).stdout == plain


def test_without_a_place_for_it_reports_work(job, tmp_path):
    (tmp_path / 'file').write_text('')
    result = job(tmp_path / 'file' / 'cache')
    assert 'inner (inlined)' in result.stdout and 'index' not in result.stderr
    result = job(tmp_path / 'file' / 'cache', 'report', '--stdio', '-v', '-g')
    assert 'note: no index of source lines is kept: ' in result.stderr
    assert 'inner (inlined)' in job('').stdout


def test_writers_at_once_leave_a_good_index(job, tally, tmp_path):
    cache = tmp_path / 'cache'
    running = [subprocess.Popen([tally.path, 'report', '--stdio', '-g', 'caller', '-i', 'p.data'], cwd=tmp_path,
                                env={**tally.environment, 'TALLY_CACHE': str(cache)}, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True) for _ in range(6)]
    texts = {process.communicate(timeout=TIMEOUT_S)[0] for process in running}
    assert len(texts) == 1
    assert all(path.suffix == '.lines' for path in files_of(cache))
    assert job(cache).stdout in texts


def test_a_whole_index_is_made_on_request(job, tally, tmp_path):
    cache = tmp_path / 'cache'
    environment = {'TALLY_CACHE': str(cache)}
    result = tally('buildid-cache', '-v', '--index', 'p', cwd=tmp_path, env=environment, check=0)
    assert 'Indexing p: Ok' in result.stderr
    assert len(files_of(cache)) == 1
    missing = tally('buildid-cache', '--index', 'nosuch', cwd=tmp_path, env=environment)
    assert missing.returncode == 255 and "Couldn't index nosuch" in missing.stderr
    status = (tmp_path / 'p').stat()
    overwrite_sections(tmp_path / 'p', '.debug_info', '.debug_line')
    os.utime(tmp_path / 'p', ns=(status.st_atime_ns, status.st_mtime_ns))
    assert 'inner (inlined)' in job(cache).stdout
