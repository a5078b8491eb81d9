/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads named worker-0 .. worker-3 burn CPU in work_0 .. work_3; argv[1] milliseconds of CPU each. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "keep_frame.h"

static int64_t duration_ns;

static int64_t thread_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#define WORKER(number)                                                                                 \
	__attribute__((noinline)) static uint64_t work_##number(uint64_t value)                        \
	{                                                                                              \
		KEEP_FRAME();                                                                          \
		for (int i = 0; i < 100000; i++)                                                       \
			value = value * UINT64_C(6364136223846793005) + 1442695040888963407u + number; \
		return value;                                                                          \
	}
WORKER(0)
WORKER(1)
WORKER(2)
WORKER(3)

static uint64_t (*const work[])(uint64_t) = {work_0, work_1, work_2, work_3};

static void *run(void *argument)
{
	int number = *(int *)argument;
	uint64_t value = 1;
	int64_t end = thread_ns() + duration_ns;
	char name[16];
	snprintf(name, sizeof(name), "worker-%d", number);
	pthread_setname_np(pthread_self(), name);
	while (thread_ns() < end)
		value = work[number](value);
	*(int *)argument = value == 0;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	int numbers[4];
	int failed = 0;
	duration_ns = (argc > 1 ? atoll(argv[1]) : 200) * 1000000;
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, run, &numbers[i]))
			return 2;
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		failed |= numbers[i];
	}
	return failed;
}
