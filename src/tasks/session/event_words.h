/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_words.h - handles -e, and the options that refer to the events before them: -G and --filter. Used by stat and
 * record.
 *
 * -G and --filter change elements of the list in place; strings are allocated in its arena. The texts of errors are
 * meant for the usage message of the option.
 */
#ifndef TASKS_SESSION_EVENT_WORDS_H
#define TASKS_SESSION_EVENT_WORDS_H

#include "kernel/events/event_parser.h"

struct cli;

/* Parses -e. As in perf, a group without closing brace is accepted; a message on standard error reports it. */
TALLY_MUST_CHECK enum tally_status event_word_parse(const struct cli *cli, struct event_catalogue *catalogue,
	const char *text, struct event_list *events, struct tally_error *err);
/* Sets the cgroup of the event with this index. Returns NOT_FOUND if the cgroup cannot be read. */
TALLY_MUST_CHECK enum tally_status event_set_cgroup(struct event_list *events, size_t index,
	const struct kernel_seam *kernel, struct tally_str name, struct tally_error *err);
/* Handles -G a,b,c with one cgroup for each event, in their order; an empty name leaves an event without a cgroup, and
 * a single name applies to all remaining events. used is the number of events that the options -G so far have handled;
 * it is updated. */
TALLY_MUST_CHECK enum tally_status event_set_cgroups(struct event_list *events, const struct kernel_seam *kernel,
	const char *names, size_t *used, struct tally_error *err);
/* Adds a filter to the events from index first on, which must be tracepoints; it is joined with their existing filters
 * by &&. option is its name for messages. */
TALLY_MUST_CHECK enum tally_status event_add_filter(
	struct event_list *events, size_t first, const char *filter, const char *option, struct tally_error *err);
/* Adds conditions on samples (sample_filter.h) to the events from index first on, none of which may be a tracepoint.
 * Existing conditions are retained. err->offset is the column of an error. */
TALLY_MUST_CHECK enum tally_status event_add_sample_filter(struct event_list *events, size_t first, const char *filter,
	const struct kernel_seam *kernel, struct tally_error *err);

#endif
