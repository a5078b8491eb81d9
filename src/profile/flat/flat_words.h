/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_words.h - sorts the rows of a flat table by words that are computed once per row. Used only by flat_sort.
 *
 * Most rows of a large table have few samples and differ only in their keys, so a comparison that reads the tables of
 * the profile waits for memory a dozen times. Here each row has a few words that sort in ascending order;
 * flat_sort_compare decides between rows with equal words.
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
	const uint32_t *ranks; /* Position of each string in sorted order, so that only numbers are compared. */
};

/* Sorts table->order. The number of workers does not affect the order, not even of rows that are equal by all keys.
 * Returns false when out of memory. */
bool flat_words_sort(const struct flat_sort *sort);
/* Compares by all columns, then by the remaining keys. */
int flat_sort_compare(const struct flat_sort *sort, uint32_t row_a, uint32_t row_b);
/* Returns how many members' sums are compared, and sets *first to the first of them; the others are members 1 and
 * following. */
uint32_t flat_deciding_members(const struct flat_table *table, enum profile_key key, uint32_t *first);

static inline uint64_t flat_row_address(const struct profile *p, const struct flat_row *row)
{
	const struct profile_frame *frame = &p->frames[row->frame];
	return frame->function == PROFILE_NONE ? row->address : p->functions[frame->function].start;
}

#endif
