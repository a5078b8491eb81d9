/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/replay/quality.h"
#include "analysis/replay/replay.h"
#include "analysis/wait_events.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/progress_line.h"
#include "cli/word_files.h"
#include "perfdata/origin.h"
#include "profile/flame_tree.h"
#include "tasks/comparing/match_notes.h"
#include "tasks/recording/record_for_verb.h"
#include "tasks/session/advice_notes.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/data_source.h"
#include "tasks/session/idle_notes.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/symbol_notes.h"
#include "view/flame/flame_svg.h"

#define FLAMEGRAPH_DEFAULT_OUTPUT "flamegraph.html"
#define DEFAULT_SVG		  "flamegraph.svg"

struct cmd_flamegraph_settings {
	struct symbol_options symbols;
	struct input_options input;
	const char *output, *event, *group, *title, *base;
	const char *cgroups, *user, *call_graph;
	struct sample_options samples;
	uint64_t max_stack;
	struct rung_request rung;
	bool folded, svg, wall, wakers, follows, counts_samples, reverse, no_inline, all_cpus, simulates;
};

#define ROW(member) .offset = offsetof(struct cmd_flamegraph_settings, member)

static const struct option flamegraph_rows[] = {
	INPUT_OPTIONS(struct cmd_flamegraph_settings, input),
	{"output", 'o', OPTION_STRING, "file", ROW(output),
		.help = "output file (default: flamegraph.html, standard output with --folded); - is standard output"},
	{"folded", 0, OPTION_FLAG, ROW(folded),
		.help = "write lines such as 'comm;main;work 123', for FlameGraph, inferno, speedscope"},
	{"samples", 0, OPTION_FLAG, ROW(counts_samples),
		.help = "make widths numbers of samples instead of sums of periods"},
	{"reverse", 0, OPTION_FLAG, ROW(reverse),
		.help = "with --folded: start from the functions instead of their callers (the page has a button)"},
	{"group", 'g', OPTION_STRING, "comm|process|thread|cpu|event|none", ROW(group),
		.help = "what to show at the root (default: comm); event shows the samples of all events"},
	{"event", 'e', OPTION_STRING, "name", ROW(event),
		.help = "event to draw (default: the first that has samples); before a command: the event to record"},
	{"title", 0, OPTION_STRING, "text", ROW(title), .help = "title of the picture (default: the file's name)"},
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(samples.cpus),
		.help = "only samples of these CPUs; before a command: record them while it runs"},
	{"pid", 'p', OPTION_STRING, "pid[,pid...]", ROW(samples.filters.pids),
		.help = "only samples of these processes; before a command: record them while it runs"},
	{"tid", 't', OPTION_STRING, "tid[,tid...]", ROW(samples.filters.tids),
		.help = "only samples of these threads; before a command: record them while it runs"},
	{"all-cpus", 'a', OPTION_FLAG, ROW(all_cpus), .help = "record all CPUs while the command runs"},
	{"cgroup", 'G', OPTION_STRING, "name", ROW(cgroups), .help = "record this cgroup while the command runs"},
	{"uid", 'u', OPTION_STRING, "user", ROW(user), .help = "record this user's processes while the command runs"},
	{"call-graph", 0, OPTION_STRING, "mode", ROW(call_graph),
		.help = "before a command: how to record call graphs, as record's option (default: auto)"},
	{"simulate", 0, OPTION_FLAG, ROW(simulates),
		.help = "before a command: draw events that are simulated with Valgrind (instructions, or as -e says)"},
	SAMPLE_OPTIONS(struct cmd_flamegraph_settings, samples),
	PLACE_OPTIONS(struct cmd_flamegraph_settings, samples),
	{"max-stack", 0, OPTION_U64, "n", ROW(max_stack),
		.help = "maximum number of frames of a stack to show (default: all)"},
	{"no-inline", 0, OPTION_FLAG, ROW(no_inline), .help = "do not show inlined calls as frames"},
	SYMBOL_OPTIONS(struct cmd_flamegraph_settings, symbols),
	LINE_OPTIONS(struct cmd_flamegraph_settings, symbols),
	{"wall", 0, OPTION_FLAG, ROW(wall),
		.help = "draw wall-clock time, coloured by what threads did, including waits; before a command: "
			"record that"},
	IDLE_OPTIONS(struct cmd_flamegraph_settings, samples),
	{"wakers", 0, OPTION_FLAG, ROW(wakers),
		.help = "show waits, and above each the thread that ended it and what that thread had been doing"},
	{"follow", 0, OPTION_FLAG, ROW(follows), .help = "with --wakers: follow wake-ups back until somebody ran"},
	RUNG_OPTIONS(struct cmd_flamegraph_settings, rung),
	{"svg", 0, OPTION_FLAG, ROW(svg), .help = "write an SVG (flamegraph.svg) instead of a page"},
	{"diff", 0, OPTION_STRING, "base", ROW(base), .help = "colour what grew and what shrank since this recording"},
};
#undef ROW
static const struct option_table flamegraph_table = {flamegraph_rows, ARRAY_LEN(flamegraph_rows), false};

struct cmd_flamegraph_job {
	const struct cli *cli;
	const struct cmd_flamegraph_settings *settings;
	const char *path;
	const char *what; /* The name in messages: the file, or the target that was recorded. */
	struct data_source source; /* Only its reader and store are used. */
	struct replay_result result;
	struct profile_filter filter;
	bool *cpus;
	struct cmd_flamegraph_job *base; /* The recording that is compared with; NULL if there is none. */
	struct name_match match; /* Matches the names of both profiles; used only if base is not NULL. */
};

static enum tally_status cmd_flamegraph_group_of(const char *name, enum flame_group *group, struct tally_error *err)
{
	static const char *const names[] = {[FLAME_BY_COMM] = "comm",
		[FLAME_BY_PROCESS] = "process",
		[FLAME_BY_THREAD] = "thread",
		[FLAME_BY_CPU] = "cpu",
		[FLAME_BY_EVENT] = "event",
		[FLAME_BY_NOTHING] = "none"};
	*group = FLAME_BY_COMM;
	for (size_t i = 0; name && i < ARRAY_LEN(names); i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*group = (enum flame_group)i;
		return TALLY_OK;
	}
	return name ? error_set(err, TALLY_INVALID, "--group is comm, process, thread, cpu, event or none, not '%s'",
			      name)
		    : TALLY_OK;
}

static enum tally_status cmd_flamegraph_read_profile(
	struct cmd_flamegraph_job *job, enum flame_group group, struct tally_error *err)
{
	const struct cmd_flamegraph_settings *s = job->settings;
	const struct data_input input = {.file = {job->path, s->input.force}, .symbols = s->symbols};
	enum tally_status status = data_source_open_reader(&input, &job->source, err);
	if (status != TALLY_OK)
		return status;
	struct replay_options options = {
		.with_threads = s->samples.filters.pids || s->samples.filters.tids || group == FLAME_BY_PROCESS ||
				group == FLAME_BY_THREAD,
		.with_cpu = s->samples.cpus || group == FLAME_BY_CPU,
		.with_stacks = true,
		.with_inlines = !s->no_inline,
		.max_stack = (unsigned)s->max_stack,
	};
	const struct wait_events waits = wait_events_find(job->source.reader, s->wall ? WAITS_JOINED : WAITS_IF_WALL);
	if (s->wall && !s->wakers && !waits.are_joined && !perfdata_reader_is_pipe(job->source.reader))
		return error_set(err, TALLY_INVALID,
			"--wall needs the event offcpu-time and an event of a clock, and %s lacks one: was it made "
			"without 'record --wall'?",
			job->path);
	bool is_pipe = perfdata_reader_is_pipe(job->source.reader);
	if (s->wakers && !is_pipe)
		status = recording_check_wakers(job->source.reader, job->path, err);
	if (status != TALLY_OK)
		return status;
	if (s->samples.filters.no_idle && waits.wait == WAIT_EVENT_NONE && !perfdata_reader_is_pipe(job->source.reader))
		return error_set(err, TALLY_INVALID,
			"--no-idle hides waits, and %s has none: was it made without 'record --wall' or '--off-cpu'?",
			job->path);
	if (s->samples.filters.no_idle)
		options.facets = UINT64_C(1) << FACET_STATE;
	if (s->wakers) {
		options.wakers = s->follows ? WAKERS_FOLLOWED : WAKERS_SHOWN;
		options.facets = UINT64_C(1) << FACET_STATE;
	} else if (s->wall || waits.are_joined) {
		options.waits = WAITS_JOINED;
		options.facets = UINT64_C(1) << FACET_STATE;
	}
	struct time_spans spans = {0};
	status = data_source_open_store(job->cli, &input, &job->source, err);
	if (status == TALLY_OK && s->samples.times) {
		status = time_spans_read(s->samples.times, job->source.reader, &spans, err);
		options.spans = &spans;
	}
	if (status == TALLY_OK)
		status = progress_line_replay(job->source.reader, job->source.store, &options, &job->result, err);
	if (status == TALLY_OK && s->wakers && is_pipe)
		status = recording_check_wakers(job->source.reader, job->path, err);
	if (status == TALLY_OK)
		symbol_notes_print_doubts(job->cli, job->source.store);
	time_spans_deinit(&spans);
	return status;
}

/* The events of a pipe are not known in advance, so the event is chosen after reading. */
static enum tally_status cmd_flamegraph_choose_event(
	const struct cmd_flamegraph_job *job, const char *name, uint32_t *event, struct tally_error *err)
{
	const struct profile *p = job->result.profile;
	for (uint32_t i = 0; i < p->event_count; i++) {
		*event = i;
		if (name ? str_equal(profile_string(p, p->events[i].name), str_from(name))
			 : p->events[i].sample_count > 0)
			return TALLY_OK;
	}
	if (name)
		return error_set(err, TALLY_NOT_FOUND, "no event '%s' in %s: see '%s evlist'", name, job->path,
			job->cli->program);
	cli_note_counts(job->cli, job->source.reader, job->path);
	return error_set(err, TALLY_NOT_FOUND, "%s has no samples", job->what);
}

/* Prints the interval of --time, or else the times of the first and last sample if the recording has them. */
static void cmd_flamegraph_add_span(const struct cmd_flamegraph_job *job, struct text *out)
{
	const struct perfdata_features *f = perfdata_reader_features(job->source.reader);
	if (job->settings->samples.times) {
		text_printf(out, "time %s", job->settings->samples.times);
	} else if (feature_is_present(f, FEATURE_SAMPLE_TIME) && f->last_sample_time_ns >= f->first_sample_time_ns) {
		text_str(out, "time ");
		text_fixed(out, (double)f->first_sample_time_ns / 1e9, 6);
		text_str(out, " to ");
		text_fixed(out, (double)f->last_sample_time_ns / 1e9, 6);
		text_str(out, " s");
	}
}

static void cmd_flamegraph_write_page(const struct cmd_flamegraph_job *job, const struct flame_tree *tree,
	const struct flame_options *options, struct text *out)
{
	static const char *const groups[] = {[FLAME_BY_COMM] = "thread",
		[FLAME_BY_PROCESS] = "process",
		[FLAME_BY_THREAD] = "thread",
		[FLAME_BY_CPU] = "CPU",
		[FLAME_BY_EVENT] = "event",
		[FLAME_BY_NOTHING] = ""};
	const struct profile *p = job->result.profile;
	const struct cmd_flamegraph_settings *s = job->settings;
	struct quality quality;
	struct text line = {0}, span = {0}, made = {0};
	const struct perfdata_origin origin = origin_of(perfdata_reader_features(job->source.reader));
	quality_measure(&quality, job->source.reader, &job->result);
	quality_text(&line, &quality);
	cmd_flamegraph_add_span(job, &span);
	origin_text(&made, &origin);
	struct flame_page page = {.title = str_from(s->title ? s->title : job->path),
		.event = options->event == PROFILE_NONE ? STR("all events")
							: profile_string(p, p->events[options->event].name),
		.span = {span.data ? span.data : "", span.len},
		.group = str_from(groups[options->group]),
		.origin = text_view(&made),
		.origin_kind = origin.kind == ORIGIN_EVENTS ? STR("") : origin_kind_name(origin.kind),
		.quality = {line.data ? line.data : "", line.len},
		.program = str_from(job->cli->program),
		.base = str_from(s->base ? s->base : ""),
		.counts_samples = options->counts_samples};
	if (s->svg)
		flame_svg_write(out, tree, &page);
	else
		flame_page_write(out, tree, &page);
	text_deinit(&line);
	text_deinit(&span);
	text_deinit(&made);
}

/* Selects the same event in the recording that is compared with. */
static enum tally_status cmd_flamegraph_add_base(struct cmd_flamegraph_job *job, struct cmd_flamegraph_job *base,
	struct flame_options *options, struct tally_error *err)
{
	const struct profile *p = job->result.profile;
	bool has_event = options->event != PROFILE_NONE;
	const char *name = has_event ? profile_string(p, p->events[options->event].name).data : NULL;
	enum tally_status status = cmd_flamegraph_choose_event(base, name, &options->base_event, err);
	if (!has_event)
		options->base_event = PROFILE_NONE;
	if (status == TALLY_OK)
		status =
			profile_filter_init(&base->filter, base->result.profile, &base->settings->samples.filters, err);
	options->base = base->result.profile;
	options->base_filter = &base->filter;
	options->match = &job->match;
	const struct profile *const profiles[] = {base->result.profile, p};
	if (status == TALLY_OK)
		status = name_match_init(&job->match, profiles, ARRAY_LEN(profiles), err);
	return status;
}

static void flamegraph_print_matched(
	const struct cmd_flamegraph_job *job, const struct flame_tree *tree, const struct flame_options *options)
{
	struct diag notes;
	diag_init(&notes);
	match_notes_add(&notes, &job->match);
	if (!tree->has_matched && options->base->function_count > 0 && job->result.profile->function_count > 0)
		match_notes_add_none(&notes, job->base->path, job->path,
			options->group == FLAME_BY_NOTHING
				? NULL
				: "'-g none' compares stacks without what stands at their roots");
	cli_print_diag(job->cli, &notes);
	diag_deinit(&notes);
}

static void flamegraph_print_idle(const struct cmd_flamegraph_job *job)
{
	struct diag notes;
	diag_init(&notes);
	idle_notes_add(&notes, &job->filter);
	cli_print_diag(job->cli, &notes);
	diag_deinit(&notes);
}

static enum tally_status cmd_flamegraph_draw(
	struct cmd_flamegraph_job *job, enum flame_group group, struct text *out, struct tally_error *err)
{
	const struct cmd_flamegraph_settings *s = job->settings;
	struct flame_options options = {.group = group,
		.counts_samples = s->counts_samples || group == FLAME_BY_EVENT,
		.by_state = !job->base,
		.is_reversed = s->reverse,
		.filter = &job->filter,
		.cpu_passes = job->cpus,
		.cpu_limit = job->cpus ? LIMIT_CPUS : 0};
	struct flame_tree tree;
	enum tally_status status = cmd_flamegraph_choose_event(job, s->event, &options.event, err);
	bool has_tree = false;
	if (group == FLAME_BY_EVENT && !s->event)
		options.event = PROFILE_NONE;
	if (status == TALLY_OK)
		status = profile_filter_init(&job->filter, job->result.profile, &s->samples.filters, err);
	if (status == TALLY_OK)
		flamegraph_print_idle(job);
	if (status == TALLY_OK && job->base)
		status = cmd_flamegraph_add_base(job, job->base, &options, err);
	if (status == TALLY_OK) {
		status = flame_tree_init(&tree, job->result.profile, &options, err);
		has_tree = status == TALLY_OK;
	}
	if (status == TALLY_OK && tree.node_count == 0)
		status = error_set(err, TALLY_NOT_FOUND,
			"nothing to draw: no sample of %s passes the filters (-p, -t, -C, -c, -d, -S)", job->what);
	if (status != TALLY_OK) {
		if (has_tree)
			flame_tree_deinit(&tree);
		return status;
	}
	if (job->base)
		flamegraph_print_matched(job, &tree, &options);
	if (s->folded)
		flame_folded_write(out, &tree, job->base != NULL);
	else
		cmd_flamegraph_write_page(job, &tree, &options, out);
	flame_tree_deinit(&tree);
	return TALLY_OK;
}

/* Draws the flame graph and writes it to the file or to standard output. Returns the exit code. */
static int write_output(struct cmd_flamegraph_job *job, enum flame_group group, const char *path)
{
	struct tally_error err;
	struct text out = {0};
	struct output_file file;
	if (output_file_open(path, job->path, &file, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	text_to_fd(&out, file.fd);
	bool is_file = !output_file_is_stdout(&file);
	enum tally_status status = cmd_flamegraph_draw(job, group, &out, &err);
	int code = output_file_finish_text(job->cli, &out, &file, path, status);
	if (status != TALLY_OK)
		return cli_fail(job->cli, &err);
	if (is_file && code == 0)
		cli_sayf("[ %s flamegraph: wrote %s ]\n", job->cli->program, path);
	return code;
}

static void job_deinit(struct cmd_flamegraph_job *job)
{
	name_match_deinit(&job->match);
	profile_filter_deinit(&job->filter);
	replay_result_deinit(&job->result);
	data_source_close(&job->source);
}

static void print_advice(const struct cmd_flamegraph_job *job)
{
	struct diag notes;
	diag_init(&notes);
	advice_notes_add(&notes, job->source.reader, job->result.profile);
	cli_print_diag(job->cli, &notes);
	diag_deinit(&notes);
	if (job->settings->folded)
		cli_note_origin(job->cli, job->source.reader);
	if (job->base) {
		const struct origin_named before = {
			str_from(job->base->path), perfdata_reader_features(job->base->source.reader)};
		const struct origin_named now = {str_from(job->path), perfdata_reader_features(job->source.reader)};
		cli_warn_origins(job->cli, &before, &now);
	}
}

static int cmd_flamegraph_make(
	const struct cli *cli, const struct cmd_flamegraph_settings *settings, const char *path, const char *what)
{
	struct cmd_flamegraph_job job = {.cli = cli, .settings = settings, .path = path, .what = what};
	struct cmd_flamegraph_job base = {
		.cli = cli, .settings = settings, .path = settings->base, .what = settings->base};
	struct tally_error err;
	enum flame_group group;
	enum tally_status status = cmd_flamegraph_group_of(settings->group, &group, &err);
	if (status == TALLY_OK && settings->samples.cpus)
		status = cpu_filter_parse(settings->samples.cpus, &job.cpus, &err);
	if (status == TALLY_OK && settings->base) {
		base.cpus = job.cpus;
		job.base = &base;
		status = cmd_flamegraph_read_profile(&base, group, &err);
	}
	if (status == TALLY_OK)
		status = cmd_flamegraph_read_profile(&job, group, &err);
	int code = EXIT_FAILED;
	if (base.result.profile)
		cli_print_health(cli, &base.result.health);
	if (job.result.profile) {
		const char *usual = settings->folded ? "-" : settings->svg ? DEFAULT_SVG : FLAMEGRAPH_DEFAULT_OUTPUT;
		cli_print_health(cli, &job.result.health);
		print_advice(&job);
		code = write_output(&job, group, settings->output ? settings->output : usual);
	}
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	job_deinit(&job);
	job_deinit(&base);
	free(job.cpus);
	return code;
}

static struct recorded_target cmd_flamegraph_target_of(const struct cmd_flamegraph_settings *s)
{
	return (struct recorded_target){.pids = s->samples.filters.pids,
		.tids = s->samples.filters.tids,
		.cpus = s->samples.cpus,
		.cgroups = s->cgroups,
		.user = s->user,
		.event = s->event,
		.call_graph = s->call_graph,
		.all_cpus = s->all_cpus,
		.wall = s->wall || s->wakers,
		.simulates = s->simulates,
		.rung = s->rung};
}

static int record_and_make(const struct cli *cli, const struct cmd_flamegraph_settings *settings, int argc, char **argv)
{
	char path[RECORDED_PATH_BYTES];
	struct tally_error err;
	const struct recorded_target target = cmd_flamegraph_target_of(settings);
	struct text what = {0};
	struct stat recorded;
	if (recorded_file_make(path, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	if (recorded_target_is_other(&target))
		recorded_target_text(&what, &target);
	else
		text_str(&what, argv[0]);
	text_char(&what, '\0');
	int code = what.failed ? cli_failf(cli, "out of memory") : record_for_verb(cli, &target, path, argc, argv);
	if (!what.failed && stat(path, &recorded) == 0 && recorded.st_size > 0) {
		/* The options that selected the recorded target are removed, so that they do not filter the recording
		 * as well. */
		struct cmd_flamegraph_settings titled = *settings;
		titled.samples.filters.pids = titled.samples.filters.tids = titled.samples.cpus = titled.event = NULL;
		if (!titled.title)
			titled.title = what.data;
		/* The page is written even if the command failed. */
		int made = cmd_flamegraph_make(cli, &titled, path, what.data);
		code = made ? made : code;
	}
	unlink(path);
	text_deinit(&what);
	return code;
}

/* Returns whether the only word is a duration, as in "-p 12 10", unless a file has this name. */
static bool is_duration(const struct cmd_flamegraph_settings *settings, int argc, char **argv, struct text *seconds)
{
	const struct recorded_target target = cmd_flamegraph_target_of(settings);
	return argc == 1 && !settings->input.path && recorded_target_is_other(&target) && access(argv[0], F_OK) != 0 &&
	       record_duration_parse(argv[0], seconds);
}

static int sleep_and_make(const struct cli *cli, const struct cmd_flamegraph_settings *settings, char *seconds)
{
	char name[] = "sleep";
	char *argv[] = {name, seconds, NULL};
	return record_and_make(cli, settings, 2, argv);
}

/* argv contains the words after the options. */
static int cmd_flamegraph_run_parsed(const struct cli *cli, const struct command *command,
	const struct cmd_flamegraph_settings *settings, int argc, char **argv, bool is_command)
{
	if (settings->reverse && !settings->folded)
		return cli_usagef(
			cli, command, "reverse", "--reverse goes with --folded; the page has a button for it");
	if (settings->follows && !settings->wakers)
		return cli_usagef(cli, command, "follow", "--follow needs --wakers");
	if (settings->folded && settings->svg)
		return cli_usagef(cli, command, "folded,svg", "--folded and --svg cannot be used together");
	if (settings->samples.times && !time_spans_are_valid(settings->samples.times))
		return cli_failf(cli, "Invalid time string"), EXIT_BAD_TIME;
	if (settings->max_stack > UINT32_MAX)
		return cli_usagef(cli, command, "max-stack", "--max-stack is too large");
	if (is_command && settings->input.path)
		return cli_usagef(cli, command, "input", "-i and a command cannot be used together");
	if (is_command)
		return record_and_make(cli, settings, argc, argv);
	struct text seconds = {0};
	if (is_duration(settings, argc, argv, &seconds)) {
		int code = sleep_and_make(cli, settings, seconds.data);
		text_deinit(&seconds);
		return code;
	}
	text_deinit(&seconds);
	if (settings->all_cpus || settings->cgroups || settings->user)
		return cli_usagef(cli, command, "all-cpus,cgroup,uid",
			"-a, -G and -u say what to record: they need a command behind them ('-- sleep 10') or seconds");
	if (settings->call_graph)
		return cli_usagef(cli, command, "call-graph",
			"--call-graph says how to record: it needs a command behind it ('-- ./program')");
	if (settings->simulates)
		return cli_usagef(cli, command, "simulate", "--simulate needs a command behind it ('-- ./program')");
	if (settings->rung.rung != RUNG_AUTO || settings->rung.requires_event)
		return cli_usagef(cli, command, "rung,require-event",
			"--rung and --require-event say how to record: they need a command behind them ('-- "
			"./program')");
	if (argc > 1)
		return cli_usagef(cli, command, NULL,
			"unexpected argument '%s': name one recording, or '--' and a command", argv[1]);
	if (argc > 0 && settings->input.path)
		return cli_usagef(cli, command, "input", "the recording is named twice: with -i and as an argument");
	const char *path = argc > 0 ? argv[0] : recording_name(settings->input.path);
	return cmd_flamegraph_make(cli, settings, path, path);
}

static int cmd_flamegraph_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_flamegraph_settings settings = {0};
	struct word_files files = {0};
	struct tally_error err;
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	bool is_command = rest < argc && rest > 1 && strcmp(argv[rest - 1], "--") == 0;
	if (word_files_read_filters(&files, &settings.samples.filters, &err) == TALLY_OK)
		code = cmd_flamegraph_run_parsed(cli, command, &settings, argc - rest, argv + rest, is_command);
	else
		code = cli_fail(cli, &err);
	word_files_deinit(&files);
	return code;
}

static const char *const flamegraph_usages[] = {"[<options>] [<file>]", "[<options>] -- <command>",
	"-p <pid>|-t <tid>|-a|-C <cpu>|-G <cgroup>|-u <user> [<options>] <seconds>", NULL};
static const char *const flamegraph_examples[] = {
	"draw where a program spends its time, in one command",
	"tally flamegraph -- ./program",
	"draw a running process, for ten seconds",
	"tally flamegraph -p 1234 -- sleep 10",
	"draw a recording, by thread, for a browser",
	"tally flamegraph -g thread -o profile.html perf.data",
	"for other tools",
	"tally flamegraph --folded | flamegraph.pl > profile.svg",
	NULL,
};

const struct command command_flamegraph = {
	.name = "flamegraph",
	.summary = "Draw a recording, or a command, as a flame graph",
	.usages = flamegraph_usages,
	.options = &flamegraph_table,
	.description =
		"Writes one HTML file that needs neither the network nor the programs that were measured. The "
		"page can zoom, search (with the share of the matches), show callers and be used by keyboard (press "
		"? in the page), in light and dark. Kernel, user, inlined and JIT code and code without a symbol "
		"have different colours.\n\nA command is recorded with whole stacks: unwound in the kernel where that "
		"is "
		"possible, otherwise from stack dumps (--call-graph auto; a line says which). Before a command, or a "
		"number of seconds, -p, -t, -a, -C, -G and -u name what is recorded instead while the "
		"command runs; with a recording, -p, -t and -C select samples.",
	.examples = flamegraph_examples,
	.run = cmd_flamegraph_run,
};
