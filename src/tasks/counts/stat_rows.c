/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/json.h"
#include "kernel/events/tool_events.h"
#include "tasks/counts/stat_metrics.h"
#include "tasks/counts/stat_number.h"

#define NAME_WIDTH	  32
#define METRIC_WIDTH	  33
#define VALUE_WIDTH	  18
#define METRIC_ONLY_WIDTH 20

static const char *const place_keys[] = {[AGGREGATE_ALL] = "",
	[AGGREGATE_CPU] = "cpu",
	[AGGREGATE_CORE] = "core",
	[AGGREGATE_DIE] = "die",
	[AGGREGATE_SOCKET] = "socket",
	[AGGREGATE_NODE] = "node",
	[AGGREGATE_CLUSTER] = "cluster",
	[AGGREGATE_CACHE] = "cache",
	[AGGREGATE_THREAD] = "thread"};
static const char *const place_columns[] = {[AGGREGATE_ALL] = "",
	[AGGREGATE_CPU] = "CPU        ",
	[AGGREGATE_CORE] = "core            cpus ",
	[AGGREGATE_DIE] = "die          cpus ",
	[AGGREGATE_SOCKET] = "socket cpus ",
	[AGGREGATE_NODE] = "node   cpus ",
	[AGGREGATE_CLUSTER] = "cluster           cpus ",
	[AGGREGATE_CACHE] = "cache             cpus ",
	[AGGREGATE_THREAD] = "            comm-pid      "};

enum row_state { ROW_COUNTED, ROW_NOT_COUNTED, ROW_NOT_SUPPORTED };

struct stat_rows_row {
	const struct stat_report *report;
	const struct stat_style *style;
	size_t event, place;
	const struct event_spec *spec;
	enum row_state state;
	double value, running_ns, enabled_ns; /* value as shown, scaled to the unit */
	unsigned decimals;
	const char *unit;
	double error_percent;
	uint32_t cpu_count;
};

static const struct cpu_place *stat_rows_place_of(const struct stat_rows_row *row)
{
	return &row->report->aggregation->places[row->place];
}

/* percore with a line per CPU: the line is the core's. */
static bool is_per_core(const struct stat_report *report, size_t event)
{
	return report->aggregation->mode == AGGREGATE_CPU && report->events->specs[event].is_per_core;
}

static bool is_same_core(const struct cpu_place *a, const struct cpu_place *b)
{
	return a->core == b->core && a->die == b->die && a->socket == b->socket;
}

/* What the row shows: of like PMUs, and of the hardware threads of a core, the sum. */
static struct stat_cell shown_cell(const struct stat_report *report, size_t event, size_t place, bool *is_supported)
{
	struct stat_cell cell = stat_merged_cell(report, event, place, is_supported);
	const struct cpu_place *places = report->aggregation->places;
	for (size_t i = 0; is_per_core(report, event) && i < report->aggregation->len; i++) {
		bool ignored;
		if (i == place || !is_same_core(&places[i], &places[place]))
			continue;
		struct stat_cell more = stat_merged_cell(report, event, i, &ignored);
		cell.value.mean += more.value.mean;
		cell.value.m2 += more.value.m2;
		cell.running_ns.mean += more.running_ns.mean;
		cell.enabled_ns.mean += more.enabled_ns.mean;
		cell.cpu_count += more.cpu_count;
	}
	return cell;
}

/* A core has one line, that of its first hardware thread. */
static bool is_shown_at(const struct stat_report *report, size_t event, size_t place)
{
	const struct cpu_place *places = report->aggregation->places;
	if (report->aggregation->mode == AGGREGATE_CPU && place > 0 &&
		tool_event_is_shared(report->events->specs[event].tool))
		return false; /* of the measurement, not of a CPU */
	for (size_t i = 0; is_per_core(report, event) && !report->shows_core_threads && i < place; i++)
		if (is_same_core(&places[i], &places[place]))
			return false;
	return true;
}

static struct stat_rows_row row_make(
	const struct stat_report *report, const struct stat_style *style, size_t event, size_t place)
{
	const struct event_spec *spec = &report->events->specs[event];
	bool is_supported;
	struct stat_cell cell = shown_cell(report, event, place, &is_supported);
	struct stat_rows_row row = {.report = report, .style = style, .event = event, .place = place, .spec = spec};
	bool is_clock = stat_event_is_clock(spec);
	double scale = is_clock ? 1e-6 : spec->scale;
	row.unit = is_clock ? "msec" : spec->unit;
	row.decimals = scale != 1 ? 2 : 0;
	row.value = cell.value.mean * scale;
	row.running_ns = cell.running_ns.mean;
	row.enabled_ns = cell.enabled_ns.mean;
	row.error_percent = report->runs > 1 ? stat_mean_error_percent(&cell.value) : 0;
	row.cpu_count = cell.cpu_count ? cell.cpu_count : 1;
	if (!is_supported)
		row.state = ROW_NOT_SUPPORTED;
	else if (row.running_ns <= 0)
		row.state = ROW_NOT_COUNTED;
	return row;
}

static const char *stat_rows_state_text(const struct stat_rows_row *row)
{
	return row->state == ROW_NOT_SUPPORTED ? "<not supported>" : "<not counted>";
}

static double running_percent(const struct stat_rows_row *row)
{
	return row->enabled_ns > 0 ? 100.0 * row->running_ns / row->enabled_ns : 100.0;
}

static bool is_core_row(const struct stat_rows_row *row)
{
	return is_per_core(row->report, row->event) && !row->report->shows_core_threads;
}

/* "S0-D0-C1", "CPU3", "comm-12": where the row was counted; empty if everywhere. */
static void stat_rows_place_append(struct text *t, const struct stat_rows_row *row)
{
	const struct aggregation *a = row->report->aggregation;
	switch (a->mode) {
	case AGGREGATE_ALL:
		break;
	case AGGREGATE_CPU:
		if (!is_core_row(row)) {
			text_printf(t, "CPU%d", stat_rows_place_of(row)->cpu);
			break;
		} /* fall through */
	case AGGREGATE_CORE:
		text_printf(t, "S%d-D%d-C%d", stat_rows_place_of(row)->socket, stat_rows_place_of(row)->die,
			stat_rows_place_of(row)->core);
		break;
	case AGGREGATE_DIE:
		text_printf(t, "S%d-D%d", stat_rows_place_of(row)->socket, stat_rows_place_of(row)->die);
		break;
	case AGGREGATE_SOCKET:
		text_printf(t, "S%d", stat_rows_place_of(row)->socket);
		break;
	case AGGREGATE_NODE:
		text_printf(t, "N%d", stat_rows_place_of(row)->node);
		break;
	case AGGREGATE_CLUSTER:
		text_printf(t, "S%d-D%d-CLS%d", stat_rows_place_of(row)->socket, stat_rows_place_of(row)->die,
			stat_rows_place_of(row)->cluster);
		break;
	case AGGREGATE_CACHE:
		text_printf(t, "S%d-D%d-L%u-ID%d", stat_rows_place_of(row)->socket, stat_rows_place_of(row)->die,
			a->cache_level, stat_rows_place_of(row)->cache);
		break;
	case AGGREGATE_THREAD:
		text_visible(t, str_from(row->report->comms[row->place]));
		text_printf(t, "-%d", (int)a->threads[row->place]);
		break;
	}
}

void stat_rows_place(struct text *t, const struct stat_report *report, size_t event, size_t place)
{
	stat_rows_place_append(t, &(struct stat_rows_row){.report = report, .event = event, .place = place});
}

/* "             sleep-1234     " */
static void thread_append(struct text *t, const struct stat_rows_row *row)
{
	size_t start = t->len;
	text_visible(t, str_from(row->report->comms[row->place]));
	text_align_from(t, start, 16);
	text_printf(t, "-%-8d ", (int)row->report->aggregation->threads[row->place]);
}

static void cgroup_append(struct text *t, const struct stat_rows_row *row)
{
	text_char(t, ' ');
	text_visible(t, str_from(row->spec->cgroup));
}

static bool place_has_cpus(enum aggregation_mode mode)
{
	return mode != AGGREGATE_ALL && mode != AGGREGATE_CPU && mode != AGGREGATE_THREAD;
}

static void value_append(struct text *t, const struct stat_rows_row *row)
{
	struct text digits = {0};
	if (row->state != ROW_COUNTED) {
		text_str_right(t, str_from(stat_rows_state_text(row)), VALUE_WIDTH);
		return;
	}
	stat_number(&digits, row->style->decimal, row->value, row->decimals, 0);
	size_t whole = 0;
	while (whole < digits.len && digits.data[whole] >= '0' && digits.data[whole] <= '9')
		whole++;
	size_t start = t->len;
	for (size_t i = 0; i < digits.len; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			text_str(t, row->style->thousands);
		text_char(t, digits.data[i]);
	}
	text_align_from(t, start, VALUE_WIDTH);
	t->failed |= digits.failed;
	text_deinit(&digits);
}

static size_t unit_width(const struct stat_report *report)
{
	size_t width = 4;
	for (size_t i = 0; i < report->events->len; i++) {
		size_t len = strlen(report->events->specs[i].unit);
		width = MAX(len, width);
	}
	return width;
}

static const int place_widths[] = {[AGGREGATE_CORE] = 14,
	[AGGREGATE_DIE] = 11,
	[AGGREGATE_SOCKET] = 5,
	[AGGREGATE_NODE] = 5,
	[AGGREGATE_CLUSTER] = 16,
	[AGGREGATE_CACHE] = 16};

/* Returns how many columns it took. */
static size_t text_prefix(struct text *t, const struct stat_rows_row *row)
{
	size_t start = t->len;
	struct text place = {0};
	if (row->report->interval_s >= 0 && !row->report->is_summary) {
		stat_number(t, row->style->decimal, row->report->interval_s, 9, 16);
		text_char(t, ' ');
	}
	stat_rows_place_append(&place, row);
	text_char(&place, '\0');
	enum aggregation_mode mode = row->report->aggregation->mode;
	const char *name = place.data ? place.data : "";
	if (mode == AGGREGATE_CPU)
		text_printf(t, "%-10s ", name);
	else if (mode == AGGREGATE_THREAD)
		thread_append(t, row);
	else if (place_has_cpus(mode))
		text_printf(t, "%-*s %5u ", place_widths[mode], name, row->cpu_count);
	text_deinit(&place);
	return t->len - start;
}

static void metric_append(struct text *t, const struct stat_rows_row *row, struct stat_metric metric)
{
	size_t start = t->len;
	if (!metric.unit) {
		text_repeat(t, ' ', METRIC_WIDTH + 2);
		return;
	}
	text_str(t, " # ");
	stat_metric_text(t, &metric, row->style->decimal);
	text_align_from(t, start, -(METRIC_WIDTH + 2));
}

/* In lines of their own under the row's. */
static void more_metrics(struct text *t, const struct stat_rows_row *row, size_t indent)
{
	struct stat_metric metric;
	for (unsigned nth = 1; (metric = stat_metric_at(row->report, row->event, row->place, nth)).unit; nth++) {
		text_repeat(t, ' ', indent);
		metric_append(t, row, metric);
		text_char(t, '\n');
	}
}

static void deviation_append(struct text *t, const struct stat_style *style, double percent)
{
	text_str(t, "  ( +-");
	stat_number(t, style->decimal, percent, 2, 6);
	text_str(t, "% )");
}

static void text_row(struct text *t, const struct stat_rows_row *row, size_t width)
{
	size_t prefix = text_prefix(t, row);
	struct stat_metric metric = {0};
	if (row->state == ROW_COUNTED || row->report->metrics)
		metric = stat_metric_at(row->report, row->event, row->place, 0);
	value_append(t, row);
	text_char(t, ' ');
	text_str_left(t, str_from(row->unit), width);
	text_char(t, ' ');
	if (row->state != ROW_COUNTED && !metric.unit) {
		text_str_left(t, str_from(row->spec->name), NAME_WIDTH + (row->spec->cgroup ? 0 : 28));
		if (row->spec->cgroup)
			cgroup_append(t, row);
		text_char(t, '\n');
		return;
	}
	text_str_left(t, str_from(row->spec->name), NAME_WIDTH);
	if (row->spec->cgroup)
		cgroup_append(t, row);
	metric_append(t, row, metric);
	if (row->report->runs > 1 && row->error_percent != 0)
		deviation_append(t, row->style, row->error_percent);
	if (row->state == ROW_COUNTED && row->running_ns < row->enabled_ns) {
		text_str(t, "  (");
		stat_number(t, row->style->decimal, running_percent(row), 2, 0);
		text_str(t, "%)");
	}
	text_char(t, '\n');
	more_metrics(t, row, prefix + VALUE_WIDTH + 1 + width + 1 + NAME_WIDTH);
}

/* What stands before the count. */
static void csv_prefix(struct text *t, const struct stat_rows_row *row)
{
	const char *s = row->style->separator;
	if (row->report->is_summary) {
		if (row->style->has_csv_summary)
			text_printf(t, "%16s%s", "summary", s);
	} else if (row->report->interval_s >= 0) {
		text_printf(t, "%16.9f%s", row->report->interval_s, s);
	}
	size_t start = t->len;
	stat_rows_place_append(t, row);
	text_mask_from(t, start, s);
	if (place_has_cpus(row->report->aggregation->mode))
		text_printf(t, "%s%u", s, row->cpu_count);
	if (row->report->aggregation->mode != AGGREGATE_ALL)
		text_str(t, s);
}

static void csv_metric(struct text *t, const struct stat_rows_row *row, struct stat_metric metric)
{
	if (metric.unit && !isnan(metric.value))
		text_fixed(t, metric.value, metric.decimals);
	text_str(t, row->style->separator);
	if (metric.unit)
		text_str(t, metric.unit + (metric.unit[0] == ' '));
	text_char(t, '\n');
}

static void csv_row(struct text *t, const struct stat_rows_row *row)
{
	const char *s = row->style->separator;
	const struct stat_report *report = row->report;
	csv_prefix(t, row);
	if (row->state == ROW_COUNTED)
		text_fixed(t, row->value, row->decimals);
	else
		text_str(t, stat_rows_state_text(row));
	text_printf(t, "%s%s%s%s%s", s, row->unit, s, row->spec->name, s);
	if (row->spec->cgroup) {
		size_t start = t->len;
		text_visible(t, str_from(row->spec->cgroup));
		text_mask_from(t, start, s);
		text_str(t, s);
	}
	if (report->runs > 1)
		text_printf(t, "%.2f%%%s", row->error_percent, s);
	text_printf(t, "%.0f%s%.2f%s", row->running_ns, s, running_percent(row), s);
	struct stat_metric metric = {0};
	if (row->state == ROW_COUNTED || report->metrics)
		metric = stat_metric_at(report, row->event, row->place, 0);
	csv_metric(t, row, metric);
	size_t fields = 5u + (row->spec->cgroup != NULL) + (report->runs > 1);
	for (unsigned nth = 1; report->metrics; nth++) {
		metric = stat_metric_at(report, row->event, row->place, nth);
		if (!metric.unit)
			break;
		csv_prefix(t, row);
		for (size_t i = 0; i < fields; i++)
			text_str(t, s);
		csv_metric(t, row, metric);
	}
}

static void json_place(struct text *t, const struct stat_rows_row *row)
{
	enum aggregation_mode mode = row->report->aggregation->mode;
	if (mode == AGGREGATE_ALL)
		return;
	struct text place = {0};
	bool is_core = is_core_row(row);
	if (mode == AGGREGATE_CPU && !is_core) /* perf: the number alone */
		text_i64(&place, stat_rows_place_of(row)->cpu);
	else
		stat_rows_place_append(&place, row);
	text_char(&place, '\0');
	text_printf(t, "\"%s\" : ", place_keys[is_core ? AGGREGATE_CORE : mode]);
	json_text(t, str_from(place.data ? place.data : ""), "");
	text_str(t, ", ");
	if (place_has_cpus(mode))
		text_printf(t, "\"counters\" : %u, ", row->cpu_count);
	text_deinit(&place);
}

static void json_prefix(struct text *t, const struct stat_rows_row *row)
{
	if (row->report->interval_s >= 0 && !row->report->is_summary)
		text_printf(t, "\"interval\" : %.9f, ", row->report->interval_s);
	json_place(t, row);
}

/* The object's last fields. */
static void json_metric(struct text *t, struct stat_metric metric)
{
	const char *unit = metric.unit ? metric.unit + (metric.unit[0] == ' ') : "";
	text_str(t, "\"metric-value\" : ");
	if (isnan(metric.value))
		text_str(t, "\"nan\"");
	else
		text_fixed(t, metric.value, 6);
	text_str(t, ", \"metric-unit\" : ");
	json_text(t, str_from(unit), "");
	if (metric.judgement)
		text_printf(t, ", \"metric-threshold\" : \"%s\"", metric.judgement);
	text_str(t, "}\n");
}

static void json_row(struct text *t, const struct stat_rows_row *row)
{
	text_char(t, '{');
	json_prefix(t, row);
	text_str(t, "\"counter-value\" : \"");
	if (row->state == ROW_COUNTED)
		text_fixed(t, row->value, 6);
	else
		text_str(t, stat_rows_state_text(row));
	text_str(t, "\", \"unit\" : ");
	json_text(t, str_from(row->unit), "");
	text_str(t, ", \"event\" : ");
	json_text(t, str_from(row->spec->name), "");
	if (row->spec->cgroup) {
		text_str(t, ", \"cgroup\" : ");
		json_text(t, str_from(row->spec->cgroup), "");
	}
	if (row->report->runs > 1)
		text_printf(t, ", \"variance\" : %.2f", row->error_percent);
	text_printf(t, ", \"event-runtime\" : %.0f, \"pcnt-running\" : %.2f", row->running_ns, running_percent(row));
	struct stat_metric metric = {0};
	if (row->state == ROW_COUNTED || row->report->metrics)
		metric = stat_metric_at(row->report, row->event, row->place, 0);
	text_str(t, ", ");
	json_metric(t, metric);
	for (unsigned nth = 1; row->report->metrics; nth++) {
		metric = stat_metric_at(row->report, row->event, row->place, nth);
		if (!metric.unit)
			break;
		text_char(t, '{');
		json_prefix(t, row);
		json_metric(t, metric);
	}
}

struct ranked {
	double value;
	size_t place;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static void stat_rows_row_print(struct text *t, const struct stat_report *report, const struct stat_style *style,
	size_t event, size_t place, size_t width)
{
	if (!is_shown_at(report, event, place))
		return;
	struct stat_rows_row row = row_make(report, style, event, place);
	if (style->hides_zeros && row.value == 0 && row.state != ROW_NOT_SUPPORTED)
		return;
	if (style->is_json)
		json_row(t, &row);
	else if (style->separator)
		csv_row(t, &row);
	else
		text_row(t, &row, width);
}

static bool stat_rows_is_shown(const struct stat_report *report, size_t event)
{
	return !report->merges_pmus || !report->events->specs[event].is_merged;
}

/* Threads: the busiest first. */
static void thread_rows(
	struct text *t, const struct stat_report *report, const struct stat_style *style, size_t event, size_t width)
{
	size_t len = report->aggregation->len;
	struct ranked *ranked = calloc(len, sizeof(*ranked));
	if (!ranked) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < len; i++)
		ranked[i] = (struct ranked){stat_cell_at(report, event, i)->value.mean, i};
	qsort(ranked, len, sizeof(*ranked), ranked_compare);
	for (size_t i = 0; i < len; i++)
		stat_rows_row_print(t, report, style, event, ranked[i].place, width);
	free(ranked);
}

static void all_rows(struct text *t, const struct stat_report *report, const struct stat_style *style)
{
	size_t width = unit_width(report), places = report->aggregation->len;
	enum aggregation_mode mode = report->aggregation->mode;
	if (place_has_cpus(mode)) {
		for (size_t place = 0; place < places; place++)
			for (size_t event = 0; event < report->events->len; event++)
				if (stat_rows_is_shown(report, event))
					stat_rows_row_print(t, report, style, event, place, width);
		return;
	}
	for (size_t event = 0; event < report->events->len; event++) {
		if (!stat_rows_is_shown(report, event))
			continue;
		if (mode == AGGREGATE_THREAD)
			thread_rows(t, report, style, event, width);
		else
			for (size_t place = 0; place < places; place++)
				stat_rows_row_print(t, report, style, event, place, width);
	}
}

/* --metric-only shows metrics that were asked for, else ratios; rates and the use of CPUs would be beside every event. */
static struct stat_metric only_metric(const struct stat_rows_row *row, unsigned nth)
{
	struct stat_metric metric = {0};
	if (row->report->metrics)
		return stat_metric_at(row->report, row->event, row->place, nth);
	if (row->state == ROW_COUNTED && nth == 0)
		metric = stat_metric_at(row->report, row->event, row->place, 0);
	if (metric.unit && (strstr(metric.unit, "/sec") || strcmp(metric.unit, "CPUs utilized") == 0))
		metric.unit = NULL;
	return metric;
}

/* The column's title; empty if the event has no more. full: a report in which everything was counted, so that columns
 * stay the same over intervals. */
static bool only_title(
	struct text *title, const struct stat_report *full, const struct stat_style *style, size_t event, unsigned nth)
{
	struct stat_rows_row row = row_make(full, style, event, 0);
	struct stat_metric metric = only_metric(&row, nth);
	text_clear(title);
	if (!metric.unit || !stat_rows_is_shown(full, event))
		return false;
	bool needs_name = strncmp(metric.unit, "of all", 6) == 0;
	text_printf(title, "%s%s%s", needs_name ? row.spec->name : "", needs_name ? " " : "",
		metric.unit + (metric.unit[0] == ' '));
	return true;
}

static void only_value(struct text *t, const struct stat_rows_row *row, unsigned nth, struct tally_str title)
{
	struct stat_metric metric = only_metric(row, nth);
	bool is_text = !row->style->separator && !row->style->is_json;
	struct text value = {0};
	if (metric.unit && (is_text || !isnan(metric.value)))
		stat_metric_value(&value, &metric, row->style->decimal);
	if (metric.unit && metric.is_percent && is_text)
		text_char(&value, '%');
	struct tally_str digits = {value.data, value.len};
	if (row->style->is_json) {
		if (metric.unit)
			text_printf(t, "\"%.*s\" : \"%.*s\", ", (int)title.len, title.data,
				value.len ? (int)value.len : 4, value.len ? value.data : "none");
	} else if (row->style->separator) {
		text_printf(t, "%.*s%s", (int)value.len, value.data ? value.data : "", row->style->separator);
	} else {
		text_str_right(t, digits, MAX(title.len, METRIC_ONLY_WIDTH));
		text_char(t, ' ');
	}
	text_deinit(&value);
}

/* What stands before the values of a line. */
static void only_prefix(struct text *t, const struct stat_rows_row *row)
{
	bool has_time = row->report->interval_s >= 0 && !row->report->is_summary;
	enum aggregation_mode mode = row->report->aggregation->mode;
	const char *s = row->style->separator;
	if (row->style->is_json) {
		text_char(t, '{');
		if (has_time)
			text_printf(t, "\"interval\" : %.9f, ", row->report->interval_s);
		json_place(t, row);
		return;
	}
	if (!s) {
		text_prefix(t, row);
		return;
	}
	if (has_time)
		text_printf(t, "%16.9f%s", row->report->interval_s, s);
	stat_rows_place_append(t, row);
	if (place_has_cpus(mode))
		text_printf(t, "%s%u", s, row->cpu_count);
	if (mode != AGGREGATE_ALL)
		text_str(t, s);
}

static void only_header(struct text *t, const struct stat_report *report, const struct stat_report *full,
	const struct stat_style *style)
{
	struct text title = {0};
	const struct stat_rows_row first = row_make(report, style, 0, 0);
	enum aggregation_mode mode = report->aggregation->mode;
	bool has_time = report->interval_s >= 0 && !report->is_summary;
	if (style->separator) {
		text_printf(t, "%s%s", has_time ? " time" : "", has_time ? style->separator : "");
		if (mode != AGGREGATE_ALL)
			text_printf(t, "%s%s", place_keys[mode], style->separator);
		if (place_has_cpus(mode))
			text_printf(t, "cpus%s", style->separator);
	} else if (has_time) {
		text_printf(t, "#           time %s", place_columns[mode]);
	} else {
		size_t start = t->len, width = text_prefix(t, &first);
		t->len = start;
		text_repeat(t, ' ', width);
	}
	for (size_t event = 0; event < report->events->len; event++) {
		for (unsigned nth = 0; only_title(&title, full, style, event, nth); nth++) {
			struct tally_str text = {title.data, title.len};
			if (style->separator)
				text_printf(t, "%.*s%s", (int)title.len, title.data, style->separator);
			else
				text_str_right(t, text, MAX(title.len, METRIC_ONLY_WIDTH));
			if (!style->separator)
				text_char(t, ' ');
		}
	}
	text_char(t, '\n');
	text_deinit(&title);
}

static void only_lines(struct text *t, const struct stat_report *report, const struct stat_report *full,
	const struct stat_style *style)
{
	struct text title = {0};
	bool is_interval = report->interval_s >= 0 && !report->is_summary;
	if (!style->is_json && (!is_interval || style->has_interval_header))
		only_header(t, report, full, style);
	for (size_t place = 0; place < report->aggregation->len; place++) {
		struct stat_rows_row row = row_make(report, style, 0, place);
		bool has_any = false;
		only_prefix(t, &row);
		for (size_t event = 0; event < report->events->len; event++) {
			row = row_make(report, style, event, place);
			for (unsigned nth = 0; only_title(&title, full, style, event, nth); nth++) {
				only_value(t, &row, nth, (struct tally_str){title.data, title.len});
				has_any |= only_metric(&row, nth).unit != NULL;
			}
		}
		if (style->is_json && has_any)
			t->len -= 2; /* the comma behind the last */
		else if (style->is_json)
			text_str(t, "\"metric-value\" : \"none\"");
		text_str(t, style->is_json ? "}\n" : "\n");
	}
	text_deinit(&title);
}

static void only_rows(struct text *t, const struct stat_report *report, const struct stat_style *style)
{
	size_t count = report->events->len * report->aggregation->len;
	struct stat_report full = *report;
	if (count == 0)
		return;
	full.cells = calloc(count, sizeof(*full.cells));
	if (!full.cells) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		full.cells[i].value.mean = full.cells[i].running_ns.mean = full.cells[i].enabled_ns.mean = 1;
	only_lines(t, report, &full, style);
	free(full.cells);
}

static void interval_header(struct text *t, enum aggregation_mode mode)
{
	text_printf(t, "#           time %s            counts unit events\n", place_columns[mode]);
}

/* Digits after the point so that the deviation shows three of its own. */
static unsigned time_decimals(double error)
{
	if (error <= 0)
		return 9;
	int decimals = 2 - (int)floor(log10(error));
	return decimals < 0 ? 0 : decimals > 9 ? 9 : (unsigned)decimals;
}

static void run_table(struct text *t, const struct stat_report *report, const struct stat_style *style)
{
	double mean = report->wall_ns.mean / 1e9;
	unsigned decimals = time_decimals(stat_mean_error(&report->wall_ns) / 1e9);
	text_str(t, "\n          # Table of individual measurements:\n");
	for (unsigned i = 0; i < report->runs; i++) {
		double run = style->run_ns[i] / 1e9;
		double percent = mean > 0 ? 100.0 * fabs(run - mean) / mean : 0;
		text_char(t, ' ');
		stat_number(t, style->decimal, run, decimals, 17);
		text_str(t, run < mean ? " (" : " (+");
		stat_number(t, style->decimal, run - mean, decimals, 0);
		text_str(t, ") ");
		for (double bar = 0; bar <= percent && bar < 40; bar += 1)
			text_char(t, '#');
		text_char(t, '\n');
	}
	text_str(t, "\n          # Final result:\n");
}

static void seconds_append(struct text *t, const struct stat_style *style, double seconds, const char *what)
{
	stat_number(t, style->decimal, seconds, 9, 18);
	text_str(t, what);
}

static void stat_rows_closing(struct text *t, const struct stat_report *report, const struct stat_style *style)
{
	double wall = report->wall_ns.mean / 1e9;
	if (style->has_run_table && report->runs > 1)
		run_table(t, report, style);
	if (report->runs > 1) {
		double error = stat_mean_error(&report->wall_ns) / 1e9;
		unsigned decimals = time_decimals(error);
		text_str(t, style->has_run_table ? " " : "\n ");
		stat_number(t, style->decimal, wall, decimals, 17);
		text_str(t, " +- ");
		stat_number(t, style->decimal, error, decimals, 0);
		text_str(t, " seconds time elapsed");
		deviation_append(t, style, stat_mean_error_percent(&report->wall_ns));
		text_str(t, "\n\n");
		return;
	}
	text_char(t, '\n');
	seconds_append(t, style, wall, " seconds time elapsed\n\n");
	if (report->has_usage) {
		seconds_append(t, style, report->user_ns.mean / 1e9, " seconds user\n");
		seconds_append(t, style, report->system_ns.mean / 1e9, " seconds sys\n\n\n");
	}
}

void stat_rows_print(struct text *t, const struct stat_report *report, const struct stat_style *style)
{
	bool is_plain = !style->separator && !style->is_json;
	bool is_interval = report->interval_s >= 0 && !report->is_summary;
	if (is_plain && is_interval && style->has_interval_header && !style->has_metrics_only)
		interval_header(t, report->aggregation->mode);
	if (is_plain && !is_interval) {
		text_printf(t, "\n Performance counter stats for %s", report->heading);
		if (report->runs > 1)
			text_printf(t, " (%u runs)", report->runs);
		text_str(t, ":\n\n");
	}
	if (style->has_metrics_only)
		only_rows(t, report, style);
	else
		all_rows(t, report, style);
	if (is_plain && !is_interval)
		stat_rows_closing(t, report, style);
}
