/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/fit.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/error.h"
#include "kernel/events/breakpoint_probe.h"
#include "kernel/events/pmu.h"

#define FIT_IOC_ENABLE _IO('$', 0) /* ioctl number of linux/perf_event.h. */
#define KEY_CORE       0 /* Key of all events that share the counters of a CPU core; other PMUs use their type. */

struct fit_fitting {
	const struct counter_set *set;
	struct fit_plan *plan;
	uint32_t *keys; /* One per event. */
	size_t *tried; /* Indexes of the events in the group under test. */
	size_t tried_len;
	int *fds;
	size_t anchor;
};

bool fit_needs_counter(const struct event_spec *spec)
{
	return spec->tool == TOOL_NONE && spec->attr.type != EVENT_SOFTWARE && spec->attr.type != EVENT_TRACEPOINT;
}

/* Opens the events under test as one pinned group and checks whether the PMU schedules it. */
static bool group_is_scheduled(struct fit_fitting *f)
{
	const struct kernel_seam *kernel = f->set->kernel;
	size_t open = 0;
	bool fits = true;
	for (; open < f->tried_len; open++) {
		const struct counter *counter = &f->set->counters[f->tried[open]];
		struct perf_attr attr = counter->spec->attr;
		bool leads = open == 0;
		attr.sample_period_or_freq = 0;
		attr.flags &= ~(ATTR_FLAG(ATTR_BIT_FREQ) | ATTR_FLAG(ATTR_BIT_PINNED) | ATTR_FLAG(ATTR_BIT_EXCLUSIVE));
		attr.read_format = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING;
		if (leads)
			attr.flags |= ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_PINNED);
		/* A per-task group is tested on the calling task, because that task is running. */
		pid_t pid = counter->threads[0] == -1 ? -1 : 0;
		f->fds[open] = event_open(kernel, &attr, pid, counter->cpus[0], leads ? -1 : f->fds[0], 0);
		if (f->fds[open] < 0)
			break;
	}
	fits = open == f->tried_len;
	if (fits) {
		uint64_t words[3];
		fits = kernel->ioctl(kernel->context, f->fds[0], FIT_IOC_ENABLE, NULL) == 0 &&
		       kernel->read(kernel->context, f->fds[0], words, sizeof(words)) == (ssize_t)sizeof(words);
	}
	while (open > 0)
		kernel->close(kernel->context, f->fds[--open]);
	return fits;
}

static bool is_in_unit(const struct fit_fitting *f, size_t event, size_t leader)
{
	return f->set->counters[event].leader == leader && f->plan->states[event] == FIT_COUNTS;
}

/* Whether the leader's group can count on each of its PMUs at the same time as the events already in this round. */
static bool unit_fits(struct fit_fitting *f, size_t leader, uint32_t round, const bool *has_round)
{
	for (size_t first = leader; first < f->set->len; first++) {
		if (!is_in_unit(f, first, leader))
			continue;
		uint32_t key = f->keys[first];
		bool was_tried = false;
		for (size_t i = leader; i < first && !was_tried; i++)
			was_tried = is_in_unit(f, i, leader) && f->keys[i] == key;
		if (was_tried)
			continue;
		f->tried_len = 0;
		for (size_t i = leader; i < f->set->len; i++)
			if (is_in_unit(f, i, leader) && f->keys[i] == key)
				f->tried[f->tried_len++] = i;
		bool has_anchor = f->anchor == SIZE_MAX || f->keys[f->anchor] != key;
		for (size_t i = 0; i < f->set->len; i++) {
			if (has_round[i] && f->plan->rounds[i] == round && f->keys[i] == key)
				f->tried[f->tried_len++] = i;
		}
		for (size_t i = 0; i < f->tried_len && !has_anchor; i++)
			has_anchor = f->tried[i] == f->anchor;
		if (!has_anchor)
			f->tried[f->tried_len++] = f->anchor;
		if (!group_is_scheduled(f))
			return false;
	}
	return true;
}

static void unit_place(struct fit_fitting *f, size_t leader, bool *has_round)
{
	struct fit_plan *plan = f->plan;
	uint32_t round = 0;
	while (round < plan->round_count && !unit_fits(f, leader, round, has_round))
		round++;
	bool fits = round < plan->round_count || unit_fits(f, leader, round, has_round);
	for (size_t i = f->set->len; i-- > leader;) {
		if (!is_in_unit(f, i, leader))
			continue;
		plan->rounds[i] = round;
		has_round[i] = fits;
	}
	for (size_t i = leader; i < f->set->len && !fits; i++)
		if (is_in_unit(f, i, leader))
			plan->states[i] = FIT_NO_ROOM;
	if (fits && round == plan->round_count)
		plan->round_count++;
}

static uint32_t fit_key_of(const struct event_spec *spec, const struct pmu *pmus, size_t count)
{
	uint32_t type = spec->attr.type;
	bool is_generic = type == EVENT_HARDWARE || type == EVENT_HW_CACHE;
	if (is_generic && spec->attr.config >> 32)
		/* On a hybrid machine the upper half of config selects the PMU. */
		type = (uint32_t)(spec->attr.config >> 32);
	else if (is_generic)
		return KEY_CORE;
	for (size_t i = 0; i < count; i++)
		if (pmus[i].type == type)
			return pmus[i].is_core && !pmus[i].is_hybrid ? KEY_CORE : type;
	return type == EVENT_RAW ? KEY_CORE : type;
}

static enum tally_status keys_make(struct fit_fitting *f, struct tally_error *err)
{
	struct arena arena;
	struct pmu *pmus;
	size_t count;
	arena_init(&arena);
	enum tally_status status = pmu_load_all(f->set->kernel, &arena, &pmus, &count, err);
	for (size_t i = 0; status == TALLY_OK && i < f->set->len; i++) {
		const struct counter *counter = &f->set->counters[i];
		f->keys[i] = fit_key_of(counter->spec, pmus, count);
		f->plan->states[i] = counter->reason			? FIT_REFUSED
				     : fit_needs_counter(counter->spec) ? FIT_COUNTS
									: FIT_NEEDS_NONE;
	}
	arena_deinit(&arena);
	return status;
}

enum tally_status fit_plan_make(
	const struct counter_set *set, size_t anchor, struct fit_plan *plan, struct tally_error *err)
{
	size_t len = set->len + 1;
	*plan = (struct fit_plan){.states = calloc(len, sizeof(*plan->states)),
		.rounds = calloc(len, sizeof(*plan->rounds)),
		.len = set->len};
	struct fit_fitting f = {.set = set,
		.plan = plan,
		.keys = calloc(len, sizeof(*f.keys)),
		.tried = calloc(len, sizeof(*f.tried)),
		.fds = calloc(len, sizeof(*f.fds)),
		.anchor = anchor};
	bool *has_round = calloc(len, sizeof(*has_round));
	bool has_memory = plan->states && plan->rounds && f.keys && f.tried && f.fds && has_round;
	enum tally_status status = has_memory ? keys_make(&f, err) : error_nomem(err);
	if (anchor < set->len && status == TALLY_OK && plan->states[anchor] != FIT_COUNTS)
		f.anchor = SIZE_MAX; /* The anchor needs no hardware counter, or cannot be opened. */
	for (size_t i = 0; status == TALLY_OK && i < set->len; i++) {
		/* The first event of a group that needs a counter; the leader may be a software event. */
		bool is_first = plan->states[i] == FIT_COUNTS && !has_round[i];
		for (size_t k = set->counters[i].leader; k < i && is_first; k++)
			is_first = set->counters[k].leader != set->counters[i].leader || plan->states[k] != FIT_COUNTS;
		if (is_first)
			unit_place(&f, set->counters[i].leader, has_round);
	}
	free(has_round);
	free(f.keys);
	free(f.tried);
	free(f.fds);
	if (status != TALLY_OK)
		fit_plan_deinit(plan);
	return status;
}

void fit_plan_deinit(struct fit_plan *plan)
{
	free(plan->states);
	free(plan->rounds);
	*plan = (struct fit_plan){0};
}
