/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_plan.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/json.h"
#include "kernel/system/kernel_files.h"

/* Names of the generic events in sysfs. If a PMU has a file of this name, the file contains the event's encoding. */
static const char *const generic_names[] = {
	[HW_CPU_CYCLES] = "cpu-cycles",
	[HW_INSTRUCTIONS] = "instructions",
	[HW_CACHE_REFERENCES] = "cache-references",
	[HW_CACHE_MISSES] = "cache-misses",
	[HW_BRANCH_INSTRUCTIONS] = "branch-instructions",
	[HW_BRANCH_MISSES] = "branch-misses",
	[HW_BUS_CYCLES] = "bus-cycles",
	[HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[HW_REF_CPU_CYCLES] = "ref-cycles",
};

/* The result is allocated with malloc. NULL if sysfs does not contain the encoding, which only the kernel knows
 * then. */
static char *raw_code(const struct kernel_seam *kernel, const struct event_spec *spec)
{
	uint64_t config = spec->attr.config & HW_EVENT_MASK;
	char *text;
	if (spec->attr.type != EVENT_HARDWARE || config >= ARRAY_LEN(generic_names) ||
		kernel_text(kernel, &text, NULL, "/sys/bus/event_source/devices/%s/events/%s",
			spec->pmu ? spec->pmu : "cpu", generic_names[config]) != TALLY_OK)
		return NULL;
	return text;
}

static const char *pmu_name(const struct event_spec *spec)
{
	static const char *const generic[] = {
		[EVENT_HARDWARE] = "cpu",
		[EVENT_SOFTWARE] = "software",
		[EVENT_TRACEPOINT] = "tracepoint",
		[EVENT_HW_CACHE] = "cpu",
		[EVENT_RAW] = "cpu",
		[EVENT_BREAKPOINT] = "breakpoint",
	};
	if (spec->tool != TOOL_NONE)
		return "tool";
	if (spec->pmu)
		return spec->pmu;
	return spec->attr.type < ARRAY_LEN(generic) ? generic[spec->attr.type] : "?";
}

static const char *stat_plan_state_text(const struct stat_plan *plan, size_t event)
{
	if (plan->set->events->specs[event].tool != TOOL_NONE)
		return "measured by stat itself";
	switch (plan->fit->states[event]) {
	case FIT_NEEDS_NONE:
		return "opens; needs no counter";
	case FIT_COUNTS:
		return "opens";
	case FIT_NO_ROOM:
		return "opens, but got no counter even alone (more in its group than the PMU has, or others hold them)";
	case FIT_REFUSED:
		break;
	}
	const char *reason = plan->set->counters[event].reason;
	return reason ? reason : "does not open";
}

static void event_print(struct text *t, const struct stat_plan *plan, size_t i)
{
	const struct event_spec *spec = &plan->set->events->specs[i];
	char *code = raw_code(plan->kernel, spec);
	uint32_t leader = plan->set->counters[i].leader;
	text_str(t, leader != i ? "     " : "   ");
	text_str_left(t, str_from(spec->name), leader != i ? 30 : 32);
	text_char(t, ' ');
	text_str_left(t, str_from(pmu_name(spec)), 12);
	if (spec->tool != TOOL_NONE)
		text_printf(t, "%-24s", "");
	else
		text_printf(t, " type %-4u config %#-10llx", spec->attr.type, (unsigned long long)spec->attr.config);
	if (spec->attr.config1)
		text_printf(t, " config1 %#llx", (unsigned long long)spec->attr.config1);
	if (spec->attr.config2)
		text_printf(t, " config2 %#llx", (unsigned long long)spec->attr.config2);
	if (code)
		text_printf(t, " (%s)", code);
	if (plan->fit->states[i] == FIT_COUNTS && plan->fit->round_count > 1)
		text_printf(t, "  round %u:", plan->fit->rounds[i] + 1);
	text_printf(t, "  %s\n", stat_plan_state_text(plan, i));
	free(code);
}

static size_t count_state(const struct stat_plan *plan, enum fit_state state)
{
	size_t n = 0;
	for (size_t i = 0; i < plan->fit->len; i++)
		n += plan->fit->states[i] == state;
	return n;
}

static const char *watchdog_text(enum watchdog_state state)
{
	switch (state) {
	case WATCHDOG_OFF:
		return "off: it holds no counter";
	case WATCHDOG_HOLDS_COUNTER:
		return "on: it may hold a counter of each CPU ('sysctl kernel.nmi_watchdog=0' frees it)";
	case WATCHDOG_UNKNOWN:
		break;
	}
	return "unknown: this kernel does not say";
}

static void plan_text(struct text *t, const struct stat_plan *plan)
{
	size_t counting = count_state(plan, FIT_COUNTS), without = count_state(plan, FIT_NO_ROOM);
	uint32_t rounds = plan->fit->round_count;
	text_str(t, "\n Plan for this machine; nothing has been counted:\n\n");
	for (size_t i = 0; i < plan->fit->len; i++)
		event_print(t, plan, i);
	text_char(t, '\n');
	if (counting == 0 && without == 0)
		text_str(t, " No event that opens here needs a counter of a PMU: nothing would be multiplexed.\n");
	else if (rounds > 1)
		text_printf(t,
			" Multiplexed: %zu events need %u rounds on the PMU, each counted about 1/%u of the time and "
			"scaled; --passes counts each in full.\n",
			counting, rounds, rounds);
	else if (counting > 0)
		text_printf(t, " All %zu events with a counter fit at the same time: nothing would be multiplexed.\n",
			counting);
	if (without > 0)
		text_printf(t, " %zu events would show <not counted>.\n", without);
	text_printf(t, " NMI watchdog %s.\n", watchdog_text(plan->watchdog));
	for (size_t i = 0; i < plan->holders->len; i++)
		text_char(t, ' '), text_visible(t, str_from(plan->holders->items[i].comm)),
			text_printf(t, " (pid %d) has %zu performance events open.\n", (int)plan->holders->items[i].pid,
				plan->holders->items[i].events);
	if (plan->holders->unseen)
		text_printf(t, " %zu processes could not be looked at; they may have events open.\n",
			plan->holders->unseen);
	else if (plan->holders->len == 0)
		text_str(t, " No other process here has performance events open.\n");
	if (plan->holders->len > 0)
		text_str(t, " Also counted are software events, and the placeholder of 'stat COMMAND'; they hold no "
			    "counter.\n");
	text_char(t, '\n');
}

static void event_json(struct json *j, const struct stat_plan *plan, size_t i)
{
	static const char *const states[] = {"needs-no-counter", "fits", "no-room", "refused"};
	const struct event_spec *spec = &plan->set->events->specs[i];
	char *code = raw_code(plan->kernel, spec);
	json_object(j, NULL);
	json_string(j, "event", str_from(spec->name));
	json_string(j, "pmu", str_from(pmu_name(spec)));
	if (spec->tool == TOOL_NONE) {
		json_u64(j, "type", spec->attr.type);
		json_hex(j, "config", spec->attr.config);
		json_hex(j, "config1", spec->attr.config1);
		json_hex(j, "config2", spec->attr.config2);
	}
	if (code)
		json_string(j, "code", str_from(code));
	json_u64(j, "group", plan->set->counters[i].leader);
	json_string(j, "state", str_from(states[plan->fit->states[i]]));
	if (plan->fit->states[i] == FIT_COUNTS)
		json_u64(j, "round", plan->fit->rounds[i] + 1);
	if (plan->fit->states[i] == FIT_REFUSED)
		json_string(j, "reason", str_from(stat_plan_state_text(plan, i)));
	json_object_end(j);
	free(code);
}

static void plan_json(struct text *t, const struct stat_plan *plan)
{
	static const char *const watchdogs[] = {"unknown", "off", "on"};
	struct json j = {.out = t};
	json_object(&j, NULL);
	json_array(&j, "events");
	for (size_t i = 0; i < plan->fit->len; i++)
		event_json(&j, plan, i);
	json_array_end(&j);
	json_u64(&j, "rounds", plan->fit->round_count);
	json_bool(&j, "multiplexes", plan->fit->round_count > 1);
	json_string(&j, "nmi-watchdog", str_from(watchdogs[plan->watchdog]));
	json_array(&j, "holders");
	for (size_t i = 0; i < plan->holders->len; i++) {
		json_object(&j, NULL);
		json_i64(&j, "pid", plan->holders->items[i].pid);
		json_string(&j, "comm", str_from(plan->holders->items[i].comm));
		json_u64(&j, "events", plan->holders->items[i].events);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_u64(&j, "processes-unseen", plan->holders->unseen);
	json_object_end(&j);
}

void stat_plan_print(struct text *t, const struct stat_plan *plan, bool is_json)
{
	if (is_json)
		plan_json(t, plan);
	else
		plan_text(t, plan);
}

enum tally_status stat_plan_make(const struct kernel_seam *kernel, struct event_list *events, struct target *target,
	struct text *t, bool is_json, struct tally_error *err)
{
	static const struct counter_options options = {.may_drop_kernel = true};
	struct counter_set *set = NULL;
	struct fit_plan fit = {0};
	struct pmu_holders holders = {0};
	if (target->is_command)
		target->threads[0] = 0;
	enum tally_status status = pmu_holders_find(kernel, &holders, err);
	if (status == TALLY_OK)
		status = counter_set_open(kernel, events, target, &options, &set, err);
	if (status == TALLY_OK)
		status = fit_plan_make(set, SIZE_MAX, &fit, err);
	if (status == TALLY_OK) {
		struct stat_plan plan = {kernel, set, &fit, &holders, watchdog_state(kernel)};
		stat_plan_print(t, &plan, is_json);
	}
	fit_plan_deinit(&fit);
	counter_set_close(set);
	pmu_holders_deinit(&holders);
	return status;
}
