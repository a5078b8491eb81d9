# SPDX-License-Identifier: Apache-2.0
"""Variables of a program in probes: the definitions beside perf 7.3's, and recorded values beside gdb's at the same stop."""
import os
import platform
import re
import shutil
import subprocess

import kernel_build
import pytest
from conftest import compiled
from probe_programs import C_MANY, C_PASS, C_SUM, CPP_COST, CPP_PICK, RUST_VISIT, build

C_BUILDS = [('gcc', '-O0'), ('gcc', '-O2'), ('clang', '-O0'), ('clang', '-O2'), ('gcc', '-O2', '-gdwarf-4')]
EVENTS = '/sys/kernel/tracing/uprobe_events'
X86_64 = pytest.mark.skipif(platform.machine() != 'x86_64', reason='it names registers of x86_64')


def words_of(program, *arguments):
    """name -> fetch and type, of the first definition that -D prints."""
    result = program(*arguments, check=0)
    return dict(word.split('=', 1) for word in result.stdout.split('\n')[0].split(' ')[2:] if '=' in word)


def as_ours(words):
    """perf writes no type for pointers of clang, which say no size; the kernel then takes 64 bits."""
    return {name: text if ':' in text or text in ('$stack2', '%ax', '$comm') else f'{text}:x64'
            for name, text in words.items()}


@pytest.mark.parametrize('how', C_BUILDS, ids=' '.join)
def test_definitions_are_perfs(tally, newest_perf, tmp_path, how):
    program = build(tmp_path, *how)
    arguments = ('n k text c id col n->next n->value n->name n->in.a n->in.b[1] n->pin->b[2] n->col n->ok n->u.uf n->id '
                 'n->anon_y text:string n->name:ustring arr arr[1] arr[1]:x64 text[1] n->next->next->value k:u8 k:x k:s '
                 'k:symbol n->value:u32 $stack2 %ax %di:u32 $comm \\1:u8').split()
    all_named = ' '.join(['sum'] + [f'v{i}={argument}' for i, argument in enumerate(arguments)])
    own_names = 'sum n->value k:u8 text:string n->name:string n->in.b[1] arr[1]:x64 n->in.a y=k $stack2 %ax'
    for asked, count in ((all_named, len(arguments)), (own_names, 8)):
        ours = words_of(tally, 'probe', '-x', program, '-D', asked)
        assert len(ours) == count
        assert ours == as_ours(words_of(newest_perf, 'probe', '-x', program, '-D', asked))


@pytest.mark.parametrize('how', C_BUILDS, ids=' '.join)
def test_vars_are_perfs(tally, newest_perf, tmp_path, how):
    program = build(tmp_path, *how)
    for point in ('sum', 'many', 'find', 'square', 'nothing', 'main', 'sum:6'):
        for more in ([], ['--externs'], ['--range']):
            ours = tally('probe', '-x', program, '-V', point, *more, check=0).stdout.split('\n')
            theirs = newest_perf('probe', '-x', program, '-V', point, *more, check=0).stdout.split('\n')
            # perf is silent about variables whose value at the function's entry is lost by then, and about clang's static
            # variables.
            kept = [line for line in ours if line in theirs or not ('[INV]' in line or line.endswith('\ttotal_calls'))]
            assert kept == theirs, f'{point} {more}'
    some = tally('probe', '-x', program, '-V', 'sum', '--filter', 'a* | k', check=0).stdout
    assert [line.split('\t')[-1] for line in some.split('\n')[2:-1]] == ['k', 'arr']


@X86_64
def test_what_perf_gets_wrong(tally, tmp_path):
    program = build(tmp_path, 'gcc', '-O2')
    words = words_of(tally, 'probe', '-x', program, '-D', 'sum n->flags n->mode n->mat[1] n->mat[1][2] n->in.b')
    assert words == {'flags': '+12(%di):b3@0/32', 'mode': '+12(%di):b5@3/32', 'mat': '+92(%di):s32[3]',
                     'mat_1': '+100(%di):s32', 'b': '+28(%di):s16[4]'}
    some = tally('probe', '-x', program, '-D', 'sum $params', check=0)
    assert ' col=%r9:x32 ' in some.stdout and ' f=' not in some.stdout
    assert "$params leaves out 'f': 'f' is in %xmm0, which the kernel does not give to probes" in some.stderr
    assert words_of(tally, 'probe', '-x', program, '-D', 'peek h->second') == {'second': '+4(%di):s32'}


FORMS = {  # of gcc's debug information; "package" is made of .dwo files, which are then away
    'split': ['-gsplit-dwarf'], 'split4': ['-gdwarf-4', '-gsplit-dwarf'], 'types': ['-fdebug-types-section'],
    'frames': ['-fno-asynchronous-unwind-tables', '-fno-unwind-tables'], 'packed': ['-gz'], 'dwarf2': ['-gdwarf-2'],
    'dwarf3': ['-gdwarf-3'], 'dwarf64': ['-gdwarf64'], 'package': ['-gdwarf-4', '-gsplit-dwarf']}


@X86_64
def test_forms_of_debug_information_say_the_same(tally, tmp_path):
    asked = [('sum n k c id col arr[1] text:string n->in.b[1] n->flags n->mode n->mat[1][2] n->d n->u.uf n->anon_y '
              'root->next->in.tag:string total_calls table'), 'many g whole.b[2] whole.tag']
    found = {}
    for form, flags in {'plain': [], **FORMS}.items():
        folder = tmp_path / form
        folder.mkdir()
        try:
            program = build(folder, 'gcc', '-O2', *flags)
        except (AssertionError, subprocess.CalledProcessError):
            continue  # a gcc without this form
        if form == 'package':
            if not shutil.which('dwp') or subprocess.run(['dwp', '-e', program, '-o', 'app.dwp'], cwd=folder, check=False,
                                                         capture_output=True).returncode:
                continue
            for file in folder.glob('*.dwo'):
                file.unlink()
        hidden = tally('probe', '-x', program, '-D', 'peek h->second')
        if '-gsplit-dwarf' in flags:  # the definition is in another unit's .dwo file
            assert 'the members of struct hidden are not known: this debug information only declares' in hidden.stderr
        else:
            assert ' second=+4(%di):s32\n' in hidden.stdout, form
        text = ' '.join(tally('probe', '-x', program, '-D', definition, check=0).stdout for definition in asked)
        # Addresses differ: tables for unwinding are part of the program.
        found[form] = re.sub(r'\S+/app:0x[0-9a-f]+|@\+0x[0-9a-f]+', '', text)
    assert len(found) > 5
    assert {form for form, text in found.items() if text != found['plain']} == set()


@X86_64
def test_thousands_of_places_have_all_variables(tally):
    """What is read of a file is bounded by its size: places share it."""
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')
    members = ''.join(f'int m{i};' for i in range(300))
    functions = ''.join(f'int fn{i}(struct s *p, int k) {{ return p->last + k + {i}; }}\n' for i in range(2000))
    many = compiled('many.c', f'struct s {{ {members} int last; }}; int all = 4;\n{functions}int main(void) {{ }}\n', '-g', '-O1')
    lines = tally('probe', '-x', many, '--max-probes', '5000', '-D', 'fn* p->last all k', check=0).stdout.splitlines()
    assert len(lines) == 2000
    assert {re.sub(r'^\S+ \S+|0x[0-9a-f]+', '', line) for line in lines} == {' last=+1200(%di):s32 all=@+:s32 k=%si:s32'}


REFUSED = {
    'sum total': r"location of the 'total' variable at this address: it was optimised out there",
    'sum nope': r"location of the 'nope' variable at this address: there is none of that name in sum",
    'sum texd': r"there is none of that name in sum; is 'text' meant\?",
    'sum f': r"'f' is in %xmm0, which the kernel does not give to probes",
    'sum own': r"location of the 'own' variable at this address: each thread has its own",
    'sum n.value': r"value must be referred by '->'",
    'sum n->in->a': r"a must be referred by '.'",
    'sum n->nonsense': r'n\(type:struct node\) has no member nonsense\.\n',
    'sum n->nmae': r"n\(type:struct node\) has no member nmae; is 'name' meant\?",
    'sum n->mods': r"n\(type:struct node\) has no member mods; is 'mode' meant\?",
    'sum k->x': r'k is not a data structure nor a union: its type is int',
    'sum k[1]': r'k is neither an array nor a pointer: its type is int',
    'sum k:string': r'Failed to cast into string: k\(int\) is not a pointer nor array',
    'sum n->in.b:string': r'Failed to cast into string: b is not \(unsigned\) char',
    'sum%return k': r"You can't specify local variable for kretprobe",
    'sum @nosuch': r"has no symbol 'nosuch'",
}


@X86_64
def test_refusals_say_why(tally, tmp_path):
    program = build(tmp_path, 'gcc', '-O2')
    for definition, reason in REFUSED.items():
        result = tally('probe', '-x', program, '-D', definition)
        assert result.returncode != 0 and not result.stdout, definition
        assert re.search(reason, result.stderr), f'{definition}: {result.stderr}'
    stripped = tmp_path / 'stripped'
    subprocess.run(['strip', '-g', '-o', stripped, program], check=True)
    result = tally('probe', '-x', stripped, '-D', 'sum k')
    assert result.returncode != 0 and 'debug' in result.stderr


@X86_64
def test_kernels_name_their_symbols(tally, tmp_path):
    if not shutil.which('ld'):
        pytest.skip('ld is not installed')
    kernel_build.compile_files(tmp_path)
    words = words_of(tally, 'probe', '-k', tmp_path / 'vmlinux', '-D', 'schedule by counter')
    assert words == {'by': '%di:s32', 'counter': '@counter+0:s32'}


CROSS = '''
struct pair { int first; long second; struct pair *next; };
long both(struct pair *p, char *text, int n) { return p->next->second + text[0] + n; }
'''


def cross_build(folder, *flags):
    (folder / 'cross.c').write_text(CROSS)
    made = subprocess.run(['clang', '-g', '-O2', '-ffreestanding', '-nostdlib', '-shared', '-fPIC', '-fuse-ld=lld', *flags,
                           '-o', folder / 'cross.so', folder / 'cross.c'], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f'clang does not build for {flags}: {made.stderr.strip()[:200]}')
    return folder / 'cross.so'


def test_arm64(tally, tmp_path):
    if not shutil.which('clang') or not shutil.which('ld.lld'):
        pytest.skip('clang or lld is not installed')
    library = cross_build(tmp_path, '--target=aarch64-linux-gnu')
    asked = 'both p->second p->next->first text:string n'
    assert words_of(tally, 'probe', '-x', library, '-D', asked) == {
        'second': '+8(%x0):s64', 'first': '+0(+16(%x0)):s32', 'text_string': '+0(%x1):string', 'n': '%x2:s32'}


def test_32_bit_pointers_are_not_followed_in_memory(tally, tmp_path):
    if not shutil.which('clang') or not shutil.which('ld.lld'):
        pytest.skip('clang or lld is not installed')
    library = cross_build(tmp_path, '--target=i386-linux-gnu', '-mregparm=3')
    assert words_of(tally, 'probe', '-x', library, '-D', 'both p->second n') == {'second': '+4(%ax):s32', 'n': '%cx:s32'}
    refused = tally('probe', '-x', library, '-D', 'both p->next->first')
    assert refused.returncode != 0 and 'has 4 bytes; this kernel reads pointers of 8 bytes' in refused.stderr


def needs_probes():
    if not os.access(EVENTS, os.W_OK):
        pytest.skip(f'{EVENTS} cannot be written: no root, no tracefs, or a kernel without uprobes')
    if not shutil.which('gdb'):
        pytest.skip('gdb is not installed')


def number(text, bits):
    return int(text, 0) & ((1 << bits) - 1) if bits else int(text, 0)


def same_value(kind, ours, theirs):
    """Whether a field of a sample and gdb's words are one value of the kernel's type."""
    if kind == 'string':
        return ours.strip('"') == theirs
    bits = int(re.match(r'[a-z]+(\d+)', kind)[1])
    numbers = r'-?(?:0x[0-9a-fA-F]+|\d+)'
    return [number(text, bits) for text in re.findall(numbers, ours)] == [
        number(text, bits) for text in re.findall(numbers, re.sub(r'^\(.*\) ', '', theirs))]


def address_of(program, offset):
    """Where the linker put a byte of the program's file."""
    for line in subprocess.run(['readelf', '-lW', program], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if words[:1] == ['LOAD'] and 0 <= offset - int(words[1], 16) < int(words[4], 16):
            return offset - int(words[1], 16) + int(words[2], 16)
    raise AssertionError(f'no segment has {offset:#x}')


def gdb_values(program, address, expressions, stops, frame):
    """Of each stop at the address the values of (expression, is a string); frame: in this function, not in what was
    inlined into it."""
    commands = ['set confirm off', 'set print address off', 'set print elements 0', 'set print repeats 0',
                'set print frame-arguments none', f'break *{address:#x}', 'run one two']
    for _ in range(stops):
        commands += [f"python [gdb.execute('up', to_string=True) for _ in range(9) "
                     f"if not (gdb.selected_frame().name() or '').startswith('{frame}')]"] if frame else []
        for expression, is_string in expressions:
            commands += [f'printf "@@%s\\n", {expression}'] if is_string else [
                'echo @@', f'output/d {expression}', 'echo \\n']
        commands.append('continue')
    words = [word for command in commands for word in ('-ex', command)]
    result = subprocess.run(['gdb', '-batch', '-nx', *words, program], capture_output=True, text=True, check=False, timeout=120)
    values = [line.split('@@', 1)[1] for line in result.stdout.splitlines() if '@@' in line]
    if len(values) != stops * len(expressions) and 'ptrace' in result.stderr:
        pytest.skip(f'gdb may not trace here: {result.stderr.strip()[:200]}')
    assert len(values) == stops * len(expressions), result.stdout + result.stderr
    return [values[i:i + len(expressions)] for i in range(0, len(values), len(expressions))]


def compare_with_gdb(tally, tmp_path, program, point, arguments, frame=None):
    """Records a probe, and compares each value of its samples with gdb's at the same stop."""
    pairs = [argument if isinstance(argument, tuple) else (argument, argument.split(':')[0]) for argument in arguments]
    group = f'w{os.getpid()}_vars'
    asked = ' '.join([point] + [f'v{i}={pair[0]}' for i, pair in enumerate(pairs)])
    definition = tally('probe', '-x', program, '-D', f'{group}:at={asked}', check=0).stdout.split('\n')[0]
    kinds = [word.rsplit(':', 1)[1] for word in definition.split(' ')[2:]]
    assert len(kinds) == len(pairs)
    address = address_of(program, int(re.search(r':0x([0-9a-f]+) ', definition)[1], 16))
    data = tmp_path / 'perf.data'
    tally('probe', '-q', '-x', program, '--add', f'{group}:at={asked}', check=0)
    try:
        tally('record', '-q', '-o', data, '-e', f'{group}:at', program, 'one', 'two', check=0)
    finally:
        tally('probe', '-q', '--del', f'{group}:*')
    lines = tally('script', '-i', data, '-F', 'trace', check=0).stdout.splitlines()
    # The event has all places of the point; gdb stops at one.
    samples = [dict(re.findall(r'\b(v\d+)=("[^"]*"|\{[^}]*\}|\S+)', line)) for line in lines if f'({address:x})' in line]
    assert samples
    expressions = [(pair[1], kind == 'string') for pair, kind in zip(pairs, kinds)]
    for sample, values in zip(samples, gdb_values(program, address, expressions, len(samples), frame)):
        for i, value in enumerate(values):
            assert same_value(kinds[i], sample[f'v{i}'], value), \
                f'{pairs[i][0]} ({definition.split(" ")[2 + i]}): the probe has {sample[f"v{i}"]}, gdb {value}'
    return len(samples)


@pytest.mark.parametrize('how', C_BUILDS, ids=' '.join)
def test_values_of_c_are_gdbs(tally, tmp_path, how):
    needs_probes()
    program = build(tmp_path, *how)
    assert compare_with_gdb(tally, tmp_path, program, 'sum', C_SUM) == 3
    assert compare_with_gdb(tally, tmp_path, program, 'many', C_MANY) == 1
    assert compare_with_gdb(tally, tmp_path, program, 'pass', C_PASS) == 1


@pytest.mark.parametrize('how', C_BUILDS, ids=' '.join)
def test_values_inside_of_c_are_gdbs(tally, tmp_path, how):
    needs_probes()
    program = build(tmp_path, *how)
    inside = ['p->value', 'p->name:string', 'v', 'c', 'id', 'total']
    assert compare_with_gdb(tally, tmp_path, program, 'sum:5', inside[:2]) > 0
    if '-O0' in how:
        assert compare_with_gdb(tally, tmp_path, program, 'sum:6', inside) > 0
        assert compare_with_gdb(tally, tmp_path, program, 'square', ['x']) == 1


@pytest.mark.parametrize('how', [('g++', '-O0'), ('g++', '-O2'), ('clang++', '-O0'), ('clang++', '-O2')], ids=' '.join)
def test_values_of_cpp_are_gdbs(tally, tmp_path, how):
    needs_probes()
    program = build(tmp_path, *how)
    assert compare_with_gdb(tally, tmp_path, program, 'cost', CPP_COST, 'shop::Item::cost') == 1
    assert compare_with_gdb(tally, tmp_path, program, 'pick', CPP_PICK, 'shop::pick') == 1


@pytest.mark.parametrize('how', [('rustc', '-Copt-level=0'), ('rustc', '-Copt-level=2')], ids=' '.join)
def test_values_of_rust_are_gdbs(tally, tmp_path, how):
    needs_probes()
    program = build(tmp_path, *how)
    assert compare_with_gdb(tally, tmp_path, program, 'visit', RUST_VISIT) == 2


def test_static_data_of_what_is_loaded_anywhere(tally, tmp_path):
    """A position-independent program and a library: gdb is not needed, the program prints what it has."""
    needs_probes()
    (tmp_path / 'lib.c').write_text('int level = 5; int step(int by) { return level += by; }')
    (tmp_path / 'main.c').write_text('#include <stdio.h>\nint step(int); static int seen = 1;\n'
                                     '__attribute__((noinline)) void show(int x) { seen += x; __asm__(""); }\n'
                                     'int main(void) { for (int i = 1; i < 4; i++) show(step(i)); printf("%d\\n", seen); }')
    subprocess.run(['gcc', '-g', '-O1', '-shared', '-fPIC', '-o', 'lib.so', 'lib.c'], cwd=tmp_path, check=True)
    subprocess.run(['gcc', '-g', '-O1', '-pie', '-fPIE', '-Wl,-rpath,$ORIGIN', '-o', 'app', 'main.c', '-L.', '-l:lib.so'],
                   cwd=tmp_path, check=True)
    group = f'w{os.getpid()}_data'
    data = tmp_path / 'perf.data'
    try:
        tally('probe', '-q', '-x', tmp_path / 'lib.so', '--add', f'{group}:step=step by level again=@level:s32', check=0)
        tally('probe', '-q', '-x', tmp_path / 'app', '--add', f'{group}:show=show x seen', check=0)
        tally('record', '-q', '-o', data, '-e', f'{group}:*', tmp_path / 'app', check=0)
    finally:
        tally('probe', '-q', '--del', f'{group}:*')
    shown = re.findall(r'(\w+)=(-?\d+)', tally('script', '-i', data, '-F', 'trace', check=0).stdout)
    assert shown == [pair for i, (level, seen) in enumerate(((5, 1), (6, 7), (8, 15)), 1) for pair in (
        ('by', str(i)), ('level', str(level)), ('again', str(level)), ('x', str(level + i)), ('seen', str(seen)))]
