/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walked_stack.h - defines the format in which BPF programs store user stacks (src/bpf/walk.bpf.h) and write stacks of
 * samples to the rings: as raw data of a sample of PERF_COUNT_SW_BPF_OUTPUT, immediately before the sample to which the
 * stack belongs. It is compiled for BPF, too. Readers of a ring must check every field.
 */
#ifndef ABI_WALKED_STACK_H
#define ABI_WALKED_STACK_H

#include <linux/types.h>

#define WALK_FRAMES	   127 /* The same limit as in perf. */
#define SAMPLE_STACK_MAGIC 0x4b415453u /* "STAK" in little-endian order. */

enum walk_end { /* Why unwinding ended. */
	WALK_ROOT, /* The outermost function was reached. */
	/* A word of the stack could not be read, because its page is not in memory, or the rest is on another stack
	 * that cannot be found. */
	WALK_SHORT,
	WALK_NO_TABLE, /* No unwind table covers the code, and there is no valid frame pointer. */
	WALK_BROKEN, /* The frame of the caller or the return address is not plausible. */
	WALK_LIMIT, /* The stack has more than WALK_FRAMES frames. */
	WALK_NO_REGISTERS, /* A rule needs a register with an unknown value. */
	WALK_ENDS, /* Number of reasons; within the BPF program: unwinding continues. */
};

struct walk_stack {
	__u32 count; /* Number of ips. */
	__u8 end; /* An enum walk_end. */
	__u8 bridged; /* Number of frames found by frame pointer; at most 255. */
	__u8 is_unknown; /* Mappings or tables of the process were not known yet. */
	__u8 is_interpreted; /* Contains frames of an interpreter, which are not addresses yet. */
	/* The innermost frame is first. The address of a caller is inside its call instruction, before the return
	 * address; that of an interrupted instruction is exact. */
	__u64 ips[WALK_FRAMES + 1];
};

struct sample_stack { /* Only the first stack.count addresses are valid. */
	__u32 magic, tid;
	struct walk_stack stack;
};

#endif
