/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map_u64.h"

#include <stdlib.h>

#include "base/hash.h"

void map_u64_deinit(struct map_u64 *map)
{
	free(map->slots);
	free(map->full);
	*map = (struct map_u64){0};
}

static uint64_t map_u64_mix(uint64_t key)
{
	key ^= key >> 32;
	key *= HASH_FACTOR;
	return key ^ key >> 29;
}

/* Returns the slot of key, or the empty slot where it belongs. */
static size_t map_u64_find_slot(const struct map_u64 *map, uint64_t key)
{
	size_t mask = map->slot_count - 1;
	size_t slot = (size_t)map_u64_mix(key) & mask;
	while (map->full[slot] && map->slots[slot].key != key)
		slot = (slot + 1) & mask;
	return slot;
}

static bool map_u64_resize(struct map_u64 *map, size_t slot_count)
{
	struct map_u64 bigger = {.slot_count = slot_count};
	bigger.slots = calloc(slot_count, sizeof(*bigger.slots));
	bigger.full = calloc(slot_count, 1);
	if (!bigger.slots || !bigger.full) {
		map_u64_deinit(&bigger);
		return false;
	}
	for (size_t i = 0; i < map->slot_count; i++) {
		if (!map->full[i])
			continue;
		size_t slot = map_u64_find_slot(&bigger, map->slots[i].key);
		bigger.slots[slot] = map->slots[i];
		bigger.full[slot] = 1;
	}
	bigger.len = map->len;
	map_u64_deinit(map);
	*map = bigger;
	return true;
}

bool map_u64_reserve(struct map_u64 *map, size_t count)
{
	size_t slots = map->slot_count ? map->slot_count : 16;
	while (slots / 4 * 3 < count)
		if (__builtin_mul_overflow(slots, (size_t)2, &slots))
			return false;
	return slots == map->slot_count || map_u64_resize(map, slots);
}

uint64_t *map_u64_at(struct map_u64 *map, uint64_t key, bool *was_new)
{
	if (was_new)
		*was_new = false;
	if (map->slot_count > 0) {
		size_t slot = map_u64_find_slot(map, key);
		if (map->full[slot])
			return &map->slots[slot].value;
	}
	if (!map_u64_reserve(map, map->len + 1))
		return NULL;
	size_t slot = map_u64_find_slot(map, key);
	map->full[slot] = 1;
	map->slots[slot] = (struct map_u64_slot){.key = key};
	map->len++;
	if (was_new)
		*was_new = true;
	return &map->slots[slot].value;
}

bool map_u64_set(struct map_u64 *map, uint64_t key, uint64_t value)
{
	uint64_t *at = map_u64_at(map, key, NULL);
	if (!at)
		return false;
	*at = value;
	return true;
}

bool map_u64_find(const struct map_u64 *map, uint64_t key, uint64_t *value)
{
	if (map->slot_count == 0)
		return false;
	size_t slot = map_u64_find_slot(map, key);
	if (!map->full[slot])
		return false;
	*value = map->slots[slot].value;
	return true;
}

bool map_u64_next(const struct map_u64 *map, size_t *position, uint64_t *key, uint64_t *value)
{
	for (; *position < map->slot_count; ++*position) {
		if (!map->full[*position])
			continue;
		*key = map->slots[*position].key;
		*value = map->slots[*position].value;
		++*position;
		return true;
	}
	return false;
}
