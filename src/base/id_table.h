/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_table.h - maps fixed-size keys of 64-bit words to dense IDs from 0 on, and back. For strings use intern, for
 * single words map_u64.
 *
 * A table is owned by the struct that embeds it, and used by one thread. id_table_add returns ID_TABLE_NONE when memory
 * runs out, and leaves the table unchanged; id_table_find returns ID_TABLE_NONE if the key is missing. The keys are
 * stored one after another in `keys`, in ID order, with `words` words each.
 *
 *	struct id_table t = {.words = 2};
 *	uint32_t id = id_table_add(&t, (const uint64_t[]){a, b}, &was_new);
 *	id_table_deinit(&t);
 */
#ifndef BASE_ID_TABLE_H
#define BASE_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/slots.h"

#define ID_TABLE_NONE UINT32_MAX

struct id_table {
	unsigned words; /* Number of words of a key; set before the first add. */
	uint64_t *keys;
	/* Hash table with open addressing: an element contains the hash and the ID + 1, or 0 if it is empty. */
	uint64_t *slots;
	size_t len, cap, slot_count;
	size_t appended; /* Number of keys that lookups do not find. */
};

void id_table_deinit(struct id_table *table);
/* Allocates room for count keys in total. Returns false if out of memory. */
bool id_table_reserve(struct id_table *table, size_t count);
/* Does the same for the keys alone, without the hash table. */
bool id_table_expect_keys(struct id_table *table, size_t count);
/* Returns the ID of the key, which it adds if it is missing. was_new may be NULL. */
uint32_t id_table_add(struct id_table *table, const uint64_t *key, bool *was_new);

/* Appends a key that is known to be new and will not be looked up. Lookups do not find it. */
uint32_t id_table_append(struct id_table *table, const uint64_t *key);
/* Frees the hash table; lookups find nothing afterwards. */
void id_table_end_lookups(struct id_table *table);
/*
 * Appends count keys and returns their memory, which the caller fills. Their IDs begin at the table's length before the
 * call. Returns NULL if out of memory.
 */
uint64_t *id_table_append_many(struct id_table *table, size_t count);

/*
 * A lookup in a large table waits for memory twice: for the slot, then for the key. A caller with many lookups
 * prefetches the slots of all of them, then the keys, and then adds:
 *
 *	hash[i] = id_table_hash(&t, key[i]); id_table_expect(&t, hash[i]);   ... id_table_guess(&t, hash[i]); ...
 *	id = id_table_add_hashed(&t, key[i], hash[i], &was_new);
 */
static inline uint32_t id_table_hash_words(const uint64_t *key, unsigned words)
{
	uint64_t h = 0;
	for (unsigned i = 0; i < words; i++) {
		h = (h ^ key[i]) * HASH_FACTOR;
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 32) ^ (uint32_t)h;
}
static inline uint32_t id_table_hash(const struct id_table *table, const uint64_t *key)
{
	return id_table_hash_words(key, table->words);
}
uint32_t id_table_add_hashed(struct id_table *table, const uint64_t *key, uint32_t hash, bool *was_new);
static inline void id_table_expect(const struct id_table *table, uint32_t hash)
{
	if (table->slot_count)
		__builtin_prefetch(&table->slots[hash & (table->slot_count - 1)]);
}
/*
 * Returns the ID that a key with this hash probably has, and prefetches its key; ID_TABLE_NONE if the first slots do
 * not contain this hash.
 */
static inline uint32_t id_table_guess(const struct id_table *table, uint32_t hash)
{
	uint64_t slot = slots_guess(table->slots, table->slot_count, hash);
	if (!slot)
		return ID_TABLE_NONE;
	uint32_t id = (uint32_t)slot - 1;
	__builtin_prefetch(table->keys + (size_t)id * table->words);
	return id;
}
static inline const uint64_t *id_table_key(const struct id_table *table, uint32_t id)
{
	return table->keys + (size_t)id * table->words;
}
/*
 * Adds count adjacent keys and stores their IDs. The memory accesses of many keys overlap. Returns false if out of
 * memory.
 */
bool id_table_add_many(struct id_table *table, const uint64_t *keys, size_t count, uint32_t *ids);
uint32_t id_table_find(const struct id_table *table, const uint64_t *key);

#endif
