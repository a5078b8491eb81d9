/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/inline_frames.h"

#include <stdlib.h>

#include "analysis/frame_symbol.h"
#include "analysis/store_entry.h"
#include "base/buckets.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread_pool.h"

#define INLINE_FRAMES_TASK_FRAMES 8192

struct inline_frames_reading {
	const struct symbolise_job *job;
	struct inline_frames *out;
	/* By binary of the machine: the store ID; RESOLVE_NONE if it was not hit or has no lines. */
	uint32_t *of_binary;
	/* By frame: the store ID of its binary; RESOLVE_NONE, which equals BUCKET_NONE, if that has no line
	 * information. */
	uint32_t *entries;
	size_t entry_count; /* All store IDs in use are below this number. */
	uint32_t *begin, *frames; /* By store ID: its frames begin at frames[begin[id]]. */
	uint64_t *addresses; /* Addresses of the items of frames. */
};

static void inline_frames_put_entries(void *context, size_t task, unsigned worker)
{
	const struct inline_frames_reading *r = context;
	size_t end = thread_pool_task_end(task, INLINE_FRAMES_TASK_FRAMES, r->job->frames->len);
	for (size_t i = task * INLINE_FRAMES_TASK_FRAMES; i < end; i++) {
		uint32_t binary = resolved_frame_get(r->job->frames, (uint32_t)i).binary;
		r->entries[i] = binary == RESOLVE_NONE ? RESOLVE_NONE : r->of_binary[binary];
	}
}

static enum tally_status inline_frames_collect(struct inline_frames_reading *r, struct tally_error *err)
{
	const struct symbolise_job *job = r->job;
	size_t binaries = machine_binary_count(job->machine);
	r->of_binary = malloc((binaries + 1) * sizeof(*r->of_binary));
	if (!r->of_binary)
		return error_nomem(err);
	for (size_t i = 0; i < binaries; i++)
		r->of_binary[i] = RESOLVE_NONE;
	enum tally_status status = TALLY_OK;
	/* The store ID of each binary is found once. A binary without line information gets none, so that its frames,
	 * often the majority, cost nothing. */
	for (size_t i = 0; i < job->hit->len && status == TALLY_OK; i++) {
		uint32_t binary = job->hit->items[i], *id = &r->of_binary[binary];
		if (symbolise_has_lines(machine_binary_get(job->machine, binary)->kind))
			status = store_entry_id(job->machine, job->store, binary, id, err);
		if (status == TALLY_OK && *id != RESOLVE_NONE)
			status = binary_store_load_places(job->store, *id, NULL, 0, err);
		if (*id != RESOLVE_NONE && binary_store_lacks_places(job->store, *id))
			*id = RESOLVE_NONE;
		if (*id != RESOLVE_NONE && *id >= r->entry_count)
			r->entry_count = (size_t)*id + 1;
	}
	if (status == TALLY_OK)
		thread_pool_for(thread_pool_tasks(job->frames->len, INLINE_FRAMES_TASK_FRAMES), job->threads,
			inline_frames_put_entries, r);
	return status;
}

static uint64_t inline_frames_address_of(const struct inline_frames_reading *r, uint32_t frame)
{
	return frame_of_symbol(resolved_frame_get(r->job->frames, frame), r->job->symbols[frame]).address;
}

static void put_addresses(void *context, size_t task, unsigned worker)
{
	const struct inline_frames_reading *r = context;
	size_t end = thread_pool_task_end(task, INLINE_FRAMES_TASK_FRAMES, r->begin[r->entry_count]);
	for (size_t i = task * INLINE_FRAMES_TASK_FRAMES; i < end; i++)
		r->addresses[i] = inline_frames_address_of(r, r->frames[i]);
}

/* Loads the line information that the addresses need. */
static enum tally_status load_all(struct inline_frames_reading *r, struct tally_error *err)
{
	size_t count = r->job->frames->len;
	enum tally_status status = TALLY_OK;
	r->begin = calloc(r->entry_count + 2, sizeof(*r->begin));
	r->frames = malloc((count + 1) * sizeof(*r->frames));
	r->addresses = malloc((count + 1) * sizeof(*r->addresses));
	if (!r->begin || !r->frames || !r->addresses)
		return error_nomem(err);
	buckets_fill(r->entries, count, r->entry_count, r->begin, r->frames);
	thread_pool_for(thread_pool_tasks(r->begin[r->entry_count], INLINE_FRAMES_TASK_FRAMES), r->job->threads,
		put_addresses, r);
	for (uint32_t id = 0; id < r->entry_count && status == TALLY_OK; id++)
		if (r->begin[id] < r->begin[id + 1])
			status = binary_store_load_places(
				r->job->store, id, r->addresses + r->begin[id], r->begin[id + 1] - r->begin[id], err);
	return status;
}

/* Adds the names of the functions that are inlined at the frame's address. The last place is the function that contains
 * them, whose name the symbol has. */
static bool inline_frames_add_names(const struct inline_frames_reading *r, uint32_t frame)
{
	struct source_place places[LIMIT_INLINE_DEPTH];
	uint64_t address = inline_frames_address_of(r, frame);
	size_t count = binary_store_places(r->job->store, r->entries[frame], address, places, LIMIT_INLINE_DEPTH);
	for (size_t i = 0; i + 1 < count; i++)
		if (places[i].is_inlined && places[i].function && !vec_push(&r->out->names, places[i].function))
			return false;
	return true;
}

static enum tally_status inline_frames_name_all(const struct inline_frames_reading *r, struct tally_error *err)
{
	size_t count = r->job->frames->len;
	for (size_t i = 0; i < count; i++) {
		r->out->begin[i] = r->out->names.len;
		if (r->entries[i] != RESOLVE_NONE && !inline_frames_add_names(r, (uint32_t)i))
			return error_nomem(err);
	}
	r->out->begin[count] = r->out->names.len;
	return TALLY_OK;
}

enum tally_status inline_frames_read(
	const struct symbolise_job *job, struct inline_frames *out, struct tally_error *err)
{
	struct inline_frames_reading r = {
		.job = job, .out = out, .entries = malloc((job->frames->len + 1) * sizeof(*r.entries))};
	*out = (struct inline_frames){.begin = calloc(job->frames->len + 1, sizeof(*out->begin))};
	enum tally_status status = out->begin && r.entries ? inline_frames_collect(&r, err) : error_nomem(err);
	if (status == TALLY_OK)
		status = load_all(&r, err);
	if (status == TALLY_OK)
		status = inline_frames_name_all(&r, err);
	free(r.of_binary);
	free(r.entries);
	free(r.begin);
	free(r.frames);
	free(r.addresses);
	if (status != TALLY_OK)
		inline_frames_deinit(out);
	return status;
}

void inline_frames_deinit(struct inline_frames *frames)
{
	free(frames->begin);
	vec_free(&frames->names);
	*frames = (struct inline_frames){0};
}
