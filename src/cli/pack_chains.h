/*
 * pack_chains.h - call chains in place of the registers' and stacks' copies that perf's --call-graph dwarf records: which
 * only the programs explain, and those are not packed. The kernel's part of a chain stays before them.
 *
 * The caller owns it; the reader outlives it. Events that recorded no copies stay as they are. One thread.
 *
 *	pack_chains_init(&chains, reader, err);
 *	pack_chains_note(&chains, &record, &whole_chain, true);   // of every sample, in any order
 *	pack_chains_features(&chains, &features);           // of the new file, and chains.attrs by event
 *	pack_chains_sample(&chains, &record, &out);         // each sample's record
 */
#ifndef CLI_PACK_CHAINS_H
#define CLI_PACK_CHAINS_H

#include "analysis/inject.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map_u64.h"

struct pack_chains {
	const struct perfdata_reader *reader;
	struct arena arena;
	struct map_u64 by_record; /* hash of its bytes -> chain */
	struct intern chains; /* words as recorded */
	struct tally_bytes *attrs; /* by event; NULL: no event has copies of stacks */
	struct record_layout *layouts; /* by event */
	size_t stacks;
	bool failed; /* out of memory */
};

TALLY_MUST_CHECK enum tally_status pack_chains_init(
	struct pack_chains *chains, const struct perfdata_reader *reader, struct tally_error *err);
void pack_chains_deinit(struct pack_chains *chains);
static inline bool pack_chains_are_made(const struct pack_chains *chains)
{
	return chains->attrs != NULL;
}
/* is_copied: the sample has a copy of its stack. */
void pack_chains_note(
	struct pack_chains *chains, const struct record *record, const struct sample_array *chain, bool is_copied);
/* What describes events says the same as their attrs. Borrowed from the chains. */
void pack_chains_features(struct pack_chains *chains, struct perfdata_features *features);
/* bytes: the record's, or those that stand for it, of the same form. */
enum inject_change pack_chains_sample(
	struct pack_chains *chains, const struct record *record, struct tally_bytes bytes, struct writer *out);

#endif
