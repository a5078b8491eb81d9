/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue_item.h - defines the properties of a batch in a queue, and the losses by dropped batches.
 */
#ifndef FLEET_BATCH_QUEUE_ITEM_H
#define FLEET_BATCH_QUEUE_ITEM_H

#include "fleet/batch.h"

struct batch_queue_losses {
	uint64_t batches, samples; /* Dropped batches and their samples. */
	uint64_t lost_samples; /* Samples that the kernel lost and dropped batches would have reported. */
};

struct batch_queue_item {
	uint8_t id[FLEET_BATCH_ID_BYTES];
	uint64_t begin_ns; /* Begin of the window, since 1970. */
	uint64_t samples; /* Number of samples. */
	uint64_t lost_samples; /* Samples that the kernel lost in the window of the batch. */
	struct batch_queue_losses reported; /* Pending losses that this batch reports. */
};

#endif
