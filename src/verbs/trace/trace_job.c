/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_job.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define ENTER_PREFIX "syscalls:sys_enter_"

struct tally_str trace_job_thread_name(void *context, uint32_t tid)
{
	const struct trace_job *job = context;
	const struct trace_thread *thread = trace_threads_find(&job->threads, (int32_t)tid);
	return thread ? (struct tally_str){thread->comm, thread->comm_len} : (struct tally_str){"", 0};
}

void trace_job_init(
	struct trace_job *job, const struct cli *cli, const struct trace_settings *s, const struct trace_choice *choice)
{
	*job = (struct trace_job){.cli = cli,
		.settings = s,
		.choice = choice,
		.shows_threads = true,
		.is_considered = s->switch_on == NULL};
	job->style = (struct syscall_print_options){.no_names = s->form.no_arg_names,
		.with_zeros = s->form.with_zeros,
		.with_prefixes = s->form.with_prefixes,
		.no_buffer_quotes = s->form.no_arg_names,
		.force_btf = s->forces_btf,
		.string_bytes = (size_t)s->string_bytes,
		.thread_name = trace_job_thread_name,
		.context = job};
	trace_threads_init(&job->threads, trace_has_summary(s));
	trace_sums_init(&job->sums);
}

void trace_job_deinit(struct trace_job *job)
{
	trace_threads_deinit(&job->threads);
	trace_sums_deinit(&job->sums);
	cgroup_names_deinit(&job->cgroups);
	vec_free(&job->events);
	map_u64_deinit(&job->excluded);
	text_deinit(&job->out);
	data_source_close(&job->source);
}

uint64_t trace_job_owner(const struct trace_job *job, const struct data_sample *s, const struct trace_thread *thread)
{
	switch (job->settings->summary_mode) {
	case TRACE_BY_THREAD:
		return (uint64_t)(uintptr_t)thread; /* A thread's ID may be reused, so its address is the owner. */
	case TRACE_BY_CGROUP:
		return s->sample.cgroup;
	case TRACE_BY_TOTAL:
		break;
	}
	return 0;
}

/* ---- roles of events ---- */

static bool is_fault(const struct perf_attr *attr, enum software_event which)
{
	return attr->type == EVENT_SOFTWARE && attr->config == (uint64_t)which;
}

/* Returns the role of an event in a recording. As in perf, other events of it are not printed. */
static enum trace_role role_of(const struct trace_job *job, const struct perfdata_event *event)
{
	const struct trace_settings *s = job->settings;
	bool traces_calls = job->choice->traces_calls;
	if (str_equal(event->name, STR("raw_syscalls:sys_enter")))
		return traces_calls ? TRACE_ENTER : TRACE_SILENT;
	if (str_equal(event->name, STR("raw_syscalls:sys_exit")))
		return traces_calls ? TRACE_EXIT : TRACE_SILENT;
	if (is_fault(&event->attr, SW_PAGE_FAULTS_MIN))
		return s->with_minor_faults ? TRACE_MINOR_FAULT : TRACE_SILENT;
	if (is_fault(&event->attr, SW_PAGE_FAULTS_MAJ))
		return s->with_major_faults ? TRACE_MAJOR_FAULT : TRACE_SILENT;
	if (str_equal(event->name, STR("sched:sched_stat_runtime")))
		return s->with_runtime ? TRACE_RUNTIME : TRACE_SILENT;
	return TRACE_SILENT;
}

static bool trace_job_is_named(const struct perfdata_event *event, const char *name)
{
	return name && str_equal(event->name, str_from(name));
}

static bool follows_files(const struct trace_job *job)
{
	static const char *const changing[] = {"close", "dup2", "dup3", "close_range", "openat"};
	bool follows = job->choice->traces_calls;
	for (size_t i = 0; i < ARRAY_LEN(changing); i++) {
		uint32_t number = syscall_number(job->choice->native, str_from(changing[i]));
		follows &= number == SYSCALL_UNKNOWN || trace_choice_wants(job->choice, job->choice->native, number);
	}
	return follows;
}

enum tally_status trace_job_read_events(struct trace_job *job, struct tally_error *err)
{
	size_t count, prefix = sizeof(ENTER_PREFIX) - 1;
	const struct perfdata_event *events = perfdata_reader_events(job->source.reader, &count);
	const struct perfdata_features *features = perfdata_reader_features(job->source.reader);
	for (size_t i = 0; i < count; i++) {
		struct trace_job_event made = {.most = UINT64_MAX};
		if (i >= job->events.len) {
			made.role = role_of(job, &events[i]);
			if (!vec_push(&job->events, made))
				return error_nomem(err);
		}
		struct trace_job_event *known = &job->events.items[i];
		known->switches_on = trace_job_is_named(&events[i], job->settings->switch_on);
		known->switches_off = trace_job_is_named(&events[i], job->settings->switch_off);
		known->abi = job->choice->native;
		known->number = SYSCALL_UNKNOWN;
		if (events[i].name.len > prefix && memcmp(events[i].name.data, ENTER_PREFIX, prefix) == 0)
			known->number = syscall_number(known->abi,
				(struct tally_str){events[i].name.data + prefix, events[i].name.len - prefix});
	}
	job->follows_files = job->is_live && follows_files(job); /* Recordings do not contain paths. */
	job->has_wide_words = !perfdata_reader_is_swapped(job->source.reader) &&
			      (job->is_live || features->arch.len == 0 || str_equal(features->arch, STR("x86_64")) ||
				      str_equal(features->arch, STR("aarch64")));
	return TALLY_OK;
}
