/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_trace.bpf.h - defines what syscall_trace.bpf.c and syscall_trace.c share, besides abi/syscall_record.h: the
 * entries of threads, and the counts of what was lost.
 */
#ifndef BPF_SYSCALL_TRACE_BPF_H
#define BPF_SYSCALL_TRACE_BPF_H

#include <linux/types.h>

#include "abi/syscall_record.h"

#define SYSCALL_TRACE_CPUS    4096
#define SYSCALL_TRACE_CGROUPS 16
#define SYSCALL_MOST_ERRORS   4095 /* results from -4095 to -1 are errors */
#define SYSCALL_ENOSPC	      28

struct syscall_thread {
	__u64 begin_ns; /* 0: it is in no call */
	__u32 index; /* of the call's plan */
	__u32 number;
	__u32 pid;
	__u8 is_excluded, has_copies, is_compat;
	__u8 waits; /* for its next exec, which is its first call that is wanted */
	__u8 is_seen; /* between calls, since the trace began: its next one begins within it */
	__u8 unused[7];
	__u64 args[SYSCALL_ARGS];
};

struct syscall_copies { /* of a thread's call */
	volatile __u32 used, late; /* late: arguments to be read at the end */
	/* The part that is copied now. */
	volatile __u64 from, left;
	volatile __u64 dentry, mount; /* of the file whose names are copied */
	volatile __u32 want, vectors;
	volatile __u8 arg, item, flags, is_string, is_cut, unused[3];
	struct syscall_record record;
	__u8 bytes[SYSCALL_CAPTURES + SYSCALL_PART + 4 * sizeof(struct syscall_part)];
};

struct syscall_trace_counts { /* of what found no room */
	__u64 records, threads, sums, children;
};

#endif
