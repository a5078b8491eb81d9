/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_entry.h - finds the entry of a binary store for a binary of the machine. It adds the entry if needed, and opens
 * nothing.
 *
 *	store_entry_id(machine, store, frame.binary, &id, err);
 */
#ifndef ANALYSIS_STORE_ENTRY_H
#define ANALYSIS_STORE_ENTRY_H

#include "code/binary_store.h"
#include "machine/machine.h"

#define STORE_ENTRY_NONE UINT32_MAX

/* Sets *store_id to STORE_ENTRY_NONE if the binary cannot have symbols in the store. One thread. */
TALLY_MUST_CHECK enum tally_status store_entry_id(const struct machine *machine, struct binary_store *store,
	uint32_t binary, uint32_t *store_id, struct tally_error *err);
/* Passes the binary to the store's thread (binary_store_load_ahead) if the recording's table of build IDs lists it,
 * because recorders list the files that samples hit; and the kernel if its record has a build ID. The machine need not
 * be finished. */
TALLY_MUST_CHECK enum tally_status store_entry_load_ahead(
	const struct machine *machine, struct binary_store *store, uint32_t binary, struct tally_error *err);

#endif
