/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dedup.h - finds equal items among many: distinct items get numbers in the order of their first occurrence, and each
 * item learns its number. Several workers do it, and the numbers do not depend on how many. All items must be there at
 * the beginning; for items that arrive one by one use id_table.
 *
 * The items are divided into parts by hash, so equal items are in the same part. Each part is handled by one worker,
 * and its slots fit into a CPU's cache.
 *
 *	struct dedup_items items = {.count = n, .hash = hash, .equal = equal, .context = &what};
 *	struct dedup found;
 *	if (!dedup_find(&items, threads, &found)) return error_nomem(err);
 *	... item i is found.numbers[i] of found.count; found.firsts[number] is the first item that has it ...
 *	dedup_deinit(&found);
 */
#ifndef BASE_DEDUP_H
#define BASE_DEDUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dedup_items { /* any worker calls these */
	size_t count; /* below UINT32_MAX */
	uint32_t (*hash)(const void *context, uint32_t item); /* once for each */
	/* Of items whose hashes are equal. */
	bool (*equal)(const void *context, uint32_t a, uint32_t b);
	/* The item will very likely be compared soon. NULL: nothing need be fetched. */
	void (*expect)(const void *context, uint32_t item);
	const void *context;
};

struct dedup { /* owned by the caller */
	uint32_t *numbers; /* by item */
	uint32_t *firsts; /* by number */
	size_t count; /* of numbers */
};

/* threads: 0: one per CPU. False: out of memory; there is nothing to free. */
bool dedup_find(const struct dedup_items *items, unsigned threads, struct dedup *found);
/* For callers that know that all items are distinct. False: out of memory; there is nothing to free. */
bool dedup_none(size_t count, struct dedup *found);
/* The same for callers that know the first equal item of each item. */
bool dedup_known(const uint32_t *firsts, size_t count, unsigned threads, struct dedup *found);
void dedup_deinit(struct dedup *found);

#endif
