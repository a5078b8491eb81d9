/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/system/capabilities.h"
#include "tasks/session/event_words.h"

#define CALL_EVENT "bpf-output"

struct trace_events_adding {
	const struct trace_events_request *request;
	struct event_catalogue *catalogue;
	struct event_list *events;
};

static enum tally_status trace_events_role(
	struct trace_job *job, const struct event_list *events, enum trace_role role, struct tally_error *err)
{
	while (job->events.len < events->len) {
		const struct event_spec *spec = &events->specs[job->events.len];
		uint64_t most = spec->recording.most_events;
		struct trace_job_event made = {.role = role, .most = most ? most : UINT64_MAX};
		if (!vec_push(&job->events, made))
			return error_nomem(err);
	}
	return TALLY_OK;
}

static enum tally_status trace_events_parse(
	struct trace_events_adding *a, const char *text, enum trace_role role, struct tally_error *err)
{
	struct trace_job *job = a->request->job;
	enum tally_status status = event_word_parse(job->cli, a->catalogue, text, a->events, err);
	if (status == TALLY_OK)
		status = trace_events_role(job, a->events, role, err);
	struct event_spec *spec = &a->events->specs[a->events->len - 1];
	if (status == TALLY_OK && (role == TRACE_MINOR_FAULT || role == TRACE_MAJOR_FAULT || role == TRACE_CALL)) {
		spec->attr.sample_type |= role == TRACE_CALL ? SAMPLE_RAW : SAMPLE_ADDR;
		spec->attr.sample_period_or_freq = 1;
		spec->has_period = true;
	}
	if (status == TALLY_OK && (role == TRACE_ENTER || role == TRACE_RUNTIME)) {
		/* The end of a call has its call chain, so the beginning needs none. sched_stat_runtime is only added
		 * up. */
		spec->recording.has_callgraph = true;
		spec->recording.callgraph = CALLGRAPH_NONE;
	}
	return status;
}

/* Makes the kernel drop unwanted calls. */
static enum tally_status filter_calls(struct trace_events_adding *a, size_t first, struct tally_error *err)
{
	struct text filter = {0};
	size_t position = 0;
	uint64_t pid, unused;
	enum tally_status status = TALLY_OK;
	trace_choice_print_filter(a->request->choice, &filter);
	if (filter.len > 0) {
		text_char(&filter, 0);
		status = filter.failed ? error_nomem(err) : event_add_filter(a->events, first, filter.data, "-e", err);
	}
	/* In another PID namespace the kernel compares other IDs; trace_feed drops these processes anyway. */
	bool can_compare = !pid_namespace_is_nested(a->request->kernel);
	while (status == TALLY_OK && can_compare &&
		map_u64_next(&a->request->job->excluded, &position, &pid, &unused)) {
		char condition[64];
		snprintf(condition, sizeof(condition), "common_pid != %" PRIu64, pid);
		status = event_add_filter(a->events, first, condition, "--filter-pids", err);
	}
	text_deinit(&filter);
	return status;
}

static enum tally_status trace_events_add_calls(struct trace_events_adding *a, struct tally_error *err)
{
	const struct trace_events_request *q = a->request;
	if (!q->choice->traces_calls || q->has_sums || q->has_records)
		return TALLY_OK;
	size_t first = a->events->len;
	enum tally_status status = trace_events_parse(a, "raw_syscalls:sys_enter", TRACE_ENTER, err);
	if (status == TALLY_OK)
		status = trace_events_parse(a, "raw_syscalls:sys_exit", TRACE_EXIT, err);
	if (status == TALLY_OK)
		status = filter_calls(a, first, err);
	for (size_t i = first; status == TALLY_OK && q->choice->cgroups && i < a->events->len; i++)
		status = event_set_cgroup(a->events, i, q->kernel, str_from(q->choice->cgroups), err);
	return status;
}

static bool trace_events_have(const struct event_list *events, const char *name)
{
	for (size_t i = 0; i < events->len; i++)
		if (strcmp(events->specs[i].name, name) == 0)
			return true;
	return false;
}

/* Adds the event of --switch-on or --switch-off, unless it is traced anyway. */
static enum tally_status add_switch(struct trace_events_adding *a, const char *name, struct tally_error *err)
{
	return !name || trace_events_have(a->events, name) ? TALLY_OK : trace_events_parse(a, name, TRACE_OTHER, err);
}

enum tally_status trace_events_add(const struct trace_events_request *q, struct tally_error *err)
{
	const struct trace_settings *s = q->job->settings;
	struct trace_events_adding a = {.request = q, .events = &q->choice->events};
	enum tally_status status = event_catalogue_create(q->kernel, &a.catalogue, err);
	if (status != TALLY_OK)
		return status;
	status = trace_events_role(q->job, a.events, TRACE_OTHER, err);
	if (status == TALLY_OK)
		q->job->events.items[0].role = TRACE_SILENT;
	if (status == TALLY_OK)
		status = trace_events_add_calls(&a, err);
	if (status == TALLY_OK && s->with_major_faults)
		status = trace_events_parse(&a, "major-faults", TRACE_MAJOR_FAULT, err);
	if (status == TALLY_OK && s->with_minor_faults)
		status = trace_events_parse(&a, "minor-faults", TRACE_MINOR_FAULT, err);
	if (status == TALLY_OK && s->with_runtime)
		status = trace_events_parse(&a, "sched:sched_stat_runtime", TRACE_RUNTIME, err);
	if (status == TALLY_OK)
		status = add_switch(&a, s->switch_on, err);
	if (status == TALLY_OK)
		status = add_switch(&a, s->switch_off, err);
	if (status == TALLY_OK && q->has_records)
		status = trace_events_parse(&a, CALL_EVENT, TRACE_CALL, err);
	event_catalogue_destroy(a.catalogue);
	return status;
}

static void clear_flag(struct perf_attr *attr, enum attr_flag_bit bit)
{
	attr->flags &= ~ATTR_FLAG(bit);
}

void trace_events_finish(const struct trace_events_request *q)
{
	struct event_list *events = &q->choice->events;
	const struct trace_settings *s = q->job->settings;
	events->specs[0].is_everywhere = true;
	for (size_t i = 0; i < q->job->events.len; i++) {
		struct event_spec *spec = &events->specs[i];
		enum trace_role role = q->job->events.items[i].role;
		if ((role == TRACE_CALL || role == TRACE_EXIT) && !s->kernel_chains &&
			(spec->attr.sample_type & SAMPLE_CALLCHAIN))
			spec->attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_CALLCHAIN_KERNEL);
		if (role != TRACE_CALL)
			continue;
		/* The BPF program selects threads, so the event is opened on each CPU and is always enabled. */
		spec->is_of_cpu = true;
		clear_flag(&spec->attr, ATTR_BIT_DISABLED);
		clear_flag(&spec->attr, ATTR_BIT_ENABLE_ON_EXEC);
		clear_flag(&spec->attr, ATTR_BIT_INHERIT);
	}
}
