/* SPDX-License-Identifier: Apache-2.0 */
/* counted.c - makes known event counts. counted TURNS [THREADS [FORKS]]: the main thread, THREADS threads, and FORKS
 * children with as many threads each all call work() and write cell TURNS times. Its addresses are fixed. With WAIT in
 * the environment, each process prints "ready PID" when its threads exist, and waits for a line on standard input.
 * counted migrate N: moves itself to another CPU N times. counted signal N: sends itself N signals SIGUSR1. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

int work(int value);

volatile long cell = 1; /* Initialised, so that it is not in .bss, which the kernel clears. */
static pthread_barrier_t all_there, may_start;
static int turns, threads;

__attribute__((noinline)) int work(int value)
{
	__asm__ volatile("");
	return value + 1;
}

static int work_often(void)
{
	int sum = 0;
	for (int i = 0; i < turns; i++)
		sum += work(i);
	return sum;
}

static void write_often(void)
{
	for (int i = 0; i < turns; i++)
		cell = i;
}

static void *thread_run(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&may_start);
	work_often();
	write_often();
	return NULL;
}

static int process_run(void)
{
	pthread_t ids[THREADS_MAX];
	char line[8];
	pthread_barrier_init(&all_there, NULL, (unsigned)threads + 1);
	pthread_barrier_init(&may_start, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, thread_run, NULL))
			return 2;
	}
	pthread_barrier_wait(&all_there);
	if (getenv("WAIT")) {
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 2;
	}
	pthread_barrier_wait(&may_start);
	work_often();
	write_often();
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

static int migrate(int times)
{
	cpu_set_t all, one;
	size_t cpu = (size_t)sched_getcpu();
	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		return 77;
	for (int i = 0; i < times; i++) {
		do {
			cpu = (cpu + 1) % CPU_SETSIZE;
		} while (!CPU_ISSET(cpu, &all));
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			return 2;
	}
	return 0;
}

static void ignore(int number)
{
	(void)number;
}

static int signal_often(int times)
{
	signal(SIGUSR1, ignore);
	for (int i = 0; i < times; i++)
		raise(SIGUSR1);
	return 0;
}

int main(int argc, char **argv)
{
	int forks = argc > 3 ? atoi(argv[3]) : 0;
	int failed = 0;
	if (argc > 2 && strcmp(argv[1], "migrate") == 0)
		return migrate(atoi(argv[2]));
	if (argc > 2 && strcmp(argv[1], "signal") == 0)
		return signal_often(atoi(argv[2]));
	turns = argc > 1 ? atoi(argv[1]) : 1;
	threads = argc > 2 ? atoi(argv[2]) : 0;
	if (threads > THREADS_MAX)
		return 2;
	for (int i = 0; i < forks; i++) {
		pid_t pid = fork();
		int status;
		if (pid < 0)
			return 2;
		if (pid == 0)
			_exit(process_run());
		if (waitpid(pid, &status, 0) != pid || status)
			failed = 3;
	}
	return failed ? failed : process_run();
}
