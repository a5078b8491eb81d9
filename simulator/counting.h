/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting.h - holds the counts of simulated events, and decides whether events of the running thread are collected.
 *
 * Translated code and the models add to sim_raw, always: a window (--toggle, client requests) changes no translation,
 * and caches stay warm outside it. The collected count is the difference of sim_raw between the begin and the end of
 * collecting. Some events are sums of others or equal to others; sim_counts_now computes them.
 *
 * Threads: the core runs one thread of the program at a time, and calls the tool in that thread.
 */
#ifndef SIMULATOR_COUNTING_H
#define SIMULATOR_COUNTING_H

#include "core.h"
#include "stream.h"

/* Counts by enum sim_event since the image began. */
extern ULong sim_raw[SIM_EVENT_COUNT];
/* Value of sim_raw at which the next sample is due; SIM_NEVER if the event is not sampled. */
extern ULong sim_next[SIM_EVENT_COUNT];
/* Iterations of repeated string instructions after their first one, which sim_raw[SIM_INSTRUCTIONS] does not count. */
extern ULong sim_repeat_extra;
/* The address of the repeated string instruction that the running thread is in, otherwise 0. */
extern ULong sim_repeating;
/* The stack pointer at which the running thread entered a function of --toggle, or SIM_NEVER if it is in none, and its
 * return address, or 0 on architectures that store it on the stack. */
struct sim_toggle {
	ULong sp, return_address;
};
extern struct sim_toggle sim_toggle;

#define SIM_NEVER (~0ull)

/* Begins a new image: all counts are 0, and the next samples are due after a whole period. */
void sim_counting_begin(void);
/* Returns the counts collected so far. */
void sim_counts_now(ULong counts[SIM_EVENT_COUNT]);
void sim_counting_zero(void);

/* Called when a thread starts or stops running; only one runs at a time. */
void sim_counting_run(ThreadId tid);
void sim_counting_stop(ThreadId tid);
/* Forgets the thread: a new one is about to use its number. */
void sim_counting_forget(ThreadId tid);
/* Called when the running thread opens or closes a window of the process or of the thread. */
void sim_counting_window(enum sim_scope scope, Bool begins);
/* Called when the sim_toggle of the running thread has changed. */
void sim_counting_toggled(void);

#endif
