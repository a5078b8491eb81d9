/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_ring.h - declares functions of tally/ring.h for internal use, such as opening a ring by any kernel seam.
 *
 *	struct tally_ring *ring = tally_ring_open_on(kernel, fd, NULL, &err);
 */
#ifndef KERNEL_RECORDING_TALLY_RING_H
#define KERNEL_RECORDING_TALLY_RING_H

#include <tally/ring.h>

#include "kernel/system/kernel_seam.h"

/* Does what tally_ring_open does, by this seam instead of that of Linux. */
struct tally_ring *tally_ring_open_on(
	const struct kernel_seam *kernel, int fd, const struct tally_ring_options *options, struct tally_error *err);
/* Returns bytes rounded up to a power of two of pages; for 0, the default size. */
size_t tally_ring_size(size_t bytes);

#endif
