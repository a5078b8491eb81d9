# SPDX-License-Identifier: Apache-2.0
"""States of waits that the number of the system call or the kernel's flags alone do not tell: calls that go on after a stop, waits of
io_uring, threads that a CPU quota keeps off the CPU."""
import os
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
