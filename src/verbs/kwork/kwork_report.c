/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/order.h"
#include "verbs/kwork/kwork_text.h"

#define RULE_WIDTH 128

static const char *const report_keys[] = {"runtime", "max", "count"};
static const char *const latency_keys[] = {"avg", "max", "count"};

struct kwork_order {
	bool by_delay;
	size_t keys[KWORK_MAX_KEYS];
	size_t count;
};

struct kwork_table {
	struct kwork_job *job;
	struct text *out;
	struct kwork_order order;
	VEC(const struct work_row *) rows;
	uint64_t count, total_ns;
	uint64_t first_ns, last_ns; /* Time range of all rows that the option -n selects. */
	uint64_t unmatched[WORK_STEPS];
};

/* ---- shared with the other commands ---- */

void kwork_text_ms(struct text *out, uint64_t ns, size_t width)
{
	text_fixed_right(out, (double)ns / 1e6, 3, width);
}

void kwork_text_seconds(struct text *out, uint64_t ns, size_t width)
{
	uint64_t us = ns / 1000;
	text_u64_right(out, us / 1000000, width - 7);
	text_printf(out, ".%06" PRIu64, us % 1000000);
}

const char *kwork_read_keys(
	const char *list, const char *const *names, size_t count, size_t keys[KWORK_MAX_KEYS], size_t *key_count)
{
	*key_count = 0;
	while (*list) {
		size_t len = strcspn(list, ","), i = 0;
		while (i < count && !(strlen(names[i]) == len && memcmp(names[i], list, len) == 0))
			i++;
		if (i == count)
			return list;
		if (*key_count < KWORK_MAX_KEYS)
			keys[(*key_count)++] = i;
		list += len + (list[len] == ',');
	}
	return NULL;
}

const char *kwork_report_unknown_key(const char *list)
{
	size_t keys[KWORK_MAX_KEYS], count;
	return kwork_read_keys(list, report_keys, ARRAY_LEN(report_keys), keys, &count);
}

const char *kwork_latency_unknown_key(const char *list)
{
	size_t keys[KWORK_MAX_KEYS], count;
	return kwork_read_keys(list, latency_keys, ARRAY_LEN(latency_keys), keys, &count);
}

/* ---- rows ---- */

static const struct work_times *kwork_report_times(const struct kwork_order *order, const struct work_row *row)
{
	return order->by_delay ? &row->delay : &row->run;
}

/* Returns the value of a key, by its index in the list of names. The first key is the sum, or the average for
 * delays. */
static uint64_t kwork_report_value(const struct work_times *times, size_t key, bool by_delay)
{
	if (key == 0)
		return by_delay ? times->total_ns / times->count : times->total_ns;
	return key == 1 ? times->max_ns : times->count;
}

static int kwork_report_compare(const void *left, const void *right, void *context)
{
	const struct work_row *a = *(const struct work_row *const *)left, *b = *(const struct work_row *const *)right;
	const struct kwork_order *order = context;
	const struct work_times *times_a = kwork_report_times(order, a), *times_b = kwork_report_times(order, b);
	int result = 0;
	for (size_t i = 0; result == 0 && i < order->count; i++)
		result = COMPARE(kwork_report_value(times_b, order->keys[i], order->by_delay),
			kwork_report_value(times_a, order->keys[i], order->by_delay));
	if (result == 0)
		result = COMPARE(a->kind, b->kind);
	if (result == 0)
		result = COMPARE(a->id, b->id);
	return result ? result : COMPARE(a->cpu, b->cpu);
}

static enum tally_status kwork_report_read(struct kwork_table *t, struct tally_error *err)
{
	struct kwork_job *job = t->job;
	struct kwork_event event;
	struct work_span span;
	enum tally_status status;
	while ((status = kwork_job_next(job, &event, err)) == TALLY_OK) {
		if (event.what == KWORK_LOST)
			kernel_work_lost(&job->work, event.cpu);
		else if (event.what == KWORK_WORK && !kernel_work_take(&job->work, &event.work, &span))
			return error_nomem(err);
	}
	return kernel_work_finish(&job->work) ? status : error_nomem(err);
}

static enum tally_status kwork_report_gather(struct kwork_table *t, struct tally_error *err)
{
	const struct kernel_work *work = &t->job->work;
	for (size_t i = 0; i < work->rows.len; i++) {
		const struct work_row *row = &work->rows.items[i];
		const struct work_times *times = kwork_report_times(&t->order, row);
		const uint64_t *unmatched = t->order.by_delay ? row->unmatched_delays : row->unmatched_runs;
		bool is_wanted;
		enum tally_status status = kwork_is_wanted(t->job, row, &is_wanted, err);
		if (status != TALLY_OK)
			return status;
		if (!is_wanted)
			continue;
		for (int step = 0; step < WORK_STEPS; step++)
			t->unmatched[step] += unmatched[step];
		if (row->first_ns && (t->first_ns == 0 || row->first_ns < t->first_ns))
			t->first_ns = row->first_ns;
		t->last_ns = MAX(t->last_ns, row->last_ns);
		if (times->count == 0)
			continue;
		if (!vec_push(&t->rows, row))
			return error_nomem(err);
		t->job->shown++;
		t->count += times->count;
		t->total_ns += times->total_ns;
	}
	if (t->order.by_delay && !t->job->settings->name)
		t->unmatched[WORK_IS_RAISED] += work->unmatched_items;
	if (t->rows.len > 1)
		qsort_r(t->rows.items, t->rows.len, sizeof(*t->rows.items), kwork_report_compare, &t->order);
	return TALLY_OK;
}

/* ---- text ---- */

static void kwork_report_rule(struct text *out)
{
	text_char(out, ' ');
	text_repeat(out, '-', RULE_WIDTH);
	text_char(out, '\n');
}

static void kwork_report_head(const struct kwork_table *t)
{
	static const char *const of_runs[] = {"Total Runtime", "Max runtime", "Max runtime start", "Max runtime end"};
	static const char *const of_delays[] = {"Avg delay", "Max delay", "Max delay start", "Max delay end"};
	const char *const *names = t->order.by_delay ? of_delays : of_runs;
	text_printf(t->out, "\n  %-30s | Cpu  | %-13s | Count     | %-13s | %-19s | %-19s |\n", "Kwork Name", names[0],
		names[1], names[2], names[3]);
	kwork_report_rule(t->out);
}

static enum tally_status kwork_report_row(
	const struct kwork_table *t, const struct work_row *row, struct tally_error *err)
{
	struct text *out = t->out;
	const struct work_times *times = kwork_report_times(&t->order, row);
	text_str(out, "  ");
	size_t start = out->len;
	enum tally_status status = kwork_name(t->job, row, out, err);
	out->len = MIN(out->len, start + KWORK_NAME_BYTES);
	text_align_from(out, start, -KWORK_NAME_WIDTH);
	text_printf(out, " | %04" PRIu32 " | ", row->cpu);
	kwork_text_ms(out, kwork_report_value(times, 0, t->order.by_delay), 10);
	text_printf(out, " ms | %9" PRIu64 " | ", times->count);
	kwork_text_ms(out, times->max_ns, 10);
	text_str(out, " ms | ");
	kwork_text_seconds(out, times->max_from_ns, 17);
	text_str(out, " s | ");
	kwork_text_seconds(out, times->max_to_ns, 17);
	text_str(out, " s |\n");
	(void)text_line_end(out);
	return status;
}

static void kwork_report_summary(const struct kwork_table *t)
{
	uint64_t span_ns = t->last_ns - t->first_ns;
	text_printf(t->out, "  Total count            : %9" PRIu64 "\n  Total runtime   (msec) : ", t->count);
	kwork_text_ms(t->out, t->total_ns, 9);
	text_str(t->out, " (");
	text_fixed(t->out, span_ns ? 100.0 * (double)t->total_ns / (double)span_ns : 0, 3);
	text_str(t->out, "% load average)\n  Total time span (msec) : ");
	kwork_text_ms(t->out, span_ns, 9);
	text_char(t->out, '\n');
	kwork_report_rule(t->out);
}

static void kwork_report_skipped(const struct kwork_table *t)
{
	const struct kernel_work *work = &t->job->work;
	const uint64_t *steps = t->unmatched;
	uint64_t sum = steps[WORK_IS_RAISED] + steps[WORK_ENTERS] + steps[WORK_EXITS];
	if (sum == 0)
		return;
	text_str(t->out, "  INFO: ");
	text_fixed(t->out, 100.0 * (double)sum / (double)work->events, 3);
	text_printf(t->out,
		"%% skipped events (%" PRIu64 " including %" PRIu64 " raise, %" PRIu64 " entry, %" PRIu64 " exit)\n",
		sum, steps[WORK_IS_RAISED], steps[WORK_ENTERS], steps[WORK_EXITS]);
}

static enum tally_status kwork_report_print(struct kwork_table *t, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	kwork_report_head(t);
	for (size_t i = 0; status == TALLY_OK && i < t->rows.len; i++)
		status = kwork_report_row(t, t->rows.items[i], err);
	kwork_report_rule(t->out);
	if (t->job->settings->with_summary && !t->order.by_delay)
		kwork_report_summary(t);
	kwork_report_skipped(t);
	text_char(t->out, '\n');
	return status;
}

/* ---- JSON ---- */

static enum tally_status kwork_report_json_row(
	struct kwork_table *t, const struct work_row *row, struct json *j, struct tally_error *err)
{
	static const char *const kinds[WORK_KINDS] = {"irq", "softirq", "workqueue"};
	const struct work_times *times = kwork_report_times(&t->order, row);
	struct text name = {0};
	enum tally_status status = kwork_name(t->job, row, &name, err);
	json_object(j, NULL);
	json_string(j, "kind", str_from(kinds[row->kind]));
	json_string(j, "name", text_view(&name));
	if (row->kind == WORK_QUEUE)
		json_hex(j, "work", row->id);
	else
		json_u64(j, "number", row->id);
	json_u64(j, "cpu", row->cpu);
	json_u64(j, "count", times->count);
	json_u64(j, "total_ns", times->total_ns);
	json_u64(j, "max_ns", times->max_ns);
	json_u64(j, "max_start_ns", times->max_from_ns);
	json_u64(j, "max_end_ns", times->max_to_ns);
	json_object_end(j);
	text_deinit(&name);
	return status;
}

static enum tally_status kwork_report_json(struct kwork_table *t, struct tally_error *err)
{
	const struct kernel_work *work = &t->job->work;
	const uint64_t *steps = t->unmatched;
	struct json j = {.out = t->out};
	enum tally_status status = TALLY_OK;
	json_object(&j, NULL);
	json_u64(&j, "schema", KWORK_JSON_SCHEMA);
	json_array(&j, t->order.by_delay ? "delays" : "runtimes");
	for (size_t i = 0; status == TALLY_OK && i < t->rows.len; i++)
		status = kwork_report_json_row(t, t->rows.items[i], &j, err);
	json_array_end(&j);
	json_u64(&j, "events", work->events);
	json_u64(&j, "unmatched_events", steps[WORK_IS_RAISED] + steps[WORK_ENTERS] + steps[WORK_EXITS]);
	json_u64(&j, "cut_times", work->cut);
	json_u64(&j, "lost_events", t->job->source.pass.sideband.health.lost_events);
	if (!t->order.by_delay && t->last_ns)
		json_u64(&j, "span_ns", t->last_ns - t->first_ns);
	json_object_end(&j);
	return status;
}

static enum tally_status kwork_report_run(struct kwork_table *t, struct tally_error *err)
{
	enum tally_status read = t->job->source.reader ? kwork_report_read(t, err) : TALLY_END;
	/* Of a damaged recording, what precedes the damage is reported. */
	bool is_through = read != TALLY_OK && read != TALLY_NOMEM;
	struct tally_error own;
	enum tally_status status = is_through ? kwork_report_gather(t, &own) : TALLY_OK;
	if (status == TALLY_OK && is_through)
		status = t->job->settings->is_json ? kwork_report_json(t, &own) : kwork_report_print(t, &own);
	vec_free(&t->rows);
	if (status != TALLY_OK) {
		*err = own;
		return status;
	}
	return read == TALLY_END ? TALLY_OK : read;
}

enum tally_status kwork_print_report(struct kwork_job *job, struct text *out, struct tally_error *err)
{
	struct kwork_table t = {.job = job, .out = out};
	const char *sort = job->settings->sort ? job->settings->sort : "runtime,max,count";
	(void)kwork_read_keys(sort, report_keys, ARRAY_LEN(report_keys), t.order.keys, &t.order.count);
	return kwork_report_run(&t, err);
}

enum tally_status kwork_print_latency(struct kwork_job *job, struct text *out, struct tally_error *err)
{
	struct kwork_table t = {.job = job, .out = out, .order.by_delay = true};
	const char *sort = job->settings->sort ? job->settings->sort : "avg,max,count";
	(void)kwork_read_keys(sort, latency_keys, ARRAY_LEN(latency_keys), t.order.keys, &t.order.count);
	return kwork_report_run(&t, err);
}
