/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_part.h - builds rows from some of the samples, in one worker. Private to profile/: flat_rows makes parts,
 * flat_join joins them, flat_instances reads their samples once more.
 */
#ifndef PROFILE_FLAT_FLAT_PART_H
#define PROFILE_FLAT_FLAT_PART_H

#include "base/vec.h"
#include "profile/flat/flat_chains.h"
#include "profile/flat/flat_groups.h"
#include "profile/flat/flat_table.h"

struct group_row { /* of a frame group, the row in the sample group that is being added */
	uint32_t sample_group; /* + 1 */
	uint32_t row;
};

struct row_tally { /* what each frame of a chain changes */
	uint32_t last_sample; /* + 1, that was added last, so that recursion counts once */
	uint32_t max_depth, instance_count;
	uint32_t frame_group;
};

struct kept_row { /* where a part's instances of a row go */
	uint32_t row; /* of the whole */
	uint32_t at; /* offset in the table's instances; until these are placed, offset in the row's */
};

/* The rows of a range of samples that are adjacent in the order of their groups. */
struct flat_part {
	struct flat_table *table;
	const struct profile *profile;
	const struct flat_options *options;
	const struct flat_groups *groups;
	const struct flat_chains *chains;
	size_t begin, end; /* in groups->samples */
	size_t expected; /* rows */
	struct group_row *row_of; /* by frame group */
	VEC(struct flat_row) rows; /* those of one sample group together */
	VEC(uint64_t) stats; /* as the table's */
	size_t row_words; /* of them */
	VEC(struct row_tally) tallies; /* by row */
	VEC(uint32_t) made_by; /* by row: the first sample */
	VEC(struct kept_row) kept; /* by row */
	uint32_t first_group; /* of samples */
	VEC(uint32_t) group_rows; /* by sample group from the first on: its first row */
	bool failed; /* out of memory */
};

/* The row of a frame group in the sample's group; UINT32_MAX: none yet. */
static inline uint32_t flat_part_row(const struct flat_part *b, uint32_t sample_group, uint32_t frame_group)
{
	const struct group_row *known = &b->row_of[frame_group];
	return known->sample_group == sample_group + 1 ? known->row : UINT32_MAX;
}

static inline struct flat_stat *flat_part_stat(const struct flat_part *b, size_t row, uint32_t member)
{
	return (struct flat_stat *)&b->stats.items[row * b->row_words + member * flat_stat_words(b->table)];
}

/* Room for so many rows. False: out of memory. */
bool flat_part_reserve(struct flat_part *part, size_t count);
/* Appends the rows of the next part, whose samples follow. A group that is split between the two parts becomes one
 * group, and so do its rows. Fills from's kept. False: out of memory. */
bool flat_part_join(struct flat_part *to, struct flat_part *from);

#endif
