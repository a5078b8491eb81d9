/*
 * key_sort.h - many things brought into the order of 64-bit keys: in a time that grows with their number only, and equal
 * keys stay in their order. What has several keys is sorted by the last one first.
 *
 * The caller has the memory: room is as large as keys, what is in it afterwards is of no use.
 *
 *	for (size_t i = 0; i < count; i++) keys[i] = (struct sort_key){item[i].time, i};
 *	key_sort(keys, room, count);   ... item[keys[0].index] is the first ...
 */
#ifndef BASE_KEY_SORT_H
#define BASE_KEY_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t key;
	size_t index; /* the caller's */
};

void key_sort(struct sort_key *keys, struct sort_key *room, size_t count);

#endif
