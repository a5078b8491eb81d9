/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_bpf.h - measures for `ftrace latency -b`, by BPF programs, until the command or the target ends or a signal
 * comes.
 *
 *	status = ftrace_bpf_measure(&job, &histogram, err);
 */
#ifndef VERBS_FTRACE_FTRACE_BPF_H
#define VERBS_FTRACE_FTRACE_BPF_H

#include "verbs/ftrace/ftrace_run.h"

/* Adds to the histogram. Uses the job's settings and command, and sets what the job has lost and its exit code. */
TALLY_MUST_CHECK enum tally_status ftrace_bpf_measure(
	struct ftrace_job *job, struct duration_histogram *histogram, struct tally_error *err);

#endif
