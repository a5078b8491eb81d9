/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walked_stack.h - defines the form in which our BPF programs store a user stack (src/bpf/walk.bpf.h), and puts stacks
 * of samples into the rings: as raw data of a sample of PERF_COUNT_SW_BPF_OUTPUT, right before the sample that the
 * stack belongs to. It is compiled for BPF, too. Readers of a ring must check every field.
 */
#ifndef ABI_WALKED_STACK_H
#define ABI_WALKED_STACK_H

#include <linux/types.h>

#define WALK_FRAMES	   127 /* perf's limit, too */
#define SAMPLE_STACK_MAGIC 0x4b415453u /* "STAK" */

enum walk_end { /* how a stack ended */
	WALK_ROOT,
	/* A word of the stack could not be read, because its page is not in memory, or the rest is on another stack to which
	 * nothing leads. */
	WALK_SHORT,
	WALK_NO_TABLE,
	WALK_BROKEN,
	WALK_LIMIT,
	WALK_NO_REGISTERS,
	WALK_ENDS,
};

struct walk_stack {
	__u32 count; /* of ips */
	__u8 end; /* enum walk_end */
	__u8 bridged; /* frames that were found by frame pointer; at most 255 */
	__u8 is_unknown; /* the process's mappings were not known yet */
	__u8 is_interpreted; /* it has frames of an interpreter, which are not addresses yet */
	/* Innermost first. The address of a caller lies inside its call, one byte before the return address; the
	 * address of an interrupted instruction is exact. */
	__u64 ips[WALK_FRAMES + 1];
};

struct sample_stack { /* only the first stack.count addresses are valid */
	__u32 magic, tid;
	struct walk_stack stack;
};

#endif
