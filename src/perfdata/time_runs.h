/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_runs.h - merges sorted runs of waiting records, which are stored in a spool (base/spool.h) because they exceed
 * the memory limit.
 *
 * Owned by the struct that embeds it (time_runs_init). One thread. Items with the same time remain in the order in
 * which they were added.
 *
 *	time_runs_add(&runs, items, count);   ... and more runs ...
 *	while ((item = time_runs_first(&runs)) && item->time_ns <= until_ns) use(time_runs_take(&runs));
 */
#ifndef PERFDATA_TIME_RUNS_H
#define PERFDATA_TIME_RUNS_H

#include "base/spool.h"
#include "base/vec.h"

struct time_waiting { /* A record that waits to be returned. */
	uint64_t time_ns;
	const uint8_t *data;
	uint64_t offset;
};

struct time_run { /* The remaining items of a run; never empty. */
	const struct time_waiting *at, *end;
};

struct time_runs {
	struct spool items;
	VEC(struct time_run) runs; /* A heap; the first run has the oldest item. */
	size_t count; /* Number of remaining items. */
	size_t taken; /* Number of items removed since pages of the spool were dropped. */
};

void time_runs_init(struct time_runs *runs);
void time_runs_deinit(struct time_runs *runs);
/* Adds a copy of a run of at least one item, sorted by time. Returns false if memory and disk space run out. */
bool time_runs_add(struct time_runs *runs, const struct time_waiting *items, size_t count);
/* Returns the oldest item; NULL if there is none. */
static inline const struct time_waiting *time_runs_first(const struct time_runs *runs)
{
	return runs->runs.len > 0 ? runs->runs.items[0].at : NULL;
}
/* Removes and returns the oldest item; there must be one. */
struct time_waiting time_runs_take(struct time_runs *runs);

#endif
