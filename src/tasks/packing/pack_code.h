/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_code.h - packs the code of functions that samples hit (and of addresses outside of functions), with the symbols
 * that it refers to.
 *
 * The object borrows from the store. One thread.
 *
 *	pack_code_add(&codes, store, id, symbol, &object);  // for each function, in order of address
 *	pack_code_finish(&object);
 */
#ifndef TASKS_PACKING_PACK_CODE_H
#define TASKS_PACKING_PACK_CODE_H

#include "code/binary_store.h"
#include "code/pack/pack.h"

struct pack_codes {
	VEC(uint64_t) addresses; /* of instructions, as binary_store_find takes them; the caller's to free */
	uint64_t bytes; /* of all code so far */
	size_t functions, skipped; /* skipped: the code is missing, too large, or of an unknown machine */
};

/* False: out of memory. */
TALLY_MUST_CHECK bool pack_code_add(struct pack_codes *codes, struct binary_store *store, uint32_t id,
	const struct symbol *symbol, struct pack_object *object);
/* Adds the code of [start, end), where no function is known; after all earlier additions. */
TALLY_MUST_CHECK bool pack_code_add_unnamed(struct pack_codes *codes, struct binary_store *store, uint32_t id,
	uint64_t start, uint64_t end, struct pack_object *object);
/* Removes duplicate names, and sorts them. */
void pack_code_finish(struct pack_object *object);

#endif
