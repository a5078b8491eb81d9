/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c2c_chains.h - prints the call chains of memory accesses below their rows (c2c report -g).
 *
 * The caller owns and deinitialises the structure; the source must outlive it. Each stack is stored once, plus 24 bytes
 * for each access. Not thread-safe.
 *
 *	c2c_chains_note(&chains, &sample, &where, entry);         // for each access that belongs to an entry
 *	c2c_chains_finish(&chains, &lines, err);
 *	c2c_chains_print(&chains, out, entry, err);
 *	c2c_chains_deinit(&chains);
 */
#ifndef VERBS_MEMORY_C2C_CHAINS_H
#define VERBS_MEMORY_C2C_CHAINS_H

#include "analysis/cache_lines.h"
#include "tasks/session/data_source.h"
#include "view/text/chain_text.h"

struct c2c_chain { /* The call chain of one access. */
	uint32_t entry, stack; /* Indices of the cache lines' entries and of the resolver's stacks. */
	uint32_t leaf; /* Index of the resolver's frames. */
	uint64_t period;
};

struct c2c_chains {
	struct data_source *source;
	struct chain_options options;
	bool is_caller_first, is_by_address;
	VEC(struct c2c_chain) noted;
	VEC(uint32_t) frames; /* Maps frames of the resolver to frames of the profile + 1; 0 if not added yet. */
	struct profile *profile;
	struct flat_table table;
	struct chain_printer printer;
	uint32_t *row_of_entry; /* Row of the table + 1; 0 if the entry has no chain. */
	uint64_t *total_of_entry; /* Period of the entry's whole cache line. */
	bool has_table, has_printer;
};

/* Notes the call chain of an access that belongs to the entry. Returns false if out of memory. */
bool c2c_chains_note(
	struct c2c_chains *chains, const struct data_sample *s, const struct resolve_where *where, uint32_t entry);
/* Must be called after the last access, before chains are printed. */
TALLY_MUST_CHECK enum tally_status c2c_chains_finish(
	struct c2c_chains *chains, const struct cache_lines *lines, struct tally_error *err);
/* Appends nothing if no access of the entry has a chain. */
TALLY_MUST_CHECK enum tally_status c2c_chains_print(
	struct c2c_chains *chains, struct text *out, uint32_t entry, struct tally_error *err);
void c2c_chains_deinit(struct c2c_chains *chains);

#endif
