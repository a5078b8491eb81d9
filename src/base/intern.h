/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - maps unique byte strings to dense IDs from 0 on, and back. Owned by its aggregate; one writer; pointers
 * stay valid until deinit. INTERN_NONE is never an id.
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
	uint64_t *slots; /* open addressing: upper half of the hash, and id + 1; 0 is empty */
	size_t len, cap, slot_count;
};

void intern_init(struct intern *in);
void intern_deinit(struct intern *in);
bool intern_add(struct intern *in, const void *data, size_t len, uint32_t *id);
/*
 * As with id_table, the memory accesses of many look-ups overlap.
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
/* The id that a string of this hash very likely has; INTERN_NONE: no string has this hash yet. */
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
