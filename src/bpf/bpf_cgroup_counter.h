/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_cgroup_counter.h - counts events for many cgroups by one counter of each CPU and event (stat --bpf-counters
 * --for-each-cgroup). A BPF program adds the counts at each switch from one cgroup to another. The counts of a cgroup
 * include those of its descendants.
 *
 * The caller owns the counter, and its programs and maps leave the kernel when it is closed or the process ends.
 * Requires Linux 5.10, which can run a program on a given CPU. Used by one thread at a time.
 *
 *	bpf_cgroup_counter_open(kernel, &request, &counter, err);
 *	bpf_cgroup_counter_begin(counter, err); ... bpf_cgroup_counter_end(counter, err);
 *	bpf_cgroup_counter_read(counter, err); ... bpf_cgroup_counter_at(counter, cgroup, event, cpu) ...
 *	bpf_cgroup_counter_close(counter);
 */
#ifndef BPF_BPF_CGROUP_COUNTER_H
#define BPF_BPF_CGROUP_COUNTER_H

#include "abi/cgroup_counter_map.h"
#include "bpf/bpf_event_array.h"

struct bpf_cgroup_counter;

struct bpf_cgroup_request {
	const struct bpf_counted_event *events;
	size_t event_count;
	const uint64_t *cgroups; /* Cgroup IDs (inode numbers of the directories), without duplicates. */
	size_t cgroup_count;
	const int *cpus; /* CPUs on which any of the events is counted. */
	size_t cpu_count;
};

/* Does not retain the request. Returns LIMIT if there are more than CGROUP_COUNTER_EVENTS events. */
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_open(const struct kernel_seam *kernel,
	const struct bpf_cgroup_request *request, struct bpf_cgroup_counter **counter, struct tally_error *err);
/* bpf_cgroup_counter_begin starts counting, and bpf_cgroup_counter_end stops it. */
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_begin(
	struct bpf_cgroup_counter *counter, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_end(struct bpf_cgroup_counter *counter, struct tally_error *err);
/* Reads the current counts for bpf_cgroup_counter_at, also while counting is on. */
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_read(struct bpf_cgroup_counter *counter, struct tally_error *err);
/*
 * Returns the count of a cgroup, event and CPU as of the last bpf_cgroup_counter_read. cgroup and event are indices in
 * the request. The result is zero if one of them is out of range or the CPU does not exist.
 */
struct cgroup_counter_reading bpf_cgroup_counter_at(
	const struct bpf_cgroup_counter *counter, size_t cgroup, size_t event, int cpu);
/* Returns how often a counter could not be read or a cgroup was nested too deeply. */
uint64_t bpf_cgroup_counter_losses(const struct bpf_cgroup_counter *counter);
void bpf_cgroup_counter_close(struct bpf_cgroup_counter *counter);

#endif
