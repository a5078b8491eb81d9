/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_waits.h - measures how long threads waited for locks: it pairs the begin and the end of a wait of one thread for
 * one lock, and adds waits up by a key of the caller's choice.
 *
 * The caller owns it (all zero but for lock_waits_init) and feeds events in order of time. One thread. An end without a
 * begin and a begin without an end are counted, not guessed at. Memory is that of the rows and of the waits that last;
 * with a row_limit, waits that would need another row are added to the row `others`.
 *
 *	lock_waits_row(&w, key, &row, &is_new);   // key: two words that make the row
 *	lock_waits_begin(&w, &(struct lock_wait){.tid = tid, .address = lock, .time_ns = now, .row = row, .flags = flags});
 *	lock_waits_end(&w, tid, lock, now);
 *	... lock_waits_finish(&w) counts what has no end ... w.rows.items[row].total_ns ...
 */
#ifndef ANALYSIS_LOCK_WAITS_H
#define ANALYSIS_LOCK_WAITS_H

#include "base/id_table.h"
#include "base/vec.h"

struct lock_row {
	uint64_t acquired, contended;
	uint64_t total_ns, max_ns, min_ns; /* of waits that ended; min_ns is UINT64_MAX without any */
	uint32_t flags; /* of the first wait: LOCK_FLAG_* of lock:contention_begin */
};

struct lock_wait {
	int32_t tid;
	uint64_t address, time_ns;
	uint32_t row, flags;
};

struct lock_waits {
	struct id_table keys; /* of rows */
	VEC(struct lock_row) rows;
	struct lock_row others; /* waits that are in no row */
	size_t row_limit; /* the caller's, before the first row; 0: none */
	struct id_table waiting; /* thread and lock, not long ago */
	VEC(struct lock_wait) waits; /* by id of waiting */
	VEC(bool) is_waiting; /* by id of waiting */
	size_t open; /* waits that have not ended */
	uint64_t unended, unbegun; /* waits whose other half is not in the recording */
};

#define LOCK_ROW_WORDS	2
#define LOCK_ROW_OTHERS UINT32_MAX /* the row of waits for which row_limit leaves no row */
/* The kernel's LCB_F_* of lock:contention_begin. */
#define LOCK_FLAG_SPIN	 0x01
#define LOCK_FLAG_READ	 0x02
#define LOCK_FLAG_WRITE	 0x04
#define LOCK_FLAG_RT	 0x08
#define LOCK_FLAG_PERCPU 0x10
#define LOCK_FLAG_MUTEX	 0x20

void lock_waits_init(struct lock_waits *w);
void lock_waits_deinit(struct lock_waits *w);
/* Whether row_limit is reached, so that no new row is made. */
bool lock_waits_is_full(const struct lock_waits *w);
/* False: out of memory. */
bool lock_waits_row(struct lock_waits *w, const uint64_t key[LOCK_ROW_WORDS], uint32_t *row, bool *is_new);
/* A second begin before the end continues the same wait: the kernel reports when a sleeping lock stops spinning. False:
 * out of memory. */
bool lock_waits_begin(struct lock_waits *w, const struct lock_wait *wait);
/* Counts the lock as acquired by the row that its wait is of. */
void lock_waits_end(struct lock_waits *w, int32_t tid, uint64_t address, uint64_t time_ns);
/* Counts a lock that was acquired without waiting, or after a wait that has ended (lockdep's events). */
void lock_waits_acquire(struct lock_waits *w, const struct lock_wait *taken);
/* Adds waits that were summed elsewhere. */
void lock_waits_add(struct lock_waits *w, uint32_t row, const struct lock_row *sum);
/* Ends a thread: its waits have no end. */
void lock_waits_end_thread(struct lock_waits *w, int32_t tid);
/* Forgets open waits after a loss of events: they may have ended, and must not be merged with the next waits of
 * their threads. */
void lock_waits_give_up(struct lock_waits *w);
void lock_waits_finish(struct lock_waits *w);
/* "spinlock", "rwsem:W": the field's names for the flags. */
const char *lock_type_name(uint32_t flags);

#endif
