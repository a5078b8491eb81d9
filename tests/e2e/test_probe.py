# SPDX-License-Identifier: Apache-2.0
"""probe: definitions, what can be probed, and probes of the kernel that come and go; perf sees ours and we see perf's."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

import json_schema
from conftest import ROOT, built, wait_for

TRACING = pathlib.Path('/sys/kernel/tracing')
PROBES = TRACING / 'uprobe_events'
SOURCE = '''#include <stdio.h>
struct item {
	int number;
	const char *name;
};
static int sum;
__attribute__((noinline)) int add(int x, int y)
{
	sum += x;
	return x + y;
}
__attribute__((noinline)) int look(const struct item *item)
{
	return item->number + add(item->number, 1);
}
int main(int count, char **words)
{
	struct item item = {7, words[0]};
	int all = 0;
	for (int i = 0; i < 3; i++) {
		item.number += i;
		all += look(&item);
	}
	printf("%d\\n", all + sum);
	return 0;
}
'''


def compiled(folder, name, *flags, source=SOURCE):
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')
    made = built({'probed.c': source}, ['gcc', *flags, '-o', 'program', 'probed.c'])
    shutil.copy(made / 'probed.c', folder)
    return pathlib.Path(shutil.copy(made / 'program', folder / name))


@pytest.fixture
def app(tmp_path):
    """A program with debug information, by whose PID in the name its events are told apart from other tests'."""
    return compiled(tmp_path, f'app{os.getpid()}', '-g', '-O0')


@pytest.fixture
def stripped(tmp_path):
    return compiled(tmp_path, f'bare{os.getpid()}', '-O1', '-s', '-rdynamic')


@pytest.fixture
def uprobes(live):
    if os.geteuid() != 0 or not os.access(PROBES, os.W_OK):
        pytest.skip('needs tracefs with uprobe_events, and root')


@pytest.fixture
def cleared(uprobes, app):
    """The group of the program's events. Whatever a failing test leaves behind goes."""
    yield f'probe_{app.name}'
    left = {line.split()[0].split(':', 1)[1] for line in PROBES.read_text().splitlines() if f' {app.parent}/' in line}
    file = os.open(PROBES, os.O_WRONLY | os.O_APPEND)
    for name in left:
        os.write(file, f'-:{name}\n'.encode())
    os.close(file)


def lines_of(group):
    return [line for line in PROBES.read_text().splitlines() if f':{group}/' in line]


DEFINITIONS = [
    'add', 'add x y', 'add+4', 'add:2', 'add:2 x', 'probed.c:9', 'add%return $retval', 'my=add', 'g:my=add%return r=$retval:s32',
    'add*', '*', 'look item->number', 'look item->name:string', 'look n=item->number:u8', 'add x:x32', 'add %di:u64 +8(%sp)',
    'add@probed.c', 'add@probed.c:2', 'look;return*', 'main words[0]', 'add $params', 'add $vars', 'add@*', '"add"']


@pytest.mark.parametrize('flag', ['-O0', '-O2'])
def test_definitions_are_perfs(tally, newest_perf, tmp_path, flag):
    program = compiled(tmp_path, 'app', '-g', flag)
    for text in DEFINITIONS:
        theirs = newest_perf('probe', '-x', program, '-D', text)
        if theirs.returncode == 0:
            assert tally('probe', '-x', program, '-D', text, check=0).stdout == theirs.stdout, text


@pytest.mark.parametrize('name', ['app', 'stripped'])
def test_definitions_under_the_sanitizers(tally_asan, request, name):
    program = request.getfixturevalue(name)
    for text in [*DEFINITIONS, '0x1139', '0x1139%return', 'probed.c:1', 'nosuch', 'add nosuch', 'add x:string', '%sdt_x:y', '+4']:
        result = tally_asan('probe', '-x', program, '-D', text)
        assert result.returncode != 99, (text, result.stderr)
    for words in ['-F'], ['-L', 'add'], ['-V', 'look:1', '--externs', '--range'], ['-L', 'probed.c:1-5'], ['-F', '((a*']:
        result = tally_asan('probe', '-x', program, *words)
        assert result.returncode != 99, (words, result.stderr)


def test_symbols_are_enough_for_places(tally, stripped):
    group = f'probe_{stripped.name}'
    rows = tally('probe', '-x', stripped, '-D', 'add', '-D', 'look%return', '-D', 'add+2 %di:s32', check=0).stdout.splitlines()
    symbols = subprocess.run(['nm', '-D', stripped], capture_output=True, text=True, check=True).stdout
    add, look = (int(re.search(rf'^(\w+) T {name}$', symbols, re.M).group(1), 16) for name in ('add', 'look'))
    assert rows == [f'p:{group}/add {stripped}:{add:#x}', f'r:{group}/look__return {stripped}:{look:#x}',
                    f'p:{group}/add {stripped}:{add + 2:#x} %di:s32']
    result = tally('probe', '-x', stripped, '-D', 'add x', check=195)
    assert result.stderr == (f'The {stripped} file has no debug information.\n'
                             'Rebuild with -g, or install an appropriate debuginfo package.\n  Error: Failed to add events.\n')
    assert tally('probe', '-x', stripped, '-D', 'ad', check=254).stderr == (
        f"Failed to find symbol ad in {stripped}\n Did you mean 'add'?\n  Error: Failed to add events.\n")
    assert 'Offset 4096 is bigger than the size of add\n' in tally('probe', '-x', stripped, '-D', 'add+4096', check=254).stderr


@pytest.mark.parametrize('text, code, message', [
    ('1a=add', 129, 'Semantic error :1a is bad for event name -it must follow C symbol-naming rule.\n'),
    ('add:x', 129, "Semantic error :There is non-digit char in line number 'x'.\n"),
    ('add%foo', 129, 'Semantic error :%foo is not supported: only %return is.\n'),
    ('lok', 254, "Probe point 'lok' not found.\n Did you mean 'look'?\n"),
    ('add nosuch', 254, "Failed to find the location of the 'nosuch' variable at this address"),
    ('e' * 64 + '=add', 234, "the event name '" + 'e' * 64 + "' is too long\n  Hint: Set a shorter event"),
    ('0x7fffffffffff', 254, '0x7fffffffffff is out of the code of '),
    ('%sdt_nosuch:x', 254, 'sdt_nosuch'),
])
def test_bad_definitions_are_explained(tally, app, text, code, message):
    result = tally('probe', '-x', app, '-D', text, check=code)
    assert message in result.stderr and not result.stdout


def test_bad_files_are_explained(tally, tmp_path):
    assert tally('probe', '-x', tmp_path / 'nosuch', '-D', 'a', check=254).stderr.startswith(
        f'Failed to get the absolute path of {tmp_path}/nosuch: No such file or directory\n')
    (tmp_path / 'text').write_text('no program')
    refused = tally('probe', '-x', tmp_path / 'text', '-D', 'a', check=254).stderr
    assert refused.startswith(f'{tmp_path}/text is not an ELF file')
    assert "Filter parse error at 2.\n" in tally('probe', '-x', '/bin/true', '-F', '(', check=129).stderr
    blank = tmp_path / 'a b'
    shutil.copy(compiled(tmp_path, 'plain', '-g'), blank)
    assert 'its path has a blank' in tally('probe', '-x', blank, '-D', 'add', check=195).stderr


def test_functions_are_listed(tally, newest_perf, app):
    theirs = newest_perf('probe', '-x', app, '-F', check=0).stdout
    assert tally('probe', '-x', app, '-F', check=0).stdout == theirs
    assert tally('probe', '-x', app, '--funcs=a*|l*', check=0).stdout == 'add\nlook\n'
    assert tally('probe', '-x', app, '-F', '--filter', '(a* | main) & !add', check=0).stdout == 'main\n'
    none = tally('probe', '-x', app, '-F', 'nosuch*', check=0)
    assert (none.stdout, none.stderr) == ('', f"No function of {app} matches the filter 'nosuch*'.\n")
    assert not tally('probe', '-q', '-x', app, '-F', 'nosuch*', check=0).stderr


LABELS = """.text
.globl thing_code, thing_data
.type thing_code, @function
thing_code: ret
.size thing_code, .-thing_code
thing_data: .long 1, 2, 3
.globl main
.type main, @function
main: ret
.section .note.GNU-stack
"""


def test_a_pattern_is_for_functions(tally, tmp_path):
    """A label in a section of code may stand before data, which a probe would overwrite."""
    (tmp_path / 'a.s').write_text(LABELS)
    subprocess.run(['gcc', 'a.s', '-o', 'a'], check=True, cwd=tmp_path)
    assert re.findall(r'thing_\w+', tally('probe', '-x', tmp_path / 'a', '-D', 'thing_*', check=0).stdout) == ['thing_code']
    assert 'thing_data' in tally('probe', '-x', tmp_path / 'a', '-D', 'thing_data', check=0).stdout


CPP = 'namespace shop { struct Item { int size; int turn(int); }; int Item::turn(int a) { return a + size; } }\nint main() { return 0; }\n'


def test_the_nearest_readable_name_is_offered(tally, tmp_path):
    if not shutil.which('g++'):
        pytest.skip('needs g++')
    (tmp_path / 'a.cc').write_text(CPP)
    for name, *flags in ('with', '-g'), ('without', '-g0'):
        subprocess.run(['g++', *flags, '-o', name, 'a.cc'], check=True, cwd=tmp_path)
        for wrong in 'turm', 'Item::turm', 'shop::Item::turm':
            result = tally('probe', '-x', tmp_path / name, '-D', wrong, check=254)
            assert "\n Did you mean 'shop::Item::turn'?\n" in result.stderr, (name, wrong)
        assert tally('probe', '-x', tmp_path / name, '-D', 'shop::Item::turn', check=0).stdout
    assert "\n Did you mean 'shop::Item::turn'?\n" in tally('probe', '-x', tmp_path / 'with', '-L', 'turm', check=254).stderr


def probes_as_text(printed):
    document = json.loads(printed)
    json_schema.check(document, json.loads((ROOT / 'docs' / 'schema' / 'probe.json').read_text(encoding='utf-8')))
    return [f"  {probe['group'] + ':' + probe['event']:20} (on {probe['place']} in {probe['file']}"
            + ''.join([' with'] * bool(probe['arguments']) + [f" {argument['name']}" for argument in probe['arguments']]) + ')'
            for probe in document['probes']]


def test_functions_as_json(tally, app):
    document = json.loads(tally('probe', '-x', app, '-F', '--json', check=0).stdout)
    json_schema.check(document, json.loads((ROOT / 'docs' / 'schema' / 'probe.json').read_text(encoding='utf-8')))
    assert document['functions'] == tally('probe', '-x', app, '-F', check=0).stdout.splitlines()
    assert '--json needs --list or --funcs' in tally('probe', '-x', app, '--json', '-L', 'add', check=129).stderr


def test_a_probe_lives_until_it_is_removed(tally, newest_perf, app, cleared, tmp_path):
    added = tally('probe', '-x', app, '-a', 'look item->number item->name:string', '-a', 'add%return $retval:s32', check=0).stderr
    assert f'Added new events:\n  {cleared}:look' in added and f'\ttally record -e {cleared}:add__return -aR sleep 1\n' in added
    listed = tally('probe', '-l', f'{cleared}:*', check=0).stdout
    assert listed == newest_perf('probe', '-l', f'{cleared}:*', check=0).stdout
    assert f' in {app} with number name)' in listed
    assert probes_as_text(tally('probe', '-l', f'{cleared}:*', '--json', check=0).stdout) == listed.splitlines()
    data = tmp_path / 'data'
    output = tally('record', '-o', data, '-e', f'{cleared}:*', '--', app, check=0).stdout
    rows = tally('script', '-i', data, '-F', 'event,trace', check=0).stdout
    numbers = [7, 8, 10]
    assert [int(n) for n in re.findall(r':look: .* number=(\d+) ', rows)] == numbers
    assert set(re.findall(r' name="(.*)"', rows)) == {str(app)}
    assert [int(n) for n in re.findall(r':add__return: .* arg1=(\d+)', rows)] == [n + 1 for n in numbers]
    assert output == f'{sum(3 * n + 1 for n in numbers)}\n'
    assert tally('probe', '-d', f'{cleared}:look', check=0).stderr == f'Removed event: {cleared}:look\n'
    assert newest_perf('probe', '-d', f'{cleared}:*', check=0).stderr == f'Removed event: {cleared}:add__return\n'
    assert not lines_of(cleared)
    none = tally('probe', '-l', f'{cleared}:*', check=0)
    assert (none.stdout, none.stderr) == ('', f"The kernel has no probe that matches '{cleared}:*'.\n")


def test_perfs_probes_are_ours(tally, newest_perf, app, cleared):
    newest_perf('probe', '-x', app, '-a', 'add x y', '-a', 'look:2', check=0)
    assert tally('probe', '-l', f'{cleared}:*', check=0).stdout == newest_perf('probe', '-l', f'{cleared}:*', check=0).stdout
    assert tally('probe', '-q', '-d', f'{cleared}:*', check=0).stderr == '' and not lines_of(cleared)


def test_an_event_that_exists_is_not_touched(tally, app, cleared):
    tally('probe', '-q', '-x', app, '-a', 'add', check=0)
    refused = tally('probe', '-x', app, '-a', 'add x', check=239)
    assert 'Error: event "add" already exists.\n Hint: Remove existing event' in refused.stderr
    forced = tally('probe', '-f', '-x', app, '-a', 'add x', check=0)
    assert re.search(rf'  {cleared}:add_1 +\(on add in {app} with x\)\n', forced.stderr)
    assert [line.split()[0] for line in lines_of(cleared)] == [f'p:{cleared}/add', f'p:{cleared}/add_1']
    # The places of a line are one event.
    tally('probe', '-q', '-x', app, '-a', 'many=add*', '-a', 'many=look', check=0)
    assert [line.split()[0] for line in lines_of(cleared)][2:] == [f'p:{cleared}/many'] * 2
    removed = tally('probe', '-d', f'{cleared}:*', check=0).stderr
    assert removed == ''.join(f'Removed event: {cleared}:{name}\n' for name in ('add', 'add_1', 'many'))
    assert not lines_of(cleared)
    assert tally('probe', '-d', f'{cleared}:*', check=254).stderr == (
        f'"{cleared}:*" does not hit any event.\n  Error: Failed to delete events.\n')


def test_all_definitions_are_added_or_none(tally, app, cleared):
    tally('probe', '-x', app, '-a', 'add', '-a', 'nosuch', check=254)
    assert not lines_of(cleared)
    refused = tally('probe', '-x', app, '-a', 'add', '-a', 'look %nosuch', check=234)
    assert "the kernel does not take 'p:" in refused.stderr and '%nosuch' in refused.stderr
    assert not lines_of(cleared)


def test_a_dry_run_writes_nothing(tally, app, cleared):
    shown = tally('probe', '-n', '-x', app, '-a', 'add', check=0).stderr
    assert f'{cleared}:add' in shown and not lines_of(cleared)
    tally('probe', '-q', '-x', app, '-a', 'add', check=0)
    assert tally('probe', '-n', '-d', f'{cleared}:*', check=0).stderr == f'Removed event: {cleared}:add\n'
    assert lines_of(cleared)
    assert tally('probe', '--quiet', '-d', f'{cleared}:*', check=0).stderr == ''


def test_a_read_only_tracefs_is_explained(tally, app, uprobes):
    """In a mount namespace of its own, where tracefs is bound read-only."""
    script = (f'mount --make-rprivate / && mount --bind {TRACING} {TRACING} && mount -o remount,bind,ro {TRACING} && '
              f'exec "$0" probe -x "$1" -a add')
    result = subprocess.run(['unshare', '-m', 'sh', '-c', script, tally.path, app], capture_output=True, text=True, check=False,
                            env=tally.environment)
    if result.stderr.startswith(('mount:', 'unshare:')):
        pytest.skip(f'no mount namespace of its own here: {result.stderr.strip()}')
    assert f'Failed to write {PROBES}: tracefs is mounted read-only' in result.stderr
    assert not lines_of(f'probe_{app.name}')


def test_a_program_of_another_mount_namespace(tally, app, cleared, tmp_path):
    """The path is that of the other namespace, where another program is at it."""
    hidden, inside = tmp_path / 'hidden', tmp_path / 'inside'
    hidden.mkdir()
    inside.mkdir()
    shutil.copy(app, hidden / app.name)
    script = f'mount --make-rprivate / && mount --bind {hidden} {inside} && echo ready && exec sleep 60'
    with subprocess.Popen(['unshare', '-m', 'sh', '-c', script], stdout=subprocess.PIPE, text=True) as other:
        try:
            if other.stdout.readline() != 'ready\n':
                pytest.skip('no mount namespace of its own here')
            path = inside / app.name
            assert not path.exists()
            added = tally('probe', '--target-ns', other.pid, '-x', path, '-a', 'add x', check=0)
            assert f'(on add in {path} with x)' in added.stderr
            assert [line.split()[1].split(':')[0] for line in lines_of(cleared)] == [str(path)]
            tally('probe', '-d', f'{cleared}:*', check=0)
        finally:
            other.kill()
    assert 'There is no process' in tally('probe', '--target-ns', 4194303, '-x', app, '-a', 'add', check=255).stderr


MANY = ''.join(f'__attribute__((noinline)) int fn_{i}(int a) {{ return a + {i}; }}\n' for i in range(2000)) + 'int main(void) { return 0; }\n'


@pytest.mark.alone
def test_thousands_of_probes_by_a_pattern(tally, cleared, tmp_path):
    many = compiled(tmp_path, f'many{os.getpid()}', '-g', '-O1', source=MANY)
    group = f'probe_{many.name}'
    few = tally('probe', '-x', many, '-a', 'fn_*', check=244)
    assert 'Too many( > 128) probe point found.\n' in few.stderr and not lines_of(group)
    tally('probe', '-q', '-x', many, '--max-probes', 5000, '-a', 'fn_*', check=0)
    assert len(lines_of(group)) == 2000
    assert len(tally('probe', '-l', f'{group}:*', check=0).stdout.splitlines()) == 2000
    tally('probe', '-q', '-d', f'{group}:*', check=0)
    assert not lines_of(group)


@pytest.mark.alone
def test_an_interrupted_command_leaves_no_probe(tally, cleared, tmp_path):
    many = compiled(tmp_path, f'many{os.getpid()}', '-g', '-O1', source=MANY)
    group = f'probe_{many.name}'
    with subprocess.Popen([tally.path, 'probe', '-q', '-x', many, '--max-probes', '5000', '-a', 'fn_*'],
                          env=tally.environment) as process:
        wait_for(lambda: lines_of(group) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        process.wait()
    # All are there, if the signal came too late, or all is as it was.
    assert len(lines_of(group)) in (0, 2000)
    # What kill -9 leaves is listed, and removed by name.
    tally('probe', '-q', '-d', f'{group}:*')
    with subprocess.Popen([tally.path, 'probe', '-q', '-x', many, '--max-probes', '5000', '-a', 'fn_*'],
                          env=tally.environment) as process:
        wait_for(lambda: lines_of(group) or process.poll() is not None)
        process.kill()
    left = len(lines_of(group))
    assert left > 0 and len(tally('probe', '-l', f'{group}:*', check=0).stdout.splitlines()) == left
    tally('probe', '-q', '-d', f'{group}:*', check=0)
    assert not lines_of(group)


def test_options_that_exclude_each_other(tally, app):
    for words, message in [(('-a', 'x', '-d', 'x'), "Error: switch `d' cannot be used with switch `a'"),
                           (('-L', 'x', '-F'), "Error: switch `F' cannot be used with switch `L'"),
                           (('-q', '-v', '-a', 'x'), 'Error: -v and -q are exclusive.'),
                           (('-x', app, '-l'), "Error: Don't use --list with --exec."),
                           (('-V', 'x', 'y'), "Error: unexpected argument 'y'."),
                           (('--bootconfig', '-x', app, '-a', 'add'), 'Error: --bootconfig needs --definition.')]:
        assert message in tally('probe', *words, check=129).stderr
    assert "--bootconfig doesn't support uprobes" in tally('probe', '-x', app, '--bootconfig', '-D', 'add', check=234).stderr


def test_functions_of_the_kernel(tally, newest_perf):
    """By the kernel's list of symbols: definitions need neither kprobes nor debug information."""
    if os.geteuid() != 0:
        pytest.skip('the addresses in /proc/kallsyms need root')
    for text in 'vfs_read', 'vfs_read%return $retval', 'my=vfs_read+4 %di:u64', 'vfs_rea*':
        theirs = newest_perf('probe', '-D', text)
        if theirs.returncode != 0:
            pytest.skip(f'perf finds no such function of this kernel: {theirs.stderr}')
        assert tally('probe', '-D', text, check=0).stdout == theirs.stdout
    theirs = newest_perf('probe', '--bootconfig', '-D', 'vfs_read %di', check=0).stdout
    assert tally('probe', '--bootconfig', '-D', 'vfs_read %di', check=0).stdout == theirs
    assert " Did you mean 'vfs_read'?\n" in tally('probe', '-D', 'vfs_raed', check=254).stderr
    if not (TRACING / 'kprobe_events').exists() and PROBES.exists():
        assert 'CONFIG_KPROBE_EVENTS=y' in tally('probe', '-a', 'vfs_read', check=195).stderr


def test_an_offline_vmlinux_and_module(tally, newest_perf, app):
    """A file with debug information stands for the kernel: the definition names symbols."""
    for text in 'add', 'look item->number', 'add%return $retval', 'add:2 x':
        theirs = newest_perf('probe', '-k', app, '-D', text)
        if theirs.returncode == 0:
            ours = tally('probe', '-k', app, '-D', text, check=0).stdout
            assert ours.split()[:2] == theirs.stdout.split()[:2], text


def test_what_can_be_probed_is_perfs(tally, newest_perf, app):
    for words in ('-L', 'add'), ('-L', 'look:1'), ('-V', 'add'), ('-V', 'look:1'), ('--externs', '-V', 'add'), ('--filter', 'x', '-V', 'add'):
        theirs = newest_perf('probe', '-x', app, *words)
        if theirs.returncode == 0:
            assert tally('probe', '-x', app, *words, check=0).stdout == theirs.stdout, words
    assert tally('probe', '-x', app, '-V', 'add', check=0).stdout == 'Available variables at add\n\t@<add+0>\n\t\tint\tx\n\t\tint\ty\n'
    assert tally('probe', '-x', app, '--filter', '!x', '-V', 'add', check=0).stdout.splitlines()[2:] == ['\t\tint\ty']
    two = tally('probe', '-x', app, '-L', 'add:0+1', '-L', 'look', check=0)
    assert two.stderr == 'Warning: more than one --line options are detected. Only the first one is valid.\n'


def test_sources_and_files_below_another_root(tally, tmp_path):
    """The program is at another path than the one that the kernel is given, and its source has moved."""
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')
    app = tmp_path / f'app{os.getpid()}'
    (tmp_path / 'probed.c').write_text(SOURCE)
    subprocess.run(['gcc', '-g', '-O0', '-o', app, 'probed.c'], check=True, cwd=tmp_path)
    root = tmp_path / 'root'
    (root / 'opt').mkdir(parents=True)
    shutil.copy(app, root / 'opt' / app.name)
    for layout in '', ',hierarchy':
        shown = tally('probe', '--symfs', f'{root}{layout}', '-x', f'/opt/{app.name}', '-D', 'add', check=0).stdout
        assert re.fullmatch(rf'p:probe_{app.name}/add /opt/{app.name}:0x[0-9a-f]+\n', shown)
    assert "takes no layout 'flat'" in tally('probe', '--symfs', f'{root},flat', '-x', app, '-D', 'add', check=129).stderr
    moved = tmp_path / 'moved'
    moved.mkdir()
    (tmp_path / 'probed.c').rename(moved / 'probed.c')
    assert 'probed.c' in tally('probe', '-x', app, '-L', 'add', check=254).stderr
    assert 'return x + y;' in tally('probe', '-x', app, '-s', moved, '-L', 'add', check=0).stdout


def test_the_cache_keeps_definitions(tally, newest_perf, app, cleared):
    tally('probe', '-q', '--cache', '-x', app, '-a', 'mine=add x', check=0)
    kept = tally('probe', '--cache', '-l', check=0).stdout
    assert f'{cleared}:mine=add x\n' in kept and kept == newest_perf('probe', '--cache', '-l', check=0).stdout
    cached = json.loads(tally('probe', '--cache', '-l', '--json', check=0).stdout)['cached']
    assert [probe['text'] for probe in cached] == [line for line in kept.splitlines() if not line.endswith('):')]
    assert all(f"{probe['path']} ({probe['build_id']}):" in kept for probe in cached)
    before = lines_of(cleared)
    tally('probe', '-q', '-d', f'{cleared}:mine', check=0)
    assert f'(on %mine in {app})' in tally('probe', '-x', app, '-a', '%mine', check=0).stderr
    assert lines_of(cleared) == before
    tally('probe', '-q', '-d', f'{cleared}:mine', check=0)
    assert 'Removed cached event: ' in tally('probe', '--cache', '-d', 'mine', check=0).stderr
    none = tally('probe', '--cache', '-l', check=0)
    assert (none.stdout, none.stderr) == ('', 'The probe cache has no probe.\n')
    assert "'nosuch'" in tally('probe', '--cache', '-d', 'nosuch', check=254).stderr


def test_a_stripped_program_has_only_addresses(tally, tmp_path):
    bare = compiled(tmp_path, 'bare', '-O1', '-s')
    entry = int(re.search(r'Entry point address: +(\w+)', subprocess.run(
        ['readelf', '-h', bare], capture_output=True, text=True, check=True).stdout).group(1), 16)
    assert f'Failed to load symbols from {bare}\nPlease ensure the file is not stripped' in tally(
        'probe', '-x', bare, '-D', 'add', check=254).stderr
    assert tally('probe', '-x', bare, '-D', f'start={entry:#x}', check=0).stdout == f'p:probe_bare/start {bare}:{entry:#x}\n'


def test_without_rights_the_reason_is_said(tally, app):
    if os.geteuid() != 0 or not shutil.which('setpriv') or not PROBES.exists():
        pytest.skip('needs root, setpriv and tracefs')
    copy = pathlib.Path(shutil.copy(tally.path, '/tmp/tally-%d' % os.getpid()))
    try:
        def nobody(*words):
            return subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', copy, 'probe', *words],
                                  capture_output=True, text=True, check=False, env={**tally.environment, 'HOME': '/nonexistent'})
        for words in ('-l', ), ('-d', 'x'):
            result = nobody(*words)
            if result.returncode == 0 or 'does not hit any event' in result.stderr:
                pytest.skip('tracefs is open to everybody here')
            assert result.returncode == 243 and 'No permission to read ' in result.stderr and 'run as root' in result.stderr
    finally:
        copy.unlink()
