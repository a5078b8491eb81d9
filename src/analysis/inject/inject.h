/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - copies a recording in one pass; records stay unchanged, except for the requested changes.
 *
 * Borrows everything. A pipe that becomes a file must have been read once (inject_survey): its descriptions go into the
 * file's header. A truncated or damaged recording is copied up to where it ends; the result says what was wrong. One
 * thread.
 *
 *	inject_copy(reader, rewriter, &options, &result, err);
 */
#ifndef ANALYSIS_INJECT_INJECT_H
#define ANALYSIS_INJECT_INJECT_H

#include "analysis/inject/inject_mmap.h"
#include "analysis/inject/inject_sched.h"
#include "perfdata/rewriter.h"

enum inject_change { INJECT_KEPT, INJECT_CHANGED, INJECT_DROPPED, INJECT_NO_MEMORY };

struct inject_timed { /* A record to insert at its time. */
	uint64_t time;
	size_t offset, len; /* Position of the record in inject_options.timed_bytes. */
};

struct inject_options {
	bool to_pipe;
	bool sort; /* Sorts records by time, as far as FINISHED_ROUND records allow. */
	bool strip; /* Removes AUX data and the records that describe it. */
	const struct perfdata_features *features; /* Features of the new file's header; NULL for the recording's own. */
	struct tally_bytes before_samples; /* Records to write before the first sample. */
	const struct inject_mmaps *mmaps; /* NULL if mappings are not changed. */
	struct inject_sched *sched; /* NULL if scheduler samples are not merged; requires sort. */
	/* Records to insert at their times, sorted by time; requires sort. */
	const struct inject_timed *timed;
	size_t timed_count;
	struct tally_bytes timed_bytes;
	/* Called for every record, with an empty writer for the replacement (INJECT_CHANGED); strip, mmaps and sched
	 * then have no effect. NULL if no records are replaced this way. */
	enum inject_change (*change)(void *context, const struct record *record, struct writer *out);
	void *change_context;
	const struct tally_bytes *attrs; /* The attr to store for each event; NULL for the recording's own. */
};

struct inject_result {
	uint64_t late; /* Number of records that came after their round had ended; only if sort is set. */
	struct tally_error end_error; /* Why the recording ended early; its status is TALLY_OK if it did not. */
};

TALLY_MUST_CHECK enum tally_status inject_copy(struct perfdata_reader *reader, struct perfdata_rewriter *rewriter,
	const struct inject_options *options, struct inject_result *result, struct tally_error *err);

#endif
