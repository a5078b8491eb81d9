/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_bpf.h - measures latencies with BPF programs for `ftrace latency -b`, until the command or the target ends or
 * a signal arrives.
 *
 *	status = ftrace_bpf_measure(&job, &histogram, err);
 */
#ifndef VERBS_FTRACE_FTRACE_BPF_H
#define VERBS_FTRACE_FTRACE_BPF_H

#include "verbs/ftrace/ftrace_run.h"

/* Fills the histogram, and sets lost and exit_code of the job. */
TALLY_MUST_CHECK enum tally_status ftrace_bpf_measure(
	struct ftrace_job *job, struct duration_histogram *histogram, struct tally_error *err);

#endif
