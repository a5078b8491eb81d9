/*
 * flat_merge.h - items of a few words, each of which stands for a row of a flat table, in order: a merge sort. Internal to
 * flat_words.
 *
 * What comes first is no order in the strict sense: where chains decide, rows of one thread are compared otherwise than
 * rows of several, so that three rows may each come before the next. Which items are merged with which is then seen in
 * the result; it depends on how many there are and on nothing else.
 *
 *	struct flat_merge_order order = {.words = 4, .is_first_row = is_first_row, .context = rows};
 *	memcpy(copy, items, bytes);  flat_merge_sort(&order, copy, items, count);
 */
#ifndef PROFILE_FLAT_MERGE_H
#define PROFILE_FLAT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAT_MERGE_ROW_BITS 32 /* of the last word: the row */

/* The first words decide, the smaller ones first; the last word has the row, and above it, where chains decide, a thread
 * and how deep its chains are. */
struct flat_merge_order {
	unsigned words; /* of an item, at least two */
	unsigned tie_bits; /* of the first word, that decide before chains do; 0: these decide nothing */
	unsigned depth_bits; /* at most 31 */
	bool is_deepest_first;
	/* Of rows of which no word decides: does b come before a? Asked by any worker. */
	bool (*is_first_row)(const void *context, uint32_t b, uint32_t a);
	const void *context;
};

/* Of items that are at both places, sorts those at to; what is at from then is of no use. */
void flat_merge_sort(const struct flat_merge_order *order, uint64_t *from, uint64_t *to, size_t count);
/* The halves of the items at from, each of which is sorted, together; the first half is the smaller one. */
void flat_merge_halves(const struct flat_merge_order *order, const uint64_t *from, uint64_t *to, size_t count);
/* The same by all workers, of which only the rows are told. */
void flat_merge_rows(const struct flat_merge_order *order, const uint64_t *from, uint32_t *rows, size_t count);

#endif
