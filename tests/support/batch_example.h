/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_example.h - makes a batch that uses every feature of the format, and prints batches, for tests of the code
 * that encodes, sends and stores them.
 */
#ifndef SUPPORT_BATCH_EXAMPLE_H
#define SUPPORT_BATCH_EXAMPLE_H

#include "fleet/batch.h"

/* Returns NULL if it runs out of memory. The caller destroys the batch. */
struct fleet_batch *batch_example(void);
/* Writes one line per item, with names in place of indexes, so that equal batches give equal texts. */
void batch_print(const struct fleet_batch *batch, struct text *out);

#endif
