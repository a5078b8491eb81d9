/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_latency.h - measures by BPF programs how long a kernel function takes, or the time from one tracepoint to another
 * in the same thread, and counts the durations in buckets of a histogram.
 *
 * The caller owns the object. Its programs and maps leave the kernel when it is destroyed or this process ends. Used by
 * one thread.
 *
 *	config = (struct bpf_latency_config){
 *		.functions = &name, .function_count = 1, .bucket_count = 22, .unit_ns = 1000};
 *	bpf_latency_create(kernel, &config, &latency, err);
 *	bpf_latency_watch(latency, id, err);   // for each process or thread, with of_processes or of_threads
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
	/* Kernel functions to measure; if there are none, the two tracepoints below are used. */
	const char *const *functions;
	size_t function_count;
	const char *systems[2], *events[2]; /* Names of the first and of the second tracepoint. */
	size_t bucket_count;
	/* Parameters of the buckets, which analysis/ftrace/duration_histogram.h describes. */
	uint64_t unit_ns, range, min;
	const bool *cpus; /* One element for each CPU number, at least LATENCY_MAP_CPUS; NULL includes all CPUs. */
	/*
	 * Measures only the processes or the threads that bpf_latency_watch adds. If both are false, everything is
	 * measured.
	 */
	bool of_processes, of_threads;
};

TALLY_MUST_CHECK enum tally_status bpf_latency_create(const struct kernel_seam *kernel,
	const struct bpf_latency_config *config, struct bpf_latency **latency, struct tally_error *err);
/* Adds a process (of_processes) or thread (of_threads). id is its ID in the PID namespace of this process. */
TALLY_MUST_CHECK enum tally_status bpf_latency_watch(struct bpf_latency *latency, uint32_t id, struct tally_error *err);
void bpf_latency_start(struct bpf_latency *latency);
void bpf_latency_stop(struct bpf_latency *latency);
/* Fills counts, which has bucket_count elements, with the number of durations in each bucket. */
TALLY_MUST_CHECK enum tally_status bpf_latency_read(const struct bpf_latency *latency, uint64_t *counts,
	struct latency_map_sum *sum, struct latency_map_losses *losses, struct tally_error *err);
void bpf_latency_destroy(struct bpf_latency *latency);

#endif
