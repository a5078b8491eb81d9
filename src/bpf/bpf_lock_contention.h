/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_lock_contention.h - adds up waits for the kernel's locks in the maps of a BPF program, with one sum for each
 * stack, lock, thread, cgroup or owner of the watched threads.
 *
 * The caller owns it. Its programs and maps leave the kernel when it is destroyed or this process ends. One thread.
 *
 *	bpf_lock_contention_create(kernel, &config, &locks, err);
 *	bpf_lock_contention_watch(locks, id, err);   // each process or thread, where some are asked for
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
	bool with_stack, with_lock, with_thread, with_owner, with_cgroup; /* the key of sums */
	unsigned frames; /* of a stack, at most LOCK_MAP_FRAMES */
	size_t entries; /* of each map */
	const bool *cpus; /* by CPU, at least LOCK_MAP_CPUS of them: the watched CPUs; NULL: all */
	bool of_processes, of_threads; /* watch tells which; neither: everything */
	bool follows_children; /* with of_threads: what they fork too */
};

struct bpf_lock_sum {
	struct lock_map_key key;
	struct lock_map_sum sum;
	const struct lock_map_stack *stack; /* NULL: none */
	uint64_t kernel_address; /* of some code in the kernel; 0: unknown */
};

struct bpf_lock_losses {
	struct lock_map_losses of_maps;
	uint64_t unended; /* waits that last */
	uint64_t missed; /* events, in contexts where no program may run */
};

TALLY_MUST_CHECK enum tally_status bpf_lock_contention_create(const struct kernel_seam *kernel,
	const struct bpf_lock_config *config, struct bpf_lock_contention **locks, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status bpf_lock_contention_watch(
	struct bpf_lock_contention *locks, uint32_t id, struct tally_error *err);
void bpf_lock_contention_start(struct bpf_lock_contention *locks);
void bpf_lock_contention_stop(struct bpf_lock_contention *locks);
/* Calls take for each sum, until it returns something other than TALLY_OK. */
TALLY_MUST_CHECK enum tally_status bpf_lock_contention_read(const struct bpf_lock_contention *locks,
	enum tally_status (*take)(void *context, const struct bpf_lock_sum *sum, struct tally_error *err),
	void *context, struct bpf_lock_losses *losses, struct tally_error *err);
void bpf_lock_contention_destroy(struct bpf_lock_contention *locks);

#endif
