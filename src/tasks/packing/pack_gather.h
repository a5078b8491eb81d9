/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_gather.h - collects the data that another machine needs to read a recording: it reads the samples once and packs
 * the store's data about every address in them.
 *
 * The source must be open and unread. Not thread-safe.
 *
 *	pack_gather(&source, NULL, &chains, &section, &sum, err);
 */
#ifndef TASKS_PACKING_PACK_GATHER_H
#define TASKS_PACKING_PACK_GATHER_H

#include "base/writer.h"
#include "tasks/packing/pack_scrub.h"
#include "tasks/session/data_source.h"
#include "tasks/session/stack_chains.h"

/* Numbers of what was packed. */
struct pack_sum {
	size_t files, named_files, symbols, places; /* Files, those of them with symbols, symbols and source lines. */
	size_t functions, without_code; /* Functions in which samples were taken, with their code and without it. */
	size_t dumps; /* Jitdumps, with generated code. */
	/* Error at which a damaged recording ended; its status is TALLY_OK if the recording is not damaged. */
	struct tally_error end;
};

/* Appends the encoded pack to section. scrub is NULL if no private data is to be removed. The call chains of samples
 * with stack dumps are added to chains (stack_chains_note). */
TALLY_MUST_CHECK enum tally_status pack_gather(struct data_source *source, struct pack_scrub *scrub,
	struct stack_chains *chains, struct writer *section, struct pack_sum *sum, struct tally_error *err);

#endif
