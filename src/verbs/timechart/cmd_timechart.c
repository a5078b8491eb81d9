/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/timechart_io.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/unknown_command.h"
#include "kernel/events/tracepoints.h"
#include "tasks/session/record_words.h"
#include "tasks/session/recording_input.h"
#include "verbs/timechart/timechart_feed.h"
#include "verbs/timechart/timechart_json.h"
#include "verbs/timechart/timechart_rows.h"
#include "view/timechart/timechart_html.h"
#include "view/timechart/timechart_svg.h"

#define TIMECHART_DEFAULT_OUTPUT "output.svg"
#define DEFAULT_WIDTH		 1000
#define MAX_WIDTH		 100000
#define SVG_MAX_BYTES		 (8u << 20) /* The default of --max-size. */
#define LEAST_STEPS		 32 /* Minimum number of time steps in a page. */
#define DEFAULT_MIN_NS		 1000000
#define DEFAULT_MERGE_NS	 1000

struct cmd_timechart_settings {
	struct symbol_options symbols;
	struct input_options input;
	const char *output, *html, *highlight;
	bool power_only, tasks_only, by_topology, skips_eagain, is_json;
	uint64_t width, least_tasks, min_ns, merge_ns, max_bytes;
	VEC(const char *) processes;
};

static bool cmd_timechart_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	size_t digits = strspn(text, "0123456789");
	uint64_t number;
	if (!str_to_u64((struct tally_str){text, digits}, 10, &number))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(text + digits, units[i].unit) == 0)
			return !__builtin_mul_overflow(number, units[i].ns, ns);
	return false;
}

static const char *set_min_time(const struct option_use *use)
{
	struct cmd_timechart_settings *s = use->settings;
	return cmd_timechart_parse_time(use->value, &s->min_ns)
		       ? NULL
		       : "takes a time: nanoseconds, or with us, ms or s behind it";
}

static const char *set_merge_dist(const struct option_use *use)
{
	struct cmd_timechart_settings *s = use->settings;
	return cmd_timechart_parse_time(use->value, &s->merge_ns)
		       ? NULL
		       : "takes a time: nanoseconds, or with us, ms or s behind it";
}

static const char *cmd_timechart_set_max_size(const struct option_use *use)
{
	struct cmd_timechart_settings *s = use->settings;
	bool has_unit;
	return record_size_parse(use->value, &s->max_bytes, &has_unit) && s->max_bytes >= TIMECHART_MIN_BYTES
		       ? NULL
		       : "takes a size of 16K or more, with B, K, M or G";
}

static const char *cmd_timechart_add_process(const struct option_use *use)
{
	struct cmd_timechart_settings *s = use->settings;
	return vec_push(&s->processes, use->value) ? NULL : "cannot be kept: out of memory";
}

#define ROW(member) .offset = offsetof(struct cmd_timechart_settings, member)
static const struct option timechart_options[] = {
	{"highlight", 0, OPTION_STRING, "duration|name", ROW(highlight),
		.help = "highlight runs longer than this (ns, or with us, ms, s), or tasks of this name"},
	{"html", 0, OPTION_STRING, "file", ROW(html),
		.help = "write a page with everything, to zoom and search in; no SVG unless -o is given too"},
	INPUT_OPTIONS(struct cmd_timechart_settings, input),
	{"io-merge-dist", 0, OPTION_CALL, "time", .call = set_merge_dist,
		.help = "merge I/O operations that are closer together than this (1us)"},
	{"io-min-time", 0, OPTION_CALL, "time", .call = set_min_time,
		.help = "draw shorter I/O operations with this length (1ms)"},
	{"io-skip-eagain", 0, OPTION_FLAG, ROW(skips_eagain), .help = "omit I/O operations that returned EAGAIN"},
	{"json", 0, OPTION_FLAG, ROW(is_json),
		.help = "print how long each CPU and task was in each state, as JSON (docs/schema/timechart.json); no "
			"SVG unless -o is given too"},
	{"max-size", 0, OPTION_CALL, "size", .call = cmd_timechart_set_max_size,
		.help = "maximum size of the file (default: 8M for an SVG, unlimited for a page): short spans are "
			"merged until it fits"},
	{"output", 'o', OPTION_STRING, "file", ROW(output),
		.help = "output file name (output.svg); - is standard output"},
	{"power-only", 'P', OPTION_FLAG, ROW(power_only), .help = "draw only the rows of CPUs"},
	{"proc-num", 'n', OPTION_U64, "n", ROW(least_tasks), .help = "draw at least so many tasks (15)"},
	{"process", 'p', OPTION_CALL, "process", .call = cmd_timechart_add_process,
		.help = "draw only tasks with this name or number; may be given several times"},
	SYMBOL_OPTIONS(struct cmd_timechart_settings, symbols),
	{"tasks-only", 'T', OPTION_FLAG, ROW(tasks_only), .help = "omit states and frequencies of CPUs"},
	{"topology", 't', OPTION_FLAG, ROW(by_topology), .help = "sort CPUs by socket and core"},
	{"width", 'w', OPTION_U64, "n", ROW(width), .help = "width of the SVG (1000, at least 400)"},
};
#undef ROW
static const struct option_table timechart_table = {timechart_options, ARRAY_LEN(timechart_options), true};

struct cmd_timechart_job {
	const struct cli *cli;
	const struct cmd_timechart_settings *settings;
	struct data_source source;
	struct timechart chart;
	struct timechart_rows rows;
	bool *highlighted; /* Indexed by track; NULL if no tasks are highlighted. */
};

static bool find_highlighted(struct cmd_timechart_job *job, uint64_t *highlight_ns)
{
	const struct tracks *tracks = &job->chart.tracks;
	const char *word = job->settings->highlight;
	*highlight_ns = 0;
	if (!word || cmd_timechart_parse_time(word, highlight_ns))
		return true;
	job->highlighted = calloc(tracks->tracks.len + 1, sizeof(*job->highlighted));
	for (size_t i = 0; job->highlighted && i < tracks->tracks.len; i++)
		job->highlighted[i] = tracks->tracks.items[i].kind == TRACK_TASK &&
				      timechart_task_is(tracks, &tracks->tracks.items[i], word);
	return job->highlighted != NULL;
}

static int cmd_timechart_open_file(
	const struct cmd_timechart_job *job, const char *path, struct output_file *file, struct text *text)
{
	struct tally_error err;
	if (output_file_open(path, job->settings->input.path, file, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	text_to_fd(text, file->fd);
	return 0;
}

/* The message is perf's, because scripts search for it. */
static void cmd_timechart_tell(const struct cmd_timechart_job *job, const char *path)
{
	const struct tracks *tracks = &job->chart.tracks;
	cli_sayf("Written %.1f seconds of trace to %s.\n", (double)(tracks->end_ns - tracks->start_ns) / 1e9, path);
}

static int write_svg(const struct cmd_timechart_job *job, const struct timechart_picture *picture, const char *path)
{
	struct text text = {0};
	struct output_file file;
	uint64_t width = MAX(job->settings->width, TIMECHART_MIN_WIDTH);
	struct timechart_svg svg = {.width = (unsigned)width,
		.max_bytes = job->settings->max_bytes ? job->settings->max_bytes : SVG_MAX_BYTES};
	if (!timechart_svg_write(&text, picture, &svg)) {
		bool is_small = !text.failed;
		text_deinit(&text);
		return is_small ? cli_failf(job->cli, "--max-size: the picture does not fit")
				: cli_failf(job->cli, "out of memory");
	}
	int code = cmd_timechart_open_file(job, path, &file, &text);
	if (code != 0)
		text_deinit(&text);
	else
		code = output_file_finish_text(job->cli, &text, &file, path, TALLY_OK);
	if (code == 0)
		cmd_timechart_tell(job, path);
	return code;
}

static bool is_coarsest(const struct tracks *tracks)
{
	return tracks->resolution_ns >= (tracks->end_ns - tracks->start_ns) / LEAST_STEPS;
}

/* Reduces the resolution until the page does not exceed the maximum size. */
static int fit_page(struct cmd_timechart_job *job, const struct timechart_picture *picture, struct text *page)
{
	struct tracks *tracks = &job->chart.tracks;
	uint64_t most_bytes = job->settings->max_bytes;
	for (;;) {
		if (!timechart_html_write(page, picture))
			return cli_failf(job->cli, "out of memory");
		size_t bytes = page->len;
		if (bytes <= most_bytes)
			return 0;
		text_deinit(page);
		if (is_coarsest(tracks))
			return cli_failf(job->cli, "--max-size: the page does not fit");
		double fitting = (double)tracks->items * (double)most_bytes / (double)bytes;
		do {
			if (!tracks_coarsen(tracks))
				return cli_failf(job->cli, "out of memory");
		} while ((double)tracks->items > fitting && !is_coarsest(tracks));
	}
}

static int write_html(struct cmd_timechart_job *job, const struct timechart_picture *picture, const char *path)
{
	struct text text = {0};
	struct output_file file;
	bool is_bounded = job->settings->max_bytes != 0;
	int code = is_bounded ? fit_page(job, picture, &text) : 0;
	if (code == 0)
		code = cmd_timechart_open_file(job, path, &file, &text);
	if (code != 0) {
		text_deinit(&text);
		return code;
	}
	bool is_done = is_bounded || timechart_html_write(&text, picture);
	code = output_file_finish_text(job->cli, &text, &file, path, is_done ? TALLY_OK : TALLY_NOMEM);
	if (code == 0 && !is_done)
		code = cli_failf(job->cli, "out of memory");
	if (code == 0)
		cmd_timechart_tell(job, path);
	return code;
}

/* A page contains all tasks, because it can be scrolled. */
static bool cmd_timechart_choose(struct cmd_timechart_job *job, bool is_page, struct timechart_picture *picture)
{
	const struct cmd_timechart_settings *s = job->settings;
	const struct timechart_choice choice = {.processes = s->processes.items,
		.process_count = s->processes.len,
		.least_tasks = is_page ? UINT64_MAX : s->least_tasks,
		.most_tasks = is_page ? 0 : TIMECHART_MOST_TASKS,
		.without_tasks = s->power_only,
		.topology = s->by_topology ? &perfdata_reader_features(job->source.reader)->topology : NULL};
	timechart_rows_deinit(&job->rows);
	if (!timechart_rows_choose(&job->chart.tracks, &choice, &job->rows))
		return false;
	picture->rows = job->rows.rows.items;
	picture->row_count = job->rows.rows.len;
	picture->hidden_tasks = job->rows.hidden_tasks;
	return true;
}

static int print_json(const struct cmd_timechart_job *job, const struct timechart_picture *picture)
{
	struct text out = {0};
	timechart_json(&out, picture);
	return cli_finish_text(job->cli, &out);
}

static int cmd_timechart_draw(struct cmd_timechart_job *job)
{
	const struct cmd_timechart_settings *s = job->settings;
	struct timechart_picture picture = {.tracks = &job->chart.tracks,
		.io_min_ns = s->min_ns,
		.title = str_from(recording_name(s->input.path)),
		.program = str_from(job->cli->program),
		.lost = input_health_lost(&job->source.pass.sideband.health),
		.tells_unknown = job->chart.is_of_waits};
	bool has_svg = s->output || !(s->html || s->is_json);
	int code = 0;
	if (!find_highlighted(job, &picture.highlight_ns))
		return cli_failf(job->cli, "out of memory");
	picture.is_highlighted = job->highlighted;
	if (s->html)
		code = cmd_timechart_choose(job, true, &picture) ? write_html(job, &picture, s->html)
								 : cli_failf(job->cli, "out of memory");
	if (s->is_json && code == 0)
		code = cmd_timechart_choose(job, true, &picture) ? print_json(job, &picture)
								 : cli_failf(job->cli, "out of memory");
	if (has_svg && code == 0)
		code = cmd_timechart_choose(job, false, &picture)
			       ? write_svg(job, &picture, s->output ? s->output : TIMECHART_DEFAULT_OUTPUT)
			       : cli_failf(job->cli, "out of memory");
	return code;
}

static int cmd_timechart_show(const struct cli *cli, const struct cmd_timechart_settings *settings)
{
	struct cmd_timechart_job job = {.cli = cli, .settings = settings};
	struct tally_error err;
	const struct data_input input = {.file = settings->input, .symbols = settings->symbols};
	enum tally_status status = data_source_open(cli, &input, &job.source, &err);
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	const struct timechart_feed feed = {.without_power = settings->tasks_only,
		.skips_eagain = settings->skips_eagain,
		.merge_ns = settings->merge_ns};
	timechart_init(&job.chart, TRACKS_MAX_ITEMS);
	status = timechart_feed(&job.source, &feed, &job.chart, &err);
	cli_print_health(cli, &job.source.pass.sideband.health);
	bool is_empty = job.chart.tracks.end_ns == 0;
	if (status == TALLY_OK && is_empty)
		cli_notef(cli, "none of the events of %s happened: the picture is empty",
			recording_name(settings->input.path));
	if (job.chart.left_out)
		cli_notef(cli,
			"%llu short waits were only summed up and are not drawn: where a thread has no bar, the "
			"recording does not say what it did; record --off-cpu-thresh 0 stores every wait",
			(unsigned long long)job.chart.left_out);
	/* The intact part of a truncated recording is drawn. */
	int code = status == TALLY_OK || !is_empty ? cmd_timechart_draw(&job) : EXIT_FAILED;
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	if (code == 0 && !is_empty && settings->processes.len > 0 && !settings->power_only && job.rows.tasks == 0)
		cli_failf(cli, "note: no task of %s matches -p: only CPUs are drawn",
			recording_name(settings->input.path));
	timechart_rows_deinit(&job.rows);
	timechart_deinit(&job.chart);
	data_source_close(&job.source);
	free(job.highlighted);
	return code;
}

struct record_choice {
	const char *output;
	bool power_only, tasks_only, io_only, with_chains;
};
#define RECORD_ROW(member) .offset = offsetof(struct record_choice, member)
static const struct option timechart_record_rows[] = {
	{"callchain", 'g', OPTION_FLAG, RECORD_ROW(with_chains), .help = "record call chains too"},
	{"io-only", 'I', OPTION_FLAG, RECORD_ROW(io_only), .help = "only system calls that do I/O"},
	{"output", 'o', OPTION_STRING, "file", RECORD_ROW(output), .help = "output file name"},
	{"power-only", 'P', OPTION_FLAG, RECORD_ROW(power_only), .help = "only states and frequencies of CPUs"},
	{"tasks-only", 'T', OPTION_FLAG, RECORD_ROW(tasks_only), .help = "only the scheduler's events"},
};
static const struct option_table timechart_record_table = {
	timechart_record_rows, ARRAY_LEN(timechart_record_rows), true};
static const char *const timechart_record_usages[] = {"[<options>] [<command>]", NULL};
static const struct command command_of_record = {
	.name = "timechart record", .usages = timechart_record_usages, .options = &timechart_record_table};

/* Appends the event to a list if this kernel has it. If no event is left, record reports why. */
static bool cmd_timechart_add_event(struct text *list, const char *system, const char *name)
{
	struct tally_error err;
	uint64_t id;
	if (tracepoint_id(kernel_seam_linux(), str_from(system), str_from(name), &id, &err) != TALLY_OK)
		return false;
	text_printf(list, "%s%s:%s", list->len ? "," : "", system, name);
	return true;
}

static void add_calls(struct text *list)
{
	const char *call;
	for (size_t i = 0; (call = timechart_call_name(i)) != NULL; i++) {
		char name[64];
		snprintf(name, sizeof(name), "sys_enter_%s", call);
		if (!cmd_timechart_add_event(list, "syscalls", name))
			continue;
		snprintf(name, sizeof(name), "sys_exit_%s", call);
		(void)cmd_timechart_add_event(list, "syscalls", name);
	}
}

static void cmd_timechart_add_events(struct text *list, const struct record_choice *choice)
{
	if (choice->io_only) {
		add_calls(list);
		if (list->len == 0)
			text_str(list, "syscalls:sys_enter_read");
		return;
	}
	if (!choice->power_only)
		text_str(list, "sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch");
	if (!choice->tasks_only) {
		(void)cmd_timechart_add_event(list, "power", "cpu_frequency");
		(void)cmd_timechart_add_event(list, "power", "cpu_idle");
	}
	if (list->len == 0)
		text_str(list, "power:cpu_idle");
}

static int cmd_timechart_record(const struct cli *cli, int argc, char **argv)
{
	struct record_choice choice = {0};
	struct text list = {0};
	int rest;
	int code = cli_parse_options(cli, &command_of_record, argc, argv, &choice, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (choice.power_only + choice.tasks_only + choice.io_only > 1)
		return cli_usagef(cli, &command_of_record, NULL, "-P, -T and -I cannot be used together");
	cmd_timechart_add_events(&list, &choice);
	text_char(&list, 0);
	if (list.failed) {
		text_deinit(&list);
		return cli_failf(cli, "out of memory");
	}
	/* The recorder must be excluded, because each of its own calls that is recorded would cause another one. */
	const char *words[16] = {"record", "-a", "-R", "-m", "1024", "-c", "1", "-e", list.data};
	size_t count = 9;
	if (choice.io_only)
		words[count++] = "--exclude-perf";
	if (choice.with_chains)
		words[count++] = "-g";
	if (choice.output) {
		words[count++] = "-o";
		words[count++] = choice.output;
	}
	words[count++] = "--";
	code = cli_run_verb(cli, &command_record, words, argc - rest, argv + rest);
	text_deinit(&list);
	return code;
}

static int check_and_show(
	const struct cli *cli, const struct command *command, const struct cmd_timechart_settings *settings)
{
	if (settings->power_only && settings->tasks_only)
		return cli_usagef(cli, command, "power-only,tasks-only", "-P and -T cannot be used together");
	bool is_twice_on_stdout = (settings->output && strcmp(settings->output, "-") == 0) ||
				  (settings->html && strcmp(settings->html, "-") == 0);
	if (settings->is_json && is_twice_on_stdout)
		return cli_usagef(
			cli, command, "json", "--json goes to standard output: choose a file with -o or --html");
	if (settings->width > MAX_WIDTH)
		return cli_usagef(cli, command, "width", "--width is at most %d", MAX_WIDTH);
	return cmd_timechart_show(cli, settings);
}

static int cmd_timechart_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct cmd_timechart_settings settings = {.width = DEFAULT_WIDTH,
		.least_tasks = TIMECHART_LEAST_TASKS,
		.min_ns = DEFAULT_MIN_NS,
		.merge_ns = DEFAULT_MERGE_NS};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code == CLI_GO_ON) {
		const char *word = rest < argc ? argv[rest] : NULL;
		if (settings.html && settings.html[0] == '-' && settings.html[1])
			code = cli_usagef(cli, command, "html",
				"--html takes the page's name, not '%s' (a file: './%s')", settings.html,
				settings.html);
		else if (!word)
			code = check_and_show(cli, command, &settings);
		else if (cli_is_subverb(word, "record"))
			code = cmd_timechart_record(cli, argc - rest, argv + rest);
		else
			code = unknown_subcommand(cli, command, word);
	}
	vec_free(&settings.processes);
	return code;
}

static const char *const timechart_usages[] = {"[<options>]", "record [<options>] [<command>]", NULL};
static const char *const timechart_examples[] = {
	"draw what the machine did while a program ran",
	"tally timechart record ./program; tally timechart",
	"draw the same with call chains, as a page to zoom and search in",
	"tally timechart record -g ./program; tally timechart --html chart.html",
	"draw reading, writing and waiting for the network",
	"tally timechart record -I ./program; tally timechart -o io.svg",
	NULL,
};

const struct command command_timechart = {
	.name = "timechart",
	.summary = "Draw what CPUs and tasks did over time",
	.usages = timechart_usages,
	.options = &timechart_table,
	.description =
		"'record' records the scheduler's events and the CPU states of the whole machine, or with -I the "
		"system calls that do I/O. Without 'record', a recording is drawn as an SVG. Each CPU has a row that "
		"shows which tasks ran, how deeply the CPU idled and its frequency. Each task has a row that shows "
		"when it ran, waited for a CPU, was blocked and slept. Arrows lead from the waking to the woken "
		"task. In I/O mode, a task's second row shows reads above and writes below. Point at a bar to see "
		"its times, and the call chain if one was recorded (record -g).",
	.examples = timechart_examples,
	.run = cmd_timechart_run,
};
