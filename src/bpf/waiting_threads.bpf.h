/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * waiting_threads.bpf.h - defines what the BPF program that visits all threads (waiting_threads.bpf.c) and its reader
 * (waiting_threads.c) share: the records that it writes, in the byte order of this machine. Included by both, after the
 * types with a fixed width.
 */
#ifndef BPF_WAITING_THREADS_BPF_H
#define BPF_WAITING_THREADS_BPF_H

#include <linux/types.h>

#define WAITING_REGISTERS 33 /* by perf's numbers: x86-64 has 24 of them, aarch64 33 */
#define WAITING_FRAMES	  127

enum waiting_target { WAITING_THREAD = 1, WAITING_PROCESS = 2 }; /* what the ID of a target stands for */

struct waiting_record {
	__u64 stack; /* ID of the wait's stack */
	__u64 switches; /* how often the thread had left the CPU: the wait lasts as long as this is so */
	__u32 tid, tgid;
	__u16 kernel_count; /* at most WAITING_FRAMES */
	__u8 has_registers; /* of a 64-bit program */
	__u8 zero[5];
	__u64 registers[WAITING_REGISTERS]; /* of user space */
	__u64 kernel[WAITING_FRAMES + 1]; /* the last one for the verifier only */
};

#define WAITING_RECORD_BYTES __builtin_offsetof(struct waiting_record, kernel) /* without the kernel's frames */

#endif
