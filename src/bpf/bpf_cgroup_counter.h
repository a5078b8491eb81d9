/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_cgroup_counter.h - counts events for many cgroups by one counter of each CPU and event (stat --bpf-counters
 * --for-each-cgroup): a BPF program adds up at each switch from one cgroup to another. A cgroup counts what those in it
 * count.
 *
 * The caller owns it; nothing of it is left in the kernel when it is closed, or when the process is killed. Linux 5.10,
 * which runs a program on a CPU. One thread at a time.
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
	const uint64_t *cgroups; /* IDs: numbers of their directories; none occurs twice */
	size_t cgroup_count;
	const int *cpus; /* of all events */
	size_t cpu_count;
};

/* The request is not kept. LIMIT: more than CGROUP_COUNTER_EVENTS. */
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_open(const struct kernel_seam *kernel,
	const struct bpf_cgroup_request *request, struct bpf_cgroup_counter **counter, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_begin(
	struct bpf_cgroup_counter *counter, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_end(struct bpf_cgroup_counter *counter, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_cgroup_counter_read(struct bpf_cgroup_counter *counter, struct tally_error *err);
/* Of the last bpf_cgroup_counter_read. event and cgroup: their indices in the request; zeros for a CPU that there is not. */
struct cgroup_counter_reading bpf_cgroup_counter_at(
	const struct bpf_cgroup_counter *counter, size_t cgroup, size_t event, int cpu);
/* Times that a counter could not be read, or a cgroup was too deep. */
uint64_t bpf_cgroup_counter_losses(const struct bpf_cgroup_counter *counter);
void bpf_cgroup_counter_close(struct bpf_cgroup_counter *counter);

#endif
