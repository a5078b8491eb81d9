/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_rung.h - decides how samples are taken: by perf events, or, where the kernel denies them all, by the stand-in of
 * kernel/standin, which traces the user's own programs.
 *
 * The caller owns the rung, and ends it after it has closed its events. One thread.
 *
 *	struct record_rung rung = {0};
 *	status = record_rung_choose(&rung, kernel_seam_linux(), &settings, has_command, &sentence, err);
 *	... rung.kernel ... record_rung_limit(&rung, &rate);
 *	record_rung_end(&rung);
 */
#ifndef TASKS_RECORDING_RECORD_RUNG_H
#define TASKS_RECORDING_RECORD_RUNG_H

#include "perfdata/features.h"
#include "tasks/recording/record_options.h"

struct standin;

struct record_rung {
	const struct kernel_seam *kernel; /* to open events on */
	struct standin *standin; /* NULL: the kernel itself */
};

/* Appends a sentence (what is used, why, and what it does not see) if the stand-in is used, and changes settings to what
 * it can do. UNSUPPORTED: what was asked for needs events; DENIED: events are denied, and --require-event forbids to do
 * without. */
TALLY_MUST_CHECK enum tally_status record_rung_choose(struct record_rung *rung, const struct kernel_seam *kernel,
	struct record_settings *settings, bool has_command, struct text *sentence, struct tally_error *err);
/* No more samples than the stand-in can take. */
void record_rung_limit(const struct record_rung *rung, struct record_rate *rate);
/* Appends a sentence if threads could not be sampled. */
void record_rung_say_losses(const struct record_rung *rung, struct text *sentence);
/* Of so many lost samples, those of threads that could not be sampled at all. */
uint64_t record_rung_unsampled(const struct record_rung *rung, uint64_t lost);
/* What recordings say of themselves: record_request.origin. */
struct perfdata_origin record_rung_origin(const struct record_rung *rung);
void record_rung_end(struct record_rung *rung);

#endif
