/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facet_keys.h - groups and sorts rows by keys that show a facet of samples. Keys are defined by the table's profile
 * and options.
 *
 *	facet_key_words(&table, key, value, words);	// rows with equal words are one row
 */
#ifndef PROFILE_FLAT_FACET_KEYS_H
#define PROFILE_FLAT_FACET_KEYS_H

#include "profile/flat/flat_table.h"

#define FACET_KEY_WORDS 2

/* Computes the words that identify a value of the key's facet; value is NULL if the facet is missing. */
void facet_key_words(const struct flat_table *table, enum profile_key key, const struct profile_value *value,
	uint64_t words[FACET_KEY_WORDS]);
/* Compares two values; the result is negative if a sorts first. ranks holds each string's position in sorted order. */
int facet_key_compare(const struct flat_table *table, enum profile_key key, const struct profile_value *a,
	const struct profile_value *b, const uint32_t *ranks);
/* Returns the start of the cache line of an address. */
uint64_t facet_cacheline(uint64_t address);
/* Returns the number of the cache line of an offset in a data type that starts at a line. */
uint64_t facet_type_cacheline(uint64_t offset);

#endif
