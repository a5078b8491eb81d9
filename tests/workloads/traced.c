/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traced.c - reports the effects of being traced on a program. argv[1] is the mode, argv[2] its milliseconds of CPU
 * time (200):
 *	signals	sends itself signals while it works; prints how many of each it received
 *	calls	threads wait in system calls while main works; prints how many calls were interrupted, or ended too early
 *	masked	a thread that blocks all signals works
 *	queued	sends itself signals while it blocks them; prints how many of each it received
 *	churn	200 threads start and end one after the other; prints how many timers the process has then
 *	exec	a thread other than the first one calls exec, then runs as "masked"
 * Exit status 7.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keep_frame.h"

#define SIGNALS	    40
#define CHURN	    200
#define SLEEP_NS    INT64_C(50000000)
#define NS_PER_S    INT64_C(1000000000)
#define STATUS_TOLD 7

static int64_t duration_ns = 200000000;
static atomic_uint counts[NSIG], interrupted, early, stopped;
static atomic_bool is_over;
static int pipe_fds[2], epoll_fd;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static int64_t clock_now(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

__attribute__((noinline)) static uint64_t traced_work(uint64_t value)
{
	KEEP_FRAME();
	for (int i = 0; i < 100000; i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return value;
}

static void work_for(int64_t ns)
{
	volatile uint64_t value = 1;
	int64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
		value = traced_work(value);
}

static void count_signal(int number)
{
	counts[number]++;
}

static void run_signals(void)
{
	const int numbers[] = {SIGURG, SIGWINCH, SIGALRM, SIGUSR1, SIGTRAP, SIGCHLD};
	struct sigaction action = {.sa_handler = count_signal};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	for (int i = 0; i < SIGNALS; i++) {
		for (size_t k = 0; k < 5; k++)
			raise(numbers[k]);
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		work_for(duration_ns / SIGNALS);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		printf("%s %u\n", sigabbrev_np(numbers[i]), (unsigned)counts[numbers[i]]);
}

static void run_queued(void)
{
	const int numbers[] = {SIGURG, SIGWINCH, SIGCHLD, SIGUSR1, SIGRTMIN, SIGRTMAX - 1};
	struct sigaction action = {.sa_handler = count_signal};
	sigset_t blocked, before;
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &action, NULL);
		sigaddset(&blocked, numbers[i]);
	}
	for (int i = 0; i < SIGNALS; i++) {
		pthread_sigmask(SIG_BLOCK, &blocked, &before);
		work_for(duration_ns / SIGNALS / 2);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			raise(numbers[k]);
		work_for(duration_ns / SIGNALS / 2);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		printf("%d ", (int)counts[numbers[i]]);
	printf("\n");
}

static void *wait_in_read(void *unused)
{
	char byte;
	(void)unused;
	if (read(pipe_fds[0], &byte, 1) < 0)
		interrupted++;
	return NULL;
}

static void *wait_in_epoll(void *unused)
{
	struct epoll_event event;
	(void)unused;
	/* The only call here that the kernel does not restart after a stop: signal(7). */
	while (epoll_wait(epoll_fd, &event, 1, -1) < 0 && errno == EINTR)
		stopped++;
	return NULL;
}

static void *wait_in_futex(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	while (!is_over)
		if (pthread_cond_wait(&condition, &mutex) != 0)
			interrupted++;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *wait_in_sleep(void *unused)
{
	const struct timespec pause = {0, SLEEP_NS};
	(void)unused;
	while (!is_over) {
		int64_t start = clock_now(CLOCK_MONOTONIC);
		if (nanosleep(&pause, NULL) != 0)
			interrupted++;
		early += clock_now(CLOCK_MONOTONIC) - start < SLEEP_NS;
	}
	return NULL;
}

static void run_calls(void)
{
	void *(*const runs[])(void *) = {wait_in_read, wait_in_epoll, wait_in_futex, wait_in_sleep};
	pthread_t threads[4];
	struct epoll_event event = {.events = EPOLLIN};
	epoll_fd = epoll_create1(0);
	if (pipe(pipe_fds) != 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_fds[0], &event) != 0)
		exit(2);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, runs[i], NULL);
	work_for(duration_ns);
	pthread_mutex_lock(&mutex);
	is_over = true;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	if (write(pipe_fds[1], "ab", 2) != 2)
		exit(2);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("interrupted %u early %u\n", (unsigned)interrupted, (unsigned)early);
	fprintf(stderr, "epoll_wait interrupted %u\n", (unsigned)stopped);
}

static void *work_in_thread(void *nanoseconds)
{
	work_for(*(int64_t *)nanoseconds);
	return NULL;
}

static void run_masked(void)
{
	pthread_t thread;
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_create(&thread, NULL, work_in_thread, &duration_ns);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &all);
	printf("blocked %d\n", sigismember(&all, SIGWINCH) && sigismember(&all, SIGURG) && sigismember(&all, SIGTRAP));
}

static void run_churn(void)
{
	char line[256];
	unsigned timers = 0;
	int64_t part = duration_ns / CHURN;
	for (int i = 0; i < CHURN; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, work_in_thread, &part))
			exit(2);
		pthread_join(thread, NULL);
	}
	FILE *file = fopen("/proc/self/timers", "re");
	while (file && fgets(line, sizeof(line), file))
		timers += strncmp(line, "ID:", 3) == 0;
	printf("timers %u\n", timers);
}

static void *exec_masked(void *words)
{
	execv("/proc/self/exe", words);
	exit(2);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	if (argc > 2)
		duration_ns = atoll(argv[2]) * 1000000;
	if (strcmp(mode, "signals") == 0)
		run_signals();
	else if (strcmp(mode, "calls") == 0)
		run_calls();
	else if (strcmp(mode, "masked") == 0)
		run_masked();
	else if (strcmp(mode, "queued") == 0)
		run_queued();
	else if (strcmp(mode, "churn") == 0)
		run_churn();
	else if (strcmp(mode, "exec") == 0) {
		char *words[] = {argv[0], "masked", argc > 2 ? argv[2] : NULL, NULL};
		pthread_t thread;
		pthread_create(&thread, NULL, exec_masked, words);
		pthread_join(thread, NULL);
	}
	fflush(stdout);
	return STATUS_TOLD;
}
