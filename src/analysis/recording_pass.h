/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_pass.h - opens what a pass over a recording's samples needs, for passes that take one sample after the other:
 * the records as one run of bytes, the history of what ran, and a resolver of addresses, call chains and stack dumps.
 *
 * The caller closes it, also after a failure. It must not be moved: its parts point to each other. One thread.
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
	struct perfdata_reader *reader; /* borrowed */
	struct record_run run;
	struct sideband sideband;
	struct resolver resolver;
	struct unwind_files unwind_files;
	struct sample_unwinder unwinder;
	uint64_t end_offset; /* records from there on are left out; 0: none */
};

struct recording_pass_input {
	/* Borrowed; it finds the tables to unwind stack dumps with, and what runtimes dumped of their code. NULL: stack
	 * dumps are not unwound. */
	struct binary_store *store;
	size_t max_bytes; /* of records: the recording is taken as one that was cut there; 0: no bound. Copies have none */
	struct progress *progress; /* NULL: nobody looks */
};

/* The records and the history; no resolver. */
TALLY_MUST_CHECK enum tally_status recording_pass_read(struct recording_pass *pass, struct perfdata_reader *reader,
	const struct recording_pass_input *input, struct tally_error *err);
/* Adds the resolver to a pass whose sideband has a machine. */
TALLY_MUST_CHECK enum tally_status recording_pass_resolve(
	struct recording_pass *pass, struct binary_store *store, struct tally_error *err);
/* Both. */
TALLY_MUST_CHECK enum tally_status recording_pass_open(struct recording_pass *pass, struct perfdata_reader *reader,
	const struct recording_pass_input *input, struct tally_error *err);
void recording_pass_close(struct recording_pass *pass);
/* What was resolved is forgotten: frames and stacks of before are void. */
TALLY_MUST_CHECK enum tally_status recording_pass_forget_frames(struct recording_pass *pass, struct tally_error *err);

#endif
