/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_feed.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "tasks/session/trace_fields.h"
#include "verbs/trace/trace_calls.h"
#include "verbs/trace/trace_faults.h"
#include "verbs/trace/trace_files.h"
#include "verbs/trace/trace_line.h"
#include "verbs/trace/trace_payload.h"

enum tally_status trace_feed_begin(struct trace_job *job, struct tally_error *err)
{
	if (!job->settings->form.no_arg_names)
		job->style.fd_path = trace_files_find;
	job->style.file_text = job->is_live ? trace_files_text : NULL;
	return trace_job_read_events(job, err);
}

static void print_sample(struct trace_job *job, const struct data_sample *s)
{
	const struct trace_thread *thread = trace_threads_find(&job->threads, (int32_t)s->sample.tid);
	char room[TRACE_COMM_BYTES] = "";
	struct tally_str name = thread ? trace_thread_name(thread, room) : STR(":-1");
	struct text *out = &job->out;
	text_str_right(out, s->event->name, 22);
	text_char(out, ' ');
	text_fixed_right(out, (double)s->sample.time / 1e6, 3, 10);
	text_char(out, ' ');
	text_visible(out, name);
	text_printf(out, " %" PRIu32 "/%" PRIu32 " [%" PRIu32 "]\n", s->sample.pid, s->sample.tid, s->sample.cpu);
}

static enum tally_status print_event(struct trace_job *job, const struct data_sample *s, struct tally_error *err)
{
	const struct trace_thread *thread =
		trace_threads_get(&job->threads, (int32_t)s->sample.tid, (int32_t)s->sample.pid);
	const struct trace_stamp stamp = {
		.thread = thread, .cpu = s->sample.cpu, .has_time = true, .time_ns = s->sample.time};
	struct text *out = &job->out;
	if (!thread)
		return error_nomem(err);
	trace_line_set_base(job, s->sample.time);
	if (job->settings->only_summary)
		return TALLY_OK;
	if (!trace_line_is_deep(job, s, false, err))
		return job->source.pass.resolver.failed ? error_nomem(err) : TALLY_OK;
	trace_calls_interrupt(job);
	if (job->is_over)
		return TALLY_OK;
	trace_line_begin(job, &stamp);
	text_visible(out, s->event->name);
	text_char(out, '(');
	trace_payload_print(job, s);
	text_str(out, ")\n");
	job->printed++;
	job->is_over |= job->printed == job->settings->most_events;
	return trace_line_chain(job, s, false, err) ? TALLY_OK : TALLY_NOMEM;
}

static void add_runtime(struct trace_job *job, const struct data_sample *s)
{
	uint64_t pid, ns;
	struct tracepoint_printer *formats = job->source.tracepoints;
	if (!trace_number_of(formats, s->sample.raw, STR("pid"), &pid) ||
		!trace_number_of(formats, s->sample.raw, STR("runtime"), &ns))
		return;
	struct trace_thread *thread = trace_threads_find(&job->threads, (int32_t)pid);
	if (thread)
		thread->runtime_ns += ns;
}

/* Applies --switch-on and --switch-off; false if the sample must be ignored. */
static bool trace_feed_considers(struct trace_job *job, const struct trace_job_event *event)
{
	bool shows = job->settings->shows_switch_events;
	if (!job->is_considered && event->switches_on) {
		job->is_considered = true;
		return shows;
	}
	if (job->is_considered && event->switches_off) {
		job->is_considered = false;
		return shows;
	}
	return job->is_considered;
}

/* Applies nr=, the number of samples of an event: the trace is over when all events have reached theirs. */
static bool trace_feed_counts(struct trace_job *job, struct trace_job_event *event)
{
	bool is_over = true;
	if (event->count >= event->most)
		return false;
	event->count++;
	for (size_t i = 0; event->count == event->most && i < job->events.len; i++) {
		const struct trace_job_event *other = &job->events.items[i];
		is_over &= other->role == TRACE_SILENT || other->count >= other->most;
	}
	job->is_over |= is_over && event->count == event->most;
	return true;
}

enum tally_status trace_feed_sample(struct trace_job *job, struct data_sample *s, struct tally_error *err)
{
	struct trace_job_event *event = &job->events.items[s->event->index];
	bool is_last = job->is_over;
	enum tally_status status = TALLY_OK;
	uint64_t unused;
	if (map_u64_find(&job->excluded, s->sample.pid, &unused))
		return TALLY_OK;
	job->records++;
	if (is_last || event->role == TRACE_SILENT || !trace_feed_considers(job, event))
		return TALLY_OK;
	if (event->role == TRACE_OTHER && event->most != UINT64_MAX && !trace_feed_counts(job, event))
		return TALLY_OK;
	is_last = job->is_over;
	job->is_over = false; /* The last sample must still be printed; is_over is set again below. */
	if (!job->is_live) /* As in perf, times are relative to the first sample, even if it is not printed. */
		trace_line_set_base(job, s->sample.time);
	if (job->settings->prints_samples && (event->role == TRACE_ENTER || event->role == TRACE_EXIT))
		print_sample(job, s);
	switch (event->role) {
	case TRACE_CALL:
		status = trace_calls_take_record(job, s, err);
		break;
	case TRACE_ENTER:
	case TRACE_EXIT:
		status = trace_calls_take_tracepoint(job, s, event->role == TRACE_EXIT, err);
		break;
	case TRACE_MINOR_FAULT:
	case TRACE_MAJOR_FAULT:
		status = trace_faults_take(job, s, event->role == TRACE_MAJOR_FAULT, err);
		break;
	case TRACE_RUNTIME:
		add_runtime(job, s);
		break;
	case TRACE_OTHER:
		status = print_event(job, s, err);
		break;
	case TRACE_SILENT:
		break;
	}
	job->is_over |= is_last;
	(void)text_line_end(&job->out);
	return status;
}

static void tell_loss(struct trace_job *job, uint64_t count)
{
	char text[64];
	if (job->settings->only_summary)
		return;
	snprintf(text, sizeof(text), "LOST %" PRIu64 " events!", count);
	trace_line_colour(job, "31", text);
	text_char(&job->out, '\n');
}

static enum tally_status trace_feed_apply_map(struct trace_job *job, const struct record *record,
	const struct record_fields *fields, uint64_t time_ns, struct tally_error *err)
{
	if (!job->applies_maps)
		return TALLY_OK;
	job->has_new_maps = true;
	return machine_apply(job->source.pass.sideband.machine, record, fields, time_ns, err);
}

enum tally_status trace_feed_sideband(
	struct trace_job *job, const struct record *record, uint64_t time_ns, struct tally_error *err)
{
	struct record_fields fields;
	job->records += job->is_live; /* As in perf, only samples of a recording are counted. */
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return TALLY_OK;
	if (record->type == RECORD_LOST)
		tell_loss(job, fields.lost.lost);
	if (record->type == RECORD_FORK && job->is_live && !job->settings->record.modes.no_inherit)
		job->shows_threads = true; /* The new thread is traced as well. */
	if (record->type == RECORD_CGROUP)
		return cgroup_names_add(&job->cgroups, fields.cgroup.id, fields.cgroup.path, err);
	if (sideband_is_history(record->type)) {
		enum tally_status status = trace_feed_apply_map(job, record, &fields, time_ns, err);
		if (status != TALLY_OK)
			return status;
	}
	const struct trace_thread *thread =
		record->type == RECORD_EXIT ? trace_threads_find(&job->threads, (int32_t)fields.task.tid) : NULL;
	if (thread && thread == job->current)
		job->current = NULL;
	return trace_threads_apply(&job->threads, record, &fields) ? TALLY_OK : error_nomem(err);
}

void trace_feed_finish(struct trace_job *job)
{
	trace_calls_end(job);
}
