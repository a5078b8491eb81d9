# SPDX-License-Identifier: Apache-2.0
"""archive: what was packed here names everything there, where the program is not; perf reads it too."""
import bz2
import io
import os
import pathlib
import shutil
import subprocess
import tarfile

import kernel_build
import pytest
from conftest import static_workload


@pytest.fixture
def recorded(tmp_path, live, tally):
    """A folder with perf.data of a program that lies in it; HOME is the folder home in it."""
    for tool in ('tar', 'bzip2', 'gcc'):
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')
    for name in ('work', 'home', 'there', 'other'):
        (tmp_path / name).mkdir()
    # Packing libc's debug information would take seconds.
    shutil.copy(static_workload('deep'), tmp_path / 'work' / 'program')
    tally('record', '-q', '-N', '-e', 'cpu-clock:u', '-o', 'perf.data', '--', './program', '150', check=0,
          cwd=tmp_path / 'work', env={'HOME': str(tmp_path / 'home')})
    return tmp_path


def report(program, folder, home, *options):
    return program('report', '-q', '--stdio', '-s', 'sym', *options, cwd=folder, env={'HOME': str(home)}).stdout


def test_archive_is_unpacked_elsewhere(recorded, tally):
    work, there = recorded / 'work', recorded / 'there'
    home = {'HOME': str(recorded / 'home')}
    result = tally('archive', cwd=work, env=home, check=0)
    assert 'tally archive --unpack perf.data.tar.bz2' in result.stdout
    expected = report(tally, work, recorded / 'home')
    assert 'leaf' in expected
    (work / 'program').unlink()
    assert 'leaf' not in report(tally, work, there)
    tally('archive', '--unpack', cwd=work, env={'HOME': str(there)}, check=0)
    assert report(tally, work, there) == expected
    tally('archive', '--unpack', 'perf.data.tar.bz2', cwd=work, env={'HOME': str(there)}, check=0)


def test_members_are_perfs(recorded, tally, perf):
    work, home = recorded / 'work', {'HOME': str(recorded / 'home')}
    tally('archive', cwd=work, env=home, check=0)
    listing = ['tar', '--list', '--file', 'perf.data.tar.bz2']
    got = subprocess.run(listing, cwd=work, capture_output=True, text=True, check=True).stdout.split()
    (work / 'perf.data.tar.bz2').unlink()
    if perf('archive', 'perf.data', cwd=work, env=home).returncode:
        pytest.skip('perf archive fails here')
    wanted = subprocess.run(listing, cwd=work, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(got) == sorted(wanted)


def test_everything_in_one_file(recorded, tally, perf):
    work, other, there = recorded / 'work', recorded / 'other', {'HOME': str(recorded / 'there')}
    tally('archive', '--all', cwd=work, env={'HOME': str(recorded / 'home')}, check=0)
    (archive,) = work.glob('perf.all-*.tar.bz2')
    shutil.move(archive, other)
    expected = report(tally, work, recorded / 'home')
    (work / 'program').unlink()
    tally('archive', '--unpack', cwd=other, env=there, check=0)
    assert sorted(path.name for path in other.iterdir()) == sorted([archive.name, 'perf.data'])
    assert report(tally, other, recorded / 'there') == expected
    assert 'leaf' in report(perf, other, recorded / 'there')
    # The recording that lies here is not taken for the archive's.
    (other / 'perf.data').write_bytes(b'mine')
    assert 'perf.data already exists here' in tally('archive', '--unpack', cwd=other, env=there, check=255).stderr
    assert (other / 'perf.data').read_bytes() == b'mine'


def test_excluded_build_ids_stay_behind(recorded, tally):
    """Lines as buildid-list prints them, or ids alone, in any case; others are passed over."""
    work, home = recorded / 'work', {'HOME': str(recorded / 'home')}
    ids = dict(reversed(line.split(' ', 1)) for line in tally('buildid-list', cwd=work, check=0).stdout.splitlines())
    program = next(name for name in ids if name.endswith('/program'))
    members = []
    for listed in ('', ids[program] + ' ' + program + '\n', '\nnone\n' + ids[program].upper()):
        (work / 'list').write_text(listed)
        result = tally('archive', '--exclude-buildids', 'list', cwd=work, env=home)
        if result.returncode == 1 and listed: # nothing else was hit
            members.append(0)
            continue
        assert result.returncode == 0
        names = subprocess.run(['tar', '--list', '--file', 'perf.data.tar.bz2'], cwd=work, capture_output=True, text=True,
                               check=True).stdout
        members.append(names.count(ids[program]))
    assert members[0] > 0 and members[1:] == [0, 0]
    assert 'nosuch' in tally('archive', '--exclude-buildids', 'nosuch', cwd=work, check=255).stderr
    assert tally('archive', '--unpack', '--exclude-buildids', 'list', cwd=work).returncode == 129


def test_what_cannot_be_archived_is_told(recorded, tally, tmp_path):
    work = recorded / 'work'
    (work / 'program').write_bytes(b'another')
    result = tally('archive', cwd=work, env={'HOME': str(recorded / 'home')})
    assert 'program is not in the archive: ' in result.stderr
    assert 'failed to open nofile' in tally('archive', 'nofile', cwd=work, check=255).stderr
    assert 'name the archive' in tally('archive', '--unpack', cwd=recorded / 'there', check=255).stderr
    assert 'cannot be used together' in tally('archive', '--all', '--unpack', check=129).stderr
    (tmp_path / 'bad.tar.bz2').write_bytes(b'no archive')
    assert 'bzip2 cannot unpack' in tally('archive', '--unpack', tmp_path / 'bad.tar.bz2', check=255).stderr


def test_names_that_look_like_options_are_names(recorded, tally):
    work = recorded / 'work'
    shutil.copy(work / 'perf.data', work / '--version')
    tally('archive', '--', '--version', cwd=work, env={'HOME': str(recorded / 'home')}, check=0)
    assert (work / '--version.tar.bz2').exists()


def test_this_machines_kernel_does_not_go_under_anothers_build_id(recorded, tally):
    kernel_build.recording(recorded / 'work' / 'other.data', [kernel_build.RAN])
    result = tally('archive', 'other.data', cwd=recorded / 'work', env={'HOME': str(recorded / 'other')})
    assert '[kernel.kallsyms] is not in the archive: it differs from the running one' in result.stderr
    assert not list((recorded / 'other').rglob('kallsyms'))


ID = '0123456789abcdef0123456789abcdef01234567'
LINK, FOLDER = f'.build-id/{ID[:2]}/{ID[2:]}', f'usr/bin/x/{ID}'
REFUSED = {
    'hidden': dict(name='.bashrc'),
    'hook': dict(name='.git/hooks/pre-commit', mode=0o755),
    'plain': dict(name='usr/bin/x/elf'),
    'absolute': dict(name='/tmp/h/elf'),
    'up': dict(name=f'../{ID}/elf'),
    'up within': dict(name=f'a/../../{ID}/elf'),
    'pipe': dict(name=f'{FOLDER}/elf', type=tarfile.FIFOTYPE),
    'device': dict(name=f'{FOLDER}/elf', type=tarfile.CHRTYPE),
    'disk': dict(name=f'{FOLDER}/elf', type=tarfile.BLKTYPE),
    'hard link': dict(name=f'{FOLDER}/elf', type=tarfile.LNKTYPE, linkname='/etc/passwd'),
    'link of a file': dict(name=f'{FOLDER}/elf', type=tarfile.SYMTYPE, linkname='/etc/passwd'),
    'link out': dict(name=LINK, type=tarfile.SYMTYPE, linkname='../../../../etc'),
    'absolute link': dict(name=LINK, type=tarfile.SYMTYPE, linkname=f'/etc/{ID}'),
    'link elsewhere': dict(name=LINK, type=tarfile.SYMTYPE, linkname='../../usr/bin/x/' + ID[::-1]),
    'no id': dict(name='.build-id/aa/../../x'),
    'not hex': dict(name='.build-id/zz/yy'),
    'folder out': dict(name='../here', type=tarfile.DIRTYPE),
}


RECORDING = b'PERFILE2' + bytes(200) # no more is looked at


@pytest.fixture
def folders(tmp_path):
    if not shutil.which('bzip2'):
        pytest.skip('bzip2 is not installed')
    for name in ('there', 'other'):
        (tmp_path / name).mkdir()
    return tmp_path


def make_archive(path, members, kind=tarfile.PAX_FORMAT):
    """members: (fields of the header, contents)."""
    with tarfile.open(path, 'w:bz2', format=kind) as archive:
        for fields, contents in members:
            member = tarfile.TarInfo()
            for key, value in fields.items():
                setattr(member, key, value)
            member.size = len(contents) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(contents))


def everything_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob('*') if not path.is_dir() or path.is_symlink())


@pytest.mark.parametrize('kind', [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_members_of_the_cache_are_unpacked(tally, folders, kind):
    """What perf archive writes, names that are longer than a header's field, and nothing that can be executed."""
    long = 'usr/' + 'very-long-folder/' * 12 + f'x/{ID}' if kind != tarfile.USTAR_FORMAT else FOLDER
    link = dict(name=LINK, type=tarfile.SYMTYPE, linkname=f'../../{long}')
    make_archive(folders / 'a.tar.bz2', [
        (link, b''), (dict(name=long + '/', type=tarfile.DIRTYPE), b''), (dict(name=f'{long}/elf', mode=0o4755), b'program'),
        (dict(name='./[vdso]/' + ID + '/vdso', mode=0o777), b'v' * 100000), (dict(name='.build-id/aa/bb'), b'x')], kind)
    tally('archive', '--unpack', folders / 'a.tar.bz2', check=0)
    cache = folders / '.debug'
    assert everything_below(cache) == sorted([f'{long}/elf', f'[vdso]/{ID}/vdso', '.build-id/aa/bb', LINK])
    assert (cache / LINK / 'elf').read_bytes() == b'program'
    assert (cache / f'[vdso]/{ID}/vdso').stat().st_size == 100000
    for path in cache.rglob('*'):
        assert path.is_dir() or path.is_symlink() or not path.stat().st_mode & 0o7111
    # What is there stays.
    make_archive(folders / 'a.tar.bz2', [(link, b''), (dict(name=f'{long}/elf'), b'another')])
    tally('archive', '--unpack', folders / 'a.tar.bz2', check=0)
    assert (cache / LINK / 'elf').read_bytes() == b'program'


@pytest.mark.parametrize('everything', [False, True])
@pytest.mark.parametrize('bad', REFUSED)
def test_anything_else_in_an_archive_refuses_it(folders, tally, bad, everything):
    """One such member, and nothing is written: neither here nor into the cache; in the archive or in the one within."""
    here, good = folders / 'other', (dict(name=f'{FOLDER}/elf2'), b'program')
    make_archive(here / 'perf.symbols.tar.bz2', [good, (REFUSED[bad], b'bad'), good])
    archive = here / 'perf.symbols.tar.bz2'
    if everything:
        symbols, data = archive.read_bytes(), RECORDING
        archive.unlink()
        archive = here / 'perf.all-x.tar.bz2'
        make_archive(archive, [(dict(name='perf.data'), data), (dict(name='perf.symbols.tar.bz2'), symbols)])
    result = tally('archive', '--unpack', archive.name, cwd=here, env={'HOME': str(folders / 'there')}, check=255, timeout=60)
    assert 'is not unpacked' in result.stderr and "' is it " not in result.stderr
    assert everything_below(here) == [archive.name] and not everything_below(folders / 'there')


@pytest.mark.parametrize('bad', [
    dict(name='.bashrc'), dict(name='.git/hooks/pre-commit'), dict(name='bin/run'), dict(name='notes.txt'),
    dict(name='perf.data', type=tarfile.FIFOTYPE), dict(name='perf.symbols.tar.bz2', type=tarfile.FIFOTYPE),
    dict(name='perf.symbols.tar.bz2', type=tarfile.SYMTYPE, linkname='/etc/passwd'),
    dict(name='../perf.data'), dict(name='/tmp/perf.data'), dict(name='second.data'), dict(name='perf.data/data/../x')])
def test_only_the_recording_lies_here_afterwards(folders, tally, bad):
    here = folders / 'other'
    make_archive(here / 'symbols', [(dict(name=f'{FOLDER}/elf'), b'program')])
    symbols, data = (here / 'symbols').read_bytes(), RECORDING
    (here / 'symbols').unlink()
    good = [(dict(name='perf.data', mode=0o755), data), (dict(name='perf.symbols.tar.bz2'), symbols)]
    contents = data if bad['name'] == 'second.data' else b'no recording'
    make_archive(here / 'perf.all-x.tar.bz2', [*good, (bad, contents)])
    home = {'HOME': str(folders / 'there')}
    assert 'is not unpacked' in tally('archive', '--unpack', cwd=here, env=home, check=255, timeout=60).stderr
    assert everything_below(here) == ['perf.all-x.tar.bz2'] and not everything_below(folders / 'there')
    make_archive(here / 'perf.all-x.tar.bz2', good)
    tally('archive', '--unpack', cwd=here, env=home, check=0)
    assert (here / 'perf.data').read_bytes() == data and not (here / 'perf.data').stat().st_mode & 0o111
    assert everything_below(folders / 'there') == [f'.debug/{FOLDER}/elf']


def test_parts_of_a_recording_go_into_its_folder_only(tally, folders):
    """Not into a folder that lies here, and not into a second one."""
    here = folders / 'other'
    make_archive(here / 'symbols', [(dict(name=f'{FOLDER}/elf'), b'program')])
    symbols = (dict(name='perf.symbols.tar.bz2'), (here / 'symbols').read_bytes())
    (here / 'symbols').unlink()
    (here / 'src').mkdir()
    home = {'HOME': str(folders / 'there')}
    whole = [(dict(name='perf.data/data.0'), b'part'), (dict(name='perf.data/data'), RECORDING)]
    for members, word in (([(dict(name='src/data.0'), b'bad')], 'src already exists here'),
                          ([(dict(name='new/kcore_dir/modules'), b'bad')], "its member 'new' has no data"),
                          ([*whole, (dict(name='src/data.0'), b'bad')], 'not of the recording'),
                          ([(dict(name='perf.data'), RECORDING), (dict(name='src/data.0'), b'bad')], 'not of the recording')):
        make_archive(here / 'perf.all-x.tar.bz2', [*members, symbols])
        assert word in tally('archive', '--unpack', cwd=here, env=home, check=255).stderr
        assert everything_below(here) == ['perf.all-x.tar.bz2'] and not everything_below(folders / 'there')
    make_archive(here / 'perf.all-x.tar.bz2', [*whole, symbols])
    tally('archive', '--unpack', cwd=here, env=home, check=0)
    assert everything_below(here) == ['perf.all-x.tar.bz2', 'perf.data/data', 'perf.data/data.0']


def test_an_archive_that_unpacks_to_far_too_much_is_refused(tally, folders):
    """1 GiB of 1 kB, in a member, and behind the end: nothing of it is written."""
    zeros = bz2.compress(bytes(16 << 20)) * 64
    for size in (1 << 30, 0):
        member = tarfile.TarInfo(f'{FOLDER}/elf')
        member.size = size
        end = b'' if size else bytes(1024)
        (folders / 'a.tar.bz2').write_bytes(bz2.compress(member.tobuf() + end) + zeros)
        result = tally('archive', '--unpack', folders / 'a.tar.bz2', check=255)
        assert 'unpacks to more than 200 times its size' in result.stderr
        assert not everything_below(folders / '.debug')


def test_links_that_lie_in_the_cache_are_not_followed(tally, folders):
    (folders / '.debug').mkdir()
    (folders / 'outside').mkdir()
    (folders / '.debug' / 'usr').symlink_to(folders / 'outside')
    make_archive(folders / 'a.tar.bz2', [(dict(name=f'{FOLDER}/elf'), b'program')])
    assert 'cannot write' in tally('archive', '--unpack', folders / 'a.tar.bz2', check=255).stderr
    assert not everything_below(folders / 'outside')


def test_cut_archives_and_pipes_are_told(tally, folders):
    make_archive(folders / 'a.tar.bz2', [(dict(name=f'{FOLDER}/elf'), os.urandom(50000))])
    whole = (folders / 'a.tar.bz2').read_bytes()
    for part in (whole[:len(whole) // 2], whole[:-20], whole[:60] + b'?' + whole[61:], b''):
        (folders / 'a.tar.bz2').write_bytes(part)
        assert tally('archive', '--unpack', folders / 'a.tar.bz2', check=255, timeout=60).stderr
    assert not everything_below(folders / '.debug')
    os.mkfifo(folders / 'pipe')
    assert 'is not a file' in tally('archive', '--unpack', folders / 'pipe', check=255, timeout=60).stderr
    text = subprocess.run(['bzip2'], input=b'no archive, but packed by bzip2' * 100, capture_output=True, check=True).stdout
    pathlib.Path(folders / 'a.tar.bz2').write_bytes(text)
    assert 'damaged' in tally('archive', '--unpack', folders / 'a.tar.bz2', check=255).stderr
