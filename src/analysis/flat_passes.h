/*
 * flat_passes.h - a recording read for a flat profile: side-band and filled sample passes, as sideband.h and
 * sample_pass.h give them for any profile, in a shorter way (flat_gather.h, flat_fold.h).
 *
 *	if (flat_gather_serves(reader, options)) status = flat_passes_read(&job, &sideband, &passes, err);
 *	... TALLY_UNSUPPORTED: nothing was read, the long way serves ...
 */
#ifndef ANALYSIS_FLAT_PASSES_H
#define ANALYSIS_FLAT_PASSES_H

#include "analysis/replay_options.h"
#include "analysis/sample_pass.h"

struct flat_job {
	struct perfdata_reader *reader;
	const struct record_run *run;
	struct binary_store *store;
	const struct replay_options *options;
};

struct flat_passes { /* owned by the caller, who destroys each and frees items; also after a failure */
	struct sample_pass **items;
	size_t count;
};

/* Loads what was hit into the store. The sideband borrows nothing of the run, and has no chunks. */
TALLY_MUST_CHECK enum tally_status flat_passes_read(
	const struct flat_job *job, struct sideband *sideband, struct flat_passes *passes, struct tally_error *err);

#endif
