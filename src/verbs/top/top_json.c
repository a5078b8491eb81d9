/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/top/top_json.h"

#include "base/json.h"
#include "perfdata/origin.h"
#include "view/data/report_json.h"

#define TOP_JSON_SCHEMA	  1
#define TOP_JSON_DECIMALS 4

static enum tally_status top_json_table(
	const struct top_view *view, uint32_t index, struct json *j, struct tally_error *err)
{
	const struct report_text_options options = report_tables_options(&view->plan);
	size_t entries = view->settings->entries;
	struct flat_table table;
	struct report_tree tree;
	enum tally_status status = top_view_table(view, index, &table, err);
	if (status != TALLY_OK)
		return status;
	if (entries && table.shown_count > entries)
		table.shown_count = entries;
	status = report_tree_init(&tree, &view->plan, &table, err);
	if (status == TALLY_OK)
		status = report_json_table(j, &table, tree.is_made ? &tree.hierarchy : NULL, &options, err);
	report_tree_deinit(&tree);
	flat_table_deinit(&table);
	return status;
}

enum tally_status top_json_print(struct top_view *view, struct text *out, struct tally_error *err)
{
	const struct live_figures f = live_session_figures(view->session);
	struct json j = {.out = out, .is_compact = true};
	enum tally_status status = TALLY_OK;
	json_object(&j, NULL);
	json_u64(&j, "schema", TOP_JSON_SCHEMA);
	origin_json(&j, perfdata_reader_features(view->reader));
	json_fixed(&j, "seconds", f.seconds, TOP_JSON_DECIMALS);
	json_u64(&j, "samples", f.records.samples);
	json_u64(&j, "kernel_samples", f.records.kernel_samples);
	json_u64(&j, "exact_samples", f.records.exact_samples);
	json_u64(&j, "lost", f.records.lost);
	json_u64(&j, "lost_in_all", f.lost_in_all);
	json_fixed(&j, "own_cpu_percent", 100 * f.own_cpu, TOP_JSON_DECIMALS);
	json_array(&j, "tables");
	for (uint32_t i = 0; i < view->count && status == TALLY_OK; i++)
		status = top_json_table(view, i, &j, err);
	json_array_end(&j);
	json_object_end(&j);
	return status;
}
