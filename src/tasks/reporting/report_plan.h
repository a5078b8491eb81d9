/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_plan.h - interprets a report request for one recording: determines columns, order, and which samples are
 * counted. Pure.
 *
 * A plan is a value that borrows the request, which must not change. It can be made once the events are known.
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
	bool with_children; /* Samples also count for the functions in their call chains, as with --children. */
	bool with_chains;
	bool with_history; /* Branches are part of the call chains. */
	bool joins_events; /* Set for --group if no group was recorded; as in perf, all events are then one group. */
	bool shows_children; /* Rows are shown with a column of children sums. */
	bool is_caller_first;
	/* Frames of call graphs are by address or by source line; if neither is set, by function. */
	bool is_by_address, is_by_line;
	struct chain_options chains;
	enum profile_key columns[REPORT_MAX_COLUMNS];
	size_t column_count;
	enum profile_key order[REPORT_MAX_COLUMNS]; /* Sort order. */
	size_t order_count;
	enum profile_key keys[REPORT_MAX_COLUMNS]; /* Grouping keys. */
	size_t key_count;
	uint8_t levels[REPORT_MAX_COLUMNS]; /* Levels in a hierarchy, indexed by column; columns of values have none. */
	uint64_t hidden_columns; /* Bit mask of enum profile_key. */
	enum profile_key_mode mode; /* Determines whether rows are of samples, branches or memory accesses. */
	const char *used_sort; /* Default sort keys, if they are used alone or before the typed ones; otherwise NULL. */
};

/* The properties of the recording on which columns depend. */
struct report_source {
	bool has_chains, is_pipe, is_all_tracepoints, has_branches, has_groups;
	/* Set for a pipe: rows are of branches only on request, because perf decides this before it knows the
	 * events. */
	bool branches_are_late;
	/* LIMIT_CPUS flags, indexed by the number of running threads, that select samples; NULL selects all. */
	const bool *parallelism;
	struct report_fields *fields; /* Fields of tracepoints, or NULL if none are known. */
};

/* Returns TALLY_UNSUPPORTED for a key of perf's that tally lacks, and TALLY_INVALID for an unknown one. */
TALLY_MUST_CHECK enum tally_status report_plan_make(const struct report_request *request,
	const struct report_source *source, struct report_plan *plan, struct tally_error *err);
/* Prints the sort keys as perf does in its title. */
void report_plan_print_sort(const struct report_plan *plan, struct text *t);
/* Returns the facets that the keys need, as a bit mask of enum profile_facet. */
uint64_t report_plan_facets(const struct report_plan *plan);
bool report_plan_has_form(const struct report_plan *plan, enum profile_key_form form);
bool report_plan_has_key(const struct report_plan *plan, enum profile_key key);

#endif
