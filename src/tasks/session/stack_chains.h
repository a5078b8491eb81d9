/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_chains.h - replaces the stack dumps of a recording (perf's --call-graph dwarf) by the call chains to which they
 * were unwound: for pack, because the programs are not available where its result is read, and for inject. The kernel's
 * part of a chain precedes the unwound part.
 *
 * The caller owns struct stack_chains; the reader must outlive it. Events without stack dumps are not changed. Not
 * thread-safe.
 *
 *	stack_chains_init(&chains, reader, STACK_CHAINS_EMPTY_COPIES, err);
 *	stack_chains_note(&chains, &record, &whole_chain, true);   // for every sample, in any order
 *	stack_chains_features(&chains, &features);                 // features of the new file; see also chains.attrs
 *	stack_chains_sample(&chains, &record, bytes, &out);        // for each sample's record
 */
#ifndef TASKS_SESSION_STACK_CHAINS_H
#define TASKS_SESSION_STACK_CHAINS_H

#include "analysis/inject/inject.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "tasks/session/event_attrs.h"

enum stack_chains_form {
	/* The attributes still have stack dumps, of size 0, so that the chains are known to be made from dumps. */
	STACK_CHAINS_EMPTY_COPIES,
	STACK_CHAINS_ALONE /* As if call chains had been recorded, without stack dumps and registers. */
};

struct stack_chains {
	enum stack_chains_form form;
	const struct perfdata_reader *reader;
	struct arena arena;
	struct map_u64 by_record; /* Maps the hash of a record's bytes to the ID of a chain. */
	struct intern chains; /* Call chains as recorded words. */
	bool is_made; /* False if no event has stack dumps. */
	struct event_attrs attrs;
	size_t stacks; /* Number of stack dumps that were replaced. */
	bool failed; /* Set if memory runs out. */
};

TALLY_MUST_CHECK enum tally_status stack_chains_init(struct stack_chains *chains, const struct perfdata_reader *reader,
	enum stack_chains_form form, struct tally_error *err);
void stack_chains_deinit(struct stack_chains *chains);
static inline bool stack_chains_are_made(const struct stack_chains *chains)
{
	return chains->is_made;
}
/* Stores the whole call chain of a sample. is_copied is set if the sample has a stack dump. */
void stack_chains_note(
	struct stack_chains *chains, const struct record *record, const struct sample_array *chain, bool is_copied);
/* Adapts the features that describe events to their new attributes. The result is borrowed from the chains. */
void stack_chains_features(struct stack_chains *chains, struct perfdata_features *features);
/* Appends the sample with its call chain instead of its stack dump. bytes are those of the record, or changed ones in
 * the same format, which replace them. Drops a sample that was not passed to stack_chains_note. */
enum inject_change stack_chains_sample(
	struct stack_chains *chains, const struct record *record, struct tally_bytes bytes, struct writer *out);

#endif
