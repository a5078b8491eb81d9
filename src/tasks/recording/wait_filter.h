/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_filter.h - applies the filter of samples (--filter) to waits, so that both halves of a wall-clock recording
 * concern the same threads.
 *
 * A wait has a thread and a process. Conditions on other fields, which a wait does not have, are rejected. Values;
 * filters are borrowed from the events. Not thread-safe.
 *
 *	status = wait_filter_init(&filter, events, is_wall, diag, err);
 *	if (wait_filter_passes(&filter, pid, tid)) ...
 */
#ifndef TASKS_RECORDING_WAIT_FILTER_H
#define TASKS_RECORDING_WAIT_FILTER_H

#include "base/diag.h"
#include "kernel/events/event_spec.h"

struct wait_filter {
	const struct sample_filter_list *conditions; /* NULL if all waits pass. */
};

/* If is_wall is set, waits are filtered like samples; otherwise only samples are filtered, and a note says so. Returns
 * INVALID if the filter has conditions that cannot be applied to waits. */
TALLY_MUST_CHECK enum tally_status wait_filter_init(struct wait_filter *filter, const struct event_list *events,
	bool is_wall, struct diag *diag, struct tally_error *err);
bool wait_filter_passes(const struct wait_filter *filter, uint32_t pid, uint32_t tid);

#endif
