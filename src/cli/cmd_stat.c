/*
 * cmd_stat.c - tally stat: counts events of a command, of processes, threads, CPUs or the whole machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/recording_input.h"
#include "cli/stat_compare.h"
#include "cli/stat_events.h"
#include "cli/stat_passes.h"
#include "cli/stat_plan.h"
#include "cli/stat_record.h"
#include "cli/stat_replay.h"
#include "cli/stat_rows.h"
#include "cli/stat_run.h"
#include "cli/stat_statistics.h"
#include "kernel/events/tracepoint_hold.h"

#define EXIT_INVALID	 (256 - EINVAL) /* what perf leaves with for a wrong target or run count */
#define RUNS_MAX	 1000000
#define COMMAND_LINE_MAX 1024 /* words that a recording keeps */

static const char *word_add(const struct option_use *use, struct stat_event_word word)
{
	struct stat_settings *settings = use->settings;
	return vec_push(&settings->words, word) ? NULL : "out of memory";
}

static const char *event_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_EVENT, use->value});
}

static const char *cgroup_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_CGROUP, use->value});
}

static const char *filter_add(const struct option_use *use)
{
	return word_add(use, (struct stat_event_word){WORD_FILTER, use->value});
}

#define MODE_CALL(name, mode_value)                                                                             \
	static const char *name(const struct option_use *use)                                                   \
	{                                                                                                       \
		((struct stat_settings *)use->settings)->mode = use->is_negated ? AGGREGATE_ALL : (mode_value); \
		return NULL;                                                                                    \
	}
MODE_CALL(set_no_aggr, AGGREGATE_CPU)
MODE_CALL(set_per_core, AGGREGATE_CORE)
MODE_CALL(set_per_die, AGGREGATE_DIE)
MODE_CALL(set_per_socket, AGGREGATE_SOCKET)
MODE_CALL(set_per_node, AGGREGATE_NODE)
MODE_CALL(set_per_cluster, AGGREGATE_CLUSTER)
#undef MODE_CALL

/* Without a level, the last one. */
static const char *set_per_cache(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	uint64_t level = 0;
	if (use->value && ((use->value[0] != 'L' && use->value[0] != 'l') ||
				  !str_to_u64(str_from(use->value + 1), 10, &level) || level == 0 || level > UINT8_MAX))
		return "expects a level as L2";
	settings->mode = use->is_negated ? AGGREGATE_ALL : AGGREGATE_CACHE;
	settings->cache_level = (unsigned)level;
	return NULL;
}

static bool to_i64(const char *text, int64_t *value)
{
	uint64_t magnitude;
	bool is_negative = text[0] == '-';
	if (!str_to_u64(str_from(text + is_negative), 10, &magnitude) || magnitude > INT64_MAX)
		return false;
	*value = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

static const char *set_runs(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	int64_t runs;
	if (!to_i64(use->value, &runs) || runs > RUNS_MAX)
		return "expects a number of runs, at most 1000000";
	settings->runs = runs < 0 ? UINT64_MAX : (uint64_t)runs;
	return NULL;
}

static const char *set_delay(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	if (!to_i64(use->value, &settings->delay_ms) || settings->delay_ms < -1)
		return "expects milliseconds, or -1 for 'never'";
	return NULL;
}

static const char *set_separator(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->separator = strcmp(use->value, "\\t") == 0 ? "\t" : use->value;
	return *settings->separator ? NULL : "expects a separator";
}

static const char *set_big_num(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	settings->has_big_num = settings->asks_big_num = !use->is_negated;
	return NULL;
}

static const char *set_control(const struct option_use *use)
{
	struct stat_settings *settings = use->settings;
	return record_control_parse(use->value, &settings->control)
		       ? NULL
		       : "expects fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]";
}

#define AT(field) .offset = offsetof(struct stat_settings, field)
#define UNBUILT(long_name, text)                                            \
	{                                                                   \
		.name = long_name, .kind = OPTION_UNSUPPORTED, .help = text \
	}
static const struct option options[] = {
	{.name = "all-cpus",
		.letter = 'a',
		.kind = OPTION_FLAG,
		AT(all_cpus),
		.help = "count on every CPU, whatever runs"},
	{.name = "all-kernel", .kind = OPTION_FLAG, AT(all_kernel), .help = "count kernel mode only"},
	{.name = "all-user", .kind = OPTION_FLAG, AT(all_user), .help = "count user mode only"},
	{.name = "append", .kind = OPTION_FLAG, AT(is_append), .help = "add to the -o file instead of replacing it"},
	{.name = "big-num",
		.letter = 'B',
		.kind = OPTION_CALL,
		.can_be_negated = true,
		.call = set_big_num,
		.help = "separate thousands as the locale does (the default)"},
	{.name = "cgroup",
		.letter = 'G',
		.kind = OPTION_CALL,
		.argument = "name",
		.call = cgroup_add,
		.help = "count only tasks of this cgroup (one per event, in order)"},
	{.name = "control",
		.kind = OPTION_CALL,
		.argument = "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
		.call = set_control,
		.help = "take commands from a descriptor or FIFO: enable, disable, stop, ping"},
	{.name = "compare",
		.kind = OPTION_STRING,
		.argument = "command line",
		AT(compare),
		.help = "run this and a second command line in turn, and say which is faster (-r: how often; 10)"},
	{.name = "cpu",
		.letter = 'C',
		.kind = OPTION_STRING,
		.argument = "cpu",
		AT(cpus),
		.help = "count on these CPUs only, as 0-3,8"},
	{.name = "delay",
		.letter = 'D',
		.kind = OPTION_CALL,
		.argument = "n",
		.call = set_delay,
		.help = "begin n ms after the start of the command; -1: leave the events disabled"},
	{.name = "detailed",
		.letter = 'd',
		.kind = OPTION_COUNT,
		AT(detail),
		.help = "more events: -d data caches, -dd instruction caches and TLBs, -ddd prefetches"},
	{.name = "event",
		.letter = 'e',
		.kind = OPTION_CALL,
		.argument = "event",
		.call = event_add,
		.help = "events to count; 'list' shows their names"},
	{.name = "field-separator",
		.letter = 'x',
		.kind = OPTION_CALL,
		.argument = "separator",
		.call = set_separator,
		.help = "one line per count with this separator, for scripts"},
	{.name = "filter",
		.kind = OPTION_CALL,
		.argument = "filter",
		.call = filter_add,
		.help = "condition on the fields of the tracepoints before it"},
	{.name = "for-each-cgroup",
		.kind = OPTION_STRING,
		.argument = "name",
		AT(for_each_cgroup),
		.help = "count all events for each of these cgroups"},
	{.name = "group", .letter = 'g', .kind = OPTION_FLAG, AT(one_group), .help = "make one group of all events"},
	{.name = "interval-clear",
		.kind = OPTION_FLAG,
		AT(clears_screen),
		.help = "clear the screen before each interval"},
	{.name = "interval-count",
		.kind = OPTION_U64,
		.argument = "n",
		AT(interval_count),
		.help = "stop after n intervals"},
	{.name = "interval-print",
		.letter = 'I',
		.kind = OPTION_U64,
		.argument = "n",
		AT(interval_ms),
		.help = "print what was counted every n ms"},
	{.name = "json-output", .letter = 'j', .kind = OPTION_FLAG, AT(is_json), .help = "one JSON object per count"},
	{.name = "log-fd", .kind = OPTION_U64, .argument = "n", AT(log_fd), .help = "print to this descriptor"},
	{.name = "metric-only",
		.kind = OPTION_FLAG,
		AT(has_metrics_only),
		.help = "ratios instead of counts, in one line"},
	{.name = "no-aggr", .letter = 'A', .kind = OPTION_CALL, .call = set_no_aggr, .help = "one line per CPU"},
	{.name = "no-csv-summary", .kind = OPTION_FLAG, AT(no_csv_summary), .help = "no 'summary' field in CSV totals"},
	{.name = "no-inherit", .letter = 'i', .kind = OPTION_FLAG, AT(no_inherit), .help = "do not count children"},
	{.name = "no-merge", .kind = OPTION_FLAG, AT(no_merge), .help = "show like PMUs one by one"},
	{.name = "null", .letter = 'n', .kind = OPTION_FLAG, AT(is_null), .help = "no events: elapsed time only"},
	{.name = "output",
		.letter = 'o',
		.kind = OPTION_STRING,
		.argument = "file",
		AT(output),
		.help = "print to this file"},
	{.name = "per-cache",
		.kind = OPTION_CALL,
		.argument = "level",
		.argument_is_optional = true,
		.call = set_per_cache,
		.help = "one line per cache of this level, as L2 (the last level if none is named)"},
	{.name = "per-cluster", .kind = OPTION_CALL, .call = set_per_cluster, .help = "one line per cluster"},
	{.name = "passes",
		.kind = OPTION_FLAG,
		AT(has_passes),
		.help = "run the command as often as needed so that no event is multiplexed, and check that runs "
			"agree"},
	{.name = "per-core", .kind = OPTION_CALL, .call = set_per_core, .help = "one line per core"},
	{.name = "per-die", .kind = OPTION_CALL, .call = set_per_die, .help = "one line per die"},
	{.name = "per-node", .kind = OPTION_CALL, .call = set_per_node, .help = "one line per NUMA node"},
	{.name = "per-socket", .kind = OPTION_CALL, .call = set_per_socket, .help = "one line per socket"},
	{.name = "per-thread", .kind = OPTION_FLAG, AT(per_thread), .help = "one line per thread"},
	{.name = "pid",
		.letter = 'p',
		.kind = OPTION_STRING,
		.argument = "pid",
		AT(pids),
		.help = "count these running processes"},
	{.name = "plan",
		.kind = OPTION_FLAG,
		AT(is_plan),
		.help = "count nothing: what each event counts here, what fits together, who holds counters"},
	{.name = "post",
		.kind = OPTION_STRING,
		.argument = "command",
		AT(post),
		.help = "run this after each measured run"},
	{.name = "pre",
		.kind = OPTION_STRING,
		.argument = "command",
		AT(pre),
		.help = "run this before each measured run"},
	{.name = "quiet", .kind = OPTION_FLAG, AT(is_quiet), .help = "print nothing"},
	{.name = "repeat",
		.letter = 'r',
		.kind = OPTION_CALL,
		.argument = "n",
		.call = set_runs,
		.help = "run the command n times; mean and deviation (0: until interrupted)"},
	{.name = "scale",
		.letter = 'c',
		.kind = OPTION_FLAG,
		AT(is_scaling),
		.help = "scale counts whose PMU time was shared (the default)"},
	{.name = "summary", .kind = OPTION_FLAG, AT(has_summary), .help = "totals after the intervals of -I"},
	{.name = "stats",
		.kind = OPTION_FLAG,
		AT(has_statistics),
		.help = "with -r: median, confidence interval and outliers of each event"},
	{.name = "sync", .letter = 'S', .kind = OPTION_FLAG, AT(does_sync), .help = "sync(2) before each run"},
	{.name = "table", .kind = OPTION_FLAG, AT(has_table), .help = "each run's time, with -r"},
	{.name = "tid",
		.letter = 't',
		.kind = OPTION_STRING,
		.argument = "tid",
		AT(tids),
		.help = "count these running threads"},
	{.name = "timeout", .kind = OPTION_U64, .argument = "n", AT(timeout_ms), .help = "stop after n ms"},
	{.name = "verbose",
		.letter = 'v',
		.kind = OPTION_COUNT,
		AT(verbose),
		.help = "raw counts, and why an event is missing, also with -x and -j"},
	UNBUILT("bpf-attr-map", "shared counters of BPF"),
	UNBUILT("bpf-counters", "counters shared through BPF"),
	{.name = "bpf-prog", .letter = 'b', .kind = OPTION_UNSUPPORTED, .help = "events of a BPF program"},
	UNBUILT("cputype", "PMU of one kind of core"),
	UNBUILT("hybrid-merge", "sums over kinds of core"),
	UNBUILT("iostat", "I/O counters of PCIe ports"),
	UNBUILT("metric-no-group", "metric events ungrouped"),
	UNBUILT("metric-no-merge", "metric events unshared"),
	UNBUILT("metric-no-threshold", "no metric thresholds"),
	{.name = "metrics", .letter = 'M', .kind = OPTION_UNSUPPORTED, .help = "vendor metrics"},
	{.name = "percore-show-thread",
		.kind = OPTION_FLAG,
		AT(shows_core_threads),
		.help = "with -A: sums of percore events in a line for each hardware thread"},
	UNBUILT("pfm-events", "events by libpfm4 names"),
	UNBUILT("smi-cost", "cost of system management interrupts"),
	UNBUILT("td-level", "depth of the top-down analysis"),
	UNBUILT("record-tpebs", "retire latency by sampling"),
	UNBUILT("topdown", "top-down analysis"),
	{.name = "transaction", .letter = 'T', .kind = OPTION_UNSUPPORTED, .help = "transactional memory"},
};
static const struct option_table table = {options, sizeof(options) / sizeof(options[0]), true};

/* 0, or the exit code after the message. */
static int settings_check(const struct cli *cli, const struct command *command, struct stat_settings *s)
{
	bool is_wide = s->all_cpus || s->cpus;
	if (s->runs == UINT64_MAX)
		return cli_usagef(cli, command, "repeat", "Run count must be a positive number"), EXIT_INVALID;
	if (s->separator && s->asks_big_num)
		return cli_usagef(cli, command, "big-num,field-separator", "-B option not supported with -x");
	if (s->output && s->log_fd != UINT64_MAX)
		return cli_usagef(cli, command, "output", "-o and --log-fd exclude each other");
	if (!s->command && !s->pids && !s->tids && !is_wide && !s->per_thread)
		s->all_cpus = is_wide = true; /* as perf: nothing named is everything */
	if ((s->pids || s->tids) && is_wide) {
		fprintf(stderr, "%s: -p and -t override %s\n", cli->program, s->cpus ? "-C" : "-a");
		s->all_cpus = is_wide = false;
		s->cpus = NULL;
	}
	if (s->mode != AGGREGATE_ALL && !is_wide)
		return cli_usagef(cli, command, "all-cpus",
			"-A and --per-core, -cluster, -cache, -die, -socket, -node need whole CPUs: -a or -C");
	if (s->per_thread && s->command && !s->pids && !s->tids && !s->all_cpus)
		return cli_usagef(cli, command, "per-thread", "--per-thread needs running threads: -p, -t or -a");
	if (s->per_thread && s->has_metrics_only)
		return cli_usagef(cli, command, "metric-only,per-thread",
			       "--metric-only is not supported with --per-thread"),
		       EXIT_INVALID;
	if (s->per_thread && s->mode != AGGREGATE_ALL)
		return cli_usagef(
			cli, command, "per-thread", "--per-thread and lines per CPU or core exclude each other");
	bool has_cgroup = s->for_each_cgroup != NULL;
	for (size_t i = 0; i < s->words.len; i++)
		has_cgroup |= s->words.items[i].kind == WORD_CGROUP;
	if (has_cgroup && (!is_wide || s->per_thread))
		return cli_usagef(cli, command, "cgroup", "a cgroup is counted on whole CPUs: -a or -C");
	if (s->has_statistics && (s->runs < 2 || s->interval_ms))
		return cli_usagef(cli, command, "stats,repeat", "--stats needs several runs (-r), without -I");
	if (s->is_plan && s->separator)
		return cli_usagef(cli, command, "plan", "--plan has no CSV form; -j has one");
	if (s->has_statistics && s->separator)
		return cli_usagef(cli, command, "stats", "--stats has no CSV form; -j has one");
	if (s->interval_count && !s->interval_ms)
		return cli_usagef(cli, command, "interval-count", "--interval-count needs -I");
	if (s->per_thread && !s->pids && !s->tids)
		s->all_cpus = true;
	return 0;
}

struct stat_printer {
	const struct cli *cli;
	const struct stat_settings *settings;
	struct stat_style style;
	struct text text;
	const char *heading;
	int fd;
	bool has_printed;
};

static void started_on(struct stat_printer *p)
{
	time_t now = time(NULL);
	char stamp[64];
	struct tm tm;
	if (localtime_r(&now, &tm) && strftime(stamp, sizeof(stamp), "%a %b %e %H:%M:%S %Y", &tm))
		text_printf(&p->text, "# started on %s\n\n", stamp);
}

static enum tally_status printer_open(struct stat_printer *p, struct tally_error *err)
{
	const struct stat_settings *s = p->settings;
	p->fd = STDERR_FILENO;
	if (s->output) {
		p->fd = open(s->output, O_WRONLY | O_CREAT | O_CLOEXEC | (s->is_append ? O_APPEND : O_TRUNC), 0666);
		if (p->fd < 0)
			return error_set_errno(err, TALLY_IO, errno, "cannot write '%s'", s->output);
	} else if (s->log_fd != UINT64_MAX) {
		if (s->log_fd > INT32_MAX || fcntl((int)s->log_fd, F_GETFD) < 0)
			return error_set_errno(
				err, TALLY_INVALID, EBADF, "--log-fd %llu", (unsigned long long)s->log_fd);
		p->fd = (int)s->log_fd;
	}
	text_to_fd(&p->text, p->fd);
	if (p->fd != STDERR_FILENO)
		started_on(p);
	return TALLY_OK;
}

static enum tally_status printer_flush(struct stat_printer *p, struct tally_error *err)
{
	fflush(stdout);
	if (p->settings->is_quiet)
		text_clear(&p->text);
	if (p->text.failed)
		return error_nomem(err);
	if (!text_flush(&p->text))
		return error_set_errno(err, TALLY_IO, p->text.write_errno, "cannot write the counts");
	return TALLY_OK;
}

static void show_interval(void *context, const struct stat_report *report)
{
	struct stat_printer *p = context;
	if (p->settings->clears_screen)
		text_str(&p->text, "\033[H\033[2J");
	p->style.has_interval_header = !p->has_printed || p->settings->clears_screen;
	p->has_printed = true;
	stat_rows_print(&p->text, report, &p->style);
	(void)printer_flush(p, NULL); /* a failure stays in the text and shows at the end */
}

/* For people; -x and -j on standard error keep it clean for scripts. */
static bool explains(const struct stat_printer *p)
{
	const struct stat_settings *s = p->settings;
	bool is_for_scripts = (s->separator || s->is_json) && p->fd == STDERR_FILENO && !s->verbose;
	return !s->is_quiet && !is_for_scripts;
}

/* Why events are missing: one line per reason. */
static void explain_missing(const struct stat_printer *p, const struct stat_session *session)
{
	if (!explains(p) || !session->reasons)
		return;
	for (size_t i = 0; i < session->events->len; i++) {
		const char *reason = session->reasons[i];
		if (!reason || session->supported[i])
			continue;
		bool is_first = true;
		for (size_t k = 0; k < i && is_first; k++)
			is_first = !session->reasons[k] || session->supported[k] ||
				   strcmp(session->reasons[k], reason) != 0;
		if (!is_first)
			continue;
		fprintf(stderr, "%s: not supported: %s", p->cli->program, session->events->specs[i].name);
		for (size_t k = i + 1; k < session->events->len; k++)
			if (session->reasons[k] && !session->supported[k] && strcmp(session->reasons[k], reason) == 0)
				fprintf(stderr, ", %s", session->events->specs[k].name);
		fprintf(stderr, ": %s\n", reason);
	}
}

/* What the kernel cannot give to threads and children would otherwise look as if they had done nothing. */
static void explain_probes(const struct stat_printer *p, const struct stat_session *session)
{
	if (!explains(p) || p->settings->no_inherit || session->target->is_system_wide)
		return;
	for (size_t i = 0; i < session->events->len; i++) {
		if (!event_is_inheritable(session->events, i))
			fprintf(stderr,
				"%s: %s: new threads and children are not counted, the kernel cannot pass such a probe "
				"on to them: use -a, or a probe of tracefs' uprobe_events\n",
				p->cli->program, session->events->specs[i].name);
	}
}

static void print_raw_counts(const struct stat_session *session)
{
	for (size_t i = 0; i < session->events->len; i++) {
		double value = 0, enabled = 0, running = 0;
		for (size_t place = 0; place < session->aggregation.len; place++) {
			const struct stat_cell *cell = &session->cells[i * session->aggregation.len + place];
			value += cell->value.mean;
			enabled += cell->enabled_ns.mean;
			running += cell->running_ns.mean;
		}
		fprintf(stderr, "%s: %.0f %.0f %.0f\n", session->events->specs[i].name, value, enabled, running);
	}
}

static enum tally_status totals_print(
	struct stat_printer *p, const struct stat_session *session, struct tally_error *err)
{
	const struct stat_settings *s = p->settings;
	if (session->run_len == 0)
		return TALLY_OK;
	if (s->verbose)
		print_raw_counts(session);
	if (!s->interval_ms || s->has_summary) {
		struct stat_report report = stat_session_report(session);
		report.heading = p->heading;
		if (s->interval_ms) {
			report.is_summary = true;
			report.interval_s = 0;
		}
		p->style.has_run_table = s->has_table;
		p->style.run_ns = session->run_ns;
		stat_rows_print(&p->text, &report, &p->style);
		if (session->values)
			stat_statistics_print(&p->text, session->values, &p->style);
	}
	enum tally_status status = printer_flush(p, err);
	explain_missing(p, session);
	explain_probes(p, session);
	return status;
}

static char *heading_make(const struct stat_settings *s, const struct target *target)
{
	struct text t = {0};
	if (target->label[0]) {
		text_str(&t, target->label);
	} else {
		text_char(&t, '\'');
		for (size_t i = 0; s->command && s->command[i]; i++)
			text_printf(&t, "%s%s", i ? " " : "", s->command[i]);
		text_char(&t, '\'');
	}
	text_char(&t, '\0');
	if (t.failed)
		text_deinit(&t);
	return t.data;
}

static bool shell_run(const char *line)
{
	if (!line)
		return true;
	fflush(stdout);
	return system(line) == 0; /* what perf does with --pre and --post: they are shell commands */
}

static enum tally_status one_run(
	struct stat_session *session, struct stat_printer *p, const struct stat_settings *s, struct tally_error *err)
{
	if (!shell_run(s->pre))
		return error_set(err, TALLY_INVALID, "--pre '%s' failed", s->pre);
	if (s->does_sync)
		sync();
	enum tally_status status = stat_run(session, show_interval, p, err);
	if (status == TALLY_OK && !shell_run(s->post))
		return error_set(err, TALLY_INVALID, "--post '%s' failed", s->post);
	if (status == TALLY_OK && session->has_command_status && WIFSIGNALED(session->command_status) && s->command)
		fprintf(stderr, "%s: %s\n", s->command[0], strsignal(WTERMSIG(session->command_status)));
	return status;
}

/* -r 0 reports after each run, for ever. */
static enum tally_status runs_make(
	struct stat_session *session, struct stat_printer *p, const struct stat_settings *s, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (s->runs == 0) {
		while (status == TALLY_OK && session->signal == 0) {
			struct stat_session single = {.kernel = session->kernel,
				.settings = s,
				.target = session->target,
				.events = session->events,
				.control = session->control};
			status = one_run(&single, p, s, err);
			if (status == TALLY_OK)
				status = totals_print(p, &single, err);
			session->signal = single.signal;
			stat_session_deinit(&single);
		}
		return status;
	}
	for (uint64_t run = 0; status == TALLY_OK && run < s->runs && session->signal == 0; run++)
		status = one_run(session, p, s, err);
	return status == TALLY_OK ? totals_print(p, session, err) : status;
}

static enum tally_status measure(
	struct stat_session *session, struct stat_printer *p, const struct stat_settings *s, struct tally_error *err)
{
	if (s->is_plan) {
		enum tally_status planned =
			stat_plan_make(session->kernel, session->events, session->target, &p->text, s->is_json, err);
		return planned == TALLY_OK ? printer_flush(p, err) : planned;
	}
	if (s->compare) {
		enum tally_status compared = stat_compare(session, &p->text, &p->style, err);
		return compared == TALLY_OK ? printer_flush(p, err) : compared;
	}
	if (s->has_passes) {
		struct stat_passes passes;
		enum tally_status passed = stat_passes_run(session, &passes, err);
		if (passed == TALLY_OK)
			passed = totals_print(p, session, err);
		if (passed == TALLY_OK && session->run_len > 0)
			stat_passes_print(&p->text, &passes, &p->style);
		return passed == TALLY_OK ? printer_flush(p, err) : passed;
	}
	struct stat_values values = {0};
	session->values = s->has_statistics ? &values : NULL;
	enum tally_status status = runs_make(session, p, s, err);
	stat_values_deinit(&values);
	session->values = NULL;
	return status;
}

static int leave(const struct stat_session *session)
{
	if (session->signal != 0) { /* as perf: the caller sees the signal */
		signal(session->signal, SIG_DFL);
		raise(session->signal);
	}
	if (session->has_command_status && WIFEXITED(session->command_status))
		return WEXITSTATUS(session->command_status);
	return 0;
}

static int target_fail(const struct cli *cli, const struct command *command, const struct stat_settings *s,
	const struct tally_error *err)
{
	if (s->pids || s->tids) {
		/* perf's words first; what they mean comes last, where it is seen. */
		cli_usagef(cli, command, "pid,tid", "Problems finding threads of monitor");
		fprintf(stderr, "\n%s\n", err->text);
	} else {
		cli_usagef(cli, command, "cpu", "%s", err->text);
	}
	return EXIT_INVALID;
}

/* Tells what a pattern names that does not open. */
static enum tally_status tracepoints_hold(struct tracepoint_hold *hold, const struct stat_session *session,
	const struct stat_printer *p, struct tally_error *err)
{
	struct text left_out = {0};
	enum tally_status status = tracepoint_hold_open(hold, session->kernel, false, session->events, &left_out, err);
	struct tally_str rest = {left_out.data, left_out.len}, line;
	while (status == TALLY_OK && explains(p) && str_next(&rest, '\n', &line) && line.len)
		fprintf(stderr, "%s: %.*s\n", p->cli->program, (int)line.len, line.data);
	text_deinit(&left_out);
	return status;
}

static int stat_with_target(
	const struct cli *cli, const struct command *command, struct stat_settings *s, struct target *target)
{
	const struct kernel_seam *kernel = kernel_seam_linux();
	struct event_list events = {0};
	struct tally_error err = {0};
	locale_t user_locale = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
	const char *thousands = user_locale ? nl_langinfo_l(THOUSEP, user_locale) : "";
	struct stat_printer p = {.cli = cli,
		.settings = s,
		.style = {.separator = s->separator,
			.is_json = s->is_json,
			.has_metrics_only = s->has_metrics_only,
			.thousands = s->has_big_num ? thousands : "",
			.has_csv_summary = !s->no_csv_summary}};
	char *heading = heading_make(s, target);
	p.heading = heading ? heading : "";
	struct record_control control;
	struct stat_record record = {0};
	struct stat_session session = {.kernel = kernel,
		.settings = s,
		.target = target,
		.events = &events,
		.control = s->control.is_given ? &control : NULL};
	int exit_code = stat_events_make(cli, command, kernel, s, target->is_system_wide, &events);
	struct tracepoint_hold hold = {0};
	if (exit_code == 0) {
		enum tally_status status = printer_open(&p, &err);
		if (status == TALLY_OK)
			status = tracepoints_hold(&hold, &session, &p, &err);
		if (status == TALLY_OK && s->recording) {
			status = stat_record_open(&record, s->recording, s->argv, &err);
			session.record = &record;
		}
		if (status == TALLY_OK)
			status = record_control_open(&s->control, &control, &err);
		if (status == TALLY_OK)
			status = measure(&session, &p, s, &err);
		record_control_close(&control);
		if (status == TALLY_OK && session.record)
			status = stat_record_close(&record, &err);
		tracepoint_hold_release(&hold);
		exit_code = status == TALLY_OK ? leave(&session) : cli_fail(cli, &err);
		if (p.fd > STDERR_FILENO && s->output)
			close(p.fd);
	}
	stat_record_deinit(&record);
	stat_session_deinit(&session);
	event_list_deinit(&events);
	text_deinit(&p.text);
	free(heading);
	if (user_locale)
		freelocale(user_locale);
	return exit_code;
}

static const char *set_input(const struct option_use *use)
{
	((struct stat_settings *)use->settings)->recording = use->value;
	return NULL;
}

static const struct option report_options[] = {
	{.name = "input",
		.letter = 'i',
		.kind = OPTION_CALL,
		.argument = "file",
		.call = set_input,
		.help = "the recording (perf.data)"},
	{.name = "no-aggr", .letter = 'A', .kind = OPTION_CALL, .call = set_no_aggr, .help = "one line per CPU"},
	{.name = "per-cache",
		.kind = OPTION_CALL,
		.argument = "level",
		.argument_is_optional = true,
		.call = set_per_cache,
		.help = "one line per cache of this level, as L2 (the last level if none is named)"},
	{.name = "per-core", .kind = OPTION_CALL, .call = set_per_core, .help = "one line per core"},
	{.name = "per-die", .kind = OPTION_CALL, .call = set_per_die, .help = "one line per die"},
	{.name = "per-node", .kind = OPTION_CALL, .call = set_per_node, .help = "one line per NUMA node"},
	{.name = "per-socket", .kind = OPTION_CALL, .call = set_per_socket, .help = "one line per socket"},
};
static const struct option_table report_table = {
	report_options, sizeof(report_options) / sizeof(report_options[0]), false};
static const char *const report_usages[] = {"report [<options>]", NULL};
static const struct command command_stat_report = {
	.name = "stat",
	.summary = "Show the counts of a recording",
	.usages = report_usages,
	.options = &report_table,
};

static void show_round(void *context, const struct stat_report *report)
{
	struct stat_printer *p = context;
	if (report->interval_s >= 0) {
		show_interval(context, report);
		return;
	}
	stat_rows_print(&p->text, report, &p->style);
	(void)printer_flush(p, NULL);
}

/* stat report: options before it say how to print, those after it what. */
static int replay(const struct cli *cli, struct stat_settings *s, int argc, char **argv)
{
	int rest;
	int exit_code = cli_parse_options(cli, &command_stat_report, argc, argv, s, &rest);
	if (exit_code != CLI_GO_ON)
		return exit_code;
	if (rest < argc)
		return cli_usagef(cli, &command_stat_report, NULL, "stat report takes no command");
	struct tally_error err = {0};
	locale_t user_locale = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
	const char *thousands = user_locale ? nl_langinfo_l(THOUSEP, user_locale) : "";
	struct stat_printer p = {.cli = cli,
		.settings = s,
		.style = {.separator = s->separator,
			.is_json = s->is_json,
			.has_metrics_only = s->has_metrics_only,
			.thousands = s->has_big_num ? thousands : "",
			.has_csv_summary = !s->no_csv_summary}};
	struct stat_replay_request request = {.has_mode = s->mode != AGGREGATE_ALL,
		.mode = s->mode,
		.cache_level = s->cache_level,
		.show = show_round,
		.context = &p};
	enum tally_status status = cli_open_recording(s->recording, false, &request.reader, &err);
	if (status == TALLY_OK) {
		status = printer_open(&p, &err);
		if (status == TALLY_OK)
			status = stat_replay(&request, &err);
		if (status == TALLY_OK)
			status = printer_flush(&p, &err);
		cli_print_health(cli, perfdata_reader_health(request.reader));
		perfdata_reader_destroy(request.reader);
	}
	if (p.fd > STDERR_FILENO && s->output)
		close(p.fd);
	text_deinit(&p.text);
	if (user_locale)
		freelocale(user_locale);
	return status == TALLY_OK ? 0 : cli_fail(cli, &err);
}

/* The whole command line, as far as it is of a size that a recording keeps. */
static char *const *command_line_copy(const struct cli *cli, int argc, char **argv, char *line[COMMAND_LINE_MAX])
{
	int len = 0;
	line[len++] = (char *)cli->program;
	for (int i = 0; i < argc && len < COMMAND_LINE_MAX - 1; i++)
		line[len++] = argv[i];
	line[len] = NULL;
	return line;
}

/* stat record: the same options again; -o names the recording. */
static int record_options_take(
	const struct cli *cli, const struct command *command, struct stat_settings *s, int argc, char **argv, int *rest)
{
	int exit_code = cli_parse_options(cli, command, argc, argv, s, rest);
	if (exit_code != CLI_GO_ON)
		return exit_code;
	if (s->runs != 1)
		return cli_failf(cli, "Cannot use -r option with %s stat record.", cli->program);
	if (s->output && strcmp(s->output, "-") == 0)
		return cli_failf(cli, "stat record to a pipe is not supported yet");
	s->recording = s->output ? s->output : "perf.data";
	s->output = NULL;
	return CLI_GO_ON;
}

/* Words of --plan are events, unless -e named some: then they are the command that is not run. */
static bool plan_words_take(struct stat_settings *s, char **argv, int *rest, int argc)
{
	bool has_events = s->words.len > 0;
	for (int i = *rest; i < argc && !has_events; i++)
		if (!vec_push(&s->words, ((struct stat_event_word){WORD_EVENT, argv[i]})))
			return false;
	static char *nothing[] = {NULL};
	bool is_wide = s->all_cpus || s->cpus || s->pids || s->tids;
	if (*rest >= argc || !has_events)
		s->command = is_wide ? NULL : nothing;
	return true;
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct stat_settings s = {.runs = 1, .log_fd = UINT64_MAX, .has_big_num = true, .is_scaling = true};
	char *line[COMMAND_LINE_MAX];
	struct target target = {0};
	struct tally_error err = {0};
	int rest, rest_of_record;
	int exit_code = cli_parse_options(cli, command, argc, argv, &s, &rest);
	if (exit_code != CLI_GO_ON) {
		vec_free(&s.words);
		return exit_code;
	}
	if (rest < argc && strcmp(argv[rest], "report") == 0) {
		exit_code = replay(cli, &s, argc - rest, argv + rest);
		vec_free(&s.words);
		return exit_code;
	}
	if (rest < argc && strcmp(argv[rest], "record") == 0) {
		exit_code = record_options_take(cli, command, &s, argc - rest, argv + rest, &rest_of_record);
		if (exit_code != CLI_GO_ON) {
			vec_free(&s.words);
			return exit_code;
		}
		rest += rest_of_record;
		s.argv = command_line_copy(cli, argc, argv, line);
	}
	s.command = rest < argc ? argv + rest : NULL;
	if (s.recording && (s.compare || s.is_plan || s.has_passes)) {
		vec_free(&s.words);
		return cli_usagef(cli, command, "compare,passes,plan", "stat record counts one command, once");
	}
	if (s.is_plan && !plan_words_take(&s, argv, &rest, argc)) {
		vec_free(&s.words);
		return cli_failf(cli, "out of memory");
	}
	exit_code = s.compare ? stat_compare_options(cli, command, argc, argv, rest, &s) : 0;
	if (exit_code == 0 && s.has_passes && !s.is_plan)
		exit_code = stat_passes_check(cli, command, &s);
	if (exit_code == 0)
		exit_code = settings_check(cli, command, &s);
	struct target_request request = {.pids = s.pids,
		.tids = s.tids,
		.cpus = s.cpus,
		.system_wide = s.all_cpus,
		.has_command = s.command != NULL,
		.per_thread = s.per_thread};
	if (exit_code == 0 && target_resolve(kernel_seam_linux(), &request, &target, &err) != TALLY_OK)
		exit_code = target_fail(cli, command, &s, &err);
	if (exit_code == 0)
		exit_code = stat_with_target(cli, command, &s, &target);
	target_deinit(&target);
	vec_free(&s.words);
	return exit_code;
}

static const char *const usages[] = {"[<options>] [<command>]", "[<options>] record [<options>] [<command>]",
	"[<options>] report [<options>]", NULL};

const struct command command_stat = {
	.name = "stat",
	.summary = "Count events of a command, a process or the machine",
	.usages = usages,
	.options = &table,
	.description = "Counts events while a command runs, or in running processes and threads, on CPUs or on the "
		       "whole machine "
		       "until interrupted, and prints the counts with their ratios on standard error.\n\n"
		       "An event that the machine lacks shows <not supported>, one that never got PMU time <not "
		       "counted>; a line below "
		       "the table tells why. Counts of events that shared the PMU are scaled up, and the share of the "
		       "time that they "
		       "were counted follows in parentheses.\n\n"
		       "The command's exit status is passed on.",
	.examples = (const char *const[]){"count the default events of a command", "tally stat make -j8",
		"five runs, with mean and deviation", "tally stat -r 5 -e task-clock,page-faults ./program",
		"a system call of a running process, for ten seconds",
		"tally stat -e syscalls:sys_enter_write -p 1234 sleep 10", "every second, per CPU, for a spreadsheet",
		"tally stat -a -A -I 1000 -x, -o counts.csv", "medians of twenty runs, with confidence intervals",
		"tally stat -r 20 --stats ./program", "what these events would count here, and whether together",
		"tally stat --plan cycles,instructions,LLC-loads", "which of two commands is faster",
		"tally stat --compare './old 100' './new 100' -r 20", NULL},
	.run = run,
};
