/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_forms.h"

#include <pthread.h>

#include "base/array.h"
#include "syscalls/syscall_numbers.h"

/*
 * Forms by ABI and number. Filled once from the tables of names and of forms, which are separate because they come
 * from separate sources.
 */
static const struct syscall_form *forms_by_number[SYSCALLS_COUNT][SYSCALL_NUMBERS];
static pthread_once_t forms_are_linked = PTHREAD_ONCE_INIT;

static void syscall_forms_link_list(enum syscall_abi abi, const struct syscall_form_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->forms[i].name;
		uint32_t number = syscall_number(abi, str_from(name));
		if (number < SYSCALL_NUMBERS && strcmp(syscall_name(abi, number), name) == 0)
			forms_by_number[abi][number] = &list->forms[i];
	}
}

static void syscall_forms_link(void)
{
	for (enum syscall_abi abi = 0; abi < SYSCALLS_COUNT; abi++) {
		syscall_forms_link_list(abi, &syscall_forms_files);
		syscall_forms_link_list(abi, &syscall_forms_sockets);
		syscall_forms_link_list(abi, &syscall_forms_process);
		syscall_forms_link_list(abi, &syscall_forms_memory);
	}
	syscall_forms_link_list(SYSCALLS_I386, &syscall_forms_i386);
	syscall_forms_link_list(SYSCALLS_ARM64, &syscall_forms_arm64);
}

const struct syscall_form *syscall_form_find(enum syscall_abi abi, uint32_t number)
{
	pthread_once(&forms_are_linked, syscall_forms_link);
	return abi < SYSCALLS_COUNT && number < SYSCALL_NUMBERS ? forms_by_number[abi][number] : NULL;
}

/* Size of one unit in bytes, for 64-bit and for 32-bit programs. */
static const struct {
	uint16_t bytes, compat;
} forms_sizes[KIND_COUNT] = {
	[KIND_FD_PAIR] = {8, 8},
	[KIND_INT_PTR] = {4, 4},
	[KIND_LONG_PTR] = {8, 8},
	[KIND_UINTS] = {4, 4},
	[KIND_POLLFD] = {8, 8},
	[KIND_EPOLL_EVENT] = {12, 12},
	[KIND_SEMBUF] = {6, 6},
	[KIND_TIMESPEC] = {16, 8},
	[KIND_TIMESPECS] = {32, 16},
	[KIND_TIMESPEC64] = {16, 16},
	[KIND_TIMESPECS64] = {32, 32},
	[KIND_ITIMERSPEC64] = {32, 32},
	[KIND_TIMEVAL] = {16, 8},
	[KIND_TIMEVALS] = {32, 16},
	[KIND_ITIMERVAL] = {32, 16},
	[KIND_ITIMERSPEC] = {32, 16},
	[KIND_UTIMBUF] = {16, 8},
	[KIND_SIGSET] = {8, 8},
	[KIND_SIGACTION] = {32, 20},
	[KIND_SIGINFO] = {32, 0},
	[KIND_SIGALTSTACK] = {24, 0},
	[KIND_SCHED_PARAM] = {4, 4},
	[KIND_CLONE_ARGS] = {88, 88},
	[KIND_OPEN_HOW] = {24, 24},
	[KIND_STAT] = {144, 0},
	[KIND_STATX] = {256, 256},
	[KIND_STATFS] = {120, 0},
	[KIND_UTSNAME] = {390, 390},
	[KIND_SYSINFO] = {112, 0},
	[KIND_TMS] = {32, 16},
	[KIND_RLIMIT] = {16, 8},
	[KIND_RLIMIT64] = {16, 16},
	[KIND_RUSAGE] = {144, 0},
	[KIND_WAIT_STATUS] = {4, 4},
};

unsigned syscall_kind_bytes(enum syscall_kind kind, enum syscall_abi abi)
{
	if (kind == KIND_EPOLL_EVENT && (abi == SYSCALLS_ARM64 || abi == SYSCALLS_ARM))
		return 16;
	if (kind == KIND_STAT && abi == SYSCALLS_ARM64)
		return 128;
	return syscall_abi_word(abi) == 8 ? forms_sizes[kind].bytes : forms_sizes[kind].compat;
}
