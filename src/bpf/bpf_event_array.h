/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_event_array.h - opens counters of each CPU for BPF programs that read them, and puts them into a map of the kind
 * PERF_EVENT_ARRAY: the counter of event E on CPU C is at E * (possible CPUs) + C. The map keeps them.
 */
#ifndef BPF_BPF_EVENT_ARRAY_H
#define BPF_BPF_EVENT_ARRAY_H

#include "kernel/events/event_parser.h"
#include "kernel/system/kernel_seam.h"

struct bpf_counted_event {
	const struct event_spec *spec;
	const int *cpus; /* where it is counted */
	size_t cpu_count;
};

struct bpf_event_array {
	int map; /* its descriptor */
	int possible_cpus;
	const struct bpf_counted_event *events;
	size_t event_count;
};

/* what: the option or verb. */
TALLY_MUST_CHECK enum tally_status bpf_event_array_fill(const struct kernel_seam *kernel, const char *what,
	const struct bpf_event_array *array, struct tally_error *err);

#endif
