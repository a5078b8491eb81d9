/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * lock_contention_map.h - defines the keys and values of the maps in which src/bpf/lock_contention.bpf.c adds up waits
 * for locks.
 *
 * The BPF program includes it too, so it has plain types only and includes no other header. Fields of a key that do not
 * distinguish rows are 0.
 */
#ifndef ABI_LOCK_CONTENTION_MAP_H
#define ABI_LOCK_CONTENTION_MAP_H

#define LOCK_MAP_FRAMES 127
#define LOCK_MAP_COMM	16
#define LOCK_MAP_CPUS	4096 /* that -C can name */

struct lock_map_key { /* of a sum */
	unsigned long long stack; /* key of the map of stacks; 0: none */
	unsigned long long lock; /* its address */
	unsigned long long cgroup;
	unsigned int tid; /* the thread that waited, or that held the lock; LOCK_MAP_UNKNOWN: not known */
	unsigned int flags; /* of contention_begin */
};

#define LOCK_MAP_UNKNOWN 0xffffffffu

struct lock_map_sum {
	unsigned long long count, total_ns, max_ns, min_ns;
	char comm[LOCK_MAP_COMM]; /* of tid, at the first wait */
};

struct lock_map_stack { /* of the kernel, innermost first */
	unsigned int count, unused;
	unsigned long long frames[LOCK_MAP_FRAMES];
};

struct lock_map_losses { /* waits that found no room */
	unsigned long long without_wait; /* because too many threads waited at the same time */
	unsigned long long without_sum, without_sum_ns;
	unsigned long long without_stack; /* they are counted as waits without a stack */
	unsigned long long without_task; /* children that are not followed */
	unsigned long long unbegun; /* ends */
	unsigned long long replaced; /* waits of threads that ended while they waited */
};

#endif
