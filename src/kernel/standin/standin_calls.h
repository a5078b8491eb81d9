/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_calls.h - lets a stopped thread make system calls for its tracer, and leaves it as it was: registers and signal
 * mask are borrowed and given back, and an interrupted system call begins again as if nothing had been.
 *
 * The thread steps over an instruction of its vdso that makes a system call; no code is added to it. Only SIGTRAP is
 * unblocked meanwhile, so that no other signal comes between. The thread must be in a ptrace stop inside the kernel's
 * delivery of signals (a signal, PTRACE_INTERRUPT, the first stop of a new thread) or at an exec.
 *
 *	struct standin_calls calls;
 *	if (standin_calls_begin(&calls, s, thread, false)) ... standin_call(&calls, SYS_getpid, NULL, &result);
 *	standin_calls_end(&calls);
 */
#ifndef KERNEL_STANDIN_STANDIN_CALLS_H
#define KERNEL_STANDIN_STANDIN_CALLS_H

#include <sys/user.h>

#include "kernel/standin/standin_state.h"

#define STANDIN_CALL_ARGUMENTS 6

struct standin_calls { /* registers of a stopped thread */
#if defined(__x86_64__) || defined(__aarch64__)
	struct user_regs_struct saved, now;
#endif
	pid_t tid;
	uint64_t mask;
	uint64_t instruction;
	bool has_mask, has_registers;
	bool met_group_stop;
};

/* False: it cannot make calls (32-bit code, no vdso), or is gone; standin_calls_end is due in either case. */
bool standin_calls_begin(struct standin_calls *c, struct standin *s, const struct standin_thread *thread, bool is_exec);
/* Six arguments (NULL: all are 0); false: the thread is gone. */
bool standin_call(struct standin_calls *c, long number, const uint64_t *arguments, long *result);
void standin_calls_end(struct standin_calls *c);
/* Copies into or from a traced thread's memory; false: not all of it. */
bool standin_move_memory(pid_t tid, uint64_t address, void *bytes, size_t size, bool is_written);

#endif
