/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_labels.h - groups the samples of a batch by a label.
 *
 *	batch_labels_group(batch, STR("service"), err);
 */
#ifndef TASKS_FLEET_BATCH_LABELS_H
#define TASKS_FLEET_BATCH_LABELS_H

#include "fleet/batch.h"

/* Replaces the name of each thread by the value that the label has for the thread or else for the whole batch, or by
 * "-" if neither has the label. The batch must not be shared. Returns INVALID if the name is not valid for a label. */
TALLY_MUST_CHECK enum tally_status batch_labels_group(
	struct fleet_batch *batch, struct tally_str name, struct tally_error *err);

#endif
