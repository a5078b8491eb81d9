/*
 * id_table.h - fixed-size keys of 64-bit words <-> dense ids, first id 0. Not for strings (intern) or one word to one
 * word (map_u64).
 *
 * Owned by its aggregate, one thread. id_table_add is ID_TABLE_NONE when memory is out; the table is then unchanged.
 * The keys lie one after another in `keys`, words each, in id order.
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

#define ID_TABLE_NONE UINT32_MAX

struct id_table {
	unsigned words; /* of one key; set before the first add */
	uint64_t *keys;
	uint64_t *slots; /* open addressing: hash and id + 1; 0 is empty */
	size_t len, cap, slot_count;
};

void id_table_deinit(struct id_table *table);
/* was_new may be NULL. */
uint32_t id_table_add(struct id_table *table, const uint64_t *key, bool *was_new);
static inline const uint64_t *id_table_key(const struct id_table *table, uint32_t id)
{
	return table->keys + (size_t)id * table->words;
}
uint32_t id_table_find(const struct id_table *table, const uint64_t *key);

#endif
