/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.h - implements --affinity: the recording thread moves to the CPU or the node of the ring that it is about to
 * read.
 *
 * The owner of the rings also owns the struct affinity (affinity_deinit). If the thread may not run on the CPU, it does
 * not move, because reading a ring from another CPU works and only takes longer. One thread.
 *
 *	affinity_init(&affinity, kernel, AFFINITY_NODE, cpus, cpu_count, err);
 *	affinity_move(&affinity, ring);  ... read the ring ...
 */
#ifndef KERNEL_RECORDING_AFFINITY_H
#define KERNEL_RECORDING_AFFINITY_H

#include "kernel/system/kernel_seam.h"

enum affinity_mode { AFFINITY_NONE, AFFINITY_NODE, AFFINITY_CPU };

struct affinity {
	enum affinity_mode mode;
	struct cpu_place *places; /* One per ring: the place of its CPU. NULL for AFFINITY_NONE. */
	size_t count; /* Number of rings. */
	struct cpu_place *all; /* Places of all online CPUs. */
	size_t all_count;
	int current; /* Node or CPU to which the thread is bound; -1 if none. */
};

/* Reads the places of cpus, which has the CPU of each ring. */
TALLY_MUST_CHECK enum tally_status affinity_init(struct affinity *affinity, const struct kernel_seam *kernel,
	enum affinity_mode mode, const int *cpus, size_t count, struct tally_error *err);
void affinity_deinit(struct affinity *affinity);
/* Binds the calling thread to the CPU or node of the ring with this index; does nothing for AFFINITY_NONE. */
void affinity_move(struct affinity *affinity, size_t ring);

#endif
