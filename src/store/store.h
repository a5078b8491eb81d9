/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - stores the batches of many machines in a database, and answers queries with profiles.
 *
 * A store is opened by its URL, such as sqlite:FILE or clickhouse://HOST/DATABASE, and used by one thread at a time. A
 * batch is stored completely or not at all, and only once even if it is delivered several times. Stacks, locations and
 * symbols are stored once for all batches, with hashes of their contents as IDs (content_id.h). docs/fleet.md describes
 * the tables, which other programs may read by SQL.
 *
 *	store_open("sqlite:/var/lib/tally/store.db", true, &store, err);
 *	store_ingest(store, &batch, 1, &receipt, err);
 *	store_query(store, &(struct store_selection){.begin_ns = a, .end_ns = b, .query = query}, &result, err);
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "fleet/batch.h"

struct store;
TALLY_MUST_CHECK enum tally_status store_open(
	const char *url, bool may_write, struct store **store, struct tally_error *err);
void store_close(struct store *store);
/* Size of the ID of a store, which is random and created with the store. Senders that leave out symbols that a store
 * has must send them again if its ID changes. */
#define STORE_ID_BYTES 16
const uint8_t *store_id(const struct store *store);
/* Returns the path of the file; NULL if the store is on a server. */
const char *store_file(const struct store *store);

struct store_receipt { /* The result of storing one batch. */
	const char *refused; /* Why no store can ever accept the batch, a constant text; NULL if it is valid. */
	bool is_duplicate; /* A batch with this ID was stored before, so nothing was added. */
	uint64_t samples; /* Number of samples added. */
	/* The batch left out symbols that the store does not have. Nothing was stored, and the batch must be sent again
	 * with all its symbols. */
	bool lacks_symbols;
};
/* Stores several batches with one commit, and fills one receipt for each of them. If this fails, no batch is stored. */
TALLY_MUST_CHECK enum tally_status store_ingest(struct store *store, const struct fleet_batch *const *batches,
	size_t count, struct store_receipt *receipts, struct tally_error *err);

struct store_selection {
	uint64_t begin_ns, end_ns; /* Selects windows that begin in [begin, end), in nanoseconds since 1970. */
	const struct label_query *query; /* NULL selects everything. */
	/* Name of the event; empty for all. Without a precision modifier it also selects events with one ("cpu-clock"
	 * selects "cpu-clock:ppp"), and the answer has them under this name. */
	struct tally_str event;
	uint64_t deadline_ns; /* Time, by clock_ns, at which the query fails with TALLY_LIMIT; 0 for none. */
	/* Merges threads that differ only in labels other than kept_label; makes answers about many machines small. */
	bool merges_labels;
	struct tally_str kept_label; /* Used with merges_labels; empty to ignore all labels. */
	/* Does not merge threads; otherwise those of the same name and labels are merged, with pid and tid 0. */
	bool by_thread;
};
/* Adds up the samples of all selected windows. The labels of the result are those that all samples have in common. The
 * caller destroys the result (fleet_batch_destroy). */
TALLY_MUST_CHECK enum tally_status store_query(struct store *store, const struct store_selection *selection,
	struct fleet_batch **result, struct tally_error *err);

struct store_point {
	uint64_t begin_ns; /* Since 1970. */
	uint64_t samples;
	uint64_t running_ns, waiting_ns; /* Sums over threads, of events that measure time. */
	uint64_t lost_samples; /* Samples that the agents reported as lost or dropped. */
};
struct store_points {
	struct store_point *items; /* Freed by the caller. */
	size_t count;
};
/* Sets points to one point for each step_ns from begin_ns on, including empty ones. The samples of a window are
 * distributed evenly over the time that it covers, even if it began up to an hour before begin_ns; parts outside of the
 * selected time are left out. */
TALLY_MUST_CHECK enum tally_status store_load(struct store *store, const struct store_selection *selection,
	uint64_t step_ns, struct store_points *points, struct tally_error *err);

/* Calls take for each value of the label name, or for each label name if name is empty, among the selected samples, in
 * sorted order and once for each text, which is valid during the call. */
TALLY_MUST_CHECK enum tally_status store_label_values(struct store *store, const struct store_selection *selection,
	struct tally_str name, void (*take)(void *context, struct tally_str text), void *context,
	struct tally_error *err);
/* Calls take for the name of each event among the selected samples, as store_label_values does. */
TALLY_MUST_CHECK enum tally_status store_events(struct store *store, const struct store_selection *selection,
	void (*take)(void *context, struct tally_str text), void *context, struct tally_error *err);

struct store_figures {
	uint64_t batches, samples, stacks, locations, bytes; /* Numbers of rows, and the size of the store. */
	uint64_t first_ns, last_ns; /* Time range of the windows; 0 if there are none. */
};
TALLY_MUST_CHECK enum tally_status store_figures(
	struct store *store, struct store_figures *figures, struct tally_error *err);
/* Removes windows that began before oldest_ns, then the oldest ones until the store has at most max_bytes (0: any
 * size), and rows that no other window uses, which may remain up to an hour longer. *removed is the number of batches.
 * It returns after about a second, so that batches can be stored meanwhile; the caller repeats it until nothing is
 * removed. */
TALLY_MUST_CHECK enum tally_status store_retain(
	struct store *store, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err);

#endif
