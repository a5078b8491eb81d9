/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - replaces perf events if the kernel denies them: a kernel seam that samples programs of the same user by
 * ptrace and CPU clocks.
 *
 * It supports only software clocks (cpu-clock, task-clock, and the dummy event for side-band records) in user mode, for
 * the program that this process starts and for processes of the same user. Time in the kernel counts for the function
 * that made the system call. One thread, the engine, traces all threads, because ptrace is bound to a thread. Each
 * traced thread has a timer of its CPU time. When it expires, the thread stops briefly, and its registers, stack and
 * call chain become a sample with the CPU time since the previous one as its period. Therefore only running threads are
 * sampled, in proportion to their CPU time, even if there are more threads than CPUs. No code is loaded into the
 * program, and its signals, timers and descriptors are not affected. If this process is killed, the program continues
 * untraced. docs/fallbacks.md describes the cost and the limits.
 *
 * The caller creates a stand-in before it opens events, and destroys it after it has closed them. One thread calls the
 * seam, and the engine runs concurrently. SIGRTMAX wakes the engine.
 *
 *	struct standin *standin;
 *	status = standin_create(&standin, err);
 *	request.kernel = standin_seam(standin); ... standin_release(standin); ... standin_destroy(standin);
 */
#ifndef KERNEL_STANDIN_STANDIN_H
#define KERNEL_STANDIN_STANDIN_H

#include <stdbool.h>
#include <tally/status.h>

#include "kernel/standin/standin_losses.h"
#include "kernel/system/kernel_seam.h"

struct standin;

/* Returns the maximum number of samples per second and thread; timers of CPU time expire only at kernel ticks. */
unsigned standin_max_hz(void);
/* Creates a stand-in; TALLY_UNSUPPORTED if it does not support this architecture. */
TALLY_MUST_CHECK enum tally_status standin_create(struct standin **standin, struct tally_error *err);
/* Returns the seam, which the stand-in owns. */
const struct kernel_seam *standin_seam(struct standin *standin);
/* Deletes the timers and detaches from all programs; records in the rings can still be read. */
void standin_release(struct standin *standin);
struct standin_losses standin_get_losses(struct standin *standin);
/* Ends the engine and frees everything; NULL is allowed. */
void standin_destroy(struct standin *standin);

#endif
