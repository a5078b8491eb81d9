/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_simulate.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "verbs/stat/stat_gate.h"
#include "verbs/stat/stat_options.h"
#include "verbs/stat/stat_printer.h"
#include "verbs/stat/stat_simulated.h"
#include "verbs/stat/stat_simulated_compare.h"

/* Returns the name of an option that cannot be used with --simulate, or NULL if none is given. */
static const char *stat_simulate_obstacle(const struct stat_settings *s)
{
	const struct stat_counting *c = &s->counting;
	const struct {
		bool is_given;
		const char *name;
	} obstacles[] = {
		{c->target.pids, "pid"},
		{c->target.tids, "tid"},
		{c->target.user, "uid"},
		{c->target.system_wide, "all-cpus"},
		{c->target.cpus, "cpu"},
		{c->target.per_thread, "per-thread"},
		{c->lines.mode != AGGREGATE_ALL, "no-aggr"},
		{s->events.for_each_cgroup, "for-each-cgroup"},
		{s->events.all_kernel, "all-kernel"},
		{s->events.is_null, "null"},
		{s->events.has_topdown, "topdown"},
		{s->events.has_transactions, "transaction"},
		{s->events.has_smi_cost, "smi-cost"},
		{c->shares_counters, "bpf-counters"},
		{c->bpf_programs, "bpf-prog"},
		{c->interval_ms, "interval-print"},
		{c->interval_count, "interval-count"},
		{c->timeout_ms, "timeout"},
		{c->delay_ms > 0, "delay"},
		{c->control.is_given, "control"},
		{c->has_passes, "passes"},
		{c->is_plan, "plan"},
		{c->has_statistics, "stats"},
		{c->rung != STAT_RUNG_AUTO, "rung"},
		{c->requires_event, "require-event"},
		{s->view.has_table, "table"},
	};
	for (size_t i = 0; i < ARRAY_LEN(obstacles); i++)
		if (obstacles[i].is_given)
			return obstacles[i].name;
	for (size_t i = 0; i < s->events.words.len; i++) {
		static const char *const names[] = {[WORD_EVENT] = NULL,
			[WORD_CGROUP] = "cgroup",
			[WORD_FILTER] = "filter",
			[WORD_METRIC] = "metrics",
			[WORD_PFM] = "pfm-events"};
		if (names[s->events.words.items[i].kind])
			return names[s->events.words.items[i].kind];
	}
	return NULL;
}

int stat_simulate_check(const struct cli *cli, const struct command *command, const struct stat_job *job)
{
	const struct stat_settings *s = &job->settings;
	const struct stat_simulation_settings *sim = &s->simulation;
	const char *alone = sim->cache_model	 ? "cache-model"
			    : sim->toggles.len	 ? "toggle"
			    : sim->has_threshold ? "threshold"
			    : sim->name		 ? "name"
						 : NULL;
	if (!sim->is_on && alone)
		return cli_usagef(cli, command, alone, "--%s needs --simulate", alone);
	if (!sim->is_on)
		return 0;
	const char *obstacle = stat_simulate_obstacle(s);
	if (obstacle)
		return cli_usagef(cli, command, obstacle,
			"--simulate and --%s cannot be used together: a simulation counts one command, from its begin "
			"to its end, in user space",
			obstacle);
	if (sim->has_threshold && !s->counting.compare)
		return cli_usagef(cli, command, "threshold,compare", "--threshold needs --compare");
	if (sim->has_threshold && s->counting.fail_if)
		return cli_usagef(cli, command, "threshold,fail-if",
			"--threshold is the clause 'regression>PERCENT%%' of --fail-if: give one of the two");
	if (sim->name && (!s->view.is_json || s->counting.compare))
		return cli_usagef(cli, command, "name", "--name goes with -j, without --compare");
	if (job->recording)
		return cli_usagef(
			cli, command, "simulate", "stat record does not store simulated counts; -j -o FILE does");
	if (!job->command)
		return cli_usagef(cli, command, "simulate", "--simulate needs a command");
	if (s->counting.runs == UINT64_MAX || (s->counting.runs == 0 && !s->counting.compare))
		return cli_usagef(cli, command, "repeat", "--simulate needs a number of runs that is positive"),
		       STAT_EXIT_INVALID;
	return stat_form_check(cli, command, s);
}

static bool stat_simulate_shell(const char *line)
{
	fflush(stdout);
	return !line || system(line) == 0;
}

/* Runs the command as often as -r says and prints the table. */
static enum tally_status stat_simulate_count(struct stat_simulated *sim, struct stat_session *session,
	struct stat_job *job, struct stat_printer *p, struct tally_error *err)
{
	const struct stat_counting *counting = &job->settings.counting;
	enum tally_status status = TALLY_OK;
	for (uint64_t run = 0; status == TALLY_OK && run < counting->runs && session->signal == 0; run++) {
		if (!stat_simulate_shell(counting->pre))
			return error_set(err, TALLY_INVALID, "--pre '%s' failed", counting->pre);
		status = stat_simulated_run(sim, session, job, err);
		if (status == TALLY_OK && !stat_simulate_shell(counting->post))
			return error_set(err, TALLY_INVALID, "--post '%s' failed", counting->post);
		if (status == TALLY_OK && WIFSIGNALED(session->command_status))
			cli_sayf("%s: %s\n", job->command[0], strsignal(WTERMSIG(session->command_status)));
	}
	if (status != TALLY_OK)
		return status;
	stat_printer_label(p, job);
	return stat_printer_totals(p, session, err);
}

static int stat_simulate_with(struct stat_simulated *sim, struct stat_job *job, struct stat_printer *p)
{
	struct target target = {.is_command = true};
	struct stat_simulated_gate gate = {0};
	struct tally_error err = {0};
	struct stat_session session = {
		.kernel = kernel_seam_linux(), .job = job, .target = &target, .decimal = p->style.decimal};
	enum tally_status status = stat_simulated_open(sim, session.kernel, &job->settings, &err);
	if (status == TALLY_INVALID) { /* An event is not simulated, or the cache model is invalid. */
		cli_fail(p->cli, &err);
		return EXIT_USAGE;
	}
	session.events = &sim->events.list;
	if (status == TALLY_OK)
		status = stat_printer_open(p, &err);
	if (status == TALLY_OK && job->settings.counting.compare) {
		status = stat_simulated_compare(sim, job, &p->text, &p->style, &gate, &err);
		if (status == TALLY_OK)
			status = stat_printer_flush(p, &err);
		session.signal = gate.signal;
	} else if (status == TALLY_OK) {
		status = stat_simulate_count(sim, &session, job, p, &err);
	}
	if (stat_printer_explains(p)) {
		cli_print_diag(p->cli, &session.warnings);
		cli_print_diag(p->cli, &sim->notes);
	}
	int exit_code = status != TALLY_OK ? cli_fail(p->cli, &err) : stat_session_leave(&session);
	stat_session_deinit(&session);
	if (gate.is_misused)
		return EXIT_USAGE;
	return exit_code ? exit_code : stat_gate_exit_code(gate.verdict);
}

int stat_simulate(const struct cli *cli, struct stat_job *job)
{
	struct stat_simulated sim;
	locale_t user_locale = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
	struct stat_printer p = stat_printer_make(cli, &job->settings, user_locale);
	char *heading = stat_printer_heading(job, "");
	p.heading = heading ? heading : "";
	int exit_code = stat_simulate_with(&sim, job, &p);
	stat_simulated_close(&sim);
	stat_printer_close(&p);
	free(heading);
	if (user_locale)
		freelocale(user_locale);
	return exit_code;
}
