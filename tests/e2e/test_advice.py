# SPDX-License-Identifier: Apache-2.0
"""What a report tells to record otherwise: broken call chains, runtimes that name nothing, cgroups that nobody recorded."""
import os
import shutil
import subprocess

import pytest

from perfdata_build import CHAIN_USER, Recording

ADVICE = '--call-graph dwarf'
SOURCE = '''
volatile long g;
__attribute__((noinline)) long leaf(long n, long k)
{
	long a = n, b = k, c = n ^ k, d = 3, e = 5;
	for (volatile long i = 0; i < n; i++) {
		a += b * c;
		b ^= a + d;
		c += e;
		d *= a;
		e ^= b;
	}
	return a + b + c + d + e;
}
__attribute__((noinline)) long mid(long n)
{
	g += leaf(n, g);
	return g;
}
int main(void)
{
	for (int i = 0; i < 40; i++)
		g += mid(3000000);
	return 0;
}
'''


def built(folder, flag):
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    (folder / 'p.c').write_text(SOURCE)
    subprocess.run(['gcc', '-O2', flag, folder / 'p.c', '-o', folder / 'p'], check=True)
    return folder / 'p'


@pytest.mark.parametrize('flag, is_told', [('-fomit-frame-pointer', True), ('-fno-omit-frame-pointer', False)])
def test_broken_call_chains(tally, live, tmp_path, flag, is_told):
    file = tmp_path / 'd'
    recorded = tally('record', '-g', '-F', '500', '-e', 'cpu-clock:u', '-o', file, '--', built(tmp_path, flag), check=0)
    assert (ADVICE in recorded.stderr) == is_told
    assert (ADVICE in tally('report', '--stdio', '-i', file, check=0).stderr) == is_told
    health = tally('health', file)
    assert 'stop after one or two functions' in health.stdout and (ADVICE in health.stdout) == is_told
    assert '"call_chains"' in tally('health', '--json', file).stdout


@pytest.mark.parametrize('strip', ['-s', '-g'])
@pytest.mark.parametrize('flag', ['-fno-omit-frame-pointer', '-fomit-frame-pointer'])
def test_static_programs(tally, live, tmp_path, flag, strip):
    """Where they begin the chain may go on by mistake; without names nothing tells that a deep one is whole, nor broken."""
    file, program = tmp_path / 'd', tmp_path / 'p'
    built(tmp_path, flag)
    if subprocess.run(['gcc', '-O2', flag, '-static', strip, tmp_path / 'p.c', '-o', program], check=False).returncode:
        pytest.skip('there is no static C library')
    tally('record', '-q', '-g', '-F', '500', '-e', 'cpu-clock:u', '-o', file, '--', program, check=0)
    notes = tally('report', '--stdio', '-i', file, check=0).stderr
    assert (ADVICE in notes) == (flag == '-fomit-frame-pointer')
    assert ('; 100% of stacks are known to be complete' in notes) == (flag == '-fno-omit-frame-pointer' and strip == '-g')


def test_other_call_chains_are_not_advised_about(tally, live, tmp_path):
    file, program = tmp_path / 'd', built(tmp_path, '-fomit-frame-pointer')
    for words in (['--call-graph', 'dwarf'], []):  # none at all, neither
        recorded = tally('record', *words, '-F', '500', '-e', 'cpu-clock:u', '-o', file, '--', program, check=0)
        shown = recorded.stderr + tally('report', '--stdio', '-i', file, check=0).stderr + tally('health', file).stdout
        assert 'frame pointers' not in shown


def recording_of(path, program, generated, count=100):
    """Samples in a program (its name matters) and in memory that it mapped for code; generated: how many of 100."""
    recording = Recording()
    recording.event('IP TID TIME PERIOD CALLCHAIN')
    recording.comm('main')
    recording.mmap(0x400000, 0x1000, program)
    recording.mmap(0x800000, 0x1000, '//anon')
    for i in range(count):
        ip = 0x800010 if i < generated else 0x400010
        recording.sample(ip=ip, time=i, period=1, callchain=[CHAIN_USER, ip, 0x400020])
    recording.write(path)


@pytest.mark.parametrize('program, generated, flag', [
    ('/usr/bin/node', 90, '--perf-basic-prof'), ('/opt/x/libnode.so.108', 90, '--perf-basic-prof'),
    ('/usr/lib/jvm/lib/server/libjvm.so', 90, 'DumpPerfMapAtExit'), ('/usr/lib/erlang/bin/beam.smp', 90, '+JPperf'),
    ('/usr/share/dotnet/libcoreclr.so', 90, 'DOTNET_PerfMapEnabled'), ('/usr/bin/ruby3.3', 90, '--yjit-perf'),
    ('/usr/bin/python3.12', 0, '-X perf'), ('/usr/lib/libpython3.13.so.1.0', 0, '-X perf'),
    ('/usr/bin/python3.11', 0, None), ('/usr/bin/node', 5, None), ('/usr/bin/nodename', 90, None),
    ('/usr/bin/phpunit', 90, None), ('/usr/bin/other', 90, None)])
def test_runtimes(tally, tmp_path, program, generated, flag):
    file = tmp_path / 'd'
    recording_of(file, program, generated)
    for words in (['report', '--stdio', '-i', file], ['flamegraph', '--folded', file]):
        told = tally(*words, check=0).stderr
        assert (flag in told) if flag else 'generated code without' not in told and 'interpreter' not in told


def test_code_that_is_named_is_not_advised_about(tally, live, tmp_path):
    node = shutil.which('node')
    if not node:
        pytest.skip('node is not installed')
    script = tmp_path / 'app.js'
    script.write_text('let t=0;for(let k=0;k<60;k++)for(let i=0;i<1000000;i++)t=(t*31+i)%1000003;')
    told = tally('flamegraph', '--folded', '--', node, script, check=0).stderr
    assert '--perf-basic-prof' in told
    told = tally('flamegraph', '--folded', '--', node, '--perf-basic-prof', script, check=0, cwd=tmp_path).stderr
    assert '--perf-basic-prof' not in told


def test_cgroups_that_were_not_recorded(tally, tmp_path):
    file = tmp_path / 'd'
    recording_of(file, '/usr/bin/other', 0)
    assert '--all-cgroups' in tally('report', '--stdio', '-s', 'cgroup', '-i', file, check=0).stderr
    assert '--all-cgroups' not in tally('report', '--stdio', '-s', 'comm', '-i', file, check=0).stderr
    if os.geteuid() == 0 and tally('record', '-q', '--all-cgroups', '-e', 'cpu-clock', '-o', file, '--', 'sh', '-c',
                                   'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done').returncode == 0:
        assert 'record --all-cgroups' not in tally('report', '--stdio', '-s', 'cgroup', '-i', file, check=0).stderr
