/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_view.h - makes the current tables and titles of a top session, for text and for the screen.
 *
 * Borrows session and settings. Tables borrow the session's profile until its next refresh. One thread.
 *
 *	top_view_init(&view, settings, session, err);
 *	top_view_renew(&view, err);	// after each refresh
 *	for (uint32_t i = 0; i < view.count; i++) top_view_table(&view, i, &table, err);
 *	top_view_deinit(&view);
 */
#ifndef VERBS_TOP_TOP_VIEW_H
#define VERBS_TOP_TOP_VIEW_H

#include "tasks/reporting/report_tables.h"
#include "tasks/sampling/live_session.h"
#include "verbs/top/top_annotate.h"
#include "verbs/top/top_settings.h"

#define TOP_TABLES_MAX 64 /* events, or groups of them, that have tables of their own */

struct top_view {
	const struct cli *cli;
	struct top_settings *settings;
	struct live_session *session;
	struct perfdata_reader *reader; /* of the session's description */
	struct report_fields fields;
	struct report_plan plan;
	struct replay_switches switches; /* --switch-on, --switch-off */
	struct profile_filter filter;
	bool has_filter;
	uint32_t first[TOP_TABLES_MAX]; /* event of each table */
	uint32_t count;
	bool has_group;
	struct diag doubts; /* of names, each once */
	size_t doubts_told;
	struct top_annotate *annotate; /* NULL: nobody looks at code */
};

/* Also plans the report, by what the events are, and starts the session. */
TALLY_MUST_CHECK enum tally_status top_view_init(struct top_view *view, const struct cli *cli,
	struct top_settings *settings, struct live_session *session, struct tally_error *err);
void top_view_deinit(struct top_view *view);
const struct profile *top_view_profile(const struct top_view *view);
/* Call it when the profile is a new one. */
TALLY_MUST_CHECK enum tally_status top_view_renew(struct top_view *view, struct tally_error *err);
/* The next new message about doubtful names; NULL: there are no more. */
const char *top_view_doubt(struct top_view *view);
/* Makes the sorted table, without the rows that -f omits. */
TALLY_MUST_CHECK enum tally_status top_view_table(
	const struct top_view *view, uint32_t index, struct flat_table *table, struct tally_error *err);
/* Starts to collect samples by address, beginning with those of the last refresh; if it was started before, it
 * continues. The view owns them. */
TALLY_MUST_CHECK enum tally_status top_view_annotate(
	struct top_view *view, struct top_annotate **annotate, struct tally_error *err);
void top_view_stop_annotating(struct top_view *view);
/* perf top's line on what came in, without its end: "PerfTop: 8000 irqs/sec ...". */
void top_view_header(const struct top_view *view, struct text *out);
/* "Samples: 15K of event 'cycles', 4000 Hz, Event count (approx.): 123 lost: 0/0 drop: 0/0". */
void top_view_title(const struct top_view *view, uint32_t index, struct text *out);

#endif
