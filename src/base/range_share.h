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
	size_t most; /* of ranges: who keeps something by range has room for so many */
	size_t least; /* things worth a range of their own */
};

/* False: out of memory. */
bool range_share_init(struct range_share *share, size_t things, size_t workers, size_t least);
void range_share_deinit(struct range_share *share);
/* The next thing of a range; false: there is none. */
bool range_share_next(struct range_share *share, size_t range, size_t *thing);
/* A new range, out of one that somebody is at; false: no other has enough left. */
bool range_share_split(struct range_share *share, size_t *range);
/* The ranges by their things; order has room for count. */
void range_share_order(const struct range_share *share, size_t *order);

#endif
