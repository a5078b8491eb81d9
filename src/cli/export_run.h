/*
 * export_run.h - a recording read for export and query: the profile, what happened besides, and the view of both.
 *
 * The caller closes, also after a failure. A damaged recording gives a status and a run that is_ready: what was whole.
 *
 *	status = export_run_open(cli, &settings, &wishes, &run, &err);
 *	if (run.is_ready) ... run.view ...
 *	export_run_close(&run);
 */
#ifndef CLI_EXPORT_RUN_H
#define CLI_EXPORT_RUN_H

#include "analysis/replay.h"
#include "cli/cli.h"
#include "cli/export_marks.h"

struct export_settings {
	const char *format, *input, *output, *event, *times, *cpus, *symfs, *kallsyms, *vmlinux;
	struct profile_filter_lists filters;
	uint64_t max_stack;
	bool no_inline, force;
};

struct export_wishes {
	bool rows; /* each sample by itself, and marks */
	bool places; /* addresses and source lines */
	bool traces; /* what tracepoints print */
};

struct export_run {
	struct perfdata_reader *reader;
	struct binary_store *store;
	struct replay_result result;
	struct profile_filter filter;
	struct time_spans spans;
	struct export_marks marks;
	struct text command;
	bool *cpus;
	bool has_filter, has_marks, is_ready;
	struct export_view view;
};

TALLY_MUST_CHECK enum tally_status export_run_open(const struct cli *cli, const struct export_settings *settings,
	const struct export_wishes *wishes, struct export_run *run, struct tally_error *err);
void export_run_close(struct export_run *run);

#endif
