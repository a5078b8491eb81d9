/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_symbols.h - remembers the locations for which a store has the symbols, so that batches need not repeat them.
 *
 * The set belongs to one store, identified by its ID; an acknowledgement by another store empties it. The symbols of
 * kernel locations and of files without build ID are always sent, because their addresses may have other symbols later.
 * Memory is bounded. Not thread-safe.
 *
 *	agent_symbols_shorten(&symbols, bytes, &shorter, err);
 *	agent_symbols_acknowledge(&symbols, store, bytes, err);
 */
#ifndef VERBS_AGENT_AGENT_SYMBOLS_H
#define VERBS_AGENT_AGENT_SYMBOLS_H

#include "base/map_u64.h"
#include "fleet/batch.h"

#define AGENT_STORE_BYTES 16

struct agent_symbols {
	uint8_t store[AGENT_STORE_BYTES];
	struct map_u64 known; /* A set of location hashes. */
};

void agent_symbols_init(struct agent_symbols *symbols);
void agent_symbols_deinit(struct agent_symbols *symbols);
/* Empties the set, so that the next batches include all symbols. */
void agent_symbols_forget(struct agent_symbols *symbols);
/* Appends to shorter a copy of the batch without those symbols that the store already has; appends nothing if no symbol
 * can be omitted. bytes is an encoded batch, compressed or not. */
TALLY_MUST_CHECK enum tally_status agent_symbols_shorten(
	const struct agent_symbols *symbols, struct tally_bytes bytes, struct text *shorter, struct tally_error *err);
/* Adds the locations of a batch that the store with this ID has acknowledged. */
TALLY_MUST_CHECK enum tally_status agent_symbols_acknowledge(struct agent_symbols *symbols,
	const uint8_t store[AGENT_STORE_BYTES], struct tally_bytes bytes, struct tally_error *err);

#endif
