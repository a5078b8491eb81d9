/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/id_table.h"
#include "base/order.h"
#include "base/vec.h"
#include "view/export/export_formats.h"

struct cost_place { /* Own cost on a line, or the cost of calls from it. */
	uint32_t function, line;
	uint32_t callee; /* PROFILE_NONE for own cost. */
};

struct callgrind_function {
	uint32_t name, file, object; /* Indexes in strings. */
};

struct callgrind {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	struct intern strings;
	struct id_table function_ids, place_ids;
	VEC(struct callgrind_function) functions;
	VEC(struct cost_place) places;
	VEC(uint64_t) costs; /* By place: cost_count values each. */
	VEC(uint64_t) calls; /* By place: the number of samples in that call. */
	VEC(uint64_t) seen_in; /* By place: the last sample that counted there, + 1; 0: none. */
	uint64_t *told_in; /* By function: the last sample that added costs to it, + 1; 0: none. */
	uint32_t *function_of_frame, *line_of_frame;
	bool *namesakes; /* By frame of the tables: another function has the same name in the same binary. */
	uint32_t *value_of_event;
	unsigned cost_count;
	struct id_table written; /* Names that were written already; keys: kind and string. */
	struct text room;
};

enum name_kind { NAME_OBJECT, NAME_FILE, NAME_FUNCTION };

static uint32_t export_callgrind_string_of(struct callgrind *w, struct tally_str s)
{
	uint32_t id = 0;
	if (!intern_add(&w->strings, s.data ? s.data : "", s.len, &id))
		w->sink->failed = true;
	return id;
}

/* Readers identify functions by name, file and object. If these are equal, the address is added to the name. */
static uint32_t export_callgrind_name_of(struct callgrind *w, const struct flame_label *label, bool has_namesake)
{
	struct text name = {0};
	text_bytes(&name, label->name.data, label->name.len);
	if (has_namesake && label->function != PROFILE_NONE)
		text_printf(&name, " [0x%" PRIx64 "]", label->address);
	uint32_t id = export_callgrind_string_of(w, (struct tally_str){name.data, name.len});
	w->sink->failed = w->sink->failed || name.failed;
	text_deinit(&name);
	return id;
}

static uint32_t export_callgrind_function_of(struct callgrind *w, size_t index)
{
	const struct profile *p = w->view->profile;
	uint32_t frame = w->tables.frames[index];
	struct flame_label label = flame_label_of(p, frame, &w->room);
	struct export_line line = export_frame_line(p, &p->frames[frame]);
	uint32_t binary = p->frames[frame].binary;
	struct callgrind_function function = {
		.name = export_callgrind_name_of(w, &label, w->namesakes[index] && line.file.len == 0),
		.file = export_callgrind_string_of(w, line.file.len > 0 ? line.file : STR("???")),
		.object = export_callgrind_string_of(
			w, binary == PROFILE_NONE ? STR("???") : profile_string(p, p->binaries[binary].long_name))};
	const uint64_t key[2] = {(uint64_t)function.name << 32 | function.file, function.object};
	bool is_new;
	uint32_t id = id_table_add(&w->function_ids, key, &is_new);
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&w->functions, function)))
		w->sink->failed = true;
	return id;
}

static uint32_t export_callgrind_place_of(struct callgrind *w, const struct cost_place *place)
{
	const uint64_t key[2] = {(uint64_t)place->function << 32 | place->line, place->callee};
	bool is_new;
	uint32_t id = id_table_add(&w->place_ids, key, &is_new);
	bool is_done = id != ID_TABLE_NONE;
	if (is_done && is_new) {
		is_done = vec_push(&w->places, *place) && vec_push(&w->seen_in, 0) && vec_push(&w->calls, 0);
		for (unsigned i = 0; is_done && i < w->cost_count; i++)
			is_done = vec_push(&w->costs, 0);
	}
	if (!is_done)
		w->sink->failed = true;
	return is_done ? id : PROFILE_NONE;
}

static void add_cost(
	struct callgrind *w, const struct cost_place *place, const struct profile_sample *sample, uint64_t number)
{
	uint32_t id = export_callgrind_place_of(w, place);
	/* With recursion, a sample still counts once per pair of functions. After a failure, id is not valid. */
	if (w->sink->failed || w->seen_in.items[id] == number)
		return;
	w->seen_in.items[id] = number;
	w->calls.items[id] += sample->count;
	/* Readers add up a function's own costs and those of its calls, so of a recursive function only the innermost
	 * call counts; otherwise its costs would exceed the total. */
	if (w->told_in[place->function] == number)
		return;
	w->told_in[place->function] = number;
	uint64_t *costs = &w->costs.items[(size_t)id * w->cost_count];
	costs[0] += sample->count;
	costs[w->value_of_event[sample->event]] += sample->period;
}

static void export_callgrind_add_sample(struct callgrind *w, size_t index)
{
	const struct profile_sample *sample = &w->view->profile->samples[index];
	uint32_t node = w->tables.node_of_sample[index];
	uint32_t frame = w->tables.nodes.items[node].frame;
	struct cost_place place = {w->function_of_frame[frame], w->line_of_frame[frame], PROFILE_NONE};
	add_cost(w, &place, sample, index + 1);
	while ((node = w->tables.nodes.items[node].parent) != PROFILE_NONE) {
		frame = w->tables.nodes.items[node].frame;
		place = (struct cost_place){w->function_of_frame[frame], w->line_of_frame[frame], place.function};
		add_cost(w, &place, sample, index + 1);
	}
}

/* Writes a line with the number of a name and, where the number occurs first, the name that it represents from then
 * on. */
static void export_callgrind_put_name(struct callgrind *w, const char *key, enum name_kind kind, uint32_t string)
{
	const uint64_t words = (uint64_t)kind << 32 | string;
	bool is_new;
	uint32_t id = id_table_add(&w->written, &words, &is_new);
	if (id == ID_TABLE_NONE) {
		w->sink->failed = true;
		return;
	}
	text_printf(w->out, "%s=(%u)", key, id + 1);
	struct tally_str name = intern_get(&w->strings, string);
	if (is_new) {
		text_char(w->out, ' ');
		text_visible(w->out, name);
	}
	text_char(w->out, '\n');
}

static void put_costs(struct callgrind *w, uint32_t line, uint32_t place)
{
	text_u64(w->out, line);
	for (unsigned i = 0; i < w->cost_count; i++) {
		text_char(w->out, ' ');
		text_u64(w->out, w->costs.items[(size_t)place * w->cost_count + i]);
	}
	text_char(w->out, '\n');
}

static int compare_places(const void *left, const void *right, void *places)
{
	const struct cost_place *a = (const struct cost_place *)places + *(const uint32_t *)left;
	const struct cost_place *b = (const struct cost_place *)places + *(const uint32_t *)right;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	/* Own costs come first: PROFILE_NONE + 1 is 0. */
	if (a->callee != b->callee)
		return a->callee + 1 < b->callee + 1 ? -1 : 1;
	return COMPARE(a->line, b->line);
}

static void write_places(struct callgrind *w)
{
	size_t count = w->places.len;
	uint32_t last = PROFILE_NONE;
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	if (!order) {
		w->sink->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	if (count)
		qsort_r(order, count, sizeof(*order), compare_places, w->places.items);
	for (size_t i = 0; i < count && !byte_sink_is_lost(w->sink); i++) {
		const struct cost_place *place = &w->places.items[order[i]];
		const struct callgrind_function *function = &w->functions.items[place->function];
		if (place->function != last) {
			text_char(w->out, '\n');
			export_callgrind_put_name(w, "ob", NAME_OBJECT, function->object);
			export_callgrind_put_name(w, "fl", NAME_FILE, function->file);
			export_callgrind_put_name(w, "fn", NAME_FUNCTION, function->name);
		}
		last = place->function;
		if (place->callee != PROFILE_NONE) {
			const struct callgrind_function *callee = &w->functions.items[place->callee];
			export_callgrind_put_name(w, "cob", NAME_OBJECT, callee->object);
			export_callgrind_put_name(w, "cfi", NAME_FILE, callee->file);
			export_callgrind_put_name(w, "cfn", NAME_FUNCTION, callee->name);
			/* Samples do not show how often it was called; the number of samples in the call is written
			 * instead. */
			text_printf(w->out, "calls=%llu 0\n", (unsigned long long)w->calls.items[order[i]]);
		}
		put_costs(w, place->line, order[i]);
		byte_sink_step(w->sink);
	}
	free(order);
}

static void export_callgrind_put_line(struct callgrind *w, const char *key, struct tally_str value)
{
	text_str(w->out, key);
	text_visible(w->out, value);
	text_char(w->out, '\n');
}

static bool write_head(struct callgrind *w)
{
	const struct profile *p = w->view->profile;
	const struct export_about *about = &w->view->about;
	bool *is_used = export_event_flags(w->view);
	w->value_of_event = calloc(p->event_count + 1, sizeof(*w->value_of_event));
	if (!is_used || !w->value_of_event) {
		free(is_used);
		return false;
	}
	text_str(w->out, "# callgrind format\nversion: 1\n");
	export_callgrind_put_line(w, "creator: ", about->program);
	export_callgrind_put_line(w, "cmd: ", about->command.len > 0 ? about->command : about->title);
	if (about->origin.sentence.len > 0)
		export_callgrind_put_line(w, "desc: Origin: ", about->origin.sentence);
	text_str(w->out, "part: 1\npositions: line\nevents: Samples");
	w->cost_count = 1;
	for (size_t i = 0; i < p->event_count; i++) {
		if (!is_used[i])
			continue;
		struct tally_str name = profile_string(p, p->events[i].name);
		text_char(w->out, ' ');
		/* Names of events must be single words. */
		for (size_t k = 0; k < name.len; k++) {
			char c = name.data[k];
			text_char(w->out, c > ' ' && c < 0x7f && c != ':' && c != ',' && c != '=' ? c : '_');
		}
		w->value_of_event[i] = w->cost_count++;
	}
	free(is_used);
	text_char(w->out, '\n');
	return true;
}

static void write_sum(struct callgrind *w, const char *key)
{
	text_str(w->out, key);
	for (unsigned i = 0; i < w->cost_count; i++) {
		uint64_t sum = 0;
		for (size_t k = 0; k < w->places.len; k++)
			if (w->places.items[k].callee == PROFILE_NONE)
				sum += w->costs.items[k * w->cost_count + i];
		text_printf(w->out, " %llu", (unsigned long long)sum);
	}
	text_char(w->out, '\n');
}

static bool export_callgrind_prepare(struct callgrind *w)
{
	intern_init(&w->strings);
	w->function_ids.words = w->place_ids.words = 2;
	w->written.words = 1;
	if (export_tables_init(&w->tables, w->view, NULL) != TALLY_OK || !write_head(w))
		return false;
	w->function_of_frame = malloc((w->tables.frame_count + 1) * sizeof(*w->function_of_frame));
	w->line_of_frame = malloc((w->tables.frame_count + 1) * sizeof(*w->line_of_frame));
	w->namesakes = export_namesakes(&w->tables);
	if (!w->function_of_frame || !w->line_of_frame || !w->namesakes)
		return false;
	for (size_t i = 0; i < w->tables.frame_count; i++) {
		w->function_of_frame[i] = export_callgrind_function_of(w, i);
		w->line_of_frame[i] =
			(uint32_t)export_frame_line(w->view->profile, &w->view->profile->frames[w->tables.frames[i]])
				.number;
	}
	w->told_in = calloc(w->functions.len + 1, sizeof(*w->told_in));
	return w->told_in && !w->sink->failed;
}

void export_callgrind(struct byte_sink *sink, const struct export_view *view)
{
	struct callgrind w = {.sink = sink, .out = &sink->text, .view = view};
	bool is_ready = export_callgrind_prepare(&w);
	sink->failed = sink->failed || !is_ready;
	for (size_t i = 0; is_ready && !sink->failed && i < view->profile->sample_count; i++)
		if (w.tables.node_of_sample[i] != PROFILE_NONE)
			export_callgrind_add_sample(&w, i);
	if (is_ready && !sink->failed) {
		write_sum(&w, "summary:");
		write_places(&w);
		write_sum(&w, "\ntotals:");
	}
	sink->failed = sink->failed || w.room.failed;
	intern_deinit(&w.strings);
	id_table_deinit(&w.function_ids);
	id_table_deinit(&w.place_ids);
	id_table_deinit(&w.written);
	vec_free(&w.functions);
	vec_free(&w.places);
	vec_free(&w.costs);
	vec_free(&w.calls);
	vec_free(&w.seen_in);
	free(w.told_in);
	free(w.function_of_frame);
	free(w.line_of_frame);
	free(w.namesakes);
	free(w.value_of_event);
	text_deinit(&w.room);
	export_tables_deinit(&w.tables);
}
