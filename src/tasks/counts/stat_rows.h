/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_rows.h - prints a stat_report as perf's table, as CSV or as one JSON object per line.
 */
#ifndef TASKS_COUNTS_STAT_ROWS_H
#define TASKS_COUNTS_STAT_ROWS_H

#include "base/json.h"
#include "tasks/counts/stat_report.h"

struct stat_style {
	const char *separator; /* Separator of CSV, or NULL. */
	bool is_json;
	bool has_metrics_only; /* --metric-only: prints one line for each place. */
	const char *thousands; /* Separator between groups of three digits; "" for none. */
	const char *decimal; /* Decimal point, or NULL for ".". */
	bool hides_zeros; /* Omits counts of 0, and events that were not counted. */
	bool has_csv_summary; /* Totals after intervals contain the word "summary" in CSV. */
	bool has_interval_header; /* Prints the column titles of interval mode before the report. */
	bool has_run_table; /* Prints the time of each run before the mean. */
	const double *run_ns; /* Times of the runs, for has_run_table. */
};

/* Appends the place of the count, such as "CPU3", "S0-D0-C1" or "comm-12"; nothing for the whole system. */
void stat_rows_place(struct text *t, const struct stat_report *report, size_t event, size_t place);
/* Writes the member "origin" of the open object. */
void stat_rows_origin(struct json *json, const struct stat_origin *origin);
/* Writes the members "failures" and "warnings" of the open object, about failed runs and incomplete counts; each is
 * omitted if it would be empty. */
void stat_rows_warnings_json(struct json *json, const struct stat_report *report);
/* Appends the failed runs and the incomplete counts as lines that start with "# warning: ". */
void stat_rows_warnings(struct text *t, const struct stat_report *report);
/* Appends one line for each event and place, with heading and closing lines if the style has them. */
void stat_rows_print(struct text *t, const struct stat_report *report, const struct stat_style *style);

#endif
