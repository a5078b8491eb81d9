/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscalls.c - makes COUNT small system calls, for measuring the cost of a tracer: syscalls COUNT. It prints the
 * number of calls per second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000000;
	double begin = seconds_now();
	for (long i = 0; i < count; i++)
		(void)syscall(SYS_getppid);
	printf("%.0f\n", (double)count / (seconds_now() - begin));
	return 0;
}
