#include "analysis/replay.h"

#include <stdio.h>

#include "analysis/facet_values.h"
#include "analysis/flat_gather.h"
#include "analysis/flat_passes.h"
#include "analysis/frame_lines.h"
#include "analysis/inline_frames.h"
#include "analysis/sample_pass.h"
#include "analysis/stack_frames.h"
#include "analysis/stack_survey.h"
#include "analysis/symbolise.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/pages.h"
#include "base/thread_pool.h"
#include "profile/profile_builder.h"

#define FRAME_BATCH	64
#define STACK_BATCH	64
#define LARGE_RECORDING ((size_t)16 << 20) /* bytes */

struct replay {
	struct perfdata_reader *reader;
	struct binary_store *store;
	const struct replay_options *options;
	struct record_run run;
	struct sideband sideband;
	struct unwind_files unwind_files;
	struct stack_ends ends;
	struct sample_pass *passes;
	size_t pass_count;
	struct id_table frames; /* resolved frames of all passes */
	uint32_t *profile_binaries; /* by the machine's index: the profile's; PROFILE_NONE: none yet */
	VEC(uint32_t) machine_binaries; /* by the profile's index: the machine's first */
	struct map_u64 profile_functions; /* address of the symbol, or of an inlined one's name -> profile's function */
	VEC(uint64_t) first_ips; /* by id of frames */
	const struct symbol **symbols; /* by id of frames */
	uint32_t *profile_frames; /* by id of frames */
	bool *is_first; /* by id of frames: threads begin in its function */
	VEC(bool) first_functions; /* by the profile's: threads begin in it */
	struct inline_frames inlines; /* by id of frames; nothing if not asked for */
	uint32_t *inlined_frames; /* by index of their names: the profile's; PROFILE_NONE: not made yet */
	VEC(uint32_t) stack; /* frames of those that are being made */
	bool failed; /* out of memory */
	uint64_t *leaf_counts; /* by id of frames: samples whose own address it is */
	struct binary_hits hits;
	struct arena arena;
	struct profile_builder *builder;
	struct tracepoint_printer *tracepoints; /* NULL: not asked for */
	struct cgroup_names cgroups;
	struct parallelism parallelism;
	struct thread_namespaces namespaces;
	struct sample_switches switches;
};

void replay_result_deinit(struct replay_result *result)
{
	profile_destroy(result->profile);
	machine_destroy(result->machine);
	binary_hits_deinit(&result->hits);
	vec_free(&result->machine_binaries);
	*result = (struct replay_result){0};
}

static void run_pass(void *context, size_t index, unsigned worker)
{
	struct replay *replay = context;
	sample_pass_run(&replay->passes[index]);
}

/* The files that stacks may lead to: while workers run nothing may be added to the store. */
static enum tally_status prepare_unwinding(
	struct replay *replay, struct sample_pass_input *input, struct tally_error *err)
{
	if (!replay->options->with_stacks || !stack_survey_has_stacks(replay->reader))
		return TALLY_OK;
	input->unwind_files = &replay->unwind_files;
	return unwind_files_add_all(&replay->unwind_files, err);
}

static enum tally_status run_passes(struct replay *replay, struct tally_error *err)
{
	size_t chunks = replay->sideband.chunks.len;
	size_t count = thread_pool_workers(chunks, replay->options->threads);
	if (count == 0 || sample_pass_is_sequential(replay->reader) || replay->options->stitched_registers)
		count = 1;
	replay->passes = calloc(count, sizeof(*replay->passes));
	if (!replay->passes)
		return error_nomem(err);
	struct sample_pass_input input = {
		replay->reader, &replay->run, &replay->sideband, replay->options, .unwind_files = NULL};
	if (replay->options->facets & UINT64_C(1) << FACET_PARALLELISM) {
		enum tally_status read = parallelism_read(&replay->parallelism, replay->reader, &replay->run, err);
		if (read != TALLY_OK)
			return read;
		input.parallelism = &replay->parallelism;
	}
	if (replay->options->facets & UINT64_C(1) << FACET_NAMESPACE) {
		enum tally_status read = thread_namespaces_read(
			&replay->namespaces, replay->reader, &replay->run, replay->sideband.clock_is_position, err);
		if (read != TALLY_OK)
			return read;
		input.namespaces = &replay->namespaces;
	}
	if (replay->options->switches) {
		struct sample_switch_source source = {
			replay->options->switches, replay->options->spans, replay->sideband.clock_is_position};
		enum tally_status read =
			sample_switches_read(&replay->switches, replay->reader, &replay->run, &source, err);
		if (read != TALLY_OK)
			return read;
		input.switches = &replay->switches;
	}
	unwind_files_init(&replay->unwind_files, replay->sideband.machine, replay->store);
	enum tally_status status = prepare_unwinding(replay, &input, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < count; i++) {
		size_t first = chunks * i / count;
		replay->pass_count++;
		if (!sample_pass_init(&replay->passes[i], &input, first, chunks * (i + 1) / count - first))
			return error_nomem(err);
	}
	thread_pool_for(count, replay->options->threads, run_pass, replay);
	return TALLY_OK;
}

static enum tally_status read_flat(struct replay *replay, struct tally_error *err)
{
	const struct flat_job job = {replay->reader, &replay->run, replay->store, replay->options};
	struct flat_passes passes;
	enum tally_status status = flat_passes_read(&job, &replay->sideband, &passes, err);
	replay->passes = passes.items;
	replay->pass_count = passes.count;
	return status;
}

static enum tally_status read_samples(struct replay *replay, struct tally_error *err)
{
	enum tally_status status = TALLY_UNSUPPORTED;
	struct progress *progress = replay->options->progress;
	size_t bytes = replay->run.bytes.len;
	progress_begin(progress, "reading samples", bytes);
	if (flat_gather_serves(replay->reader, replay->options))
		status = read_flat(replay, err);
	if (status == TALLY_UNSUPPORTED) {
		progress_begin(progress, "reading what ran", bytes);
		status = sideband_read_code(replay->reader, &replay->run, replay->store, &replay->sideband, err);
		progress_begin(progress, "reading samples", bytes);
		if (status == TALLY_OK)
			status = run_passes(replay, err);
	}
	for (size_t i = 0; i < replay->pass_count && status == TALLY_OK; i++) {
		const struct sample_pass *pass = &replay->passes[i];
		if (pass->failed)
			return error_nomem(err);
		stack_ends_merge(&replay->ends, &pass->unwinder.ends);
		replay->sideband.health.damaged_records += pass->damaged;
		replay->sideband.health.unattributed_samples += pass->unattributed + pass->reads.unattributed;
	}
	return status;
}

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

/* One list of frames out of the passes', in order of first use; global[i] is the pass's frame i. */
static bool merge_frames(struct replay *replay, struct sample_pass *pass, uint32_t *global)
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

static uint32_t *new_ids(size_t count)
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

static void note_function(struct replay *replay, uint32_t function, bool is_first)
{
	if (function == replay->first_functions.len && !vec_push(&replay->first_functions, is_first))
		replay->failed = true;
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
	note_function(replay, added, function.is_start);
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
			replay->is_first[first + i] = batch[i].function < replay->first_functions.len &&
						      replay->first_functions.items[batch[i].function];
		}
		profile_builder_frames(replay->builder, batch, len, replay->profile_frames + first);
	}
}

/* By id of frames, and by binary. False: out of memory. */
static bool make_frame_tables(struct replay *replay)
{
	size_t count = replay->frames.len, binaries = machine_binary_count(replay->sideband.machine);
	replay->symbols = calloc(count + 1, sizeof(*replay->symbols));
	replay->profile_frames = new_ids(count);
	replay->leaf_counts = calloc(count + 1, sizeof(*replay->leaf_counts));
	replay->is_first = calloc(count + 1, sizeof(*replay->is_first));
	replay->profile_binaries = new_ids(binaries);
	if (!replay->symbols || !replay->profile_frames || !replay->leaf_counts || !replay->is_first ||
		!replay->profile_binaries)
		return false;
	memset(replay->profile_binaries, 0xff, binaries * sizeof(*replay->profile_binaries));
	return true;
}

static enum tally_status name_frames(struct replay *replay, struct tally_error *err)
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
		replay->inlined_frames = new_ids(replay->inlines.names.len);
		status = replay->inlined_frames ? TALLY_OK : error_nomem(err);
	}
	if (status != TALLY_OK)
		return status;
	if (replay->inlined_frames)
		memset(replay->inlined_frames, 0xff, replay->inlines.names.len * sizeof(*replay->inlined_frames));
	name_all_frames(replay);
	return replay->failed ? error_nomem(err) : TALLY_OK;
}

static uint32_t comm_string(struct replay *replay, uint32_t comm, int32_t tid)
{
	char buffer[16];
	if (comm != INTERN_NONE)
		return profile_builder_string(replay->builder, machine_string(replay->sideband.machine, comm));
	size_t len = (size_t)snprintf(buffer, sizeof(buffer), ":%d", tid);
	return profile_builder_string(replay->builder, (struct tally_str){buffer, len});
}

static uint32_t profile_thread_of(struct replay *replay, struct thread_key key)
{
	struct profile_thread thread = {
		.pid = key.pid,
		.tid = key.tid,
		.comm = comm_string(replay, key.comm, key.tid),
		.last_comm = comm_string(replay, key.last_comm, key.tid),
	};
	return profile_builder_thread(replay->builder, &thread);
}

struct frame_ids { /* of a pass, in replay's frames */
	uint32_t *items;
	size_t count;
};

struct pass_ids { /* what the ids of a pass are in the profile */
	const uint32_t *frames; /* in replay's frames */
	struct stack_frames lists; /* its stacks, in frames of the profile */
	uint32_t *stacks, *threads, *facets;
	bool counts_ends; /* of chains as they were recorded; what was unwound was counted by the workers */
};

static void add_facets(struct replay *replay, const struct sample_pass *pass, const struct pass_ids *ids)
{
	if (!ids->facets)
		return;
	struct facet_values values = {.options = replay->options,
		.machine = replay->sideband.machine,
		.store = replay->store,
		.builder = replay->builder,
		.tracepoints = replay->tracepoints,
		.cgroups = &replay->cgroups,
		.namespaces = &replay->namespaces,
		.is_big_endian = replay->run.swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__),
		.frames = &replay->frames,
		.first_ips = replay->first_ips.items,
		.profile_frames = replay->profile_frames};
	facet_values_add(&values, &pass->facets, ids->frames, ids->facets);
	text_deinit(&values.text);
}

static void add_rows(struct replay *replay, const struct sample_pass *pass, const uint32_t *samples)
{
	const struct pass_row *rows = (const struct pass_row *)(const void *)pass->rows.base;
	for (size_t i = 0; i < pass->rows.len / sizeof(*rows); i++)
		profile_builder_row(
			replay->builder, &(struct profile_row){rows[i].order, rows[i].period, samples[rows[i].key], 0});
}

static void count_end(struct stack_ends *ends, uint8_t stack_kind, uint64_t samples)
{
	if (stack_kind & STACK_IS_WHOLE)
		ends->reached += samples;
	else
		ends->unknown += samples;
}

/* samples: by id of the pass's keys, what the builder calls them. */
static void add_pass_samples(
	struct replay *replay, const struct sample_pass *pass, const struct pass_ids *ids, uint32_t *samples)
{
	struct profile_sample batch[SAMPLE_BATCH];
	size_t len = 0;
	for (size_t i = 0; i < pass->keys.len; i++) {
		struct sample_key key = sample_pass_key(pass, (uint32_t)i);
		const struct sample_sum *sum = &pass->sums.items[i];
		batch[len++] = (struct profile_sample){
			.event = key.event,
			.thread = ids->threads[key.thread],
			.leaf = ids->lists.frames[key.leaf].frame,
			.stack = key.stack == RESOLVE_NONE ? PROFILE_NONE : ids->stacks[key.stack],
			.cpu = key.cpu,
			.facets = ids->facets ? ids->facets[key.facets] : 0,
			.count = sum->count,
			.period = sum->period,
			.first_order = sum->first_order,
		};
		replay->leaf_counts[ids->frames[key.leaf]] += sum->count;
		if (ids->counts_ends && key.stack != RESOLVE_NONE)
			count_end(&replay->ends, ids->lists.kinds[key.stack], sum->count);
		if (len == SAMPLE_BATCH) {
			profile_builder_samples(replay->builder, batch, len, samples + i + 1 - len);
			len = 0;
		}
	}
	profile_builder_samples(replay->builder, batch, len, samples + pass->keys.len - len);
	add_rows(replay, pass, samples);
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
	note_function(replay, added, false);
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

static bool has_inlined_calls(const struct replay *replay, uint32_t frame)
{
	const struct inline_frames *inlines = &replay->inlines;
	return inlines->begin && replay->options->with_inlines && inlines->begin[frame] != inlines->begin[frame + 1];
}

/* A frame's inlined calls, the innermost one first; each is made when a chain first has it. False: out of memory. */
static bool add_inlined_calls(struct replay *replay, uint32_t frame)
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

/* The frames of one of the pass's stacks that has inlined calls, as the profile's, behind those of replay->stack. False:
 * out of memory. */
static bool read_stack(struct replay *replay, const struct list *list, const struct pass_ids *ids)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct stack_frame *frame = &ids->lists.frames[list->items[i]];
		if (frame->has_inlined_calls && !add_inlined_calls(replay, ids->frames[list->items[i]]))
			return false;
		if (!vec_push(&replay->stack, frame->frame))
			return false;
	}
	return true;
}

/* Some of the pass's stacks as the profile's. False: out of memory. */
static bool add_some_stacks(struct replay *replay, const struct pass_ids *ids, size_t first, size_t count)
{
	struct list batch[STACK_BATCH];
	size_t begin[STACK_BATCH];
	uint32_t *hashes = ids->lists.hashes + first;
	replay->stack.len = 0;
	for (size_t i = 0; i < count; i++) {
		batch[i] = list_table_get(ids->lists.stacks, (uint32_t)(first + i));
		begin[i] = replay->stack.len;
		if (!(ids->lists.kinds[first + i] & STACK_HAS_CALLS))
			continue;
		if (!read_stack(replay, &batch[i], ids))
			return false;
		batch[i].count = (uint32_t)(replay->stack.len - begin[i]);
		hashes[i] = list_table_hash(replay->stack.items + begin[i], batch[i].count);
	}
	for (size_t i = 0; i < count; i++)
		if (ids->lists.kinds[first + i] & STACK_HAS_CALLS)
			batch[i].items = replay->stack.items + begin[i];
	profile_builder_stacks(replay->builder, &(struct profile_stacks){batch, hashes, count}, ids->stacks + first);
	return true;
}

/* A batch at a time, since each look-up waits for memory. False: out of memory. */
static bool add_stacks(struct replay *replay, struct pass_ids *ids)
{
	size_t count = list_table_len(ids->lists.stacks);
	if (!stack_frames_translate(&ids->lists, replay->options->threads))
		return false;
	for (size_t first = 0; first < count; first += STACK_BATCH)
		if (!add_some_stacks(replay, ids, first, count - first < STACK_BATCH ? count - first : STACK_BATCH))
			return false;
	return true;
}

/* NULL: out of memory. */
static struct stack_frame *new_stack_frames(const struct replay *replay, const struct frame_ids *frames)
{
	struct stack_frame *list = malloc((frames->count + 1) * sizeof(*list));
	for (size_t i = 0; list && i < frames->count; i++) {
		uint32_t frame = frames->items[i];
		list[i] = (struct stack_frame){
			replay->profile_frames[frame], has_inlined_calls(replay, frame), replay->is_first[frame]};
	}
	return list;
}

static enum tally_status add_pass(
	struct replay *replay, struct sample_pass *pass, const struct frame_ids *frames, struct tally_error *err)
{
	uint32_t *samples = new_ids(pass->keys.len);
	struct stack_frame *stack_frames = new_stack_frames(replay, frames);
	struct pass_ids ids = {
		.frames = frames->items,
		.lists = {.stacks = &pass->resolver.stacks, .frames = stack_frames},
		.stacks = new_ids(list_table_len(&pass->resolver.stacks)),
		.threads = new_ids(pass->threads.len),
		.facets = pass->facets.kept ? new_ids(pass->facets.rows.len) : NULL,
		.counts_ends = stack_ends_unwound(&replay->ends) == 0 && replay->options->history == HISTORY_NONE,
	};
	enum tally_status status = TALLY_OK;
	if (!samples || !stack_frames || !ids.stacks || !ids.threads || (pass->facets.kept && !ids.facets) ||
		!add_stacks(replay, &ids)) {
		status = error_nomem(err);
	} else {
		for (size_t i = 0; i < pass->threads.len; i++)
			ids.threads[i] = profile_thread_of(replay, sample_pass_thread(pass, (uint32_t)i));
		add_facets(replay, pass, &ids);
		add_pass_samples(replay, pass, &ids, samples);
	}
	free(samples);
	free(stack_frames);
	free(ids.lists.hashes);
	free(ids.lists.kinds);
	free(ids.stacks);
	free(ids.threads);
	free(ids.facets);
	return status;
}

static enum tally_status count_hits(struct replay *replay, struct tally_error *err)
{
	for (size_t i = 0; i < replay->frames.len; i++) {
		uint32_t binary = resolved_frame_get(&replay->frames, (uint32_t)i).binary;
		if (!binary_hits_add(&replay->hits, binary, replay->leaf_counts[i], replay->symbols[i] != NULL))
			return error_nomem(err);
	}
	return binary_hits_finish(&replay->hits, replay->sideband.machine, replay->store, err);
}

static uint64_t branched_samples(const struct replay *replay, size_t event)
{
	uint64_t count = 0;
	for (size_t i = 0; i < replay->pass_count; i++)
		count += event < replay->passes[i].branched.len ? replay->passes[i].branched.items[event] : 0;
	return count;
}

static void add_events(struct replay *replay)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(replay->reader, &count);
	for (size_t i = 0; i < count; i++) {
		struct profile_event event = {
			.name = profile_builder_string(replay->builder, events[i].name),
			.lost_count =
				i < replay->sideband.lost_by_event.len ? replay->sideband.lost_by_event.items[i] : 0,
			.leader = events[i].leader_index,
			.member_count = events[i].member_count,
			.branched_count = branched_samples(replay, i),
			.has_callchain = (events[i].attr.sample_type & SAMPLE_CALLCHAIN) != 0,
		};
		profile_builder_event(replay->builder, &event);
	}
}

/* What their texts are made of. */
static enum tally_status prepare_facets(struct replay *replay, struct tally_error *err)
{
	uint64_t kept = replay->options->facets;
	enum tally_status status = TALLY_OK;
	struct tally_bytes formats = perfdata_reader_features(replay->reader)->tracing_data;
	if (kept & FACET_PAYLOAD_MASK && perfdata_reader_has_tracepoints(replay->reader))
		status = tracepoint_printer_create(formats, &replay->tracepoints, err);
	if (status == TALLY_OK && kept & UINT64_C(1) << FACET_CGROUP)
		status = cgroup_names_read(&replay->cgroups, replay->reader, err);
	return status;
}

static void add_fields(struct replay *replay)
{
	for (size_t i = 0; i < replay->options->field_count; i++) {
		const struct replay_field *from = &replay->options->fields[i];
		struct profile_field field = {
			profile_builder_string(replay->builder, from->name), from->events, from->width};
		profile_builder_field(replay->builder, &field);
	}
}

/* It is known about how much will be there: what grows by doubling would be copied, and its pages cleared, twice. */
static bool reserve(struct replay *replay)
{
	struct profile_sizes sizes = {.frames = replay->frames.len};
	for (size_t i = 0; i < replay->pass_count; i++) {
		const struct list_table *stacks = &replay->passes[i].resolver.stacks;
		sizes.samples += replay->passes[i].keys.len;
		sizes.stacks += list_table_len(stacks);
		sizes.stack_words += stacks->words.len;
	}
	return profile_builder_reserve(replay->builder, &sizes);
}

static enum tally_status build_profile(struct replay *replay, struct profile **profile, struct tally_error *err)
{
	replay->builder = profile_builder_create();
	if (replay->builder)
		profile_builder_keep_facets(replay->builder, replay->options->facets);
	struct frame_ids *frames = calloc(replay->pass_count, sizeof(*frames));
	enum tally_status status = replay->builder && frames ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; i < replay->pass_count && status == TALLY_OK; i++) {
		frames[i].count = replay->passes[i].resolver.frames.len;
		frames[i].items = new_ids(frames[i].count);
		if (!frames[i].items || !merge_frames(replay, &replay->passes[i], frames[i].items))
			status = error_nomem(err);
	}
	if (status == TALLY_OK && !reserve(replay))
		status = error_nomem(err);
	if (status == TALLY_OK) {
		add_events(replay);
		add_fields(replay);
		status = name_frames(replay, err);
	}
	for (size_t i = 0; i < replay->pass_count && status == TALLY_OK; i++)
		status = add_pass(replay, &replay->passes[i], &frames[i], err);
	if (status == TALLY_OK)
		status = count_hits(replay, err);
	if (status == TALLY_OK) {
		status = profile_builder_finish(replay->builder, profile, err);
		if (status == TALLY_OK)
			replay->builder = NULL;
	}
	for (size_t i = 0; frames && i < replay->pass_count; i++)
		free(frames[i].items);
	free(frames);
	return status;
}

static void replay_deinit(struct replay *replay)
{
	for (size_t i = 0; i < replay->pass_count; i++)
		sample_pass_deinit(&replay->passes[i]);
	free(replay->passes);
	profile_builder_destroy(replay->builder);
	tracepoint_printer_destroy(replay->tracepoints);
	cgroup_names_deinit(&replay->cgroups);
	parallelism_deinit(&replay->parallelism);
	thread_namespaces_deinit(&replay->namespaces);
	sample_switches_deinit(&replay->switches);
	id_table_deinit(&replay->frames);
	free(replay->profile_binaries);
	vec_free(&replay->machine_binaries);
	map_u64_deinit(&replay->profile_functions);
	vec_free(&replay->first_ips);
	free(replay->symbols);
	free(replay->profile_frames);
	free(replay->is_first);
	vec_free(&replay->first_functions);
	inline_frames_deinit(&replay->inlines);
	free(replay->inlined_frames);
	vec_free(&replay->stack);
	free(replay->leaf_counts);
	binary_hits_deinit(&replay->hits);
	unwind_files_deinit(&replay->unwind_files);
	arena_deinit(&replay->arena);
	sideband_deinit(&replay->sideband);
	record_run_close(&replay->run);
}

/* The recording's own damage, told once the result is there. */
static enum tally_status end_status(const struct replay *replay, struct tally_error *err)
{
	const struct input_health *health = &replay->sideband.health;
	if (replay->run.end_error.status != TALLY_OK) {
		if (err)
			*err = replay->run.end_error;
		return replay->run.end_error.status;
	}
	if (health->is_cut)
		return error_set_at(err, TALLY_CORRUPT, health->cut_offset, "the recording is cut or damaged");
	return TALLY_OK;
}

/* Tables of a large recording are touched all over. A small one would only wait for large pages to be cleared. */
static void prepare_heap(const struct record_run *run)
{
	if (run->bytes.len >= LARGE_RECORDING)
		pages_expect_heap(run->bytes.len);
}

enum tally_status replay_profile(struct perfdata_reader *reader, struct binary_store *store,
	const struct replay_options *options, struct replay_result *result, struct tally_error *err)
{
	struct replay replay = {.reader = reader, .store = store, .options = options};
	replay.frames.words = RESOLVED_FRAME_WORDS;
	arena_init(&replay.arena);
	struct profile *profile = NULL;
	struct progress *progress = options->progress;
	progress_begin(progress, "reading the recording", 0);
	enum tally_status status = record_run_open(reader, &replay.run, err);
	replay.run.progress = progress;
	if (options->max_bytes && !replay.run.is_copy && options->max_bytes < replay.run.bytes.len)
		replay.run.bytes.len = options->max_bytes;
	if (status == TALLY_OK) {
		prepare_heap(&replay.run);
		status = read_samples(&replay, err);
	}
	progress_begin(progress, "looking up names", 0);
	if (status == TALLY_OK)
		status = prepare_facets(&replay, err);
	if (status == TALLY_OK)
		status = build_profile(&replay, &profile, err);
	if (status == TALLY_OK) {
		*result = (struct replay_result){.profile = profile,
			.machine = replay.sideband.machine,
			.health = replay.sideband.health,
			.ends = replay.ends,
			.ends_on = sample_switches_end_on(&replay.switches),
			.hits = replay.hits};
		result->machine_binaries.items = replay.machine_binaries.items;
		result->machine_binaries.len = replay.machine_binaries.len;
		replay.machine_binaries.items = NULL;
		replay.sideband.machine = NULL;
		replay.hits = (struct binary_hits){0};
		status = end_status(&replay, err);
	}
	replay_deinit(&replay);
	return status;
}
