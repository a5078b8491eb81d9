/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_table.h - stores the distinct frames of a profile under construction, with dense IDs starting at 0.
 *
 * A frame is its own key, so look-ups compare with the stored frames. A table is owned by the struct that embeds it,
 * and used by one thread.
 *
 *	frame_table_fill(&t, &source, threads, &found);   frame_table_add(&t, &frame, &id);
 */
#ifndef PROFILE_FRAME_TABLE_H
#define PROFILE_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dedup.h"
#include "base/vec.h"
#include "profile/profile.h"

struct frame_table { /* A zero-initialised struct is empty. */
	VEC(struct profile_frame) frames; /* Indexed by ID. */
	uint64_t *slots; /* Open addressing: hash and ID + 1; 0 if empty. */
	size_t slot_count;
	size_t indexed; /* Number of frames that have slots. */
};

struct frame_source { /* Frames that already exist. Any worker may call get for any frame, and more than once. */
	size_t count;
	struct profile_frame (*get)(const void *context, uint32_t frame);
	const void *context;
	bool is_distinct; /* The caller guarantees that no two frames are equal. */
	const uint32_t *firsts; /* For each frame the first equal one, if the caller knows them; otherwise NULL. */
};

void frame_table_deinit(struct frame_table *table);
/* Fills an empty table with all frames, by several workers. found->numbers are their IDs; the caller frees found.
 * Returns false when out of memory. */
bool frame_table_fill(
	struct frame_table *table, const struct frame_source *from, unsigned threads, struct dedup *found);
bool frame_table_add(struct frame_table *table, const struct profile_frame *frame, uint32_t *id);

#endif
