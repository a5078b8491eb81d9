/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_simulated.h - counts simulated events of a command (stat --simulate): chooses events and model, runs the command
 * under Valgrind as often as -r says, and fills a stat_session, so that tables, CSV and JSON are those of stat.
 *
 * The settings and the kernel are borrowed; the caller calls stat_simulated_close.
 *
 *	struct stat_simulated sim;
 *	if (stat_simulated_open(&sim, kernel, &settings, err) == TALLY_OK)
 *		while (runs left && session.signal == 0) stat_simulated_run(&sim, &session, err);
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
	VEC(const char *) options; /* of the Valgrind tool, in the arena */
	struct diag
		notes; /* what to tell the user: of Valgrind, of counts that are not complete; of the model after a run */
	struct diag model_notes;
	char by[SIMULATION_MODEL_BYTES]; /* what simulated: known after the first run */
	struct stat_origin origin;
	struct stat_environment environment; /* that the commands run in */
	struct stat_rung rung; /* the label above the counts */
};

struct stat_simulated_result { /* of one run */
	struct simulation_counts counts;
	int status; /* of the command, as waitpid gives it */
	int signal; /* that tally got meanwhile; 0: none */
	uint64_t elapsed_ns;
};

TALLY_MUST_CHECK enum tally_status stat_simulated_open(struct stat_simulated *sim, const struct kernel_seam *kernel,
	const struct stat_settings *settings, struct tally_error *err);
/* One run of a command, for callers that do not fill a session. warnings: what its counts lack. */
TALLY_MUST_CHECK enum tally_status stat_simulated_count(struct stat_simulated *sim, char *const *command,
	struct stat_simulated_result *result, struct diag *warnings, struct tally_error *err);
/* One run, added to the session. The session's job has the command, and its rung becomes that of sim. */
TALLY_MUST_CHECK enum tally_status stat_simulated_run(
	struct stat_simulated *sim, struct stat_session *session, struct stat_job *job, struct tally_error *err);
void stat_simulated_close(struct stat_simulated *sim);

#endif
