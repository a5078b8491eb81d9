/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_lock_contention.h - measures waits for locks of the kernel by a BPF program, with one sum for each stack, lock,
 * thread, cgroup or lock owner.
 *
 * The caller owns the object. Its programs and maps leave the kernel when it is destroyed or this process ends. Used by
 * one thread.
 *
 *	bpf_lock_contention_create(kernel, &config, &locks, err);
 *	bpf_lock_contention_watch(locks, id, err);   // for each process or thread, with of_processes or of_threads
 *	bpf_lock_contention_start(locks); ... bpf_lock_contention_stop(locks);
 *	bpf_lock_contention_read(locks, take, context, &losses, err);   // the sums
 *	bpf_lock_contention_destroy(locks);
 */
#ifndef BPF_BPF_LOCK_CONTENTION_H
#define BPF_BPF_LOCK_CONTENTION_H

#include "abi/lock_contention_map.h"
#include "kernel/system/kernel_seam.h"

struct bpf_lock_contention;

struct bpf_lock_config {
	/* Fields that distinguish sums. with_thread and with_owner cannot be used together, because both set key.tid. */
	bool with_stack, with_lock, with_thread, with_owner, with_cgroup;
	unsigned frames; /* Maximum number of frames of a stack, at most LOCK_MAP_FRAMES. */
	size_t entries; /* Capacity of each map. */
	const bool *cpus; /* One element for each CPU number, at least LOCK_MAP_CPUS; NULL includes all CPUs. */
	/*
	 * Measures only processes or threads that bpf_lock_contention_watch adds. If both are false, all are measured.
	 */
	bool of_processes, of_threads;
	bool follows_children; /* Measures also the children of the added threads; requires of_threads. */
};

struct bpf_lock_sum {
	struct lock_map_key key;
	struct lock_map_sum sum;
	const struct lock_map_stack *stack; /* NULL if the sum has no stack. */
	/* An address in the kernel's code that can stand for the place of the wait; 0 if none is known. */
	uint64_t kernel_address;
};

struct bpf_lock_losses {
	struct lock_map_losses of_maps;
	uint64_t unended; /* Number of waits that had not ended when the sums were read. */
	/* Number of events for which the kernel skipped the program to prevent recursion; 0 before Linux 5.12. */
	uint64_t missed;
};

TALLY_MUST_CHECK enum tally_status bpf_lock_contention_create(const struct kernel_seam *kernel,
	const struct bpf_lock_config *config, struct bpf_lock_contention **locks, struct tally_error *err);
/* Adds a process (of_processes) or thread (of_threads) to those that are measured. */
TALLY_MUST_CHECK enum tally_status bpf_lock_contention_watch(
	struct bpf_lock_contention *locks, uint32_t id, struct tally_error *err);
void bpf_lock_contention_start(struct bpf_lock_contention *locks);
/* Ends measuring and detaches the programs, so measuring cannot be started again. */
void bpf_lock_contention_stop(struct bpf_lock_contention *locks);
/*
 * Calls take for each sum, until it returns something other than TALLY_OK, which is returned. The sum and its stack are
 * valid during the call. losses is set in any case.
 */
TALLY_MUST_CHECK enum tally_status bpf_lock_contention_read(const struct bpf_lock_contention *locks,
	enum tally_status (*take)(void *context, const struct bpf_lock_sum *sum, struct tally_error *err),
	void *context, struct bpf_lock_losses *losses, struct tally_error *err);
void bpf_lock_contention_destroy(struct bpf_lock_contention *locks);

#endif
