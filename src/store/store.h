/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - keeps the batches of many machines in a database, and answers queries with profiles.
 *
 * A store is opened by its URL: sqlite:PATH. One store_* call at a time per store. A batch is stored completely or not
 * at all, and counted once however often it is delivered. Stacks, locations and symbols are stored once for all
 * batches, by IDs that are hashes of their contents (content_id.h); the tables are described in docs/fleet.md and may be
 * read by plain SQL.
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
/* Random, made with the store: locations that it acknowledged are known only as long as this is the same. */
#define STORE_ID_BYTES 16
const uint8_t *store_id(const struct store *store);
/* The path of its file; NULL: it is a server's. */
const char *store_file(const struct store *store);

struct store_receipt {
	const char *refused; /* why no store can ever keep the batch; NULL: it can */
	bool is_duplicate; /* a batch with this ID was stored before; nothing was added */
	uint64_t samples; /* that were added */
	/* The batch left out symbols that the store does not have: nothing was stored, and the batch is to be sent again with
	 * all of its symbols. */
	bool lacks_symbols;
};
/* Several batches with one commit: each of them is stored completely or not at all, as its receipt says. On failure
 * none is. */
TALLY_MUST_CHECK enum tally_status store_ingest(struct store *store, const struct fleet_batch *const *batches,
	size_t count, struct store_receipt *receipts, struct tally_error *err);

struct store_selection {
	uint64_t begin_ns, end_ns; /* since 1970: windows that begin in [begin, end) */
	const struct label_query *query; /* NULL: everything */
	/* By name; empty: all. Without modifiers of precision it stands for those that have one, too ("cpu-clock" for
	 * "cpu-clock:ppp"), and answers have them under that name. */
	struct tally_str event;
	uint64_t deadline_ns; /* by clock_ns: the query gives up then, with TALLY_LIMIT; 0: never */
	/* Threads that differ in other labels than this one are merged, which makes answers about many machines small;
	 * empty: it is none. Otherwise they stay apart. */
	bool merges_labels;
	struct tally_str kept_label;
	bool by_thread; /* keeps threads apart; otherwise those of the same name and labels are merged, with pid and tid 0 */
};
/* The samples of all selected windows added up, as one batch. Its labels are those that all samples have in common. */
TALLY_MUST_CHECK enum tally_status store_query(struct store *store, const struct store_selection *selection,
	struct fleet_batch **result, struct tally_error *err);

struct store_point {
	uint64_t begin_ns;
	uint64_t samples;
	uint64_t running_ns, waiting_ns; /* of events whose values are time */
	uint64_t lost_samples; /* that the agents reported as lost or dropped */
};
/* The load over time: one point for each step_ns from begin_ns on, appended to points, empty ones too. What a window has
 * is spread evenly over the time that it covers, also if it began before (up to an hour); parts outside of the time of
 * the selection are left out. */
struct store_points {
	struct store_point *items; /* freed by the caller */
	size_t count;
};
TALLY_MUST_CHECK enum tally_status store_load(struct store *store, const struct store_selection *selection,
	uint64_t step_ns, struct store_points *points, struct tally_error *err);

/* Calls take for each label name (name empty), or for each value of a name, among the selected samples, sorted. */
TALLY_MUST_CHECK enum tally_status store_label_values(struct store *store, const struct store_selection *selection,
	struct tally_str name, void (*take)(void *context, struct tally_str text), void *context,
	struct tally_error *err);
/* The same for the names of events. */
TALLY_MUST_CHECK enum tally_status store_events(struct store *store, const struct store_selection *selection,
	void (*take)(void *context, struct tally_str text), void *context, struct tally_error *err);

struct store_figures {
	uint64_t batches, samples, stacks, locations, bytes;
	uint64_t first_ns, last_ns; /* of windows; 0: there are none */
};
TALLY_MUST_CHECK enum tally_status store_figures(
	struct store *store, struct store_figures *figures, struct tally_error *err);
/* Removes windows that began before oldest_ns, then the oldest ones until the store has at most max_bytes (0: any
 * size), and what no other window uses. removed: batches. It stops after about a second, so that batches can be stored
 * meanwhile: the caller goes on until nothing is removed. What windows used may stay an hour longer than they. */
TALLY_MUST_CHECK enum tally_status store_retain(
	struct store *store, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err);

#endif
