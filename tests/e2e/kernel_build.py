# SPDX-License-Identifier: Apache-2.0
"""Builds small files that look like a kernel and a module of it, and recordings of them."""
import shutil
import subprocess

import perfdata_build

LINKED = 0xffffffff81000000
RAN = 0xffffffff9a200000  # where KASLR put it
MODULE = 0xffffffffc0400000
CHAIN_KERNEL = (1 << 64) - 128
KERNEL_ID, MODULE_ID = '11' * 20, '22' * 20

KERNEL_SOURCE = r'''
__asm__(".text\n.globl _text, _stext\n_text:\n_stext:\n.skip 16\n");
volatile int counter;
static inline __attribute__((always_inline)) void deep(int by)
{
	counter += by; /* deep */
}
static inline __attribute__((always_inline)) void middle(int by)
{
	deep(by); /* middle */
}
__attribute__((noinline)) void schedule(int by)
{
	middle(by); /* schedule */
}
void start_kernel(void)
{
	for (;;)
		schedule(1);
}
'''

MODULE_SOURCE = r'''
extern volatile int counter;
static inline __attribute__((always_inline)) void count(int by)
{
	counter += by; /* count */
}
__attribute__((noinline, section(".text.unlikely"))) void cold_path(int by)
{
	count(by); /* cold_path */
}
__attribute__((section(".init.text"))) int init_module(void)
{
	return 0;
}
__attribute__((noinline)) void hot_path(int by)
{
	count(by); /* hot_path */
	cold_path(by);
}
'''


def compile_files(folder):
    """vmlinux and nf_toy.ko in folder."""
    (folder / 'kernel.c').write_text(KERNEL_SOURCE)
    (folder / 'nf_toy.c').write_text(MODULE_SOURCE)
    flags = ['-g', '-O2', '-ffreestanding', '-fno-pic', '-fno-asynchronous-unwind-tables', '-fcf-protection=none']
    for name in ('kernel', 'nf_toy'):
        subprocess.run(['gcc', *flags, '-mcmodel=kernel', '-c', '-o', f'{name}.o', f'{name}.c'], cwd=folder, check=True)
    subprocess.run(['ld', '-static', f'-Ttext={LINKED:#x}', f'--build-id=0x{KERNEL_ID}', '-e', 'start_kernel', '-o',
                    'vmlinux', 'kernel.o'], cwd=folder, check=True)
    subprocess.run(['ld', '-r', f'--build-id=0x{MODULE_ID}', '-o', 'nf_toy.ko', 'nf_toy.o'], cwd=folder, check=True)


def compile_arm_module(folder):
    (folder / 'nf_toy.c').write_text(MODULE_SOURCE)
    subprocess.run(['clang', '-target', 'aarch64-linux-gnu', '-g', '-O2', '-ffreestanding', '-fno-pic',
                    '-fno-asynchronous-unwind-tables', '-c', '-o', 'nf_arm.o', 'nf_toy.c'], cwd=folder, check=True)
    subprocess.run(['ld.lld', '-r', f'--build-id=0x{MODULE_ID}', '-o', 'nf_arm.ko', 'nf_arm.o'], cwd=folder, check=True)


def symbols(path):
    """Name -> (address, section's name, size)."""
    out = subprocess.run(['readelf', '-sW', path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {row[7]: (int(row[1], 16), row[6], int(row[2], 0)) for row in rows if len(row) == 8 and row[0][:-1].isdigit()}


def line_of(source, comment):
    return 1 + [f'/* {comment} */' in line for line in source.splitlines()].index(True)


def pad_name(text):
    data = text.encode() + b'\0'
    return data + bytes(-len(data) % 8)


def recording(path, addresses, kernel_id=KERNEL_ID, module_path='/lib/modules/1.2.3-toy/kernel/net/nf-toy.ko',
              reference='_text', release='1.2.3-toy', with_chains=False, kernel_name='[kernel.kallsyms]',
              length=0x1000000, kernel_misc=1, machine=None):
    """Samples at run-time addresses of the kernel and of one module. kernel_name, kernel_misc: how the table of build IDs
    lists the kernel; length: of its record."""
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME' + (' CALLCHAIN' if with_chains else ''))
    pack = recording.pack
    mappings = [(RAN, length, RAN, f'[kernel.kallsyms]{reference}'), (MODULE, 0x4000, 0, module_path)]
    for start, length, offset, name in mappings:
        recording.record(1, 1, pack('iIQQQ', -1, 0, start, length, offset) + pad_name(name) + recording.trailer())
    recording.comm('toy')
    for time, address in enumerate(addresses):
        recording.sample(misc=1, ip=address, time=5000000000 + 1000 * time, callchain=[CHAIN_KERNEL, address])
    ids = b''
    for build_id, name, misc in ((kernel_id, kernel_name, kernel_misc), (MODULE_ID, module_path, 1)):
        if build_id:
            body = pack('i', -1) + bytes.fromhex(build_id) + bytes([20, 0, 0, 0]) + pad_name(name)
            ids += pack('IHH', 0, misc | 1 << 15, 8 + len(body)) + body
    recording.feature(2, ids)
    recording.text_feature(4, release)
    if machine:
        recording.text_feature(6, machine)
    recording.write(path)


def bpf_recording(path, order='<'):
    """One BPF program of one function, hit at two addresses, with lines and types."""
    recording = perfdata_build.Recording(order)
    recording.event('IDENTIFIER IP TID TIME')
    pack = recording.pack
    recording.record(17, 0, pack('QIHH', MODULE, 0x40, 1, 0) + pad_name('bpf_prog_0123456789abcdef_probe') +
                     recording.trailer())
    recording.comm('toy')
    for time, offset in enumerate((0, 0x14)):
        recording.sample(misc=1, ip=MODULE + offset, time=5000000000 + 1000 * time)
    strings = b'\0/src/probe.bpf.c\0'
    data = pack('QI4x', MODULE, 0x40)
    lines = len(data)
    for number in (7, 9):
        data += pack('IIII', number, 1, 0, number << 10 | 3)
    addresses = len(data)
    data += pack('QQ', MODULE, MODULE + 0x10)
    info = bytearray(232)
    for offset, form, value in ((4, 'I', 5), (104, 'I', 1), (108, 'I', 1), (112, 'Q', 0), (120, 'Q', 8), (128, 'I', 3),
                                (148, 'I', 2), (152, 'Q', lines), (160, 'Q', addresses), (168, 'I', 2),
                                (172, 'I', 16), (176, 'I', 8)):
        packed = pack(form, value)
        info[offset:offset + len(packed)] = packed
    recording.feature(25, pack('IIIQ', 1, len(info), len(data), 0x1d8) + bytes(info) + data)
    btf = pack('HBBIIIII', 0xeb9f, 1, 0, 24, 0, 0, 0, len(strings)) + strings
    recording.feature(26, pack('III', 1, 3, len(btf)) + btf)
    recording.write(path)


def have_tools():
    return all(shutil.which(tool) for tool in ('gcc', 'ld', 'readelf'))
