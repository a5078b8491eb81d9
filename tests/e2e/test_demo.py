# SPDX-License-Identifier: Apache-2.0
"""The demo's compressor writes what gunzip reads, and the demo shows where its time goes."""
import gzip
import os
import random
import subprocess

import pytest
from conftest import BUILD, ROOT, TIMEOUT_S

DEMO = BUILD / 'examples' / 'demo'


def compress(data, folder):
    (folder / 'in').write_bytes(data)
    subprocess.run([DEMO / 'lz77', folder / 'in', folder / 'out.gz'], check=True, capture_output=True)
    return (folder / 'out.gz').read_bytes()


def seeded_bytes(count):
    return random.Random(1).randbytes(count)


@pytest.mark.parametrize('data', [
    b'', b'a', b'ab', b'aaaa', b'a' * 300000, bytes(range(256)) * 300, seeded_bytes(200000),
    seeded_bytes(40000) * 3, seeded_bytes(32768) * 2, b'abc' * 5 + seeded_bytes(70) * 1000,
    b''.join(bytes([i]) * (1 << min(i, 18)) for i in range(24)),
], ids=['empty', 'one', 'two', 'run', 'long-run', 'cycle', 'random', 'far', 'window', 'mixed', 'skewed'])
def test_gunzip_reads_it(data, tmp_path):
    assert gzip.decompress(compress(data, tmp_path)) == data


def test_text_shrinks_as_with_gzip(tmp_path):
    text = subprocess.run([DEMO / 'make_input', '2000000'], check=True, capture_output=True).stdout
    assert len(text) >= 2000000
    packed = compress(text, tmp_path)
    assert gzip.decompress(packed) == text
    assert len(packed) < 1.05 * len(gzip.compress(text, 6))


def test_the_input_is_always_the_same():
    runs = {subprocess.run([DEMO / 'make_input', '100000'], check=True, capture_output=True).stdout for _ in range(2)}
    assert len(runs) == 1


def test_demo_names_the_hot_function(live, tally, tmp_path):
    """A short form of examples/demo/run: the matcher is where an LZ77 compressor spends its time."""
    text = tmp_path / 'in.txt'
    with text.open('wb') as out:
        subprocess.run([DEMO / 'make_input', '8000000'], check=True, stdout=out)
    data = tmp_path / 'perf.data'
    tally('record', '-g', '-o', data, '--', DEMO / 'lz77', text, tmp_path / 'out.gz', check=0)
    report = tally('report', '--stdio', '-i', data, '--no-children', '-g', 'none', check=0).stdout
    rows = [line.split() for line in report.splitlines() if line.strip() and not line.startswith('#')]
    assert rows[0][1] == 'lz77' and rows[0][-1] == 'longest_match'
    assert float(rows[0][0].rstrip('%')) > 50


def test_demo_script_is_valid_shell():
    subprocess.run(['sh', '-n', ROOT / 'examples' / 'demo' / 'run'], check=True, timeout=TIMEOUT_S)
    assert os.access(ROOT / 'examples' / 'demo' / 'run', os.X_OK)
