/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_counter.h - declares the internals of tally/counter.h: opening with any seam, and reading into cells.
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
	struct count count; /* since the base */
	uint64_t base; /* what the descriptor had counted when an inherited counter was set back */
	bool is_in_error; /* read(2) gave nothing: pinned, without room on the PMU */
	bool is_user_read;
};

struct counter_group { /* events that one read(2) returns */
	uint32_t start, count; /* in members */
	uint64_t read_format;
};

struct tally_counter {
	const struct kernel_seam *kernel;
	struct event_list events;
	struct counter_set *set;
	bool is_inherited;
	char *label;
	char *fallback_reason; /* NULL if the first alternative counts */
	const struct user_registers *registers; /* NULL: always read(2) */
	struct perf_event_mmap_page **pages; /* one per event, NULL: not mapped */
	size_t page_bytes;
	const void *owner; /* tells threads apart without a system call */
	pid_t owner_pid;
	struct counter_group *groups;
	size_t group_count;
	uint32_t *members; /* events by group, the leader first */
	size_t *first_cell; /* by event; one more than events */
	struct counter_cell *cells;
	uint64_t *words; /* room for read(2) of the largest group */
	struct tally_reading_value *values;
};

struct tally_counter *tally_counter_open_on(const struct kernel_seam *kernel, const char *events,
	const struct tally_counter_options *options, struct tally_error *err);
/* Makes groups, cells and pages after the set is open. may_map: the events are of the calling thread and not
 * inherited. */
TALLY_MUST_CHECK enum tally_status tally_counter_prepare(
	struct tally_counter *counter, bool may_map, struct tally_error *err);
void tally_counter_unprepare(struct tally_counter *counter);
/* Reads every cell. */
TALLY_MUST_CHECK enum tally_status tally_counter_refresh(struct tally_counter *counter, struct tally_error *err);

/* Resets an inherited counter: its counts begin now. If it cannot be read, nothing changes. */
void tally_counter_set_base(struct tally_counter *counter);

static inline struct counter_cell *tally_counter_cell(const struct tally_counter *counter, size_t event, size_t index)
{
	return &counter->cells[counter->first_cell[event] + index];
}

#endif
