/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_code.h - packs the code of functions in which samples were taken (and of addresses outside of functions), with
 * the symbols that it refers to.
 *
 * The object borrows from the store. Not thread-safe.
 *
 *	pack_code_add(&codes, store, id, symbol, &object);  // for each function, in order of address
 *	pack_code_finish(&object);
 */
#ifndef TASKS_PACKING_PACK_CODE_H
#define TASKS_PACKING_PACK_CODE_H

#include "code/binary_store.h"
#include "code/pack/pack.h"

struct pack_codes {
	VEC(uint64_t) addresses; /* Addresses of the instructions, as for binary_store_find; freed by the caller. */
	uint64_t bytes; /* Size of all code so far. */
	/* Numbers of packed functions, and of those with code that is missing, too large, or of an unknown machine. */
	size_t functions, skipped;
};

/* Returns false if memory runs out. */
TALLY_MUST_CHECK bool pack_code_add(struct pack_codes *codes, struct binary_store *store, uint32_t id,
	const struct symbol *symbol, struct pack_object *object);
/* Adds the code of [start, end), where no function is known. Calls must be in order of address, together with those of
 * pack_code_add. Returns false if memory runs out. */
TALLY_MUST_CHECK bool pack_code_add_unnamed(struct pack_codes *codes, struct binary_store *store, uint32_t id,
	uint64_t start, uint64_t end, struct pack_object *object);
/* Removes duplicate names, and sorts them. */
void pack_code_finish(struct pack_object *object);

#endif
