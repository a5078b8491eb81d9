/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_spec.h - declares the types that describe what an event expression asks for. event_parser makes them,
 * event_format writes them; a list owns the strings of its specs.
 */
#ifndef KERNEL_EVENTS_EVENT_SPEC_H
#define KERNEL_EVENTS_EVENT_SPEC_H

#include "abi/attr.h"
#include "base/arena.h"

struct sample_filter_list; /* sample_filter.h */

/* Events that the tool itself answers (tool_events.h): times of what is measured, then constants of the machine. */
enum tool_event {
	TOOL_NONE,
	TOOL_DURATION_TIME,
	TOOL_USER_TIME,
	TOOL_SYSTEM_TIME,
	TOOL_CORE_WIDE,
	TOOL_HAS_PMEM,
	TOOL_NUM_CORES,
	TOOL_NUM_CPUS,
	TOOL_NUM_CPUS_ONLINE,
	TOOL_NUM_DIES,
	TOOL_NUM_PACKAGES,
	TOOL_SMT_ON,
	TOOL_SYSTEM_TSC_FREQ,
	TOOL_TARGET_CPU,
	TOOL_EVENTS
};

/* CALLGRAPH_BPF: walked in the kernel by our BPF program. CALLGRAPH_AUTO: the best method that works here, which is
 * decided before any event is opened. */
enum record_callgraph { CALLGRAPH_NONE, CALLGRAPH_FP, CALLGRAPH_DWARF, CALLGRAPH_LBR, CALLGRAPH_BPF, CALLGRAPH_AUTO };

enum term_choice { TERM_UNSAID, TERM_NO, TERM_YES };

/* Terms about the samples of one event. They override record's options for all events. */
struct recording_terms {
	enum term_choice time, inherit;
	bool has_callgraph;
	enum record_callgraph callgraph;
	enum term_choice overwrite; /* its ring keeps the newest records */
	uint32_t stack_bytes; /* 0 unsaid */
	uint64_t branch_sample_type; /* 0 unsaid */
	uint64_t most_events; /* nr=; 0 unsaid */
	const char *first; /* the first such term, including freq; NULL: the event is also valid for counting */
};

struct event_spec {
	struct perf_attr attr; /* type, config*, exclude_*, precise, pinned ... period/freq if a term gave one */
	const char *name; /* as the user sees it, with modifiers: perf's own spelling */
	uint32_t added_as; /* its index when it was added, before other events were removed */
	uint32_t leader; /* index of the group's leader, own index if none */
	uint32_t member_count; /* of the group that it leads; 1 if alone */
	bool has_period, has_freq;
	bool has_exclude; /* a modifier named u, k or h: no fallback to user-only */
	bool is_sampling_leader; /* :S */
	bool is_weak_group; /* :W */
	bool is_precise_max; /* :P: the highest precise_ip that opens */
	bool has_guest_host; /* a modifier named G or H */
	bool stays_in_place; /* :X: its place in the list and its group are as written; so are everyone's */
	bool is_shared; /* :b: counted by a counter that sessions share */
	bool is_per_core; /* percore: counts of a core's hardware threads are added up */
	bool has_vendor_name; /* by libpfm4: its name takes letters behind a colon */
	bool has_own_name; /* a name= term: name carries no modifiers */
	bool is_of_other_core; /* the event of the spec before, on another kind of core */
	bool is_merged; /* counts add up with those of the spec before: one uncore PMU of several */
	const char *cgroup; /* as named: only tasks of it; NULL: any */
	const char *cgroup_path; /* its directory */
	const char *filter; /* of a tracepoint's fields; NULL: none */
	const struct sample_filter_list *sample_filter; /* of any other event's samples, by a BPF program; NULL: none */
	enum tool_event tool; /* not an event of the kernel: the caller measures it */
	double scale; /* of the count; 1 if none */
	const char *unit; /* "" if none */
	const char *pmu; /* named or expanded PMU, NULL for a generic event */
	const char *cpus; /* CPU list of an uncore PMU or a kind of core, NULL if none */
	bool is_uncore; /* counts a CPU, never a task */
	bool is_everywhere; /* on all CPUs of the target, also on those that are not measured (target.h) */
	bool is_of_cpu; /* opened for everything on a CPU, even if threads are recorded: a BPF program writes its samples */
	const char *tracepoint_system, *tracepoint_name; /* NULL if not a tracepoint */
	const char *pattern; /* "sched:*": the tracepoints' that this one is of; the same pointer for all; NULL none */
	const char *family; /* the name that stood for several PMUs, NULL none */
	const char *terms; /* those between the slashes that make up config*, as written; NULL none */
	const char *probe_path; /* what config1 points at, NULL not a probe */
	struct recording_terms recording;
};

struct event_list {
	struct event_spec *specs;
	size_t len, cap;
	struct arena arena;
	bool has_arena;
};

/* Whether threads and children can count the event too. They cannot if its group has a probe: for each new task the
 * kernel reads the probe's path again, at an address of our process but in the task's memory, and fork fails. */
static inline bool event_is_inheritable(const struct event_list *list, size_t index)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->specs[i].leader == list->specs[index].leader && list->specs[i].probe_path)
			return false;
	return true;
}

#endif
