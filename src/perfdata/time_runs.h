/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_runs.h - merges sorted runs of waiting records that exceed the memory limit and therefore lie in a spool
 * (base/spool.h).
 *
 * Owned by the struct that embeds it (time_runs_init). One thread. Items with the same time keep the order in which
 * they were added.
 *
 *	time_runs_add(&runs, items, count);   ... and more runs ...
 *	while ((item = time_runs_first(&runs)) && item->time_ns <= until_ns) use(time_runs_take(&runs));
 */
#ifndef PERFDATA_TIME_RUNS_H
#define PERFDATA_TIME_RUNS_H

#include "base/spool.h"
#include "base/vec.h"

struct time_waiting { /* a record */
	uint64_t time_ns;
	const uint8_t *data;
	uint64_t offset;
};

struct time_run { /* what is left of one; never empty */
	const struct time_waiting *at, *end;
};

struct time_runs {
	struct spool items;
	VEC(struct time_run) runs; /* a heap: the first has the oldest item */
	size_t count; /* items that are left */
	size_t taken; /* since the spool was dropped */
};

void time_runs_init(struct time_runs *runs);
void time_runs_deinit(struct time_runs *runs);
/* At least one item, in order of time; copied. False: neither memory nor room on disk is left. */
bool time_runs_add(struct time_runs *runs, const struct time_waiting *items, size_t count);
/* NULL: none is left. */
static inline const struct time_waiting *time_runs_first(const struct time_runs *runs)
{
	return runs->runs.len > 0 ? runs->runs.items[0].at : NULL;
}
/* Removes the first, which there must be. */
struct time_waiting time_runs_take(struct time_runs *runs);

#endif
