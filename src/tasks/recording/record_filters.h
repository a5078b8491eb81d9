/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_filters.h - applies the filters on samples (--filter for events that are not tracepoints) of one recording: it
 * loads a BPF program for each event that has a filter, and attaches it to the opened events.
 *
 * The caller owns it. Put record_filters_attach into recorder_config. One thread.
 *
 *	record_filters_create(kernel, events, &filters, err);   // NULL without an error: no event has one
 *	config.opened = record_filters_attach; config.opened_context = filters; ... record_filters_dropped(filters, event)
 *	record_filters_destroy(filters);   // behind the recorder
 */
#ifndef TASKS_RECORDING_RECORD_FILTERS_H
#define TASKS_RECORDING_RECORD_FILTERS_H

#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

struct record_filters;

/* The events are as they will be opened: a filter asks for fields that samples must carry. */
TALLY_MUST_CHECK enum tally_status record_filters_create(const struct kernel_seam *kernel,
	const struct event_list *events, struct record_filters **filters, struct tally_error *err);
/* context: the filters. */
TALLY_MUST_CHECK enum tally_status record_filters_attach(void *context, size_t event, int fd, struct tally_error *err);
/* Samples of this event (its index) so far. */
uint64_t record_filters_dropped(const struct record_filters *filters, size_t event);
void record_filters_destroy(struct record_filters *filters);

#endif
