/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include "base/vec.h"

void intern_init(struct intern *in)
{
	*in = (struct intern){0};
	arena_init(&in->arena);
}

void intern_deinit(struct intern *in)
{
	arena_deinit(&in->arena);
	free(in->strings);
	free(in->hashes);
	free(in->slots);
	*in = (struct intern){0};
}

/* Hash bits in the slot itself settle nearly every mismatch without touching the string. */
static uint64_t slot_value(uint64_t hash, size_t id)
{
	return (hash & ~(uint64_t)UINT32_MAX) | (id + 1);
}

static uint32_t slot_id(uint64_t slot)
{
	return (uint32_t)slot - 1;
}

/* Returns the slot that holds the string, or the empty slot where it belongs. */
static size_t intern_find_slot(const struct intern *in, const void *data, size_t len, uint64_t hash)
{
	size_t mask = in->slot_count - 1;
	size_t at = (size_t)hash & mask;
	for (; in->slots[at] != 0; at = (at + 1) & mask) {
		uint64_t slot = in->slots[at];
		if ((slot ^ hash) >> 32 != 0)
			continue;
		const struct tally_str *string = &in->strings[slot_id(slot)];
		if (string->len == len && (len == 0 || memcmp(string->data, data, len) == 0))
			break;
	}
	return at;
}

static bool grow_slots(struct intern *in)
{
	size_t count = in->slot_count ? in->slot_count * 2 : 64;
	uint64_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t id = 0; id < in->len; id++) {
		size_t at = (size_t)in->hashes[id] & (count - 1);
		while (slots[at] != 0)
			at = (at + 1) & (count - 1);
		slots[at] = slot_value(in->hashes[id], id);
	}
	free(in->slots);
	in->slots = slots;
	in->slot_count = count;
	return true;
}

static bool reserve_one(struct intern *in)
{
	if ((in->len + 1) * 4 > in->slot_count * 3 && !grow_slots(in))
		return false;
	if (in->len < in->cap)
		return true;
	size_t string_cap = in->cap;
	size_t hash_cap = in->cap;
	if (!vec_grow(&in->strings, &string_cap, sizeof(*in->strings), in->len + 1) ||
		!vec_grow(&in->hashes, &hash_cap, sizeof(*in->hashes), in->len + 1))
		return false;
	in->cap = hash_cap;
	return true;
}

bool intern_add(struct intern *in, const void *data, size_t len, uint32_t *id)
{
	return intern_add_hashed(in, data, len, bytes_hash(data, len), id);
}

bool intern_add_hashed(struct intern *in, const void *data, size_t len, uint64_t hash, uint32_t *id)
{
	if (in->slot_count > 0) {
		size_t slot = intern_find_slot(in, data, len, hash);
		if (in->slots[slot] != 0) {
			*id = slot_id(in->slots[slot]);
			return true;
		}
	}
	if (in->len >= INTERN_NONE - 1 || !reserve_one(in))
		return false;
	/* Aligned to 8, so that fixed-size keys can be read in place. The NUL is for text. */
	char *copy = arena_alloc(&in->arena, len + 1, 8);
	if (!copy)
		return false;
	if (len > 0)
		memcpy(copy, data, len);
	size_t slot = intern_find_slot(in, data, len, hash);
	in->strings[in->len] = (struct tally_str){copy, len};
	in->hashes[in->len] = hash;
	in->slots[slot] = slot_value(hash, in->len);
	*id = (uint32_t)in->len++;
	return true;
}

uint32_t intern_find(const struct intern *in, const void *data, size_t len)
{
	if (in->slot_count == 0)
		return INTERN_NONE;
	size_t slot = intern_find_slot(in, data, len, bytes_hash(data, len));
	return in->slots[slot] == 0 ? INTERN_NONE : slot_id(in->slots[slot]);
}
