/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_session.h - runs the interactive report of one recording: provides its tables, pages and functions to
 * report_explore. The user can select other sort keys, for which the recording is read again if necessary.
 *
 * All pointers are borrowed; result and filter change when the recording is read again.
 *
 *	status = report_session_run(&session, err);
 */
#ifndef VERBS_REPORT_REPORT_SESSION_H
#define VERBS_REPORT_REPORT_SESSION_H

#include "analysis/replay/replay.h"
#include "cli/cli.h"
#include "tasks/reporting/report_explore.h"
#include "tasks/reporting/report_tables.h"

struct report_session {
	const struct cli *cli;
	struct report_request *request; /* Receives the sort keys that the user types. */
	struct report_plan *plan;
	struct report_source source;
	const struct report_fields *fields;
	struct perfdata_reader *reader;
	struct binary_store *store;
	const char *path;
	struct replay_result *result;
	struct profile_filter *filter;
	const bool *cpus;
	struct explore_begun *begun; /* NULL if the screen has not been opened yet. */
	void *report; /* Argument of print_title. */
	void (*print_title)(void *report, const struct flat_table *table, struct text *out);
};

/* Returns when the user quits. */
TALLY_MUST_CHECK enum tally_status report_session_run(struct report_session *session, struct tally_error *err);

#endif
