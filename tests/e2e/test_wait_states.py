# SPDX-License-Identifier: Apache-2.0
"""States of waits that the number of the system call or the kernel's flags alone do not tell: calls that go on after a stop, waits of
io_uring, threads that a CPU quota keeps off the CPU."""
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import compiled, wait_for
from test_off_cpu import ns_by

SOURCES = ('bpf', 'tracepoints', 'switches')
STOPPED = r'''
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static void *poller(void *u) { prctl(PR_SET_NAME, "poller"); poll(0, 0, 50000); return u; }
static void *sleeper(void *u) { prctl(PR_SET_NAME, "sleeper"); nanosleep(&(struct timespec){50, 0}, 0); return u; }
static void *semer(void *u) {
	sem_t s;
	struct timespec t;
	prctl(PR_SET_NAME, "semer");
	sem_init(&s, 0, 0);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 50;
	sem_timedwait(&s, &t);
	return u;
}
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, poller, 0);
	pthread_create(&t, 0, semer, 0);
	pthread_create(&t, 0, sleeper, 0);
	pthread_join(t, 0);
}
'''
RING = r'''
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
	struct io_uring_params p;
	struct __kernel_timespec ts = {0, 300000000};
	memset(&p, 0, sizeof p);
	int fd = syscall(SYS_io_uring_setup, 8, &p);
	if (fd < 0) return 77;
	char *sq = mmap(0, p.sq_off.array + p.sq_entries * 4, 3, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	struct io_uring_sqe *e = mmap(0, p.sq_entries * sizeof *e, 3, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
	memset(e, 0, sizeof *e);
	e->opcode = IORING_OP_TIMEOUT; e->fd = -1; e->addr = (unsigned long)&ts; e->len = 1;
	((unsigned *)(sq + p.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1;
}
'''


SPINS = r'''
#include <time.h>
int main(void) {
	struct timespec a, b;
	volatile long x = 0;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do { for (int i = 0; i < 1000; i++) x += i; clock_gettime(CLOCK_MONOTONIC, &b); } while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) * 1e-9 < 1);
}
'''


@pytest.fixture(name='source', params=SOURCES)
def source_that_works(tally, tmp_path, request):
    """Skips with tally's own reason where this source is refused."""
    tried = tally('record', '--wall', '--wall-source', request.param, '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(f'{request.param}: {tried.stderr.strip().splitlines()[-1]}')
    return request.param


def names_of_threads(pid):
    return {open(f'/proc/{pid}/task/{tid}/comm', encoding='utf-8').read().strip() for tid in os.listdir(f'/proc/{pid}/task')}


def states_of_threads(pid):
    return {open(f'/proc/{pid}/task/{tid}/stat', encoding='utf-8').read().rpartition(')')[2].split()[0]
            for tid in os.listdir(f'/proc/{pid}/task')}


def test_calls_that_go_on_after_a_stop(tally, tmp_path, source):
    """The kernel continues them as restart_syscall."""
    with subprocess.Popen([compiled('stopped.c', STOPPED, '-O1', '-pthread')]) as program:
        try:
            wait_for(lambda: {'poller', 'semer', 'sleeper'} <= names_of_threads(program.pid))
            wait_for(lambda: states_of_threads(program.pid) == {'S'})
            program.send_signal(signal.SIGSTOP)
            wait_for(lambda: states_of_threads(program.pid) == {'T'})
            program.send_signal(signal.SIGCONT)
            wait_for(lambda: states_of_threads(program.pid) == {'S'})
            tally('record', '--wall', '--wall-source', source, '-o', tmp_path / 'wall.data', '-p', str(program.pid), '--', 'sleep', '0.3',
                  check=0)
        finally:
            program.kill()
    states = {key: ns for key, ns in ns_by(tally, tmp_path / 'wall.data', 'comm', 'state').items() if ns > 10 ** 8}
    assert {('poller', 'poll'), ('semer', 'lock'), ('sleeper', 'sleep')} <= set(states), states
    assert not {('poller', 'sleep'), ('semer', 'sleep')} & set(states), states


def test_a_ring_that_waits_for_a_timer(tally, tmp_path, source):
    """The kernel counts it as a wait for data of a device."""
    program = compiled('ring.c', RING, '-O1')
    if subprocess.run([program], check=False).returncode == 77:
        pytest.skip('io_uring is not allowed here')
    tally('record', '--wall', '--wall-source', source, '-o', tmp_path / 'wall.data', '--', program, check=0)
    states = ns_by(tally, tmp_path / 'wall.data', 'comm', 'state')
    assert states.get(('ring', 'poll'), 0) > 2 * 10 ** 8 and ('ring', 'disk') not in states, states


def mounts_of_cpu_controllers():
    for line in open('/proc/mounts', encoding='utf-8'):
        _, path, kind, options = line.split()[:4]
        if (kind == 'cgroup' and 'cpu' in options.split(',')) or kind == 'cgroup2':
            yield pathlib.Path(path)


@pytest.fixture(name='quota')
def cgroup_with_a_quota():
    """A cgroup whose threads may run for 10 of 100 ms."""
    for mount in mounts_of_cpu_controllers():
        group = mount / f'tally-quota-{os.getpid()}'
        try:
            group.mkdir()
            if (group / 'cpu.cfs_quota_us').exists():
                (group / 'cpu.cfs_quota_us').write_text('10000', encoding='utf-8')
            elif (group / 'cpu.max').exists():
                (group / 'cpu.max').write_text('10000 100000', encoding='utf-8')
            else:
                group.rmdir()
                continue
        except OSError:
            if group.exists():
                group.rmdir()
            continue
        yield group
        wait_for(lambda found=group: not (found / 'cgroup.procs').read_text(encoding='utf-8'))
        group.rmdir()
        return
    pytest.skip('no cgroup with a CPU quota can be made')


def throttled_ns(group):
    words = dict(line.split() for line in (group / 'cpu.stat').read_text(encoding='utf-8').splitlines())
    return int(words['throttled_time']) if 'throttled_time' in words else int(words['throttled_usec']) * 1000


def test_a_source_that_does_not_see_quotas_says_so(tally, tmp_path, quota):
    tried = tally('record', '--wall', '--wall-source', 'switches', '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(tried.stderr.strip().splitlines()[-1])
    program = compiled('spins.c', SPINS, '-O1')
    said = tally('record', '--wall', '--wall-source', 'switches', '-o', tmp_path / 'wall.data', '--', 'sh', '-c',
                 f'echo $$ > {quota}/cgroup.procs; exec {program}', check=0).stderr
    assert 'CPU quotas of cgroups throttled threads for' in said and 'cpu.stat' in said


@pytest.mark.parametrize('options', [(), ('--off-cpu-thresh', '0')], ids=['sums', 'single'])
def test_a_quota_that_is_used_up(tally, tmp_path, quota, options):
    """The kernel counts how long the cgroup was throttled; its thread is alone in it, and needs more than it may have."""
    tried = tally('record', '--wall', '--wall-source', 'bpf', '-o', tmp_path / 'try.data', '--', 'true', check=None)
    if tried.returncode != 0:
        pytest.skip(tried.stderr.strip().splitlines()[-1])
    program = compiled('spins.c', SPINS, '-O1')
    tally('record', '--wall', *options, '-o', tmp_path / 'wall.data', '--', 'sh', '-c', f'echo $$ > {quota}/cgroup.procs; exec {program}',
          check=0)
    said = throttled_ns(quota)
    states = ns_by(tally, tmp_path / 'wall.data', 'comm', 'state')
    assert said > 2 * 10 ** 8
    assert states[('spins', 'throttled')] == pytest.approx(said, rel=0.15), (said, states)
    latencies = ns_by(tally, tmp_path / 'wall.data', 'comm', 'state', 'run_latency')
    assert all(state != 'throttled' or float(ms) > 0 for (_, state, ms) in latencies if ms is not None)


HALVES = r'''
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *spins(void *u) { prctl(PR_SET_NAME, "spins"); for (volatile long i = 0;; i++) ; return u; }
static void *sleeps(void *u) { prctl(PR_SET_NAME, "sleeps"); sleep(1000); return u; }
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, spins, 0);
	pthread_create(&t, 0, sleeps, 0);
	pthread_join(t, 0);
}
'''


@pytest.mark.parametrize('options', [(), ('-D', '200')], ids=['whole', 'delayed'])
def test_both_halves_cover_the_same_time(tally, tmp_path, source, options):
    """A thread that waits all the time has as much of it as one that runs, or could run, all the time."""
    with subprocess.Popen([compiled('halves.c', HALVES, '-O1', '-pthread')]) as program:
        try:
            wait_for(lambda: {'spins', 'sleeps'} <= names_of_threads(program.pid))
            tally('record', '--wall', '--wall-source', source, *options, '-o', tmp_path / 'wall.data', '-p', str(program.pid), '--', 'sleep', '1',
                  check=0)
        finally:
            program.kill()
    states = ns_by(tally, tmp_path / 'wall.data', 'comm', 'state')
    spins, sleeps = (sum(ns for (comm, _), ns in states.items() if comm == name) for name in ('spins', 'sleeps'))
    assert spins == pytest.approx(sleeps, rel=0.03, abs=3 * 10 ** 7), states
