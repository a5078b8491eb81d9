/* SPDX-License-Identifier: Apache-2.0 */
#include "base/range_share.h"

#include <stdlib.h>

bool range_share_init(struct range_share *share, size_t things, size_t workers, size_t least)
{
	size_t count = workers ? workers : 1, most = count > 1 ? 2 * count : 1;
	*share = (struct range_share){.mutex = PTHREAD_MUTEX_INITIALIZER,
		.ranges = calloc(most, sizeof(*share->ranges)),
		.count = count,
		.most = most,
		.least = least};
	for (size_t i = 0; share->ranges && i < count; i++) {
		size_t first = things * i / count;
		share->ranges[i] = (struct shared_range){first, first, things * (i + 1) / count, false};
	}
	return share->ranges != NULL;
}

void range_share_deinit(struct range_share *share)
{
	pthread_mutex_destroy(&share->mutex);
	free(share->ranges);
	*share = (struct range_share){0};
}

bool range_share_next(struct range_share *share, size_t range, size_t *thing)
{
	pthread_mutex_lock(&share->mutex);
	struct shared_range *r = &share->ranges[range];
	r->is_begun = true;
	bool has_next = r->next < r->end;
	if (has_next)
		*thing = r->next++;
	pthread_mutex_unlock(&share->mutex);
	return has_next;
}

/*
 * Returns the range with the most things left, of those that a worker has begun: the others go to workers undivided.
 * NULL if none can be split.
 */
static struct shared_range *range_share_longest(struct range_share *share)
{
	struct shared_range *found = NULL;
	for (size_t i = 0; i < share->count; i++) {
		struct shared_range *r = &share->ranges[i];
		if (r->is_begun && r->end - r->next >= 2 * share->least &&
			(!found || r->end - r->next > found->end - found->next))
			found = r;
	}
	return found;
}

bool range_share_split(struct range_share *share, size_t *range)
{
	pthread_mutex_lock(&share->mutex);
	struct shared_range *from = share->count < share->most ? range_share_longest(share) : NULL;
	if (from) {
		size_t middle = from->end - (from->end - from->next) / 2;
		*range = share->count++;
		share->ranges[*range] = (struct shared_range){middle, middle, from->end, true};
		from->end = middle;
	}
	pthread_mutex_unlock(&share->mutex);
	return from != NULL;
}

void range_share_order(const struct range_share *share, size_t *order)
{
	/* Few ranges are split, so an insertion sort is fast enough. */
	for (size_t i = 0; i < share->count; i++) {
		size_t at = i;
		for (; at > 0 && share->ranges[order[at - 1]].first > share->ranges[i].first; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}
