/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_table.h - stores the frames of a profile under construction, each once, with dense IDs from 0 on.
 *
 * A frame is its own key, so look-ups compare with the stored frames. Owned by its aggregate, one thread.
 *
 *	frame_table_fill(&t, &source, threads, &found);   frame_table_add(&t, &frame, &id);	false: out of memory
 */
#ifndef PROFILE_FRAME_TABLE_H
#define PROFILE_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dedup.h"
#include "base/vec.h"
#include "profile/profile.h"

struct frame_table { /* zero-initialised is empty */
	VEC(struct profile_frame) frames; /* by id */
	uint64_t *slots; /* open addressing: hash and id + 1; 0 is empty */
	size_t slot_count;
	size_t indexed; /* frames that have slots */
};

struct frame_source { /* frames that exist already; every worker may ask for each of them, more than once */
	size_t count;
	struct profile_frame (*get)(const void *context, uint32_t frame);
	const void *context;
	bool is_distinct; /* no two are equal, as the caller knows */
	const uint32_t *firsts; /* by frame: the first one that is equal, as the caller knows; NULL: it does not */
};

void frame_table_deinit(struct frame_table *table);
/* Fills an empty table with all of them, by several workers. found.numbers are their ids; the caller frees found. */
bool frame_table_fill(
	struct frame_table *table, const struct frame_source *from, unsigned threads, struct dedup *found);
bool frame_table_add(struct frame_table *table, const struct profile_frame *frame, uint32_t *id);

#endif
