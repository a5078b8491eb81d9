/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - maps unique byte strings to dense IDs from 0 on, and back. It is owned by the struct that embeds it; while
 * one thread adds strings, no other thread may use it. Strings stay at their addresses until intern_deinit. INTERN_NONE
 * is never an ID; intern_find returns it for a missing string.
 *
 *	uint32_t id;
 *	if (!intern_add(&in, "comm", 4, &id)) return error_nomem(err);
 *	struct tally_str s = intern_get(&in, id);   // s.data is NUL-terminated too
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"
#include "base/bytes.h"

#define INTERN_NONE UINT32_MAX

struct intern {
	struct arena arena;
	struct tally_str *strings;
	uint64_t *hashes;
	/*
	 * Hash table with open addressing: an element contains the upper half of the hash and the ID + 1, or 0 if it is
	 * empty.
	 */
	uint64_t *slots;
	size_t len, cap, slot_count;
};

void intern_init(struct intern *in);
void intern_deinit(struct intern *in);
bool intern_add(struct intern *in, const void *data, size_t len, uint32_t *id);
/*
 * A caller with many lookups prefetches the slots of all of them, then the strings, and then adds, so that the memory
 * accesses overlap:
 *
 *	hash[i] = bytes_hash(data[i], len[i]); intern_expect(&in, hash[i]);   ... intern_guess(&in, hash[i]); ...
 *	intern_add_hashed(&in, data[i], len[i], hash[i], &id);
 */
bool intern_add_hashed(struct intern *in, const void *data, size_t len, uint64_t hash, uint32_t *id);
static inline void intern_expect(const struct intern *in, uint64_t hash)
{
	if (in->slot_count)
		__builtin_prefetch(&in->slots[hash & (in->slot_count - 1)]);
}
/*
 * Returns the ID that a string with this hash probably has, and prefetches its entry in strings; INTERN_NONE if the
 * first slot does not contain this hash.
 */
static inline uint32_t intern_guess(const struct intern *in, uint64_t hash)
{
	uint64_t slot = in->slot_count ? in->slots[hash & (in->slot_count - 1)] : 0;
	if (!slot || (slot ^ hash) >> 32)
		return INTERN_NONE;
	uint32_t id = (uint32_t)slot - 1;
	__builtin_prefetch(&in->strings[id]);
	return id;
}
uint32_t intern_find(const struct intern *in, const void *data, size_t len);
static inline struct tally_str intern_get(const struct intern *in, uint32_t id)
{
	return id < in->len ? in->strings[id] : (struct tally_str){"", 0};
}

#endif
