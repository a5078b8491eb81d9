/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_hits.h - counts the samples of each binary and how many of them have no symbol, for reports on missing
 * symbols. The binary store knows the reasons (binary_store_info).
 *
 * A zero-initialised struct is empty; the caller frees it with binary_hits_deinit. One thread.
 *
 *	binary_hits_add(&hits, binary, count, symbol != NULL);  // for each frame
 *	binary_hits_finish(&hits, machine, store, err);         // hits.files: one per file, most samples first
 */
#ifndef ANALYSIS_BINARY_HITS_H
#define ANALYSIS_BINARY_HITS_H

#include "base/vec.h"
#include "code/binary_store.h"
#include "machine/machine.h"

struct binary_hit {
	uint32_t store_id; /* ID of the file in the binary store. */
	uint64_t samples; /* Number of samples with their innermost frame in this file; 0 if only callers are. */
	uint64_t unnamed; /* Number of those samples that have no symbol. */
};

struct binary_hits {
	/* Indexed by the machine's binary until binary_hits_finish; afterwards one entry per file, most samples
	 * first. */
	VEC(struct binary_hit) files;
	uint64_t samples; /* All samples, including those outside any binary. */
};

/* Counts a frame. binary is the machine's index, or RESOLVE_NONE; samples is the number of samples that have this frame
 * as their innermost one. Returns false when out of memory. */
bool binary_hits_add(struct binary_hits *hits, uint32_t binary, uint64_t samples, bool is_named);
/* Converts binaries into files of the store and adds up those of one file. Omits binaries that cannot have symbols. */
TALLY_MUST_CHECK enum tally_status binary_hits_finish(
	struct binary_hits *hits, const struct machine *machine, struct binary_store *store, struct tally_error *err);
void binary_hits_deinit(struct binary_hits *hits);

#endif
