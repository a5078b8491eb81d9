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

/* Prints the fields of a tracepoint's sample, which are the text between the parentheses of its line. */
void trace_payload_print(struct trace_job *job, const struct data_sample *sample);

#endif
