/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/unknown_command.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/report_dump.h"
#include "verbs/lock/lock_job.h"
#include "verbs/lock/lock_json.h"
#include "verbs/lock/lock_live.h"
#include "verbs/lock/lock_places.h"

#define ROW_LIMIT_LIVE	       16384 /* Default of --map-nr-entries with -b: the size of perf's map. */
#define ROW_LIMIT_DEFAULT      UINT64_MAX
#define DEFAULT_SKIP	       3
#define LOCK_DEFAULT_MAX_STACK 8

#define ROW(member) .offset = offsetof(struct lock_settings, member)

static const struct option lock_options[] = {
	{"all-cpus", 'a', OPTION_FLAG, ROW(all_cpus), .help = "contention: what happened on every CPU (the default)"},
	{"combine-locks", 'c', OPTION_FLAG, ROW(combine), .help = "report: locks of one name in one row"},
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(cpus), .help = "contention: only what happened on these CPUs"},
	{"dump-raw-trace", 'D', OPTION_FLAG, ROW(dump), .help = "print every record first, as report -D does"},
	{"entries", 'E', OPTION_U64, "n", ROW(entries), .help = "show at most this many rows"},
	{"field", 'F', OPTION_STRING, "field[,field...]", ROW(fields),
		.help = "columns: acquired contended avg_wait wait_total wait_max wait_min"},
	{"field-separator", 'x', OPTION_STRING, "separator", ROW(separator),
		.help = "contention: plain numbers (ns) separated by this text"},
	INPUT_OPTIONS(struct lock_settings, input),
	{"json", 0, OPTION_FLAG, ROW(is_json), .help = "JSON on standard output, see docs/schema/lock.json"},
	{"key", 'k', OPTION_STRING, "field", ROW(key),
		.help = "sort by this field (report: acquired, contention: wait_total)"},
	{"lock-addr", 'l', OPTION_FLAG, ROW(by_address), .help = "contention: one row per lock"},
	{"lock-filter", 'L', OPTION_STRING, "lock[,lock...]", ROW(locks),
		.help = "contention: only these locks, by address or by the name of the kernel's variable"},
	{"map", 'm', OPTION_FLAG, ROW(is_map), .help = "info: addresses of locks and their names"},
	{"max-stack", 0, OPTION_U64, "n", ROW(max_stack),
		.help = "contention: number of frames of a caller's stack to compare (8)"},
	{"output", 0, OPTION_STRING, "file", ROW(output), .help = "output file of the table (default: standard error)"},
	{"pid", 'p', OPTION_STRING, "pid[,pid...]", ROW(pids), .help = "contention: only these processes"},
	{"quiet", 'q', OPTION_FLAG, ROW(quiet), .help = "no titles of tables, no warnings or notes"},
	{"callstack-filter", 'S', OPTION_STRING, "name[,name...]", ROW(callers),
		.help = "contention: only stacks with a function whose name contains one of these texts"},
	{"stack-skip", 0, OPTION_U64, "n", ROW(skip),
		.help = "contention: number of frames to skip when looking for the caller (3)"},
	{"threads", 't', OPTION_FLAG, ROW(by_thread), .help = "one row per thread; info: the threads"},
	{"tid", 0, OPTION_STRING, "tid[,tid...]", ROW(tids), .help = "contention: only these threads"},
	{"type-filter", 'Y', OPTION_STRING, "type[,type...]", ROW(types),
		.help = "contention: only locks of these types (spinlock, rwsem:R, mutex, ...)"},
	{"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "contention: the stack below each row"},
	/* This option has no letter, because -k is --key. */
	{"vmlinux", 0, OPTION_STRING, "file", ROW(symbols.vmlinux), .help = "vmlinux pathname"},
	SYMBOL_OPTIONS(struct lock_settings, symbols),
	{"use-bpf", 'b', OPTION_FLAG, ROW(is_live),
		.help = "contention: watch live, without a recording: a command, the target of -a, -C, -p or --tid, "
			"or all CPUs until Ctrl-C; a BPF program adds up waits in the kernel"},
	{"lock-owner", 'o', OPTION_FLAG, ROW(by_owner),
		.help = "contention -b: one row per thread that held a mutex or an rwsem when a wait began (needs "
			"BPF)"},
	{"lock-cgroup", 'g', OPTION_FLAG, ROW(by_cgroup),
		.help = "contention: one row per cgroup of the waiting threads"},
	{"cgroup-filter", 'G', OPTION_STRING, "cgroup[,cgroup...]", ROW(cgroups),
		.help = "contention: only threads in these cgroups, by their paths"},
	{"map-nr-entries", 'M', OPTION_U64, "n", ROW(row_limit),
		.help = "contention: make at most this many rows, and count the waits beyond them (with -b: 16384)"},
	{"inject-delay", 'J', OPTION_UNSUPPORTED, "time@func", .help = "contention: hold some locks longer",
		.refusal = "this needs a program inside the kernel that runs while the lock is held"},
};
#undef ROW
static const struct option_table lock_table = {lock_options, ARRAY_LEN(lock_options), true};

static enum tally_status cmd_lock_read_columns(
	const char *list, enum lock_column *columns, size_t *count, struct tally_error *err)
{
	*count = 0;
	while (*list) {
		size_t len = strcspn(list, ",");
		enum lock_column column = lock_column_of((struct tally_str){list, len});
		if (column == LOCK_COLUMNS || *count == LOCK_COLUMNS)
			return error_set(err, TALLY_INVALID, "Unknown output field: %.*s", (int)(MIN(len, 40)), list);
		columns[(*count)++] = column;
		list += len + (list[len] == ',');
	}
	return TALLY_OK;
}

static bool cmd_lock_has_column(const struct lock_table *t, enum lock_column column)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i] == column)
			return true;
	return false;
}

/* Prepares everything in the table but its rows. */
static enum tally_status choose_table(
	const struct lock_job *job, enum lock_column asked[LOCK_COLUMNS], struct lock_table *t, struct tally_error *err)
{
	static const enum lock_column of_report[] = {
		LOCK_ACQUIRED, LOCK_CONTENDED, LOCK_AVG_WAIT, LOCK_WAIT_TOTAL, LOCK_WAIT_MAX, LOCK_WAIT_MIN};
	static const enum lock_column of_contention[] = {LOCK_CONTENDED, LOCK_WAIT_TOTAL, LOCK_WAIT_MAX, LOCK_AVG_WAIT};
	const struct lock_settings *settings = job->settings;
	bool is_report = job->verb == VERB_REPORT;
	*t = (struct lock_table){
		.layout = job->layout,
		.key = is_report ? LOCK_ACQUIRED : LOCK_WAIT_TOTAL,
		.columns = asked,
		.column_count = is_report ? LOCK_COLUMNS : ARRAY_LEN(of_contention),
		.limit = settings->entries,
		.separator = settings->separator,
		.without_titles = settings->quiet,
		.with_stacks = settings->verbose > 0 && job->layout == LOCK_BY_CALLER,
	};
	if (settings->key)
		t->key = lock_column_of(str_from(settings->key));
	if (t->key == LOCK_COLUMNS)
		return error_set(err, TALLY_INVALID, "Unknown compare key: %s", settings->key);
	memcpy(asked, is_report ? of_report : of_contention, t->column_count * sizeof(*asked));
	enum tally_status status =
		settings->fields ? cmd_lock_read_columns(settings->fields, asked, &t->column_count, err) : TALLY_OK;
	if (status == TALLY_OK && !cmd_lock_has_column(t, t->key) && t->column_count < LOCK_COLUMNS)
		asked[t->column_count++] = t->key;
	return status;
}

static int cmd_lock_compare_numbers(const void *a, const void *b)
{
	int64_t left = (int64_t)((const struct lock_label *)a)->number;
	int64_t right = (int64_t)((const struct lock_label *)b)->number;
	return COMPARE(left, right);
}

static void cmd_lock_print_losses(const struct lock_job *job)
{
	const struct {
		uint64_t count;
		const char *what;
	} losses[] = {
		{job->lost.missed, "events of the machine came where no BPF program may run: those of what is watched "
				   "are not counted"},
		{job->lost.without_wait, "waits are not counted: too many lasted at a time; raise --map-nr-entries"},
		{job->lost.without_stack,
			"waits have no stack: there are too many different ones; raise --map-nr-entries"},
		{job->lost.without_task, "threads of the command were not followed; raise --map-nr-entries"},
	};
	for (size_t i = 0; i < ARRAY_LEN(losses); i++)
		if (losses[i].count > 0)
			cli_failf(job->cli, "note: %" PRIu64 " %s", losses[i].count, losses[i].what);
}

static void cmd_lock_print_notes(const struct lock_job *job)
{
	const struct lock_settings *settings = job->settings;
	const struct lock_waits *w = &job->waits;
	/* Printed even with -q, because losses change the meaning of the rows. */
	cli_print_health(job->cli, &job->source.pass.sideband.health);
	if (job->events == 0 && job->left_out > 0 && !settings->is_live)
		cli_failf(job->cli,
			"none of the %" PRIu64 " lock events here is of the CPUs, processes or threads asked for",
			job->left_out);
	else if (job->events == 0 && !settings->is_live)
		cli_failf(job->cli, "no lock events in this recording: make one with '%s lock record'",
			job->cli->program);
	if (settings->quiet)
		return;
	cmd_lock_print_losses(job);
	if (settings->locks && job->labels.len == 0)
		cli_failf(job->cli, "note: no thread waited for a lock that passes --lock-filter");
	if (w->others.acquired > 0)
		cli_failf(job->cli,
			"note: %" PRIu64 " waits of %" PRIu64
			" ns in total are in no row, because there are %zu rows already: raise --map-nr-entries",
			w->others.acquired, w->others.total_ns, w->rows.len);
	if (w->unended + w->unbegun > 0)
		cli_failf(job->cli, "note: %" PRIu64 " waits had no end and %" PRIu64 " ends no begin %s: not counted",
			w->unended, w->unbegun, settings->is_live ? "meanwhile" : "in this recording");
}

static enum tally_status cmd_lock_read_events(struct lock_job *job, struct tally_error *err)
{
	struct data_sample sample;
	struct record_fields fields;
	enum tally_status status;
	job->source.with_sideband = job->source.with_losses = true;
	while ((status = data_source_next(&job->source, &sample, err)) == TALLY_OK) {
		/* Waits that will have no end are dropped: all of them after lost events, which may contain the ends,
		 * and those of a thread that exits. */
		if (sample.event) {
			status = lock_job_take(job, &sample, err);
			if (status != TALLY_OK)
				return status;
		} else if (sample.record.type == RECORD_LOST) {
			lock_waits_give_up(&job->waits);
		} else if (sample.record.type == RECORD_EXIT &&
			   record_decode(&sample.record, &fields, NULL) == TALLY_OK) {
			lock_waits_end_thread(&job->waits, (int32_t)fields.task.tid);
		}
	}
	lock_job_finish(job);
	return status == TALLY_END ? TALLY_OK : status;
}

/* Where the table is printed, and how. */
struct cmd_lock_output {
	int fd; /* Standard error, as in perf; standard output for JSON. */
	struct output_file file; /* The file of -o. */
	struct lock_table table;
	enum lock_column asked[LOCK_COLUMNS];
};

/* Returns 0, or the exit code after an error message. */
static int print_job(const struct lock_job *job, struct cmd_lock_output *output)
{
	struct text out = {0};
	bool is_whole = true;
	text_to_fd(&out, output->fd);
	text_separated_by(&out, output->table.separator);
	if (job->verb == VERB_INFO && job->settings->by_thread &&
		job->labels.len > 1) /* Locks remain in the order in which they were first seen. */
		qsort(job->labels.items, job->labels.len, sizeof(*job->labels.items), cmd_lock_compare_numbers);
	output->table.rows = job->waits.rows.items;
	output->table.labels = job->labels.items;
	output->table.count = job->verb == VERB_INFO ? job->labels.len : job->waits.rows.len;
	if (job->settings->is_json)
		is_whole = lock_json(job, &output->table, &out);
	else if (job->verb == VERB_INFO)
		lock_table_info(&output->table, job->settings->by_thread, &out, NULL);
	else if (job->events > 0 || job->settings->is_live)
		is_whole = lock_table_print(&output->table, &out);
	int code = cli_finish_text(job->cli, &out);
	return is_whole ? code : cli_failf(job->cli, "out of memory");
}

static int close_output(const struct lock_job *job, struct cmd_lock_output *output, int code)
{
	struct tally_error err;
	enum tally_status status = code == 0 ? TALLY_OK : TALLY_IO;
	if (!job->settings->output || output_file_finish(&output->file, status, &err) == TALLY_OK || code != 0)
		return code;
	return cli_fail(job->cli, &err);
}

static enum tally_status cmd_lock_open_output(
	struct cmd_lock_output *output, const char *path, const char *input, struct tally_error *err)
{
	enum tally_status status = output_file_open(path, input, &output->file, err);
	output->fd = output->file.fd;
	return status;
}

/* Prints the notes and the table of a job. status is that of reading its events; returns the exit code. */
static int show_job(
	struct lock_job *job, struct cmd_lock_output *output, enum tally_status status, struct tally_error *err)
{
	cmd_lock_print_notes(job);
	int code = print_job(job, output);
	if (status == TALLY_END) /* The reader of the output has exited. */
		return 0;
	if (status != TALLY_OK)
		return cli_fail(job->cli, err);
	return code ? code : job->events == 0 && !job->settings->is_live ? EXIT_FAILED : 0;
}

static int show_file(struct lock_job *job, struct cmd_lock_output *output)
{
	struct tally_error err;
	const struct lock_settings *settings = job->settings;
	const struct data_input input = {.file = settings->input, .symbols = settings->symbols};
	enum tally_status status = data_source_open_reader(&input, &job->source, &err);
	if (status == TALLY_OK && settings->dump)
		status = report_dump_first(job->cli, job->source.reader, input.file.path, &err);
	if (status == TALLY_OK)
		status = data_source_read(job->cli, &input, &job->source, &err);
	if (status == TALLY_OK)
		status = lock_job_begin(job, &err);
	if (status == TALLY_END) /* The reader of the output has exited. */
		return 0;
	if (status == TALLY_OK && settings->output)
		status = cmd_lock_open_output(output, settings->output, input.file.path, &err);
	if (status != TALLY_OK)
		return cli_fail(job->cli, &err);
	status = cmd_lock_read_events(job, &err);
	return show_job(job, output, status, &err);
}

static int show_live(struct lock_job *job, struct cmd_lock_output *output, const struct lock_live_config *config,
	struct lock_live **live)
{
	struct tally_error err;
	const char *path = job->settings->output;
	if (path && cmd_lock_open_output(output, path, NULL, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	int code = lock_live_open(config, live);
	if (code != 0)
		return code;
	enum tally_status status = lock_live_run(*live, &err);
	code = show_job(job, output, status, &err);
	return code ? code : lock_live_exit_code(*live);
}

/* watched is the target of -b, and receives the job. */
static int cmd_lock_show(const struct cli *cli, const struct lock_settings *settings, enum lock_verb verb,
	struct lock_live_config *watched)
{
	struct cmd_lock_output output = {.file = {.fd = -1}, .fd = settings->is_json ? STDOUT_FILENO : STDERR_FILENO};
	struct lock_live *live = NULL;
	struct lock_job job;
	struct tally_error err;
	enum tally_status status = lock_job_init(&job, cli, settings, verb, &err);
	if (status == TALLY_OK)
		status = choose_table(&job, output.asked, &output.table, &err);
	watched->job = &job;
	int code = status != TALLY_OK  ? cli_fail(cli, &err)
		   : settings->is_live ? show_live(&job, &output, watched, &live)
				       : show_file(&job, &output);
	code = close_output(&job, &output, code);
	lock_job_deinit(&job);
	lock_live_close(live);
	return code;
}

static int cmd_lock_record(const struct cli *cli, int argc, char **argv)
{
	/* Kernels with lockdep have more events (each lock by name, even without waits), which are not recorded. */
	static const char *const contention[] = {"record", "-R", "-c", "1", "-m", "1024", "--call-graph", "fp", "-e",
		"lock:contention_begin,lock:contention_end", NULL};
	return cli_run_verb(cli, &command_record, contention, argc, argv);
}

static int cmd_lock_script(const struct cli *cli, const struct lock_settings *settings, int argc, char **argv)
{
	const char *const of_input[] = {"script", "-i", settings->input.path, NULL};
	static const char *const plain[] = {"script", NULL};
	return cli_run_verb(cli, &command_script, settings->input.path ? of_input : plain, argc, argv);
}

/* Returns the name of an option that was given but does not apply to the verb; NULL if there is none. */
static const char *cmd_lock_misplaced(const struct lock_settings *s, enum lock_verb verb)
{
	const struct {
		bool is_given, goes;
		const char *name;
	} uses[] = {
		{s->by_address, verb == VERB_CONTENTION, "lock-addr"},
		{s->locks, verb == VERB_CONTENTION, "lock-filter"},
		{s->all_cpus, verb == VERB_CONTENTION, "all-cpus"},
		{s->is_live, verb == VERB_CONTENTION, "use-bpf"},
		{s->by_owner, verb == VERB_CONTENTION, "lock-owner"},
		{s->by_cgroup, verb == VERB_CONTENTION, "lock-cgroup"},
		{s->cgroups, verb == VERB_CONTENTION, "cgroup-filter"},
		{s->row_limit != ROW_LIMIT_DEFAULT, verb == VERB_CONTENTION, "map-nr-entries"},
		{s->combine, verb == VERB_REPORT, "combine-locks"},
		{s->is_map, verb == VERB_INFO, "map"},
		{s->key, verb != VERB_INFO, "key"},
		{s->fields, verb != VERB_INFO, "field"},
		{s->entries, verb != VERB_INFO, "entries"},
		{s->separator, verb != VERB_INFO, "field-separator"},
	};
	for (size_t i = 0; i < ARRAY_LEN(uses); i++)
		if (uses[i].is_given && !uses[i].goes)
			return uses[i].name;
	return NULL;
}

/* The verb, the words after it (with -b, a command), and the whole command line. */
struct verb_words {
	const char *verb;
	char **behind, **all;
};

static int show_if_meant(const struct cli *cli, const struct command *command, struct lock_settings *settings,
	enum lock_verb verb, const struct verb_words *words)
{
	struct lock_live_config watched = {.words = words->behind, .argv = words->all};
	const char *wrong = cmd_lock_misplaced(settings, verb);
	if (wrong)
		return cli_usagef(cli, command, wrong, "--%s does not go with %s", wrong, words->verb);
	if (words->behind[0] && !settings->is_live)
		return cli_usagef(cli, command, NULL, "unexpected argument '%s'%s", words->behind[0],
			verb == VERB_CONTENTION ? ": -b watches a command" : "");
	if (settings->by_owner && !settings->is_live)
		return cli_usagef(cli, command, "lock-owner,use-bpf",
			"--lock-owner needs --use-bpf: who holds a lock stands in its memory while it is held");
	settings->by_thread |= settings->by_owner;
	if (settings->by_thread && settings->by_address)
		return cli_usagef(cli, command, "threads,lock-addr", "Cannot use thread and addr mode together");
	if (settings->by_cgroup && (settings->by_thread || settings->by_address))
		return cli_usagef(cli, command, "lock-cgroup,threads,lock-addr",
			"--lock-cgroup does not go with --threads or --lock-addr");
	if (settings->all_cpus && settings->cpus)
		return cli_usagef(cli, command, "all-cpus,cpu", "--all-cpus does not go with --cpu");
	wrong = settings->separator ? "field-separator" : settings->dump ? "dump-raw-trace" : NULL;
	if (settings->is_json && wrong)
		return cli_usagef(cli, command, wrong, "--%s does not go with --json", wrong);
	wrong = settings->input.path ? "input" : settings->dump ? "dump-raw-trace" : NULL;
	if (settings->is_live && wrong)
		return cli_usagef(
			cli, command, wrong, "--%s does not go with --use-bpf, which reads no recording", wrong);
	if (settings->row_limit == ROW_LIMIT_DEFAULT)
		settings->row_limit = settings->is_live ? ROW_LIMIT_LIVE : 0;
	else if (settings->row_limit == 0)
		return cli_usagef(cli, command, "map-nr-entries", "--map-nr-entries is 1 at least");
	return cmd_lock_show(cli, settings, verb, &watched);
}

/* Prints threads, then locks, if neither or both are requested, as in perf 7.x. The recording is then read twice. */
static int show_info(const struct cli *cli, const struct command *command, struct lock_settings *settings,
	const struct verb_words *words)
{
	if (settings->by_thread != settings->is_map)
		return show_if_meant(cli, command, settings, VERB_INFO, words);
	bool is_stream = settings->input.path && strcmp(settings->input.path, "-") == 0;
	if (is_stream || settings->is_json || settings->output)
		return cli_usagef(
			cli, command, "threads,map", "info of a pipe, to a file or with --json needs either -t or -m");
	struct lock_settings threads = *settings, map = *settings;
	threads.by_thread = map.is_map = true;
	threads.is_map = map.by_thread = false;
	int code = show_if_meant(cli, command, &threads, VERB_INFO, words);
	if (code != 0)
		return code;
	fputc('\n', stderr);
	return show_if_meant(cli, command, &map, VERB_INFO, words);
}

static int cmd_lock_run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct lock_settings settings = {
		.max_stack = LOCK_DEFAULT_MAX_STACK, .skip = DEFAULT_SKIP, .row_limit = ROW_LIMIT_DEFAULT};
	int rest;
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code == CLI_GO_ON && rest >= argc)
		return cli_usagef(
			cli, command, NULL, "lock needs a command: record, report, script, info or contention");
	/* Options may precede and follow the verb. */
	char **verb = argv + rest;
	if (code == CLI_GO_ON && cli_is_subverb(verb[0], "record"))
		return cmd_lock_record(cli, argc - rest - 1, verb + 1);
	if (code == CLI_GO_ON && strcmp(verb[0], "script") == 0)
		return cmd_lock_script(cli, &settings, argc - rest - 1, verb + 1);
	if (code == CLI_GO_ON)
		code = cli_parse_options(cli, command, argc - rest, verb, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	const struct verb_words words = {verb[0], verb + rest, argv};
	if (settings.max_stack == 0 || settings.max_stack > LOCK_MAX_STACK)
		return cli_failf(cli, "--max-stack is 1 to %d", LOCK_MAX_STACK);
	if (cli_is_subverb(words.verb, "report"))
		return show_if_meant(cli, command, &settings, VERB_REPORT, &words);
	if (cli_is_subverb(words.verb, "contention"))
		return show_if_meant(cli, command, &settings, VERB_CONTENTION, &words);
	if (strcmp(words.verb, "info") != 0)
		return unknown_subcommand(cli, command, words.verb);
	return show_info(cli, command, &settings, &words);
}

static const char *const lock_usages[] = {
	"[<options>] {record|report|script|info|contention}", "[<options>] contention -b [<command>]", NULL};
static const char *const lock_examples[] = {
	"record how a program waits for locks of the kernel",
	"tally lock record ./program",
	"show who waited longest, by caller; by thread; by lock",
	"tally lock contention; tally lock contention -t; tally lock contention -l",
	"show what the whole machine waits for, for a second, without a recording",
	"tally lock contention -ab -- sleep 1",
	NULL,
};

const struct command command_lock = {
	.name = "lock",
	.summary = "Analyze lock events",
	.usages = lock_usages,
	.options = &lock_table,
	.description =
		"Shows who waited for locks of the kernel and how long, from the begin and the end of each wait "
		"(lock:contention_begin and _end), or from the events of a kernel with lockdep. 'record' passes its "
		"arguments to tally record, 'script' to tally script. The tables are printed on standard error, as "
		"perf prints them.\n\n"
		"'contention -b' adds up the same events as they happen, without a recording: of a command with its "
		"threads and children, or of the target of -a, -C, -p or --tid, until the command ends or Ctrl-C. A "
		"BPF program adds up the waits in the kernel; if the system refuses it, each wait costs two records, "
		"which this process reads (not with -o, which needs BPF). Waits that find no room are counted and "
		"reported. "
		"Rows are those of 'record --kernel-callchains'. It needs root, or CAP_BPF and CAP_PERFMON; without "
		"BPF it needs the rights of 'record -a' of tracepoints.",
	.examples = lock_examples,
	.run = cmd_lock_run,
};
