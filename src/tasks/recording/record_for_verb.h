/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_for_verb.h - records for a verb that shows the result at once (flamegraph, summary): a command, or other
 * targets while a command runs.
 *
 *	const struct recorded_target target = {.pids = "12"};
 *	status = recorded_file_make(path, err);
 *	code = record_for_verb(cli, &target, path, argc, argv);   // tally record -p 12 -o PATH ... -- ARGV
 */
#ifndef TASKS_RECORDING_RECORD_FOR_VERB_H
#define TASKS_RECORDING_RECORD_FOR_VERB_H

#include "cli/cli.h"
#include "tasks/recording/rung_options.h"

/* Members are arguments of record's options of the same names. If none selects a target, the command is recorded. */
struct recorded_target {
	const char *pids, *tids, *cpus, *cgroups, *user, *event, *call_graph;
	bool all_cpus;
	bool wall; /* Also records waits. */
	bool simulates; /* Counts the command's simulated events, with Valgrind. */
	struct rung_request rung;
};

#define RECORDED_PATH_BYTES 4096
/* Creates an empty file for the recording in TMPDIR or /tmp; the caller deletes it. */
TALLY_MUST_CHECK enum tally_status recorded_file_make(char path[RECORDED_PATH_BYTES], struct tally_error *err);
/* Returns whether something other than the command is recorded. */
bool recorded_target_is_other(const struct recorded_target *target);
/* Appends a description of the target, such as "process 12". */
void recorded_target_text(struct text *text, const struct recorded_target *target);
/* Parses the duration of a recording such as "10", "1.5", "500ms" or "2m". Appends the number of seconds,
 * NUL-terminated, as an argument for sleep. Returns false if it is invalid. */
bool record_duration_parse(const char *word, struct text *seconds);
/* Returns the recorder's exit status. A signal ends only the recording, so that the caller can still show it. */
int record_for_verb(
	const struct cli *cli, const struct recorded_target *target, const char *path, int argc, char **argv);

#endif
