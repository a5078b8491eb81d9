/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_simulated.h - counts simulated events of a command (stat --simulate): selects events and cache model, runs the
 * command under Valgrind, and fills a stat_session, so that tables, CSV and JSON are those of stat.
 *
 * The settings and the kernel are borrowed; the caller calls stat_simulated_close.
 *
 *	struct stat_simulated sim;
 *	if (stat_simulated_open(&sim, kernel, &settings, err) == TALLY_OK)
 *		while (runs left && session.signal == 0) stat_simulated_run(&sim, &session, &job, err);
 *	stat_simulated_close(&sim);
 */
#ifndef VERBS_STAT_STAT_SIMULATED_H
#define VERBS_STAT_STAT_SIMULATED_H

#include "base/arena.h"
#include "base/diag.h"
#include "tasks/counts/stat_environment.h"
#include "verbs/stat/stat_run.h"
#include "verbs/stat/stat_rung.h"
#include "verbs/stat/stat_simulated_events.h"

struct stat_simulated {
	const struct stat_settings *settings;
	struct stat_simulated_events events;
	struct arena arena;
	VEC(const char *) options; /* Options of the Valgrind tool, in the arena. */
	/* Notes for the user about Valgrind and incomplete counts. After a run that simulated caches, they include
	 * model_notes. */
	struct diag notes;
	struct diag model_notes;
	char by[SIMULATION_MODEL_BYTES]; /* The simulator and its model, known after the first run. */
	struct stat_origin origin;
	struct stat_environment environment; /* The environment of the commands. */
	struct stat_rung rung; /* Its label is printed above the counts. */
};

struct stat_simulated_result { /* The result of one run. */
	struct simulation_counts counts;
	int status; /* Status of the command, as returned by waitpid. */
	int signal; /* Signal that tally received during the run; 0 if none. */
	uint64_t elapsed_ns;
};

TALLY_MUST_CHECK enum tally_status stat_simulated_open(struct stat_simulated *sim, const struct kernel_seam *kernel,
	const struct stat_settings *settings, struct tally_error *err);
/* Runs a command once, for callers without a session. warnings receives reasons why its counts are incomplete. */
TALLY_MUST_CHECK enum tally_status stat_simulated_count(struct stat_simulated *sim, char *const *command,
	struct stat_simulated_result *result, struct diag *warnings, struct tally_error *err);
/* Runs the job's command once and adds the counts to the session. Sets job->rung to that of sim. */
TALLY_MUST_CHECK enum tally_status stat_simulated_run(
	struct stat_simulated *sim, struct stat_session *session, struct stat_job *job, struct tally_error *err);
void stat_simulated_close(struct stat_simulated *sim);

#endif
