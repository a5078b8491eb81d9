# SPDX-License-Identifier: Apache-2.0
"""Names and lines of the kernel and its modules from their files, by build id, wherever the kernel ran."""
import gzip
import lzma
import os
import re
import shutil
import struct
import subprocess

import pytest

from conftest import NEWEST_PERF, TIMEOUT_S
import kernel_build as k

MOVED = k.RAN - k.LINKED
VMLINUX_PLACES = ['boot/vmlinux-1.2.3-toy', 'usr/lib/debug/boot/vmlinux-1.2.3-toy',
                  'lib/modules/1.2.3-toy/build/vmlinux', 'usr/lib/debug/lib/modules/1.2.3-toy/vmlinux',
                  f'usr/lib/debug/.build-id/{k.KERNEL_ID[:2]}/{k.KERNEL_ID[2:]}.debug']
MODULE_PATH = 'lib/modules/1.2.3-toy/kernel/net/nf-toy.ko'


@pytest.fixture
def files(tmp_path):
    if not k.have_tools():
        pytest.skip('gcc, ld or readelf is not installed')
    folder = tmp_path / 'files'
    folder.mkdir()
    k.compile_files(folder)
    return folder


def put(source, root, path):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, root / path)


def script(tally, *arguments):
    """(name+offset, line) of each sample."""
    lines = tally('script', '-F', 'ip,sym,symoff,srcline', *arguments).stdout.splitlines()
    return [(name.split()[1], line.strip()) for name, line in zip(lines[::2], lines[1::2])]


def kernel_recording(path, files, **kwargs):
    symbols = k.symbols(files / 'vmlinux')
    k.recording(path, [symbols[name][0] + MOVED for name in ('schedule', 'start_kernel')], **kwargs)


def line(source, comment, name):
    return f'{name}:{k.line_of(source, comment)}'


@pytest.mark.parametrize('place', VMLINUX_PLACES)
@pytest.mark.parametrize('reference', ['_text', '_stext'])
def test_vmlinux_is_found_by_release_and_build_id(tally, files, tmp_path, place, reference):
    data, root = tmp_path / 'k.data', tmp_path / 'root'
    kernel_recording(data, files, reference=reference)
    put(files / 'vmlinux', root, place)
    names = script(tally, '--symfs', root, '-i', data)
    assert [name for name, _ in names] == ['schedule+0x0', 'start_kernel+0x0']
    assert names[0][1] == line(k.KERNEL_SOURCE, 'deep', 'kernel.c')


def test_inlined_calls_of_the_kernel_are_frames(tally, files, tmp_path):
    data = tmp_path / 'k.data'
    kernel_recording(data, files, with_chains=True)
    lines = tally('script', '-F', 'ip,sym', '-i', data, '-k', files / 'vmlinux').stdout.splitlines()
    names = [line.split(maxsplit=1)[1] for line in lines if line.strip()]
    assert names[:3] == ['deep (inlined)', 'middle (inlined)', 'schedule']


def test_another_kernels_vmlinux_is_refused(tally, files, tmp_path):
    data, root = tmp_path / 'k.data', tmp_path / 'root'
    kernel_recording(data, files, kernel_id='33' * 20)
    put(files / 'vmlinux', root, VMLINUX_PLACES[0])
    out = tally('report', '--stdio', '-i', data, '-k', files / 'vmlinux')
    assert 'schedule' not in out.stdout
    assert f'its build id is {k.KERNEL_ID}, not {"33" * 20}' in out.stderr
    missing = tally('report', '--missing', '-i', data, '--symfs', root).stdout
    assert f'vmlinux-1.2.3-toy: other build id ({k.KERNEL_ID})' in missing


@pytest.mark.parametrize('version', ['/usr/bin/perf', NEWEST_PERF], ids=['6.1', 'newest'])
def test_modules_without_symbols_are_shown_as_perf_does(tally, files, tmp_path, version):
    if not version or not os.path.exists(version):
        pytest.skip('this perf is not installed')
    data = tmp_path / 'k.data'
    k.recording(data, [k.MODULE + 2])
    for arguments in (['script', '-F', 'ip,sym,dso'], ['report', '--stdio']):
        theirs = subprocess.run([version, *arguments, '-i', data], capture_output=True, text=True, timeout=TIMEOUT_S,
                                env={**os.environ, 'HOME': str(tmp_path)}, stdin=subprocess.DEVNULL, check=True).stdout
        ours = tally(*arguments, '-i', data).stdout
        rows = [[line for line in out.splitlines() if line.strip() and line[0] != '#'] for out in (theirs, ours)]
        assert rows[0] == rows[1]


def test_a_kernel_of_another_release_is_not_this_one(tally, files, tmp_path):
    """Without a build id the release tells; perf gives it the names of the kernel that runs here."""
    data = tmp_path / 'k.data'
    kernel_recording(data, files, kernel_id=None)
    assert 'another kernel than this machine' in tally('report', '--missing', '-i', data).stdout


@pytest.mark.parametrize('name,shown', [('vmlinux', '[kernel.vmlinux]'), ('/src/linux-1.2.3/vmlinux', '[kernel.vmlinux]'),
                                        ('/boot/kernel-toy', 'kernel-toy'), ('[kernel.kallsyms]', '[kernel.kallsyms]')])
def test_the_kernel_is_known_by_whose_build_id_is_listed(tally, files, tmp_path, name, shown):
    """perf lists the kernel by the path of the vmlinux that it found; its symbols lie in the cache by build ID."""
    data, home = tmp_path / 'k.data', tmp_path / 'cache'
    kernel_recording(data, files, kernel_name=name)
    put(files / 'vmlinux', home, f'.build-id/{k.KERNEL_ID[:2]}/{k.KERNEL_ID[2:]}/vmlinux')
    assert tally('buildid-list', '-i', data).stdout.splitlines()[0] == f'{k.KERNEL_ID} {name}'
    assert tally('buildid-list', '-H', '-i', data).stdout.splitlines()[0] == f'{k.KERNEL_ID} [kernel.kallsyms]'
    cached = ('--buildid-dir', home)
    rows = tally(*cached, 'report', '--stdio', '-q', '-s', 'dso,sym', '-i', data).stdout.split('\n')
    assert [row.split()[1:] for row in rows if row.strip()] == [[shown, '[k]', 'schedule'], [shown, '[k]', 'start_kernel']]
    lines = tally(*cached, 'script', '-F', 'ip,sym,dso', '-i', data).stdout.splitlines()
    assert [line.split()[1:] for line in lines] == [['schedule', f'({name})'], ['start_kernel', f'({name})']]
    assert k.KERNEL_ID in tally('report', '--missing', '-i', data).stdout
    injected = tmp_path / 'injected.data'
    tally('inject', '-b', '-i', data, '-o', injected)
    assert tally('buildid-list', '-i', injected).stdout.count(k.KERNEL_ID) == 1


def test_a_guests_kernel_gives_its_build_id_to_no_other(tally, files, tmp_path):
    data = tmp_path / 'k.data'
    kernel_recording(data, files, kernel_misc=4)
    assert k.KERNEL_ID not in tally('buildid-list', '-H', '-i', data).stdout


def running_text():
    """(start, length) of the text of the kernel that runs here."""
    with open('/proc/kallsyms') as lines:
        places = {name: int(address, 16) for address, _, name, *_ in map(str.split, lines)
                  if name in ('_text', '_etext')}
    if not places.get('_text') or not places.get('_etext'):
        pytest.skip('the kernel hides its names (kernel.kptr_restrict)')
    return places['_text'], places['_etext'] - places['_text']


@pytest.mark.parametrize('more,names,warns', [(0, True, False), (None, True, True), (-0x40, False, False)])
def test_without_a_build_id_the_length_tells(tally, files, tmp_path, more, names, warns):
    """A kernel of the same release whose text is longer or shorter is another build; of one without an end is said that
    names may be another's."""
    start, length = running_text()
    data = tmp_path / 'k.data'
    k.recording(data, [k.RAN + 0x100], kernel_id=None, release=os.uname().release, machine=os.uname().machine,
                length=2**64 - 1 - k.RAN if more is None else length + more)
    assert k.RAN % 0x1000 == start % 0x1000
    run = tally('report', '--stdio', '-s', 'sym', '-i', data)
    rows = [row.split()[-1] for row in run.stdout.splitlines() if '%' in row and row[0] != '#']
    assert len(rows) == 1 and rows[0].startswith('0x') != names
    assert ("kernel symbols come from the running kernel" in run.stderr) == warns
    tally('inject', '-b', '-i', data, '-o', tmp_path / 'injected.data', check=0)
    listed = tally('buildid-list', '-i', tmp_path / 'injected.data', check=0).stdout
    assert ('[kernel.kallsyms]' in listed) == names


def test_addresses_of_modules_are_offsets(tally, files, tmp_path):
    """As perf shows code of a module without lines: where addr2line would look for it."""
    data = tmp_path / 'k.data'
    k.recording(data, [k.MODULE + 0x30])
    lines = tally('script', '-F', 'ip,sym,srcline', '-i', data).stdout.splitlines()
    assert [line.split() for line in lines] == [[f'{k.MODULE + 0x30:x}', '[unknown]'], ['[nf_toy][30]']]
    assert '[nf_toy][30]' in tally('report', '--stdio', '-s', 'srcline', '-i', data).stdout
    assert 'nf-toy.ko+0x30)' in tally('script', '-F', 'ip,dso,dsoff', '-i', data).stdout


def test_ignore_vmlinux(tally, files, tmp_path):
    data, root = tmp_path / 'k.data', tmp_path / 'root'
    kernel_recording(data, files)
    put(files / 'vmlinux', root, VMLINUX_PLACES[0])
    assert 'schedule' in tally('report', '--stdio', '-i', data, '--symfs', root).stdout
    assert 'schedule' not in tally('report', '--stdio', '-i', data, '--symfs', root, '--ignore-vmlinux').stdout


def test_names_of_a_list_and_lines_of_a_vmlinux(tally, files, tmp_path):
    """The list is of the boot that was recorded, the file of the link."""
    data, root, home = tmp_path / 'k.data', tmp_path / 'root', tmp_path / 'cache'
    kernel_recording(data, files)
    put(files / 'vmlinux', root, VMLINUX_PLACES[1])
    symbols = k.symbols(files / 'vmlinux')
    copy = home / '[kernel.kcore]' / k.KERNEL_ID / '2024013112300000'
    copy.mkdir(parents=True)
    (copy / 'kallsyms').write_text(''.join(
        f'{symbols[name][0] + MOVED:016x} T {shown}\n'
        for name, shown in (('_text', '_text'), ('schedule', 'schedule_of_list'), ('start_kernel', 'start_kernel'))))
    out = tally('--buildid-dir', home, 'script', '-F', 'ip,sym,srcline', '-i', data, '--symfs', root).stdout.split()
    assert 'schedule_of_list' in out
    assert line(k.KERNEL_SOURCE, 'deep', 'kernel.c') in out


def instructions(text):
    """Address, instruction and operands, without blanks and names of places."""
    rows = re.findall(r'^(?:[ \d.]*: )? *([0-9a-f]+):\s+(\S.*?)\s*$', text, re.M)
    return [(int(address, 16), *re.sub(r'\s+(#.*|<.*>)$', '', code).split(None, 1)) for address, code in rows]


def put_kcore(path, vmlinux, moved):
    """A core of the kernel's text where it ran."""
    text = path.with_name('text.bin')
    subprocess.run(['objcopy', '-O', 'binary', '-j', '.text', vmlinux, text], check=True)
    code = text.read_bytes()
    header = struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    other = struct.pack('<IIQQQQQQ', 1, 7, 120 + 56, 0xffff888000000000, 0, 16, 16, 0)
    segment = struct.pack('<IIQQQQQQ', 1, 7, 64 + 2 * 56, k.LINKED + moved, 0, len(code), len(code), 0)
    path.write_bytes(header + other + segment + code)


@pytest.mark.parametrize('boot', ['the same', 'another'])
def test_kernel_code_of_a_copied_kcore_is_annotated(tally, files, tmp_path, boot):
    """As buildid-cache --kcore keeps it: the memory of the kernel beside its list; no vmlinux is there."""
    data, home = tmp_path / 'k.data', tmp_path / 'cache'
    kernel_recording(data, files)
    moved = MOVED if boot == 'the same' else 0
    symbols = k.symbols(files / 'vmlinux')
    copy = home / '[kernel.kcore]' / k.KERNEL_ID / '2024013112300000'
    copy.mkdir(parents=True)
    (copy / 'kallsyms').write_text(''.join(
        f'{symbols[name][0] + moved:016x} T {name}\n' for name in ('_text', 'schedule', 'start_kernel')))
    missing = tally('--buildid-dir', home, 'annotate', '--stdio', '-i', data, 'schedule', check=None)
    assert 'no vmlinux of the recorded build id was found' in missing.stderr
    put_kcore(copy / 'kcore', files / 'vmlinux', moved)
    ours = instructions(tally('--buildid-dir', home, 'annotate', '--stdio', '-i', data, 'schedule', check=0).stdout)
    listing = subprocess.run(['objdump', '-d', '--no-show-raw-insn', '--disassemble=schedule', files / 'vmlinux'],
                             capture_output=True, text=True, check=True).stdout
    theirs = [(address + MOVED, *code) for address, *code in instructions(listing)]
    assert theirs and ours[:len(theirs)] == theirs
    (copy / 'kcore').write_bytes((copy / 'kcore').read_bytes()[:150])
    cut = tally('--buildid-dir', home, 'annotate', '--stdio', '-i', data, 'schedule', check=None)
    assert 'no vmlinux' in cut.stderr


@pytest.mark.parametrize('boot', ['the same', 'another'])
def test_a_copied_list_names_modules_of_its_boot(tally, tmp_path, boot):
    data, home = tmp_path / 'k.data', tmp_path / 'cache'
    k.recording(data, [k.RAN + 70, k.MODULE + 0x10])
    folder = home / '.build-id' / k.KERNEL_ID[:2] / k.KERNEL_ID[2:]
    folder.mkdir(parents=True)
    text = k.RAN if boot == 'the same' else k.LINKED
    (folder / 'kallsyms').write_text(f'{text:x} T _text\n{text + 64:x} T schedule\n'
                                     f'{k.MODULE:x} t toy_open\t[nf_toy]\n{k.MODULE + 64:x} t toy_close\t[nf_toy]\n')
    out = tally('--buildid-dir', home, 'script', '-F', 'ip,sym', '-i', data).stdout
    assert 'schedule' in out
    assert ('toy_open' in out) == (boot == 'the same')


def packed(path, how):
    data = path.read_bytes()
    if how == 'xz':
        return lzma.compress(data, check=lzma.CHECK_CRC32)
    if how == 'gz':
        return gzip.compress(data)
    if how == 'zst':
        if not shutil.which('zstd'):
            pytest.skip('zstd is not installed')
        return subprocess.run(['zstd', '-c', path], capture_output=True, check=True).stdout
    return data


def code_offsets(module):
    """Where the kernel puts the functions: sections of code one behind the other, those of start-up apart."""
    headers = subprocess.run(['readelf', '-SW', module], capture_output=True, text=True, check=True).stdout
    at, offsets = 0, {}
    for row in headers.splitlines():
        fields = row.split(']', 1)[-1].split()
        if len(fields) > 8 and 'X' in fields[6] and not fields[0].startswith('.init'):
            align = int(fields[9])
            at = -(-at // align) * align
            offsets[fields[0]] = at
            at += int(fields[4], 16)
    return offsets


@pytest.mark.parametrize('how', ['', 'xz', 'gz', 'zst'])
def test_a_module_is_read_from_its_file(tally, files, tmp_path, how):
    data, root = tmp_path / 'k.data', tmp_path / 'root'
    ending = f'.{how}' if how else ''
    offsets = code_offsets(files / 'nf_toy.ko')
    hot, cold = k.MODULE + offsets['.text'], k.MODULE + offsets['.text.unlikely']
    k.recording(data, [hot, cold], module_path=f'/{MODULE_PATH}{ending}')
    (root / MODULE_PATH).parent.mkdir(parents=True)
    (root / f'{MODULE_PATH}{ending}').write_bytes(packed(files / 'nf_toy.ko', how))
    names = script(tally, '--symfs', root, '-i', data)
    assert names == [('hot_path+0x0', line(k.MODULE_SOURCE, 'count', 'nf_toy.c')),
                     ('cold_path+0x0', line(k.MODULE_SOURCE, 'count', 'nf_toy.c'))]


def test_a_module_of_aarch64(tally, tmp_path):
    if not all(shutil.which(tool) for tool in ('clang', 'ld.lld', 'readelf')):
        pytest.skip('clang, ld.lld or readelf is not installed')
    data, root = tmp_path / 'k.data', tmp_path / 'root'
    k.compile_arm_module(tmp_path)
    offsets = code_offsets(tmp_path / 'nf_arm.ko')
    k.recording(data, [k.MODULE + offsets['.text'], k.MODULE + offsets['.text.unlikely']])
    put(tmp_path / 'nf_arm.ko', root, MODULE_PATH.replace('nf_toy', 'nf-toy'))
    names = script(tally, '--symfs', root, '-i', data)
    assert [name for name, _ in names] == ['hot_path+0x0', 'cold_path+0x0']
    assert all(place.startswith('nf_toy.c:') for _, place in names)


def test_a_module_of_unknown_path_is_found_by_modules_dep(tally, files, tmp_path):
    data, root = tmp_path / 'k.data', tmp_path / 'root'
    k.recording(data, [k.MODULE + code_offsets(files / 'nf_toy.ko')['.text']], module_path='[nf_toy]')
    put(files / 'nf_toy.ko', root, MODULE_PATH)
    (root / 'lib/modules/1.2.3-toy/modules.dep').write_text(
        'kernel/net/nf-toy-more.ko: kernel/net/nf-toy.ko\nkernel/net/nf-toy.ko:\n')
    assert script(tally, '--symfs', root, '-i', data)[0][0] == 'hot_path+0x0'


def test_a_damaged_packed_module_is_told(tally, files, tmp_path):
    data, root = tmp_path / 'k.data', tmp_path / 'root'
    k.recording(data, [k.MODULE], module_path=f'/{MODULE_PATH}.xz')
    (root / MODULE_PATH).parent.mkdir(parents=True)
    (root / f'{MODULE_PATH}.xz').write_bytes(packed(files / 'nf_toy.ko', 'xz')[:-40])
    assert 'nf-toy.ko.xz: damaged' in tally('report', '--missing', '-i', data, '--symfs', root).stdout


@pytest.mark.parametrize('order', ['<', '>'])
def test_lines_of_bpf_programs_are_those_of_the_recording(tally, tmp_path, order):
    k.bpf_recording(tmp_path / 'b.data', order)
    assert script(tally, '-i', tmp_path / 'b.data') == [
        ('bpf_prog_0123456789abcdef_probe+0x0', 'probe.bpf.c:7'),
        ('bpf_prog_0123456789abcdef_probe+0x14', 'probe.bpf.c:9')]
