/* SPDX-License-Identifier: Apache-2.0 */
/* Ends with the exit status of argv[1], or by the signal of argv[2]: exits CODE | exits - SIGNAL. */
#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	if (argc > 2)
		raise(atoi(argv[2]));
	return argc > 1 ? atoi(argv[1]) : 0;
}
