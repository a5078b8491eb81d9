/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_threads.c - runs threads that wait from the beginning, in functions named after what they wait for, as are the
 * threads: `pool` waits for a condition variable, `pipe` for a write to a pipe, `nap` for a time, `poll` for a readable
 * pipe, `timed` for a futex with a time limit, in a frame with a size that is known only at run time. With a number of
 * milliseconds as argument there are also 16 threads `switcher`, which wait alternately in switch_nap and in
 * switch_poll, each time for up to that time.
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__clang__)
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa)) /* Also prevents clones with other names. */
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int pipe_ends[2], word, longest_ms;
static volatile int one = 1; /* Prevents tail calls. */

KEPT static int pool_wait(void)
{
	pthread_mutex_lock(&mutex);
	while (one)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return one;
}

KEPT static int pipe_wait(void)
{
	char bytes[64];
	return (int)read(pipe_ends[0], bytes, sizeof(bytes)) + one;
}

KEPT static int nap_wait(void)
{
	struct timespec t = {1000, 0};
	return nanosleep(&t, NULL) + one;
}

KEPT static int poll_wait(void)
{
	struct pollfd file = {pipe_ends[0], POLLIN, 0};
	return poll(&file, 1, -1) + one;
}

KEPT static int timed_call(void)
{
	const struct timespec t = {1000, 0};
	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) + one;
}

KEPT static int timed_wait(void)
{
	volatile char *bytes = __builtin_alloca((size_t)one * 100);
	bytes[3] = 1;
	return timed_call() + bytes[3];
}

KEPT static int switch_nap(int ms)
{
	struct timespec t = {0, ms * 1000000L};
	return nanosleep(&t, NULL) + one;
}

KEPT static int switch_poll(int ms)
{
	return poll(NULL, 0, ms) + one;
}

KEPT static int switcher_wait(void)
{
	unsigned seed = (unsigned)syscall(SYS_gettid);
	while (one) {
		switch_nap(rand_r(&seed) % longest_ms);
		switch_poll(1 + rand_r(&seed) % longest_ms);
	}
	return one;
}

struct idle_thread {
	const char *name;
	int (*wait)(void);
};

KEPT static void *idle_thread(void *argument)
{
	const struct idle_thread *thread = argument;
	prctl(PR_SET_NAME, thread->name);
	return thread->wait() ? argument : NULL;
}

int main(int argc, char **argv)
{
	static const struct idle_thread threads[] = {{"pool", pool_wait}, {"pipe", pipe_wait}, {"nap", nap_wait},
		{"poll", poll_wait}, {"timed", timed_wait}, {"switcher", switcher_wait}};
	pthread_t id;
	longest_ms = argc > 1 ? atoi(argv[1]) : 0;
	if (pipe(pipe_ends) != 0)
		return 1;
	for (size_t i = 0; i < 5 + (longest_ms > 0 ? 16 : 0); i++)
		if (pthread_create(&id, NULL, idle_thread, (void *)&threads[i < 5 ? i : 5]) != 0)
			return 1;
	return nap_wait();
}
