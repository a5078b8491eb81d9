/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_chains.h - unwinds the stack dumps of a recording (perf's --call-graph dwarf) into call chains, for pack, whose
 * result is read without the programs, and for inject. The kernel's part of a chain stays before them.
 *
 * The caller owns it; the reader outlives it. Events without stack dumps stay as they are. One thread.
 *
 *	stack_chains_init(&chains, reader, STACK_CHAINS_EMPTY_COPIES, err);
 *	stack_chains_note(&chains, &record, &whole_chain, true);   // of every sample, in any order
 *	stack_chains_features(&chains, &features);           // of the new file, and chains.attrs by event
 *	stack_chains_sample(&chains, &record, &out);         // each sample's record
 */
#ifndef TASKS_SESSION_STACK_CHAINS_H
#define TASKS_SESSION_STACK_CHAINS_H

#include "analysis/inject/inject.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "tasks/session/event_attrs.h"

enum stack_chains_form {
	STACK_CHAINS_EMPTY_COPIES, /* the attr still has copies, of no bytes: chains are known to be made of them */
	STACK_CHAINS_ALONE /* as if call chains had been recorded: without copies and registers */
};

struct stack_chains {
	enum stack_chains_form form;
	const struct perfdata_reader *reader;
	struct arena arena;
	struct map_u64 by_record; /* hash of its bytes -> chain */
	struct intern chains; /* words as recorded */
	bool is_made; /* else no event has stack dumps */
	struct event_attrs attrs;
	size_t stacks;
	bool failed; /* out of memory */
};

TALLY_MUST_CHECK enum tally_status stack_chains_init(struct stack_chains *chains, const struct perfdata_reader *reader,
	enum stack_chains_form form, struct tally_error *err);
void stack_chains_deinit(struct stack_chains *chains);
static inline bool stack_chains_are_made(const struct stack_chains *chains)
{
	return chains->is_made;
}
/* is_copied: the sample has a copy of its stack. */
void stack_chains_note(
	struct stack_chains *chains, const struct record *record, const struct sample_array *chain, bool is_copied);
/* What describes events says the same as their attrs. Borrowed from the chains. */
void stack_chains_features(struct stack_chains *chains, struct perfdata_features *features);
/* bytes: the record's, or those that stand for it, of the same form. */
enum inject_change stack_chains_sample(
	struct stack_chains *chains, const struct record *record, struct tally_bytes bytes, struct writer *out);

#endif
