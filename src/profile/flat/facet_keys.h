/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet_keys.h - groups and sorts rows by keys that show one facet of samples. It works on a table, whose profile and
 * options define the keys.
 *
 *	facet_key_words(&table, key, value, words);	equal words: one row
 */
#ifndef PROFILE_FLAT_FACET_KEYS_H
#define PROFILE_FLAT_FACET_KEYS_H

#include "profile/flat/flat_table.h"

#define FACET_KEY_WORDS 2

/* value: of the key's facet; NULL: the words for a missing value. */
void facet_key_words(const struct flat_table *table, enum profile_key key, const struct profile_value *value,
	uint64_t words[FACET_KEY_WORDS]);
/* Below 0: a's row comes first. ranks: by string id, its place among all strings. */
int facet_key_compare(const struct flat_table *table, enum profile_key key, const struct profile_value *a,
	const struct profile_value *b, const uint32_t *ranks);
/* The start of the cache line of an address. */
uint64_t facet_cacheline(uint64_t address);
/* The number of the cache line of an offset in a data type that starts at a line. */
uint64_t facet_type_cacheline(uint64_t offset);

#endif
