/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_payload.h - prints the fields of a tracepoint that is no system call as trace does: "name: value", with texts in
 * quotes, threads with their names, and values that the print format names by these names.
 *
 *	trace_payload_print(job, &sample);   // prev_comm: "sh", prev_pid: 12 (sh), ...
 */
#ifndef VERBS_TRACE_TRACE_PAYLOAD_H
#define VERBS_TRACE_TRACE_PAYLOAD_H

#include "verbs/trace/trace_job.h"

/* What stands between the parentheses. */
void trace_payload_print(struct trace_job *job, const struct data_sample *sample);

#endif
