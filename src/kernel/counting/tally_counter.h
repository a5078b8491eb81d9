/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_counter.h - declares the internals of tally/counter.h: opening by any kernel seam, and reading into cells.
 *
 * A cell is one descriptor: an event on one CPU and thread. One thread, with the exceptions in tally/counter.h.
 *
 *	struct tally_counter *counter = tally_counter_open_on(kernel, "cycles:u", NULL, &err);
 *	if (tally_counter_refresh(counter, &err) == TALLY_OK) ... tally_counter_cell(counter, event, 0)->count ...
 */
#ifndef KERNEL_COUNTING_TALLY_COUNTER_H
#define KERNEL_COUNTING_TALLY_COUNTER_H

#include <tally/counter.h>

#include "kernel/counting/user_read.h"

struct counter_cell {
	struct count count; /* Count since base was set. */
	uint64_t base; /* Value of the descriptor when an inherited counter was reset last. */
	bool is_in_error; /* read(2) returned 0 bytes: a pinned event found no room on the PMU. */
	bool is_user_read; /* The last read needed no system call. */
};

struct counter_group { /* Events that one read(2) returns. */
	uint32_t start, count; /* Range of members. */
	uint64_t read_format;
};

struct tally_counter {
	const struct kernel_seam *kernel;
	struct event_list events;
	struct counter_set *set;
	bool is_inherited;
	char *label;
	char *fallback_reason; /* NULL if the first alternative counts. */
	const struct user_registers *registers; /* NULL to always use read(2). */
	struct perf_event_mmap_page **pages; /* One per event, NULL if not mapped. */
	size_t page_bytes;
	const void *owner; /* Thread that opened the counter: an address that is different in each thread. */
	pid_t owner_pid;
	struct counter_group *groups;
	size_t group_count;
	uint32_t *members; /* Indexes of events, ordered by group, each leader first. */
	size_t *first_cell; /* Index of the first cell of each event, with one more entry at the end. */
	struct counter_cell *cells;
	uint64_t *words; /* Buffer for read(2) of the largest group. */
	struct tally_reading_value *values;
};

/* Does what tally_counter_open does, by this seam instead of that of Linux. */
struct tally_counter *tally_counter_open_on(const struct kernel_seam *kernel, const char *events,
	const struct tally_counter_options *options, struct tally_error *err);
/* Makes groups and cells, and maps pages if may_map is set; to be called after the set was opened. may_map may be true
 * only if the events count the calling thread and are not inherited. */
TALLY_MUST_CHECK enum tally_status tally_counter_prepare(
	struct tally_counter *counter, bool may_map, struct tally_error *err);
void tally_counter_unprepare(struct tally_counter *counter);
/* Reads all descriptors into the cells. */
TALLY_MUST_CHECK enum tally_status tally_counter_refresh(struct tally_counter *counter, struct tally_error *err);

/* Resets an inherited counter by storing its current values in the bases of its cells. Changes nothing if the counter
 * cannot be read. */
void tally_counter_set_base(struct tally_counter *counter);

static inline struct counter_cell *tally_counter_cell(const struct tally_counter *counter, size_t event, size_t index)
{
	return &counter->cells[counter->first_cell[event] + index];
}

#endif
