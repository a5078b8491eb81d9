/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_latency.h - measures by BPF programs how long a function of the kernel takes, or the time from one tracepoint to
 * another in the same thread, and counts it in buckets.
 *
 * The caller owns it. Its programs and maps leave the kernel when it is destroyed or this process ends. One thread.
 *
 *	struct bpf_latency_config config = {.functions = &name, .function_count = 1, .bucket_count = 22, .unit_ns = 1000};
 *	bpf_latency_create(kernel, &config, &latency, err);
 *	bpf_latency_watch(latency, pid, err);   // each process or thread, where some are asked for
 *	bpf_latency_start(latency); ... bpf_latency_stop(latency);
 *	bpf_latency_read(latency, counts, &sum, &losses, err);
 *	bpf_latency_destroy(latency);
 */
#ifndef BPF_BPF_LATENCY_H
#define BPF_BPF_LATENCY_H

#include "abi/latency_map.h"
#include "kernel/system/kernel_seam.h"

struct bpf_latency;

struct bpf_latency_config {
	const char *const *functions; /* each is attached; none: the events are */
	size_t function_count;
	const char *systems[2], *events[2]; /* the first tracepoint and the second */
	size_t bucket_count;
	uint64_t unit_ns, range, min; /* see analysis/ftrace/duration_histogram.h */
	const bool *cpus; /* by CPU, at least LATENCY_MAP_CPUS of them; NULL: all */
	bool of_processes, of_threads; /* watch tells which; neither: everything */
};

TALLY_MUST_CHECK enum tally_status bpf_latency_create(const struct kernel_seam *kernel,
	const struct bpf_latency_config *config, struct bpf_latency **latency, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_latency_watch(struct bpf_latency *latency, uint32_t id, struct tally_error *err);
void bpf_latency_start(struct bpf_latency *latency);
void bpf_latency_stop(struct bpf_latency *latency);
/* counts: bucket_count of them. */
TALLY_MUST_CHECK enum tally_status bpf_latency_read(const struct bpf_latency *latency, uint64_t *counts,
	struct latency_map_sum *sum, struct latency_map_losses *losses, struct tally_error *err);
void bpf_latency_destroy(struct bpf_latency *latency);

#endif
