/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_metrics.h"

#include <math.h>
#include <stdlib.h>

#include "kernel/events/tool_events.h"
#include "kernel/metrics/metric_set.h"
#include "tasks/counts/stat_number.h"

#define STAT_METRICS_NS_PER_S 1e9

static double use_value(const struct stat_report *report, const struct metric_use *use, size_t place)
{
	double *values = calloc(use->expr->name_count + 1, sizeof(*values));
	if (!values)
		return NAN;
	for (size_t i = 0; i < use->expr->name_count; i++) {
		const struct event_spec *spec = &report->events->specs[use->events[i]];
		bool is_supported;
		struct stat_cell cell = stat_merged_cell(report, use->events[i], place, &is_supported);
		bool is_time = spec->tool != TOOL_NONE && !tool_event_is_constant(spec->tool);
		double scale = is_time ? 1 / STAT_METRICS_NS_PER_S : spec->scale;
		values[i] = is_supported && cell.running_ns.mean > 0 ? cell.value.mean * scale : NAN;
	}
	double value = metric_expr_value(use->expr, values);
	free(values);
	return value;
}

static const char *stat_metrics_judgement(const struct metric *metric, double value)
{
	if (!metric->threshold_sign || isnan(value))
		return NULL;
	bool is_beyond = metric->threshold_sign == '>' ? value > metric->threshold : value < metric->threshold;
	return is_beyond ? "bad" : "good";
}

static struct stat_metric use_metric(const struct stat_report *report, const struct metric_use *use, size_t place)
{
	double value = use_value(report, use, place);
	return (struct stat_metric){
		.value = value * use->metric->scale,
		.unit = use->label,
		.decimals = *use->metric->unit ? 1 : 2,
		.judgement = report->has_thresholds ? stat_metrics_judgement(use->metric, value) : NULL,
	};
}

struct stat_metric stat_metric_at(const struct stat_report *report, size_t event, size_t place, unsigned nth)
{
	const struct metric_set *metrics = report->metrics;
	if (!metrics)
		return nth == 0	  ? stat_metric_of(report, event, place)
		       : nth == 1 ? stat_second_metric_of(report, event, place)
				  : (struct stat_metric){0};
	for (size_t i = 0; i < metrics->uses.len; i++)
		if (metrics->uses.items[i].lead == event && nth-- == 0)
			return use_metric(report, &metrics->uses.items[i], place);
	return (struct stat_metric){0};
}

void stat_metric_value(struct text *text, const struct stat_metric *metric, const char *point)
{
	if (isnan(metric->value))
		text_str(text, "nan");
	else
		stat_number(text, point, metric->value, metric->decimals, 0);
}

void stat_metric_text(struct text *text, const struct stat_metric *metric, const char *point)
{
	size_t start = text->len;
	stat_metric_value(text, metric, point);
	text_align_from(text, start, metric->decimals == 2 ? 7 : 8);
	text_printf(text, "%s %s", metric->is_percent ? "%" : "", metric->unit);
}
