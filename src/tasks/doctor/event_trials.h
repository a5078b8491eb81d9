/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_trials.h - causes events a known number of times, and compares the counts with that number.
 *
 * An event that can be opened does not necessarily count: virtual machines may have timers that do not tick and
 * counters that do not advance. Trials take some milliseconds, and have no side effects. Not thread-safe.
 *
 *	struct text reason = {0};
 *	if (!event_trials_pass(kernel, catalogue, "software", &reason)) ...
 */
#ifndef TASKS_DOCTOR_EVENT_TRIALS_H
#define TASKS_DOCTOR_EVENT_TRIALS_H

#include "kernel/events/event_parser.h"

#define TRIAL_RING_PERIOD_NS 100000

/* Opens the event, and returns its descriptor. If its PMU cannot exclude guests, they are included. Returns -1 and sets
 * errno on failure. */
int event_trial_open(const struct kernel_seam *kernel, struct event_spec *spec, pid_t pid, int cpu);
/* Tries the events of a kind, which is the name of a machine check, such as "software" or "uprobe". Returns false and
 * appends the reason if a count is impossible. Events that cannot be opened, or were never scheduled, are ignored. */
bool event_trials_pass(
	const struct kernel_seam *kernel, struct event_catalogue *catalogue, const char *kind, struct text *reason);
/* Returns whether samples of a clock with the period TRIAL_RING_PERIOD_NS arrive in its mapped ring buffer. */
bool event_trial_ring_fills(const struct kernel_seam *kernel, int fd, const void *ring);
/* Appends "uprobe/path='/proc/self/exe',offset=.../" for a function that a trial calls. */
void event_trial_name_uprobe(struct text *event);

#endif
