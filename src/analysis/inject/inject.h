/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - copies a recording in one pass: records stay as they are, except for the requested changes.
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

struct inject_timed { /* a record to insert */
	uint64_t time;
	size_t offset, len; /* in timed_bytes */
};

struct inject_options {
	bool to_pipe;
	bool sort; /* records in order of time, as far as rounds allow */
	bool strip; /* removes AUX data and the records that describe it */
	const struct perfdata_features *features; /* NULL: the recording's own */
	struct tally_bytes before_samples; /* records that go before the first sample */
	const struct inject_mmaps *mmaps; /* NULL: mappings stay as they are */
	struct inject_sched *sched; /* NULL: samples stay as they are; needs sort */
	/* Records to insert by their times, in this order; needs sort. */
	const struct inject_timed *timed;
	size_t timed_count;
	struct tally_bytes timed_bytes;
	/* Called first for every record: writes the replacement into an empty writer. NULL: there are no
	 * replacements. */
	enum inject_change (*change)(void *context, const struct record *record, struct writer *out);
	void *change_context;
	const struct tally_bytes *attrs; /* by event, instead of the stored ones; NULL: the stored ones */
};

struct inject_result {
	uint64_t late; /* sort: records that came after their round was over */
	struct tally_error end_error; /* why the recording ended early; TALLY_OK if it did not */
};

TALLY_MUST_CHECK enum tally_status inject_copy(struct perfdata_reader *reader, struct perfdata_rewriter *rewriter,
	const struct inject_options *options, struct inject_result *result, struct tally_error *err);

#endif
