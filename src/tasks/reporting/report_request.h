/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_request.h - what a `report` command line asks for, parsed from the option texts. Runs nothing, prints nothing.
 *
 * A value; texts are borrowed from the command line. The setters are called by the option table in the order of the
 * options; report_request_finish then fixes what depends on each other and on the recording.
 *
 *	struct report_request request;
 *	report_request_init(&request);
 *	report_request_set_chains(&request, "fractal,0.5,caller", err);
 *	report_request_finish(&request, &source, err);
 */
#ifndef TASKS_REPORTING_REPORT_REQUEST_H
#define TASKS_REPORTING_REPORT_REQUEST_H

#include "analysis/replay/worth.h"
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

struct report_request {
	struct input_options input;
	const char *sort, *fields; /* as typed, NULL: default */
	const char *default_sort; /* NULL: perf's */
	struct sample_options samples;
	const char *parallelism; /* "1,4-8": how many threads ran with a sample that counts; NULL: any number */
	const char *switch_on, *switch_off; /* names of events */
	bool shows_reference; /* that events without chains go by those of another of their group */
	bool shows_switches; /* the samples of those events too */
	uint64_t socket; /* whose samples count, if has_socket */
	bool has_socket;
	struct symbol_options symbols;
	const char *separator;
	enum { BRANCHES_IF_RECORDED, BRANCHES_ALWAYS, BRANCHES_NEVER } branches; /* -b, --no-branch-stack */
	enum {
		WALL_IF_RECORDED,
		WALL_ALWAYS,
		WALL_NEVER
	} wall; /* --wall, --no-wall: waits and on-CPU samples in one table */
	bool wakers, follows; /* --wakers, --follow: who ended waits, and with whom that began */
	bool by_memory; /* --mem-mode */
	bool by_latency; /* --latency */
	uint64_t time_quantum_ns;
	bool times_in_ns, raw_traces;
	unsigned widths[REPORT_MAX_COLUMNS];
	size_t width_count;
	struct chain_options chains;
	bool chains_asked; /* -g was given */
	bool has_history; /* --branch-history: branches are the inner part of call chains, and rows are by line */
	bool stitches; /* --stitch-lbr */
	bool chains_have_branches; /* -g branch: the same for the chains alone */
	bool order_is_set, is_caller_first;
	bool is_by_address, is_by_line; /* frames of call graphs; neither: by function */
	bool no_children; /* --no-children was given */
	bool shows_samples, shows_period, shows_modes;
	bool is_relative;
	double percent_limit;
	unsigned max_stack;
	bool is_quiet, hides_unresolved, is_verbose;
	struct debuginfod_settings debuginfod;
	bool modules_are_asked; /* -m: they always are loaded */
	bool no_group, force_group;
	uint64_t group_sort_index; /* of the event whose values sort a group */
	bool group_sort_is_set;
	bool is_hierarchy; /* sort keys one below the other */
	bool header, header_only, full_info;
	struct trace_options traces;
	struct perfdata_reader *opened; /* where another has read it before; report_run's then. NULL: by input */
	bool total_cycles; /* blocks of code by their cycles, no profile */
	bool missing; /* --missing: where names were looked for, no profile */
	bool stats, threads, is_raw_pretty;
	bool in_file_order; /* --disable-order, with -D */
	bool tasks, mmaps, dump; /* --tasks, --mmaps, -D: no profile */
	bool keeps_empty; /* --no-skip-empty */
	bool no_inline;
	bool self_is_inlined; /* rows of functions that were inlined have their own time */
	bool full_source_path;
	bool colours;
	unsigned terminal_columns; /* that rows have to fit into; 0: they are as wide as they need */
	bool is_interactive; /* on a terminal, by report_explore: no text on standard output */
	struct code_options code; /* of functions that the explorer shows */
	bool is_json; /* --json: the tables as JSON, nothing else on standard output */
	struct requirements requirements; /* --require; none: count is 0 */

	/* made by finish */
	bool with_children; /* callers have rows */
	bool with_chains;
	bool with_history; /* branches are parts of call chains */
	bool joins_events; /* --group: all are one group, as none was recorded: so perf has it */
	bool shows_children; /* the children sum is a column, and what a row stands for */
	enum profile_key columns[REPORT_MAX_COLUMNS];
	size_t column_count;
	enum profile_key order[REPORT_MAX_COLUMNS]; /* sort order */
	size_t order_count;
	enum profile_key keys[REPORT_MAX_COLUMNS]; /* grouping keys */
	size_t key_count;
	uint8_t levels[REPORT_MAX_COLUMNS]; /* by column that is a key: which level of a hierarchy shows it */
	uint64_t hidden_columns;
	enum profile_key_mode mode; /* what samples count by */
	const char *used_sort; /* the default that was taken, alone or before what was typed; NULL: none was */
};

struct report_source { /* what of the recording the columns depend on */
	bool has_chains, is_pipe, is_all_tracepoints, has_branches, has_groups;
	struct report_fields *fields; /* of tracepoints; NULL: none are known */
};

void report_request_init(struct report_request *request);
/* "100ms", "5s", "20us", "1000ns". */
TALLY_MUST_CHECK enum tally_status report_request_set_time_quantum(
	struct report_request *request, const char *text, struct tally_error *err);
/* "graph,0.5,10,caller,function,percent" in any order, as perf takes it. NULL or "": the default. */
TALLY_MUST_CHECK enum tally_status report_request_set_chains(
	struct report_request *request, const char *text, struct tally_error *err);
/* False: it is no number. */
bool report_request_set_group_sort(struct report_request *request, const char *text);
enum chain_setting {
	CHAIN_SETTING_STYLE,
	CHAIN_SETTING_ORDER,
	CHAIN_SETTING_KEY,
	CHAIN_SETTING_THRESHOLD,
	CHAIN_SETTING_LIMIT
};
/* One of them alone. False: it is none. */
bool report_request_set_chain(struct report_request *request, enum chain_setting setting, struct tally_str value);
TALLY_MUST_CHECK enum tally_status report_request_set_widths(
	struct report_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status report_request_set_percent_limit(
	struct report_request *request, const char *text, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status report_request_set_percentage(
	struct report_request *request, const char *text, struct tally_error *err);
/* TALLY_UNSUPPORTED for a key of perf's that tally lacks, TALLY_INVALID for one that nobody has. */
TALLY_MUST_CHECK enum tally_status report_request_finish(
	struct report_request *request, const struct report_source *source, struct tally_error *err);
/* The sort keys as perf's title has them. */
void report_request_print_sort(const struct report_request *request, struct text *t);
/* Bit by enum profile_facet: what the keys need kept. */
uint64_t report_request_facets(const struct report_request *request);
bool report_request_has_form(const struct report_request *request, enum profile_key_form form);
/* The only name that a filter on this key lets pass; len 0: no filter, or more than one name, or an address. */
struct tally_str report_request_only(const struct report_request *request, enum profile_key key);
bool report_request_has_key(const struct report_request *request, enum profile_key key);

#endif
