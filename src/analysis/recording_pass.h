/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_pass.h - opens everything that a pass over a recording's samples needs if it reads one sample after the
 * other: the records as one run of bytes, the history of processes and mappings, and a resolver of addresses, call
 * chains and stack dumps.
 *
 * The caller closes it, also after a failure. It must not be moved, because its parts point to each other. One thread.
 *
 *	status = recording_pass_open(&pass, reader, &(struct recording_pass_input){.store = store}, err);
 *	... record_run_next(&pass.run, &position, &record, err) ... resolver_sample_chain(&pass.resolver, ...) ...
 *	recording_pass_close(&pass);
 */
#ifndef ANALYSIS_RECORDING_PASS_H
#define ANALYSIS_RECORDING_PASS_H

#include "analysis/record_run.h"
#include "analysis/resolve.h"
#include "analysis/sideband.h"
#include "base/progress.h"
#include "code/binary_store.h"
#include "perfdata/reader.h"

struct recording_pass {
	struct perfdata_reader *reader; /* Borrowed. */
	struct record_run run;
	struct sideband sideband;
	struct resolver resolver;
	struct unwind_files unwind_files;
	struct sample_unwinder unwinder;
	uint64_t end_offset; /* Records from this file offset on are left out; 0 for no limit. */
};

struct recording_pass_input {
	/* Finds the tables that unwind stack dumps, and the dumps of generated code; borrowed. NULL if stack dumps are
	 * not unwound. */
	struct binary_store *store;
	/* Limit of record bytes, after which the recording is treated as truncated; 0 for no limit. Ignored for copied
	 * runs. */
	size_t max_bytes;
	struct progress *progress; /* NULL if progress is not shown. */
};

/* Opens the records and builds the history, without a resolver. */
TALLY_MUST_CHECK enum tally_status recording_pass_read(struct recording_pass *pass, struct perfdata_reader *reader,
	const struct recording_pass_input *input, struct tally_error *err);
/* Adds the resolver to a pass that has a machine in its sideband. store is NULL if stack dumps are not unwound. */
TALLY_MUST_CHECK enum tally_status recording_pass_resolve(
	struct recording_pass *pass, struct binary_store *store, struct tally_error *err);
/* Calls recording_pass_read, and then recording_pass_resolve with input->store. */
TALLY_MUST_CHECK enum tally_status recording_pass_open(struct recording_pass *pass, struct perfdata_reader *reader,
	const struct recording_pass_input *input, struct tally_error *err);
void recording_pass_close(struct recording_pass *pass);
/* Drops all frames and stacks of the resolver; their earlier IDs are invalid. */
TALLY_MUST_CHECK enum tally_status recording_pass_forget_frames(struct recording_pass *pass, struct tally_error *err);

#endif
