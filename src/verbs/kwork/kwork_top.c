/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/order.h"
#include "verbs/kwork/kwork_text.h"

#define KWORK_TOP_BAR_WIDTH 30

enum kwork_top_key { TOP_RATE, TOP_RUNTIME, TOP_TID };

static const char *const top_keys[] = {"rate", "runtime", "tid"};

struct kwork_top_order {
	size_t keys[KWORK_MAX_KEYS];
	size_t count;
};

struct kwork_sums {
	uint64_t total_ns, idle_ns, interrupt_ns, softirq_ns;
	uint64_t cpus;
};

const char *kwork_top_unknown_key(const char *list)
{
	size_t keys[KWORK_MAX_KEYS], count;
	return kwork_read_keys(list, top_keys, ARRAY_LEN(top_keys), keys, &count);
}

static enum tally_status kwork_top_read(struct kwork_job *job, struct tally_error *err)
{
	struct kwork_event event;
	enum tally_status status;
	while ((status = kwork_job_next(job, &event, err)) == TALLY_OK) {
		const struct work_event *work = &event.work;
		bool is_done = true;
		if (event.what == KWORK_LOST)
			cpu_usage_lost(&job->usage, event.cpu);
		else if (event.what == KWORK_SWITCH)
			is_done = cpu_usage_switch(&job->usage, event.cpu, event.tid, event.time_ns);
		else if (event.what == KWORK_WORK && work->kind != WORK_QUEUE && work->step != WORK_IS_RAISED)
			is_done = cpu_usage_interrupt(&job->usage, event.cpu, work->kind == WORK_SOFTIRQ,
				work->step == WORK_ENTERS, event.time_ns);
		if (!is_done)
			return error_nomem(err);
	}
	return status;
}

static int kwork_top_compare(const void *left, const void *right, void *context)
{
	const struct task_use *a = left, *b = right;
	const struct kwork_top_order *order = context;
	int result = 0;
	for (size_t i = 0; result == 0 && i < order->count; i++) {
		switch ((enum kwork_top_key)order->keys[i]) {
		case TOP_RATE:
			result = COMPARE(b->share, a->share);
			break;
		case TOP_RUNTIME:
			result = COMPARE(b->runtime_ns, a->runtime_ns);
			break;
		case TOP_TID:
			result = COMPARE(a->tid, b->tid);
			break;
		}
	}
	return result ? result : COMPARE(a->tid, b->tid);
}

static struct kwork_sums kwork_top_sums(const struct cpu_usage *usage)
{
	struct kwork_sums sums = {0};
	for (size_t i = 0; i < usage->cpus.len; i++) {
		const struct cpu_use *use = &usage->cpus.items[i];
		sums.total_ns += use->total_ns;
		sums.idle_ns += use->idle_ns;
		sums.interrupt_ns += use->interrupt_ns;
		sums.softirq_ns += use->softirq_ns;
		sums.cpus += use->total_ns > 0;
	}
	return sums;
}

static double kwork_top_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Returns the share of the CPU's time that was used neither by the idle task nor by interrupts and softirqs. */
static double kwork_top_load(const struct cpu_use *use)
{
	uint64_t other_ns = use->idle_ns + use->interrupt_ns + use->softirq_ns;
	return kwork_top_percent(use->total_ns > other_ns ? use->total_ns - other_ns : 0, use->total_ns);
}

/* Returns the task's last known name. */
static struct tally_str kwork_top_comm(struct kwork_job *job, const struct task_use *task, struct text *room)
{
	text_clear(room);
	if (task->tid == 0) {
		text_str(room, "swapper/0"); /* As in perf, the name does not depend on the CPU. */
		return text_view(room);
	}
	if (task->name != UINT32_MAX) {
		text_visible(room, intern_get(&job->work.names, task->name));
		return text_view(room);
	}
	char own[16];
	const struct data_sample of = {.sample.tid = (uint32_t)task->tid, .clock = UINT64_MAX - 1};
	struct tally_str comm = data_source_comm(&job->source, &of, own);
	text_visible(room, comm);
	return text_view(room);
}

/* ---- text ---- */

static void kwork_top_head(const struct cpu_usage *usage, struct text *out)
{
	struct kwork_sums sums = kwork_top_sums(usage);
	text_str(out, "\nTotal  : ");
	kwork_text_ms(out, sums.total_ns, 10);
	text_printf(out, " ms, %" PRIu64 " cpus\n%%Cpu(s): ", sums.cpus);
	text_fixed_right(out, kwork_top_percent(sums.idle_ns, sums.total_ns), 2, 6);
	text_str(out, "% id, ");
	text_fixed_right(out, kwork_top_percent(sums.interrupt_ns, sums.total_ns), 2, 6);
	text_str(out, "% hi, ");
	text_fixed_right(out, kwork_top_percent(sums.softirq_ns, sums.total_ns), 2, 6);
	text_str(out, "% si\n");
	for (size_t i = 0; i < usage->cpus.len; i++) {
		const struct cpu_use *use = &usage->cpus.items[i];
		if (use->total_ns == 0)
			continue;
		double load = kwork_top_load(use);
		size_t bar = (size_t)(load * KWORK_TOP_BAR_WIDTH / 100);
		text_printf(out, "%%Cpu%-4zu[", i);
		text_repeat(out, '|', bar);
		text_repeat(out, ' ', KWORK_TOP_BAR_WIDTH - bar);
		text_fixed_right(out, load, 2, 7);
		text_str(out, "%]\n");
	}
	text_printf(out, "\n  %7s  %6s  %16s  %-16s\n  ", "PID", "%CPU", "RUNTIME", "COMMAND");
	text_repeat(out, '-', 52);
	text_char(out, '\n');
}

static void kwork_top_row(struct kwork_job *job, const struct task_use *task, struct text *out, struct text *room)
{
	text_printf(out, "  %7" PRId32 " ", task->tid);
	text_fixed_right(out, 100 * task->share, 2, 7);
	kwork_text_ms(out, task->runtime_ns, 15);
	text_str(out, " ms  ");
	size_t start = out->len;
	struct tally_str comm = kwork_top_comm(job, task, room);
	text_bytes(out, comm.data, comm.len);
	text_align_from(out, start, -16);
	text_char(out, '\n');
	(void)text_line_end(out);
}

/* ---- JSON ---- */

static void kwork_top_json_head(const struct cpu_usage *usage, struct json *j)
{
	json_object(j, NULL);
	json_u64(j, "schema", KWORK_JSON_SCHEMA);
	json_array(j, "cpus");
	for (size_t i = 0; i < usage->cpus.len; i++) {
		const struct cpu_use *use = &usage->cpus.items[i];
		if (use->total_ns == 0)
			continue;
		json_object(j, NULL);
		json_u64(j, "cpu", i);
		json_u64(j, "total_ns", use->total_ns);
		json_u64(j, "idle_ns", use->idle_ns);
		json_u64(j, "irq_ns", use->interrupt_ns);
		json_u64(j, "softirq_ns", use->softirq_ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "tasks");
}

static void kwork_top_json_row(struct kwork_job *job, const struct task_use *task, struct json *j, struct text *room)
{
	json_object(j, NULL);
	json_i64(j, "tid", task->tid);
	json_string(j, "comm", kwork_top_comm(job, task, room));
	json_u64(j, "runtime_ns", task->runtime_ns);
	json_fixed(j, "cpu_percent", 100 * task->share, 4);
	json_object_end(j);
}

static enum tally_status kwork_top_print(struct kwork_job *job, struct text *out, struct tally_error *err)
{
	struct cpu_usage *usage = &job->usage;
	struct kwork_top_order order;
	struct text room = {0};
	struct json j = {.out = out};
	const char *sort = job->settings->sort ? job->settings->sort : "rate,runtime", *wanted = job->settings->name;
	(void)kwork_read_keys(sort, top_keys, ARRAY_LEN(top_keys), order.keys, &order.count);
	cpu_usage_finish(usage);
	if (usage->tasks.len > 1)
		qsort_r(usage->tasks.items, usage->tasks.len, sizeof(*usage->tasks.items), kwork_top_compare, &order);
	if (job->settings->is_json)
		kwork_top_json_head(usage, &j);
	else
		kwork_top_head(usage, out);
	for (size_t i = 0; i < usage->tasks.len; i++) {
		const struct task_use *task = &usage->tasks.items[i];
		if (task->runtime_ns == 0 || (wanted && !str_equal(kwork_top_comm(job, task, &room), str_from(wanted))))
			continue;
		job->shown++;
		if (job->settings->is_json)
			kwork_top_json_row(job, task, &j, &room);
		else
			kwork_top_row(job, task, out, &room);
	}
	if (job->settings->is_json) {
		json_array_end(&j);
		json_u64(&j, "lost_events", job->source.pass.sideband.health.lost_events);
		json_object_end(&j);
	} else {
		text_char(out, '\n');
	}
	bool has_failed = room.failed;
	text_deinit(&room);
	return has_failed ? error_nomem(err) : TALLY_OK;
}

enum tally_status kwork_print_top(struct kwork_job *job, struct text *out, struct tally_error *err)
{
	enum tally_status read = job->source.reader ? kwork_top_read(job, err) : TALLY_END;
	if (read == TALLY_OK || read == TALLY_NOMEM)
		return read;
	struct tally_error own;
	enum tally_status status = kwork_top_print(job, out, &own);
	if (status != TALLY_OK) {
		*err = own;
		return status;
	}
	bool has_interrupts = job->kinds[WORK_IRQ] || job->kinds[WORK_SOFTIRQ];
	if (job->switches == 0 && job->source.reader && job->source.skipped == 0 && has_interrupts)
		cli_failf(job->cli,
			"note: without sched:sched_switch the time of tasks is not known; '%s kwork -k "
			"irq,softirq,sched record' records it",
			job->cli->program);
	return read == TALLY_END ? TALLY_OK : read;
}
