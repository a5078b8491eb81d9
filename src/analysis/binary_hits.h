/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_hits.h - counts the samples of each binary and how many of them have no symbol, for reports on missing
 * symbols. The reasons themselves are the store's (binary_store_info).
 *
 * Zero-initialised is empty; the caller frees with binary_hits_deinit. One thread.
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
	uint32_t store_id; /* of the binary store */
	uint64_t samples; /* whose own address is in it; 0: only callers are */
	uint64_t unnamed; /* of these, without a symbol */
};

struct binary_hits {
	VEC(struct binary_hit) files; /* until finish by the machine's index */
	uint64_t samples; /* all samples, including those in no binary */
};

/* Counts a frame in a binary (the machine's index, or RESOLVE_NONE) with the number of samples whose innermost frame it
 * is. False: out of memory. */
bool binary_hits_add(struct binary_hits *hits, uint32_t binary, uint64_t samples, bool is_named);
/* Converts binaries into files of the store and adds up those of one file. Omits binaries that cannot have symbols. */
TALLY_MUST_CHECK enum tally_status binary_hits_finish(
	struct binary_hits *hits, const struct machine *machine, struct binary_store *store, struct tally_error *err);
void binary_hits_deinit(struct binary_hits *hits);

#endif
