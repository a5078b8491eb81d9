/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_trace.bpf.h - defines the map entries that syscall_trace.bpf.c and syscall_trace.c share besides those of
 * abi/syscall_record.h: the states of threads, and the counts of lost data.
 */
#ifndef BPF_SYSCALL_TRACE_BPF_H
#define BPF_SYSCALL_TRACE_BPF_H

#include <linux/types.h>

#include "abi/syscall_record.h"

#define SYSCALL_TRACE_CPUS    4096
#define SYSCALL_TRACE_CGROUPS 16
#define SYSCALL_MOST_ERRORS   4095 /* Results from -4095 to -1 are errors. */
#define SYSCALL_ENOSPC	      28

struct syscall_thread {
	__u64 begin_ns; /* Time at which the call began; 0 if the thread is in no traced call. */
	__u32 index; /* Index of the call's plan. */
	__u32 number;
	__u32 pid;
	/* has_copies: a struct syscall_copies belongs to the call. is_compat: it is a call of a 32-bit program. */
	__u8 is_excluded, has_copies, is_compat;
	__u8 waits; /* Nonzero until the thread's next exec, which is the first call to be traced. */
	/*
	 * Nonzero if the thread has returned from a call since the trace began, so that its next call begins within the
	 * trace.
	 */
	__u8 is_seen;
	__u8 unused[7];
	__u64 args[SYSCALL_ARGS];
};

struct syscall_copies { /* Copied parts of a thread's current call. */
	/* used is a number of bytes; late is a bit set of the arguments to be read at the end of the call. */
	volatile __u32 used, late;
	/*
	 * Description of the part that is being copied: want bytes at from, or fewer if a string ends. is_cut means
	 * that there is more to copy. left is the number of bytes that may still be copied; in exec, the end of the
	 * strings; for a file, the offset of the mapped data.
	 */
	volatile __u64 from, left;
	volatile __u64 dentry, mount; /* File and mount of which the names are being copied. */
	volatile __u32 want, vectors; /* vectors is the number of iovecs that are copied. */
	volatile __u8 arg, item, flags, is_string, is_cut, unused[3];
	struct syscall_record record;
	__u8 bytes[SYSCALL_CAPTURES + SYSCALL_PART + 4 * sizeof(struct syscall_part)];
};

struct syscall_trace_counts { /* Counts data for which there was no room, as in struct syscall_trace_losses. */
	__u64 records, threads, sums, children;
};

#endif
