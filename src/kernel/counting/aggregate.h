/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.h - adds up the counts of an event over CPUs and threads: all, per CPU, core, cluster, cache,
 * die, socket, node or thread.
 *
 * The plan (which CPU goes to which place) is made once per set and belongs to the caller (aggregation_deinit). Counts
 * are scaled per counter before they are added, since each counter has its own share of the time.
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
	struct cpu_place
		*places; /* one per group, in order: the fields that mode names are meant, of a CPU all of them;
			    NULL for ALL, THREAD */
	pid_t *threads; /* of AGGREGATE_THREAD */
	unsigned cache_level; /* of AGGREGATE_CACHE */
	size_t len; /* how many groups there are */
	int *cpus; /* sorted, with the group of each */
	uint32_t *group_of_cpu;
	size_t cpu_count;
};

struct aggregate {
	uint64_t value; /* scaled */
	struct count raw; /* sums, unscaled */
	uint32_t cpu_count; /* CPUs that were counted on */
};

/* With AGGREGATE_CACHE, aggregation->cache_level says which caches (0: the last level). */
TALLY_MUST_CHECK enum tally_status aggregation_make(const struct kernel_seam *kernel, const struct counter_set *set,
	enum aggregation_mode mode, struct aggregation *aggregation, struct tally_error *err);
/* The same for places that are known already, sorted by CPU; mode is one of those that have places. */
TALLY_MUST_CHECK enum tally_status aggregation_group(const struct cpu_place *places, size_t count,
	enum aggregation_mode mode, struct aggregation *aggregation, struct tally_error *err);
void aggregation_deinit(struct aggregation *aggregation);
/* results: aggregation->len of them. previous: counts of an earlier read in the shape of counter->counts, to be
 * subtracted; NULL: none. */
void aggregate_counter(const struct aggregation *aggregation, const struct counter *counter,
	const struct count *previous, bool is_scaling, struct aggregate *results);

#endif
