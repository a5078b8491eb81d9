/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * off_cpu.bpf.h - defines what the BPF program for waits (off_cpu.bpf.c) and its reader (off_cpu.c) share: values of
 * maps and records of the ring, in the byte order of this machine. Included by both, after the types with a fixed
 * width.
 */
#ifndef BPF_OFF_CPU_BPF_H
#define BPF_OFF_CPU_BPF_H

#include <linux/types.h>

#define OFF_CPU_FRAMES	 127 /* of the kernel's part of a stack, and of the user's */
#define OFF_CPU_PARTS	 6 /* user stacks that are remembered for each thread */
#define OFF_CPU_SLOTS	 4 /* sums that are kept with a thread */
#define OFF_CPU_OFFSETS	 48 /* words that identify a remembered stack */
#define OFF_CPU_WORDS	 64 /* of the user's stack, which are read at once; a power of two */
#define OFF_CPU_COMM	 16
#define OFF_CPU_CGROUPS	 16 /* whose threads are measured */
#define OFF_CPU_RESTARTS 6 /* kernel functions that continue a system call */

/* A thread that was stopped or frozen in some system calls continues in another one, restart_syscall. The function that
 * the kernel calls then tells which one it was. */
struct off_cpu_restart {
	__u64 function; /* its address; 0: none */
	__s32 syscall;
	__s32 zero;
};

/* Like enum wait_state, before the system call is considered. */
enum off_cpu_state {
	OFF_CPU_RUNNABLE = 1,
	OFF_CPU_SLEEPING = 2,
	OFF_CPU_UNINTERRUPTIBLE = 3,
	OFF_CPU_STOPPED = 4,
	OFF_CPU_DISK = 5,
	OFF_CPU_OTHER = 9
};

/* As enum wait_flags. */
enum off_cpu_flags {
	OFF_CPU_BEGAN_BEFORE = 2,
	OFF_CPU_UNFINISHED = 4,
	OFF_CPU_WAKER = 8,
	OFF_CPU_INTERRUPT = 16,
	OFF_CPU_PREEMPTED = 32
};

struct off_cpu_key { /* waits that are added up; no padding */
	__u64 stack, waker_stack; /* IDs; 0: none */
	__u32 tid, waker_tid;
	__s32 syscall; /* -1: none or not known */
	__u8 state, flags;
	__u16 zero;
};

struct off_cpu_sum {
	__u64 blocked_ns, runnable_ns; /* until woken, and from then until it ran */
	__u64 throttled_ns; /* of runnable_ns: a CPU quota kept it off the CPU */
	__u64 count;
	__u64 first_ns, last_ns; /* ends of waits */
	__u32 tgid, waker_tgid;
	__u32 cpu; /* of the last end */
	__u32 is_used; /* of a slot */
	char waker_comm[OFF_CPU_COMM];
};

struct off_cpu_slot {
	struct off_cpu_key key;
	struct off_cpu_sum sum;
};

struct off_cpu_user_part { /* the user's part of a stack that a thread had, and what its walk depended on */
	__u64 ip, sp; /* at the entry of the kernel */
	__u64 space; /* the state of the mappings */
	__u64 registers, check; /* hashes of the registers that were used, and of the words */
	__u64 id;
	__u16 offsets[OFF_CPU_OFFSETS]; /* of the words, in words above sp */
	__u8 count, uses; /* enum walk_uses: which registers */
	__u8 words; /* that are read at once, at most OFF_CPU_WORDS */
	__u8 zero[5];
};

struct off_cpu_thread {
	__u64 off_ns; /* since when it has been off the CPU; 0: not, or not known */
	__u64 woken_ns; /* last time; older than off_ns: before it was off */
	__u64 stack, waker_stack;
	__u64 before_stack, before_switches; /* of a wait that began before: its stack, and off_cpu_switches in it */
	__u64 quota_queue, quota_ns; /* whose quota may keep it off the CPU since it was ready to run; 0: not known */
	__u32 tgid, waker_tid, waker_tgid;
	__s32 syscall;
	__u32 generation; /* in which off_ns was set */
	__u8 state, flags;
	__u8 is_target; /* 0: only wakes others */
	__u8 is_told; /* the blocked part of this wait has been reported */
	__u8 next_part;
	__u8 partial; /* enum off_cpu_partial */
	__u8 is_throttled; /* it left the CPU because the quota of its cgroup was used up */
	__u8 zero[1];
	__u32 quota_cpu, zero32;
	char waker_comm[OFF_CPU_COMM];
	__u32 tags
		[OFF_CPU_PARTS]; /* hashes of what parts are found by, so that only one of them is read; 0: not valid */
	struct off_cpu_user_part user[OFF_CPU_PARTS];
	struct off_cpu_slot slots[OFF_CPU_SLOTS];
};

enum off_cpu_record_kind { OFF_CPU_STACK = 1, OFF_CPU_PART = 2 };

struct off_cpu_stack { /* followed by the kernel's addresses, then the user's, innermost first */
	__u32 kind;
	__u16 kernel_count, user_count;
	__u64 id;
};

struct off_cpu_part { /* one wait, or a part of one, that is long enough to be reported by itself */
	__u32 kind, cpu;
	struct off_cpu_key key;
	__u64 begin_ns, woken_ns, end_ns,
		throttled_ns; /* woken_ns: 0, the part is runnable from its beginning; end_ns: blocked until then */
	__u32 tgid, waker_tgid;
	char waker_comm[OFF_CPU_COMM];
};

enum off_cpu_partial { /* whether the stack of a wait was walked when some table was not there yet */
	OFF_CPU_IS_WHOLE,
	OFF_CPU_IS_PARTIAL,
	OFF_CPU_IS_READ_AGAIN, /* before_stack is that of this wait, if before_switches is still right */
};

enum off_cpu_memory_mode {
	OFF_CPU_REMEMBERS, /* stacks */
	OFF_CPU_FORGETS, /* each is taken: for tests */
	OFF_CPU_CHECKS, /* those that are recognized are taken all the same, and compared: for tests */
};

struct off_cpu_control {
	__u32 is_running, generation; /* waits of earlier generations are not counted */
};

struct off_cpu_counts { /* counts of what could not be stored */
	__u64 lost_threads; /* switches of threads that the map had no room for */
	__u64 lost_sums, lost_sum_ns; /* sums that their map had no room for */
	__u64 lost_stacks; /* that the ring had no room for */
	__u64 summed; /* long waits that the ring had no room for: they are in sums */
	__u64 mistaken_stacks; /* that were recognized, and were others when they were taken */
	__u64 partial_begun; /* waits whose stacks were walked when some table was not there yet */
	__u64 partial, partial_ns; /* of them those that ended before their stacks were read again */
	__u64 cut_stacks; /* longer than OFF_CPU_FRAMES */
};

#endif
