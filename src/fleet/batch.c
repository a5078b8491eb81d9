/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"

/* Each label text is stored once, because many labels of a small batch may have the same long value. */
struct batch_whole {
	struct fleet_batch batch;
	struct intern texts;
};

static bool batch_copy_text(struct batch_whole *whole, struct tally_str *text)
{
	uint32_t id;
	if (!intern_add(&whole->texts, text->data, text->len, &id))
		return false;
	*text = intern_get(&whole->texts, id);
	return true;
}

static enum tally_status batch_copy_labels(
	struct batch_whole *whole, const struct fleet_labels *from, struct fleet_labels *to, struct tally_error *err)
{
	struct fleet_label *items = arena_array(whole->batch.arena, struct fleet_label, from->count);
	if (!items)
		return error_nomem(err);
	for (size_t i = 0; i < from->count; i++) {
		items[i] = from->items[i];
		if (!batch_copy_text(whole, &items[i].name) || !batch_copy_text(whole, &items[i].value))
			return error_nomem(err);
	}
	return fleet_labels_make(items, from->count, to, err);
}

/* A batch without sets gets an empty one. */
static enum tally_status batch_copy_sets(
	struct batch_whole *whole, const struct fleet_batch *parts, struct tally_error *err)
{
	struct fleet_batch *batch = &whole->batch;
	enum tally_status status = TALLY_OK;
	batch->set_count = MAX(parts->set_count, 1);
	struct fleet_labels *sets = arena_array(batch->arena, struct fleet_labels, batch->set_count);
	if (!sets)
		return error_nomem(err);
	for (size_t i = 0; status == TALLY_OK && i < parts->set_count; i++)
		status = batch_copy_labels(whole, &parts->sets[i], &sets[i], err);
	batch->sets = sets;
	return status;
}

static enum tally_status batch_copy_arrays(
	const struct fleet_batch *parts, struct fleet_batch *batch, struct tally_error *err)
{
	struct arena *arena = batch->arena;
	size_t threads = batch->profile->thread_count, frames = batch->profile->frame_count;
	batch->set_of_thread =
		parts->set_of_thread ? arena_copy(arena, parts->set_of_thread, threads * sizeof(*parts->set_of_thread))
				     : arena_array(arena, uint32_t, threads);
	if (parts->symbols_left_out)
		batch->symbols_left_out =
			arena_copy(arena, parts->symbols_left_out, frames * sizeof(*parts->symbols_left_out));
	return batch->set_of_thread && (batch->symbols_left_out || !parts->symbols_left_out) ? TALLY_OK
											     : error_nomem(err);
}

static enum tally_status batch_check(
	const struct fleet_batch *parts, const struct profile *profile, struct tally_error *err)
{
	size_t count = MAX(parts->set_count, 1);
	if (parts->begin_ns > parts->end_ns || parts->end_ns > INT64_MAX)
		return error_set(
			err, TALLY_INVALID, "the window of a batch ends before it begins, or after the year 2262");
	if (parts->set_count > 0 && parts->sets[0].count > 0)
		return error_set(err, TALLY_INVALID, "the first label set of a batch is not empty");
	for (size_t i = 0; parts->set_of_thread && i < profile->thread_count; i++)
		if (parts->set_of_thread[i] >= count)
			return error_set(err, TALLY_INVALID, "a thread has label set %u, and the batch has %zu",
				parts->set_of_thread[i], count);
	return TALLY_OK;
}

static enum tally_status batch_fill(
	const struct fleet_batch *parts, struct profile *profile, struct batch_whole *whole, struct tally_error *err)
{
	struct fleet_batch *batch = &whole->batch;
	batch->begin_ns = parts->begin_ns;
	batch->end_ns = parts->end_ns;
	batch->losses = parts->losses;
	batch->profile = profile;
	memcpy(batch->id, parts->id, sizeof(batch->id));
	enum tally_status status = batch_copy_labels(whole, &parts->labels, &batch->labels, err);
	if (status == TALLY_OK)
		status = batch_copy_sets(whole, parts, err);
	return status == TALLY_OK ? batch_copy_arrays(parts, batch, err) : status;
}

/* The profile is not freed. */
static void batch_free(struct batch_whole *whole)
{
	struct arena *arena = whole->batch.arena;
	intern_deinit(&whole->texts);
	arena_deinit(arena);
	free(arena);
}

enum tally_status fleet_batch_make(
	const struct fleet_batch *parts, struct profile *profile, struct fleet_batch **batch, struct tally_error *err)
{
	enum tally_status status = batch_check(parts, profile, err);
	if (status != TALLY_OK)
		return status;
	struct arena *arena = malloc(sizeof(*arena));
	if (!arena)
		return error_nomem(err);
	arena_init(arena);
	struct batch_whole *whole = arena_new(arena, struct batch_whole);
	if (!whole) {
		free(arena);
		return error_nomem(err);
	}
	whole->batch.arena = arena;
	intern_init(&whole->texts);
	status = batch_fill(parts, profile, whole, err);
	if (status != TALLY_OK) {
		batch_free(whole);
		return status;
	}
	*batch = &whole->batch;
	return TALLY_OK;
}

void fleet_batch_destroy(struct fleet_batch *batch)
{
	if (!batch)
		return;
	profile_destroy((struct profile *)batch->profile);
	batch_free((struct batch_whole *)batch);
}

const char *fleet_batch_lacks(const struct fleet_batch *batch)
{
	static const uint8_t absent[FLEET_BATCH_ID_BYTES];
	const struct profile *p = batch->profile;
	if (memcmp(batch->id, absent, sizeof(absent)) == 0)
		return "the batch has no ID: field 1 takes 16 random bytes, by which a store counts each batch once";
	if (batch->begin_ns == 0 || batch->end_ns == 0)
		return "the batch does not say when its window begins and ends: fields 2 and 3 take nanoseconds since "
		       "1970";
	for (size_t i = 0; i < p->event_count; i++)
		if (profile_string(p, p->events[i].name).len == 0)
			return "an event of the batch has no name: field 1 of Event takes one";
	return NULL;
}

uint64_t fleet_batch_sample_count(const struct fleet_batch *batch)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < batch->profile->sample_count; i++)
		sum += batch->profile->samples[i].count;
	return sum;
}
