/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace_settings.h - holds the options of the ftrace commands. Strings are borrowed from the command line;
 * ftrace_settings_deinit frees the lists.
 */
#ifndef VERBS_FTRACE_FTRACE_SETTINGS_H
#define VERBS_FTRACE_FTRACE_SETTINGS_H

#include "analysis/ftrace/duration_histogram.h"
#include "analysis/ftrace/function_sums.h"
#include "base/bytes.h"
#include "base/vec.h"
#include "cli/options.h"
#include "kernel/system/target.h"

struct ftrace_words {
	const char **items;
	size_t len, cap;
};

struct ftrace_settings {
	struct target_request target;
	struct ftrace_words functions, not_functions, graphs, not_graphs;
	const char *tracer; /* NULL to select the tracer by the filters. */
	const char *pattern; /* The argument of -F. */
	bool lists_functions, inherits, is_json;
	uint64_t delay_ms, buffer_kb;
	unsigned verbose;
	struct {
		bool call_graph, irq_info;
	} function_options;
	struct {
		bool args, retval, retval_hex, retaddr, nosleep_time, noirqs, verbose, tail;
		uint64_t thresh_us, depth;
	} graph_options;
	struct tally_str events[2]; /* latency: the first and the second event, as typed; empty if not given. */
	bool uses_bpf, hides_empty;
	struct duration_scale scale;
	enum function_sort sort; /* profile: the sort order. */
};

extern const struct option_table ftrace_trace_table, ftrace_latency_table, ftrace_profile_table;
void ftrace_settings_deinit(struct ftrace_settings *settings);

#endif
