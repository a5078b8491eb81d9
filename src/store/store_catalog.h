/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_catalog.h - lists the label sets and series of a store, and selects those series that a query asks for. They are
 * few beside the samples, so labels are evaluated here, in memory, and the database is asked by IDs alone.
 *
 * Owns its texts. One thread.
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
	struct fleet_labels labels; /* of the batch and of the thread, together */
	struct fleet_labels kept; /* of these: what threads of the answer are told apart by */
	uint64_t batch_labels; /* set: its ID */
	uint32_t event; /* string: the name in the answer */
};

struct store_catalog {
	struct arena arena;
	struct intern strings;
	VEC(struct store_catalog_series) series; /* that were selected */
	VEC(uint64_t) ids; /* of these */
	struct map_u64 sets; /* by ID: index in all_sets */
	VEC(struct fleet_labels) all_sets;
};

TALLY_MUST_CHECK enum tally_status store_catalog_load(const struct store_backend *backend, void *db,
	const struct store_selection *selection, struct store_catalog *catalog, struct tally_error *err);
void store_catalog_deinit(struct store_catalog *catalog);
/* Whether a batch with these labels belongs to what was selected, as a series of it does. */
bool store_catalog_has_labels(
	const struct store_catalog *catalog, const struct store_selection *selection, uint64_t batch_labels);

#endif
