/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_filter.h - applies the filter of samples (--filter) to waits, so that both halves of a wall-clock recording are of the
 * same threads.
 *
 * A wait has a thread and a process. Conditions on other fields, which it has not, are refused. Values; filters are borrowed from
 * the events. One thread.
 *
 *	status = wait_filter_init(&filter, events, is_wall, diag, err);
 *	if (wait_filter_passes(&filter, pid, tid)) ...
 */
#ifndef TASKS_RECORDING_WAIT_FILTER_H
#define TASKS_RECORDING_WAIT_FILTER_H

#include "base/diag.h"
#include "kernel/events/event_spec.h"

struct wait_filter {
	const struct sample_filter_list *conditions; /* NULL: all pass */
};

/* With is_wall, samples and waits are one event, else samples alone are filtered, which a note says. INVALID: the filter has
 * conditions that no wait can be asked for. */
TALLY_MUST_CHECK enum tally_status wait_filter_init(struct wait_filter *filter, const struct event_list *events,
	bool is_wall, struct diag *diag, struct tally_error *err);
bool wait_filter_passes(const struct wait_filter *filter, uint32_t pid, uint32_t tid);

#endif
