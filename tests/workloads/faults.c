/* SPDX-License-Identifier: Apache-2.0 */
/* Touches argv[1] fresh pages (default 1000), one byte each: that many page faults above those of starting up. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise((void *)(uintptr_t)memory, pages * page, MADV_NOHUGEPAGE))
		return 2;
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	return 0;
}
