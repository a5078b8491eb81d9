/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_request.h - holds what a `report` command line requests, parsed from the option texts. It runs and prints
 * nothing.
 *
 * A request is a value; texts are borrowed from the command line. The configuration and the option table fill it, in
 * the order of the options; report_plan.h interprets it.
 *
 *	struct report_request request;
 *	report_request_init(&request);
 *	report_request_set_chains(&request, "fractal,0.5,caller", err);
 */
#ifndef TASKS_REPORTING_REPORT_REQUEST_H
#define TASKS_REPORTING_REPORT_REQUEST_H

#include "analysis/replay/quality.h"
#include "profile/filter.h"
#include "tasks/listing/code_options.h"
#include "tasks/reporting/report_fields.h"
#include "tasks/session/debuginfod_run.h"
#include "tasks/session/sample_options.h"
#include "tasks/session/symbol_options.h"
#include "tasks/session/trace_options.h"
#include "view/text/annotate_lines.h"
#include "view/text/report_text.h"

#define REPORT_QUANTUM_NS 100000000u /* Default of --time-quantum, the unit of the sort key "time". */

/* Determines what makes a row, and which samples it represents. */
struct report_rows {
	const char *sort, *fields; /* As typed, or NULL for the default. */
	const char *default_sort; /* NULL for perf's default. */
	enum { BRANCHES_IF_RECORDED, BRANCHES_ALWAYS, BRANCHES_NEVER } branches; /* Set by -b and --no-branch-stack. */
	enum {
		WALL_IF_RECORDED,
		WALL_ALWAYS,
		WALL_NEVER
	} wall; /* Set by --wall and --no-wall: whether waits and on-CPU samples share a table. */
	/* --wakers and --follow: show the threads that ended waits, and the origin of each chain of wake-ups. */
	bool wakers, follows;
	bool by_memory; /* Set by --mem-mode. */
	bool by_latency; /* Set by --latency. */
	uint64_t time_quantum_ns;
	bool raw_traces;
	bool no_children; /* --no-children was given. */
	bool is_hierarchy; /* Sort keys are the levels of a tree. */
	bool hides_unresolved, no_inline, full_source_path;
	/* Self time in inlined functions belongs to their own rows instead of the symbol's row. */
	bool self_is_inlined;
};

struct report_chains {
	struct chain_options look;
	bool are_asked; /* -g was given. */
	/* --branch-history: branches are the inner part of call chains, and rows are by source line. */
	bool has_history;
	bool have_branches; /* -g branch: branches are the inner part of call chains, but rows do not change. */
	bool stitches; /* Set by --stitch-lbr. */
	bool order_is_set, is_caller_first;
	bool is_inverted; /* -G: callers come first, regardless of -g. */
	/* Frames of call graphs are by address or by source line; if neither is set, by function. */
	bool is_by_address, is_by_line;
	unsigned max_stack;
};

/* Selects samples, in addition to sample_options. */
struct report_selected {
	/* List of numbers such as "1,4-8": a sample is counted only if one of these numbers of threads was running.
	 * NULL for any number. */
	const char *parallelism;
	const char *switch_on, *switch_off; /* Names of events. */
	bool shows_switches; /* Also counts the samples of these events. */
	uint64_t socket; /* CPU socket to which samples are limited if has_socket is set. */
	bool has_socket;
};

struct report_groups {
	bool are_split, are_joined; /* Set by --no-group and --group. */
	uint64_t sort_index; /* Index of the event in a group by which rows are sorted. */
	bool sort_is_set;
};

struct report_look {
	const char *separator;
	unsigned widths[REPORT_MAX_COLUMNS];
	size_t width_count;
	bool shows_samples, shows_period, shows_modes;
	/* --show-ref-call-graph: the title says that events without call chains use those of another event in their
	 * group. */
	bool shows_reference;
	bool is_relative, times_in_ns;
	bool keeps_empty; /* Set by --no-skip-empty. */
	double percent_limit;
	bool colours;
	unsigned terminal_columns; /* Width that rows must fit into, or 0 for no limit. */
};

/* Determines whether tables or something else is shown. */
struct report_output {
	bool header, header_only, full_info;
	bool total_cycles; /* Shows blocks of code by their cycles instead of a profile. */
	bool missing; /* --missing: shows where names were searched instead of a profile. */
	bool stats, threads, is_raw_pretty;
	bool tasks, mmaps, dump; /* --tasks, --mmaps and -D, which show no profile. */
	bool in_file_order; /* --disable-order, for -D. */
	bool is_interactive; /* Uses report_explore on a terminal, and prints no text to standard output. */
	bool is_json; /* --json: prints the tables as JSON, and nothing else, to standard output. */
};

struct report_request {
	struct input_options input;
	struct trace_options traces;
	struct symbol_options symbols;
	struct debuginfod_settings debuginfod;
	bool modules_are_asked; /* -m requests symbols of kernel modules, which are always loaded. */
	struct sample_options samples;
	struct report_selected selection;
	struct report_rows rows;
	struct report_chains chains;
	struct report_groups groups;
	struct report_look look;
	struct report_output output;
	struct code_options code; /* For functions that are shown by the explorer. */
	struct requirements requirements; /* --require; count is 0 if it was not given. */
	bool is_quiet, is_verbose;
};

void report_request_init(struct report_request *request);
/* Parses text such as "100ms", "5s", "20us" or "1000ns". */
TALLY_MUST_CHECK enum tally_status report_request_set_time_quantum(
	struct report_request *request, const char *text, struct tally_error *err);
/* Parses perf's argument of -g such as "graph,0.5,10,caller,function,percent", in any order. NULL and "" stand for the
 * default. */
TALLY_MUST_CHECK enum tally_status report_request_set_chains(
	struct report_request *request, const char *text, struct tally_error *err);
/* Returns false if the text is not a number. */
bool report_request_set_group_sort(struct report_request *request, const char *text);
enum chain_setting {
	CHAIN_SETTING_STYLE,
	CHAIN_SETTING_ORDER,
	CHAIN_SETTING_KEY,
	CHAIN_SETTING_THRESHOLD,
	CHAIN_SETTING_LIMIT
};
/* Sets one part of the argument of -g. Returns false if the value is invalid. */
bool report_request_set_chain(struct report_request *request, enum chain_setting setting, struct tally_str value);
TALLY_MUST_CHECK enum tally_status report_request_set_widths(
	struct report_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status report_request_set_percent_limit(
	struct report_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status report_request_set_percentage(
	struct report_request *request, const char *text, struct tally_error *err);
/* Returns the only name that a filter on this key accepts. The result is empty if there is no filter, if it accepts
 * several names, or if it is an address. */
struct tally_str report_request_only(const struct report_request *request, enum profile_key key);

#endif
