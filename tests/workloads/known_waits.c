/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_waits.c - runs threads with known waits: known_waits UNIT_MS. `computer` computes for two units, `sleeper`
 * sleeps for one, `waiter` waits three for a mutex that `holder` holds in hold(), `reader` reads a pipe to which
 * `feeder` writes after one and a half, and `left` and `right` compute on one CPU until each has computed for half a
 * unit; all begin after one unit. A thread has its name during that time. At its end it prints a line: its name, its
 * ID, the measured wait in ns, and, from /proc, the time on a CPU and the time ready to run while it had its name, in
 * ns, as upper limits, and the latter as a lower limit too (a thread can lose its CPU between reading the times and
 * changing its name).
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000L

static long unit_ns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t is_held;
static int pipe_ends[2];

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000 * NS_PER_MS + t.tv_nsec;
}

static void rest(double units)
{
	int64_t ns = (int64_t)(units * (double)unit_ns);
	struct timespec t = {ns / (1000 * NS_PER_MS), ns % (1000 * NS_PER_MS)};
	while (nanosleep(&t, &t) != 0)
		;
}

static void work(double units)
{
	int64_t until = now(CLOCK_THREAD_CPUTIME_ID) + (int64_t)(units * (double)unit_ns);
	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		for (volatile int i = 0; i < 20000; i++)
			;
}

struct known_times { /* Times of this thread in ns. */
	long long ran, ready;
};

static struct known_times read_times(int file)
{
	char text[128] = "";
	struct known_times times = {0};
	if (pread(file, text, sizeof(text) - 1, 0) <= 0 || sscanf(text, "%lld %lld", &times.ran, &times.ready) != 2)
		exit(1);
	return times;
}

static struct known_times difference(struct known_times end, struct known_times begin)
{
	return (struct known_times){end.ran - begin.ran, end.ready - begin.ready};
}

__attribute__((noinline)) static int64_t hold(void)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&is_held);
	int64_t begin = now(CLOCK_MONOTONIC);
	rest(3);
	int64_t waited = now(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(&mutex);
	return waited;
}

__attribute__((noinline)) static int64_t wait_for_mutex(void)
{
	int64_t begin = now(CLOCK_MONOTONIC);
	pthread_barrier_wait(&is_held);
	pthread_mutex_lock(&mutex);
	int64_t waited = now(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(&mutex);
	return waited;
}

__attribute__((noinline)) static int64_t read_pipe(void)
{
	char byte;
	int64_t begin = now(CLOCK_MONOTONIC);
	if (read(pipe_ends[0], &byte, 1) != 1)
		exit(1);
	return now(CLOCK_MONOTONIC) - begin;
}

/* Moves the thread to the CPU that the first caller chooses. */
static void share_cpu(void)
{
	static pthread_mutex_t choice = PTHREAD_MUTEX_INITIALIZER;
	static int cpu = -1;
	cpu_set_t set;
	CPU_ZERO(&set);
	pthread_mutex_lock(&choice);
	cpu = cpu < 0 ? sched_getcpu() : cpu;
	CPU_SET((size_t)cpu, &set);
	pthread_mutex_unlock(&choice);
	sched_setaffinity(0, sizeof(set), &set);
	work(0.5);
}

/* Does what the name says. Returns the measured wait in ns. */
static int64_t be(const char *name)
{
	int64_t waited = 0;
	switch (name[0]) {
	case 'c':
		work(2);
		break;
	case 's':
		waited = now(CLOCK_MONOTONIC);
		rest(1);
		waited = now(CLOCK_MONOTONIC) - waited;
		break;
	case 'h':
		waited = hold();
		break;
	case 'w':
		waited = wait_for_mutex();
		break;
	case 'f':
		rest(1.5);
		if (write(pipe_ends[1], "x", 1) != 1)
			exit(1);
		break;
	case 'r':
		if (name[1] == 'e')
			waited = read_pipe();
		else
			share_cpu();
		break;
	default:
		share_cpu();
	}
	return waited;
}

static void *run(void *name)
{
	char path[64];
	int tid = (int)syscall(SYS_gettid);
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct known_times before = read_times(file);
	pthread_setname_np(pthread_self(), name);
	struct known_times begin = read_times(file);
	int64_t waited = be(name);
	struct known_times end = read_times(file);
	pthread_setname_np(pthread_self(), "ended");
	struct known_times after = read_times(file);
	struct known_times least = difference(end, begin), most = difference(after, before);
	printf("%s %d %lld %lld %lld %lld\n", (const char *)name, tid, (long long)waited, most.ran, most.ready,
		least.ready);
	close(file);
	/* The waits must be seen before the thread ends: perf sched timehist forgets a thread that has ended. */
	rest(0.01);
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"computer", "sleeper", "holder", "waiter", "reader", "feeder", "left", "right"};
	pthread_t threads[sizeof(names) / sizeof(*names)];
	unit_ns = (argc > 1 ? atol(argv[1]) : 1000) * NS_PER_MS;
	setvbuf(stdout, NULL, _IOLBF, 0);
	rest(1); /* Time for a recorder to read the files of this program. */
	if (pipe(pipe_ends) != 0 || pthread_barrier_init(&is_held, NULL, 2) != 0)
		return 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (pthread_create(&threads[i], NULL, run, (void *)names[i]) != 0)
			return 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		pthread_join(threads[i], NULL);
	return 0;
}
