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
#define OFF_CPU_PLACES	 8 /* stacks that are remembered for each thread; a power of two */
#define OFF_CPU_SLOTS	 4 /* sums that are kept with a thread */
#define OFF_CPU_CHECKS	 6 /* return addresses that identify a remembered stack */
#define OFF_CPU_WORDS	 64 /* of the user's stack, which are searched for them */
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

struct off_cpu_place { /* where a thread blocked or woke somebody, and the stack that it had there */
	__u64 ip, sp; /* the user's, at the entry of the kernel */
	__u64 check; /* of the return addresses on the stack */
	__u64 user, stack; /* ID of the user's part, and of both */
	__u64 taken_ns; /* the kernel's part; 0: it must be taken again */
	__s32 syscall;
	__u8 role;
	__u8 check_count;
	__u8 offsets[OFF_CPU_CHECKS], last_offset; /* words above sp */
	__u8 is_unknown; /* the process's tables were not known when it was walked */
	__u8 trust; /* how often the kernel's part was the same when it was taken again */
	__u8 zero;
};

struct off_cpu_thread {
	__u64 off_ns; /* since when it has been off the CPU; 0: not, or not known */
	__u64 woken_ns; /* last time; older than off_ns: before it was off */
	__u64 stack, waker_stack;
	__u64 before_stack, before_switches; /* of a wait that began before: its stack, and off_cpu_switches in it */
	__u64 quota_queue, quota_ns; /* whose quota may keep it off the CPU since it was ready to run; 0: not known */
	__u64 own_work_ns; /* when is_own_work was determined */
	__u64 interrupt_ns, interrupt_for,
		interrupt_stack; /* the last stack of an interrupt, taken for which stack of ours */
	__u32 tgid, waker_tid, waker_tgid;
	__s32 syscall;
	__u32 generation; /* in which off_ns was set */
	__u8 state, flags;
	__u8 is_target; /* 0: only wakes others */
	__u8 is_told; /* the blocked part of this wait has been reported */
	__u8 next_place;
	__u8 is_own_work; /* wake-ups on the interrupt stack are the thread's own work */
	__u8 is_throttled; /* it left the CPU because the quota of its cgroup was used up */
	__u8 zero[1];
	__u32 quota_cpu, zero32;
	char waker_comm[OFF_CPU_COMM];
	__u32 tags
		[OFF_CPU_PLACES]; /* hashes of what places are found by, so that only one of them is read; 0: not valid */
	struct off_cpu_place places[OFF_CPU_PLACES];
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

struct off_cpu_control {
	__u32 is_running, generation; /* waits of earlier generations are not counted */
};

struct off_cpu_counts { /* counts of what could not be stored */
	__u64 lost_threads; /* switches of threads that the map had no room for */
	__u64 lost_sums, lost_sum_ns; /* sums that their map had no room for */
	__u64 lost_stacks; /* that the ring had no room for */
	__u64 summed; /* long waits that the ring had no room for: they are in sums */
	__u64 cut_stacks; /* longer than OFF_CPU_FRAMES */
};

#endif
