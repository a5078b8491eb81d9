/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "view/export/export_formats.h"
#include "view/export/firefox_writer.h"

#define FORMAT_VERSION 48 /* Value of "preprocessedProfileVersion". */
#define KERNEL_ALIGN   (UINT64_C(2) << 20)
#define BREAKPAD_BYTES 16

static const char *const category_names[][2] = {
	{"User", "yellow"}, {"Kernel", "orange"}, {"Inlined", "green"}, {"JIT", "purple"}, {"Other", "grey"}};
static const unsigned category_of_kind[FLAME_KINDS] = {[FLAME_USER] = 0,
	[FLAME_KERNEL] = 1,
	[FLAME_INLINED] = 2,
	[FLAME_GENERATED] = 3,
	[FLAME_UNKNOWN] = 4,
	[FLAME_GROUP] = 4};

static bool local_ids_init(struct local_ids *ids, size_t count)
{
	ids->local = malloc((count + 1) * sizeof(*ids->local));
	ids->stamp = calloc(count + 1, sizeof(*ids->stamp));
	return ids->local && ids->stamp;
}

static void local_ids_deinit(struct local_ids *ids)
{
	free(ids->local);
	free(ids->stamp);
	vec_free(&ids->items);
}

static bool export_firefox_add_frame(struct firefox *w, size_t index)
{
	const struct profile *p = w->view->profile;
	const struct profile_frame *from = &p->frames[w->tables.frames[index]];
	struct flame_label label = flame_label_of(p, w->tables.frames[index], &w->room);
	struct export_line line = export_frame_line(p, from);
	struct whole_function function = {firefox_string(w, label.name), INTERN_NONE, from->binary};
	if (line.file.len > 0)
		function.file = firefox_string(w, line.file);
	const uint64_t key[2] = {
		(uint64_t)function.name << 32 | function.file, (uint64_t)label.function << 32 | function.binary};
	bool is_new;
	uint32_t id = id_table_add(&w->function_ids, key, &is_new);
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&w->functions, function)))
		return false;
	w->frames[index] = (struct whole_frame){id, (uint32_t)line.number, category_of_kind[label.kind], 0};
	if (from->binary != PROFILE_NONE && from->address >= ADDRESS_EXACT &&
		from->address < w->base_of_binary[from->binary])
		w->base_of_binary[from->binary] = from->address & ~(KERNEL_ALIGN - 1);
	if (from->binary != PROFILE_NONE)
		w->lib_of_binary[from->binary] = 0;
	return true;
}

static void measure_inlines(struct firefox *w)
{
	for (size_t i = 0; i < w->tables.nodes.len; i++) {
		const struct stack_node *node = &w->tables.nodes.items[i];
		if (node->parent != PROFILE_NONE && firefox_is_inlined(w, node->frame))
			w->frames[node->frame].inline_depth =
				w->frames[w->tables.nodes.items[node->parent].frame].inline_depth + 1;
	}
}

static bool export_firefox_prepare(struct firefox *w)
{
	const struct profile *p = w->view->profile;
	intern_init(&w->strings);
	w->function_ids.words = 2;
	if (export_tables_init(&w->tables, w->view, NULL) != TALLY_OK || !export_groups_init(&w->groups, &w->tables))
		return false;
	w->frames = calloc(w->tables.frame_count + 1, sizeof(*w->frames));
	w->lib_of_binary = malloc((p->binary_count + 1) * sizeof(*w->lib_of_binary));
	w->base_of_binary = malloc((p->binary_count + 1) * sizeof(*w->base_of_binary));
	if (!w->frames || !w->lib_of_binary || !w->base_of_binary)
		return false;
	memset(w->lib_of_binary, 0xff, p->binary_count * sizeof(*w->lib_of_binary));
	memset(w->base_of_binary, 0xff, p->binary_count * sizeof(*w->base_of_binary));
	for (size_t i = 0; i < w->tables.frame_count; i++)
		if (!export_firefox_add_frame(w, i))
			return false;
	measure_inlines(w);
	w->is_trace = export_trace_flags(w->view);
	if (!w->is_trace || !firefox_list_marks(w))
		return false;
	/* Threads also use the names of libraries, symbols and events as texts. */
	for (size_t i = 0; i < p->event_count; i++)
		(void)firefox_string(w, profile_string(p, p->events[i].name));
	for (size_t i = 0; i < p->binary_count; i++)
		(void)firefox_string(w, profile_string(p, p->binaries[i].name));
	for (size_t i = 0; i < p->function_count; i++)
		(void)firefox_string(w, profile_string(p, p->functions[i].name));
	for (int i = 0; i < EXPORT_MARKS; i++)
		(void)firefox_string(w, str_from(export_mark_name((enum export_mark_kind)i)));
	size_t kinds = PROFILE_STATES;
	w->has_states = (p->facets >> FACET_STATE & 1) && w->tables.nodes.len <= UINT32_MAX / kinds;
	return local_ids_init(&w->nodes, w->has_states ? kinds * w->tables.nodes.len : w->tables.nodes.len) &&
	       local_ids_init(&w->used_frames, w->tables.frame_count) &&
	       local_ids_init(&w->used_functions, w->functions.len) && local_ids_init(&w->symbols, p->function_count) &&
	       local_ids_init(&w->texts, w->strings.len) && local_ids_init(&w->resources, p->binary_count);
}

/* Writes a build ID as Breakpad does: its first three numbers in little-endian order, and an age of 0. */
static void add_breakpad_id(struct text *out, struct tally_str build_id)
{
	static const uint8_t order[BREAKPAD_BYTES] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	text_char(out, '"');
	for (size_t i = 0; build_id.len > 0 && i < BREAKPAD_BYTES; i++) {
		for (size_t digit = 0; digit < 2; digit++) {
			size_t at = 2U * order[i] + digit;
			char c = at < build_id.len ? build_id.data[at] : '0';
			text_char(out, c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c);
		}
	}
	text_str(out, build_id.len > 0 ? "0\"" : "\"");
}

static void add_libs(struct firefox *w)
{
	const struct profile *p = w->view->profile;
	uint32_t count = 0;
	text_str(w->out, "\"libs\":[");
	for (size_t i = 0; i < p->binary_count; i++) {
		const struct profile_binary *binary = &p->binaries[i];
		struct tally_str build_id = profile_string(p, binary->build_id);
		if (w->lib_of_binary[i] == PROFILE_NONE)
			continue;
		text_str(w->out, count ? ",\n{\"name\":" : "\n{\"name\":");
		export_json_string(w->out, profile_string(p, binary->name));
		text_str(w->out, ",\"path\":");
		export_json_string(w->out, profile_string(p, binary->long_name));
		text_str(w->out, ",\"debugName\":");
		export_json_string(w->out, profile_string(p, binary->name));
		text_str(w->out, ",\"debugPath\":");
		export_json_string(w->out, profile_string(p, binary->long_name));
		text_str(w->out, ",\"breakpadId\":");
		add_breakpad_id(w->out, build_id);
		text_str(w->out, ",\"codeId\":");
		if (build_id.len > 0)
			export_json_string(w->out, build_id);
		else
			text_str(w->out, "null");
		text_str(w->out, ",\"arch\":");
		export_json_string(w->out, w->view->about.arch);
		text_char(w->out, '}');
		w->lib_of_binary[i] = count++;
		byte_sink_step(w->sink);
	}
	text_str(w->out, "],\n");
}

/* Adds one category for each state but the first, in the order of states. Firefox draws idle time in the colour
 * "transparent". */
static void export_firefox_add_states(struct firefox *w)
{
	const struct profile *p = w->view->profile;
	struct tally_str names[PROFILE_STATES] = {0};
	for (size_t i = 0; i < p->sample_count; i++)
		if (export_state(p, &p->samples[i]) != PROFILE_STATES)
			names[export_state(p, &p->samples[i])] = export_state_name(p, &p->samples[i]);
	for (unsigned i = PROFILE_STATE_RUNNING + 1; i < PROFILE_STATES; i++)
		text_printf(w->out, ",{\"name\":\"Waiting: %.*s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			(int)names[i].len, names[i].len ? names[i].data : "",
			profile_state_is_ready(i) ? "lightred" : "transparent");
}

static void add_meta(struct firefox *w)
{
	const struct export_about *about = &w->view->about;
	struct text *out = w->out;
	text_printf(
		out, "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":%d,\"processType\":0,", FORMAT_VERSION);
	text_str(out, "\"interval\":1,\"symbolicated\":true,\"stackwalk\":1,\"debug\":false,\"startTime\":");
	if (about->has_wall_clock)
		export_decimal(out, w->tables.first_time + (uint64_t)about->wall_clock_offset_ns, 6);
	else
		text_char(out, '0');
	text_str(out, ",\"product\":");
	export_json_string(out, about->title);
	text_str(out, ",\"importedFrom\":");
	export_json_string(out, about->program);
	if (about->origin.sentence.len > 0) {
		text_str(out, ",\"origin\":");
		export_json_string(out, about->origin.sentence);
	}
	text_str(out, ",\"arguments\":");
	export_json_string(out, about->command);
	text_str(out, ",\"oscpu\":");
	export_json_string(out, about->os);
	text_str(out, ",\"CPUName\":");
	export_json_string(out, about->cpu);
	text_str(out,
		",\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\"extensions\":{\"length\":0,\"id\":[],\"name\":[],"
		"\"baseURL\":[]},\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"µs\"},"
		"\"markerSchema\":[{\"name\":\"tally\",\"tooltipLabel\":\"{marker.name}\",\"display\":"
		"[\"marker-chart\",\"marker-table\"],\"data\":[{\"key\":\"text\",\"label\":\"What\",\"format\":"
		"\"string\",\"searchable\":true}]}],\"categories\":[");
	for (size_t i = 0; i < ARRAY_LEN(category_names); i++)
		text_printf(out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", i ? "," : "",
			category_names[i][0], category_names[i][1]);
	if (w->has_states)
		export_firefox_add_states(w);
	text_str(out, "]},\n");
}

static void export_firefox_write_all(struct firefox *w)
{
	size_t events = 0;
	bool *is_used = export_event_flags(w->view);
	for (size_t i = 0; is_used && i < w->view->profile->event_count; i++)
		events += is_used[i];
	w->names_events = events > 1;
	w->sink->failed = w->sink->failed || !is_used;
	free(is_used);
	add_meta(w);
	add_libs(w);
	text_str(w->out, "\"pages\":[],\"profilerOverhead\":[],\n\"counters\":[");
	firefox_add_counters(w);
	text_str(w->out, "],\n\"threads\":[");
	for (size_t i = 0; i < w->groups.count && !byte_sink_is_lost(w->sink); i++)
		if (w->groups.begin[i] < w->groups.begin[i + 1])
			firefox_add_thread(w, i);
	text_str(w->out, "]}\n");
}

void export_firefox(struct byte_sink *sink, const struct export_view *view)
{
	struct firefox w = {.sink = sink, .out = &sink->text, .view = view};
	if (export_firefox_prepare(&w))
		export_firefox_write_all(&w);
	else
		sink->failed = true;
	sink->failed = sink->failed || w.room.failed;
	struct local_ids *const locals[] = {
		&w.nodes, &w.used_frames, &w.used_functions, &w.symbols, &w.texts, &w.resources};
	for (size_t i = 0; i < ARRAY_LEN(locals); i++)
		local_ids_deinit(locals[i]);
	intern_deinit(&w.strings);
	id_table_deinit(&w.function_ids);
	vec_free(&w.functions);
	free(w.frames);
	free(w.is_trace);
	free(w.first_mark);
	free(w.next_mark);
	free(w.lib_of_binary);
	free(w.base_of_binary);
	text_deinit(&w.room);
	export_groups_deinit(&w.groups);
	export_tables_deinit(&w.tables);
}
