/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_looks.h - looks at threads while they wait, in the kernel's files (/proc/PID/stat, syscall, mem): what for, and
 * with which user stack. For sources of waits whose events do not tell it.
 *
 * A stack comes as the record of a sample with the two registers that /proc shows and a copy of the stack's memory, of
 * the event wait_looks_attr, to be unwound like others. All files are read of a thread that may run on meanwhile: it
 * counts only if it is in the same system call afterwards, and has not left the CPU again. One thread.
 *
 *	struct wait_look look = {0};	// of 32 KiB: not on the stack
 *	if (wait_looks_take(kernel, arch, tid, true, &event, &look)) ... writer_view(&look.sample) ...
 *	writer_deinit(&look.sample);
 */
#ifndef TASKS_RECORDING_WAIT_LOOKS_H
#define TASKS_RECORDING_WAIT_LOOKS_H

#include "arch/arch.h"
#include "kernel/system/kernel_seam.h"
#include "tasks/recording/wait_tracker.h"

#define WAIT_LOOKS_ID	       UINT64_MAX /* of the event */
#define WAIT_LOOKS_STACK_BYTES 32768

struct wait_look { /* room for one look after the other; the caller frees sample */
	struct writer sample; /* the record; empty: the stack could not be read, or is not wanted */
	uint8_t stack[WAIT_LOOKS_STACK_BYTES];
};

struct perf_attr wait_looks_attr(const struct arch *arch);
/* Fills a WAIT_EVENT_LOOK, and look, which need not be empty. False: the thread does not wait, or may not be looked at. */
bool wait_looks_take(const struct kernel_seam *kernel, const struct arch *arch, uint32_t tid, bool wants_stack,
	struct wait_event *event, struct wait_look *look);
/* How a thread waits by the letter that ps shows. */
enum wait_state wait_looks_state(char letter);

#endif
