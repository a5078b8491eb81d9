/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * cgroup_counter_map.h - defines the values of the maps by which one counter of each CPU counts many cgroups
 * (src/bpf/cgroup_counter.bpf.c).
 *
 * The BPF program includes it, too, so it uses only plain types and includes no other header.
 */
#ifndef ABI_CGROUP_COUNTER_MAP_H
#define ABI_CGROUP_COUNTER_MAP_H

#define CGROUP_COUNTER_EVENTS 64 /* Maximum number of events of a session. */
#define CGROUP_COUNTER_DEPTH  32 /* Maximum nesting; threads in deeper cgroups count only for the innermost ones. */

struct cgroup_counter_reading {
	unsigned long long value, enabled_ns, running_ns;
};

#endif
