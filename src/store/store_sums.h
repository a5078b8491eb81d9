/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sums.h - adds up the samples that a database lists for a query: one sum for each event, label set, thread name
 * (and thread, if by_thread is set), state and stack.
 *
 * Owned by the query, and used by one thread.
 *
 *	store_sums_load(store, &catalog, &selection, &sums, err);
 *	for (size_t i = 0; i < sums.values.len; i++) ... store_sums_key(&sums, i) ...
 *	store_sums_deinit(&sums);
 */
#ifndef STORE_STORE_SUMS_H
#define STORE_STORE_SUMS_H

#include "base/id_table.h"
#include "store/store_catalog.h"
#include "store/store_state.h"

struct store_sums_key {
	uint32_t series; /* Index of the first series in the catalog with this event and these kept labels. */
	int state;
	uint32_t comm, process_comm; /* Indexes in the strings of the catalog. */
	int32_t pid, tid;
	uint64_t stack; /* ID of the stack in the database; 0 for none. */
};

struct store_sums_value {
	uint64_t count, value;
};

struct store_sums {
	struct id_table keys;
	VEC(struct store_sums_value) values; /* Indexed by the IDs of keys. */
	bool *has_samples; /* Which series of the catalog have samples; allocated in its arena. */
};

TALLY_MUST_CHECK enum tally_status store_sums_load(const struct store *store, struct store_catalog *catalog,
	const struct store_selection *selection, struct store_sums *sums, struct tally_error *err);
void store_sums_deinit(struct store_sums *sums);
/* Returns the key of values.items[index]. */
struct store_sums_key store_sums_key(const struct store_sums *sums, size_t index);
/* Returns the sum, or UINT64_MAX if it overflows. */
uint64_t store_sums_add(uint64_t a, uint64_t b);
/* Returns whether the deadline of the selection has passed, and sets err if so. */
bool store_selection_is_late(const struct store_selection *selection, struct tally_error *err);

#endif
