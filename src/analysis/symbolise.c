/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/symbolise.h"

#include <stdlib.h>

#include "analysis/frame_symbol.h"
#include "analysis/store_entry.h"
#include "base/atomic_least.h"
#include "base/error.h"
#include "base/key_sort.h"
#include "base/thread_pool.h"

#define SYMBOLISE_FRAMES_PER_TASK 4096

struct symbolise_look_up {
	const struct symbolise_job *job;
	const uint32_t *store_ids; /* By binary of the machine. */
	/* Frames whose return address is the start of a symbol, in any order: only the code before it shows whether
	 * they belong to that symbol. There is room for all frames. */
	uint32_t *doubts;
	uint32_t doubt_count;
};

bool symbolise_has_lines(enum machine_binary_kind kind)
{
	return kind == MACHINE_USER_FILE || kind == MACHINE_KERNEL || kind == MACHINE_KERNEL_MODULE ||
	       kind == MACHINE_JITDUMP || kind == MACHINE_ANON_JIT; /* MACHINE_ANON_JIT has lines for Python code. */
}

static void look_up_frames(void *context, size_t index, unsigned worker)
{
	struct symbolise_look_up *look_up = context;
	const struct symbolise_job *job = look_up->job;
	size_t end = thread_pool_task_end(index, SYMBOLISE_FRAMES_PER_TASK, job->frames->len);
	for (size_t i = index * SYMBOLISE_FRAMES_PER_TASK; i < end; i++) {
		struct resolved_frame frame = resolved_frame_get(job->frames, (uint32_t)i);
		uint32_t id = frame.binary == RESOLVE_NONE ? RESOLVE_NONE : look_up->store_ids[frame.binary];
		job->symbols[i] = id == RESOLVE_NONE ? NULL : binary_store_find(job->store, id, frame.address);
		if (frame.is_return && id != RESOLVE_NONE &&
			frame_symbol_behind(job->store, id, &frame, job->symbols[i]))
			look_up->doubts[__atomic_fetch_add(&look_up->doubt_count, 1, __ATOMIC_RELAXED)] = (uint32_t)i;
	}
}

static bool has_bpf(const struct machine *machine, const struct binary_list *binaries)
{
	for (size_t i = 0; i < binaries->len; i++)
		if (machine_binary_get(machine, binaries->items[i])->kind == MACHINE_BPF)
			return true;
	return false;
}

/* A BPF program is one function, named by its record. */
static enum tally_status name_bpf_frames(const struct symbolise_job *job, struct tally_error *err)
{
	for (size_t i = 0; i < job->frames->len; i++) {
		uint32_t index = resolved_frame_get(job->frames, (uint32_t)i).binary;
		if (index == RESOLVE_NONE)
			continue;
		const struct machine_binary *binary = machine_binary_get(job->machine, index);
		if (binary->kind != MACHINE_BPF)
			continue;
		struct symbol *symbol = arena_new(job->arena, struct symbol);
		if (!symbol)
			return error_nomem(err);
		symbol->name = machine_string(job->machine, binary->path).data;
		symbol->start = binary->start;
		symbol->end = UINT64_MAX;
		symbol->binding = 'g';
		job->symbols[i] = symbol;
	}
	return TALLY_OK;
}

enum tally_status symbolise_load(const struct machine *machine, struct binary_store *store,
	const struct binary_list *binaries, uint32_t *store_ids, struct tally_error *err)
{
	VEC(uint32_t) wanted = {0};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < machine_binary_count(machine); i++)
		store_ids[i] = RESOLVE_NONE;
	for (size_t i = 0; i < binaries->len && status == TALLY_OK; i++) {
		uint32_t *id = &store_ids[binaries->items[i]];
		status = store_entry_id(machine, store, binaries->items[i], id, err);
		if (status == TALLY_OK && *id != RESOLVE_NONE && !vec_push(&wanted, *id))
			status = error_nomem(err);
	}
	if (status == TALLY_OK)
		binary_store_load(store, wanted.items, wanted.len);
	vec_free(&wanted);
	return status;
}

struct hit_listing {
	const struct symbolise_job *job;
	uint32_t *firsts; /* By binary: the first frame in it; RESOLVE_NONE if there is none. */
};

static void note_hits(void *context, size_t index, unsigned worker)
{
	const struct hit_listing *listing = context;
	const struct id_table *frames = listing->job->frames;
	size_t end = thread_pool_task_end(index, SYMBOLISE_FRAMES_PER_TASK, frames->len);
	for (size_t i = index * SYMBOLISE_FRAMES_PER_TASK; i < end; i++) {
		uint32_t binary = resolved_frame_get(frames, (uint32_t)i).binary;
		if (binary != RESOLVE_NONE)
			atomic_least(&listing->firsts[binary], (uint32_t)i);
	}
}

/* Returns false if out of memory. */
static bool sort_hits(const uint32_t *firsts, size_t count, struct binary_list *binaries)
{
	struct sort_key *keys = malloc((2 * count + 1) * sizeof(*keys));
	size_t hits = 0;
	for (size_t i = 0; keys && i < count; i++)
		if (firsts[i] != RESOLVE_NONE)
			keys[hits++] = (struct sort_key){firsts[i], i};
	bool is_done = keys && vec_reserve(binaries, hits);
	if (is_done)
		key_sort(keys, keys + count, hits);
	for (size_t i = 0; is_done && i < hits; i++)
		binaries->items[binaries->len++] = (uint32_t)keys[i].index;
	free(keys);
	return is_done;
}

/* Lists the binaries that contain frames, in order of first use. */
static bool symbolise_list_hit(const struct symbolise_job *job, struct binary_list *binaries)
{
	size_t count = machine_binary_count(job->machine);
	struct hit_listing listing = {job, malloc((count + 1) * sizeof(*listing.firsts))};
	if (!listing.firsts)
		return false;
	for (size_t i = 0; i < count; i++)
		listing.firsts[i] = RESOLVE_NONE;
	thread_pool_for(
		thread_pool_tasks(job->frames->len, SYMBOLISE_FRAMES_PER_TASK), job->threads, note_hits, &listing);
	bool is_done = sort_hits(listing.firsts, count, binaries);
	free(listing.firsts);
	return is_done;
}

static enum tally_status look_up_all(const struct symbolise_job *job, struct tally_error *err)
{
	size_t binary_count = machine_binary_count(job->machine);
	uint32_t *store_ids = malloc((binary_count ? binary_count : 1) * sizeof(*store_ids));
	uint32_t *doubts = malloc((job->frames->len + 1) * sizeof(*doubts));
	enum tally_status status = store_ids && doubts
					   ? symbolise_load(job->machine, job->store, job->hit, store_ids, err)
					   : error_nomem(err);
	if (status == TALLY_OK) {
		struct symbolise_look_up look_up = {.job = job, .store_ids = store_ids, .doubts = doubts};
		thread_pool_for(thread_pool_tasks(job->frames->len, SYMBOLISE_FRAMES_PER_TASK), job->threads,
			look_up_frames, &look_up);
		for (uint32_t i = 0; i < look_up.doubt_count; i++) {
			struct resolved_frame frame = resolved_frame_get(job->frames, doubts[i]);
			job->symbols[doubts[i]] = frame_symbol_find(job->store, store_ids[frame.binary], &frame);
		}
	}
	free(doubts);
	free(store_ids);
	return status;
}

enum tally_status symbolise(const struct symbolise_job *job, struct tally_error *err)
{
	enum tally_status status = symbolise_list_hit(job, job->hit) ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK && !job->is_looked_up)
		status = look_up_all(job, err);
	if (status == TALLY_OK && has_bpf(job->machine, job->hit))
		status = name_bpf_frames(job, err);
	return status;
}
