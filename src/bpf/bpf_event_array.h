/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_event_array.h - opens counters on each CPU, and stores them in a map of type PERF_EVENT_ARRAY, from which BPF
 * programs read them. The counter of event E on CPU C has the index E * (possible CPUs) + C. The map holds references
 * to the counters; their file descriptors are closed.
 */
#ifndef BPF_BPF_EVENT_ARRAY_H
#define BPF_BPF_EVENT_ARRAY_H

#include "kernel/events/event_parser.h"
#include "kernel/system/kernel_seam.h"

struct bpf_counted_event {
	const struct event_spec *spec;
	const int *cpus; /* CPUs on which the event is counted. */
	size_t cpu_count;
};

struct bpf_event_array {
	int map; /* File descriptor of the PERF_EVENT_ARRAY map. */
	int possible_cpus; /* Number of possible CPUs of this machine. */
	const struct bpf_counted_event *events;
	size_t event_count;
};

/* Opens all counters and stores them in array->map. what is the option or verb that needs them, for error messages. */
TALLY_MUST_CHECK enum tally_status bpf_event_array_fill(const struct kernel_seam *kernel, const char *what,
	const struct bpf_event_array *array, struct tally_error *err);

#endif
