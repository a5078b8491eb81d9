/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Burns CPU in leaf() below level_1 .. level_20, each a function of its own with a frame pointer; argv[1] milliseconds
 * of CPU time. With argv[2] it sleeps so many microseconds after each 16 calls of leaf(), which take 1 to 2
 * milliseconds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "keep_frame.h"

#define NOINLINE __attribute__((noinline))

NOINLINE static uint64_t leaf(uint64_t value)
{
	KEEP_FRAME();
	for (int i = 0; i < 100000; i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return value;
}

/* The addition after the call prevents a tail call. */
#define LEVEL(number, below)                                    \
	NOINLINE static uint64_t level_##number(uint64_t value) \
	{                                                       \
		return below(value) + number;                   \
	}
LEVEL(20, leaf)
LEVEL(19, level_20)
LEVEL(18, level_19)
LEVEL(17, level_18)
LEVEL(16, level_17)
LEVEL(15, level_16)
LEVEL(14, level_15)
LEVEL(13, level_14)
LEVEL(12, level_13)
LEVEL(11, level_12)
LEVEL(10, level_11)
LEVEL(9, level_10)
LEVEL(8, level_9)
LEVEL(7, level_8)
LEVEL(6, level_7)
LEVEL(5, level_6)
LEVEL(4, level_5)
LEVEL(3, level_4)
LEVEL(2, level_3)
LEVEL(1, level_2)

int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);
	long pause_us = argc > 2 ? atol(argv[2]) : 0;
	struct timespec pause = {.tv_sec = pause_us / 1000000, .tv_nsec = pause_us % 1000000 * 1000};
	uint64_t value = 1;
	unsigned calls = 0;
	while (clock() < end) {
		value = level_1(value);
		if (pause_us > 0 && ++calls % 16 == 0)
			nanosleep(&pause, NULL);
	}
	return value == 0;
}
