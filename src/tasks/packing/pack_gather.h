/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_gather.h - collects the data that another machine needs to read a recording: it walks the samples once and packs
 * what the store knows of every address that they hit.
 *
 * The source must be open and unread. One thread.
 *
 *	pack_gather(&source, NULL, &section, &sum, err);
 */
#ifndef TASKS_PACKING_PACK_GATHER_H
#define TASKS_PACKING_PACK_GATHER_H

#include "base/writer.h"
#include "tasks/packing/pack_scrub.h"
#include "tasks/session/data_source.h"
#include "tasks/session/stack_chains.h"

struct pack_sum { /* of what was packed */
	size_t files, named_files, symbols, places;
	size_t functions, without_code; /* that samples hit: with their code, without it */
	size_t dumps; /* of generated code */
	struct tally_error end; /* for a damaged recording, the error that ended it */
};

/* scrub NULL: nothing is removed. chains: gets the call chains of samples with stack dumps. */
TALLY_MUST_CHECK enum tally_status pack_gather(struct data_source *source, struct pack_scrub *scrub,
	struct stack_chains *chains, struct writer *section, struct pack_sum *sum, struct tally_error *err);

#endif
