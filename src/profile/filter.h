/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - selects the samples of a profile that a report shows: by command, DSO, symbol, process, thread, CPU and
 * number of running threads.
 *
 * Lists are comma-separated texts, borrowed; an empty or NULL list passes everything. profile_filter_init looks up the
 * names in one profile once; after that, testing a sample takes a few array reads. The caller calls
 * profile_filter_deinit.
 *
 *	struct profile_filter filter;
 *	profile_filter_init(&filter, profile, &(struct profile_filter_lists){.comms = "cc1,ld"}, err);
 *	if (profile_filter_passes(&filter, sample)) ...
 */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "profile/profile.h"

struct profile_filter_lists {
	const char *comms, *dsos, *symbols, *pids, *tids;
	const char *parent; /* Extended regular expression that selects the callers for the key "parent". */
	bool excludes_other; /* Samples without such a caller do not pass. */
	/* Extended regular expression of functions; samples in their callees count as samples of the function
	 * itself. */
	const char *ignored_callees;
	bool hides_guests; /* Hide rows of which the first sample is from a virtual machine. */
	/* Hide rows with a symbol that does not contain this text; samples are not filtered. */
	const char *symbol_part;
	/* Indexed by the number of running threads, below parallelism_limit; NULL if all pass. */
	const bool *parallelism;
	uint32_t parallelism_limit;
	bool no_idle; /* Remove waits for work (idle threads); requires a profile with FACET_STATE and stacks. */
	const char *idle_functions; /* Additional functions for idle_functions.h. */
};

struct profile_filter {
	const struct profile *profile;
	bool *thread_passes; /* Indexed by thread; NULL if all pass. */
	bool *frame_passes; /* Indexed by the sample's own frame; NULL if all pass. */
	bool *frame_is_parent; /* Indexed by frame: it matches the parent expression; NULL if none does. */
	bool excludes_other; /* Applied by flat_table, which has the chains in order. */
	bool *ignores_callees; /* Indexed by frame; NULL if none does. */
	const bool *cpu_passes; /* Indexed by CPU, below cpu_limit; borrowed, set by the caller; NULL if all pass. */
	uint32_t cpu_limit;
	const bool *parallelism_passes; /* Copied from the lists; NULL if all pass. */
	uint32_t parallelism_limit;
	/* Indexed by stack: a thread that waits there waits for work; NULL if no_idle is not set. */
	bool *stack_is_idle;
	bool *frame_shows; /* Indexed by frame: its rows are displayed; NULL if all are. */
};

TALLY_MUST_CHECK enum tally_status profile_filter_init(struct profile_filter *filter, const struct profile *profile,
	const struct profile_filter_lists *lists, struct tally_error *err);
void profile_filter_deinit(struct profile_filter *filter);

/* No sample passes if the profile lacks the number of running threads. */
static inline bool profile_filter_passes_parallelism(
	const struct profile_filter *filter, const struct profile_sample *sample)
{
	const struct profile_value *running = profile_facet(filter->profile, sample->facets, FACET_PARALLELISM);
	return running && running->number < filter->parallelism_limit && filter->parallelism_passes[running->number];
}

/* Returns whether the sample is a wait for work, which is not counted at all, as if it had not been recorded. */
static inline bool profile_filter_is_idle(const struct profile_filter *filter, const struct profile_sample *sample)
{
	if (!filter->stack_is_idle || sample->stack == PROFILE_NONE || !filter->stack_is_idle[sample->stack])
		return false;
	const struct profile_value *state = profile_facet(filter->profile, sample->facets, FACET_STATE);
	return state && state->number != PROFILE_STATE_RUNNING && !profile_state_is_ready(state->number);
}

struct profile_idle { /* What no_idle removes, and the total. */
	uint64_t count, period, total_period;
};
struct profile_idle profile_filter_idle(const struct profile_filter *filter);

static inline bool profile_filter_passes(const struct profile_filter *filter, const struct profile_sample *sample)
{
	return !profile_filter_is_idle(filter, sample) &&
	       (!filter->thread_passes || filter->thread_passes[sample->thread]) &&
	       (!filter->frame_passes || filter->frame_passes[sample->leaf]) &&
	       (!filter->cpu_passes || (sample->cpu >= 0 && (uint32_t)sample->cpu < filter->cpu_limit &&
					       filter->cpu_passes[sample->cpu])) &&
	       (!filter->parallelism_passes || profile_filter_passes_parallelism(filter, sample));
}

#endif
