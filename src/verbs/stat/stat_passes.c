/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"
#include "kernel/counting/fit.h"
#include "tasks/counts/stat_number.h"

/* Allowed spread of the check event if it is instructions, which hardly vary for the same work. */
#define ALLOWED_COUNT_PERCENT 5
#define ALLOWED_CLOCK_PERCENT 20 /* Allowed spread of the check event if it is task-clock, which varies more. */

int stat_passes_check(const struct cli *cli, const struct command *command, const struct stat_job *job)
{
	const struct stat_settings *s = &job->settings;
	if (!job->command || s->counting.target.pids || s->counting.target.tids || s->counting.target.system_wide ||
		s->counting.target.cpus || s->events.for_each_cgroup)
		return cli_usagef(cli, command, "passes",
			"--passes runs a command again and again: it needs one, and no other target");
	if (s->counting.interval_ms || s->counting.timeout_ms || s->counting.delay_ms || s->counting.control.is_given)
		return cli_usagef(cli, command, "passes",
			"--passes counts whole runs: it cannot be used with -I, -D, --timeout or --control");
	if (s->view.separator || s->counting.has_statistics || s->counting.compare || s->view.has_table ||
		s->counting.pre || s->counting.post || s->counting.does_sync)
		return cli_usagef(cli, command, "passes",
			"-x, --stats, --compare, --table, --pre, --post and --sync are not supported yet with "
			"--passes");
	if (s->counting.runs == 0)
		return cli_usagef(cli, command, "passes", "--passes cannot be used with -r 0, which never ends");
	return 0;
}

struct pass {
	struct event_list events; /* Copies of the specs; their strings belong to the session's event list. */
	/* Index of each event in the session's list, or SIZE_MAX if the event was added only as the check. */
	size_t *origins;
	size_t check; /* Index, in this pass, of the event that is counted in every pass. */
};

struct stat_passes_passing {
	struct stat_session *session;
	const struct fit_plan *fit;
	struct stat_passes *passes;
	/* Index of the check event in the session's list; if SIZE_MAX, task-clock is added to each pass. */
	size_t anchor;
};

/* Returns the pass of the event's group, which is the last pass that any of its members needs. */
static uint32_t pass_of(const struct stat_passes_passing *p, size_t event)
{
	const struct event_list *events = p->session->events;
	uint32_t leader = events->specs[event].leader, pass = 0;
	for (size_t i = leader; i < events->len; i++)
		if (events->specs[i].leader == leader && p->fit->states[i] == FIT_COUNTS && p->fit->rounds[i] > pass)
			pass = p->fit->rounds[i];
	return pass;
}

static struct event_spec check_spec(const struct stat_passes_passing *p)
{
	const struct event_list *events = p->session->events;
	if (p->anchor != SIZE_MAX) {
		struct event_spec spec = events->specs[p->anchor];
		spec.is_merged = false;
		return spec;
	}
	return (struct event_spec){
		.attr = {.size = events->specs[0].attr.size, .type = EVENT_SOFTWARE, .config = SW_TASK_CLOCK},
		.name = "task-clock",
		.unit = "",
		.scale = 1};
}

static enum tally_status pass_make(
	const struct stat_passes_passing *p, uint32_t number, struct pass *pass, struct tally_error *err)
{
	const struct event_list *events = p->session->events;
	*pass = (struct pass){.origins = calloc(events->len + 1, sizeof(*pass->origins)), .check = SIZE_MAX};
	pass->events.specs = calloc(events->len + 1, sizeof(*pass->events.specs));
	if (!pass->origins || !pass->events.specs)
		return error_nomem(err);
	pass->events.cap = events->len + 1;
	/* New index of each group leader, by its index in the session's list. */
	uint32_t *moved = calloc(events->len + 1, sizeof(*moved));
	if (!moved)
		return error_nomem(err);
	for (size_t i = 0; i < events->len; i++) {
		if (pass_of(p, i) != number)
			continue;
		size_t k = pass->events.len++;
		moved[i] = (uint32_t)k;
		pass->origins[k] = i;
		pass->events.specs[k] = events->specs[i];
		pass->events.specs[k].leader = moved[events->specs[i].leader];
		if (i == p->anchor)
			pass->check = k;
	}
	free(moved);
	if (pass->check == SIZE_MAX) {
		pass->check = pass->events.len++;
		pass->origins[pass->check] = SIZE_MAX;
		struct event_spec *spec = &pass->events.specs[pass->check];
		*spec = check_spec(p);
		spec->leader = (uint32_t)pass->check;
		spec->member_count = 1;
	}
	return TALLY_OK;
}

/* Stores the counts of a pass in the session; the times are those of the first pass. */
static void pass_take(
	struct stat_passes_passing *p, const struct pass *pass, struct stat_session *single, bool is_first)
{
	struct stat_session *s = p->session;
	struct stat_passes *passes = p->passes;
	for (size_t k = 0; k < pass->events.len; k++) {
		const struct stat_cell *cell = &single->cells[k];
		size_t i = pass->origins[k];
		if (k == pass->check) {
			double value = cell->value.mean;
			passes->low = is_first || value < passes->low ? value : passes->low;
			passes->high = is_first || value > passes->high ? value : passes->high;
			passes->was_counted &= single->supported[k] && cell->running_ns.mean > 0;
		}
		if (i == SIZE_MAX)
			continue;
		s->cells[i] = *cell;
		s->supported[i] = single->supported[k];
		s->reasons[i] = single->reasons[k];
		single->reasons[k] = NULL;
		passes->shared += cell->running_ns.mean > 0 && cell->running_ns.mean < cell->enabled_ns.mean;
	}
	s->command_status = single->command_status;
	s->has_command_status = single->has_command_status;
	if (!is_first)
		return;
	s->wall_ns = single->wall_ns;
	s->user_ns = single->user_ns;
	s->system_ns = single->system_ns;
	s->run_ns = single->run_ns;
	s->run_len = single->run_len;
	s->run_cap = single->run_cap;
	single->run_ns = NULL;
}

static enum tally_status pass_run(struct stat_passes_passing *p, uint32_t number, struct tally_error *err)
{
	struct stat_session *s = p->session;
	struct pass pass;
	enum tally_status status = pass_make(p, number, &pass, err);
	struct stat_session single = {.kernel = s->kernel,
		.job = s->job,
		.target = s->target,
		.events = &pass.events,
		.failures = s->failures};
	for (uint64_t run = 0; status == TALLY_OK && run < s->job->settings.counting.runs && single.signal == 0; run++)
		status = stat_run(&single, NULL, NULL, err);
	if (status == TALLY_OK)
		pass_take(p, &pass, &single, number == 0);
	s->signal = single.signal;
	s->failures = single.failures;
	stat_session_deinit(&single);
	event_list_deinit(&pass.events);
	free(pass.origins);
	return status;
}

static enum tally_status fit_find(struct stat_session *s, struct fit_plan *fit, size_t *anchor, struct tally_error *err)
{
	const struct counter_options options = {
		.inherit = !s->job->settings.counting.no_inherit, .may_drop_kernel = true};
	struct counter_set *set = NULL;
	s->target->threads[0] = 0; /* 0 denotes this process, because the command has not been started. */
	enum tally_status status = counter_set_open(s->kernel, s->events, s->target, &options, &set, err);
	if (status != TALLY_OK)
		return status;
	*anchor = SIZE_MAX;
	for (size_t i = 0; i < set->len && *anchor == SIZE_MAX; i++) {
		const struct event_spec *spec = &s->events->specs[i];
		if (spec->attr.type == EVENT_HARDWARE && (spec->attr.config & HW_EVENT_MASK) == HW_INSTRUCTIONS &&
			spec->tool == TOOL_NONE && counter_is_supported(&set->counters[i]))
			*anchor = i;
	}
	status = fit_plan_make(set, *anchor, fit, err);
	counter_set_close(set);
	if (status == TALLY_OK && *anchor != SIZE_MAX && fit->states[*anchor] != FIT_COUNTS)
		*anchor = SIZE_MAX;
	return status;
}

enum tally_status stat_passes_run(struct stat_session *session, struct stat_passes *passes, struct tally_error *err)
{
	struct fit_plan fit = {0};
	struct stat_passes_passing p = {.session = session, .fit = &fit, .passes = passes};
	size_t len = session->events->len;
	*passes = (struct stat_passes){.count = 1, .was_counted = true};
	session->aggregation.len = 1;
	session->cells = calloc(len + 1, sizeof(*session->cells));
	session->supported = calloc(len + 1, sizeof(*session->supported));
	session->reasons = calloc(len + 1, sizeof(*session->reasons));
	if (!session->cells || !session->supported || !session->reasons)
		return error_nomem(err);
	if (len == 0)
		return error_set(err, TALLY_INVALID, "--passes needs events");
	enum tally_status status = fit_find(session, &fit, &p.anchor, err);
	if (status == TALLY_OK && fit.round_count > 1)
		passes->count = fit.round_count;
	passes->check_name = p.anchor == SIZE_MAX ? "task-clock" : "instructions";
	passes->allowed_percent = p.anchor == SIZE_MAX ? ALLOWED_CLOCK_PERCENT : ALLOWED_COUNT_PERCENT;
	for (uint32_t i = 0; status == TALLY_OK && i < passes->count && session->signal == 0; i++)
		status = pass_run(&p, i, err);
	fit_plan_deinit(&fit);
	return status;
}

void stat_passes_print(struct text *t, const struct stat_passes *passes, const struct stat_style *style)
{
	double apart = passes->high > 0 ? 100 * (passes->high - passes->low) / passes->high : 0;
	bool agree = passes->was_counted && apart <= passes->allowed_percent;
	if (style->is_json) {
		struct json j = {.out = t, .is_compact = true};
		json_object(&j, NULL);
		json_string(&j, "kind", STR("passes"));
		json_u64(&j, "passes", passes->count);
		json_string(&j, "check-event", str_from(passes->check_name));
		if (passes->was_counted)
			json_fixed(&j, "apart-percent", apart, 3);
		json_fixed(&j, "allowed-percent", passes->allowed_percent, 0);
		json_bool(&j, "agree", agree);
		json_u64(&j, "still-multiplexed", passes->shared);
		json_object_end(&j);
		return;
	}
	if (passes->count == 1) {
		text_str(t, " One pass: these events need no more counters than there are.\n");
	} else if (!passes->was_counted) {
		text_printf(t, " %u passes; %s was not counted in each: whether they agree is not known.\n",
			passes->count, passes->check_name);
	} else {
		text_printf(t, " %u passes; %s, in each of them, is ", passes->count, passes->check_name);
		stat_number(t, style->decimal, apart, 2, 0);
		text_str(t, "% apart at most: ");
		text_str(t, agree ? "they agree (within " : "they DO NOT AGREE (more than ");
		stat_number(t, style->decimal, passes->allowed_percent, 0, 0);
		text_str(t, agree ? "%).\n" : "%): do not relate counts of one pass to those of another.\n");
	}
	if (passes->shared)
		text_printf(t, " %zu events were multiplexed all the same: other users took counters meanwhile.\n",
			passes->shared);
	text_char(t, '\n');
}
