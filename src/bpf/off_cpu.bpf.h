/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * off_cpu.bpf.h - defines the map values and ring buffer records that the BPF program for waits (off_cpu.bpf.c) and its
 * reader (off_cpu.c) share, in the byte order of this machine. Both include it after a header that defines the types
 * with a fixed width.
 */
#ifndef BPF_OFF_CPU_BPF_H
#define BPF_OFF_CPU_BPF_H

#include <linux/types.h>

#define OFF_CPU_FRAMES	 127 /* Maximum number of kernel frames of a stack, and of user frames. */
#define OFF_CPU_PARTS	 6 /* Number of user stacks that are remembered for each thread. */
#define OFF_CPU_SLOTS	 4 /* Number of sums that are stored in a thread's entry. */
#define OFF_CPU_OFFSETS	 48 /* Maximum number of stack words that identify a remembered stack. */
#define OFF_CPU_WORDS	 64 /* Maximum number of words of a user stack that are read at once; a power of two. */
#define OFF_CPU_COMM	 16
#define OFF_CPU_CGROUPS	 16 /* Maximum number of selected cgroups. */
#define OFF_CPU_RESTARTS 6 /* Number of kernel functions that restart a system call. */

/*
 * Identifies a system call that restart_syscall continues after the thread was stopped or frozen, by the kernel
 * function in the thread's restart_block.
 */
struct off_cpu_restart {
	__u64 function; /* Address of the function; 0 if this element is unused. */
	__s32 syscall;
	__s32 zero;
};

/* The values correspond to enum wait_state, without the distinctions that depend on the system call. */
enum off_cpu_state {
	OFF_CPU_RUNNABLE = 1,
	OFF_CPU_SLEEPING = 2,
	OFF_CPU_UNINTERRUPTIBLE = 3,
	OFF_CPU_STOPPED = 4,
	OFF_CPU_DISK = 5,
	OFF_CPU_OTHER = 9
};

/* The values are those of enum wait_flags. */
enum off_cpu_flags {
	OFF_CPU_BEGAN_BEFORE = 2,
	OFF_CPU_UNFINISHED = 4,
	OFF_CPU_WAKER = 8,
	OFF_CPU_INTERRUPT = 16,
	OFF_CPU_PREEMPTED = 32
};

struct off_cpu_key { /* Waits with the same key are added up. There is no padding, because the struct is a map key. */
	__u64 stack, waker_stack; /* IDs of stacks; 0 if there is no stack. */
	__u32 tid, waker_tid;
	__s32 syscall; /* -1 if the thread was in no system call or it is not known. */
	__u8 state, flags;
	__u16 zero;
};

struct off_cpu_sum {
	__u64 blocked_ns, runnable_ns; /* Time until the thread was woken, and from then until it ran. */
	__u64 throttled_ns; /* Part of runnable_ns in which a CPU quota kept the thread off the CPU. */
	__u64 count;
	__u64 first_ns, last_ns; /* Times at which the first and the last wait ended. */
	__u32 tgid, waker_tgid;
	__u32 cpu; /* CPU on which the last wait ended. */
	__u32 is_used; /* Nonzero if the slot of a thread contains a sum. */
	char waker_comm[OFF_CPU_COMM];
};

struct off_cpu_slot { /* A sum that is stored in a thread's entry. */
	struct off_cpu_key key;
	struct off_cpu_sum sum;
};

struct off_cpu_user_part { /* A remembered user stack of a thread, and the values that its unwinding depended on. */
	__u64 ip, sp; /* Registers at the entry to the kernel. */
	__u64 space; /* Identifies the state of the mappings (off_cpu_space_of). */
	__u64 registers, check; /* Hashes of the registers that the walk used, and of the stack words at offsets. */
	__u64 id;
	__u16 offsets[OFF_CPU_OFFSETS]; /* Offsets of the recorded words from sp, in units of words. */
	__u8 count, uses; /* count is the number of offsets; uses contains flags of enum walk_uses. */
	__u8 words; /* Number of words to read at once from sp on, at most OFF_CPU_WORDS. */
	__u8 zero[5];
};

struct off_cpu_thread {
	__u64 off_ns; /* Time at which the thread left the CPU; 0 if it is on the CPU or the time is not known. */
	__u64 woken_ns; /* Time of the last wakeup; a time before off_ns belongs to an earlier wait. */
	__u64 stack, waker_stack;
	/* ID of the stack that waiting_threads.bpf.c has read, and the value of off_cpu_switches at that time. */
	__u64 before_stack, before_switches;
	/*
	 * Address of the cfs_rq of which the quota may keep the thread off the CPU, and its throttled time when the
	 * thread became ready to run; 0 if not known.
	 */
	__u64 quota_queue, quota_ns;
	__u32 tgid, waker_tid, waker_tgid;
	__s32 syscall;
	__u32 generation; /* Generation in which off_ns was set. */
	__u8 state, flags;
	__u8 is_target; /* 0 if the waits of this thread are measured only with all_threads. */
	__u8 next_part; /* Index of the element of user that is replaced next. */
	__u8 partial; /* enum off_cpu_partial */
	__u8 is_throttled; /* Nonzero if the thread left the CPU because the quota of its cgroup was used up. */
	__u8 zero[2];
	__u32 quota_cpu, zero32; /* quota_cpu is the CPU of quota_queue. */
	char waker_comm[OFF_CPU_COMM];
	/* Hashes of ip and sp of the elements of user, by which they are found; 0 if the element is not used. */
	__u32 tags[OFF_CPU_PARTS];
	struct off_cpu_user_part user[OFF_CPU_PARTS];
	struct off_cpu_slot slots[OFF_CPU_SLOTS];
};

enum off_cpu_record_kind { OFF_CPU_STACK = 1, OFF_CPU_PART = 2 };

struct off_cpu_stack { /* A stack. kernel_count and user_count addresses follow, each innermost first. */
	__u32 kind;
	__u16 kernel_count, user_count;
	__u64 id;
};

struct off_cpu_part { /* A wait, or a part of one, that is long enough to be reported by itself. */
	__u32 kind, cpu;
	struct off_cpu_key key;
	/*
	 * woken_ns is begin_ns if the thread is ready to run from the beginning, and end_ns if it is blocked to the
	 * end.
	 */
	__u64 begin_ns, woken_ns, end_ns, throttled_ns;
	__u32 tgid, waker_tgid;
	char waker_comm[OFF_CPU_COMM];
};

enum off_cpu_partial { /* Tells whether the stack of a wait was walked while an unwind table was missing. */
	OFF_CPU_IS_WHOLE,
	OFF_CPU_IS_PARTIAL,
	OFF_CPU_IS_READ_AGAIN, /* The stack was read again: before_stack is valid if before_switches has not changed. */
};

enum off_cpu_memory_mode {
	OFF_CPU_REMEMBERS, /* Remembers stacks. */
	OFF_CPU_FORGETS, /* Reads each stack, for tests. */
	OFF_CPU_CHECKS, /* Reads recognized stacks nevertheless and compares them, for tests. */
};

struct off_cpu_control {
	__u32 is_running, generation; /* Waits of earlier generations are not counted. */
};

struct off_cpu_counts { /* Counts data that could not be stored, and stacks that may be wrong or incomplete. */
	__u64 lost_threads; /* Number of switches and wakeups of threads for which the map had no room. */
	__u64 lost_sums, lost_sum_ns; /* Number and total time of waits in sums for which the map had no room. */
	__u64 lost_stacks; /* Number of stacks for which the ring buffer had no room. */
	/* Number of long waits for which the ring buffer had no room, and which were added to sums instead. */
	__u64 summed;
	__u64 mistaken_stacks; /* Number of stacks that were recognized, but were different when they were read. */
	__u64 partial_begun; /* Number of waits with stacks that were walked while an unwind table was missing. */
	/* Number and total time of such waits that ended before their stacks were read again. */
	__u64 partial, partial_ns;
	__u64 cut_stacks; /* Number of stacks with more than OFF_CPU_FRAMES frames. */
};

#endif
