# SPDX-License-Identifier: Apache-2.0
"""Cut and damaged recordings under the sanitizers: a clean end, all that is complete, and the offset of the cut."""
import os
import random
import re

import pytest

# What every reading verb is tried with.
READERS = [('report', '--stdio'), ('script',), ('evlist', '-v')]
CUTS = [30, pytest.param(120, marks=pytest.mark.long)]
FLIPS = [50, pytest.param(200, marks=pytest.mark.long)]


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    """The bytes of a small recording with call chains, made by the program under test."""
    import subprocess
    from conftest import BUILD, open_event, EXCLUDE_KERNEL, PERF_TYPE_SOFTWARE
    if open_event(PERF_TYPE_SOFTWARE, 1, EXCLUDE_KERNEL):
        pytest.skip('perf_event_open is refused')
    path = tmp_path_factory.mktemp('recording') / 'perf.data'
    # On one CPU: the records of one ring are in the order of time, so that a cut loses none of what is before it.
    subprocess.run([BUILD / 'src/cli/tally', 'record', '-g', '-F', '200', '-o', path, '--',
                    BUILD / 'tests/workloads/deep', '50'], check=True, capture_output=True, stdin=subprocess.DEVNULL,
                   preexec_fn=lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}))
    return path.read_bytes()


def read(tally_asan, reader, data, tmp_path):
    path = tmp_path / 'perf.data'
    path.write_bytes(data)
    result = tally_asan(reader[0], '-i', path, *reader[1:])
    assert 0 <= result.returncode < 99 or result.returncode in (129, 255), result.stderr
    assert 'Sanitizer' not in result.stderr and 'runtime error' not in result.stderr
    return result


@pytest.mark.parametrize('reader', READERS, ids=[reader[0] for reader in READERS])
@pytest.mark.parametrize('count', CUTS)
def test_cut_anywhere(tally_asan, recording, reader, count, tmp_path):
    for index in range(count):
        length = len(recording) * index // count
        result = read(tally_asan, reader, recording[:length], tmp_path)
        # Up to the features at the end the records are complete; then only the features are cut.
        if length < 104:
            assert result.returncode != 0 and result.stderr


@pytest.mark.parametrize('reader', READERS, ids=[reader[0] for reader in READERS])
@pytest.mark.parametrize('count', FLIPS)
def test_damaged_anywhere(tally_asan, recording, reader, count, tmp_path):
    source = random.Random(7)
    for index in range(count):
        data = bytearray(recording)
        for _ in range(1 + index % 3):
            # Half of the flips in the header and the attrs, where a byte decides much.
            at = source.randrange(400 if index % 2 else len(data))
            data[at] = source.choice((0, 0xff, source.randrange(256)))
        read(tally_asan, reader, bytes(data), tmp_path)


def test_a_cut_in_the_records_is_told_with_its_offset(tally_asan, recording, tmp_path):
    whole = read(tally_asan, ('script',), recording, tmp_path)
    assert whole.returncode == 0
    # The data section starts after header and attrs; cut in its middle.
    start, size = (int.from_bytes(recording[at:at + 8], 'little') for at in (40, 48))
    cut = read(tally_asan, ('script',), recording[:start + size // 2], tmp_path)
    assert cut.returncode != 0
    told = re.search(r'offset (0x[0-9a-f]+|\d+)', cut.stderr)
    assert told and start <= int(told[1], 0) <= start + size // 2
    # What is complete is shown, and is what the whole recording begins with.
    assert cut.stdout and whole.stdout.startswith(cut.stdout[:len(cut.stdout) // 2])


@pytest.mark.parametrize('data', [b'', b'\x7fELF' * 100, b'PERFILE2', b'PERFILE2' + b'\xff' * 200,
                                  b'2ELIFREP' + bytes(200)], ids=['empty', 'elf', 'magic', 'ones', 'big-endian'])
def test_what_is_no_recording(tally_asan, data, tmp_path):
    for reader in READERS:
        result = read(tally_asan, reader, data, tmp_path)
        assert result.returncode != 0 and len(result.stderr.strip().splitlines()) <= 3 and result.stderr
