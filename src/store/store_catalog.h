/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_catalog.h - loads the label sets and series of a store, and selects the series of a query. There are few of
 * them compared to samples, so labels are evaluated here, in memory, and queries to the database use only IDs.
 *
 * A catalog owns its texts, and is used by one thread.
 *
 *	store_catalog_load(backend, db, &selection, &catalog, err);
 *	for (size_t i = 0; i < catalog.series.len; i++) ... catalog.ids[i] ...
 *	store_catalog_deinit(&catalog);
 */
#ifndef STORE_STORE_CATALOG_H
#define STORE_STORE_CATALOG_H

#include "base/intern.h"
#include "base/map_u64.h"
#include "store/store_backend.h"

struct store_catalog_series {
	struct fleet_labels labels; /* Labels of the batch and of the thread, together. */
	struct fleet_labels kept; /* The labels that distinguish threads in the answer. */
	uint64_t batch_labels; /* ID of the label set of the batch. */
	uint32_t event; /* Index in strings of the name in the answer. */
};

struct store_catalog {
	struct arena arena;
	struct intern strings;
	VEC(struct store_catalog_series) series; /* The selected series. */
	VEC(uint64_t) ids; /* IDs of the elements of series. */
	struct map_u64 sets; /* Maps IDs of label sets to indexes in all_sets. */
	VEC(struct fleet_labels) all_sets;
};

TALLY_MUST_CHECK enum tally_status store_catalog_load(const struct store_backend *backend, void *db,
	const struct store_selection *selection, struct store_catalog *catalog, struct tally_error *err);
void store_catalog_deinit(struct store_catalog *catalog);
/* Returns whether the selection includes a batch with these labels. */
bool store_catalog_has_labels(
	const struct store_catalog *catalog, const struct store_selection *selection, uint64_t batch_labels);

#endif
