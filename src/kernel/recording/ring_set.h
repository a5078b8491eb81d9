/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_set.h - maps the rings of a recording, one per CPU or per thread and all of one size, and redirects other events
 * into them.
 *
 * The caller owns the set (ring_set_deinit) and the descriptors. The first event added for a slot is mapped; the others
 * are redirected to it (PERF_EVENT_IOC_SET_OUTPUT). TALLY_LIMIT means that the limit of locked memory forbids a ring;
 * the caller must then unmap all rings and start again with half the size.
 */
#ifndef KERNEL_RECORDING_RING_SET_H
#define KERNEL_RECORDING_RING_SET_H

#include "kernel/recording/ring.h"
#include "kernel/system/kernel_seam.h"

struct ring_slot {
	struct ring ring;
	int fd; /* Descriptor of the mapped event; -1 if none yet. */
};

struct ring_set {
	const struct kernel_seam *kernel;
	struct ring_slot *slots;
	size_t len;
	size_t page_bytes, data_bytes;
	bool is_backward; /* Set by the caller before it adds the first ring. */
};

TALLY_MUST_CHECK enum tally_status ring_set_init(struct ring_set *set, const struct kernel_seam *kernel,
	size_t slot_count, size_t data_bytes, struct tally_error *err);
/* Adds an event to a slot. Returns TALLY_LIMIT if the memory of its ring cannot be locked (EPERM, EAGAIN, ENOMEM). */
TALLY_MUST_CHECK enum tally_status ring_set_add(struct ring_set *set, size_t slot, int fd, struct tally_error *err);
/* Unmaps all rings. */
void ring_set_deinit(struct ring_set *set);

#endif
