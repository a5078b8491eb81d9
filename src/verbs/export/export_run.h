/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_run.h - reads a recording for export and query: the profile, the other events, and the view of both.
 *
 * The caller closes the run, also after a failure. For a damaged recording, export_run_open returns an error but sets
 * is_ready, and the run contains the intact part.
 *
 *	status = export_run_open(cli, &settings, &wishes, &run, &err);
 *	if (run.is_ready) ... run.view ...
 *	export_run_close(&run);
 */
#ifndef VERBS_EXPORT_EXPORT_RUN_H
#define VERBS_EXPORT_EXPORT_RUN_H

#include "analysis/replay/replay.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "tasks/session/data_source.h"
#include "verbs/export/export_counts.h"
#include "verbs/export/export_marks.h"

struct export_settings {
	struct input_options input;
	const char *format, *output, *event;
	struct symbol_options symbols;
	struct sample_options samples;
	uint64_t max_stack;
	bool no_inline;
};

/* Rows of option tables that select samples, for settings that begin with a struct export_settings. */
#define EXPORT_ROW(member) .offset = offsetof(struct export_settings, member)
#define EXPORT_SELECTION_ROWS                                                                                        \
	{"pid", 'p', OPTION_STRING, "pid[,pid...]", EXPORT_ROW(samples.filters.pids),                                \
		.help = "only samples of these processes"},                                                          \
		{"tid", 't', OPTION_STRING, "tid[,tid...]", EXPORT_ROW(samples.filters.tids),                        \
			.help = "only samples of these threads"},                                                    \
		SAMPLE_OPTIONS(struct export_settings, samples), PLACE_OPTIONS(struct export_settings, samples),     \
		{"max-stack", 0, OPTION_U64, "n", EXPORT_ROW(max_stack),                                             \
			.help = "maximum number of frames of a stack to write (default: all)"},                      \
		{"no-inline", 0, OPTION_FLAG, EXPORT_ROW(no_inline), .help = "do not show inlined calls as frames"}, \
		SYMBOL_OPTIONS(struct export_settings, symbols), LINE_OPTIONS(struct export_settings, symbols),      \
		INPUT_OPTIONS(struct export_settings, input)

struct export_wishes { /* The data that an export format needs. */
	bool rows; /* Each sample separately. */
	bool dated_rows; /* Each sample separately if the recording has wall-clock times. */
	bool cgroups; /* The cgroups of samples, if recorded. */
	bool marks; /* Events that are not samples; see export_marks.h. */
	bool switches; /* Context switches; requires marks. */
	bool threads; /* Threads with equal names are kept separate. */
	bool places; /* Addresses and source lines. */
	bool times; /* Times of the first and the last sample. */
	bool traces; /* The formatted text of tracepoints. */
	bool code; /* The offset of each sample in its function. */
	bool counts; /* Counts of stat record; requires marks. */
};

struct export_run {
	struct data_source source; /* The reader and the store. */
	struct replay_result result;
	struct profile_filter filter;
	struct time_spans spans;
	struct export_marks marks;
	struct export_counts_read counts;
	struct text command, quality, origin;
	bool *cpus; /* Selected CPUs; NULL for all. */
	bool has_filter, has_marks, has_counts, is_ready;
	struct export_view view;
};

TALLY_MUST_CHECK enum tally_status export_run_open(const struct cli *cli, const struct export_settings *settings,
	const struct export_wishes *wishes, struct export_run *run, struct tally_error *err);
void export_run_close(struct export_run *run);

#endif
