# SPDX-License-Identifier: Apache-2.0
"""tally bench: the figures' layouts against perf's, and what each benchmark counts."""
import json
import os
import re
import shutil
import subprocess

import pytest

SMALL = {
    'sched messaging': '-g 1 -l 2', 'sched messaging -t -p': '-g 1 -l 2', 'sched pipe': '-l 20', 'sched pipe -T': '-l 20',
    'syscall basic': '-l 50', 'syscall getpgid': '-l 50', 'mem memcpy -f default': '-s 64KB', 'mem memset -f default': '-s 64KB -k 4KB',
    'mem mmap': '-s 64KB -l 2', 'futex wake': '-t 2', 'futex requeue': '-t 2', 'futex requeue -p': '-t 2',
    'futex wake-parallel': '-t 2 -s', 'futex hash': '-t 2 -r 1 -f 2', 'futex lock-pi': '-t 2 -r 1', 'epoll ctl': '-t 1 -r 1',
    'epoll wait': '-t 1 -r 1', 'uprobe baseline': '-l 2', 'internals kallsyms-parse': '-i 1',
}
HIDDEN = 'the kernel hides its addresses'
# These differ in the function's address or in what a machine lets happen, not in their layout.
LINES = re.compile(r'0x[0-9a-f]+|-?\d+(\.\d+)?|\binf\b|Futex hashing: .*|[GMK]B/sec|bytes/sec')


def layout(text):
    return [LINES.sub('#', line).split() for line in text.splitlines()]


@pytest.mark.parametrize('form', ['default', 'simple'])
@pytest.mark.parametrize('words', SMALL)
def test_the_layout_is_perfs(tally, newest_perf, words, form):
    line = ['bench', '-f', form, *words.split(), *SMALL[words].split()]
    theirs = newest_perf(*line)
    if theirs.returncode:
        pytest.skip(f'perf cannot run it here: {theirs.stderr}')
    ours = tally(*line)
    if HIDDEN in ours.stderr:
        pytest.skip(ours.stderr)
    assert ours.returncode == 0 and layout(ours.stdout) == layout(theirs.stdout), ours.stderr


@pytest.mark.parametrize('words', [*SMALL, 'sched seccomp-notify', 'syscall fork', 'syscall execve', 'breakpoint enable',
                                   'internals synthesize', 'mem find_bit'])
def test_json(tally, words):
    short = SMALL.get(words, {'mem find_bit': '-i 1 -j 1', 'breakpoint enable': '', 'internals synthesize': '-i 2'}.get(words, '-l 5'))
    result = tally('bench', '-f', 'json', *words.split(), *short.split())
    if HIDDEN in result.stderr or result.returncode and words in ('sched seccomp-notify', 'breakpoint enable', 'futex lock-pi', 'futex requeue -p'):
        pytest.skip(result.stderr)
    assert result.returncode == 0, result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows and all(row['schema'] == 1 and row['benchmark'] == '/'.join(words.split()[:2]) for row in rows)
    if words.startswith(('sched pipe', 'syscall')):
        assert rows[0]['operations'] == int(short.split()[1]) and rows[0]['seconds'] > 0
    if words.startswith('futex re'):
        assert rows[0]['woken'] == rows[0]['threads'] == 2


def test_lists_are_perfs(tally, newest_perf):
    def names(program, *words):
        listed = re.findall(r'^ *(\S+): (.*)$', program('bench', *words, check=0).stdout, re.MULTILINE)
        return {name: summary for name, summary in listed if name not in ('Usage', '#')}
    assert names(newest_perf).keys() - names(tally).keys() <= {'numa'}
    for collection in ('sched', 'syscall', 'mem', 'futex', 'breakpoint', 'uprobe'):
        ours, theirs = names(tally, collection), names(newest_perf, collection)
        assert {name: ours[name] for name in theirs} == theirs


@pytest.mark.skipif(os.geteuid() != 0, reason='probes on all processes need root')
def test_probes(tally):
    if not os.path.exists('/sys/bus/event_source/devices/uprobe'):
        pytest.skip('this kernel has no uprobe PMU')
    for name in ('empty', 'trace_printk', 'empty_ret', 'trace_printk_ret'):
        result = tally('bench', 'uprobe', name, '-l', 2)
        if result.returncode:
            assert 'the kernel refuses' in result.stderr
            pytest.skip(result.stderr)
        assert '# Executed 2 usleep(1000) calls' in result.stdout


def test_hidden_symbols_are_not_measured(tally, open_folder):
    copy = open_folder / 'tally'
    shutil.copy(tally.path, copy)
    result = subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', copy, 'bench', 'internals',
                             'kallsyms-parse', '-i', '1'], env={**tally.environment, 'HOME': str(open_folder)}, cwd=open_folder,
                            capture_output=True, text=True, timeout=120, check=False)
    if result.returncode == 0:
        pytest.skip('this kernel shows its addresses to all users')
    assert HIDDEN in result.stderr and result.returncode == 255


def test_functions_are_listed(tally):
    for benchmark, name in (('memcpy', 'unrolled'), ('memset', 'default'), ('mmap', 'populate')):
        assert f'\t{name} ... ' in tally('bench', 'mem', benchmark, '-f', 'help', check=1).stdout
        assert 'Unknown function: x\n' in tally('bench', 'mem', benchmark, '-f', 'x', check=1).stdout


@pytest.mark.parametrize(('words', 'status', 'said'), [
    ('nothing', 1, "Unknown collection: 'nothing'"),
    ('sched nothing', 1, "Unknown benchmark: 'nothing' for collection 'sched'"),
    ('-f wrong sched pipe', 129, "Unknown format descriptor: 'wrong'"),
    ('-r 0 sched pipe', 129, 'Must specify a positive value'),
    ('sched pipe -l 0', 129, 'pipe needs a loop'),
    ('sched pipe word', 129, 'pipe needs a loop'),
    ('sched messaging -g 0', 129, '1 to 10000 groups'),
    ('mem memcpy -s much', 255, 'Invalid size:much'),
    ('mem memcpy -s 99999999TB', 255, 'Invalid size:99999999TB'),
    ('mem memcpy -s 1000TB', 255, 'cannot map the memory'),
    ('mem memcpy -p 3KB', 255, 'Invalid page-size:3KB'),
    ('futex wake-parallel -t 3 -w 2', 1, 'Must be perfectly divisible'),
    ('futex hash -r 0', 129, 'a futex and a second'),
    ('epoll wait -N 5', 129, 'at most 4 levels'),
    ('breakpoint thread -b 65', 129, 'at most 64 breakpoints'),
    ('numa mem', 129, 'bench numa is not supported yet'),
    ('syscall all -l 1', 129, 'takes no options'),
    ('sched pipe -G a,b', 129, 'not supported yet'),
])
def test_refusals(tally, words, status, said):
    assert said in tally('bench', *words.split(), check=status).stderr


def test_breakpoints_beyond_those_of_the_cpu(tally):
    result = tally('bench', 'breakpoint', 'thread', '-b', 64, check=255)
    assert 'this CPU has fewer breakpoints' in result.stderr or 'cannot set a breakpoint' in result.stderr
