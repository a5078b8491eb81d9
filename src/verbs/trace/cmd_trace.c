/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "tasks/recording/target_options.h"
#include "verbs/trace/trace_config.h"
#include "verbs/trace/trace_exclude.h"
#include "verbs/trace/trace_feed.h"
#include "verbs/trace/trace_live.h"
#include "verbs/trace/trace_summary.h"

static const char *cmd_trace_add_word(const struct option_use *use, enum trace_word_kind kind)
{
	struct trace_settings *s = use->settings;
	struct trace_word word = {kind, use->value};
	return vec_push(&s->words, word) ? NULL : "out of memory";
}

static const char *cmd_trace_add_choice(const struct option_use *use)
{
	return cmd_trace_add_word(use, TRACE_WORD_CHOICE);
}

static const char *cmd_trace_add_filter(const struct option_use *use)
{
	return cmd_trace_add_word(use, TRACE_WORD_FILTER);
}

static const char *cmd_trace_add_cgroup(const struct option_use *use)
{
	return cmd_trace_add_word(use, TRACE_WORD_CGROUP);
}

/* Calls the option of record with the same name. */
static const char *as_record(const struct option_use *use, const char *name)
{
	struct trace_settings *s = use->settings;
	struct option_use own = *use;
	bool is_negated;
	const struct option *row = options_find(&record_option_table, name, strlen(name), &is_negated);
	own.settings = &s->record;
	return row->call(&own);
}

static const char *cmd_trace_set_delay(const struct option_use *use)
{
	const struct trace_settings *s = use->settings;
	const char *why = as_record(use, "delay");
	return why || s->record.toggles.len <= 1 ? why : "--delay takes milliseconds, or -1, but no ranges here";
}

static const char *cmd_trace_set_rings(const struct option_use *use)
{
	return as_record(use, "mmap-pages");
}

static const char *cmd_trace_set_map_timeout(const struct option_use *use)
{
	return as_record(use, "proc-map-timeout");
}

static const char *cmd_trace_set_chains(const struct option_use *use)
{
	const struct trace_settings *s = use->settings;
	const char *why = as_record(use, "call-graph");
	enum record_callgraph mode = s->record.chains.mode;
	return why || (mode != CALLGRAPH_BPF && mode != CALLGRAPH_AUTO) ? why
									: "--call-graph takes fp, dwarf or lbr here";
}

static const char *cmd_trace_set_faults(const struct option_use *use)
{
	struct trace_settings *s = use->settings;
	const char *which = use->is_negated ? "none" : use->value ? use->value : "maj";
	bool is_all = strcmp(which, "all") == 0, is_none = use->is_negated;
	s->with_major_faults = is_all || strcmp(which, "maj") == 0;
	s->with_minor_faults = is_all || strcmp(which, "min") == 0;
	return s->with_major_faults || s->with_minor_faults || is_none ? NULL : "takes all, maj or min";
}

static const char *cmd_trace_set_calls(const struct option_use *use)
{
	struct trace_settings *s = use->settings;
	s->wants_calls = !use->is_negated;
	return NULL;
}

static const char *cmd_trace_set_comm(const struct option_use *use)
{
	struct trace_settings *s = use->settings;
	s->no_comm = use->is_negated;
	return NULL;
}

static const char *cmd_trace_set_bpf_sums(const struct option_use *use)
{
	struct trace_settings *s = use->settings;
	s->has_bpf_choice = true;
	s->wants_bpf_sums = !use->is_negated;
	return NULL;
}

static const char *cmd_trace_set_mode(const struct option_use *use)
{
	static const char *const modes[] = {"thread", "total", "cgroup"};
	struct trace_settings *s = use->settings;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (strcmp(use->value, modes[i]) == 0) {
			s->summary_mode = (enum trace_summary_mode)i;
			return NULL;
		}
	return "takes thread, total or cgroup";
}

static const char *cmd_trace_set_duration(const struct option_use *use)
{
	struct trace_settings *s = use->settings;
	char *end;
	double ms = strtod(use->value, &end);
	if (end == use->value || *end || !(ms >= 0) || ms > 1e12)
		return "takes a number of milliseconds, such as 2.5";
	s->least_ns = (uint64_t)llround(ms * 1e6);
	return NULL;
}

static const char *cmd_trace_set_string_limit(const struct option_use *use)
{
	struct trace_settings *s = use->settings;
	bool is_number = str_to_u64(str_from(use->value), 10, &s->string_bytes);
	return is_number && s->string_bytes > 0 && s->string_bytes <= SYSCALL_PART
		       ? NULL
		       : "--string-limit takes a number of bytes from 1 to 4096";
}

#define AT(member) .offset = offsetof(struct trace_settings, member)

static const struct option trace_options[] = {
	TARGET_OPTIONS(struct trace_settings, record.target),
	{"delay", 'D', OPTION_CALL, "ms", .call = cmd_trace_set_delay, .is_self_explaining = true,
		.help = "start tracing this long after the start of the command (-1: never)"},
	{"event", 'e', OPTION_CALL, "event", .call = cmd_trace_add_choice,
		.help = "trace these only: names of system calls (also open*, and the groups file, net, process, "
			"signal, ipc, desc, memory, creds, clock), or events; ! in front: all calls but these"},
	INPUT_OPTIONS(struct trace_settings, input),
	{"pf", 'F', OPTION_CALL, "all|maj|min", .call = cmd_trace_set_faults, .argument_is_optional = true,
		.takes_next_word = true, .help = "trace page faults (without calls, unless --syscalls is given)"},
	{"cgroup", 'G', OPTION_CALL, "name", .call = cmd_trace_add_cgroup,
		.help = "only tasks of this cgroup: before all -e for calls and events, behind one for its events "
			"(-a)"},
	{"mmap-pages", 'm', OPTION_CALL, "pages", .call = cmd_trace_set_rings, .is_self_explaining = true,
		.help = "size of a ring: pages, or a size with B, K, M or G (64M for all, 16M at most)"},
	{"output", 'o', OPTION_STRING, "file", AT(output), .help = "the file to write (standard error)"},
	{"summary", 's', OPTION_FLAG, AT(only_summary),
		.help = "no lines, but sums: how often each call was made, failed, and how long it took"},
	{"with-summary", 'S', OPTION_FLAG, AT(with_summary), .help = "lines, and sums at the end"},
	{"time", 'T', OPTION_FLAG, AT(full_time), .help = "times as they are, not since the first event"},
	{"uid", 'u', OPTION_STRING, "user", AT(record.target.user), .help = "only processes of this user"},
	{.name = "verbose", .letter = 'v', .kind = OPTION_COUNT, AT(record.verbose), .help = "tell more"},
	{"bitmask-list", 0, OPTION_FLAG, AT(bitmasks_as_lists), .help = "sets of CPUs as lists (0-3,7)"},
	{"bpf-summary", 0, OPTION_CALL, .call = cmd_trace_set_bpf_sums, .can_be_negated = true,
		.help = "count in the kernel, with BPF (-s does so by itself where it can); --no-bpf-summary: not"},
	{"call-graph", 0, OPTION_CALL, "record_mode[,record_size]", .call = cmd_trace_set_chains,
		.can_be_negated = true, .is_self_explaining = true,
		.help = "the callers below each line: fp, dwarf or lbr"},
	{"comm", 0, OPTION_CALL, .call = cmd_trace_set_comm, .can_be_negated = true,
		.help = "show the names of threads (default; --no-comm: not)"},
	{"duration", 0, OPTION_CALL, "ms", .call = cmd_trace_set_duration, .help = "only calls that took as long"},
	{"errno-summary", 0, OPTION_FLAG, AT(with_errors), .help = "sums of each error, with -s (implied) or -S"},
	{"expr", 0, OPTION_CALL, "event", .call = cmd_trace_add_choice, .help = "the same as -e"},
	{"failure", 0, OPTION_FLAG, AT(only_failed), .help = "only calls that failed"},
	{"filter", 0, OPTION_CALL, "filter", .call = cmd_trace_add_filter,
		.help = "filter for the tracepoints of the -e before it: 'prev_pid > 0'"},
	{"filter-pids", 0, OPTION_STRING, "pid[,pid...]", AT(filter_pids), .help = "leave these processes out"},
	{"force-btf", 0, OPTION_FLAG, AT(forces_btf), .help = "print all structs by the kernel's BTF"},
	{"kernel-syscall-graph", 0, OPTION_FLAG, AT(kernel_chains),
		.help = "callers of calls with their part in the kernel"},
	{"json", 0, OPTION_FLAG, AT(is_json), .help = "with -s: the sums as JSON (docs/schema/trace.json)"},
	{"libtraceevent_print", 0, OPTION_FLAG, AT(form.by_print_format),
		.help = "print fields of tracepoints as the kernel's print format does"},
	{"map-dump", 0, OPTION_UNSUPPORTED, "BPF map", .help = "dump a map of a BPF program given by -e",
		.refusal = "programs are not given by -e"},
	{"max-events", 0, OPTION_U64, "n", AT(most_events), .help = "stop after so many lines"},
	{"max-stack", 0, OPTION_U64, "n", AT(most_stack),
		.help = "callers that are shown (implies --call-graph dwarf)"},
	{"max-summary", 0, OPTION_U64, "n", AT(most_rows), .help = "rows of each table of sums"},
	{"min-stack", 0, OPTION_U64, "n", AT(least_stack),
		.help = "only lines with so many callers (implies --call-graph dwarf)"},
	{"no-inherit", 0, OPTION_FLAG, AT(record.modes.no_inherit),
		.help = "leave child processes and new threads out"},
	{"print-sample", 0, OPTION_FLAG, AT(prints_samples),
		.help = "print each sample of raw_syscalls, for debugging"},
	{"proc-map-timeout", 0, OPTION_CALL, "n", .call = cmd_trace_set_map_timeout, .is_self_explaining = true,
		.help = "milliseconds to spend on the maps of one process at the start (500)"},
	{"sched", 0, OPTION_FLAG, AT(with_runtime), .help = "add up how long each thread ran, for the sums"},
	{"show-cpu", 0, OPTION_FLAG, AT(shows_cpu), .help = "show the CPU"},
	{"show-on-off-events", 0, OPTION_FLAG, AT(shows_switch_events),
		.help = "show the events of --switch-on and -off"},
	{"sort-events", 0, OPTION_FLAG, AT(sorts), .help = "lines in the order of time (they always are)"},
	{"string-limit", 0, OPTION_CALL, "bytes", .call = cmd_trace_set_string_limit, .is_self_explaining = true,
		.help = "how much of a buffer that a call reads or writes is shown (32; at most 4096)"},
	{"summary-mode", 0, OPTION_CALL, "mode", .call = cmd_trace_set_mode,
		.help = "sums by thread (default), total, or by cgroup"},
	{"switch-off", 0, OPTION_STRING, "event", AT(switch_off), .help = "no lines after this event"},
	{"switch-on", 0, OPTION_STRING, "event", AT(switch_on), .help = "lines only after this event"},
	{"syscalls", 0, OPTION_CALL, .call = cmd_trace_set_calls, .can_be_negated = true,
		.help = "trace system calls besides page faults and events"},
	{"tool_stats", 0, OPTION_FLAG, AT(tool_stats), .help = "how often names of files were read from /proc"},
	SYMBOL_OPTIONS(struct trace_settings, symbols),
};
#undef AT
static const struct option_table trace_table = {trace_options, ARRAY_LEN(trace_options), true};

/* ---- output ---- */

/* As in perf, an existing file becomes FILE.old. */
static enum tally_status cmd_trace_open_output(const char *path, const char *input, int *fd, struct tally_error *err)
{
	struct stat old;
	char *beside = NULL;
	if (!path || strcmp(path, "-") == 0) {
		*fd = path ? STDOUT_FILENO : STDERR_FILENO;
		return TALLY_OK;
	}
	if (output_file_is_input(path, input))
		return error_set(err, TALLY_INVALID, "the output file %s is the recording that is being read", path);
	if (stat(path, &old) == 0 && S_ISREG(old.st_mode) && old.st_size > 0) {
		if (asprintf(&beside, "%s.old", path) < 0)
			return error_nomem(err);
		(void)unlink(beside);
		(void)rename(path, beside);
		free(beside);
	}
	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return *fd >= 0 ? TALLY_OK : error_set_errno(err, TALLY_IO, errno, "cannot write '%s'", path);
}

/* Prints the rest of the output and the sums, and returns the exit code. */
static int cmd_trace_finish(struct trace_job *job, enum tally_status status, const struct tally_error *err)
{
	bool is_whole = status != TALLY_OK || !trace_has_summary(job->settings) || trace_summary_print(job);
	if (job->settings->tool_stats)
		text_printf(&job->out, "Stats:\n  vfs_getname : 0\n proc_getname: %llu\n",
			(unsigned long long)job->files_read);
	int code = cli_finish_text(job->cli, &job->out);
	if (status != TALLY_OK)
		return cli_fail(job->cli, err);
	return is_whole ? code : cli_failf(job->cli, "out of memory");
}

/* ---- a recording ---- */

static bool is_of_trace(const struct trace_job *job)
{
	for (size_t i = 0; i < job->events.len; i++)
		if (job->events.items[i].role != TRACE_SILENT)
			return true;
	return false;
}

/* Checks that the recording contains the events of --switch-on and --switch-off. */
static enum tally_status cmd_trace_check_switches(const struct trace_job *job, struct tally_error *err)
{
	const char *on = job->settings->switch_on, *off = job->settings->switch_off;
	bool has_on = !on, has_off = !off;
	for (size_t i = 0; i < job->events.len; i++) {
		has_on |= job->events.items[i].switches_on;
		has_off |= job->events.items[i].switches_off;
	}
	if (has_on && has_off)
		return TALLY_OK;
	return error_set(err, TALLY_NOT_FOUND,
		"'%s' has no event '%s', which %s names: '%s evlist' lists those that it has",
		recording_name(job->settings->input.path), has_on ? off : on, has_on ? "--switch-off" : "--switch-on",
		job->cli->program);
}

static enum tally_status cmd_trace_replay(struct trace_job *job, struct tally_error *err)
{
	struct data_sample sample;
	struct data_source *source = &job->source;
	enum tally_status status = trace_feed_begin(job, err);
	if (status == TALLY_OK)
		status = cmd_trace_check_switches(job, err);
	if (status == TALLY_OK)
		status = trace_exclude_listed(job, err);
	source->with_sideband = source->with_losses = true;
	while (status == TALLY_OK && !job->is_over) {
		if (source->live && live_records_is_drained(source->live))
			(void)text_flush(&job->out);
		status = data_source_next(source, &sample, err);
		if (status == TALLY_OK && sample.event)
			status = trace_feed_sample(job, &sample, err);
		else if (status == TALLY_OK)
			status = trace_feed_sideband(job, &sample.record, sample.sample.time, err);
	}
	return status == TALLY_END ? TALLY_OK : status;
}

static int cmd_trace_show_file(
	struct trace_job *job, const struct command *command, struct trace_choice *choice, const char *machine)
{
	struct tally_error err = {0};
	const struct data_input input = {
		.file = job->settings->input, .symbols = job->settings->symbols, .is_live = true};
	enum tally_status status = data_source_open_reader(&input, &job->source, &err);
	char room[64];
	if (status == TALLY_OK)
		status = data_source_read(job->cli, &input, &job->source, &err);
	if (status == TALLY_END) /* The reader of the output has exited. */
		return 0;
	if (status != TALLY_OK)
		return cli_fail(job->cli, &err);
	struct tally_str arch = perfdata_reader_features(job->source.reader)->arch;
	snprintf(room, sizeof(room), "%.*s", (int)(MIN(arch.len, sizeof(room) - 1)), arch.data ? arch.data : "");
	int code = trace_choice_make(job->cli, command, NULL, job->settings, arch.len ? room : machine, choice);
	if (code != 0)
		return code;
	status = cmd_trace_replay(job, &err);
	cli_print_health(job->cli, &job->source.pass.sideband.health);
	if (status == TALLY_OK && !is_of_trace(job))
		status = error_set(&err, TALLY_NOT_FOUND,
			"'%s' has no events that trace shows (raw_syscalls:sys_enter, raw_syscalls:sys_exit, with -F "
			"also minor-faults and major-faults): make a recording with '%s trace record'",
			recording_name(job->settings->input.path), job->cli->program);
	return cmd_trace_finish(job, status, &err);
}

/* ---- live ---- */

static int cmd_trace_show_live(struct trace_job *job, const struct command *command, struct trace_choice *choice,
	const struct trace_live_config *config, const char *machine, struct trace_live **live)
{
	struct tally_error err = {0};
	int code = trace_choice_make(job->cli, command, kernel_seam_linux(), job->settings, machine, choice);
	if (code == 0)
		code = trace_live_open(config, live);
	if (code != 0)
		return code;
	enum tally_status status = trace_live_run(*live, &err);
	code = cmd_trace_finish(job, status, &err);
	trace_live_tell_losses(*live);
	trace_live_tell_command(*live);
	return code ? code : trace_live_exit_code(*live);
}

static bool wants_colours(int fd)
{
	const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");
	return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0 && !(none && *none);
}

static int cmd_trace_show(const struct cli *cli, const struct command *command, const struct trace_settings *s,
	char *const *words, char *const *argv)
{
	struct trace_choice choice = {0};
	struct trace_job job;
	struct trace_live *live = NULL;
	struct utsname host;
	struct tally_error err;
	int fd = -1;
	if (uname(&host) != 0)
		return cli_failf(cli, "uname: %s", strerror(errno));
	if (cmd_trace_open_output(s->output, s->input.path, &fd, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	trace_job_init(&job, cli, s, &choice);
	text_to_fd(&job.out, fd);
	job.has_colours = wants_colours(fd);
	const struct trace_live_config config = {&job, &choice, words, argv};
	int code = s->input.path ? cmd_trace_show_file(&job, command, &choice, host.machine)
				 : cmd_trace_show_live(&job, command, &choice, &config, host.machine, &live);
	trace_job_deinit(&job);
	trace_live_close(live);
	trace_choice_deinit(&choice);
	if (fd > STDERR_FILENO)
		close(fd);
	return code;
}

/* ---- the command line ---- */

/* Records the events that trace reads; faults are recorded with their addresses. */
static int cmd_trace_record(const struct cli *cli, const struct trace_settings *s, int argc, char **argv)
{
	const char *ours[16] = {"record", "-R", "-m", "1024", "-c", "1"};
	size_t n = 6;
	bool has_faults = s->with_major_faults || s->with_minor_faults;
	if (s->wants_calls || !has_faults) {
		ours[n++] = "-e";
		ours[n++] = "raw_syscalls:sys_enter,raw_syscalls:sys_exit";
	}
	if (has_faults) {
		ours[n++] = "-d";
		ours[n++] = "-e";
		ours[n++] = s->with_major_faults && s->with_minor_faults ? "major-faults,minor-faults"
			    : s->with_major_faults			 ? "major-faults"
									 : "minor-faults";
	}
	if (s->with_runtime) {
		ours[n++] = "-e";
		ours[n++] = "sched:sched_stat_runtime";
	}
	ours[n] = NULL;
	return cli_run_verb(cli, &command_record, ours, argc, argv);
}

/* Rejects -i with options that only a live trace supports. */
static int cmd_trace_check_input(const struct cli *cli, const struct command *command, const struct trace_settings *s)
{
	const struct target_request *t = &s->record.target;
	const struct {
		bool is_given;
		const char *options, *why;
	} refusals[] = {
		{t->system_wide || t->pids || t->tids || t->cpus || t->user, "input",
			"-i reads a recording: it has no live target (-a, -C, -p, -t, -u)"},
		{s->wants_bpf_sums, "bpf-summary", "--bpf-summary counts in the kernel, and -i reads a recording"},
		{s->summary_mode == TRACE_BY_CGROUP, "summary-mode",
			"--summary-mode=cgroup counts in the kernel, and -i reads a recording"},
		{s->record.has_delay, "delay", "--delay is for live traces, and -i reads a recording"},
		{s->record.modes.no_inherit, "no-inherit", "--no-inherit is for live traces, and -i reads a recording"},
	};
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		if (refusals[i].is_given)
			return cli_usagef(cli, command, refusals[i].options, "%s", refusals[i].why);
	return 0;
}

static int cmd_trace_complete(const struct cli *cli, const struct command *command, struct trace_settings *s)
{
	int code = s->input.path ? cmd_trace_check_input(cli, command, s) : 0;
	if (code != 0)
		return code;
	if (s->with_errors && !s->with_summary)
		s->only_summary = true;
	if (s->with_summary)
		s->only_summary = false;
	if (s->is_json && (!s->only_summary || s->tool_stats))
		return cli_usagef(cli, command, "json,summary", "--json is for the sums of -s alone");
	if (s->has_bpf_choice && !s->wants_bpf_sums && s->summary_mode == TRACE_BY_CGROUP)
		return cli_usagef(cli, command, "summary-mode,bpf-summary",
			"--summary-mode=cgroup needs --bpf-summary: only a BPF program knows the cgroup of a call");
	bool has_depth = s->most_stack != UINT64_MAX || s->least_stack > 0;
	struct record_chains *chains = &s->record.chains;
	if (has_depth && chains->mode == CALLGRAPH_NONE)
		chains->mode = CALLGRAPH_DWARF;
	if (s->kernel_chains && chains->mode == CALLGRAPH_NONE) {
		chains->mode = CALLGRAPH_FP;
		chains->no_user = true;
	}
	/* Without names, values are identified by their positions, so zeros must not be left out. */
	s->form.with_zeros |= s->form.no_arg_names;
	s->record.modes.no_inherit |= s->form.no_inherit;
	return 0;
}

static char **cmd_trace_whole_line(const char *program, int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 2, sizeof(*copy));
	if (!copy)
		return NULL;
	copy[0] = (char *)program;
	for (int i = 0; i < argc; i++)
		copy[i + 1] = argv[i];
	return copy;
}

static int cmd_trace_run_parsed(const struct cli *cli, const struct command *command, struct trace_settings *s,
	int argc, char **argv, char *const *whole)
{
	int code = cmd_trace_complete(cli, command, s);
	if (code != 0)
		return code;
	if (argc > 0 && strcmp(argv[0], "record") == 0 && !s->input.path)
		return cmd_trace_record(cli, s, argc - 1, argv + 1);
	if (argc > 0 && s->input.path)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s': -i reads a recording", argv[0]);
	return cmd_trace_show(cli, command, s, argv, whole);
}

static int cmd_trace_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct trace_settings s = {.record = record_settings_default(),
		.form.alignment = TRACE_ALIGNMENT,
		.most_events = UINT64_MAX,
		.most_rows = UINT64_MAX,
		.most_stack = UINT64_MAX};
	struct tally_error err;
	struct diag notes;
	int rest = 0;
	char **whole = cmd_trace_whole_line(cli->program, argc, argv);
	if (!whole)
		return cli_failf(cli, "out of memory");
	diag_init(&notes);
	int code = trace_config_read(&s, &notes, &err) == TALLY_OK
			   ? cli_parse_options(cli, command, argc, argv, &s, &rest)
			   : cli_fail(cli, &err);
	if (code == CLI_GO_ON) {
		cli_print_diag(cli, &notes);
		code = cmd_trace_run_parsed(cli, command, &s, argc - rest, argv + rest, whole);
	}
	diag_deinit(&notes);
	vec_free(&s.words);
	free(s.configured_events);
	record_settings_deinit(&s.record);
	free(whole);
	return code;
}

static const char *const trace_usages[] = {"[<options>] [<command>]", "[<options>] -- <command> [<options>]",
	"record [<options>] [<command>]", "record [<options>] -- <command> [<options>]", NULL};
static const char *const trace_examples[] = {"show the system calls of a command", "tally trace ls",
	"show which files a running process opens", "tally trace -e file -p 1234",
	"show how often calls are made on the whole machine, and which fail", "tally trace -a -s --errno-summary",
	"show slow calls with their callers", "tally trace --duration 10 --call-graph dwarf -p 1234",
	"record calls, and show them later", "tally trace record -o calls.data ls; tally trace -i calls.data", NULL};

const struct command command_trace = {
	.name = "trace",
	.summary = "strace inspired tool",
	.usages = trace_usages,
	.options = &trace_table,
	.description =
		"Shows the system calls of a command, of running processes or of the whole machine, with their "
		"arguments, results and durations, and page faults (-F) and other events (-e) among them.\n\n"
		"A BPF program in the kernel copies what arguments point to: names of files, structs, buffers. Where "
		"none "
		"may be loaded, calls are read from the tracepoints raw_syscalls:sys_enter and sys_exit, as they are "
		"from "
		"recordings; arguments are numbers then.\n\n"
		"Lines go to standard error, or to a file (-o). With -s there are only sums, which the BPF program "
		"counts: that costs the traced programs little.",
	.examples = trace_examples,
	.run = cmd_trace_run,
};
