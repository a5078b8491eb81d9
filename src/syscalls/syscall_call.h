/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_call.h - defines a system call as it was traced: number, arguments, result, and the bytes that arguments
 * point to, where they were copied.
 *
 * It is filled from a record of our BPF program (syscall_call_read), or by the caller from the tracepoints
 * raw_syscalls:sys_enter and sys_exit, which have no copies. It borrows the record's bytes. Pure.
 *
 *	if (syscall_call_read(raw, SYSCALLS_X86_64, &call)) syscall_print_args(&text, &call, &options);
 */
#ifndef SYSCALLS_SYSCALL_CALL_H
#define SYSCALLS_SYSCALL_CALL_H

#include "abi/syscall_record.h"
#include "base/bytes.h"

/* A table of numbers. */
enum syscall_abi { SYSCALLS_X86_64, SYSCALLS_I386, SYSCALLS_ARM64, SYSCALLS_ARM, SYSCALLS_COUNT };

struct syscall_call {
	enum syscall_abi abi;
	uint32_t number;
	enum syscall_record_kind kind;
	uint32_t pid; /* the process, for the paths of its descriptors; the caller's to fill in */
	bool has_args; /* false: they are not known */
	bool has_begin; /* its beginning was seen, so the duration is known */
	bool is_within; /* it began within the trace, although its beginning was not seen */
	bool has_result; /* false: it has not returned, or never does */
	bool is_truncated; /* not all copies found room */
	uint64_t args[SYSCALL_ARGS];
	char name[SYSCALL_NAME]; /* of the thread; empty: not known */
	int64_t result;
	uint64_t duration_ns;
	struct tally_bytes captured; /* parts; read them by syscall_part_find */
};

struct syscall_copied {
	struct tally_bytes bytes;
	bool is_truncated;
};

/* False: these bytes are no such record, or a damaged one. native is the table of the machine's 64-bit programs. */
bool syscall_call_read(struct tally_bytes raw, enum syscall_abi native, struct syscall_call *call);
/* Whether a result of a call is an error, and its errno. */
bool syscall_result_failed(int64_t result, unsigned *error);
/* Finds the copy of an argument's item, as it was at exit or at entry. */
bool syscall_part_find(
	const struct syscall_call *call, unsigned arg, unsigned item, bool at_exit, struct syscall_copied *copied);
/* The table of a machine ("x86_64", "aarch64", ...); SYSCALLS_COUNT: there is none. is_compat: of its 32-bit programs. */
enum syscall_abi syscall_abi_of(const char *machine, bool is_compat);
/* Bytes of a pointer, and of long. */
unsigned syscall_abi_word(enum syscall_abi abi);

#endif
