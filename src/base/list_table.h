/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_table.h - maps lists of 32-bit items to dense IDs from 0 on, and back: call chains, most of which share their
 * ends while few are equal. Not for keys of fixed size (id_table) or text (intern).
 *
 * Owned by its aggregate, one thread. list_table_add is LIST_TABLE_NONE when memory runs out; the table is then
 * unchanged. The lists are stored one after another, so a look-up waits for memory twice: for the slot, then for the
 * list. A caller with many look-ups starts the first access for all of them, then the second, and then adds:
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
#define LIST_HEAD_WORDS 2 /* id, count */

struct list_table { /* zero-initialised is empty */
	VEC(uint32_t) words; /* of each list: its head, then its items */
	VEC(uint32_t) starts; /* by id, in words */
	uint64_t *slots; /* open addressing: hash and start + 1; 0 is empty */
	size_t slot_count;
};

struct list {
	const uint32_t *items;
	uint32_t count;
};

struct list_source { /* lists that exist already; every worker may ask for each of them, more than once */
	size_t count;
	struct list (*get)(const void *context, uint32_t list);
	const void *context;
};

void list_table_deinit(struct list_table *table);
uint32_t list_table_hash(const uint32_t *items, size_t count);
uint32_t list_table_add(struct list_table *table, const uint32_t *items, size_t count);
uint32_t list_table_add_hashed(struct list_table *table, const uint32_t *items, size_t count, uint32_t hash);
/* Look-ups in that many lists in all need no more memory. False: out of memory. */
bool list_table_reserve(struct list_table *table, size_t count);
/* Fills an empty table with these lists, which must be distinct, by several workers. Look-ups do not find them. False:
 * there are too many, or memory ran out; the table stays empty. */
bool list_table_fill(struct list_table *table, const struct list_source *from, unsigned threads);
/* Frees the memory for look-ups. Nothing can be added after that. */
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
