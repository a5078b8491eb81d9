/* SPDX-License-Identifier: Apache-2.0 */
/* Burns CPU at the bottom of descend(), which calls itself 50 times; argv[1] milliseconds. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "keep_frame.h"

__attribute__((noinline)) static uint64_t descend(unsigned int depth, uint64_t value)
{
	KEEP_FRAME();
	if (depth)
		return descend(depth - 1, value) + depth;
	for (int i = 0; i < 100000; i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return value;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);
	uint64_t value = 1;
	while (clock() < end)
		value = descend(50, value);
	return value == 0;
}
