/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.h - adds up the counts of an event over CPUs and threads: all, per CPU, core, cluster, cache, die, socket,
 * node or thread.
 *
 * A struct aggregation maps CPUs or threads to groups. It is made once per set and belongs to the caller
 * (aggregation_deinit). Counts are scaled per counter before they are added, since each counter ran for a different
 * time.
 */
#ifndef KERNEL_COUNTING_AGGREGATE_H
#define KERNEL_COUNTING_AGGREGATE_H

#include "kernel/counting/counter.h"
#include "kernel/system/cpu_topology.h"

enum aggregation_mode {
	AGGREGATE_ALL,
	AGGREGATE_CPU,
	AGGREGATE_CORE,
	AGGREGATE_DIE,
	AGGREGATE_SOCKET,
	AGGREGATE_NODE,
	AGGREGATE_CLUSTER,
	AGGREGATE_CACHE,
	AGGREGATE_THREAD
};

struct aggregation {
	enum aggregation_mode mode;
	/* One place per group, sorted; only the fields by which mode groups are valid. NULL for AGGREGATE_ALL and
	 * AGGREGATE_THREAD. */
	struct cpu_place *places;
	pid_t *threads; /* For AGGREGATE_THREAD, one per group; else NULL. */
	unsigned cache_level; /* Level of the caches of AGGREGATE_CACHE; otherwise 0. */
	size_t len; /* Number of groups. */
	int *cpus; /* Sorted. */
	uint32_t *group_of_cpu; /* Index of the group of each of cpus. */
	size_t cpu_count;
};

struct aggregate {
	uint64_t value; /* Sum of the counts, which are scaled first if is_scaling was set. */
	struct count raw; /* Sums of the unscaled counts. */
	uint32_t cpu_count; /* Number of CPUs that counted. */
};

/* Makes an aggregation of the CPUs or threads of the set. For AGGREGATE_CACHE, the caller sets aggregation->cache_level
 * before the call (0: the last level). */
TALLY_MUST_CHECK enum tally_status aggregation_make(const struct kernel_seam *kernel, const struct counter_set *set,
	enum aggregation_mode mode, struct aggregation *aggregation, struct tally_error *err);
/* Makes an aggregation of known places, which are sorted by CPU; mode is neither AGGREGATE_ALL nor AGGREGATE_THREAD. */
TALLY_MUST_CHECK enum tally_status aggregation_group(const struct cpu_place *places, size_t count,
	enum aggregation_mode mode, struct aggregation *aggregation, struct tally_error *err);
void aggregation_deinit(struct aggregation *aggregation);
/* Fills aggregation->len results with the sums of the counter's counts. previous has the counts of an earlier read,
 * which are subtracted first, in the order of counter->counts; NULL for none. */
void aggregate_counter(const struct aggregation *aggregation, const struct counter *counter,
	const struct count *previous, bool is_scaling, struct aggregate *results);

#endif
