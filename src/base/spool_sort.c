#include "base/spool_sort.h"

#include <stdlib.h>

#define BLOCK_BYTES ((size_t)4 << 20) /* sorted at once, and used before it is dropped */

struct head { /* what is left of a block */
	const uint8_t *at, *end;
};

struct merge {
	struct head *heads; /* a heap: the first has the least item */
	size_t count, size;
	spool_compare compare;
};

static void drop(const struct spool *spool, const uint8_t *begin, const uint8_t *end)
{
	spool_drop(spool, (struct tally_bytes){begin, (size_t)(end - begin)});
}

static bool is_sorted(const struct spool *spool, size_t size, spool_compare compare)
{
	struct tally_bytes all = spool_view(spool);
	const uint8_t *dropped = all.data;
	for (size_t i = size; i < all.len; i += size) {
		const uint8_t *item = all.data + i;
		if (compare(item - size, item) > 0)
			return false;
		if ((size_t)(item - dropped) < BLOCK_BYTES)
			continue;
		drop(spool, dropped, item);
		dropped = item;
	}
	return true;
}

/* Blocks begin where their items did, so the earlier one's go first. */
static bool goes_first(const struct merge *m, size_t left, size_t right)
{
	int order = m->compare(m->heads[left].at, m->heads[right].at);
	return order ? order < 0 : m->heads[left].at < m->heads[right].at;
}

static void sift_down(struct merge *m, size_t at)
{
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < m->count; child++)
			if (goes_first(m, child, least))
				least = child;
		if (least == at)
			return;
		struct head moved = m->heads[at];
		m->heads[at] = m->heads[least];
		m->heads[least] = moved;
		at = least;
	}
}

static bool merge_blocks(struct merge *m, const struct spool *from, struct spool *to)
{
	struct tally_bytes all = spool_view(from);
	for (size_t i = m->count; i-- > 0;)
		sift_down(m, i);
	for (size_t taken = 0; m->count > 0;) {
		struct head *head = &m->heads[0];
		if (!spool_append(to, head->at, m->size))
			return false;
		head->at += m->size;
		if (head->at == head->end)
			*head = m->heads[--m->count];
		sift_down(m, 0);
		taken += m->size;
		if (taken >= BLOCK_BYTES) {
			spool_drop(from, all);
			taken = 0;
		}
	}
	return true;
}

bool spool_sort(struct spool *spool, size_t size, spool_compare compare)
{
	if (is_sorted(spool, size, compare))
		return true;
	size_t block = BLOCK_BYTES - BLOCK_BYTES % size;
	struct merge m = {
		.heads = malloc((spool->len / block + 1) * sizeof(*m.heads)), .size = size, .compare = compare};
	for (size_t at = 0; m.heads && at < spool->len; at += block) {
		size_t bytes = spool->len - at < block ? spool->len - at : block;
		qsort(spool->base + at, bytes / size, size, compare);
		m.heads[m.count++] = (struct head){spool->base + at, spool->base + at + bytes};
		drop(spool, spool->base + at, spool->base + at + bytes);
	}
	struct spool merged;
	spool_init(&merged);
	bool is_done = m.heads && (m.count == 1 || merge_blocks(&m, spool, &merged));
	free(m.heads);
	if (is_done && merged.len > 0) {
		struct spool unsorted = *spool;
		*spool = merged;
		merged = unsorted;
	}
	spool_deinit(&merged);
	return is_done;
}
