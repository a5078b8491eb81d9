/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_labels.h - groups the samples of a batch by a label.
 *
 *	batch_labels_group(batch, STR("service"), err);
 */
#ifndef TASKS_FLEET_BATCH_LABELS_H
#define TASKS_FLEET_BATCH_LABELS_H

#include "fleet/batch.h"

/* Replaces the names of threads by the value of the label, or "-" if a thread has no such label. The batch must not be
 * shared. Returns INVALID if the name is not valid for a label. */
TALLY_MUST_CHECK enum tally_status batch_labels_group(
	struct fleet_batch *batch, struct tally_str name, struct tally_error *err);

#endif
