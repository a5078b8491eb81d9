/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_u64.h - implements a hash map from u64 to u64 with open addressing. A zero-initialised map is empty. Any key is
 * allowed, and keys cannot be removed.
 *
 *	if (!map_u64_set(&m, key, value)) return error_nomem(err);
 *	if (map_u64_find(&m, key, &value)) ...
 */
#ifndef BASE_MAP_U64_H
#define BASE_MAP_U64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_u64_slot {
	uint64_t key, value;
};

struct map_u64 {
	struct map_u64_slot *slots;
	uint8_t *full; /* 1 for each slot that is used. */
	size_t len;
	size_t slot_count; /* A power of two, or 0. */
};

void map_u64_deinit(struct map_u64 *map);
bool map_u64_reserve(struct map_u64 *map, size_t count);
bool map_u64_set(struct map_u64 *map, uint64_t key, uint64_t value);
bool map_u64_find(const struct map_u64 *map, uint64_t key, uint64_t *value);
/*
 * Returns the value of key, which is added with value 0 if it is missing; was_new may be NULL. The pointer is valid
 * until the next change. Returns NULL if out of memory.
 */
uint64_t *map_u64_at(struct map_u64 *map, uint64_t key, bool *was_new);
/* Stores the next entry in unspecified order; false at the end. *position must be 0 at first. */
bool map_u64_next(const struct map_u64 *map, size_t *position, uint64_t *key, uint64_t *value);

#endif
