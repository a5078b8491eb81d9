# SPDX-License-Identifier: Apache-2.0
"""Callers are what holds the call, also where the call is the last instruction of what it is in: recordings by frame pointer."""
import json
import re
import shutil
import subprocess

import pytest

import perfdata_build

LAST = '''
#include <unistd.h>
volatile long g;
__attribute__((noinline, noreturn)) void serve(void)
{
	for (long k = 0;; k++) {
		for (volatile int i = 0; i < 20000; i++)
			;
		g = k;
		if (k > 8000)
			_exit(0);
	}
}
__attribute__((noinline)) void start_serving(void) { g = 1; serve(); }
__attribute__((noinline)) void neighbour(void) { g = 2; }
int main(int c, char **v) { if (c > 5) neighbour(); start_serving(); }
'''
BEHIND = '''
volatile long g;
__attribute__((noinline)) void heavy(int n) { for (volatile int i = 0; i < n; i++); g++; }
static inline __attribute__((always_inline)) void behind(long v)
{
	g = g + v;
	g = g * 3;
}
__attribute__((noinline)) void outer(int n)
{
	long v = g;
	heavy(n);
	behind(v);
}
int main(void) { for (int i = 0; i < 200; i++) outer(1000000); }
'''
SIGNAL = '''
#include <signal.h>
#include <unistd.h>
volatile long g;
__attribute__((noinline)) void heavy(int n) { for (volatile int i = 0; i < n; i++); g++; }
__attribute__((noinline)) void handler(int s) { heavy(2000000); g++; }
__attribute__((noinline)) void outer(void) { for (int i = 0; i < 100; i++) { kill(getpid(), SIGUSR1); g++; } }
int main(void) { signal(SIGUSR1, handler); outer(); return 0; }
'''


def record(tally, folder, source, *flags):
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    (folder / 'p.c').write_text(source)
    subprocess.run(['cc', '-O1', '-g', '-fno-omit-frame-pointer', *flags, 'p.c', '-o', 'p'], cwd=folder, check=True)
    data = folder / 'data'
    tally('record', '-q', '-g', '-e', 'cpu-clock:u', '-F', 1000, '-o', data, folder / 'p', check=0)
    return data


def chains(text):
    """Of script: (address, name) of each frame, innermost first."""
    found = []
    for sample in re.split(r'\n\s*\n', text):
        frames = [re.match(r'\s+([0-9a-f]+) (\S+)', line) for line in sample.splitlines()]
        found.append([(int(frame[1], 16), frame[2]) for frame in frames if frame])
    return [chain for chain in found if chain]


def folded(tally, data, *options):
    return [line.rsplit(' ', 1)[0].split(';')
            for line in tally('flamegraph', '--folded', *options, '-i', data, check=0).stdout.splitlines()]


def test_a_call_that_ends_its_function(live, tally, tmp_path):
    data = record(tally, tmp_path, LAST)
    assert any(stack[-2:] == ['start_serving', 'serve'] for stack in folded(tally, data))
    for arguments in (('flamegraph', '--folded'), ('report', '--stdio', '--children'), ('report', '--stdio', '-g', 'caller'),
                      ('report', '--stdio', '-g', 'caller,0.5,address', '--no-children'), ('script', '-F', 'ip,sym'),
                      ('export', '-F', 'json', '-o', '-'), ('export', '-F', 'firefox', '-o', '-'),
                      ('script', '-F', 'ip,sym,srcline')):
        text = tally(*arguments, '-i', data, check=0).stdout
        assert 'start_serving' in text and 'neighbour' not in text, arguments
    offset = re.search(r'start_serving\+0x([0-9a-f]+)', tally('script', '-F', 'ip,sym,symoff', '-i', data, check=0).stdout)
    size = next(int(line.split()[2], 0) for line in subprocess.run(
        ['readelf', '-sW', tmp_path / 'p'], capture_output=True, text=True, check=True).stdout.splitlines()
        if line.endswith(' start_serving'))
    assert int(offset[1], 16) == size
    rows = tally('annotate', '--stdio', 'neighbour', '-i', data).stdout
    assert not re.search(r'^\s+\d+\.\d+ ', rows, re.M)


def test_addresses_are_those_of_perf(live, tally, newest_perf, tmp_path):
    data = record(tally, tmp_path, LAST)
    ours = chains(tally('script', '--no-inline', '-F', 'ip,sym', '-i', data, check=0).stdout)
    theirs = chains(newest_perf('script', '--no-inline', '-F', 'ip,sym', '-i', data, check=0).stdout)
    assert len(ours) > 20
    assert [[ip for ip, _ in chain] for chain in ours] == [[ip for ip, _ in chain] for chain in theirs]


def test_what_was_inlined_behind_a_call(live, tally, tmp_path):
    data = record(tally, tmp_path, BEHIND, '-O2')
    stacks = [stack for stack in folded(tally, data) if stack[-1] == 'heavy']
    assert stacks and all(stack[-2] == 'outer' for stack in stacks)
    lines = tally('script', '-F', 'ip,sym,srcline', '-i', data, check=0).stdout
    call = 1 + BEHIND.splitlines().index('\theavy(n);')
    assert set(re.findall(r'outer\n\s+p\.c:(\d+)', lines)) == {str(call)}
    text = tally('data', 'convert', '--to-json', tmp_path / 'json', '-i', data, check=0)
    symbols = [[frame.get('symbol') for frame in sample['callchain']]
               for sample in json.loads((tmp_path / 'json').read_text())['samples']]
    assert any(chain[:2] == ['heavy', 'outer'] for chain in symbols), text.stderr


def test_what_a_signal_handler_returns_to(live, tally, tmp_path):
    data = record(tally, tmp_path, SIGNAL, '-static')
    if '__restore_rt' not in subprocess.run(['nm', tmp_path / 'p'], capture_output=True, text=True, check=True).stdout:
        pytest.skip('this C library has no __restore_rt')
    stacks = [stack for stack in folded(tally, data) if stack[-1] == 'heavy']
    assert stacks and all(stack[-3:] == ['__restore_rt', 'handler', 'heavy'] for stack in stacks)


def test_a_kernel_function_interrupted_at_its_start_is_itself(tally, tmp_path):
    """The kernel's code is not known here, but that padding lies before the function, in which no call ends."""
    begin = 0xffffffff81000000
    (tmp_path / 'list').write_text(f'{begin:x} T _text\n{begin:x} T _stext\n{begin + 0x100:x} T leaf\n'
                                   f'{begin + 0x1f0:x} T __pfx_stopped\n{begin + 0x200:x} T stopped\n'
                                   f'{begin + 0x300:x} T caller\n{begin + 0x400:x} T other\n{begin + 0x500:x} T last\n')
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME CALLCHAIN')
    recording.record(1, 1, recording.pack('iIQQQ', -1, 0, begin, 0x1000000, begin) +
                     recording.name('[kernel.kallsyms]_text') + recording.trailer())
    recording.comm('program')
    recording.sample(misc=1, ip=begin + 0x110, callchain=[(1 << 64) - 128, begin + 0x110, begin + 0x200, begin + 0x350,
                                                          begin + 0x500])
    recording.write(tmp_path / 'data')
    shown = tally('script', '-i', 'data', '--kallsyms', 'list', '-F', 'ip,sym,symoff', cwd=tmp_path, check=0).stdout
    # Without padding the return address of a call at the function's end is its own.
    assert [line.split()[1] for line in shown.splitlines() if line.strip()] == [
        'leaf+0x10', 'stopped+0x0', 'caller+0x50', 'other+0x100']
