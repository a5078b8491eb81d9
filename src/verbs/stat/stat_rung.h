/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_rung.h - chooses what counts: perf events, or getrusage and /proc where the kernel denies every event.
 *
 * The second rung is not another kernel_seam: it opens nothing, needs no thread and no ptrace, and its counts arrive as those
 * of tool events do (kernel/counting/tool_counts.h). The rest of stat does not know the difference, but for the label.
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
	struct text label; /* one sentence: what counts, what it does not see, and why */
	const struct stat_origin *origin;
};

/* TALLY_DENIED: every event is denied, and --require-event forbids to do without; TALLY_UNSUPPORTED: --rung rusage cannot
 * count what is asked for. With --rung auto that is left to the refusal of the event itself. */
TALLY_MUST_CHECK enum tally_status stat_rung_choose(struct stat_rung *rung, const struct kernel_seam *kernel,
	struct stat_job *job, const struct event_list *events, struct tally_error *err);
void stat_rung_deinit(struct stat_rung *rung);

#endif
