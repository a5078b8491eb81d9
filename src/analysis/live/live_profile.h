/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_profile.h - keeps a profile up to date while records arrive, as top needs it: new samples are added, old ones
 * fade.
 *
 * It does not depend on kernel interfaces: it is fed with the bytes of whole records, in any order. At each refresh it
 * makes a recording in memory of the processes that ran before (live_state.h) and the new records, and replays it like
 * any recording (replay.h). The result is added to the faded earlier results. So every sort key of report is available,
 * and memory holds only the records of one refresh, the live processes, and the samples that have not faded.
 *
 * Records may arrive late by the duration of one drain of all rings. The caller calls live_profile_mark when all older
 * records have arrived; records that are newer than any before the mark wait for the next refresh.
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

#define LIVE_COUNT_UNIT	 256 /* Internal weight of one sample. */
#define LIVE_LEAST_COUNT (LIVE_COUNT_UNIT / 16) /* Samples with less weight are dropped. */
/* Factor by which a refresh multiplies weights: a struct profile_ratio. */
#define LIVE_FADE    \
	{            \
		7, 8 \
	}

struct live_profile;

struct live_profile_config {
	struct tally_bytes description; /* The start of a pipe's stream: its header and its events; copied. */
	const struct replay_options *replay; /* Copied, but not what it points to. */
	const struct binary_store_options *store; /* Copied, but not what it points to. */
	struct tally_str kernel_name; /* Short name of the kernel; borrowed. */
	/* Number of refreshes without a sample after which a file's symbols are forgotten; 0 for a default. */
	unsigned rounds_kept;
};

struct live_profile_figures { /* Counts of the records of the last refresh. */
	uint64_t samples, kernel_samples, exact_samples;
	uint64_t lost; /* Lost events, as reported by LOST records. */
	uint64_t damaged;
};

TALLY_MUST_CHECK enum tally_status live_profile_create(
	const struct live_profile_config *config, struct live_profile **live, struct tally_error *err);
void live_profile_destroy(struct live_profile *live);
/* Replaces the description by one of the same events with more IDs. After a failure, the old one stays. */
TALLY_MUST_CHECK enum tally_status live_profile_redescribe(
	struct live_profile *live, struct tally_bytes description, struct tally_error *err);

/* Copies the records. Fails only with TALLY_NOMEM. */
TALLY_MUST_CHECK enum tally_status live_profile_feed(
	struct live_profile *live, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err);
/* Marks the end of a drain of all rings. */
void live_profile_mark(struct live_profile *live);
/* Sets the period, in ns, of all samples of clock events with a sampling frequency that are fed from now on: after a
 * change of the frequency, the kernel still records the period of the frequency at which the event was opened. 0 means
 * that recorded periods are used. */
void live_profile_set_clock_period(struct live_profile *live, uint64_t period_ns);
/* Adds the new samples; fades reduces the weight of earlier ones first. After a failure, the old profile stays. */
TALLY_MUST_CHECK enum tally_status live_profile_refresh(struct live_profile *live, bool fades, struct tally_error *err);
/* Returns a profile of the new samples alone, with unscaled counts, which the caller owns; they are not added to the
 * earlier ones. After a failure, the records stay for the next call. */
TALLY_MUST_CHECK enum tally_status live_profile_take(
	struct live_profile *live, struct profile **profile, struct tally_error *err);
/* Forgets processes that no longer run according to `runs`, because their exit records may have been lost. */
TALLY_MUST_CHECK enum tally_status live_profile_sweep(
	struct live_profile *live, bool (*runs)(void *context, int32_t tid), void *context, struct tally_error *err);
/* Frees symbols and debug information, which are read again when needed. */
void live_profile_forget_symbols(struct live_profile *live);
/* Removes all samples from the profile. Records that were fed since the last refresh are added at the next one. */
TALLY_MUST_CHECK enum tally_status live_profile_zero(struct live_profile *live, struct tally_error *err);
/* Hides samples of the kernel or of user space in the profile. */
TALLY_MUST_CHECK enum tally_status live_profile_hide(
	struct live_profile *live, bool kernel, bool user, struct tally_error *err);
const struct profile *live_profile_get(const struct live_profile *live);
/* Returns the recording of the last refresh: the processes that ran before, and the new records. Borrowed until the
 * next refresh. */
struct tally_bytes live_profile_recording(const struct live_profile *live);
struct live_profile_figures live_profile_figures(const struct live_profile *live);
/* Returns the store of the binaries that were named so far; borrowed until the next refresh. */
const struct binary_store *live_profile_store(const struct live_profile *live);
/* Returns whether a process with this pid runs, according to the records. */
bool live_profile_knows(const struct live_profile *live, int32_t pid);

#endif
