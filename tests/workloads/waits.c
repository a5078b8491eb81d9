/* SPDX-License-Identifier: Apache-2.0 */
/* For attaching by pid: prints "ready PID", then burns CPU in busy() until standard input ends or argv[1] seconds pass.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "keep_frame.h"

__attribute__((noinline)) static uint64_t busy(uint64_t value)
{
	KEEP_FRAME();
	for (int i = 0; i < 1000000; i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return value;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 60);
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t value = 1;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (poll(&input, 1, 0) == 0 && time(NULL) < end)
		value = busy(value);
	return value == 0;
}
