/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_queue_item.h - defines what a queue remembers of a batch, and of batches that it dropped.
 */
#ifndef FLEET_BATCH_QUEUE_ITEM_H
#define FLEET_BATCH_QUEUE_ITEM_H

#include "fleet/batch.h"

struct batch_queue_losses {
	uint64_t batches, samples; /* that were dropped */
	uint64_t lost_samples; /* that the kernel lost, as dropped batches would have reported */
};

struct batch_queue_item {
	uint8_t id[FLEET_BATCH_ID_BYTES];
	uint64_t begin_ns;
	uint64_t samples;
	uint64_t lost_samples; /* by the kernel, in its own window */
	struct batch_queue_losses reported; /* by this batch: what was pending when it was made */
};

#endif
