# SPDX-License-Identifier: Apache-2.0
"""What the kernel refuses: the gate is named, with the least that opens it, and perf's exit status."""
import os
import shutil
import signal
import subprocess

import pytest

from conftest import TIMEOUT_S

NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def paranoid():
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as file:
        return int(file.read())


@pytest.fixture
def as_nobody(tally, live):
    if os.geteuid() != 0:
        pytest.skip('only root can become another user')
    if paranoid() < 1:
        pytest.skip('perf_event_paranoid is below 1: users may measure whole CPUs')

    def run(*words):
        return subprocess.run([*NOBODY, tally.path, *words], capture_output=True, text=True, timeout=TIMEOUT_S)
    return run


@pytest.mark.parametrize('words', [('stat', '-a', '-e', 'cs'), ('record', '-a', '-e', 'cpu-clock', '-o', '/dev/null')])
def test_whole_cpus_without_rights(as_nobody, words):
    result = as_nobody(*words, '--', 'true')
    assert result.returncode == 255
    assert f'perf_event_paranoid is {paranoid()} and measuring all processes of a CPU needs 0 or less' in result.stderr
    assert 'PERFMON' in result.stderr and 'kernel.perf_event_paranoid=0' in result.stderr
    assert 'warning' not in result.stderr  # leaving the kernel out would not help


def test_a_process_of_another_user(as_nobody):
    result = as_nobody('stat', '-e', 'cs:u', '-p', '1', 'true')
    assert result.returncode == 255
    assert 'belongs to another user' in result.stderr or 'perf_event_paranoid' in result.stderr


def test_tracepoints_that_do_not_open_are_left_out(tally, live):
    if not os.path.exists('/sys/kernel/tracing/events/irq_vectors/irq_work_exit/id'):
        pytest.skip('no tracepoint irq_vectors:irq_work_exit')
    result = tally('record', '-o', '-', '-e', 'irq_vectors:*', '--', 'true', text=False)
    assert b"1 of the " in result.stderr and b"events of 'irq_vectors:*' left out: irq_vectors:irq_work_exit: " in result.stderr


def test_the_end_of_many_tracepoints_is_not_waited_for_with_pipes_open(tally, live):
    if not os.path.exists('/sys/kernel/tracing/events/sched/sched_switch/id'):
        pytest.skip('no tracepoints')
    result = tally('stat', '-x,', '-e', 'sched:*', '-r', '3', '--', 'true')  # returns when standard error closes
    rows = [line.split(',') for line in result.stderr.splitlines()]
    assert len(rows) >= 8 and all(row[2].startswith('sched:') for row in rows)
    assert any(row[2] == 'sched:sched_process_exec' and row[0] == '1' for row in rows)


@pytest.mark.parametrize('verb', ['stat', 'record'])
def test_a_group_that_is_not_closed(tally, live, tmp_path, verb):
    output = ['-o', tmp_path / 'x.data'] if verb == 'record' else []
    result = tally(verb, *output, '-e', '{cpu-clock,page-faults', '--', 'true')
    assert "'{cpu-clock,page-faults': the group is not closed with '}'" in result.stderr


def test_a_target_that_sleeps_is_why_nothing_was_counted(tally, live):
    with subprocess.Popen(['sleep', '60']) as sleeper:
        try:
            # It may not have begun to sleep; it does not run either while it is stopped.
            sleeper.send_signal(signal.SIGSTOP)
            os.waitpid(sleeper.pid, os.WUNTRACED)
            result = tally('stat', '-e', 'page-faults', '-p', sleeper.pid, 'true')
        finally:
            sleeper.kill()
    assert '<not counted>' in result.stderr
    assert '<not counted> page-faults: nothing measured ran meanwhile' in result.stderr


@pytest.mark.parametrize('words', [('stat', '-a', '-e', 'cs'), ('record', '-a', '-e', 'cpu-clock', '-o', '/dev/null')])
def test_root_of_a_user_namespace_is_a_user(tally, live, words):
    if os.geteuid() != 0 or paranoid() < 1:
        pytest.skip('needs root, and a perf_event_paranoid above 0')
    inside = [*NOBODY, 'unshare', '-Ur']
    if subprocess.run([*inside, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('user namespaces are not permitted here')
    result = subprocess.run([*inside, tally.path, *words, '--', 'true'], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert result.returncode == 255
    assert f'perf_event_paranoid is {paranoid()}' in result.stderr
    assert 'the capabilities of this user namespace do not count' in result.stderr
    assert 'security module' not in result.stderr


def test_events_of_the_kernel_are_not_recorded_as_nothing(as_nobody):
    if paranoid() < 2:
        pytest.skip('perf_event_paranoid is below 2: users may measure the kernel')
    alone = as_nobody('record', '-o', '/dev/null', '-e', 'cs', '--', 'true')
    assert alone.returncode == 255 and 'measuring kernel mode needs 1 or less' in alone.stderr
    beside = as_nobody('record', '-o', '/dev/null', '-e', 'cs,cpu-clock', '--', 'true')
    assert beside.returncode == 0 and "'cs' occurs only in the kernel" in beside.stderr


PROGRAM = '''
#include <time.h>
int main(int argc, char **argv)
{
	struct timespec t = {0, 300000000};
	volatile char a[3000000];
	if (argc < 2)
		nanosleep(&t, 0);
	for (int i = 0; i < 3000000; i += 4096)
		a[i] = 1;
	return 7;
}
'''


@pytest.fixture
def closed_programs(open_folder):
    """Programs that a user may run, but whose events the kernel ends at the exec."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    (open_folder / 'p.c').write_text(PROGRAM)
    for name, mode in (('unreadable', 0o711), ('setuid', 0o4755), ('open', 0o755)):
        subprocess.run(['gcc', '-O1', open_folder / 'p.c', '-o', open_folder / name], check=True)
        (open_folder / name).chmod(mode)
    return open_folder


def as_user(folder, *words):
    return subprocess.run([*NOBODY, *map(str, words)], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=folder)


@pytest.mark.parametrize('program, why', [
    ('./unreadable', './unreadable may be run but not read by this user'),
    ('./setuid', './setuid changes privileges (it is set-user-ID)'),
    ('sh', 'a program that this user may not read, or that changes privileges (set-user-ID)'),
    ('./open', None)])
def test_a_command_whose_events_end_at_its_exec_runs_to_its_end(tally, live, closed_programs, program, why):
    words = [program, '-c', 'sleep 0.1; exec ./unreadable'] if program == 'sh' else [program]
    recorded = as_user(closed_programs, tally.path, 'record', '-e', 'cpu-clock:u', '-o', 'd', *words)
    assert recorded.returncode == 7  # the program's own
    counted = as_user(closed_programs, tally.path, 'stat', '-e', 'page-faults:u', *words)
    assert counted.returncode == 7
    if why is None:
        assert 'the kernel ended' not in recorded.stderr + counted.stderr and 'not counted' not in counted.stderr
        return
    assert 'the kernel ended the recording' in recorded.stderr and why in recorded.stderr
    assert 'the kernel ended the counting' in counted.stderr and why in counted.stderr
    assert ('<not counted>' in counted.stderr) == (program != 'sh')  # what came before is counted


def test_a_short_command_whose_events_end_at_its_exec(tally, live, closed_programs):
    counted = as_user(closed_programs, tally.path, 'stat', '-x,', '-e', 'page-faults:u', './unreadable', 'fast')
    assert counted.returncode == 7 and counted.stderr.startswith('<not counted>,')
    recorded = as_user(closed_programs, tally.path, 'record', '-e', 'cpu-clock:u', '-o', 'd', './unreadable', 'fast')
    assert recorded.returncode == 7 and 'may be run but not read by this user' in recorded.stderr


DENY = '''
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)NUMBER, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ERROR),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog p = {4, f};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 77;
	execvp(argv[1], argv + 1);
	return 77;
}
'''


def denying(folder, call, error='EPERM'):
    """A program that runs another one without a system call: a seccomp filter answers it with this error."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    source = folder / f'{call}-{error}.c'
    source.write_text(DENY.replace('NUMBER', f'SYS_{call}').replace('ERROR', error))
    program = folder / f'without-{call}-{error}'
    if subprocess.run(['gcc', '-O1', source, '-o', program], capture_output=True, check=False).returncode:
        pytest.skip(f'this architecture has no {call}')
    if call not in ('wait4', 'waitid', 'poll', 'ppoll') and subprocess.run([program, 'true'], check=False).returncode:
        pytest.skip('seccomp filters are not permitted here')
    return program


# Whatever a wait answers, its loop ends: the command is not waited for in a circle.
@pytest.mark.parametrize('call', ['rt_sigtimedwait', 'ppoll', 'poll', 'epoll_wait', 'epoll_pwait', 'waitid', 'wait4',
                                  'signalfd4', 'epoll_ctl', 'rt_sigprocmask'])
@pytest.mark.parametrize('error', ['EPERM', 'EINTR'])
@pytest.mark.parametrize('words', [('stat', '-e', 'page-faults'), ('record', '-e', 'page-faults', '-o', '/dev/null')])
def test_a_denied_wait_is_no_endless_loop(tally, live, tmp_path, call, error, words):
    result = subprocess.run([denying(tmp_path, call, error), tally.path, *words, '--', 'sh', '-c', 'true'], capture_output=True,
                            text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode in (0, 255), result.stderr
    assert result.stderr.strip()


@pytest.mark.parametrize('words', [('top', '--stdio'), ('stat', '-e', 'page-faults'), ('record', '-o', '/dev/null')],
                         ids=lambda words: words[0])
def test_a_process_whose_threads_cannot_be_listed(tally, live, tmp_path, words):
    result = subprocess.run([denying(tmp_path, 'getdents64'), tally.path, *words, '-p', str(os.getpid())],
                            capture_output=True, text=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode > 0 and f'cannot list /proc/{os.getpid()}/task: Operation not permitted' in result.stderr


def test_top_ends_where_it_cannot_wait(tally, live, tmp_path):
    result = subprocess.run([denying(tmp_path, 'poll'), tally.path, 'top', '--stdio', '-e', 'cpu-clock', '-p',
                             str(os.getpid())], capture_output=True, text=True, timeout=60, check=False,
                            stdin=subprocess.DEVNULL)
    assert result.returncode == 255 and 'Operation not permitted' in result.stderr


def test_a_filter_is_the_only_reason_that_is_told(tally, live, tmp_path):
    if os.geteuid() != 0:
        pytest.skip('for users perf_event_paranoid is a reason too')
    result = subprocess.run([denying(tmp_path, 'perf_event_open'), tally.path, 'record', '--rung', 'events', '-o',
                             tmp_path / 'd', 'true'],
                            capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 255
    assert 'a seccomp filter' in result.stderr
    assert 'perf_event_paranoid' not in result.stderr and 'recording' not in result.stderr


@pytest.mark.parametrize('verb', ['sched', 'kwork', 'kmem', 'timechart'])
def test_events_of_a_verb_that_are_refused(as_nobody, verb):
    """The user typed neither the events nor `record`, so neither is shown."""
    result = as_nobody(verb, 'record', '--', 'true')
    if 'no permission to read' not in result.stderr:
        pytest.skip('every user may read the events here, or there are none')
    assert result.returncode == 255 and 'syntax error' not in result.stderr and 'Usage' not in result.stderr
