/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_waits.h - measures how long threads waited for locks: it pairs the begin and the end of a thread's wait for a
 * lock, and adds waits up by a key of the caller's choice.
 *
 * The caller owns it (zero-initialised and then passed to lock_waits_init) and feeds events in order of time. One
 * thread. An end without a begin and a begin without an end are only counted. Memory is needed for the rows and the
 * open waits; with a row_limit, waits that would need another row are added to the row `others`.
 *
 *	lock_waits_row(&w, key, &row, &is_new);   // key: two words that identify the row
 *	struct lock_wait wait = {.tid = tid, .address = lock, .time_ns = now, .row = row, .flags = flags};
 *	lock_waits_begin(&w, &wait);
 *	lock_waits_end(&w, tid, lock, now);
 *	... lock_waits_finish(&w) counts waits without an end ... w.rows.items[row].total_ns ...
 */
#ifndef ANALYSIS_LOCK_WAITS_H
#define ANALYSIS_LOCK_WAITS_H

#include "base/id_table.h"
#include "base/vec.h"

struct lock_row {
	uint64_t acquired, contended; /* Number of acquisitions, and of waits that ended. */
	uint64_t total_ns, max_ns, min_ns; /* Of waits that ended; min_ns is UINT64_MAX if there are none. */
	uint32_t flags; /* LOCK_FLAG_* of the first wait, from lock:contention_begin. */
};

struct lock_wait {
	int32_t tid;
	uint64_t address, time_ns;
	uint32_t row, flags;
};

struct lock_waits {
	struct id_table keys; /* Keys of rows, of LOCK_ROW_WORDS words. */
	VEC(struct lock_row) rows;
	struct lock_row others; /* Sum of the waits for which row_limit leaves no row. */
	size_t row_limit; /* Set by the caller before the first row; 0 for no limit. */
	struct id_table waiting; /* Keys of thread and lock, for open waits and some that have ended. */
	VEC(struct lock_wait) waits; /* waits and is_waiting are indexed by the IDs of waiting. */
	VEC(bool) is_waiting;
	size_t open; /* Number of waits that have not ended. */
	uint64_t unended, unbegun; /* Number of waits without an end and without a begin in the recording. */
};

#define LOCK_ROW_WORDS	2
#define LOCK_ROW_OTHERS UINT32_MAX /* The index of `others`. */
/* The kernel's LCB_F_* flags of lock:contention_begin. */
#define LOCK_FLAG_SPIN	 0x01
#define LOCK_FLAG_READ	 0x02
#define LOCK_FLAG_WRITE	 0x04
#define LOCK_FLAG_RT	 0x08
#define LOCK_FLAG_PERCPU 0x10
#define LOCK_FLAG_MUTEX	 0x20

void lock_waits_init(struct lock_waits *w);
void lock_waits_deinit(struct lock_waits *w);
/* Returns whether row_limit is reached, so that no row is added. */
bool lock_waits_is_full(const struct lock_waits *w);
/* Sets *row to the row of a key, which is created if necessary, or to LOCK_ROW_OTHERS if row_limit forbids that, and
 * *is_new to whether it was created. Returns false when out of memory. */
bool lock_waits_row(struct lock_waits *w, const uint64_t key[LOCK_ROW_WORDS], uint32_t *row, bool *is_new);
/* Begins a wait. A second begin before the end continues the same wait, because the kernel reports another one when a
 * sleeping lock stops spinning. Returns false when out of memory. */
bool lock_waits_begin(struct lock_waits *w, const struct lock_wait *wait);
/* Ends a wait and counts the lock as acquired in the row of the wait. */
void lock_waits_end(struct lock_waits *w, int32_t tid, uint64_t address, uint64_t time_ns);
/* Counts an acquired lock and ends the thread's wait for it, if there is one (lockdep's events). */
void lock_waits_acquire(struct lock_waits *w, const struct lock_wait *taken);
/* Adds waits that were summed elsewhere. */
void lock_waits_add(struct lock_waits *w, uint32_t row, const struct lock_row *sum);
/* Handles the end of a thread: drops its open waits and counts them as waits without an end. */
void lock_waits_end_thread(struct lock_waits *w, int32_t tid);
/* Drops the open waits after a loss of events and counts them as waits without an end. They may have ended, and must
 * not be merged with the next waits of their threads. */
void lock_waits_give_up(struct lock_waits *w);
/* Counts the open waits as waits without an end. */
void lock_waits_finish(struct lock_waits *w);
/* Returns a name for the flags, such as "spinlock" or "rwsem:W". */
const char *lock_type_name(uint32_t flags);

#endif
