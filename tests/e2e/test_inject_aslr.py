# SPDX-License-Identifier: Apache-2.0
"""tally inject --aslr: nothing lies where it lay, and everything is called what it was called."""
import re
import struct
import subprocess

import perfdata_build
import pytest
from perfdata_build import CHAIN_USER, Recording

KERNEL, MODULE, PROGRAM, LIBRARY, BPF = 0xffffffff9a000000, 0xffffffffc0123000, 0x55d6cee99000, 0x7fddb9200000, 0xffffffffc0765000
# Where they go: what touches stays together, with a page between others.
NEW_KERNEL, NEW_MODULE, NEW_BPF = 0xffff800010000000, 0xffff800011001000, 0xffff800011012000
NEW_PROGRAM, NEW_LIBRARY = 0x200000, 0x204000
GONE = {'registers': ('REGS_USER REGS_INTR', {'regs_user': [0x55d6cee99010], 'regs_intr': [0x55d6cee99010]}),
        'stack dumps': ('STACK_USER', {'stack_user': b'\x10\x90\xe9\xce\xd6\x55\0\0'}),
        'raw data': ('RAW', {'raw': b'\x10\x90\xe9\xce\xd6\x55\0\0'}),
        'physical addresses': ('PHYS_ADDR', {'phys_addr': 0x55d6cee99010})}


def mmap(r, start, length, name, pid=1000, offset=0, misc=2):
    r.record(1, misc, r.pack('iiQQQ', pid, pid, start, length, offset) + r.name(name) + r.trailer())


def begin(fields, order='<', **attr):
    r = Recording(order)
    r.event('IDENTIFIER IP TID TIME ' + fields, kind=0, **attr)
    r.text_feature(6, 'x86_64')
    r.feature(7, r.pack('II', 4, 4))
    r.name_events('cycles')
    r.comm('prog')
    mmap(r, KERNEL, 0x1000000, '[kernel.kallsyms]_text', -1, KERNEL, 1)
    mmap(r, MODULE, 0x10000, '[module]', -1, 0, 1)
    mmap(r, PROGRAM, 0x2000, '/nonexistent/prog')
    mmap(r, PROGRAM + 0x2000, 0x1000, '/nonexistent/prog', 1000, 0x2000)
    mmap(r, LIBRARY, 0x4000, '/nonexistent/library.so', 1000, 0x26000)
    return r


def words_near(path, starts):
    data = path.read_bytes()
    words = {word for form in '<>' for (word,) in struct.iter_unpack(f'{form}Q', data[:len(data) // 8 * 8])}
    return [hex(word) for word in words if any(start <= word < start + 0x1000000 for start in starts)]


@pytest.mark.parametrize('order', ['<', '>'], ids=['little', 'big'])
def test_all_addresses_move(tally, tmp_path, order):
    r = begin('ADDR CALLCHAIN BRANCH_STACK', order, branch=perfdata_build.BRANCH_ANY)
    flags = 2 if order == '<' else 1 << 62
    r.record(17, 0, r.pack('QIHH', BPF, 0x100, 1, 0) + r.name('bpf_prog') + r.trailer())
    r.sample(ip=PROGRAM + 0x10, addr=LIBRARY + 0x20, callchain=[CHAIN_USER, PROGRAM + 0x10, LIBRARY + 0x30, 0x666000],
             branch_stack=[PROGRAM + 0x11, LIBRARY + 0x21, flags, MODULE + 1, KERNEL + 2, flags])
    r.sample(ip=KERNEL + 0x40, misc=1, addr=0x777000, callchain=[(1 << 64) - 128, KERNEL + 0x40, BPF + 0x50])
    r.record(7, 0, r.pack('IIIIQ', 1002, 1000, 1002, 1000, 5500000000) + r.trailer())
    r.sample(ip=PROGRAM + 0x2010, tid=(1002, 1002), time=6000000000)
    r.write(tmp_path / 'old.data')
    result = tally('inject', '--aslr', '-i', 'old.data', '-o', 'new.data', cwd=tmp_path, check=0)
    assert result.stderr == ''
    old, new = (tally('script', '-i', name, '--show-mmap-events', '--show-bpf-events', '-F', 'tid,ip,sym,dso,addr,brstack',
                      cwd=tmp_path, check=0).stdout for name in ('old.data', 'new.data'))
    for start, target in ((KERNEL, NEW_KERNEL), (MODULE, NEW_MODULE), (BPF, NEW_BPF), (PROGRAM, NEW_PROGRAM),
                          (LIBRARY, NEW_LIBRARY), (0x666000, 0), (0x777000, 0)):
        for offset in (*range(0x52), 0x2000, 0x2010):
            old = re.sub(rf'\b(0x)?{start + offset:x}\b', rf'\g<1>{target + offset if target else 0:x}', old)
    assert re.sub(' +', ' ', new) == re.sub(' +', ' ', old)
    assert words_near(tmp_path / 'new.data', (KERNEL, MODULE, PROGRAM, LIBRARY)) == []
    assert words_near(tmp_path / 'old.data', (KERNEL,)) != []


@pytest.mark.parametrize('what', GONE)
def test_what_could_hide_addresses_goes(tally, perf, tmp_path, what):
    fields, values = GONE[what]
    r = begin(fields, regs=1 if 'REGS' in fields else 0)
    r.sample(ip=PROGRAM + 0x10, **values)
    r.write(tmp_path / 'old.data')
    result = tally('inject', '--aslr', '-i', 'old.data', '-o', 'new.data', cwd=tmp_path, check=0)
    assert result.stderr.startswith(f'tally: left out, as addresses are in them: {what}')
    assert words_near(tmp_path / 'new.data', (PROGRAM, KERNEL)) == []
    for program in (tally, perf):
        listed = program('evlist', '-v', '-i', 'new.data', cwd=tmp_path, check=0).stdout
        assert 'sample_type: IP|TID|TIME|IDENTIFIER,' in listed
        shown = program('script', '-i', 'new.data', '-F', 'tid,ip', cwd=tmp_path, check=0).stdout
        assert shown.split() == ['1000', '200010']


def test_reports_stay(tally, perf, live, workload, tmp_path):
    """Of a program that ran: names, lines and callers, for both programs, from a file and by way of a pipe.

    Of the program alone: the dynamic linker keeps no frame pointers, and what is no address becomes 0 in its call chains.
    """
    tally('record', '-e', 'cpu-clock', '-F', '500', '-g', '-o', tmp_path / 'old.data', '--', workload('deep').path, '200', check=0)
    tally('inject', '--aslr', '-i', 'old.data', '-o', 'new.data', cwd=tmp_path, check=0)
    piped = tally('inject', '-i', 'old.data', cwd=tmp_path, check=0, text=False).stdout
    tally('inject', '--aslr', '-o', 'piped.data', cwd=tmp_path, stdin=piped, text=False, check=0)
    for program in (tally, perf):
        reports = [program('report', '--stdio', '-s', 'comm,dso,sym', '--dsos', 'deep', '-i', name, cwd=tmp_path, check=0).stdout
                   for name in ('old.data', 'new.data', 'piped.data')]
        rows = [[line for line in report.split('\n') if not line.startswith('#')] for report in reports]
        assert 'leaf' in reports[0] and rows[0] == rows[1] == rows[2]
    lines = [tally('script', '-F', 'time,sym,symoff,dso,ip,srcline', '-i', name, cwd=tmp_path, check=0).stdout
             for name in ('old.data', 'new.data')]
    names = [re.sub(r'(?m)^\t *[0-9a-f]+ |\[[0-9a-f]+\]', '', text) for text in lines]
    assert names[0] == names[1] and lines[0] != lines[1]


def test_formats_of_tracepoints_stay(tally, perf, system_wide, workload, tmp_path):
    """Stock perf opens no recording with tracepoints that lacks them."""
    tally('record', '-e', 'cpu-clock', '-e', 'sched:sched_process_exec', '-F', '500', '-g', '-o', tmp_path / 'old.data', '--',
          workload('deep').path, '200', check=0)
    result = tally('inject', '--aslr', '-i', 'old.data', '-o', 'new.data', cwd=tmp_path, check=0)
    assert 'raw data of tracepoints' in result.stderr
    for program in (tally, perf):
        # An address that lies in no mapping becomes 0: such rows, and chains with one, differ.
        for words in ['-g', 'none'], ['-g', 'caller', '-S', 'leaf']:
            old, new = ([line for line in program('report', '--stdio', '--no-children', '-s', 'comm,dso,sym', *words, '-i', name,
                                                  cwd=tmp_path, check=0).stdout.split('\n')
                         if not line.startswith('#') and '[unknown]' not in line]
                        for name in ('old.data', 'new.data'))
            assert 'leaf' in '\n'.join(old) and old == new
    assert b'sched_process_exec' in (tmp_path / 'new.data').read_bytes()


def test_what_cannot_be_moved(tally, tmp_path):
    r = begin('ADDR')
    mmap(r, 0x1000, 0xffffffff9fffe000, '[kernel.kallsyms]_stext', -1, 0, 1)
    r.write(tmp_path / 'old.data')
    result = tally('inject', '--aslr', '-i', 'old.data', '-o', 'new.data', cwd=tmp_path, check=255)
    assert 'the mapping at 0x1000 is too long to be moved' in result.stderr and not (tmp_path / 'new.data').exists()
    for other in ('-b', '--strip'):
        beside = tally('inject', '--aslr', other, '-i', 'old.data', '-o', 'new.data', cwd=tmp_path, check=255)
        assert 'is too long to be moved' in beside.stderr and not (tmp_path / 'new.data').exists()
    subprocess.run([tally.path, 'inject', '-i', 'old.data', '-o', 'plain.data'], cwd=tmp_path, check=True)
    piped = tally('inject', '-i', 'plain.data', cwd=tmp_path, check=0, text=False).stdout
    assert b'name the file with -o' in tally('inject', '--aslr', stdin=piped, text=False, check=255).stderr
