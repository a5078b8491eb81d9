/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_sort.h - sorts many items by 64-bit keys in linear time, and preserves the order of items with equal keys (a
 * radix sort). To sort by several keys, sort by the least significant one first.
 *
 * key_sort sorts keys, and key_sort_divide divides them into parts that several workers may sort, both in memory of the
 * caller; key_sort_order returns the order of an array, which the caller frees; key_sort_items moves the items
 * themselves.
 *
 *	for (size_t i = 0; i < count; i++) keys[i] = (struct sort_key){item[i].time, i};
 *	key_sort(keys, room, count);   ... item[keys[0].index] is the first ...
 *	key_sort_items(items, count, sizeof(*items), (key_of_item[]){event_of, time_of}, 2);
 */
#ifndef BASE_KEY_SORT_H
#define BASE_KEY_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t key;
	size_t index; /* Any value of the caller's choice. */
};

typedef uint64_t (*key_of_item)(const void *item);

/* room has the size of keys; its contents are undefined afterwards. */
void key_sort(struct sort_key *keys, struct sort_key *room, size_t count);
/* Sorts with at most max_workers threads; 0 is one per CPU. */
void key_sort_by_all(struct sort_key *keys, struct sort_key *room, size_t count, unsigned max_workers);

#define KEY_SORT_PARTS 16
/*
 * Divides the keys into parts, which it writes to `to`. No key is larger than a key of a later part, and parts have
 * about the same size if keys differ. Stores the end of each part in ends. Within a part, keys retain their order.
 */
void key_sort_divide(const struct sort_key *keys, struct sort_key *to, size_t count, size_t ends[KEY_SORT_PARTS],
	unsigned max_workers);
/*
 * Returns the order of the items by several keys, of which the first is the most significant: for each position the
 * index of its item. The caller frees it. Returns NULL if out of memory.
 */
struct sort_key *key_sort_order(
	const void *items, size_t count, size_t size, const key_of_item *keys_of, size_t key_count);
/*
 * Moves the items in place into the order that key_sort_order returned; order is undefined afterwards. Returns false if
 * out of memory.
 */
bool key_sort_move(void *items, size_t count, size_t size, struct sort_key *order);
/* Sorts the items themselves. Needs no memory if they are in order already. Returns false if out of memory. */
bool key_sort_items(void *items, size_t count, size_t size, const key_of_item *keys_of, size_t key_count);

#endif
