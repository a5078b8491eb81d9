/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - stands in for perf events where the kernel denies them: a kernel seam whose events are measured by ptrace
 * and CPU clocks, for the user's own programs.
 *
 * Software clocks only (cpu-clock, task-clock, and the dummy that carries side-band records), of the program that this
 * process starts or of processes of the same user; user mode only: time in the kernel counts for the function that called
 * it. One thread, the engine, traces the threads: ptrace belongs to a thread. Each of them gets a timer of its own CPU
 * time, at whose expiries it stops for an instant: its registers, stack and call chain become a sample, whose period is
 * the CPU time since the sample before. So nothing is sampled that does not run, and shares are those of CPU time, also
 * with more threads than CPUs. No code is loaded into the program, and its signals, timers and file descriptors stay its
 * own. If this process is killed, the program goes on untraced. docs/fallbacks.md has what it costs and does not see.
 *
 * The caller creates a stand-in before it opens events, and destroys it after it has closed them. Calls on the seam are
 * those of one thread; the engine works beside it. SIGRTMAX wakes the engine.
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

/* Samples a second and thread that are possible: timers of CPU time expire at the kernel's ticks. */
unsigned standin_max_hz(void);
/* UNSUPPORTED: this architecture's registers are not known to it. */
TALLY_MUST_CHECK enum tally_status standin_create(struct standin **standin, struct tally_error *err);
const struct kernel_seam *standin_seam(struct standin *standin);
/* Deletes the timers, and lets all programs go on untraced; what has been recorded can still be read. */
void standin_release(struct standin *standin);
struct standin_losses standin_get_losses(struct standin *standin);
void standin_destroy(struct standin *standin);

#endif
