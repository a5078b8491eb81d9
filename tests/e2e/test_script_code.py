# SPDX-License-Identifier: Apache-2.0
"""tally script -F with the code of samples: insn, insnlen, disasm, srccode and the instructions between branches, against
perf on a program whose every instruction is known."""
import re
import shutil
import subprocess

import perfdata_build
import pytest

SOURCE = '''	.text
	.globl _start
	.type _start,@function
_start:
	xor %eax,%eax
	mov $3,%ecx
	call work
	mov $60,%eax
	xor %edi,%edi
	syscall
	.size _start,.-_start
	.globl work
	.type work,@function
work:
	add $1,%eax
	test $1,%eax
	je .Lskip
	nop
	lea 8(%rax,%rcx,4),%rdx
.Lskip:
	dec %ecx
	jne work
	cmp $2,%edx
	ret
	.size work,.-work
	.globl again
	.type again,@function
again:
	nopw 0x0(%rax,%rax,1)
	jmp work
	.size again,.-again
'''
START, CALL, AFTER, SYSCALL = 0x401000, 0x401007, 0x40100c, 0x401013
WORK, JE, SKIP, JNE, RET = 0x401015, 0x40101d, 0x401025, 0x401027, 0x40102c
AGAIN, JMP, END = 0x40102d, 0x401032, 0x401034
KERNEL = 0xffffffff81000000


def flags(cycles=0, missed=False, predicted=True, more=0):
    return missed | predicted << 1 | more | cycles << 4


@pytest.fixture
def program(tmp_path):
    if not shutil.which('gcc'):
        pytest.skip('gcc is absent')
    (tmp_path / 'w.s').write_text(SOURCE)
    subprocess.run(['gcc', '-g', '-nostdlib', '-static', '-no-pie', '-o', 'w', 'w.s'], cwd=tmp_path, check=True)
    symbols = subprocess.run(['nm', 'w'], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    if f'{WORK:016x} T work' not in symbols:
        pytest.skip('another machine, or another linker')
    return tmp_path / 'w'


def write(path, program, samples, branch=perfdata_build.BRANCH_ANY, more=''):
    """samples: address, the branches with the newest first, thread."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME BRANCH_STACK IDENTIFIER ' + more, kind=0, branch=branch)
    r.text_feature(6, 'x86_64')
    r.name_events('cycles')
    for pid in (1000, 1001):
        r.record(3, 0, r.pack('II', pid, pid) + r.name('w') + r.trailer())
        r.record(1, 2, r.pack('IIQQQ', pid, pid, START, 0x1000, 0x1000) + r.name(str(program)) + r.trailer())
    for ip, branches, pid in samples:
        r.sample(ip=ip, tid=(pid, pid), branch_stack=[word for entry in branches for word in entry], phys_addr=0x1234,
                 callchain=[perfdata_build.CHAIN_USER, ip, SKIP])
    r.write(path)
    return path


LOOP = [(RET, AFTER, flags(4)), (JNE, WORK, flags()), (JE, SKIP, flags(2)),
        (JNE, WORK, flags(12, True, False)), (CALL, WORK, flags(5))]
SAMPLES = [
    (AFTER, LOOP, 1000),
    (AFTER + 5, LOOP, 1001),
    (WORK + 3, [(JNE, WORK, flags(7)), (JNE, WORK, flags(7, more=12)), (JMP, WORK, flags(3, True, True))], 1001),
    (RET, LOOP, 1000),  # the sample is the newest branch itself
    (AFTER, [], 1000),
    (START, [(RET, AFTER, flags(1, False, False))], 1000),  # before where the branch led to
    (0x900000, LOOP[:1], 1000),
    (WORK, [(0x500000, WORK, flags(3)), (JMP, WORK, flags(4))], 1000),  # what lies there is not known
    (WORK, [(START, WORK, flags(3)), (JMP, WORK, flags(4))], 1000),  # backwards
    (WORK + 3, [(KERNEL + 32, WORK, flags(3)), (JMP, KERNEL, flags(4))], 1000),
    (WORK + 3, [(KERNEL + 32, KERNEL + 48, flags(3)), (JMP, WORK, flags(4))], 1000),
    (WORK, [(JNE, WORK, flags(7)), (0, 0, 0), (KERNEL, WORK, flags(5))], 1000),
]


@pytest.mark.parametrize('fields', [
    'ip,brstackinsn', 'ip,brstackinsnlen', 'brstackinsn', 'ip,insn', 'ip,insnlen', 'insn', 'ip,sym,insn,srcline,srccode',
    'ip,srccode', 'ip,insn,brstackinsn,brstackinsnlen,insnlen,phys_addr', 'ip,sym,brstackinsn,srccode,phys_addr',
    'ip,brstack,brstacksym,brstackinsn', 'ip,brstackinsn,srcline'])
@pytest.mark.parametrize('more', ['', 'PHYS_ADDR', 'PHYS_ADDR CALLCHAIN'], ids=['plain', 'address', 'chain'])
def test_code_is_as_perf_prints_it(program, tmp_path, perf, tally, fields, more):
    if 'phys_addr' in fields and not more:
        pytest.skip('the samples have none')
    path = write(tmp_path / 'perf.data', program, SAMPLES, more=more)
    theirs = perf('script', '-i', path, '-F', fields, check=0).stdout
    ours = tally('script', '-i', path, '-F', fields, check=0).stdout
    # 7.x has the line of a branch beside it too, and what the CPU speculated; 6.1 relative addresses in chains.
    theirs = re.sub(r'\t srcline: [^\t\n]*', '', theirs).replace('//- ', '/ ')
    # The caller, SKIP: perf has the line of the return address, tally that of the call, the instruction before.
    theirs = re.sub(r'(?m)^  w\.s:21$', '  w.s:19', theirs)
    assert re.sub(r'(?m)^\t +[0-9a-f]+', '\t', ours) == re.sub(r'(?m)^\t +[0-9a-f]+', '\t', theirs)


@pytest.mark.parametrize('blocks', ['0', '1', '2', '9'])
def test_only_the_newest_blocks(program, tmp_path, perf, tally, blocks):
    path = write(tmp_path / 'perf.data', program, SAMPLES)
    arguments = ['script', '-i', path, '-F', 'ip,brstackinsn', '--max-blocks', blocks]
    assert tally(*arguments, check=0).stdout == perf(*arguments, check=0).stdout


def test_a_path_as_text(program, tmp_path, tally):
    path = write(tmp_path / 'perf.data', program, [(AFTER + 5, LOOP[:2] + LOOP[4:], 1000)])
    assert tally('script', '-i', path, '-F', 'ip,disasm,brstackdisasm,brstackinsnlen', check=0).stdout == '''\
           401011		xor    %edi,%edi
	_start+7:
	0000000000401007	call   401015 <work>          	ilen: 5	# PRED 5 cycles [5]
	work:
	0000000000401015	add    $0x1,%eax	ilen: 3
	0000000000401018	test   $0x1,%eax	ilen: 5
	000000000040101d	je     401025 <work+0x10>	ilen: 2
	000000000040101f	nop	ilen: 1
	0000000000401020	lea    0x8(%rax,%rcx,4),%rdx	ilen: 5
	0000000000401025	dec    %ecx	ilen: 2
	0000000000401027	jne    401015 <work>          	ilen: 2	# PRED
	0000000000401015	add    $0x1,%eax	ilen: 3
	0000000000401018	test   $0x1,%eax	ilen: 5
	000000000040101d	je     401025 <work+0x10>	ilen: 2
	000000000040101f	nop	ilen: 1
	0000000000401020	lea    0x8(%rax,%rcx,4),%rdx	ilen: 5
	0000000000401025	dec    %ecx	ilen: 2
	0000000000401027	jne    401015 <work>	ilen: 2
	0000000000401029	cmp    $0x2,%edx	ilen: 3
	000000000040102c	ret                           	ilen: 1	# PRED 4 cycles [9] 2.25 IPC
	_start+12:
	000000000040100c	mov    $0x3c,%eax	ilen: 5
	0000000000401011	xor    %edi,%edi	ilen: 2

'''


def test_a_sample_is_reached_over_jumps_that_were_not_taken(program, tmp_path, tally):
    branches = [(JMP, WORK, flags(1))]
    path = write(tmp_path / 'perf.data', program, [(JNE, branches, 1000), (AGAIN, branches, 1000)])
    taken, beyond = tally('script', '-i', path, '-F', 'ip,brstackinsn', check=0).stdout.split('\n\n')[:2]
    assert taken.endswith('\t0000000000401025\tinsn: ff c9 \n\t0000000000401027\tinsn: 75 ec ')
    assert beyond.endswith('\t000000000040102c\tinsn: c3 \n\t... not reaching sample ...')


def test_a_branch_from_inside_an_instruction(program, tmp_path, tally):
    path = write(tmp_path / 'perf.data', program, [(WORK, [(WORK + 4, WORK, flags(1)), (JMP, WORK, flags(1))], 1000)])
    ours = tally('script', '-i', path, '-F', 'brstackinsn', check=0).stdout
    assert re.sub(r' +\n', r'\n', ours) == '''
	again+5:
	0000000000401032	insn: eb e1                   	# PRED 1 cycles [1]
	work:
	0000000000401015	insn: 83 c0 01
	0000000000401018	insn: a9 01 00 00 00
	0000000000401019	<bad>
	mismatch of LBR data and executable
	0000000000401015	insn: 83 c0 01

'''


def test_code_that_is_gone(program, tmp_path, tally):
    path = write(tmp_path / 'perf.data', program, SAMPLES[:1])
    program.unlink()
    arguments = ['script', '-i', path, '-F']
    assert tally(*arguments, 'ip,insn,insnlen,disasm,srccode', check=0).stdout == '           40100c ilen: 0\n'
    assert tally(*arguments, 'ip,brstackinsn', check=0).stdout == '           40100c\n\n'


def test_paths_want_all_branches(program, tmp_path, perf, tally):
    path = write(tmp_path / 'perf.data', program, SAMPLES, branch=1 << 4)
    theirs = perf('script', '-i', path, '-F', 'brstackinsn')
    ours = tally('script', '-i', path, '-F', 'brstackinsn')
    assert theirs.returncode != 0 and ours.returncode != 0
    assert theirs.stderr.endswith(ours.stderr.replace('tally record', 'perf record'))
    ours = tally('script', '-i', path, '-F', 'srccode')
    assert ours.returncode != 0 and 'source line number requested but sample IP is not' in ours.stderr


def write_counters(path, program, counted=(0, 1, 2), leader=0, members=3, width='2'):
    """Samples of one event of three, of which some have branch counters; a group of members from leader on."""
    r = perfdata_build.Recording()
    for index in range(3):
        r.event('IDENTIFIER IP TID TIME CPU PERIOD BRANCH_STACK', kind=0, config=(0, 1, 5)[index],
                branch=perfdata_build.BRANCH_ANY | (perfdata_build.BRANCH_COUNTERS if index in counted else 0))
    r.name_events('cycles', 'instructions', 'branch-misses')
    r.comm('w')
    r.mmap(0x400000, 0x2000, str(program))
    for index, counters in enumerate(([0, 0b011011, 0b110100], [0b111111, 1, 0])):
        branches = [(RET, AFTER, flags(4)), (JE, SKIP, flags(2, True, False)), (CALL, WORK, flags(5))]
        r.sample(event=leader, ip=AFTER, time=(index + 1) * 10**9, branch_stack=[word for b in branches for word in b],
                 counters=counters)
    r.text_feature(6, 'x86_64')
    r.text_feature(9, 'GenuineIntel,6,175,1')
    r.feature(15, b'')
    r.feature(7, r.pack('II', 4, 4))
    if width:
        r.cpu_caps(branch_counter_nr='4', branch_counter_width=width)
    r.group(leader, members)
    r.write(path)
    return path


@pytest.mark.parametrize('counted,leader,members,width', [
    ((0, 1, 2), 0, 3, '2'), ((0, 1), 0, 3, '2'), ((0, 1, 2), 0, 2, '2'), ((0, 1, 2), 1, 2, '2'), ((0,), 0, 3, '4'), ((), 0, 3, '2')])
def test_branch_counters_are_perfs(program, tmp_path, tally, newest_perf, counted, leader, members, width):
    path = write_counters(tmp_path / 'perf.data', program, counted, leader, members, width)
    for fields in ('comm,brcntr', 'brstackinsn,brcntr', 'ip,brstackinsn,brstackinsnlen,brcntr', 'ip,brstack,brcntr'):
        for more in ((), ('-v',)):
            theirs, ours = (x('script', '-i', path, '-F', fields, *more) for x in (newest_perf, tally))
            expected = re.sub(r' +$', '', theirs.stdout.replace('//- ', '/ '), flags=re.M)
            assert re.sub(r' +$', '', ours.stdout, flags=re.M) == expected
            assert ours.returncode == theirs.returncode
            if not counted:
                assert 'Display of branch counter requested' in ours.stderr


def test_branch_counters_as_text(program, tmp_path, tally):
    path = write_counters(tmp_path / 'perf.data', program)
    text = tally('script', '-i', path, '-F', 'brstackinsn,brcntr', check=0).stdout
    assert text.startswith('# Branch counter abbr list:\n# cycles = A\n# instructions = B\n# branch-misses = C\n')
    assert '\t\t# br_cntr: BCCC+  PRED 5 cycles [5]\n' in text and '\t\t# br_cntr: AAA+BBC  MISPRED' in text
    assert '\t\t# br_cntr: -  PRED 4 cycles' in text
    text = tally('script', '-v', '-i', path, '-F', 'brstackinsn,brcntr', check=0).stdout
    assert '# br_cntr: cycles 3+ instructions 2 branch-misses 1   MISPRED' in text and 'abbr' not in text
    path = write_counters(tmp_path / 'perf.data', program, width=None)
    assert 'does not say how wide' in tally('script', '-i', path, '-F', '+brcntr', check=255).stderr


def test_call_indents_are_of_decoded_traces(program, tmp_path, perf, tally):
    path = write(tmp_path / 'perf.data', program, SAMPLES)
    for fields in ('+callindent', 'ip,sym,callindent', 'comm,callindent,brstack'):
        assert tally('script', '-i', path, '-F', fields, check=0).stdout == (
            tally('script', '-i', path, '-F', fields.replace('callindent', 'tid'), check=0).stdout if fields[0] == '+'
            else perf('script', '-i', path, '-F', fields, check=0).stdout)
