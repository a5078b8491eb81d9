/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_json.h"

#include <string.h>

#include "abi/data_src.h"
#include "base/array.h"
#include "base/symbol_name.h"
#include "perfdata/origin.h"

#define SCRIPT_JSON_SCHEMA 1
#define KEY_BYTES_MAX	   128

struct script_json_chain {
	struct json *j;
	struct script_printer *printer;
	bool is_over; /* Set after a function that --stop-bt names; the rest of the chain is omitted. */
};

void script_json_begin(struct json *j, const char *path, const struct perfdata_features *features)
{
	json_object(j, NULL);
	json_u64(j, "schema", SCRIPT_JSON_SCHEMA);
	json_string(j, "path", str_from(path));
	origin_json(j, features);
	json_array(j, "samples");
}

void script_json_end(struct json *j, const struct input_health *health)
{
	json_array_end(j);
	json_u64(j, "lost_events", health->lost_events);
	json_u64(j, "lost_samples", health->lost_samples);
	json_object_end(j);
}

void script_json_fields(struct json *j, struct tracepoint_printer *tracepoints, struct tally_bytes raw)
{
	struct tracepoint_value value;
	for (unsigned i = 0; tracepoint_value_at(tracepoints, raw, TRACEPOINT_OWN, i, &value); i++) {
		char key[KEY_BYTES_MAX];
		struct tally_str name = value.field.name;
		size_t len = MIN(name.len, sizeof(key) - 1);
		memcpy(key, name.data, len);
		key[len] = '\0';
		if (value.field.form == TRACEPOINT_TEXT || value.field.count > 0)
			json_string(j, key, value.text);
		else if (value.field.form == TRACEPOINT_SIGNED)
			json_i64(j, key, (int64_t)value.numbers[0]);
		else
			json_u64(j, key, value.numbers[0]);
	}
}

/* An unmapped address has no DSO. */
static void script_json_name(struct json *j, const struct frame_name *name)
{
	if (name->symbol) {
		json_string(j, "sym", str_from(name->symbol));
		json_hex(j, "symoff", name->symbol_offset);
	}
	if (!str_equal(name->path, STR("[unknown]")))
		json_string(j, "dso", name->path);
}

static void script_json_line(struct json *j, const struct source_place *place)
{
	if (!place->path)
		return;
	json_string(j, "file", str_from(place->path));
	json_u64(j, "line", place->line);
}

/* Prints the inlined calls first and the containing function last, as text output does. */
static bool script_json_frame(struct script_json_chain *chain, uint32_t frame, uint64_t ip, struct frame_name *name)
{
	struct json *j = chain->j;
	const struct script_places *places = &chain->printer->places;
	if (!places->no_inline && !frame_names_places(places->names, frame, name))
		return false;
	size_t count = places->no_inline ? 0 : name->place_count;
	for (size_t i = 0; i + 1 < count; i++) {
		json_object(j, NULL);
		json_hex(j, "ip", ip);
		if (name->places[i].function)
			json_string(j, "sym", str_from(name->places[i].function));
		json_bool(j, "is_inlined", true);
		script_json_line(j, &name->places[i]);
		json_object_end(j);
	}
	json_object(j, NULL);
	json_hex(j, "ip", ip);
	script_json_name(j, name);
	if (count > 0)
		script_json_line(j, &name->places[count - 1]);
	json_object_end(j);
	chain->is_over =
		places->stop_symbols && name->symbol && symbol_list_has(places->stop_symbols, str_from(name->symbol));
	return true;
}

/* If a stack dump cannot be unwound, the chain consists of the innermost frame. */
static bool script_json_chain(struct json *j, struct script_printer *printer, const struct resolve_where *where,
	const struct perfdata_event *event, const struct sample *sample, const struct script_place *leaf)
{
	struct script_json_chain chain = {.j = j, .printer = printer};
	struct resolver *resolver = printer->places.resolver;
	struct sample_array whole = resolver_sample_chain(resolver, where, &event->layout, sample);
	bool is_done = true;
	json_array(j, "callchain");
	if (whole.count == 0 && sample->stack_user.size > 0 && leaf->name->symbol) {
		is_done = script_json_frame(&chain, leaf->frame, leaf->ip, leaf->name);
	} else if (whole.count > 0) {
		struct resolved_chain frames = resolver_chain_frames(resolver, where, &whole);
		for (size_t i = 0; i < frames.count && is_done && !chain.is_over && !resolver->failed; i++) {
			struct frame_name *name = frame_names_get(printer->places.names, frames.frames[i], NULL);
			is_done = name && script_json_frame(&chain, frames.frames[i], frames.ips[i], name);
		}
	}
	json_array_end(j);
	return is_done && !resolver->failed;
}

static void script_json_thread(
	struct json *j, const struct script_printer *printer, const struct sample *sample, uint64_t clock)
{
	const struct machine *machine = printer->places.machine;
	int32_t tid = (int32_t)sample->tid;
	uint32_t comm = machine_comm_at(machine, tid, clock);
	if (comm != INTERN_NONE)
		json_string(j, "comm", machine_string(machine, comm));
	if (sample->present & SAMPLE_TID) {
		json_i64(j, "pid", (int32_t)sample->pid);
		json_i64(j, "tid", tid);
	}
	if (sample->present & SAMPLE_CPU)
		json_u64(j, "cpu", sample->cpu);
	if (sample->present & SAMPLE_TIME)
		json_u64(j, "time_ns", sample->time);
}

static void script_json_access(struct json *j, const struct sample *sample)
{
	struct text words = {0};
	if (sample->present & SAMPLE_ADDR)
		json_hex(j, "addr", sample->addr);
	if (sample->present & SAMPLE_PHYS_ADDR)
		json_hex(j, "phys_addr", sample->phys_addr);
	if (sample->present & SAMPLE_WEIGHT)
		json_u64(j, "weight", sample->weight);
	if (sample->present & SAMPLE_WEIGHT_STRUCT) {
		json_u64(j, "weight", (uint32_t)sample->weight);
		json_u64(j, "ins_lat", (uint16_t)(sample->weight >> 32));
		json_u64(j, "retire_lat", sample->weight >> 48);
	}
	if (sample->present & SAMPLE_DATA_SRC) {
		data_src_print(&words, sample->data_src);
		json_hex(j, "data_src", sample->data_src);
		json_string(j, "data_src_text", text_view(&words));
	}
	j->out->failed |= words.failed;
	text_deinit(&words);
}

static void script_json_trace(struct json *j, struct tracepoint_printer *tracepoints, struct tally_bytes raw)
{
	struct text text = {0};
	if (tracepoint_print(tracepoints, raw, &text))
		json_string(j, "trace", text_view(&text));
	json_object(j, "fields");
	script_json_fields(j, tracepoints, raw);
	json_object_end(j);
	j->out->failed |= text.failed;
	text_deinit(&text);
}

bool script_json_sample(struct json *j, struct script_printer *p, const struct perfdata_event *event,
	const struct record *record, const struct sample *sample, uint64_t clock)
{
	struct resolve_where where = resolver_where(p->places.resolver, (int32_t)sample->pid, clock);
	struct script_place leaf;
	bool is_done = true;
	p->places.now = where;
	json_object(j, NULL);
	j->is_compact = true; /* Each sample is printed on one line. */
	json_string(j, "event", event->name);
	script_json_thread(j, p, sample, clock);
	json_u64(j, "period", sample->period);
	script_json_access(j, sample);
	if (event->attr.type == EVENT_TRACEPOINT && p->tracepoints)
		script_json_trace(j, p->tracepoints, sample->raw);
	if (sample->present & SAMPLE_IP) {
		is_done = script_place_find(&p->places, &where, record->misc & MISC_CPUMODE_MASK, sample->ip, &leaf);
		if (is_done) {
			json_hex(j, "ip", sample->ip);
			script_json_name(j, leaf.name);
			leaf.name->samples++;
		}
	}
	bool has_chain = is_done && perfdata_event_has(event, SAMPLE_CALLCHAIN) && !p->hide_call_graph;
	if (has_chain && (sample->present & SAMPLE_IP) && !p->without_frames)
		is_done = script_json_chain(j, p, &where, event, sample, &leaf);
	json_object_end(j);
	j->is_compact = false;
	return is_done && !j->out->failed;
}
