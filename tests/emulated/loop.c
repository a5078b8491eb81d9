/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a known number of instructions in user mode: 2 per iteration of spin, 4 per iteration of twice; in each
 * round it writes cell twice and reads it once. For the emulated PMU. */
#include <stdio.h>
#include <stdlib.h>

volatile long cell = 1;

void spin(unsigned long turns);
void twice(unsigned long turns);

__asm__(".text\n"
	".global spin\n.type spin, %function\n"
	"spin:\n1:\tsubs x0, x0, #1\n\tb.ne 1b\n\tret\n.size spin, . - spin\n"
	".global twice\n.type twice, %function\n"
	"twice:\n1:\tnop\n\tnop\n\tsubs x0, x0, #1\n\tb.ne 1b\n\tret\n.size twice, . - twice\n");

int main(int argc, char **argv)
{
	unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	for (unsigned long i = 0; i < rounds; i++) {
		spin(turns);
		twice(turns);
		cell = 2;
		cell += 1;
	}
	return 0;
}
