/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_filters.h - applies the filters on samples (--filter for events that are not tracepoints) of one recording: it
 * loads a BPF program for each event that has a filter, and attaches it to the opened events.
 *
 * The caller owns struct record_filters, and passes record_filters_attach to the recorder. Not thread-safe.
 *
 *	record_filters_create(kernel, events, &filters, err);   // sets filters to NULL if no event has one
 *	config.opened = record_filters_attach; config.opened_context = filters;
 *	... record_filters_dropped(filters, event) ...
 *	record_filters_destroy(filters);   // after the recorder
 */
#ifndef TASKS_RECORDING_RECORD_FILTERS_H
#define TASKS_RECORDING_RECORD_FILTERS_H

#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

struct record_filters;

/* The events must have their final attributes, because a filter can only use fields that the samples contain. */
TALLY_MUST_CHECK enum tally_status record_filters_create(const struct kernel_seam *kernel,
	const struct event_list *events, struct record_filters **filters, struct tally_error *err);
/* context is the struct record_filters. */
TALLY_MUST_CHECK enum tally_status record_filters_attach(void *context, size_t event, int fd, struct tally_error *err);
/* Returns the number of samples of the event with this index that were dropped so far. */
uint64_t record_filters_dropped(const struct record_filters *filters, size_t event);
void record_filters_destroy(struct record_filters *filters);

#endif
