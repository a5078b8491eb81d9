/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_calls.h - lets a stopped thread make system calls for its tracer, and leaves it as it was: registers and signal
 * mask are borrowed and given back, and an interrupted system call begins again as if nothing had been.
 *
 * The thread makes each call by an instruction in the unused end of its vdso. Behind it stands a way back, which sets mask
 * and registers as they were: if the tracer is killed at any instant, the thread goes on as if it had not been there.
 * (Where the vdso has no room, and on arm64, an instruction of the vdso serves, and a tracer that is killed in just these
 * microseconds leaves a broken thread.) All signals are blocked meanwhile. A restartable sequence (rseq) is aborted first,
 * as any preemption does. The thread must be in a ptrace stop inside the kernel's delivery of signals (a signal,
 * PTRACE_INTERRUPT, the first stop of a new thread) or at an exec. Its tracer has set PTRACE_O_TRACESYSGOOD.
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
#define STANDIN_CALL_STOP      0x80 /* in the signal of a stop: it is that of a system call */

struct standin_calls { /* registers of a stopped thread */
#if defined(__x86_64__) || defined(__aarch64__)
	struct user_regs_struct saved, now;
#endif
	pid_t tid;
	uint64_t mask;
	uint64_t instruction;
	bool has_mask;
	bool is_away; /* its registers are not its own */
	bool met_group_stop;
};

/* False: it cannot make calls (32-bit code, no vdso), or is gone; standin_calls_end is due in either case. */
bool standin_calls_begin(struct standin_calls *c, struct standin *s, const struct standin_thread *thread, bool is_exec);
/* Six arguments; false: the thread is gone. */
bool standin_call(struct standin_calls *c, long number, const uint64_t *arguments, long *result);
void standin_calls_end(struct standin_calls *c);
/* Copies into or from a traced thread's memory; false: not all of it. */
bool standin_move_memory(pid_t tid, uint64_t address, void *bytes, size_t size, bool is_written);

#endif
