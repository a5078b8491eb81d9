/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_values.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "kernel/counting/run_statistics.h"
#include "kernel/events/tool_events.h"
#include "tasks/counts/stat_number.h"

#define NS_TO_MS 1e-6

static const char *const time_names[STAT_TIMES] = {"elapsed", "user", "system"};

static enum tally_status columns_make(
	struct stat_values *values, const struct stat_report *report, struct tally_error *err)
{
	if (values->events)
		return TALLY_OK;
	values->columns = report->events->len + STAT_TIMES;
	values->shares = calloc(values->columns, sizeof(*values->shares));
	if (!values->shares)
		return error_nomem(err);
	for (size_t i = 0; i < values->columns; i++)
		values->shares[i] = 100;
	values->events = report->events;
	return TALLY_OK;
}

static bool is_of_time(const struct event_spec *spec)
{
	return stat_event_is_clock(spec) || (spec->tool != TOOL_NONE && !tool_event_is_constant(spec->tool));
}

static double column_scale(const struct event_spec *spec)
{
	return is_of_time(spec) ? NS_TO_MS : spec->scale;
}

/* Returns the sum of an event over the places from first to last - 1, or NaN if it was not counted. *share is lowered
 * to the percentage of the time in which the event was counted. */
static double event_value(const struct stat_report *report, size_t event, size_t first, size_t last, double *share)
{
	const struct event_spec *spec = &report->events->specs[event];
	double value = 0, running = 0, enabled = 0;
	if (tool_event_is_shared(spec->tool)) /* Each place has the total value. */
		last = first + 1;
	for (size_t place = first; place < last; place++) {
		const struct stat_cell *cell = stat_cell_at(report, event, place);
		value += cell->value.mean;
		running += cell->running_ns.mean;
		enabled += cell->enabled_ns.mean;
	}
	if (!report->supported[event] || running <= 0)
		return NAN;
	double percent = enabled > running ? 100 * running / enabled : 100;
	if (percent < *share)
		*share = percent;
	return value * column_scale(spec);
}

static void fill_row(const struct stat_report *report, size_t first, size_t last, double *row, double *shares)
{
	size_t head = 0;
	for (size_t i = 0; i < report->events->len; i++) {
		bool adds = report->merges_pmus && report->events->specs[i].is_merged;
		head = adds ? head : i;
		double value = event_value(report, i, first, last, &shares[head]);
		row[i] = adds ? NAN : value;
		if (adds && !isnan(value))
			row[head] = isnan(row[head]) ? value : row[head] + value;
	}
}

void stat_values_of_place(const struct stat_report *report, size_t place, double *row, double *shares)
{
	fill_row(report, place, place + 1, row, shares);
}

enum tally_status stat_values_add(struct stat_values *values, const struct stat_report *report, struct tally_error *err)
{
	enum tally_status status = columns_make(values, report, err);
	if (status != TALLY_OK)
		return status;
	values->origin = report->origin;
	size_t used = values->len * values->columns;
	if (used + values->columns > values->cap &&
		!vec_grow(&values->rows, &values->cap, sizeof(*values->rows), used + values->columns))
		return error_nomem(err);
	double *row = values->rows + used;
	size_t events = report->events->len;
	fill_row(report, 0, report->aggregation->len, row, values->shares);
	row[events + STAT_TIME_ELAPSED] = report->wall_ns.mean * NS_TO_MS;
	row[events + STAT_TIME_USER] = report->has_usage ? report->user_ns.mean * NS_TO_MS : NAN;
	row[events + STAT_TIME_SYSTEM] = report->has_usage ? report->system_ns.mean * NS_TO_MS : NAN;
	values->len++;
	return TALLY_OK;
}

void stat_values_deinit(struct stat_values *values)
{
	free(values->rows);
	free(values->shares);
}

size_t stat_values_sorted(const struct stat_values *values, size_t column, double *room)
{
	size_t len = 0;
	for (size_t run = 0; run < values->len; run++) {
		double value = values->rows[run * values->columns + column];
		if (!isnan(value))
			room[len++] = value;
	}
	run_values_sort(room, len);
	return len;
}

bool stat_values_is_shown(const struct stat_values *values, size_t column)
{
	if (column >= values->events->len || !values->events->specs[column].is_merged)
		return true;
	for (size_t run = 0; run < values->len; run++)
		if (!isnan(values->rows[run * values->columns + column]))
			return true;
	return false;
}

const char *stat_values_name(const struct stat_values *values, size_t column)
{
	size_t events = values->events->len;
	return column < events ? values->events->specs[column].name : time_names[column - events];
}

const char *stat_values_unit_of(const struct event_spec *spec)
{
	return is_of_time(spec) ? "msec" : spec->unit;
}

const char *stat_values_unit(const struct stat_values *values, size_t column)
{
	return column >= values->events->len ? "msec" : stat_values_unit_of(&values->events->specs[column]);
}

unsigned stat_values_decimals(const struct stat_values *values, size_t column)
{
	return column >= values->events->len || column_scale(&values->events->specs[column]) != 1 ? 3 : 0;
}

void stat_values_number(
	struct text *t, const struct stat_values *values, size_t column, double value, const struct stat_style *style)
{
	size_t start = t->len;
	unsigned decimals = stat_values_decimals(values, column);
	if (decimals || value < 0 || value >= (double)UINT64_MAX)
		stat_number(t, style->decimal, value, decimals, 0);
	else
		text_u64_grouped(t, (uint64_t)llround(value), style->thousands);
	text_align_from(t, start, STAT_NUMBER_WIDTH);
}

void stat_values_json_name(struct json *j, const struct stat_values *values, size_t column)
{
	bool is_event = column < values->events->len;
	json_string(j, is_event ? "event" : "time", str_from(stat_values_name(values, column)));
	json_string(j, "unit", str_from(stat_values_unit(values, column)));
	if (values->origin)
		stat_rows_origin(j, values->origin);
}
