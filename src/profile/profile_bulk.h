/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_bulk.h - builds a profile when all of its parts are known: frames, stacks and samples, each kind at once and
 * by several workers. The profile is the same as by profile_builder.h, which gets them one by one.
 *
 * Each kind comes once, as the first of its kind, frames before stacks before samples; more frames may come one by one.
 * Any worker may call the sources, more than once for each item, and must get the same answer each time. found.numbers
 * are the items' IDs; the caller deinits it. False: out of memory, which the builder remembers.
 *
 *	struct stack_source stacks = {.lists = {count, get, &context}, .hash = hash};
 *	struct dedup found;
 *	if (!profile_builder_all_stacks(b, &stacks, threads, &found)) return error_nomem(err);
 *	... found.numbers[i] ...	dedup_deinit(&found);
 */
#ifndef PROFILE_PROFILE_BULK_H
#define PROFILE_PROFILE_BULK_H

#include "base/dedup.h"
#include "base/list_table.h"
#include "profile/frame_table.h"
#include "profile/profile_builder.h"

struct stack_source {
	struct list_source lists; /* of frames, the innermost one first */
	uint32_t (*hash)(const void *context, uint32_t stack); /* list_table_hash, with the lists' context */
};

struct sample_source {
	size_t count;
	unsigned key_words; /* fewer: CPU and facets are the same in all samples */
	const uint64_t *(*key)(const void *context, uint32_t sample);
	struct profile_sample (*get)(const void *context, uint32_t sample);
	void (*expect)(
		const void *context, uint32_t sample); /* get will be called soon; NULL: nothing need be fetched */
	const void *context;
	bool is_distinct; /* no two are equal, as the caller knows */
};

bool profile_builder_all_frames(
	struct profile_builder *b, const struct frame_source *from, unsigned threads, struct dedup *found);
bool profile_builder_all_stacks(
	struct profile_builder *b, const struct stack_source *from, unsigned threads, struct dedup *found);
bool profile_builder_all_samples(
	struct profile_builder *b, const struct sample_source *from, unsigned threads, struct dedup *found);

#endif
