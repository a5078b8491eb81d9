# SPDX-License-Identifier: Apache-2.0
"""Samples without perf events: by ptrace and timers of CPU time, where a filter denies perf_event_open, or by --rung timer."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import TIMEOUT_S, compiled, cpu_seconds, wait_for

DENY = '''
#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)SYS_CALL, 0, 1), BPF_STMT(BPF_RET | BPF_K, ANSWER),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog p = {4, f};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 77;
	execvp(argv[1], argv + 1);
	return 77;
}
'''
TOLD = 7  # the exit status of the workload traced


@pytest.fixture
def denier():
    """denier(ANSWER, CALL): a program that runs another one, to which the kernel answers so."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')

    def make(answer, call='perf_event_open'):
        program = compiled('deny.c', DENY.replace('ANSWER', answer).replace('SYS_CALL', f'SYS_{call}'), '-O1')
        if subprocess.run([program, 'true'], check=False).returncode == 77:
            pytest.skip('seccomp filters are not permitted here')
        return program

    return make


@pytest.fixture(autouse=True)
def can_trace(tally, tmp_path):
    """Skips where ptrace itself is not permitted."""
    result = tally('record', '--rung', 'timer', '-o', tmp_path / 'can.data', '--', 'true')
    if result.returncode == 255:
        pytest.skip(f'programs cannot be traced here: {result.stderr.strip()}')


def shares(tally, data, *keys):
    """Percent of the samples by the key(s)."""
    rows = tally('report', '-i', data, '--no-children', '-g', 'none', '-s', ','.join(keys or ('sym',)), '-t', '@', check=0).stdout
    found = {}
    for line in rows.splitlines():
        if match := re.match(r' *([\d.]+)%? *@(.*)', line):
            found[re.sub(r'^\[\.\] ', '', match[2].strip())] = float(match[1])
    return found


def timers(pid):
    """Timers that a process has."""
    return len(re.findall('^ID:', pathlib.Path(f'/proc/{pid}/timers').read_text(encoding='ascii'), re.M))


def traced_by(pid):
    """The number of the tracer; 0: none."""
    return int(re.search(r'TracerPid:\s*(\d+)', pathlib.Path(f'/proc/{pid}/status').read_text(encoding='ascii'))[1])


@pytest.mark.parametrize('errnum', ['EPERM', 'ENOSYS'])
def test_record_descends_where_a_filter_denies_events(tally, denier, workload, tmp_path, errnum):
    tally.prefix = [denier(f'SECCOMP_RET_ERRNO | {errnum}')]
    data = tmp_path / 'd.data'
    result = tally('record', '-g', '-o', data, '--', workload('spin').path, '400', check=0)
    said = [line for line in result.stderr.splitlines() if '--rung timer' in line]
    assert len(said) == 1 and 'a seccomp filter' in said[0] and 'not the kernel' in said[0], result.stderr
    assert shares(tally, data)['spin'] > 50
    assert '# origin' in tally('report', '-i', data, '--header-only', check=0).stdout


def test_a_denial_is_not_worked_around_if_events_are_required(tally, denier, tmp_path):
    tally.prefix = [denier('SECCOMP_RET_ERRNO | EPERM')]
    for words in (('record', '--require-event', '-o', tmp_path / 'd.data', '--', 'true'),
                  ('record', '--rung', 'events', '-o', tmp_path / 'd.data', '--', 'true'),
                  ('record', '-a', '-o', tmp_path / 'd.data', '--', 'true'),
                  ('flamegraph', '--require-event', '-o', tmp_path / 'f.html', '--', 'true'),
                  ('top', '--stdio'), ('top', '--stdio', '--require-event', '-p', str(os.getpid()))):
        result = tally(*words)
        assert result.returncode == 255 and 'a seccomp filter' in result.stderr, (words, result.stderr)
        assert 'seccomp=' in result.stderr or '--cap-add' in result.stderr or 'run as root' in result.stderr, result.stderr


def test_what_needs_events_is_refused_by_name(tally, tmp_path):
    for words in (('-a',), ('--wall',), ('-b',), ('--call-graph', 'lbr')):
        result = tally('record', '--rung', 'timer', *words, '-o', tmp_path / 'd.data', '--', 'true')
        assert result.returncode == 255 and 'needs perf events' in result.stderr, (words, result.stderr)
    result = tally('record', '--rung', 'timer', '-e', 'page-faults', '-o', tmp_path / 'd.data', '--', 'true')
    assert result.returncode == 255 and 'cpu-clock and task-clock can be sampled' in result.stderr
    result = tally('record', '--rung', 'timer', '--require-event', '-o', tmp_path / 'd.data', '--', 'true')
    assert result.returncode == 255 and 'cannot be used together' in result.stderr
    result = tally('record', '--rung', 'stairs', '-o', tmp_path / 'd.data', '--', 'true')
    assert result.returncode != 0 and 'expects auto, events or timer' in result.stderr


def test_flamegraph_and_top_use_it_too(tally, denier, workload, tmp_path):
    tally.prefix = [denier('SECCOMP_RET_ERRNO | EPERM')]
    folded = tally('flamegraph', '--folded', '--', workload('spin').path, '400', check=0)
    assert ';spin ' in folded.stdout and '--rung timer' in folded.stderr
    program = workload('spin').start('600000')
    with program:
        top = tally.start('top', '--stdio', '-d', '1', '-p', str(program.pid))
        with top:
            seen = wait_for(lambda: (line := top.stdout.readline()) and 'spin' in line and '%' in line)
            top.terminate()
            assert seen and '--rung timer' in top.communicate(timeout=TIMEOUT_S)[1]
        assert timers(program.pid) == 0 and traced_by(program.pid) == 0
        program.kill()


@pytest.mark.parametrize('chains', ['fp', 'dwarf', 'auto'])
def test_call_chains(tally, workload, tmp_path, chains):
    data = tmp_path / 'd.data'
    tally('record', '--rung', 'timer', '--call-graph', chains, '-o', data, '--', workload('spin').path, '300', check=0)
    stacks = [line.rsplit(' ', 1) for line in tally('flamegraph', '--folded', data, check=0).stdout.splitlines()]
    whole = sum(int(weight) for stack, weight in stacks if ';main;' in stack)
    assert whole > 0.9 * sum(int(weight) for _, weight in stacks), stacks


def test_threads_and_children(tally, workload, tmp_path):
    data = tmp_path / 'd.data'
    tally('record', '--rung', 'timer', '-o', data, '--', workload('threads').path, '300', check=0)
    found = shares(tally, data, 'comm', 'sym')
    for number in range(4):
        assert any(f'worker-{number}' in key and f'work_{number}' in key for key in found), found
    tally('record', '--rung', 'timer', '-o', data, '--', 'sh', '-c', f'{workload("spin").path} 200; {workload("spin").path} 200 & wait',
          check=0)
    assert 'spin' in shares(tally, data, 'comm'), shares(tally, data, 'comm')
    pids = {line.split()[0] for line in tally('script', '-i', data, '-F', 'pid', check=0).stdout.splitlines() if line.strip()}
    assert len(pids) >= 2
    tally('record', '--rung', 'timer', '--no-inherit', '-o', data, '--', 'sh', '-c', f'{workload("spin").path} 200; :', check=0)
    assert 'spin' not in shares(tally, data, 'comm')


@pytest.mark.parametrize('mode, told', [
    ('signals', 'URG 40\nWINCH 40\nALRM 40\nUSR1 40\nTRAP 40\nCHLD 40\n'), ('calls', 'interrupted 0 early 0\n'),
    ('queued', '40 40 40 40 40 40 \n'), ('masked', 'blocked 1\n'), ('exec', 'blocked 1\n')])
def test_the_program_notices_nothing(tally, workload, tmp_path, mode, told):
    data = tmp_path / 'd.data'
    result = tally('record', '--rung', 'timer', '-o', data, '--', workload('traced').path, mode, '400', check=TOLD)
    assert result.stdout == told
    # Threads that block the signal are sampled where they give up the CPU, too: behind system calls.
    if mode != 'queued':
        assert shares(tally, data)['traced_work'] > (10 if mode in ('masked', 'exec') else 50)


def test_timers_of_ended_threads_are_deleted(tally, workload, tmp_path):
    result = tally('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '--', workload('traced').path, 'churn', '400', check=TOLD)
    assert int(result.stdout.split()[1]) < 40, result.stdout


def test_attaching_and_letting_go(tally, workload, tmp_path):
    data = tmp_path / 'd.data'
    program = workload('traced').start('calls', '600000')
    with program:
        wait_for(lambda: cpu_seconds(program.pid) > 0.1)
        for _ in range(3):
            recorder = tally.start('record', '--rung', 'timer', '-g', '-o', data, '-p', str(program.pid))
            with recorder:
                wait_for(lambda: timers(program.pid) == 5)
                before = cpu_seconds(program.pid)
                wait_for(lambda: cpu_seconds(program.pid) > before + 0.2)
                recorder.send_signal(signal.SIGINT)
                recorder.communicate(timeout=TIMEOUT_S)
            assert timers(program.pid) == 0 and traced_by(program.pid) == 0
            assert shares(tally, data)['traced_work'] > 50
        program.kill()


def test_the_program_survives_a_killed_tracer(tally, workload, tmp_path):
    program = workload('traced').start('calls', '2000')
    with program:
        wait_for(lambda: cpu_seconds(program.pid) > 0.1)
        recorder = tally.start('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '-p', str(program.pid))
        with recorder:
            wait_for(lambda: timers(program.pid) == 5)
            recorder.kill()
        out, err = program.communicate(timeout=TIMEOUT_S)
    assert (program.returncode, out) == (TOLD, 'interrupted 0 early 0\n'), err


@pytest.mark.parametrize('seed', range(6))
def test_a_tracer_killed_while_threads_start_harms_none(tally, workload, tmp_path, seed):
    """Each new thread makes calls for its tracer: the kill comes at a random time among them."""
    program = workload('traced').start('churn', '500')
    with program:
        recorder = tally.start('record', '--rung', 'timer', '-F', '1000', '-o', tmp_path / 'd.data', '-p', str(program.pid))
        with recorder:
            wait_for(lambda: traced_by(program.pid) or program.poll() is not None)
            time.sleep(random.Random(seed).uniform(0, 0.1))
            recorder.kill()
        _, err = program.communicate(timeout=TIMEOUT_S)
    assert program.returncode == TOLD, (program.returncode, err)


def test_a_killed_recorder_leaves_no_more_than_ignored_timers(tally, workload, tmp_path):
    """The next recording finds them, and takes none of their signals for its own."""
    program = workload('spin').start('6000')
    with program:
        recorder = tally.start('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '-p', str(program.pid))
        with recorder:
            wait_for(lambda: timers(program.pid) == 1)
            recorder.kill()
        before = cpu_seconds(program.pid)
        wait_for(lambda: cpu_seconds(program.pid) > before + 0.1 or program.poll() is not None)
        assert program.poll() is None
        recorder = tally.start('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '-p', str(program.pid))
        with recorder:
            wait_for(lambda: timers(program.pid) == 2)
            before = cpu_seconds(program.pid)
            wait_for(lambda: cpu_seconds(program.pid) > before + 0.3)
            recorder.send_signal(signal.SIGINT)
            recorder.communicate(timeout=TIMEOUT_S)
        assert timers(program.pid) == 0
        used = cpu_seconds(program.pid)
        program.kill()
    periods = [int(word) for word in tally('script', '-i', tmp_path / 'd.data', '-F', 'period', check=0).stdout.split()]
    assert 0.2e9 < sum(periods) < used * 1e9


def test_a_program_with_a_filter_of_its_own_is_sampled(tally, denier, workload, tmp_path):
    """It gets no timer: its clock is looked at."""
    data = tmp_path / 'd.data'
    tally('record', '--rung', 'timer', '-o', data, '--', denier('SECCOMP_RET_ERRNO | EPERM', 'getrandom'), 'sh', '-c',
          f'{workload("spin").path} 400', check=0)
    rows = tally('script', '-i', data, '-F', 'comm,period', check=0).stdout.splitlines()
    periods = sum(int(row.split()[1]) for row in rows if row.strip() and row.split()[0] == 'spin')
    assert 0.3e9 < periods < 0.6e9, periods
    assert shares(tally, data)['spin'] > 20


def test_a_stopped_program_stays_stopped(tally, workload, tmp_path):
    program = workload('traced').start('calls', '1000')
    with program:
        wait_for(lambda: cpu_seconds(program.pid) > 0.1)
        program.send_signal(signal.SIGSTOP)
        recorder = tally.start('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '-p', str(program.pid))
        with recorder:
            wait_for(lambda: traced_by(program.pid))
            before = cpu_seconds(program.pid)
            program.send_signal(signal.SIGCONT)
            wait_for(lambda: cpu_seconds(program.pid) > before + 0.1)
            program.send_signal(signal.SIGSTOP)
            wait_for(lambda: re.search('State:\t[tT]', pathlib.Path(f'/proc/{program.pid}/status').read_text(encoding='ascii')))
            recorder.send_signal(signal.SIGINT)
            recorder.communicate(timeout=TIMEOUT_S)
        assert traced_by(program.pid) == 0
        assert 'T (stopped)' in pathlib.Path(f'/proc/{program.pid}/status').read_text(encoding='ascii')
        program.send_signal(signal.SIGCONT)
        out, err = program.communicate(timeout=TIMEOUT_S)
    assert (program.returncode, out) == (TOLD, 'interrupted 0 early 0\n'), err


VFORK = '''
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	volatile long sum = 0;
	for (long i = 0; i < 200000000; i++)
		sum += i;
	pid_t child = vfork();
	if (child == 0) {
		struct timespec pause = {3, 0};
		while (nanosleep(&pause, &pause))
			;
		_exit(3);
	}
	int status;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status) == 3 ? 7 : 1;
}
'''


def test_a_parent_in_vfork_is_let_go(tally, tmp_path):
    """It stops for nobody until its child is over: later than the recording."""
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    program = compiled('vfork.c', VFORK, '-O1', '-w')
    recorder = tally.start('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '--', 'sh', '-c', 'trap "" TERM; exec "$0"', program)
    with recorder:
        children = pathlib.Path(f'/proc/{recorder.pid}/task/{recorder.pid}/children')
        child = wait_for(lambda: children.read_text(encoding='ascii').split())[0]
        wait_for(lambda: pathlib.Path(f'/proc/{child}/task/{child}/children').read_text(encoding='ascii').split())
        recorder.send_signal(signal.SIGINT)
        _, err = recorder.communicate(timeout=TIMEOUT_S)
    assert recorder.returncode == TOLD, err


def test_another_tracer_is_named(tally, workload, tmp_path):
    if not shutil.which('gdb'):
        pytest.skip('gdb is not installed')
    program = workload('spin').start('600000')
    with program:
        gdb = subprocess.Popen(['gdb', '-q', '-nx', '-p', str(program.pid)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        with gdb:
            wait_for(lambda: traced_by(program.pid) == gdb.pid)
            result = tally('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '-p', str(program.pid))
            gdb.kill()
        program.kill()
    assert result.returncode == 255
    assert f'is traced by process {gdb.pid} (gdb) already' in result.stderr, result.stderr


@pytest.mark.parametrize('command, status', [(['sh', '-c', 'exit 3'], 3), (['sh', '-c', 'kill -KILL $$'], 137),
                                             (['/nowhere/to/be/found'], 255)])
def test_the_exit_status_is_the_commands(tally, tmp_path, command, status):
    # As without: record ends by the signal that ended its command.
    kept = tally('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '--', *command).returncode
    assert kept in (status, 128 - status), kept


def test_where_ptrace_is_denied_too(tally, denier, tmp_path):
    tally.prefix = [denier('SECCOMP_RET_ERRNO | EPERM', 'ptrace')]
    result = tally('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '--', 'true')
    assert result.returncode == 255 and 'ptrace' in result.stderr and 'seccomp filter' in result.stderr, result.stderr


@pytest.mark.parametrize('call', ['waitid', 'wait4', 'timer_create', 'process_vm_readv', 'eventfd2', 'getrandom', 'poll', 'uname',
                                  'rt_sigaction', 'epoll_wait'])
def test_a_denied_call_is_no_hang(tally, denier, workload, tmp_path, call):
    """The filter is the program's, too: timers that it cannot have are told, and memory is read otherwise."""
    data = tmp_path / 'd.data'
    tally.prefix = [denier('SECCOMP_RET_ERRNO | EPERM', call)]
    result = tally('record', '--rung', 'timer', '-g', '-o', data, '--', workload('spin').path, '200', timeout=60)
    assert result.returncode in (0, 255), result.stderr
    assert result.stderr.strip()
    tally.prefix = []
    if call in ('timer_create', 'process_vm_readv', 'getrandom'):
        assert result.returncode == 0 and shares(tally, data)['spin'] > 10, result.stderr
    if call == 'timer_create':
        told = 'had no timer (timer_create: Operation not permitted)'
        assert told in result.stderr and told in tally('health', data).stdout


@pytest.mark.parametrize('call', ['poll', 'uname'])
def test_a_denied_call_is_no_end_of_wall_recordings(tally, denier, tmp_path, call):
    data = tmp_path / 'd.data'
    if tally('record', '--wall', '-o', data, '--', 'true').returncode != 0:
        pytest.skip('record --wall is not possible here')
    tally.prefix = [denier('SECCOMP_RET_ERRNO | ENOMEM', call)]
    result = tally('record', '--wall', '-o', data, '--', 'true', timeout=60)
    assert result.returncode == 0 or (result.returncode == 255 and call in result.stderr), result.stderr


def test_a_program_without_its_rights_is_told(tally, tmp_path):
    """In the recording, too. Root's tracer leaves a program its rights."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('needs root and setpriv (util-linux)')
    folder = tmp_path
    for part in [folder, *folder.parents][:-2]:
        part.chmod(part.stat().st_mode | 0o055)
    program = shutil.copy(shutil.which('id'), folder / 'privileged-id')
    os.chmod(program, 0o4755)
    out = folder / 'out'
    out.mkdir(mode=0o777)
    out.chmod(0o777)
    user = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
    if 'euid=0' not in subprocess.run([*user, program], capture_output=True, text=True, check=False).stdout:
        pytest.skip('set-user-ID programs have no effect here')
    tally.prefix = user
    result = tally('record', '--rung', 'timer', '-o', out / 'd.data', '--', 'sh', '-c', f'{program}; true')
    if result.returncode == 255:
        pytest.skip(f'not as another user: {result.stderr}')
    tally.prefix = []
    told = ('1 programs ran without the rights of their files (set-user-ID, set-group-ID or capabilities), because they were traced; '
            f'the first was {program}')
    assert 'euid=0' not in result.stdout and told in result.stderr, result.stderr
    os.chown(out / 'd.data', 0, 0)  # recordings of others are not read
    assert told in json.loads(tally('health', '--json', out / 'd.data').stdout)['origin']['changed']
    tally('record', '--rung', 'timer', '-o', out / 'd.data', '--', program, check=0)
    assert 'ran without' not in tally('health', out / 'd.data').stdout


def test_without_proc_it_is_refused_before_the_command_runs(tally, tmp_path):
    inside = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh']
    if not shutil.which('unshare') or subprocess.run([*inside, 'true'], capture_output=True, check=False).returncode != 0:
        pytest.skip('/proc cannot be hidden here')
    tally.prefix = inside
    result = tally('record', '--rung', 'timer', '-o', tmp_path / 'd.data', '--', 'touch', tmp_path / 'ran')
    assert result.returncode == 255 and 'needs /proc' in result.stderr and not (tmp_path / 'ran').exists(), result.stderr
