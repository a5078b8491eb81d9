/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * shared_counter_map.h - defines the keys and values of the maps by which several sessions of stat share one counter of
 * each CPU (src/bpf/shared_counter.bpf.c).
 *
 * The BPF program includes it, too, so it uses only plain types and includes no other header.
 */
#ifndef ABI_SHARED_COUNTER_MAP_H
#define ABI_SHARED_COUNTER_MAP_H

#define SHARED_COUNTER_SLOTS 64 /* Maximum number of sessions that share an event; one bit of a mask each. */
#define SHARED_COUNTER_CPUS  4096 /* Maximum number of CPUs. */
#define SHARED_COUNTER_TASKS 65536 /* Maximum number of tasks that are counted at the same time. */

struct shared_counter_key { /* Key of the pinned map: an event. */
	unsigned long long type, config, config1, config2, flags;
};

/* Indexes of links, one for each tracepoint to which a BPF program is attached. */
enum { SHARED_LINK_SWITCH, SHARED_LINK_FORK, SHARED_LINK_EXIT, SHARED_LINKS };

struct shared_counter_entry { /* Kernel IDs of the BPF objects that count an event. */
	unsigned int links[SHARED_LINKS];
	unsigned int program; /* ID of the program on_switch. */
	unsigned int readings, tasks, cpus, active, owners, losses; /* IDs of maps. */
};

struct shared_counter_reading {
	unsigned long long value, enabled_ns, running_ns;
};

struct shared_counter_losses {
	unsigned long long unread; /* How often the counter of a CPU could not be read. */
	unsigned long long without_task; /* Child tasks that are not counted because a map was full. */
};

#endif
