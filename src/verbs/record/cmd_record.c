/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/bpf_pinned_filter.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/progress_line.h"
#include "kernel/events/tracepoint_hold.h"
#include "kernel/system/exec_stop.h"
#include "tasks/packing/pack_run.h"
#include "tasks/recording/record_auto.h"
#include "tasks/recording/record_config.h"
#include "tasks/recording/record_events.h"
#include "tasks/recording/record_freq.h"
#include "tasks/recording/record_options.h"
#include "tasks/recording/record_plan.h"
#include "tasks/recording/record_rung.h"
#include "tasks/recording/record_waits.h"
#include "tasks/session/advice_notes.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/stream_output.h"
#include "tasks/session/symbol_options.h"
#include "verbs/record/record_simulated.h"

struct cmd_record_run {
	const struct cli *cli;
	const struct command *command;
	/* The kernel, or a substitute that samples by ptrace and timers where the kernel refuses events (--rung). */
	const struct kernel_seam *kernel;
	struct record_rung rung;
	struct record_settings settings;
	struct record_plan plan;
	struct event_list events, switch_events;
	struct tracepoint_hold hold;
	struct record_files *files; /* NULL if no files are needed that may be removed during the recording. */
	struct diag diag;
	char **argv; /* The whole command line. */
};

static void say_ring_size(const struct record_settings *s)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (s->ring_pages_asked && !s->quiet)
		fprintf(stderr, "rounding mmap pages size to %lluK (%llu pages)\n",
			(unsigned long long)s->ring_bytes / 1024, (unsigned long long)(s->ring_bytes / page));
	if (s->has_aux_size && !s->quiet)
		fprintf(stderr, "the size of the AUX area is ignored: no AUX data is recorded\n");
}

static void cmd_record_complete(struct cmd_record_run *run, bool has_command)
{
	struct record_settings *s = &run->settings;
	record_target_complete(&s->target, has_command);
	s->output.path = stream_output_name(s->output.path);
	struct text sentence = {0};
	record_auto_settle(run->kernel, s, &sentence);
	if (sentence.len && !s->quiet)
		cli_sayf("%.*s\n", (int)sentence.len, sentence.data);
	text_deinit(&sentence);
	run->plan = record_plan_make(s);
	run->plan.attrs.fields.identifier |= stream_output_is_named(s->output.path);
	if (!s->quiet)
		record_config_say_chains(s);
	uint64_t mapped = run->plan.ring_bytes + (uint64_t)sysconf(_SC_PAGESIZE);
	if (s->output.switch_bytes && s->output.switch_bytes < mapped / 2 && !s->quiet)
		fprintf(stderr,
			"WARNING: switch-output data size lower than wakeup kernel buffer size (%lluK) expect bigger "
			"perf.data sizes\n",
			(unsigned long long)(mapped / 2) >> 10);
}

/* Rejects --latency for the whole machine: it divides time by the number of threads of one program that run at once. */
static int check_latency(const struct cmd_record_run *run)
{
	if (!run->settings.latency || !run->settings.target.system_wide)
		return 0;
	cli_failf(run->cli, "Failed: latency profiling is not supported with system-wide collection.");
	return EXIT_OF(EINVAL);
}

static int check_outputs(const struct cmd_record_run *run)
{
	const struct record_output_options *o = &run->settings.output;
	bool is_stream = stream_output_is_named(o->path);
	if (is_stream && (o->switches || o->timestamp_name))
		return cli_failf(run->cli, "--switch-output and --timestamp-filename need a file (-o): standard "
					   "output and a FIFO take one stream");
	if (o->threads == THREADS_NONE)
		return 0;
	if (is_stream || o->switches || run->settings.overwrites || run->settings.target.per_thread)
		return cli_failf(run->cli,
			"--threads writes a directory with a file for each CPU: it cannot be used with -o -, "
			"--switch-output, --overwrite or --per-thread");
	return 0;
}

/* Rejects options that contradict --self-contained, which produces a single file whose samples can be interpreted
 * without the program. */
static int check_self_contained(const struct cmd_record_run *run)
{
	const struct record_settings *s = &run->settings;
	const char *other = stream_output_is_named(s->output.path) ? "a stream (-o -)"
			    : s->output.switches		   ? "--switch-output"
			    : s->output.timestamp_name		   ? "--timestamp-filename"
			    : s->output.threads != THREADS_NONE	   ? "--threads"
			    : s->keeps_stacks			   ? "--keep-stacks"
								   : NULL;
	if (!s->is_self_contained || !other)
		return 0;
	return cli_failf(run->cli, "--self-contained with %s is not supported yet", other);
}

/* Returns whether files are needed after they may have been removed: for the cache, the pack, or unwinding. */
static bool holds_files(const struct cmd_record_run *run)
{
	const struct record_settings *s = &run->settings;
	bool fills_cache = !s->no_build_ids && !s->no_build_id_cache && !s->output.switches;
	return fills_cache || s->is_self_contained || run->plan.attrs.unwinds_live;
}

static int cmd_record_pack(const struct cmd_record_run *run)
{
	const struct record_settings *s = &run->settings;
	const struct binary_kept kept = {record_files_find, run->files};
	const struct pack_request request = {
		.input.path = s->output.path, .quiet = s->quiet, .kept = run->files ? &kept : NULL};
	struct tally_error err;
	return pack_run(run->cli, &request, &err) == TALLY_OK ? 0 : cli_fail(run->cli, &err);
}

static int check_waits(const struct cmd_record_run *run)
{
	const struct record_settings *s = &run->settings;
	const char *what = s->wall ? "--wall" : "--off-cpu";
	const char *other = s->output.threads != THREADS_NONE ? "--threads" : s->overwrites ? "--overwrite" : NULL;
	if (!run->plan.waits.is_wanted)
		return s->has_off_cpu_ms || s->has_wall_source
			       ? cli_failf(run->cli, "%s needs --off-cpu or --wall",
					 s->has_off_cpu_ms ? "--off-cpu-thresh" : "--wall-source")
			       : 0;
	if (other)
		return cli_failf(run->cli, "%s writes waits into the recording's one file, which %s does not allow",
			what, other);
	if (run->plan.attrs.modes.clockid != CLOCK_MONOTONIC)
		return cli_failf(
			run->cli, "%s takes times of the clock monotonic: leave out -k, or say -k monotonic", what);
	return 0;
}

static int check_live(const struct cmd_record_run *run)
{
	const struct record_settings *s = &run->settings;
	const struct arch *arch = record_host_arch();
	enum record_callgraph mode = run->plan.attrs.chains.mode;
	const char *other = record_auto_obstacle(s, mode);
	if (!run->plan.attrs.unwinds_live)
		return 0;
	if (!arch || arch->dwarf_count == 0)
		return cli_failf(run->cli,
			"--call-graph dwarf: stacks of this architecture cannot be unwound here; --keep-stacks stores "
			"them");
	if (other && mode == CALLGRAPH_BPF)
		return cli_failf(run->cli, "--call-graph bpf and %s cannot be used together", other);
	if (other)
		return cli_failf(run->cli,
			"--call-graph dwarf unwinds the records of all rings in time order, which %s does not allow; "
			"--keep-stacks stores the stacks instead",
			other);
	return 0;
}

static void cmd_record_say_notes(void *context)
{
	struct cmd_record_run *run = context;
	if (!run->settings.quiet)
		cli_print_diag(run->cli, &run->diag);
	diag_deinit(&run->diag);
	diag_init(&run->diag);
}

static void say_line(const char *text)
{
	progress_line_erase();
	cli_sayf("%s\n", text);
}

static void say_lost_waits(const struct cmd_record_run *run, const struct record_summary *summary)
{
	struct text lines = {0};
	record_waits_print_losses(&lines, &summary->lost_waits);
	struct tally_str rest = text_view(&lines), line;
	while (rest.len && str_next(&rest, '\n', &line))
		cli_sayf("%s: warning: %.*s\n", run->cli->program, (int)line.len, line.data);
	text_deinit(&lines);
}

static void say_stacks(const struct cmd_record_run *run, const struct record_summary *summary)
{
	struct text lines = {0};
	if (!cli_is_quiet(run->cli))
		record_live_print(&lines, &summary->live);
	text_str(&lines, summary->walk_losses);
	struct tally_str rest = {lines.data, lines.len}, line;
	while (rest.len && str_next(&rest, '\n', &line))
		cli_sayf("[ %.*s ]\n", (int)line.len, line.data);
	text_deinit(&lines);
}

/* Warns if the kernel removed the events at an exec, so that the rest is not recorded. If the command ended before that
 * was noticed, the modes and capabilities of its program's file are the only evidence. */
static void say_cut_off(const struct cmd_record_run *run, char *const *command, const struct record_summary *summary)
{
	bool is_command =
		     command && !run->settings.target.pids && !run->settings.target.tids && run->plan.attrs.has_command,
	     has_nothing = summary->has_samples && summary->samples == 0;
	struct text reason = {0};
	bool is_known =
		is_command && (summary->cut_off_thread || has_nothing) && exec_stop_explain(command[0], &reason);

	if (is_known)
		cli_sayf("%s: warning: the kernel ended the recording of '%s' at its exec: %.*s; root may record it\n",
			run->cli->program, command[0], (int)reason.len, reason.data);
	else if (summary->cut_off_thread)
		cli_sayf(
			"%s: warning: the kernel ended the recording when %d executed a program that this user may not "
			"read, or that changes privileges (set-user-ID); root may record it\n",
			run->cli->program, (int)summary->cut_off_thread);
	text_deinit(&reason);
}

static void cmd_record_say_sentence(const struct cmd_record_run *run, const char *kind, struct text *sentence)
{
	bool is_hidden = run->settings.quiet || (strcmp(kind, "note") == 0 && cli_is_quiet(run->cli));
	if (sentence->len && !is_hidden)
		fprintf(stderr, "%s: %s: %.*s\n", run->cli->program, kind, (int)sentence->len, sentence->data);
	text_deinit(sentence);
}

static void say_unsampled(const struct cmd_record_run *run)
{
	struct text sentence = {0};
	record_rung_say_losses(&run->rung, &sentence);
	cmd_record_say_sentence(run, "warning", &sentence);
}

static void say_outcome(const struct cmd_record_run *run, char *const *command, const struct record_summary *summary)
{
	const struct record_settings *s = &run->settings;
	const char *program = run->cli->program;
	unsigned long long lost = MAX(
		summary->lost_events, summary->lost_samples - record_rung_unsampled(&run->rung, summary->lost_samples));
	if (s->quiet || !summary->is_written)
		return;
	say_cut_off(run, command, summary);
	if (lost)
		cli_sayf("%s: warning: %llu events were lost because a ring was full; try larger rings (-m %llu) or a "
			 "lower rate (-F)\n",
			program, lost,
			(unsigned long long)(2 * run->plan.ring_bytes / (uint64_t)sysconf(_SC_PAGESIZE)));
	say_lost_waits(run, summary);
	say_unsampled(run);
	cli_sayf("[ %s record: Captured and wrote %.3f MB %s%s", program, (double)summary->bytes / 1024.0 / 1024.0,
		s->output.path, s->output.switches || s->output.timestamp_name ? ".<timestamp>" : "");
	if (summary->has_samples && summary->samples)
		fprintf(stderr, " (%llu samples)", (unsigned long long)summary->samples);
	if (summary->packed_bytes)
		fprintf(stderr, ", compressed (original %.3f MB, ratio is %.3f)",
			(double)summary->unpacked_bytes / 1024.0 / 1024.0,
			(double)summary->unpacked_bytes / (double)summary->packed_bytes);
	fprintf(stderr, " ]\n");
	if (summary->filtered_samples)
		cli_sayf("%s: %llu samples did not pass --filter\n", program,
			(unsigned long long)summary->filtered_samples);
	say_stacks(run, summary);
	if (summary->has_broken_chains && run->plan.attrs.chains.mode == CALLGRAPH_FP)
		cli_notef(run->cli, "most call chains stop after one or two functions: %s", ADVICE_FRAME_POINTERS);
}

/* Returns the command's exit status. If a signal ended the command or the recording, this process ends by it
 * instead. */
static int cmd_record_leave(const struct record_summary *summary, int code)
{
	int signal_number = summary->signal;
	if (summary->has_child_status && WIFEXITED(summary->child_status))
		return WEXITSTATUS(summary->child_status);
	if (summary->has_child_status && WIFSIGNALED(summary->child_status))
		signal_number = WTERMSIG(summary->child_status);
	if (signal_number == 0)
		return code;
	fflush(NULL);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
	return 128 + signal_number;
}

/* Returns perf's exit code for a target that does not exist. */
static int failure_code(const struct cmd_record_run *run, const struct tally_error *err)
{
	const struct target_request *t = &run->settings.target;
	if (t->pids && (err->status == TALLY_NOT_FOUND || err->status == TALLY_INVALID))
		return EXIT_OF(12);
	if (t->cpus && err->status == TALLY_INVALID)
		return EXIT_USAGE;
	if (t->cpus && err->status == TALLY_NOT_FOUND)
		return EXIT_OF(ENODEV);
	return EXIT_FAILED;
}

/* Opens the tracepoints, and adds notes about those that match a pattern but cannot be opened. */
static enum tally_status hold_tracepoints(struct cmd_record_run *run, struct tally_error *err)
{
	struct text left_out = {0};
	enum tally_status status = tracepoint_hold_open(&run->hold, run->kernel, true, &run->events, &left_out, err);
	struct tally_str rest = {left_out.data, left_out.len}, line;
	while (status == TALLY_OK && str_next(&rest, '\n', &line) && line.len)
		diag_add(&run->diag, DIAG_NOTE, "%.*s", (int)line.len, line.data);
	text_deinit(&left_out);
	return status;
}

static int cmd_record_record(struct cmd_record_run *run, char *const *command)
{
	const struct record_settings *s = &run->settings;
	struct record_request request = {.kernel = run->kernel,
		.standin = run->rung.standin,
		.origin = record_rung_origin(&run->rung),
		.output = s->output,
		.control = s->control,
		.target = s->target,
		.plan = run->plan,
		.events = &run->events,
		.switch_events = &run->switch_events,
		.keeps_rate = s->strict_freq,
		.no_build_ids = s->no_build_ids,
		.no_build_id_cache = s->no_build_id_cache,
		.store = symbol_options_of(run->cli, &(struct symbol_options){0}, NULL),
		.all_build_ids = s->all_build_ids,
		.files = run->files,
		.wants_times = s->time_boundary,
		.synth = s->synth,
		.is_verbose = s->verbose > 0,
		.describes_at_end = s->tail_synthesize || s->overwrites,
		.overwrites = s->overwrites,
		.affinity = s->affinity,
		.realtime_priority = s->realtime_priority,
		.map_timeout_ms = s->map_timeout_ms,
		.toggles_ms = s->toggles.items,
		.toggle_count = s->toggles.len,
		.command = command,
		.argv = run->argv,
		.diag = &run->diag,
		.announce = s->quiet ? NULL : say_line,
		.started = cmd_record_say_notes,
		.started_context = run};
	struct record_summary summary;
	struct tally_error err = {0};
	if (hold_tracepoints(run, &err) != TALLY_OK)
		return cli_fail(run->cli, &err);
	if (record_attrs_apply(&run->events, &run->plan.attrs, &err) != TALLY_OK)
		return cli_fail(run->cli, &err);
	for (size_t i = 0; s->overwrites && i < run->events.len; i++)
		run->events.specs[i].attr.flags |= ATTR_FLAG(ATTR_BIT_WRITE_BACKWARD);
	enum tally_status status = record_session_run(&request, &summary, &err);
	tracepoint_hold_release(&run->hold);
	cmd_record_say_notes(run);
	say_outcome(run, command, &summary);
	record_session_unblock(&summary);
	if (status == TALLY_OK && s->is_self_contained) {
		int packed = cmd_record_pack(run);
		return packed ? packed : cmd_record_leave(&summary, 0);
	}
	if (status == TALLY_OK)
		return cmd_record_leave(&summary, 0);
	int code = failure_code(run, &err);
	if (code == EXIT_OF(12)) /* Scripts search for perf's message. */
		cli_sayf("Couldn't create thread/CPU maps: %s\n", strerror(ESRCH));
	cli_sayf("%s\n", err.text);
	return code;
}

/* Copies the whole command line, because the option parser reorders words. */
static char **cmd_record_copy_command_line(const char *program, int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 2, sizeof(*copy));
	if (!copy)
		return NULL;
	copy[0] = (char *)program;
	for (int i = 0; i < argc; i++)
		copy[i + 1] = argv[i];
	return copy;
}

static int cmd_record_simulate(const struct cmd_record_run *run, char *const *command)
{
	const struct record_simulated_input input = {
		run->cli, run->command, run->kernel, &run->settings, run->argv, command};
	struct record_summary summary;
	int code = check_self_contained(run);
	if (code == 0)
		code = record_simulated_run(&input, &summary);
	if (code == 0 && run->settings.is_self_contained && !run->settings.dry_run)
		code = cmd_record_pack(run);
	return code ? code : cmd_record_leave(&summary, 0);
}

static int check_simulation(const struct cmd_record_run *run)
{
	const struct record_simulation_settings *s = &run->settings.simulation;
	return s->cache_model || s->toggles.len
		       ? cli_failf(run->cli, "%s needs --simulate", s->cache_model ? "--cache-model" : "--toggle")
		       : 0;
}

static int check_simulated_rung(const struct cmd_record_run *run)
{
	const struct rung_request *rung = &run->settings.rung;
	return rung->rung != RUNG_AUTO || rung->requires_event
		       ? cli_failf(run->cli, "--simulate samples no events of the kernel: leave out %s",
				 rung->requires_event ? "--require-event" : "--rung")
		       : 0;
}

static int cmd_record_choose_rung(struct cmd_record_run *run, bool has_command)
{
	struct tally_error err;
	struct text sentence = {0};
	enum tally_status status =
		record_rung_choose(&run->rung, run->kernel, &run->settings, has_command, &sentence, &err);
	run->kernel = run->rung.kernel;
	if (status == TALLY_OK)
		cmd_record_say_sentence(run, "note", &sentence);
	text_deinit(&sentence);
	return status == TALLY_OK ? 0 : cli_fail(run->cli, &err);
}

static int cmd_record_run_parsed(struct cmd_record_run *run, char *const *command)
{
	struct record_settings *s = &run->settings;
	int code = s->simulation.is_on ? check_simulated_rung(run) : check_simulation(run);
	if (code == 0 && s->simulation.is_on) {
		s->output.path = stream_output_name(s->output.path);
		return cmd_record_simulate(run, command);
	}
	if (code == 0)
		code = cmd_record_choose_rung(run, command != NULL);
	if (code)
		return code;
	cmd_record_complete(run, command != NULL);
	say_ring_size(s);
	code = check_latency(run);
	if (code == 0)
		code = check_outputs(run);
	if (code == 0)
		code = check_self_contained(run);
	if (code == 0)
		code = check_live(run);
	if (code == 0)
		code = check_waits(run);
	if (code == 0)
		code = record_events_make(run->cli, run->command, run->kernel, s, &run->events, &run->switch_events);
	if (code == 0)
		code = record_freq_find(run->kernel, s, &run->plan.attrs.rate);
	record_rung_limit(&run->rung, &run->plan.attrs.rate);
	struct tally_error err = {0};
	if (code == 0 && !s->dry_run && holds_files(run) && record_files_create(&run->files, &err) != TALLY_OK)
		code = cli_fail(run->cli, &err);
	if (code == 0 && !s->dry_run)
		code = cmd_record_record(run, command);
	return code;
}

/* Runs --setup-filter, which records nothing. */
static int cmd_record_setup_filter(const struct cmd_record_run *run, bool has_command)
{
	const char *opened_path = NULL;
	struct tally_error err;
	if (has_command)
		return cli_usagef(run->cli, run->command, "setup-filter",
			"--setup-filter records nothing: leave out the command");
	enum tally_status status = run->settings.setup_filter == SETUP_FILTER_PIN
					   ? bpf_pinned_filter_pin(run->kernel, &opened_path, &err)
					   : bpf_pinned_filter_unpin(&err);
	if (opened_path && !run->settings.quiet)
		cli_notef(run->cli, "all users may now pass through %s, to the filter in it", opened_path);
	return status == TALLY_OK ? 0 : cli_fail(run->cli, &err);
}

static int cmd_record_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_record_run run = {
		.cli = cli, .command = command, .kernel = kernel_seam_linux(), .settings = record_settings_default()};
	int rest;
	run.argv = cmd_record_copy_command_line(cli->program, argc, argv);
	if (!run.argv)
		return cli_failf(cli, "out of memory");
	diag_init(&run.diag);
	struct tally_error err;
	enum tally_status read = record_config_read("record", &run.settings, &run.diag, &err);
	int code = read == TALLY_OK ? cli_parse_options(cli, command, argc, argv, &run.settings, &rest)
				    : cli_fail(cli, &err);
	if (code == CLI_GO_ON && run.settings.setup_filter != SETUP_FILTER_NONE)
		code = cmd_record_setup_filter(&run, rest < argc);
	else if (code == CLI_GO_ON)
		code = cmd_record_run_parsed(&run, rest < argc ? argv + rest : NULL);
	event_list_deinit(&run.events);
	event_list_deinit(&run.switch_events);
	record_files_destroy(run.files);
	record_rung_end(&run.rung);
	record_settings_deinit(&run.settings);
	diag_deinit(&run.diag);
	free(run.argv);
	return code;
}

static const char *const record_usages[] = {"[<options>] [<command>]", "[<options>] -- <command> [<options>]", NULL};
static const char *const record_examples[] = {
	"record where a program spends its time, with callers",
	"tally record -g -- ./program",
	"record the whole machine for ten seconds",
	"tally record -a -g -- sleep 10",
	"record a running process with 99 samples a second",
	"tally record -F 99 -p 1234",
	NULL,
};

const struct command command_record = {
	.name = "record",
	.summary = "Run a command and record its profile into perf.data",
	.usages = record_usages,
	.options = &record_option_table,
	.description =
		"Samples a command, running processes or whole CPUs and writes the samples to a file that 'report' and "
		"'script' read, and perf too.\n\nWithout -e it samples cycles, or the CPU clock if the machine has "
		"no hardware counters. It ends when the command or the target ends, or with Ctrl-C; the command's exit "
		"status is passed on.\n\n"
		"-e uprobe:FILE:PLACE(ARGUMENT,...) samples each execution of a place in a program or library, with "
		"the values of variables there: 'uprobe:./app:func(n,x->len)'. Places and arguments are written as for "
		"'probe'; the probe disappears when the recording ends.",
	.examples = record_examples,
	.run = cmd_record_run,
};
