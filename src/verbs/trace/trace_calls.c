/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_calls.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "verbs/trace/trace_files.h"
#include "verbs/trace/trace_line.h"

#define RAW_ID_AT   8 /* Offset in payloads of raw_syscalls on 64-bit machines, after the common fields. */
#define RAW_ARGS_AT 16
#define DOTS_LEN    4 /* Length of " ...". */

/* ---- lines ---- */

static void print_call(struct trace_job *job, const struct syscall_call *call, struct text *t)
{
	syscall_print_name(t, call->abi, call->number);
	text_char(t, '(');
	syscall_print_args(t, call, &job->style);
}

static void count_line(struct trace_job *job)
{
	job->printed++;
	job->is_over |= job->printed == job->settings->most_events;
}

static bool prints_beginnings(const struct trace_job *job)
{
	const struct trace_settings *s = job->settings;
	return !s->least_ns && !s->only_summary && !s->least_stack && !s->only_failed;
}

static void tell_beginning(struct trace_job *job, struct trace_thread *thread)
{
	struct text *out = &job->out;
	size_t width = (size_t)job->settings->form.alignment;
	const struct trace_stamp stamp = {.thread = thread,
		.cpu = thread->cpu,
		.has_time = !thread->is_before,
		.time_ns = thread->began_ns,
		.is_call = true};
	if (!thread->is_in_call || thread->is_told || job->is_over)
		return;
	trace_line_begin(job, &stamp);
	size_t start = out->len;
	text_bytes(out, thread->call.data, thread->call.len);
	text_char(out, ')');
	size_t len = text_cells_from(out, start);
	text_repeat(out, ' ', len + DOTS_LEN < width ? width - DOTS_LEN - len : 0);
	text_str(out, " ...\n");
	thread->is_told = true;
	count_line(job);
}

void trace_calls_interrupt(struct trace_job *job)
{
	struct trace_thread *thread = job->current;
	job->current = NULL;
	if (thread && prints_beginnings(job))
		tell_beginning(job, thread);
}

void trace_calls_end(struct trace_job *job)
{
	for (size_t i = 0; prints_beginnings(job) && i < job->threads.items.len; i++)
		tell_beginning(job, job->threads.items.items[i]);
}

static void trace_calls_tell_result(
	struct trace_job *job, struct trace_thread *thread, const struct syscall_call *call, bool is_alone)
{
	struct text *out = &job->out;
	size_t start = out->len, width = (size_t)job->settings->form.alignment;
	if (is_alone && call->has_args) {
		print_call(job, call, out);
	} else if (thread->is_in_call && !thread->is_told) {
		text_bytes(out, thread->call.data, thread->call.len);
	} else {
		text_str(out, " ... [");
		trace_line_colour(job, "33", "continued");
		text_str(out, "]: ");
		syscall_print_name(out, call->abi, call->number);
		text_str(out, "()");
	}
	/* The parenthesis ends the arguments, and the blanks put "= " into a column. */
	size_t cells = text_cells_from(out, start);
	text_char(out, ')');
	text_repeat(out, ' ', cells + 1 < width ? width - cells - 1 : 1);
	text_str(out, "= ");
	syscall_print_result(out, call, &job->style);
	text_char(out, '\n');
}

/* ---- calls ---- */

/* True for the return of fork and the like in the child, which did not make that call. */
static bool is_in_child(const struct syscall_call *call)
{
	const char *name = syscall_name(call->abi, call->number);
	struct tally_str word = str_from(name ? name : "");
	return call->has_result && call->result == 0 &&
	       (str_ends_with(word, STR("fork")) || str_starts_with(word, STR("clone")));
}

/* Returns the duration that the sums count for a call. If its beginning was not recorded, that is 0 in a recording, as
 * in perf, and none in a live trace. */
static uint64_t trace_calls_sum_ns(const struct trace_job *job, const struct trace_stamp *stamp)
{
	return stamp->has_duration ? stamp->duration_ns : job->is_live ? TRACE_SUMS_UNTIMED : 0;
}

/*
 * Counts a call that has returned, and prints its line if it passes the filters. is_alone: there was no record of its
 * beginning.
 */
static enum tally_status trace_calls_finish(struct trace_job *job, const struct data_sample *s,
	struct trace_thread *thread, const struct syscall_call *call, bool is_alone, struct tally_error *err)
{
	const struct trace_settings *settings = job->settings;
	unsigned error = 0;
	bool has_failed = call->has_result && syscall_result_failed(call->result, &error);
	bool has_begin = !thread->is_before && (is_alone ? call->has_begin : thread->is_in_call);
	const struct trace_stamp stamp = {.thread = thread,
		.cpu = s->sample.cpu,
		/* Without a known beginning, the time of the end is printed, and only if the call began within a live
		 * trace. */
		.has_time = has_begin || (job->is_live && call->is_within),
		.time_ns = is_alone || !has_begin
				   ? s->sample.time - (has_begin ? MIN(call->duration_ns, s->sample.time) : 0)
				   : thread->began_ns,
		.has_duration = has_begin && call->has_result,
		.duration_ns = call->duration_ns,
		.is_call = true};
	const struct trace_sum_key key = {trace_job_owner(job, s, thread), call->abi, call->number};
	trace_line_set_base(job, stamp.time_ns);
	if (trace_has_summary(settings) && call->has_result && !job->sums_come &&
		!(job->is_live && is_in_child(call)) &&
		!trace_sums_add(&job->sums, &key, trace_calls_sum_ns(job, &stamp), error))
		return error_nomem(err);
	if (settings->least_ns && (!stamp.has_duration || call->duration_ns < settings->least_ns))
		return TALLY_OK;
	if (settings->only_summary || (settings->only_failed && !has_failed))
		return TALLY_OK;
	if (!trace_line_is_deep(job, s, true, err))
		return job->source.pass.resolver.failed ? error_nomem(err) : TALLY_OK;
	trace_line_begin(job, &stamp);
	trace_calls_tell_result(job, thread, call, is_alone);
	count_line(job);
	return trace_line_chain(job, s, true, err) ? TALLY_OK : TALLY_NOMEM;
}

/* Stores the beginning of a call, which is printed with its end, or before another line. */
static enum tally_status trace_calls_start(struct trace_job *job, struct trace_thread *thread,
	const struct syscall_call *call, uint64_t began_ns, struct tally_error *err)
{
	trace_line_set_base(job, began_ns);
	trace_calls_interrupt(job);
	thread->is_in_call = true;
	thread->is_before = thread->is_told = false;
	thread->began_ns = began_ns;
	thread->number = call->number;
	memcpy(thread->args, call->args, sizeof(thread->args));
	text_clear(&thread->call);
	if (!job->settings->only_summary) {
		job->current = thread;
		print_call(job, call, &thread->call);
	}
	return thread->call.failed ? error_nomem(err) : TALLY_OK;
}

static struct trace_thread *thread_of(struct trace_job *job, const struct data_sample *s, struct tally_error *err)
{
	struct trace_thread *thread = trace_threads_get(&job->threads, (int32_t)s->sample.tid, (int32_t)s->sample.pid);
	if (!thread)
		(void)!error_nomem(err);
	return thread;
}

/*
 * Completes the call that the thread was in when the trace began, so that the arguments of its end are known. Any other
 * call replaces it.
 */
static void join_before(const struct data_sample *s, struct trace_thread *thread, struct syscall_call *call)
{
	if (!thread->is_before)
		return;
	bool is_same = !call->has_begin && call->has_result && call->number == thread->number &&
		       s->sample.time > thread->began_ns;
	thread->is_in_call = false;
	thread->is_before = is_same;
	call->has_args |= is_same;
	if (is_same)
		memcpy(call->args, thread->args, sizeof(call->args));
}

static enum tally_status trace_calls_take(
	struct trace_job *job, const struct data_sample *s, struct syscall_call *call, struct tally_error *err)
{
	struct trace_thread *thread = thread_of(job, s, err);
	enum tally_status status = TALLY_OK;
	if (!thread)
		return TALLY_NOMEM;
	bool has_both = call->has_begin;
	call->pid = s->sample.pid;
	trace_thread_learn_name(thread, call->name);
	join_before(s, thread, call);
	switch (call->kind) {
	case SYSCALL_RECORD_ENTRY:
		thread->events++;
		thread->cpu = s->sample.cpu;
		return trace_calls_start(job, thread, call, s->sample.time, err);
	case SYSCALL_RECORD_CALL:
		thread->events += has_both ? 2 : 1;
		job->records += has_both; /* One record contains both the beginning and the end. */
		status = trace_calls_finish(job, s, thread, call, true, err);
		break;
	case SYSCALL_RECORD_SIGNAL:
	case SYSCALL_RECORD_ENDED:
		return TALLY_OK; /* Signals and ends of threads are no calls, and were handled before. */
	case SYSCALL_RECORD_NO_RETURN:
		thread->events++;
		status = trace_calls_finish(job, s, thread, call, true, err);
		break;
	case SYSCALL_RECORD_EXIT:
		thread->events++;
		/* The beginning may not have been recorded, although the arguments were. */
		status = trace_calls_finish(job, s, thread, call, !thread->is_in_call, err);
		thread->is_in_call = false;
		if (job->current == thread)
			job->current = NULL;
	}
	thread->is_before = false;
	/* Learned only after the line is printed, because the line may name a descriptor that the call closes. */
	return status != TALLY_OK || trace_files_learn(job, thread->pid, call) ? status : error_nomem(err);
}

/* Prints a signal or the end of a thread on a line of its own, as strace does. */
static enum tally_status trace_calls_tell_life(
	struct trace_job *job, const struct data_sample *s, const struct syscall_call *call, struct tally_error *err)
{
	struct trace_thread *thread = thread_of(job, s, err);
	const struct trace_stamp stamp = {
		.thread = thread, .cpu = s->sample.cpu, .has_time = true, .time_ns = s->sample.time, .is_call = true};
	if (!thread)
		return TALLY_NOMEM;
	trace_thread_learn_name(thread, call->name);
	trace_line_set_base(job, s->sample.time);
	if (call->kind == SYSCALL_RECORD_SIGNAL)
		trace_calls_interrupt(job);
	if (job->is_over)
		return TALLY_OK;
	trace_line_begin(job, &stamp);
	syscall_print_life(&job->out, call, &job->style);
	text_char(&job->out, '\n');
	return TALLY_OK;
}

enum tally_status trace_calls_take_record(struct trace_job *job, const struct data_sample *s, struct tally_error *err)
{
	struct syscall_call call;
	if (!syscall_call_read(s->sample.raw, job->choice->native, &call)) {
		damaged_records_add(&job->source.pass.sideband.health.damaged, s->record.offset, s->record.type);
		return TALLY_OK;
	}
	if (call.kind == SYSCALL_RECORD_SIGNAL || call.kind == SYSCALL_RECORD_ENDED)
		return trace_calls_tell_life(job, s, &call, err);
	return trace_calls_take(job, s, &call, err);
}

enum tally_status trace_calls_take_pending(struct trace_job *job, uint32_t pid, uint32_t tid, uint64_t began_ns,
	struct tally_bytes raw, struct tally_error *err)
{
	struct syscall_call call;
	struct trace_thread *thread = trace_threads_get(&job->threads, (int32_t)tid, (int32_t)pid);
	if (!thread)
		return error_nomem(err);
	if (thread->is_in_call || !syscall_call_read(raw, job->choice->native, &call))
		return TALLY_OK;
	call.pid = pid;
	return trace_calls_start(job, thread, &call, began_ns, err);
}

enum tally_status trace_calls_take_before(
	struct trace_job *job, int32_t tid, struct syscall_call *call, uint64_t seen_ns, struct tally_error *err)
{
	struct trace_thread *thread = trace_threads_find(&job->threads, tid);
	if (!thread || job->settings->only_summary)
		return TALLY_OK;
	call->pid = (uint32_t)thread->pid;
	thread->is_in_call = thread->is_before = true;
	thread->is_told = false;
	thread->began_ns = seen_ns;
	thread->number = call->number;
	memcpy(thread->args, call->args, sizeof(thread->args));
	text_clear(&thread->call);
	print_call(job, call, &thread->call);
	return thread->call.failed ? error_nomem(err) : TALLY_OK;
}

/* ---- the tracepoints raw_syscalls:sys_enter and sys_exit ---- */

static bool read_wide(const struct data_sample *s, bool is_exit, struct syscall_call *call)
{
	struct tally_bytes raw = s->sample.raw;
	uint64_t number;
	size_t need = RAW_ARGS_AT + (is_exit ? sizeof(call->result) : sizeof(call->args));
	if (raw.len < need)
		return false;
	memcpy(&number, raw.data + RAW_ID_AT, sizeof(number));
	memcpy(is_exit ? (void *)&call->result : (void *)call->args, raw.data + RAW_ARGS_AT, need - RAW_ARGS_AT);
	call->number = (uint32_t)number;
	return true;
}

/* Reads payloads of other machines by the tracepoint's format. */
static bool read_by_format(struct trace_job *job, const struct data_sample *s, bool is_exit, struct syscall_call *call)
{
	struct tracepoint_printer *formats = job->source.tracepoints;
	struct tracepoint_value value;
	unsigned index;
	uint64_t number;
	if (!formats || !tracepoint_number_of(formats, s->sample.raw, TRACEPOINT_OWN, STR("id"), &number) ||
		!tracepoint_find(formats, s->sample.raw, TRACEPOINT_OWN, is_exit ? STR("ret") : STR("args"), &index) ||
		!tracepoint_value_at(formats, s->sample.raw, TRACEPOINT_OWN, index, &value))
		return false;
	call->number = (uint32_t)number;
	call->result = (int64_t)value.numbers[0];
	for (unsigned i = 0; !is_exit && i < SYSCALL_ARGS && i < value.field.count; i++)
		call->args[i] = value.numbers[i];
	return true;
}

/* True for calls that end their thread, and so never return. */
static bool ends_thread(const struct trace_job *job, const struct syscall_call *call)
{
	const char *name = syscall_name(job->choice->native, call->number);
	return name && (strcmp(name, "exit") == 0 || strcmp(name, "exit_group") == 0);
}

enum tally_status trace_calls_take_tracepoint(
	struct trace_job *job, const struct data_sample *s, bool is_exit, struct tally_error *err)
{
	struct syscall_call call = {
		.abi = job->choice->native, .has_args = !is_exit, .has_begin = !is_exit, .has_result = is_exit};
	bool is_read = job->has_wide_words ? read_wide(s, is_exit, &call) : read_by_format(job, s, is_exit, &call);
	struct trace_thread *thread = trace_threads_find(&job->threads, (int32_t)s->sample.tid);
	bool is_in_call = thread && thread->is_in_call && !thread->is_before;
	/* sigreturn restores the registers from before the signal, so its end has no call number. A live trace takes
	 * the number from its beginning; a recording has no line for its end, as in perf. */
	if (is_exit && (int32_t)call.number < 0 && is_in_call && job->is_live)
		call.number = thread->number;
	if (!is_read || !trace_choice_wants(job->choice, call.abi, call.number) ||
		(is_exit && (int32_t)call.number < 0))
		return TALLY_OK;
	call.kind = is_exit		      ? SYSCALL_RECORD_EXIT
		    : ends_thread(job, &call) ? SYSCALL_RECORD_NO_RETURN
					      : SYSCALL_RECORD_ENTRY;
	if (call.kind == SYSCALL_RECORD_NO_RETURN)
		trace_calls_interrupt(job);
	call.is_within = is_exit && ((thread && thread->events > 0) || is_in_child(&call));
	if (is_exit && is_in_call && thread->number == call.number) {
		memcpy(call.args, thread->args, sizeof(call.args));
		call.has_args = call.has_begin = true;
		call.duration_ns = s->sample.time - thread->began_ns;
	} else if (is_exit && thread && !thread->is_before) {
		thread->is_in_call = false; /* The exit belongs to another call: records between them were lost. */
	}
	return trace_calls_take(job, s, &call, err);
}
