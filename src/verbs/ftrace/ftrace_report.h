/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_report.h - prints the results of `ftrace latency` and `ftrace profile`: as perf's tables, or as JSON
 * (docs/schema/ftrace.json).
 *
 *	ftrace_print_latency(&histogram, hides_empty, &text);
 */
#ifndef VERBS_FTRACE_FTRACE_REPORT_H
#define VERBS_FTRACE_FTRACE_REPORT_H

#include "analysis/ftrace/duration_histogram.h"
#include "analysis/ftrace/function_sums.h"
#include "base/json.h"

void ftrace_print_latency(const struct duration_histogram *h, bool hides_empty, struct text *out);
/* lost is the number of events that were lost because a buffer or a BPF map was full. */
void ftrace_json_latency(const struct duration_histogram *h, bool hides_empty, uint64_t lost, struct text *out);
void ftrace_print_profile(const struct function_sums *sums, struct text *out);
void ftrace_json_profile(const struct function_sums *sums, uint64_t lost, struct text *out);

#endif
