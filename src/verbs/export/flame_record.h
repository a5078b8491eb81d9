/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_record.h - records the data of a flame graph: a command, or other targets while a command runs.
 *
 *	const struct flame_target target = {.pids = "12"};
 *	code = flame_record(cli, &target, path, argc, argv);   // tally record -p 12 -o PATH ... -- ARGV
 */
#ifndef VERBS_EXPORT_FLAME_RECORD_H
#define VERBS_EXPORT_FLAME_RECORD_H

#include "cli/cli.h"

/* As record's options of these names; all absent: the command itself. */
struct flame_target {
	const char *pids, *tids, *cpus, *cgroups, *user, *event, *call_graph;
	bool all_cpus;
	bool wall; /* also what threads wait for */
};

/* Whether something else than the command is recorded. */
bool flame_target_is_other(const struct flame_target *target);
/* The target in words: "process 12". */
void flame_target_text(struct text *text, const struct flame_target *target);
/* "10", "1.5", "500ms", "2m": how long to record, as sleep's argument. */
bool flame_duration_parse(const char *word, struct text *seconds);
/* The recorder's exit status. A signal that ends it ends the recording: what was recorded is drawn. */
int flame_record(const struct cli *cli, const struct flame_target *target, const char *path, int argc, char **argv);

#endif
