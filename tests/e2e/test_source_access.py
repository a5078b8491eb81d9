# SPDX-License-Identifier: Apache-2.0
"""Which files that debug information names are shown as source: text that looks like it, and that the program's owner could read."""
import os
import shutil
import subprocess

import pytest

MARK = 'marked_secret'
VIEWS = {
    'page': ('report', '--html=page.html'), 'annotate': ('annotate', '--stdio'),
    'script': ('script', '-F', 'ip,sym,srccode'), 'export': ('export', '-F', 'html', '-o', 'page.html'),
}


@pytest.fixture
def program(live, tally, tmp_path):
    """program(NAMED): a recording of a program whose debug information says that its code is in that file."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')

    def make(named):
        (tmp_path / 'x.c').write_text(f'#line 1 "{named}"\nvolatile long n;\nint hot(void)\n{{\n'
                                      'for (long i = 0; i < 60000000; i++) n += i;\nreturn 0; }\nint main(void) { return hot(); }\n')
        subprocess.run(['gcc', '-g', '-O1', '-o', 'x', 'x.c'], cwd=tmp_path, check=True)
        tally('record', '-q', '-N', '-e', 'cpu-clock:u', '-o', 'x.data', './x', cwd=tmp_path, check=0)
    return make


def shown(tally, folder, view):
    (folder / 'page.html').unlink(missing_ok=True)
    result = tally(*VIEWS[view], '-i', 'x.data', cwd=folder, check=0)
    page = folder / 'page.html'
    return MARK in result.stdout + (page.read_text() if page.exists() else ''), result.stderr


def write(path, ending='\n'):
    path.write_text(''.join(f'{MARK}_{i}{ending}' for i in range(12)))
    return path


@pytest.mark.parametrize('view', VIEWS)
def test_source_is_shown_and_other_files_are_not(tally, program, tmp_path, view):
    program(write(tmp_path / 'code.c'))
    assert shown(tally, tmp_path, view)[0]
    (tmp_path / 'code.c').unlink()
    assert shown(tally, tmp_path, view) [0] is False
    # A link to what is none, a pipe, and what is no text.
    (tmp_path / 'code.c').symlink_to(write(tmp_path / 'shadow'))
    is_shown, said = shown(tally, tmp_path, view)
    assert not is_shown and 'its name is not that of a source file' in said
    (tmp_path / 'code.c').unlink()
    os.mkfifo(tmp_path / 'code.c')
    assert not shown(tally, tmp_path, view)[0]
    (tmp_path / 'code.c').unlink()
    write(tmp_path / 'code.c', '\0\n')
    is_shown, said = shown(tally, tmp_path, view)
    assert not is_shown and 'it is not text' in said


@pytest.mark.parametrize('name', ['shadow', 'id_rsa', '.env', '.bashrc', 'server.key', 'config.json', 'notes.txt', 'x.c.bak'])
def test_names_of_other_files(tally, program, tmp_path, name):
    program(write(tmp_path / name))
    for view in VIEWS:
        assert not shown(tally, tmp_path, view)[0]


@pytest.mark.parametrize('view', VIEWS)
def test_root_shows_what_the_programs_owner_could_read(tally, program, tmp_path, view):
    if os.geteuid() != 0:
        pytest.skip('not root')
    folder = tmp_path / 'sources'
    folder.mkdir()
    source = write(folder / 'code.c')
    program(source)
    source.chmod(0o600)
    assert shown(tally, tmp_path, view)[0]  # the program is root's own
    os.chown(tmp_path / 'x', 65534, 65534)
    is_shown, said = shown(tally, tmp_path, view)
    assert not is_shown and "the program's owner could not read it" in said
    os.chown(source, 65534, 65534)
    # Folders on the way count, too: those of the tests are root's alone.
    is_shown, said = shown(tally, tmp_path, view)
    allowed = all(path.stat().st_mode & 0o001 for path in source.parents)
    assert is_shown == allowed
    opened = [path for path in source.parents if not path.stat().st_mode & 0o001 and path != path.parent]
    modes = [path.stat().st_mode for path in opened]
    try:
        for path, mode in zip(opened, modes):
            path.chmod(mode & 0o777 | 0o001)
        assert shown(tally, tmp_path, view)[0]
    finally:
        for path, mode in zip(opened, modes):
            path.chmod(mode & 0o777)
