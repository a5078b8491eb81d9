/* SPDX-License-Identifier: Apache-2.0 */
/* Forks argv[1] children one after another; each burns 10 ms of CPU in child_work() and exits with 0. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keep_frame.h"

__attribute__((noinline)) static uint64_t child_work(uint64_t value)
{
	KEEP_FRAME();
	for (int i = 0; i < 100000; i++)
		value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return value;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();
		int status;
		if (pid < 0)
			return 2;
		if (pid == 0) {
			clock_t end = clock() + CLOCKS_PER_SEC / 100;
			uint64_t value = 1;
			while (clock() < end)
				value = child_work(value);
			_exit(value == 0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 3;
	}
	return 0;
}
