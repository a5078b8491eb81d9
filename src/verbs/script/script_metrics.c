/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_metrics.h"

#include "base/error.h"
#include "tasks/counts/stat_metrics.h"

enum tally_status script_metrics_init(
	struct script_metrics *m, const struct perfdata_reader *reader, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	*m = (struct script_metrics){.whole = {.len = 1}};
	arena_init(&m->arena);
	m->events.specs = arena_array(&m->arena, struct event_spec, count);
	m->is_counted = arena_array(&m->arena, bool, count);
	m->cells = arena_array(&m->arena, struct stat_cell, count);
	if (!m->events.specs || !m->is_counted || !m->cells)
		return error_nomem(err);
	m->events.len = count;
	for (size_t i = 0; i < count; i++)
		m->events.specs[i] = (struct event_spec){.attr = events[i].attr, .scale = 1, .name = "", .unit = ""};
	m->report = (struct stat_report){
		.events = &m->events, .supported = m->is_counted, .aggregation = &m->whole, .cells = m->cells};
	script_metrics_begin(m);
	return TALLY_OK;
}

void script_metrics_deinit(struct script_metrics *m)
{
	arena_deinit(&m->arena);
	*m = (struct script_metrics){0};
}

void script_metrics_begin(struct script_metrics *m)
{
	for (size_t i = 0; i < m->events.len; i++) {
		m->is_counted[i] = false;
		m->cells[i] = (struct stat_cell){0};
	}
}

void script_metrics_count(struct script_metrics *m, uint32_t event, uint64_t grown)
{
	if (event >= m->events.len)
		return; /* The event was added to the stream after the start. */
	m->is_counted[event] = true;
	running_mean_add(&m->cells[event].value, (double)grown);
}

void script_metrics_print(
	const struct script_metrics *m, struct script_printer *printer, struct text *t, const struct script_row *row)
{
	for (size_t i = 0; i < m->events.len; i++) {
		/* The metric of a clock event is the number of CPUs used, which needs the elapsed time, and groups
		 * do not count that. */
		if (!m->is_counted[i] || stat_event_is_clock(&m->events.specs[i]))
			continue;
		struct stat_metric metric = stat_metric_of(&m->report, i, 0);
		if (!metric.unit)
			continue;
		script_print_start(printer, t, row);
		text_str(t, "\tmetric: ");
		stat_metric_text(t, &metric, NULL);
		text_char(t, '\n');
	}
}
