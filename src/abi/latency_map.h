/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * latency_map.h - defines the values of the maps in which src/bpf/latency.bpf.c counts latencies.
 *
 * The BPF program includes it, too, so it uses only plain types and includes no other header.
 */
#ifndef ABI_LATENCY_MAP_H
#define ABI_LATENCY_MAP_H

#define LATENCY_MAP_CPUS 4096 /* Maximum number of CPUs for -C. */

struct latency_map_sum {
	unsigned long long count, total_ns, min_ns, max_ns; /* min_ns is 0 if count is 0. */
};

struct latency_map_losses {
	unsigned long long without_start; /* Number of starts that were lost because a map was full. */
};

#endif
