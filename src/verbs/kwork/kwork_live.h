/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kwork_live.h - measures for `kwork report -b`, `latency -b` and `top -b`: BPF programs add up times in the kernel
 * until the command ends or a signal arrives, and the sums are stored in the job as if they came from a recording.
 *
 *	status = kwork_live_measure(&job, argv, err);
 */
#ifndef VERBS_KWORK_KWORK_LIVE_H
#define VERBS_KWORK_KWORK_LIVE_H

#include "verbs/kwork/kwork_job.h"

/* Runs the command in argv, or measures until a signal arrives if argv[0] is NULL. Fills job->work, or job->usage if
 * of_tasks is set, and counts losses. */
TALLY_MUST_CHECK enum tally_status kwork_live_measure(
	struct kwork_job *job, bool of_tasks, char **argv, struct tally_error *err);

#endif
