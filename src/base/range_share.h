/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_share.h - distributes consecutive items among workers that are faster if they process neighbouring items: each
 * worker starts with its own range, and when it has finished, it splits off the later half of the longest remaining
 * range. So workers finish at the same time even if their CPUs differ in speed or are shared with other programs.
 *
 * Ranges are numbered in the order of their creation, and each item is in one range. The results of the ranges,
 * concatenated in the order of their items, equal those of one worker over all items. All functions except init, order
 * and deinit may be called from any thread.
 *
 *	range_share_init(&share, things, workers, least);	thread_pool_for(share.count, threads, work, &share);
 *	work: do while (range_share_next(&share, range, &thing)) ... while (range_share_split(&share, &range));
 *	range_share_order(&share, order);			range_share_deinit(&share);
 */
#ifndef BASE_RANGE_SHARE_H
#define BASE_RANGE_SHARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct shared_range {
	size_t first, next, end;
	bool is_begun;
};

struct range_share {
	pthread_mutex_t mutex; /* Protects the members below. */
	struct shared_range *ranges;
	size_t count; /* Number of ranges; at least one. */
	size_t most; /* Maximum number of ranges, for callers that allocate something for each range. */
	size_t least; /* Minimum number of items of a new range. */
};

/* Returns false if out of memory. */
bool range_share_init(struct range_share *share, size_t things, size_t workers, size_t least);
void range_share_deinit(struct range_share *share);
/* Returns the next item of a range; false at its end. */
bool range_share_next(struct range_share *share, size_t range, size_t *thing);
/* Splits a new range off an unfinished one; false if no range has enough items left. */
bool range_share_split(struct range_share *share, size_t *range);
/* Fills order with the indices of the ranges, sorted by their first items; it has room for count elements. */
void range_share_order(const struct range_share *share, size_t *order);

#endif
