/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_passes.h - a recording read for a plain profile: side-band and one filled sample pass, as sideband.h and
 * sample_pass.h give them for any profile, in a shorter way (plain_gather.h, plain_fold.h, plain_sum.h).
 *
 *	if (plain_path_supports(reader, options)) status = plain_passes_read(&job, &sideband, &pass, err);
 *	... TALLY_UNSUPPORTED: nothing was read, the long way serves ...
 */
#ifndef ANALYSIS_PLAIN_PLAIN_PASSES_H
#define ANALYSIS_PLAIN_PLAIN_PASSES_H

#include "analysis/replay_options.h"
#include "analysis/sample_pass.h"

struct plain_job {
	struct perfdata_reader *reader;
	const struct record_run *run;
	struct binary_store *store;
	const struct replay_options *options;
};

/* Loads what was hit into the store. The sideband borrows nothing of the run, and has no chunks. The pass is the caller's
 * to destroy, also after a failure; NULL: there is none. */
TALLY_MUST_CHECK enum tally_status plain_passes_read(
	const struct plain_job *job, struct sideband *sideband, struct sample_pass **pass, struct tally_error *err);

#endif
