/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_example.h - makes a batch that has an example of everything that the format has, and prints batches, for tests
 * of what encodes, sends and stores them.
 */
#ifndef SUPPORT_BATCH_EXAMPLE_H
#define SUPPORT_BATCH_EXAMPLE_H

#include "fleet/batch.h"

/* NULL: out of memory. The caller destroys it. */
struct fleet_batch *batch_example(void);
/* One line for each thing, with names in place of indexes: equal batches give equal texts. */
void batch_print(const struct fleet_batch *batch, struct text *out);

#endif
