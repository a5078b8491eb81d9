/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kvm/kvm_stat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "base/word_list.h"
#include "tasks/session/trace_fields.h"

#define KVM_STAT_NAME_COLUMNS 40
/* Values of the field type of kvm_mmio; 0 is a read whose value is not available yet. */
#define MMIO_READ  1
#define MMIO_WRITE 2
#define ROWS_KEPT  65536 /* Maximum number of rows that are retained from earlier intervals, and of threads. */

static uint64_t kvm_stat_field(const struct kvm_stat_job *job, const struct data_sample *s, struct tally_str name)
{
	uint64_t number;
	(void)trace_number_of(job->source.tracepoints, s->sample.raw, name, &number);
	return number;
}

/* ---- events of a thread ---- */

static struct kvm_stat_thread *kvm_stat_thread_of(struct kvm_stat_job *job, const struct data_sample *s)
{
	bool is_new;
	uint64_t *index = map_u64_at(&job->threads, s->sample.tid, &is_new);
	if (!index)
		return NULL;
	if (is_new) {
		*index = job->states.len;
		if (!vec_push(&job->states, (struct kvm_stat_thread){0}))
			return NULL;
	}
	return &job->states.items[*index];
}

/* Extracts the reason from the event's formatted text, between "reason " and " rip ". */
static void kvm_stat_name_exit(const struct kvm_stat_job *job, const struct data_sample *s, char name[KVM_STAT_NAME])
{
	struct text shown = {0};
	uint64_t reason = kvm_stat_field(job, s, STR("exit_reason"));
	bool is_shown = job->source.tracepoints && tracepoint_print(job->source.tracepoints, s->sample.raw, &shown);
	text_char(&shown, 0);
	const char *begin = is_shown && shown.data ? strstr(shown.data, "reason ") : NULL;
	const char *end = begin ? strstr(begin, " rip ") : NULL;
	begin = begin ? begin + strlen("reason ") : NULL;
	/* If the format knows no name, it prints the number. */
	if (end && end > begin && *begin && !strchr("0123456789-", *begin))
		snprintf(name, KVM_STAT_NAME, "%.*s", (int)(end - begin), begin);
	else
		snprintf(name, KVM_STAT_NAME, "UNKNOWN (%" PRIu64 ")", reason);
	text_deinit(&shown);
}

static void kvm_stat_name(const struct kvm_stat_job *job, const struct data_sample *s, char name[KVM_STAT_NAME])
{
	if (job->settings->kind == KVM_EXITS)
		kvm_stat_name_exit(job, s, name);
	else if (job->settings->kind == KVM_MMIO)
		snprintf(name, KVM_STAT_NAME, "%#" PRIx64 ":%c", kvm_stat_field(job, s, STR("gpa")),
			kvm_stat_field(job, s, STR("type")) == MMIO_WRITE ? 'W' : 'R');
	else
		snprintf(name, KVM_STAT_NAME, "%#" PRIx64 ":%s", kvm_stat_field(job, s, STR("port")),
			kvm_stat_field(job, s, STR("rw")) ? "POUT" : "PIN");
}

static uint64_t kvm_stat_key(const struct kvm_stat_job *job, const struct data_sample *s)
{
	if (job->settings->kind == KVM_EXITS)
		return kvm_stat_field(job, s, STR("exit_reason")) | kvm_stat_field(job, s, STR("isa")) << 32;
	if (job->settings->kind == KVM_MMIO)
		return kvm_stat_field(job, s, STR("gpa")) << 1 | (kvm_stat_field(job, s, STR("type")) == MMIO_WRITE);
	return kvm_stat_field(job, s, STR("port")) << 1 | (kvm_stat_field(job, s, STR("rw")) != 0);
}

/* Returns the row of the sample's exit reason, device or port, or NULL if out of memory. */
static struct kvm_stat_row *kvm_stat_row_of(struct kvm_stat_job *job, const struct data_sample *s, uint64_t *key)
{
	bool is_new;
	*key = kvm_stat_key(job, s);
	uint64_t *index = map_u64_at(&job->keys, *key, &is_new);
	if (!index)
		return NULL;
	if (is_new) {
		*index = job->rows.len;
		if (!vec_push(&job->rows, (struct kvm_stat_row){.least = UINT64_MAX}))
			return NULL;
		kvm_stat_name(job, s, job->rows.items[*index].name);
	}
	return &job->rows.items[*index];
}

static bool kvm_stat_is_wanted(
	const struct kvm_stat_job *job, const struct kvm_stat_thread *thread, const struct data_sample *s)
{
	const struct kvm_stat_settings *settings = job->settings;
	return (settings->vcpu == UINT64_MAX || thread->vcpu == settings->vcpu) &&
	       (!settings->pids || word_list_has_number(settings->pids, (int32_t)s->sample.pid));
}

/* Halts are not reported, because they last as long as the guest is idle. */
static void kvm_stat_say_slow(struct kvm_stat_job *job, const struct kvm_stat_thread *thread,
	const struct kvm_stat_row *row, const struct data_sample *s)
{
	uint64_t ns = s->clock - thread->begin;
	if (job->settings->slow_us == 0 || ns / 1000 < job->settings->slow_us || strcasecmp(row->name, "HLT") == 0)
		return;
	text_printf(&job->slow, "%" PRIu64 ".%06" PRIu64 " VM %d, vcpu %" PRIu64 ": %s took %.2fus\n",
		s->clock / 1000000000, s->clock / 1000 % 1000000, (int32_t)s->sample.pid, thread->vcpu, row->name,
		(double)ns / 1000);
}

/* Ends the thread's current event. row is NULL if the event that began it determines the row. */
static void kvm_stat_end(
	struct kvm_stat_job *job, struct kvm_stat_thread *thread, struct kvm_stat_row *row, const struct data_sample *s)
{
	uint64_t index;
	if (!row && thread->has_key && map_u64_find(&job->keys, thread->key, &index))
		row = &job->rows.items[index];
	if (row && thread->has_begun && thread->is_known && s->clock >= thread->begin &&
		kvm_stat_is_wanted(job, thread, s)) {
		uint64_t ns = s->clock - thread->begin;
		running_mean_add(&row->mean, (double)ns);
		row->total += ns;
		row->least = MIN(row->least, ns);
		row->most = MAX(row->most, ns);
		job->count++;
		job->total += ns;
		kvm_stat_say_slow(job, thread, row, s);
	}
	thread->has_begun = thread->has_key = false;
}

/* Returns false if out of memory. */
static bool kvm_stat_begin(
	struct kvm_stat_job *job, struct kvm_stat_thread *thread, const struct data_sample *s, bool has_key)
{
	thread->begin = s->clock;
	thread->has_begun = true;
	thread->has_key = has_key;
	return !has_key || kvm_stat_row_of(job, s, &thread->key);
}

static bool kvm_stat_device(struct kvm_stat_job *job, struct kvm_stat_thread *thread, const struct data_sample *s)
{
	uint64_t key, type = kvm_stat_field(job, s, STR("type"));
	if (type == MMIO_WRITE)
		return kvm_stat_begin(job, thread, s, true);
	if (type != MMIO_READ)
		return true;
	struct kvm_stat_row *row = kvm_stat_row_of(job, s, &key);
	if (row)
		kvm_stat_end(job, thread, row, s);
	return row != NULL;
}

bool kvm_stat_take(struct kvm_stat_job *job, const struct data_sample *s)
{
	enum kvm_kind kind = job->settings->kind;
	struct tally_str name = s->event->name;
	bool is_exit = str_equal(name, STR("kvm:kvm_exit")), is_entry = str_equal(name, STR("kvm:kvm_entry"));
	bool is_device = str_equal(name, STR("kvm:kvm_mmio")), is_port = str_equal(name, STR("kvm:kvm_pio"));
	if (!is_exit && !is_entry && !is_device && !is_port)
		return true;
	struct kvm_stat_thread *thread = kvm_stat_thread_of(job, s);
	if (!thread)
		return false;
	job->exits += is_exit;
	job->entries += is_entry;
	if (is_entry) {
		kvm_stat_end(job, thread, NULL, s);
		thread->is_known = true;
		thread->vcpu = kvm_stat_field(job, s, STR("vcpu_id"));
		return true;
	}
	if (is_exit)
		return kind == KVM_IOPORT || kvm_stat_begin(job, thread, s, kind == KVM_EXITS);
	if (is_device && kind == KVM_MMIO)
		return kvm_stat_device(job, thread, s);
	return !is_port || kind != KVM_IOPORT || kvm_stat_begin(job, thread, s, true);
}

void kvm_stat_give_up(struct kvm_stat_job *job)
{
	for (size_t i = 0; i < job->states.len; i++)
		job->states.items[i].has_begun = job->states.items[i].has_key = false;
}

void kvm_stat_clear(struct kvm_stat_job *job)
{
	job->count = job->total = 0;
	if (job->states.len > ROWS_KEPT || job->rows.len > ROWS_KEPT) {
		job->states.len = job->rows.len = 0;
		map_u64_deinit(&job->threads);
		map_u64_deinit(&job->keys);
	}
	for (size_t i = 0; i < job->rows.len; i++) {
		struct kvm_stat_row *row = &job->rows.items[i];
		row->total = row->most = 0;
		row->least = UINT64_MAX;
		row->mean = (struct running_mean){0};
	}
}

static enum tally_status kvm_stat_read(struct kvm_stat_job *job, struct tally_error *err)
{
	struct data_sample s;
	enum tally_status status;
	while ((status = data_source_next(&job->source, &s, err)) == TALLY_OK)
		if (!kvm_stat_take(job, &s))
			return error_nomem(err);
	for (size_t i = 0; i < job->states.len; i++)
		job->open += job->states.items[i].has_begun;
	return status == TALLY_END ? TALLY_OK : status;
}

/* ---- the table ---- */

static int kvm_stat_compare(const void *a, const void *b, void *data)
{
	const struct kvm_stat_settings *settings = data;
	const struct kvm_stat_row *x = *(struct kvm_stat_row *const *)a, *y = *(struct kvm_stat_row *const *)b;
	uint64_t first[] = {settings->by_time ? x->total : x->mean.n, settings->by_time ? y->total : y->mean.n};
	uint64_t second[] = {settings->by_time ? x->mean.n : x->total, settings->by_time ? y->mean.n : y->total};
	if (first[0] != first[1])
		return first[0] < first[1] ? 1 : -1;
	if (second[0] != second[1])
		return second[0] < second[1] ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Sorts pointers to the rows that have samples, because the map refers to job->rows by index. */
static bool kvm_stat_sort(struct kvm_stat_job *job)
{
	job->sorted.len = 0;
	for (size_t i = 0; i < job->rows.len; i++)
		if (job->rows.items[i].mean.n > 0 && !vec_push(&job->sorted, &job->rows.items[i]))
			return false;
	if (job->sorted.len)
		qsort_r((void *)job->sorted.items, job->sorted.len, sizeof(*job->sorted.items), kvm_stat_compare,
			(void *)(uintptr_t)job->settings);
	return true;
}

static double kvm_stat_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void kvm_stat_print(struct kvm_stat_job *job, struct text *t)
{
	static const char *const titles[] = {"VM-EXIT", "MMIO Access", "IO Port Access"};
	const struct kvm_stat_settings *settings = job->settings;
	t->failed |= !kvm_stat_sort(job);
	text_str(t, "\nAnalyze events for ");
	if (settings->pids)
		text_printf(t, "pid(s) %s, ", settings->pids);
	else
		text_str(t, "all VMs, ");
	if (settings->vcpu == UINT64_MAX)
		text_str(t, "all VCPUs:\n\n");
	else
		text_printf(t, "VCPU %" PRIu64 ":\n\n", settings->vcpu);
	text_printf(t, "%*s %10s %9s %9s %11s %11s %16s \n\n", KVM_STAT_NAME_COLUMNS, titles[settings->kind], "Samples",
		"Samples%", "Time%", "Min Time", "Max Time", "Avg time");
	for (size_t i = 0; i < job->sorted.len; i++) {
		const struct kvm_stat_row *row = job->sorted.items[i];
		text_printf(t, "%*s %10" PRIu64 " %8.2f%% %8.2f%% %9.2fus %9.2fus %9.2fus ( +- %6.2f%% )\n",
			KVM_STAT_NAME_COLUMNS, row->name, row->mean.n, kvm_stat_share(row->mean.n, job->count),
			kvm_stat_share(row->total, job->total), (double)row->least / 1000, (double)row->most / 1000,
			row->mean.mean / 1000, running_mean_error_percent(&row->mean));
	}
	text_printf(t, "\nTotal Samples:%" PRIu64 ", Total events handled time:%.2fus.\n\n", job->count,
		(double)job->total / 1000);
}

static void kvm_stat_json(struct kvm_stat_job *job, struct text *t)
{
	static const char *const kinds[] = {"vmexit", "mmio", "ioport"};
	struct json j = {.out = t};
	t->failed |= !kvm_stat_sort(job);
	json_object(&j, NULL);
	json_u64(&j, "schema", 1);
	json_string(&j, "event", str_from(kinds[job->settings->kind]));
	json_u64(&j, "samples", job->count);
	json_u64(&j, "time_ns", job->total);
	json_u64(&j, "unfinished", job->open);
	json_array(&j, "rows");
	for (size_t i = 0; i < job->sorted.len; i++) {
		const struct kvm_stat_row *row = job->sorted.items[i];
		json_object(&j, NULL);
		json_string(&j, "name", str_from(row->name));
		json_u64(&j, "samples", row->mean.n);
		json_u64(&j, "time_ns", row->total);
		json_u64(&j, "min_ns", row->least);
		json_u64(&j, "max_ns", row->most);
		json_fixed(&j, "mean_ns", row->mean.mean, 3);
		json_fixed(&j, "error_percent", running_mean_error_percent(&row->mean), 2);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
}

/* Explains why there are no rows. */
static void kvm_stat_say_nothing(const struct cli *cli, const struct kvm_stat_job *job)
{
	if (job->count)
		return;
	if (job->exits + job->entries == 0)
		cli_failf(cli,
			"note: the recording has no kvm:kvm_exit and kvm:kvm_entry, which say when a guest runs: "
			"'%s kvm stat record' records them on the machine that runs the guests",
			cli->program);
	else
		cli_failf(cli, "note: none of the %" PRIu64 " exits is of this kind, process and VCPU", job->exits);
}

void kvm_stat_close(struct kvm_stat_job *job)
{
	vec_free(&job->states);
	vec_free(&job->rows);
	free((void *)job->sorted.items);
	text_deinit(&job->slow);
	map_u64_deinit(&job->threads);
	map_u64_deinit(&job->keys);
	data_source_close(&job->source);
}

int kvm_stat_report(const struct cli *cli, const struct kvm_stat_settings *settings)
{
	const struct data_input input = {.file = settings->input};
	struct kvm_stat_job job = {.settings = settings};
	struct tally_error err;
	struct text t = {0};
	if (data_source_open(cli, &input, &job.source, &err) != TALLY_OK)
		return cli_fail(cli, &err);
	enum tally_status status = kvm_stat_read(&job, &err);
	cli_print_health(cli, &job.source.pass.sideband.health);
	if (settings->is_json) {
		kvm_stat_json(&job, &t);
	} else {
		text_char(&t, '\n');
		kvm_stat_print(&job, &t);
	}
	int code = cli_finish_text(cli, &t);
	kvm_stat_say_nothing(cli, &job);
	if (status != TALLY_OK)
		code = cli_fail(cli, &err);
	kvm_stat_close(&job);
	return code;
}
