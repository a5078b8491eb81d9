/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_perfdata.h - writes a batch as a recording (perf.data) that carries its symbols, for report and other readers.
 *
 * A sample that stands for several becomes so many records, whose periods add up to its value; their times are spread
 * over the window. Threads have made-up numbers, and kernels and generated code made-up addresses. States of waits and
 * labels of threads are left out: the format has no place for them.
 *
 *	batch_perfdata_write(batch, STR("cycles"), "out.data", err);
 */
#ifndef TASKS_FLEET_BATCH_PERFDATA_H
#define TASKS_FLEET_BATCH_PERFDATA_H

#include "fleet/batch.h"

#define BATCH_PERFDATA_SAMPLES (UINT64_C(4) << 20) /* as many records, at most */

/* event: the only one to write; empty: all. LIMIT: it would have too many records; NOT_FOUND: it would have none. */
TALLY_MUST_CHECK enum tally_status batch_perfdata_write(
	const struct fleet_batch *batch, struct tally_str event, const char *path, struct tally_error *err);

#endif
