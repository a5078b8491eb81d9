/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_words.h - sorts the rows of a flat table by words that are computed once per row. Internal to flat_sort.
 *
 * Most rows of a large table have few samples and differ only in their keys, so a comparison that looks into the tables
 * of the profile waits for memory a dozen times. Here each row has a few words, of which smaller ones sort first;
 * flat_sort_compare decides what does not fit into them.
 *
 *	struct flat_sort sort = {table, columns, count, ranks};
 *	if (!flat_words_sort(&sort)) return error_nomem(err);
 */
#ifndef PROFILE_FLAT_FLAT_WORDS_H
#define PROFILE_FLAT_FLAT_WORDS_H

#include "profile/flat/flat_table.h"

struct flat_sort {
	const struct flat_table *table;
	const enum profile_key *columns;
	size_t count;
	const uint32_t *ranks; /* by string id: its place among all strings, so that rows compare numbers only */
};

/* Sorts table->order. The number of workers has no influence on the order, even of rows that are equal by all keys.
 * False: out of memory. */
bool flat_words_sort(const struct flat_sort *sort);
/* Compares by all columns, then by the remaining keys. */
int flat_sort_compare(const struct flat_sort *sort, uint32_t row_a, uint32_t row_b);
/* Returns how many members' sums decide, and the first of them, which is followed by those from the second on. */
uint32_t flat_deciding_members(const struct flat_table *table, enum profile_key key, uint32_t *first);

static inline uint64_t flat_row_address(const struct profile *p, const struct flat_row *row)
{
	const struct profile_frame *frame = &p->frames[row->frame];
	return frame->function == PROFILE_NONE ? row->address : p->functions[frame->function].start;
}

#endif
