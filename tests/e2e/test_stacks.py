# SPDX-License-Identifier: Apache-2.0
"""Stack dumps (perf record --call-graph dwarf) become call chains when they are read: beside perf's own."""
import collections
import json
import math
import re
import shutil
import subprocess

import pytest

from conftest import compiled
from page import page_data

# Recursion by templates, a virtual call, an exception that is thrown and caught, a callback from libstdc++'s sort.
PROGRAM = r'''
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>
static volatile double sink;
template <int N> __attribute__((noinline)) double deep(double x, int n)
{
	if (n == 0) {
		double s = 0;
		for (int i = 0; i < 300; i++)
			s += std::sqrt(x + i);
		return s;
	}
	return deep<(N + 1) % 5>(x + 1, n - 1) + N;
}
struct Base { virtual ~Base() {} virtual double run(int n) = 0; };
static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
struct A : Base {
	__attribute__((noinline)) double run(int n) override
	{
		std::vector<int> v(200);
		for (size_t i = 0; i < v.size(); i++)
			v[i] = (int)((i * 7919u + (unsigned)n) % 1009);
		qsort(v.data(), v.size(), sizeof(int), by_value);
		return v[n % 200] + deep<0>(n, n % 25);
	}
};
struct B : Base {
	__attribute__((noinline)) double run(int n) override
	{
		try {
			throw n;
		} catch (int e) {
			return deep<1>(e, 5);
		}
	}
};
int main()
{
	A a;
	B b;
	Base *p[2] = {&a, &b};
	for (int i = 0; i < 60000; i++)
		sink = p[i & 1]->run(i);
}
'''


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    for tool in ('g++', 'perf'):
        if not shutil.which(tool):
            pytest.skip(f'{tool} is missing')
    folder = tmp_path_factory.mktemp('stacks')
    (folder / 'program.cc').write_text(PROGRAM)
    subprocess.run(['g++', '-O2', '-g', '-fomit-frame-pointer', '-o', folder / 'program', folder / 'program.cc'], check=True)
    made = subprocess.run(['perf', 'record', '-q', '--call-graph', 'dwarf', '-F', '499', '-e', 'cpu-clock:u', '-o',
                           folder / 'perf.data', folder / 'program'], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f'perf cannot record stacks here: {made.stderr.strip()}')
    return folder / 'perf.data'


def chains(text):
    """Of each sample its addresses, innermost first."""
    found = []
    for line in text.splitlines():
        if line.strip() and not line[0].isspace():
            found.append([])
        elif line.strip():
            found[-1].append(int(line.split()[0], 16))
    return found


FIELDS = ['script', '--no-inline', '-F', 'comm,ip,sym']


def test_chains_are_those_of_perf(tally, newest_perf, recording):
    """Address by address, a caller's being its return address minus one. Older ones print offsets in files."""
    theirs = chains(newest_perf(*FIELDS, '-i', recording, check=0).stdout)
    ours = chains(tally(*FIELDS, '-i', recording).stdout)
    assert len(ours) == len(theirs) > 20
    different = [(mine, perfs) for mine, perfs in zip(ours, theirs) if mine != perfs]
    # Code that runs once at the end, without call-frame information (__do_global_dtors_aux): one sample in 18,000. And perf's
    # chains end inside of the thrower's own unwinder now and then: four samples in 12,800.
    shorter = [sorted(pair, key=len) for pair in different]
    assert [(short, long) for short, long in shorter if short != long[:len(short)]] == []
    assert len(different) <= 2
    assert sum(len(mine) < len(perfs) for mine, perfs in different) <= 1
    assert max(map(len, ours)) > 10


def test_all_are_complete(tally, recording):
    result = tally('report', '--stdio', '-g', 'folded', '--no-children', '-i', recording)
    samples = len(chains(tally(*FIELDS, '-i', recording).stdout))
    assert f'% of {samples} stack dumps are complete' in result.stderr
    stacks = json.loads(tally('health', '--json', recording).stdout)['stacks']
    assert stacks['total'] == samples
    assert stacks['complete'] + stacks['no_frame_information'] == samples and stacks['no_frame_information'] <= 1


def test_max_stack_is_a_bound(tally, recording):
    whole = chains(tally(*FIELDS, '-i', recording).stdout)
    cut = chains(tally(*FIELDS, '--max-stack', '3', '-i', recording).stdout)
    assert cut == [chain[:3] for chain in whole]


def test_converted_chains_are_the_same(tally, recording, tmp_path):
    whole = chains(tally(*FIELDS, '-i', recording).stdout)
    result = tally('data', 'convert', '--to-json', tmp_path / 'out.json', '-i', recording)
    assert result.returncode == 0, result.stderr
    samples = json.loads((tmp_path / 'out.json').read_text())['samples']
    assert [[int(frame['ip'], 16) for frame in sample['callchain']] for sample in samples] == whole


def test_missing_files_are_the_reason(tally, recording, tmp_path):
    """Without the program's call-frame information a stack is not complete, and that is said."""
    result = tally('script', '--symfs', tmp_path, '-i', recording)
    assert re.search(r'note: [0-9.]+% of \d+ stack dumps are complete \(.*no call-frame information', result.stderr)


def paths(data):
    """Share of each path of calls, as stock perf reads them."""
    text = subprocess.run(['perf', 'script', '--no-inline', '-F', 'comm,ip,sym', '-i', data], capture_output=True,
                          text=True, check=True).stdout
    counts = collections.Counter()
    for sample in re.split(r'\n\n', text):
        frames = [line.split(None, 1)[-1] for line in sample.splitlines() if line[:1].isspace()]
        if frames:
            counts[tuple(frames)] += 1
    return counts


def test_stock_perf_sees_the_same_hot_paths_in_a_live_recording(tally, recording, tmp_path):
    """Beside perf's recording of stacks: the top 20 within a point, or four standard deviations of so few samples."""
    program, common = recording.parent / 'program', ['--call-graph', 'dwarf', '-F', '3999', '-e', 'cpu-clock:u']
    subprocess.run(['perf', 'record', '-q', *common, '-o', tmp_path / 'theirs', program], check=True, capture_output=True)
    result = tally('record', '-q', *common, '-o', tmp_path / 'ours', program)
    assert result.returncode == 0, result.stderr
    theirs, ours = paths(tmp_path / 'theirs'), paths(tmp_path / 'ours')
    all_theirs, all_ours = sum(theirs.values()), sum(ours.values())
    assert min(all_theirs, all_ours) > 100
    far = []
    for path, count in theirs.most_common(20):
        share, own = count / all_theirs, ours[path] / all_ours
        mean = (count + ours[path]) / (all_theirs + all_ours)
        deviation = math.sqrt(mean * (1 - mean) * (1 / all_theirs + 1 / all_ours))
        if abs(share - own) > max(0.01, 4 * deviation):
            far.append((path, share, own))
    assert far == []


THREADS = '''
#include <pthread.h>
volatile long g;
__attribute__((noinline)) void leaf(long n) { for (volatile long i = 0; i < n; i++) ; g++; }
static void *work(void *a) { for (int i = 0; i < 20; i++) leaf(5000000); return a; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	work(0);
	pthread_join(t, 0);
	return 0;
}
'''
OWN_START = '''
volatile long g;
__attribute__((noinline)) void leaf(long n) { for (volatile long i = 0; i < n; i++) ; g++; }
__attribute__((noinline)) void middle(long n) { leaf(n); g++; }
void begin(void)
{
	for (int i = 0; i < 20; i++)
		middle(5000000);
#ifdef __x86_64__
	__asm__ volatile("syscall" : : "a"(231), "D"(0));
#else
	__builtin_trap();
#endif
}
'''


@pytest.mark.parametrize('source, flags', [
    (THREADS, ['-pthread']), (THREADS, ['-pthread', '-s']), (THREADS, ['-pthread', '-static', '-s']),
    (OWN_START, ['-nostdlib', '-static', '-e', 'begin']), (OWN_START, ['-nostdlib', '-static', '-e', 'begin', '-s'])],
    ids=['named', 'stripped', 'static', 'own', 'own stripped'])
def test_what_threads_begin_in_needs_no_name(live, tally, tmp_path, source, flags):
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    program = compiled('p.c', source, '-O1', '-fomit-frame-pointer', *flags, compiler='cc')
    data = tmp_path / 'data'
    tally('record', '-q', '--call-graph', 'dwarf', '-e', 'cpu-clock:u', '-F', 1000, '-o', data, program)
    svg = tally('flamegraph', '--svg', '-o', '-', '-i', data, check=0)
    share = re.search(r'([\d.]+)% of stacks are known to be complete', svg.stdout + svg.stderr)
    assert share and float(share[1]) > 95
    page = page_data(tally('flamegraph', '-o', '-', '-i', data, check=0).stdout)
    starts = [label for label in page['labels'] if len(label) > 3 and label[3] == 1]
    assert starts and all(label[0] == '[p]' for label in starts if '-static' in flags and '-s' in flags)
