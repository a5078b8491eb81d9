/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_words.h - handles -e, and the options that refer to the events before them: -G and --filter. Used by stat and
 * record.
 *
 * The latter change specs of the list in place; strings go into its arena. The text of a failure is for the option's
 * usage message.
 */
#ifndef TASKS_SESSION_EVENT_WORDS_H
#define TASKS_SESSION_EVENT_WORDS_H

#include "kernel/events/event_parser.h"

struct cli;

/* Parses -e. Accepts a group without closing brace, as perf does, and reports it on standard error. */
TALLY_MUST_CHECK enum tally_status event_word_parse(const struct cli *cli, struct event_catalogue *catalogue,
	const char *text, struct event_list *events, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status event_set_cgroup(struct event_list *events, size_t index,
	const struct kernel_seam *kernel, struct tally_str name, struct tally_error *err);
/* -G a,b,c: one cgroup for each event, in their order; an empty one means none, and a single one is for all remaining
 * events. used counts the events that were handled, over all -G. */
TALLY_MUST_CHECK enum tally_status event_set_cgroups(struct event_list *events, const struct kernel_seam *kernel,
	const char *names, size_t *used, struct tally_error *err);
/* For the events from first on, all tracepoints; joins the filters that they have already with &&. option: its name. */
TALLY_MUST_CHECK enum tally_status event_add_filter(
	struct event_list *events, size_t first, const char *filter, const char *option, struct tally_error *err);
/* For the events from first on, none of which is a tracepoint: adds conditions on their samples (sample_filter.h) to
 * those that they already have. err->offset is the column of a mistake. */
TALLY_MUST_CHECK enum tally_status event_add_sample_filter(struct event_list *events, size_t first, const char *filter,
	const struct kernel_seam *kernel, struct tally_error *err);

#endif
