/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_rung.h - decides how samples are taken: by perf events or, if the kernel denies all of them, by the stand-in
 * of kernel/standin, which traces the user's own programs.
 *
 * The caller owns the rung, and ends it after it has closed its events. Not thread-safe.
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
	const struct kernel_seam *kernel; /* Seam on which events must be opened. */
	struct standin *standin; /* NULL if the seam is the kernel itself. */
};

/* If the stand-in is used, appends a sentence about it, the reason, and what it cannot measure, and restricts the
 * settings to what it supports. Returns UNSUPPORTED if the settings need events, and DENIED if events are denied and
 * --require-event is set. */
TALLY_MUST_CHECK enum tally_status record_rung_choose(struct record_rung *rung, const struct kernel_seam *kernel,
	struct record_settings *settings, bool has_command, struct text *sentence, struct tally_error *err);
/* Limits the rate to what the stand-in can sample. */
void record_rung_limit(const struct record_rung *rung, struct record_rate *rate);
/* Appends a sentence if threads could not be sampled. */
void record_rung_say_losses(const struct record_rung *rung, struct text *sentence);
/* Returns how many of the lost samples belong to threads that could not be sampled at all. */
uint64_t record_rung_unsampled(const struct record_rung *rung, uint64_t lost);
/* Returns the description of the origin that recordings contain (record_request.origin). */
struct perfdata_origin record_rung_origin(const struct record_rung *rung);
void record_rung_end(struct record_rung *rung);

#endif
