/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_part.h - builds rows from a part of the samples, in one worker. Private to profile/: flat_rows makes parts,
 * flat_join joins them, flat_instances reads their samples once more.
 */
#ifndef PROFILE_FLAT_FLAT_PART_H
#define PROFILE_FLAT_FLAT_PART_H

#include "base/vec.h"
#include "profile/flat/flat_chains.h"
#include "profile/flat/flat_groups.h"
#include "profile/flat/flat_table.h"

struct group_row { /* Row of a frame group in the sample group that is currently added. */
	uint32_t sample_group; /* Sample group + 1 that row is valid for. */
	uint32_t row;
};

struct row_tally { /* Fields of a row that each frame of a chain changes. */
	uint32_t last_sample; /* Last added sample + 1, so that recursion counts once. */
	uint32_t max_depth, instance_count;
	uint32_t frame_group;
};

struct kept_row { /* Destination of a part's instances of a row. */
	uint32_t row; /* Row of the joined table. */
	uint32_t at; /* Offset in the table's instances; until these are placed, offset in the row's. */
};

/* The rows of a range of samples that are adjacent in the order of their groups. */
struct flat_part {
	struct flat_table *table;
	const struct profile *profile;
	const struct flat_options *options;
	const struct flat_groups *groups;
	const struct flat_chains *chains;
	size_t begin, end; /* Range of indexes in groups->samples. */
	size_t expected; /* Expected number of rows. */
	struct group_row *row_of; /* Indexed by frame group. */
	VEC(struct flat_row) rows; /* Rows of a sample group are adjacent. */
	VEC(uint64_t) stats; /* In the layout of the table's stats. */
	size_t row_words; /* Number of words in stats per row. */
	VEC(struct row_tally) tallies; /* Indexed by row. */
	VEC(uint32_t) made_by; /* First sample of each row. */
	VEC(struct kept_row) kept; /* Indexed by row. */
	uint32_t first_group; /* First group of samples. */
	VEC(uint32_t) group_rows; /* First row of each sample group, starting with first_group. */
	bool failed; /* Memory ran out. */
};

/* Returns the row of a frame group in the sample's group; UINT32_MAX if there is none yet. */
static inline uint32_t flat_part_row(const struct flat_part *b, uint32_t sample_group, uint32_t frame_group)
{
	const struct group_row *known = &b->row_of[frame_group];
	return known->sample_group == sample_group + 1 ? known->row : UINT32_MAX;
}

static inline struct flat_stat *flat_part_stat(const struct flat_part *b, size_t row, uint32_t member)
{
	return (struct flat_stat *)&b->stats.items[row * b->row_words + member * flat_stat_words(b->table)];
}

/* Reserves memory for this number of rows. Returns false when out of memory. */
bool flat_part_reserve(struct flat_part *part, size_t count);
/* Appends the rows of the next part, which has the following samples. A group that is split between the two parts
 * becomes one group, and so do its rows. Fills from->kept. Returns false when out of memory. */
bool flat_part_join(struct flat_part *to, struct flat_part *from);

#endif
