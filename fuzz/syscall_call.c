/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_call.c - decodes arbitrary bytes as records of system calls: they are refused or printed, with every table
 * and all options, and the printed text has no control characters.
 */
#include "syscalls/syscall_call.h"

#include <stdlib.h>

#include "base/control.h"
#include "syscalls/syscall_print.h"

static struct tally_str known_path(void *context, uint32_t pid, int fd)
{
	return STR("a\x1b");
}

static struct tally_str known_name(void *context, uint32_t tid)
{
	return STR("b\n");
}

static void print_call(const struct syscall_call *call, unsigned choice)
{
	const struct syscall_print_options options = {.no_names = choice & 1,
		.with_zeros = choice & 2,
		.with_prefixes = choice & 4,
		.no_buffer_quotes = choice & 8,
		.force_btf = choice & 16,
		.fd_path = known_path,
		.thread_name = known_name};
	struct text t = {0};
	syscall_print_name(&t, call->abi, call->number);
	syscall_print_args(&t, call, &options);
	syscall_print_result(&t, call, &options);
	if (t.len && control_span(t.data, t.len) != t.len)
		abort();
	text_deinit(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct syscall_call call;
	if (!size)
		return 0;
	for (enum syscall_abi abi = 0; abi < SYSCALLS_COUNT; abi++) {
		if (!syscall_call_read((struct tally_bytes){data + 1, size - 1}, abi, &call))
			continue;
		for (uint32_t i = 0; i < 4; i++) { /* Few 32-bit numbers are numbers of calls. */
			call.number = (call.number + 97 * i) % SYSCALL_NUMBERS;
			print_call(&call, data[0]);
		}
	}
	return 0;
}
