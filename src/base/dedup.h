/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dedup.h - finds equal items among many by several workers, and numbers the distinct items in the order of their first
 * occurrence. The numbers do not depend on the number of workers. All items must exist at the beginning; for items that
 * arrive one by one, use id_table.
 *
 * The items are divided into parts by hash, so equal items are in the same part. Each part is handled by one worker,
 * and is small enough for a CPU's cache.
 *
 *	struct dedup_items items = {.count = n, .hash = hash, .equal = equal, .context = &what};
 *	struct dedup found;
 *	if (!dedup_find(&items, threads, &found)) return error_nomem(err);
 *	... found.numbers[i] is the number of item i; found.firsts[number] is the first item with that number ...
 *	dedup_deinit(&found);
 */
#ifndef BASE_DEDUP_H
#define BASE_DEDUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dedup_items { /* The callbacks are called by several workers at the same time. */
	size_t count; /* The maximum is UINT32_MAX - 1. */
	uint32_t (*hash)(const void *context, uint32_t item); /* Called once for each item. */
	/* Called for items with equal hashes. */
	bool (*equal)(const void *context, uint32_t a, uint32_t b);
	/* Prefetches an item that will probably be compared soon; may be NULL. */
	void (*expect)(const void *context, uint32_t item);
	const void *context;
};

struct dedup { /* The caller frees it with dedup_deinit. */
	uint32_t *numbers; /* Number of each item. */
	uint32_t *firsts; /* Index of the first item with each number. */
	size_t count; /* Number of distinct items. */
};

/*
 * threads is the maximum number of workers; 0 is one per CPU. Returns false if out of memory; there is nothing to free
 * then.
 */
bool dedup_find(const struct dedup_items *items, unsigned threads, struct dedup *found);
/* Numbers items that are known to be distinct. Returns false if out of memory; there is nothing to free then. */
bool dedup_none(size_t count, struct dedup *found);
/*
 * Numbers items of which it is known which ones are equal: firsts[i] is the index of the first item that equals item i.
 * Returns false if out of memory; there is nothing to free then.
 */
bool dedup_known(const uint32_t *firsts, size_t count, unsigned threads, struct dedup *found);
void dedup_deinit(struct dedup *found);

#endif
