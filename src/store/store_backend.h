/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_backend.h - defines what a database does for a store: it keeps rows, and lists those that a query asks for.
 * Labels are evaluated and samples added up above it, the same for every database.
 *
 * A series is all samples of one event with the same labels, of the batch and of the thread. Queries select series by
 * their labels, and then read only these, by their IDs and a range of time. IDs of series, stacks and locations are the
 * database's own; 0 is none. Texts given to a callback are valid during the call.
 *
 *	const struct store_backend *b = &sqlite_backend;
 *	b->open("/var/lib/tally/store.db", true, &db, err);
 *	b->list_series(db, range, &catalog, err);  ... b->list_sums(db, &scan, err);
 */
#ifndef STORE_STORE_BACKEND_H
#define STORE_STORE_BACKEND_H

#include "store/store.h"
#include "store/store_rows.h"

/* What a query says that its deadline ended. */
#define STORE_IS_LATE "the query takes longer than it may: ask for a shorter time, fewer hosts or one service"
#define STORE_HOUR_NS (UINT64_C(3600) * 1000000000)

/* The longest window whose part in a range is found if it began before: an agent's windows are an hour at most. */
#define STORE_REACH_NS STORE_HOUR_NS

struct store_range {
	uint64_t begin_ns, end_ns; /* windows that begin in it */
};

struct store_series {
	uint64_t id, labels, thread_labels; /* sets: their IDs */
	struct tally_str event;
};

struct store_series_take { /* sets come in any order, each label by itself, and before the series */
	bool (*label)(void *context, uint64_t set, struct tally_str name, struct tally_str value);
	bool (*series)(void *context, const struct store_series *series);
	void *context;
};

struct store_sum { /* of samples; a database may give several of the same key */
	uint32_t series; /* index in the scan */
	int state;
	int32_t pid, tid; /* 0: not asked for */
	uint32_t comm, process_comm; /* as the scan's string gave them */
	uint64_t stack, count, value;
};

struct store_scan {
	struct store_range range;
	const uint64_t *series; /* their IDs */
	size_t series_count;
	bool by_thread;
	/* STORE_NONE, and false: stop, the caller knows why. */
	uint32_t (*string)(void *context, struct tally_str text);
	bool (*take)(void *context, const struct store_sum *sum);
	void *context;
};

struct store_window { /* what a part of a batch adds to the load */
	uint32_t series; /* index in the scan; STORE_NONE: of the batch itself */
	uint64_t begin_ns, end_ns;
	uint64_t samples, running_ns, waiting_ns;
	uint64_t labels, lost_samples; /* of the batch itself */
};

struct store_window_scan {
	struct store_range range;
	bool reaches_in; /* also windows that began up to STORE_REACH_NS before the range and end in it */
	const uint64_t *series;
	size_t series_count;
	bool (*take)(void *context, const struct store_window *window);
	void *context;
};

struct store_stack_list {
	const uint64_t *ids;
	size_t count;
	/* locations: the innermost one first. */
	bool (*take)(void *context, uint64_t id, const uint64_t *locations, size_t count);
	void *context;
};

struct store_location_list {
	const uint64_t *ids;
	size_t count;
	/* binary: NULL for none; frames: location->frame_count of them. */
	bool (*take)(void *context, uint64_t id, const struct store_location *location,
		const struct store_binary *binary, const struct store_frame *frames);
	void *context;
};

struct store_backend {
	const char *scheme; /* of URLs, with the colon */
	enum tally_status (*open)(const char *place, bool may_write, void **db, struct tally_error *err);
	void (*close)(void *db);
	const uint8_t *(*id)(const void *db);
	const char *(*file)(const void *db); /* its path; NULL: a store of this kind is no file */
	/* Of several batches with one commit; receipts are empty before. A batch whose ID is stored, or came before in
	 * the same call, is a duplicate. lacks_symbols: a location with is_left_out is not there. */
	enum tally_status (*insert)(void *db, const struct store_rows *rows, size_t count,
		struct store_receipt *receipts, struct tally_error *err);
	/* What is listed until end_list belongs together, whatever others write meanwhile. The deadline is a selection's:
	 * a database that answers as a whole gives up by itself. */
	enum tally_status (*begin_list)(void *db, uint64_t deadline_ns, struct tally_error *err);
	void (*end_list)(void *db);
	/* Those that may have windows in the range. */
	enum tally_status (*list_series)(
		void *db, struct store_range range, const struct store_series_take *take, struct tally_error *err);
	/* Sets has[i] to whether series i has a window in the range. */
	enum tally_status (*find_windows)(void *db, struct store_range range, const uint64_t *series, size_t count,
		bool *has, struct tally_error *err);
	enum tally_status (*list_sums)(void *db, const struct store_scan *scan, struct tally_error *err);
	/* Batches that lost something as windows of their own, after the others. */
	enum tally_status (*list_windows)(void *db, const struct store_window_scan *scan, struct tally_error *err);
	/* Those of the IDs, which are distinct, in any order. */
	enum tally_status (*list_stacks)(void *db, const struct store_stack_list *list, struct tally_error *err);
	enum tally_status (*list_locations)(void *db, const struct store_location_list *list, struct tally_error *err);
	enum tally_status (*figures)(void *db, struct store_figures *figures, struct tally_error *err);
	enum tally_status (*retain)(
		void *db, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err);
};

#endif
