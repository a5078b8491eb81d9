/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_run.h - reads a recording for export and query: the profile, the other events, and the view of both.
 *
 * The caller closes, also after a failure. A damaged recording gives a failure, but a run that is_ready, with the
 * intact part.
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

/* The rows of option tables that choose samples, for settings that begin with a struct export_settings. */
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

struct export_wishes {
	bool rows; /* each sample by itself */
	bool dated_rows; /* the same, if the recording knows the time of day */
	bool cgroups; /* of samples, if they have them */
	bool marks; /* what happened besides */
	bool switches; /* with marks: also these */
	bool threads; /* kept apart, not only by name */
	bool places; /* addresses and source lines */
	bool times; /* of the first sample and the last */
	bool traces; /* what tracepoints print */
	bool code; /* where in its function each sample lies */
	bool counts; /* of stat record; with marks */
};

struct export_run {
	struct data_source source; /* reader and store */
	struct replay_result result;
	struct profile_filter filter;
	struct time_spans spans;
	struct export_marks marks;
	struct export_counts_read counts;
	struct text command, quality, origin;
	bool *cpus;
	bool has_filter, has_marks, has_counts, is_ready;
	struct export_view view;
};

TALLY_MUST_CHECK enum tally_status export_run_open(const struct cli *cli, const struct export_settings *settings,
	const struct export_wishes *wishes, struct export_run *run, struct tally_error *err);
void export_run_close(struct export_run *run);

#endif
