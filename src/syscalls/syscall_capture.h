/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_capture.h - determines which memory of each system call's arguments the BPF program copies, from the tables
 * of arguments.
 *
 *	struct syscall_plan *plan = calloc(SYSCALL_PLANS, sizeof(*plan));   // for 64-bit, 32-bit and unknown calls
 *	syscall_capture_plan(SYSCALLS_X86_64, &options, plan);
 *	syscall_capture_plan(SYSCALLS_I386, &options, plan + SYSCALL_NUMBERS);
 *	plan[SYSCALL_PLANS - 2] = plan[SYSCALL_PLANS - 1] = syscall_capture_others(&options);
 */
#ifndef SYSCALLS_SYSCALL_CAPTURE_H
#define SYSCALLS_SYSCALL_CAPTURE_H

#include "syscalls/btf_types.h"
#include "syscalls/syscall_names.h"

struct syscall_capture_options {
	const struct syscall_set *wanted; /* NULL for all calls. */
	bool nothing; /* Copies nothing, for sums, or if only numbers are printed. */
	bool no_files; /* Omits the paths of descriptors. */
	/* Maximum number of copied bytes of a buffer, at most SYSCALL_PART; 0 for SYSCALL_STRING_BYTES. */
	size_t string_bytes;
	const struct btf_types *types; /* Types for the sizes of structs without a form of their own; may be NULL. */
};

/*
 * Fills SYSCALL_NUMBERS plans, which are indexed by number. syscall_capture_others returns the plan for calls with
 * higher numbers, of which nothing is copied.
 */
void syscall_capture_plan(
	enum syscall_abi abi, const struct syscall_capture_options *options, struct syscall_plan *plan);
struct syscall_plan syscall_capture_others(const struct syscall_capture_options *options);

#endif
