/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_payload.h - prints the fields of a tracepoint other than a system call as "name: value", with strings in
 * quotes, the names of threads, and the names of values in the print format.
 *
 *	trace_payload_print(job, &sample);   // prev_comm: "sh", prev_pid: 12 (sh), ...
 */
#ifndef VERBS_TRACE_TRACE_PAYLOAD_H
#define VERBS_TRACE_TRACE_PAYLOAD_H

#include "verbs/trace/trace_job.h"

/*
 * Appends the fields of a tracepoint's sample to job->out; on a line of trace, they are the text between the
 * parentheses.
 */
void trace_payload_print(struct trace_job *job, const struct data_sample *sample);

#endif
