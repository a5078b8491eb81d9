/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "tasks/fleet/batch_view.h"
#include "tasks/reporting/report_tables.h"
#include "view/data/report_json.h"
#include "view/text/report_hierarchy.h"
#include "view/text/report_text.h"

#define SCHEMA_VERSION 1

struct batch_report {
	const struct batch_view *view;
	const struct report_request *request;
	struct report_plan plan;
	struct profile_filter filter;
	struct text *out;
	struct json json;
};

static void batch_report_title(const struct batch_report *report, const struct flat_table *table)
{
	const struct profile *p = table->profile;
	struct text name = {0};
	text_bytes(&name, profile_string(p, p->events[table->options.first_event].name).data,
		profile_string(p, p->events[table->options.first_event].name).len);
	text_char(&name, '\0');
	const struct report_title title = {.event = name.failed ? "" : name.data,
		.sample_count = table->totals[0].count,
		.total_period = flat_total_period(&table->totals[0], false)};
	report_text_title(report->out, &title);
	text_deinit(&name);
}

static enum tally_status batch_report_rows(
	struct batch_report *report, const struct flat_table *table, struct tally_error *err)
{
	struct report_text_options options = report_tables_options(&report->plan);
	const struct report_request *request = report->request;
	struct report_tree tree;
	enum tally_status status = report_tree_init(&tree, &report->plan, table, err);
	if (status != TALLY_OK)
		return status;
	options.levels = tree.levels;
	options.terminal_columns = request->look.width_count ? 0 : request->look.terminal_columns;
	const struct hierarchy *levels = tree.is_made ? &tree.hierarchy : NULL;
	if (request->output.is_json) {
		status = report_json_table(&report->json, table, levels, &options, err);
	} else {
		batch_report_title(report, table);
		status = levels ? report_hierarchy_rows(report->out, levels, &options, err)
				: report_text_rows(report->out, table, &options, err);
		text_str(report->out, "\n\n");
	}
	report_tree_deinit(&tree);
	return status;
}

static enum tally_status batch_report_tables(struct batch_report *report, struct tally_error *err)
{
	const struct profile *p = report->view->batch->profile;
	const struct report_tables tables = {&report->plan, p, &report->filter, NULL};
	enum tally_status status = TALLY_OK;
	for (uint32_t event = 0; event < p->event_count && status == TALLY_OK; event++) {
		struct flat_table table;
		bool is_asked = report->view->event.len == 0 ||
				str_equal(profile_string(p, p->events[event].name), report->view->event);
		if (!is_asked)
			continue;
		status = report_tables_make(&tables, event, 1, &table, err);
		if (status != TALLY_OK)
			return status;
		if (report_tables_is_shown(&tables, &table))
			status = batch_report_rows(report, &table, err);
		flat_table_deinit(&table);
	}
	return status;
}

static void batch_report_fleet(struct json *j, const struct fleet_batch *batch)
{
	json_object(j, "fleet");
	json_u64(j, "begin_ns", batch->begin_ns);
	json_u64(j, "end_ns", batch->end_ns);
	json_u64(j, "samples", fleet_batch_sample_count(batch));
	json_u64(j, "lost_samples", batch->losses.lost_samples);
	if (batch->losses.windows) {
		json_u64(j, "windows", batch->losses.windows);
		json_u64(j, "wait_windows", batch->losses.wait_windows);
	}
	json_u64(j, "dropped_batches", batch->losses.dropped_batches);
	json_u64(j, "dropped_samples", batch->losses.dropped_samples);
	json_object(j, "labels");
	for (size_t i = 0; i < batch->labels.count; i++)
		json_member(j, batch->labels.items[i].name, batch->labels.items[i].value);
	json_object_end(j);
	json_object_end(j);
}

static enum tally_status batch_report_write(struct batch_report *report, struct tally_error *err)
{
	struct json *j = &report->json;
	if (!report->request->output.is_json) {
		text_str(report->out, "# ");
		batch_view_span(report->view->batch, report->out);
		text_str(report->out, "\n# ");
		batch_view_quality(report->view->batch, report->out);
		if (report->view->group.len)
			text_printf(report->out, "\n# Command: the label '%.*s'", (int)report->view->group.len,
				report->view->group.data);
		text_str(report->out, "\n#\n");
		return batch_report_tables(report, err);
	}
	json_object(j, NULL);
	json_u64(j, "schema", SCHEMA_VERSION);
	json_string(j, "path", report->view->title);
	batch_report_fleet(j, report->view->batch);
	json_array(j, "tables");
	enum tally_status status = batch_report_tables(report, err);
	json_array_end(j);
	json_object_end(j);
	return status;
}

enum tally_status batch_view_report(
	const struct batch_view *view, const struct report_request *request, struct text *out, struct tally_error *err)
{
	struct batch_report report = {.view = view, .request = request, .out = out, .json = {.out = out}};
	const struct profile *p = view->batch->profile;
	struct report_source source = {0};
	for (size_t i = 0; i < p->sample_count && !source.has_chains; i++)
		source.has_chains = p->samples[i].stack != PROFILE_NONE;
	enum tally_status status = report_plan_make(request, &source, &report.plan, err);
	if (status != TALLY_OK)
		return status;
	uint64_t missing = report_plan_facets(&report.plan) & ~p->facets;
	if (missing || report_plan_has_key(&report.plan, KEY_CPU))
		return error_set(err, TALLY_UNSUPPORTED,
			"a key of --sort is not kept by the store: it keeps events, threads, call chains, symbols, "
			"lines and states");
	status = profile_filter_init(&report.filter, p, &report.plan.filters, err);
	if (status != TALLY_OK)
		return status;
	status = batch_report_write(&report, err);
	profile_filter_deinit(&report.filter);
	return status == TALLY_OK && out->failed ? error_nomem(err) : status;
}
