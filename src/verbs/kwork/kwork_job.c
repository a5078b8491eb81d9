/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kwork/kwork_job.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "tasks/session/report_dump.h"
#include "tasks/session/trace_fields.h"

static const char *const kwork_job_kind_names[KWORK_KINDS] = {"irq", "softirq", "workqueue", "sched"};

bool kwork_read_kinds(const char *list, bool kinds[KWORK_KINDS])
{
	struct tally_str rest = str_from(list), word;
	while (str_next(&rest, ',', &word)) {
		size_t i = 0;
		word = str_trim(word);
		while (i < KWORK_KINDS && !str_equal(word, str_from(kwork_job_kind_names[i])))
			i++;
		if (i == KWORK_KINDS)
			return false;
		kinds[i] = true;
	}
	return true;
}

void kwork_job_choose_kinds(struct kwork_job *job, const bool kinds[KWORK_KINDS])
{
	bool is_asked = false;
	for (size_t i = 0; i < KWORK_KINDS; i++)
		is_asked |= job->settings->kinds[i];
	memcpy(job->kinds, is_asked ? job->settings->kinds : kinds, sizeof(job->kinds));
}

/* ---- events ---- */

struct kwork_tracepoint {
	const char *name;
	size_t kind;
	enum work_step step;
	const char *id; /* The field that identifies the work item. */
};

static const struct kwork_tracepoint tracepoints[] = {
	{"irq:irq_handler_entry", WORK_IRQ, WORK_ENTERS, "irq"},
	{"irq:irq_handler_exit", WORK_IRQ, WORK_EXITS, "irq"},
	{"irq:softirq_raise", WORK_SOFTIRQ, WORK_IS_RAISED, "vec"},
	{"irq:softirq_entry", WORK_SOFTIRQ, WORK_ENTERS, "vec"},
	{"irq:softirq_exit", WORK_SOFTIRQ, WORK_EXITS, "vec"},
	{"workqueue:workqueue_activate_work", WORK_QUEUE, WORK_IS_RAISED, "work"},
	{"workqueue:workqueue_execute_start", WORK_QUEUE, WORK_ENTERS, "work"},
	{"workqueue:workqueue_execute_end", WORK_QUEUE, WORK_EXITS, "work"},
	{"sched:sched_switch", KWORK_SCHED, WORK_STEPS, "prev_pid"},
};

static const struct kwork_tracepoint *kwork_tracepoint_of(const struct perfdata_event *event)
{
	for (size_t i = 0; event && i < ARRAY_LEN(tracepoints); i++)
		if (str_equal(event->name, str_from(tracepoints[i].name)))
			return &tracepoints[i];
	return NULL;
}

static uint64_t kwork_job_number(struct kwork_job *job, const struct data_sample *s, const char *field)
{
	uint64_t value;
	(void)trace_number_of(job->source.tracepoints, s->sample.raw, str_from(field), &value);
	return value;
}

static void kwork_job_read_work(
	struct kwork_job *job, const struct kwork_tracepoint *tracepoint, struct kwork_event *event)
{
	const struct data_sample *s = &event->sample;
	event->work = (struct work_event){.kind = (enum work_kind)tracepoint->kind,
		.step = tracepoint->step,
		.id = kwork_job_number(job, s, tracepoint->id),
		.cpu = event->cpu,
		.time_ns = event->time_ns};
	if (tracepoint->step != WORK_ENTERS)
		return;
	text_clear(&job->name);
	if (tracepoint->kind == WORK_QUEUE)
		event->work.function = kwork_job_number(job, s, "function");
	else if (tracepoint->kind == WORK_IRQ)
		(void)trace_text_of(job->source.tracepoints, s->sample.raw, STR("name"), &job->name);
	event->work.name = text_view(&job->name);
}

/* Converts a sample, or a record of lost events. Returns false if the sample is not selected. */
static bool kwork_job_read(struct kwork_job *job, struct kwork_event *event)
{
	const struct data_sample *s = &event->sample;
	const struct kwork_tracepoint *tracepoint = kwork_tracepoint_of(s->event);
	event->what = KWORK_OTHER;
	event->time_ns = s->sample.time;
	event->cpu = s->sample.cpu;
	if (!s->event && s->record.type == RECORD_LOST) {
		event->what = KWORK_LOST;
		if (!(s->sample.present & SAMPLE_CPU) || event->cpu >= LIMIT_CPUS)
			event->cpu = UINT32_MAX;
		return true;
	}
	if (!tracepoint || !job->kinds[tracepoint->kind] || event->cpu >= LIMIT_CPUS)
		return false;
	if (tracepoint->kind == KWORK_SCHED) {
		event->what = KWORK_SWITCH;
		event->tid = (int32_t)kwork_job_number(job, s, tracepoint->id);
		job->switches++;
	} else {
		event->what = KWORK_WORK;
		kwork_job_read_work(job, tracepoint, event);
	}
	return true;
}

enum tally_status kwork_job_next(struct kwork_job *job, struct kwork_event *event, struct tally_error *err)
{
	for (;;) {
		enum tally_status status = data_source_next(&job->source, &event->sample, err);
		if (status != TALLY_OK || kwork_job_read(job, event))
			return status;
	}
}

/* ---- opening ---- */

enum tally_status kwork_job_open(struct kwork_job *job, struct tally_error *err)
{
	const struct kwork_settings *s = job->settings;
	const struct data_input input = {
		.file = s->input, .samples = {.times = s->times, .cpus = s->cpus}, .symbols = s->symbols};
	kernel_work_init(&job->work);
	cpu_usage_init(&job->usage);
	enum tally_status status = data_source_open_reader(&input, &job->source, err);
	if (status == TALLY_OK && s->dump)
		status = report_dump_first(job->cli, job->source.reader, input.file.path, err);
	if (status == TALLY_OK)
		status = data_source_read(job->cli, &input, &job->source, err);
	job->source.with_sideband = job->source.with_losses = true;
	return status;
}

static bool kwork_job_has_events(const struct kwork_job *job)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(job->source.reader, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kwork_tracepoint *tracepoint = kwork_tracepoint_of(&events[i]);
		if (tracepoint && job->kinds[tracepoint->kind])
			return true;
	}
	return false;
}

void kwork_job_tell(const struct kwork_job *job)
{
	const struct cli *cli = job->cli;
	uint64_t events = job->source.skipped + job->work.events + job->switches;
	if (job->settings->verbose > 0 && job->switches > 0)
		cli_failf(cli, "note: %" PRIu64 " context switches", job->switches);
	if (job->settings->verbose > 0 && job->work.events > 0)
		cli_failf(cli, "note: %" PRIu64 " events of interrupts, softirqs and work items", job->work.events);
	if (!job->source.reader) {
		uint64_t lost = job->source.pass.sideband.health.lost_events;
		if (lost > 0)
			cli_failf(cli, "note: %" PRIu64 " events found no room in the maps of the BPF program", lost);
		if (job->shown == 0)
			cli_failf(cli, "note: the kernel did no such work meanwhile, or none that the filters leave");
		return;
	}
	cli_print_health(cli, &job->source.pass.sideband.health);
	if (job->work.cut > 0)
		cli_failf(cli,
			"note: events were lost within %" PRIu64
			" run times or delays: these times are not known and not counted",
			job->work.cut);
	if (!kwork_job_has_events(job)) {
		struct text kinds = {0};
		for (size_t i = 0; i < KWORK_KINDS; i++)
			if (job->kinds[i])
				text_printf(&kinds, "%s%s", kinds.len ? "," : "", kwork_job_kind_names[i]);
		text_char(&kinds, '\0');
		cli_failf(cli,
			"note: the recording has no events of the kernel's work (%s); '%s kwork -k %s record' records "
			"them",
			kinds.data ? kinds.data : "", cli->program, kinds.data ? kinds.data : "");
		text_deinit(&kinds);
	} else if (job->shown == 0 && events > 0) {
		cli_failf(cli,
			"note: none of the %" PRIu64
			" events of the kernel's work passes the filters, or has both ends",
			events);
	} else if (job->shown == 0 && !job->kinds[KWORK_SCHED]) {
		cli_failf(cli, "note: the kernel did no such work while it was recorded");
	}
}

void kwork_job_close(struct kwork_job *job)
{
	if (job->source.reader)
		data_source_close(&job->source);
	kernel_work_deinit(&job->work);
	cpu_usage_deinit(&job->usage);
	text_deinit(&job->name);
}

/* ---- names ---- */

static enum tally_status kwork_function_name(
	struct kwork_job *job, uint64_t address, struct text *out, struct tally_error *err)
{
	/* The job is measured by BPF programs, and /proc/kallsyms has no name for the function. */
	if (!job->source.reader) {
		text_printf(out, "0x%" PRIx64, address);
		return TALLY_OK;
	}
	struct resolver *resolver = &job->source.pass.resolver;
	struct resolve_where where = resolver_where(resolver, 0, UINT64_MAX - 1);
	uint32_t frame = resolver_frame(resolver, &where, MISC_CPUMODE_KERNEL, address);
	const struct frame_name *name = resolver->failed ? NULL : frame_names_get(&job->source.names, frame, err);
	if (!name)
		return error_nomem(err);
	if (name->symbol)
		text_visible(out, str_from(name->symbol));
	else
		text_printf(out, "0x%" PRIx64, address);
	return TALLY_OK;
}

/* Prints the name without the kind and number. */
static enum tally_status kwork_bare_name(
	struct kwork_job *job, const struct work_row *row, struct text *out, struct tally_error *err)
{
	const char *vector = row->kind == WORK_SOFTIRQ ? softirq_name(row->id) : NULL;
	if (row->kind == WORK_QUEUE && row->name == INTERN_NONE)
		return kwork_function_name(job, row->function, out, err);
	if (vector)
		text_str(out, vector);
	else if (row->name != INTERN_NONE)
		text_visible(out, intern_get(&job->work.names, row->name));
	else
		text_str(out, "[unknown]");
	return TALLY_OK;
}

enum tally_status kwork_name(
	struct kwork_job *job, const struct work_row *row, struct text *out, struct tally_error *err)
{
	static const char *const marks[WORK_KINDS] = {"", "(s)", "(w)"};
	text_str(out, marks[row->kind]);
	enum tally_status status = kwork_bare_name(job, row, out, err);
	if (row->kind != WORK_QUEUE)
		text_printf(out, ":%" PRIu64, row->id);
	return status;
}

enum tally_status kwork_is_wanted(
	struct kwork_job *job, const struct work_row *row, bool *is_wanted, struct tally_error *err)
{
	struct text name = {0};
	*is_wanted = true;
	if (!job->settings->name)
		return TALLY_OK;
	enum tally_status status = kwork_bare_name(job, row, &name, err);
	*is_wanted = str_equal(text_view(&name), str_from(job->settings->name));
	text_deinit(&name);
	return status;
}
