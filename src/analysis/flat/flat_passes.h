/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat_passes.h - a recording read for a flat profile: side-band and one filled sample pass, as sideband.h and
 * sample_pass.h give them for any profile, in a shorter way (flat_gather.h, flat_fold.h, flat_sum.h).
 *
 *	if (flat_gather_serves(reader, options)) status = flat_passes_read(&job, &sideband, &pass, err);
 *	... TALLY_UNSUPPORTED: nothing was read, the long way serves ...
 */
#ifndef ANALYSIS_FLAT_FLAT_PASSES_H
#define ANALYSIS_FLAT_FLAT_PASSES_H

#include "analysis/replay_options.h"
#include "analysis/sample_pass.h"

struct flat_job {
	struct perfdata_reader *reader;
	const struct record_run *run;
	struct binary_store *store;
	const struct replay_options *options;
};

/* Loads what was hit into the store. The sideband borrows nothing of the run, and has no chunks. The pass is the caller's
 * to destroy, also after a failure; NULL: there is none. */
TALLY_MUST_CHECK enum tally_status flat_passes_read(
	const struct flat_job *job, struct sideband *sideband, struct sample_pass **pass, struct tally_error *err);

#endif
