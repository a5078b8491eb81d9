/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_for_verb.h - records for a verb that shows it at once (flamegraph, summary): a command, or other targets while one
 * runs.
 *
 *	const struct recorded_target target = {.pids = "12"};
 *	status = recorded_file_make(path, err);
 *	code = record_for_verb(cli, &target, path, argc, argv);   // tally record -p 12 -o PATH ... -- ARGV
 */
#ifndef TASKS_RECORDING_RECORD_FOR_VERB_H
#define TASKS_RECORDING_RECORD_FOR_VERB_H

#include "cli/cli.h"
#include "tasks/recording/rung_options.h"

/* As record's options of these names; all absent: the command itself. */
struct recorded_target {
	const char *pids, *tids, *cpus, *cgroups, *user, *event, *call_graph;
	bool all_cpus;
	bool wall; /* also what threads wait for */
	bool simulates; /* the command's events, with Valgrind */
	struct rung_request rung;
};

#define RECORDED_PATH_BYTES 4096
/* An empty file in TMPDIR, or /tmp, for the recording; the caller deletes it. */
TALLY_MUST_CHECK enum tally_status recorded_file_make(char path[RECORDED_PATH_BYTES], struct tally_error *err);
/* Whether something else than the command is recorded. */
bool recorded_target_is_other(const struct recorded_target *target);
/* The target in words: "process 12". */
void recorded_target_text(struct text *text, const struct recorded_target *target);
/* "10", "1.5", "500ms", "2m": how long to record, as sleep's argument. */
bool record_duration_parse(const char *word, struct text *seconds);
/* The recorder's exit status. A signal that ends it ends the recording: what was recorded is drawn. */
int record_for_verb(
	const struct cli *cli, const struct recorded_target *target, const char *path, int argc, char **argv);

#endif
