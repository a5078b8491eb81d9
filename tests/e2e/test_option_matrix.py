# SPDX-License-Identifier: Apache-2.0
"""The same option has the same effect in every verb that reads a recording.

tests/unit/cli/shared_options.c compares the tables of options, and sees that a verb refuses by name what it does not take.
One recording of two threads: alpha runs burn on CPU 0 and enters the kernel, beta runs spin on CPU 1, later. The library
with both functions is only below a root of its own, so that nothing has a name without --symfs.
"""
import os
import shutil
import subprocess

import pytest

import kernel_build
import perfdata_build

SOURCE = '''
namespace deep { struct box {
	static unsigned long burn(unsigned long n); static unsigned long spin(unsigned long n); }; }
volatile unsigned long sink;
unsigned long deep::box::burn(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; return sink; }
unsigned long deep::box::spin(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink ^= i; return sink; }
'''
BASE = 0x7f0000000000
BURN, SPIN = '_ZN4deep3box4burnEm', '_ZN4deep3box4spinEm'
OWNER = 12345  # of nobody's

# s: the verb takes symbols from --symfs, --vmlinux, --kallsyms and -k; p: it reads -i -. OUT stands for a path.
VERBS = {
    'report': ('report --stdio', 'sp'),
    'script': ('script', 'sp'),
    'annotate': ('annotate --stdio', 'sp'),
    'diff': ('diff', 's'),
    'export': ('export -F folded', 'sp'),
    'flamegraph': ('flamegraph --folded', 'sp'),
    'query': ('query --csv "select distinct symbol from frames"', 'sp'),
    'data': ('data convert --to-json OUT', 'sp'),
    'c2c': ('c2c report --stdio --full-symbols', 'sp'),
    'mem': ('mem report', 'sp'),
    'mem-dump': ('mem report -D', 'sp'),
    'pack': ('pack -o OUT', 'sp'),
    'inject': ('inject -o OUT', 'sp'),
    'sched-timehist': ('sched timehist', 'sp'),
    'sched-latency': ('sched latency', 'p'),
    'sched-map': ('sched map', 'p'),
    'lock-report': ('lock report', 'sp'),
    'kmem': ('kmem stat', 'sp'),
    'timechart': ('timechart -o OUT', 'sp'),
    'evlist': ('evlist', 'p'),
    'buildid-list': ('buildid-list', 'p'),
    'health': ('health', 'p'),
}
# -k is something else there, as in perf.
TAKEN = {('lock-report', '-k')}
# What shows the functions that were hit; mem -D has addresses.
SHOWN = ['report', 'script', 'annotate', 'diff', 'export', 'flamegraph', 'query', 'data', 'c2c', 'mem']
CHOICES = {'--time': '1.9,2.1', '--cpu': '1', '--pid': '2000', '--tid': '2000', '--comms': 'beta'}


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    """The folder of the recording, for all cases, which change nothing in it but out."""
    tmp_path = tmp_path_factory.mktemp('matrix')
    if not shutil.which('g++') or os.uname().machine != 'x86_64':
        pytest.skip('needs g++ that compiles for x86-64')
    root = tmp_path / 'root'
    place = root / str(tmp_path)[1:] / 'gone'
    place.mkdir(parents=True)
    (tmp_path / 'box.cc').write_text(SOURCE)
    library = place / 'libbox.so'
    subprocess.run(['g++', '-shared', '-fPIC', '-O1', '-g', '-nostdlib', '-Wl,--build-id=none', '-o', library, 'box.cc'],
                   cwd=tmp_path, check=True)
    (tmp_path / 'box.cc').unlink()  # annotate would show all of its lines
    kernel_build.compile_files(tmp_path)
    kernel = kernel_build.symbols(tmp_path / 'vmlinux')['schedule'][0] - kernel_build.LINKED + kernel_build.RAN
    (tmp_path / 'list').write_text(f'{kernel_build.RAN:x} T _text\n{kernel_build.RAN:x} T _stext\n{kernel:x} T zz_listed\n')
    r = perfdata_build.Recording()
    r.event('IDENTIFIER IP TID TIME ADDR CPU PERIOD DATA_SRC WEIGHT')
    r.record(1, 1, r.pack('iIQQQ', -1, 0, kernel_build.RAN, 0x1000000, kernel_build.RAN) +
             kernel_build.pad_name('[kernel.kallsyms]_text') + r.trailer())
    for pid, name in ((1000, 'alpha'), (2000, 'beta')):
        r.record(3, 0, r.pack('II', pid, pid) + r.name(name) + r.trailer())
        r.record(1, 2, r.pack('IIQQQ', pid, pid, BASE, 0x5000, 0) + r.name(str(tmp_path / 'gone' / 'libbox.so')) +
                 r.trailer())
    code = kernel_build.symbols(library)
    source = 0x2 | 0x42 << 5 | 0x10 << 19  # a load that hit the third cache, in a line that another CPU had changed
    for pid, cpu, second, ip, misc in ((1000, 0, 1.0, BASE + code[BURN][0] + 4, 2), (1000, 0, 1.5, kernel, 1),
                                       (2000, 1, 2.0, BASE + code[SPIN][0] + 4, 2)):
        r.sample(misc=misc, ip=ip, tid=(pid, pid), time=int(second * 10**9), cpu=cpu, addr=0x600000, data_src=source, weight=7)
    body = r.pack('i', -1) + bytes.fromhex(kernel_build.KERNEL_ID) + bytes([20, 0, 0, 0])
    body += kernel_build.pad_name('[kernel.kallsyms]')
    r.feature(2, r.pack('IHH', 0, 1 | 1 << 15, 8 + len(body)) + body)
    r.text_feature(4, '1.2.3-toy')
    r.feature(14, r.pack('IIQQI', 1, 0, 100, 50, 64) + b'0-3'.ljust(64, b'\0'))
    r.write(tmp_path / 'data')
    return tmp_path


def run(tally, folder, verb, *options, source='data', stdin=None):
    """The result, and all that the verb wrote."""
    words = VERBS[verb][0].split('"')
    words = words[0].split() + words[1:2]
    out = folder / 'out'
    out.unlink(missing_ok=True)
    words = [str(out) if word == 'OUT' else word for word in words]
    if verb == 'diff':
        words += [*options, source, source]
    else:
        query = [words.pop()] if verb == 'query' else []
        words += ['-i', source, *options, *query]
    result = tally(*words, cwd=folder, text=False, stdin=stdin)
    text = result.stdout.decode(errors='replace')
    if out.exists():
        text += out.read_bytes().decode(errors='replace')
    return result, text


@pytest.mark.parametrize('verb', SHOWN)
def test_names_come_from_where_the_options_say(tally, recording, verb):
    def shown(*options):
        result, text = run(tally, recording, verb, '--symfs', 'root', *options)
        assert result.returncode == 0, result.stderr
        return text
    assert 'burn' not in run(tally, recording, verb)[1]
    plain = shown()
    assert 'burn' in plain and BURN not in plain and 'zz_listed' not in plain
    assert BURN in shown('--no-demangle') and BURN not in shown('--demangle')
    # annotate shows code, which a list of symbols has not.
    for option in (['-k', 'vmlinux'], ['--vmlinux', 'vmlinux']):
        assert 'schedule' in shown(*option), option
        if verb != 'annotate':
            assert 'schedule' not in plain
    if verb != 'annotate':
        assert 'zz_listed' in shown('--kallsyms', 'list')
    assert 'burn' in shown('--ignore-vmlinux')


@pytest.mark.parametrize('verb', SHOWN)
@pytest.mark.parametrize('option', CHOICES)
def test_samples_are_chosen_by_the_same_options(tally, recording, verb, option):
    result, text = run(tally, recording, verb, '--symfs', 'root', option, CHOICES[option])
    assert result.returncode == 0, result.stderr
    assert 'spin' in text
    if verb != 'query':  # functions are there, samples are chosen
        assert 'burn' not in text


@pytest.mark.parametrize('option', CHOICES)
def test_accesses_are_chosen_by_the_same_options(tally, recording, option):
    result, text = run(tally, recording, 'mem-dump', option, CHOICES[option])
    assert result.returncode == 0
    assert [line.split()[0] for line in text.splitlines() if not line.startswith('#')] == ['2000']


@pytest.mark.parametrize('verb', [verb for verb in VERBS if 's' in VERBS[verb][1]])
def test_files_of_symbols_that_are_absent_are_named(tally, recording, verb):
    assert run(tally, recording, verb, '--symfs', 'root')[0].returncode != 129
    for option in ('--vmlinux', '-k', '--kallsyms'):
        if (verb, option) not in TAKEN:
            result, _ = run(tally, recording, verb, option, 'absent-file')
            assert result.returncode == 255 and b'absent-file' in result.stderr, (option, result.stderr)


@pytest.mark.parametrize('verb', VERBS)
def test_a_file_of_another_user_needs_force(tally, recording, tmp_path, verb):
    if os.geteuid() != 0:
        pytest.skip('only root can give a file away')
    theirs = shutil.copy(recording / 'data', tmp_path / 'theirs')
    os.chown(theirs, OWNER, OWNER)
    refused, _ = run(tally, recording, verb, source=theirs)
    assert refused.returncode == 255 and b'not owned by current user' in refused.stderr
    for option in ('-f', '--force'):
        allowed, _ = run(tally, recording, verb, option, source=theirs)
        assert b'not owned' not in allowed.stderr and allowed.returncode != 129


@pytest.mark.parametrize('verb', [verb for verb in VERBS if 'p' in VERBS[verb][1]])
def test_a_recording_comes_from_standard_input(tally, recording, verb):
    data = (recording / 'data').read_bytes()
    file, from_file = run(tally, recording, verb)
    pipe, from_pipe = run(tally, recording, verb, source='-', stdin=data)
    assert pipe.returncode == file.returncode, pipe.stderr
    assert pipe.returncode == 0 or (b'Have you run' in pipe.stderr or b'record' in pipe.stderr), pipe.stderr
    if verb in SHOWN and verb != 'data':
        assert [line for line in from_pipe.splitlines() if not line.startswith('#')] == [
            line for line in from_file.splitlines() if not line.startswith('#')]
