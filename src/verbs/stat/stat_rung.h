/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_rung.h - selects the source of counts: perf events, or getrusage and /proc if the kernel denies every event.
 *
 * The second source needs neither an open file nor ptrace; its counts are handled like those of tool events
 * (kernel/counting/tool_counts.h), so the rest of stat is the same for both sources, except for the label.
 *
 *	status = stat_rung_choose(&rung, kernel, job, events, err);  // job->rung is set if getrusage counts
 *	... stat_rung_deinit(&rung);
 */
#ifndef VERBS_STAT_STAT_RUNG_H
#define VERBS_STAT_STAT_RUNG_H

#include "base/text.h"
#include "kernel/events/event_parser.h"
#include "tasks/counts/stat_report.h"
#include "verbs/stat/stat_settings.h"

struct stat_rung {
	struct text label; /* A sentence with the source of the counts, what they exclude, and why it is used. */
	const struct stat_origin *origin;
};

/* Sets job->rung if getrusage is used. Returns TALLY_DENIED if every event is denied and --require-event was given,
 * TALLY_UNSUPPORTED if --rung rusage cannot count what is requested, and TALLY_INVALID if both options were given. With
 * --rung auto, if events are denied and getrusage cannot count what is requested, job->rung is not set, and opening the
 * events fails later. */
TALLY_MUST_CHECK enum tally_status stat_rung_choose(struct stat_rung *rung, const struct kernel_seam *kernel,
	struct stat_job *job, const struct event_list *events, struct tally_error *err);
void stat_rung_deinit(struct stat_rung *rung);

#endif
