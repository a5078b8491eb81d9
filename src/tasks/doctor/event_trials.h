/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_trials.h - causes what events count, a known number of times, and compares the counts with that.
 *
 * That an event opens does not say that it counts: virtual machines have timers that do not tick and counters that stand.
 * Trials take some milliseconds, and change nothing. One thread.
 *
 *	struct text reason = {0};
 *	if (!event_trials_pass(kernel, catalogue, "software", &reason)) ...
 */
#ifndef TASKS_DOCTOR_EVENT_TRIALS_H
#define TASKS_DOCTOR_EVENT_TRIALS_H

#include "kernel/events/event_parser.h"

#define TRIAL_RING_PERIOD_NS 100000

/* Opens the event, without leaving guests out if its PMU cannot. -1 with errno. */
int event_trial_open(const struct kernel_seam *kernel, struct event_spec *spec, pid_t pid, int cpu);
/* Tries the events of a kind: the name of a machine check, such as "software" or "uprobe". False: one counted what cannot
 * be, and the reason is appended. An event that does not open, or gets no time, decides nothing. */
bool event_trials_pass(
	const struct kernel_seam *kernel, struct event_catalogue *catalogue, const char *kind, struct text *reason);
/* Whether samples of a clock with TRIAL_RING_PERIOD_NS reach its mapped ring. */
bool event_trial_ring_fills(const struct kernel_seam *kernel, int fd, const void *ring);
/* "uprobe/path='/proc/self/exe',offset=.../": a function that a trial calls. */
void event_trial_name_uprobe(struct text *event);

#endif
