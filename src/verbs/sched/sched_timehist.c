/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/sched/sched_timehist.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/order.h"
#include "base/word_list.h"
#include "cli/number_ranges.h"
#include "tasks/session/trace_fields.h"

#define SCHED_TIMEHIST_NAME_WIDTH 30
#define NEXT_WIDTH		  24
#define PRIO_WIDTH		  8
/* Number of frames that are read in addition to those shown, because the scheduler's own frames are omitted. */
#define CHAIN_EXTRA 2
#define TID_BUCKETS 256 /* perf sorts tasks by tid modulo this number. */

static void sched_timehist_add_task(struct timehist *t, const struct sched_task *task, uint64_t clock)
{
	char room[16];
	struct tally_str name = sched_comm(&t->job->source, task->tid, clock, room);
	text_bytes(t->out, name.data, name.len);
	/* The process is unknown if the task occurs only in events of other tasks, for example when it is woken. */
	if (task->tid == 0 || task->pid < 0)
		return;
	text_printf(t->out, "[%" PRId32, task->tid);
	if (task->pid != task->tid)
		text_printf(t->out, "/%" PRId32, task->pid);
	text_char(t->out, ']');
}

static bool sched_timehist_is_listed(const struct timehist *t, const struct sched_task *task)
{
	const struct sched_settings *settings = t->settings;
	int32_t pid = task->tid == 0 ? 0 : task->pid; /* Idle tasks belong to process 0. */
	return (!settings->pids || word_list_has_number(settings->pids, pid)) &&
	       (!settings->tids || word_list_has_number(settings->tids, task->tid));
}

static void print_head(const struct timehist *t)
{
	struct text *out = t->out;
	bool with_state = t->settings->with_state, with_prio = t->settings->with_prio;
	bool with_pre = t->settings->with_pre_migrations;
	text_printf(out, "%15s %6s  ", "time", "cpu");
	for (uint32_t i = 0; i < t->cpu_columns; i++)
		text_char(out, "0123456789abcdef"[i & 15]);
	text_str(out, t->cpu_columns ? "  " : "");
	text_printf(out, "%-30s%s  %9s  %9s  %9s%s%s\n", "task name", with_prio ? "  prio    " : "", "wait time",
		"sch delay", "run time", with_pre ? "  pre-mig time" : "", with_state ? "  state" : "");
	text_printf(out, "%15s %6s  ", "", "");
	text_repeat(out, ' ', t->cpu_columns ? t->cpu_columns + 2 : 0);
	text_printf(out, "%-30s%s  %9s  %9s  %9s%s%s\n", "[tid/pid]", with_prio ? "          " : "", "(msec)", "(msec)",
		"(msec)", with_pre ? "     (msec)" : "", with_state ? "       " : "");
	text_str(out, "--------------- ------  ");
	text_repeat(out, '-', t->cpu_columns);
	text_str(out, t->cpu_columns ? "  " : "");
	text_repeat(out, '-', SCHED_TIMEHIST_NAME_WIDTH);
	text_printf(out, "%s  ---------  ---------  ---------%s%s\n", with_prio ? "  --------" : "",
		with_pre ? "  ---------" : "", with_state ? "  -----" : "");
}

/* Prints the time, the CPU and the task. mark is printed in the column of the CPU. */
static void begin_row(
	struct timehist *t, const struct sched_event *event, uint64_t time_ns, char mark, const struct sched_task *task)
{
	struct text *out = t->out;
	sched_text_time(out, time_ns, 15);
	text_printf(out, " [%04" PRIu32 "]  ", event->cpu);
	for (uint32_t i = 0; i < t->cpu_columns; i++)
		text_char(out, i == event->cpu ? mark : ' ');
	text_str(out, t->cpu_columns ? "  " : "");
	size_t start = out->len;
	if (task->is_idle)
		text_str(out, "<idle>");
	else
		sched_timehist_add_task(t, task, event->sample.clock);
	text_align_from(out, start, -SCHED_TIMEHIST_NAME_WIDTH);
}

char sched_timehist_state(uint64_t state, bool is_idle)
{
	static const struct {
		uint64_t bit;
		char letter;
	} letters[] = {
		{0x01, 'S'}, {0x02, 'D'}, {0x04, 'T'}, {0x08, 't'}, {0x10, 'X'}, {0x20, 'Z'}, {0x40, 'P'}, {0x80, 'I'}};
	if (is_idle)
		return 'I';
	for (size_t i = 0; i < ARRAY_LEN(letters) && !sched_is_runnable(state); i++)
		if (state & letters[i].bit)
			return letters[i].letter;
	return 'R';
}

static bool is_schedulers_own(const char *symbol)
{
	return strcmp(symbol, "schedule") == 0 || strcmp(symbol, "__schedule") == 0 ||
	       strcmp(symbol, "preempt_schedule") == 0;
}

bool sched_timehist_chain(struct timehist *t, const struct data_sample *s,
	void (*put)(struct timehist *t, const char *symbol), struct tally_error *err)
{
	struct data_source *source = &t->job->source;
	struct resolver *resolver = &source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
	struct resolved_chain chain = resolver_chain_frames(resolver, &where, &whole);
	uint64_t limit = t->settings->max_stack + CHAIN_EXTRA;
	for (size_t i = 0; i < chain.count && i < limit; i++) {
		const struct frame_name *name = frame_names_get(&source->names, chain.frames[i], err);
		if (!name)
			return false;
		const char *symbol = name->symbol ? name->symbol : "[unknown]";
		if (!name->is_kernel || !is_schedulers_own(symbol))
			put(t, symbol);
	}
	if (resolver->failed)
		(void)error_nomem(err);
	return !resolver->failed;
}

static void sched_timehist_print_frame(struct timehist *t, const char *symbol)
{
	text_printf(t->out, "%s%s", t->shown_frames++ ? " <- " : " ", symbol);
}

static void print_next(struct timehist *t, const struct sched_event *event)
{
	struct text *out = t->out;
	text_str(out, " next: ");
	size_t start = out->len;
	(void)trace_text_of(t->job->source.tracepoints, event->sample.sample.raw, STR("next_comm"), out);
	text_printf(out, "[%" PRId32 "]", event->next);
	text_align_from(out, start, -NEXT_WIDTH);
}

static void print_prio(int32_t prio, int32_t before, struct text *out)
{
	text_str(out, "  ");
	size_t start = out->len;
	if (before >= 0 && before != prio)
		text_printf(out, "%" PRId32 "->", before);
	text_i64(out, prio);
	text_align_from(out, start, -PRIO_WIDTH);
}

static enum tally_status sched_timehist_print_switch(
	struct timehist *t, const struct sched_event *event, const struct sched_times *times, struct tally_error *err)
{
	const struct sched_settings *settings = t->settings;
	const struct sched_task *task = &t->history.tasks.items[times->task];
	struct text *out = t->out;
	/* With --idle-hist, a task without times shows which task preceded the idle time. */
	bool has_times = !settings->only_idle || task->is_idle;
	begin_row(t, event, times->time_ns, task->is_idle ? 'i' : 's', task);
	if (settings->with_prio)
		print_prio(event->prio, times->prio_before, out);
	sched_text_ms(out, has_times ? times->wait_ns : 0, 11);
	sched_text_ms(out, has_times ? times->delay_ns : 0, 11);
	sched_text_ms(out, has_times ? times->run_ns : 0, 11);
	if (settings->with_pre_migrations)
		sched_text_ms(out, has_times ? times->pre_migration_ns : 0, 11);
	text_char(out, ' ');
	if (settings->with_state)
		text_printf(out, " %5c ", sched_timehist_state(event->state, task->is_idle));
	if (settings->with_next)
		print_next(t, event);
	else if (settings->with_wakes)
		text_repeat(out, ' ', NEXT_WIDTH + 8);
	if (t->with_chains && !task->is_idle) {
		text_str(out, "  ");
		t->shown_frames = 0;
		if (!sched_timehist_chain(t, &event->sample, sched_timehist_print_frame, err))
			return err->status;
	}
	text_char(out, '\n');
	return TALLY_OK;
}

static bool is_in_span(const struct timehist *t, uint64_t time_ns)
{
	return time_ns >= t->job->from_ns && (t->job->to_ns == 0 || time_ns <= t->job->to_ns);
}

/* Prints what one task did to another, as a row without times. */
static bool sched_timehist_print_other(struct timehist *t, const struct sched_event *event)
{
	bool is_migration = event->kind == SCHED_MIGRATE;
	if (!t->with_rows || t->settings->only_idle || !is_in_span(t, event->time_ns))
		return true;
	const struct sample *sample = &event->sample.sample;
	if (!sched_history_process(&t->history, (int32_t)sample->tid, (int32_t)sample->pid))
		return false;
	uint32_t by = sched_history_task(&t->history, (int32_t)sample->tid);
	uint32_t whom = sched_history_task(&t->history, event->tid);
	if (by == ID_TABLE_NONE || whom == ID_TABLE_NONE)
		return false;
	const struct sched_task *doer = &t->history.tasks.items[by], *other = &t->history.tasks.items[whom];
	if (!sched_timehist_is_listed(t, doer) && !sched_timehist_is_listed(t, other))
		return true;
	if (t->settings->is_json) {
		sched_timehist_json_other(t, event, doer, other);
		return true;
	}
	begin_row(t, event, event->time_ns, is_migration ? 'm' : ' ', doer);
	text_repeat(t->out, ' ', 3 * 11 + 2);
	text_str(t->out, is_migration ? "migrated: " : "awakened: ");
	sched_timehist_add_task(t, other, event->sample.clock);
	if (is_migration)
		text_printf(t->out, " cpu %" PRId32 " => %" PRId32, event->from_cpu, event->to_cpu);
	text_char(t->out, '\n');
	return true;
}

static enum tally_status sched_timehist_take_switch(
	struct timehist *t, const struct sched_event *event, struct tally_error *err)
{
	const struct sched_settings *settings = t->settings;
	const struct sample *sample = &event->sample.sample;
	const struct sched_out out = {.tid = event->tid,
		.prio = event->prio,
		.pid = (int32_t)sample->tid == event->tid ? (int32_t)sample->pid : 0,
		.cpu = event->cpu,
		.time_ns = event->time_ns,
		.left = sched_left_of(event->state)};
	struct sched_times times;
	if (!sched_history_switch(&t->history, &out, &times))
		return error_nomem(err);
	const struct sched_task *task = &t->history.tasks.items[times.task];
	if (times.is_outside || (t->job->cpus && !t->job->cpus[event->cpu]) || !sched_timehist_is_listed(t, task))
		return TALLY_OK;
	if (settings->prios && (event->prio < 0 || event->prio >= SCHED_PRIO_COUNT || !t->prios[event->prio]))
		return TALLY_OK;
	if (settings->only_idle && !task->is_idle && event->next != 0)
		return TALLY_OK;
	t->job->asked++;
	if (!settings->only_idle || task->is_idle)
		sched_history_count(&t->history, &times);
	/* As in perf, idle time of a CPU on which no task has run yet has no row. */
	bool has_row = t->with_rows && (!settings->only_idle || !task->is_idle || times.behind != ID_TABLE_NONE);
	if (!has_row)
		return TALLY_OK;
	return settings->is_json ? sched_timehist_json_switch(t, event, &times, err)
				 : sched_timehist_print_switch(t, event, &times, err);
}

static bool sched_timehist_take_wake(struct timehist *t, const struct sched_event *event)
{
	if (event->kind == SCHED_WAKEUP && t->has_waking)
		return true;
	return sched_history_wake(&t->history, event->tid, event->time_ns) &&
	       (!t->settings->with_wakes || sched_timehist_print_other(t, event));
}

static bool take_migration(struct timehist *t, const struct sched_event *event)
{
	const struct sched_settings *settings = t->settings;
	if (!settings->with_migrations && !settings->with_pre_migrations)
		return true;
	return sched_history_migrate(&t->history, event->tid, event->time_ns) &&
	       (!settings->with_migrations || sched_timehist_print_other(t, event));
}

static enum tally_status sched_timehist_take(
	struct timehist *t, const struct sched_event *event, struct tally_error *err)
{
	bool is_done = true;
	switch (event->kind) {
	case SCHED_SWITCH:
		return sched_timehist_take_switch(t, event, err);
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
	case SCHED_WAKING:
		is_done = sched_timehist_take_wake(t, event);
		break;
	case SCHED_MIGRATE:
		is_done = take_migration(t, event);
		break;
	case SCHED_FORK:
		is_done = sched_history_fork(&t->history, event->tid, event->pid, event->parent);
		break;
	case SCHED_EXIT:
		is_done = sched_history_exit(&t->history, event->tid);
		break;
	case SCHED_NAMED:
		is_done = sched_history_process(&t->history, event->tid, event->pid);
		break;
	case SCHED_LOST:
		is_done = sched_history_lost(
			&t->history, event->cpu < LIMIT_CPUS ? event->cpu : SCHED_ANY_CPU, event->time_ns);
		break;
	case SCHED_UNKNOWN:
	case SCHED_RUNTIME:
	case SCHED_KINDS:
		break;
	}
	return is_done ? TALLY_OK : error_nomem(err);
}

static bool has_row(const struct timehist *t, const struct sched_task *task)
{
	return !task->is_idle && sched_timehist_spread(t, task)->count > 0;
}

static void print_sums(struct timehist *t, const struct sched_task *task)
{
	struct text *out = t->out;
	const struct sched_spread *spread = sched_timehist_spread(t, task);
	size_t start = out->len;
	sched_timehist_add_task(t, task, UINT64_MAX);
	text_align_from(out, start, SCHED_TIMEHIST_NAME_WIDTH);
	text_printf(out, "  %6" PRId32 "  %9" PRIu64, task->parent, spread->count);
	sched_text_ms(out, spread->total_ns, 13);
	if (t->settings->with_state) {
		sched_text_ms(out, task->slept_ns, 11);
		sched_text_ms(out, task->blocked_ns, 12);
		sched_text_ms(out, task->preempted_ns, 12);
		sched_text_ms(out, task->delayed_ns, 12);
		text_str(out, " \n");
		return;
	}
	sched_text_ms(out, spread->min_ns, 11);
	sched_text_ms(out, spread->total_ns / spread->count, 12);
	sched_text_ms(out, spread->max_ns, 12);
	text_str(out, "   ");
	text_fixed_right(out, sched_spread_percent(spread), 2, 5);
	text_printf(out, "  %6" PRIu64 "\n", task->migrations);
}

static int sched_timehist_compare_tasks(const void *left, const void *right, void *context)
{
	const struct sched_task *tasks = context;
	const struct sched_task *a = &tasks[*(const uint32_t *)left], *b = &tasks[*(const uint32_t *)right];
	uint32_t bucket_a = (uint32_t)a->tid % TID_BUCKETS, bucket_b = (uint32_t)b->tid % TID_BUCKETS;
	if (bucket_a != bucket_b)
		return bucket_a < bucket_b ? -1 : 1;
	return COMPARE(a->tid, b->tid);
}

static void print_summary_head(const struct timehist *t)
{
	bool only_idle = t->settings->only_idle;
	const char *count = only_idle ? "sched-out" : "sched-in";
	const char *what = only_idle ? "Idle-time" : t->settings->with_state ? "Wait-time" : "Runtime";
	const char *run = only_idle ? "idle-time" : "run-time";
	text_printf(t->out, "\n%s summary\n%30s  parent  %9s    %9s", what, "comm", count, run);
	if (t->settings->with_state)
		text_printf(t->out,
			"  %9s   %9s   %9s   %9s\n%30s  %6s  %9s     (msec)     (msec)      (msec)      (msec)"
			"       (msec)\n",
			"   sleep", "  iowait", " preempt", "   delay", "", "", "(count)");
	else
		text_printf(t->out,
			"%11s%12s%12s  stddev  migrations\n%30s  %6s  %9s       (msec)     (msec)      (msec)      "
			"(msec)"
			"       %%\n",
			only_idle ? "min-idle" : "min-run", only_idle ? "avg-idle" : "avg-run",
			only_idle ? "max-idle" : "max-run", "", "", "(count)");
	text_repeat(t->out, '-', 117);
	text_char(t->out, '\n');
}

static void sched_timehist_print_idle(const struct timehist *t, uint64_t whole_ns)
{
	struct text *out = t->out;
	text_str(out, "\nIdle stats:\n");
	for (uint32_t cpu = 0; cpu < t->history.cpus.len; cpu++) {
		const struct sched_spread *idle = sched_timehist_idle(t, cpu);
		if (!idle)
			continue;
		if (idle->total_ns == 0) {
			text_printf(out, "    CPU %2" PRIu32 " idle entire time window\n", cpu);
			continue;
		}
		text_printf(out, "    CPU %2" PRIu32 " idle for ", cpu);
		sched_text_ms(out, idle->total_ns, 10);
		text_str(out, "  msec  (");
		text_fixed_right(out, whole_ns ? 100.0 * (double)idle->total_ns / (double)whole_ns : 0, 2, 6);
		text_str(out, "%)\n");
	}
}

const struct sched_spread *sched_timehist_idle(const struct timehist *t, uint32_t cpu)
{
	uint32_t id = t->history.cpus.items[cpu].idle;
	if (id == ID_TABLE_NONE || (t->job->cpus && !t->job->cpus[cpu]))
		return NULL;
	return &t->history.tasks.items[id].run;
}

static void sched_timehist_print_tasks(struct timehist *t, const struct timehist_sums *sums)
{
	print_summary_head(t);
	for (int exited = 0; exited < 2; exited++) {
		uint64_t listed = 0;
		if (exited)
			text_str(t->out, "\nTerminated tasks:\n");
		for (uint64_t i = 0; i < sums->rows; i++) {
			const struct sched_task *task = &t->history.tasks.items[sums->order[i]];
			if (task->has_exited != exited)
				continue;
			print_sums(t, task);
			listed++;
		}
		if (listed == 0)
			text_printf(t->out, "<no %s tasks>\n", exited ? "terminated" : "still running");
	}
}

static void sched_timehist_print_sums(struct timehist *t, const struct timehist_sums *sums)
{
	uint64_t whole_ns = t->history.last_ns - t->history.first_ns;
	sched_timehist_print_tasks(t, sums);
	if (!sums->has_cpus)
		return;
	sched_timehist_print_idle(t, whole_ns);
	text_printf(t->out, "\n    Total number of unique tasks: %" PRIu64 "\n", sums->rows);
	text_printf(t->out,
		"Total number of context switches: %" PRIu64 "\n           Total run time (msec): ", sums->switches);
	sched_text_ms(t->out, sums->run_ns, 6);
	text_str(t->out, " \n    Total scheduling time (msec): ");
	sched_text_ms(t->out, whole_ns, 6);
	text_printf(t->out, "  (x %" PRIu32 ")\n", sums->cpus);
}

static enum tally_status sched_timehist_show_summary(struct timehist *t, struct tally_error *err)
{
	const struct sched_history *h = &t->history;
	uint32_t *order = calloc(h->tasks.len + 1, sizeof(*order));
	if (!order)
		return error_nomem(err);
	struct timehist_sums sums = {.order = order,
		.cpus = (uint32_t)MAX(h->cpus.len, sched_cpu_count(&t->job->source)),
		.has_cpus = !t->settings->pids && !t->settings->tids};
	for (uint32_t i = 0; i < h->tasks.len; i++)
		if (has_row(t, &h->tasks.items[i]))
			order[sums.rows++] = i;
	qsort_r(order, sums.rows, sizeof(*order), sched_timehist_compare_tasks, h->tasks.items);
	for (uint64_t i = 0; i < sums.rows; i++) {
		sums.switches += sched_timehist_spread(t, &h->tasks.items[order[i]])->count;
		sums.run_ns += sched_timehist_spread(t, &h->tasks.items[order[i]])->total_ns;
	}
	for (uint32_t cpu = 0; cpu < h->cpus.len; cpu++)
		sums.switches += sched_timehist_idle(t, cpu) ? sched_timehist_idle(t, cpu)->count : 0;
	if (t->settings->is_json)
		sched_timehist_json_summary(t, &sums);
	else
		sched_timehist_print_sums(t, &sums);
	free(order);
	return TALLY_OK;
}

static void find_chains(struct timehist *t)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(t->job->source.reader, &count);
	for (size_t i = 0; i < count; i++)
		if (str_equal(events[i].name, STR("sched:sched_switch")) &&
			(events[i].attr.sample_type & SAMPLE_CALLCHAIN))
			t->with_chains = t->settings->with_chains;
	if (t->settings->with_chains && !t->with_chains)
		cli_failf(t->job->cli, "Samples do not have callchains.");
}

/* As in perf, there is one column more than CPUs, and there are five if the number of CPUs was not recorded. */
static uint32_t visual_columns(const struct data_source *source)
{
	return perfdata_reader_features(source->reader)->cpus_online ? sched_cpu_count(source) + 1 : 5;
}

enum tally_status sched_print_timehist(struct sched_job *job, struct text *out, struct tally_error *err)
{
	const struct sched_settings *settings = job->settings;
	struct timehist t = {.job = job, .settings = settings, .out = out, .with_rows = !settings->only_summary};
	struct sched_event event;
	enum tally_status status = TALLY_OK;
	if (settings->prios && !number_ranges_parse(settings->prios, SCHED_PRIO_COUNT, t.prios))
		return error_set(err, TALLY_INVALID, "Invalid prio string");
	sched_history_init(&t.history);
	t.history.from_ns = job->from_ns;
	t.history.to_ns = job->to_ns;
	t.has_waking = sched_events_have(&job->source, SCHED_WAKING);
	t.cpu_columns = settings->with_cpus ? visual_columns(&job->source) : 0;
	find_chains(&t);
	if (settings->is_json)
		sched_timehist_json_begin(&t);
	else if (t.with_rows)
		print_head(&t);
	while ((status = sched_job_next(job, &event, err)) == TALLY_OK) {
		status = sched_timehist_take(&t, &event, err);
		if (status != TALLY_OK || !text_line_end(out))
			break;
	}
	/* If the recording is damaged, the events before the damage are still summed up. */
	bool is_through = status != TALLY_OK && status != TALLY_NOMEM;
	if (settings->is_json)
		json_array_end(&t.json);
	if (is_through && (settings->only_summary || settings->with_summary)) {
		struct tally_error failure;
		enum tally_status shown = sched_timehist_show_summary(&t, &failure);
		if (shown != TALLY_OK) {
			status = shown;
			*err = failure;
		}
	}
	job->cut = t.history.cut;
	if (settings->is_json)
		sched_timehist_json_end(&t);
	sched_history_deinit(&t.history);
	return status == TALLY_END ? TALLY_OK : status;
}
