/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_looks.h - inspects waiting threads in the kernel's files (/proc/PID/stat, syscall, mem): what they wait for, and
 * with which user stack. It serves the sources of waits whose events do not contain this.
 *
 * A stack is returned as the record of a sample of the event wait_looks_attr, with the two registers that /proc shows
 * and a copy of the stack's memory, to be unwound like other samples. The thread may run while its files are read, so
 * the result is used only if the thread is in the same system call afterwards, and has not left the CPU again. Not
 * thread-safe.
 *
 *	struct wait_look look = {0};	// not on the stack, because it has 32 KiB
 *	if (wait_looks_take(kernel, arch, tid, true, &event, &look)) ... writer_view(&look.sample) ...
 *	writer_deinit(&look.sample);
 */
#ifndef TASKS_RECORDING_WAIT_LOOKS_H
#define TASKS_RECORDING_WAIT_LOOKS_H

#include "arch/arch.h"
#include "kernel/system/kernel_seam.h"
#include "tasks/recording/wait_tracker.h"

#define WAIT_LOOKS_ID	       UINT64_MAX /* ID of the event wait_looks_attr. */
#define WAIT_LOOKS_STACK_BYTES 32768

/* Buffers that can be reused for one thread after another; the caller frees sample. */
struct wait_look {
	struct writer sample; /* The record, or empty if the stack could not be read, or is not wanted. */
	uint8_t stack[WAIT_LOOKS_STACK_BYTES];
};

struct perf_attr wait_looks_attr(const struct arch *arch);
/* Fills in event (a WAIT_EVENT_LOOK) and look, of which the old contents are discarded. Returns false if the thread
 * does not wait, or cannot be inspected. */
bool wait_looks_take(const struct kernel_seam *kernel, const struct arch *arch, uint32_t tid, bool wants_stack,
	struct wait_event *event, struct wait_look *look);
/* Converts the letter for the state of a waiting thread in /proc/PID/stat, such as 'S' or 'D'. */
enum wait_state wait_looks_state(char letter);

#endif
