/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_options.h - declares the option table of script, and the settings that it fills in.
 *
 * Strings are borrowed from argv. The member fields must be initialised by script_fields_init before parsing.
 */
#ifndef VERBS_SCRIPT_SCRIPT_OPTIONS_H
#define VERBS_SCRIPT_SCRIPT_OPTIONS_H

#include "cli/commands.h"
#include "tasks/session/debuginfod_run.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/symbol_options.h"
#include "tasks/session/trace_options.h"
#include "verbs/script/script_dlfilter.h"
#include "verbs/script/script_fields.h"
#include "verbs/script/script_filter.h"

struct script_settings {
	struct input_options input;
	const char *stop_symbols, *script, *gen_script;
	struct symbol_options symbols;
	struct debuginfod_settings debuginfod;
	struct script_filter_request filter;
	struct script_field_request fields;
	struct script_dlfilter_request dlfilter;
	struct trace_options traces;
	bool list_dlfilters;
	uint64_t max_stack, max_events, max_blocks;
	bool only_checks; /* -d: checks the order of samples instead of printing them. */
	bool is_json, header, header_only, full_info, dump, dump_unsorted, per_event_dump, all_cpus, list;
	bool latency; /* -L: narrow columns. */
	bool show_kernel_path, ns, reltime, deltatime, stitches, no_inline, full_source_path;
	bool keeps_deferred; /* --no-merge-callchains: prints deferred call chains separately. */
	bool show_task, show_mmap, show_switch, show_namespace, show_cgroup;
	bool show_lost, show_round, show_bpf, show_text_poke;
	unsigned verbose;
};

extern const struct option_table script_option_table;

#endif
