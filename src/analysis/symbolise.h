/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolise.h - looks up the symbols of resolved frames, once for each distinct (binary, address), and loads binaries
 * in parallel.
 *
 * The caller owns the result array; symbols are borrowed from the store or, for BPF programs, from the given arena.
 *
 *	struct symbolise_job job = {machine, store, &frames, symbols, .arena = arena, .hit = &hit};
 *	symbolise(&job, err);
 */
#ifndef ANALYSIS_SYMBOLISE_H
#define ANALYSIS_SYMBOLISE_H

#include "analysis/resolve.h"
#include "base/arena.h"
#include "code/binary_store.h"

struct binary_list { /* Distinct binaries of the machine. */
	uint32_t *items;
	size_t len, cap;
};

struct symbolise_job {
	const struct machine *machine;
	struct binary_store *store;
	const struct id_table *frames; /* Resolved frames. */
	const struct symbol **symbols; /* Output: the symbol of each frame, NULL if it has none. */
	bool is_looked_up; /* Symbols are already set, except those of BPF programs. */
	struct arena *arena; /* Memory for the symbols of BPF programs. */
	struct binary_list *hit; /* Output, freed by the caller: the binaries of the frames, in order of first use. */
	unsigned threads; /* Number of threads; 0 for one per CPU. */
};

/* Loads the listed binaries. store_ids is indexed by the machine's binary and receives their store entries, and
 * RESOLVE_NONE for all others. */
TALLY_MUST_CHECK enum tally_status symbolise_load(const struct machine *machine, struct binary_store *store,
	const struct binary_list *binaries, uint32_t *store_ids, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status symbolise(const struct symbolise_job *job, struct tally_error *err);
/* Returns whether the store may have source lines for this kind of binary. */
bool symbolise_has_lines(enum machine_binary_kind kind);

#endif
