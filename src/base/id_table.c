/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/slots.h"

#define FIRST_KEYS	     32
#define ID_TABLE_FIRST_SLOTS 64
#define MANY		     32 /* Number of lookups that wait for memory in parallel. */

void id_table_deinit(struct id_table *table)
{
	free(table->keys);
	free(table->slots);
	*table = (struct id_table){.words = table->words};
}

void id_table_end_lookups(struct id_table *table)
{
	free(table->slots);
	table->slots = NULL;
	table->slot_count = 0;
	table->appended = table->len;
}

static bool key_equal(const uint64_t *a, const uint64_t *b, unsigned words)
{
	for (unsigned i = 0; i < words; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* A slot contains its key's hash in the upper half and id + 1 in the lower half, so nearly only equal keys are read. */
static size_t id_table_find_slot(const struct id_table *table, const uint64_t *key, uint32_t hash)
{
	size_t mask = table->slot_count - 1;
	size_t at = hash & mask;
	for (; table->slots[at]; at = (at + 1) & mask) {
		uint64_t slot = table->slots[at];
		if (slot >> 32 != hash)
			continue;
		uint32_t id = (uint32_t)slot - 1;
		if (key_equal(table->keys + (size_t)id * table->words, key, table->words))
			break;
	}
	return at;
}

static bool grow_keys(struct id_table *table, size_t cap)
{
	size_t bytes;
	if (cap >= ID_TABLE_NONE || !checked_mul(cap, table->words * sizeof(*table->keys), &bytes))
		return false;
	uint64_t *keys = realloc(table->keys, bytes);
	if (!keys)
		return false;
	table->keys = keys;
	table->cap = cap;
	return true;
}

bool id_table_reserve(struct id_table *table, size_t count)
{
	if (count >= ID_TABLE_NONE || (count > table->cap && !grow_keys(table, count)))
		return false;
	size_t slot_count = table->slot_count;
	while (slots_are_full(count, slot_count))
		slot_count = slot_count ? slot_count * 2 : ID_TABLE_FIRST_SLOTS;
	return slot_count == table->slot_count || slots_grow_to(&table->slots, &table->slot_count, slot_count);
}

bool id_table_expect_keys(struct id_table *table, size_t count)
{
	return count <= table->cap || grow_keys(table, count);
}

uint32_t id_table_add(struct id_table *table, const uint64_t *key, bool *was_new)
{
	return id_table_add_hashed(table, key, id_table_hash(table, key), was_new);
}

uint32_t id_table_add_hashed(struct id_table *table, const uint64_t *key, uint32_t hash, bool *was_new)
{
	if (was_new)
		*was_new = false;
	if (slots_are_full(table->len - table->appended, table->slot_count) &&
		!slots_grow(&table->slots, &table->slot_count))
		return ID_TABLE_NONE;
	size_t at = id_table_find_slot(table, key, hash);
	if (table->slots[at])
		return (uint32_t)table->slots[at] - 1;
	if (table->len == table->cap && !grow_keys(table, table->cap ? table->cap * 2 : FIRST_KEYS))
		return ID_TABLE_NONE;
	memcpy(table->keys + table->len * table->words, key, table->words * sizeof(*key));
	table->slots[at] = (uint64_t)hash << 32 | ++table->len;
	if (was_new)
		*was_new = true;
	return (uint32_t)table->len - 1;
}

uint32_t id_table_append(struct id_table *table, const uint64_t *key)
{
	if (table->len == table->cap && !grow_keys(table, table->cap ? table->cap * 2 : FIRST_KEYS))
		return ID_TABLE_NONE;
	memcpy(table->keys + table->len * table->words, key, table->words * sizeof(*key));
	table->appended++;
	return (uint32_t)table->len++;
}

uint64_t *id_table_append_many(struct id_table *table, size_t count)
{
	size_t len = table->len + count;
	if (len > table->cap && !grow_keys(table, len))
		return NULL;
	uint64_t *room = table->keys + table->len * table->words;
	table->appended += count;
	table->len = len;
	return room;
}

bool id_table_add_many(struct id_table *table, const uint64_t *keys, size_t count, uint32_t *ids)
{
	uint32_t hashes[MANY], guesses[MANY];
	for (size_t first = 0; first < count; first += MANY) {
		size_t len = MIN(count - first, MANY);
		const uint64_t *batch = keys + first * table->words;
		for (size_t i = 0; i < len; i++) {
			hashes[i] = id_table_hash(table, batch + i * table->words);
			id_table_expect(table, hashes[i]);
		}
		for (size_t i = 0; i < len; i++)
			guesses[i] = id_table_guess(table, hashes[i]);
		for (size_t i = 0; i < len; i++) {
			const uint64_t *key = batch + i * table->words;
			ids[first + i] = guesses[i];
			if (guesses[i] != ID_TABLE_NONE &&
				key_equal(id_table_key(table, guesses[i]), key, table->words))
				continue;
			ids[first + i] = id_table_add_hashed(table, key, hashes[i], NULL);
			if (ids[first + i] == ID_TABLE_NONE)
				return false;
		}
	}
	return true;
}

uint32_t id_table_find(const struct id_table *table, const uint64_t *key)
{
	if (!table->slot_count)
		return ID_TABLE_NONE;
	size_t at = id_table_find_slot(table, key, id_table_hash(table, key));
	return table->slots[at] ? (uint32_t)table->slots[at] - 1 : ID_TABLE_NONE;
}
