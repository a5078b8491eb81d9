/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolise.h - looks up the symbols of resolved frames: each unique (binary, address) once, with binaries loaded in
 * parallel.
 *
 * The caller owns the result array; symbols are borrowed from the store (or, for BPF programs, from the arena given).
 *
 *	symbolise(&(struct symbolise_job){machine, store, &frames, symbols, arena}, err);
 */
#ifndef ANALYSIS_SYMBOLISE_H
#define ANALYSIS_SYMBOLISE_H

#include "analysis/resolve.h"
#include "base/arena.h"
#include "code/binary_store.h"

struct binary_list { /* binaries of the machine, each once */
	uint32_t *items;
	size_t len, cap;
};

struct symbolise_job {
	const struct machine *machine;
	struct binary_store *store;
	const struct id_table *frames; /* of resolved frames */
	const struct symbol **symbols; /* out: one per frame, NULL where there is no name */
	bool is_looked_up; /* symbols are there, but for BPF programs' */
	struct arena *arena;
	struct binary_list *hit; /* out, the caller's to free: the binaries that frames lie in, in order of first use */
	unsigned threads; /* 0: one per CPU */
};

/* Loads those binaries. store_ids, by binary of the machine: their entries, RESOLVE_NONE for all others. */
TALLY_MUST_CHECK enum tally_status symbolise_load(const struct machine *machine, struct binary_store *store,
	const struct binary_list *binaries, uint32_t *store_ids, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status symbolise(const struct symbolise_job *job, struct tally_error *err);
/* Whether the store may have source lines for this kind of binary. */
bool symbolise_has_lines(enum machine_binary_kind kind);

#endif
