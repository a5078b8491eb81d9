/* SPDX-License-Identifier: Apache-2.0 */
#include "view/data/annotate_json.h"

#include <stdio.h>

static void annotate_json_add_values(struct json *j, const struct annotate_function *function, uint32_t values)
{
	json_array(j, "values");
	for (uint32_t e = 0; e < function->event_count; e++) {
		json_object(j, NULL);
		json_u64(j, "samples", function->values[values + e].count);
		json_u64(j, "period", function->values[values + e].period);
		json_fixed(j, "percent", annotate_percent_of(function, ANNOTATE_LOCAL_PERIOD, values, e), 4);
		json_object_end(j);
	}
	json_array_end(j);
}

static void annotate_json_add_bytes(struct json *j, struct tally_bytes bytes)
{
	struct text text = {0};
	for (size_t i = 0; i < bytes.len; i++)
		text_hex(&text, bytes.data[i], 2);
	json_string(j, "bytes", (struct tally_str){text.data ? text.data : "", text.len});
	j->out->failed = j->out->failed || text.failed;
	text_deinit(&text);
}

/* Writes the source lines above an instruction. */
static void annotate_json_add_source(struct json *j, const struct annotate_function *function, size_t index)
{
	size_t first = index;
	while (first > 0 && function->lines[first - 1].kind == ANNOTATE_TEXT)
		first--;
	bool has_any = false;
	for (size_t i = first; i < index; i++) {
		const struct annotate_line *line = &function->lines[i];
		if (!line->is_source)
			continue;
		if (!has_any)
			json_array(j, "source");
		has_any = true;
		json_object(j, NULL);
		json_u64(j, "line", line->source_number);
		json_string(j, "text", str_from(line->text));
		json_object_end(j);
	}
	if (has_any)
		json_array_end(j);
}

static void annotate_json_add_instruction(struct json *j, const struct annotate_function *function, size_t index)
{
	const struct annotate_line *line = &function->lines[index];
	json_object(j, NULL);
	json_hex(j, "address", line->address);
	annotate_json_add_bytes(j, line->bytes);
	json_string(j, "text", str_from(line->text));
	if (line->path) {
		json_string(j, "path", str_from(line->path));
		json_u64(j, "line", line->source_line);
	}
	annotate_json_add_source(j, function, index);
	if (line->target != ANNOTATE_NONE)
		json_hex(j, "target", function->lines[line->target].address);
	if (line->values != ANNOTATE_NONE)
		annotate_json_add_values(j, function, line->values);
	if (line->has_type) {
		json_object(j, "data");
		json_string(j, "type", str_from(line->data_type));
		json_u64(j, "offset", line->data_offset);
		if (line->data_field)
			json_string(j, "field", str_from(line->data_field));
		json_object_end(j);
	}
	if (line->cycles > 0)
		json_fixed(j, "cycles", line->cycles, 2);
	if (line->ipc > 0)
		json_fixed(j, "ipc", line->ipc, 4);
	if (line->entered > 0)
		json_fixed(j, "entered", line->entered, 4);
	if (line->left > 0) {
		json_fixed(j, "left", line->left, 4);
		json_fixed(j, "predicted", line->predicted, 4);
	}
	json_object_end(j);
	(void)text_line_end(j->out);
}

static void annotate_json_add_events(struct json *j, const struct annotate_function *function)
{
	json_array(j, "events");
	for (uint32_t e = 0; e < function->event_count; e++) {
		const struct annotate_event *event = &function->events[e];
		json_object(j, NULL);
		json_string(j, "name", event->name);
		json_u64(j, "samples", event->function.count);
		json_u64(j, "period", event->function.period);
		json_u64(j, "all_samples", event->whole.count);
		json_u64(j, "all_period", event->whole.period);
		json_object_end(j);
	}
	json_array_end(j);
}

void annotate_json_function(struct json *j, const struct annotate_function *function)
{
	json_object(j, NULL);
	json_string(j, "name", str_from(function->name));
	json_string(j, "dso", str_from(function->file));
	json_hex(j, "start", function->start);
	annotate_json_add_events(j, function);
	json_array(j, "lines");
	for (size_t i = 0; i < function->place_count; i++) {
		const struct annotate_place *place = &function->places[function->place_order[i]];
		json_object(j, NULL);
		json_string(j, "place", str_from(place->text));
		annotate_json_add_values(j, function, place->values);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "instructions");
	for (size_t i = 0; i < function->line_count; i++)
		if (function->lines[i].kind == ANNOTATE_CODE)
			annotate_json_add_instruction(j, function, i);
	json_array_end(j);
	json_object_end(j);
}
