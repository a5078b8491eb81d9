/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analysis/frame_lines.h"
#include "analysis/frame_symbol.h"
#include "analysis/replay/replay_functions.h"
#include "analysis/replay/replay_state.h"
#include "analysis/replay/replay_twins.h"
#include "analysis/stack_frames.h"
#include "analysis/store_entry.h"
#include "analysis/symbolise.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread_pool.h"
#include "base/visible.h"
#include "code/binaries/symbol_origin.h"
#include "profile/profile_bulk.h"

struct frame_join {
	struct sample_pass *const *passes;
	size_t pass_count;
	const uint32_t *begin; /* By pass: the number of its first frame; the last item is the total. */
	unsigned words;
};

/* Takes over the frames of the only pass unchanged. */
static void take_frames(struct replay *replay, struct resolver *resolver, uint32_t *global)
{
	for (size_t i = 0; i < resolver->frames.len; i++)
		global[i] = (uint32_t)i;
	struct id_table none = replay->frames;
	replay->frames = resolver->frames;
	resolver->frames = none;
	free(replay->first_ips.items);
	replay->first_ips.items = resolver->first_ips.items;
	replay->first_ips.len = resolver->first_ips.len;
	replay->first_ips.cap = resolver->first_ips.cap;
	resolver->first_ips.items = NULL;
	resolver->first_ips.len = resolver->first_ips.cap = 0;
}

static const uint64_t *frame_key(const void *context, uint32_t item)
{
	const struct frame_join *join = context;
	size_t pass = replay_pass_of(join->begin, join->pass_count, item);
	return id_table_key(&join->passes[pass]->resolver.frames, item - join->begin[pass]);
}

static uint32_t hash_frame(const void *context, uint32_t item)
{
	const struct frame_join *join = context;
	return id_table_hash_words(frame_key(join, item), join->words);
}

static bool is_same_frame(const void *context, uint32_t a, uint32_t b)
{
	const struct frame_join *join = context;
	return memcmp(frame_key(join, a), frame_key(join, b), join->words * sizeof(uint64_t)) == 0;
}

static void expect_frame(const void *context, uint32_t item)
{
	__builtin_prefetch(frame_key(context, item));
}

#define REPLAY_FRAMES_TASK_FRAMES 8192

struct frame_copy { /* Copies each distinct frame from the first pass that has it. */
	const struct frame_join *join;
	const struct dedup *found;
	uint64_t *keys, *first_ips;
};

static void copy_frames(void *context, size_t task, unsigned worker)
{
	const struct frame_copy *copy = context;
	const struct frame_join *join = copy->join;
	size_t end = thread_pool_task_end(task, REPLAY_FRAMES_TASK_FRAMES, copy->found->count);
	for (size_t i = task * REPLAY_FRAMES_TASK_FRAMES; i < end; i++) {
		uint32_t item = copy->found->firsts[i];
		size_t pass = replay_pass_of(join->begin, join->pass_count, item);
		memcpy(copy->keys + i * join->words, frame_key(join, item), join->words * sizeof(uint64_t));
		copy->first_ips[i] = join->passes[pass]->resolver.first_ips.items[item - join->begin[pass]];
	}
}

/* Numbers frames in the order of passes and of first use in them. */
static bool join_frames(struct replay *replay, const struct frame_join *join, uint32_t **numbers)
{
	const struct dedup_items items = {.count = join->begin[join->pass_count],
		.hash = hash_frame,
		.equal = is_same_frame,
		.expect = expect_frame,
		.context = join};
	struct dedup found;
	if (!dedup_find(&items, replay->options->threads, &found))
		return false;
	replay->frames.words = join->words;
	struct frame_copy copy = {join, &found, NULL, NULL};
	bool is_done = vec_reserve(&replay->first_ips, found.count + 1);
	copy.keys = is_done ? id_table_append_many(&replay->frames, found.count) : NULL;
	copy.first_ips = replay->first_ips.items;
	is_done = copy.keys || (is_done && found.count == 0);
	if (copy.keys) {
		thread_pool_for(thread_pool_tasks(found.count, REPLAY_FRAMES_TASK_FRAMES), replay->options->threads,
			copy_frames, &copy);
		replay->first_ips.len = found.count;
	}
	for (size_t i = 0; i < replay->pass_count; i++) {
		id_table_deinit(&replay->passes[i]->resolver.frames);
		vec_free(&replay->passes[i]->resolver.first_ips);
	}
	*numbers = found.numbers;
	found.numbers = NULL;
	dedup_deinit(&found);
	return is_done;
}

bool replay_join_frames(struct replay *replay, struct replay_frame_ids *ids)
{
	size_t count = 0;
	ids->begin = replay_new_ids(replay->pass_count + 1);
	if (!ids->begin)
		return false;
	for (size_t i = 0; i < replay->pass_count; i++) {
		ids->begin[i] = (uint32_t)count;
		count += replay->passes[i]->resolver.frames.len;
	}
	ids->begin[replay->pass_count] = (uint32_t)count;
	if (count >= UINT32_MAX)
		return false;
	if (replay->pass_count != 1) {
		const struct frame_join join = {replay->passes, replay->pass_count, ids->begin,
			replay->pass_count ? replay->passes[0]->resolver.frames.words : RESOLVED_FRAME_WORDS};
		return join_frames(replay, &join, &ids->items);
	}
	ids->items = replay_new_ids(count);
	if (ids->items)
		take_frames(replay, &replay->passes[0]->resolver, ids->items);
	return ids->items != NULL;
}

uint32_t *replay_new_ids(size_t count)
{
	return malloc((count ? count : 1) * sizeof(uint32_t));
}

/* Returns an empty string if the build ID is not requested or unknown. */
static uint32_t build_id_string(struct replay *replay, const struct machine_binary *binary)
{
	char text[2 * sizeof(binary->build_id.bytes)];
	size_t len = 0;
	for (size_t i = 0; replay->options->with_build_ids && i < binary->build_id.size; i++) {
		text[len++] = "0123456789abcdef"[binary->build_id.bytes[i] >> 4];
		text[len++] = "0123456789abcdef"[binary->build_id.bytes[i] & 15];
	}
	return profile_builder_string(replay->builder, (struct tally_str){text, len});
}

/* Returns 0 if origins are not requested. */
static char origin_of(struct replay *replay, uint32_t binary)
{
	uint32_t id = STORE_ENTRY_NONE;
	if (!replay->options->with_origins)
		return 0;
	if (store_entry_id(replay->sideband.machine, replay->store, binary, &id, NULL) != TALLY_OK)
		replay->failed = true;
	return id == STORE_ENTRY_NONE ? SYMBOL_ORIGIN_NONE : symbol_origin(replay->store, id);
}

/* Adds the path in printable form. */
static uint32_t path_string(struct replay *replay, uint32_t path)
{
	struct tally_str name = visible_str(&replay->arena, machine_string(replay->sideband.machine, path));
	replay->failed |= !name.data;
	return profile_builder_string(replay->builder, name);
}

static uint32_t add_binary(struct replay *replay, uint32_t binary)
{
	const struct machine *machine = replay->sideband.machine;
	const struct machine_binary *from = machine_binary_get(machine, binary);
	struct profile_binary to = {
		.name = profile_builder_string(replay->builder, machine_string(machine, from->short_name)),
		.long_name = path_string(replay, from->path),
		.build_id = build_id_string(replay, from),
		.origin = origin_of(replay, binary),
		.is_kernel = from->kind == MACHINE_KERNEL || from->kind == MACHINE_KERNEL_MODULE ||
			     from->kind == MACHINE_BPF,
	};
	return profile_builder_binary(replay->builder, &to);
}

/* Returns the profile's ID of a binary, which is added when it is first needed. */
static uint32_t profile_binary_of(struct replay *replay, uint32_t binary)
{
	uint32_t *id = &replay->profile_binaries[binary];
	if (*id != PROFILE_NONE)
		return *id;
	*id = add_binary(replay, binary);
	replay->has_namesakes = replay->has_namesakes || *id < replay->machine_binaries.len;
	if (*id == replay->machine_binaries.len && !vec_push(&replay->machine_binaries, binary))
		replay->failed = true;
	return *id;
}

static bool is_beyond_kernel(
	const struct replay *replay, const struct resolved_frame *frame, const struct symbol *symbol)
{
	const struct machine_binary *binary = machine_binary_get(replay->sideband.machine, frame->binary);
	return !symbol && binary->kind == MACHINE_KERNEL && frame->address >= binary->end;
}

/* Adds the text of a source line, and its file. */
static struct profile_place replay_frames_add_line(struct replay *replay, const struct resolved_frame *frame,
	const struct symbol *symbol, const struct source_place *place)
{
	const struct frame_lines lines = {
		replay->sideband.machine, replay->store, &replay->arena, replay->options->with_whole_paths};
	struct text text = {0};
	struct tally_str file;
	frame_line_text(&lines, frame, symbol, place, &text, &file);
	struct profile_place added = {
		.line = profile_builder_string(replay->builder, (struct tally_str){text.data, text.len}),
		.file = profile_builder_string(replay->builder, file),
	};
	text_deinit(&text);
	return added;
}

static size_t find_places(struct replay *replay, const struct resolved_frame *frame, struct source_place *places)
{
	const struct frame_lines lines = {.machine = replay->sideband.machine, .store = replay->store};
	return frame_line_places(&lines, frame, places, LIMIT_INLINE_DEPTH);
}

static void add_lines(
	struct replay *replay, const struct resolved_frame *frame, const struct symbol *symbol, struct frame_places *to)
{
	struct source_place places[LIMIT_INLINE_DEPTH];
	size_t count = find_places(replay, frame, places);
	if (count == 0 && replay->options->only_known_lines)
		return;
	to->innermost = replay_frames_add_line(replay, frame, symbol, count ? &places[0] : NULL);
	to->own = to->innermost;
	if (count > 1 && replay->options->with_inlines)
		to->own = replay_frames_add_line(replay, frame, symbol, &places[count - 1]);
}

/* Returns the address that represents a frame without symbol; in a kernel module it is relative to the module. */
static uint64_t nameless_address(const struct replay *replay, const struct resolved_frame *frame)
{
	if (frame->binary == RESOLVE_NONE)
		return resolved_frame_shown(frame);
	const struct machine_binary *binary = machine_binary_get(replay->sideband.machine, frame->binary);
	return resolved_frame_shown(frame) - (binary->kind == MACHINE_KERNEL_MODULE ? binary->start : 0);
}

/* Returns whether inlined calls become frames. */
static bool has_calls(const struct replay *replay)
{
	const struct replay_options *o = replay->options;
	return replay->inlines.begin && ((o->with_stacks && o->with_inlines) || o->self_is_inlined);
}

static void set_lines(const struct replay *replay, uint32_t index, struct profile_frame *to)
{
	if (!replay->places)
		return;
	to->own_line = replay->places[index].own;
	to->innermost_line = replay->places[index].innermost;
}

static struct resolved_frame replay_frames_frame_at(const struct replay *replay, uint32_t index)
{
	return frame_of_symbol(resolved_frame_get(&replay->frames, index), replay->symbols[index]);
}

static struct profile_frame name_inlined(const struct replay *replay, uint32_t index)
{
	uint32_t caller = replay->callers[index - replay->frames.len];
	const struct resolved_frame from = replay_frames_frame_at(replay, caller);
	struct profile_frame to = {.function = replay->functions[index],
		.binary = replay->profile_binaries[from.binary],
		.address = from.address,
		.raw_address = from.raw_address,
		.level = (uint8_t)from.level};
	set_lines(replay, index, &to);
	return to;
}

/* Describes a frame or an inlined call; the latter are numbered after the frames. Any worker may call it. */
static struct profile_frame name_frame(const void *context, uint32_t index)
{
	const struct replay *replay = context;
	if (index >= replay->frames.len)
		return name_inlined(replay, index);
	const struct resolved_frame from = replay_frames_frame_at(replay, index);
	const struct symbol *symbol = replay->symbols[index];
	bool is_by_address = replay->options->with_addresses || replay->options->with_exact_frames;
	struct profile_frame to = {
		.function = replay->functions[index],
		.binary = PROFILE_NONE,
		.raw_address = from.raw_address || symbol ? from.raw_address : replay->first_ips.items[index],
		.level = (uint8_t)from.level,
		.branch = from.branch,
	};
	if (!symbol)
		to.address = nameless_address(replay, &from);
	else
		to.address = is_by_address ? from.address : symbol->start;
	to.is_start = !symbol && replay->roots && replay->roots[index];
	if (from.binary != RESOLVE_NONE && !is_beyond_kernel(replay, &from, symbol))
		to.binary = replay->profile_binaries[from.binary];
	set_lines(replay, index, &to);
	return to;
}

/* Returns the source place of a frame's index-th name in inline_frames, which omits inlined calls without a name. */
static const struct source_place *named_place(const struct source_place *places, size_t count, size_t index)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (places[i].is_inlined && places[i].function && index-- == 0)
			return &places[i];
	return NULL;
}

/* Adds the functions that were inlined at a frame, and their source lines. */
static void prepare_calls(struct replay *replay, struct function_list *functions, uint32_t frame)
{
	const struct inline_frames *inlines = &replay->inlines;
	if (inlines->begin[frame] == inlines->begin[frame + 1])
		return;
	struct resolved_frame resolved = replay_frames_frame_at(replay, frame);
	struct source_place places[LIMIT_INLINE_DEPTH];
	size_t count = replay->places ? find_places(replay, &resolved, places) : 0;
	uint32_t binary = profile_binary_of(replay, resolved.binary);
	for (size_t i = inlines->begin[frame]; i < inlines->begin[frame + 1]; i++) {
		size_t at = replay->frames.len + i;
		replay->functions[at] = function_list_inlined(functions, inlines->names.items[i], binary);
		replay->callers[i] = frame;
		const struct source_place *place = named_place(places, count, i - inlines->begin[frame]);
		if (place)
			replay->places[at].own = replay->places[at].innermost =
				replay_frames_add_line(replay, &resolved, NULL, place);
	}
}

/* Frames that represent wakers have no code: they get symbols with the names of the wakers. */
static bool name_wakers(struct replay *replay)
{
	size_t count = replay->wait_index.wakers.len;
	struct symbol *symbols = count ? arena_array(&replay->arena, struct symbol, count) : NULL;
	for (size_t i = 0; symbols && i < count; i++) {
		struct tally_str name = intern_get(&replay->wait_index.wakers, (uint32_t)i);
		char *text = arena_printf(&replay->arena, "%.*s", (int)name.len, name.data);
		if (!text)
			return false;
		symbols[i] = (struct symbol){.name = text};
	}
	for (size_t i = 0; symbols && i < replay->frames.len; i++) {
		const struct resolved_frame frame = resolved_frame_get(&replay->frames, (uint32_t)i);
		if ((frame.branch & 3) == BRANCH_END_WAKER && frame.address < count)
			replay->symbols[i] = &symbols[frame.address];
	}
	return symbols || count == 0;
}

/* Prepares what name_frame needs and only one worker may add: binaries, functions and texts of lines. */
static void prepare_frames(struct replay *replay, struct function_list *functions)
{
	for (size_t i = 0; i < replay->frames.len; i++) {
		const struct resolved_frame from = replay_frames_frame_at(replay, (uint32_t)i);
		const struct symbol *symbol = replay->symbols[i];
		uint32_t binary = PROFILE_NONE;
		bool is_inside = from.binary != RESOLVE_NONE && !is_beyond_kernel(replay, &from, symbol);
		if (is_inside)
			binary = profile_binary_of(replay, from.binary);
		else if (from.binary != RESOLVE_NONE)
			replay->has_strays = true;
		replay->functions[i] = symbol ? function_list_symbol(functions, symbol, binary) : PROFILE_NONE;
		if (symbol && replay->roots && replay->roots[i] && !functions->is_out_of_memory)
			functions->items.items[replay->functions[i]].is_start = true;
		if (replay->places)
			add_lines(replay, &from, symbol, &replay->places[i]);
	}
}

/* Prepares what name_frame needs of inlined calls, then adds all functions to the profile. */
static bool prepare_names(struct replay *replay, struct function_list *functions, size_t count)
{
	for (size_t i = 0; i < replay->frames.len && has_calls(replay) && replay->inlines.names.len > 0; i++)
		prepare_calls(replay, functions, (uint32_t)i);
	return replay_add_functions(replay, functions, count) && !replay->failed;
}

/* Makes room for inlined calls behind the frames. Returns false if out of memory. */
static bool extend_name_tables(struct replay *replay, size_t count)
{
	size_t frames = replay->frames.len;
	uint32_t *functions = realloc(replay->functions, (count + 1) * sizeof(*functions));
	if (functions)
		replay->functions = functions;
	replay->callers = replay_new_ids(count - frames);
	if (!functions || !replay->callers || !replay->places)
		return functions && replay->callers;
	struct frame_places *places = realloc(replay->places, (count + 1) * sizeof(*places));
	if (!places)
		return false;
	memset(places + frames, 0, (count + 1 - frames) * sizeof(*places));
	replay->places = places;
	return true;
}

static bool name_all_frames(struct replay *replay, struct function_list *functions)
{
	size_t count = replay->frames.len;
	if (has_calls(replay))
		count += replay->inlines.names.len;
	struct frame_source frames = {.count = count, .get = name_frame, .context = replay};
	struct dedup found;
	if (count >= UINT32_MAX || !extend_name_tables(replay, count) || !prepare_names(replay, functions, count))
		return false;
	/* Frames that were merged by function differ in function or address. In the profile they differ as well,
	 * unless it cannot distinguish some of their binaries. */
	frames.is_distinct = replay->is_by_function && !replay->has_namesakes && !replay->has_strays;
	replay->has_distinct_frames = frames.is_distinct;
	uint32_t *firsts = frames.is_distinct ? NULL : replay_new_ids(count);
	if (firsts && replay_find_twins(replay, count, firsts))
		frames.firsts = firsts;
	bool is_done = profile_builder_all_frames(replay->builder, &frames, replay->options->threads, &found);
	free(firsts);
	if (!is_done)
		return false;
	replay->profile_frames = found.numbers;
	replay->inlined_frames = count > replay->frames.len ? found.numbers + replay->frames.len : NULL;
	found.numbers = NULL;
	dedup_deinit(&found);
	return true;
}

/* Returns the symbols that the only pass has looked up already; NULL if there are none. */
static const struct symbol **take_symbols(struct replay *replay)
{
	struct sample_pass *pass = replay->pass_count == 1 ? replay->passes[0] : NULL;
	const struct symbol **symbols = pass ? pass->symbols : NULL;
	if (pass)
		pass->symbols = NULL;
	replay->is_by_function = symbols != NULL;
	return symbols;
}

/* Allocates tables by frame and by binary. Returns false if out of memory. */
static bool make_frame_tables(struct replay *replay)
{
	size_t count = replay->frames.len, binaries = machine_binary_count(replay->sideband.machine);
	replay->symbols = take_symbols(replay);
	if (!replay->symbols)
		replay->symbols = calloc(count + 1, sizeof(*replay->symbols));
	replay->leaf_counts = calloc(count + 1, sizeof(*replay->leaf_counts));
	replay->roles = calloc(count + 1, sizeof(*replay->roles));
	replay->profile_binaries = replay_new_ids(binaries);
	replay->functions = replay_new_ids(count);
	replay->places = replay->options->with_lines ? calloc(count + 1, sizeof(*replay->places)) : NULL;
	if (!replay->symbols || !replay->leaf_counts || !replay->roles || !replay->profile_binaries ||
		!replay->functions || (replay->options->with_lines && !replay->places))
		return false;
	memset(replay->profile_binaries, 0xff, binaries * sizeof(*replay->profile_binaries));
	return true;
}

#define REPLAY_FRAMES_MANY_FRAMES 16384 /* Fewer frames do not justify a second thread. */

struct naming {
	struct replay *replay;
	const struct symbolise_job *job;
	bool needs_places;
	struct function_list functions;
	enum tally_status status; /* Result of reading the inlined calls. */
	struct tally_error *err;
};

static void read_or_prepare(void *context, size_t index, unsigned worker)
{
	struct naming *n = context;
	if (index == 1)
		prepare_frames(n->replay, &n->functions);
	else if (n->needs_places)
		n->status = inline_frames_read(n->job, &n->replay->inlines, n->err);
}

/* Reads inlined calls in parallel to the names of frames, unless these need the store as well. */
static enum tally_status replay_frames_make_names(struct naming *naming)
{
	struct replay *replay = naming->replay;
	const struct replay_options *options = replay->options;
	bool is_apart =
		!options->with_lines && !options->with_origins && replay->frames.len >= REPLAY_FRAMES_MANY_FRAMES;
	thread_pool_for(2, is_apart ? options->threads : 1, read_or_prepare, naming);
	if (naming->status != TALLY_OK)
		return naming->status;
	return name_all_frames(replay, &naming->functions) && !replay->failed ? TALLY_OK : error_nomem(naming->err);
}

enum tally_status replay_name_frames(struct replay *replay, struct tally_error *err)
{
	if (!make_frame_tables(replay))
		return error_nomem(err);
	struct binary_list hit = {0};
	struct symbolise_job job = {
		.machine = replay->sideband.machine,
		.store = replay->store,
		.frames = &replay->frames,
		.symbols = replay->symbols,
		.is_looked_up = replay->is_by_function,
		.arena = &replay->arena,
		.hit = &hit,
		.threads = replay->options->threads,
	};
	enum tally_status status = replay->options->without_names ? TALLY_OK : symbolise(&job, err);
	if (status == TALLY_OK && !replay->options->without_names)
		status = replay_find_roots(replay, err);
	if (status == TALLY_OK && !name_wakers(replay))
		status = error_nomem(err);
	const struct replay_options *o = replay->options;
	bool needs_places = (o->with_stacks && o->with_inlines) || o->self_is_inlined;
	progress_begin(replay->options->progress, needs_places ? "looking up inlined calls" : "adding up", 0);
	struct naming naming = {.replay = replay, .job = &job, .status = TALLY_OK, .err = err};
	naming.needs_places = (needs_places || replay->options->with_lines) && !replay->options->without_names;
	if (status == TALLY_OK)
		status = replay_frames_make_names(&naming);
	function_list_deinit(&naming.functions);
	vec_free(&hit);
	return status;
}
