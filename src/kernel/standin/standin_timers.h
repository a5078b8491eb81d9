/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_timers.h - gives traced threads timers of their own CPU time, and knows their expiries from other signals.
 *
 * The thread itself makes the timer, by calls that standin_calls.h lets it make. The timer's signal is a real-time signal
 * that the program has no use for: the kernel queues these one by one, so that no signal of the program is merged with the
 * timer's. The program is made to ignore it first, and goes on if its tracer is killed. The tracer sees each expiry as a
 * stop, and drops the signal: the program never gets it. Signals of the same number from elsewhere have another origin
 * (siginfo), and are passed on.
 *
 * A thread that blocks the signal does not stop, and one with a seccomp filter of its own gets no timer: the filter could
 * end the program for calls that it does not know. The CPU clocks of such threads are looked at in turn, and if one has
 * passed a period while the thread runs, the thread is interrupted for its sample.
 *
 *	standin_timer_start(s, thread, false);	// the thread is in a ptrace stop, as for standin_calls.h
 *	if (standin_timer_is_expired(s, thread, &info, &period)) ...
 *	standin_timer_stop(s, thread);
 */
#ifndef KERNEL_STANDIN_STANDIN_TIMERS_H
#define KERNEL_STANDIN_STANDIN_TIMERS_H

#include <signal.h>

#include "kernel/standin/standin_state.h"

/* It has a timer, or is known to get none. */
bool standin_timer_is_settled(const struct standin_thread *thread);
/* Does nothing if the thread is settled, or no event has asked for samples yet. */
void standin_timer_start(struct standin *s, struct standin_thread *thread, bool is_exec);
/* Before it is let go: its timer, and what else is left in its process if it is the last thread. */
void standin_timer_stop(struct standin *s, struct standin_thread *thread, bool is_last);
/* Whether the signal is from the thread's timer. Then *period is the CPU time since the last one, as far as no sample stands
 * for it. */
bool standin_timer_is_expired(
	struct standin *s, struct standin_thread *thread, const siginfo_t *info, uint64_t *period);
/*
 * At a signal of the program, or where the thread is interrupted: the CPU time for which no sample stands yet, in whole
 * periods; 0: none. The kernel tells of
 * an expiry after such signals, and by then the thread is in its handler, or just behind it: Go programs, which preempt
 * their threads by signals at the same ticks, would seem to spend their time there.
 */
uint64_t standin_timer_untold(const struct standin *s, struct standin_thread *thread);
/* Deletes timers of threads that have ended, if there are many: a process has few. In a stop as above. */
void standin_timers_clean(struct standin *s, struct standin_thread *thread);

/* Looks at the clocks of some threads, and interrupts those that are due and cannot stop by themselves. */
void standin_clocks_look(struct standin *s);

#endif
