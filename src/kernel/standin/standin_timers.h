/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_timers.h - creates timers of the CPU time of traced threads, and distinguishes their expiries from other
 * signals.
 *
 * The thread itself creates the timer, by injected system calls (standin_calls.h). The signal of the timer is a
 * real-time signal that the program does not use: the kernel queues these one by one, so that signals of the program
 * and of the timer are not merged. The program is first made to ignore the signal, so that it continues if its tracer
 * is killed. The tracer sees each expiry as a stop and discards the signal, so the program never receives it. Signals
 * with the same number from other origins (siginfo) are passed on.
 *
 * A thread that blocks the signal does not stop. A thread with its own seccomp filter gets no timer, because the filter
 * could kill the program for unknown calls. The CPU clocks of such threads are checked in turn; if a period has passed
 * while the thread runs, it is interrupted for its sample.
 *
 *	standin_timer_start(s, thread, false);	// the thread is in a ptrace stop, as for standin_calls.h
 *	if (standin_timer_is_expired(s, thread, &info, &period)) ...
 *	standin_timer_stop(s, thread, is_last);
 */
#ifndef KERNEL_STANDIN_STANDIN_TIMERS_H
#define KERNEL_STANDIN_STANDIN_TIMERS_H

#include <signal.h>

#include "kernel/standin/standin_state.h"

/* Returns whether the thread has a timer or is known to get none. */
bool standin_timer_is_settled(const struct standin_thread *thread);
/* Creates the timer; does nothing if the thread is settled or no event has requested samples yet. */
void standin_timer_start(struct standin *s, struct standin_thread *thread, bool is_exec);
/* Deletes the timer before the thread is detached; for the last thread, also cleans up its process. */
void standin_timer_stop(struct standin *s, struct standin_thread *thread, bool is_last);
/* Returns whether the signal comes from a timer of the stand-in. *period is then the CPU time in nanoseconds up to this
 * expiry for which there is no sample yet; 0 if it was sampled early, or if the timer is that of an ended thread. */
bool standin_timer_is_expired(
	struct standin *s, struct standin_thread *thread, const siginfo_t *info, uint64_t *period);
/*
 * Returns the CPU time in nanoseconds, a multiple of the period, for which there is no sample yet. It is called when
 * the thread stops for a signal of the program or an interrupt by the engine. The caller writes a sample for this time,
 * and later expiries for it are ignored. Otherwise, Go programs, which preempt their threads by signals at the same
 * ticks, would seem to spend their time in the signal handler, because the kernel delivers the expiry after such a
 * signal.
 */
uint64_t standin_timer_untold(const struct standin *s, struct standin_thread *thread);
/* Deletes timers of ended threads of the process if there are many, because the number of timers is limited. The
 * thread, which makes the calls, is in a stop that standin_calls.h allows. */
void standin_timers_clean(struct standin *s, struct standin_thread *thread);

/* Checks the CPU clocks of some threads, and interrupts those that are due but not stopped by a timer. */
void standin_clocks_look(struct standin *s);

#endif
