/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/sched/sched_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sched_latency.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/order.h"
#include "tasks/session/recording_input.h"
#include "verbs/sched/sched_histogram.h"
#include "view/table/cells.h"

#define MAX_KEYS	       8
#define SCHED_TEXT_JSON_SCHEMA 1

enum sched_text_key {
	SCHED_TEXT_KEY_RUNTIME,
	SCHED_TEXT_KEY_SWITCH,
	SCHED_TEXT_KEY_AVG,
	SCHED_TEXT_KEY_MAX,
	SCHED_TEXT_KEY_PID,
	SCHED_TEXT_KEYS
};

static const char *const key_names[SCHED_TEXT_KEYS] = {"runtime", "switch", "avg", "max", "pid"};

struct sched_text_row {
	struct sched_latency_task sum;
	uint32_t tasks;
	struct tally_str name;
};

struct order {
	enum sched_text_key keys[MAX_KEYS];
	size_t count;
	bool by_pid;
};

enum tally_status sched_job_next(struct sched_job *job, struct sched_event *event, struct tally_error *err)
{
	enum tally_status status = sched_events_next(&job->source, event, err);
	if (status == TALLY_OK)
		job->seen[event->kind]++;
	return status;
}

void sched_text_time(struct text *out, uint64_t ns, size_t width)
{
	uint64_t us = ns / 1000;
	text_u64_right(out, us / 1000000, width - 7);
	text_printf(out, ".%06" PRIu64, us % 1000000);
}

void sched_text_ms(struct text *out, uint64_t ns, size_t width)
{
	uint64_t us = ns / 1000;
	text_u64_right(out, us / 1000, width - 4);
	text_printf(out, ".%03" PRIu64, us % 1000);
}

static enum sched_text_key sched_text_key_of(const char *word, size_t len)
{
	int i = 0;
	while (i < SCHED_TEXT_KEYS && !(strlen(key_names[i]) == len && memcmp(key_names[i], word, len) == 0))
		i++;
	return (enum sched_text_key)i;
}

const char *sched_latency_unknown_key(const char *keys)
{
	while (*keys) {
		size_t len = strcspn(keys, ",");
		if (sched_text_key_of(keys, len) == SCHED_TEXT_KEYS)
			return keys;
		keys += len + (keys[len] == ',');
	}
	return NULL;
}

static void sched_text_read_keys(const char *keys, struct order *order)
{
	while (*keys && order->count < MAX_KEYS) {
		size_t len = strcspn(keys, ",");
		order->keys[order->count++] = sched_text_key_of(keys, len);
		keys += len + (keys[len] == ',');
	}
}

static uint64_t sched_text_value_of(const struct sched_text_row *row, enum sched_text_key key)
{
	switch (key) {
	case SCHED_TEXT_KEY_RUNTIME:
		return row->sum.runtime_ns;
	case SCHED_TEXT_KEY_SWITCH:
		return row->sum.waits;
	case SCHED_TEXT_KEY_AVG:
		return row->sum.waits ? row->sum.wait_ns / row->sum.waits : 0;
	case SCHED_TEXT_KEY_MAX:
		return row->sum.max_ns;
	case SCHED_TEXT_KEY_PID:
		return (uint32_t)row->sum.tid;
	case SCHED_TEXT_KEYS:
		break;
	}
	return 0;
}

static int sched_text_compare_names(const struct sched_text_row *a, const struct sched_text_row *b)
{
	size_t len = MIN(a->name.len, b->name.len);
	int by_bytes = len ? memcmp(a->name.data, b->name.data, len) : 0;
	return by_bytes ? by_bytes : COMPARE(a->name.len, b->name.len);
}

static int sched_text_compare_rows(const void *left, const void *right, void *context)
{
	const struct sched_text_row *a = left, *b = right;
	const struct order *order = context;
	for (size_t i = 0; i < order->count; i++) {
		uint64_t of_a = sched_text_value_of(a, order->keys[i]), of_b = sched_text_value_of(b, order->keys[i]);
		if (of_a != of_b)
			return of_a < of_b ? 1 : -1;
	}
	int by_name = order->by_pid ? 0 : sched_text_compare_names(b, a);
	return by_name ? by_name : (a->sum.tid < b->sum.tid) - (a->sum.tid > b->sum.tid);
}

static int compare_for_merge(const void *left, const void *right)
{
	const struct sched_text_row *a = left, *b = right;
	int by_name = sched_text_compare_names(a, b);
	return by_name ? by_name : COMPARE(a->sum.tid, b->sum.tid);
}

static void sched_text_merge(struct sched_text_row *into, const struct sched_text_row *row)
{
	into->tasks++;
	into->sum.runtime_ns += row->sum.runtime_ns;
	into->sum.waits += row->sum.waits;
	into->sum.wait_ns += row->sum.wait_ns;
	if (row->sum.max_ns > into->sum.max_ns) {
		into->sum.max_ns = row->sum.max_ns;
		into->sum.max_from_ns = row->sum.max_from_ns;
		into->sum.max_to_ns = row->sum.max_to_ns;
	}
}

/* Merges rows with equal names, and returns the number of rows. */
static size_t merge_rows(struct sched_text_row *rows, size_t count)
{
	size_t kept = 0;
	if (count > 1)
		qsort(rows, count, sizeof(*rows), compare_for_merge);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && sched_text_compare_names(&rows[kept - 1], &rows[i]) == 0)
			sched_text_merge(&rows[kept - 1], &rows[i]);
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

static const struct cell_column latency_columns[] = {
	{"", .width = -24, .after = "|"},
	{.key = "comm"},
	{.key = "tid"},
	{.key = "tasks"},
	{"", "runtime_ns", 11, LOOK_MS, 3, .after = " ms |"},
	{"", "switches", 9, .after = " |"},
	{.key = "delay_total_ns"},
	{.key = "delay_avg_ns"},
	{"", NULL, 8, LOOK_PLAIN, 3, .before = " avg:", .after = " ms |"},
	{"", "delay_max_ns", 8, LOOK_MS, 3, .before = " max:", .after = " ms |"},
	{"", "delay_max_start_ns", 12, LOOK_SECONDS, .before = " max start: ", .after = " s |"},
	{"", "delay_max_end_ns", 12, LOOK_SECONDS, .before = " max end: ", .after = " s"},
};

/* Prints the rows of tasks that waited. */
static void sched_text_put_rows(const struct cells *table, const struct sched_text_row *rows, size_t count)
{
	struct text label = {0};
	for (size_t i = 0; i < count; i++) {
		const struct sched_latency_task *sum = &rows[i].sum;
		bool is_one = rows[i].tasks == 1;
		if (sum->waits == 0)
			continue;
		text_clear(&label);
		text_printf(&label, is_one ? "  %.*s:%" PRId64 : "  %.*s:(%" PRId64 ")", (int)rows[i].name.len,
			rows[i].name.data, is_one ? (int64_t)sum->tid : (int64_t)rows[i].tasks);
		const struct cell row[ARRAY_LEN(latency_columns)] = {cell_text(text_view(&label)),
			cell_text(rows[i].name), is_one ? cell_i64(sum->tid) : cell_name(NULL), cell_u64(rows[i].tasks),
			cell_u64(sum->runtime_ns), cell_u64(sum->waits), cell_u64(sum->wait_ns),
			cell_u64(sum->wait_ns / sum->waits), cell_f64((double)sum->wait_ns / (double)sum->waits / 1e6),
			cell_u64(sum->max_ns), cell_u64(sum->max_from_ns), cell_u64(sum->max_to_ns)};
		cells_row(table, row);
	}
	table->out->failed |= label.failed;
	text_deinit(&label);
}

static void sched_text_print_rule(struct text *out, size_t len)
{
	text_char(out, ' ');
	text_repeat(out, '-', len);
	text_char(out, '\n');
}

static void sched_text_print_table(
	const struct sched_latency *l, const struct sched_text_row *rows, size_t count, struct text *out)
{
	const struct cells table = {.columns = latency_columns, .count = ARRAY_LEN(latency_columns), .out = out};
	uint64_t runtime_ns = 0, waits = 0;
	text_char(out, '\n');
	sched_text_print_rule(out, 139);
	text_str(out, "  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    |"
		      " Max delay start           | Max delay end          |\n");
	sched_text_print_rule(out, 139);
	sched_text_put_rows(&table, rows, count);
	for (size_t i = 0; i < count; i++) {
		runtime_ns += rows[i].sum.waits ? rows[i].sum.runtime_ns : 0;
		waits += rows[i].sum.waits;
	}
	sched_text_print_rule(out, 113);
	text_str(out, "  TOTAL:                |");
	text_fixed_right(out, (double)runtime_ns / 1e6, 3, 11);
	text_printf(out, " ms |%9" PRIu64 " |\n", waits);
	sched_text_print_rule(out, 51);
	if (l->wrong_switches > 0 && l->wakes > 0) {
		text_str(out, "  INFO: ");
		text_fixed(out, 100.0 * (double)l->wrong_switches / (double)l->wakes, 3);
		text_printf(
			out, "%% context switch bugs (%" PRIu64 " out of %" PRIu64 ")\n", l->wrong_switches, l->wakes);
	}
	text_char(out, '\n');
}

static bool sched_histogram_is_linear(const struct sched_settings *settings)
{
	return settings->histogram_mode && strcmp(settings->histogram_mode, "linear") == 0;
}

static void put_tasks(const struct sched_job *job, const struct sched_latency *l, const struct sched_text_row *rows,
	size_t count, struct text *out)
{
	const char *path = recording_name(job->settings->input.path);
	struct json j = {.out = out};
	const struct cells table = {
		.columns = latency_columns, .count = ARRAY_LEN(latency_columns), .out = out, .json = &j};
	json_object(&j, NULL);
	json_u64(&j, "schema", SCHED_TEXT_JSON_SCHEMA);
	json_string(&j, "path", str_from(path));
	json_array(&j, "latency");
	sched_text_put_rows(&table, rows, count);
	json_array_end(&j);
	if (job->settings->with_histogram || job->settings->histogram_mode)
		sched_histogram_json(l, sched_histogram_is_linear(job->settings), "histogram", &j);
	json_u64(&j, "wakeups", l->wakes);
	json_u64(&j, "context_switch_bugs", l->wrong_switches);
	json_u64(&j, "lost_events", job->source.pass.sideband.health.lost_events);
	json_u64(&j, "cut_delays", l->cut);
	json_object_end(&j);
}

static bool sched_text_take(struct sched_job *job, struct sched_latency *l, const struct sched_event *event)
{
	bool is_within = event->time_ns >= job->from_ns && (job->to_ns == 0 || event->time_ns <= job->to_ns);
	bool is_counted = is_within && (!job->cpus || job->cpus[event->cpu]);
	switch (event->kind) {
	case SCHED_SWITCH: {
		job->asked += is_counted;
		const struct sched_switch s = {.prev = event->tid,
			.next = event->next,
			.prev_is_runnable = sched_is_runnable(event->state),
			.time_ns = event->time_ns,
			.cpu = event->cpu,
			.is_counted = is_counted};
		return sched_latency_switch(l, &s);
	}
	case SCHED_RUNTIME:
		return sched_latency_run(l, event->tid, event->time_ns, is_counted ? event->ran_ns : 0);
	case SCHED_WAKING:
		if (!job->settings->with_waking)
			return true;
		return sched_latency_wake(l, event->tid, event->time_ns);
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		return sched_latency_wake(l, event->tid, event->time_ns);
	case SCHED_LOST:
		sched_latency_lost(l, event->cpu < LIMIT_CPUS ? event->cpu : SCHED_LATENCY_ANY_CPU, event->time_ns);
		break;
	case SCHED_UNKNOWN:
	case SCHED_MIGRATE:
	case SCHED_FORK:
	case SCHED_EXIT:
	case SCHED_NAMED:
	case SCHED_KINDS:
		break;
	}
	return true;
}

static enum tally_status print_tasks(
	struct sched_job *job, const struct sched_latency *l, struct text *out, struct tally_error *err)
{
	struct order order = {.by_pid = job->settings->by_pid};
	sched_text_read_keys(job->settings->sort ? job->settings->sort : "avg,max,switch,runtime", &order);
	struct sched_text_row *rows = calloc(l->tasks.len + 1, sizeof(*rows));
	if (!rows)
		return error_nomem(err);
	struct arena arena;
	arena_init(&arena);
	bool is_done = true;
	size_t count = 0;
	for (size_t i = 0; i < l->tasks.len; i++) {
		if (l->tasks.items[i].tid == 0)
			continue;
		struct sched_text_row *row = &rows[count++];
		*row = (struct sched_text_row){.sum = l->tasks.items[i], .tasks = 1};
		char room[16];
		struct tally_str name = sched_comm(&job->source, row->sum.tid, UINT64_MAX, room);
		char *kept = arena_string(&arena, name.data, name.len);
		is_done = is_done && kept;
		row->name = (struct tally_str){kept, kept ? name.len : 0};
	}
	if (!order.by_pid)
		count = merge_rows(rows, count);
	qsort_r(rows, count, sizeof(*rows), sched_text_compare_rows, &order);
	if (job->settings->is_json)
		put_tasks(job, l, rows, count, out);
	else
		sched_text_print_table(l, rows, count, out);
	if (!job->settings->is_json && (job->settings->with_histogram || job->settings->histogram_mode))
		sched_histogram_print(l, sched_histogram_is_linear(job->settings), out);
	free(rows);
	arena_deinit(&arena);
	return is_done ? TALLY_OK : error_nomem(err);
}

enum tally_status sched_print_latency(struct sched_job *job, struct text *out, struct tally_error *err)
{
	struct sched_latency l;
	struct sched_event event;
	enum tally_status status;
	sched_latency_init(&l);
	while ((status = sched_job_next(job, &event, err)) == TALLY_OK)
		if (!sched_text_take(job, &l, &event)) {
			status = error_nomem(err);
			break;
		}
	/* If the recording is damaged, the tasks before the damage are still shown. */
	if (status != TALLY_NOMEM && print_tasks(job, &l, out, err) != TALLY_OK)
		status = TALLY_NOMEM;
	job->cut = l.cut;
	sched_latency_deinit(&l);
	return status == TALLY_END ? TALLY_OK : status;
}
