/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_rung.h"

#include "base/error.h"
#include "kernel/counting/tool_counts.h"
#include "kernel/events/event_denial.h"

#define RUNG_BY	      "getrusage and /proc"
#define RUNG_NOT_SEEN "hardware events, tracepoints, user mode apart from kernel mode, "

static const struct stat_origin rung_origin_command = {
	.kind = "rusage", .by = RUNG_BY, .not_seen = RUNG_NOT_SEEN "descendants that nobody waits for"};
static const struct stat_origin rung_origin_tasks = {
	.kind = "rusage", .by = RUNG_BY, .not_seen = RUNG_NOT_SEEN "children that the processes start"};

static bool rung_has_word(const struct stat_settings *s, int kind)
{
	for (size_t i = 0; i < s->events.words.len; i++)
		if ((int)s->events.words.items[i].kind == kind)
			return true;
	return false;
}

/* Returns the requested feature that getrusage and /proc do not provide, or NULL if there is none. */
static const char *stat_rung_obstacle(const struct stat_job *job)
{
	const struct stat_settings *s = &job->settings;
	const struct target_request *target = &s->counting.target;
	return s->counting.bpf_programs	       ? "--bpf-prog"
	       : s->counting.shares_counters   ? "--bpf-counters"
	       : s->events.for_each_cgroup     ? "--for-each-cgroup"
	       : rung_has_word(s, WORD_CGROUP) ? "-G"
	       : rung_has_word(s, WORD_FILTER) ? "--filter"
	       : target->system_wide	       ? "counting all processes (-a)"
	       : target->cpus		       ? "counting single CPUs (-C)"
	       : s->events.all_user	       ? "--all-user"
	       : s->events.all_kernel	       ? "--all-kernel"
	       : s->counting.has_passes	       ? "--passes"
	       : s->counting.is_plan	       ? "--plan"
	       : s->counting.no_inherit && job->command && !target->pids && !target->tids ? "leaving out children (-i)"
											  : NULL;
}

static bool rung_needs_events(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (events->specs[i].tool == TOOL_NONE)
			return true;
	return false;
}

static bool rung_knows_any(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (events->specs[i].tool == TOOL_NONE && tool_counts_replace(&events->specs[i]))
			return true;
	return false;
}

static enum tally_status rung_refuse(const struct text *gate, struct tally_error *err)
{
	return gate->failed ? error_nomem(err)
			    : error_set(err, TALLY_DENIED,
				      "the kernel allows no event, and --require-event forbids to count without: %.*s; "
				      "'tally doctor' says what else is in the way",
				      (int)gate->len, gate->data ? gate->data : "");
}

static enum tally_status rung_take(
	struct stat_rung *rung, struct stat_job *job, const struct text *gate, struct tally_error *err)
{
	const struct target_request *target = &job->settings.counting.target;
	bool is_of_processes = target->pids || target->tids || target->user || target->per_thread;
	rung->origin = is_of_processes ? &rung_origin_tasks : &rung_origin_command;
	text_printf(&rung->label, "counted by %s (--rung rusage), which do not show %s", rung->origin->by,
		rung->origin->not_seen);
	if (gate->len)
		text_printf(&rung->label,
			"; perf events are denied here: %.*s; 'tally doctor' says what else is in the way",
			(int)gate->len, gate->data);
	if (rung->label.failed || gate->failed)
		return error_nomem(err);
	job->rung = rung;
	return TALLY_OK;
}

enum tally_status stat_rung_choose(struct stat_rung *rung, const struct kernel_seam *kernel, struct stat_job *job,
	const struct event_list *events, struct tally_error *err)
{
	const struct stat_counting *counting = &job->settings.counting;
	struct text gate = {0};
	bool is_asked_for = counting->rung == STAT_RUNG_RUSAGE;
	if (is_asked_for && counting->requires_event)
		return error_set(err, TALLY_INVALID, "--rung rusage and --require-event cannot be used together");
	if (!is_asked_for &&
		(!rung_needs_events(events) || (counting->rung == STAT_RUNG_EVENTS && !counting->requires_event)))
		return TALLY_OK;
	const char *obstacle = stat_rung_obstacle(job);
	bool is_denied = events_are_denied(kernel, &gate);
	enum tally_status status = TALLY_OK;
	if (is_asked_for && obstacle)
		status = error_set(err, TALLY_UNSUPPORTED, "--rung rusage: %s needs perf events", obstacle);
	else if (is_denied && counting->requires_event)
		status = rung_refuse(&gate, err);
	else if (is_asked_for || (is_denied && !obstacle && rung_knows_any(events)))
		status = rung_take(rung, job, &gate, err);
	text_deinit(&gate);
	return status;
}

void stat_rung_deinit(struct stat_rung *rung)
{
	text_deinit(&rung->label);
}
