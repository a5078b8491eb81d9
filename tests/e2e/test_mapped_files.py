# SPDX-License-Identifier: Apache-2.0
"""Which file a mapping is of: another build at its path, or another mount namespace's file, must not name its samples."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import until_worked

LOOP = '__attribute__((noinline)) long {name}(long n){{volatile long i;for(i=0;i<n;i++);return i{more};}}\n'
CLOCK = ('-e', 'cpu-clock', '-F', '500')


@pytest.fixture
def build(tmp_path):
    """build(FILE, NAME, MORE, *FLAGS): a program whose time goes into the function NAME; MORE makes it another build."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')

    def compile_it(file, name, more='', *flags, main='int main(void){{return {name}(100000000)*0;}}'):
        source = tmp_path / f'{file}.c'
        source.write_text(LOOP.format(name=name, more=more) + 'long other(long n){return n*3;}' * bool(more) +
                          main.format(name=name))
        subprocess.run(['gcc', '-O1', '-o', file, *flags, source], cwd=tmp_path, check=True)
        return tmp_path / file
    return compile_it


@pytest.fixture
def namespaces():
    if os.geteuid() != 0 or subprocess.run(['unshare', '-m', 'true'], check=False, capture_output=True).returncode:
        pytest.skip('a mount namespace needs root')


def shares(program, path, *options):
    """Function or address -> percent, of all rows."""
    text = program('report', '--stdio', '-i', path, '--no-children', '-g', 'none', '-s', 'sym', *options, check=0).stdout
    found = re.findall(r'^ +([0-9.]+)% +\[.\] (\S+)', text, re.M)
    return {name: sum(float(share) for share, other in found if other == name) for _, name in found}


def file_id(path):
    notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True, check=True).stdout
    found = re.search(r'Build ID: (\w+)', notes)
    if not found:
        pytest.skip('the linker writes no build id')
    return found.group(1)


def ids(program, path, name):
    text = program('buildid-list', '-i', path, check=0).stdout
    return {line.split()[0] for line in text.splitlines() if line.split()[1].endswith(f'/{name}')}


def test_builds_at_one_path_are_told_apart(tally, perf, live, build, tmp_path):
    """What ran first is not named by what ran last; perf reads the recording as well."""
    one, two = build('one', 'first_build'), build('two', 'second_build', '+1')
    path = tmp_path / 'data'
    tally('record', '-q', *CLOCK, '-o', path, '--', 'sh', '-c', 'cp one bench; ./bench; rm bench; cp two bench; ./bench',
          check=0, cwd=tmp_path)
    assert ids(tally, path, 'bench') == {file_id(one), file_id(two)}
    for program in (tally, perf):
        names = shares(program, path, '--comms', 'bench')
        assert 20 < names['second_build'] < 80
    rewritten = tmp_path / 'rewritten'
    perf('inject', '-b', '-i', path, '-o', rewritten, check=0)
    assert 20 < shares(tally, rewritten, '--comms', 'bench')['second_build'] < 80


def test_a_host_file_is_not_a_containers(tally, live, namespaces, build, tmp_path):
    """Where a library was mounted in an ended namespace, the host's file at its path is neither read nor listed."""
    (tmp_path / 'lib').mkdir()
    library = 'long work(long n){{return {name}(n)+1;}}'
    box = build('box.so', 'of_container', '', '-shared', '-fPIC', main=library)
    host = build('lib/libjob.so', 'of_host', '+1', '-shared', '-fPIC', main=library)
    (tmp_path / 'main.c').write_text('long work(long); int main(void){return work(100000000)*0;}')
    subprocess.run(['gcc', 'main.c', '-o', 'main', '-Llib', '-ljob', f'-Wl,-rpath,{tmp_path}/lib'], cwd=tmp_path,
                   check=True)
    path = tmp_path / 'data'
    script = f'mount --make-rprivate /; mount --bind {box} {host}; exec ./main'
    tally('record', '-q', '-g', *CLOCK, '-o', path, '--', 'unshare', '-m', 'sh', '-c', script, check=0, cwd=tmp_path)
    assert ids(tally, path, 'libjob.so') == {file_id(box)}
    assert 'of_host' not in shares(tally, path)


@pytest.mark.parametrize('options', [[], ['--buildid-mmap'], ['--switch-output=1G'], ['--tail-synthesize'], ['-B']],
                         ids=' '.join)
def test_ids_of_what_already_runs(tally, perf, live, build, tmp_path, options):
    program = build('longrun', 'spin', '', main='int main(void){{for(;;){name}(1000);}}')
    runner = subprocess.Popen([program])
    try:
        tally('record', '-q', *options, *CLOCK, '-p', runner.pid, '-o', tmp_path / 'data', '--', 'sleep', '0.2', check=0)
    finally:
        runner.kill()
        runner.wait()
    path = next(tmp_path.glob('data*'))
    for reader in (tally, perf):
        events = reader('script', '--show-mmap-events', '-i', path, check=0).stdout
        assert re.search(rf'<{file_id(program)}>.*{program}', events), reader.path
    if 'kernel' in events:
        assert re.search(r'<\w{40}>.*\[kernel\.kallsyms\]', events)


def test_no_buildid_mmap(tally, live, build, tmp_path):
    """Device and inode instead; the table still has the id, of the file that was mapped alone."""
    program = build('short', 'spin')
    copy = tmp_path / 'copy'
    path = tmp_path / 'data'
    tally('record', '-q', '--no-buildid-mmap', *CLOCK, '-o', path, '--', program, check=0)
    events = tally('script', '--show-mmap-events', '-i', path, check=0).stdout
    assert re.search(rf' {os.stat(program).st_ino} \d+\].*{program}', events)
    assert ids(tally, path, 'short') == {file_id(program)}
    other = build('other', 'another_build', '+1')
    tally('record', '-q', '--no-buildid-mmap', *CLOCK, '-o', path, '--', 'sh', '-c',
          'cp short copy; ./copy; rm copy; cp other copy; sleep 0.1', check=0, cwd=tmp_path)
    assert copy.exists() and file_id(other) not in ids(tally, path, 'copy')


@pytest.mark.parametrize('options, has_ids', [
    ([], True), (['--call-graph', 'dwarf'], True), (['--threads'], True), (['-g', '-N', '--self-contained'], True),
    (['-g', '--self-contained'], False), (['-a'], True)], ids=str)
def test_programs_that_are_gone_have_names(tally, live, build, tmp_path, options, has_ids):
    """Each build that ran at a path is held while it runs, and named, although nothing is there at the end."""
    if '-a' in options and os.geteuid() != 0:
        pytest.skip('system-wide events need root')
    flags = [] if has_ids else ['-Wl,--build-id=none']
    for number in '12':
        build(f'one{number}', f'short_lived_{number}', f'+{number}', *flags,
              main='int main(void){{return {name}(300000000)*0;}}')
    path = tmp_path / 'data'
    script = 'for i in 1 2; do cp one$i gone; ./gone; rm gone; done'
    tally('record', '-q', *options, *CLOCK, '-o', path, '--', 'sh', '-c', script, check=0, cwd=tmp_path)
    names = shares(tally, path, '--comms', 'gone')
    assert names['short_lived_1'] > 1 and names['short_lived_2'] > 1


@pytest.mark.parametrize('options', [[], ['--no-buildid-mmap'], ['--call-graph', 'dwarf']], ids=str)
def test_one_program_by_many_paths(tally, live, build, tmp_path, options):
    """A program that is copied, run and removed again and again is in the cache once, and whole."""
    program = build('one', 'short_lived', main='int main(void){{return {name}(100000000)*0;}}')
    path = tmp_path / 'data'
    script = 'for i in 1 2 3; do cp one gone$i; ./gone$i; rm gone$i; done'
    tally('record', '-q', *options, *CLOCK, '-o', path, '--', 'sh', '-c', script, check=0, cwd=tmp_path)
    assert shares(tally, path, '--comms', 'gone1,gone2,gone3')['short_lived'] > 50
    kept = list((tmp_path / '.debug').glob('**/gone?/*/elf'))
    assert len(kept) == 1 and kept[0].read_bytes() == program.read_bytes()


def test_the_table_alone_names_what_came_last(tally, live, build, tmp_path):
    """Which of two files at a path an id of the table is of, readers cannot tell: it is the last one's."""
    for number in '12':
        build(f'one{number}', f'short_lived_{number}', f'+{number}', main='int main(void){{return {name}(300000000)*0;}}')
    path = tmp_path / 'data'
    script = 'for i in 1 2; do cp one$i gone; ./gone; rm gone; done'
    tally('record', '-q', '--no-buildid-mmap', *CLOCK, '-o', path, '--', 'sh', '-c', script, check=0, cwd=tmp_path)
    names = shares(tally, path, '--comms', 'gone')
    assert 'short_lived_1' not in names and names['short_lived_2'] > 10
    assert len(list((tmp_path / '.debug').glob('**/gone/*/elf'))) == 2


def test_a_stack_of_a_program_that_is_gone(tally, live, build, tmp_path):
    """Live unwinding has what it needs of it, too."""
    build('one', 'short_lived', '', '-fomit-frame-pointer', main='int main(void){{return {name}(300000000)*0;}}')
    path = tmp_path / 'data'
    tally('record', '-q', '--call-graph', 'dwarf', *CLOCK, '-o', path, '--', 'sh', '-c', 'cp one gone; ./gone; rm gone',
          check=0, cwd=tmp_path)
    folded = tally('script', '-i', path, '--comms', 'gone', '-F', 'ip,sym', check=0).stdout.split('\n\n')
    stacks = [stack for stack in folded if 'short_lived' in stack]
    assert stacks and sum('main' in stack for stack in stacks) > len(stacks) / 2


@pytest.mark.parametrize('flags', [[], ['-Wl,--build-id=none']], ids=['build id', 'no build ID'])
def test_programs_of_a_container_have_names(tally, live, namespaces, build, tmp_path, flags):
    """In the cache, or where they have no build id in the recording itself."""
    build('s', 'hot_in_box', '', *flags, main='int main(void){{for(;;){name}(1000000);}}')
    (tmp_path / 'mnt').mkdir()
    script = 'mount --make-rprivate /; mount -t tmpfs none mnt; cp s mnt/srv; echo; exec mnt/srv'
    box = subprocess.Popen(['unshare', '-m', 'sh', '-c', script], cwd=tmp_path, stdout=subprocess.PIPE)
    try:
        box.stdout.readline()
        while os.readlink(f'/proc/{box.pid}/exe') != f'{tmp_path}/mnt/srv':
            pass
        tally('record', '-q', *(['--self-contained'] if flags else []), *CLOCK, '-p', box.pid, '-o', tmp_path / 'data',
              '--', *until_worked(box.pid, 0.15), check=0)
    finally:
        box.kill()
        box.wait()
    assert shares(tally, tmp_path / 'data')['hot_in_box'] > 80


def test_what_others_can_write_is_copied_into_the_cache(tally, live, build, tmp_path):
    """A link would change with the file."""
    safe, shared = build('safe', 'spin'), build('shared', 'turn', '+1')
    shared.chmod(0o777)
    for program in (safe, shared):
        tally('record', '-q', *CLOCK, '-o', tmp_path / 'data', '--', program, check=0)
        entry = tmp_path / '.debug' / str(program)[1:] / file_id(program) / 'elf'
        assert entry.samefile(program) == (program == safe)
        assert entry.read_bytes() == program.read_bytes()
        assert program == safe or entry.stat().st_mode & 0o022 == 0


DOUBT = 'may come from another build'
READERS = [['report', '--stdio'], ['script'], ['annotate', '--stdio'], ['flamegraph', '-o', 'out'],
           ['export', '-F', 'folded', '-o', 'out'], ['export', '-F', 'html', '-o', 'out'], ['diff', 'data', 'data'],
           ['query', 'select 1'], ['pack', '-o', 'out'], ['data', 'convert', '--force', '--to-json', 'out']]


def test_a_file_that_nothing_tells_apart(tally, live, build, tmp_path):
    """Without a build id: rebuilt since, or changed in place, each reader says that names may come from another build's."""
    program = build('p', 'was_hot', '', '-Wl,--build-id=none')
    tally('record', '-q', '-N', '-g', *CLOCK, '-o', 'data', '--', program, check=0, cwd=tmp_path)
    for reader in READERS:
        said = tally(*reader, *([] if 'diff' in reader else ['-i', 'data']), cwd=tmp_path).stderr
        assert DOUBT not in said, reader
    status = program.stat()
    program.unlink()
    build('p', 'is_now_here', '+1', '-Wl,--build-id=none')
    for reader in READERS:
        said = tally(*reader, *([] if 'diff' in reader else ['-i', 'data']), cwd=tmp_path).stderr
        assert str(program) in said and DOUBT in said, reader
    os.utime(program, ns=(status.st_mtime_ns, status.st_mtime_ns))  # its inode tells still
    assert DOUBT in tally('report', '--stdio', '-i', 'data', check=0, cwd=tmp_path).stderr


def test_a_file_that_was_changed_in_place(tally, live, build, tmp_path):
    program = build('p', 'was_hot', '', '-Wl,--build-id=none')
    other = build('other', 'is_now_here', '+1', '-Wl,--build-id=none')
    tally('record', '-q', '-N', *CLOCK, '-o', 'data', '--', program, check=0, cwd=tmp_path)
    program.write_bytes(other.read_bytes())
    later = (tmp_path / 'data').stat().st_mtime_ns + 10 ** 9
    os.utime(program, ns=(later, later))
    assert DOUBT in tally('report', '--stdio', '-i', 'data', check=0, cwd=tmp_path).stderr


def test_files_without_ids_at_one_path(tally, live, build, tmp_path):
    """Of two, the one that is there names its own samples only."""
    for number in '12':
        build(f'one{number}', f'build_{number}', f'+{number}', '-Wl,--build-id=none')
    script = 'cp one1 p; ./p; mv p away; cp one2 p; ./p'
    tally('record', '-q', '-N', *CLOCK, '-o', 'data', '--', 'sh', '-c', script, check=0, cwd=tmp_path)
    names = shares(tally, tmp_path / 'data', '--comms', 'p')
    assert 'build_1' not in names and 20 < names['build_2'] < 80
    said = tally('report', '--stdio', '-i', 'data', check=0, cwd=tmp_path).stderr
    assert 'is not the file that was mapped' in said


def test_a_claim_of_a_build_id_is_no_proof(tally, live, build, tmp_path):
    """A file that claims the id of another is cached first: neither its names are taken, nor does it stay there."""
    genuine = build('genuine', 'right_name')
    claimed = file_id(genuine)
    fake = build('fake', 'wrong_name', '+1', f'-Wl,--build-id=0x{claimed}')
    tally('buildid-cache', '-a', fake, check=0)
    path = tmp_path / 'data'
    tally('record', '-q', '-N', *CLOCK, '-o', path, '--', genuine, check=0)
    names = shares(tally, path)
    assert names['right_name'] > 50 and 'wrong_name' not in names
    tally('record', '-q', *CLOCK, '-o', path, '--', genuine, check=0)
    genuine.unlink()
    names = shares(tally, path)
    assert names['right_name'] > 50 and 'wrong_name' not in names
