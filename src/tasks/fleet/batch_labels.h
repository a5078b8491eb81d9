/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_labels.h - groups the samples of a batch by a label.
 *
 *	batch_labels_group(batch, STR("service"), err);
 */
#ifndef TASKS_FLEET_BATCH_LABELS_H
#define TASKS_FLEET_BATCH_LABELS_H

#include "fleet/batch.h"

/* The value of the label takes the place of the names of threads; "-" where there is no such label. The batch is the
 * caller's alone. INVALID: the name is none of a label. */
TALLY_MUST_CHECK enum tally_status batch_labels_group(
	struct fleet_batch *batch, struct tally_str name, struct tally_error *err);

#endif
