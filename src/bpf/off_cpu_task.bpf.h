/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * off_cpu_task.bpf.h - reads the state of a thread that is off the CPU, its system call, and how often it has left the
 * CPU, and defines the map of threads. For BPF programs.
 *
 *	__u8 state = off_cpu_state_of(task, false, off_cpu_raw_state(task));
 *	if (off_cpu_regs(task, &regs)) ... regs.syscall ...
 */
#ifndef BPF_OFF_CPU_TASK_BPF_H
#define BPF_OFF_CPU_TASK_BPF_H

#include "bpf/off_cpu.bpf.h"
#include "bpf/walk_registers.bpf.h"

#define PF_KTHREAD	     0x00200000
#define TASK_INTERRUPTIBLE   0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED_TRACED  0xc
#define TASK_DEAD	     0x80
#define TASK_NOLOAD	     0x400
#define TASK_RTLOCK	     0x1000
#define TASK_FROZEN	     0x8000

/* The kernel functions that restart a system call. User space sets this constant before it loads the program. */
const volatile struct off_cpu_restart restarts[OFF_CPU_RESTARTS];

/* The measured threads by thread ID. This map and cpus are shared by the programs that include this header. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct off_cpu_thread);
	__uint(max_entries, 16384);
} threads SEC(".maps");

/* The CPUs to which the measurement is limited. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u8);
	__uint(max_entries, 1);
} cpus SEC(".maps");

/* libbpf ignores the part of a type name after the three underscores: the kernel's struct is pt_regs. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs___x86 {
	unsigned long orig_ax, ip, sp;
} KERNEL_TYPE;
#define OFF_CPU_REGS	   struct pt_regs___x86
#define REGS_SYSCALL_FIELD orig_ax
#define RESTART_SYSCALL	   219
#define REGS_IP_FIELD	   ip
#define TS_COMPAT	   2
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs___aarch64 {
	unsigned long long sp, pc;
	int syscallno;
} KERNEL_TYPE;
#define OFF_CPU_REGS	   struct pt_regs___aarch64
#define REGS_SYSCALL_FIELD syscallno
#define RESTART_SYSCALL	   128
#define REGS_IP_FIELD	   pc
#endif

struct off_cpu_regs {
	__u64 ip, sp;
	__s32 syscall;
};

#define HAS_TASK_BTF bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)
/* Reads a field of the current thread. Before Linux 5.11, programs have no pointer to it that they may dereference. */
#define OFF_CPU_READ(task, field) (HAS_TASK_BTF ? (task)->field : BPF_CORE_READ(task, field))

static __always_inline struct task_struct *off_cpu_current(void)
{
	return HAS_TASK_BTF ? bpf_get_current_task_btf() : (void *)bpf_get_current_task();
}

/*
 * Returns the system call that restart_syscall continues, or RESTART_SYSCALL itself if the kernel hides its addresses.
 */
static __always_inline __s32 off_cpu_restarted(struct task_struct *task)
{
	__u64 function = (__u64)BPF_CORE_READ(task, restart_block.fn);
	for (__u32 i = 0; i < OFF_CPU_RESTARTS; i++)
		if (function && restarts[i].function == function)
			return restarts[i].syscall;
	return RESTART_SYSCALL;
}

/*
 * Reads the registers of a thread at its entry from user space. syscall becomes -1 outside of a system call and, on
 * x86, in one of a 32-bit program. Returns true.
 */
static __always_inline bool off_cpu_regs(struct task_struct *task, struct off_cpu_regs *to)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		OFF_CPU_REGS *regs = (void *)bpf_task_pt_regs((void *)task);
		to->ip = regs->REGS_IP_FIELD;
		to->sp = regs->sp;
		to->syscall = (__s32)regs->REGS_SYSCALL_FIELD;
	} else { /* Before Linux 5.15. */
		OFF_CPU_REGS *regs = (void *)((const char *)BPF_CORE_READ(task, stack) + WALK_THREAD_SIZE -
					      bpf_core_type_size(struct pt_regs___kernel));
		to->ip = BPF_CORE_READ(regs, REGS_IP_FIELD);
		to->sp = BPF_CORE_READ(regs, sp);
		to->syscall = (__s32)BPF_CORE_READ(regs, REGS_SYSCALL_FIELD);
	}
#if defined(__TARGET_ARCH_x86)
	if (OFF_CPU_READ(task, thread_info.status) & TS_COMPAT) /* 32-bit system calls have other numbers. */
		to->syscall = -1;
#endif
	if (to->syscall < 0)
		to->syscall = -1;
	if (to->syscall == RESTART_SYSCALL)
		to->syscall = off_cpu_restarted(task);
	return true;
}

static __always_inline __u64 off_cpu_mix(__u64 hash, __u64 word)
{
	hash ^= word * 0x9e3779b97f4a7c15ULL;
	return (hash << 29 | hash >> 35) * 0xbf58476d1ce4e5b9ULL;
}

/*
 * Returns the enum off_cpu_state for a state of the scheduler (off_cpu_raw_state), or OFF_CPU_RUNNABLE with preempt.
 * Waits for a block device are uninterruptible. in_iowait alone does not identify them: io_uring sets it while it waits
 * for any completion, and graphics drivers set it while they wait for their engines, both in interruptible waits.
 */
static __always_inline __u8 off_cpu_state_of(struct task_struct *task, bool preempt, __u64 state)
{
	if (preempt || state == 0)
		return OFF_CPU_RUNNABLE;
	if (state & (TASK_STOPPED_TRACED | TASK_FROZEN))
		return OFF_CPU_STOPPED;
	if (state & TASK_INTERRUPTIBLE) {
		bool is_frozen = bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD_PROBED(task, frozen);
		return is_frozen ? OFF_CPU_STOPPED : OFF_CPU_SLEEPING;
	}
	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		return OFF_CPU_DISK;
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK))
		return state & TASK_NOLOAD ? OFF_CPU_OTHER : OFF_CPU_UNINTERRUPTIBLE;
	return OFF_CPU_OTHER;
}

/* Returns the TASK_ flags of the scheduler. */
static __always_inline __u64 off_cpu_raw_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return (__u64)task->state;
}

/* Returns how often the thread has left the CPU, which identifies a wait. */
static __always_inline __u64 off_cpu_switches(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

#endif
