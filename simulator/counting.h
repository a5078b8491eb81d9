/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting.h - holds the counts of simulated events, and decides whether the thread that runs is collected.
 *
 * Translated code and the models add to sim_raw, always: a window (--toggle, client requests) changes no translation,
 * and caches stay warm outside it. What is collected is the difference of sim_raw between the moments at which
 * collecting begins and ends. Some events are sums of others or equal to others; sim_counts_now works them out.
 *
 * Threads: the core runs one thread of the program at a time, and calls the tool in it.
 */
#ifndef SIMULATOR_COUNTING_H
#define SIMULATOR_COUNTING_H

#include "core.h"
#include "stream.h"

/* By enum sim_event, since the begin of the image. */
extern ULong sim_raw[SIM_EVENT_COUNT];
/* The value of sim_raw at which a sample is due; all ones: never. */
extern ULong sim_next[SIM_EVENT_COUNT];
/* Executions of instructions beyond sim_raw[SIM_INSTRUCTIONS]: the last look at its count of a repeated one. */
extern ULong sim_repeat_extra;
/* The address of the repeated string instruction that the running thread is in, otherwise 0. */
extern ULong sim_repeating;
/* Where the running thread entered a function of --toggle; the stack pointer is all ones if it is in none. The return
 * address is 0 on architectures that have it on the stack. */
struct sim_toggle {
	ULong sp, return_address;
};
extern struct sim_toggle sim_toggle;

#define SIM_NEVER (~0ull)

/* Begins a new image: all counts 0, no samples due but after a whole period. */
void sim_counting_begin(void);
/* What was collected until now. */
void sim_counts_now(ULong counts[SIM_EVENT_COUNT]);
void sim_counting_zero(void);

/* A thread begins or ends running; only one runs at a time. */
void sim_counting_run(ThreadId tid);
void sim_counting_stop(ThreadId tid);
/* A thread that did not exist before takes this number. */
void sim_counting_forget(ThreadId tid);
/* The running thread opens or closes a window: of the process or its own. */
void sim_counting_window(enum sim_scope scope, Bool begins);
/* The running thread's sim_toggle changed. */
void sim_counting_toggled(void);

#endif
