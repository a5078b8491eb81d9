/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_plan.h"

#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "tasks/recording/record_config.h"

#define OFF_CPU_THRESHOLD_MS 500 /* Default threshold of --off-cpu, as in perf. */
#define WALL_THRESHOLD_MS    1

void record_target_complete(struct target_request *t, bool has_command)
{
	t->has_command = has_command;
	if (!t->pids && !t->tids && !t->user && !t->cpus && !has_command)
		t->system_wide = true;
}

static struct record_attr_options record_plan_attrs(const struct record_settings *s)
{
	const struct target_request *t = &s->target;
	bool has_threads = t->pids || t->tids || t->user;
	bool is_system_wide = (t->system_wide || t->cpus) && !has_threads;
	struct record_attr_options attrs = {.fields = s->fields,
		.modes = s->modes,
		.chains = record_config_chains(s),
		.is_system_wide = is_system_wide,
		.has_command = t->has_command && !has_threads && !is_system_wide,
		.per_thread = t->per_thread,
		.starts_disabled = s->has_delay && !(s->toggles.len && s->toggles.items[0] == 0)};
	attrs.unwinds_live =
		(attrs.chains.mode == CALLGRAPH_DWARF && !s->keeps_stacks) || attrs.chains.mode == CALLGRAPH_BPF;
	attrs.fields.switch_events |= s->latency;
	attrs.modes.no_inherit |= t->tids != NULL;
	return attrs;
}

static struct record_wait_options record_plan_waits(const struct record_settings *s)
{
	uint64_t default_ms = s->wall ? WALL_THRESHOLD_MS : OFF_CPU_THRESHOLD_MS;
	return (struct record_wait_options){.is_wanted = s->off_cpu || s->wall,
		.is_wall = s->wall,
		.source = s->wall_source,
		.sums_ms = s->wait_sums_ms,
		.threshold_ns = (s->has_off_cpu_ms ? s->off_cpu_ms : default_ms) * 1000000};
}

struct record_plan record_plan_make(const struct record_settings *s)
{
	struct record_plan plan = {
		.attrs = record_plan_attrs(s), .waits = record_plan_waits(s), .is_ring_given = s->ring_bytes != 0};
	struct record_chains *chains = &plan.attrs.chains;
	if (plan.waits.is_wanted && !plan.attrs.modes.use_clockid) { /* BPF programs can read no other clock. */
		plan.attrs.modes.use_clockid = true;
		plan.attrs.modes.clockid = CLOCK_MONOTONIC;
	}
	plan.is_stack_given = chains->mode == CALLGRAPH_DWARF && chains->stack_bytes != 0;
	/* With CALLGRAPH_BPF, tracepoints still need stack dumps. */
	bool has_dumps = chains->mode == CALLGRAPH_DWARF || chains->mode == CALLGRAPH_BPF;
	if (has_dumps && !plan.is_stack_given)
		chains->stack_bytes = s->keeps_stacks ? RECORD_STACK_BYTES_DEFAULT : RECORD_STACK_BYTES_MAX;
	plan.ring_bytes = plan.is_ring_given	    ? s->ring_bytes
			  : plan.attrs.unwinds_live ? record_live_ring_bytes()
						    : RECORD_RING_BYTES_DEFAULT;
	/* With a higher threshold, a ring could fill up before it is read. */
	plan.flush_bytes = MIN(s->flush_bytes, (plan.ring_bytes + (size_t)sysconf(_SC_PAGESIZE)) / 4);
	return plan;
}
