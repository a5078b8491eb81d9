/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_bulk.h - adds all frames, all stacks or all samples of a profile at once, by several workers. The profile is
 * the same as if they were added one by one (profile_builder.h).
 *
 * Each kind is added once, before any single item of that kind: frames before stacks before samples; more frames may be
 * added one by one. Any worker may call the sources, more than once for each item, and must get the same answer each
 * time. found.numbers are the IDs of the items; the caller frees found with dedup_deinit. Functions return false when
 * out of memory, which the builder remembers.
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
	struct list_source lists; /* Lists of frames, innermost first. */
	/* Returns the list_table_hash of a stack; context is that of lists. */
	uint32_t (*hash)(const void *context, uint32_t stack);
};

struct sample_source {
	size_t count;
	/* Number of words of a key; fewer than PROFILE_SAMPLE_WORDS if CPU and facets are the same in all samples. */
	unsigned key_words;
	const uint64_t *(*key)(const void *context, uint32_t sample);
	struct profile_sample (*get)(const void *context, uint32_t sample);
	/* Prefetches data for a call of get that follows soon; may be NULL. */
	void (*expect)(const void *context, uint32_t sample);
	const void *context;
	bool is_distinct; /* The caller guarantees that no two samples are equal. */
};

bool profile_builder_all_frames(
	struct profile_builder *b, const struct frame_source *from, unsigned threads, struct dedup *found);
bool profile_builder_all_stacks(
	struct profile_builder *b, const struct stack_source *from, unsigned threads, struct dedup *found);
bool profile_builder_all_samples(
	struct profile_builder *b, const struct sample_source *from, unsigned threads, struct dedup *found);

#endif
