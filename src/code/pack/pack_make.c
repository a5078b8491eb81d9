/* SPDX-License-Identifier: Apache-2.0 */
#include "code/pack/pack_make.h"

#include "base/error.h"
#include "base/limits.h"

#define NEAR 16 /* No instruction is longer than this many bytes. */

static bool pack_make_is_same_place(const struct source_place *a, const struct source_place *b)
{
	return a->function == b->function && a->path == b->path && a->line == b->line &&
	       a->discriminator == b->discriminator && a->is_inlined == b->is_inlined;
}

/* Extends the last range of addresses if this one follows closely and has the same source locations. */
static bool extend_range(struct pack_object *object, uint64_t address, const struct source_place *places, size_t count)
{
	struct pack_range *last = object->ranges.len ? &object->ranges.items[object->ranges.len - 1] : NULL;
	if (!last || last->count != count || address - (last->start + last->size) >= NEAR ||
		last->size > UINT32_MAX - 2 * NEAR)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!pack_make_is_same_place(&object->places.items[last->first + i], &places[i]))
			return false;
	last->size = (uint32_t)(address - last->start + 1);
	return true;
}

static bool pack_places(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, struct pack_object *object)
{
	struct source_place places[LIMIT_INLINE_DEPTH];
	for (size_t i = 0; i < count; i++) {
		size_t found = binary_store_places(store, id, addresses[i], places, LIMIT_INLINE_DEPTH);
		struct pack_range range = {addresses[i], 1, (uint32_t)object->places.len, (uint32_t)found};
		if (extend_range(object, addresses[i], places, found))
			continue;
		for (size_t p = 0; p < found; p++)
			if (!vec_push(&object->places, places[p]))
				return false;
		if (!vec_push(&object->ranges, range))
			return false;
	}
	return true;
}

static bool pack_symbols(
	struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count, struct pack_object *object)
{
	for (size_t i = 0; i < count; i++) {
		const struct symbol *symbol = binary_store_find(store, id, addresses[i]);
		size_t known = object->symbols.len;
		bool is_new = symbol && (known == 0 || symbol->start > object->symbols.items[known - 1].start);
		if (is_new && !vec_push(&object->symbols, *symbol))
			return false;
	}
	return true;
}

enum tally_status pack_make(struct binary_store *store, uint32_t id, const uint64_t *addresses, size_t count,
	struct pack_object *object, struct tally_error *err)
{
	if (!binary_store_describe(store, id, object) || !pack_symbols(store, id, addresses, count, object))
		return error_nomem(err);
	enum tally_status status = binary_store_load_places(store, id, addresses, count, err);
	if (status != TALLY_OK)
		return status;
	object->places_path = binary_store_places_path(store, id);
	if (!pack_places(store, id, addresses, count, object))
		return error_nomem(err);
	for (unsigned lack = 0; lack < BINARY_LACK_KINDS; lack++)
		if (binary_store_lack(store, id, (enum binary_lack)lack).what)
			object->lacks |= 1U << lack;
	return TALLY_OK;
}
