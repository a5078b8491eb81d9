#include "analysis/inline_frames.h"

#include <stdlib.h>

#include "analysis/store_entry.h"
#include "base/buckets.h"
#include "base/error.h"
#include "base/limits.h"

struct reading {
	const struct symbolise_job *job;
	struct inline_frames *out;
	uint32_t *entries; /* by frame: of the store; BUCKET_NONE, which is RESOLVE_NONE: nothing has lines there */
	size_t entry_count; /* all are below */
};

/* The entry of each binary, found once; RESOLVE_NONE: it has no lines. */
static enum tally_status find_entries(
	const struct symbolise_job *job, const bool *is_hit, uint32_t *entries, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (uint32_t i = 0; i < machine_binary_count(job->machine) && status == TALLY_OK; i++) {
		entries[i] = RESOLVE_NONE;
		if (is_hit[i] && symbolise_has_lines(machine_binary_get(job->machine, i)->kind))
			status = store_entry_id(job->machine, job->store, i, &entries[i], err);
	}
	return status;
}

static enum tally_status collect(struct reading *r, struct tally_error *err)
{
	const struct symbolise_job *job = r->job;
	size_t count = machine_binary_count(job->machine);
	bool *is_hit = calloc(count + 1, sizeof(*is_hit));
	uint32_t *entries = malloc((count + 1) * sizeof(*entries));
	enum tally_status status = is_hit && entries ? TALLY_OK : error_nomem(err);
	for (size_t i = 0; i < job->frames->len && status == TALLY_OK; i++) {
		r->entries[i] = resolved_frame_get(job->frames, (uint32_t)i).binary;
		if (r->entries[i] != RESOLVE_NONE)
			is_hit[r->entries[i]] = true;
	}
	if (status == TALLY_OK)
		status = find_entries(job, is_hit, entries, err);
	for (size_t i = 0; i < job->frames->len && status == TALLY_OK; i++) {
		if (r->entries[i] != RESOLVE_NONE)
			r->entries[i] = entries[r->entries[i]];
		if (r->entries[i] != RESOLVE_NONE && r->entries[i] >= r->entry_count)
			r->entry_count = (size_t)r->entries[i] + 1;
	}
	free(is_hit);
	free(entries);
	return status;
}

/* What the addresses need of each entry. */
static enum tally_status load_all(const struct reading *r, struct tally_error *err)
{
	size_t count = r->job->frames->len;
	uint32_t *begin = calloc(r->entry_count + 2, sizeof(*begin));
	uint32_t *frames = malloc((count + 1) * sizeof(*frames));
	uint64_t *addresses = malloc((count + 1) * sizeof(*addresses));
	enum tally_status status = begin && frames && addresses ? TALLY_OK : error_nomem(err);
	if (status == TALLY_OK) {
		buckets_fill(r->entries, count, r->entry_count, begin, frames);
		for (size_t i = 0; i < begin[r->entry_count]; i++)
			addresses[i] = resolved_frame_get(r->job->frames, frames[i]).address;
	}
	for (uint32_t id = 0; id < r->entry_count && status == TALLY_OK; id++)
		if (begin[id] < begin[id + 1])
			status = binary_store_load_places(
				r->job->store, id, addresses + begin[id], begin[id + 1] - begin[id], err);
	free(begin);
	free(frames);
	free(addresses);
	return status;
}

/* Adds the inlined calls of one address; what comes last is the function itself, which the symbol names. */
static bool add_names(const struct reading *r, uint32_t frame)
{
	struct source_place places[LIMIT_INLINE_DEPTH];
	uint64_t address = resolved_frame_get(r->job->frames, frame).address;
	size_t count = binary_store_places(r->job->store, r->entries[frame], address, places, LIMIT_INLINE_DEPTH);
	for (size_t i = 0; i + 1 < count; i++)
		if (places[i].is_inlined && places[i].function && !vec_push(&r->out->names, places[i].function))
			return false;
	return true;
}

static enum tally_status name_all(const struct reading *r, struct tally_error *err)
{
	size_t count = r->job->frames->len;
	for (size_t i = 0; i < count; i++) {
		r->out->begin[i] = r->out->names.len;
		if (r->entries[i] != RESOLVE_NONE && !add_names(r, (uint32_t)i))
			return error_nomem(err);
	}
	r->out->begin[count] = r->out->names.len;
	return TALLY_OK;
}

enum tally_status inline_frames_read(
	const struct symbolise_job *job, struct inline_frames *out, struct tally_error *err)
{
	struct reading r = {.job = job, .out = out, .entries = malloc((job->frames->len + 1) * sizeof(*r.entries))};
	*out = (struct inline_frames){.begin = calloc(job->frames->len + 1, sizeof(*out->begin))};
	enum tally_status status = out->begin && r.entries ? collect(&r, err) : error_nomem(err);
	if (status == TALLY_OK)
		status = load_all(&r, err);
	if (status == TALLY_OK)
		status = name_all(&r, err);
	free(r.entries);
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
