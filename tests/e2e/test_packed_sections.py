# SPDX-License-Identifier: Apache-2.0
"""Debug sections that unpack to far more than is plausible: left out, told, and no memory is taken for them."""
import resource
import shutil
import struct
import subprocess
import zlib

import pytest

MOST = 768 << 20  # bytes of addresses; the section claims more


def add_packed(program, name, size):
    """A section of zeros, SHF_COMPRESSED, which objcopy cannot make by itself."""
    packed = zlib.compressobj(9)
    body = b''.join(packed.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packed.flush()
    (program.parent / 'body').write_bytes(struct.pack('<IIQQ', 1, 0, size, 1) + body)
    subprocess.run(['objcopy', '--remove-section', name, '--add-section', f'{name}={program.parent / "body"}', program], check=True)
    data = bytearray(program.read_bytes())
    (table,), (entry, count, names) = struct.unpack_from('<Q', data, 40), struct.unpack_from('<HHH', data, 58)
    names_at = struct.unpack_from('<Q', data, table + names * entry + 24)[0]
    for i in range(count):
        at = table + i * entry
        text = names_at + struct.unpack_from('<I', data, at)[0]
        if data[text:data.index(b'\0', text)].decode() == name:
            struct.pack_into('<Q', data, at + 8, 0x800)
    program.write_bytes(data)


def test_a_bomb_is_left_out_and_told(live, tally, tmp_path):
    for tool in ('gcc', 'objcopy'):
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')
    (tmp_path / 'x.c').write_text('volatile long n;\nint main(void) { for (long i = 0; i < 60000000; i++) n += i; return 0; }\n')
    program = tmp_path / 'x'
    subprocess.run(['gcc', '-g', '-O1', '-o', program, tmp_path / 'x.c'], check=True)
    tally('record', '-q', '-N', '-e', 'cpu-clock:u', '-o', 'x.data', '--', program, cwd=tmp_path, check=0)
    before = tally('report', '--stdio', '-s', 'sym,srcline', '-i', 'x.data', cwd=tmp_path, check=0)
    assert 'x.c:2' in before.stdout and 'is left out' not in before.stderr
    add_packed(program, '.debug_str', 1 << 30)
    assert program.stat().st_size < 16 << 20
    after = subprocess.run([tally.path, 'report', '--stdio', '-s', 'sym,srcline', '-i', 'x.data'], cwd=tmp_path,
                           env=tally.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST)))
    assert after.returncode == 0 and 'main' in after.stdout
    assert 'debug information of a file of' in after.stderr and 'is left out' in after.stderr
