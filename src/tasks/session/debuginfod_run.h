/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod_run.h - implements --debuginfod of report and script: it determines which files to fetch, those with most
 * samples first, and what to report about them. code/binaries/debuginfod.h fetches them in the background.
 *
 *	struct debuginfod_run run = {0};
 *	debuginfod_run_start(&run, &settings, store, &hits, &notes);  ... print ...  debuginfod_run_end(&run, &notes);
 */
#ifndef TASKS_SESSION_DEBUGINFOD_RUN_H
#define TASKS_SESSION_DEBUGINFOD_RUN_H

#include "analysis/binary_hits.h"
#include "base/diag.h"
#include "cli/options.h"
#include "code/binaries/debuginfod.h"

struct debuginfod_settings {
	bool is_asked;
	const char *urls; /* NULL for $DEBUGINFOD_URLS. */
	uint64_t size_max, seconds_max; /* Limits in bytes and in seconds; 0 for the defaults. */
};

struct debuginfod_run {
	struct debuginfod_settings settings;
	struct debuginfod_job *job; /* NULL if nothing was requested. */
	VEC(struct debuginfod_request) requests;
	/* Names of the requested files, borrowed from the store, with the same indexes as requests. */
	VEC(struct tally_str) names;
};

/* Table of the options --debuginfod[=URLs], --debuginfod-size and --debuginfod-time. */
extern const struct option_table debuginfod_option_table;
#define DEBUGINFOD_OPTIONS(type, member) OPTION_GROUP_ROW(&debuginfod_option_table, type, member)

/* Requests what the files of hits lack: names, or lines and inlined calls if these are needed. */
void debuginfod_run_start(struct debuginfod_run *run, const struct debuginfod_settings *settings,
	const struct binary_store *store, const struct binary_hits *hits, struct diag *notes);
/* Reports files that arrived too late, do not exist or are invalid. Does not wait. */
void debuginfod_run_end(struct debuginfod_run *run, struct diag *notes);

#endif
