/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/run_parts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/thread_pool.h"

#define PART_BYTES    ((size_t)1 << 20) /* Minimum size of a part: less does not justify a worker. */
#define GUESS_RECORDS 64 /* Number of consecutive plausible records that identify the beginning of a record. */
#define GUESS_BYTES   ((size_t)1 << 20) /* Maximum number of bytes searched for such a beginning. */
#define RECORD_ALIGN  8

static bool seems_record(const struct record_run *run, size_t position)
{
	for (size_t i = 0; i < GUESS_RECORDS; i++) {
		struct record record;
		if (record_run_next(run, &position, &record, NULL) != TALLY_OK)
			return false;
		if (record.bytes.len % RECORD_ALIGN != 0 || !record_type_name(record.type))
			return false;
	}
	return true;
}

/* Returns where a record seems to begin, from the position (rounded down to RECORD_ALIGN) on; the guess may be
 * wrong. */
static size_t guess_record(const struct record_run *run, size_t position)
{
	position -= position % RECORD_ALIGN;
	for (size_t i = 0; i < GUESS_BYTES / RECORD_ALIGN; i++)
		if (seems_record(run, position + i * RECORD_ALIGN))
			return position + i * RECORD_ALIGN;
	return position;
}

bool run_parts_init(struct run_parts *parts, const struct record_run *run, size_t each)
{
	if (run->piece_count > 0) {
		*parts = (struct run_parts){.run = run,
			.items = calloc(run->piece_count, sizeof(*parts->items)),
			.count = run->piece_count};
		for (size_t i = 0; parts->items && i < parts->count; i++)
			parts->items[i] = (struct run_part){.begin = run->pieces[i].begin, .end = run->pieces[i].end};
		return parts->items;
	}
	size_t most = run->bytes.len / PART_BYTES + 1, workers = thread_pool_workers(most, run->threads);
	size_t count = workers > 1 ? workers * each : 1;
	count = MIN(count, most);
	*parts = (struct run_parts){.run = run, .items = calloc(count, sizeof(*parts->items)), .count = count};
	if (!parts->items)
		return false;
	for (size_t i = 0; i < count; i++) {
		parts->items[i].begin = i == 0 ? 0 : guess_record(run, run->bytes.len / count * i);
		parts->items[i].end = run->bytes.len;
		if (i > 0)
			parts->items[i - 1].end = parts->items[i].begin;
	}
	return true;
}

void run_parts_deinit(struct run_parts *parts)
{
	free(parts->items);
	*parts = (struct run_parts){0};
}

struct run_parts_walking {
	struct run_parts *parts;
	run_part_walk walk;
	void *context;
};

static void walk_one(void *context, size_t index, unsigned worker)
{
	const struct run_parts_walking *w = context;
	w->walk(w->context, index, &w->parts->items[index]);
}

void run_parts_walk(struct run_parts *parts, run_part_walk walk, void *context)
{
	struct run_parts_walking walking = {parts, walk, context};
	thread_pool_for(parts->count, parts->run->threads, walk_one, &walking);
	/* Walks again, one after another, the parts whose guessed beginning was not the end of the part before. Parts
	 * after a damaged record become empty. */
	for (size_t i = 1; i < parts->count && parts->run->piece_count == 0; i++) {
		const struct run_part *before = &parts->items[i - 1];
		struct run_part *part = &parts->items[i];
		if (before->end == part->begin && !before->is_cut)
			continue;
		size_t end = i + 1 < parts->count ? parts->items[i + 1].begin : parts->run->bytes.len;
		part->begin = before->end;
		part->end = before->is_cut || end < before->end ? before->end : end;
		part->is_cut = before->is_cut;
		walk(context, i, part);
	}
}
