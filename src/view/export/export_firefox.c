#include "view/export/export_formats.h"

#include <stdlib.h>

#include "base/id_table.h"
#include "base/vec.h"

#define FORMAT_VERSION 48 /* "preprocessedProfileVersion" */
#define ADDRESS_EXACT  (UINT64_C(1) << 53) /* JSON numbers are exact below */
#define KERNEL_ALIGN   (UINT64_C(2) << 20)
#define BREAKPAD_BYTES 16
#define CATEGORY_OTHER "4" /* of category_names */

static const char *const category_names[][2] = {
	{"User", "yellow"}, {"Kernel", "orange"}, {"Inlined", "green"}, {"JIT", "purple"}, {"Other", "grey"}};
static const unsigned category_of_kind[FLAME_KINDS] = {[FLAME_USER] = 0,
	[FLAME_KERNEL] = 1,
	[FLAME_INLINED] = 2,
	[FLAME_GENERATED] = 3,
	[FLAME_UNKNOWN] = 4,
	[FLAME_GROUP] = 4};

struct whole_frame { /* of the tables' frames */
	uint32_t function; /* of functions */
	uint32_t line;
	unsigned category, inline_depth;
};

struct whole_function {
	uint32_t name, file; /* of strings; file INTERN_NONE: not known */
	uint32_t binary; /* the profile's; PROFILE_NONE: none */
};

struct local_ids { /* what ids of the whole are in one thread, in order of use */
	uint32_t *local, *stamp; /* by id of the whole; valid where the stamp is the thread's */
	VEC(uint32_t) items; /* ids of the whole */
};

struct firefox {
	struct byte_sink *sink;
	struct text *out;
	const struct export_view *view;
	struct export_tables tables;
	struct export_groups groups;
	struct intern strings;
	struct id_table function_ids; /* name, file, binary */
	VEC(struct whole_function) functions;
	struct whole_frame *frames;
	uint32_t *lib_of_binary; /* PROFILE_NONE: not used */
	uint64_t *base_of_binary;
	uint32_t *first_mark, *next_mark; /* by track, by mark: PROFILE_NONE ends */
	uint32_t thread_stamp;
	struct local_ids nodes, used_frames, used_functions, symbols, texts, resources;
	struct text room;
	bool has_thread, names_events;
};

static uint32_t local_id(struct firefox *w, struct local_ids *ids, uint32_t id)
{
	if (ids->stamp[id] != w->thread_stamp) {
		ids->stamp[id] = w->thread_stamp;
		ids->local[id] = (uint32_t)ids->items.len;
		if (!vec_push(&ids->items, id))
			w->sink->failed = true;
	}
	return ids->local[id];
}

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

static uint32_t string_of(struct firefox *w, struct tally_str s)
{
	uint32_t id = 0;
	if (!intern_add(&w->strings, s.data ? s.data : "", s.len, &id))
		w->sink->failed = true;
	return id;
}

static bool add_frame(struct firefox *w, size_t index)
{
	const struct profile *p = w->view->profile;
	const struct profile_frame *from = &p->frames[w->tables.frames[index]];
	struct flame_label label = flame_label_of(p, w->tables.frames[index], &w->room);
	struct export_line line = export_frame_line(p, from);
	struct whole_function function = {string_of(w, label.name), INTERN_NONE, from->binary};
	if (line.file.len > 0)
		function.file = string_of(w, line.file);
	const uint64_t key[2] = {(uint64_t)function.name << 32 | function.file, function.binary};
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

static const struct profile_frame *frame_of(const struct firefox *w, uint32_t frame)
{
	return &w->view->profile->frames[w->tables.frames[frame]];
}

static bool is_inlined(const struct firefox *w, uint32_t frame)
{
	const struct profile_frame *f = frame_of(w, frame);
	return f->function != PROFILE_NONE && w->view->profile->functions[f->function].is_inlined;
}

/* Each thread's marks as a list, in order of time; losses belong to no thread: the first one shows them. */
static bool list_marks(struct firefox *w)
{
	const struct export_view *view = w->view;
	struct id_table ids = {.words = 1};
	w->first_mark = malloc((w->tables.track_count + 1) * sizeof(*w->first_mark));
	w->next_mark = malloc((view->mark_count + 1) * sizeof(*w->next_mark));
	bool is_done = w->first_mark && w->next_mark;
	for (size_t i = 0; is_done && i < w->tables.track_count; i++) {
		const struct export_track *track = &w->tables.tracks[i];
		const uint64_t key = (uint64_t)(uint32_t)track->pid << 32 | (uint32_t)track->tid;
		w->first_mark[i] = PROFILE_NONE;
		is_done = id_table_add(&ids, &key, NULL) != ID_TABLE_NONE;
	}
	for (size_t i = view->mark_count; is_done && w->tables.track_count && i-- > 0;) {
		const struct export_mark *mark = &view->marks[i];
		const uint64_t key = (uint64_t)(uint32_t)mark->pid << 32 | (uint32_t)mark->tid;
		uint32_t track = mark->kind == EXPORT_LOST ? 0 : id_table_find(&ids, &key);
		if (track == ID_TABLE_NONE || mark->kind == EXPORT_SWITCH)
			continue;
		w->next_mark[i] = w->first_mark[track];
		w->first_mark[track] = (uint32_t)i;
	}
	id_table_deinit(&ids);
	return is_done;
}

static void measure_inlines(struct firefox *w)
{
	for (size_t i = 0; i < w->tables.node_count; i++) {
		const struct export_node *node = &w->tables.nodes[i];
		if (node->parent != PROFILE_NONE && is_inlined(w, node->frame))
			w->frames[node->frame].inline_depth =
				w->frames[w->tables.nodes[node->parent].frame].inline_depth + 1;
	}
}

static bool prepare(struct firefox *w)
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
		if (!add_frame(w, i))
			return false;
	measure_inlines(w);
	if (!list_marks(w))
		return false;
	/* Names of libraries and of symbols are texts of threads too. */
	for (size_t i = 0; i < p->binary_count; i++)
		(void)string_of(w, profile_string(p, p->binaries[i].name));
	for (size_t i = 0; i < p->function_count; i++)
		(void)string_of(w, profile_string(p, p->functions[i].name));
	for (int i = 0; i < EXPORT_MARKS; i++)
		(void)string_of(w, str_from(export_mark_name((enum export_mark_kind)i)));
	return local_ids_init(&w->nodes, w->tables.node_count) &&
	       local_ids_init(&w->used_frames, w->tables.frame_count) &&
	       local_ids_init(&w->used_functions, w->functions.len) && local_ids_init(&w->symbols, p->function_count) &&
	       local_ids_init(&w->texts, w->strings.len) && local_ids_init(&w->resources, p->binary_count);
}

/* The id of a build as breakpad writes it: three little-endian numbers of it turned, and an age of 0. */
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
	for (size_t i = 0; i < sizeof(category_names) / sizeof(category_names[0]); i++)
		text_printf(out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", i ? "," : "",
			category_names[i][0], category_names[i][1]);
	text_str(out, "]},\n");
}

/* A column of a table: opened with its name, then an item each. */
#define COLUMN(w, name, count, item)                                                       \
	do {                                                                               \
		text_str((w)->out, ",\"" name "\":[");                                     \
		for (size_t at = 0; at < (count) && !byte_sink_is_lost((w)->sink); at++) { \
			if (at)                                                            \
				text_char((w)->out, ',');                                  \
			item;                                                              \
			byte_sink_step((w)->sink);                                         \
		}                                                                          \
		text_char((w)->out, ']');                                                  \
	} while (0)

static void put_id(struct text *out, uint32_t id)
{
	if (id == UINT32_MAX)
		text_str(out, "null");
	else
		text_u64(out, id);
}

static void put_address(struct firefox *w, uint32_t frame)
{
	const struct profile_frame *f = frame_of(w, frame);
	if (f->binary == PROFILE_NONE) {
		text_str(w->out, "-1");
		return;
	}
	uint64_t base = w->base_of_binary[f->binary];
	text_u64(w->out, base != UINT64_MAX && f->address >= base ? f->address - base : f->address);
}

static uint32_t symbol_of(struct firefox *w, uint32_t frame)
{
	const struct profile_frame *f = frame_of(w, frame);
	if (f->function == PROFILE_NONE || f->binary == PROFILE_NONE || is_inlined(w, frame))
		return UINT32_MAX;
	return local_id(w, &w->symbols, f->function);
}

static uint32_t resource_of(struct firefox *w, const struct whole_function *function)
{
	return function->binary == PROFILE_NONE ? UINT32_MAX : local_id(w, &w->resources, function->binary);
}

static uint32_t text_of(struct firefox *w, struct tally_str s)
{
	uint32_t id = intern_find(&w->strings, s.data ? s.data : "", s.len);
	return id == INTERN_NONE ? id : local_id(w, &w->texts, id);
}

static void add_stacks(struct firefox *w)
{
	const uint32_t *nodes = w->nodes.items.items;
	size_t count = w->nodes.items.len;
	text_printf(w->out, ",\n\"stackTable\":{\"length\":%zu", count);
	COLUMN(w, "prefix", count,
		put_id(w->out, w->tables.nodes[nodes[at]].parent == PROFILE_NONE
				       ? UINT32_MAX
				       : w->nodes.local[w->tables.nodes[nodes[at]].parent]));
	COLUMN(w, "frame", count, text_u64(w->out, local_id(w, &w->used_frames, w->tables.nodes[nodes[at]].frame)));
	COLUMN(w, "category", count, text_u64(w->out, w->frames[w->tables.nodes[nodes[at]].frame].category));
	COLUMN(w, "subcategory", count, text_char(w->out, '0'));
	text_char(w->out, '}');
}

static void add_frames(struct firefox *w)
{
	const uint32_t *frames = w->used_frames.items.items;
	size_t count = w->used_frames.items.len;
	text_printf(w->out, ",\n\"frameTable\":{\"length\":%zu", count);
	COLUMN(w, "address", count, put_address(w, frames[at]));
	COLUMN(w, "inlineDepth", count, text_u64(w->out, w->frames[frames[at]].inline_depth));
	COLUMN(w, "category", count, text_u64(w->out, w->frames[frames[at]].category));
	COLUMN(w, "subcategory", count, text_char(w->out, '0'));
	COLUMN(w, "func", count, text_u64(w->out, local_id(w, &w->used_functions, w->frames[frames[at]].function)));
	COLUMN(w, "nativeSymbol", count, put_id(w->out, symbol_of(w, frames[at])));
	COLUMN(w, "innerWindowID", count, text_char(w->out, '0'));
	COLUMN(w, "implementation", count, text_str(w->out, "null"));
	COLUMN(w, "line", count, put_id(w->out, w->frames[frames[at]].line ? w->frames[frames[at]].line : UINT32_MAX));
	COLUMN(w, "column", count, text_str(w->out, "null"));
	text_char(w->out, '}');
}

static void add_functions(struct firefox *w)
{
	const uint32_t *ids = w->used_functions.items.items;
	const struct whole_function *all = w->functions.items;
	size_t count = w->used_functions.items.len;
	text_printf(w->out, ",\n\"funcTable\":{\"length\":%zu", count);
	COLUMN(w, "name", count, text_u64(w->out, local_id(w, &w->texts, all[ids[at]].name)));
	COLUMN(w, "isJS", count, text_str(w->out, "false"));
	COLUMN(w, "relevantForJS", count, text_str(w->out, "false"));
	COLUMN(w, "resource", count,
		text_i64(w->out, all[ids[at]].binary == PROFILE_NONE ? -1 : (int64_t)resource_of(w, &all[ids[at]])));
	COLUMN(w, "fileName", count,
		put_id(w->out,
			all[ids[at]].file == INTERN_NONE ? UINT32_MAX : local_id(w, &w->texts, all[ids[at]].file)));
	COLUMN(w, "lineNumber", count, text_str(w->out, "null"));
	COLUMN(w, "columnNumber", count, text_str(w->out, "null"));
	text_char(w->out, '}');
}

static void add_symbols(struct firefox *w)
{
	const struct profile *p = w->view->profile;
	const uint32_t *ids = w->symbols.items.items;
	size_t count = w->symbols.items.len;
	text_printf(w->out, ",\n\"nativeSymbols\":{\"length\":%zu", count);
	COLUMN(w, "libIndex", count, text_u64(w->out, w->lib_of_binary[p->functions[ids[at]].binary]));
	COLUMN(w, "address", count, {
		const struct profile_function *f = &p->functions[ids[at]];
		uint64_t base = w->base_of_binary[f->binary];
		text_u64(w->out, base != UINT64_MAX && f->start >= base ? f->start - base
				 : f->start < ADDRESS_EXACT		? f->start
									: 0);
	});
	COLUMN(w, "name", count, put_id(w->out, text_of(w, profile_string(p, p->functions[ids[at]].name))));
	COLUMN(w, "functionSize", count, {
		if (p->functions[ids[at]].size < ADDRESS_EXACT)
			text_u64(w->out, p->functions[ids[at]].size);
		else
			text_str(w->out, "null");
	});
	text_char(w->out, '}');
}

static void add_resources(struct firefox *w)
{
	const struct profile *p = w->view->profile;
	const uint32_t *ids = w->resources.items.items;
	size_t count = w->resources.items.len;
	text_printf(w->out, ",\n\"resourceTable\":{\"length\":%zu", count);
	COLUMN(w, "lib", count, text_u64(w->out, w->lib_of_binary[ids[at]]));
	COLUMN(w, "name", count, put_id(w->out, text_of(w, profile_string(p, p->binaries[ids[at]].name))));
	COLUMN(w, "host", count, text_str(w->out, "null"));
	COLUMN(w, "type", count, text_char(w->out, '1'));
	text_char(w->out, '}');
}

static void add_samples(struct firefox *w, size_t first, size_t count, bool has_durations)
{
	const struct profile_row *rows = w->view->profile->rows;
	const uint32_t *ids = w->groups.rows + first;
	text_printf(w->out, ",\n\"samples\":{\"length\":%zu,\"weightType\":\"%s\"", count,
		has_durations ? "tracing-ms" : "samples");
	COLUMN(w, "stack", count, text_u64(w->out, w->nodes.local[w->tables.node_of_sample[rows[ids[at]].sample]]));
	COLUMN(w, "time", count, export_decimal(w->out, rows[ids[at]].time - w->tables.first_time, 6));
	if (has_durations)
		COLUMN(w, "weight", count, export_decimal(w->out, rows[ids[at]].period, 6));
	else
		text_str(w->out, ",\"weight\":null");
	text_char(w->out, '}');
}

static void put_mark_text(struct firefox *w, const struct export_mark *mark)
{
	text_str(w->out, "{\"type\":\"tally\",\"text\":");
	if (mark->text != INTERN_NONE)
		export_json_string(w->out, intern_get(w->view->mark_texts, mark->text));
	else
		text_printf(w->out, "\"%lld\"", (long long)mark->number);
	text_char(w->out, '}');
}

static void add_markers(struct firefox *w, size_t track)
{
	VEC(const struct export_mark *) own = {0};
	for (uint32_t i = w->first_mark[track]; i != PROFILE_NONE; i = w->next_mark[i])
		if (!vec_push(&own, &w->view->marks[i]))
			w->sink->failed = true;
	size_t count = own.len;
	text_printf(w->out, ",\n\"markers\":{\"length\":%zu", count);
	COLUMN(w, "name", count, put_id(w->out, text_of(w, str_from(export_mark_name(own.items[at]->kind)))));
	COLUMN(w, "startTime", count, {
		uint64_t time = own.items[at]->time;
		export_decimal(w->out, time > w->tables.first_time ? time - w->tables.first_time : 0, 6);
	});
	COLUMN(w, "endTime", count, text_str(w->out, "null"));
	COLUMN(w, "phase", count, text_char(w->out, '0'));
	COLUMN(w, "category", count, text_str(w->out, CATEGORY_OTHER));
	COLUMN(w, "data", count, put_mark_text(w, own.items[at]));
	text_char(w->out, '}');
	vec_free(&own);
}

static int compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return a < b ? -1 : a > b;
}

/* The nodes of the thread's stacks, parents first. */
static void use_nodes(struct firefox *w, size_t first, size_t last)
{
	struct local_ids *nodes = &w->nodes;
	for (size_t i = first; i < last; i++) {
		uint32_t node = w->tables.node_of_sample[w->view->profile->rows[w->groups.rows[i]].sample];
		for (; node != PROFILE_NONE && nodes->stamp[node] != w->thread_stamp;
			node = w->tables.nodes[node].parent)
			(void)local_id(w, nodes, node);
	}
	if (nodes->items.len)
		qsort(nodes->items.items, nodes->items.len, sizeof(*nodes->items.items), compare_ids);
	for (size_t i = 0; i < nodes->items.len; i++)
		nodes->local[nodes->items.items[i]] = (uint32_t)i;
}

static void begin_thread(struct firefox *w)
{
	w->thread_stamp++;
	w->nodes.items.len = w->used_frames.items.len = w->used_functions.items.len = 0;
	w->symbols.items.len = w->texts.items.len = w->resources.items.len = 0;
}

static void add_thread_names(struct firefox *w, const struct export_track *track, struct tally_str event)
{
	const struct profile *p = w->view->profile;
	struct tally_str comm = profile_string(p, track->comm);
	text_clear(&w->room);
	text_bytes(&w->room, comm.data, comm.len);
	if (w->names_events) {
		text_str(&w->room, " (");
		text_bytes(&w->room, event.data, event.len);
		text_char(&w->room, ')');
	}
	text_str(w->out, w->has_thread ? ",\n{\"name\":" : "\n{\"name\":");
	export_json_string(w->out, (struct tally_str){w->room.data, w->room.len});
	text_str(w->out, ",\"processName\":");
	export_json_string(w->out, comm);
	text_printf(w->out,
		",\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d,\"registerTime\":0,"
		"\"unregisterTime\":null,\"processStartupTime\":0,\"processShutdownTime\":null,\"pausedRanges\":[]",
		track->pid == track->tid ? "true" : "false", track->pid, track->tid);
}

static void add_thread(struct firefox *w, size_t group)
{
	const struct profile *p = w->view->profile;
	const struct export_track *track = &w->tables.tracks[group / p->event_count];
	struct tally_str event = profile_string(p, p->events[group % p->event_count].name);
	size_t first = w->groups.begin[group], last = w->groups.begin[group + 1];
	begin_thread(w);
	use_nodes(w, first, last);
	add_thread_names(w, track, event);
	add_samples(w, first, last - first, strcmp(export_event_unit(event), "nanoseconds") == 0);
	add_markers(w, group / p->event_count);
	add_stacks(w);
	add_frames(w);
	add_functions(w);
	add_symbols(w);
	add_resources(w);
	text_str(w->out, ",\n\"stringArray\":[");
	for (size_t i = 0; i < w->texts.items.len; i++) {
		if (i)
			text_char(w->out, ',');
		export_json_string(w->out, intern_get(&w->strings, w->texts.items.items[i]));
		byte_sink_step(w->sink);
	}
	text_str(w->out, "]}");
	w->has_thread = true;
}

static void write_all(struct firefox *w)
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
	text_str(w->out, "\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n\"threads\":[");
	for (size_t i = 0; i < w->groups.count && !byte_sink_is_lost(w->sink); i++)
		if (w->groups.begin[i] < w->groups.begin[i + 1])
			add_thread(w, i);
	text_str(w->out, "]}\n");
}

void export_firefox(struct byte_sink *sink, const struct export_view *view)
{
	struct firefox w = {.sink = sink, .out = &sink->text, .view = view};
	if (prepare(&w))
		write_all(&w);
	else
		sink->failed = true;
	sink->failed = sink->failed || w.room.failed;
	struct local_ids *const locals[] = {
		&w.nodes, &w.used_frames, &w.used_functions, &w.symbols, &w.texts, &w.resources};
	for (size_t i = 0; i < sizeof(locals) / sizeof(locals[0]); i++)
		local_ids_deinit(locals[i]);
	intern_deinit(&w.strings);
	id_table_deinit(&w.function_ids);
	vec_free(&w.functions);
	free(w.frames);
	free(w.first_mark);
	free(w.next_mark);
	free(w.lib_of_binary);
	free(w.base_of_binary);
	text_deinit(&w.room);
	export_groups_deinit(&w.groups);
	export_tables_deinit(&w.tables);
}
