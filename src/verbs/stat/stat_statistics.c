/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_statistics.h"

#include <math.h>
#include <stdlib.h>

#include "kernel/counting/run_statistics.h"
#include "tasks/counts/stat_number.h"

static void outliers_append(struct text *t, const struct stat_values *values, size_t column,
	const struct stat_style *style, const struct run_summary *summary)
{
	if (summary->outliers == 0)
		return;
	text_printf(t, "  %zu outlier%s: run", summary->outliers, summary->outliers == 1 ? "" : "s");
	for (size_t run = 0; run < values->len; run++) {
		double value = values->rows[run * values->columns + column];
		if (value < summary->low_fence || value > summary->high_fence) {
			text_printf(t, " %zu (", run + 1);
			stat_number(t, style->decimal, value, stat_values_decimals(values, column), 0);
			text_char(t, ')');
		}
	}
}

static void stat_statistics_row_print(struct text *t, const struct stat_values *values, size_t column,
	const struct stat_style *style, const struct run_summary *summary)
{
	text_str(t, "  ");
	if (summary->len == 0) {
		text_str_right(t, STR("<not counted>"), STAT_NUMBER_WIDTH);
	} else {
		stat_values_number(t, values, column, summary->median, style);
	}
	text_printf(t, " %-4s ", stat_values_unit(values, column));
	text_str_left(t, str_from(stat_values_name(values, column)), 28);
	if (summary->interval.is_known) {
		stat_values_number(t, values, column, summary->interval.low, style);
		text_str(t, " ..");
		stat_values_number(t, values, column, summary->interval.high, style);
		text_str(t, "  (");
		stat_number(t, style->decimal, 100 * summary->interval.coverage, 1, 0);
		text_str(t, "%)");
	} else if (summary->len > 0) {
		text_printf(t, "  no interval: %zu values, 6 are the least", summary->len);
	}
	outliers_append(t, values, column, style, summary);
	if (values->shares[column] < 100) {
		text_str(t, "  counted for ");
		stat_number(t, style->decimal, values->shares[column], 1, 0);
		text_str(t, "% of the time at least, scaled");
	}
	text_char(t, '\n');
}

static void stat_statistics_row_json(
	struct text *t, const struct stat_values *values, size_t column, const struct run_summary *summary)
{
	struct json j = {.out = t, .is_compact = true};
	json_object(&j, NULL);
	json_string(&j, "kind", STR("statistics"));
	stat_values_json_name(&j, values, column);
	json_u64(&j, "runs", summary->len);
	if (summary->len > 0)
		json_fixed(&j, "median", summary->median, 6);
	if (summary->interval.is_known) {
		json_fixed(&j, "interval-low", summary->interval.low, 6);
		json_fixed(&j, "interval-high", summary->interval.high, 6);
		json_fixed(&j, "coverage", summary->interval.coverage, 6);
	}
	json_u64(&j, "outliers", summary->outliers);
	json_fixed(&j, "least-running-percent", values->shares[column], 2);
	json_object_end(&j);
}

void stat_statistics_print(struct text *t, const struct stat_values *values, const struct stat_style *style)
{
	double *room = calloc(values->len + 1, sizeof(*room));
	if (!room) {
		t->failed = true;
		return;
	}
	if (!style->is_json)
		text_printf(t, " Medians of %zu runs, their confidence intervals (95%% at least), outliers:\n\n",
			values->len);
	for (size_t column = 0; values->events && column < values->columns; column++) {
		if (!stat_values_is_shown(values, column))
			continue;
		size_t len = stat_values_sorted(values, column, room);
		struct run_summary summary = run_summarise(room, len);
		if (style->is_json)
			stat_statistics_row_json(t, values, column, &summary);
		else if (len > 0 || column < values->events->len)
			stat_statistics_row_print(t, values, column, style, &summary);
	}
	if (!style->is_json)
		text_char(t, '\n');
	free(room);
}
