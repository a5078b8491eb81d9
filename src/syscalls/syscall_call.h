/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_call.h - defines a traced system call: number, arguments, result, and copies of the memory that arguments
 * point to.
 *
 * It is filled from a record of the BPF program (syscall_call_read), or by the caller from the tracepoints
 * raw_syscalls:sys_enter and sys_exit, which have no copies. It borrows the record's bytes.
 *
 *	if (syscall_call_read(raw, SYSCALLS_X86_64, &call)) syscall_print_args(&text, &call, &options);
 */
#ifndef SYSCALLS_SYSCALL_CALL_H
#define SYSCALLS_SYSCALL_CALL_H

#include "abi/syscall_record.h"
#include "base/bytes.h"

/* Tables of system call numbers. */
enum syscall_abi { SYSCALLS_X86_64, SYSCALLS_I386, SYSCALLS_ARM64, SYSCALLS_ARM, SYSCALLS_COUNT };

struct syscall_call {
	enum syscall_abi abi;
	uint32_t number;
	enum syscall_record_kind kind;
	uint32_t pid; /* Process ID, for the paths of descriptors; set by the caller. */
	bool has_args; /* True if args is valid. */
	bool has_begin; /* True if the beginning of the call was seen, so the duration is known. */
	bool is_within; /* True if the call began within the trace, although its beginning was not seen. */
	bool has_result; /* False if the call has not returned, or never does. */
	bool is_truncated; /* True if some copies are missing for lack of room. */
	uint64_t args[SYSCALL_ARGS];
	char name[SYSCALL_NAME]; /* Name of the thread; empty if it is not known. */
	int64_t result;
	uint64_t duration_ns;
	struct tally_bytes captured; /* Copies of memory, which syscall_part_find decodes; borrowed from the record. */
};

/* Memory that was copied from the program, borrowed from the record; is_truncated means that the program has more. */
struct syscall_copied {
	struct tally_bytes bytes;
	bool is_truncated;
};

/*
 * Decodes a record. Returns false if it has another format or is damaged. native is the table of the machine's 64-bit
 * programs.
 */
bool syscall_call_read(struct tally_bytes raw, enum syscall_abi native, struct syscall_call *call);
/* Returns true if the result of a call is an error, and stores its errno. */
bool syscall_result_failed(int64_t result, unsigned *error);
/*
 * Finds a copy of memory that argument number `arg` refers to, made at the exit of the call if at_exit is set,
 * otherwise at its entry. item is one of SYSCALL_ITEM_... (abi/syscall_record.h). Returns false if there is no such
 * copy.
 */
bool syscall_part_find(
	const struct syscall_call *call, unsigned arg, unsigned item, bool at_exit, struct syscall_copied *copied);
/*
 * Returns the table of a machine ("x86_64", "aarch64", ...), or of its 32-bit programs if is_compat is set;
 * SYSCALLS_COUNT if there is none.
 */
enum syscall_abi syscall_abi_of(const char *machine, bool is_compat);
/* Returns the size in bytes of a pointer and of a long. */
unsigned syscall_abi_word(enum syscall_abi abi);

#endif
