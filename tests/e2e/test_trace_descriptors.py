# SPDX-License-Identifier: Apache-2.0
"""Names of descriptors as they are at the time of a call, and structs of the size that the program gives."""
import re

import pytest

PYTHON = '/usr/bin/python3'

REOPENS = '''
import os, socket
for name in ('first', 'second', 'third'):
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(fd, name.encode())
    os.close(fd)
os.mkdir('folder'); os.chdir('folder')
fd = os.open('gone', os.O_RDWR | os.O_CREAT); os.unlink('gone')
os.write(fd, b'deleted')
pair = socket.socketpair()
for end in (os.pipe()[1], os.memfd_create('memory'), pair[0].fileno()):
    os.write(end, b'no path')
if os.fork() == 0:
    os.write(fd, b'in a child'); os._exit(0)
os.wait()
'''

STRUCTS = '''
import ctypes, os, struct
call = ctypes.CDLL(None).syscall
size = 0 if os.uname().machine == 'aarch64' else 1
call((274, 314)[size], 0, struct.pack('<IIQ', 48, 0, 0) + bytes(32) + b'\\x77' * 200, 0)
call((274, 314)[size], 0, struct.pack('<IIQ', 0, 0, 0) + bytes(32) + b'\\x77' * 200, 0)
room = ctypes.create_string_buffer(b'\\x77' * 200)
call((275, 315)[size], 0, room, 48, 0)
'''


def test_names_are_those_at_the_time_of_the_call(tally, traces_by_bpf, tmp_path):
    tally('trace', '-e', 'write', '-o', 'out', PYTHON, '-c', REOPENS, cwd=tmp_path)
    found = re.findall(r'write\(fd: \d+(?:<(.*?)>)?, buf: "(.*?)", count', (tmp_path / 'out').read_text())
    for name in ('first', 'second', 'third'):
        assert (f'{tmp_path}/{name}', name) in found
    assert (f'{tmp_path}/folder/gone (deleted)', 'deleted') in found
    assert (f'{tmp_path}/folder/gone (deleted)', 'in a child') in found
    pathless = [path for path, text in found if text == 'no path']
    assert re.fullmatch(r'pipe:\[\d+\] /memfd:memory \(deleted\) socket:\[\d+\]', ' '.join(pathless))


def test_no_names_where_they_are_not_known(tally, live, tmp_path):
    """Tracepoints have no descriptors: what /proc says later is not shown as if it had been so."""
    out = tally('trace', '-e', 'write', '--print-sample', PYTHON, '-c', REOPENS + 'import time; time.sleep(0.3)', cwd=tmp_path, check=0).stderr
    assert 'write(fd: ' in out and not re.findall(r'write\(fd: \d+<', out)


def test_structs_are_as_large_as_they_say(tally, traces_by_bpf, tmp_path):
    tally('trace', '-e', 'sched_setattr,sched_getattr', '-o', 'out', PYTHON, '-c', STRUCTS, cwd=tmp_path)
    lines = (tmp_path / 'out').read_text().splitlines()
    assert len(lines) == 4 and lines[3].endswith('+++ exited with 0 +++')
    assert 'uattr: { .size: 48 }' in lines[0] and '.size: 48' in lines[2]
    assert not [line for line in lines if 'util' in line]


@pytest.mark.parametrize('limit, shown', [(None, 32), (1, 1), (70, 70), (4096, 900)])
def test_buffers_are_shown_up_to_the_limit(tally, traces_by_bpf, tmp_path, limit, shown):
    text = '0123456789' * 90
    (tmp_path / 'file').write_text(text)
    options = ['--string-limit', str(limit)] if limit else []
    lines = tally('trace', '-e', 'read', *options, '--', 'cat', tmp_path / 'file').stderr
    dots = '...' if shown < len(text) else ''
    assert re.search(rf'read\(fd: 3<.*/file>, buf: "{text[:shown]}"{re.escape(dots)}, count: \d+\) += 900\n', lines), lines


@pytest.mark.parametrize('limit', ['0', '4097', '-1', 'x', ''])
def test_limits_of_buffers_have_bounds(tally, limit):
    assert 'a number of bytes from 1 to 4096' in tally('trace', f'--string-limit={limit}', '--', 'true', check=129).stderr
