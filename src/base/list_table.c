/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/slots.h"
#include "base/thread_pool.h"

#define LIST_TABLE_FIRST_SLOTS 64
#define CHUNK_LISTS	       8192 /* Number of lists in a task. */

void list_table_deinit(struct list_table *table)
{
	vec_free(&table->words);
	vec_free(&table->starts);
	free(table->slots);
	*table = (struct list_table){0};
}

void list_table_end_lookups(struct list_table *table)
{
	free(table->slots);
	table->slots = NULL;
	table->slot_count = 0;
}

uint32_t list_table_hash(const uint32_t *items, size_t count)
{
	uint64_t h = count;
	for (size_t i = 0; i < count; i += 2) {
		uint64_t word = items[i];
		if (i + 1 < count)
			word |= (uint64_t)items[i + 1] << 32;
		h = (h ^ word) * HASH_FACTOR;
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

/* Returns the slot of a list, or the empty slot where it belongs. */
static size_t list_table_find_slot(const struct list_table *table, const uint32_t *items, size_t count, uint32_t hash)
{
	size_t mask = table->slot_count - 1;
	size_t at = hash & mask;
	for (; table->slots[at]; at = (at + 1) & mask) {
		if (table->slots[at] >> 32 != hash)
			continue;
		const uint32_t *head = &table->words.items[(uint32_t)table->slots[at] - 1];
		if (head[1] == count && (!count || !memcmp(head + LIST_HEAD_WORDS, items, count * sizeof(*items))))
			break;
	}
	return at;
}

bool list_table_reserve(struct list_table *table, size_t count)
{
	size_t slot_count = table->slot_count;
	while (slots_are_full(count, slot_count))
		slot_count = slot_count ? slot_count * 2 : LIST_TABLE_FIRST_SLOTS;
	return slot_count == table->slot_count || slots_grow_to(&table->slots, &table->slot_count, slot_count);
}

uint32_t list_table_add(struct list_table *table, const uint32_t *items, size_t count)
{
	return list_table_add_hashed(table, items, count, list_table_hash(items, count));
}

uint32_t list_table_add_hashed(struct list_table *table, const uint32_t *items, size_t count, uint32_t hash)
{
	size_t len = table->starts.len, start = table->words.len;
	if (slots_are_full(len, table->slot_count) && !slots_grow(&table->slots, &table->slot_count))
		return LIST_TABLE_NONE;
	size_t at = list_table_find_slot(table, items, count, hash);
	if (table->slots[at])
		return table->words.items[(uint32_t)table->slots[at] - 1];
	if (count > UINT32_MAX - LIST_HEAD_WORDS || start >= UINT32_MAX - LIST_HEAD_WORDS - count)
		return LIST_TABLE_NONE;
	if (!vec_reserve(&table->starts, len + 1) || !vec_reserve(&table->words, start + LIST_HEAD_WORDS + count))
		return LIST_TABLE_NONE;
	uint32_t *head = &table->words.items[start];
	head[0] = (uint32_t)len;
	head[1] = (uint32_t)count;
	if (count)
		memcpy(head + LIST_HEAD_WORDS, items, count * sizeof(*items));
	table->words.len = start + LIST_HEAD_WORDS + count;
	table->starts.items[table->starts.len++] = (uint32_t)start;
	table->slots[at] = (uint64_t)hash << 32 | (start + 1);
	return (uint32_t)len;
}

struct list_table_filling {
	struct list_table *table;
	const struct list_source *from;
	uint64_t *words; /* By chunk: number of words of its lists, then of all lists before it. */
};

static size_t list_table_chunk_end(const struct list_table_filling *f, size_t chunk)
{
	return thread_pool_task_end(chunk, CHUNK_LISTS, f->from->count);
}

static void count_words(void *context, size_t chunk, unsigned worker)
{
	const struct list_table_filling *f = context;
	for (size_t i = chunk * CHUNK_LISTS; i < list_table_chunk_end(f, chunk); i++)
		f->words[chunk] += LIST_HEAD_WORDS + f->from->get(f->from->context, (uint32_t)i).count;
}

static void copy_lists(void *context, size_t chunk, unsigned worker)
{
	const struct list_table_filling *f = context;
	uint32_t *to = f->table->words.items, start = (uint32_t)f->words[chunk];
	for (size_t i = chunk * CHUNK_LISTS; i < list_table_chunk_end(f, chunk); i++) {
		struct list list = f->from->get(f->from->context, (uint32_t)i);
		f->table->starts.items[i] = start;
		to[start] = (uint32_t)i;
		to[start + 1] = list.count;
		if (list.count)
			memcpy(to + start + LIST_HEAD_WORDS, list.items, list.count * sizeof(*to));
		start += LIST_HEAD_WORDS + list.count;
	}
}

bool list_table_fill(struct list_table *table, const struct list_source *from, unsigned threads)
{
	size_t chunks = thread_pool_tasks(from->count, CHUNK_LISTS);
	struct list_table_filling f = {table, from, calloc(chunks + 1, sizeof(*f.words))};
	if (!f.words)
		return false;
	thread_pool_for(chunks, threads, count_words, &f);
	uint64_t all = 0;
	for (size_t chunk = 0; chunk < chunks; chunk++) {
		uint64_t count = f.words[chunk];
		f.words[chunk] = all;
		all += count;
	}
	bool is_done = all < UINT32_MAX && vec_reserve(&table->starts, from->count) && vec_reserve(&table->words, all);
	if (is_done) {
		thread_pool_for(chunks, threads, copy_lists, &f);
		table->starts.len = from->count;
		table->words.len = all;
	}
	free(f.words);
	return is_done;
}
