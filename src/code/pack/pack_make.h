/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_make.h - packs the symbols, lines and code that a store has for some addresses.
 *
 * The object borrows from the store; the caller frees it by pack_object_deinit, also after a failure. One thread.
 *
 *	struct pack_object object = {0};
 *	pack_make(store, id, addresses, count, &object, err);
 */
#ifndef CODE_PACK_PACK_MAKE_H
#define CODE_PACK_PACK_MAKE_H

#include "code/binary_store.h"
#include "code/pack/pack.h"

/* Of a loaded entry; addresses rise. Symbols, places and what describes the file are added to the object. */
TALLY_MUST_CHECK enum tally_status pack_make(struct binary_store *store, uint32_t id, const uint64_t *addresses,
	size_t count, struct pack_object *object, struct tally_error *err);

#endif
