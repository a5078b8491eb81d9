/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_request.h - holds what a `report` command line requests, parsed from the option texts. It runs and prints
 * nothing.
 *
 * A value; texts are borrowed from the command line. The option table and the configuration fill it, in the order of
 * the options; report_plan.h interprets it.
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

#define REPORT_QUANTUM_NS 100000000u /* of the key time, unless --time-quantum says otherwise */

/* What makes a row, and which samples it stands for. */
struct report_rows {
	const char *sort, *fields; /* as typed, NULL: default */
	const char *default_sort; /* NULL: perf's */
	enum { BRANCHES_IF_RECORDED, BRANCHES_ALWAYS, BRANCHES_NEVER } branches; /* -b, --no-branch-stack */
	enum {
		WALL_IF_RECORDED,
		WALL_ALWAYS,
		WALL_NEVER
	} wall; /* --wall, --no-wall: waits and on-CPU samples in one table */
	bool wakers, follows; /* --wakers, --follow: the threads that ended waits, and the origin of each such chain */
	bool by_memory; /* --mem-mode */
	bool by_latency; /* --latency */
	uint64_t time_quantum_ns;
	bool raw_traces;
	bool no_children; /* --no-children was given */
	bool is_hierarchy; /* sort keys as levels of a tree */
	bool hides_unresolved, no_inline, full_source_path;
	bool self_is_inlined; /* rows of functions that were inlined have their own time */
};

struct report_chains {
	struct chain_options look;
	bool are_asked; /* -g was given */
	bool has_history; /* --branch-history: branches are the inner part of call chains, and rows are by line */
	bool have_branches; /* -g branch: the same for the chains alone */
	bool stitches; /* --stitch-lbr */
	bool order_is_set, is_caller_first;
	bool is_inverted; /* -G: the caller first, whatever -g says */
	bool is_by_address, is_by_line; /* frames of call graphs; neither: by function */
	unsigned max_stack;
};

/* Which samples count, beside what sample_options choose. */
struct report_selected {
	const char *parallelism; /* "1,4-8": how many threads ran with a sample that counts; NULL: any number */
	const char *switch_on, *switch_off; /* names of events */
	bool shows_switches; /* the samples of those events too */
	uint64_t socket; /* whose samples count, if has_socket */
	bool has_socket;
};

struct report_groups {
	bool are_split, are_joined; /* --no-group, --group */
	uint64_t sort_index; /* of the event whose values sort a group */
	bool sort_is_set;
};

struct report_look {
	const char *separator;
	unsigned widths[REPORT_MAX_COLUMNS];
	size_t width_count;
	bool shows_samples, shows_period, shows_modes;
	bool shows_reference; /* that events without chains use the chains of another event of their group */
	bool is_relative, times_in_ns;
	bool keeps_empty; /* --no-skip-empty */
	double percent_limit;
	bool colours;
	unsigned terminal_columns; /* that rows have to fit into; 0: they are as wide as they need */
};

/* What is shown: tables, or something else in their place. */
struct report_output {
	bool header, header_only, full_info;
	bool total_cycles; /* blocks of code by their cycles, no profile */
	bool missing; /* --missing: where names were searched, instead of a profile */
	bool stats, threads, is_raw_pretty;
	bool tasks, mmaps, dump; /* --tasks, --mmaps, -D: no profile */
	bool in_file_order; /* --disable-order, with -D */
	bool is_interactive; /* on a terminal, by report_explore: no text on standard output */
	bool is_json; /* --json: the tables as JSON, nothing else on standard output */
};

struct report_request {
	struct input_options input;
	struct trace_options traces;
	struct symbol_options symbols;
	struct debuginfod_settings debuginfod;
	bool modules_are_asked; /* -m: modules, which are always loaded */
	struct sample_options samples;
	struct report_selected selection;
	struct report_rows rows;
	struct report_chains chains;
	struct report_groups groups;
	struct report_look look;
	struct report_output output;
	struct code_options code; /* of functions that the explorer shows */
	struct requirements requirements; /* --require; none: count is 0 */
	bool is_quiet, is_verbose;
};

void report_request_init(struct report_request *request);
/* "100ms", "5s", "20us", "1000ns". */
TALLY_MUST_CHECK enum tally_status report_request_set_time_quantum(
	struct report_request *request, const char *text, struct tally_error *err);
/* "graph,0.5,10,caller,function,percent" in any order, as perf takes it. NULL or "": the default. */
TALLY_MUST_CHECK enum tally_status report_request_set_chains(
	struct report_request *request, const char *text, struct tally_error *err);
/* False: it is not a number. */
bool report_request_set_group_sort(struct report_request *request, const char *text);
enum chain_setting {
	CHAIN_SETTING_STYLE,
	CHAIN_SETTING_ORDER,
	CHAIN_SETTING_KEY,
	CHAIN_SETTING_THRESHOLD,
	CHAIN_SETTING_LIMIT
};
/* Sets a single part of it. False: the word is not one of these. */
bool report_request_set_chain(struct report_request *request, enum chain_setting setting, struct tally_str value);
TALLY_MUST_CHECK enum tally_status report_request_set_widths(
	struct report_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status report_request_set_percent_limit(
	struct report_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status report_request_set_percentage(
	struct report_request *request, const char *text, struct tally_error *err);
/* The only name that a filter on this key lets pass; len 0: no filter, or more than one name, or an address. */
struct tally_str report_request_only(const struct report_request *request, enum profile_key key);

#endif
