/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_words.h - handles -e, and the options that refer to the events before them: -G and --filter. For stat and
 * record.
 *
 * The latter change specs of the list in place; strings go into its arena. A failure's text is for the option's usage.
 */
#ifndef TASKS_SESSION_EVENT_WORDS_H
#define TASKS_SESSION_EVENT_WORDS_H

#include "kernel/events/event_parser.h"

struct cli;

/* -e, with what the parser refuses and perf takes: a group that is not closed, told on standard error. */
TALLY_MUST_CHECK enum tally_status event_word_parse(const struct cli *cli, struct event_catalogue *catalogue,
	const char *text, struct event_list *events, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status event_set_cgroup(struct event_list *events, size_t index,
	const struct kernel_seam *kernel, struct tally_str name, struct tally_error *err);
/* -G a,b,c: one for each event in its order, an empty one for none; a single one for all that are left. used counts
 * the events that had their turn, over all -G. */
TALLY_MUST_CHECK enum tally_status event_set_cgroups(struct event_list *events, const struct kernel_seam *kernel,
	const char *names, size_t *used, struct tally_error *err);
/* For the events from first on, all tracepoints; joins the filters that they have already with &&. option: its name. */
TALLY_MUST_CHECK enum tally_status event_add_filter(
	struct event_list *events, size_t first, const char *filter, const char *option, struct tally_error *err);
/* For the events from first on, none of them a tracepoint: conditions on their samples (sample_filter.h), besides those that
 * they have already. A mistake's err->offset is its column. */
TALLY_MUST_CHECK enum tally_status event_add_sample_filter(struct event_list *events, size_t first, const char *filter,
	const struct kernel_seam *kernel, struct tally_error *err);

#endif
