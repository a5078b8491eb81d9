/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_view.h - makes the current tables and titles of a top session, for text and for the screen.
 *
 * Session and settings are borrowed. Tables borrow the session's profile until its next refresh. Not thread-safe.
 *
 *	top_view_init(&view, cli, settings, session, err);
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

#define TOP_TABLES_MAX 64 /* Maximum number of events or groups with a table of their own. */

struct top_view {
	const struct cli *cli;
	struct top_settings *settings;
	struct live_session *session;
	struct perfdata_reader *reader; /* Reads the session's description of events and machine. */
	struct report_fields fields;
	struct report_plan plan;
	struct replay_switches switches; /* --switch-on and --switch-off. */
	struct profile_filter filter;
	bool has_filter;
	uint32_t first[TOP_TABLES_MAX]; /* First event of each table. */
	uint32_t count;
	bool has_group;
	struct diag doubts; /* Messages about doubtful symbols, each one once. */
	size_t doubts_told; /* Number of messages in doubts that top_view_doubt has returned. */
	struct top_annotate *annotate; /* NULL if no code is displayed. */
};

/* Initialises the view, plans the report for the session's events, and starts the session. */
TALLY_MUST_CHECK enum tally_status top_view_init(struct top_view *view, const struct cli *cli,
	struct top_settings *settings, struct live_session *session, struct tally_error *err);
void top_view_deinit(struct top_view *view);
const struct profile *top_view_profile(const struct top_view *view);
/* Must be called whenever the profile has changed. */
TALLY_MUST_CHECK enum tally_status top_view_renew(struct top_view *view, struct tally_error *err);
/* Returns the next new message about doubtful symbols, or NULL if there are no more. */
const char *top_view_doubt(struct top_view *view);
/* Makes the sorted table, without rows that have fewer samples than -f. */
TALLY_MUST_CHECK enum tally_status top_view_table(
	const struct top_view *view, uint32_t index, struct flat_table *table, struct tally_error *err);
/* Starts or continues to collect samples by address, beginning with those of the last refresh. The view owns the
 * result. */
TALLY_MUST_CHECK enum tally_status top_view_annotate(
	struct top_view *view, struct top_annotate **annotate, struct tally_error *err);
void top_view_stop_annotating(struct top_view *view);
/* Appends perf top's line "PerfTop: 8000 irqs/sec ...", without a newline. */
void top_view_header(const struct top_view *view, struct text *out);
/* Appends "Samples: 15K of event 'cycles', 4000 Hz, Event count (approx.): 123 lost: 0/0 drop: 0/0". */
void top_view_title(const struct top_view *view, uint32_t index, struct text *out);

#endif
