/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - selects the samples of a profile that a report shows: by command, DSO, symbol, process, thread, CPU and
 * number of running threads.
 *
 * Lists are comma-separated texts, borrowed; an empty or NULL list passes everything. profile_filter_init looks up the
 * names in one profile once; after that, testing a sample takes a few array reads. The caller deinits.
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
	const char *parent; /* extended regular expression: the callers that the key "parent" groups by */
	bool excludes_other; /* samples without such a caller do not pass */
	const char *ignored_callees; /* extended regular expression: a sample below such a function counts as its own */
	bool hides_guests; /* rows that begin with a sample of a virtual machine are not shown */
	const char *symbol_part; /* shows only rows whose symbol contains it; samples are not filtered */
	const bool *parallelism; /* by how many threads ran, below parallelism_limit; NULL: all pass */
	uint32_t parallelism_limit;
	bool no_idle; /* removes waits for work (idle threads), in a profile that keeps FACET_STATE and stacks */
	const char *idle_functions; /* functions in addition to those of idle_functions.h */
};

struct profile_filter {
	const struct profile *profile;
	bool *thread_passes; /* NULL: all do */
	bool *frame_passes; /* of the sample's own frame; NULL: all do */
	bool *frame_is_parent; /* matches the parent expression; NULL: none does */
	bool excludes_other; /* applied by flat_table, which has the chains in order */
	bool *ignores_callees; /* by frame; NULL: none does */
	const bool *cpu_passes; /* by CPU, below cpu_limit; borrowed, set by the caller; NULL: all pass */
	uint32_t cpu_limit;
	const bool *parallelism_passes; /* as in the lists; NULL: all do */
	uint32_t parallelism_limit;
	bool *stack_is_idle; /* by stack: a thread that waits there waits for work; NULL: no_idle is not set */
	bool *frame_shows; /* whose rows are shown; NULL: all are */
};

TALLY_MUST_CHECK enum tally_status profile_filter_init(struct profile_filter *filter, const struct profile *profile,
	const struct profile_filter_lists *lists, struct tally_error *err);
void profile_filter_deinit(struct profile_filter *filter);

/* If the profile does not keep the number of running threads, no sample passes. */
static inline bool profile_filter_passes_parallelism(
	const struct profile_filter *filter, const struct profile_sample *sample)
{
	const struct profile_value *running = profile_facet(filter->profile, sample->facets, FACET_PARALLELISM);
	return running && running->number < filter->parallelism_limit && filter->parallelism_passes[running->number];
}

/* Such a sample is not counted at all, as if it had not been recorded. */
static inline bool profile_filter_is_idle(const struct profile_filter *filter, const struct profile_sample *sample)
{
	if (!filter->stack_is_idle || sample->stack == PROFILE_NONE || !filter->stack_is_idle[sample->stack])
		return false;
	const struct profile_value *state = profile_facet(filter->profile, sample->facets, FACET_STATE);
	return state && state->number != PROFILE_STATE_RUNNING && !profile_state_is_ready(state->number);
}

struct profile_idle { /* how much is hidden, and the total */
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
