# SPDX-License-Identifier: Apache-2.0
"""What chooses threads by number in a PID namespace of its own, as in a container: the kernel's tracing has the numbers
of the machine's first namespace, and compared with ours they choose nothing, or other threads."""
import re

import pytest

NUMBERS = "the machine's first PID namespace, and this process is in another one"


@pytest.fixture
def inside(tally, namespace):
    """Runs a script of the shell in a namespace of its own; $TALLY is the program."""
    probed = tally('kwork', 'report', '-b', '-k', 'softirq', 'true')
    if probed.returncode != 0:
        pytest.skip(f'BPF programs cannot measure here: {probed.stderr.strip()}')
    return lambda script: namespace('sh', '-c', script)


@pytest.mark.parametrize('words, what', [
    ('kwork top -b -- true', 'kwork top -b: '),
    ('stat --bpf-counters -e cpu-clock -- true', 'stat --bpf-counters of threads: '),
    ('stat --bpf-counters -e cpu-clock -p 1 -- true', 'stat --bpf-counters of threads: '),
    ('lock contention -b -o -- true', 'lock contention -b of threads: '),
    ('record -o x.data -e sched:sched_switch --exclude-perf -- true', '--exclude-perf: '),
], ids=['kwork', 'stat', 'stat -p', 'lock', 'exclude-perf'])
def test_other_numbers_are_refused(inside, words, what):
    refused = inside(f'"$TALLY" {words}')
    assert refused.returncode == 255 and refused.stdout == ''
    assert refused.stderr.startswith(what) and NUMBERS in refused.stderr and 'outside of the container' in refused.stderr


def test_what_has_no_numbers_goes_on(inside):
    counted = inside('"$TALLY" stat --bpf-counters -a -e cpu-clock -- true')
    assert counted.returncode == 0 and 'not counted' not in counted.stderr
    assert inside('"$TALLY" kwork report -b -k softirq -- sleep 0.1').returncode == 0


def test_lock_contention_reads_the_rings(inside):
    watched = inside('"$TALLY" lock contention -b -- true')
    assert watched.returncode == 0 and NUMBERS in watched.stderr
    assert 'each wait is read from the rings instead' in watched.stderr


@pytest.mark.parametrize('words', ['-- cat /dev/null', '-p $PID -- sleep 0.3', '--tid $PID -- sleep 0.3'])
def test_ftrace_latency_knows_our_numbers(inside, words):
    measured = inside('while :; do : </dev/null; done & PID=$!; '
                      f'"$TALLY" ftrace latency -b -e syscalls:sys_enter_openat,syscalls:sys_exit_openat {words}; kill $PID')
    assert measured.returncode == 0, measured.stderr
    assert int(re.search(r'count: +(\d+)', measured.stdout).group(1)) >= 3


def test_trace_leaves_out_processes_by_our_numbers(inside):
    """The kernel would leave out another process, and not this one."""
    traced = inside('while :; do : </dev/null; done & OUT=$!; while :; do : </dev/null; done & IN=$!; '
                    '"$TALLY" trace -e openat -p $IN,$OUT --filter-pids $OUT --max-events 20; echo $IN $OUT; kill $IN $OUT')
    kept, left_out = traced.stdout.split()
    threads = set(re.findall(r'/(\d+) openat', traced.stderr))
    assert kept in threads and left_out not in threads, traced.stderr


def test_wakers_have_our_numbers(inside):
    """sched_waking has the kernel's numbers: waits without a waker, or with that of another thread."""
    shown = inside("exec 2>&1; mkfifo f; sh -c 'while read -r line; do :; done' <f & R=$!; "
                   "exec 3>f; (while :; do echo x >&3; sleep 0.01; done) & W=$!; "
                   '"$TALLY" record -q --wall -e cpu-clock -o x.data -p $R -- sleep 1; kill $R $W; '
                   '"$TALLY" report -i x.data --stdio -g none -s comm,waker')
    assert re.search(r'^ +\d+\.\d+% .* sh +sh:\d+ *$', shown.stdout, re.M), shown.stdout
