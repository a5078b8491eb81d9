/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * lock_contention_map.h - defines the keys and values of the maps in which src/bpf/lock_contention.bpf.c adds up waits
 * for locks.
 *
 * The BPF program includes it, too, so it uses only plain types and includes no other header. Fields of a key that do
 * not distinguish rows are 0.
 */
#ifndef ABI_LOCK_CONTENTION_MAP_H
#define ABI_LOCK_CONTENTION_MAP_H

#define LOCK_MAP_FRAMES 127
#define LOCK_MAP_COMM	16
#define LOCK_MAP_CPUS	4096 /* Maximum number of CPUs for -C. */

struct lock_map_key { /* Key of a sum. */
	unsigned long long stack; /* Key in the map of stacks; 0 for none. */
	unsigned long long lock; /* Address of the lock. */
	unsigned long long cgroup;
	unsigned int tid; /* The thread that waited, or that held the lock (LOCK_MAP_UNKNOWN if unknown). */
	unsigned int flags; /* Flags of the tracepoint contention_begin. */
};

#define LOCK_MAP_UNKNOWN 0xffffffffu

struct lock_map_sum {
	unsigned long long count, total_ns, max_ns, min_ns;
	char comm[LOCK_MAP_COMM]; /* Name of thread tid at the first of these waits. */
};

struct lock_map_stack { /* A kernel stack; the innermost frame is first. */
	unsigned int count, unused;
	unsigned long long frames[LOCK_MAP_FRAMES];
};

struct lock_map_losses { /* Events that were lost or not attributed. */
	unsigned long long without_wait; /* Waits that were lost because too many threads waited at the same time. */
	/* Number and time of waits that were lost because the map of sums was full. */
	unsigned long long without_sum, without_sum_ns;
	unsigned long long without_stack; /* Stacks that were lost; their waits are counted without a stack. */
	unsigned long long without_task; /* Child tasks that are not traced because a map was full. */
	unsigned long long unbegun; /* Ends of waits whose beginning was not seen. */
	unsigned long long replaced; /* Waits without an end: another thread with the same TID began to wait. */
};

#endif
