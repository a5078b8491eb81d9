# SPDX-License-Identifier: Apache-2.0
"""Statically defined probes (SDT): buildid-cache reads their notes, list shows them, perf understands what is stored."""
import json
import platform
import re
import shutil

import pytest

X86 = platform.machine() == 'x86_64'
NAMES = ['sdt_app:guarded', 'sdt_app:turn', 'sdt_app:twice']


@pytest.fixture
def program(workload, tmp_path):
    """tests/workloads/sdt, in a folder of its own: other tests' probes are in another file."""
    return shutil.copy(workload('sdt').path, tmp_path / 'app')


def stored(cache):
    """The text of the one probe file of a cache of build IDs."""
    files = list(cache.rglob('probes'))
    assert len(files) == 1
    return files[0].read_text()


def entries(text):
    """{head: lines} of a probe file."""
    found = {}
    for line in text.splitlines():
        if line[0] in '%#':
            lines = found[line] = []
        else:
            lines.append(line)
    return found


def without(lines, *arguments):
    return [' '.join(word for word in line.split(' ') if word.split('=')[0] not in arguments) for line in lines]


def test_the_cache_has_perfs_definitions(tally, newest_perf, program, tmp_path):
    ours, theirs = tmp_path / 'ours', tmp_path / 'theirs'
    tally('--buildid-dir', ours, 'buildid-cache', '--add', program, check=0)
    newest_perf('--buildid-dir', theirs, 'buildid-cache', '--add', program, check=0)
    ours, theirs = entries(stored(ours)), entries(stored(theirs))
    assert list(ours) == list(theirs) and '%sdt_app:twice=twice' in ours
    for head, lines in ours.items():
        # perf leaves out constants and variables, which the kernel can fetch.
        left_out = ['arg2', 'arg3'] if head.startswith('%sdt_app:guarded') else []
        assert without(lines, *left_out) == theirs[head]
    if X86:
        assert re.search(r' arg2=\\17:s32 arg3=@\+0x[0-9a-f]+:u64$', ours['%sdt_app:guarded=guarded'][0])


def test_perf_lists_what_tally_has_stored(tally, newest_perf, program):
    tally('buildid-cache', '--add', program, check=0)
    rows = tally('list', 'sdt', check=0).stdout
    assert rows == newest_perf('list', 'sdt', check=0).stdout
    assert [row.split()[0] for row in rows.splitlines()] == NAMES
    cached = newest_perf('probe', '--cache', '--list').stdout
    assert f'{program} (' in cached and 'sdt_app:guarded=guarded' in cached


def test_list_finds_them_by_name(tally, program):
    empty = tally('list', 'sdt', check=0)
    assert not empty.stdout and 'buildid-cache --add FILE' in empty.stderr
    tally('buildid-cache', '--add', program, check=0)
    assert [row.split()[0] for row in tally('list', 'sdt_app:t*', check=0).stdout.splitlines()] == NAMES[1:]
    assert tally('list', 'guarded', check=0).stdout.split()[0] == NAMES[0]
    assert set(NAMES) <= set(tally('list', '--raw-dump', check=0).stdout.split())
    events = json.loads(tally('list', '--json', 'sdt', check=0).stdout)
    assert [(event['EventName'], event['EventType'], event['BriefDescription']) for event in events] == [
        (name, 'SDT event', str(program)) for name in NAMES]
    assert str(program) in tally('list', '-d', 'sdt', check=0).stdout


def test_a_damaged_or_foreign_file_is_no_probe(tally, program, tmp_path):
    tally('buildid-cache', '--add', program, check=0)
    file, = (tmp_path / '.debug').rglob('probes')
    file.write_text('%sdt_app:turn=turn\np:sdt_app/turn\n%sdt_app:x=x\np:sdt_app/x /etc/passwd:0x1\n')
    assert not tally('list', 'sdt_app:turn', check=0).stdout
    file.unlink()
    file.symlink_to('/etc/passwd')
    assert not tally('list', 'sdt', check=0).stdout


def test_update_reads_the_notes_again(tally, program, tmp_path):
    tally('buildid-cache', '--add', program, check=0)
    file, = (tmp_path / '.debug').rglob('probes')
    before = file.read_text()
    # What --cache stored is kept.
    file.write_text('#main\np:probe_app/main /x:0x1\n')
    tally('buildid-cache', '--update', program, check=0)
    assert file.read_text() == '#main\np:probe_app/main /x:0x1\n' + before
    tally('buildid-cache', '--remove', program, check=0)
    assert not list((tmp_path / '.debug').rglob('probes'))
