/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/system/exec_stop.h"
#include "kernel/system/kernel_files.h"
#include "kernel/system/surroundings.h"
#include "tasks/counts/stat_number.h"

#define NAMES_MAX 32 /* Maximum number of event names in a line. */

struct missing {
	bool is_supported;
	char *reason; /* Allocated with malloc. NULL if the event was counted or the reason is unknown. */
};

static void event_times(const struct stat_session *s, size_t event, double *enabled, double *running)
{
	*enabled = *running = 0;
	for (size_t place = 0; place < s->aggregation.len; place++) {
		const struct stat_cell *cell = &s->cells[event * s->aggregation.len + place];
		*enabled += cell->enabled_ns.mean;
		*running += cell->running_ns.mean;
	}
}

static bool is_pmu_event(const struct event_spec *spec)
{
	return spec->attr.type != EVENT_SOFTWARE && spec->attr.type != EVENT_TRACEPOINT &&
	       spec->attr.type != EVENT_BREAKPOINT;
}

/* Explains why an event was enabled but never scheduled on the PMU. */
static void no_room(const struct stat_session *s, const struct event_spec *spec, struct text *reason)
{
	uint32_t members = s->events->specs[spec->leader].member_count;
	bool has_watchdog = kernel_number(s->kernel, 0, "/proc/sys/kernel/nmi_watchdog") == 1;
	if (spec->cpus && !spec->is_uncore) {
		text_printf(reason, "nothing measured ran on the CPUs of PMU %s (%s)", spec->pmu, spec->cpus);
		return;
	}
	if (members > 1)
		text_printf(reason,
			"its group needs %u counters at once, and the PMU never had as many: make it smaller, or let "
			"it be split (:W)",
			(unsigned)members);
	else
		text_str(reason, "other events held the PMU's counters all the time (--plan says which)");
	if (has_watchdog) {
		text_str(reason, "; the NMI watchdog has one: ");
		remedy_sysctl(surroundings_find(s->kernel), "kernel.nmi_watchdog", 0, reason);
		text_str(reason, " frees it");
	}
}

static void never_enabled(const struct stat_session *s, const struct event_spec *spec, struct text *reason)
{
	const struct stat_counting *counting = &s->job->settings.counting;
	if (counting->delay_ms < 0)
		return; /* The message "Events disabled" was printed at the start. */
	if (ATTR_HAS(&spec->attr, PINNED) && is_pmu_event(spec))
		text_str(reason, "it is pinned (:D), and the PMU had no counter free: the kernel gave it up");
	else if (counting->bpf_programs)
		text_str(reason, "the BPF program did not run, or its runs did not end");
	else if (spec->cgroup)
		text_printf(reason, "no task of the cgroup ran");
	else if (spec->cpus && !spec->is_uncore)
		text_printf(reason, "nothing measured ran on the CPUs of PMU %s (%s)", spec->pmu, spec->cpus);
	else if (s->target->is_system_wide)
		text_str(reason, "the event was never enabled");
	else if (counting->delay_ms > 0)
		text_printf(reason, "nothing measured ran after the delay of %lld ms", (long long)counting->delay_ms);
	else
		text_str(reason, "nothing measured ran meanwhile");
}

/* On some execs (such as of a set-user-ID program), the kernel removes the events of a process that continues to
 * run. */
static void cut_off_tell(struct text *text, const struct stat_session *s)
{
	struct text reason = {0};
	text_str(text, "the kernel ended the counting of ");
	if (s->target->is_command && exec_stop_explain(s->job->command[0], &reason))
		text_printf(text, "'%s' at its exec: %.*s", s->job->command[0], (int)reason.len, reason.data);
	else
		text_printf(text,
			"%d when it executed a program that this user may not read, or that changes privileges "
			"(set-user-ID)",
			(int)s->target->threads[0]);
	text_str(text, "; root may count it");
	text_deinit(&reason);
}

static void cut_off_add(struct text *text, const char *program, const struct stat_session *s)
{
	if (!s->is_cut_off)
		return;
	text_printf(text, "%s: warning: ", program);
	cut_off_tell(text, s);
	text_char(text, '\n');
}

void stat_reasons_add_losses(struct text *text, const struct stat_session *s)
{
	bool is_of_programs = s->job->settings.counting.bpf_programs;
	text_printf(text, "%s missed %llu %s", is_of_programs ? "--bpf-prog" : "shared counters",
		(unsigned long long)s->shared_losses,
		is_of_programs ? "runs of the programs, or parts of runs"
			       : "switches, children or cgroups of all sessions");
}

void stat_reasons_warn(const struct stat_session *s, struct diag *warnings)
{
	struct text text = {0};
	diag_add_all(warnings, &s->warnings);
	if (s->is_cut_off) {
		cut_off_tell(&text, s);
		diag_add(warnings, DIAG_WARNING, "%.*s", (int)text.len, text.data ? text.data : "");
		text_clear(&text);
	}
	if (s->shared_losses) {
		stat_reasons_add_losses(&text, s);
		diag_add(warnings, DIAG_WARNING, "%.*s", (int)text.len, text.data ? text.data : "");
	}
	text_deinit(&text);
}

static char *reason_not_counted(const struct stat_session *s, size_t event)
{
	const struct event_spec *spec = &s->events->specs[event];
	struct text reason = {0};
	double enabled, running;
	event_times(s, event, &enabled, &running);
	if (running > 0 || s->was_cut_off_at_start)
		return NULL;
	if (enabled > 0 && is_pmu_event(spec))
		no_room(s, spec, &reason);
	else if (s->job->rung && spec->attr.type == EVENT_SOFTWARE && spec->attr.config == SW_CPU_MIGRATIONS)
		text_str(&reason,
			"threads or children that have ended took their number with them: /proc has it for those "
			"that run (-p, -t)");
	else if (enabled <= 0)
		never_enabled(s, spec, &reason);
	text_char(&reason, '\0');
	if (reason.failed || !reason.data[0])
		text_deinit(&reason);
	return reason.data;
}

static bool stat_reasons_is_same(const struct missing *a, const struct missing *b)
{
	return a->reason && b->reason && a->is_supported == b->is_supported && strcmp(a->reason, b->reason) == 0;
}

/* Metrics may count the same event in several groups; each name is listed once. */
static bool was_named(const struct stat_session *s, const struct missing *all, size_t first, size_t event)
{
	for (size_t i = first; s->metrics && i < event; i++)
		if (stat_reasons_is_same(&all[i], &all[first]) &&
			strcmp(s->events->specs[i].name, s->events->specs[event].name) == 0)
			return true;
	return false;
}

/* The line starts like a row without a count, with "<not counted>" or "<not supported>", so that scripts that add up rows
 * by event name skip it. */
static void stat_reasons_line_add(
	struct text *text, const struct stat_session *s, const struct missing *all, size_t first)
{
	size_t named = 0, more = 0;
	text_str(text, all[first].is_supported ? "<not counted> " : "<not supported> ");
	for (size_t i = first; i < s->events->len; i++) {
		if (!stat_reasons_is_same(&all[i], &all[first]) || was_named(s, all, first, i))
			continue;
		if (named < NAMES_MAX)
			text_printf(text, "%s%s", named++ ? ", " : "", s->events->specs[i].name);
		else
			more++;
	}
	if (more)
		text_printf(text, " and %zu more", more);
	text_printf(text, ": %s\n", all[first].reason);
}

/* Prints how long each multiplexed event was counted, and the estimated error of its scaled count. */
static void scaled_add(struct text *text, const char *program, const struct stat_session *s)
{
	size_t named = 0, more = 0;
	for (size_t i = 0; s->job->settings.counting.is_scaling && i < s->events->len; i++) {
		double enabled, running;
		event_times(s, i, &enabled, &running);
		if (s->events->specs[i].tool != TOOL_NONE || running <= 0 || running >= enabled)
			continue;
		if (named == NAMES_MAX) {
			more++;
			continue;
		}
		if (named++ == 0)
			text_printf(text, "%s: scaled, because other events had the counters at times: ", program);
		else
			text_str(text, ", ");
		text_printf(text, "%s (counted ", s->events->specs[i].name);
		stat_number(text, s->decimal, 100 * running / enabled, 1, 0);
		text_str(text, "% of the time, ");
		double error = s->error_squares ? 100 * sqrt(s->error_squares[i]) / (double)s->run_len : NAN;
		if (isnan(error))
			text_str(text, "too short to tell the error)");
		else {
			text_str(text, "+- ");
			stat_number(text, s->decimal, error, error < 1 ? 2 : 1, 0);
			text_str(text, "%)");
		}
	}
	if (more)
		text_printf(text, " and %zu more", more);
	if (named)
		text_str(text, "; --passes counts each all the time\n");
}

static void doubts_add(struct text *text, const char *program, const struct stat_session *s)
{
	struct stat_report report = stat_session_report(s);
	for (size_t i = 0; s->cells && i < s->events->len; i++) {
		const char *doubt = NULL;
		for (size_t place = 0; place < s->aggregation.len && !doubt; place++)
			doubt = stat_doubt_of(&report, i, place);
		if (doubt)
			text_printf(text, "%s: warning: implausible count of %s: %s\n", program,
				s->events->specs[i].name, doubt);
	}
}

/* Warns of events that the kernel cannot inherit, because missing counts of threads and children look like
 * inactivity. */
static void probes_add(struct text *text, const char *program, const struct stat_session *s)
{
	if (s->job->settings.counting.no_inherit || s->target->is_system_wide)
		return;
	for (size_t i = 0; i < s->events->len; i++) {
		if (!event_is_inheritable(s->events, i))
			text_printf(text,
				"%s: %s: new threads and children are not counted, the kernel cannot pass such a probe "
				"on to them: use -a, or a probe of tracefs' uprobe_events\n",
				program, s->events->specs[i].name);
	}
}

/* Failed runs are reported because their counts cover only what the command did before it failed. perf reports the
 * signal of a single run, but no other failure. */
static void failures_add(struct text *text, const char *program, const struct stat_session *s)
{
	if (s->failures.failed == 0)
		return;
	text_printf(text, "%s: ", program);
	stat_failures_tell(text, &s->failures);
	text_str(text, s->failures.runs > 1 ? ", and are counted with the others\n" : "\n");
}

void stat_reasons_add_missing(struct text *text, const char *program, const struct stat_session *session)
{
	size_t len = session->events->len;
	struct missing *all = calloc(len + 1, sizeof(*all));
	for (size_t i = 0; all && session->supported && i < len; i++) {
		all[i].is_supported = session->supported[i];
		if (session->reasons[i])
			all[i].reason = strdup(session->reasons[i]);
		else if (all[i].is_supported)
			all[i].reason = reason_not_counted(session, i);
	}
	for (size_t i = 0; all && i < len; i++) {
		bool is_first = all[i].reason != NULL;
		for (size_t k = 0; k < i && is_first; k++)
			is_first = !stat_reasons_is_same(&all[k], &all[i]);
		if (is_first)
			stat_reasons_line_add(text, session, all, i);
	}
	for (size_t i = 0; all && i < len; i++)
		free(all[i].reason);
	free(all);
	cut_off_add(text, program, session);
	probes_add(text, program, session);
}

void stat_reasons_add(struct text *text, const char *program, const struct stat_session *session)
{
	stat_reasons_add_missing(text, program, session);
	scaled_add(text, program, session);
	doubts_add(text, program, session);
	failures_add(text, program, session);
}
