/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_values.h - stores what each run measured: the counts of each event, and the times of the command.
 *
 * Columns are the events in their order, as the table shows them (scaled, and added up over PMUs of the same kind),
 * then elapsed, user and system time. A run in which an event was not counted has no value for it. The caller owns
 * struct stat_values (stat_values_deinit), which borrows the event list.
 *
 *	struct stat_values values = {0};
 *	struct stat_session session = {..., .values = &values}; // stat_run adds a row for each run
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
	const struct stat_origin *origin; /* NULL for perf events. */
	size_t columns;
	double *rows; /* Indexed by run * columns + column; NaN if not counted. */
	size_t len; /* Number of runs. */
	size_t cap; /* Capacity of rows in elements. */
	double *shares; /* For each column, the smallest share of time on the PMU in percent. */
};

/* Adds the results of one run. Every report must have the same events. */
TALLY_MUST_CHECK enum tally_status stat_values_add(
	struct stat_values *values, const struct stat_report *report, struct tally_error *err);
/* Sets row to the values of the events at one place, and lowers each element of shares to the share of time on the PMU
 * at this place in percent if that is smaller. row and shares have an element for each event of the report. */
void stat_values_of_place(const struct stat_report *report, size_t place, double *row, double *shares);
void stat_values_deinit(struct stat_values *values);
/* Writes the values of a column without NaN to room, which has space for values->len elements, and sorts them. Returns
 * their number. */
size_t stat_values_sorted(const struct stat_values *values, size_t column, double *room);
/* Returns false for an event that is added to a previous event. */
bool stat_values_is_shown(const struct stat_values *values, size_t column);
const char *stat_values_name(const struct stat_values *values, size_t column);
/* Returns the unit of a column: "msec" for times, otherwise the unit of the event, which may be empty. */
const char *stat_values_unit(const struct stat_values *values, size_t column);
/* Returns the unit of an event's column. */
const char *stat_values_unit_of(const struct event_spec *spec);
/* Appends the number in the format of the column, right-aligned. */
void stat_values_number(
	struct text *t, const struct stat_values *values, size_t column, double value, const struct stat_style *style);
void stat_values_json_name(struct json *j, const struct stat_values *values, size_t column);
/* Returns the number of decimals: 0 for counts, 3 for times and scaled values. */
unsigned stat_values_decimals(const struct stat_values *values, size_t column);

#define STAT_NUMBER_WIDTH 16

#endif
