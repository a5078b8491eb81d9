#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/cpu_filter.h"
#include "cli/data_source.h"
#include "cli/lock_places.h"
#include "cli/lock_text.h"
#include "cli/output_file.h"
#include "cli/recording_input.h"
#include "cli/report_dump.h"
#include "cli/trace_fields.h"
#include "cli/word_list.h"

#include "base/limits.h"

#define DEFAULT_SKIP	  3
#define DEFAULT_MAX_STACK 8

struct settings {
	const char *input, *kallsyms, *vmlinux, *key, *fields, *separator, *cpus, *pids, *tids, *types, *callers,
		*locks, *output;
	uint64_t entries, max_stack, skip;
	bool force, quiet, by_thread, by_address, combine, is_map, all_cpus, dump;
	unsigned verbose;
};

#define ROW(member) .offset = offsetof(struct settings, member)

static const struct option options[] = {
	{"all-cpus", 'a', OPTION_FLAG, ROW(all_cpus), .help = "contention: what happened on every CPU (the default)"},
	{"combine-locks", 'c', OPTION_FLAG, ROW(combine), .help = "report: locks of one name in one row"},
	{"cpu", 'C', OPTION_STRING, "cpu", ROW(cpus), .help = "contention: only what happened on these CPUs"},
	{"dump-raw-trace", 'D', OPTION_FLAG, ROW(dump), .help = "first every record, as report -D shows it"},
	{"entries", 'E', OPTION_U64, "n", ROW(entries), .help = "show so many rows"},
	{"field", 'F', OPTION_STRING, "field[,field...]", ROW(fields),
		.help = "columns: acquired contended avg_wait wait_total wait_max wait_min"},
	{"field-separator", 'x', OPTION_STRING, "separator", ROW(separator),
		.help = "contention: plain numbers (ns) with this between them"},
	{"force", 'f', OPTION_FLAG, ROW(force), .help = "read also what another user owns"},
	{"input", 'i', OPTION_STRING, "file", ROW(input), .help = "input file name"},
	{"kallsyms", 0, OPTION_STRING, "file", ROW(kallsyms), .help = "kallsyms pathname"},
	{"key", 'k', OPTION_STRING, "field", ROW(key),
		.help = "sort by this field (report: acquired, contention: wait_total)"},
	{"lock-addr", 'l', OPTION_FLAG, ROW(by_address), .help = "contention: one row per lock"},
	{"lock-filter", 'L', OPTION_STRING, "lock[,lock...]", ROW(locks),
		.help = "contention: only these locks, by address or by the name of the kernel's variable"},
	{"map", 'm', OPTION_FLAG, ROW(is_map), .help = "info: addresses of locks and their names"},
	{"max-stack", 0, OPTION_U64, "n", ROW(max_stack),
		.help = "contention: frames of a caller's stack that count (8)"},
	{"output", 0, OPTION_STRING, "file", ROW(output), .help = "where the table goes (standard error)"},
	{"pid", 'p', OPTION_STRING, "pid[,pid...]", ROW(pids), .help = "contention: only these processes"},
	{"quiet", 'q', OPTION_FLAG, ROW(quiet), .help = "no warnings or notes"},
	{"callstack-filter", 'S', OPTION_STRING, "name[,name...]", ROW(callers),
		.help = "contention: only where one of these stands in a function's name of the stack"},
	{"stack-skip", 0, OPTION_U64, "n", ROW(skip), .help = "contention: frames passed over to find the caller (3)"},
	{"threads", 't', OPTION_FLAG, ROW(by_thread), .help = "one row per thread; info: the threads"},
	{"tid", 0, OPTION_STRING, "tid[,tid...]", ROW(tids), .help = "contention: only these threads"},
	{"type-filter", 'Y', OPTION_STRING, "type[,type...]", ROW(types),
		.help = "contention: only locks of these types (spinlock, rwsem:R, mutex, ...)"},
	{"verbose", 'v', OPTION_COUNT, ROW(verbose), .help = "contention: the stack below each row"},
	{"vmlinux", 0, OPTION_STRING, "file", ROW(vmlinux), .help = "vmlinux pathname"},
	{"use-bpf", 'b', OPTION_UNSUPPORTED, .help = "use BPF program to collect lock contention stats"},
	{"lock-owner", 'o', OPTION_UNSUPPORTED, .help = "show lock owners instead of waiters"},
	{"lock-cgroup", 'g', OPTION_UNSUPPORTED, .help = "show lock stats by cgroup"},
	{"cgroup-filter", 'G', OPTION_UNSUPPORTED, "cgroups", .help = "filter specific cgroups"},
	{"map-nr-entries", 0, OPTION_UNSUPPORTED, "num", .help = "max number of BPF map entries"},
};
static const struct option_table table = {options, sizeof(options) / sizeof(options[0]), false};

enum lock_verb { VERB_REPORT, VERB_CONTENTION, VERB_INFO };

struct lock_job {
	const struct cli *cli;
	const struct settings *settings;
	enum lock_verb verb;
	enum lock_layout layout;
	struct data_source source;
	struct lock_waits waits;
	VEC(struct lock_label) labels; /* by row of waits */
	struct intern names; /* of locks and stacks that make rows */
	struct id_table classes; /* addresses of locks, with -c */
	VEC(uint32_t) class_names; /* by id of classes: in names */
	struct arena arena;
	bool *cpus;
	uint64_t events; /* of locks */
};

enum lock_event { EVENT_NONE, EVENT_BEGIN, EVENT_END, EVENT_CONTENDED, EVENT_ACQUIRED };

static enum lock_event event_of(const struct perfdata_event *event)
{
	static const struct {
		const char *name;
		enum lock_event event;
	} known[] = {{"lock:contention_begin", EVENT_BEGIN}, {"lock:contention_end", EVENT_END},
		{"lock:lock_contended", EVENT_CONTENDED}, {"lock:lock_acquired", EVENT_ACQUIRED}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_equal(event->name, str_from(known[i].name)))
			return known[i].event;
	return EVENT_NONE;
}

static bool is_type_listed(const char *list, uint32_t flags)
{
	struct tally_str type = str_from(lock_type_name(flags));
	while (list && *list) {
		size_t len = strcspn(list, ",");
		/* A type without its side stands for both. */
		if ((len == type.len || (len < type.len && type.data[len] == ':')) && memcmp(list, type.data, len) == 0)
			return true;
		list += len + (list[len] == ',');
	}
	return !list;
}

static bool is_lock_listed(const char *list, uint64_t address, struct tally_str name)
{
	struct tally_str rest = str_from(list), part;
	while (str_next(&rest, ',', &part)) {
		char *end;
		if (part.len > 0 && strtoull(part.data, &end, 16) == address && end == part.data + part.len)
			return true;
		if (part.len > 0 && str_equal(part, name))
			return true;
	}
	return false;
}

static bool intern_id(struct lock_job *job, const void *data, size_t len, uint64_t *id)
{
	uint32_t interned;
	if (!intern_add(&job->names, data, len, &interned))
		return false;
	*id = interned;
	return true;
}

static bool add_label(struct lock_job *job, const char *name, size_t len, uint64_t number, const struct text *stack)
{
	struct lock_label label = {.name = arena_string(&job->arena, name, len), .number = number};
	if (stack && stack->len > 0)
		label.stack = arena_string(&job->arena, stack->data, stack->len);
	return label.name && vec_push(&job->labels, label);
}

/* A lock is of the class that it was first seen in. */
static bool class_of(struct lock_job *job, uint64_t address, struct tally_str *name)
{
	bool is_new;
	uint32_t id = id_table_add(&job->classes, &address, &is_new);
	if (id == ID_TABLE_NONE)
		return false;
	if (is_new) {
		uint64_t named;
		if (!intern_id(job, name->data, name->len, &named) || !vec_push(&job->class_names, (uint32_t)named))
			return false;
	}
	*name = intern_get(&job->names, job->class_names.items[id]);
	return true;
}

/* The row that a wait of this sample belongs to. */
static bool find_row(struct lock_job *job, const struct data_sample *s, uint64_t address, const struct lock_caller *c,
	struct tally_str name, uint32_t *row)
{
	const struct settings *settings = job->settings;
	uint64_t key[LOCK_ROW_WORDS] = {0};
	char room[16];
	if (settings->by_thread) {
		key[0] = s->sample.tid;
		name = data_source_comm(&job->source, s, room);
	} else if (job->layout == LOCK_BY_CALLER) {
		if (!intern_id(job, c->frames, c->count * sizeof(*c->frames), &key[0]))
			return false;
	} else if (settings->combine) {
		if (!class_of(job, address, &name) || !intern_id(job, name.data, name.len, &key[0]))
			return false;
	} else {
		key[0] = address;
	}
	bool is_new;
	if (!lock_waits_row(&job->waits, key, row, &is_new))
		return false;
	uint64_t number = settings->by_thread ? (uint64_t)(int64_t)(int32_t)s->sample.tid : address;
	return !is_new || add_label(job, name.data, name.len, number, &c->stack);
}

/* What is known of a lock and of who waits for it. */
struct lock_wait_names {
	struct text lock; /* its class, where lockdep tells it; its variable, where that is asked for */
	struct lock_caller caller;
	bool has_class, is_whole; /* is_whole: the name is the lock's own, not that of what it is a part of */
};

static bool read_names(struct lock_job *job, const struct data_sample *s, uint64_t address, enum lock_event event,
	struct lock_wait_names *n, struct tally_error *err)
{
	const struct settings *settings = job->settings;
	const struct lock_caller_options callers = {
		.names = settings->callers, .max_stack = settings->max_stack, .skip = settings->skip};
	n->has_class = trace_text_of(job->source.tracepoints, s->sample.raw, STR("name"), &n->lock);
	n->is_whole = n->has_class;
	if (!n->has_class && (job->layout == LOCK_BY_ADDRESS || settings->locks) &&
		!lock_symbol_read(&job->source, s, address, &n->lock, &n->is_whole, err))
		return false;
	n->caller.passes = true;
	return event == EVENT_ACQUIRED || lock_caller_read(&job->source, s, &callers, &n->caller, err);
}

static bool begin_wait(struct lock_job *job, const struct data_sample *s, uint64_t address, enum lock_event event,
	struct tally_error *err)
{
	const struct settings *settings = job->settings;
	struct lock_wait wait = {.tid = (int32_t)s->sample.tid, .address = address, .time_ns = s->sample.time};
	uint64_t flags = 0;
	(void)trace_number_of(job->source.tracepoints, s->sample.raw, STR("flags"), &flags);
	wait.flags = event == EVENT_BEGIN ? (uint32_t)flags : 0;
	if (!is_type_listed(settings->types, wait.flags))
		return true;
	struct lock_wait_names n = {0};
	bool is_done = read_names(job, s, address, event, &n, err);
	struct tally_str lock = {n.lock.data ? n.lock.data : "", n.is_whole ? n.lock.len : 0};
	bool is_wanted = n.caller.passes && (!settings->locks || is_lock_listed(settings->locks, address, lock));
	const struct text *shown = n.has_class || job->layout == LOCK_BY_ADDRESS ? &n.lock : &n.caller.name;
	struct tally_str label = {shown->data ? shown->data : "", shown->len};
	if (is_done && is_wanted)
		is_done = find_row(job, s, address, &n.caller, label, &wait.row);
	if (is_done && is_wanted && event == EVENT_ACQUIRED)
		lock_waits_acquire(&job->waits, &wait);
	else if (is_done && is_wanted)
		is_done = lock_waits_begin(&job->waits, &wait);
	text_deinit(&n.lock);
	lock_caller_deinit(&n.caller);
	return is_done;
}

static bool is_wanted(const struct lock_job *job, const struct data_sample *s)
{
	const struct settings *settings = job->settings;
	if (job->cpus && (s->sample.cpu >= LIMIT_CPUS || !job->cpus[s->sample.cpu]))
		return false;
	return (!settings->pids || word_list_has_number(settings->pids, (int32_t)s->sample.pid)) &&
	       (!settings->tids || word_list_has_number(settings->tids, (int32_t)s->sample.tid));
}

static enum tally_status read_events(struct lock_job *job, struct tally_error *err)
{
	struct data_sample sample;
	enum tally_status status;
	while ((status = data_source_next(&job->source, &sample, err)) == TALLY_OK) {
		enum lock_event event = event_of(sample.event);
		uint64_t address;
		if (event == EVENT_NONE || !is_wanted(job, &sample))
			continue;
		job->events++;
		/* The address has had two names. */
		if (!trace_number_of(job->source.tracepoints, sample.sample.raw, STR("lock_addr"), &address))
			(void)trace_number_of(
				job->source.tracepoints, sample.sample.raw, STR("lockdep_addr"), &address);
		if (event == EVENT_END)
			lock_waits_end(&job->waits, (int32_t)sample.sample.tid, address, sample.sample.time);
		else if (!begin_wait(job, &sample, address, event, err))
			return error_nomem(err);
	}
	lock_waits_finish(&job->waits);
	/* With -S, -Y and -L, the ends of waits that are left out have no begin. */
	if (job->settings->callers || job->settings->types || job->settings->locks)
		job->waits.unbegun = 0;
	return status == TALLY_END ? TALLY_OK : status;
}

static enum tally_status read_columns(
	const char *list, enum lock_column *columns, size_t *count, struct tally_error *err)
{
	*count = 0;
	while (*list) {
		size_t len = strcspn(list, ",");
		enum lock_column column = lock_column_of((struct tally_str){list, len});
		if (column == LOCK_COLUMNS || *count == LOCK_COLUMNS)
			return error_set(
				err, TALLY_INVALID, "Unknown output field: %.*s", (int)(len < 40 ? len : 40), list);
		columns[(*count)++] = column;
		list += len + (list[len] == ',');
	}
	return TALLY_OK;
}

static enum tally_status print_table(const struct lock_job *job, struct text *out, struct tally_error *err)
{
	static const enum lock_column of_report[] = {
		LOCK_ACQUIRED, LOCK_CONTENDED, LOCK_AVG_WAIT, LOCK_WAIT_TOTAL, LOCK_WAIT_MAX, LOCK_WAIT_MIN};
	static const enum lock_column of_contention[] = {LOCK_CONTENDED, LOCK_WAIT_TOTAL, LOCK_WAIT_MAX, LOCK_AVG_WAIT};
	const struct settings *settings = job->settings;
	bool is_report = job->verb == VERB_REPORT;
	enum lock_column asked[LOCK_COLUMNS];
	struct lock_table t = {
		.rows = job->waits.rows.items,
		.labels = job->labels.items,
		.count = job->waits.rows.len,
		.layout = job->layout,
		.key = is_report ? LOCK_ACQUIRED : LOCK_WAIT_TOTAL,
		.columns = is_report ? of_report : of_contention,
		.column_count = is_report ? LOCK_COLUMNS : sizeof(of_contention) / sizeof(of_contention[0]),
		.limit = settings->entries,
		.separator = settings->separator,
		.with_stacks = settings->verbose > 0 && job->layout == LOCK_BY_CALLER,
	};
	if (settings->key)
		t.key = lock_column_of(str_from(settings->key));
	if (t.key == LOCK_COLUMNS)
		return error_set(err, TALLY_INVALID, "Unknown compare key: %s", settings->key);
	if (settings->fields) {
		enum tally_status status = read_columns(settings->fields, asked, &t.column_count, err);
		if (status != TALLY_OK)
			return status;
		bool has_key = false;
		for (size_t i = 0; i < t.column_count; i++)
			has_key = has_key || asked[i] == t.key;
		if (!has_key && t.column_count < LOCK_COLUMNS)
			asked[t.column_count++] = t.key;
		t.columns = asked;
	}
	return lock_table_print(&t, out) ? TALLY_OK : error_nomem(err);
}

static void print_info(const struct lock_job *job, struct text *out)
{
	const struct settings *settings = job->settings;
	text_str(out, settings->by_thread ? " Thread ID: comm\n" : "Address of instance: name of class\n");
	for (size_t i = 0; i < job->labels.len; i++) {
		const struct lock_label *label = &job->labels.items[i];
		if (settings->by_thread)
			text_printf(out, "%10" PRId64 ": %s\n", (int64_t)label->number, label->name);
		else
			text_printf(out, " 0x%" PRIx64 ": %s\n", label->number, label->name);
	}
}

static void print_notes(const struct lock_job *job)
{
	const struct lock_waits *w = &job->waits;
	if (job->settings->quiet)
		return;
	cli_print_health(job->cli, &job->source.sideband.health);
	if (job->events == 0)
		cli_failf(job->cli, "no lock events in this recording: make one with '%s lock record'",
			job->cli->program);
	if (job->settings->locks && job->labels.len == 0)
		cli_failf(job->cli, "note: nobody waited for the locks of --lock-filter");
	if (w->unended + w->unbegun > 0)
		cli_failf(job->cli,
			"note: %" PRIu64 " waits had no end and %" PRIu64
			" ends no begin in this recording: not counted",
			w->unended, w->unbegun);
}

static enum lock_layout layout_of(const struct settings *settings, enum lock_verb verb)
{
	if (verb != VERB_CONTENTION)
		return LOCK_BY_NAME;
	return settings->by_thread ? LOCK_BY_THREAD : settings->by_address ? LOCK_BY_ADDRESS : LOCK_BY_CALLER;
}

static enum tally_status open_job(struct lock_job *job, struct tally_error *err)
{
	const struct settings *settings = job->settings;
	const struct binary_store_options store = {.kallsyms = settings->kallsyms, .vmlinux = settings->vmlinux};
	const struct data_input input = {.path = settings->input, .force = settings->force, .store = &store};
	struct perfdata_reader *reader;
	enum tally_status status = settings->cpus ? cpu_filter_parse(settings->cpus, &job->cpus, err) : TALLY_OK;
	if (status == TALLY_OK)
		status = cli_open_recording(input.path, input.force, &reader, err);
	if (status != TALLY_OK)
		return status;
	if (settings->dump)
		status = report_dump_first(job->cli, reader, input.path, err);
	if (status == TALLY_OK)
		return data_source_take(job->cli, &input, reader, NULL, &job->source, err);
	perfdata_reader_destroy(reader);
	return status;
}

static void close_job(struct lock_job *job)
{
	lock_waits_deinit(&job->waits);
	vec_free(&job->labels);
	intern_deinit(&job->names);
	id_table_deinit(&job->classes);
	vec_free(&job->class_names);
	arena_deinit(&job->arena);
	data_source_close(&job->source);
	free(job->cpus);
}

/* 0, or the exit code after a message. */
static int print_job(const struct lock_job *job)
{
	const char *path = job->settings->output;
	struct tally_error err;
	struct text out = {0};
	int fd = STDERR_FILENO; /* where perf prints it */
	if (path && output_file_open(path, job->settings->input, &fd, &err) != TALLY_OK)
		return cli_fail(job->cli, &err);
	text_to_fd(&out, fd);
	enum tally_status status = TALLY_OK;
	if (job->verb == VERB_INFO)
		print_info(job, &out);
	else if (job->events > 0)
		status = print_table(job, &out, &err);
	int code = cli_finish_text(job->cli, &out);
	if (fd > STDERR_FILENO && close(fd) != 0 && code == 0)
		code = cli_failf(job->cli, "%s: %s", path, strerror(errno));
	return status == TALLY_OK ? code : cli_fail(job->cli, &err);
}

static int show(const struct cli *cli, const struct settings *settings, enum lock_verb verb)
{
	struct lock_job job = {.cli = cli, .settings = settings, .verb = verb, .layout = layout_of(settings, verb)};
	struct tally_error err;
	lock_waits_init(&job.waits);
	job.classes.words = 1;
	intern_init(&job.names);
	arena_init(&job.arena);
	enum tally_status status = open_job(&job, &err);
	int code = 0;
	if (status == TALLY_OK) {
		status = read_events(&job, &err);
		print_notes(&job);
		code = print_job(&job);
	}
	uint64_t events = job.events;
	close_job(&job);
	if (status == TALLY_END) /* nobody reads the records */
		return 0;
	if (status != TALLY_OK)
		return cli_fail(cli, &err);
	return code ? code : events == 0 ? EXIT_FAILED : 0;
}

static int record(const struct cli *cli, int argc, char **argv)
{
	/* Kernels built with lockdep tell more: every lock by its name, also where nobody waits. */
	static const char *const contention[] = {"record", "-R", "-c", "1", "-m", "1024", "--call-graph", "fp", "-e",
		"lock:contention_begin,lock:contention_end", NULL};
	return cli_run_verb(cli, &command_record, contention, argc, argv);
}

/* The name of an option that was given but does not go with the verb; NULL: none. */
static const char *misplaced(const struct settings *s, enum lock_verb verb)
{
	const struct {
		bool is_given, goes;
		const char *name;
	} uses[] = {
		{s->by_address, verb == VERB_CONTENTION, "lock-addr"},
		{s->locks, verb == VERB_CONTENTION, "lock-filter"},
		{s->all_cpus, verb == VERB_CONTENTION, "all-cpus"},
		{s->combine, verb == VERB_REPORT, "combine-locks"},
		{s->is_map, verb == VERB_INFO, "map"},
		{s->key, verb != VERB_INFO, "key"},
		{s->fields, verb != VERB_INFO, "field"},
		{s->entries, verb != VERB_INFO, "entries"},
		{s->separator, verb != VERB_INFO, "field-separator"},
		{s->verbose, verb == VERB_CONTENTION, "verbose"},
	};
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].is_given && !uses[i].goes)
			return uses[i].name;
	return NULL;
}

static int show_if_meant(const struct cli *cli, const struct command *command, const struct settings *settings,
	enum lock_verb verb, const char *word)
{
	const char *wrong = misplaced(settings, verb);
	if (wrong)
		return cli_usagef(cli, command, wrong, "--%s does not go with %s", wrong, word);
	if (settings->by_thread && settings->by_address)
		return cli_usagef(cli, command, "threads,lock-addr", "Cannot use thread and addr mode together");
	if (settings->all_cpus && settings->cpus)
		return cli_usagef(cli, command, "all-cpus,cpu", "--all-cpus does not go with --cpu");
	return show(cli, settings, verb);
}

static int run(const struct cli *cli, const struct command *command, int argc, char **argv)
{
	struct settings settings = {.max_stack = DEFAULT_MAX_STACK, .skip = DEFAULT_SKIP};
	static const char *const script[] = {"script", NULL};
	int rest;
	if (argc > 1 && strcmp(argv[1], "record") == 0)
		return record(cli, argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "script") == 0)
		return cli_run_verb(cli, &command_script, script, argc - 2, argv + 2);
	int code = cli_parse_options(cli, command, argc, argv, &settings, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest >= argc)
		return cli_usagef(
			cli, command, NULL, "lock needs a command: record, report, script, info or contention");
	if (rest + 1 < argc)
		return cli_usagef(cli, command, NULL, "%s takes options only, not '%s'", argv[rest], argv[rest + 1]);
	if (settings.max_stack == 0 || settings.max_stack > LOCK_MAX_STACK)
		return cli_failf(cli, "--max-stack is 1 to %d", LOCK_MAX_STACK);
	if (strcmp(argv[rest], "report") == 0)
		return show_if_meant(cli, command, &settings, VERB_REPORT, argv[rest]);
	if (strcmp(argv[rest], "contention") == 0 || strcmp(argv[rest], "con") == 0)
		return show_if_meant(cli, command, &settings, VERB_CONTENTION, argv[rest]);
	if (strcmp(argv[rest], "info") != 0)
		return cli_usagef(cli, command, NULL, "Unknown command: %s", argv[rest]);
	if (settings.by_thread == settings.is_map)
		return cli_usagef(cli, command, "threads,map", "info needs either -t or -m");
	return show_if_meant(cli, command, &settings, VERB_INFO, argv[rest]);
}

static const char *const usages[] = {"[<options>] {record|report|script|info|contention}", NULL};
static const char *const examples[] = {
	"the waits of a program for locks of the kernel",
	"tally lock record ./program",
	"who waited longest, by caller; by thread; by lock",
	"tally lock contention; tally lock contention -t; tally lock contention -l",
	NULL,
};

const struct command command_lock = {
	.name = "lock",
	.summary = "Analyze lock events",
	.usages = usages,
	.options = &table,
	.description = "Shows who waited for locks of the kernel and how long, from the begin and the end of each wait "
		       "(lock:contention_begin and _end), or from the events of a kernel with lockdep. 'record' passes "
		       "its words to record, 'script' to script. The tables go to standard error, as perf's do.",
	.examples = examples,
	.run = run,
};
