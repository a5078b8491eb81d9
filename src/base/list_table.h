/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_table.h - maps lists of 32-bit items, such as call chains, to dense IDs from 0 on, and back. For keys of fixed
 * size use id_table, for text intern.
 *
 * A table is owned by the struct that embeds it, and used by one thread. list_table_add returns LIST_TABLE_NONE when
 * memory runs out or the lists exceed 32-bit offsets, and leaves the table unchanged. The lists are stored one after
 * another, so a lookup waits for memory twice: for the slot, then for the list. A caller with many lookups prefetches
 * the slots of all of them, then the lists, and then adds:
 *
 *	hash[i] = list_table_hash(items[i], count[i]); list_table_expect(&t, hash[i]);   ... list_table_guess(&t, hash[i]);
 *	id = list_table_add_hashed(&t, items[i], count[i], hash[i]);
 *	struct list l = list_table_get(&t, id);  for (i = 0; i < l.count; i++) use(l.items[i]);
 */
#ifndef BASE_LIST_TABLE_H
#define BASE_LIST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slots.h"
#include "base/vec.h"

#define LIST_TABLE_NONE UINT32_MAX
#define LIST_HEAD_WORDS 2 /* Number of words before the items: ID and count. */

struct list_table { /* A zero-initialised table is empty. */
	VEC(uint32_t) words; /* Each list's ID and count, followed by its items. */
	VEC(uint32_t) starts; /* Index in words of each list, by ID. */
	/*
	 * Hash table with open addressing: an element contains the hash and the list's start + 1, or 0 if it is empty.
	 */
	uint64_t *slots;
	size_t slot_count;
};

struct list {
	const uint32_t *items;
	uint32_t count;
};

struct list_source { /* A source of lists. Every worker may request each list, more than once. */
	size_t count;
	struct list (*get)(const void *context, uint32_t list);
	const void *context;
};

void list_table_deinit(struct list_table *table);
uint32_t list_table_hash(const uint32_t *items, size_t count);
uint32_t list_table_add(struct list_table *table, const uint32_t *items, size_t count);
uint32_t list_table_add_hashed(struct list_table *table, const uint32_t *items, size_t count, uint32_t hash);
/* Allocates a hash table for count lists in total. Returns false if out of memory. */
bool list_table_reserve(struct list_table *table, size_t count);
/*
 * Fills an empty table with distinct lists, by several workers. Lookups do not find them. Returns false if there are
 * too many lists or memory ran out; the table stays empty then.
 */
bool list_table_fill(struct list_table *table, const struct list_source *from, unsigned threads);
/* Frees the hash table; no list can be added afterwards. */
void list_table_end_lookups(struct list_table *table);

static inline void list_table_expect(const struct list_table *table, uint32_t hash)
{
	if (table->slot_count)
		__builtin_prefetch(&table->slots[hash & (table->slot_count - 1)]);
}
static inline void list_table_guess(const struct list_table *table, uint32_t hash)
{
	uint64_t slot = slots_guess(table->slots, table->slot_count, hash);
	if (slot)
		__builtin_prefetch(&table->words.items[(uint32_t)slot - 1]);
}
static inline size_t list_table_len(const struct list_table *table)
{
	return table->starts.len;
}
static inline struct list list_table_get(const struct list_table *table, uint32_t id)
{
	const uint32_t *head = &table->words.items[table->starts.items[id]];
	return (struct list){head + LIST_HEAD_WORDS, head[1]};
}

#endif
