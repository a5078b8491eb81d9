/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_share.h - shares a row of items among workers that prefer neighbouring items: each starts with a range of its
 * own, and a worker that is done takes the later half of the longest remaining range. So workers end at the same time
 * even if their CPUs differ in speed or are shared with other programs.
 *
 * Ranges are numbered in the order of their creation; each item is in one of them. Taken in the order of their items,
 * the results of the ranges equal those of one worker over all items, however they were split. Any thread, but for
 * init, order and deinit.
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
	pthread_mutex_t mutex; /* of what follows */
	struct shared_range *ranges;
	size_t count; /* at least one */
	size_t most; /* of ranges: callers that keep something for each range need room for so many */
	size_t least; /* items that a range of its own should have */
};

/* False: out of memory. */
bool range_share_init(struct range_share *share, size_t things, size_t workers, size_t least);
void range_share_deinit(struct range_share *share);
/* The next item of a range; false: there is none. */
bool range_share_next(struct range_share *share, size_t range, size_t *thing);
/* Splits a new range off one that another worker has not finished; false: no range has enough items left. */
bool range_share_split(struct range_share *share, size_t *range);
/* Sets order to the indexes of the ranges, sorted by their first items; it has room for count. */
void range_share_order(const struct range_share *share, size_t *order);

#endif
