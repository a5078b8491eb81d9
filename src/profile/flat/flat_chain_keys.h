/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_chain_keys.h - decides which frames of a call graph are merged: those of one function, or of one address if
 * there is no symbol. Part of flat_table.
 *
 *	if (!flat_chain_keys_make(&table, &groups)) ...	// frames with equal table.chain_keys[frame] are merged
 */
#ifndef PROFILE_FLAT_FLAT_CHAIN_KEYS_H
#define PROFILE_FLAT_FLAT_CHAIN_KEYS_H

#include "profile/flat/flat_groups.h"

/* Sets the table's chain_keys and chain_key_count; groups must contain the groups of its frames. Returns false when out
 * of memory. */
bool flat_chain_keys_make(struct flat_table *table, const struct flat_groups *groups);

#endif
