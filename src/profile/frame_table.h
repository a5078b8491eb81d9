/*
 * frame_table.h - the frames of a profile that is being built, each once, by dense ids from 0 on.
 *
 * A frame is its own key: what is looked up is compared with the frames themselves. Owned by its aggregate, one thread.
 * Adding waits for memory for a batch at a time, so that adding many at once is cheaper than one by one.
 *
 *	frame_table_add(&t, frames, count, ids);	false: out of memory
 */
#ifndef PROFILE_FRAME_TABLE_H
#define PROFILE_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "profile/profile.h"

struct frame_table { /* zero-initialised is empty */
	VEC(struct profile_frame) frames; /* by id */
	uint64_t *slots; /* open addressing: hash and id + 1; 0 is empty */
	size_t slot_count;
};

void frame_table_deinit(struct frame_table *table);
/* Room for so many in all. False: out of memory. */
bool frame_table_reserve(struct frame_table *table, size_t count);
bool frame_table_add(struct frame_table *table, const struct profile_frame *frames, size_t count, uint32_t *ids);

#endif
