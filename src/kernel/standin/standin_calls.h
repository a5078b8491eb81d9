/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_calls.h - executes system calls in a stopped thread for its tracer. It restores registers and signal mask
 * afterwards, and an interrupted system call of the program is restarted.
 *
 * The thread executes each call by an instruction written to the unused end of its vdso. The code after it restores
 * mask and registers, so that the thread continues normally if the tracer is killed at any moment. (If the vdso has no
 * room, and on arm64, an instruction of the vdso itself is used; a tracer that is killed in these few microseconds then
 * leaves a broken thread.) All signals are blocked meanwhile. A restartable sequence (rseq) is aborted first, as by any
 * preemption. The thread must be in a ptrace stop inside the kernel's delivery of signals (a signal, PTRACE_INTERRUPT,
 * the first stop of a new thread) or at an exec. Its tracer has set PTRACE_O_TRACESYSGOOD.
 *
 *	struct standin_calls calls;
 *	if (standin_calls_begin(&calls, s, thread, false)) ... standin_call(&calls, SYS_munmap, arguments, &result);
 *	standin_calls_end(&calls);
 */
#ifndef KERNEL_STANDIN_STANDIN_CALLS_H
#define KERNEL_STANDIN_STANDIN_CALLS_H

#include <sys/user.h>

#include "kernel/standin/standin_state.h"

#define STANDIN_CALL_ARGUMENTS 6
#define STANDIN_CALL_STOP      0x80 /* Bit in the signal of a stop at a system call. */

struct standin_calls { /* Saved state of a stopped thread that executes calls. */
#if defined(__x86_64__) || defined(__aarch64__)
	struct user_regs_struct saved, now; /* Registers of the program, and those of a call. */
#endif
	pid_t tid;
	uint64_t mask; /* Signal mask of the program; valid if has_mask is set. */
	uint64_t instruction; /* Address of the instruction for calls. */
	bool has_mask;
	bool is_away; /* The thread has the registers of a call, not those of the program. */
	bool met_group_stop; /* A group stop of the program occurred meanwhile. */
};

/* Prepares calls. is_exec says that the thread is stopped at an exec. Returns false if the thread cannot make calls
 * (32-bit code, no vdso) or has ended. Whatever the result, the caller must call standin_calls_end. */
bool standin_calls_begin(struct standin_calls *c, struct standin *s, const struct standin_thread *thread, bool is_exec);
/* Executes a system call with STANDIN_CALL_ARGUMENTS arguments; *result is what the kernel returned, which may be
 * -errno. Returns false if the thread has ended. */
bool standin_call(struct standin_calls *c, long number, const uint64_t *arguments, long *result);
void standin_calls_end(struct standin_calls *c);
/* Reads memory of a traced thread into bytes or, if is_written is set, writes it from there. Returns false if not all
 * bytes were copied. */
bool standin_move_memory(pid_t tid, uint64_t address, void *bytes, size_t size, bool is_written);

#endif
