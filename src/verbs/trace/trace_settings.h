/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_settings.h - stores the settings of trace from the command line and the user's configuration. Strings are
 * borrowed from the command line unless noted.
 */
#ifndef VERBS_TRACE_TRACE_SETTINGS_H
#define VERBS_TRACE_TRACE_SETTINGS_H

#include "tasks/recording/record_options.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/symbol_options.h"

#define TRACE_ALIGNMENT 70 /* Default width of a call and its arguments, before "= ", in characters. */

enum trace_word_kind { TRACE_WORD_CHOICE, TRACE_WORD_FILTER, TRACE_WORD_CGROUP };

struct trace_word { /* An argument of -e, --filter or -G, in their common order. */
	enum trace_word_kind kind;
	const char *text;
};

enum trace_summary_mode { TRACE_BY_THREAD, TRACE_BY_TOTAL, TRACE_BY_CGROUP };

struct trace_form { /* Format of lines: settings trace.* of the configuration. */
	bool no_arg_names, no_durations, no_timestamps, with_zeros, with_prefixes, no_inherit;
	uint64_t alignment;
	bool by_print_format; /* Prints the fields of tracepoints by their print format. */
};

struct trace_settings {
	struct record_settings record; /* Target, ring buffers, call chains and delay; its events are those of words. */
	struct input_options input;
	struct symbol_options symbols;
	VEC(struct trace_word) words;
	struct trace_form form;
	const char *output, *filter_pids, *switch_on, *switch_off;
	char *configured_events; /* Value of trace.add_events, owned. */
	uint64_t least_ns; /* Minimum duration of printed calls (--duration). */
	uint64_t most_events, most_rows, most_stack, least_stack;
	uint64_t string_bytes; /* Maximum number of printed bytes of a buffer (--string-limit); 0 for the default. */
	bool wants_calls; /* Traces system calls (--syscalls). */
	bool no_comm, shows_cpu, full_time, only_failed, forces_btf, prints_samples, tool_stats, bitmasks_as_lists;
	bool shows_switch_events, sorts;
	bool only_summary, with_summary, with_errors, with_runtime, is_json;
	bool with_minor_faults, with_major_faults;
	bool kernel_chains;
	/* has_bpf_choice means that --bpf-summary was given or negated; wants_bpf_sums is its value. */
	bool has_bpf_choice, wants_bpf_sums;
	enum trace_summary_mode summary_mode;
};

static inline bool trace_has_summary(const struct trace_settings *s)
{
	return s->only_summary || s->with_summary;
}

#endif
