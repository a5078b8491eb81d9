/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_passes.h - runs all passes of a plain profile: it returns a sideband and one filled sample pass, in the form of
 * sideband.h and sample_pass.h, but faster (plain_gather.h, plain_fold.h, plain_sum.h).
 *
 *	if (plain_path_supports(reader, options)) status = plain_passes_read(&job, &sideband, &pass, err);
 *	... TALLY_UNSUPPORTED: nothing was read; use the general passes ...
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

/* Also loads the binaries that samples hit into the store. The sideband borrows nothing from the run, and has no
 * chunks. The caller destroys *pass, also after a failure, unless it is NULL. */
TALLY_MUST_CHECK enum tally_status plain_passes_read(
	const struct plain_job *job, struct sideband *sideband, struct sample_pass **pass, struct tally_error *err);

#endif
