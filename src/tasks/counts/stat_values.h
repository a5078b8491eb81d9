/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_values.h - stores what each run measured: the counts of each event, and the times of the command.
 *
 * Columns are the events in their order, as the table shows them (scaled, and added up over PMUs of the same kind),
 * then elapsed, user and system time. A run in which an event was not counted has no value for it. The caller owns it
 * (stat_values_deinit); it borrows the event list.
 *
 *	struct stat_values values = {0};
 *	struct stat_session session = {..., .values = &values}; // stat_run adds a row
 *	size_t len = stat_values_sorted(&values, column, room); // room for values.len
 */
#ifndef TASKS_COUNTS_STAT_VALUES_H
#define TASKS_COUNTS_STAT_VALUES_H

#include "base/json.h"
#include "tasks/counts/stat_report.h"
#include "tasks/counts/stat_rows.h"

enum { STAT_TIME_ELAPSED, STAT_TIME_USER, STAT_TIME_SYSTEM, STAT_TIMES };

struct stat_values {
	const struct event_list *events;
	const struct stat_origin *origin; /* as in the reports; NULL: perf events */
	size_t columns;
	double *rows; /* run x column; NAN: not counted */
	size_t len; /* runs */
	size_t cap; /* of rows */
	double *shares; /* by column: the smallest share of time on the PMU, in percent */
};

TALLY_MUST_CHECK enum tally_status stat_values_add(
	struct stat_values *values, const struct stat_report *report, struct tally_error *err);
/* The same columns for one place only. Fills row and lowers shares, which are as long as the report's list of
 * events. */
void stat_values_of_place(const struct stat_report *report, size_t place, double *row, double *shares);
void stat_values_deinit(struct stat_values *values);
/* The known values of a column, sorted; room takes values->len. */
size_t stat_values_sorted(const struct stat_values *values, size_t column, double *room);
/* False for events that are added to the event before. */
bool stat_values_is_shown(const struct stat_values *values, size_t column);
const char *stat_values_name(const struct stat_values *values, size_t column);
const char *stat_values_unit(const struct stat_values *values, size_t column);
/* The unit of an event's column. */
const char *stat_values_unit_of(const struct event_spec *spec);
/* The number as the column shows it, right-aligned in width. */
void stat_values_number(
	struct text *t, const struct stat_values *values, size_t column, double value, const struct stat_style *style);
void stat_values_json_name(struct json *j, const struct stat_values *values, size_t column);
/* The number of decimals: 0 for counts, more for means and times. */
unsigned stat_values_decimals(const struct stat_values *values, size_t column);

#define STAT_NUMBER_WIDTH 16

#endif
