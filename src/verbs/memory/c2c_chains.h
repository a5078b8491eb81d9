/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c2c_chains.h - prints the call chains of memory accesses below their rows (c2c report -g).
 *
 * The caller owns it and deinits; it borrows the source, which outlives it. It stores each stack once, and 24 bytes for
 * each access. One thread.
 *
 *	c2c_chains_note(&chains, &sample, &where, entry);         // of each access that is of an entry
 *	c2c_chains_finish(&chains, &lines, err);
 *	c2c_chains_print(&chains, out, entry, err);
 *	c2c_chains_deinit(&chains);
 */
#ifndef VERBS_MEMORY_C2C_CHAINS_H
#define VERBS_MEMORY_C2C_CHAINS_H

#include "analysis/cache_lines.h"
#include "tasks/session/data_source.h"
#include "view/text/chain_text.h"

struct c2c_chain {
	uint32_t entry, stack; /* of the cache lines; of the resolver */
	uint32_t leaf; /* frame of the resolver */
	uint64_t period;
};

struct c2c_chains {
	struct data_source *source;
	struct chain_options options;
	bool is_caller_first, is_by_address;
	VEC(struct c2c_chain) noted;
	VEC(uint32_t) frames; /* by the resolver's: + 1, the profile's */
	struct profile *profile;
	struct flat_table table;
	struct chain_printer printer;
	uint32_t *row_of_entry; /* + 1; 0: it has no chain */
	uint64_t *total_of_entry; /* period of the whole line */
	bool has_table, has_printer;
};

/* False: out of memory. */
bool c2c_chains_note(
	struct c2c_chains *chains, const struct data_sample *s, const struct resolve_where *where, uint32_t entry);
TALLY_MUST_CHECK enum tally_status c2c_chains_finish(
	struct c2c_chains *chains, const struct cache_lines *lines, struct tally_error *err);
/* Nothing where no access of the entry has a chain. */
TALLY_MUST_CHECK enum tally_status c2c_chains_print(
	struct c2c_chains *chains, struct text *out, uint32_t entry, struct tally_error *err);
void c2c_chains_deinit(struct c2c_chains *chains);

#endif
