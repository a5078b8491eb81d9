/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_run.h - performs one measurement: starts the command, counts, and waits for its end, a signal, the interval or
 * the timeout.
 *
 * A stat_session is used for all runs of -r; stat_session_deinit frees it. During a run, SIGINT, SIGTERM, SIGHUP and
 * SIGCHLD are blocked and waited for. Everything except signals, clocks and the child goes through the kernel seam.
 *
 *	struct stat_session s = {.kernel = kernel, .job = &job, .target = &target, .events = &events};
 *	while (runs left && s.signal == 0 && stat_run(&s, show_interval, context, err) == TALLY_OK) ...
 */
#ifndef VERBS_STAT_STAT_RUN_H
#define VERBS_STAT_STAT_RUN_H

#include "kernel/system/target.h"
#include "tasks/counts/stat_failures.h"
#include "tasks/counts/stat_report.h"
#include "tasks/counts/stat_values.h"
#include "verbs/stat/stat_settings.h"

struct stat_session {
	/* Set by the caller. */
	const struct kernel_seam *kernel;
	const struct stat_job *job;
	struct target *target; /* stat_run sets threads[0] to the command's pid. */
	struct event_list *events;
	const struct metric_set *metrics; /* NULL if no metrics were requested. */
	struct stat_record *record; /* Receives the counts; NULL if they are not recorded. */
	const char *decimal; /* Decimal point of printed numbers; NULL for ".". */
	struct record_control *control; /* Source of control commands; NULL if there is none. */
	/* Retained over all runs. */
	struct aggregation aggregation;
	/* Totals over all runs, for each event one per place (CPU, socket, thread ...) of the aggregation. */
	struct stat_cell *cells;
	struct stat_cell *interval_cells;
	bool *supported; /* Indexed by event. */
	uint32_t *sources; /* Indices of the events to which ratios of other events may refer (stat_report.sources). */
	size_t source_count;
	char **reasons; /* Why each event was not counted; NULL if it was. */
	bool wants_errors; /* Estimates the errors of scaled counts. */
	/* For each event, the sum over all runs of the squared relative error; NAN if unknown. NULL without
	 * wants_errors. */
	double *error_squares;
	char **comms; /* Name of each thread, for AGGREGATE_THREAD. */
	bool has_places;
	struct running_mean wall_ns, user_ns, system_ns;
	uint64_t shared_losses; /* Number of context switches that shared counters missed. */
	double *run_ns; /* Elapsed time of each run. */
	size_t run_len, run_cap;
	struct stat_values *values; /* Receives each run's counts; borrowed; NULL if they are not needed. */
	bool leaves_failures_out; /* Excludes failed runs from values. */
	struct stat_failures failures; /* Failures of the command, except of runs that tally itself ended. */
	struct diag warnings; /* Warnings that the counts are incomplete. */
	const struct stat_environment *environment; /* For stat_report. */
	const char *benchmark; /* For stat_report. */
	/* Results of the last run. */
	int command_status; /* As returned by waitpid. */
	bool has_command_status;
	/* tally ended the command: after the timeout, after the last interval, or because of a control command. */
	bool was_told_to_end;
	int signal; /* Signal that ended the measurement; 0 if there was none. */
	int gate_code; /* Exit code of the verdict of --compare --fail-if. */
	bool is_cut_off; /* The kernel ended the events at an exec, although the target ran on (exec_stop.h). */
	/* The events were ended at the exec of the command itself, so nothing was counted. */
	bool was_cut_off_at_start;
};

/* Callback at the end of each interval, and at the end of the run for an incomplete interval. The report contains the
 * counts of that interval only. */
typedef void (*stat_show_interval)(void *context, const struct stat_report *report);

/* Returns the first time after now_ns that is due_ns plus a multiple of interval_ns, which must not be 0. Thus a late
 * interval does not delay later ones, and missed intervals are skipped. */
uint64_t stat_next_deadline(uint64_t due_ns, uint64_t interval_ns, uint64_t now_ns);
TALLY_MUST_CHECK enum tally_status stat_run(
	struct stat_session *session, stat_show_interval show, void *context, struct tally_error *err);
/* Returns a report of the totals so far, which borrows from the session. */
struct stat_report stat_session_report(const struct stat_session *session);
/* Returns the exit code of the command, encoded as in a shell; after several runs, that of the last run that failed. If
 * a signal ended the measurement, does not return, but ends the process by this signal. */
int stat_session_leave(const struct stat_session *session);
void stat_session_deinit(struct stat_session *session);

#endif
