#include "analysis/replay_state.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/frame_lines.h"
#include "analysis/stack_frames.h"
#include "analysis/symbolise.h"
#include "base/error.h"
#include "base/limits.h"

#define FRAME_BATCH 64

/* The first pass's are the list as they are. */
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

bool replay_merge_frames(struct replay *replay, struct sample_pass *pass, uint32_t *global)
{
	struct resolver *resolver = &pass->resolver;
	if (replay->frames.len == 0) {
		take_frames(replay, resolver, global);
		return true;
	}
	size_t known = replay->frames.len;
	if (!id_table_add_many(&replay->frames, resolver->frames.keys, resolver->frames.len, global) ||
		!vec_reserve(&replay->first_ips, replay->frames.len))
		return false;
	for (size_t i = 0; i < resolver->frames.len; i++)
		if (global[i] >= known)
			replay->first_ips.items[global[i]] = resolver->first_ips.items[i];
	replay->first_ips.len = replay->frames.len;
	return true;
}

uint32_t *replay_new_ids(size_t count)
{
	return malloc((count ? count : 1) * sizeof(uint32_t));
}

/* Empty where it is not asked for or not known. */
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

static uint32_t add_binary(struct replay *replay, uint32_t binary)
{
	const struct machine *machine = replay->sideband.machine;
	const struct machine_binary *from = machine_binary_get(machine, binary);
	struct profile_binary to = {
		.name = profile_builder_string(replay->builder, machine_string(machine, from->short_name)),
		.long_name = profile_builder_string(replay->builder, machine_string(machine, from->path)),
		.build_id = build_id_string(replay, from),
		.is_kernel = from->kind == MACHINE_KERNEL || from->kind == MACHINE_KERNEL_MODULE ||
			     from->kind == MACHINE_BPF,
	};
	return profile_builder_binary(replay->builder, &to);
}

/* Each binary is added once, when its first frame comes. */
static uint32_t profile_binary_of(struct replay *replay, uint32_t binary)
{
	uint32_t *id = &replay->profile_binaries[binary];
	if (*id != PROFILE_NONE)
		return *id;
	*id = add_binary(replay, binary);
	if (*id == replay->machine_binaries.len && !vec_push(&replay->machine_binaries, binary))
		replay->failed = true;
	return *id;
}

/* Where threads begin, as C libraries and the kernel name it: who called these is not known, but nobody did. */
static bool is_first_function(const char *name)
{
	static const char *const names[] = {"_start", "__libc_start_main", "__libc_start_main_impl",
		"__libc_start_call_main", "start_thread", "clone", "clone3", "__clone", "__clone3", "_dl_start_user",
		"ret_from_fork", "ret_from_fork_asm", "rewind_stack_and_make_dead", "common_startup_64",
		"secondary_startup_64", "secondary_startup_64_no_verify", "__primary_switched", "__secondary_switched",
		"runtime.goexit", "runtime.mstart"};
	size_t len = strcspn(name, "@.");
	if (strncmp(name, "runtime.", 8) == 0)
		len = strlen(name);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return true;
	return false;
}

static uint8_t role_of_function(const struct profile_function *function, const char *name)
{
	if (function->is_start)
		return FRAME_FIRST;
	return !strcmp(name, "main") ? FRAME_MAIN : FRAME_OTHER;
}

static void note_function(struct replay *replay, uint32_t function, uint8_t role)
{
	if (function == replay->function_roles.len && !vec_push(&replay->function_roles, role))
		replay->failed = true;
}

static uint8_t role_of_frame(const struct replay *replay, const struct profile_frame *frame)
{
	if (frame->function == PROFILE_NONE)
		return FRAME_NAMELESS;
	return frame->function < replay->function_roles.len ? replay->function_roles.items[frame->function]
							    : FRAME_OTHER;
}

/* Many addresses lie in one function: its name is made readable and its strings are looked up once. */
static uint32_t profile_function_of(struct replay *replay, const struct symbol *symbol, uint32_t binary)
{
	bool is_new;
	uint64_t *id = map_u64_at(&replay->profile_functions, (uint64_t)(uintptr_t)symbol, &is_new);
	if (id && !is_new)
		return (uint32_t)*id;
	struct profile_function function = {
		.name = profile_builder_string(
			replay->builder, str_from(binary_store_display_name(replay->store, symbol, &replay->arena))),
		.binary = binary,
		.start = symbol->start,
		.size = symbol->end - symbol->start,
		.is_start = is_first_function(symbol->name),
	};
	uint32_t added = profile_builder_function(replay->builder, &function);
	if (id)
		*id = added;
	note_function(replay, added, role_of_function(&function, symbol->name));
	return added;
}

static bool is_beyond_kernel(
	const struct replay *replay, const struct resolved_frame *frame, const struct symbol *symbol)
{
	const struct machine_binary *binary = machine_binary_get(replay->sideband.machine, frame->binary);
	return !symbol && binary->kind == MACHINE_KERNEL && frame->address >= binary->end;
}

/* The text of one source line, and its file. */
static struct profile_place add_line(struct replay *replay, const struct resolved_frame *frame,
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

static void add_lines(struct replay *replay, const struct resolved_frame *frame, const struct symbol *symbol,
	struct profile_frame *to)
{
	struct source_place places[LIMIT_INLINE_DEPTH];
	size_t count = find_places(replay, frame, places);
	if (count == 0 && replay->options->only_known_lines)
		return;
	to->innermost_line = add_line(replay, frame, symbol, count ? &places[0] : NULL);
	to->own_line = to->innermost_line;
	if (count > 1 && replay->options->with_inlines)
		to->own_line = add_line(replay, frame, symbol, &places[count - 1]);
}

/* What stands for a frame without symbol: in modules, which are files, the place in the module. */
static uint64_t nameless_address(const struct replay *replay, const struct resolved_frame *frame)
{
	if (frame->binary == RESOLVE_NONE)
		return frame->address;
	const struct machine_binary *binary = machine_binary_get(replay->sideband.machine, frame->binary);
	return binary->kind == MACHINE_KERNEL_MODULE ? frame->address - binary->start : frame->address;
}

static struct profile_frame name_frame(struct replay *replay, size_t index)
{
	struct resolved_frame resolved = resolved_frame_get(&replay->frames, (uint32_t)index);
	const struct resolved_frame *from = &resolved;
	const struct symbol *symbol = replay->symbols[index];
	struct profile_frame to = {
		.function = PROFILE_NONE,
		.binary = PROFILE_NONE,
		.address = symbol ? from->address : nameless_address(replay, from),
		.raw_address = from->raw_address || symbol ? from->raw_address : replay->first_ips.items[index],
		.level = (uint8_t)from->level,
		.branch = from->branch,
	};
	if (from->binary != RESOLVE_NONE && !is_beyond_kernel(replay, from, symbol))
		to.binary = profile_binary_of(replay, from->binary);
	if (symbol) {
		to.function = profile_function_of(replay, symbol, to.binary);
		if (!replay->options->with_addresses && !replay->options->with_exact_frames)
			to.address = symbol->start;
	}
	if (replay->options->with_lines)
		add_lines(replay, from, symbol, &to);
	return to;
}

/* Named a batch at a time, since each look-up of a frame waits for memory. */
static void name_all_frames(struct replay *replay)
{
	struct profile_frame batch[FRAME_BATCH];
	size_t count = replay->frames.len;
	for (size_t first = 0; first < count; first += FRAME_BATCH) {
		size_t len = count - first < FRAME_BATCH ? count - first : FRAME_BATCH;
		for (size_t i = 0; i < len; i++) {
			batch[i] = name_frame(replay, first + i);
			replay->roles[first + i] = role_of_frame(replay, &batch[i]);
		}
		profile_builder_frames(replay->builder, batch, len, replay->profile_frames + first);
	}
}

/* By id of frames, and by binary. False: out of memory. */
static bool make_frame_tables(struct replay *replay)
{
	size_t count = replay->frames.len, binaries = machine_binary_count(replay->sideband.machine);
	replay->symbols = calloc(count + 1, sizeof(*replay->symbols));
	replay->profile_frames = replay_new_ids(count);
	replay->leaf_counts = calloc(count + 1, sizeof(*replay->leaf_counts));
	replay->roles = calloc(count + 1, sizeof(*replay->roles));
	replay->profile_binaries = replay_new_ids(binaries);
	if (!replay->symbols || !replay->profile_frames || !replay->leaf_counts || !replay->roles ||
		!replay->profile_binaries)
		return false;
	memset(replay->profile_binaries, 0xff, binaries * sizeof(*replay->profile_binaries));
	return true;
}

enum tally_status replay_name_frames(struct replay *replay, struct tally_error *err)
{
	if (!make_frame_tables(replay))
		return error_nomem(err);
	struct symbolise_job job = {
		.machine = replay->sideband.machine,
		.store = replay->store,
		.frames = &replay->frames,
		.symbols = replay->symbols,
		.arena = &replay->arena,
		.threads = replay->options->threads,
	};
	enum tally_status status = replay->options->without_names ? TALLY_OK : symbolise(&job, err);
	bool needs_places = replay->options->with_stacks && replay->options->with_inlines;
	progress_begin(replay->options->progress, needs_places ? "looking up inlined calls" : "adding up", 0);
	if (status == TALLY_OK && (needs_places || replay->options->with_lines) && !replay->options->without_names)
		status = inline_frames_read(&job, &replay->inlines, err);
	if (status == TALLY_OK && replay->inlines.begin) {
		replay->inlined_frames = replay_new_ids(replay->inlines.names.len);
		status = replay->inlined_frames ? TALLY_OK : error_nomem(err);
	}
	if (status != TALLY_OK)
		return status;
	if (replay->inlined_frames)
		memset(replay->inlined_frames, 0xff, replay->inlines.names.len * sizeof(*replay->inlined_frames));
	name_all_frames(replay);
	return replay->failed ? error_nomem(err) : TALLY_OK;
}

static uint32_t inlined_function_of(struct replay *replay, const char *name, uint32_t binary)
{
	bool is_new;
	uint64_t *id = map_u64_at(&replay->profile_functions, (uint64_t)(uintptr_t)name, &is_new);
	if (id && !is_new)
		return (uint32_t)*id;
	const char *readable = binary_store_readable(replay->store, name, &replay->arena);
	struct profile_function function = {.name = profile_builder_string(replay->builder, str_from(readable)),
		.binary = binary,
		.is_inlined = true};
	uint32_t added = profile_builder_function(replay->builder, &function);
	if (id)
		*id = added;
	note_function(replay, added, FRAME_OTHER);
	return added;
}

/* The place of one of the names of inline_frames, which leaves out calls that have none. */
static const struct source_place *named_place(const struct source_place *places, size_t count, size_t index)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (places[i].is_inlined && places[i].function && index-- == 0)
			return &places[i];
	return NULL;
}

bool replay_has_inlined_calls(const struct replay *replay, uint32_t frame)
{
	const struct inline_frames *inlines = &replay->inlines;
	return inlines->begin && replay->options->with_inlines && inlines->begin[frame] != inlines->begin[frame + 1];
}

bool replay_add_inlined_calls(struct replay *replay, uint32_t frame)
{
	const struct inline_frames *inlines = &replay->inlines;
	struct resolved_frame resolved = resolved_frame_get(&replay->frames, frame);
	struct source_place places[LIMIT_INLINE_DEPTH];
	size_t count = replay->options->with_lines ? find_places(replay, &resolved, places) : 0;
	uint32_t binary = profile_binary_of(replay, resolved.binary);
	for (size_t i = inlines->begin[frame]; i < inlines->begin[frame + 1]; i++) {
		if (replay->inlined_frames[i] == PROFILE_NONE) {
			struct profile_frame to = {
				.function = inlined_function_of(replay, inlines->names.items[i], binary),
				.binary = binary,
				.address = resolved.address,
				.raw_address = resolved.raw_address,
				.level = (uint8_t)resolved.level};
			const struct source_place *place = named_place(places, count, i - inlines->begin[frame]);
			if (place)
				to.own_line = to.innermost_line = add_line(replay, &resolved, NULL, place);
			replay->inlined_frames[i] = profile_builder_frame(replay->builder, &to);
		}
		if (!vec_push(&replay->stack, replay->inlined_frames[i]))
			return false;
	}
	return true;
}
