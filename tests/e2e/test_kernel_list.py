# SPDX-License-Identifier: Apache-2.0
"""The list of the kernel's symbols that is kept between runs: reports say the same with it, without it, and when it is damaged."""
import pathlib
import re

import pytest

LIST = pathlib.Path('/proc/kallsyms')


@pytest.fixture
def job(tally, live, tmp_path):
    """A recording with samples of the kernel, and a function that reports it with a cache of one's own."""
    if LIST.read_text(errors='replace').startswith('0000000000000000'):
        pytest.skip('the kernel hides its addresses')
    tally('record', '-q', '-N', '-e', 'cpu-clock:k', '-F', 5000, '-o', 'p.data', '--', 'sh', '-c',
          'i=0; while [ $i -lt 4000 ]; do : </dev/null >/dev/null; i=$((i+1)); done', cwd=tmp_path, check=0)

    def report(cache, *words):
        return tally('report', '--stdio', '-s', 'sym', *words, '-i', 'p.data', cwd=tmp_path,
                     env={'TALLY_CACHE': str(cache)}, check=0)

    return report


def lists_of(cache):
    return [path for path in cache.rglob('*') if path.suffix == '.kallsyms']


def lasting(text):
    """The lines without those of BPF programs, trampolines and probes, which come and go while a test runs."""
    return [line for line in text.splitlines() if not re.search(rb'\t\[(bpf|__builtin__\w+)\]$', line)]


def first_name(text):
    return next(line.split()[-1] for line in text.splitlines() if '[k]' in line and '[k] 0x' not in line)


def test_the_second_report_does_not_ask_the_kernel(job, tmp_path):
    plain, cache = job('').stdout, tmp_path / 'cache'
    assert '[k]' in plain
    assert job(cache).stdout == plain and job(cache).stdout == plain
    kept, = lists_of(cache)
    assert kept.stat().st_mode & 0o777 == 0o600
    text, live = kept.read_bytes(), LIST.read_bytes()
    assert live.split(b'\t')[0].rsplit(b'\n', 1)[0] in text
    # What is kept is what names are taken from.
    name = first_name(plain)
    kept.write_bytes(text.replace(f' {name}\n'.encode(), b' ' + b'n' * len(name) + b'\n'))
    assert 'n' * len(name) in job(cache).stdout
    assert job('').stdout == plain


def test_a_list_of_another_boot_is_read_anew(job, tmp_path):
    plain, cache = job('').stdout, tmp_path / 'cache'
    job(cache)
    kept, = lists_of(cache)
    text = kept.read_bytes()
    for other in (b'0' + text, text.replace(b'ffffffff8', b'ffffffff9'), text[:100], b''):
        kept.write_bytes(other)
        assert job(cache).stdout == plain
        assert lasting(kept.read_bytes()) == lasting(text)


def test_where_nothing_can_be_kept_the_report_is_the_same(job, tmp_path):
    plain = job('').stdout
    (tmp_path / 'file').write_text('')
    result = job(tmp_path / 'file' / 'cache')
    assert result.stdout == plain and 'cache' not in result.stderr


def test_record_keeps_the_list_and_asks_it(job, tally, tmp_path):
    """What it writes of the kernel is the same as without."""
    def kernel_maps(cache):
        tally('record', '-q', '-N', '-e', 'cpu-clock:k', '-o', 'r.data', '--', 'true', cwd=tmp_path, check=0,
              env={'TALLY_CACHE': str(cache)})
        text = tally('script', '--show-mmap-events', '-i', 'r.data', cwd=tmp_path, check=0).stdout
        return [line for line in text.splitlines() if '[kernel.kallsyms]' in line and 'PERF_RECORD_MMAP' in line]

    plain, cache = kernel_maps(''), tmp_path / 'cache'
    assert len(plain) == 1
    assert kernel_maps(cache) == plain
    kept, = lists_of(cache)
    made = kept.stat().st_ino
    assert kernel_maps(cache) == plain and job(cache).stdout == job('').stdout
    assert kept.stat().st_ino == made
    # Its own end of the kernel is what the next recording has.
    text = kept.read_bytes()
    kept.write_bytes(text.replace(b' _etext\n', b' _other\n'))
    assert kernel_maps(cache) == []
