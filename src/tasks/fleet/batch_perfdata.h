/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_perfdata.h - writes a batch as a recording (perf.data) that contains its symbols, for report and other readers.
 *
 * A sample with a count of n becomes n records, with periods that add up to its value; their times are spread over the
 * window. The numbers of threads and the addresses of kernels and generated code are made up. States of waits and
 * labels of threads are omitted, because the format cannot represent them.
 *
 *	batch_perfdata_write(batch, STR("cycles"), "out.data", err);
 */
#ifndef TASKS_FLEET_BATCH_PERFDATA_H
#define TASKS_FLEET_BATCH_PERFDATA_H

#include "fleet/batch.h"

#define BATCH_PERFDATA_SAMPLES (UINT64_C(4) << 20) /* Maximum number of records. */

/* Writes only this event, or all events if it is empty. Returns LIMIT if there would be too many records, and NOT_FOUND
 * if there would be none. */
TALLY_MUST_CHECK enum tally_status batch_perfdata_write(
	const struct fleet_batch *batch, struct tally_str event, const char *path, struct tally_error *err);

#endif
