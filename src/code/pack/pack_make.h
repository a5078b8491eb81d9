/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_make.h - packs the symbols, lines and code that a store contains for some addresses.
 *
 * The object borrows from the store; the caller frees it with pack_object_deinit, also after a failure. One thread.
 *
 *	struct pack_object object = {0};
 *	pack_make(store, id, addresses, count, &object, err);
 */
#ifndef CODE_PACK_PACK_MAKE_H
#define CODE_PACK_PACK_MAKE_H

#include "code/binary_store.h"
#include "code/pack/pack.h"

/* Appends symbols, places and the description of the file to object. The entry is loaded; addresses ascend. */
TALLY_MUST_CHECK enum tally_status pack_make(struct binary_store *store, uint32_t id, const uint64_t *addresses,
	size_t count, struct pack_object *object, struct tally_error *err);

#endif
