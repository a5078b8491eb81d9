/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_capture.h - decides what the BPF program copies of each system call's arguments, from the tables.
 *
 *	struct syscall_plan *plan = calloc(SYSCALL_PLANS, sizeof(*plan));
 *	syscall_capture_plan(SYSCALLS_X86_64, &options, plan);
 *	syscall_capture_plan(SYSCALLS_I386, &options, plan + SYSCALL_NUMBERS);
 */
#ifndef SYSCALLS_SYSCALL_CAPTURE_H
#define SYSCALLS_SYSCALL_CAPTURE_H

#include "syscalls/btf_types.h"
#include "syscalls/syscall_names.h"

struct syscall_capture_options {
	const struct syscall_set *wanted; /* NULL: all */
	bool nothing; /* copy nothing: for sums, or where only numbers are shown */
	bool no_files; /* descriptors without their paths */
	size_t string_bytes; /* how much of a buffer is copied, at most SYSCALL_PART; 0: SYSCALL_STRING_BYTES */
	const struct btf_types *types; /* for the sizes of structs without a form of their own; may be NULL */
};

/* Fills SYSCALL_NUMBERS plans. Calls of other numbers have one that copies nothing: syscall_capture_others. */
void syscall_capture_plan(
	enum syscall_abi abi, const struct syscall_capture_options *options, struct syscall_plan *plan);
struct syscall_plan syscall_capture_others(const struct syscall_capture_options *options);

#endif
