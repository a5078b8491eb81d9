/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_backend.h - declares the interface by which a store uses a database: it inserts rows and lists those that a
 * query needs. Label queries and sums are computed by the callers, in the same way for every database.
 *
 * A series is the set of samples of one event with the same labels of the batch and of the thread. Queries select
 * series by their labels and then read only these, by their IDs and a time range. Each database assigns its own IDs to
 * series, stacks and locations; 0 is none. Texts passed to a callback are valid during the call.
 *
 *	const struct store_backend *b = &sqlite_backend;
 *	b->open("/var/lib/tally/store.db", true, &db, err);
 *	b->begin_list(db, deadline_ns, err);
 *	b->list_series(db, range, &take, err);  ... b->list_sums(db, &scan, err);
 *	b->end_list(db);   b->close(db);
 */
#ifndef STORE_STORE_BACKEND_H
#define STORE_STORE_BACKEND_H

#include "store/store.h"
#include "store/store_rows.h"

/* Message of a query that exceeded its deadline. */
#define STORE_IS_LATE "the query takes longer than it may: ask for a shorter time, fewer hosts or one service"
#define STORE_HOUR_NS (UINT64_C(3600) * 1000000000)

/* Maximum time by which a window may begin before a range and still be found; windows of agents are at most an hour. */
#define STORE_REACH_NS STORE_HOUR_NS

struct store_range {
	uint64_t begin_ns, end_ns; /* Contains the windows that begin in [begin, end). */
};

struct store_series {
	uint64_t id, labels, thread_labels; /* labels and thread_labels are IDs of label sets. */
	struct tally_str event;
};

/* Callbacks of list_series, which return false to end it. The labels of all sets are passed one by one, in any order,
 * before the series. */
struct store_series_take {
	bool (*label)(void *context, uint64_t set, struct tally_str name, struct tally_str value);
	bool (*series)(void *context, const struct store_series *series);
	void *context;
};

struct store_sum { /* A sum of samples; a database may return several with the same key. */
	uint32_t series; /* Index in the series of the scan. */
	int state; /* An enum profile_state, or STORE_STATE_UNKNOWN. */
	int32_t pid, tid; /* 0 unless by_thread is set. */
	uint32_t comm, process_comm; /* Results of the callback string. */
	uint64_t stack, count, value;
};

struct store_scan {
	struct store_range range;
	const uint64_t *series; /* IDs of series. */
	size_t series_count;
	bool by_thread;
	/* Called for each distinct name; its result represents the name in sums. The scan ends if it returns
	 * STORE_NONE, or if take returns false. */
	uint32_t (*string)(void *context, struct tally_str text);
	bool (*take)(void *context, const struct store_sum *sum);
	void *context;
};

struct store_window { /* Load of one series in one batch, or losses of a batch. */
	uint32_t series; /* Index in the series of the scan; STORE_NONE for the losses of a batch. */
	uint64_t begin_ns, end_ns;
	uint64_t samples, running_ns, waiting_ns;
	/* Only for the losses of a batch: its label set, and its number of lost and dropped samples. */
	uint64_t labels, lost_samples;
};

struct store_window_scan {
	struct store_range range;
	bool reaches_in; /* Includes windows that began up to STORE_REACH_NS before the range and end in it. */
	const uint64_t *series;
	size_t series_count;
	bool (*take)(void *context, const struct store_window *window);
	void *context;
};

struct store_stack_list {
	const uint64_t *ids;
	size_t count;
	/* The innermost of the locations is first. */
	bool (*take)(void *context, uint64_t id, const uint64_t *locations, size_t count);
	void *context;
};

struct store_location_list {
	const uint64_t *ids;
	size_t count;
	/* binary is NULL for none; there are location->frame_count frames. */
	bool (*take)(void *context, uint64_t id, const struct store_location *location,
		const struct store_binary *binary, const struct store_frame *frames);
	void *context;
};

struct store_backend {
	const char *scheme; /* Scheme of URLs, with the colon. */
	enum tally_status (*open)(const char *place, bool may_write, void **db, struct tally_error *err);
	void (*close)(void *db);
	const uint8_t *(*id)(const void *db);
	const char *(*file)(const void *db); /* Path of the file; NULL for stores that are not a file. */
	/* Inserts several batches with one commit and completes their receipts, of which the caller has set refused and
	 * zeroed the rest; refused batches are skipped. A batch with an ID that is stored, or that occurs before in the
	 * same call, is a duplicate. A batch lacks symbols if the store has none for a location with is_left_out. */
	enum tally_status (*insert)(void *db, const struct store_rows *rows, size_t count,
		struct store_receipt *receipts, struct tally_error *err);
	/* Starts a snapshot: what is listed until end_list is consistent, even if others write meanwhile. The deadline
	 * is that of the selection, for databases that run a whole statement before they answer. */
	enum tally_status (*begin_list)(void *db, uint64_t deadline_ns, struct tally_error *err);
	void (*end_list)(void *db);
	/* Lists the series that may have windows in the range. */
	enum tally_status (*list_series)(
		void *db, struct store_range range, const struct store_series_take *take, struct tally_error *err);
	/* Sets has[i] to whether series i has a window in the range. */
	enum tally_status (*find_windows)(void *db, struct store_range range, const uint64_t *series, size_t count,
		bool *has, struct tally_error *err);
	enum tally_status (*list_sums)(void *db, const struct store_scan *scan, struct tally_error *err);
	/* Lists the windows of the series, and after them each batch with losses as a window of its own. */
	enum tally_status (*list_windows)(void *db, const struct store_window_scan *scan, struct tally_error *err);
	/* list_stacks and list_locations list the rows with the given IDs, which are distinct, in any order. */
	enum tally_status (*list_stacks)(void *db, const struct store_stack_list *list, struct tally_error *err);
	enum tally_status (*list_locations)(void *db, const struct store_location_list *list, struct tally_error *err);
	enum tally_status (*figures)(void *db, struct store_figures *figures, struct tally_error *err);
	enum tally_status (*retain)(
		void *db, uint64_t oldest_ns, uint64_t max_bytes, uint64_t *removed, struct tally_error *err);
};

#endif
