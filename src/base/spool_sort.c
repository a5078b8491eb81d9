/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool_sort.h"

#include <stdlib.h>

#include "base/thread_pool.h"
#include "base/vec.h"

/* Size of a block that is sorted at once, and used before it is dropped from memory. */
#define SPOOL_SORT_BLOCK_BYTES ((size_t)4 << 20)
/* Runs of ordered items of at least this size become blocks of their own. */
#define LONG_BYTES (SPOOL_SORT_BLOCK_BYTES / 8)

struct head { /* A block, of which the merge consumes the beginning. */
	const uint8_t *at, *end;
	bool is_sorted;
};

struct spool_sort_merge {
	VEC(struct head) heads; /* In order of position, and during the merge a heap: the first has the least item. */
	size_t size;
	spool_compare compare;
	const struct spool *spool;
};

static void spool_sort_drop(const struct spool *spool, const uint8_t *begin, const uint8_t *end)
{
	spool_drop(spool, (struct tally_bytes){begin, (size_t)(end - begin)});
}

/* Long runs of ordered items become blocks as they are; the items between them are sorted block by block. */
static bool find_blocks(struct spool_sort_merge *m)
{
	struct tally_bytes all = spool_view(m->spool);
	const uint8_t *end = all.data + all.len;
	size_t block = SPOOL_SORT_BLOCK_BYTES - SPOOL_SORT_BLOCK_BYTES % m->size;
	for (const uint8_t *at = all.data; at < end;) {
		struct head head = {at, (size_t)(end - at) < block ? end : at + block, true};
		const uint8_t *run = at + m->size;
		while (run < head.end && m->compare(run - m->size, run) <= 0)
			run += m->size;
		if (run < head.end && (size_t)(run - at) < LONG_BYTES)
			head.is_sorted = false;
		else
			head.end = run;
		spool_sort_drop(m->spool, at, head.end);
		at = head.end;
		if (!vec_push(&m->heads, head))
			return false;
	}
	return true;
}

/* True if each block is sorted and follows the one before in order. */
static bool spool_sort_is_sorted(const struct spool_sort_merge *m)
{
	for (size_t i = 0; i < m->heads.len; i++) {
		const struct head *head = &m->heads.items[i];
		if (!head->is_sorted || (i > 0 && m->compare(head->at - m->size, head->at) > 0))
			return false;
	}
	return true;
}

static void sort_block(void *context, size_t index, unsigned worker)
{
	const struct spool_sort_merge *m = context;
	const struct head *head = &m->heads.items[index];
	(void)worker;
	if (head->is_sorted)
		return;
	qsort((void *)(uintptr_t)head->at, (size_t)(head->end - head->at) / m->size, m->size, m->compare);
	spool_sort_drop(m->spool, head->at, head->end);
}

/* Equal items remain in the order of their blocks. */
static bool spool_sort_goes_first(const struct spool_sort_merge *m, size_t left, size_t right)
{
	int order = m->compare(m->heads.items[left].at, m->heads.items[right].at);
	return order ? order < 0 : m->heads.items[left].at < m->heads.items[right].at;
}

static void spool_sort_sift_down(struct spool_sort_merge *m, size_t at)
{
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < m->heads.len; child++)
			if (spool_sort_goes_first(m, child, least))
				least = child;
		if (least == at)
			return;
		struct head moved = m->heads.items[at];
		m->heads.items[at] = m->heads.items[least];
		m->heads.items[least] = moved;
		at = least;
	}
}

/* Returns the end of the items in the first block that precede the first items of all other blocks. */
static const uint8_t *least_end(const struct spool_sort_merge *m)
{
	size_t second = m->heads.len > 2 && spool_sort_goes_first(m, 2, 1) ? 2 : 1;
	const struct head *head = &m->heads.items[0];
	if (m->heads.len < 2)
		return head->end;
	const struct head *other = &m->heads.items[second];
	const uint8_t *item = head->at + m->size;
	bool wins_ties = head->at < other->at;
	for (; item < head->end; item += m->size) {
		int order = m->compare(item, other->at);
		if (order > 0 || (order == 0 && !wins_ties))
			break;
	}
	return item;
}

static bool merge_blocks(struct spool_sort_merge *m, struct spool *to)
{
	struct tally_bytes all = spool_view(m->spool);
	for (size_t i = m->heads.len; i-- > 0;)
		spool_sort_sift_down(m, i);
	for (size_t taken = 0; m->heads.len > 0;) {
		struct head *head = &m->heads.items[0];
		size_t bytes = (size_t)(least_end(m) - head->at);
		if (!spool_append(to, head->at, bytes))
			return false;
		head->at += bytes;
		if (head->at == head->end)
			*head = m->heads.items[--m->heads.len];
		spool_sort_sift_down(m, 0);
		taken += bytes;
		if (taken >= SPOOL_SORT_BLOCK_BYTES) {
			spool_drop(m->spool, all);
			taken = 0;
		}
	}
	return true;
}

bool spool_sort(struct spool *spool, size_t size, spool_compare compare)
{
	struct spool_sort_merge m = {.size = size, .compare = compare, .spool = spool};
	struct spool merged;
	spool_init(&merged);
	spool_expect(&merged, spool->len);
	bool is_done = find_blocks(&m);
	if (is_done && !spool_sort_is_sorted(&m)) {
		thread_pool_for(m.heads.len, 0, sort_block, &m);
		is_done = m.heads.len == 1 || merge_blocks(&m, &merged);
	}
	vec_free(&m.heads);
	if (is_done && merged.len > 0) {
		struct spool unsorted = *spool;
		*spool = merged;
		merged = unsorted;
	}
	spool_deinit(&merged);
	return is_done;
}
