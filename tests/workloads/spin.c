/* SPDX-License-Identifier: Apache-2.0 */
/* Burns CPU in spin() for the milliseconds of argv[1]; nothing else takes time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "keep_frame.h"

static int64_t cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

__attribute__((noinline)) static uint64_t spin(uint64_t value)
{
	KEEP_FRAME();
	for (int i = 0; i < 1000000; i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return value;
}

int main(int argc, char **argv)
{
	int64_t end = cpu_ns() + (argc > 1 ? atoll(argv[1]) : 500) * 1000000;
	uint64_t value = 1;
	while (cpu_ns() < end)
		value = spin(value);
	return value == 0;
}
