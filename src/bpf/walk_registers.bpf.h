/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * walk_registers.bpf.h - reads the user registers of a thread, from which a stack walk starts, on x86-64 and aarch64.
 *
 *	struct walk_registers registers;
 *	if (walk_registers_of_task(&registers, task)) ...
 */
#ifndef BPF_WALK_REGISTERS_BPF_H
#define BPF_WALK_REGISTERS_BPF_H

#include "bpf/kernel_types.bpf.h"

#define WALK_KTHREAD 0x200000 /* PF_KTHREAD of the kernel. */

struct walk_registers {
	__u64 pc, sp, fp;
	__u64 link; /* Link register of aarch64. */
	__u64 r10, bx; /* Registers of x86-64. */
};

struct walk_pt_regs { /* Saved registers, as in struct pt_regs, the layout of which is part of the kernel's ABI. */
#if defined(__TARGET_ARCH_x86)
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
#else
	__u64 fp, link, sp, pc, pstate; /* x0 to x28 precede them. */
#endif
};

/* WALK_CALL_BYTES is subtracted from a return address, so that the result lies within the call instruction. */
#if defined(__TARGET_ARCH_x86)
#define WALK_CALL_BYTES	  1
#define WALK_THREAD_SIZE  16384
#define WALK_ADDRESS_MASK ~0ULL
/* Offsets in the signal frame, from the stack pointer after the handler's return; struct ucontext is first. */
#define WALK_SIGNAL_FP	 120
#define WALK_SIGNAL_BX	 128
#define WALK_SIGNAL_SP	 160
#define WALK_SIGNAL_PC	 168
#define WALK_HAS_LINK	 false
#define WALK_REGS_OFFSET 0
#elif defined(__TARGET_ARCH_arm64)
#define WALK_CALL_BYTES	  4
#define WALK_THREAD_SIZE  16384
#define WALK_ADDRESS_MASK ((1ULL << 48) - 1) /* Removes a pointer authentication code. */
#define WALK_SIGNAL_FP	  544 /* Offsets in the signal frame; siginfo precedes struct ucontext. */
#define WALK_SIGNAL_LINK  552
#define WALK_SIGNAL_SP	  560
#define WALK_SIGNAL_PC	  568
#define WALK_HAS_LINK	  true
#define WALK_REGS_OFFSET  232 /* Offset in struct pt_regs of fp (x29), the first member of struct walk_pt_regs. */
#else
#error "walk_registers.bpf.h: the registers of this architecture are not known"
#endif

/* Converts saved registers; false if they are not those of a 64-bit user program. */
static __always_inline bool walk_registers_take(struct walk_registers *to, const struct walk_pt_regs *from)
{
#if defined(__TARGET_ARCH_x86)
	if (from->cs != 0x33)
		return false;
	to->pc = from->ip;
	to->sp = from->sp;
	to->fp = from->bp;
	to->r10 = from->r10;
	to->bx = from->bx;
	to->link = 0;
#else
	if (from->pstate & 0x1f) /* Not EL0, or a 32-bit program. */
		return false;
	to->pc = from->pc;
	to->sp = from->sp;
	to->fp = from->fp;
	to->link = from->link;
	to->r10 = to->bx = 0;
#endif
	return true;
}

/* Reads the user registers of the current thread as of its entry to the kernel, by a system call or an interrupt. */
static __always_inline bool walk_registers_of_task(struct walk_registers *to, struct task_struct *task)
{
	struct walk_pt_regs saved;
	const void *at;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		at = (const void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	else
		at = (const char *)BPF_CORE_READ(task, stack) + WALK_THREAD_SIZE -
		     bpf_core_type_size(struct pt_regs___kernel);
	if (BPF_CORE_READ(task, flags) & WALK_KTHREAD)
		return false;
	if (bpf_probe_read_kernel(&saved, sizeof(saved), (const char *)at + WALK_REGS_OFFSET))
		return false;
	return walk_registers_take(to, &saved);
}

#endif
