/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_session.h - holds what the interactive report shows of one recording: its tables, pages and functions, for
 * report_explore. Tables can be made again with other sort keys; the recording is read again if necessary.
 *
 * It borrows its arguments; result and filter change when the recording is read again.
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
	struct report_request *request; /* sort keys that are typed go there */
	struct report_plan *plan;
	struct report_source source;
	const struct report_fields *fields;
	struct perfdata_reader *reader;
	struct binary_store *store;
	const char *path;
	struct replay_result *result;
	struct profile_filter *filter;
	const bool *cpus;
	struct explore_begun *begun; /* NULL: nothing is on the screen yet */
	void *report; /* of print_title */
	void (*print_title)(void *report, const struct flat_table *table, struct text *out);
};

/* Returns when the user leaves. */
TALLY_MUST_CHECK enum tally_status report_session_run(struct report_session *session, struct tally_error *err);

#endif
