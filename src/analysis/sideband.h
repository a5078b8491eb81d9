/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sideband.h - runs pass one: it puts all records except samples into time order, applies them to a machine, counts
 * losses, and divides the run into chunks at record boundaries for the parallel pass.
 *
 * A truncated or damaged run is not an error here: health says where it ended, and the chunks cover the intact part.
 *
 *	sideband_read(reader, &run, &sideband, err);   ... sideband.machine is finished ... sideband_deinit(&sideband);
 */
#ifndef ANALYSIS_SIDEBAND_H
#define ANALYSIS_SIDEBAND_H

#include "analysis/deferred_chains.h"
#include "analysis/record_run.h"
#include "analysis/sample_clock.h"
#include "base/vec.h"
#include "code/binary_store.h"
#include "machine/machine.h"

#define SIDEBAND_CHUNK_BYTES (1u << 20) /* Large enough to amortise a worker's start, small enough to share evenly. */

struct sideband {
	struct machine *machine; /* Owned; a caller may take it over and set this to NULL. */
	struct input_health health;
	VEC(size_t) chunks; /* Start positions in the run; the last chunk ends at `end`. */
	size_t end; /* Position after the last complete record. */
	struct sample_clock clock;
	struct deferred_chains deferred; /* User call chains that were recorded after their samples. */
	VEC(uint64_t) lost_by_event; /* Sum of LOST and LOST_SAMPLES, indexed by event. */
};

/* Creates an empty machine with the recording's pointer size (32 or 64 bits). */
TALLY_MUST_CHECK enum tally_status sideband_create_machine(
	const struct perfdata_reader *reader, struct machine **machine, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status sideband_read(struct perfdata_reader *reader, const struct record_run *run,
	struct sideband *sideband, struct tally_error *err);
/* Does the same as sideband_read, and also adds generated code to the machine's history, from dumps of runtimes
 * (jitdump) that store finds. store may be NULL. */
TALLY_MUST_CHECK enum tally_status sideband_read_code(struct perfdata_reader *reader, const struct record_run *run,
	struct binary_store *store, struct sideband *sideband, struct tally_error *err);
/* Does the same as sideband_read_code for callers that look up names next: a thread of the store reads symbols
 * meanwhile. */
TALLY_MUST_CHECK enum tally_status sideband_read_loading(struct perfdata_reader *reader, const struct record_run *run,
	struct binary_store *store, struct sideband *sideband, struct tally_error *err);
/* Counts one record in health and lost_by_event. */
TALLY_MUST_CHECK enum tally_status sideband_count(struct sideband *sideband, struct perfdata_reader *reader,
	const struct record *record, struct tally_error *err);
/* Applies a HEADER_BUILD_ID record, which streams contain instead of a section. The machine knows the build ID after it
 * is finished again. */
TALLY_MUST_CHECK enum tally_status sideband_take_build_id(
	struct sideband *sideband, const struct record *record, struct tally_error *err);
/* Returns whether records of this type are applied to a machine. */
bool sideband_is_history(uint32_t type);
void sideband_deinit(struct sideband *sideband);

#endif
