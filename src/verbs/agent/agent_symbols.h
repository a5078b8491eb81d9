/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_symbols.h - remembers of which locations a store has the symbols, so that batches need not repeat them.
 *
 * By the store's ID: what another store acknowledged is forgotten. Locations without build ID and those of the kernel
 * are never left out, because their address does not say for ever what they are. Memory is bounded. One thread.
 *
 *	agent_symbols_shorten(&symbols, bytes, &shorter, err);	// without what the store has
 *	agent_symbols_acknowledge(&symbols, store, bytes, err);
 */
#ifndef VERBS_AGENT_AGENT_SYMBOLS_H
#define VERBS_AGENT_AGENT_SYMBOLS_H

#include "base/map_u64.h"
#include "fleet/batch.h"

#define AGENT_STORE_BYTES 16

struct agent_symbols {
	uint8_t store[AGENT_STORE_BYTES];
	struct map_u64 known; /* hashes of locations */
};

void agent_symbols_init(struct agent_symbols *symbols);
void agent_symbols_deinit(struct agent_symbols *symbols);
/* Nothing is known any more. */
void agent_symbols_forget(struct agent_symbols *symbols);
/* The encoded batch without the symbols that the store has, appended to shorter; nothing is appended if there are none
 * to leave out. bytes: compressed or not. */
TALLY_MUST_CHECK enum tally_status agent_symbols_shorten(
	const struct agent_symbols *symbols, struct tally_bytes bytes, struct text *shorter, struct tally_error *err);
/* The store has stored this batch. */
TALLY_MUST_CHECK enum tally_status agent_symbols_acknowledge(struct agent_symbols *symbols,
	const uint8_t store[AGENT_STORE_BYTES], struct tally_bytes bytes, struct tally_error *err);

#endif
