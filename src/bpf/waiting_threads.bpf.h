/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * waiting_threads.bpf.h - defines the records that the BPF program that visits all threads (waiting_threads.bpf.c)
 * writes and its reader (waiting_threads.c) decodes, in the byte order of this machine. Both include it after a header
 * that defines the types with a fixed width.
 */
#ifndef BPF_WAITING_THREADS_BPF_H
#define BPF_WAITING_THREADS_BPF_H

#include <linux/types.h>

#define WAITING_REGISTERS 33 /* Indexed by perf's register numbers, of which x86-64 uses 24 and aarch64 33. */
#define WAITING_FRAMES	  127 /* Maximum number of kernel frames. */

enum waiting_target { WAITING_THREAD = 1, WAITING_PROCESS = 2 }; /* Flags: what the ID of a target identifies. */

struct waiting_record { /* A thread that is off the CPU. Only kernel_count elements of kernel are written. */
	__u64 stack; /* ID of the stack of this wait. */
	__u64 switches; /* How often the thread had left the CPU; the wait lasts until this changes. */
	__u32 tid, tgid;
	__u16 kernel_count; /* At most WAITING_FRAMES. */
	__u8 has_registers; /* 1 if registers is valid, which it is for 64-bit programs only. */
	__u8 zero[5];
	__u64 registers[WAITING_REGISTERS]; /* Registers of user space. */
	__u64 kernel[WAITING_FRAMES + 1]; /* The last element is unused; it satisfies the verifier. */
};

/* Size of a record without kernel frames. */
#define WAITING_RECORD_BYTES __builtin_offsetof(struct waiting_record, kernel)

#endif
