/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_plan.h - interprets a report request for one recording: columns, order, what is counted. Pure.
 *
 * A value that borrows the request, which must not change. It is made when the events are known.
 *
 *	struct report_plan plan;
 *	status = report_plan_make(&request, &source, &plan, err);
 */
#ifndef TASKS_REPORTING_REPORT_PLAN_H
#define TASKS_REPORTING_REPORT_PLAN_H

#include "tasks/reporting/report_request.h"

struct report_plan {
	const struct report_request *request;
	struct profile_filter_lists filters;
	bool with_children; /* callers have rows */
	bool with_chains;
	bool with_history; /* branches are parts of call chains */
	bool joins_events; /* --group: as in perf, all events are one group if none was recorded */
	bool shows_children; /* the children sum is a column, and what a row stands for */
	bool is_caller_first;
	bool is_by_address, is_by_line; /* frames of call graphs; neither: by function */
	struct chain_options chains;
	enum profile_key columns[REPORT_MAX_COLUMNS];
	size_t column_count;
	enum profile_key order[REPORT_MAX_COLUMNS]; /* sort order */
	size_t order_count;
	enum profile_key keys[REPORT_MAX_COLUMNS]; /* grouping keys */
	size_t key_count;
	uint8_t levels[REPORT_MAX_COLUMNS]; /* by column of a key: its level in a hierarchy */
	uint64_t hidden_columns;
	enum profile_key_mode mode; /* what samples count by */
	const char *used_sort; /* the default that is used, alone or before the typed keys; NULL: none */
};

struct report_source { /* the properties of the recording on which columns depend */
	bool has_chains, is_pipe, is_all_tracepoints, has_branches, has_groups;
	bool branches_are_late; /* samples count by their branches only on request */
	const bool *parallelism; /* by how many threads ran: LIMIT_CPUS of them count or do not; NULL: all do */
	struct report_fields *fields; /* of tracepoints; NULL: none are known */
};

/* TALLY_UNSUPPORTED for a key of perf's that tally lacks, TALLY_INVALID for an unknown one. */
TALLY_MUST_CHECK enum tally_status report_plan_make(const struct report_request *request,
	const struct report_source *source, struct report_plan *plan, struct tally_error *err);
/* The sort keys as perf's title has them. */
void report_plan_print_sort(const struct report_plan *plan, struct text *t);
/* The facets that the keys need: bits by enum profile_facet. */
uint64_t report_plan_facets(const struct report_plan *plan);
bool report_plan_has_form(const struct report_plan *plan, enum profile_key_form form);
bool report_plan_has_key(const struct report_plan *plan, enum profile_key key);

#endif
