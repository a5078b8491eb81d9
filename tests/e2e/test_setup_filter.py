# SPDX-License-Identifier: Apache-2.0
"""record --setup-filter: root pins a filter on samples, which users without privileges then apply to their own events.

All runs in a mount namespace with a BPF file system of its own, which root alone may pass through at first."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
from conftest import NEWEST_PERF, TIMEOUT_S, Program, wait_for

NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all']
LOOP = ('sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done')
HIGH = 0x7000_0000_0000

# What an ordinary user tries on the pinned maps. Entries have a number of conditions, a slot and the conditions.
HOSTILE = r'''
import ctypes, errno, mmap, os, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
BPF, PERF = (321, 298) if sys.argv[1] == 'x86_64' else (280, 241)
LOOKUP, UPDATE, DELETE, NEXT, GET, LINK = 1, 2, 3, 4, 7, 28
WRITE_ONLY, READ_ONLY = 1 << 4, 1 << 3
IP, PHYS_ADDR, ABSENT = 1, 11, 9999
GREATER_EQUAL = 3
kept = []

def bpf(command, data):
    attribute = ctypes.create_string_buffer(data, 128)
    result = libc.syscall(BPF, command, attribute, 128)
    return result if result >= 0 else -ctypes.get_errno()

def get(name, flags=0):
    path = ctypes.create_string_buffer(f'/sys/fs/bpf/tally_filter/{name}'.encode())
    kept.append(path)
    return bpf(GET, struct.pack('QII', ctypes.addressof(path), 0, flags))

def element(command, fd, key, value=b'', flags=0):
    key, value = ctypes.create_string_buffer(key, 8), ctypes.create_string_buffer(value, 2048)
    result = bpf(command, struct.pack('I4xQQQ', fd, ctypes.addressof(key), 0 if command == DELETE else ctypes.addressof(value), flags))
    return result, value.raw

def entry(count, slot, *items):
    packed = b''.join(struct.pack('IHHQ', term, op, 0, value) for term, op, value in items)
    return struct.pack('II', count, slot) + packed.ljust(64 * 16, b'\0')

assert get('filters') == get('filters', READ_ONLY) == -errno.EACCES
assert get('dropped') == get('dropped', WRITE_ONLY) == -errno.EACCES
filters, dropped, program = get('filters', WRITE_ONLY), get('dropped', READ_ONLY), get('program')
assert min(filters, dropped, program) > 0
key = struct.pack('Q', 4711)
assert element(UPDATE, filters, key, entry(1, 0))[0] == 0
assert element(LOOKUP, filters, key)[0] == -errno.EPERM and element(NEXT, filters, key)[0] == -errno.EPERM
assert element(UPDATE, dropped, struct.pack('I', 0), struct.pack('Q', 1))[0] == -errno.EPERM

def samples(made):
    """Bytes of samples of our own CPU time with this entry, and how many its slot counted."""
    slot = struct.unpack('I', made[4:8])[0] & 0xffff
    before = struct.unpack('Q', element(LOOKUP, dropped, struct.pack('I', slot))[1][:8])[0]
    assert element(UPDATE, filters, key, made)[0] == 0
    # cpu-clock, each 100,000 ns, sample_type IP; exclude_kernel, exclude_hv
    attribute = ctypes.create_string_buffer(struct.pack('IIQQQQQII', 1, 128, 0, 100000, 1, 0, 1 << 5 | 1 << 6, 0, 0), 128)
    event = libc.syscall(PERF, attribute, 0, -1, -1, 0)
    assert event > 0, ctypes.get_errno()
    link = bpf(LINK, struct.pack('IIIIQ', program, event, 41, 0, 4711))
    assert link > 0, link
    ring = mmap.mmap(event, 9 * mmap.PAGESIZE)
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    head = struct.unpack('Q', ring[1024:1032])[0]
    after = struct.unpack('Q', element(LOOKUP, dropped, struct.pack('I', slot))[1][:8])[0]
    ring.close()
    os.close(link)
    os.close(event)
    return head, after - before

head, count = samples(entry(1, 1, (IP, GREATER_EQUAL, 0)))
assert head > 0 and count == 0, (head, count)
# A field that the sample lacks tells nothing, whatever the kernel left there; nor does a field that there is not.
for term in (PHYS_ADDR, ABSENT):
    head, count = samples(entry(1, 2, (term, GREATER_EQUAL, 0)))
    assert head == 0 and count > 0, (term, head, count)
# Numbers out of bounds: all 64 conditions, and a slot within the map.
head, count = samples(entry(0xffffffff, 0xffff0003, *[(IP, GREATER_EQUAL, 0)] * 64))
assert head > 0 and count == 0, (head, count)
head, count = samples(entry(0xffffffff, 0xffff0003, *[(IP, 77, 0)] * 64))
assert head == 0 and count > 0, (head, count)
assert element(DELETE, filters, key)[0] == 0
print('held')
'''


@pytest.fixture
def root(tally, live):
    """tally as root in a mount namespace of its own, whose BPF file system is empty."""
    if not shutil.which('unshare') or not shutil.which('nsenter') or not shutil.which('setpriv'):
        pytest.skip('needs unshare, nsenter and setpriv')
    holder = subprocess.Popen(['unshare', '-m', 'sh', '-c', 'mount -t bpf -o mode=700 bpf /sys/fs/bpf && echo ready && exec sleep 600'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if holder.stdout.readline() != 'ready\n':
            pytest.skip(f'no BPF file system can be mounted: {holder.stderr.read().strip()}')
        with tempfile.TemporaryDirectory(prefix='tally-') as folder:
            pathlib.Path(folder).chmod(0o777)
            program = pathlib.Path(folder) / 'tally'
            shutil.copy(tally.path, program)
            program.chmod(0o755)
            yield Program(program, folder, prefix=['nsenter', '-t', str(holder.pid), '-m', '--'])
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        holder.stderr.close()


@pytest.fixture
def nobody(root):
    """The same as a user without privileges."""
    return Program(root.path, root.path.parent, prefix=[*root.prefix, *NOBODY])


@pytest.fixture
def pinned(root):
    result = root('record', '--setup-filter', 'pin')
    if result.returncode and re.search('BPF|not mounted', result.stderr):
        pytest.skip(f'BPF programs are refused here: {result.stderr.splitlines()[0]}')
    assert result.returncode == 0 and 'all users may now pass through /sys/fs/bpf' in result.stderr, result.stderr
    return result


def record(user, text, name='x.data'):
    data = user.path.parent / name
    result = user('record', '-e', 'cpu-clock:u', '-c', 100000, '--filter', text, '-o', data, '--', *LOOP, check=0)
    found = re.search(r': (\d+) samples did not pass --filter\n', result.stderr)
    addresses = user('script', '-i', data, '-F', 'ip', check=0).stdout.split()
    return [int(address, 16) for address in addresses], int(found[1]) if found else 0


def entries(root):
    result = subprocess.run([*root.prefix, 'bpftool', 'map', 'dump', 'pinned', '/sys/fs/bpf/tally_filter/filters', '-j'],
                            capture_output=True, text=True, check=True)
    return result.stdout.count('item_count')


def test_users_filter_their_own_events(root, nobody, pinned):
    low, low_dropped = record(nobody, f'ip < {HIGH:#x}')
    high, high_dropped = record(nobody, f'ip >= {HIGH:#x}, period > 1')
    assert low and max(low) < HIGH and low_dropped > 0
    assert high and min(high) >= HIGH and high_dropped > 0
    # Children inherit the filter; a mistake is told as ever.
    data = nobody.path.parent / 'children.data'
    nobody('record', '-e', 'cpu-clock:u', '-c', 100000, '--filter', f'ip >= {HIGH:#x}', '-o', data, '--', 'sh', '-c',
           '(i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done) & wait', check=0)
    rows = [line.split() for line in nobody('script', '-i', data, '-F', 'tid,ip', check=0).stdout.splitlines()]
    assert rows and all(int(row[-1], 16) >= HIGH for row in rows), rows[:5]
    assert 'PERF_SAMPLE_CPU' in nobody('record', '-e', 'cpu-clock:u', '--filter', 'cpu > 0', '-o', data, 'true').stderr
    # Root uses a program of its own, and what is pinned can be pinned anew.
    assert record(root, f'ip < {HIGH:#x}', 'root.data')[0]
    root('record', '--setup-filter', 'pin', check=0)
    assert record(nobody, f'ip < {HIGH:#x}')[0]


def test_sessions_leave_nothing_and_go_on_when_it_is_unpinned(root, nobody, pinned):
    if not shutil.which('bpftool'):
        pytest.skip('needs bpftool')
    data = nobody.path.parent / 'long.data'
    with nobody.start('record', '-e', 'cpu-clock:u', '-c', 100000, '--filter', f'ip >= {HIGH:#x}', '-o', data, '--', 'sh', '-c',
                      f'{LOOP[2]}; read line; {LOOP[2]}') as session:
        wait_for(lambda: entries(root) == 1)
        root('record', '--setup-filter', 'unpin', check=0)
        session.communicate('go on\n', timeout=TIMEOUT_S)
    assert session.returncode == 0
    addresses = nobody('script', '-i', data, '-F', 'ip', check=0).stdout.split()
    assert addresses and min(int(address, 16) for address in addresses) >= HIGH
    root('record', '--setup-filter', 'pin', check=0)
    record(nobody, 'period > 1')
    assert entries(root) == 0


def test_a_users_own_entries_are_bounded(root, nobody, pinned):
    result = subprocess.run([*nobody.prefix, sys.executable, '-c', HOSTILE, platform.machine()], capture_output=True, text=True,
                            check=False, timeout=TIMEOUT_S)
    assert (result.returncode, result.stdout) == (0, 'held\n'), result.stderr


def test_perfs_own_test_as_a_user(root, nobody, pinned):
    scripts = NEWEST_PERF.parent / 'root/usr/lib/perf-core/tests/shell' if NEWEST_PERF else None
    if not scripts or not (scripts / 'record_bpf_filter.sh').exists():
        pytest.skip("perf's own test record_bpf_filter.sh is not installed")
    folder = nobody.path.parent
    shutil.copy(scripts / 'record_bpf_filter.sh', folder)
    (folder / 'perf').symlink_to(nobody.path)
    environment = {**nobody.environment, 'PATH': f'{folder}:{os.environ["PATH"]}'}
    result = subprocess.run([*nobody.prefix, 'bash', folder / 'record_bpf_filter.sh'], env=environment, capture_output=True,
                            text=True, check=False, timeout=TIMEOUT_S)
    assert result.returncode == 0 and result.stdout.count('[Success]') >= 4, result.stdout + result.stderr


def test_a_folder_that_is_not_roots_is_not_used(root, nobody, pinned):
    subprocess.run([*root.prefix, 'chown', '65534', '/sys/fs/bpf/tally_filter'], check=True)
    refused = nobody('record', '-e', 'cpu-clock:u', '--filter', 'ip > 0', '-o', nobody.path.parent / 'x.data', 'true')
    assert refused.returncode and "is not root's alone" in refused.stderr


def test_refusals(root, nobody, tally):
    data = nobody.path.parent / 'x.data'
    refused = nobody('record', '-e', 'cpu-clock:u', '--filter', 'ip > 0', '-o', data, 'true')
    assert refused.returncode
    if 'which this build of tally lacks' in refused.stderr:
        pytest.skip('this build lacks BPF')
    assert re.match(r"--filter loads BPF programs, which needs CAP_BPF and CAP_PERFMON: .*; root can let all users filter "
                    r"\('record --setup-filter pin'\)\n", refused.stderr), refused.stderr
    assert 'nothing is pinned at' in root('record', '--setup-filter', 'unpin', check=255).stderr
    assert 'needs CAP_BPF and CAP_PERFMON' in nobody('record', '--setup-filter', 'pin', check=255).stderr
    assert 'expects pin or unpin' in tally('record', '--setup-filter', 'keep', check=129).stderr
    assert 'leave out the command' in tally('record', '--setup-filter', 'pin', 'true', check=129).stderr
