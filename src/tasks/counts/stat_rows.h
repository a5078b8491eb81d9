/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_rows.h - prints a stat_report as perf's table, as CSV or as one JSON object per line.
 */
#ifndef TASKS_COUNTS_STAT_ROWS_H
#define TASKS_COUNTS_STAT_ROWS_H

#include "base/json.h"
#include "tasks/counts/stat_report.h"

struct stat_style {
	const char *separator; /* CSV; NULL: none */
	bool is_json;
	bool has_metrics_only; /* --metric-only: one line per place */
	const char *thousands; /* between groups of three digits; "": none */
	const char *decimal; /* the decimal point; NULL: "." */
	bool hides_zeros; /* omits counts of 0, and events that were not counted */
	bool has_csv_summary; /* totals after intervals carry "summary" in CSV */
	bool has_interval_header; /* the column titles of interval mode are due */
	bool has_run_table; /* each run's time before the mean */
	const double *run_ns; /* of has_run_table */
};

/* The place of the count: "CPU3", "S0-D0-C1", "comm-12"; nothing for the whole system. */
void stat_rows_place(struct text *t, const struct stat_report *report, size_t event, size_t place);
/* The member "origin" of an object. */
void stat_rows_origin(struct json *json, const struct stat_origin *origin);
/* What is wrong with all counts of the report, runs that failed and counts that are not complete: the members "failures"
 * and "warnings" of an object, if there is anything to say. */
void stat_rows_warnings_json(struct json *json, const struct stat_report *report);
/* The same as lines that begin with "# ". */
void stat_rows_warnings(struct text *t, const struct stat_report *report);
/* One line per event and place, with heading and closing lines where the style has them. */
void stat_rows_print(struct text *t, const struct stat_report *report, const struct stat_style *style);

#endif
