/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_stat.c - tally stat: counts events of a command, of processes, threads, CPUs or the whole machine.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/config_files.h"
#include "tasks/counts/stat_replay.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/stream_output.h"
#include "verbs/stat/stat_compare.h"
#include "verbs/stat/stat_events.h"
#include "verbs/stat/stat_gate.h"
#include "verbs/stat/stat_options.h"
#include "verbs/stat/stat_passes.h"
#include "verbs/stat/stat_plan.h"
#include "verbs/stat/stat_printer.h"
#include "verbs/stat/stat_reasons.h"
#include "verbs/stat/stat_record.h"
#include "verbs/stat/stat_rung.h"
#include "verbs/stat/stat_shared.h"
#include "verbs/stat/stat_simulate.h"
#include "verbs/stat/stat_simulated_compare.h"
#include "verbs/stat/stat_smi.h"

#define COMMAND_LINE_MAX 1024 /* Maximum number of words of the command line that stat record stores in the header. */

static bool shell_run(const char *line)
{
	if (!line)
		return true;
	fflush(stdout);
	return system(line) == 0; /* perf documents the arguments of --pre and --post as shell commands. */
}

static enum tally_status one_run(
	struct stat_session *session, struct stat_printer *p, const struct stat_job *job, struct tally_error *err)
{
	const struct stat_settings *s = &job->settings;
	if (!shell_run(s->counting.pre))
		return error_set(err, TALLY_INVALID, "--pre '%s' failed", s->counting.pre);
	if (s->counting.does_sync)
		sync();
	enum tally_status status = stat_run(session, stat_printer_interval, p, err);
	if (status == TALLY_OK && !shell_run(s->counting.post))
		return error_set(err, TALLY_INVALID, "--post '%s' failed", s->counting.post);
	if (status == TALLY_OK && session->has_command_status && WIFSIGNALED(session->command_status) && job->command)
		cli_sayf("%s: %s\n", job->command[0], strsignal(WTERMSIG(session->command_status)));
	return status;
}

/* -r 0 repeats the run without end and reports after each one. */
static enum tally_status runs_make(
	struct stat_session *session, struct stat_printer *p, const struct stat_job *job, struct tally_error *err)
{
	const struct stat_settings *s = &job->settings;
	enum tally_status status = TALLY_OK;
	if (s->counting.runs == 0) {
		while (status == TALLY_OK && session->signal == 0) {
			struct stat_session single = {.kernel = session->kernel,
				.job = job,
				.target = session->target,
				.events = session->events,
				.wants_errors = session->wants_errors,
				.metrics = session->metrics,
				.control = session->control};
			status = one_run(&single, p, job, err);
			if (status == TALLY_OK)
				status = stat_printer_totals(p, &single, err);
			session->signal = single.signal;
			stat_session_deinit(&single);
		}
		return status;
	}
	for (uint64_t run = 0; status == TALLY_OK && run < s->counting.runs && session->signal == 0; run++)
		status = one_run(session, p, job, err);
	return status == TALLY_OK ? stat_printer_totals(p, session, err) : status;
}

static enum tally_status cmd_stat_measure(
	struct stat_session *session, struct stat_printer *p, const struct stat_job *job, struct tally_error *err)
{
	const struct stat_settings *s = &job->settings;
	if (s->counting.is_plan) {
		enum tally_status planned = stat_plan_make(
			session->kernel, session->events, session->target, &p->text, s->view.is_json, err);
		return planned == TALLY_OK ? stat_printer_flush(p, err) : planned;
	}
	if (s->counting.compare) {
		struct text reasons = {0};
		enum tally_status compared = stat_compare(session, p->cli->program, &p->text, &p->style, &reasons, err);
		enum tally_status flushed = stat_printer_flush(p, compared == TALLY_OK ? err : NULL);
		if (reasons.len > 0 && stat_printer_explains(p))
			cli_say_rows((struct tally_str){reasons.data, reasons.len});
		text_deinit(&reasons);
		return compared == TALLY_OK ? flushed : compared;
	}
	if (s->counting.has_passes) {
		struct stat_passes passes;
		enum tally_status passed = stat_passes_run(session, &passes, err);
		if (passed == TALLY_OK)
			passed = stat_printer_totals(p, session, err);
		if (passed == TALLY_OK && session->run_len > 0)
			stat_passes_print(&p->text, &passes, &p->style);
		return passed == TALLY_OK ? stat_printer_flush(p, err) : passed;
	}
	struct stat_values values = {0};
	session->values = s->counting.has_statistics ? &values : NULL;
	enum tally_status status = runs_make(session, p, job, err);
	stat_values_deinit(&values);
	session->values = NULL;
	return status;
}

static int target_fail(
	const struct cli *cli, const struct command *command, const struct stat_job *job, const struct tally_error *err)
{
	const struct stat_settings *s = &job->settings;
	if (s->counting.target.pids || s->counting.target.tids) {
		/* perf's message comes first; the explanation comes last, after the usage text, where the user sees
		 * it. */
		cli_usagef(cli, command, "pid,tid", "Problems finding threads of monitor");
		cli_sayf("\n%s\n", err->text);
	} else if (err->status == TALLY_NOT_FOUND) { /* The requested CPUs are not online. */
		cli_sayf("Error:\nNo supported events found.\n%s\n", err->text);
		return 1;
	} else {
		cli_usagef(cli, command, "cpu", "%s", err->text);
	}
	return STAT_EXIT_INVALID;
}

static void stat_tell_losses(const struct cli *cli, const struct stat_session *session)
{
	struct text losses = {0};
	if (session->shared_losses == 0)
		return;
	stat_reasons_add_losses(&losses, session);
	cli_sayf("%s: warning: %.*s\n", cli->program, (int)losses.len, losses.data ? losses.data : "");
	text_deinit(&losses);
}

static int stat_with_target(
	const struct cli *cli, const struct command *command, struct stat_job *job, struct target *target)
{
	const struct stat_settings *s = &job->settings;
	const struct kernel_seam *kernel = kernel_seam_linux();
	struct event_list events = {0};
	struct metric_set metrics = {0};
	struct stat_counted counted = {&events, &metrics};
	struct tally_error err = {0};
	locale_t user_locale = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
	struct stat_printer p = stat_printer_make(cli, s, user_locale);
	char *heading = stat_printer_heading(job, target->label);
	if (target->offline)
		cli_sayf("%s: warning: CPU %s is not online and not counted\n", cli->program, target->offline);
	p.heading = heading ? heading : "";
	struct record_control control;
	struct stat_record record = {0};
	struct stat_smi smi = {0};
	struct stat_session session = {.kernel = kernel,
		.job = job,
		.target = target,
		.events = &events,
		.decimal = p.style.decimal,
		.control = s->counting.control.is_given ? &control : NULL};
	int exit_code = stat_events_make(cli, command, kernel, &s->events, target->is_system_wide, &counted);
	stat_shared_choose(kernel, &events, s->counting.shares_counters || s->counting.bpf_programs);
	session.metrics = metrics.uses.len > 0 ? &metrics : NULL;
	struct tracepoint_hold hold = {0};
	struct stat_rung rung = {0};
	if (exit_code == 0 && s->counting.compare && stat_compare_check(&session, &err) != TALLY_OK)
		exit_code = cli_usagef(cli, command, "fail-if", "%s", err.text);
	if (exit_code == 0) {
		enum tally_status status = stat_rung_choose(&rung, kernel, job, &events, &err);
		if (status == TALLY_OK)
			status = stat_printer_open(&p, &err);
		stat_printer_label(&p, job);
		if (status == TALLY_OK)
			status = stat_printer_hold(&p, &session, &hold, &err);
		if (status == TALLY_OK)
			status = metric_set_follow(&metrics, &events, &err);
		if (status == TALLY_OK && job->recording) {
			status = stat_record_open(&record, job->recording, job->argv, &err);
			session.record = &record;
		}
		if (status == TALLY_OK)
			status = record_control_open(&s->counting.control, &control, &err);
		if (status == TALLY_OK)
			status = s->events.has_smi_cost ? stat_smi_freeze(kernel, &smi, &err) : TALLY_OK;
		if (status == TALLY_OK)
			session.wants_errors = s->counting.is_scaling && stat_printer_explains(&p);
		if (status == TALLY_OK)
			status = cmd_stat_measure(&session, &p, job, &err);
		stat_tell_losses(cli, &session);
		stat_smi_restore(kernel, &smi);
		record_control_close(&control);
		if (status == TALLY_OK && session.record)
			status = stat_record_close(&record, &err);
		tracepoint_hold_release(&hold);
		exit_code = status == TALLY_OK ? stat_session_leave(&session) : cli_fail(cli, &err);
		if (smi.is_lacking)
			exit_code = EXIT_NO_METRIC;
	}
	stat_record_deinit(&record);
	stat_rung_deinit(&rung);
	stat_session_deinit(&session);
	metric_set_deinit(&metrics);
	event_list_deinit(&events);
	stat_printer_close(&p);
	free(heading);
	if (user_locale)
		freelocale(user_locale);
	return exit_code;
}

static const char *const stat_report_usages[] = {"report [<options>]", NULL};
static const struct command command_stat_report = {
	.name = "stat",
	.summary = "Show the counts of a recording",
	.usages = stat_report_usages,
	.options = &stat_report_option_table,
};

static void show_round(void *context, const struct stat_report *report)
{
	struct stat_printer *p = context;
	stat_printer_origin(p, report);
	if (report->interval_s >= 0) {
		stat_printer_interval(context, report);
		return;
	}
	stat_rows_print(&p->text, report, &p->style);
	(void)stat_printer_flush(p, NULL);
}

/* Parses the options of stat report, which may appear both before and after the word "report". */
static int cmd_stat_replay(const struct cli *cli, struct stat_settings *s, int argc, char **argv)
{
	int rest;
	int exit_code = cli_parse_options(cli, &command_stat_report, argc, argv, s, &rest);
	if (exit_code != CLI_GO_ON)
		return exit_code;
	if (rest < argc)
		return cli_usagef(cli, &command_stat_report, NULL, "stat report takes no command");
	exit_code = stat_form_check(cli, &command_stat, s);
	if (exit_code != 0)
		return exit_code;
	struct tally_error err = {0};
	locale_t user_locale = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
	struct stat_printer p = stat_printer_make(cli, s, user_locale);
	struct stat_replay_request request = {.has_mode = s->counting.lines.mode != AGGREGATE_ALL,
		.mode = s->counting.lines.mode,
		.cache_level = s->counting.lines.cache_level,
		.show = show_round,
		.context = &p};
	enum tally_status status = recording_open(&(struct input_options){.path = s->recording}, &request.reader, &err);
	if (status == TALLY_OK) {
		status = stat_printer_open(&p, &err);
		if (status == TALLY_OK)
			status = stat_replay(&request, &err);
		if (status == TALLY_OK)
			status = stat_printer_flush(&p, &err);
		cli_print_health(cli, perfdata_reader_health(request.reader));
		perfdata_reader_destroy(request.reader);
	}
	stat_printer_close(&p);
	if (user_locale)
		freelocale(user_locale);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

/* Collects the words of the command line, at most COMMAND_LINE_MAX - 1 of them. The words are borrowed. */
static char *const *command_line_copy(const struct cli *cli, int argc, char **argv, char *line[COMMAND_LINE_MAX])
{
	int len = 0;
	line[len++] = (char *)cli->program;
	for (int i = 0; i < argc && len < COMMAND_LINE_MAX - 1; i++)
		line[len++] = argv[i];
	line[len] = NULL;
	return line;
}

/* Parses the options after stat record, which are those of stat. -o names the recording. */
static int record_options_take(
	const struct cli *cli, const struct command *command, struct stat_job *job, int argc, char **argv, int *rest)
{
	struct stat_settings *s = &job->settings;
	int exit_code = cli_parse_options(cli, command, argc, argv, s, rest);
	if (exit_code != CLI_GO_ON)
		return exit_code;
	if (s->has_iostat)
		return cli_usagef(cli, command, "iostat", "stat record does not record what --iostat shows");
	if (s->counting.runs != 1)
		return cli_failf(cli, "Cannot use -r option with %s stat record.", cli->program);
	job->recording = stream_output_name(s->view.output);
	/* perf also prints no counts if the recording is written to standard output. */
	s->view.is_quiet |= strcmp(job->recording, "-") == 0;
	s->view.output = NULL;
	return CLI_GO_ON;
}

/* With --plan, the remaining words are events. If -e has named events, they are the command, which is not run. */
static bool plan_words_take(struct stat_job *job, char **argv, int *rest, int argc)
{
	struct stat_settings *s = &job->settings;
	bool has_events = s->events.words.len > 0;
	for (int i = *rest; i < argc && !has_events; i++)
		if (!vec_push(&s->events.words, ((struct stat_event_word){WORD_EVENT, argv[i]})))
			return false;
	static char *nothing[] = {NULL};
	bool is_wide = s->counting.target.system_wide || s->counting.target.cpus || s->counting.target.pids ||
		       s->counting.target.tids;
	if (*rest >= argc || !has_events)
		job->command = is_wide ? NULL : nothing;
	return true;
}

struct stat_configuring {
	struct stat_settings *settings;
	struct diag *notes;
};

static enum tally_status stat_setting_take(void *data, const struct config_text *config, struct tally_error *err)
{
	const struct stat_configuring *configuring = data;
	(void)err;
	if (!strcmp(config->name, "stat.big-num"))
		config_files_bool(config->name, config_text_value(config), configuring->notes,
			&configuring->settings->view.has_big_num);
	else if (!strncmp(config->name, "stat.", 5))
		diag_add(configuring->notes, DIAG_WARNING, "the configuration setting %s is ignored", config->name);
	return TALLY_OK;
}

/* Reads the configuration. Options of the command line take precedence over it. */
static int stat_config_read(const struct cli *cli, struct stat_settings *s)
{
	struct diag notes;
	struct tally_error err;
	diag_init(&notes);
	struct stat_configuring configuring = {s, &notes};
	enum tally_status status = config_files_read(stat_setting_take, &configuring, &notes, &err);
	cli_print_diag(cli, &notes);
	diag_deinit(&notes);
	return status == TALLY_OK ? CLI_GO_ON : cli_fail(cli, &err);
}

/* --iostat runs the verb iostat, which counts all CPUs. It accepts no other option of stat than -a, because it would
 * ignore the rest. */
static int cmd_stat_iostat(const struct cli *cli, const struct command *command, const struct stat_settings *s,
	int argc, char **argv, int rest)
{
	const char *words[4] = {"iostat"};
	int count = 1;
	for (int i = 1; i < rest; i++)
		if (strncmp(argv[i], "--io", 4) != 0 && strcmp(argv[i], "-a") != 0 &&
			strcmp(argv[i], "--all-cpus") != 0 && strcmp(argv[i], "--") != 0)
			return cli_usagef(cli, command, "iostat",
				"--iostat goes with no other option than -a, and not with '%s'", argv[i]);
	if (s->iostat_ports)
		words[count++] = s->iostat_ports;
	if (!s->iostat_ports || strcmp(s->iostat_ports, "list") != 0)
		words[count++] = "--";
	else
		rest = argc; /* iostat list runs no command. */
	return cli_run_verb(cli, &command_iostat, words, argc - rest, argv + rest);
}

/* Interprets the words after the options, and checks combinations of options. */
static int cmd_stat_take_words(
	const struct cli *cli, const struct command *command, struct stat_job *job, int argc, char **argv, int rest)
{
	struct stat_settings *s = &job->settings;
	job->command = rest < argc ? argv + rest : NULL;
	if (job->recording && (s->counting.compare || s->counting.is_plan || s->counting.has_passes))
		return cli_usagef(cli, command, "compare,passes,plan", "stat record counts one command, once");
	if (s->counting.is_plan && !plan_words_take(job, argv, &rest, argc))
		return cli_failf(cli, "out of memory");
	int exit_code = 0;
	if (s->counting.compare)
		exit_code = s->simulation.is_on ? stat_simulated_compare_options(cli, command, argc, argv, rest, s)
						: stat_compare_options(cli, command, argc, argv, rest, s);
	if (exit_code == 0)
		exit_code = stat_gate_options(cli, command, s);
	if (exit_code == 0)
		exit_code = stat_simulate_check(cli, command, job);
	if (exit_code == 0 && s->counting.has_passes && !s->counting.is_plan)
		exit_code = stat_passes_check(cli, command, job);
	return exit_code == 0 && !s->simulation.is_on ? stat_job_complete(cli, command, job) : exit_code;
}

static int cmd_stat_dispatch(
	const struct cli *cli, const struct command *command, struct stat_job *job, int argc, char **argv)
{
	struct stat_settings *s = &job->settings;
	char *line[COMMAND_LINE_MAX];
	struct target target = {0};
	struct tally_error err = {0};
	int rest, rest_of_record;
	int exit_code = stat_config_read(cli, s);
	if (exit_code == CLI_GO_ON)
		exit_code = cli_parse_options(cli, command, argc, argv, s, &rest);
	if (exit_code != CLI_GO_ON)
		return exit_code;
	if (s->has_iostat)
		return cmd_stat_iostat(cli, command, s, argc, argv, rest);
	if (rest < argc && cli_is_subverb(argv[rest], "report"))
		return cmd_stat_replay(cli, s, argc - rest, argv + rest);
	if (rest < argc && cli_is_subverb(argv[rest], "record")) {
		exit_code = record_options_take(cli, command, job, argc - rest, argv + rest, &rest_of_record);
		if (exit_code != CLI_GO_ON)
			return exit_code;
		rest += rest_of_record;
		job->argv = command_line_copy(cli, argc, argv, line);
	}
	exit_code = cmd_stat_take_words(cli, command, job, argc, argv, rest);
	if (exit_code != 0)
		return exit_code;
	if (s->simulation.is_on)
		return stat_simulate(cli, job);
	s->counting.target.has_command = job->command != NULL;
	if (target_resolve(kernel_seam_linux(), &s->counting.target, &target, &err) != TALLY_OK)
		exit_code = target_fail(cli, command, job, &err);
	else
		exit_code = stat_with_target(cli, command, job, &target);
	target_deinit(&target);
	return exit_code;
}

static int cmd_stat_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct stat_job job = {.settings = {.counting = {.runs = 1, .is_scaling = true},
				       .view = {.log_fd = UINT64_MAX, .has_big_num = true},
				       .simulation = {.threshold = STAT_THRESHOLD_DEFAULT}}};
	int exit_code = cmd_stat_dispatch(cli, command, &job, argc, argv);
	vec_free(&job.settings.events.words);
	vec_free(&job.settings.simulation.toggles);
	return exit_code;
}

static const char *const stat_usages[] = {"[<options>] [<command>]", NULL};

const struct command command_stat = {
	.name = "stat",
	.summary = "Count events of a command, a process or the machine",
	.usages = stat_usages,
	.options = &stat_option_table,
	.description =
		"Counts events while a command runs, or in running processes and threads, on CPUs or on the "
		"whole machine "
		"until interrupted, and prints the counts with their ratios on standard error.\n\n"
		"An event that the machine lacks shows <not supported>, one that never got PMU time <not counted>; a "
		"line below the table gives the reason. Counts of events that shared the PMU are scaled up, and the "
		"share of time that they were counted follows in parentheses. A count that cannot be right, because a "
		"virtual machine's counter stands or jumps, is marked (implausible).\n\n"
		"The command's exit status is passed on: 128 + N if signal N ended it.\n\n"
		"With --compare and --fail-if, the status is 3 if the second command is worse, 4 if the runs vary too "
		"much "
		"to tell, and 255 if there is no verdict, as when a run failed.\n\n"
		"With --simulate, Valgrind runs the command, and a tool of tally's own counts instructions, branches, "
		"caches "
		"and TLBs of a model: without hardware counters or privileges, and alike in each run. With --compare, "
		"too, it "
		"is a gate for builds: the status is 3 if the second command exceeds the first by more than "
		"--threshold, and 4 if runs vary too much to tell.\n\n"
		"'stat record' also stores the counts in a perf.data file, and 'stat report' prints the counts of "
		"such a file; options may come before and after 'record' and 'report'.",
	.examples = (const char *const[]){"count the default events of a command", "tally stat make -j8",
		"run five times, with mean and deviation", "tally stat -r 5 -e task-clock,page-faults ./program",
		"count a system call of a running process for ten seconds",
		"tally stat -e syscalls:sys_enter_write -p 1234 sleep 10",
		"count every second, per CPU, for a spreadsheet", "tally stat -a -A -I 1000 -x, -o counts.csv",
		"show medians of twenty runs, with confidence intervals", "tally stat -r 20 --stats ./program",
		"show what these events would count here, and whether they fit together",
		"tally stat --plan cycles,instructions,LLC-loads",
		"show instructions per cycle, and mispredicted branches",
		"tally stat -M insn_per_cycle,branch_miss_rate ./program", "find out which of two commands is faster",
		"tally stat --compare './old 100' './new 100' -r 20",
		"fail a build if the new program takes 5 % more time",
		"tally stat --compare './old 100' './new 100' -r 20 --fail-if 'elapsed>5%'",
		"count instructions and cache misses without hardware counters", "tally stat --simulate ./program",
		"fail a build if the new program executes 0.1 % more instructions",
		"tally stat --simulate --compare './old 100' './new 100'", NULL},
	.run = cmd_stat_run,
};
