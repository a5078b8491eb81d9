/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_regs.bpf.h - reads the number and arguments of a system call from the registers that its tracepoints pass to
 * BPF programs, for 64-bit and 32-bit programs on x86-64 and arm64.
 */
#ifndef BPF_SYSCALL_REGS_BPF_H
#define BPF_SYSCALL_REGS_BPF_H

#include "abi/syscall_record.h"
#include "bpf/kernel_types.bpf.h"

/* libbpf ignores the part of a type name after the three underscores: the kernel's struct is pt_regs. */
#if defined(__TARGET_ARCH_x86)
#define SYSCALL_TS_COMPAT 2
#define SYSCALL_REGS	  struct pt_regs___x86_call
struct pt_regs___x86_call {
	unsigned long bx, cx, dx, si, di, bp, r10, r8, r9, orig_ax;
} KERNEL_TYPE;

static __always_inline bool syscall_is_compat(const SYSCALL_REGS *regs)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	return BPF_CORE_READ(task, thread_info.status) & SYSCALL_TS_COMPAT;
}

static __always_inline __s64 syscall_number_of(const SYSCALL_REGS *regs)
{
	return (__s64)regs->orig_ax;
}

static __always_inline void syscall_args_of(const SYSCALL_REGS *regs, bool is_compat, __u64 *args)
{
	if (is_compat) {
		args[0] = (__u32)regs->bx;
		args[1] = (__u32)regs->cx;
		args[2] = (__u32)regs->dx;
		args[3] = (__u32)regs->si;
		args[4] = (__u32)regs->di;
		args[5] = (__u32)regs->bp;
		return;
	}
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}
#elif defined(__TARGET_ARCH_arm64)
#define SYSCALL_PSTATE_32 0x10
#define SYSCALL_REGS	  struct pt_regs___arm64_call
struct pt_regs___arm64_call {
	unsigned long long regs[31];
	unsigned long long pstate, orig_x0;
	int syscallno;
} KERNEL_TYPE;

static __always_inline bool syscall_is_compat(const SYSCALL_REGS *regs)
{
	return regs->pstate & SYSCALL_PSTATE_32;
}

static __always_inline __s64 syscall_number_of(const SYSCALL_REGS *regs)
{
	return regs->syscallno;
}

static __always_inline void syscall_args_of(const SYSCALL_REGS *regs, bool is_compat, __u64 *args)
{
	args[0] = regs->orig_x0;
	args[1] = regs->regs[1];
	args[2] = regs->regs[2];
	args[3] = regs->regs[3];
	args[4] = regs->regs[4];
	args[5] = regs->regs[5];
}
#endif

#define SYSCALL_X32_BIT 0x40000000

/* Removes the x32 bit from a number that the tables contain; returns other numbers unchanged. */
static __always_inline __u32 syscall_plain_number(__s64 number)
{
	__u32 plain = (__u32)number & ~SYSCALL_X32_BIT;
	return plain < SYSCALL_NUMBERS ? plain : (__u32)number;
}

/*
 * Returns the index of a call in the map of plans. It contains SYSCALL_NUMBERS plans for 64-bit programs, as many for
 * 32-bit programs, and finally, for both in this order, a plan for all other numbers.
 */
static __always_inline __u32 syscall_index(__u32 number, bool is_compat)
{
	if (number >= SYSCALL_NUMBERS)
		return 2 * SYSCALL_NUMBERS + is_compat;
	return number + (is_compat ? SYSCALL_NUMBERS : 0);
}

#endif
