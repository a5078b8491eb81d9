/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_timers.h - gives traced threads timers of their own CPU time, and knows their expiries from other signals.
 *
 * The thread itself makes the timer, by calls that standin_calls.h lets it make. The timer's signal is one that programs
 * ignore unless they ask for it: SIGWINCH, or SIGURG if the program handles SIGWINCH. So a program whose tracer was
 * killed goes on, and the signals that Go programs send to their threads, SIGURG, are never merged with the timer's. The
 * tracer sees each expiry as a stop, and drops the signal: the program never gets it. Signals of the same number from
 * elsewhere have another origin (siginfo), and are passed on.
 *
 * A thread that blocks the signal does not stop. Threads are looked at in turn, and if the signal is pending and the
 * thread runs, it is interrupted, and its signal is let through alone. A thread with a seccomp filter of its own is left
 * alone: the filter could end the program for calls that it does not know.
 *
 *	standin_timer_start(s, thread, false);	// the thread is in a ptrace stop, as for standin_calls.h
 *	if (standin_timer_is_expired(s, thread, &info, &period)) ...
 *	standin_timer_stop(s, thread);
 */
#ifndef KERNEL_STANDIN_STANDIN_TIMERS_H
#define KERNEL_STANDIN_STANDIN_TIMERS_H

#include <signal.h>

#include "kernel/standin/standin_state.h"

/* Does nothing if the thread has a timer, cannot get one, or no event has asked for samples yet. */
void standin_timer_start(struct standin *s, struct standin_thread *thread, bool is_exec);
/* Before it is let go: its timer, and what else is left in its process if it is the last thread. */
void standin_timer_stop(struct standin *s, struct standin_thread *thread, bool is_last);
/* Whether the signal is from the thread's timer. Then *period is the CPU time since the last one, as far as no sample stands
 * for it. */
bool standin_timer_is_expired(
	const struct standin *s, struct standin_thread *thread, const siginfo_t *info, uint64_t *period);
/*
 * At a signal of the program: the CPU time that the timer has expired for, but not told yet; 0: none. The kernel tells of
 * an expiry after such signals, and by then the thread is in its handler, or just behind it: Go programs, which preempt
 * their threads by signals at the same ticks, would seem to spend their time there.
 */
uint64_t standin_timer_untold(const struct standin *s, struct standin_thread *thread);
/* Deletes timers of threads that have ended, if there are many: a process has few. In a stop as above. */
void standin_timers_clean(struct standin *s, struct standin_thread *thread);

/* Looks at some threads that have not been heard of, and interrupts those whose signal is blocked. */
void standin_masks_look(struct standin *s);
/* In the stop of one of these: lets its signal through; false: there is no need to. */
bool standin_mask_lift(const struct standin *s, struct standin_thread *thread);
/* In its next stop. */
void standin_mask_restore(struct standin_thread *thread);

#endif
