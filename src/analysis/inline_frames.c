#include "analysis/inline_frames.h"

#include <stdlib.h>

#include "analysis/store_entry.h"
#include "base/error.h"
#include "base/limits.h"

struct frame_address {
	uint32_t store_id, frame;
	uint64_t address;
};

struct reading {
	const struct symbolise_job *job;
	struct inline_frames *out;
	VEC(struct frame_address) addresses; /* of files: by entry, then by frame */
	VEC(uint64_t) scratch;
};

static int by_entry(const void *a, const void *b)
{
	const struct frame_address *left = a;
	const struct frame_address *right = b;
	if (left->store_id != right->store_id)
		return left->store_id < right->store_id ? -1 : 1;
	return left->frame < right->frame ? -1 : left->frame > right->frame;
}

static enum tally_status collect(struct reading *r, struct tally_error *err)
{
	const struct symbolise_job *job = r->job;
	for (size_t i = 0; i < job->frames->len; i++) {
		struct resolved_frame frame = resolved_frame_get(job->frames, (uint32_t)i);
		struct frame_address at = {.frame = (uint32_t)i, .address = frame.address};
		if (frame.binary == RESOLVE_NONE ||
			!symbolise_has_lines(machine_binary_get(job->machine, frame.binary)->kind))
			continue;
		enum tally_status status = store_entry_id(job->machine, job->store, frame.binary, &at.store_id, err);
		if (status != TALLY_OK)
			return status;
		if (at.store_id != RESOLVE_NONE && !vec_push(&r->addresses, at))
			return error_nomem(err);
	}
	if (r->addresses.len)
		qsort(r->addresses.items, r->addresses.len, sizeof(*r->addresses.items), by_entry);
	return TALLY_OK;
}

/* Loads what the addresses [first, last) of one entry need. */
static enum tally_status load(struct reading *r, size_t first, size_t last, struct tally_error *err)
{
	r->scratch.len = 0;
	if (!vec_reserve(&r->scratch, last - first))
		return error_nomem(err);
	for (size_t i = first; i < last; i++)
		r->scratch.items[r->scratch.len++] = r->addresses.items[i].address;
	return binary_store_load_places(
		r->job->store, r->addresses.items[first].store_id, r->scratch.items, r->scratch.len, err);
}

static enum tally_status load_all(struct reading *r, struct tally_error *err)
{
	size_t first = 0;
	while (first < r->addresses.len) {
		size_t last = first + 1;
		while (last < r->addresses.len &&
			r->addresses.items[last].store_id == r->addresses.items[first].store_id)
			last++;
		enum tally_status status = load(r, first, last, err);
		if (status != TALLY_OK)
			return status;
		first = last;
	}
	return TALLY_OK;
}

/* Adds the inlined calls of one address; what comes last is the function itself, which the symbol names. */
static bool add_names(struct reading *r, const struct frame_address *at)
{
	struct source_place places[LIMIT_INLINE_DEPTH];
	size_t count = binary_store_places(r->job->store, at->store_id, at->address, places, LIMIT_INLINE_DEPTH);
	for (size_t i = 0; i + 1 < count; i++)
		if (places[i].is_inlined && places[i].function && !vec_push(&r->out->names, places[i].function))
			return false;
	return true;
}

static int by_frame(const void *a, const void *b)
{
	uint32_t left = ((const struct frame_address *)a)->frame;
	uint32_t right = ((const struct frame_address *)b)->frame;
	return left < right ? -1 : left > right;
}

static enum tally_status name_all(struct reading *r, struct tally_error *err)
{
	size_t count = r->job->frames->len;
	size_t next = 0;
	if (r->addresses.len)
		qsort(r->addresses.items, r->addresses.len, sizeof(*r->addresses.items), by_frame);
	for (size_t i = 0; i < count; i++) {
		r->out->begin[i] = r->out->names.len;
		if (next < r->addresses.len && r->addresses.items[next].frame == i &&
			!add_names(r, &r->addresses.items[next++]))
			return error_nomem(err);
	}
	r->out->begin[count] = r->out->names.len;
	return TALLY_OK;
}

enum tally_status inline_frames_read(
	const struct symbolise_job *job, struct inline_frames *out, struct tally_error *err)
{
	struct reading r = {.job = job, .out = out};
	*out = (struct inline_frames){.begin = calloc(job->frames->len + 1, sizeof(*out->begin))};
	enum tally_status status = out->begin ? collect(&r, err) : error_nomem(err);
	if (status == TALLY_OK)
		status = load_all(&r, err);
	if (status == TALLY_OK)
		status = name_all(&r, err);
	vec_free(&r.addresses);
	vec_free(&r.scratch);
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
