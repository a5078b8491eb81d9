/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "base/text_cells.h"
#include "kernel/events/tool_events.h"
#include "tasks/counts/stat_environment.h"
#include "tasks/counts/stat_metrics.h"
#include "tasks/counts/stat_number.h"
#include "view/table/cells.h"

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
	double value, running_ns, enabled_ns; /* value is scaled to the unit. */
	unsigned decimals;
	const char *unit;
	double error_percent;
	struct running_mean mean; /* Mean of the value before scaling. */
	uint32_t cpu_count;
	const char *doubt; /* Reason why the count is implausible, or NULL. */
};

static const struct cpu_place *stat_rows_place_of(const struct stat_rows_row *row)
{
	return &row->report->aggregation->places[row->place];
}

/* Returns whether the event has the term percore, so that a line for a CPU shows the counts of its core. */
static bool is_per_core(const struct stat_report *report, size_t event)
{
	return report->aggregation->mode == AGGREGATE_CPU && report->events->specs[event].is_per_core;
}

static bool is_same_core(const struct cpu_place *a, const struct cpu_place *b)
{
	return a->core == b->core && a->die == b->die && a->socket == b->socket;
}

/* Returns the sum over PMUs of the same kind, and for percore events over the hardware threads of the core. */
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

/* Returns whether the event has a line at this place: a percore event has it at the first hardware thread of each core,
 * unless all threads are shown. */
static bool is_shown_at(const struct stat_report *report, size_t event, size_t place)
{
	const struct cpu_place *places = report->aggregation->places;
	if (report->aggregation->mode == AGGREGATE_CPU && place > 0 &&
		tool_event_is_shared(report->events->specs[event].tool))
		return false; /* The value concerns the whole measurement, not one CPU. */
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
	row.error_percent = report->runs > 1 ? running_mean_error_percent(&cell.value) : 0;
	row.mean = cell.value;
	row.cpu_count = cell.cpu_count ? cell.cpu_count : 1;
	if (!is_supported)
		row.state = ROW_NOT_SUPPORTED;
	else if (row.running_ns <= 0)
		row.state = ROW_NOT_COUNTED;
	else
		row.doubt = stat_doubt_of(report, event, place);
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

/* Appends the place such as "S0-D0-C1", "CPU3" or "comm-12"; nothing for counts of the whole system. */
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
		/* As in perf 7.x, a CPU without a cache of this level has level -1. */
		text_printf(t, "S%d-D%d-L%d-ID%d", stat_rows_place_of(row)->socket, stat_rows_place_of(row)->die,
			stat_rows_place_of(row)->cache < 0 ? -1 : (int)a->cache_level, stat_rows_place_of(row)->cache);
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

static const int place_widths[] = {[AGGREGATE_CORE] = 14,
	[AGGREGATE_DIE] = 11,
	[AGGREGATE_SOCKET] = 5,
	[AGGREGATE_NODE] = 5,
	[AGGREGATE_CLUSTER] = 16,
	[AGGREGATE_CACHE] = 16};

/* Appends the time of an interval and the place of the count. Returns their width in columns of the terminal. */
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
	if (mode == AGGREGATE_CPU) {
		text_printf(t, "%-10s ", name);
	} else if (mode == AGGREGATE_THREAD) {
		size_t name_start = t->len;
		text_visible(t, str_from(row->report->comms[row->place]));
		text_align_from(t, name_start, 16);
		text_printf(t, "-%-8d ", (int)row->report->aggregation->threads[row->place]);
	} else if (place_has_cpus(mode)) {
		text_printf(t, "%-*s %5u ", place_widths[mode], name, row->cpu_count);
	}
	text_deinit(&place);
	return text_cells_from(t, start);
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
	/* Simulated counts always have a deviation, which shows that they do not vary. */
	bool is_simulated = row->report->origin && row->report->origin->elapsed;
	if (row->report->runs > 1 && (row->error_percent != 0 || is_simulated))
		deviation_append(t, row->style, row->error_percent);
	if (row->state == ROW_COUNTED && row->running_ns < row->enabled_ns) {
		text_str(t, "  (");
		stat_number(t, row->style->decimal, running_percent(row), 2, 0);
		text_str(t, "%)");
	}
	if (row->doubt)
		text_str(t, "  (implausible)");
	text_char(t, '\n');
	/* Further metrics of an event have separate lines. */
	for (unsigned nth = 1; (metric = stat_metric_at(row->report, row->event, row->place, nth)).unit; nth++) {
		text_repeat(t, ' ', prefix + VALUE_WIDTH + 1 + width + 1 + NAME_WIDTH);
		metric_append(t, row, metric);
		text_char(t, '\n');
	}
}

/* Fields of a row in CSV and JSON, in this order. */
enum {
	FIELD_INTERVAL,
	FIELD_PLACE,
	FIELD_CPUS,
	FIELD_VALUE,
	FIELD_UNIT,
	FIELD_EVENT,
	FIELD_CGROUP,
	FIELD_ERROR,
	FIELD_RUNNING,
	FIELD_SHARE,
	FIELD_METRIC,
	FIELD_METRIC_UNIT,
	FIELD_JUDGEMENT,
	FIELDS
};

static const struct cell_column field_columns[FIELDS] = {
	[FIELD_INTERVAL] = {"", "interval", 16, .decimals = 9, .json_decimals = 9, .is_padded = true},
	[FIELD_PLACE] = {"", .key = "place"},
	[FIELD_CPUS] = {"", .key = "counters"},
	[FIELD_VALUE] = {"", "counter-value", .is_raw = true},
	[FIELD_UNIT] = {"", "unit", .is_raw = true},
	[FIELD_EVENT] = {"", "event", .is_raw = true},
	[FIELD_CGROUP] = {"", .key = "cgroup"},
	[FIELD_ERROR] = {"", "variance", .look = LOOK_PERCENT, .decimals = 2, .json_decimals = 2},
	[FIELD_RUNNING] = {"", .key = "event-runtime"},
	[FIELD_SHARE] = {"", "pcnt-running", .decimals = 2, .json_decimals = 2},
	[FIELD_METRIC] = {"", "metric-value", .json_decimals = 6},
	[FIELD_METRIC_UNIT] = {"", "metric-unit", .is_raw = true},
	[FIELD_JUDGEMENT] = {.key = "metric-threshold"},
};

struct stat_rows_fields {
	struct cell_column columns[FIELDS];
	uint8_t order[FIELDS];
	struct cells table;
	struct json json;
	struct text place, value; /* Texts of cells. */
	struct cell cells[FIELDS];
	const struct stat_origin *origin; /* NULL if the origin is not shown. */
	const char *reason, *doubt; /* NULL if they are not shown. */
	const struct stat_report *stored; /* Report with the data for later comparisons, or NULL if it is not shown. */
	struct running_mean mean; /* Mean of the value if stored is set. */
	const struct stat_report *warned; /* Report with warnings about its counts, or NULL if there are none. */
};

void stat_rows_origin(struct json *json, const struct stat_origin *origin)
{
	json_object(json, "origin");
	json_string(json, "kind", str_from(origin->kind));
	json_string(json, "by", str_from(origin->by));
	json_string(json, "not_seen", str_from(origin->not_seen));
	json_object_end(json);
}

static bool stat_rows_has_failures(const struct stat_report *report)
{
	return report->failures && report->failures->failed > 0;
}

void stat_rows_warnings_json(struct json *json, const struct stat_report *report)
{
	if (stat_rows_has_failures(report))
		stat_failures_json(json, report->failures);
	if (!report->warnings || report->warnings->len == 0)
		return;
	json_array(json, "warnings");
	for (size_t i = 0; i < report->warnings->len; i++)
		json_string(json, NULL, str_from(report->warnings->entries[i].text));
	json_array_end(json);
}

void stat_rows_warnings(struct text *t, const struct stat_report *report)
{
	if (stat_rows_has_failures(report)) {
		text_str(t, "# warning: ");
		stat_failures_tell(t, report->failures);
		text_char(t, '\n');
	}
	for (size_t i = 0; report->warnings && i < report->warnings->len; i++) {
		text_str(t, "# warning: ");
		text_visible(t, str_from(report->warnings->entries[i].text));
		text_char(t, '\n');
	}
}

/* Prepares the columns, and fills in the fields before the value, which are the same for all rows at this place. */
static void fields_begin(struct stat_rows_fields *f, struct text *t, const struct stat_rows_row *row)
{
	const struct stat_report *report = row->report;
	const struct stat_style *style = row->style;
	enum aggregation_mode mode = report->aggregation->mode;
	bool is_core = is_core_row(row);
	*f = (struct stat_rows_fields){.json = {.out = t, .is_compact = true, .colon = " : ", .comma = ", "}};
	f->origin = style->is_json ? report->origin : NULL;
	/* The reason why an event was not counted is printed for breakpoints, which perf would count as 0 if they never
	 * trigger. For other events, perf's own tests do not accept additional JSON members. */
	if (style->is_json && row->state != ROW_COUNTED && row->spec->attr.type == EVENT_BREAKPOINT && report->reasons)
		f->reason = report->reasons[row->event];
	f->doubt = style->is_json ? row->doubt : NULL;
	bool is_warned = stat_rows_has_failures(report) || (report->warnings && report->warnings->len > 0);
	f->warned = style->is_json && is_warned ? report : NULL;
	f->stored = style->is_json && report->environment ? report : NULL;
	f->table = (struct cells){.columns = f->columns,
		.order = f->order,
		.out = t,
		.separator = style->separator,
		.json = style->is_json ? &f->json : NULL};
	memcpy(f->columns, field_columns, sizeof(f->columns));
	f->columns[FIELD_PLACE].key = place_keys[is_core ? AGGREGATE_CORE : mode];
	f->cells[FIELD_INTERVAL] = report->is_summary ? cell_name("summary") : cell_f64(report->interval_s);
	if (style->is_json && mode == AGGREGATE_CPU && !is_core) /* perf prints only the number. */
		text_i64(&f->place, stat_rows_place_of(row)->cpu);
	else
		stat_rows_place_append(&f->place, row);
	f->cells[FIELD_PLACE] = cell_text(text_view(&f->place));
	f->cells[FIELD_CPUS] = cell_u64(row->cpu_count);
	for (uint8_t i = 0; i < FIELDS; i++) {
		bool is_left_out =
			(i == FIELD_INTERVAL && (report->is_summary ? style->is_json || !style->has_csv_summary
								    : report->interval_s < 0)) ||
			(i == FIELD_PLACE && mode == AGGREGATE_ALL) || (i == FIELD_CPUS && !place_has_cpus(mode)) ||
			(i == FIELD_CGROUP && !row->spec->cgroup) || (i == FIELD_ERROR && report->runs <= 1);
		if (!is_left_out)
			f->order[f->table.count++] = i;
	}
}

static void fields_end(struct stat_rows_fields *f)
{
	f->table.out->failed |= f->place.failed || f->value.failed;
	text_deinit(&f->place);
	text_deinit(&f->value);
}

static void stat_rows_stored_json(struct stat_rows_fields *f)
{
	const struct stat_report *report = f->stored;
	if (report->benchmark)
		json_string(&f->json, "benchmark", str_from(report->benchmark));
	json_u64(&f->json, "runs", report->runs);
	if (report->runs > 1)
		json_fixed(&f->json, "deviation", running_mean_deviation(&f->mean), 6);
	stat_environment_json(&f->json, report->environment);
}

/* Fills in the metric, and prints the row. */
static void fields_print(struct stat_rows_fields *f, struct stat_metric metric)
{
	bool is_json = f->table.json, is_known = !isnan(metric.value) && (is_json || metric.unit);
	f->columns[FIELD_METRIC].decimals = metric.decimals;
	f->cells[FIELD_METRIC] = is_known ? cell_f64(metric.value) : cell_name(is_json ? "nan" : NULL);
	f->cells[FIELD_METRIC_UNIT] = cell_name(metric.unit ? metric.unit + (metric.unit[0] == ' ') : "");
	f->cells[FIELD_JUDGEMENT] = cell_name(metric.judgement);
	if (!f->origin && !f->reason && !f->doubt && !f->warned && !f->stored) {
		cells_row(&f->table, f->cells);
		return;
	}
	json_object(&f->json, NULL);
	cells_put(&f->table, f->cells);
	if (f->reason)
		json_string(&f->json, "reason", str_from(f->reason));
	if (f->doubt)
		json_string(&f->json, "implausible", str_from(f->doubt));
	if (f->origin)
		stat_rows_origin(&f->json, f->origin);
	if (f->stored)
		stat_rows_stored_json(f);
	if (f->warned)
		stat_rows_warnings_json(&f->json, f->warned);
	json_object_end(&f->json);
	(void)text_line_end(f->table.out);
}

static void fields_row(struct text *t, const struct stat_rows_row *row)
{
	const struct stat_report *report = row->report;
	bool is_counted = row->state == ROW_COUNTED;
	struct stat_rows_fields f;
	struct stat_metric metric = {0};
	fields_begin(&f, t, row);
	text_fixed(&f.value, row->value, row->style->is_json ? 6 : row->decimals);
	f.cells[FIELD_VALUE] = is_counted ? cell_text(text_view(&f.value)) : cell_name(stat_rows_state_text(row));
	f.cells[FIELD_UNIT] = cell_name(row->unit);
	f.mean = row->mean;
	f.cells[FIELD_EVENT] = cell_name(row->spec->name);
	f.cells[FIELD_CGROUP] = cell_name(row->spec->cgroup);
	f.cells[FIELD_ERROR] = cell_f64(row->error_percent);
	f.cells[FIELD_RUNNING] = cell_f64(row->running_ns);
	f.cells[FIELD_SHARE] = cell_f64(running_percent(row));
	if (is_counted || report->metrics)
		metric = stat_metric_at(report, row->event, row->place, 0);
	fields_print(&f, metric);
	memset(f.cells + FIELD_VALUE, 0, (FIELDS - FIELD_VALUE) * sizeof(f.cells[0]));
	for (unsigned nth = 1; report->metrics; nth++) {
		metric = stat_metric_at(report, row->event, row->place, nth);
		if (!metric.unit)
			break;
		fields_print(&f, metric);
	}
	fields_end(&f);
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
	return COMPARE(x->place, y->place);
}

static void stat_rows_row_print(struct text *t, const struct stat_report *report, const struct stat_style *style,
	size_t event, size_t place, size_t width)
{
	if (!is_shown_at(report, event, place))
		return;
	struct stat_rows_row row = row_make(report, style, event, place);
	if (style->hides_zeros && row.value == 0 && row.state != ROW_NOT_SUPPORTED)
		return;
	if (style->is_json || style->separator)
		fields_row(t, &row);
	else
		text_row(t, &row, width);
}

static bool stat_rows_is_shown(const struct stat_report *report, size_t event)
{
	return !report->merges_pmus || !report->events->specs[event].is_merged;
}

/* Threads are sorted by their counts, the highest first. */
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
	size_t width = 4, places = report->aggregation->len;
	enum aggregation_mode mode = report->aggregation->mode;
	for (size_t i = 0; i < report->events->len; i++) {
		size_t len = text_cells(str_from(report->events->specs[i].unit));
		width = MAX(len, width);
	}
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

/* --metric-only shows the metrics of -M, or else ratios; rates and CPU utilization exist for every event, and are
 * omitted. */
static struct stat_metric only_metric(const struct stat_rows_row *row, unsigned nth)
{
	struct stat_metric metric = {0};
	if (row->report->metrics)
		return stat_metric_at(row->report, row->event, row->place, nth);
	if (row->state == ROW_COUNTED && nth == 0)
		metric = stat_metric_at(row->report, row->event, row->place, 0);
	if (metric.is_usual)
		metric.unit = NULL;
	return metric;
}

/* Sets the title of the nth column of an event. Returns false if the event has no further columns. full is the report
 * with all counts set to 1, so that all intervals have the same columns. */
static bool only_title(
	struct text *title, const struct stat_report *full, const struct stat_style *style, size_t event, unsigned nth)
{
	struct stat_rows_row row = row_make(full, style, event, 0);
	struct stat_metric metric = only_metric(&row, nth);
	text_clear(title);
	if (!metric.unit || !stat_rows_is_shown(full, event))
		return false;
	if (metric.is_of_whole)
		text_printf(title, "%s ", row.spec->name);
	text_str(title, metric.unit + (metric.unit[0] == ' '));
	return true;
}

static size_t only_width(struct tally_str title)
{
	size_t cells = text_cells(title);
	return MAX(cells, METRIC_ONLY_WIDTH);
}

static void only_value(
	struct text *t, const struct stat_rows_row *row, unsigned nth, struct tally_str title, struct json *j)
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
			json_member(j, title, value.len ? digits : STR("none"));
	} else if (row->style->separator) {
		text_bytes(t, value.data, value.len);
		text_str(t, row->style->separator);
	} else {
		text_str_right(t, digits, only_width(title));
		text_char(t, ' ');
	}
	text_deinit(&value);
}

/* Prints the fields before the values of a line. */
static void only_prefix(struct stat_rows_fields *f, struct text *t, const struct stat_rows_row *row)
{
	fields_begin(f, t, row);
	if (!row->style->is_json && !row->style->separator) {
		text_prefix(t, row);
		return;
	}
	/* The word "summary" is omitted. */
	size_t skipped = row->report->is_summary && f->table.count && f->order[0] == FIELD_INTERVAL, kept = skipped;
	while (kept < f->table.count && f->order[kept] < FIELD_VALUE)
		kept++;
	f->table.order += skipped;
	f->table.count = kept - skipped;
	if (row->style->is_json)
		json_object(&f->json, NULL);
	cells_put(&f->table, f->cells);
	if (!row->style->is_json && f->table.count > 0)
		text_str(t, row->style->separator);
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
				text_str_right(t, text, only_width(text));
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
		struct stat_rows_fields f;
		bool has_any = false;
		only_prefix(&f, t, &row);
		for (size_t event = 0; event < report->events->len; event++) {
			row = row_make(report, style, event, place);
			for (unsigned nth = 0; only_title(&title, full, style, event, nth); nth++) {
				only_value(t, &row, nth, text_view(&title), &f.json);
				has_any |= only_metric(&row, nth).unit != NULL;
			}
		}
		if (style->is_json && !has_any)
			json_string(&f.json, "metric-value", STR("none"));
		if (style->is_json && f.origin)
			stat_rows_origin(&f.json, f.origin);
		if (f.warned)
			stat_rows_warnings_json(&f.json, f.warned);
		if (style->is_json)
			json_object_end(&f.json);
		else
			text_char(t, '\n');
		fields_end(&f);
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

/* Returns the number of decimals with which the deviation has three significant digits. */
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
	unsigned decimals = time_decimals(running_mean_error(&report->wall_ns) / 1e9);
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
	bool is_own_time = !report->origin || !report->origin->elapsed;
	const char *elapsed = is_own_time ? " seconds time elapsed" : report->origin->elapsed;
	if (style->has_run_table && report->runs > 1)
		run_table(t, report, style);
	if (report->runs > 1) {
		double error = running_mean_error(&report->wall_ns) / 1e9;
		unsigned decimals = time_decimals(error);
		text_str(t, style->has_run_table ? " " : "\n ");
		stat_number(t, style->decimal, wall, decimals, 17);
		text_str(t, " +- ");
		stat_number(t, style->decimal, error, decimals, 0);
		text_str(t, elapsed);
		deviation_append(t, style, running_mean_error_percent(&report->wall_ns));
		text_str(t, "\n\n");
		return;
	}
	text_char(t, '\n');
	seconds_append(t, style, wall, elapsed);
	text_str(t, "\n\n");
	if (report->has_usage && is_own_time) {
		seconds_append(t, style, report->user_ns.mean / 1e9, " seconds user\n");
		seconds_append(t, style, report->system_ns.mean / 1e9, " seconds sys\n\n\n");
	}
}

void stat_rows_print(struct text *t, const struct stat_report *report, const struct stat_style *style)
{
	bool is_plain = !style->separator && !style->is_json;
	bool is_interval = report->interval_s >= 0 && !report->is_summary;
	if (is_plain && is_interval && style->has_interval_header && !style->has_metrics_only)
		text_printf(t, "#           time %s            counts unit events\n",
			place_columns[report->aggregation->mode]);
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
