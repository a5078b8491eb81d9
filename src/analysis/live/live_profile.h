/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_profile.h - keeps a profile up to date while records arrive: new samples are added, old ones fade. For top.
 *
 * It knows nothing of kernels: it is fed with the bytes of whole records, in any order. At each refresh it makes a
 * recording in memory of the processes that ran before (live_state.h) and the records that came since, and replays it
 * like any recording (replay.h). The result is added to what is left of earlier results. So every sort key of report is
 * available, and memory holds the records of one refresh, the live processes, and the samples that have not faded.
 *
 * Records may be late by as much as one drain of the rings takes. The caller calls live_profile_mark when all older
 * records have come; records newer than any before the mark wait for the next refresh.
 *
 * Fading: each refresh removes an eighth of every sample's weight, and drops whatever is left with less than a
 * sixteenth of one sample, with its stacks and names; zeroing removes everything. Displayed counts are rounded.
 *
 * The live profile owns the profile, which is valid until the next refresh. One thread at a time. Bad input: damaged
 * records are left out.
 *
 *	live_profile_create(&config, &live, err);
 *	live_profile_feed(live, slices, count, err); ...   live_profile_mark(live); live_profile_feed(...);
 *	live_profile_refresh(live, err);
 *	const struct profile *profile = live_profile_get(live);
 */
#ifndef ANALYSIS_LIVE_LIVE_PROFILE_H
#define ANALYSIS_LIVE_LIVE_PROFILE_H

#include "analysis/replay/replay.h"
#include "base/writer.h"

#define LIVE_COUNT_UNIT	 256 /* the internal weight of one sample */
#define LIVE_LEAST_COUNT (LIVE_COUNT_UNIT / 16)
#define LIVE_FADE    \
	{            \
		7, 8 \
	}

struct live_profile;

struct live_profile_config {
	struct tally_bytes description; /* the start of a pipe's stream: its header, its events. Copied */
	const struct replay_options *replay; /* copied; what it points to is borrowed */
	const struct binary_store_options *store; /* likewise */
	struct tally_str kernel_name; /* short, of the kernel; borrowed */
	unsigned rounds_kept; /* refreshes without a sample, before a file's symbols are forgotten; 0: a few */
};

struct live_profile_figures { /* of the records of the last refresh */
	uint64_t samples, kernel_samples, exact_samples;
	uint64_t lost; /* events, as records say */
	uint64_t damaged;
};

TALLY_MUST_CHECK enum tally_status live_profile_create(
	const struct live_profile_config *config, struct live_profile **live, struct tally_error *err);
void live_profile_destroy(struct live_profile *live);
/* Replaces the description by one of the same events with more ids. After a failure the old one stays. */
TALLY_MUST_CHECK enum tally_status live_profile_redescribe(
	struct live_profile *live, struct tally_bytes description, struct tally_error *err);

/* Copies. NOMEM only. */
TALLY_MUST_CHECK enum tally_status live_profile_feed(
	struct live_profile *live, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
void live_profile_mark(struct live_profile *live);
/* Samples of clocks by frequency that are fed from now on stand for this time each: the kernel writes the time of the
 * frequency at which an event was opened, also after the frequency was changed. 0: what the records say. */
void live_profile_set_clock_period(struct live_profile *live, uint64_t period_ns);
/* fades: earlier samples lose weight; else new samples are only added. After a failure the old profile stays. */
TALLY_MUST_CHECK enum tally_status live_profile_refresh(struct live_profile *live, bool fades, struct tally_error *err);
/* The same, but the profile of the new samples alone is handed over to the caller, with all counts as they are, and is
 * not added to the earlier ones. After a failure the records stay for the next call. */
TALLY_MUST_CHECK enum tally_status live_profile_take(
	struct live_profile *live, struct profile **profile, struct tally_error *err);
/* Forgets processes that do not run any more: their exit records may have been lost. */
TALLY_MUST_CHECK enum tally_status live_profile_sweep(
	struct live_profile *live, bool (*runs)(void *context, int32_t tid), void *context, struct tally_error *err);
/* Gives back the memory of symbols and debug information; what is needed again is read again. */
void live_profile_forget_symbols(struct live_profile *live);
/* Removes all samples; only later ones count. */
TALLY_MUST_CHECK enum tally_status live_profile_zero(struct live_profile *live, struct tally_error *err);
/* Hides samples of the kernel, or of user space, in the profile. */
TALLY_MUST_CHECK enum tally_status live_profile_hide(
	struct live_profile *live, bool kernel, bool user, struct tally_error *err);
const struct profile *live_profile_get(const struct live_profile *live);
/* The recording of the last refresh: the processes that ran before, and the new records. Borrowed until the next
 * refresh. */
struct tally_bytes live_profile_recording(const struct live_profile *live);
struct live_profile_figures live_profile_figures(const struct live_profile *live);
/* The store of the binaries that were named so far; borrowed until the next refresh. */
const struct binary_store *live_profile_store(const struct live_profile *live);
/* Whether a process with this pid runs, as far as records tell. */
bool live_profile_knows(const struct live_profile *live, int32_t pid);

#endif
