"""archive: what was packed here names everything there, where the program is not; perf reads it too."""
import shutil
import subprocess

import kernel_build
import pytest


@pytest.fixture
def recorded(tmp_path, live, tally, workload):
    """A folder with perf.data of a program that lies in it; HOME is the folder home in it."""
    for tool in ('tar', 'bzip2'):
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')
    for name in ('work', 'home', 'there', 'other'):
        (tmp_path / name).mkdir()
    shutil.copy(workload('deep').path, tmp_path / 'work' / 'program')
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
    assert 'tar failed' in tally('archive', '--unpack', cwd=other, env=there, check=255).stderr
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
    assert 'exclude each other' in tally('archive', '--all', '--unpack', check=129).stderr
    (tmp_path / 'bad.tar.bz2').write_bytes(b'no archive')
    assert 'tar failed' in tally('archive', '--unpack', tmp_path / 'bad.tar.bz2', check=255).stderr


def test_names_that_look_like_options_are_names(recorded, tally):
    work = recorded / 'work'
    shutil.copy(work / 'perf.data', work / '--version')
    tally('archive', '--', '--version', cwd=work, env={'HOME': str(recorded / 'home')}, check=0)
    assert (work / '--version.tar.bz2').exists()


def test_this_machines_kernel_does_not_go_under_anothers_build_id(recorded, tally):
    kernel_build.recording(recorded / 'work' / 'other.data', [kernel_build.RAN])
    result = tally('archive', 'other.data', cwd=recorded / 'work', env={'HOME': str(recorded / 'other')})
    assert '[kernel.kallsyms] is not in the archive: it is not what runs here' in result.stderr
    assert not list((recorded / 'other').rglob('kallsyms'))
