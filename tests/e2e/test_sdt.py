# SPDX-License-Identifier: Apache-2.0
"""Statically defined probes (SDT): buildid-cache reads their notes, list shows them, perf understands what is stored."""
import json
import os
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


@pytest.fixture
def uprobes(live):
    if os.geteuid() != 0 or not os.access('/sys/kernel/tracing/uprobe_events', os.W_OK):
        pytest.skip('needs tracefs with uprobe_events, and root')


@pytest.fixture
def own_group(program):
    """Probes of the program are removed, whatever happens."""
    yield
    with open('/sys/kernel/tracing/uprobe_events', encoding='utf-8') as file:
        left = [line.split(' ')[0] for line in file if f' {program}:' in line]
    for name in left:
        handle = os.open('/sys/kernel/tracing/uprobe_events', os.O_WRONLY | os.O_APPEND)
        os.write(handle, f'-:{name.split(":")[1]}\n'.encode())
        os.close(handle)


@pytest.mark.alone  # perf and tally add and remove events of one name
def test_probes_by_name_are_perfs(tally, newest_perf, uprobes, program, own_group):
    tally('buildid-cache', '--add', program, check=0)
    ours = tally('probe', '-x', program, '%sdt_app:turn', check=0).stderr
    listed = newest_perf('probe', '-l', 'sdt_app:*').stdout
    assert 'sdt_app:turn' in listed and 'with arg1 arg2 arg3' in listed
    assert 'Removed event: sdt_app:turn' in newest_perf('probe', '-d', 'sdt_app:turn').stderr
    theirs = newest_perf('probe', '-x', program, '%sdt_app:turn').stderr
    assert ours.replace('tally', 'perf') == theirs
    assert 'sdt_app:turn' in tally('probe', '-l', 'sdt_app:*', check=0).stdout
    tally('probe', '-d', 'sdt_app:turn', check=0)
    # perf 7.3 cannot add a name that is at two places.
    tally('probe', 'sdt_app:twice', check=0)
    assert re.findall(r'sdt_app:\w+', tally('probe', '-l', 'sdt_app:*', check=0).stdout) == ['sdt_app:twice', 'sdt_app:twice_1']
    tally('probe', '-d', 'sdt_app:*', check=0)


@pytest.mark.alone
def test_definitions_in_the_cache_are_perfs(tally, newest_perf, uprobes, program, own_group, tmp_path):
    definitions = ['turn number', 'mine=turn', 'main%return $retval']
    files = []
    for name, run in (('ours', tally), ('theirs', newest_perf)):
        cache = tmp_path / name
        for definition in definitions:
            run('--buildid-dir', cache, 'probe', '--cache', '-x', program, '--add', definition, check=0)
        run('probe', '-d', 'probe_app:*', check=0)
        files.append(stored(cache))
    heads = [[head for head in entries(text) if head[0] == '#'] for text in files]
    assert heads[0] == heads[1] and [head[1:] for head in heads[0]] == ['turn number', 'probe_app:mine=turn', 'main%return $retval']
    assert [entries(files[0])[head] for head in heads[0]] == [entries(files[1])[head] for head in heads[0]]
    # Each finds by name what the other has stored.
    for cache, run in ((tmp_path / 'ours', newest_perf), (tmp_path / 'theirs', tally)):
        assert 'probe_app:mine' in run('--buildid-dir', cache, 'probe', '-x', program, '%mine', check=0).stderr
        run('probe', '-d', 'probe_app:mine', check=0)
    other = tally('--buildid-dir', tmp_path / 'theirs', 'probe', '--cache', '-x', '/bin/true', '-d', 'mine')
    assert other.returncode != 0 and 'Removed' not in other.stderr
    removed = tally('--buildid-dir', tmp_path / 'theirs', 'probe', '--cache', '-x', program, '-d', 'mine', check=0)
    assert 'Removed cached event: probe_app:mine=turn' in removed.stderr
    assert 'mine' not in newest_perf('--buildid-dir', tmp_path / 'theirs', 'probe', '--cache', '-l').stdout
