/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_run.h - makes one measurement: starts the command, counts, waits for its end, a signal, the interval or the
 * timeout.
 *
 * A stat_session lives over all runs of -r; stat_session_deinit frees it. During a run, SIGINT, SIGTERM, SIGHUP and
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
	/* in */
	const struct kernel_seam *kernel;
	const struct stat_job *job;
	struct target *target; /* threads[0] is set to the command's pid */
	struct event_list *events;
	const struct metric_set *metrics; /* NULL: none were asked for */
	struct stat_record *record; /* where counts are written; NULL: nowhere */
	const char *decimal; /* the decimal point for printed numbers; NULL: "." */
	struct record_control *control; /* commands to the measurement; NULL: none */
	/* kept from the first run on */
	struct aggregation aggregation;
	struct stat_cell *cells; /* event x place: the totals over runs */
	struct stat_cell *interval_cells;
	bool *supported; /* per event */
	uint32_t *sources; /* of stat_report */
	size_t source_count;
	char **reasons; /* per event: why it was not counted; NULL: it was */
	bool wants_errors; /* estimates the errors of scaled counts */
	double *error_squares; /* per event: of each run's relative error, added up; NAN: not known; NULL: not wanted */
	char **comms; /* per thread, of AGGREGATE_THREAD */
	bool has_places;
	struct running_mean wall_ns, user_ns, system_ns;
	uint64_t shared_losses; /* switches that shared counters did not see */
	double *run_ns; /* each run's time */
	size_t run_len, run_cap;
	struct stat_values *values; /* borrowed: where each run's counts are kept; NULL: they are not */
	bool leaves_failures_out; /* of values: runs of the command that failed */
	struct stat_failures failures; /* of the command's runs that ended by themselves */
	struct diag warnings; /* what the counts lack */
	const struct stat_environment *environment; /* of stat_report */
	const char *benchmark; /* likewise */
	/* out, of the last run */
	int command_status; /* as waitpid gives it */
	bool has_command_status;
	bool was_told_to_end; /* the command, by us: the time, the intervals or the caller of --control were over */
	int signal; /* that ended the measurement; 0: none */
	int gate_code; /* of --compare --fail-if: the exit status that its verdict has */
	bool is_cut_off; /* the kernel ended the events at an exec, though the target ran on (exec_stop.h) */
	bool was_cut_off_at_start; /* at the command's own exec: nothing of it was counted */
};

/* Called at each interval, and for the rest at the end of the run; the report holds the differences. */
typedef void (*stat_show_interval)(void *context, const struct stat_report *report);

/* The first time after now that is due plus a multiple of interval (not 0): a late interval does not shift later ones,
 * and missed intervals are left out. */
uint64_t stat_next_deadline(uint64_t due_ns, uint64_t interval_ns, uint64_t now_ns);
TALLY_MUST_CHECK enum tally_status stat_run(
	struct stat_session *session, stat_show_interval show, void *context, struct tally_error *err);
/* The totals so far. */
struct stat_report stat_session_report(const struct stat_session *session);
/* The exit status of the command, as a shell gives it; of several runs, that of the last one that failed. Ends the program as a signal would have that ended the measurement. */
int stat_session_leave(const struct stat_session *session);
void stat_session_deinit(struct stat_session *session);

#endif
