# SPDX-License-Identifier: Apache-2.0
"""Where names come from: each kind of place, on programs that are built here; and what is not taken, and why."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import TIMEOUT_S, built, until_worked, wait_for, wait_for_work, waits_with_counters
from perfdata_build import Recording

SOURCE = '''
#include <stdlib.h>
volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long deep(unsigned long x)
{
	for (int i = 0; i < 50; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}
__attribute__((noinline)) static unsigned long secret(unsigned long n)
{
	unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++)
		sum += deep(i);
	return sum;
}
int main(int argc, char **argv)
{
	for (long left = argc > 1 ? atol(argv[1]) : 40; left > 0; left--)
		sink += secret(100000 + (sink & 1));
	return 0;
}
'''
LONG = 100000  # turns: much longer than a test takes


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f'{tool} is not installed')


def run(*command, **kwargs):
    subprocess.run([str(word) for word in command], check=True, timeout=TIMEOUT_S, stdout=subprocess.DEVNULL, **kwargs)


def build(folder, *flags, compiler='cc', name='program'):
    need(compiler)
    command = [compiler, '-O2', '-fno-omit-frame-pointer', '-Wl,--build-id', *flags, 'program.c', '-o', name]
    if '-gsplit-dwarf' in flags:  # the program names the folder where its other files are
        (folder / 'program.c').write_text(SOURCE)
        run(*command, cwd=folder)
    else:
        shutil.copytree(built({'program.c': SOURCE}, command), folder, dirs_exist_ok=True)
    return folder / name


def record(tally, program, *options):
    """A recording beside the program, of which the cache of build ids keeps nothing."""
    data = program.parent / 'perf.data'
    tally('record', '-q', '-N', '-g', '-e', 'cpu-clock:u', '-F', 2000, *options, '-o', data, '--', program, check=0)
    return data


def report(tally, data, *options):
    """Without an index of lines: it would know what was found before."""
    return tally('report', '-i', data, '--stdio', '--children', '-g', 'none', *options, check=0,
                 env={'TALLY_CACHE': ''}).stdout


def missing(tally, data, *options):
    """What --missing says of the program alone."""
    text = tally('report', '-i', data, '--missing', '-v', *options, check=0).stdout
    parts = [part for part in text.split('\n\n') if re.match(r'/.*/program( \(deleted\))?\n', part)]
    assert len(parts) == 1, text
    return parts[0]


def steps(part):
    """The trail: (source, path, what was there)."""
    found = []
    for line in part.splitlines():
        match = re.match(r' {8}(\S.{37}) (\S+): (.*)', line)
        if match:
            found.append((match[1].strip(), match[2], match[3]))
    return found


def separate(program, debug):
    run('objcopy', '--only-keep-debug', program, debug)
    run('strip', '--strip-all', program)


def build_id(program):
    notes = subprocess.run(['readelf', '-n', program], capture_output=True, text=True, check=True).stdout
    return re.search(r'Build ID: ([0-9a-f]+)', notes)[1]


def test_stripped_program_says_where_was_looked(tally, live, tmp_path):
    need('strip')
    program = build(tmp_path)
    run('strip', program)
    data = record(tally, program)
    identity = build_id(program)
    part = missing(tally, data)
    assert re.search(r'no symbol   (\d+) of its \1 samples', part)
    assert f'build id    {identity}' in part
    assert f'debuginfod-find debuginfo {identity}' in part
    assert 'reason      the file is stripped, and no debug file was found for it' in part
    by_id = f'.build-id/{identity[:2]}/{identity[2:]}'
    assert steps(part)[:5] == [
        ('path', str(program), 'no symbols (no .symtab; .dynsym, 0 names)'),
        ('debug file in the cache of build ids', f'{tmp_path}/.debug/{by_id}/debug', 'not there'),
        ('debug file by build id', f'/usr/lib/debug/{by_id}.debug', 'not there'),
        ('debug file by path', f'/usr/lib/debug{program}.debug', 'not there'),
        ('cache of build ids', f'{tmp_path}/.debug/{by_id}/elf', 'not there'),
    ]
    told = tally('report', '-i', data, '--stdio', check=0).stderr
    assert 'of the samples have no symbol' in told and 'report --missing' in told


def symfs_with(tmp_path, program, debug, place):
    """A folder that stands for the machine: the program where it was, its debug file at place."""
    root = tmp_path / 'root'
    for source, path in ((program, program), (debug, place)):
        target = root / str(path).lstrip('/')
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    return root


def test_debug_file_by_build_id(tally, live, tmp_path):
    need('objcopy', 'strip', 'readelf')
    program, debug = build(tmp_path, '-g'), tmp_path / 'd'
    separate(program, debug)
    identity = build_id(program)
    data = record(tally, program)
    place = f'/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug'
    root = symfs_with(tmp_path, program, debug, place)
    text = report(tally, data, '--symfs', root)
    assert 'secret' in text and 'deep (inlined)' in text
    assert ('debug file by build id', f'{root}{place}', 'used') in steps(missing(tally, data, '--symfs', root))


def test_cached_copy_was_stripped(tally, live, tmp_path):
    """The file at the path has the names and lines that the cache's copy of the same build lacks."""
    need('strip', 'readelf')
    program, whole = build(tmp_path, '-g'), tmp_path / 'whole'
    shutil.copy(program, whole)
    run('strip', '--strip-all', program)
    data = record(tally, program)
    tally('buildid-cache', '-a', program)
    assert 'secret' not in report(tally, data)
    program.unlink()
    shutil.copy(whole, program)
    text = report(tally, data)
    assert 'secret' in text and 'deep (inlined)' in text
    identity = build_id(program)
    copy = f'{tmp_path}/.debug/.build-id/{identity[:2]}/{identity[2:]}/elf'
    trail = steps(missing(tally, data))
    assert ('cache of build ids', copy, 'no symbols (no .symtab)') in trail
    assert ('path', str(program), 'used') in trail


def test_cached_copy_from_elsewhere_is_whole(tally, live, tmp_path):
    """The program is stripped at its path; what 'buildid-cache --add' took from where it was built is not."""
    need('strip', 'readelf')
    program, whole = build(tmp_path, '-g'), tmp_path / 'built' / 'whole'
    whole.parent.mkdir()
    shutil.copy(program, whole)
    run('strip', '--strip-all', program)
    data = record(tally, program)
    assert 'secret' not in report(tally, data)
    tally('buildid-cache', '--add', whole, check=0)
    text = report(tally, data)
    assert 'secret' in text and 'deep (inlined)' in text
    identity = build_id(program)
    copy = f'{tmp_path}/.debug/.build-id/{identity[:2]}/{identity[2:]}/elf'
    trail = steps(missing(tally, data))
    assert ('path', str(program), 'no symbols (no .symtab)') in trail
    assert ('cache of build ids', copy, 'used') in trail


def test_program_that_prelink_moved(tally, live, tmp_path):
    """As prelink does: other addresses in the program, the old ones in its debug file."""
    need('objcopy', 'strip')
    program, debug = build(tmp_path, '-g'), tmp_path / 'program.debug'
    separate(program, debug)
    run('objcopy', f'--add-gnu-debuglink={debug}', program)
    data = record(tally, program)
    whole = report(tally, data, '-q', '-s', 'sym')
    run('objcopy', '--change-addresses=0x200000', program, tmp_path / 'moved', stderr=subprocess.DEVNULL)
    os.replace(tmp_path / 'moved', program)
    assert 'secret' in whole and 'deep (inlined)' in whole
    assert report(tally, data, '-q', '-s', 'sym') == whole


def test_debug_file_of_another_build_is_refused(tally, live, tmp_path):
    need('objcopy', 'strip', 'readelf')
    program, debug = build(tmp_path, '-g'), tmp_path / 'd'
    separate(program, debug)
    identity = build_id(program)
    data = record(tally, program)
    other = build(tmp_path, '-g', '-DOTHER', '-O1', name='other')
    place = f'/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug'
    root = symfs_with(tmp_path, program, other, place)
    assert 'secret' not in report(tally, data, '--symfs', root)
    found = (f'{root}{place}', f'other build id ({build_id(other)})')
    assert found in [step[1:] for step in steps(missing(tally, data, '--symfs', root))]


@pytest.mark.parametrize('folder', ['.', '.debug'])
def test_debug_file_by_debuglink(tally, live, tmp_path, folder):
    need('objcopy', 'strip')
    program, debug = build(tmp_path, '-g', '-Wl,--build-id=none'), tmp_path / folder / 'program.debug'
    debug.parent.mkdir(exist_ok=True)
    separate(program, debug)
    run('objcopy', f'--add-gnu-debuglink={debug}', program)
    data = record(tally, program)
    text = report(tally, data)
    assert 'secret' in text and 'deep (inlined)' in text
    assert ('debug link', os.path.normpath(debug), 'used') in [
        (source, os.path.normpath(path), found) for source, path, found in steps(missing(tally, data))]
    # One byte of it is another: that is another file.
    with debug.open('r+b') as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    assert 'secret' not in report(tally, data)
    assert 'other checksum' in missing(tally, data)


def test_gnu_debugdata(tally, live, tmp_path):
    need('objcopy', 'strip', 'xz')
    program, mini = build(tmp_path), tmp_path / 'mini'
    run('objcopy', '-S', '--remove-section', '.gnu.hash', '--keep-symbol=secret', program, mini)
    run('xz', '-f', mini)
    run('objcopy', '-S', f'--add-section=.gnu_debugdata={mini}.xz', program)
    data = record(tally, program)
    assert 'secret' in report(tally, data)
    assert ('.gnu_debugdata', str(program), 'used (1 names)') in steps(missing(tally, data))


@pytest.mark.parametrize('where', ['debug link', 'build id', '.gnu_debugdata'])
def test_a_table_that_is_a_part_of_all(tally, live, tmp_path, where):
    """The program keeps the name of main, which says nothing of other functions: theirs are where all are."""
    need('objcopy', 'strip', 'xz')
    program, debug = build(tmp_path, '-g'), tmp_path / 'program.debug'
    run('objcopy', '--only-keep-debug', program, debug)
    run('strip', '-K', 'main', program)
    if where == 'debug link':
        run('objcopy', f'--add-gnu-debuglink={debug}', program)
    elif where == '.gnu_debugdata':
        run('objcopy', '-S', '--keep-symbol=secret', debug, tmp_path / 'mini')
        run('xz', '-f', tmp_path / 'mini')
        run('objcopy', f'--add-section=.gnu_debugdata={tmp_path}/mini.xz', program)
        debug.unlink()
    else:
        folder = pathlib.Path(tally.environment['HOME']) / '.debug' / '.build-id' / build_id(program)[:2]
        entry = folder / build_id(program)[2:]
        entry.mkdir(parents=True)
        debug.rename(entry / 'debug')
    data = record(tally, program)
    names = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
    assert ' main' in names and 'secret' not in names
    text = report(tally, data)
    assert 'secret' in text and 'main' in text
    assert where == '.gnu_debugdata' or 'deep (inlined)' in text


def test_lines_of_a_part_are_not_all(tally, live, tmp_path):
    """One of the program's units was left in it when the others were split off."""
    need('objcopy', 'cc')
    program, debug = build(tmp_path, '-g'), tmp_path / 'program.debug'
    run('objcopy', '--only-keep-debug', program, debug)
    (tmp_path / 'other.c').write_text('int other(void) { return 1; }')
    run('cc', '-g', '-c', 'other.c', '-o', 'other.o', cwd=tmp_path)
    run('strip', '--strip-debug', program)
    for section in ('.debug_info', '.debug_abbrev', '.debug_line', '.debug_str'):
        run('objcopy', '-O', 'binary', '--only-section', section, '--set-section-flags', f'{section}=alloc',
            tmp_path / 'other.o', tmp_path / 'bytes')
        run('objcopy', f'--add-section={section}={tmp_path}/bytes', program)
    run('objcopy', f'--add-gnu-debuglink={debug}', program)
    assert 'deep (inlined)' in report(tally, record(tally, program))


def test_damaged_gnu_debugdata(tally, live, tmp_path):
    need('objcopy', 'strip')
    program, mini = build(tmp_path), tmp_path / 'mini.xz'
    mini.write_bytes(b'\xfd7zXZ\0' + bytes(range(200)))
    run('objcopy', '-S', f'--add-section=.gnu_debugdata={mini}', program)
    data = record(tally, program)
    assert ('.gnu_debugdata', str(program), 'damaged') in steps(missing(tally, data))


def test_dwz(tally, live, tmp_path):
    need('dwz')
    program = build(tmp_path, '-g')
    second = build(tmp_path, '-g', name='second')
    common = tmp_path / 'common.debug'
    result = subprocess.run(['dwz', '-m', common, program, second], capture_output=True, text=True, check=False)
    if not common.exists():
        pytest.skip(f'dwz moved nothing: {result.stderr}')
    data = record(tally, program)
    assert 'deep (inlined)' in report(tally, data)
    assert ('common debug file (dwz)', str(common), 'used') in steps(missing(tally, data))
    text = common.read_bytes()
    for left in [None, text.replace(b'.debug_info', b'.debug_none')]:
        if left is None:
            common.unlink()
        else:
            common.write_bytes(left)
        # An index of lines that is made meanwhile must not be taken for a complete one.
        cache = {'TALLY_CACHE': str(tmp_path / 'cache')}
        for _ in range(2):
            result = tally('report', '-i', data, '--stdio', '-g', 'none', check=0, env=cache)
            assert f"is in the common file '{common}', which is not found or damaged; put that file of dwz back" in result.stderr
        part = missing(tally, data)
        assert '    incomplete  ' in part
        assert left is not None or ('common debug file (dwz)', str(common), 'not there') in steps(part)
    common.write_bytes(text)
    result = tally('report', '-i', data, '--stdio', '--children', '-g', 'none', check=0, env=cache)
    assert 'deep (inlined)' in result.stdout and 'common file' not in result.stderr


@pytest.mark.parametrize('flags', [['-gz=zlib'], ['-gz=zlib-gnu'], ['-gz=zstd']], ids=' '.join)
def test_compressed_debug_sections(tally, live, tmp_path, flags):
    if flags == ['-gz=zstd'] or flags == ['-gz=zlib-gnu']:
        probe = subprocess.run(['cc', '-g', *flags, '-xc', '-', '-o', os.devnull], input='int main(void){return 0;}',
                               text=True, capture_output=True, check=False)
        if probe.returncode:
            pytest.skip(f'this compiler has no {flags[0]}')
    data = record(tally, build(tmp_path, '-g', *flags))
    assert 'deep (inlined)' in report(tally, data)


def test_dwo(tally, live, tmp_path):
    program = build(tmp_path, '-g', '-gsplit-dwarf')
    data = record(tally, program)
    assert 'deep (inlined)' in report(tally, data)
    dwo, = tmp_path.glob('*.dwo')
    dwo.unlink()
    text = report(tally, data)
    assert 'deep (inlined)' not in text and 'secret' in text
    assert ('split units (.dwo)', str(program), f'not there ({dwo} of 1 unit that was hit)') in steps(missing(tally, data))


TWO_UNITS = {'first.c': """
#include "inlined.h"
__attribute__((noinline)) long first(long n) { return inlined_into_both(n) + 1; }
""", 'second.c': """
#include "inlined.h"
__attribute__((noinline)) long second(long n) { return inlined_into_both(n) + 2; }
""", 'inlined.h': """
static inline __attribute__((always_inline)) long inlined_into_both(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i;
	return s;
}
""", 'main.c': """
long first(long), second(long);
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 40; i++)
		sum += first(1000000) + second(1000000);
	return sum == 1;
}
"""}


def split_program(folder, *flags):
    """A program of three units, each with a .dwo file, of which two have samples."""
    for name, text in TWO_UNITS.items():
        (folder / name).write_text(text)
    units = ['first', 'second', 'main']
    for unit in units:
        run('cc', '-O1', '-g', '-gsplit-dwarf', *flags, '-c', f'{unit}.c', '-o', f'{unit}.o', cwd=folder)
    run('cc', '-Wl,--build-id', *[f'{unit}.o' for unit in units], '-o', 'program', cwd=folder)
    return folder / 'program'


def said(tally, verb, data, *options, **env):
    """What a verb says of split debug information, on standard error."""
    result = tally(*verb, '-i', data, *options, check=0, env={'TALLY_CACHE': '', **env})
    return [line for line in result.stderr.splitlines() if 'split debug information' in line]


def test_missing_dwo_files_are_reported(tally, live, tmp_path):
    program = split_program(tmp_path)
    data = record(tally, program)
    assert said(tally, ['report', '--stdio'], data) == []
    assert 'incomplete' not in tally('report', '-i', data, '--missing', check=0).stdout
    (tmp_path / 'away').mkdir()
    for unit in ['first', 'second']:
        (tmp_path / f'{unit}.dwo').rename(tmp_path / 'away' / f'{unit}.dwo')
    sentence = (f"{program}: inlined functions and types of 2 units are not known, because their split debug information "
                f"is not found: '{tmp_path}/first.dwo', the first of them, is not there")
    remedy = ("put the .dwo files of this build back where they were or beside "
              f"'{program}', or pack them by dwp or llvm-dwp as '{program}.dwp'")
    for verb in [['report', '--stdio'], ['report', '--json'], ['annotate', '--stdio'], ['script'],
                 ['flamegraph', '-o', tmp_path / 'page.html'], ['export', '-F', 'folded', '-o', tmp_path / 'folded']]:
        line, = said(tally, verb, data)
        assert line.endswith(f'{sentence}; {remedy}'), (verb, line)
    # The same with an index of lines, which has what was read before.
    cache = str(tmp_path / 'cache')
    for _ in range(2):
        assert len(said(tally, ['report', '--stdio'], data, TALLY_CACHE=cache)) == 1
    text = tally('report', '-i', data, '--missing', check=0).stdout
    assert '# the debug information of 1 object is incomplete\n' in text
    assert f'    incomplete  {sentence}\n    to do       {remedy}\n' in text
    found = json.loads(tally('report', '-i', data, '--missing', '--json', check=0).stdout)['missing']['objects']
    assert [entry.get('incomplete') for entry in found if entry['path'] == str(program)] == [
        [{'what': sentence, 'to_do': remedy}]]
    # One is back: one is missing.
    (tmp_path / 'away' / 'first.dwo').rename(tmp_path / 'first.dwo')
    line, = said(tally, ['report', '--stdio'], data)
    assert f"1 unit are not known, because its split debug information is not found: '{tmp_path}/second.dwo' is not there;" in line


def test_dwo_of_another_build(tally, live, tmp_path):
    program = split_program(tmp_path)
    data = record(tally, program)
    (tmp_path / 'second.dwo').write_bytes((tmp_path / 'main.dwo').read_bytes())
    line, = said(tally, ['report', '--stdio'], data)
    assert f"'{tmp_path}/second.dwo' is of another build or damaged" in line
    assert ('split units (.dwo)', str(program),
            f'of another build, or damaged ({tmp_path}/second.dwo of 1 unit that was hit)') in steps(missing(tally, data))
    (tmp_path / 'second.dwo').write_bytes(b'no object')
    assert len(said(tally, ['report', '--stdio'], data)) == 1


def test_dwo_beside_a_program_that_was_moved(tally, live, tmp_path):
    """The place that the program names has a file of another build, and then none."""
    (tmp_path / 'build').mkdir()
    program = split_program(tmp_path / 'build')
    installed = tmp_path / 'installed'
    installed.mkdir()
    for name in ['first.dwo', 'second.dwo', 'main.dwo', 'program']:
        (installed / name).write_bytes((tmp_path / 'build' / name).read_bytes())
    (installed / 'program').chmod(0o755)
    (tmp_path / 'build' / 'first.dwo').write_bytes((tmp_path / 'build' / 'main.dwo').read_bytes())
    data = record(tally, installed / program.name)
    assert said(tally, ['report', '--stdio'], data) == []
    shutil.rmtree(tmp_path / 'build')
    assert said(tally, ['report', '--stdio'], data) == []


def test_dwp_that_lacks_a_unit(tally, live, tmp_path):
    need('dwp')
    program = split_program(tmp_path, '-gdwarf-4')
    data = record(tally, program)
    run('dwp', 'first.dwo', 'main.dwo', '-o', 'program.dwp', cwd=tmp_path)
    for dwo in tmp_path.glob('*.dwo'):
        dwo.unlink()
    line, = said(tally, ['report', '--stdio'], data)
    assert f"'{tmp_path}/second.dwo' is not there, and {program}.dwp does not have it;" in line
    (tmp_path / 'program.dwp').write_bytes((tmp_path / 'program.dwp').read_bytes().replace(b'.debug_cu_index', b'.debug_xx_index'))
    line, = said(tally, ['report', '--stdio'], data)
    assert f"'{tmp_path}/first.dwo', the first of them, is not there, and {program}.dwp is damaged;" in line


@pytest.mark.parametrize('compiler, version, tool', [('gcc', 4, 'dwp'), ('gcc', 4, 'llvm-dwp'), ('clang', 5, 'llvm-dwp')])
def test_dwp(tally, live, tmp_path, compiler, version, tool):
    need(tool)
    program = build(tmp_path, f'-gdwarf-{version}', '-gsplit-dwarf', compiler=compiler)
    run(tool, '-e', program, '-o', tmp_path / 'program.dwp', cwd=tmp_path)
    for dwo in tmp_path.glob('*.dwo'):
        dwo.unlink()
    data = record(tally, program)
    assert 'deep (inlined)' in report(tally, data)
    assert ('package of split units', f'{program}.dwp', 'used') in steps(missing(tally, data))
    (tmp_path / 'program.dwp').write_bytes((tmp_path / 'program.dwp').read_bytes()[:3000])
    assert 'secret' in report(tally, data)


def test_replaced_program_is_refused(tally, live, tmp_path):
    need('readelf')
    program = build(tmp_path)
    recorded = build_id(program)
    data = record(tally, program)
    program.unlink()
    build(tmp_path, '-O1', '-DOTHER')
    assert build_id(program) != recorded
    assert 'secret' not in report(tally, data)
    part = missing(tally, data)
    assert f'reason      {program} is not the file that was recorded: its build id is {build_id(program)}, not {recorded}' in part
    assert ('path', str(program), f'other build id ({build_id(program)})') in steps(part)
    assert 'tally buildid-cache --add' in part


class Running:
    """A command that runs until the test is over."""

    def __init__(self, *command, **kwargs):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True, **kwargs)

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=TIMEOUT_S)


def record_process(tally, pid, data):
    tally('record', '-q', '-N', '-g', '-e', 'cpu-clock:u', '-F', 2000, '-o', data, '-p', pid, '--',
          *until_worked(pid, 0.15), check=0)


@pytest.mark.parametrize('with_other', [False, True], ids=['gone', 'replaced'])
def test_deleted_program_that_still_runs(tally, live, tmp_path, with_other):
    program, data = build(tmp_path), tmp_path / 'perf.data'
    with Running(program, LONG) as process:
        wait_for(lambda: os.path.realpath(f'/proc/{process.pid}/exe') == str(program))
        record_process(tally, process.pid, data)
        program.unlink()
        if with_other:
            build(tmp_path, '-O1', '-DOTHER')
        assert 'secret' in report(tally, data)
        part = missing(tally, data)
        assert [step for step in steps(part) if step[0] == 'mapping of the process' and step[2].startswith('used')]
    assert 'secret' not in report(tally, data)


CONTAINER = 'mount -t tmpfs none "$1" && cp "$2" "$1/program" && exec "$1/program" "$3"'


@pytest.fixture
def container(tmp_path):
    """A program in PID and mount namespaces of its own, on a file system that only they have; and its pid outside."""
    need('unshare', 'mount')
    if os.geteuid() != 0:
        pytest.skip('needs root to make namespaces')
    source, inside = build(tmp_path, '-g', name='source'), tmp_path / 'inside'
    inside.mkdir()
    with Running('unshare', '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c', CONTAINER, 'sh', inside, source,
                 LONG) as process:
        children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
        def is_there():
            pids = children.read_text().split() if children.exists() else []
            return pids and os.readlink(f'/proc/{pids[0]}/exe') == str(inside / 'program')
        wait_for(lambda: process.poll() is not None or is_there())
        if process.poll() is not None:
            pytest.skip('unshare makes no namespaces here')
        source.unlink()
        assert not (inside / 'program').exists()
        yield inside / 'program', children.read_text().split()[0]


def test_program_in_a_container(tally, live, tmp_path, container):
    program, pid = container
    data = tmp_path / 'perf.data'
    record_process(tally, pid, data)
    text = report(tally, data)
    assert 'secret' in text and 'deep (inlined)' in text
    place = ('root of the process', f'/proc/{pid}/root{program}')
    assert [step for step in steps(missing(tally, data)) if step[:2] == place and step[2].startswith('used')]


def test_container_is_not_mistaken_for_the_host(tally, live, tmp_path, container):
    program, pid = container
    data = tmp_path / 'perf.data'
    build(program.parent, '-O1', '-DOTHER', '-Dsecret=wrong')
    record_process(tally, pid, data)
    text = report(tally, data)
    assert 'secret' in text and 'wrong' not in text


def test_split_units_in_a_container(tally, live, tmp_path):
    """The .dwo lies in the container only; a link there to one outside is not followed."""
    if os.geteuid() != 0:
        pytest.skip('needs root to make namespaces')
    need('unshare', 'mount')
    built, inside, data = tmp_path / 'built', tmp_path / 'inside', tmp_path / 'perf.data'
    built.mkdir()
    inside.mkdir()
    build(built, '-g', '-gsplit-dwarf', f'-fdebug-prefix-map={built}={inside}')
    script = 'mount -t tmpfs none "$1" && cp "$2"/* "$1" && mount -t tmpfs none "$2" && exec "$1/program" "$3"'
    with Running('unshare', '--mount', 'sh', '-c', script, 'sh', inside, built, LONG) as process:
        def is_there():
            return process.poll() is not None or os.readlink(f'/proc/{process.pid}/exe') == str(inside / 'program')
        wait_for(is_there)
        if process.poll() is not None:
            pytest.skip('no file systems can be mounted here')
        record_process(tally, process.pid, data)
        assert 'deep (inlined)' in report(tally, data)
        dwo = next(built.glob('*.dwo'))
        place = pathlib.Path(f'/proc/{process.pid}/root{inside}') / dwo.name
        place.unlink()
        place.symlink_to(dwo)
        assert 'deep (inlined)' not in report(tally, data)


def test_links_do_not_lead_out_of_a_root(tally, live, tmp_path):
    if os.geteuid() != 0:
        pytest.skip('needs root to change the root')
    need('chroot')
    program, root, data = build(tmp_path, '-static'), tmp_path / 'jail', tmp_path / 'perf.data'
    root.mkdir()
    shutil.copy(program, root / 'program')
    with Running('chroot', root, '/program', LONG) as process:
        assert wait_for(lambda: os.path.basename(os.readlink(f'/proc/{process.pid}/exe')) == 'program')
        tally('record', '-q', '-N', '-e', 'cpu-clock:u', '-F', 2000, '-o', data, '-p', process.pid, '--',
              *until_worked(process.pid, 0.15), check=0)
        # The same file outside, by a link that a hostile container may make: not opened through its root.
        (root / 'program').unlink()
        (root / 'program').symlink_to(program)
        text = tally('report', '-i', data, '--missing', '-v', check=0).stdout
        assert not re.search(rf'/proc/{process.pid}/root\S*: used', text)


def test_program_in_another_root(tally, system_wide, tmp_path):
    if os.geteuid() != 0:
        pytest.skip('needs root to change the root')
    need('chroot')
    program, root, data = build(tmp_path, '-static'), tmp_path / 'jail', tmp_path / 'perf.data'
    root.mkdir()
    program.rename(root / 'program')
    # Its exec is in the recording, with the name that it has inside; it runs on behind the end of it.
    with Running(tally.path, 'record', '-q', '-N', '-a', '-e', 'cpu-clock:u', '-F', '999', '-o', data, '--', 'sh', '-c',
                 'until [ -e "$0" ]; do sleep 0.05; done', tmp_path / 'end', env=tally.environment) as recorder:
        wait_for(lambda: waits_with_counters(recorder.pid))
        with Running('chroot', root, '/program', LONG) as process:
            wait_for_work(process.pid, 0.1)
            (tmp_path / 'end').touch()
            recorder.wait(timeout=TIMEOUT_S)
            text = tally('report', '-i', data, '--stdio', '-s', 'dso,sym', '--pid', process.pid, check=0).stdout
            assert re.search(r'program +\[\.\] secret', text), text


def test_truncated_program(tally, live, tmp_path):
    program = build(tmp_path)
    data = record(tally, program)
    size = program.stat().st_size
    with program.open('r+b') as file:
        file.truncate(size - 2000)
    part = missing(tally, data)
    assert f'reason      {program} ends before its sections' in part
    assert ('path', str(program), 'damaged (it ends before its sections)') in steps(part)
    with program.open('r+b') as file:
        file.truncate(40)
    part = missing(tally, data)
    assert f'reason      {program} is not a valid ELF file' in part
    assert ('path', str(program), 'damaged') in steps(part)


def test_fifo_is_refused_and_not_waited_for(tally, live, tmp_path):
    program = build(tmp_path)
    data = record(tally, program)
    program.unlink()
    os.mkfifo(program)
    part = missing(tally, data)
    assert f'reason      {program} is not a regular file' in part
    assert ('path', str(program), 'not a regular file') in steps(part)


@pytest.mark.parametrize('kind', ['link', 'fifo'])
def test_cache_entries_that_are_no_files(tally, live, tmp_path, kind):
    need('readelf')
    program = build(tmp_path)
    data, identity = record(tally, program), build_id(program)
    tally('buildid-cache', '--add', program, check=0)
    elf = tmp_path / '.debug' / '.build-id' / identity[:2] / identity[2:] / 'elf'
    kept = tmp_path / 'kept'
    shutil.move(elf, kept)
    program.unlink()
    if kind == 'link':
        elf.symlink_to(kept)
    else:
        os.mkfifo(elf)
    assert 'secret' not in report(tally, data)
    assert ('cache of build ids', str(elf), 'not a regular file') in steps(missing(tally, data))
    elf.unlink()
    shutil.move(kept, elf)
    assert 'secret' in report(tally, data)


def test_unreadable_program(tally, live, open_folder):
    need('setpriv')
    program = build(open_folder)
    data = record(tally, program)
    program.chmod(0o111)
    data.chmod(0o644)
    result = subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', tally.path, 'report', '-f',
                             '-i', data, '--missing', '-v'], capture_output=True, text=True, timeout=TIMEOUT_S, check=True,
                            env={**tally.environment, 'HOME': '/nonexistent'})
    assert f'{program}: no permission' in result.stdout


def test_a_file_that_is_written_while_it_is_read(tally, live, tmp_path):
    """A program that is cut and written anew all the time: some names or none, but no crash and no waiting."""
    program = build(tmp_path, '-g')
    data, content = record(tally, program), program.read_bytes()
    script = 'while :; do head -c 9000 "$1" > "$2"; cat "$1" > "$2"; done'
    copy = tmp_path / 'copy'
    copy.write_bytes(content)
    with Running('sh', '-c', script, 'sh', copy, program):
        for _ in range(20):
            result = tally('report', '-i', data, '--stdio', check=None)
            assert result.returncode == 0, result.stderr


MOVES_TEXT = '''
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
volatile unsigned long sink;
__asm__(".text\\n.balign 4096\\n.skip 8192, 0x90\\n");
__attribute__((noinline, aligned(4096))) void moved(unsigned long n)
{
	while (n--)
		sink += n * 3;
}
__asm__(".text\\n.balign 4096\\n.skip 8192, 0x90\\n");
int main(void)
{
	char *copy = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(copy, (void *)moved, 4096);
	mprotect(copy, 4096, PROT_READ | PROT_EXEC);
	if (mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)moved) == MAP_FAILED)
		return 1;
	write(1, "moved\\n", 6);
	for (;;)
		moved(1000000);
}
'''


def test_text_that_was_moved_to_anonymous_memory(tally, live, tmp_path):
    need('gcc')
    (tmp_path / 'm.c').write_text(MOVES_TEXT)
    program, data, log = tmp_path / 'program', tmp_path / 'perf.data', tmp_path / 'log'
    run('gcc', '-O1', '-fno-toplevel-reorder', 'm.c', '-o', program, cwd=tmp_path)
    with Running('sh', '-c', 'exec "$1" > "$2"', 'sh', program, log) as process:
        assert wait_for(lambda: log.exists() and log.read_text() == 'moved\n')
        maps = pathlib.Path(f'/proc/{process.pid}/maps').read_text()
        assert re.search(r'r-xp 0+ 00:00 0 *\n', maps), maps
        record_process(tally, process.pid, data)
    result = tally('report', '-i', data, '--stdio', '-s', 'dso,sym', '-g', 'none', check=0)
    assert re.search(r'program +\[\.\] moved', result.stdout)
    assert 'anonymous mappings hold text' in result.stderr


@pytest.mark.parametrize('verb', [
    'report', 'script', 'annotate', 'mem report', 'sched timehist', 'lock contention', 'flamegraph'])
def test_files_that_were_asked_for_and_are_not_there(tally, tmp_path, verb):
    """Names from elsewhere would be others than the user thinks."""
    built = Recording()
    built.event('IDENTIFIER IP TID TIME PERIOD DATA_SRC')
    built.comm('job')
    built.sample()
    built.write(tmp_path / 'perf.data')
    for option in ('--vmlinux', '--kallsyms'):
        if (verb, option) != ('annotate', '--kallsyms'):
            result = tally(*verb.split(), option, '/nonexistent/file', cwd=tmp_path, check=255)
            assert 'Invalid file: /nonexistent/file' in result.stderr


def test_another_root_has_its_own_cache(tally, live, tmp_path):
    program = build(tmp_path)
    data = record(tally, program)
    home, root = pathlib.Path(tally.environment['HOME']), tmp_path / 'root'
    tally('buildid-cache', '-a', program)
    root.mkdir()
    assert 'secret' not in report(tally, data, '--symfs', root)
    shutil.copytree(home / '.debug', root / '.debug', symlinks=True)
    assert 'secret' in report(tally, data, '--symfs', root)
    shutil.rmtree(root / '.debug')
    named = tally('--buildid-dir', home / '.debug', 'report', '--stdio', '-i', data, '--symfs', root, check=0)
    assert 'secret' in named.stdout


GO_SOURCE = '''
package main

import "os"

type worker struct{ sum int }

func step(i int) int {
	return i % 7
}

func (w *worker) add(i int) {
	w.sum += step(i)
}

//go:noinline
func (w *worker) churn(n int) {
	for i := 0; i < n; i++ {
		w.add(i)
	}
}

func main() {
	w := &worker{}
	for i := 0; i < 60; i++ {
		w.churn(3000000)
	}
	os.Exit(w.sum & 0)
}
'''


def build_go(folder, name, flags, ldflags):
    """Builds GO_SOURCE, which is in the folder, as an executable of that name."""
    need('go', 'cc')
    cgo = '-cgo' in flags
    env = {**os.environ, 'HOME': str(folder), 'GO111MODULE': 'off', 'CGO_ENABLED': str(int(cgo)), 'GOFLAGS': '', 'GOCACHE': str(folder / 'cache')}
    (folder / 'program.go').write_text(GO_SOURCE.replace('import "os"', 'import "os"; import "C"') if cgo else GO_SOURCE)
    made = subprocess.run(['go', 'build', '-ldflags', ldflags, *[f for f in flags if f != '-cgo'], '-o', name, 'program.go'],
                          cwd=folder, env=env, capture_output=True, text=True, timeout=10 * TIMEOUT_S)
    if made.returncode != 0:
        pytest.skip('go build fails: ' + made.stderr[-200:])
    return folder / name


@pytest.mark.long  # the Go tool builds the runtime anew for each of them
@pytest.mark.parametrize('flags', [['-buildmode=pie'], ['-cgo', '-buildmode=pie']], ids=' '.join)
def test_a_stripped_go_pie_has_its_own_table(live, tally, tmp_path, flags):
    check_stripped_go_program(tally, tmp_path, flags)


@pytest.mark.parametrize('flags', [[], ['-cgo']], ids=' '.join)
def test_a_stripped_go_program_has_its_own_table(live, tally, tmp_path, flags):
    check_stripped_go_program(tally, tmp_path, flags)


def check_stripped_go_program(tally, tmp_path, flags):
    """.gopclntab; where C's linker made the program it is among other data, and where the text begins is a relocation."""
    program = build_go(tmp_path, 'program', flags, '-s -w')
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '-g', '-o', data, '--', program, check=0)
    report = tally('report', '--stdio', '--no-children', '-g', 'none', '-s', 'sym', '-i', data, check=0).stdout
    assert float(re.search(r'([\d.]+)%.*main\.\(\*worker\)\.churn', report)[1]) > 80
    script = tally('script', '-F', 'ip,sym,srcline', '-i', data, check=0).stdout
    assert 'runtime.main' in script
    assert re.search(r'main\.step\n +program\.go:9 \(inlined\)\n.*main\.\(\*worker\)\.add\n +program\.go:13 \(inlined\)\n.*churn\n', script)
    code = tally('annotate', '--stdio', '-i', data, 'main.(*worker).churn', check=0).stdout
    assert '<main.(*worker).churn>:' in code and '<main.(*worker).churn+0x' in code  # its heading, its loop
    assert 'main.(*worker).churn' not in tally('report', '--missing', '-i', data, check=0).stdout


def test_a_stripped_go_program_has_the_lines_of_its_twin(live, tally, tmp_path):
    """Names, lines and inlined calls are those of the debug information, where the linker is asked to keep it."""
    program = build_go(tmp_path, 'program', [], '-s -w')
    data, packed, root = tmp_path / 'perf.data', tmp_path / 'packed.data', tmp_path / 'root'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '-g', '-o', data, '--', program, check=0)
    (root / program.parent.relative_to('/')).mkdir(parents=True)
    build_go(tmp_path, 'twin', [], '').rename(root / program.relative_to('/'))
    stripped = tally('script', '-F', 'ip,sym,srcline', '-i', data, check=0).stdout
    twin = tally('script', '-F', 'ip,sym,srcline', '-i', data, '--symfs', root, check=0).stdout
    assert stripped == twin.replace('.abi0\n', '\n') and '(inlined)' in stripped
    tally('pack', '-i', data, '-o', packed, check=0)
    program.unlink()
    assert tally('script', '-F', 'ip,sym,srcline', '-i', packed, check=0).stdout == stripped


IN_ARCHIVE = r"""
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
static void run(int file, long at, long function)
{
	char *head = mmap(0, 4096, PROT_READ, MAP_PRIVATE, file, at);
	Elf64_Ehdr *elf = (void *)head;
	Elf64_Phdr *parts = (void *)(head + elf->e_phoff);
	for (int i = 0; i < elf->e_phnum; i++)
		if (parts[i].p_type == PT_LOAD && parts[i].p_flags & PF_X) {
			char *code = mmap(0, 65536, 5, MAP_PRIVATE, file, at + (parts[i].p_offset & -4096L));
			((void (*)(long))(code + function - (parts[i].p_vaddr & -4096L)))(100000000);
		}
}
int main(int argc, char **argv)
{
	int file = open(argv[1], O_RDONLY);
	for (int i = 2; i + 1 < argc; i += 2)
		run(file, atol(argv[i]), atol(argv[i + 1]));
	return 0;
}
"""


@pytest.mark.parametrize('options', [[], ['--keep-stacks']], ids=str)
def test_stacks_through_libraries_in_an_archive(live, tally, tmp_path, options):
    """Each library's call-frame information is its own, though all have the same addresses."""
    need('cc', 'nm')
    archive, words = b'PK\3\4 what stands before', []
    for number in (1, 2):
        # The second one's frames are larger: the first one's rules lead astray there.
        (tmp_path / 'library.c').write_text(
            f'static __attribute__((noinline)) long inner_{number}(long n)'
            f'{{ volatile long i, room[{number * 40}]; for (i = 0; i < n; i++) room[i % 40] = i; return room[3]; }}\n'
            f'void zipped_{number}(long n) {{ volatile char more[{number * 100}]; more[5] = 1; '
            f'long got = inner_{number}(n / 4); more[6] = got; }}')
        run('cc', '-O1', '-shared', '-fPIC', '-nostdlib', '-fno-stack-protector', '-fomit-frame-pointer', 'library.c', '-o',
            'library.so', cwd=tmp_path)
        listed = subprocess.run(['nm', 'library.so'], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        archive += bytes(-len(archive) % 4096)
        words += [len(archive), int(re.search(r'(\w+) T zipped', listed)[1], 16)]
        archive += (tmp_path / 'library.so').read_bytes()
    (tmp_path / 'app.apk').write_bytes(archive)
    (tmp_path / 'main.c').write_text(IN_ARCHIVE)
    run('cc', '-O1', 'main.c', '-o', 'main', cwd=tmp_path)
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '--call-graph', 'dwarf', *options, '-o', data, '--', tmp_path / 'main',
          tmp_path / 'app.apk', *words, check=0)
    stacks = {}
    for line in tally('flamegraph', '--folded', '--samples', '-i', data, check=0).stdout.splitlines():
        frames, count = line.rsplit(' ', 1)
        stacks[tuple(frames.split(';')[-3:])] = stacks.get(tuple(frames.split(';')[-3:]), 0) + int(count)
    for number in (1, 2):
        whole = stacks.get(('main', f'zipped_{number}', f'inner_{number}'), 0)
        assert whole > 0.95 * sum(count for stack, count in stacks.items() if stack[-1] == f'inner_{number}') > 10


def test_libraries_in_an_archive(live, tally, tmp_path):
    """Two of them, one stripped but for what is exported; each begins on a page of a zip file."""
    need('cc', 'nm', 'strip')
    archive, words = b'PK\3\4 what stands before', []
    for number in (1, 2):
        (tmp_path / 'library.c').write_text(
            f'__attribute__((noinline)) void zipped_{number}(long n) {{ for (volatile long i = 0; i < n; i++); }}')
        run('cc', '-O1', '-shared', '-fPIC', '-nostdlib', 'library.c', '-o', 'library.so', cwd=tmp_path)
        listed = subprocess.run(['nm', 'library.so'], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        if number == 2:
            run('strip', 'library.so', cwd=tmp_path)
        archive += bytes(-len(archive) % 4096)
        words += [len(archive), int(re.search(r'(\w+) T zipped', listed)[1], 16)]
        archive += (tmp_path / 'library.so').read_bytes()
    (tmp_path / 'app.apk').write_bytes(archive)
    (tmp_path / 'main.c').write_text(IN_ARCHIVE)
    run('cc', '-O1', 'main.c', '-o', 'main', cwd=tmp_path)
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 999, '-o', data, '--', tmp_path / 'main', tmp_path / 'app.apk', *words, check=0)
    report = tally('report', '--stdio', '-s', 'dso,sym', '-i', data, check=0).stdout
    for number in (1, 2):
        assert float(re.search(rf'([\d.]+)%  app\.apk +\[\.\] zipped_{number}\n', report)[1]) > 20
    missing = tally('report', '--missing', '-i', data, check=0).stdout
    assert 'damaged' not in missing and 'anew' not in missing
    (tmp_path / 'app.apk').write_bytes(b'no library at all'.ljust(len(archive)))
    os.utime(tmp_path / 'app.apk', (0, 0))
    missing = tally('report', '--missing', '-i', data, check=0).stdout
    assert 'is not an ELF file' in missing and 'damaged' not in missing and 'anew' not in missing


def test_generated_code_without_a_map_is_advised(live, tally, tmp_path):
    if os.uname().machine != 'x86_64':
        pytest.skip('the code is for x86_64')
    need('cc')
    (tmp_path / 'made.c').write_text(r'''
#include <string.h>
#include <sys/mman.h>
static const unsigned char spin[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec rdi; jne; ret */
int main(void)
{
	char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, spin, sizeof spin);
	((void (*)(long))code)(200000000);
	return 0;
}
''')
    run('cc', '-O1', '-w', 'made.c', '-o', 'made', cwd=tmp_path)
    data = tmp_path / 'perf.data'
    tally('record', '-q', '-e', 'cpu-clock:u', '-o', data, '--', tmp_path / 'made', check=0)
    missing = tally('report', '--missing', '-i', data, check=0).stdout
    assert 'node --perf-basic-prof' in missing and 'install' not in missing
