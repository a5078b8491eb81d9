/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_faults.h - prints page faults, with the accessing code and the accessed address, in the layout of perf.
 *
 *	status = trace_faults_take(job, &sample, true, err);   // minfault [main+0x1f] => [stack]@0x7ffc1000 (d.)
 */
#ifndef VERBS_TRACE_TRACE_FAULTS_H
#define VERBS_TRACE_TRACE_FAULTS_H

#include "verbs/trace/trace_job.h"

TALLY_MUST_CHECK enum tally_status trace_faults_take(
	struct trace_job *job, const struct data_sample *sample, bool is_major, struct tally_error *err);

#endif
