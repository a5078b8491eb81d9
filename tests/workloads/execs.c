/* SPDX-License-Identifier: Apache-2.0 */
/* Becomes the program of argv[1] with the rest as its arguments, in the same process: execs CMD ARGS... */
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	execvp(argv[1], argv + 1);
	return 127;
}
