/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>

#include "perfdata/origin.h"
#include "tasks/comparing/match_notes.h"
#include "verbs/diff/diff_output.h"
#include "view/data/changes_json.h"

#define DIFF_JSON_SCHEMA 1

static const char *side_name(const struct diff_request *request, size_t index)
{
	const struct diff_sides *sides = &request->test.sides;
	if (!request->is_repeated)
		return index ? "new" : "base";
	return index < sides->base ? "base" : index < sides->base + sides->other ? "new" : "aa";
}

void diff_json_begin(struct json *j, const struct diff_request *request, const struct diff_recordings *recordings)
{
	static const char *const methods[] = {[DIFF_DELTA_ABS] = "delta-abs",
		[DIFF_DELTA] = "delta",
		[DIFF_RATIO] = "ratio",
		[DIFF_WEIGHTED] = "wdiff"};
	static const char *const corrections[] = {
		[RUN_CORRECT_HOLM] = "holm", [RUN_CORRECT_BH] = "bh", [RUN_CORRECT_NONE] = "none"};
	json_object(j, NULL);
	json_u64(j, "schema", DIFF_JSON_SCHEMA);
	json_array(j, "recordings");
	for (size_t i = 0; i < recordings->count; i++) {
		json_object(j, NULL);
		json_string(j, "path", str_from(recordings->items[i].path));
		json_string(j, "side", str_from(side_name(request, i)));
		origin_json(j, perfdata_reader_features(recordings->items[i].source.reader));
		json_object_end(j);
	}
	json_array_end(j);
	if (request->is_repeated) {
		changes_json_test(j, &(struct changes_json_test){.measure = diff_measure_name(request->test.measure),
					     .correction = corrections[request->test.correction],
					     .level = request->test.level,
					     .confidence = RUN_CONFIDENCE,
					     .min_share = request->test.min_share});
	} else {
		json_string(j, "method", str_from(methods[request->method]));
	}
	json_array(j, "events");
}

static void diff_json_put_row(struct json *j, const struct diff_output *output, uint32_t row)
{
	const struct diff_request *request = output->request;
	const struct diff_table *diff = output->diff;
	json_object(j, NULL);
	changes_json_keys(j, diff, row, request->keys, request->key_count);
	changes_json_values(j, diff, row);
	if (output->changes) {
		changes_json_change(j, "change", &output->changes->rows[row]);
	} else {
		bool needs_base = diff->options.method == DIFF_RATIO || diff->options.method == DIFF_WEIGHTED;
		json_array(j, "differences");
		for (size_t file = 1; file < diff->file_count; file++) {
			json_object(j, NULL);
			if (diff_table_has_difference(diff, row, file) &&
				(!needs_base || diff_table_value(diff, row, 0)->is_there))
				json_fixed(
					j, "difference", diff_table_difference(diff, row, file), CHANGES_JSON_DECIMALS);
			json_object_end(j);
		}
		json_array_end(j);
	}
	json_object_end(j);
}

static void put_paths(struct json *j, const struct diff_output *output)
{
	const struct diff_paths *paths = output->paths;
	json_array(j, "paths");
	for (uint32_t path = 1; path < paths->count; path++) {
		const struct diff_change *change = &output->path_options.changes[path];
		if (!paths_text_has(&output->path_options, path))
			continue;
		json_object(j, NULL);
		json_array(j, "frames");
		for (uint32_t frame = path; frame != 0; frame = paths->items[frame].parent) {
			json_object(j, NULL);
			json_string(j, "name", intern_get(&paths->names, paths->items[frame].name));
			json_bool(j, "is_inlined", paths->items[frame].is_inlined);
			json_object_end(j);
		}
		json_array_end(j);
		json_fixed(j, "base_share_percent", change->base_share, CHANGES_JSON_DECIMALS);
		json_fixed(j, "new_share_percent", change->new_share, CHANGES_JSON_DECIMALS);
		if (change->is_tested)
			changes_json_change(j, "change", change);
		json_object_end(j);
		text_line_end(j->out);
	}
	json_array_end(j);
}

void diff_json_event(struct json *j, const struct diff_output *output)
{
	const struct diff_table *diff = output->diff;
	const struct diff_changes *changes = output->changes;
	const uint32_t *order = changes ? changes->order : diff->order;
	size_t count = changes ? changes->tested_count : diff->shown_count;
	json_object(j, NULL);
	json_string(j, "name", output->event);
	if (changes)
		json_string(j, "measure", str_from(diff_measure_name(output->test.measure)));
	json_array(j, "totals");
	for (size_t file = 0; file < diff->file_count; file++)
		json_u64(j, NULL, diff->totals[file]);
	json_array_end(j);
	if (changes && changes->has_total)
		changes_json_change(j, "total_change", &changes->total);
	if (changes) {
		json_string(j, "test", changes->needed ? STR("size") : STR("rank"));
		if (changes->needed)
			json_u64(j, "needed_recordings", changes->needed);
		json_u64(j, "untested_rows", diff->row_count - changes->tested_count);
	}
	json_array(j, "rows");
	for (size_t i = 0; i < count; i++) {
		diff_json_put_row(j, output, order[i]);
		text_line_end(j->out);
	}
	json_array_end(j);
	if (output->paths)
		put_paths(j, output);
	json_object_end(j);
}

void diff_json_end(struct json *j, const struct diff_request *request, const struct name_match *match,
	const struct diff_json_gate *gate)
{
	json_array_end(j);
	match_notes_json(j, match);
	if (request->gate.count) {
		json_object(j, "gate");
		json_string(j, "fail_if", str_from(request->fail_if));
		json_bool(j, "has_failed", gate->failures > 0);
		json_u64(j, "failures", gate->failures);
		json_bool(j, "is_undecided", gate->is_undecided);
		json_string(j, "verdict",
			gate->failures > 0   ? STR("worse")
			: gate->is_undecided ? STR("undecided")
					     : STR("not worse"));
		json_object_end(j);
	}
	json_object_end(j);
	text_char(j->out, '\n');
}
