/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cut_files.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t met;
static uintptr_t page_bytes;

/* Handles SIGBUS: a page that a truncated file no longer has is replaced by zeros. mmap is a plain system call on
 * Linux, although POSIX does not list it as async-signal-safe. */
static void put_zeros(int number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(page_bytes - 1);
	(void)context;
	met = 1;
	if (info->si_code == BUS_ADRERR &&
		mmap((void *)page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		return;
	/* The memory itself is faulty: the read is repeated and terminates the program. */
	signal(number, SIG_DFL);
}

void install_sigbus_handler(void)
{
	struct sigaction action = {.sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO | SA_RESTART};
	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	(void)sigaction(SIGBUS, &action, NULL);
}

bool cut_files_were_met(void)
{
	return met != 0;
}
