/* SPDX-License-Identifier: Apache-2.0 */
/* Two programs with known call chains and waits, built without frame pointers. `known_chain stack TURNS` computes in
 * burn(), below twelve functions with frames of different kinds. `known_chain lock MS` makes a thread wait so long for
 * a mutex in the kernel: both of its threads read one open /dev/kmsg, which has no new messages until then. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))

static volatile unsigned long counter;
static int log_fd;

KEPT static unsigned long burn(long turns)
{
	for (long i = 0; i < turns; i++)
		counter += (unsigned long)i * 3;
	return counter;
}

/* The frame needs a frame pointer, because its size is known only at run time. */
KEPT static unsigned long variable(long turns)
{
	size_t bytes = 16 + (size_t)(turns & 15) * 64;
	volatile char *place = __builtin_alloca(bytes);
	place[bytes - 1] = 1;
	return burn(turns) + (unsigned long)place[bytes - 1];
}

/* Larger than the offset range of a single load of a saved register. */
KEPT static unsigned long large(long turns)
{
	volatile char place[40000];
	place[turns % 40000] = 1;
	return variable(turns) + (unsigned long)place[turns % 40000];
}

/* Floating-point registers are among the saved ones, too. */
KEPT static unsigned long floats(long turns)
{
	register double a __asm__("d8") = (double)turns;
	__asm__ volatile("" : "+w"(a));
	unsigned long result = large(turns);
	__asm__ volatile("" : "+w"(a));
	return result + (unsigned long)a;
}

/* The addition after the call prevents a tail call. */
#define LEVEL(number, below)                                 \
	KEPT static unsigned long level_##number(long turns) \
	{                                                    \
		return below(turns) + number;                \
	}
LEVEL(9, floats)
LEVEL(8, level_9)
LEVEL(7, level_8)
LEVEL(6, level_7)
LEVEL(5, level_6)
LEVEL(4, level_5)
LEVEL(3, level_4)
LEVEL(2, level_3)
LEVEL(1, level_2)

static void *read_log(void *name)
{
	char line[1024];
	pthread_setname_np(pthread_self(), name);
	if (read(log_fd, line, sizeof(line)) <= 0)
		exit(1);
	return NULL;
}

static void rest(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&t, NULL);
}

static int wait_for_lock(long ms)
{
	pthread_t holder, waiter;
	log_fd = open("/dev/kmsg", O_RDWR);
	if (log_fd < 0 || lseek(log_fd, 0, SEEK_END) < 0 || pthread_create(&holder, NULL, read_log, "holder") != 0)
		return 1;
	rest(20);
	if (pthread_create(&waiter, NULL, read_log, "waiter") != 0)
		return 1;
	rest(ms);
	for (int i = 0; i < 2; i++)
		if (write(log_fd, "<7>known_chain\n", 15) != 15)
			return 1;
	return pthread_join(holder, NULL) || pthread_join(waiter, NULL);
}

int main(int argc, char **argv)
{
	long value = argc == 3 ? atol(argv[2]) : 0;
	if (value > 0 && strcmp(argv[1], "stack") == 0)
		return level_1(value) == 0;
	if (value > 0 && strcmp(argv[1], "lock") == 0)
		return wait_for_lock(value);
	fprintf(stderr, "usage: known_chain stack TURNS | known_chain lock MS\n");
	return 2;
}
